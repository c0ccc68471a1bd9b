"""Intel's accelerated scikit-learn. Its classes are named one by one: scikit-learn itself stays unpatched."""

from sklearnex.linear_model import LogisticRegression

from benchmarks.rivals import Entry

ENTRIES = [
    Entry("logistic", LogisticRegression, "lbfgs", tolerance=None),
    Entry("softmax", LogisticRegression, "lbfgs", tolerance=None),
    Entry("logistic, hard", LogisticRegression, "lbfgs", tolerance=None),
    Entry("softmax, hard", LogisticRegression, "lbfgs", tolerance=None),
]
