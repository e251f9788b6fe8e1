"""Protocol of samplers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np


class Sampler(Protocol):
    """Protocol of a Markov chain sampler: three functions without internal state.

    A state is a named tuple of arrays and numbers that describes a chain completely;
    the statistics of a step are a named tuple of numbers. Every random number comes
    from the generator that is passed in. So a chain can be stopped after any step and
    continued later, elsewhere, bit for bit.

    A sampler may cache intermediate results, as long as that changes no draw.

    Examples
    --------
    A random walk on the integers with a drift towards zero:

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
    """Identifies problem, data and settings; a checkpoint of another one is refused."""

    def init(self, rng: np.random.Generator) -> Any:
        """Draw an initial state."""

    def step(self, rng: np.random.Generator, state: Any) -> tuple[Any, Any]:
        """Make one step: the next state, and statistics of the step."""

    def record(self, state: Any) -> Mapping[str, Any]:
        """Quantities to keep of a state: arrays and numbers, always of the same shapes.

        Floating-point records are diagnosed by R-hat and effective sample size;
        integers (such as labels) are only kept.
        """


def fingerprint_of(*parts: Any) -> str:
    """Hash of arrays and settings, as a short text.

    Parameters
    ----------
    *parts : ndarray or any
        Anything but an array is hashed by its ``repr``.

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
