"""Small samplers for tests."""

from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    position: np.ndarray
    log_density: float


class Info(NamedTuple):
    accepted: bool


class Walk:
    """Random-walk Metropolis on a normal distribution in two dimensions."""

    def __init__(self, scale=1.0, start=0.0):
        self.scale, self.start = scale, start
        self.fingerprint = f"walk {scale} {start}"

    def init(self, rng):
        position = self.start * rng.normal(size=2)
        return State(position, -0.5 * float(position @ position))

    def step(self, rng, state):
        there = state.position + self.scale * rng.normal(size=2)
        log_density = -0.5 * float(there @ there)
        if np.log(rng.random()) < log_density - state.log_density:
            return State(there, log_density), Info(True)
        return state, Info(False)

    def record(self, state):
        return {"position": state.position, "side": int(state.position[0] > 0)}


class Interrupted(Walk):
    """The user presses Ctrl-C in the n-th step."""

    def __init__(self, n, **options):
        super().__init__(**options)
        self.n = n

    def step(self, rng, state):
        self.n -= 1
        if self.n == 0:
            raise KeyboardInterrupt
        return super().step(rng, state)
