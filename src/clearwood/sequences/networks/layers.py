"""Layers: an LSTM, a hidden Markov model, and a linear layer on top of both.

Only this file, and the training beside it, need torch when they are imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from clearwood._kernels.sequences_networks import (
    IMPOSSIBLE,
    filter_streams,
    filter_streams_backward,
    lstm_steps,
    lstm_steps_backward,
)

LOG_OF_ZERO = 10 * IMPOSSIBLE
"""Log of 0 in a given hidden Markov model; an infinite one leads to NaN."""


class PeepholeLSTM(nn.LSTM):
    """LSTM of one layer with peephole connections (Gers & Schmidhuber, 2000).

    Three weight vectors more than torch's LSTM: the input and the forget gate read the
    previous cell, the output gate the current one. The thesis counts such parameters.

    Parameters
    ----------
    n_inputs, n_hidden : int
        Sizes of the input and of the state.

    Examples
    --------
    >>> import torch
    >>> hidden, (last, cell) = PeepholeLSTM(3, 2)(torch.zeros(1, 5, 3))
    >>> tuple(hidden.shape), tuple(cell.shape)
    ((1, 5, 2), (1, 1, 2))
    """

    weight_ih_l0: nn.Parameter
    weight_hh_l0: nn.Parameter
    bias_ih_l0: nn.Parameter
    bias_hh_l0: nn.Parameter

    def __init__(self, n_inputs: int, n_hidden: int) -> None:
        super().__init__(n_inputs, n_hidden, batch_first=True)
        self.peephole = nn.Parameter(torch.empty(3, n_hidden))
        self.reset_parameters()

    def forward(  # type: ignore[override]
        self, inputs: Tensor, state: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """States of all steps, and final states, as of torch's LSTM."""
        zeros = inputs.new_zeros(len(inputs), self.hidden_size)
        h, c = (zeros, zeros) if state is None else (state[0][0], state[1][0])
        from_input = functional.linear(
            inputs, self.weight_ih_l0, self.bias_ih_l0 + self.bias_hh_l0
        )
        given = from_input, self.weight_hh_l0.T, self.peephole, h, c
        states = _Steps.apply(*(x.double() for x in given))
        hidden, cell = (x.to(inputs.dtype) for x in states)
        return hidden[:, 1:], (hidden[None, :, -1], cell[None])


class _Steps(torch.autograd.Function):
    """All steps of an LSTM with peepholes as one autograd function."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, Tensor]:
        hidden, cell, gate = _run(lstm_steps, *given)
        ctx.save_for_backward(*given[1:3], hidden, cell, gate)
        return hidden, cell[:, -1]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, ...]:
        return _run(lstm_steps_backward, *ctx.saved_tensors, *slopes)


class _Filter(torch.autograd.Function):
    """Forward recursion as one autograd function, whose gradient is smoothing."""

    @staticmethod
    def forward(
        ctx: Any, predicted: Tensor, transition: Tensor, log_emission: Tensor
    ) -> tuple[Tensor, Tensor]:
        given = predicted, transition, log_emission
        filtered, weight, log_likelihood = _run(filter_streams, *given)
        ctx.save_for_backward(*given[:2], filtered, weight)
        return filtered, log_likelihood

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, ...]:
        return _run(filter_streams_backward, *ctx.saved_tensors, *slopes)


def _run(kernel: Callable[..., Any], *given: Tensor) -> tuple[Tensor, ...]:
    """Result of a kernel, on the device of its arguments."""
    parts = kernel(*(x.detach().cpu().contiguous().numpy() for x in given))
    return tuple(torch.from_numpy(part).to(given[0].device) for part in parts)


class HMMLayer(nn.Module):
    """Filtered states of a hidden Markov model, differentiable in its parameters.

    Parameters are logits, so that gradient steps keep probabilities valid; the
    recursion runs in double precision whatever that of the network.

    Parameters
    ----------
    n_states, n_symbols : int
        Numbers of states and symbols.
    binary : bool, default=False
        Whether observations are rows of ``n_symbols`` independent zeros and ones, and
        not symbols.

    Examples
    --------
    >>> import torch
    >>> layer = HMMLayer(n_states=2, n_symbols=3)
    >>> filtered, log_likelihood = layer(torch.tensor([[0, 2, -1]]))  # -1: missing
    >>> tuple(filtered.shape), tuple(log_likelihood.shape)
    ((1, 3, 2), (1, 3))
    """

    def __init__(self, n_states: int, n_symbols: int, binary: bool = False) -> None:
        super().__init__()
        self.binary = binary
        self.initial = nn.Parameter(torch.zeros(n_states))
        self.transition = nn.Parameter(torch.randn(n_states, n_states))
        self.emission = nn.Parameter(torch.randn(n_states, n_symbols))

    def set_probabilities(
        self, initial: np.ndarray, transition: np.ndarray, emission: np.ndarray
    ) -> None:
        """Set the probabilities of a fitted model, and freeze its parameters."""
        logs = [_log(p) for p in (initial, transition, emission)]
        if self.binary:
            logs[2] -= _log(1 - emission)
        for parameter, log in zip(self.parameters(), logs):
            # In full precision: the filter of the layer is that of the model.
            parameter.data = torch.as_tensor(log, dtype=torch.float64)
        self.requires_grad_(False)

    def forward(
        self, inputs: Tensor, before: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Filtered states, and log-likelihoods of steps, from the previous states."""
        transition = torch.softmax(self.transition.double(), 1)
        if before is None:
            initial = torch.softmax(self.initial.double(), 0)
            predicted = initial.expand(len(inputs), -1)
        else:
            predicted = before @ transition
        return _Filter.apply(predicted, transition, self.log_emission(inputs))

    def log_emission(self, inputs: Tensor) -> Tensor:
        """Log-likelihoods of observations, zero for missing ones."""
        logits = self.emission.double()
        if self.binary:
            # Of a missing entry neither counts.
            is_one, is_zero = (x.nan_to_num() for x in (inputs, 1 - inputs))
            yes, no = functional.logsigmoid(logits), functional.logsigmoid(-logits)
            return is_one.double() @ yes.T + is_zero.double() @ no.T
        table = functional.pad(torch.log_softmax(logits, 1), (1, 0))
        return functional.embedding(inputs + 1, table.T)


def _log(probability: np.ndarray) -> np.ndarray:
    found = np.full(probability.shape, LOG_OF_ZERO)
    return np.log(probability, out=found, where=probability > 0)


class HybridNetwork(nn.Module):
    """LSTM, optionally with a hidden Markov model, and a linear output layer.

    Parameters
    ----------
    n_inputs : int
        Number of symbols, which are embedded; or of columns of zeros and ones.
    n_classes : int
        Number of target classes.
    n_hidden : int
        Size of the LSTM's state.
    n_states : int, default=0
        States of the hidden Markov model; 0 for none.
    binary : bool, default=False
        Whether inputs are columns and not symbols.
    peephole : bool, default=False
        Whether the LSTM has peephole connections.

    Examples
    --------
    >>> import torch
    >>> network = HybridNetwork(n_inputs=3, n_classes=3, n_hidden=4, n_states=2)
    >>> logits, state = network(torch.tensor([[0, 2, 1, 1]]))
    >>> tuple(logits.shape)
    (1, 4, 3)
    """

    def __init__(
        self,
        n_inputs: int,
        n_classes: int,
        n_hidden: int,
        n_states: int = 0,
        *,
        binary: bool = False,
        peephole: bool = False,
    ) -> None:
        super().__init__()
        self.lookup = None if binary else nn.Embedding(n_inputs, n_hidden)
        width = n_inputs if binary else n_hidden
        self.lstm: nn.LSTM
        if peephole:
            self.lstm = PeepholeLSTM(width, n_hidden)
        else:
            self.lstm = nn.LSTM(width, n_hidden, batch_first=True)
        self.output = nn.Linear(n_hidden + n_states, n_classes)
        self.hmm = HMMLayer(n_states, n_inputs, binary) if n_states else None

    def forward(self, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """Logits of all steps, and the final state."""
        hidden, filtered, state = self.states(inputs, state)
        features = hidden
        if filtered is not None:
            features = torch.cat([hidden, filtered.to(hidden.dtype)], 2)
        return self.output(features), state

    def states(
        self, inputs: Tensor, state: Any = None
    ) -> tuple[Tensor, Tensor | None, Any]:
        """States of the LSTM and of the hidden Markov model, and the final state."""
        of_lstm, before = state or (None, None)
        inputs = inputs.to(self.output.weight.device)
        hidden, of_lstm = self.lstm(self._look_up(inputs), of_lstm)
        filtered = None
        if self.hmm is not None:
            filtered, _ = self.hmm(inputs, before)
            before = filtered[:, -1]
        return hidden, filtered, (of_lstm, before)

    def _look_up(self, inputs: Tensor) -> Tensor:
        # The LSTM reads zeros for missing values.
        if self.lookup is None:
            return inputs.nan_to_num()
        return self.lookup(inputs.clamp(min=0)) * (inputs >= 0).unsqueeze(2)
