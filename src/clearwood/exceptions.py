"""Errors that say what was found, what was expected and what to do about it."""


class ClearwoodError(Exception):
    r"""Base of every error that Clearwood raises on purpose.

    What a terminal would obey, in the name of a file for example, is written out.

    Examples
    --------
    >>> print(ClearwoodError("Cannot read a\x1b[2Jb."))
    Cannot read a\x1b[2Jb.
    """

    def __str__(self) -> str:
        return safe_text(super().__str__())


def safe_text(text: str) -> str:
    r"""A message in which what a terminal would obey is written out.

    Examples
    --------
    >>> print(safe_text("elm \x1b[2J"))
    elm \x1b[2J
    """
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


class InputError(ClearwoodError, ValueError):
    """The data handed in cannot be used; the message names the remedy.

    Parameters
    ----------
    message : str
    row : int, optional
        The row that the message names, among those that were looked at.
    """

    def __init__(self, message: str, *, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class ModelError(ClearwoodError, TypeError):
    """The model handed in is of a kind that cannot be read."""


class ModelFormatError(ClearwoodError, ValueError):
    """A model file is corrupt or does not follow its format."""


class UnsupportedModelError(ModelFormatError):
    """A model file is of a kind that is not read; the message names what is."""


class PoorFidelityWarning(UserWarning):
    """Rules or a proxy follow their model hardly, or leave a class out."""


class ClassOrderWarning(UserWarning):
    """The model is mostly wrong, but mostly right with its classes in another order."""


class UnknownCategoriesWarning(UserWarning):
    """No cell of a column, or hardly one, is a category that the model knows."""


class OwnPredictionsWarning(UserWarning):
    """A model predicts something else than its trees; it is treated as a black box."""


class InterruptedFitWarning(UserWarning):
    """A fit was stopped early and holds what was done until then."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the run goes on without it."""


class CollapsedWeightsWarning(UserWarning):
    """Weights leave a few trees of a forest in effect."""


class DegenerateDensityWarning(UserWarning):
    """Many rows share one target value among others, which no density describes."""


class LostDigitsWarning(UserWarning):
    """Numbers are so large that what is beside them, or is left, is not exact."""


class SampledRowsWarning(UserWarning):
    """Of a table that is read in blocks a sample chose what cannot be added up."""


class PoorMixingWarning(UserWarning):
    """Chains of a sampler disagree, or are worth few independent draws."""
