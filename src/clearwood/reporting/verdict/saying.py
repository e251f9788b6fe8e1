"""What all say of the rows handed in, and the phrases that classes and values share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clearwood.rules.scores import MOST_NAMED

NEW_TO = {
    "model": ("new row", ""),
    "rules": ("row", " new to the rules"),
    None: ("row", " handed in"),
}
"""What rows are called, by whom they are new to: before their number and behind."""


class WhatAllSay(NamedTuple):
    """What all say of the rows handed in; None where nobody knows."""

    rules: np.ndarray
    model: np.ndarray | None
    truth: np.ndarray | None


def of_rows(n: int, new_to: str | None) -> str:
    """A number of rows, and to whom they are new."""
    name, behind = NEW_TO[new_to]
    return f"{n:,} {name}{'s' * (n != 1)}{behind}"


ONLY_IF_NEW = "These rows tell of new ones only if they are new to the rules{}."
UNKNOWN = (
    "How far these rules say what a model says is not known: none was at hand that "
    "could be asked about these rows."
)
DOUBTED = "These rules cannot stand in for the model, as the warning below says"
CANNOT = "These rules cannot stand in for the model"
NOT_SHOWN = "Nothing shows that these rules can stand in for the model"
MAY = "These rules may stand in for the model"
MAY_HAVE_LEARNT = (
    "How good the model is on new rows is not known: it may have learnt these."
)


def listed(names: Sequence[str], joined: str = "or") -> str:
    """Names in a sentence, not too many.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    if len(names) > MOST_NAMED:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    *most, last = names
    return f"{', '.join(most)} {joined} {last}" if most else last
