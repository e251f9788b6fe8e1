"""Local explanation of a prediction of a reference by a small proxy.

Equation (1) with a neighbourhood around one row: the reference predicts rows similar to
it, and a small tree, or a linear model of few terms, is projected onto these
predictions. LIME does the like for a prediction without uncertainty (section 3.4); here
the result is a function of the reference, the row and the settings, so that it is
reproducible, and is reported with the uncertainty from draws and sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._numeric import product, rounded
from clearwood._words.labels import type_text
from clearwood._words.numbers import share_text, short_text
from clearwood._words.spelling import suggests_parameters
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.schema import features_of
from clearwood.exceptions import InputError
from clearwood.projection.local.neighbours import N_PARTS, row_with_neighbours
from clearwood.projection.predictive_draws import PredictiveDraws, predictive_draws
from clearwood.projection.terms import Terms, fit_linear
from clearwood.projection.trees import (
    project_trees,
    projection_problem,
    value_bins,
)
from clearwood.references import Reference
from clearwood.results import Result
from clearwood.rules import RuleList, Training, print_tree
from clearwood.search.trees.nodes import inner_nodes

if TYPE_CHECKING:
    import pandas as pd


MOST_DRAWS = 100
"""Maximum number of draws that are projected individually."""


@dataclass(frozen=True, eq=False, repr=False)
class LocalExplanation(Result):
    """Small proxy of a reference around one row.

    The explained quantity is a number: the predicted value, the rate, or the
    probability of one class.

    Attributes
    ----------
    quantity : str
        Name of the explained quantity.
    predicted : float
        Prediction of the reference for the row.
    std : float
        Standard deviation of the draws of this prediction.
    proxy_predicted : float
        Prediction of the proxy for the row.
    monte_carlo_error : float
        Standard error of ``proxy_predicted`` over samples of neighbours, with the same
        splits.
    fidelity : float
        R2 of the proxy for the reference's predictions of held-out neighbours; at most
        1, and negative where a constant is better.
    rules : RuleList or None
        Leaves of the tree, where the proxy is a tree.
    effects : tuple of (str, float, float)
        Terms, where the proxy is linear: the change of the number per standard
        deviation of the term among the neighbours, and its Monte-Carlo error.
    inclusion_frequency : dict of str to float
        Share of the posterior draws whose proxy uses each feature; those above 0, in
        descending order.
    row, neighbours : ndarray
        The row, and the neighbours that the proxy was fitted to, encoded.
    reference_predictions, proxy_predictions : ndarray
        Predictions of the reference, and of the proxy, for the neighbours, for plots.
    features : FeatureSpace
    n_draws : int
        Number of draws of the reference; a single one has no uncertainty.
    is_posterior : bool
        Whether they are from a posterior distribution.
    """

    _display = "clearwood.projection.display:LocalDisplay"

    quantity: str
    predicted: float
    std: float
    proxy_predicted: float
    monte_carlo_error: float
    fidelity: float
    rules: RuleList | None
    effects: tuple[tuple[str, float, float], ...]
    inclusion_frequency: dict[str, float]
    row: np.ndarray
    neighbours: np.ndarray
    reference_predictions: np.ndarray
    proxy_predictions: np.ndarray
    features: FeatureSpace
    n_draws: int
    is_posterior: bool

    @property
    def n_neighbours(self) -> int:
        """Number of neighbours that the proxy was fitted to."""
        return len(self.neighbours)

    def to_frame(self) -> pd.DataFrame:
        """Share of the draws that use each feature; effects, where it is linear."""
        import pandas as pd

        effects = pd.DataFrame(self.effects, columns=["feature", "effect", "error"])
        shares = pd.Series(self.inclusion_frequency, name="share_of_draws", dtype=float)
        return effects.set_index("feature").join(shares, how="outer")

    def __str__(self) -> str:
        # A single draw has no uncertainty.
        std = f" ± {self.std:.2g} (sd of the draws)" if self.n_draws > 1 else ""
        lines = [
            f"{self.quantity}: reference {short_text(self.predicted, 4)}{std}, "
            f"proxy {short_text(self.proxy_predicted, 4)} ± "
            f"{self.monte_carlo_error:.2g} (Monte-Carlo error)",
            f"fidelity (R²) on held-out neighbours: {self.fidelity:.3f}",
        ]
        if self.rules is not None:
            lines += _without_rows(self.rules)
        lines += [
            f"{effect:+10.4g} ± {error:.2g}  per standard deviation of {name}"
            for name, effect, error in self.effects
        ]
        used = ", ".join(
            f"{name} {share_text(share)}"
            for name, share in self.inclusion_frequency.items()
        )
        return "\n".join([*lines, f"features used, share of draws: {used or 'none'}"])


def _without_rows(rules: RuleList) -> list[str]:
    """Rules without numbers of rows: those of neighbours do not describe the data."""
    texts = [
        f"{i}. if {rule.text(rules.features)} then {short_text(rule.prediction, 4)}"
        for i, rule in enumerate(rules.rules, start=1)
    ]
    return [
        *texts,
        f"{rules.n_rules}. otherwise {short_text(rules.otherwise.prediction, 4)}",
    ]


@suggests_parameters
def explain_local(
    reference: Reference,
    x: Any,
    rows: Any = None,
    *,
    proxy: str = "tree",
    max_size: int = 4,
    max_depth: int | None = None,
    width: Any = 0.5,
    neighbours: Any = None,
    label: Any = None,
    n_neighbours: int = 4096,
    random_state: int = 0,
) -> LocalExplanation:
    """Explain the prediction of a reference for one row by a small proxy around it.

    Parameters
    ----------
    reference : Reference
    x : array-like of shape (n_features,), row of a frame, or frame of one row
        The row to be explained.
    rows : array-like or frame of shape (n_rows, n_features), optional
        Rows with the distribution of the features, with the columns of ``x``; by
        default those that the reference was made with.
    proxy : {"tree", "linear"}, default="tree"
    max_size : int, default=4
        Maximum number of leaves of the tree, or of terms of the linear model.
    max_depth : int, optional
        Maximum number of splits from the root of the tree to a leaf.
    width : float or array-like of shape (n_features, n_features), default=0.5
        Width of the neighbourhood: standard deviation of each feature in units of that
        in ``rows``, and the share of neighbours whose category is resampled. Integers
        stay integers, and values in the range of the rows. Or a covariance in the units
        of the features: neighbours then are normal around the row, without these
        limits. For a reference of given draws, the share of its rows, the nearest ones,
        that are the neighbours.
    neighbours : array-like, frame or callable, optional
        The neighbours in place of those of ``width``, as a table with the columns of
        ``rows``; or a function of their number and a generator that draws such a table.
        A random half is held out to evaluate the proxy.
    label : optional
        Class whose probability is explained; by default the one that is most probable
        under the reference.
    n_neighbours : int, default=4096
        Number of rows to predict; a power of two, at least 64, unless ``width`` is a
        covariance or ``neighbours`` a function. As many others are held out to evaluate
        the proxy.
    random_state : int, default=0
        Seed of the neighbours.

    Returns
    -------
    LocalExplanation

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from clearwood import explain_local, reference
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> ref = reference(BayesianRidge().fit(X, 2 * X[:, 1]), random_state=0)
    >>> found = explain_local(ref, X[0], X, proxy="linear", max_size=1)
    >>> [name for name, _, _ in found.effects], found.fidelity > 0.99
    (['x1'], True)
    """
    _check_settings(reference, proxy, max_size, max_depth)
    rows = reference.rows if rows is None else rows
    if rows is None:
        raise InputError(
            "The distribution of the features around the row is unknown: pass rows, "
            "for example the reference's training rows."
        )
    rows = rows if is_frame(rows) else np.asarray(rows)
    features = features_of(rows)
    features = features.with_kinds(features.encode(rows), rows)
    encoded, table = row_with_neighbours(
        reference, x, rows, features, width, neighbours, n_neighbours, random_state
    )
    row = encoded[:1]
    # The reference is evaluated once, so that it may be slow.
    predictive, quantity = _explained_quantity(
        predictive_draws(reference, table), reference, label
    )
    train, test = np.array_split(np.arange(1, len(encoded)), 2)
    fit_proxy = _local_tree if proxy == "tree" else _local_linear
    predict, fields = fit_proxy(
        encoded[train], predictive.take(train), features, max_size, max_depth, row
    )
    values = predictive.mean
    residuals = predict(encoded[test]) - values[test]
    variance = float(values[test].var())
    return LocalExplanation(
        quantity=quantity,
        predicted=float(values[0]),
        std=float(predictive.draws[:, 0].std()),
        proxy_predicted=float(predict(row)[0]),
        fidelity=1 - float((residuals**2).mean()) / variance if variance > 0 else 1.0,
        row=row[0],
        neighbours=encoded[train],
        reference_predictions=values[train],
        proxy_predictions=predict(encoded[train]),
        features=features,
        n_draws=reference.n_draws,
        is_posterior=reference.is_posterior,
        **fields,
    )


def _check_settings(
    reference: Any, proxy: str, max_size: int, max_depth: int | None
) -> None:
    if not isinstance(reference, Reference):
        raise InputError(
            f"Found {type_text(reference)}, expected a reference; make one: "
            "cw.reference(model, X, y)."
        )
    if reference.task == "survival":
        raise InputError(
            f"explain_local explains one number, and {reference.description} predict "
            "survival at each horizon; pass a reference of the survival at one time, "
            "such as cw.reference(draws[:, :, 0], X), or fit ProjectedTreeSurvival."
        )
    if proxy not in ("tree", "linear"):
        raise InputError(f"proxy must be 'tree' or 'linear', found {proxy!r}.")
    if max_size < 1:
        raise InputError(f"max_size={max_size} must be at least 1.")
    if max_depth is not None and max_depth < 1:
        raise InputError(f"max_depth={max_depth} must be at least 1.")


def _explained_quantity(
    predictive: PredictiveDraws, reference: Reference, label: Any
) -> tuple[PredictiveDraws, str]:
    """Draws of the explained number, and its name; the row comes first."""
    if predictive.draws.ndim == 2:
        noise = (
            np.zeros_like(predictive.draws)
            if predictive.noise is None
            else predictive.noise
        )
        return PredictiveDraws(predictive.draws, noise), "predicted value"
    classes = np.asarray(reference.classes).tolist()
    if label is None:
        label = classes[int(predictive.mean[0].argmax())]
    if label not in classes:
        raise InputError(f"label={label!r} is none of the classes {classes}.")
    share = predictive.draws[:, :, classes.index(label)]
    return PredictiveDraws(share, np.zeros_like(share)), f"probability of {label}"


Proxy = tuple[Callable[[np.ndarray], np.ndarray], dict[str, Any]]
"""Predictions of a proxy, and the fields of the explanation that depend on its kind."""


def _local_tree(
    encoded: np.ndarray,
    predictive: PredictiveDraws,
    features: FeatureSpace,
    max_size: int,
    max_depth: int | None,
    row: np.ndarray,
) -> Proxy:
    """Small tree fitted to a neighbourhood."""
    values = predictive.mean
    n_rows = len(values)
    training = Training(
        encoded, values, None, np.ones(n_rows), values, value_bins(features, encoded)
    )

    def projected(target: PredictiveDraws, *, refine: bool) -> Any:
        problem = projection_problem(target, "mean", training.grid, training.weight, 5)
        depth = np.inf if max_depth is None else max_depth
        return project_trees(problem, max_size, refine=refine, max_depth=depth)[-1]

    rules = print_tree(projected(predictive.pooled, refine=True), training).to_rules()
    used = []
    for number in _thinned_indices(predictive.n_draws):
        nodes = inner_nodes(projected(predictive.draw(number), refine=False))
        used.append({int(training.used_features[node.feature]) for _, node in nodes})

    def predict(rows: np.ndarray) -> np.ndarray:
        return np.asarray(rules.predict_encoded(rows), dtype=np.float64)

    # The mean of the row's leaf in each part of the neighbours.
    inside = rules.apply_encoded(encoded) == rules.apply_encoded(row)
    at_row = [
        values[part[inside[part]]].mean() if inside[part].any() else predict(row)[0]
        for part in np.array_split(np.arange(n_rows), N_PARTS)
    ]
    return predict, {
        "rules": rules,
        "effects": (),
        "inclusion_frequency": _frequencies(used, features.names),
        "monte_carlo_error": _error_of_mean(np.array(at_row)),
    }


def _local_linear(
    encoded: np.ndarray,
    predictive: PredictiveDraws,
    features: FeatureSpace,
    max_size: int,
    _: Any,
    row: np.ndarray,
) -> Proxy:
    """Linear model of few terms fitted to a neighbourhood."""
    terms = Terms.from_table(features, encoded, np.ones(len(encoded)))
    columns, values = terms.design_matrix(encoded), predictive.mean
    draws = predictive.draws[_thinned_indices(predictive.n_draws)]
    # Only norms and inner products matter, and these are kept in fewer rows.
    q, r = np.linalg.qr(columns - columns.mean(axis=0))

    def selected_terms(target: np.ndarray) -> np.ndarray:
        centred = target - target.mean()
        squares = float((centred**2).sum())
        return _forward(r, product(centred, q), squares, max_size)

    chosen = selected_terms(values)
    used = [{int(terms.feature[t]) for t in selected_terms(draw)} for draw in draws]
    intercept, coef = _fit_terms(columns, values, chosen)

    def predict(rows: np.ndarray) -> np.ndarray:
        return intercept + product(terms.design_matrix(rows), coef)

    # The same terms, fitted to each part of the neighbours.
    parts = np.array_split(np.arange(len(values)), N_PARTS)
    fits = [_fit_terms(columns[part], values[part], chosen) for part in parts]
    coefs = np.array([own for _, own in fits])
    at_row = [own + product(terms.design_matrix(row), by)[0] for own, by in fits]
    order = np.argsort(-np.abs(coef), kind="stable")
    return predict, {
        "rules": None,
        "effects": tuple(
            (terms.names[t], float(coef[t]), _error_of_mean(coefs[:, t]))
            for t in order
            if coef[t] != 0
        ),
        "inclusion_frequency": _frequencies(used, features.names),
        "monte_carlo_error": _error_of_mean(np.array(at_row)),
    }


def _forward(
    columns: np.ndarray, values: np.ndarray, squares: float, most: int
) -> np.ndarray:
    """Forward selection of the terms that explain most of the residual squares."""
    residuals, basis = values, columns
    longest = np.sqrt((columns**2).sum(axis=0).max(initial=0.0))
    chosen: list[int] = []
    for _ in range(min(most, columns.shape[1])):
        norm = np.sqrt((basis**2).sum(axis=0))
        free = norm > 1e-9 * longest
        along = product(residuals, basis) / np.where(free, norm, 1.0)
        gain = rounded(np.where(free, along**2, 0.0))
        gain[chosen] = 0.0
        best = int(gain.argmax())
        if gain[best] <= 1e-9 * squares:
            break
        chosen.append(best)
        # Residuals, and the other terms given this one.
        direction = basis[:, best] / norm[best]
        residuals = residuals - direction * product(direction, residuals)
        basis = basis - np.outer(direction, product(direction, basis))
    return np.array(chosen, dtype=int)


def _fit_terms(
    columns: np.ndarray, values: np.ndarray, chosen: np.ndarray
) -> tuple[float, np.ndarray]:
    intercept, few = fit_linear(columns[:, chosen], values[None], np.ones(len(values)))
    coef = np.zeros(columns.shape[1])
    coef[chosen] = few[0]
    return float(intercept[0]), coef


def _thinned_indices(n_draws: int) -> np.ndarray:
    """Indices of the draws that are projected individually: all, or evenly spaced."""
    return np.unique(np.linspace(0, n_draws - 1, min(n_draws, MOST_DRAWS)).astype(int))


def _frequencies(used: list[set[int]], names: tuple[str, ...]) -> dict[str, float]:
    """Frequency of use of each feature, in descending order."""
    share = {
        name: sum(d in features for features in used) / len(used)
        for d, name in enumerate(names)
    }
    order = sorted(share, key=lambda name: -share[name])
    return {name: share[name] for name in order if share[name] > 0}


def _error_of_mean(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
