"""Training loop common to all networks: optimizer, budget, early stopping."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from clearwood._numeric.progress import progress
from clearwood._warned_once import users_level
from clearwood.exceptions import InterruptedFitWarning
from clearwood.sequences.networks.forward import as_tensors, log_likelihoods, loss_of
from clearwood.sequences.networks.layers import HybridNetwork
from clearwood.sequences.networks.streams import Series, cut, in_turns

MOST_SLOPE = 5.0
"""Maximum norm of clipped gradients (thesis, 5.2.1)."""


WINDOWS_PER_STREAM = 20
"""Minimum, for enough gradient steps in every pass over short data."""


class Schedule(NamedTuple):
    """Optimizer, initial learning rate, and criterion for reducing it."""

    optimiser: Callable[..., torch.optim.Optimizer]
    rate: float
    margin: float  # growth of the perplexity that halves the rate


SCHEDULES = {
    None: Schedule(torch.optim.Adam, 0.01, 0.0),
    "paper": Schedule(torch.optim.SGD, 1.0, 1.0),
}
"""By preset."""


class Epoch(NamedTuple):
    """Mean log-likelihoods after a pass over the data, and its learning rate."""

    training: float
    validation: float
    rate: float


def learn(
    network: HybridNetwork,
    series: Series,
    *,
    preset: str | None,
    n_epochs: int,
    patience: int,
    batch_size: int,
    window: int,
    rng: np.random.Generator,
    verbose: bool = False,
) -> list[Epoch]:
    """Train until the held-out predictions stop improving; keep the best epoch.

    Truncated backpropagation: gradients reach back to the beginning of a window, but
    the state is passed on to the next one. Ctrl-C ends the training with its best
    epoch.

    Returns
    -------
    list of Epoch
        All passes over the data.
    """
    kept, held_out = series.held_out(window, rng)
    batches = cut(kept.spans, batch_size, WINDOWS_PER_STREAM * window)
    apart = cut(held_out.spans, batch_size, window)
    make, rate, margin = SCHEDULES[preset]
    learning = [p for p in network.parameters() if p.requires_grad]
    optimiser = make(learning, lr=rate)
    history: list[Epoch] = []
    best: dict[str, Tensor] = {}
    since_best, reached = 0, -np.inf
    try:
        for _ in progress(range(n_epochs), n_epochs, "epochs", verbose):
            steps = in_turns(batches, window, rng)
            training = _pass(network, kept, steps, optimiser)
            validation = float(np.nanmean(log_likelihoods(network, held_out, apart)))
            history.append(Epoch(training, validation, rate))
            since_best += 1
            if not best or validation > reached:
                reached = max(reached, validation)
                best, since_best = deepcopy(network.state_dict()), 0
            if since_best == patience:
                break
            rate = next_rate([e.validation for e in history], rate, margin)
            for group in optimiser.param_groups:
                group["lr"] = rate
    except KeyboardInterrupt:
        if not best:
            raise
        warnings.warn(
            f"Interrupted: the network is that of the best of {len(history)} epochs.",
            InterruptedFitWarning,
            stacklevel=users_level(),
        )
    network.load_state_dict(best)
    return history


def _pass(
    network: HybridNetwork,
    series: Series,
    steps_of_batches: Iterable[tuple[int, np.ndarray]],
    optimiser: torch.optim.Optimizer,
) -> float:
    """One pass over all batches; returns the running mean log-likelihood."""
    inputs, targets = as_tensors(series)
    total, count = 0.0, 0
    states: dict[int, Any] = {}
    for batch, steps in steps_of_batches:
        wanted = targets[steps]
        n_wanted = int((wanted >= 0).sum())
        logits, state = network(inputs[steps], states.get(batch))
        states[batch] = _detached(state)
        if n_wanted == 0:
            continue  # but the state has gone on
        loss = loss_of(logits, wanted, "sum")
        descend(optimiser, loss / n_wanted, MOST_SLOPE)
        total, count = total - float(loss.detach()), count + n_wanted
    return total / count


def descend(optimiser: torch.optim.Optimizer, loss: Tensor, most: float) -> None:
    """One gradient step, with the gradient of all parameters clipped to a norm."""
    optimiser.zero_grad()
    loss.backward()
    learning = [p for group in optimiser.param_groups for p in group["params"]]
    clip_grad_norm_(learning, most)
    optimiser.step()


def next_rate(log_likelihood: list[float], rate: float, margin: float) -> float:
    """Halve the learning rate after an epoch with a larger perplexity.

    exp(-l_t) > exp(-l_{t-1}) + margin; the thesis (5.2.1) has a margin of 1.

    Examples
    --------
    >>> next_rate([-2.5, -2.6], 1.0, margin=1.0)
    0.5
    >>> next_rate([-2.0, -2.1], 1.0, margin=1.0)
    1.0
    """
    if len(log_likelihood) < 2:
        return rate
    before, now = np.exp(-np.array(log_likelihood[-2:]))
    return rate / 2 if now > before + margin else rate


def _detached(state: Any) -> Any:
    if isinstance(state, tuple):
        return tuple(_detached(part) for part in state)
    return state if state is None else state.detach()
