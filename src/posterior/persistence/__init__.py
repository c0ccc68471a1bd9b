"""Model files that are safe to open: numbers, names and settings in safetensors, and no program."""

from posterior.persistence.describing import describe
from posterior.persistence.errors import ModelFileError
from posterior.persistence.loading import load
from posterior.persistence.registry import register
from posterior.persistence.saving import save

__all__ = ["ModelFileError", "describe", "load", "register", "save"]
