"""Types of emissions by an estimator's ``emission``: input, prior, attributes.

Each type knows the names of its parameters in hmmlearn: ``emissionprob_``,
``means_``, ``covars_``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import info_with
from clearwood.columns.table_variables import (
    NumericColumn,
    TableVariables,
    point_masses_of,
)
from clearwood.columns.validation import LARGEST_VALUE, check_table
from clearwood.columns.variables import NOTHING, read_variables
from clearwood.distributions import (
    CategoricalEmission,
    Emission,
    JointEmission,
    NormalEmission,
    NormalInverseWishart,
    PointMassEmission,
    normal_prior,
)
from clearwood.distributions.categorical import shares_fault
from clearwood.distributions.partial_normal import is_definite
from clearwood.exceptions import InputError
from clearwood.sequences.symbols import (
    end_to_end,
    symbol_cells,
    symbol_codes,
    symbols_in,
)


class Kind(Protocol):
    """Interface of emission types; ``model`` is the estimator."""

    discrete: bool
    """Whether there are few distinct rows."""

    def end_to_end(self, X: Any, lengths: Any) -> tuple[Any, Any]:
        """Concatenate sequences, and return their lengths."""

    def columns(self, model: Any, X: Any) -> dict[str, Any]:
        """Attributes that describe the columns of the training data."""

    def values(self, model: Any, X: Any) -> np.ndarray:
        """Encode data as rows of float64."""

    def prior(self, model: Any, values: np.ndarray) -> Emission:
        """Prior, from the location and scale of the values only."""

    def named(self, model: Any, parameters: np.ndarray) -> dict[str, Any]:
        """Parameters as attributes."""

    def emission(self, model: Any, n_states: int) -> tuple[Emission, np.ndarray]:
        """Emission and its parameters, from the attributes."""

    def cells(self, model: Any, values: np.ndarray) -> np.ndarray:
        """Decode sampled rows."""


class Symbols:
    """One symbol per step."""

    discrete = True

    def end_to_end(self, X: Any, lengths: Any) -> tuple[Any, Any]:
        """Concatenate sequences, and return their lengths; see ``Kind``."""
        return end_to_end(X, lengths)

    def columns(self, model: Any, X: Any) -> dict[str, Any]:
        """Attributes that describe the columns of the training data; see ``Kind``."""
        cells = symbol_cells(X)
        symbols = symbols_in(cells)
        # As if there were one symbol more, with the same pseudo-count.
        unseen = model.alpha / (len(cells) + model.alpha * (len(symbols) + 1))
        return {"symbols_": symbols, "unseen_prob_": unseen, "n_features_in_": 1}

    def values(self, model: Any, X: Any) -> np.ndarray:
        """Encode data as rows of float64; see ``Kind``."""
        return symbol_codes(symbol_cells(X), self._symbols(model))[:, None]

    def _symbols(self, model: Any) -> np.ndarray:
        n = np.shape(model.emissionprob_)[-1] if hasattr(model, "emissionprob_") else 0
        symbols = np.asarray(getattr(model, "symbols_", np.arange(n)))
        if n and len(symbols) != n:
            raise InputError(
                f"emissionprob_ has {n} columns, but there are {len(symbols)} "
                "symbols_; set both, one column per symbol."
            )
        return symbols

    def prior(self, model: Any, values: np.ndarray) -> Emission:
        """Prior, from the location and scale of the values only; see ``Kind``."""
        return CategoricalEmission((model.alpha,) * len(model.symbols_))

    def named(self, model: Any, parameters: np.ndarray) -> dict[str, Any]:
        """Parameters as attributes; see ``Kind``."""
        return {"emissionprob_": parameters}

    def emission(self, model: Any, n_states: int) -> tuple[Emission, np.ndarray]:
        """Emission and its parameters, from the attributes; see ``Kind``."""
        table = rows_of_shares("emissionprob_", model.emissionprob_, (n_states, None))
        unseen = float(getattr(model, "unseen_prob_", 0.0))
        return CategoricalEmission((1.0,) * table.shape[1], unseen), table

    def cells(self, model: Any, values: np.ndarray) -> np.ndarray:
        """Decode sampled rows; see ``Kind``."""
        return self._symbols(model)[values[:, 0].astype(np.intp)]


class _Table:
    """Base class for several columns."""

    discrete = False

    def end_to_end(self, X: Any, lengths: Any) -> tuple[Any, Any]:
        """Concatenated sequences and their lengths; a list of tables is refused."""
        if isinstance(X, list | tuple) and any(_holds_rows(own) for own in X):
            raise InputError(
                "X is a list of tables; pass their concatenation "
                "(np.concatenate, pandas.concat), with "
                f"lengths={[len(own) for own in X]}."
            )
        return X, lengths

    def _features(self, model: Any, X: Any) -> FeatureSpace:
        names = getattr(model, "feature_names_in_", None)
        features = FeatureSpace.numeric(model.n_features_in_, names)
        return features.with_info(info_with(X))

    def columns(self, model: Any, X: Any) -> dict[str, Any]:
        """Attributes that describe the columns of the training data; see ``Kind``."""
        X = check_table(model, X, reset=True)
        return {"features_": self._features(model, X)}

    def values(self, model: Any, X: Any) -> np.ndarray:
        """Encode data as rows of float64; see ``Kind``."""
        return self.rows(model, X)

    def rows(self, model: Any, X: Any) -> np.ndarray:
        """Encoded rows of the table."""
        if hasattr(model, "features_"):
            features, X = model.features_, check_table(model, X, reset=False)
        else:  # set by hand
            features = FeatureSpace.numeric(np.shape(X)[-1])
        values = features.encode(X)
        if not (np.abs(values[~np.isnan(values)]) <= LARGEST_VALUE).all():
            raise InputError(
                f"X holds infinity or values beyond {LARGEST_VALUE:g}; correct them, "
                "or make them missing (NaN)."
            )
        return values

    def cells(self, model: Any, values: np.ndarray) -> np.ndarray:
        """Decode sampled rows; see ``Kind``."""
        return values


def _holds_rows(X: Any) -> bool:
    """Whether the input is a table, and not a single row."""
    if isinstance(X, list | tuple):
        return bool(X) and isinstance(X[0], list | tuple | np.ndarray)
    return len(getattr(X, "shape", ())) > 1


def _refuse_empty(is_empty: np.ndarray) -> None:
    if is_empty.any():
        raise InputError(
            f"Column(s) {np.flatnonzero(is_empty).tolist()} of X have no value at all; "
            "leave them out."
        )


class Switches(_Table):
    """Columns of 0 and 1, independent given the state."""

    discrete = True

    def values(self, model: Any, X: Any) -> np.ndarray:
        """Encode data as rows of float64; see ``Kind``."""
        values = super().values(model, X)
        other = ~np.isnan(values) & (values != 0) & (values != 1)
        if other.any():
            raise InputError(
                f'emission="bernoulli" reads 0, 1 and missing cells, found '
                f"{values[other][0]:g}; for labels and numbers take "
                'emission="mixed".'
            )
        return values

    def prior(self, model: Any, values: np.ndarray) -> Emission:
        """Prior, from the location and scale of the values only; see ``Kind``."""
        return self._columns(values.shape[1], model.alpha)

    def _columns(self, n: int, alpha: float) -> Emission:
        coin = CategoricalEmission((alpha, alpha))
        return JointEmission([([d], coin) for d in range(n)])

    def named(self, model: Any, parameters: np.ndarray) -> dict[str, Any]:
        """Parameters as attributes; see ``Kind``."""
        return {"emissionprob_": parameters[:, 1::2].copy()}

    def emission(self, model: Any, n_states: int) -> tuple[Emission, np.ndarray]:
        """Emission and its parameters, from the attributes; see ``Kind``."""
        ones = numbers("emissionprob_", model.emissionprob_, (n_states, None))
        if not ((ones >= 0) & (ones <= 1)).all():
            raise InputError("emissionprob_ holds numbers outside 0 to 1.")
        both = np.stack([1.0 - ones, ones], axis=2).reshape(n_states, -1)
        return self._columns(ones.shape[1], 1.0), both


class Normals(_Table):
    """Jointly normal columns; independent ones with ``covariance_type="diag"``."""

    def prior(self, model: Any, values: np.ndarray) -> Emission:
        """Prior, from the location and scale of the values only; see ``Kind``."""
        _refuse_empty(np.isnan(values).all(axis=0))
        return normal_prior(values, model.n_states_, model.covariance_type == "diag")

    def named(self, model: Any, parameters: np.ndarray) -> dict[str, Any]:
        """Parameters as attributes; see ``Kind``."""
        means, covars = split_moments(parameters, model.covariance_type == "diag")
        return {"means_": means, "covars_": covars}

    def emission(self, model: Any, n_states: int) -> tuple[Emission, np.ndarray]:
        """Emission and its parameters, from the attributes; see ``Kind``."""
        means = numbers("means_", model.means_, (n_states, None))
        d, diagonal = means.shape[1], model.covariance_type == "diag"
        return normal_model(means, covariances(model, n_states, d), diagonal)


class Mixed(_Table):
    """A frame: independent discrete columns, and jointly normal numbers.

    Whether a number is at a point mass, and which, is a further discrete column; there
    the number is missing.
    """

    def columns(self, model: Any, X: Any) -> dict[str, Any]:
        """Attributes that describe the columns of the training data; see ``Kind``."""
        X = check_table(model, X, reset=True)
        features = self._features(model, X)
        columns = zip(features.names, features.categories, features.encode(X).T)
        every = ((n, point_masses_of(own)) for n, levels, own in columns if not levels)
        masses = {name: own for name, own in every if own}
        return {"features_": features, "point_masses_": masses}

    def _features(self, model: Any, X: Any) -> FeatureSpace:
        features = read_variables(X)
        _refuse_empty(np.array([own == NOTHING for own in features.categories]))
        return features

    def values(self, model: Any, X: Any) -> np.ndarray:
        """Encode data as rows of float64; see ``Kind``."""
        return table_variables(model).to_variables(self.rows(model, X))

    def rows(self, model: Any, X: Any) -> np.ndarray:
        """Encoded rows of the table; an unknown label counts as missing."""
        values = super().rows(model, X)
        labels = [d for d, own in enumerate(model.features_.categories) if own]
        values[:, labels] = np.where(values[:, labels] < 0, np.nan, values[:, labels])
        return values

    def _groups(self, model: Any) -> tuple[list[int], list[tuple[int, int]]]:
        """Numeric columns, and categorical ones with their numbers of classes."""
        every = list(enumerate(table_variables(model).variables.categories))
        return [d for d, own in every if own is None], [
            (d, len(own)) for d, own in every if own is not None
        ]

    def prior(self, model: Any, values: np.ndarray) -> Emission:
        """Prior, from the location and scale of the values only; see ``Kind``."""
        plain, labels = self._groups(model)
        parts: list[tuple[list[int], Emission]] = [
            ([d], CategoricalEmission((model.alpha,) * n)) for d, n in labels
        ]
        if plain:
            is_diagonal = model.covariance_type == "diag"
            parts.append(
                (plain, normal_prior(values[:, plain], model.n_states_, is_diagonal))
            )
        return self._of_cells(model, parts)

    def _of_cells(
        self, model: Any, parts: list[tuple[list[int], Emission]]
    ) -> Emission:
        """Joint emission, whose expected numbers are those of the columns."""
        plain, labels = self._groups(model)
        ends = np.cumsum([0, *(n for _, n in labels)]).tolist()
        shares = {d: slice(*ends[i : i + 2]) for i, (d, _) in enumerate(labels)}
        table, n = table_variables(model), ends[-1]
        masses = [
            (n + plain.index(d), shares[place], table.numbers[d].point_masses)  # type: ignore[union-attr]
            for d, place in table.place_of.items()
        ]
        return PointMassEmission(parts, masses) if masses else JointEmission(parts)

    def named(self, model: Any, parameters: np.ndarray) -> dict[str, Any]:
        """Parameters as attributes; see ``Kind``."""
        plain, labels = self._groups(model)
        ends = np.cumsum([n for _, n in labels], dtype=int)
        *tables, rest = np.split(parameters, ends, axis=1)
        names = [table_variables(model).variables.names[d] for d, _ in labels]
        numbers = Normals().named(model, rest) if plain else {}
        return {"emissionprob_": dict(zip(names, tables)), **numbers}

    def emission(self, model: Any, n_states: int) -> tuple[Emission, np.ndarray]:
        """Emission and its parameters, from the attributes; see ``Kind``."""
        if not hasattr(model, "features_"):
            raise InputError(
                'emission="mixed" learns its columns in fit; call it first.'
            )
        plain, labels = self._groups(model)
        parts: list[tuple[list[int], Emission]] = [
            ([d], CategoricalEmission((1.0,) * n)) for d, n in labels
        ]
        names = table_variables(model).variables.names
        tables = [
            rows_of_shares(names[d], model.emissionprob_[names[d]], (n_states, n))
            for d, n in labels
        ]
        if plain:
            own, table = Normals().emission(model, n_states)
            parts.append((plain, own))
            tables.append(table)
        return self._of_cells(model, parts), np.hstack(tables)

    def cells(self, model: Any, values: np.ndarray) -> np.ndarray:
        """Decode sampled rows; see ``Kind``."""
        rows = table_variables(model).to_rows(values)
        cells = rows.astype(object)
        for d, labels in enumerate(model.features_.categories):
            if labels is not None:
                cells[:, d] = [labels[int(code)] for code in rows[:, d]]
        return cells


def table_variables(model: Any) -> TableVariables:
    """Variables of the columns of a table: those with point masses have two."""
    features, masses = model.features_, getattr(model, "point_masses_", {})
    numbers = tuple(
        NumericColumn(masses.get(name, ())) if levels is None else None
        for name, levels in zip(features.names, features.categories)
    )
    return replace(TableVariables.plain(features), numbers=numbers)


def table_rows(model: Any, X: Any) -> np.ndarray:
    """Encoded rows of a table, for a model of several columns."""
    kind = KINDS[model.emission]
    assert isinstance(kind, _Table)
    return kind.rows(model, X)


KINDS: dict[str, Kind] = {
    "bernoulli": Switches(),
    "categorical": Symbols(),
    "gaussian": Normals(),
    "mixed": Mixed(),
}


# Normal columns


def normal_model(
    means: np.ndarray, covariance: np.ndarray, diagonal: bool
) -> tuple[Emission, np.ndarray]:
    """Emission without a prior, and its parameters."""
    k, d = means.shape
    if not diagonal:
        flat = NormalEmission(NormalInverseWishart.flat(np.zeros(d)))
        return flat, np.hstack([means, covariance.reshape(k, -1)])
    one = NormalEmission(NormalInverseWishart.flat(np.zeros(1)))
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    both = np.stack([means, variance], axis=2).reshape(k, -1)
    return JointEmission([([j], one) for j in range(d)]), both


def split_moments(
    parameters: np.ndarray, diagonal: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariance matrices of the states."""
    n = parameters.shape[1]
    # Of d columns there are d + d, or d + d * d numbers.
    d = n // 2 if diagonal else round((math.sqrt(4 * n + 1) - 1) / 2)
    if diagonal:
        return parameters[:, ::2].copy(), parameters[:, 1::2, None] * np.eye(d)
    return parameters[:, :d].copy(), parameters[:, d:].reshape(-1, d, d)


# Attributes set by hand


def numbers(name: str, value: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Validate an attribute as finite numbers of a shape; None there is any length."""
    found = np.asarray(value, dtype=np.float64)
    fits = found.ndim == len(shape) and all(
        n is None or n == m for n, m in zip(shape, found.shape)
    )
    if not fits or not np.isfinite(found).all():
        wanted = ", ".join("n" if n is None else str(n) for n in shape)
        raise InputError(
            f"{name} must be finite numbers of the shape ({wanted}), found the shape "
            f"{found.shape}."
        )
    return found


def rows_of_shares(name: str, value: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Validate rows of probabilities of a shape."""
    found = numbers(name, value, shape)
    if shares_fault(found):
        raise InputError(f"{name} must have rows of probabilities that add up to 1.")
    return found


def covariances(model: Any, n_states: int, d: int) -> np.ndarray:
    """``covars_`` as positive definite matrices; diagonal ones as variances too."""
    given = np.asarray(model.covars_, dtype=np.float64)
    if model.covariance_type == "diag" and given.shape == (n_states, d):
        given = given[:, :, None] * np.eye(d)
    if given.shape != (n_states, d, d) or not np.isfinite(given).all():
        raise InputError(
            f"covars_ must be finite numbers of the shape ({n_states}, {d}, {d}), "
            f"found the shape {given.shape}."
        )
    if not is_definite(given):
        raise InputError("covars_ must hold positive definite matrices.")
    return given
