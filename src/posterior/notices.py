"""What the library tells a user without stopping: the warning categories."""


class PosteriorWarning(UserWarning):
    """The parent of every warning that this library issues."""


class CalibrationWarning(PosteriorWarning):
    """Posteriors that rows held out say are not calibrated: too sure, or not sure enough."""


class DataWarning(PosteriorWarning):
    """Something in the training table that a person would want to know, with what was done about it."""


class OutsideSupportWarning(PosteriorWarning):
    """Values met in prediction that no class can have, such as a negative waiting time, with their counts."""


class SeparationWarning(PosteriorWarning):
    """Classes that a linear score tells apart without error: no finite maximum-likelihood estimate exists."""


class UnseenCategoryWarning(PosteriorWarning):
    """Categories met in prediction that training had not seen, with their counts and treatment."""
