"""Modules that need a package which is not installed are not looked at for examples."""

from importlib.util import find_spec

NEEDED = {
    "spark": "pyspark",
    "dask": "dask",
    "duckdb": "duckdb",
    "adbc": "adbc_driver_manager",
    "ibis": "ibis",
}
collect_ignore = [
    f"posterior/engines/{module}.py" for module, package in NEEDED.items() if find_spec(package) is None
]
