"""Validation document: the report of rules, with what a validator has to sign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._html import render
from clearwood._html.disclosure import disclosed, group_line
from clearwood._warned_once import warned_once
from clearwood._words.labels import check_text, printable
from clearwood._words.numbers import percent_text, short_text
from clearwood._words.spelling import suggests_parameters
from clearwood.codec.files import check_writable, file_date, write_text
from clearwood.exceptions import InputError
from clearwood.reporting.summary import summarize
from clearwood.rules import RuleSet
from clearwood.rules.monitoring.groups import errors_by_group
from clearwood.rules.monitoring.in_words import group_cells
from clearwood.rules.monitoring.quantities import Sample, read_sample
from clearwood.rules.rule_set import rules_of
from clearwood.rules.scores import check_errors
from clearwood.rules.training import hash_of

SHIFT = 0.1
"""Change of a column, in standard deviations, for the sensitivity."""

ROLES = ("Developer", "Validator", "Owner of the model")

LIMITS = (
    "The results hold for rows from the population of these rows. They do not cover "
    "drift, nor regions without rows.",
    "Intervals assume that rows are independent.",
    "The rules describe the predictions of a model or associations in its data, not "
    "causes.",
)


@warned_once()
@suggests_parameters
def validation_document(
    result: Any,
    path: Any,
    *,
    X: Any,
    y: Any,
    purpose: str,
    limits: Sequence[str] = (),
    by: Any = None,
    roles: Sequence[str] = ROLES,
    model: Any = None,
    title: str | None = None,
    pos_label: Any = None,
    threshold: float | None = None,
    held_out_from: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write a document for the validation of rules, to be printed and signed.

    It contains purpose, data, method and limits; all of :func:`report`, without single
    rows; results by segment; sensitivity to small changes of the columns; hashes of the
    data; and a place for signatures.

    Parameters
    ----------
    result : fitted estimator with ``rules_``, or RuleSet
    path : str or Path
        The HTML file to write; it has no script, needs no network, and is laid out for
        paper and PDF.
    X : array-like or frame of shape (n_samples, n_features)
        Validation sample, preferably held out from the model.
    y : array-like of shape (n_samples,)
        True labels or values.
    purpose : str
        What the rules are used for, by whom, and for which decisions.
    limits : sequence of str, default=()
        Known limits, in addition to those that hold for all rules.
    by : column label, or array-like of shape (n_samples,), optional
        Segments of the rows.
    roles : sequence of str
        Who signs.
    model, title, pos_label, threshold, held_out_from, overwrite
        As in :func:`report`.

    Raises
    ------
    InputError
        The file exists or cannot be written, or the data does not fit the rules.

    Examples
    --------
    >>> import clearwood as cw, tempfile
    >>> from pathlib import Path
    >>> rules = cw.RuleList((cw.Rule((cw.Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     cw.Rule((), "well", (0.8, 0.2)),
    ...     cw.FeatureSpace(("temperature",), (None,)), ("well", "ill"), "state")
    >>> X = [[36 + k / 10] for k in range(40)]
    >>> y = ["ill" if row[0] > 37.9 else "well" for row in X]
    >>> path = Path(tempfile.mkdtemp()) / "validation.html"
    >>> cw.validation_document(rules, path, X=X, y=y, purpose="Triage of patients.",
    ...     by=["north", "south"] * 20)
    >>> "Triage of patients." in path.read_text("utf-8")
    True
    """
    check_writable(path, overwrite=overwrite)
    for name, texts in (("purpose", [purpose]), ("limits", limits), ("roles", roles)):
        _check_texts(name, texts)
    rules = rules_to_validate(result)
    page = summarize(
        result, X=X, y=y, model=model, title=title, pos_label=pos_label,
        threshold=threshold, held_out_from=held_out_from, show_rows=False,
    )  # fmt: skip
    sample = read_sample(rules, X, y, "X")
    groups, name = errors_by_group(rules, sample, by, pos_label)
    content = {
        "purpose": purpose,
        "limits": [*LIMITS, *limits],
        "data": _data(rules, sample),
        "head": [printable(name), "Rows", *(groups[0].errors if groups else ())],
        "segments": [
            group_line(printable(str(one.group)), one.rows, group_cells(one))
            for one in groups
        ],
        "sensitivity": _sensitivity(rules, sample.encoded),
        "shift": SHIFT,
        "roles": list(roles),
    }
    page["title"] = printable(title or f"Validation of rules for {rules.target}")
    page["validation"] = disclosed(content, show_rows=False)
    text = render("reporting/validation/document.html", **page)
    write_text(path, text, overwrite=overwrite)


def rules_to_validate(result: Any) -> RuleSet:
    """The rules of a result, unless their errors are not those of single rows."""
    rules = rules_of(result, "result")
    check_errors(rules)
    return rules


def _check_texts(name: str, texts: Sequence[str]) -> None:
    if isinstance(texts, str) or not all(isinstance(one, str) for one in texts):
        expected = "a text" if name == "purpose" else "a list of texts"
        raise InputError(f"{name} must be {expected}.")
    check_text(texts, f"The {name} of a validation document")


def _data(rules: RuleSet, sample: Sample) -> list[tuple[str, str]]:
    encoded, truth = sample.encoded, sample.truth
    assert truth is not None
    used = encoded[:, sorted(rules.used_features)]
    # Not their positions among the labels of these rows, which vary with the sample.
    codes = rules.outcome.codes(truth) if rules.classes else truth
    return [
        ("Date", file_date()),
        ("Rows", f"{sample.n:,}"),
        ("Columns", f"{encoded.shape[1]:,}, of which the rules use {used.shape[1]:,}"),
        (
            "Missing cells in these",
            percent_text(np.isnan(used).mean() if used.size else 0),
        ),
        ("Hash of rows and target", f"SHA-256 {hash_of(encoded, codes)}"),
    ]


def _sensitivity(rules: RuleSet, encoded: np.ndarray) -> list[list[str]]:
    """Change of the predictions if a numeric column is a little larger or smaller."""
    now, lines = rules.predict_encoded(encoded), []
    for j in sorted(rules.used_features):
        if rules.features.categories[j] is not None:
            continue
        present = encoded[~np.isnan(encoded[:, j]), j]
        shift, changes = SHIFT * np.std(present) if len(present) else 0.0, []
        for step in (-shift, shift):
            moved = encoded.copy()
            moved[:, j] += step
            changes.append(rules.outcome.apart(now, rules.predict_encoded(moved)))
        text = percent_text if rules.classes else short_text
        name = printable(rules.features.shown(j))
        lines.append([name, *(text(float(np.mean(one))) for one in changes)])
    return lines
