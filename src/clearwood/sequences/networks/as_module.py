"""Adapter of fitted hybrids for ``explain_rnn``: a module, codes, states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood.columns.cells import unwrapped
from clearwood.exceptions import InputError
from clearwood.sequences.networks.estimators import HMMLSTM, with_torch
from clearwood.sequences.networks.steps import codes_of
from clearwood.sequences.states_over_time import sequence_bounds
from clearwood.sequences.symbols import end_to_end


def module_of(
    lm: HMMLSTM, sequences: Any
) -> tuple[Any, list[np.ndarray], tuple[Any, ...]]:
    """Arguments for ``explain_rnn``: a module, its input, and the symbols of codes.

    Parameters
    ----------
    lm : HMMLSTM
        Fitted to symbols.
    sequences : str, list of sequences, or array-like
        As for ``HMMLSTM.fit``.

    Returns
    -------
    network : torch.nn.Module
    codes : list of ndarray of int
    symbols : tuple
    """
    check_is_fitted(lm)
    with_torch("layers")
    if lm.n_columns_ is not None:
        raise InputError(
            "This network predicts outputs from columns; explain_rnn requires one "
            "that predicts the next symbol."
        )
    cells, lengths = end_to_end(sequences)
    codes = codes_of(cells, lm.classes_)
    if (codes < 0).any():
        raise InputError(
            f"Step {int((codes < 0).argmax())} is missing, or a symbol that the "
            "network does not know; take sequences of the symbols that it was fitted "
            "to."
        )
    bounds = sequence_bounds(lengths, len(codes))
    return lm.network_, np.split(codes, bounds[1:-1]), tuple(lm.classes_.tolist())


def add_filtered_states(reader: Callable[..., Any], network: Any) -> Callable[..., Any]:
    """States of the LSTM, concatenated with those of the HMM, if there is one.

    The output of a hybrid is linear in both, so both form its state.
    """
    if network.hmm is None:
        return reader
    import torch

    def both(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        states, logits = reader(codes)
        with torch.no_grad():
            line = torch.as_tensor(codes, device=network.hmm.emission.device)
            filtered, _ = network.hmm(line[None])
        return np.hstack([states, unwrapped(filtered[0])]), logits

    return both
