"""A report to look at: one HTML file with all that a comparison found."""

from posterior.report.report import render, write_report

__all__ = ["render", "write_report"]
