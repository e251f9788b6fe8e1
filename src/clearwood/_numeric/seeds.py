"""Random generators whose draws do not depend on the number of jobs."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from clearwood.exceptions import InputError


def as_generator(random_state: Any = None) -> np.random.Generator:
    """Create a NumPy generator from scikit-learn's ``random_state``.

    ``None`` gives a fresh one, an integer a seeded one, a ``Generator`` is returned as
    it is, and a ``RandomState`` provides a seed.

    Examples
    --------
    >>> int(as_generator(0).integers(100)), int(as_generator(0).integers(100))
    (85, 85)
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is np.random:
        random_state = np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint64))
    is_count = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if random_state is None or (is_count and random_state >= 0):
        return np.random.default_rng(random_state)
    raise InputError(
        f"random_state is {random_state!r}; pass a non-negative integer, a numpy "
        "RandomState or Generator, or None for other draws in every call."
    )


def spawn_generators(random_state: Any, n: int) -> list[np.random.Generator]:
    """Independent generators, one per task (restart, chain, bootstrap).

    Task ``i`` gets the same generator however many tasks run in parallel and however
    many follow.

    Examples
    --------
    >>> few, many = spawn_generators(7, 2), spawn_generators(7, 5)
    >>> bool(few[1].integers(1000) == many[1].integers(1000))
    True
    """
    return as_generator(random_state).spawn(n)
