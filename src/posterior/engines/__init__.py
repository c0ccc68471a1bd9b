"""Where rows live and how they are folded. Engines know chunks and `+`, never models."""

from posterior.engines.local import LocalDataset, n_threads, threads

__all__ = ["LocalDataset", "n_threads", "threads"]
