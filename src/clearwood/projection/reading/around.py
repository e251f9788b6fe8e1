"""Report section of a local explanation, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import number_text, percent_text, short_text
from clearwood.columns.cells import UNSEEN
from clearwood.exceptions import InputError
from clearwood.projection.local.explanation import LocalExplanation

MOST_FEATURES = 12


def section(result: LocalExplanation, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Reference and proxy at the row, the printed proxy, and its features.

    Parameters
    ----------
    result : LocalExplanation
    X, y : None
        Ignored; an explanation is evaluated on its own neighbours.

    Returns
    -------
    dict
    """
    if X is not None:
        raise InputError(
            "A local explanation has neighbours of its own; leave X and y out."
        )
    names, few = result.features.names, short_text
    asked = list(result.selected.items())
    return {
        "title": f"Why one row: {result.what}",
        "facts": [
            ("The reference says", _said(result)),
            (
                "The explanation says",
                f"{few(result.proxy)} ± {few(result.monte_carlo_error, 2)} (by how "
                "much it would change with other neighbours)",
            ),
            ("Made of", f"{result.n_neighbours:,} rows like this one, made up"),
            ("How far to trust it", _trust(result.fidelity)),
        ],
        "lines": _lines(result),
        "effects": [
            {
                "name": printable(name),
                "change": f"{'−' if effect < 0 else '+'}{few(abs(effect))}",
                "error": few(error, 2),
            }
            for name, effect, error in result.effects
        ],
        "many_draws": result.n_draws > 1,
        "asked": [
            {
                "name": printable(name),
                "value": _value_text(result, names.index(name)),
                "share": percent_text(share),
            }
            for name, share in asked[:MOST_FEATURES]
        ],
        "n_hidden": max(len(asked) - MOST_FEATURES, 0),
    }


def _said(result: LocalExplanation) -> str:
    said = short_text(result.said)
    if result.n_draws == 1:
        return f"{said}; it does not say how sure it is of that"
    other = ", which are not draws from a posterior distribution"
    return (
        f"{said} ± {short_text(result.spread, 2)} (standard deviation of its "
        f"draws{'' if result.is_posterior else other})"
    )


def _trust(fidelity: float) -> str:
    if fidelity <= 0:
        return (
            "not at all: on other rows like this one a constant is as near to the "
            "reference as the explanation"
        )
    return (
        f"on other rows like this one it follows {percent_text(fidelity)} of what "
        "makes the reference’s answers differ"
    )


def _lines(result: LocalExplanation) -> list[dict[str, Any]]:
    """Leaves of a tree, with the one of the row marked."""
    rules = result.rules
    if rules is None:
        return []
    (here,) = rules.apply_encoded(result.row[None])
    return [
        {
            "conditions": [c.text(rules.features) for c in rule.conditions],
            "says": short_text(float(rule.prediction)),
            "is_here": i == here,
        }
        for i, rule in enumerate(rules)
    ]


def _value_text(result: LocalExplanation, d: int) -> str:
    code, labels = float(result.row[d]), result.features.categories[d]
    if np.isnan(code):
        return "missing"
    if labels is None:
        return number_text(code)
    return "not known" if code == UNSEEN else printable(str(labels[int(code)]))
