"""How hypothesis looks for examples, what waits for the long runs, where servers and clusters come from."""

import os
from collections import defaultdict

import pytest
from hypothesis import HealthCheck, settings

from posterior.kernels import row_scores

pytest_plugins = [
    "postgres",
    "clusters",
    "s3",
]  # fixtures of tests/support: they start when a test asks for them

# New examples on a developer's machine, the same ones in every CI run; few, and many in the long runs.
for name, max_examples in (("few", 15), ("many", 100)):
    settings.register_profile(
        name,
        max_examples=max_examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=bool(os.environ.get("CI")),
    )
settings.load_profile("few")

# Pages whose examples compare many models of real tables.
LONG_PAGES = {"comparing.md", "generative-or-discriminative.md", "pictures.md", "report.md"}


@pytest.fixture(autouse=True, scope="session")
def threads_for_few_rows():
    """Let the threads that a test asks for begin, however little there is to do."""
    usual, row_scores.THREAD_NUMBERS = row_scores.THREAD_NUMBERS, 1
    yield
    row_scores.THREAD_NUMBERS = usual


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as long what a fast run can do without: each value and each class is still tried once."""
    crossed, first_of_class = defaultdict(list), {}
    for item in items:
        test = item.nodeid.partition("[")[0]
        if item.name in LONG_PAGES:
            item.add_marker(pytest.mark.long)
        elif item.get_closest_marker("crossed"):
            crossed[test].append(item)
        elif hasattr(item, "callspec") and item.callspec.params.keys() == {"estimator", "check"}:
            # scikit-learn's contract: all checks of the first settings of a class, which are the defaults.
            estimator = item.callspec.params["estimator"]
            if first_of_class.setdefault((test, type(estimator)), estimator) is not estimator:
                item.add_marker(pytest.mark.long)
    for combinations in crossed.values():
        mark_all_but_a_diagonal(combinations)


def mark_all_but_a_diagonal(combinations):
    """Mark as long what a `crossed` test tries beyond `each` partners for every value of its parameters."""
    each = combinations[0].get_closest_marker("crossed").kwargs.get("each", 1)
    place = defaultdict(dict)  # of each value among those of its parameter
    for item in combinations:
        for name, value in item.callspec.params.items():
            place[name].setdefault(id(value), len(place[name]))
    longest = max(place, key=lambda name: len(place[name]))
    for item in combinations:
        at = {name: place[name][id(value)] for name, value in item.callspec.params.items()}
        # Values of the longest parameter go round those of the others: a diagonal of the table of all.
        if any((at[name] - at[longest]) % len(place[name]) >= each for name in at if name != longest):
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session", autouse=True)
def _every_kernel_is_kept_on_disk():
    """A kernel that holds addresses of this process would be compiled in every process, without a word."""
    from posterior.kernels.compiled import kept

    save = kept.save

    def checked(name, result):
        assert not result.library.has_dynamic_globals, f"{name} holds addresses of this process"
        save(name, result)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "save", checked)
        yield
