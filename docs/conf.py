"""How the site is built: `make docs`, or `python -m sphinx -W --keep-going docs docs/_build/html`."""

import hashlib
import os
import shutil
import sys
from pathlib import Path

from jupyter_cache.cache.db import create_db

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "src"
sys.path[:0] = [str(HERE / "_ext"), str(SOURCES)]

from posterior import __version__  # noqa: E402 -- of this folder, whatever is installed
from posterior.studio import live_files  # noqa: E402

project = "posterior"
copyright = "the posterior developers"  # noqa: A001 -- Sphinx's name for it
version = release = __version__
extensions = [
    "balance",
    "drawn",
    "mathml",
    "reference",
    "sample_pages",
    "warm_kernels",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_ext"]
templates_path = ["_templates"]
default_role = "literal"
nitpicky = False

# Pages are run while they are built, and again only where they or the package have changed.
_state = hashlib.sha256()
for _file in sorted([*SOURCES.rglob("*.py"), *(HERE / "_ext").glob("*.py")]):
    _state.update(_file.read_bytes())
_build = HERE / "_build"
nb_execution_mode = "cache"
nb_execution_cache_path = str(_build / "executed" / _state.hexdigest()[:16])
nb_execution_raise_on_error = True
nb_execution_timeout = 240
nb_execution_show_tb = True
nb_merge_streams = True
for _old in (_build / "executed").glob("*"):
    if str(_old) != nb_execution_cache_path:
        shutil.rmtree(_old, ignore_errors=True)
Path(nb_execution_cache_path).mkdir(parents=True, exist_ok=True)
# Made before pages are read in parallel: two readers at once would both make its tables.
create_db(nb_execution_cache_path)

# What every page runs first: figures in the colours of the page.
_startup = _build / "ipython" / "profile_default" / "startup"
_startup.mkdir(parents=True, exist_ok=True)
(_build / "extra").mkdir(exist_ok=True)  # where the sample pages go
shutil.copy(HERE / "_ext" / "startup.py", _startup / "startup.py")
(_startup.parent / "ipython_kernel_config.py").write_text("get_config().Application.log_level = 'ERROR'\n")
os.environ["IPYTHONDIR"] = str(_build / "ipython")
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(SOURCES), str(HERE / "_ext"), os.environ.get("PYTHONPATH", "")]
)
os.environ["MPLBACKEND"] = "Agg"
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
myst_links_external_new_tab = True
suppress_warnings = ["mystnb.unknown_mime_type"]

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "posterior"
# The moving pictures of the course, put together from the modules of the studio.
(_build / "static").mkdir(exist_ok=True)
for _name, _text in live_files().items():
    (_build / "static" / _name).write_text(_text, encoding="utf-8")
html_static_path = ["_static", "_build/static"]
html_css_files = ["site.css", "live.css"]
html_js_files = [("live.js", {"defer": "defer"})]
html_extra_path = ["_build/extra"]
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changes": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_here_doc_delimiter = "EOF"

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 88
python_display_short_literal_types = True
autodoc_typehints_format = "short"
autodoc_member_order = "alphabetical"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
