"""Errors and warnings, whose messages state what was found and the remedy."""


class ClearwoodError(Exception):
    r"""Base class of all errors of Clearwood.

    Terminal control characters, in the name of a file for example, are escaped.

    Examples
    --------
    >>> print(ClearwoodError("Cannot read a\x1b[2Jb."))
    Cannot read a\x1b[2Jb.
    """

    def __str__(self) -> str:
        return safe_text(super().__str__())


def safe_text(text: str) -> str:
    r"""A message with terminal control characters escaped.

    Examples
    --------
    >>> print(safe_text("elm \x1b[2J"))
    elm \x1b[2J
    """
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


class InputError(ClearwoodError, ValueError):
    """The input cannot be used; the message names the remedy.

    Parameters
    ----------
    message : str
    row : int, optional
        Position of the row that the message names, among those checked.
    """

    def __init__(self, message: str, *, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class ModelError(ClearwoodError, TypeError):
    """The model is of an unsupported type."""


class ModelFormatError(ClearwoodError, ValueError):
    """A model file is corrupt or violates its format."""


class UnsupportedModelError(ModelFormatError):
    """A model file is of an unsupported type; the message lists the supported ones."""


class PoorFidelityWarning(UserWarning):
    """Rules or a proxy have low fidelity, or never predict a class."""


class ClassOrderWarning(UserWarning):
    """The model is better with its classes, or targets, in another order."""


class UnknownCategoriesWarning(UserWarning):
    """Values of a column, or labels, are unknown to the model."""


class OwnPredictionsWarning(UserWarning):
    """A model differs from the sum of its trees; it is treated as a black box."""


class IndependentClassWarning(UserWarning):
    """A classifier found no dependence: it predicts the same for all rows."""


class IndependentColumnsWarning(UserWarning):
    """A density models continuous columns as independent of all others."""


class InterruptedFitWarning(UserWarning):
    """A fit was interrupted; the estimator holds its partial result."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the run continues without it."""


class CollapsedWeightsWarning(UserWarning):
    """Nearly all weight of a forest is on a few trees."""


class DegenerateDensityWarning(UserWarning):
    """Many rows share one target value, where the density is unbounded."""


class ExtrapolationWarning(UserWarning):
    """A condition lies outside of the range of the training cells."""


class LostDigitsWarning(UserWarning):
    """Numbers are so large that sums or differences lose precision."""


class OutsideBoundsWarning(UserWarning):
    """Nearly no outcomes of a reference are in its bounds before truncation."""


class SampledRowsWarning(UserWarning):
    """Part of a fit used a sample of a table that is read in blocks."""


class PoorMixingWarning(UserWarning):
    """Chains of a sampler have a large R-hat or a small effective sample size."""


class SeenRowsWarning(UserWarning):
    """A reference was fitted to rows that a fit of its proxy leaves out."""
