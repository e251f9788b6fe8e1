"""HTML reports: one self-contained page per result."""

from clearwood.reporting.report import report
from clearwood.reporting.summary import summarize

__all__ = ["report", "summarize"]
