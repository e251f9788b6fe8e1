"""File format of a hidden Markov model: parameters, and draws for predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood import codec
from clearwood.columns.feature_space import FeatureSpace
from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.gibbs import thinned_indices
from clearwood.sequences.sequence_model import StateModel
from clearwood.sequences.symbols import symbol_cells

LABELS = codec.checked(codec.LABELS, bool, "at least one")
SYMBOLS = codec.FieldType(
    lambda symbols: LABELS.write(np.asarray(symbols)),
    lambda place: symbol_cells(list(LABELS.read(place))),
)
UNSEEN = codec.checked(codec.NUMBER, lambda x: 0 <= x < 1, "a probability")
LENGTH = codec.checked(codec.NUMBER, lambda x: x >= 1, "steps of a sequence")

PARTS = (
    codec.Settings(
        "n_states", "emission", "covariance_type", "algorithm", "alpha", "n_init",
        "n_iter", "n_draws",
    ),
    codec.Field("symbols", SYMBOLS, "symbols_", null=True),
    codec.Field("unseen_prob", UNSEEN),
    codec.Field("mean_length", LENGTH, "mean_length_", absent=codec.UNSET, null=True),
    *codec.COLUMNS,
    codec.Features(optional=True),
    codec.Field("point_masses", codec.tuple_of(codec.POINT_MASSES), absent=()),
    codec.Array("history", "f"),
    codec.Array("log_likelihood", "f", "1"),
    codec.Array("startprob", "f", "states"),
    codec.Array("draws_startprob", "f", "draws states"),
    codec.Array("transmat", "f", "states *"),
    codec.Array("draws_transmat", "f", "draws states states"),
    codec.Array("emission", "f", "states numbers"),
    codec.Array("draws_emission", "f", "draws states numbers"),
)  # fmt: skip


def _take(found: HiddenMarkovModel) -> dict[str, Any]:
    own, _ = found._model()
    draws = getattr(found, "draws_", None)
    every = StateModel(*(part[None][:0] for part in own)) if draws is None else draws
    kept = thinned_indices(len(every.startprob))
    return {
        **own._asdict(),
        **{f"draws_{name}": part[kept] for name, part in every._asdict().items()},
        "features": getattr(found, "features_", None),
        "point_masses": _point_masses(found),
        "unseen_prob": float(getattr(found, "unseen_prob_", 0.0)),
        "log_likelihood": [getattr(found, "log_likelihood_", np.nan)],
        "history": getattr(found, "history_", None) or (),
    }


def _point_masses(found: HiddenMarkovModel) -> Any:
    """Of every column, if any has some."""
    masses = getattr(found, "point_masses_", {})
    if not masses:
        return codec.UNSET
    return tuple(masses.get(name, ()) for name in found.features_.names)


def _by_name(
    masses: tuple[tuple[float, ...], ...], features: FeatureSpace
) -> dict[str, tuple[float, ...]]:
    """Point masses by column; files have them for all columns, or not at all."""
    are_numbers = [own is None for own in features.categories]
    fits = len(masses) in (0, len(are_numbers)) and all(
        is_number for own, is_number in zip(masses, are_numbers) if own
    )
    codec.require(fits, "point_masses", "one list per column, empty for labels")
    return {name: own for name, own in zip(features.names, masses) if own}


def _make(kind: Any, values: dict[str, Any]) -> HiddenMarkovModel:
    features, symbols = values["features"], values["symbols_"]
    if features is None:
        found = codec.filled(kind(), values | {"feature_names_in_": codec.UNSET})
    else:
        found = codec.filled(kind(), values, features.n_features)
        found.features_ = features
    is_mixed = found.emission == "mixed"
    codec.require(features or not is_mixed, "features", "columns", "none")
    if is_mixed:
        found.point_masses_ = _by_name(values["point_masses"], features)
    if found.emission == "categorical":
        found.n_features_in_, found.unseen_prob_ = 1, values["unseen_prob"]
    own, draws = (
        StateModel(*(values[f"{of}{name}"] for name in StateModel._fields))
        for of in ("", "draws_")
    )
    fits = symbols is codec.UNSET or len(symbols) == own.emission.shape[1]
    codec.require(fits, "symbols", "one per column of emission")
    for parameters in (*map(StateModel, *draws), own):
        with codec.refusing("parameters"):
            found._set_parameters(parameters)
            found._model()
    found.draws_, found.chains_ = draws if len(draws.startprob) else None, None
    found.log_likelihood_ = float(values["log_likelihood"][0])
    found.history_ = values["history"].tolist() or None
    return found


SAVED = codec.by_name(codec.Saved(HiddenMarkovModel, PARTS, _make, _take))
