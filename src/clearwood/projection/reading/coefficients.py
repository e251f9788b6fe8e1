"""Report section of a projected linear model, as plain data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import percent_text, short_text
from clearwood.projection.reading.section import (
    ENDS,
    prediction_error,
    reference_facts,
    score_lines,
)
from clearwood.projection.terms import MISSING, VALUE, Terms

MAX_TERMS = 40


def section(result: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Reference, fidelity of the model, and its coefficients.

    Parameters
    ----------
    result : ProjectedLinearRegression or ProjectedLogisticRegression
        Fitted.
    X : array-like or frame of shape (n_samples, n_features), optional
    y : array-like of shape (n_samples,), optional
        Rows on which to evaluate it.

    Returns
    -------
    dict
    """
    classes = getattr(result, "classes_", None)
    refused = prediction_error(result, X)
    return {
        "title": "Linear model projected from a reference",
        "proxy": "Linear model",
        "facts": reference_facts(result.reference_),
        "refused": refused,
        "training": _training(result) if X is None else "",
        "scores": None if X is None or refused else score_lines(result, X, y),
        "is_logistic": classes is not None,
        "many_draws": len(result.coef_draws_) > 1,
        "outputs": [
            {
                "label": _label(classes, output, len(result.coef_)),
                "at_mean": short_text(float(result.intercept_[output])),
                **_lines(
                    result.terms_,
                    result.coef_[output],
                    result.coef_draws_[:, output],
                    classes is not None,
                ),
            }
            for output in range(len(result.coef_))
        ],
    }


def _training(result: Any) -> str:
    """Fidelity on the training rows, labelled as such."""
    r2 = getattr(result, "fidelity_", None)
    divergence = getattr(result, "divergence_", None)
    if divergence is not None:
        return (
            "Kullback-Leibler divergence from the reference on the training rows: "
            f"{short_text(divergence)} nats per row."
        )
    if r2 is not None:
        return (
            f"On the training rows it explains {percent_text(r2)} of the variance of "
            "the reference’s predictions."
        )
    return ""


def _label(classes: Any, output: int, n_outputs: int) -> str:
    """Quantity that increases with a coefficient."""
    if classes is None:
        return "the target"
    label = prediction_text(classes[1 if n_outputs == 1 else output])
    return f"the log odds of {label}" if n_outputs == 1 else f"the score of {label}"


def _lines(
    terms: Terms, coef: np.ndarray, draws: np.ndarray, is_logistic: bool
) -> dict[str, Any]:
    """One table row per term, the largest change first."""
    low, high = np.quantile(draws, ENDS, axis=0)
    names = terms.names
    order = [t for t in np.argsort(-np.abs(coef), kind="stable") if coef[t] != 0]
    lines = []
    for t in order[:MAX_TERMS]:
        is_value = terms.category[t] == VALUE
        unit = float(terms.unit[t])
        per_unit = float(coef[t]) / unit
        step = short_text(unit) if is_value else ""
        lines.append(
            {
                "name": printable(names[t]),
                "change": _signed(float(coef[t])),
                "interval": _interval(low[t], high[t]),
                "step": step,
                "unit": _unit(terms, t),
                "per_unit": _signed(per_unit),
                "interval_per_unit": _interval(low[t] / unit, high[t] / unit),
                "odds": _odds(per_unit) if is_logistic else "",
            }
        )
    return {
        "lines": lines,
        "n_hidden": len(order) - len(lines),
        "n_zero": len(coef) - len(order),
    }


def _unit(terms: Terms, t: int) -> str:
    """Unit of change of a term."""
    category, name = terms.category[t], terms.features.names[terms.feature[t]]
    if category == VALUE:
        return "per unit"
    if category == MISSING:
        return "where missing, compared with the mean elsewhere"
    first, *others = terms.without_term[name]
    return f"compared with {f'{len(others) + 1} other categories' if others else first}"


def _interval(low: float, high: float) -> str:
    return f"{_signed(float(low))} to {_signed(float(high))}"


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{short_text(abs(value))}"


def _odds(change: float) -> str:
    return f"× {short_text(math.exp(change))}" if abs(change) < 20 else ""
