"""Twins of the reference kernels, compiled by numba. A module is imported, a kernel compiled, when needed.

Every kernel runs on one thread without the interpreter lock, and is a pure function of one chunk of rows.
"""
