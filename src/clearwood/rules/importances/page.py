"""Table of importances with bars, for pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import rounded_text
from clearwood.outcomes import OUTCOMES
from clearwood.rules.importances.permuted import Importances

MOST = 15
"""Maximum number of features in the table."""


def summarize_importances(
    found: Importances, called: Mapping[str, str]
) -> dict[str, Any]:
    """Data of the template ``reporting/importances.html``.

    Parameters
    ----------
    found : Importances
    called : mapping of str to str
        Display name of each column.
    """
    is_share = OUTCOMES[found.task].is_share
    largest = max([*found.rules, *found.model, 1e-12])
    sides = (found.rules, found.rules_error), (found.model, found.model_error)
    known = [e for _, errors in sides for e in errors[:MOST] if e > 0]
    # One rounding for all, by the typical standard error.
    step, lines = float(np.median(known or [0.0])), []
    for i, name in enumerate(found.names[:MOST]):
        numbers = [(float(middle[i]), float(error[i])) for middle, error in sides]
        lines.append({
            "name": printable(called[name]),
            "is_used": name not in found.unused_features,
            "sides": [
                (_text(v, e, step, is_share), 100 * max(v, 0.0) / largest)
                for v, e in numbers
            ],
        })  # fmt: skip
    return {
        "lines": lines,
        "n_left": max(len(found.names) - MOST, 0),
        "n_unused": len(found.unused_features),
        "unused_features": [
            printable(called[name]) for name in found.unused_features[:MOST]
        ],
        "n_rows": found.n_rows,
        "is_share": is_share,
    }


def _text(value: float, error: float, step: float, is_share: bool) -> str:
    """Importance and standard error, rounded to the digits of a step.

    Examples
    --------
    >>> _text(0.11111, 0.0189, 0.02, True), _text(0.11111, 0.015, 0.015, True)
    ('11 ± 2 %', '11.1 ± 1.5 %')
    >>> _text(0.2345, 0.0, 0.0, False), _text(0.009259, 0.0, 0.0, True)
    ('0.234', '0.926 %')
    """
    unit = 100 if is_share else 1
    # An interval is four standard errors wide.
    parts = (value, error) if error > 0 else (value,)
    texts = (rounded_text(unit * part, 4 * unit * step) for part in parts)
    return " ± ".join(texts) + " %" * is_share
