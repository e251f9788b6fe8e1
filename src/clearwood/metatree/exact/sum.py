"""Exact sum over all trees: every split at every node, and every pruning.

The paper takes the split at each node of the full tree as given. Here it is unknown,
uniform over the features. What lies below a node depends only on *which* conditions
lead there, not on their order, so equation (11) becomes

    q(S) = (1 - g) p(y_S) + g / p sum_j prod_v q(S + {x_j = v})

over sets S of conditions, of which there are few while trees are shallow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._kernels import metatree_exact as _kernels
from clearwood.distributions import LeafModel
from clearwood.exceptions import InputError
from clearwood.metatree.exact.states import (
    Levels,
    add_up,
    binomial_table,
    check_n_values,
    check_prior,
    count_states,
    first_states,
    make_priors,
    merge_rows,
    tabulate,
)
from clearwood.metatree.posterior.predictive import Predictive

MOST_STATES = 5_000_000
"""Maximum number of states by default; some 100 bytes each."""

NOTHING = 1e-20
"""Posterior weight of a state below rounding error."""

CHUNK = 256
"""Rows whose mixtures are held at once."""


def exact_sum(
    codes: np.ndarray,
    y: Any,
    leaf_model: LeafModel,
    *,
    max_depth: int,
    g: Any = 0.5,
    n_values: Any = None,
    repeats: bool = False,
    sample_weight: Any = None,
    x: np.ndarray | None = None,
    max_states: int = MOST_STATES,
) -> ExactSum:
    """Sum over all trees up to a depth, with all splits at all their nodes.

    Parameters
    ----------
    codes : ndarray of int of shape (n_rows, n_features)
        Values 0, 1, ... of each feature.
    y : array-like of shape (n_rows,)
        Target.
    leaf_model : LeafModel
        Prior of every leaf.
    max_depth : int
        Maximum depth.
    g : float, callable or sequence of float, default=0.5
        Prior probability of a split; one for every node, or one per depth, also as a
        function of it.
    n_values : sequence of int, optional
        Number of values of each feature, at least 2. By default all are binary.
    repeats : bool, default=False
        Whether the split at a node is drawn from all features, or (the default) from
        those that the path has not split on yet.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows, as (fractional) counts.
    x : ndarray of shape (n_rows, n_columns), optional
        Features that the leaf model reads.
    max_states : int
        Maximum number of states; more raise an error.

    Returns
    -------
    ExactSum

    Raises
    ------
    InputError
        There are too many states; the message states how many.

    Notes
    -----
    The time is that of one table per set of ``max_depth`` features: their number times
    the number of distinct rows. The memory is that of the states, whose number grows
    like ``n_features ** max_depth * 2 ** max_depth / factorial(max_depth)``.
    """
    codes = np.asarray(codes)
    n_values = check_n_values(codes, n_values)
    g_at = check_prior(g, max_depth)
    n_states = count_states(n_values, max_depth, repeats=repeats)
    if n_states > max_states:
        raise InputError(
            f"The exact sum over {len(n_values)} features at depth {max_depth} has "
            f"{n_states:,} states, more than max_states = {max_states:,}. Lower "
            "max_depth, use fewer features, sample trees instead (TreeSampler), or "
            "raise max_states (about 100 bytes each)."
        )
    columns, rows = merge_rows(leaf_model, codes, y, sample_weight, x, n_values)
    binomial = binomial_table(len(n_values), max_depth)
    priors = make_priors(len(n_values), g_at, repeats=repeats)
    starts = first_states(n_values, binomial, len(priors))
    stats = tabulate(leaf_model, columns, rows, n_values, binomial, starts)
    log_leaf = [leaf_model.log_marginal_in_unit(table) for table in stats]
    levels = Levels(n_values, binomial, priors, starts, log_leaf)
    return ExactSum(leaf_model, levels, stats, add_up(levels), g_at)


@dataclass(frozen=True, eq=False)
class ExactSum:
    """Posterior over all trees; result of :func:`~clearwood.metatree.exact_sum`.

    Attributes
    ----------
    leaf_model : LeafModel
    levels : Levels
        Prior and leaf evidence of each state.
    stats : list of ndarray
        Sufficient statistics of the states, by level.
    log_sum : list of ndarray
        Log evidence of all trees below each state.
    g : ndarray of shape (max_depth,)
        Prior probability of a split, per depth.

    Examples
    --------
    >>> import numpy as np
    >>> from clearwood.metatree import BernoulliBeta
    >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> result = exact_sum(codes, codes[:, 1], BernoulliBeta(), max_depth=2)
    >>> round(result.log_evidence, 3), result.predict(codes[:2]).round(3).tolist()
    (-3.103, [0.304, 0.696])
    """

    leaf_model: LeafModel
    levels: Levels
    stats: list[np.ndarray]
    log_sum: list[np.ndarray]
    g: np.ndarray

    @property
    def log_evidence(self) -> float:
        """Log probability of all targets given all features."""
        return self.log_whole - float(self.leaf_model.log_of_unit(self.stats[0][0]))

    @property
    def log_whole(self) -> float:
        """The same for targets in the leaf model's unit."""
        return float(self.log_sum[0][0, -1])

    @property
    def repeats(self) -> bool:
        """Whether a path may repeat a split."""
        return self.log_sum[0].shape[1] > 1

    @property
    def n_states(self) -> int:
        """Number of states of the sum."""
        depth = len(self.g)
        return count_states(self.levels.n_values, depth, repeats=self.repeats)

    def mixture(self, codes: np.ndarray) -> Iterator[tuple[slice, Any, Any]]:
        """Posterior over the leaf of each row, in blocks of rows.

        Yields
        ------
        rows : slice
            The rows of the block.
        states : ndarray of int of shape (n_sets, n_rows)
            States of each row, numbered over all levels.
        weights : ndarray of shape (n_sets, n_rows)
            Posterior probability that the row's leaf is this state; sums to one.
        """
        codes = np.asarray(codes)
        check_n_values(codes, self.levels.n_values)
        for begin in range(0, len(codes), CHUNK):
            rows = slice(begin, min(begin + CHUNK, len(codes)))
            columns = np.ascontiguousarray(codes[rows].T, dtype=np.int32)
            yield rows, *self._mixture(columns)

    def _mixture(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p, n_rows = self.levels, columns.shape[1]
        n_sets = [len(start) - 1 for start in p.start] + [0]
        ends = np.cumsum([0, *n_sets])
        offset = np.cumsum([0, *(len(log_leaf) for log_leaf in p.log_leaf)])
        states = np.empty((ends[-1], n_rows), dtype=np.int64)
        weights = np.empty(states.shape)
        reach = np.zeros((1, self.log_sum[0].shape[1], n_rows))
        reach[0, -1] = 1.0
        for size, log_below in enumerate([*self.log_sum[1:], np.empty((0, 1))]):
            part = slice(ends[size], ends[size + 1])
            n_columns = max(reach.shape[1] - 1, 1)
            reach_below = np.zeros((n_sets[size + 1], n_columns, n_rows))
            evidence = (p.log_leaf[size], self.log_sum[size], log_below)
            _kernels.pass_down(
                p.numbers(size), p.priors[size], evidence, columns, reach, reach_below,
                states[part], weights[part],
            )  # fmt: skip
            states[part] += offset[size]
            reach = reach_below
        return states, weights

    def predictive(self, codes: np.ndarray, x: Any = None) -> Predictive:
        """Predictive distribution of each row, for any of its functions.

        It holds all relevant states of every distinct row: for many rows and many
        features ``predict`` and ``average`` need far less memory.

        Parameters
        ----------
        codes : ndarray of int of shape (n_rows, n_features)
        x : array-like of shape (n_rows, n_columns), optional
            Features that the leaf model reads.

        Returns
        -------
        Predictive
        """
        model, stats = self.leaf_model, np.concatenate(self.stats)
        codes = np.asarray(codes)
        check_n_values(codes, self.levels.n_values)
        if model.reads_features:
            z = model.columns(np.zeros(len(codes)), x)
            row, x = np.arange(len(codes)), z[:, None, :-1]
        else:
            codes, row = np.unique(codes, axis=0, return_inverse=True)
            x = None
        kept: list[tuple[np.ndarray, np.ndarray]] = []
        for _, states, weights in self.mixture(codes):
            for state, weight in zip(states.T, weights.T):
                matters = weight > NOTHING
                kept.append((state[matters], weight[matters]))
        width = max((len(state) for state, _ in kept), default=1)
        where = np.zeros((len(kept), width), dtype=np.int64)
        weight = np.zeros((len(kept), width))
        for i, (state, share) in enumerate(kept):
            where[i, : len(state)], weight[i, : len(state)] = state, share
        return Predictive(model, stats[where], weight, row.reshape(-1), x)

    def average(self, function: Callable[..., Any], codes: np.ndarray) -> np.ndarray:
        """Average ``function(stats)`` over the leaf of each row.

        Parameters
        ----------
        function : callable
            From statistics (n_states, n_stats) to one value or one row per state, such
            as ``leaf_model.mean`` or ``leaf_model.probabilities``.
        codes : ndarray of int of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
        """
        values = np.asarray(function(np.concatenate(self.stats)))
        result = np.empty((len(codes), *values.shape[1:]))
        for rows, states, weights in self.mixture(codes):
            result[rows] = np.einsum("sn,sn...->n...", weights, values[states])
        return result

    def predict(self, codes: np.ndarray, x: Any = None) -> np.ndarray:
        """Mean of the predictive distribution of each row."""
        if self.leaf_model.reads_features:
            return self.predictive(codes, x).mean()
        return self.average(self.leaf_model.mean, codes)

    def feature_used(self) -> np.ndarray:
        """Posterior probability that the tree splits on each feature anywhere.

        Splits at nodes without rows count: they are part of the tree.
        """
        n_values = self.levels.n_values
        used = np.empty(len(n_values))
        for j in range(len(n_values)):
            prior = self.levels.priors[0]
            void = np.zeros(len(prior.stop))
            others = np.delete(n_values, j)
            for r in range(1, len(void)):
                ask = np.exp(prior.ask[r]) * np.exp(others * void[r - 1]).sum()
                with np.errstate(divide="ignore"):  # every tree splits
                    void[r] = np.log(np.exp(prior.stop[r]) + ask)
            without = add_up(self.levels, j, void)[0][0, -1]
            # Rounding must not make it negative.
            used[j] = max(0.0, -np.expm1(without - self.log_whole))
        return used
