"""A proxy beside its reference, on rows that are handed in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import xlogy

from clearwood._words.numbers import short_text
from clearwood.columns.validation import check_target
from clearwood.exceptions import InputError
from clearwood.outcomes import Mean
from clearwood.projection.answers import Answers, ask
from clearwood.references import Reference
from clearwood.rules.scores import LEAST, class_scores

COVERAGE = 0.9
"""Of the intervals that are judged."""
IN_WORDS = {"log_loss": "log loss", "rmse": "root mean squared error"}
"""Of scores that a constant has, too."""


def compare_with_reference(
    estimator: Any, X: Any, y: Any = None
) -> dict[str, dict[str, Any]]:
    """Scores of a proxy and of its reference, and how near one is to the other.

    Parameters
    ----------
    estimator : fitted ProjectedTree..., ProjectedLinear... or ProjectedLogistic...
    X : array-like or frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
        What was observed; without it there are no scores, but the fidelity.

    Returns
    -------
    dict of str to dict of str to float
        ``"reference"`` and ``"proxy"``, each with ``error``, ``log_loss`` and
        the number of rows found ``impossible`` for classes; else with ``rmse`` and,
        where it says how observations spread, ``log_loss``, and ``coverage`` and mean
        ``width`` of 90 % intervals.
        ``"fidelity"`` of the proxy to the reference: ``same_class`` and the mean
        Kullback-Leibler ``divergence`` in nats; else ``r2`` (None of a single row) and
        ``rms_difference``. ``"constant"``: what is said of each row knowing the others'
        labels alone, ``log_loss`` or ``rmse``.

    Raises
    ------
    InputError
        The reference cannot be asked about these rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clearwood import ProjectedTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProjectedTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    >>> scores = compare_with_reference(tree, X, y)
    >>> scores["proxy"]["error"] < 0.1, scores["fidelity"]["same_class"] > 0.9
    (True, True)
    """
    reference, X = estimator.reference_, as_table(X)
    said = ask(reference, X)
    both: dict[str, dict[str, Any]] = {"reference": {}, "proxy": {}, "constant": {}}
    both["fidelity"] = _near(estimator, X, said)
    if y is not None:
        both["constant"] = constant_scores(reference, y)
        both["reference"] = reference_scores(reference, said, X, y)
        both["proxy"] = proxy_scores(estimator, X, y)
    return both


def as_table(X: Any) -> Any:
    """Rows as they are, if they have a shape; lists as an array."""
    table = X if hasattr(X, "shape") else np.asarray(X)
    if table.shape[0] == 0:
        raise InputError("X has no rows; give some, or leave X out.")
    return table


def reference_scores(
    reference: Reference, said: Answers, X: Any, y: Any
) -> dict[str, float]:
    """How near a reference comes to what was observed in rows."""
    if reference.classes is not None:
        return class_scores(said.mean, reference.classes, y)
    # One that knows no noise does not say how observations spread.
    spreads = reference.task == "counts" or reference.noise_variance(X).any()
    return _value_scores(said.mean, said if spreads else None, y)


def proxy_scores(estimator: Any, X: Any, y: Any) -> dict[str, float]:
    """How near a proxy comes to what was observed in rows."""
    if estimator.reference_.classes is not None:
        return class_scores(estimator.predict_proba(X), estimator.classes_, y)
    return _value_scores(estimator.predict(X), estimator._says(X), y)


def constant_scores(reference: Reference, y: Any) -> dict[str, float]:
    """How near one comes to each of some rows by what the others are, on average."""
    n = len(y)
    if n < 2:
        return {}
    if reference.classes is None:
        y = check_target(y, n, numeric=True)
        return {"rmse": float(y.std() * n / (n - 1))}
    y = check_target(y, n, numeric=False)
    _, label, counts = np.unique(y, return_inverse=True, return_counts=True)
    # One row of all classes alike, so that a class of one row is not impossible.
    even = 1 / max(len(reference.classes), len(counts))
    return {"log_loss": float(-np.log((counts[label] - 1 + even) / n).mean())}


def remarks_on(scores: dict[str, dict[str, float]]) -> list[str]:
    """What one has to know of scores before they are believed, in sentences.

    Parameters
    ----------
    scores : dict
        What :func:`compare_with_reference` found.
    """
    found = []
    for key, best in scores["constant"].items():
        if scores["reference"][key] > best:
            found.append(
                "The reference does worse than a constant on these rows: its "
                f"{IN_WORDS[key]} is {short_text(scores['reference'][key])}, but "
                f"{short_text(best)} where each row is given the average of the "
                "others. To follow it is worth little."
            )
    for who, name in (("reference", "reference"), ("proxy", "small model")):
        n_rows = scores[who].get("impossible", 0)
        if n_rows:
            found.append(
                f"The {name} found what happened impossible in {n_rows:,} of these "
                f"rows (probability 0); each counts {-math.log(LEAST):.0f} nats in the "
                "log loss, which would be infinite."
            )
    return found


def _value_scores(
    predicted: np.ndarray, said: Answers | None, y: Any
) -> dict[str, float]:
    y = check_target(y, len(predicted), numeric=True)
    scores = {"rmse": float(np.sqrt(((predicted - y) ** 2).mean()))}
    if said is None:
        return scores
    low, high = (said.quantile(0.5 + end * COVERAGE / 2) for end in (-1, 1))
    density = said.log_density(y)
    if said.noise is None:
        # Of a count it is a probability; of a value its unit alone may make it small.
        density = np.maximum(density, math.log(LEAST))
    return scores | {
        "log_loss": float(-density.mean()),
        "coverage": float(((low <= y) & (y <= high)).mean()),
        "width": float((high - low).mean()),
    }


def _near(estimator: Any, X: Any, said: Answers) -> dict[str, float | None]:
    if estimator.reference_.classes is None:
        predicted = estimator.predict(X)
        gap = ((predicted - said.mean) ** 2).mean()
        # A single row has no variance to follow.
        r2 = Mean().fidelity(said.mean, predicted)
        return {
            "r2": r2 if len(predicted) > 1 else None,
            "rms_difference": float(np.sqrt(gap)),
        }
    p, q = said.mean, estimator.predict_proba(X)
    gaps = xlogy(p, p) - xlogy(p, np.maximum(q, LEAST))
    return {
        "same_class": float((p.argmax(axis=1) == q.argmax(axis=1)).mean()),
        "divergence": float(gaps.sum(axis=1).mean()),
    }
