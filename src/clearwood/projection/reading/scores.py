"""Scores of a proxy and of its reference on given rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import xlogy

from clearwood._words.numbers import short_text
from clearwood.columns.validation import check_target
from clearwood.exceptions import InputError
from clearwood.outcomes import Mean
from clearwood.projection.predictive_draws import PredictiveDraws, predictive_draws
from clearwood.references import Reference
from clearwood.rules.scores import LEAST, class_scores

COVERAGE = 0.9
"""Coverage of the evaluated intervals."""
SCORE_NAMES = {"log_loss": "log loss", "rmse": "root mean squared error"}
"""Names of the scores that a constant has, too."""


def compare_with_reference(
    estimator: Any, X: Any, y: Any = None
) -> dict[str, dict[str, Any]]:
    """Compare scores of a proxy and of its reference, and the fidelity of the proxy.

    Parameters
    ----------
    estimator : fitted ProjectedTree..., ProjectedLinear... or ProjectedLogistic...
    X : array-like or frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
        Observed targets; without them there are no scores, but the fidelity.

    Returns
    -------
    dict of str to dict of str to float
        ``"reference"`` and ``"proxy"``, each with ``error``, ``log_loss`` and the
        number of rows with an ``impossible`` class for classes; else with ``rmse`` and,
        where a distribution of observations is available, ``log_loss``, and
        ``coverage`` and mean ``width`` of 90 % intervals. ``"fidelity"`` of the proxy
        to the reference: ``same_class`` and the mean Kullback-Leibler ``divergence`` in
        nats, in which no probability of the proxy is below 1e-15, so that it is finite
        where hard outputs, 0 and 1, differ; for survival the latter only; else ``r2``
        (None for a single row) and ``rms_difference``.
        ``"constant"``: the prediction of each row by the labels of the others,
        ``log_loss`` or ``rmse``.

    Raises
    ------
    InputError
        The reference cannot predict these rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clearwood import ProjectedTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProjectedTreeClassifier(n_leaf_nodes=3, random_state=0).fit(X, y)
    >>> scores = compare_with_reference(tree, X, y)
    >>> scores["proxy"]["error"] < 0.1, scores["fidelity"]["same_class"] > 0.9
    (True, True)
    """
    reference, X = estimator.reference_, as_table(X)
    predictive = predictive_draws(reference, X)
    scores: dict[str, dict[str, Any]] = {"reference": {}, "proxy": {}, "constant": {}}
    scores["fidelity"] = _fidelity(estimator, X, predictive)
    if y is not None:
        scores["constant"] = constant_scores(reference, y)
        scores["reference"] = reference_scores(reference, predictive, X, y)
        scores["proxy"] = proxy_scores(estimator, X, y)
    return scores


def as_table(X: Any) -> Any:
    """Rows as they are, if they have a shape; lists as an array."""
    table = X if hasattr(X, "shape") else np.asarray(X)
    if table.shape[0] == 0:
        raise InputError("X has no rows; pass some, or omit X.")
    return table


def reference_scores(
    reference: Reference, predictive: PredictiveDraws, X: Any, y: Any
) -> dict[str, float]:
    """Scores of a reference on observed rows."""
    if reference.classes is not None:
        return class_scores(predictive.mean, reference.classes, y)
    # Without noise it defines no distribution of observations.
    has_noise = reference.task == "counts" or reference.noise_variance(X).any()
    return _value_scores(predictive.mean, predictive if has_noise else None, y)


def proxy_scores(estimator: Any, X: Any, y: Any) -> dict[str, float]:
    """Scores of a proxy on observed rows."""
    if estimator.reference_.classes is not None:
        return class_scores(estimator.predict_proba(X), estimator.classes_, y)
    return _value_scores(estimator.predict(X), estimator._predictive(X), y)


def constant_scores(reference: Reference, y: Any) -> dict[str, float]:
    """Leave-one-out scores of a constant prediction."""
    n = len(y)
    if n < 2:
        return {}
    if reference.classes is None:
        y = check_target(y, n, numeric=True)
        return {"rmse": float(y.std() * n / (n - 1))}
    y = check_target(y, n, numeric=False)
    _, label, counts = np.unique(y, return_inverse=True, return_counts=True)
    # One pseudo-row, even over all classes, so that a class of one row is possible.
    even = 1 / max(len(reference.classes), len(counts))
    return {"log_loss": float(-np.log((counts[label] - 1 + even) / n).mean())}


def remarks_on(scores: dict[str, dict[str, float]]) -> list[str]:
    """Caveats of the scores, in sentences.

    Parameters
    ----------
    scores : dict
        Result of :func:`compare_with_reference`.
    """
    remarks = []
    for key, best in scores["constant"].items():
        if scores["reference"][key] > best:
            remarks.append(
                "The reference is worse than a constant on these rows: its "
                f"{SCORE_NAMES[key]} is {short_text(scores['reference'][key])}, that "
                f"of the leave-one-out mean {short_text(best)}. High fidelity to it is "
                "of little value."
            )
    for who, name in (("reference", "reference"), ("proxy", "small model")):
        n_rows = scores[who].get("impossible", 0)
        if n_rows:
            remarks.append(
                f"The {name} assigns probability 0 to the observed class of {n_rows:,} "
                f"of these rows; each counts {-math.log(LEAST):.0f} nats in the log "
                "loss, which would be infinite."
            )
    return remarks


def _value_scores(
    predicted: np.ndarray, predictive: PredictiveDraws | None, y: Any
) -> dict[str, float]:
    y = check_target(y, len(predicted), numeric=True)
    scores = {"rmse": float(np.sqrt(((predicted - y) ** 2).mean()))}
    if predictive is None:
        return scores
    low, high = (predictive.quantile(0.5 + end * COVERAGE / 2) for end in (-1, 1))
    density = predictive.log_density(y)
    if predictive.noise is None:
        # For a count it is a probability; for a value its unit alone may make it small.
        density = np.maximum(density, math.log(LEAST))
    return scores | {
        "log_loss": float(-density.mean()),
        "coverage": float(((low <= y) & (y <= high)).mean()),
        "width": float((high - low).mean()),
    }


def _fidelity(
    estimator: Any, X: Any, predictive: PredictiveDraws
) -> dict[str, float | None]:
    if predictive.draws.ndim == 2:
        predicted = estimator.predict(X)
        mean_square = ((predicted - predictive.mean) ** 2).mean()
        # A single row has no variance to explain.
        r2 = Mean().fidelity(predictive.mean, predicted)
        return {
            "r2": r2 if len(predicted) > 1 else None,
            "rms_difference": float(np.sqrt(mean_square)),
        }
    is_class = estimator.reference_.classes is not None
    q = estimator.predict_proba(X) if is_class else estimator._predictive(X).mean
    p = predictive.mean
    terms = xlogy(p, p) - xlogy(p, np.maximum(q, LEAST))
    found: dict[str, float | None] = {}
    if is_class:
        found["same_class"] = float((p.argmax(axis=1) == q.argmax(axis=1)).mean())
    return found | {"divergence": max(0.0, float(terms.sum(axis=1).mean()))}
