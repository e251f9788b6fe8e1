"""Report section of an exploration, as plain data."""

from __future__ import annotations

import math
from typing import Any

from clearwood._html.disclosure import MIN_ROWS, OfRows, single_rows
from clearwood._words.labels import printable
from clearwood._words.numbers import rounded_text
from clearwood.circuits.reading.section import improbable_columns
from clearwood.circuits.reading.section import section as summarize_circuit
from clearwood.columns.dates import TIMED
from clearwood.exceptions import InputError
from clearwood.exploration.contest import N_FOLDS
from clearwood.exploration.exploration import (
    Exploration,
    columns_lines,
    model_lines,
)
from clearwood.exploration.overview import describe_columns
from clearwood.families import section_of
from clearwood.projection.reading.coefficients import (
    section as summarize_coefficients,
)
from clearwood.rules.exports.html_table import summarize_rules


def section(result: Exploration, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Overview, models, the recommended one, clusters and anomalies.

    Parameters
    ----------
    result : Exploration
    X, y : None
        It has its own rows.

    Returns
    -------
    dict
    """
    if X is not None:
        raise InputError("An exploration has its own rows; leave X and y out.")
    best = result.choice[0] if result.choice else None
    rules = coefficients = None
    if best is not None and best.contender.parts == "terms":
        coefficients = summarize_coefficients(best.fitted)
        _add_days(coefficients["outputs"], best.fitted)
    elif best is not None:
        rules = summarize_rules(best.fitted.rules_)
    density = result.density
    models = model_lines(result) if best else []
    circuit = None
    if density is not None:
        circuit = summarize_circuit(density, result.table) | {"of_fit": True}
        # Of all rows, not of the first ones.
        anomalies = list(result.anomalies)
        circuit["rows"] |= {
            "surprising": single_rows(anomalies),
            "improbable_columns": improbable_columns(anomalies),
        }
    return {
        "title": f"Exploration of {result.target or 'a table'}",
        "found": result,
        "heading": result.heading(),
        "columns": _columns(result),
        "n_folds": N_FOLDS,
        "models": models,
        "marked": [i for i, line in enumerate(models[1:]) if line[0].startswith("* ")],
        "caveats": result.caveats(),
        "name": best.contender.name if best else "",
        "rules": rules,
        "coefficients": coefficients,
        "circuit": circuit,
        "clusters": section_of(density) if density is not None else None,
    }


def _add_days(outputs: list[dict[str, Any]], fitted: Any) -> None:
    """Coefficients of dates and durations: per day, with odds that differ from 1."""
    terms = fitted.terms_
    for output, coef in zip(outputs, fitted.coef_ / terms.unit):
        lines = {line["name"]: line for line in output["lines"]}
        for name, feature, change in zip(terms.names, terms.feature, coef):
            line = lines.get(printable(name), {})
            # Only terms of values have a step.
            if line.get("step") and terms.features.info[feature].kind in TIMED:
                line["unit"] = "per day"
                line["step"] += " days"
                if line["odds"]:
                    line["odds"] = f"× {rounded_text(math.exp(change), abs(change))}"


def _columns(result: Exploration) -> list[list[Any]]:
    """The columns; extremes and rare categories are those of single rows."""
    typical = describe_columns(result.table, MIN_ROWS).itertuples()
    shown = {line.column: line.values for line in typical}
    return [
        [*cells, OfRows(values, 1, instead=printable(shown.get(name, "")))]
        for name, (*cells, values) in zip(
            result.columns["column"], columns_lines(result.columns)[1:]
        )
    ]
