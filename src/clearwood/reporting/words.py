"""Explanations of terms at the end of the page, each once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Word(NamedTuple):
    """Term as shown on the page, with its explanation."""

    key: str
    name: str
    meaning: str


WORDS = {
    "interval": (
        "Brackets: 95 % interval",
        "Uncertainty of the estimate before them, due to the number of rows: of all "
        "such intervals, 95 % contain the value of the whole population.",
    ),
    "draws": (
        "Brackets: 95 % interval",
        "Of predictions, the central 95 % of the draws of the reference: if it is a "
        "posterior distribution, a credible interval. Of observed survival, the "
        "uncertainty due to the number of rows: of all such intervals, 95 % contain "
        "the value of the whole population.",
    ),
    "otherwise": ("Otherwise", "The prediction for rows that satisfy no rule."),
    "log-odds": (
        "Log-odds",
        "Logarithm of the odds of a class; contributions are added, and the class with "
        "the largest total is predicted.",
    ),
    "typical": (
        "Root mean squared error",
        "Square root of the mean of the squared errors; large errors count more than "
        "small ones.",
    ),
    "r2": (
        "Fidelity (R²)",
        "Share of the variance of the model's predictions that the rules explain: 1 is "
        "all; 0 is no better than a constant prediction.",
    ),
    "base_rate": ("Base rate", "Share of the class among these rows (prevalence)."),
    "sensitivity": (
        "Sensitivity",
        "Of the rows of a class, the share that is predicted as such (true positive "
        "rate).",
    ),
    "specificity": (
        "Specificity",
        "Of all other rows, the share that is not predicted as the class (true "
        "negative rate).",
    ),
    "positive_value": (
        "PPV: positive predictive value",
        "Of the rows predicted as the class, the share that belongs to it. It depends "
        "on the base rate.",
    ),
    "negative_value": (
        "NPV: negative predictive value",
        "Of the rows not predicted as the class, the share that does not belong to it. "
        "It depends on the base rate.",
    ),
    "area": (
        "AUC: area under the curve (ROC)",
        "Of pairs of rows, one of the class and one not, the share in which the first "
        "has the larger predicted probability: 1 is perfect, 0.5 is chance.",
    ),
    "shuffled": (
        "± of permutations: standard error",
        "Standard deviation of the estimate over random permutations.",
    ),
    "held-out": (
        "± of held-out rows: standard error",
        "Standard deviation of the estimate, due to the number of rows.",
    ),
    "bound": (
        "Bound on the log evidence",
        "Lower bound on the log probability of the model's predictions, which the fit "
        "maximizes over the components.",
    ),
    "component": ("Component", "A part of the fitted mixture; a rule if it remains."),
}


def words_of(page: dict[str, Any]) -> list[Word]:
    """Terms that a page uses, in order of appearance.

    Parameters
    ----------
    page : dict
        Content of the page, as returned by :func:`summarize`.

    Examples
    --------
    >>> shown = {"task": "classification", "words": {"Rows": "That satisfy the rule"},
    ...     "has_quality": True, "default_text": "always", "is_expected": False}
    >>> page = dict.fromkeys(("as_found", "scores", "decisions", "importances", "path",
    ...     "history")) | {"rules": shown}
    >>> [word.name for word in words_of(page)]
    ['Rows']
    """
    columns = dict(page["rules"]["words"])
    if page["as_found"] is not None:
        columns = {**page["as_found"]["words"], **columns}
    known = [Word(name.lower(), name, f"{text}.") for name, text in columns.items()]
    used = dict.fromkeys(_used(page))
    return known + [Word(key, *WORDS[key]) for key in used]


def _used(page: dict[str, Any]) -> Iterable[str]:
    """Keys of the terms that the page uses beside names of columns."""
    scores, decisions = page["scores"], page["decisions"]
    if scores is not None or page["rules"]["is_expected"]:
        yield page["interval"]
    if page["rules"]["default_text"] == "otherwise":
        yield "otherwise"
    if page["rules"]["task"] == "classification" and not page["rules"]["has_quality"]:
        yield "log-odds"
    if scores is not None:
        yield from (line["word"] for line in scores["lines"] if line["word"])
    if decisions is not None:
        yield from decisions["words"]
    if page["importances"] is not None and page["importances"]["lines"]:
        yield "shuffled"
    if page["path"] is not None:
        if page["rules"]["task"] == "regression":
            yield "r2"
        if page["path"]["has_held_out"]:
            yield "held-out"
    if page["history"] is not None:
        yield "bound"
        yield "component"
