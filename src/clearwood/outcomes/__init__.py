"""What a model and its rules predict: one small class per type of outcome.

How far wrong an answer is, what some rows are told together, how sure that is, and how
it is written follow from the type, and are asked of nothing else.
"""

from typing import Any

from clearwood.outcomes.classes import ClassProbabilities
from clearwood.outcomes.mean import Mean
from clearwood.outcomes.outcome import Outcome

__all__ = ["OUTCOMES", "ClassProbabilities", "Mean", "Outcome", "outcome_of"]

OUTCOMES: dict[str, Outcome] = {
    kind.task: kind() for kind in (ClassProbabilities, Mean)
}
"""By the name of their task; of classes, whatever these are."""


def outcome_of(classes: Any, known: Outcome | None = None) -> Outcome:
    """Probabilities of some classes, or a mean where there are none.

    Parameters
    ----------
    classes : sequence or None
    known : Outcome, optional
        Taken in place of either where it is of these classes.

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
