"""Validation documents, to be printed and signed."""

from clearwood.reporting.validation.document import validation_document

__all__ = ["validation_document"]
