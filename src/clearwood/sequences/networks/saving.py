"""Fitted networks in files, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import set_read_settings
from clearwood.codec.documents import Place
from clearwood.exceptions import ModelFormatError
from clearwood.rules.serialise import plain
from clearwood.sequences.networks.estimators import HMMLSTM, with_torch
from clearwood.sequences.symbols import symbol_cells, symbols_in

SETTINGS = (
    "n_hidden", "n_states", "hybrid", "peephole", "schedule", "n_epochs", "patience",
    "n_streams", "window",
)  # fmt: skip
"""Parameters that are kept."""


def to_archive(estimator: HMMLSTM) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is kept of a fitted estimator: its network, with its HMM inside.

    Returns
    -------
    document : dict
    arrays : dict of str to ndarray
    """
    check_is_fitted(estimator)
    settings = estimator.get_params()
    document = {
        "settings": {name: settings[name] for name in SETTINGS},
        "classes": [plain(label) for label in estimator.classes_.tolist()],
        "n_columns": estimator.n_columns_,
        "is_text": estimator.is_text_,
    }
    weights = estimator.network_.state_dict()
    arrays = {name: weight.numpy() for name, weight in weights.items()}
    arrays["history"] = np.array(estimator.history_)
    if estimator.n_columns_ is None:
        arrays["frequency"] = estimator.frequency_
    return document, arrays


def from_archive(top: Place, array: Callable[..., np.ndarray]) -> HMMLSTM:
    """Read what :func:`to_archive` kept; anything else is a ModelFormatError."""
    estimator = HMMLSTM()
    set_read_settings(estimator, top["settings"].value, SETTINGS)
    labels = list(top["classes"].labels())
    n_classes, columns = len(labels), top["n_columns"]
    if not labels or symbols_in(symbol_cells(labels)).tolist() != labels:
        raise ModelFormatError("classes: expected labels in their order.")
    estimator.classes_ = symbol_cells(labels)
    estimator.n_columns_ = None
    if columns.value is not None:
        estimator.n_columns_ = columns.integer(low=1)
    estimator.is_text_ = top["is_text"].flag()
    if estimator.n_columns_ is None:
        frequency = array("frequency", "f", n_classes)
        if not (frequency >= 0).all() or abs(frequency.sum() - 1) > 1e-9:
            raise ModelFormatError("frequency: expected probabilities.")
        estimator.frequency_ = frequency
    estimator.hmm_ = None
    epoch = with_torch("descent").Epoch
    estimator.history_ = [epoch(*row) for row in array("history", "f", -1, 3).tolist()]
    estimator.network_ = _read_network(estimator, n_classes, array)
    return estimator


def _read_network(
    estimator: HMMLSTM, n_classes: int, array: Callable[..., np.ndarray]
) -> Any:
    import torch

    n_hidden = estimator.n_hidden
    width = estimator.n_columns_ or n_hidden
    # Only sizes that arrays in the file have are asked of the memory.
    array("lstm.weight_ih_l0", "f", 4 * n_hidden, width)
    array("lstm.weight_hh_l0", "f", 4 * n_hidden, n_hidden)
    n_states = array("output.weight", "f", n_classes, -1).shape[1] - n_hidden
    if (n_states > 0) != (estimator.hybrid is not None):
        raise ModelFormatError("output.weight: its size does not fit the settings.")
    with torch.device("meta"):
        network = estimator._build(n_states)
    weights = {}
    for name, weight in network.state_dict().items():
        values = array(name, "f", *weight.shape)
        if not np.isfinite(values).all():
            raise ModelFormatError(f"{name}: expected finite numbers.")
        frozen = name.startswith("hmm.") and estimator.hybrid == "sequential"
        weights[name] = torch.as_tensor(values, dtype=None if frozen else weight.dtype)
    network.load_state_dict(weights, assign=True)
    if estimator.hybrid == "sequential":
        network.hmm.requires_grad_(False)
    return network
