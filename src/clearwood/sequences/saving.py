"""Hidden Markov models in files, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from clearwood._estimators import set_read_settings
from clearwood.codec.documents import Place
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.rules.serialise import (
    columns_to_dict,
    features_to_dict,
    plain,
    read_columns,
    read_features,
)
from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.gibbs import evenly
from clearwood.sequences.kinds import KINDS
from clearwood.sequences.sequence_model import StateModel
from clearwood.sequences.symbols import symbol_cells

SETTINGS = (
    "n_states", "emission", "covariance", "algorithm", "alpha", "n_starts", "n_iter",
    "n_draws",
)  # fmt: skip
"""Parameters that are kept."""


def to_archive(
    estimator: HiddenMarkovModel,
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is kept of a model: its parameters, and the draws that it predicts by.

    Returns
    -------
    document : dict
    arrays : dict of str to ndarray
    """
    found, _ = estimator._model()
    settings = estimator.get_params()
    features = getattr(estimator, "features_", None)
    symbols = getattr(estimator, "symbols_", None)
    known = None if symbols is None else [plain(own) for own in np.asarray(symbols)]
    document = {
        "settings": {name: np.asarray(settings[name]).item() for name in SETTINGS},
        "symbols": known,
        "unseen_prob": float(getattr(estimator, "unseen_prob_", 0.0)),
        "mean_length": getattr(estimator, "mean_length_", None),
        **columns_to_dict(estimator),
        **({"features": None} if features is None else features_to_dict(features)),
    }
    log_likelihood = getattr(estimator, "log_likelihood_", np.nan)
    draws = getattr(estimator, "draws_", None)
    kept = evenly(0 if draws is None else len(draws.startprob))
    arrays = {
        "history": np.array(getattr(estimator, "history_", None) or (), dtype=float),
        "log_likelihood": np.array([log_likelihood], dtype=float),
    }
    for name, own in found._asdict().items():
        every = own[None][:0] if draws is None else getattr(draws, name)
        arrays |= {name: own, f"draws_{name}": every[kept]}
    return document, arrays


def from_archive(top: Place, array: Callable[..., np.ndarray]) -> HiddenMarkovModel:
    """Read what :func:`to_archive` kept; anything else is a ModelFormatError."""
    estimator = HiddenMarkovModel()
    set_read_settings(estimator, top["settings"].value, SETTINGS)
    if top["features"].value is not None:
        estimator.features_ = read_features(top)
        read_columns(estimator, top, estimator.features_.n_features)
    elif estimator.emission == "mixed":
        top["features"].fail("none", "columns")
    if top["symbols"].value is not None:
        estimator.symbols_ = symbol_cells(list(top["symbols"].labels()))
    if estimator.emission == "categorical":
        estimator.n_features_in_ = 1
        estimator.unseen_prob_ = top["unseen_prob"].number()
        if not 0 <= estimator.unseen_prob_ < 1:
            top["unseen_prob"].fail("another number", "a probability")
    length = top.get("mean_length")  # older files have none
    if length is not None and length.value is not None:
        estimator.mean_length_ = length.number()
        if not 1 <= estimator.mean_length_ < np.inf:
            length.fail("another number", "steps of a sequence")
    transmat = array("transmat", "f", -1, -1)
    k = len(transmat)
    emission = array("emission", "f", k, -1)
    if top["symbols"].value is not None and (
        len(estimator.symbols_) != emission.shape[1]
    ):
        top["symbols"].fail("other symbols", "one per column of emission")
    n = len(array("draws_startprob", "f", -1, k))
    draws = StateModel(
        array("draws_startprob", "f", n, k),
        array("draws_transmat", "f", n, k, k),
        array("draws_emission", "f", n, *emission.shape),
    )
    for draw in map(StateModel, *draws):
        _set(estimator, draw)
    _set(estimator, StateModel(array("startprob", "f", k), transmat, emission))
    estimator.draws_, estimator.chains_ = draws if n else None, None
    estimator.log_likelihood_ = float(array("log_likelihood", "f", 1)[0])
    estimator.history_ = array("history", "f", -1).tolist() or None
    return estimator


def _set(estimator: HiddenMarkovModel, parameters: StateModel) -> None:
    """Give a model its parameters, if they are such."""
    estimator.startprob_, estimator.transmat_, table = parameters
    kind = KINDS[estimator.emission]
    try:
        kind.set_attributes(estimator, table)
        estimator._model()
    except (InputError, ValueError) as error:
        raise ModelFormatError(f"parameters: {error}") from None
