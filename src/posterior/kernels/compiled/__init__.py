"""Twins of the reference kernels, compiled by numba. A module is imported, and compiled, when first needed.

Every kernel runs on one thread without the interpreter lock, and is a pure function of one chunk of rows.
"""
