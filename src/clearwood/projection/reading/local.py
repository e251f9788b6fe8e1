"""Report section of a local explanation, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import percent_text, short_text
from clearwood._words.sentences import sentences
from clearwood.columns.cells import UNSEEN
from clearwood.columns.dates import date_text
from clearwood.exceptions import InputError
from clearwood.projection.local.explanation import LocalExplanation

MAX_FEATURES = 12


def section(result: LocalExplanation, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Reference and proxy at the row, the printed proxy, and its features.

    Parameters
    ----------
    result : LocalExplanation
    X, y : None
        Not accepted; an explanation is evaluated on its own neighbours.

    Returns
    -------
    dict
    """
    if X is not None:
        raise InputError(
            "A local explanation is evaluated on its own neighbours; omit X and y."
        )
    names, used = result.features.names, list(result.inclusion_frequency.items())
    return {
        "title": f"Local explanation: {result.quantity}",
        "facts": _facts(result),
        "rules": _rules(result),
        "effects": [
            {
                "name": printable(name),
                "change": f"{'−' if effect < 0 else '+'}{short_text(abs(effect))}",
                "error": short_text(error, 2),
            }
            for name, effect, error in result.effects
        ],
        "many_draws": result.n_draws > 1,
        "used": [
            {
                "name": printable(name),
                "value": _value_text(result, names.index(name)),
                "share": percent_text(share),
            }
            for name, share in used[:MAX_FEATURES]
        ],
        "n_hidden": max(len(used) - MAX_FEATURES, 0),
    }


def _facts(result: LocalExplanation) -> list[tuple[str, str]]:
    predicted, proxy, fidelity = sentences(
        "projection/reading/local.txt",
        many_draws=result.n_draws > 1,
        is_posterior=result.is_posterior,
        predicted=short_text(result.predicted),
        std=short_text(result.std, 2),
        proxy_predicted=short_text(result.proxy_predicted),
        monte_carlo_error=short_text(result.monte_carlo_error, 2),
        is_better=result.fidelity > 0,
        fidelity=percent_text(result.fidelity),
    )
    return [
        ("Prediction of the reference", predicted),
        ("Prediction of the explanation", proxy),
        ("Neighbours", f"{result.n_neighbours:,} rows sampled around this row"),
        ("Fidelity", fidelity),
    ]


def _rules(result: LocalExplanation) -> list[dict[str, Any]]:
    """Leaves of a tree, with the one of the row marked."""
    rules = result.rules
    if rules is None:
        return []
    (leaf,) = rules.apply_encoded(result.row[None])
    return [
        {
            "conditions": [c.text(rules.features) for c in rule.conditions],
            "prediction": short_text(float(rule.prediction)),
            "has_row": i == leaf,
        }
        for i, rule in enumerate(rules)
    ]


def _value_text(result: LocalExplanation, d: int) -> str:
    code, labels = float(result.row[d]), result.features.categories[d]
    if np.isnan(code):
        return "missing"
    if labels is None:
        is_date = result.features.info[d].kind == "date"
        return date_text(code) if is_date else short_text(code, 6)
    return "unknown" if code == UNSEEN else printable(str(labels[int(code)]))
