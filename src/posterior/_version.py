"""The version, by itself: what is imported on its own account by a report or a command."""

__version__ = "0.1.0"
