"""Random generators whose draws do not depend on how work is spread."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from clearwood.exceptions import InputError


def as_generator(random_state: Any = None) -> np.random.Generator:
    """Make a NumPy generator from what scikit-learn calls ``random_state``.

    ``None`` gives a fresh one, an integer a seeded one, a ``Generator`` is used as
    it is, and from a ``RandomState`` one seed is drawn.

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
    """Independent generators, one per piece of work (restart, chain, bootstrap).

    Piece ``i`` gets the same generator however many pieces run at once and
    however many follow it.

    Examples
    --------
    >>> few, many = spawn_generators(7, 2), spawn_generators(7, 5)
    >>> bool(few[1].integers(1000) == many[1].integers(1000))
    True
    """
    return as_generator(random_state).spawn(n)
