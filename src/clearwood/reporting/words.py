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
        "How far to trust the number before them. Of all such brackets 95 % hold the "
        "number that ever more rows of the same kind would give; the fewer rows, the "
        "wider.",
    ),
    "otherwise": ("Otherwise", "What is said of the rows for which no rule holds."),
    "log-odds": (
        "Log-odds",
        "A scale for probabilities on which evidence adds up: the class with the "
        "largest total is said.",
    ),
    "typical": (
        "Typical error, or root mean squared error",
        "Errors are squared, averaged, and the root is taken, so that large ones count "
        "for more than small ones.",
    ),
    "r2": (
        "Fidelity (R²)",
        "How much of the differences in what the model says the rules follow: 1 is all "
        "of it; with 0 one number for all rows would do as well.",
    ),
    "base_rate": ("Base rate", "How common a class is among these rows."),
    "sensitivity": (
        "Sensitivity",
        "Of the rows of a class, the share that is called so: the larger, the fewer "
        "are missed.",
    ),
    "specificity": (
        "Specificity",
        "Of all other rows, the share that is not called so: the larger, the fewer "
        "false alarms.",
    ),
    "positive_value": (
        "PPV: positive predictive value",
        "Of the rows called so, the share that is so: how far to believe it. It holds "
        "where the class is as common as in these rows.",
    ),
    "negative_value": (
        "NPV: negative predictive value",
        "Of the rows not called so, the share that is not: how far to believe that. It "
        "holds where the class is as common as in these rows.",
    ),
    "area": (
        "AUC: area under the curve (ROC)",
        "Of pairs of rows, one of the class and one not, the share in which the first "
        "gets the larger probability: 1 is always, 0.5 what a coin would do.",
    ),
    "shuffled": (
        "± of shuffles: standard error",
        "How far the number itself is mostly off, as shuffles are left to chance.",
    ),
    "held-out": (
        "± of held-out rows: standard error",
        "How far the number itself is mostly off, as the rows are few.",
    ),
    "bound": (
        "Bound on the log evidence",
        "How well so many components explain what the model says; the search makes it "
        "as large as it can.",
    ),
    "component": ("Component", "What may become a rule while the search goes on."),
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
        yield "interval"
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
