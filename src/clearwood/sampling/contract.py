"""What a sampler has to be."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np


class Sampler(Protocol):
    """A Markov chain as three functions without memory of their own.

    A state is a named tuple of arrays and numbers, and all there is to know of a chain;
    what a step reports is a named tuple of numbers. Every random number comes from the
    generator that is passed in. So a chain can be stopped after any step and go on
    later, elsewhere, to the same bits.

    A sampler may keep what it has computed before, as long as that changes no result.

    Examples
    --------
    A random walk on the whole numbers, drawn towards zero:

    >>> from typing import NamedTuple
    >>> class State(NamedTuple):
    ...     position: int
    >>> class Info(NamedTuple):
    ...     accepted: bool
    >>> class Walk:
    ...     fingerprint = "walk"
    ...     def init(self, rng):
    ...         return State(0)
    ...     def step(self, rng, state):
    ...         there = state.position + rng.choice([-1, 1])
    ...         if rng.random() < np.exp(abs(state.position) - abs(there)):
    ...             return State(int(there)), Info(True)
    ...         return state, Info(False)
    ...     def record(self, state):
    ...         return {"position": float(state.position)}
    >>> from clearwood.sampling import run_chains
    >>> chains = run_chains(Walk(), n_draws=500, thin=20, random_state=0)
    >>> bool(abs(chains.draws["position"].mean()) < 0.2)
    True
    """

    fingerprint: str
    """Names the problem, data and settings; a checkpoint of another one is refused."""

    def init(self, rng: np.random.Generator) -> Any:
        """A state to start from."""

    def step(self, rng: np.random.Generator, state: Any) -> tuple[Any, Any]:
        """One step: the next state, and what there is to say of the step."""

    def record(self, state: Any) -> Mapping[str, Any]:
        """What to keep of a state: arrays and numbers of the same shapes every time.

        Floating-point records are judged by R-hat and effective sample size; integers
        (labels, say) are only kept.
        """


def fingerprint_of(*parts: Any) -> str:
    """A short text that differs when any array or setting does.

    Parameters
    ----------
    *parts : ndarray or any
        What is no array counts by its ``repr``.

    Examples
    --------
    >>> fingerprint_of(np.arange(3), 0.5) == fingerprint_of(np.arange(3), 0.25)
    False
    """
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            total.update(f"{part.dtype.str}{part.shape}".encode())
            total.update(np.ascontiguousarray(part).tobytes())
        else:
            total.update(repr(part).encode())
        total.update(b";")
    return total.hexdigest()[:32]
