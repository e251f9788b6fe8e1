"""Types of emissions by an estimator's ``emission``: input, prior, attributes.

Each type knows the names of its parameters in hmmlearn: ``emissionprob_``,
``means_``, ``covars_``.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import info_with
from clearwood.columns.validation import LARGEST_VALUE, check_table
from clearwood.columns.variables import NOTHING, read_variables
from clearwood.distributions import (
    CategoricalEmission,
    Emission,
    JointEmission,
    NormalEmission,
    NormalInverseWishart,
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

KAPPA, PER_MISSING = 1.0, 3.0
"""Pseudo-rows of the prior of a mean: the thesis has N(mu | 0, Sigma); and further ones
of it, and of the variance of every column, per missing cell that an observed one stands
for."""


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
    """A frame: independent discrete columns, and jointly normal numbers."""

    def _features(self, model: Any, X: Any) -> FeatureSpace:
        features = read_variables(X)
        _refuse_empty(np.array([own == NOTHING for own in features.categories]))
        return features

    def values(self, model: Any, X: Any) -> np.ndarray:
        """Encode data as rows of float64; an unknown label counts as missing."""
        values = super().values(model, X)
        labels = [d for d, own in enumerate(model.features_.categories) if own]
        values[:, labels] = np.where(values[:, labels] < 0, np.nan, values[:, labels])
        return values

    def _groups(self, model: Any) -> tuple[list[int], list[tuple[int, int]]]:
        """Numeric columns, and categorical ones with their numbers of classes."""
        every = list(enumerate(model.features_.categories))
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
        return JointEmission(parts)

    def named(self, model: Any, parameters: np.ndarray) -> dict[str, Any]:
        """Parameters as attributes; see ``Kind``."""
        plain, labels = self._groups(model)
        ends = np.cumsum([n for _, n in labels], dtype=int)
        *tables, rest = np.split(parameters, ends, axis=1)
        names = [model.features_.names[d] for d, _ in labels]
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
        names = model.features_.names
        tables = [
            rows_of_shares(names[d], model.emissionprob_[names[d]], (n_states, n))
            for d, n in labels
        ]
        if plain:
            own, table = Normals().emission(model, n_states)
            parts.append((plain, own))
            tables.append(table)
        return JointEmission(parts), np.hstack(tables)

    def cells(self, model: Any, values: np.ndarray) -> np.ndarray:
        """Decode sampled rows; see ``Kind``."""
        cells = values.astype(object)
        for d, labels in enumerate(model.features_.categories):
            if labels is not None:
                cells[:, d] = [labels[int(code)] for code in values[:, d]]
        return cells


KINDS: dict[str, Kind] = {
    "bernoulli": Switches(),
    "categorical": Symbols(),
    "gaussian": Normals(),
    "mixed": Mixed(),
}


# Normal columns


def normal_prior(values: np.ndarray, n_states: int, diagonal: bool) -> Emission:
    """Normal-inverse-Wishart prior with the overall mean and a share of the variances.

    The prior covariance of a state is the overall one, without correlations, over
    ``n_states ** (2 / n_columns)``, as for equal parts of the space (Fraley and
    Raftery, 2007), with the fewest pseudo-rows for which a mean exists; and with more
    where cells are missing, since expectations in their place would outweigh these. A
    constant column counts as if it varied by 1e-6 of its value.
    """
    if diagonal:
        columns = values.T[:, :, None]
        return JointEmission(
            [([d], normal_prior(own, n_states, False)) for d, own in enumerate(columns)]
        )
    d, mu = values.shape[1], np.nanmean(values, axis=0)
    gap = values - mu
    variance = np.nanmean(gap**2, axis=0)
    constant = np.nanmin(values, axis=0) == np.nanmax(values, axis=0)
    variance[constant] = 1e-12 * np.where(mu == 0, 1.0, mu**2)[constant]
    missing = np.isnan(values).mean()
    more = PER_MISSING * missing / (1.0 - missing)
    psi = np.diag(variance) / n_states ** (2.0 / d) * (1.0 + d * more)
    prior = NormalInverseWishart(mu, KAPPA + more, d + 2.0 + d * more, psi)
    return NormalEmission(prior)


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
