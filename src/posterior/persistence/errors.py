"""The one error of model files."""


class ModelFileError(ValueError):
    """A model that cannot be written to a file, or a file that cannot be read as a model."""
