"""Local explanation of a prediction of a reference by a small proxy.

Equation (1) with a neighbourhood around one row: the reference predicts rows similar to
it, and a small tree, or a linear model of few terms, is projected onto these
predictions. LIME does the like for a prediction without uncertainty (section 3.4); here
the result is a function of the reference, the row and the settings, so that it is
reproducible, and is reported with the uncertainty from draws and sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._numeric import product, rounded
from clearwood._words.numbers import share_text, short_text
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.schema import features_of
from clearwood.exceptions import InputError
from clearwood.projection.answers import Answers, ask
from clearwood.projection.local.neighbours import Neighbourhood, decoded
from clearwood.projection.terms import Terms, fit_linear
from clearwood.projection.trees import (
    project_trees,
    projection_problem,
    value_bins,
)
from clearwood.references import Reference
from clearwood.rules import RuleList, Training, print_tree
from clearwood.search.trees.nodes import inner_nodes

N_PARTS = 8
"""Independent sets of neighbours, whose variation measures the Monte-Carlo error."""

MOST_DRAWS = 100
"""Maximum number of draws that are projected individually."""


@dataclass(frozen=True, eq=False)
class LocalExplanation:
    """Small proxy of a reference around one row.

    The explained quantity is a number: the predicted value, the rate, or the
    probability of one class.

    Attributes
    ----------
    what : str
        Name of the explained quantity.
    said : float
        Prediction of the reference for the row.
    spread : float
        Standard deviation of its draws there.
    proxy : float
        Prediction of the proxy for the row.
    monte_carlo_error : float
        Standard error of ``proxy`` over samples of neighbours, with the same splits.
    fidelity : float
        R2 of the proxy for the reference's predictions of held-out neighbours; at most
        1, and negative where a constant is better.
    rules : RuleList or None
        Leaves of the tree, where the proxy is a tree.
    effects : tuple of (str, float, float)
        Terms, where the proxy is linear: the change of the number per standard
        deviation of the term among the neighbours, and its Monte-Carlo error.
    selected : dict of str to float
        Share of the posterior draws whose own proxy uses each feature; those above 0,
        in descending order.
    row, neighbours : ndarray
        The row, and the neighbours that the proxy was fitted to, encoded.
    answers, proxy_answers : ndarray
        Predictions of the reference, and of the proxy, for the neighbours, for plots.
    features : FeatureSpace
    n_draws : int
        Number of draws of the reference; a single one has no uncertainty.
    is_posterior : bool
        Whether they are from a posterior distribution.
    """

    what: str
    said: float
    spread: float
    proxy: float
    monte_carlo_error: float
    fidelity: float
    rules: RuleList | None
    effects: tuple[tuple[str, float, float], ...]
    selected: dict[str, float]
    row: np.ndarray
    neighbours: np.ndarray
    answers: np.ndarray
    proxy_answers: np.ndarray
    features: FeatureSpace
    n_draws: int
    is_posterior: bool

    @property
    def n_neighbours(self) -> int:
        """Number of neighbours that the proxy was fitted to."""
        return len(self.neighbours)

    def __str__(self) -> str:
        # A single draw has no uncertainty.
        sure = f" (draws ± {self.spread:.2g})" if self.n_draws > 1 else ""
        lines = [
            f"{self.what}: the reference says {short_text(self.said, 4)}{sure}, the "
            f"proxy {short_text(self.proxy, 4)} (other neighbours ± "
            f"{self.monte_carlo_error:.2g})",
            f"fidelity on other neighbours: {self.fidelity:.3f}",
        ]
        if self.rules is not None:
            lines += _without_rows(self.rules)
        lines += [
            f"{effect:+10.4g} ± {error:.2g}  per standard deviation of {name}"
            for name, effect, error in self.effects
        ]
        asked = [f"{name} {share_text(share)}" for name, share in self.selected.items()]
        return "\n".join([*lines, f"asked by the draws: {', '.join(asked) or 'none'}"])


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


def explain_local(
    reference: Reference,
    x: Any,
    rows: Any = None,
    *,
    proxy: str = "tree",
    max_size: int = 4,
    width: float = 0.5,
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
    width : float, default=0.5
        Width of the neighbourhood: standard deviation of each feature in units of that
        in ``rows``, and the share of neighbours whose category is resampled. Integers
        stay integers, and values in the range of the rows.
    label : optional
        Class whose probability is explained; by default the one that is most probable
        under the reference.
    n_neighbours : int, default=4096
        Number of rows to predict: a power of two, at least 64. As many others are held
        out to evaluate the proxy.
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
    _check_settings(reference, proxy, max_size, width, n_neighbours)
    rows = reference.rows if rows is None else rows
    if rows is None:
        raise InputError(
            "It is not known how the features vary around the row: hand in rows, for "
            "example the reference's training rows."
        )
    rows = rows if is_frame(rows) else np.asarray(rows)
    features = features_of(rows)
    features = features.with_kinds(features.encode(rows), rows)
    row = features.encode(_as_table(x, rows))
    around = Neighbourhood.of(row[0], features.encode(rows), features, width)
    part = n_neighbours // N_PARTS
    seeds = np.random.default_rng(random_state).integers(2**31, size=2 * N_PARTS)
    encoded = np.concatenate([row, *(around.sample(part, int(s)) for s in seeds)])
    # The reference is evaluated once, so that it may be slow.
    answers = ask(reference, decoded(encoded, features, rows))
    answers, what = _numbers(answers, reference, label)
    fitted, judged = np.split(np.arange(1, len(encoded)), 2)
    make = _tree_around if proxy == "tree" else _line_around
    found = make(encoded[fitted], answers.take(fitted), features, max_size)
    values = answers.mean
    apart = found.predict(encoded[judged]) - values[judged]
    variance = float(values[judged].var())
    again = [found.refitted(p) for p in np.split(np.arange(n_neighbours), N_PARTS)]
    at_row = [float(other.predict(row)[0]) for other in again]
    return LocalExplanation(
        what=what,
        said=float(values[0]),
        spread=float(answers.draws[:, 0].std()),
        proxy=float(found.predict(row)[0]),
        monte_carlo_error=_error_of_mean(np.array(at_row)),
        fidelity=1 - float((apart**2).mean()) / variance if variance > 0 else 1.0,
        rules=found.rules,
        effects=found.effects(again),
        selected=_shares(found.asked, features.names),
        row=row[0],
        neighbours=encoded[fitted],
        answers=values[fitted],
        proxy_answers=found.predict(encoded[fitted]),
        features=features,
        n_draws=reference.n_draws,
        is_posterior=reference.is_posterior,
    )


def _check_settings(
    reference: Any, proxy: str, max_size: int, width: float, n_neighbours: int
) -> None:
    if not isinstance(reference, Reference):
        raise InputError(
            f"Found a {type(reference).__name__}, expected a reference; make one of "
            "it: cw.reference(model, X, y)."
        )
    if proxy not in ("tree", "linear"):
        raise InputError(f"proxy must be 'tree' or 'linear', found {proxy!r}.")
    if n_neighbours < 64 or n_neighbours & (n_neighbours - 1):
        raise InputError(
            f"n_neighbours={n_neighbours} must be a power of two from 64 on."
        )
    if max_size < 1 or not width > 0:
        raise InputError(
            f"max_size={max_size} must be at least 1, and width={width} above 0."
        )


def _as_table(x: Any, rows: Any) -> Any:
    if is_frame(x) or (not hasattr(x, "keys") and np.ndim(x) == 2):
        if x.shape[0] != 1:
            raise InputError(f"x must be one row, found {x.shape[0]}.")
        return x
    if not is_frame(rows):
        return np.asarray(x)[None]
    import narwhals as nw

    names = list(rows.columns)
    by_name = hasattr(x, "keys")
    fits = set(names) <= set(x.keys()) if by_name else len(x) == len(names)
    if not fits:
        raise InputError(
            f"x holds {len(x)} cells, expected one for each of the columns {names}."
        )
    cells = {n: x[n] for n in names} if by_name else dict(zip(names, x))
    frame = nw.from_native(rows, eager_only=True)
    columns = {}
    for name in names:
        series = frame.get_column(name)
        made = nw.new_series(name, [cells[name]], backend=frame.implementation)
        columns[name] = made.cast(series.dtype)
    return nw.from_dict(columns, backend=frame.implementation).to_native()


def _numbers(answers: Answers, reference: Reference, label: Any) -> tuple[Answers, str]:
    """The explained number, and its name; the row comes first."""
    if answers.draws.ndim == 2:
        noise = np.zeros_like(answers.draws) if answers.noise is None else answers.noise
        return Answers(answers.draws, noise), "predicted value"
    classes = np.asarray(reference.classes).tolist()
    if label is None:
        label = classes[int(answers.mean[0].argmax())]
    if label not in classes:
        raise InputError(f"label={label!r} is none of the classes {classes}.")
    share = answers.draws[:, :, classes.index(label)]
    return Answers(share, np.zeros_like(share)), f"probability of {label}"


@dataclass(frozen=True, eq=False)
class _TreeAround:
    """Small tree fitted to a neighbourhood."""

    rules: RuleList
    leaf: np.ndarray
    values: np.ndarray
    asked: list[set[int]]
    said: np.ndarray | None = None

    def predict(self, encoded: np.ndarray) -> np.ndarray:
        if self.said is None:
            return np.asarray(self.rules.predict_encoded(encoded), dtype=np.float64)
        return self.said[self.rules.apply_encoded(encoded)]

    def refitted(self, part: np.ndarray) -> _TreeAround:
        """Same leaves, with the means of some of the rows."""
        n = self.rules.n_rules
        weight = np.bincount(self.leaf[part], minlength=n)
        total = np.bincount(self.leaf[part], self.values[part], minlength=n)
        overall = self.rules.predictions.astype(np.float64)
        said = np.where(weight > 0, total / np.maximum(weight, 1), overall)
        return _TreeAround(self.rules, self.leaf, self.values, self.asked, said)

    def effects(self, again: list[Any]) -> tuple[tuple[str, float, float], ...]:
        return ()


def _tree_around(
    encoded: np.ndarray, answers: Answers, features: FeatureSpace, max_size: int
) -> _TreeAround:
    values = answers.mean
    n_rows = len(values)
    training = Training(
        encoded, values, None, np.ones(n_rows), values, value_bins(features, encoded)
    )

    def projected(said: Answers, *, refine: bool) -> Any:
        problem = projection_problem(said, "mean", training.grid, training.weight, 5)
        return project_trees(problem, max_size, refine=refine)[-1]

    tree = projected(answers.together, refine=True)
    rules = print_tree(tree, training).to_rules()
    asked = []
    for number in _spread_numbers(answers.n_draws):
        own = projected(answers.draw(number), refine=False)
        asked.append({int(training.asked[n.feature]) for _, n in inner_nodes(own)})
    return _TreeAround(rules, rules.apply_encoded(encoded), values, asked)


@dataclass(frozen=True, eq=False)
class _LineAround:
    """Linear model of few terms fitted to a neighbourhood."""

    terms: Terms
    columns: np.ndarray
    values: np.ndarray
    intercept: float
    coef: np.ndarray
    asked: list[set[int]]
    rules: None = None

    def predict(self, encoded: np.ndarray) -> np.ndarray:
        return self.intercept + product(self.terms.of_rows(encoded), self.coef)

    def refitted(self, part: np.ndarray) -> _LineAround:
        """Same terms, fitted to some of the rows."""
        chosen = np.flatnonzero(self.coef)
        intercept, coef = _fit_terms(self.columns[part], self.values[part], chosen)
        return _LineAround(
            self.terms, self.columns, self.values, intercept, coef, self.asked
        )

    def effects(self, again: list[Any]) -> tuple[tuple[str, float, float], ...]:
        order = np.argsort(-np.abs(self.coef), kind="stable")
        errors = [
            _error_of_mean(np.array([other.coef[term] for other in again]))
            for term in order
        ]
        return tuple(
            (self.terms.names[term], float(self.coef[term]), error)
            for term, error in zip(order, errors)
            if self.coef[term] != 0
        )


def _line_around(
    encoded: np.ndarray, answers: Answers, features: FeatureSpace, max_size: int
) -> _LineAround:
    terms = Terms.of(features, encoded, np.ones(len(encoded)))
    columns, values = terms.of_rows(encoded), answers.mean
    draws = answers.draws[_spread_numbers(answers.n_draws)]
    # Only norms and inner products matter, and these are kept in fewer rows.
    turn, few_rows = np.linalg.qr(columns - columns.mean(axis=0))

    def chosen_for(said: np.ndarray) -> np.ndarray:
        apart = said - said.mean()
        return _forward(
            few_rows, product(apart, turn), float((apart**2).sum()), max_size
        )

    chosen = chosen_for(values)
    asked = [{int(terms.feature[t]) for t in chosen_for(draw)} for draw in draws]
    intercept, coef = _fit_terms(columns, values, chosen)
    return _LineAround(terms, columns, values, intercept, coef, asked)


def _forward(
    columns: np.ndarray, values: np.ndarray, squares: float, most: int
) -> np.ndarray:
    """Forward selection of the terms that explain most of the residual squares."""
    left, basis = values, columns
    longest = np.sqrt((columns**2).sum(axis=0).max(initial=0.0))
    chosen: list[int] = []
    for _ in range(min(most, columns.shape[1])):
        size = np.sqrt((basis**2).sum(axis=0))
        free = size > 1e-9 * longest
        along = product(left, basis) / np.where(free, size, 1.0)
        gain = rounded(np.where(free, along**2, 0.0))
        gain[chosen] = 0.0
        best = int(gain.argmax())
        if gain[best] <= 1e-9 * squares:
            break
        chosen.append(best)
        # Residuals, and the other terms given this one.
        direction = basis[:, best] / size[best]
        left = left - direction * product(direction, left)
        basis = basis - np.outer(direction, product(direction, basis))
    return np.array(chosen, dtype=int)


def _fit_terms(
    columns: np.ndarray, values: np.ndarray, chosen: np.ndarray
) -> tuple[float, np.ndarray]:
    intercept, few = fit_linear(columns[:, chosen], values[None], np.ones(len(values)))
    coef = np.zeros(columns.shape[1])
    coef[chosen] = few[0]
    return float(intercept[0]), coef


def _spread_numbers(n_draws: int) -> np.ndarray:
    """Indices of the draws that are projected individually: all, or evenly spaced."""
    return np.unique(np.linspace(0, n_draws - 1, min(n_draws, MOST_DRAWS)).astype(int))


def _shares(asked: list[set[int]], names: tuple[str, ...]) -> dict[str, float]:
    """Frequency of use of each feature, in descending order."""
    share = {
        name: sum(d in a for a in asked) / len(asked) for d, name in enumerate(names)
    }
    order = sorted(share, key=lambda name: -share[name])
    return {name: share[name] for name in order if share[name] > 0}


def _error_of_mean(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
