"""Forward passes of networks: outputs and states of every step, and sampling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from clearwood.columns.cells import unwrapped
from clearwood.sequences.networks.layers import HybridNetwork
from clearwood.sequences.networks.streams import Series, cut, windows

AT_A_TIME = 1024
"""Number of steps per forward pass."""


@contextmanager
def reproducible(seed: int = 0) -> Iterator[None]:
    """Seed torch on one thread, and restore its state afterwards.

    A different order of sums would change results, and small networks do not gain from
    threads.
    """
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        # Also if another default device is set.
        with torch.random.fork_rng(devices=[]), torch.device("cpu"):
            torch.default_generator.manual_seed(seed)  # and not those of GPUs
            yield
    finally:
        torch.set_num_threads(n_threads)


def log_likelihoods(
    network: HybridNetwork, series: Series, batches: list[np.ndarray] | None = None
) -> np.ndarray:
    """Log-likelihood of the target of every step; NaN where there is none."""
    targets = torch.as_tensor(series.targets)

    def predict(inputs: Tensor, state: Any, steps: np.ndarray) -> tuple[Tensor, Any]:
        logits, state = network(inputs, state)
        wanted = targets[steps]
        losses = loss_of(logits.cpu(), wanted, "none").reshape(wanted.shape)
        return torch.where(wanted >= 0, -losses, torch.nan), state

    return over_time(series, predict, batches)


def over_time(
    series: Series,
    predict: Callable[[Tensor, Any, np.ndarray], tuple[Tensor, Any]],
    batches: list[np.ndarray] | None = None,
) -> np.ndarray:
    """Outputs of every step; steps outside all sequences are NaN.

    Without batches every sequence is read from its beginning to its end.
    """
    if batches is None:
        longest = int(np.diff(series.spans).max())
        batches = cut(series.spans, 32, longest)
    inputs, _ = as_tensors(series)
    answers = np.zeros(0)
    with torch.no_grad():
        for batch in batches:
            state = None
            for steps in windows(batch, AT_A_TIME):
                predicted, state = predict(inputs[steps], state, steps)
                if not answers.size:
                    shape = (len(series.inputs), *predicted.shape[2:])
                    answers = np.full(shape, np.nan)
                there = steps >= 0
                answers[steps[there]] = unwrapped(predicted)[there]
    return answers


def write_on(
    network: HybridNetwork, codes: list[int], n_steps: int, rng: np.random.Generator
) -> list[int]:
    """Draw symbols one by one, each given those before it."""
    state, written = None, []
    with torch.no_grad():
        for _ in range(n_steps):
            logits, state = network(torch.as_tensor([codes]), state)
            expected = unwrapped(logits[0, -1].double().softmax(0))
            codes = [int(rng.choice(len(expected), p=expected))]
            written += codes
    return written


def as_tensors(series: Series) -> tuple[Tensor, Tensor]:
    """Inputs and targets, padded by one step at the end at which both are missing."""
    nothing = np.full_like(series.inputs[:1], -1 if series.inputs.ndim == 1 else np.nan)
    inputs = np.concatenate([series.inputs, nothing])
    return torch.as_tensor(inputs), torch.as_tensor(np.append(series.targets, -1))


def loss_of(logits: Tensor, wanted: Tensor, reduction: str) -> Tensor:
    """Negative log-likelihood, zero for missing targets."""
    return functional.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), ignore_index=-1, reduction=reduction
    )
