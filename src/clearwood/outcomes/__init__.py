"""Types of outcomes that models and rules predict, one small class each.

The loss, the aggregate over rows, its uncertainty and the wording all follow from the
type of the outcome, and are defined here alone.
"""

from typing import Any

from clearwood.outcomes.classes import ClassProbabilities
from clearwood.outcomes.effect import Effect
from clearwood.outcomes.mean import Mean
from clearwood.outcomes.outcome import Outcome
from clearwood.outcomes.quantile import Quantile
from clearwood.outcomes.survival import Survival

__all__ = [
    "OUTCOMES", "ClassProbabilities", "Effect", "Mean", "Outcome", "Quantile",
    "Survival", "outcome_of",
]  # fmt: skip

OUTCOMES: dict[str, Outcome] = {
    kind.task: kind() for kind in (ClassProbabilities, Mean, Survival, Quantile, Effect)
}
"""Outcomes by the name of their task; of classification, whatever its classes."""


def outcome_of(classes: Any, known: Outcome | None = None) -> Outcome:
    """Probabilities of classes, or a mean if there are none.

    Parameters
    ----------
    classes : sequence or None
    known : Outcome, optional
        Returned in place of either if it has these classes.

    Examples
    --------
    >>> outcome_of(("no", "yes")).task, outcome_of(()).task, outcome_of(None).task
    ('classification', 'regression', 'regression')
    """
    if hasattr(classes, "tolist"):
        classes = classes.tolist()
    labels = tuple(classes or ())
    if known is not None and known.classes == labels:
        return known
    return ClassProbabilities(labels) if labels else Mean()
