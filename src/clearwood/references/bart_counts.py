"""Log-linear BART for counts (Murray, 2021), with stochtree's leaf model of cloglog.

The rate of a row is ``exp(f(x))`` per unit of exposure, where f is a sum of trees whose
leaf values are logarithms of gamma variables. Given the other trees, the likelihood of
a leaf depends on its number of events A and on its exposure times the rate of the
others, B, as ``exp(A f - B exp(f))``. The leaf model of cloglog has this form. Each of
its rows adds to A or to B: here one row per event, of category 0 and without exposure,
adds to A alone, and one row per observation, of category 1, to B. The exposures are a
further tree, which is not sampled.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma

from clearwood.exceptions import InputError

GROW_FROM_ROOT = 10
"""Sweeps of grow-from-root (XBART), from which the chain starts."""

LOG_RATE_SD = 1.5
"""Prior standard deviation of the log rate, around that of all rows together."""

MOST_EXPOSURES = 200
"""Maximum number of distinct exposures; others are rounded, on a log scale."""

MOST_EVENTS = 1_000_000
"""Maximum sum of the counts, as each event is a row."""

CLOGLOG = 4
"""Number of the leaf model in stochtree."""


class CountForests(NamedTuple):
    """Draws of forests of log rates, with the exposure as last column and tree.

    Attributes
    ----------
    forests : stochtree.ForestContainer
    exposure : float
        One of the exposures.
    """

    forests: Any
    exposure: float

    def to_json(self) -> str:
        """The draws as text."""
        return json.dumps([self.forests.dump_json_string(), self.exposure])

    @classmethod
    def from_json(cls, text: str) -> CountForests:
        """Draws of such a text."""
        import stochtree

        trees, exposure = json.loads(text)
        forests = stochtree.ForestContainer(1, 1, True, False)
        forests.load_from_json_string(trees)
        return cls(forests, exposure)

    def rates(self, rows: np.ndarray) -> np.ndarray:
        """Rates per unit of exposure: (n_draws, n_rows)."""
        exposure = np.full(len(rows), self.exposure)
        data = _data_set(np.column_stack([rows, exposure]))
        return np.exp(self.forests.predict(data).T) / self.exposure


def check_counts(counts: np.ndarray, exposure: Any) -> np.ndarray:
    """Validate counts and their exposures, 1 by default."""
    if (counts < 0).any() or (counts % 1).any() or not 0 < counts.sum() <= MOST_EVENTS:
        raise InputError(
            "Counts must be whole numbers, not negative, and of a sum from 1 to "
            f"{MOST_EVENTS:,}, found {counts.min():g} to {counts.max():g} with the sum "
            f"{counts.sum():g}. For larger ones use task='regression'."
        )
    exposure = np.ones(len(counts)) if exposure is None else np.asarray(exposure, float)
    if exposure.shape != counts.shape or not (exposure > 0).all():
        raise InputError(
            f"exposure has shape {exposure.shape}; expected one positive number for "
            f"each of the {len(counts)} rows."
        )
    return exposure


def sample_counts(
    rows: np.ndarray,
    counts: np.ndarray,
    exposure: np.ndarray,
    trees: dict[str, Any],
    n_draws: int,
    thin: int,
    seed: int,
) -> CountForests:
    """Sample forests, after sweeps of grow-from-root as for other targets.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
    counts, exposure : ndarray of shape (n_rows,)
    trees : dict
        Settings of the prior over trees: ``num_trees``, ``alpha``, ...
    n_draws, thin, seed : int

    Returns
    -------
    CountForests
    """
    import stochtree

    n_trees, n_columns = trees["num_trees"], rows.shape[1]
    exposure = _rounded(exposure)
    n_events = counts.astype(int)
    source = np.append(np.arange(len(rows)), np.repeat(np.arange(len(rows)), n_events))
    is_event = np.arange(len(source)) >= len(rows)
    table = np.column_stack([rows, exposure])[source]
    data = _data_set(table)
    categories = stochtree.Residual(1.0 - is_event)
    columns = np.append(np.full(n_columns, 1 / n_columns), 0.0)
    config = stochtree.ForestModelConfig(
        num_trees=n_trees + 1,
        num_features=n_columns + 1,
        num_observations=len(source),
        feature_types=np.zeros(n_columns + 1, dtype=int),
        variable_weights=columns,
        leaf_dimension=1,
        alpha=trees.get("alpha", 0.95),
        beta=trees.get("beta", 2.0),
        min_samples_leaf=trees.get("min_samples_leaf", 5),
        max_depth=trees.get("max_depth", 10),
        leaf_model_type=CLOGLOG,
        sweep_update_indices=np.arange(n_trees),
    )
    # A log gamma variable of this shape and rate has mean 0 and this variance.
    shape = n_trees / LOG_RATE_SD**2 + 0.5
    config.update_cloglog_forest_shape(shape)
    config.update_cloglog_forest_rate(np.exp(digamma(shape)))
    overall = stochtree.GlobalModelConfig(global_error_variance=1.0)
    forest = stochtree.Forest(n_trees + 1, 1, True, False)
    forest.set_root_leaves(0.0)
    sampler = stochtree.ForestSampler(data, overall, config)
    sampler.prepare_for_sampler(data, categories, forest, CLOGLOG, np.array([0.0]))
    rate = counts.sum() / exposure.sum()
    _add_exposures(forest, n_trees, n_columns, np.unique(exposure), np.log(rate))
    # This subtracts the forest from its residuals, which categories are not.
    unused = stochtree.Residual(np.zeros(len(source)))
    sampler.reconstitute_from_forest(forest, data, unused, True)
    # Latent variables, log rates, the cutpoint and its sums of exponentials.
    for slot, values in enumerate(
        [np.zeros(len(source)), forest.predict(data), np.zeros(1), np.array([0.0, 1.0])]
    ):
        data.add_auxiliary_dimension(len(values))
        for i in np.flatnonzero(values):
            data.set_auxiliary_data_value(slot, int(i), float(values[i]))
    forests = stochtree.ForestContainer(n_trees + 1, 1, True, False)
    generator = stochtree.RNG(seed)
    for sweep in range(1 - GROW_FROM_ROOT, n_draws * thin + 1):
        keep = sweep > 0 and sweep % thin == 0
        sampler.sample_one_iteration(
            forests,
            forest,
            data,
            categories,
            generator,
            overall,
            config,
            keep,
            sweep < 1,
        )
    return CountForests(forests, float(exposure[0]))


def _rounded(exposure: np.ndarray) -> np.ndarray:
    if len(np.unique(exposure)) <= MOST_EXPOSURES:
        return exposure
    low, high = np.log(exposure.min()), np.log(exposure.max())
    step = (high - low) / (MOST_EXPOSURES - 1)
    return np.exp(low + step * np.round((np.log(exposure) - low) / step))


def _add_exposures(
    forest: Any, tree: int, column: int, values: np.ndarray, log_rate: float
) -> None:
    """Split a tree between all exposures; leaves are their logs plus the log rate."""
    # One value takes two leaves, as a root has no logarithm of its own.
    todo, n_nodes = [(0, values if len(values) > 1 else np.repeat(values, 2))], 1
    while todo:
        leaf, part = todo.pop()
        if len(part) < 2:
            continue
        half = len(part) // 2
        cut = float(part[half - 1] + part[half]) / 2
        ends = np.log(part[half - 1 : half + 1]) + log_rate
        forest.add_numeric_split(tree, leaf, column, cut, *map(float, ends))
        todo += [(n_nodes, part[:half]), (n_nodes + 1, part[half:])]
        n_nodes += 2


def _data_set(table: np.ndarray) -> Any:
    import stochtree

    data = stochtree.Dataset()
    data.add_covariates(table)
    return data
