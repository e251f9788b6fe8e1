"""Posterior over the splits of a projected tree, given its reference.

The definition is at :func:`split_posterior`. Leaf parameters have conjugate priors and
are integrated out: under one draw of the reference, a leaf that holds the rows B has
the evidence

    m(B) = integral p(eta) exp sum_{s in B} E_{y | x_s, theta} log p(y | eta) d eta,

and trees of at most d levels are summed by

    q(B, 0) = m(B),
    q(B, d) = (1 - g) m(B) + g sum_j 1/J sum_c 1/C_j q(B_left, d - 1) q(B_right, d - 1)

over the J features, and their C_j splits c, that leave enough rows on both sides. The
posterior probability of a split at B is its term over q(B, d), averaged over the draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from clearwood._numeric import product
from clearwood._words.labels import type_text
from clearwood._words.numbers import percent_text, short_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.validation import check_excluded, check_table
from clearwood.distributions import CategoricalDirichlet, PoissonGamma
from clearwood.exceptions import InputError
from clearwood.projection.estimators import ProjectedTree
from clearwood.projection.predictive_draws import PredictiveDraws, predictive_draws
from clearwood.results import Result
from clearwood.rules import Question, Rule
from clearwood.rules.conditions import Condition, combine_literals

if TYPE_CHECKING:
    import pandas as pd

SPLIT = 0.5
"""Prior probability g that a node is split."""

LEAST_SHOWN, ENDS = 0.05, (0.05, 0.95)
"""Least probability that is printed, and ends of the intervals of thresholds."""

MOST_WORK = 2e9
"""Most additions for two levels at the root, about a second; else there is one."""


class NodePosterior(NamedTuple):
    """Posterior of the split at one node, given the splits above it.

    Attributes
    ----------
    path : tuple of Interval or CategorySet
        Conditions of the node.
    feature : int
        Feature of the tree's split.
    n_rows : int
        Rows in the node.
    probabilities : ndarray of shape (n_features + 1,)
        Of a split on each feature; the last is that of none.
    thresholds : tuple of float or None
        Central 90 % of the threshold, given ``feature``; None for categories.
    """

    path: tuple[Condition, ...]
    feature: int
    n_rows: int
    probabilities: np.ndarray
    thresholds: tuple[float, float] | None


@dataclass(frozen=True, eq=False, repr=False)
class SplitPosterior(Result):
    """Result of :func:`~clearwood.projection.split_posterior`; print it.

    Attributes
    ----------
    nodes : tuple of NodePosterior
        The splits of the tree, from the root, as it is printed; without those of nodes
        that have too few rows for two leaves.
    features : FeatureSpace
        Columns of the data.
    depth : int
        Levels of splits below each node that were summed over.
    """

    nodes: tuple[NodePosterior, ...]
    features: FeatureSpace
    depth: int

    def lines(self) -> list[dict[str, str]]:
        """Per split: where, rows, feature, thresholds, and what competes with it."""
        names, found = [*self.features.names, "no split"], []
        for node in self.nodes:
            order = np.argsort(-node.probabilities, kind="stable").tolist()
            likely = [d for d in order if node.probabilities[d] >= LEAST_SHOWN]
            split, *others = (
                f"{names[d]} {percent_text(float(node.probabilities[d]))}"
                for d in [node.feature, *(d for d in likely if d != node.feature)]
            )
            where = " and ".join(c.text(self.features) for c in node.path)
            ends = dict.fromkeys(short_text(end) for end in node.thresholds or ())
            found.append(
                {
                    "where": where or "all rows",
                    "rows": f"{node.n_rows:,}",
                    "split": split,
                    "thresholds": " to ".join(ends),
                    "others": ", ".join(others),
                }
            )
        return found

    def to_frame(self) -> pd.DataFrame:
        """Probability of a split on each feature, and of none; one node per row."""
        import pandas as pd

        where = [line["where"] for line in self.lines()]
        return pd.DataFrame(
            [node.probabilities for node in self.nodes],
            index=pd.Index(where, name="where", dtype=object),
            columns=[*self.features.names, "no split"],
        )

    def __str__(self) -> str:
        if not self.nodes:
            return "No node has enough rows for a split."
        return "\n".join(
            f"{line['where']} ({line['rows']} rows)\n  {line['split']}"
            + (f", threshold {line['thresholds']}" if line["thresholds"] else "")
            + (f"; other: {line['others']}" if line["others"] else "")
            for line in self.lines()
        )


def split_posterior(
    proxy: ProjectedTree, X: Any, *, depth: int | None = None, n_thresholds: int = 10
) -> SplitPosterior:
    r"""Posterior probability of each split of a projected tree, and of others there.

    Each draw theta of the reference is taken as the truth, of which every row x_s of
    ``X`` is observed once. With the mean of the log likelihood of these observations in
    place of itself, a tree T with leaf parameters eta has the posterior

    .. math::

        p(T, \eta \mid \theta) \propto p(T)\, p(\eta) \exp \sum_s
        \mathrm{E}_{y \mid x_s, \theta} \log p(y \mid x_s, \eta, T) ,

    where the exponent is the utility (4) of Afrabandpey et al. (2020) times the number
    of rows. The mean over the draws is the posterior given the reference. It is summed
    exactly over the trees of at most ``depth`` levels below a node, given the splits
    above it; nodes split with probability one half a priori, and leaves have conjugate
    priors.

    It covers one node at a time: whole trees are all improbable, as there are many with
    similar thresholds. Candidates are thresholds at quantiles, single categories, and
    the splits of the tree; other sets of categories, and other sides for missing
    values, are left out.

    Parameters
    ----------
    proxy : fitted ProjectedTreeRegressor or ProjectedTreeClassifier
    X : array-like or frame of shape (n_samples, n_features)
        Rows on which the tree imitates its reference, as in ``fit``. More rows
        distinguish better between trees, but do not make the reference more certain.
    depth : int, optional
        Levels of splits from each node on. By default two, or one where two take more
        than some seconds; the time grows with each level by a factor of about
        ``2 * n_features * n_thresholds``.
    n_thresholds : int, default=10
        Thresholds of each feature that are candidates, at quantiles, in addition to the
        tree's.

    Returns
    -------
    SplitPosterior

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clearwood import ProjectedTreeClassifier
    >>> from clearwood.projection import split_posterior
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = ProjectedTreeClassifier(n_leaf_nodes=3, random_state=0).fit(X, y)
    >>> first, second = split_posterior(tree, X).nodes
    >>> first.n_rows, second.n_rows, float(first.probabilities.sum().round(9))
    (150, 100, 1.0)
    """
    check_is_fitted(proxy, "rules_")
    if not isinstance(proxy, ProjectedTree):
        raise InputError(
            f"proxy is {type_text(proxy)}; pass a ProjectedTreeRegressor or a "
            "ProjectedTreeClassifier."
        )
    if n_thresholds < 1 or depth is not None and depth < 1:
        raise InputError(
            f"depth={depth}, n_thresholds={n_thresholds}; both must be at least 1."
        )
    X, features = check_table(proxy, X, reset=False), proxy.rules_.features
    encoded, predictive = features.encode(X), predictive_draws(proxy.reference_, X)
    inner = _questions(proxy.tree_.root, (), np.arange(len(encoded)), encoded)
    nodes = [node for node in inner if len(node[2]) >= 2 * proxy.min_samples_leaf_]
    if not nodes:
        return SplitPosterior((), features, depth or 2)
    own = [question.yes for _, question, _ in nodes]
    excluded = check_excluded(proxy.exclude_features, features, features.names)
    space = Space(
        *_candidates(encoded, features, own, ~excluded, n_thresholds),
        *_evidence(predictive, proxy),
        proxy.min_samples_leaf_,
        features.n_features,
    )
    depth = depth or (2 if len(space.left) ** 2 * space.stats.size <= MOST_WORK else 1)
    found = [
        _posterior_at(space, path, question.yes.feature, rows, depth)
        for path, question, rows in nodes
    ]
    return SplitPosterior(tuple(found), features, depth)


def _questions(
    node: Question | Rule, path: tuple[Condition, ...], rows: np.ndarray, encoded: Any
) -> Iterator[tuple[tuple[Condition, ...], Question, np.ndarray]]:
    """Inner nodes of a tree as they are printed, with their rows."""
    if isinstance(node, Rule):
        return
    yield path, node, rows
    column = encoded[rows, node.yes.feature]
    for condition, child in ((node.yes, node.if_yes), (node.no, node.if_no)):
        below = combine_literals((*path, condition))
        yield from _questions(child, below, rows[condition.matches(column)], encoded)


class Space(NamedTuple):
    """Candidate splits, and the rows' expected statistics.

    Attributes
    ----------
    left : ndarray of bool of shape (n_splits, n_rows)
        The rows on one side.
    feature : ndarray of int of shape (n_splits,)
    threshold : ndarray of shape (n_splits,)
        NaN for categories.
    stats : ndarray of shape (n_rows, n_draws, n_stats)
        Expected sufficient statistics of an observation.
    log_evidence : callable
        From sums of statistics (..., n_stats) to log m(B), up to terms that are the
        same for all trees.
    min_samples_leaf, n_features : int
    """

    left: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    stats: np.ndarray
    log_evidence: Callable[[np.ndarray], np.ndarray]
    min_samples_leaf: int
    n_features: int


def _posterior_at(
    space: Space,
    path: tuple[Condition, ...],
    feature: int,
    rows: np.ndarray,
    depth: int,
) -> NodePosterior:
    """Posterior of the split of a box, from the terms of q(B, d)."""
    splits, log_terms = terms_of(space, rows, depth)
    probability = np.exp(log_terms - logsumexp(log_terms, axis=0)).mean(axis=1)
    place = np.append(space.feature[splits], space.n_features)
    is_own = place[:-1] == feature
    return NodePosterior(
        path,
        feature,
        len(rows),
        np.bincount(place, probability),
        _interval(space.threshold[splits][is_own], probability[:-1][is_own]),
    )


def log_sum(space: Space, rows: np.ndarray, depth: int) -> np.ndarray:
    """Log q(B, d) of each draw."""
    _, log_terms = terms_of(space, rows, depth)
    found: np.ndarray = logsumexp(log_terms, axis=0)
    return found


def terms_of(
    space: Space, rows: np.ndarray, depth: int
) -> tuple[np.ndarray, np.ndarray]:
    """Possible splits of a box, and the logs of the terms of q(B, d).

    Returns
    -------
    splits : ndarray of int of shape (n_splits,)
    log_terms : ndarray of shape (n_splits + 1, n_draws)
        The last is that of a leaf.
    """
    left, stats = space.left[:, rows], space.stats[rows]
    total, n_left = stats.sum(axis=0), left.sum(axis=1)
    log_leaf = space.log_evidence(total)[None]
    smaller = np.minimum(n_left, len(rows) - n_left)
    splits = np.flatnonzero(smaller >= space.min_samples_leaf)
    if depth == 0 or not len(splits):
        return splits[:0], log_leaf
    if depth == 1:
        sums = product(left[splits], stats)
        log_below = space.log_evidence(sums) + space.log_evidence(total - sums)
    else:
        sides = [(rows[is_left], rows[~is_left]) for is_left in left[splits]]
        log_sums = [
            [log_sum(space, side, depth - 1) for side in pair] for pair in sides
        ]
        log_below = np.array(log_sums).sum(axis=1)
    _, place, count = np.unique(
        space.feature[splits], return_inverse=True, return_counts=True
    )
    log_prior = np.log(SPLIT) - np.log(len(count) * count[place])
    log_split = log_below + log_prior[:, None]
    return splits, np.concatenate([log_split, log_leaf + np.log(1 - SPLIT)])


def _interval(
    threshold: np.ndarray, probability: np.ndarray
) -> tuple[float, float] | None:
    """Central interval of a threshold."""
    if not len(threshold) or np.isnan(threshold).any():
        return None
    order = np.argsort(threshold)
    below = np.cumsum(probability[order]) / probability.sum()
    at = np.searchsorted(below, ENDS).clip(max=len(below) - 1)
    low, high = threshold[order][at].tolist()
    return low, high


def _candidates(
    encoded: np.ndarray,
    features: FeatureSpace,
    own: list[Condition],
    allowed: np.ndarray,
    n_thresholds: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct splits of each feature: the tree's, quantiles, single categories."""
    lefts, places, thresholds = [], [], []
    for d in np.flatnonzero(allowed):
        column = encoded[:, d]
        known = np.sort(column[~np.isnan(column)])
        mine = [condition for condition in own if condition.feature == d]
        found = [(condition.matches(column), _cut(condition)) for condition in mine]
        if features.categories[d] is None:
            cuts = np.unique(known)
            if len(cuts) > n_thresholds:
                shares = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
                cuts = np.unique(known[(shares * len(known)).astype(int)])
            found += [(column <= cut, cut) for cut in cuts]
        else:
            found += [(column == code, np.nan) for code in np.unique(known)]
        if found:
            left = np.array([side for side, _ in found])
            # A split and the one with its sides exchanged are the same.
            _, first = np.unique(left ^ left[:, :1], axis=0, return_index=True)
            lefts.append(left[first])
            thresholds.append(np.array([cut for _, cut in found])[first])
            places.append(np.full(len(first), d))
    return np.concatenate(lefts), np.concatenate(places), np.concatenate(thresholds)


def _cut(condition: Any) -> float:
    """Threshold of a condition; NaN for a set of categories."""
    ends = (getattr(condition, "low", np.nan), getattr(condition, "high", np.nan))
    return next((end for end in ends if np.isfinite(end)), np.nan)


def _evidence(
    predictive: PredictiveDraws, proxy: ProjectedTree
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Expected statistics of the rows, and the log evidence of a leaf.

    Class probabilities have a Dirichlet prior of total weight one, and rates a gamma
    prior. Values have the tree's variance in each draw, the mean of its leaves', and
    the means of leaves are as far apart as the predictions.
    """
    draws = predictive.draws
    if draws.ndim == 3:
        n_classes = draws.shape[2]
        model = CategoricalDirichlet.symmetric(n_classes, 1 / n_classes)
        return draws.swapaxes(0, 1), model.log_marginal
    variances, share = proxy.leaves_.variances, proxy.leaves_.share
    if variances is None:
        rate = PoissonGamma(1.0, 1.0 / float(draws.mean()))
        stats = [np.ones_like(draws), draws, np.zeros_like(draws)]
        return np.stack(stats, axis=2).swapaxes(0, 1), rate.log_marginal
    centred = draws - draws.mean(axis=1, keepdims=True)
    values = centred / np.sqrt(product(variances, share[:, None]))
    spread = values.var(axis=1)

    def log_evidence(sums: np.ndarray) -> np.ndarray:
        weight = 1 + sums[..., 0] * spread
        found: np.ndarray = spread * sums[..., 1] ** 2 / weight - np.log(weight)
        return found / 2

    return np.stack([np.ones_like(values), values], axis=2).swapaxes(0, 1), log_evidence
