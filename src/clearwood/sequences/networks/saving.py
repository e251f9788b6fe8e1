"""File format of a fitted network, including its hidden Markov model."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood import codec
from clearwood.columns.cells import unwrapped
from clearwood.sequences.networks.estimators import HMMLSTM, with_torch
from clearwood.sequences.saving import SYMBOLS
from clearwood.sequences.symbols import symbols_in

SHARES = codec.Check(
    "probabilities", lambda x: (x >= 0).all() and abs(x.sum() - 1) <= 1e-9
)


class Weights:
    """Weights of a network in a file, whose names follow from its settings."""

    def write(self, get: Any, document: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Write the weights."""
        weights = get("network_").state_dict()
        arrays |= {name: unwrapped(weight) for name, weight in weights.items()}

    def read(self, values: dict[str, Any], top: Any, arrays: Any) -> None:
        """Return the weights for whoever builds the network."""
        values["weights"] = arrays


PARTS = (
    codec.Settings(
        "n_hidden", "n_states", "hybrid", "preset", "n_epochs",
        "patience", "batch_size", "window",
    ),
    codec.Field("classes", SYMBOLS, "classes_", size="classes"),
    codec.Field("n_columns", codec.optional(codec.integer(1)), "n_columns_"),
    codec.Field("is_text", codec.FLAG, "is_text_"),
    Weights(),
    codec.Array("history", "f", "* 3"),
    codec.Together(codec.Array("frequency", "f", "classes", "frequency_", SHARES)),
)  # fmt: skip


def _make(kind: Any, values: dict[str, Any]) -> HMMLSTM:
    found = codec.filled(kind(), values)
    in_order = np.array_equal(symbols_in(found.classes_), found.classes_)
    codec.require(in_order, "classes", "labels in their order")
    is_known = found.n_columns_ or values["frequency_"] is not codec.UNSET
    codec.require(is_known, "frequency", "probabilities", "none")
    epoch = with_torch("descent").Epoch
    found.hmm_ = None
    found.history_ = [epoch(*row) for row in values["history"].tolist()]
    found.network_ = _network(found, values["weights"])
    return found


def _network(found: HMMLSTM, arrays: Any) -> Any:
    import torch

    n_hidden = found.n_hidden
    width = found.n_columns_ or n_hidden
    # Allocate only sizes of arrays that the file has.
    arrays("lstm.weight_ih_l0", "f", 4 * n_hidden, width)
    arrays("lstm.weight_hh_l0", "f", 4 * n_hidden, n_hidden)
    n_states = arrays("output.weight", "f", "classes", -1).shape[1] - n_hidden
    fits = (n_states > 0) == (found.hybrid is not None)
    codec.require(fits, "output.weight", "a size that fits the settings")
    with torch.device("meta"):
        network = found._build(n_states)
    weights = {}
    for name, weight in network.state_dict().items():
        values = arrays(name, "f", *weight.shape)
        codec.require(np.isfinite(values), name, "finite numbers")
        frozen = name.startswith("hmm.") and found.hybrid == "sequential"
        weights[name] = torch.as_tensor(values, dtype=None if frozen else weight.dtype)
    network.load_state_dict(weights, assign=True)
    if found.hybrid == "sequential":
        network.hmm.requires_grad_(False)
    return network


SAVED = codec.by_name(
    codec.Saved(HMMLSTM, PARTS, _make, lambda found: {"history": found.history_})
)
