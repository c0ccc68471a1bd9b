"""The drop-ins follow one release of scikit-learn, and are compared with that one or a newer one."""

import pytest
import sklearn
from sklearn.utils.fixes import parse_version

FOLLOWED = "1.9"


def pytest_collection_modifyitems(items):
    """Skip comparisons with an older scikit-learn, whose LDA, QDA, lasso and routing gave other answers."""
    if parse_version(sklearn.__version__) >= parse_version(FOLLOWED):
        return
    reason = f"holds us to scikit-learn {FOLLOWED}, whose answers differ from those of {sklearn.__version__}"
    for item in items:
        if item.path.name.startswith("test_scikit_learn_"):
            item.add_marker(pytest.mark.skip(reason=reason))
