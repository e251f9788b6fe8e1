"""HTML reports: one self-contained page per result."""

from clearwood.reporting.report import report
from clearwood.reporting.summary import summarize
from clearwood.reporting.validation import validation_document

__all__ = ["report", "summarize", "validation_document"]
