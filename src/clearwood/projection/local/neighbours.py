"""Sampling of rows similar to one row: the neighbourhood pi_x of equation (1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from clearwood._estimators import take_rows
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.like_table import TableLike
from clearwood.exceptions import InputError
from clearwood.references import GivenDraws, Reference

N_PARTS = 8
"""Independent sets of neighbours, whose variation measures the Monte-Carlo error."""

LEAST_NEIGHBOURS = 4 * N_PARTS
"""Least number of neighbours that are given, with those held out."""


def row_with_neighbours(
    reference: Reference,
    x: Any,
    rows: Any,
    features: FeatureSpace,
    width: Any,
    neighbours: Any,
    n_neighbours: int,
    random_state: int,
) -> tuple[np.ndarray, Any]:
    """A row, its neighbours for the fit, and as many held out: encoded and as a table.

    Parameters are those of :func:`clearwood.explain_local`.
    """
    table = table_of_row(x, rows)
    row = features.encode(table)
    if isinstance(reference, GivenDraws) and neighbours is None:
        reference.draws(table)  # An error, if it has none for the row.
        encoded = features.encode(rows)
        order = nearest_rows(row[0], encoded, features, width, random_state)
        return encoded[order], take_rows(rows, order)
    sampled = _sampled(
        row[0], rows, features, width, neighbours, n_neighbours, random_state
    )
    encoded = np.concatenate([row, sampled])
    if is_frame(rows) and np.isnan(row).any():
        rows = _with_row(rows, table)  # No other cell of a column may be missing.
    return encoded, _decoded(encoded, features, rows)


def _sampled(
    row: np.ndarray,
    rows: Any,
    features: FeatureSpace,
    width: Any,
    neighbours: Any,
    n_neighbours: int,
    random_state: int,
) -> np.ndarray:
    generator = np.random.default_rng(random_state)
    n_rows = 2 * n_neighbours
    if neighbours is not None or np.ndim(width) == 2:
        if neighbours is None:
            _check_covariance(width, row, features)
            found = generator.multivariate_normal(row, width, n_rows, method="eigh")
        elif callable(neighbours):
            found = features.encode(neighbours(n_rows, generator))
        else:
            found = generator.permutation(features.encode(neighbours))
        if len(found) < LEAST_NEIGHBOURS:
            raise InputError(
                f"There are {len(found)} neighbours, with those held out; at least "
                f"{LEAST_NEIGHBOURS} are needed."
            )
        _check_categories(found, features, "neighbours")
        return found
    if n_neighbours < 64 or n_neighbours & (n_neighbours - 1):
        raise InputError(
            f"n_neighbours={n_neighbours} must be a power of two, 64 or more."
        )
    if not width > 0:
        raise InputError(f"width={width} must be above 0.")
    around = Neighbourhood.from_table(row, features.encode(rows), features, width)
    seeds = generator.integers(2**31, size=2 * N_PARTS)
    size = n_neighbours // N_PARTS
    return np.concatenate([around.sample(size, int(seed)) for seed in seeds])


def _check_covariance(width: Any, row: np.ndarray, features: FeatureSpace) -> None:
    n = len(row)
    if np.shape(width) != (n, n):
        raise InputError(
            f"width has shape {np.shape(width)}; a covariance of the features has "
            f"shape ({n}, {n})."
        )
    for name, labels, cell in zip(features.names, features.categories, row):
        if labels is not None or np.isnan(cell):
            raise InputError(
                f"A covariance is for numbers, but feature {name!r} of the row to be "
                "explained is a category or missing. Pass a number as width, or a "
                "function as neighbours."
            )


def nearest_rows(
    row: np.ndarray,
    encoded: np.ndarray,
    features: FeatureSpace,
    share: Any,
    random_state: int,
) -> np.ndarray:
    """Position of a row in a table, then of the nearest others, in random order.

    The distance is Euclidean, of numbers in units of their standard deviation; two
    categories, or a missing value and a known one, are at distance 1.
    """
    if np.ndim(share) or not 0 < share <= 1:
        raise InputError(
            f"width={share!r} must be a share of the rows with draws, above 0 and at "
            "most 1."
        )
    is_category = np.array([labels is not None for labels in features.categories])
    spread = np.nanstd(encoded, axis=0, where=np.isfinite(encoded))
    apart = np.abs(encoded - row) / np.where(spread > 0, spread, 1.0)
    apart = np.where(is_category, encoded != row, apart)
    missing = np.isnan(encoded), np.isnan(row)
    apart = np.where(missing[0] | missing[1], missing[0] != missing[1], apart)
    order = np.argsort((apart**2).sum(axis=1), kind="stable")
    n_rows = int(np.ceil(share * (len(encoded) - 1)))
    if n_rows < LEAST_NEIGHBOURS:
        raise InputError(
            f"width={share} leaves {n_rows} of {len(encoded)} rows with draws as "
            f"neighbours, fewer than {LEAST_NEIGHBOURS}; raise it, or pass more rows."
        )
    generator = np.random.default_rng(random_state)
    return np.concatenate([order[:1], generator.permutation(order[1 : n_rows + 1])])


def _check_categories(encoded: np.ndarray, features: FeatureSpace, what: str) -> None:
    is_category = np.array([labels is not None for labels in features.categories])
    unknown = (is_category & (encoded < 0)).any(axis=0)
    if unknown.any():
        raise InputError(
            f"Feature {features.names[int(unknown.argmax())]!r} of the {what} holds a "
            "category that no other row has; pass rows that have it."
        )


class Neighbourhood(NamedTuple):
    """Distribution of the neighbours of one row, within the range of the data.

    Attributes
    ----------
    row : ndarray of shape (n_features,)
        The row, encoded.
    scale : ndarray of shape (n_features,)
        Standard deviation of a numeric feature; for a category, the probability of
        another one than the row's own.
    low, high : ndarray of shape (n_features,)
        Range of the data's values.
    is_whole : ndarray of bool of shape (n_features,)
        Numeric features with integer values only.
    shares : tuple of (None or ndarray)
        Frequencies of the categories, per categorical feature.
    """

    row: np.ndarray
    scale: np.ndarray
    low: np.ndarray
    high: np.ndarray
    is_whole: np.ndarray
    shares: tuple[np.ndarray | None, ...]

    @classmethod
    def from_table(
        cls, row: np.ndarray, encoded: np.ndarray, features: FeatureSpace, width: float
    ) -> Neighbourhood:
        """Neighbourhood of a row among those of a table.

        Parameters
        ----------
        row : ndarray of shape (n_features,)
        encoded : ndarray of shape (n_rows, n_features)
            Rows with the distribution of the features.
        features : FeatureSpace
        width : float
            Standard deviation of the neighbours in units of that of the data; for
            categories, the share of neighbours in which they are resampled.
        """
        is_category = np.array([c is not None for c in features.categories])
        known = np.where(is_category[None] & (encoded < 0), np.nan, encoded)
        _check_categories(row[None], features, "row to be explained")
        # Missing values stay missing, and unknown features do not vary.
        known = np.where(np.isnan(known).all(axis=0), row, known)
        known = np.where(np.isnan(known).all(axis=0), 0.0, known)
        shares = tuple(
            np.bincount(column[~np.isnan(column)].astype(int), minlength=len(labels))
            / max((~np.isnan(column)).sum(), 1)
            if labels is not None
            else None
            for labels, column in zip(features.categories, known.T)
        )
        scale = np.where(is_category, min(width, 1.0), width * np.nanstd(known, axis=0))
        is_whole = ~is_category & (np.isnan(known) | (known == np.round(known))).all(
            axis=0
        )
        return cls(
            row,
            scale,
            np.fmin(np.nanmin(known, axis=0), row),
            np.fmax(np.nanmax(known, axis=0), row),
            is_whole,
            shares,
        )

    def sample(self, n_rows: int, seed: int) -> np.ndarray:
        """Neighbours at scrambled Sobol points: (n_rows, n_features), encoded.

        ``n_rows`` is a power of two.
        """
        n = len(self.row)
        sobol = qmc.Sobol(2 * n, rng=np.random.default_rng(seed))
        points = sobol.random_base2(int(np.log2(n_rows)))
        # Not 0 or 1, where normal quantiles are infinite.
        points = np.clip(points, 2.0**-40, 1 - 2.0**-40)
        sampled = self.row + self.scale * ndtri(points[:, :n])
        sampled = np.where(self.is_whole, np.round(sampled), sampled)
        sampled = np.clip(sampled, self.low, self.high)
        for d, share in enumerate(self.shares):
            if share is not None:
                drawn = np.searchsorted(np.cumsum(share), points[:, n + d])
                is_resampled = points[:, d] < self.scale[d]
                sampled[:, d] = np.where(
                    is_resampled, np.minimum(drawn, len(share) - 1), self.row[d]
                )
        return np.where(np.isnan(self.row), np.nan, sampled)


def table_of_row(x: Any, rows: Any) -> Any:
    """One row, by name or position, as a table with the columns of others."""
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
        column = nw.new_series(name, [cells[name]], backend=frame.implementation)
        columns[name] = column.cast(series.dtype)
    return nw.from_dict(columns, backend=frame.implementation).to_native()


def _with_row(rows: Any, row: Any) -> Any:
    import narwhals as nw

    both = [nw.from_native(part, eager_only=True) for part in (rows, row)]
    return nw.concat([part.select(rows.columns) for part in both]).to_native()


def _decoded(encoded: np.ndarray, features: FeatureSpace, like: Any) -> Any:
    """Encoded rows in the type of table that they came from."""
    if is_frame(like) or all(labels is None for labels in features.categories):
        return TableLike.of(like, features).decode(encoded)
    table = encoded.astype(object)
    for d, labels in enumerate(features.categories):
        if labels is not None:  # Missing values come after the last label.
            column = np.where(np.isnan(encoded[:, d]), len(labels), encoded[:, d])
            table[:, d] = np.array([*labels, None], dtype=object)[column.astype(int)]
    return table
