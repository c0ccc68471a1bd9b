"""Rows that are arrays of another library, on a GPU or not: summed up and scored where they are.

What a model is estimated from are the `Statistics` of any other rows, and only those travel to the host.
`sums` says by which of them a family is fitted, `scores` how a distribution scores rows; both are registries.
"""
