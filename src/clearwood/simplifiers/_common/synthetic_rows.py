"""Synthetic rows, labelled by the ensemble."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clearwood.rules import Training
from clearwood.simplifiers._common.predictions import Model, answers_of

MOST_ROWS = 20_000
"""Maximum number of synthetic rows by default, and of rows to search neighbours in."""

FEWEST_ROWS = 4000
"""Minimum number of synthetic rows by default: few rows need them most."""

SYNTHETIC_WEIGHT = 10.0
"""Maximum total weight of synthetic rows relative to the real ones; one synthetic row
weighs no more than a real one."""

MOST_LEVELS = 64
"""Maximum number of columns for the categories of a feature in the search."""

N_NEIGHBOURS = 5
"""Number of nearest neighbours that a row may be mixed with."""

FEW_ROWS, FEW_DIMENSIONS = 5000, 8
"""Above both, distances to all rows are faster than a k-d tree: a seventh at 20,000
rows in 15 dimensions."""


def default_number(n_rows: int) -> int:
    """Default number of synthetic rows.

    Examples
    --------
    >>> default_number(500), default_number(3000), default_number(50_000)
    (4000, 9000, 20000)
    """
    return min(max(3 * n_rows, FEWEST_ROWS), MOST_ROWS)


def with_synthetic_rows(
    training: Training,
    ensemble: Model,
    n_synthetic: int,
    generator: np.random.Generator,
) -> Training:
    """Add synthetic rows, labelled by the ensemble.

    Parameters
    ----------
    training : Training
        Real rows.
    ensemble : TreeEnsemble or BlackBox
    n_synthetic : int
    generator : numpy.random.Generator

    Returns
    -------
    Training
        With ``n_synthetic`` rows more; with none if there are too few to mix.
    """
    encoded, weight = training.encoded, training.weight
    is_category, used = training.bins.is_category, training.bins.used_features
    rows, of = mixed_rows(encoded, is_category, weight, n_synthetic, generator, used)
    each = min(1.0, SYNTHETIC_WEIGHT * len(encoded) / max(len(rows), 1))
    return training.with_synthetic(
        rows,
        answers_of(ensemble, training.as_read(rows, of)),
        np.full(len(rows), each * weight.mean()),
    )


def evaluation_rows(
    training: Training,
    ensemble: Model,
    n_each: int,
    generator: np.random.Generator,
) -> Training:
    """Rows like some held-out ones, which the ensemble was not trained on.

    An ensemble is overfitted to its training rows, so that rules would be evaluated too
    harshly there.

    Parameters
    ----------
    training : Training
        Real rows.
    ensemble : TreeEnsemble or BlackBox
    n_each : int
        Number of rows made from each of them.
    generator : numpy.random.Generator

    Returns
    -------
    Training
        ``n_each`` rows per given one, one after the other; a single row unchanged.
    """
    first = np.arange(len(training)).repeat(n_each)
    bins = training.bins
    rows = _mixed(
        training.encoded, bins.is_category, bins.used_features, first, generator
    )
    answers = answers_of(ensemble, training.as_read(rows, first))
    predicted = training.outcome.point(answers)
    return replace(
        training.take(first),
        encoded=rows,
        target=answers,
        labels=None,
        model_predictions=predicted,
    )


def mixed_rows(
    encoded: np.ndarray,
    is_category: np.ndarray,
    weight: np.ndarray,
    n_rows: int,
    generator: np.random.Generator,
    columns: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Synthetic rows: each is a row mixed with one of its neighbours.

    Every feature comes from either with equal probability. So these rows approximately
    keep the dependence between features; permuting columns one by one does not, and
    leads to rows that do not occur.

    Parameters
    ----------
    encoded : ndarray of shape (n_given, n_features)
        Rows as returned by ``FeatureSpace.encode``.
    is_category : ndarray of bool of shape (n_features,)
        Which features hold category codes.
    weight : ndarray of shape (n_given,)
        Probability of drawing a row, up to a factor.
    n_rows : int
        Number of rows to make.
    generator : numpy.random.Generator
    columns : ndarray of int, optional
        Features that are mixed, and that define neighbours; by default all. The others
        stay as in the row that was drawn.

    Returns
    -------
    made : ndarray of shape (n_rows, n_features)
        Empty if there are too few rows to mix.
    of : ndarray of int of shape (n_rows,)
        Indices of the rows that were drawn.
    """
    rows = np.arange(len(encoded))
    if len(rows) > MOST_ROWS:
        rows = generator.choice(rows, MOST_ROWS, replace=False)
    if columns is None:
        columns = np.arange(encoded.shape[1])
    if len(rows) < 2 or n_rows < 1 or len(columns) == 0:
        return encoded[:0], rows[:0]
    share = weight[rows] / weight[rows].sum()
    first = generator.choice(len(rows), n_rows, p=share)
    made = _mixed(encoded[rows], is_category, columns, first, generator)
    return made, rows[first]


def _mixed(
    encoded: np.ndarray,
    is_category: np.ndarray,
    columns: np.ndarray,
    first: np.ndarray,
    generator: np.random.Generator,
) -> np.ndarray:
    """Rows at some indices, some columns of each mixed with one of its neighbours."""
    from sklearn.neighbors import NearestNeighbors

    # Models predict for C-contiguous rows.
    rows = np.ascontiguousarray(encoded[first])
    n_neighbours = min(N_NEIGHBOURS, len(encoded) - 1)
    if n_neighbours == 0 or len(columns) == 0:
        return rows
    places = _places(encoded[:, columns], is_category[columns])
    drawn, of_drawn = np.unique(first, return_inverse=True)
    is_crowded = len(places) > FEW_ROWS and places.shape[1] > FEW_DIMENSIONS
    search = NearestNeighbors(algorithm="brute" if is_crowded else "auto").fit(places)
    found = search.kneighbors(places[drawn], n_neighbours + 1, return_distance=False)
    # Without the row itself; among many duplicates it may not be included.
    is_left_out = found == drawn[:, None]
    is_left_out[~is_left_out.any(axis=1), 0] = True
    neighbours = found[~is_left_out].reshape(len(drawn), n_neighbours)
    second = neighbours[of_drawn, generator.integers(n_neighbours, size=len(first))]
    from_second = generator.random((len(first), len(columns))) >= 0.5
    other = encoded[second][:, columns]
    rows[:, columns] = np.where(from_second, other, rows[:, columns])
    return rows


def _places(encoded: np.ndarray, is_category: np.ndarray) -> np.ndarray:
    """Points whose distances measure the similarity of rows.

    Numbers are standardized; categories become 0-1 columns, and so do missing values.
    All are multiples of 1/4096, so that sums of their products are exact, and the same
    neighbours are nearest in any order of summation.
    """
    columns = []
    for column, category in zip(encoded.T, is_category):
        missing = np.isnan(column)
        if missing.any():
            columns.append(missing.astype(np.float64))
        if category:
            # Above that number some share a column: few pairs of rows with different
            # categories are then considered equal.
            column = column % MOST_LEVELS
            known = np.unique(column[~missing])
            columns += [(column == code).astype(np.float64) for code in known]
        else:
            columns.append(_standardised(column))
    places = np.stack(columns, axis=1)
    places *= 4096.0
    np.round(places, out=places)
    places /= 4096.0
    return places


def _standardised(column: np.ndarray) -> np.ndarray:
    """Mean 0 and variance 1; missing values at 0, infinite ones at the ends."""
    finite = column[np.isfinite(column)]
    if not len(finite) or finite.min() == finite.max():
        return np.zeros(len(column))
    # Halved, so that no difference of large numbers overflows.
    half = np.clip(column, finite.min(), finite.max()) / 2
    middle = finite.min() / 2 + finite.max() / 2
    spread = finite.max() / 2 - finite.min() / 2
    scaled = (half - middle / 2) / spread
    return np.nan_to_num((scaled - np.nanmean(scaled)) / np.nanstd(scaled))
