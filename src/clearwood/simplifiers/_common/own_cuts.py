"""Thresholds for rules if a model has no trees to take them from.

Small trees are grown on the model's predictions for the rows, and for mixtures of them,
each on a subset of the columns. Their thresholds are those that rules may use: where
predictions change, as many as improve the fit. Every category is a bin by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.columns.sparse_tables import SparseRows, is_sparse
from clearwood.ensembles.black_box import BlackBox
from clearwood.ensembles.flat_trees import CategoricalSplit, NumericSplits, Splits
from clearwood.exceptions import InputError
from clearwood.rules.training import place_of_rows
from clearwood.simplifiers._common.predictions import answers_of, read_rows
from clearwood.simplifiers._common.synthetic_rows import default_number, mixed_rows

N_TREES, N_LEAVES, SHARE_OF_COLUMNS = 60, 12, 0.5
"""Trees, leaves and share of columns of the forest that the thresholds come from."""

MOST_CUTS = 32
"""Maximum per column, those of largest decrease of the trees' error."""

MOST_ROWS = 10_000
"""Maximum number of rows, drawn at random, to grow the trees on."""


def with_own_cuts_in(model: BlackBox, X: Any, rows: np.ndarray | slice) -> BlackBox:
    """As :func:`with_own_cuts`, on some rows of any table.

    A sparse one is read in :func:`columns_to_read`.
    """
    if not is_sparse(X):
        return with_own_cuts(model, model.encode(X)[rows])
    read = read_rows(model, X, np.arange(X.shape[1]))
    assert read.others is not None
    return with_own_cuts(model, read.encoded[rows], read.others.take(rows))


def with_own_cuts(
    model: BlackBox, encoded: np.ndarray, others: SparseRows | None = None
) -> BlackBox:
    """Add thresholds found on some rows to those that a model has.

    Parameters
    ----------
    model : BlackBox
    encoded : ndarray of shape (n_rows, n_features)
        The rows, as the model encodes them.
    others : SparseRows, optional
        The same rows of a sparse table, if ``encoded`` has some of its columns.
    """
    columns = np.arange(model.n_features) if others is None else others.columns
    categories = [model.features.categories[d] for d in columns]
    # The same for every seed: methods without randomness stay without it.
    generator = np.random.default_rng(0)
    # In an order that does not depend on that of the table.
    in_order = np.lexsort((place_of_rows(np.isnan(encoded)), place_of_rows(encoded)))
    some = generator.permutation(in_order)[:MOST_ROWS]
    encoded = encoded[some]
    by_label = np.array([labels is not None for labels in categories])
    n_mixed = default_number(len(encoded))
    mixed, of = mixed_rows(encoded, by_label, np.ones(len(encoded)), n_mixed, generator)
    rows: Any = np.concatenate([encoded, mixed])
    as_read = rows
    if others is not None:
        as_read = others.filled(rows, some[np.append(np.arange(len(some)), of)])
    try:
        answers = answers_of(model, as_read)
    except InputError as error:
        raise InputError(
            f"{error} Thresholds of rules are found on generated rows, too: here "
            f"{len(of):,}, which mix the cells of the given rows, also with "
            "n_synthetic=0. Projections, such as ProjectedTreeClassifier, need none."
        ) from None
    if model.n_outputs:
        # Targets have units of their own, probabilities of classes have not.
        spread = answers.std(axis=0)
        answers = answers / np.where(spread > 0, spread, 1.0)
    feature, cut = _cuts(encoded, rows, answers, by_label, generator)
    # Missing values may go to either side.
    gaps = np.isnan(encoded).any(axis=0)[feature]
    every = (
        columns[np.concatenate([feature, feature[gaps]])],
        np.concatenate([cut, cut[gaps]]),
        np.repeat([True, False], [len(cut), gaps.sum()]),
    )
    by_set = [
        CategoricalSplit(0, d, frozenset({code}), False, False)
        for d, labels in zip(columns.tolist(), categories)
        for code in range(len(labels or ()))
    ]
    n_columns = len(np.unique(feature)) + len({split.feature for split in by_set})
    words = f"the rules' own: {len(cut)} cuts"
    if by_set:
        words += f" and {len(by_set)} categories"
    words += f" in {n_columns} of {model.n_features} columns, where the model's answers"
    words += " change most"
    words = ", and ".join(filter(None, [model.split_source, words]))
    known = model.questions
    numeric = zip(known.numeric, (np.zeros(len(every[0]), int), *every))
    splits = Splits(
        NumericSplits(*map(np.concatenate, numeric)), (*known.categorical, *by_set)
    )
    return model.with_questions(splits, words)


def _cuts(
    encoded: np.ndarray,
    rows: np.ndarray,
    answers: np.ndarray,
    by_label: np.ndarray,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Columns and thresholds, half way between adjacent values of the given rows."""
    from sklearn.ensemble import RandomForestRegressor

    values = [np.unique(c[np.isfinite(c)]) for c in encoded.T]
    # By ranks, thresholds depend neither on the unit nor on the resolution of float32.
    ranks = np.column_stack(
        [
            np.where(np.isnan(c), np.nan, np.searchsorted(v, c, side="right"))
            for v, c in zip(values, rows.T)
        ]
    )
    for d in np.flatnonzero(by_label).tolist():
        ranks[:, d] = _by_mean(rows[:, d], answers)
    forest = RandomForestRegressor(
        N_TREES,
        max_leaf_nodes=N_LEAVES,
        max_features=SHARE_OF_COLUMNS,
        min_samples_leaf=5,
        random_state=int(generator.integers(2**31)),
    )
    spread = answers.std(axis=0)
    forest.fit(ranks, answers / np.where(spread > 0, spread, 1.0).max())
    gain: dict[tuple[int, int], float] = {}
    for tree in (one.tree_ for one in forest.estimators_):
        weight = tree.weighted_n_node_samples * tree.impurity
        for node in np.flatnonzero(tree.children_left >= 0).tolist():
            # A threshold beyond all values separates missing values from them.
            d, threshold = int(tree.feature[node]), float(tree.threshold[node])
            if by_label[d] or not 1 <= threshold < len(values[d]):
                continue
            at = int(threshold)
            children = tree.children_left[node], tree.children_right[node]
            lowered = weight[node] - sum(weight[child] for child in children)
            gain[d, at] = gain.get((d, at), 0.0) + float(lowered)
    feature, cut = [], []
    for column, ends in enumerate(values):
        mine = [at for d, at in gain if d == column]
        kept = sorted(mine, key=lambda at: (-gain[column, at], at))[:MOST_CUTS]
        for at in sorted(kept):
            low, high = ends[at - 1], ends[at]
            middle = low / 2 + high / 2
            feature.append(column)
            cut.append(middle if low <= middle < high else low)
    return np.array(feature, dtype=np.int64), np.array(cut, dtype=np.float64)


def _by_mean(codes: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Category codes in the order of the mean prediction; missing values stay so."""
    first = answers if answers.ndim == 1 else answers[:, 0]
    known = np.unique(codes[~np.isnan(codes)])
    means = [first[codes == code].mean() for code in known]
    order = known[np.argsort(means, kind="stable")].tolist()
    place = {code: float(i) for i, code in enumerate(order)}
    return np.array([place.get(code, np.nan) for code in codes.tolist()])
