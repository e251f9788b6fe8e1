"""Gibbs sampling of hidden Markov models: states, then parameters, in turn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood.sampling import Chains, fingerprint_of
from clearwood.sequences.sequence_model import Observed, Parameters, SequencePrior
from clearwood.sequences.states_over_time import (
    draw_states,
    kind_counts,
    state_counts,
)


class ModelState(NamedTuple):
    """Parameters; and the log-likelihood of those before, from which states came."""

    startprob: np.ndarray
    transmat: np.ndarray
    emission: np.ndarray
    log_likelihood: float


class SweepInfo(NamedTuple):
    """What a sweep found: how many states are in use."""

    used: int


class StateSampler:
    """A Markov chain on the parameters, for ``sampling.run_chains``.

    A step draws all states given the parameters (forward filtering, backward
    sampling), and parameters given the states.

    Parameters
    ----------
    observed : Observed
    prior : SequencePrior
    n_states : int
    start : Parameters, optional
        Where all chains start; by default, from states drawn independently for every
        step, as in the thesis.

    Examples
    --------
    >>> from clearwood.sampling import run_chains
    >>> from clearwood.sequences.emissions import CategoricalEmission
    >>> seen = Observed.of(np.array([[0.0], [0.0], [1.0], [1.0]]), [4], discrete=True)
    >>> prior = SequencePrior(1.0, 1.0, CategoricalEmission((1.0, 1.0)))
    >>> chains = run_chains(StateSampler(seen, prior, 2), 800, random_state=0)
    >>> parameters = drawn_parameters(chains)
    >>> parameters.transmat.shape
    (3200, 2, 2)
    """

    def __init__(
        self,
        observed: Observed,
        prior: SequencePrior,
        n_states: int,
        start: Parameters | None = None,
    ) -> None:
        self.observed, self.prior = observed, prior
        self.n_states, self.start = n_states, start
        self._steps = observed.steps().astype(np.int32)
        self.fingerprint = fingerprint_of(
            observed.values, self._steps, observed.lengths, n_states,
            repr(prior), *(start or ()),
        )  # fmt: skip

    # The contract

    def init(self, rng: np.random.Generator) -> ModelState:
        """The given start, or parameters drawn given random states."""
        if self.start is not None:
            return ModelState(*self.start, log_likelihood=-np.inf)
        states = rng.integers(self.n_states, size=len(self._steps), dtype=np.int32)
        emission = self.prior.emission
        nowhere = emission.mode(np.zeros((self.n_states, emission.n_statistics)))
        return self._parameters(rng, nowhere, states, -np.inf)

    def step(
        self, rng: np.random.Generator, state: ModelState
    ) -> tuple[ModelState, SweepInfo]:
        """One sweep."""
        log_rows = self.prior.emission.log_likelihood(
            state.emission, self.observed.values
        )
        states, log_likelihood = draw_states(
            rng, state.startprob, state.transmat, log_rows, self.observed.lengths,
            row=self.observed.row,
        )  # fmt: skip
        after = self._parameters(
            rng, state.emission, states, float(log_likelihood.sum())
        )
        used = np.zeros(self.n_states, dtype=bool)
        used[states] = True
        return after, SweepInfo(int(used.sum()))

    def record(self, state: ModelState) -> dict[str, Any]:
        """Log-likelihood and mean probability to stay; and the parameters.

        These as bits: states may change their labels, so that R-hat and effective
        sample size of a parameter say nothing.
        """
        bits = {
            name: getattr(state, name).view(np.uint64) for name in Parameters._fields
        }
        stay = float(np.trace(state.transmat) / self.n_states)
        return {"log_likelihood": state.log_likelihood, "stay": stay, **bits}

    def _parameters(
        self,
        rng: np.random.Generator,
        emission: np.ndarray,
        states: np.ndarray,
        log_likelihood: float,
    ) -> ModelState:
        """Parameters drawn given states; missing entries given earlier parameters."""
        values, k = self.observed.values, self.n_states
        start, pairs = state_counts(states, k, self.observed.lengths)
        kinds = kind_counts(states, self._steps, len(values), k)
        statistics = self.prior.emission.statistics(emission, values, kinds, rng)
        return ModelState(
            *self.prior.draw(rng, start, pairs, statistics), log_likelihood
        )


def drawn_parameters(chains: Chains) -> Parameters:
    """The parameters of all draws of all chains, one chain after the other."""
    return Parameters(*(
        chains.draws[name].reshape(-1, *chains.draws[name].shape[2:]).view(np.float64)
        for name in Parameters._fields
    ))  # fmt: skip


def aligned(draws: Parameters, reference: Parameters) -> Parameters:
    """Draws with their states in the order in which they are most like a reference's.

    The Hungarian algorithm, on squared distances of emission parameters and of the
    probability to stay, in units of their spread over the states.

    Parameters
    ----------
    draws : Parameters
        With an axis of draws in front.
    reference : Parameters

    Examples
    --------
    >>> transmat = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> one = Parameters(np.array([0.7, 0.3]), transmat, np.array([[1.0], [2.0]]))
    >>> turned = [part[None, ::-1] for part in one]
    >>> turned[1] = turned[1][:, :, ::-1]
    >>> aligned(Parameters(*turned), one).transmat.tolist()
    [[[0.9, 0.1], [0.4, 0.6]]]
    """
    from scipy.optimize import linear_sum_assignment

    wanted = _traits(reference)
    unit = np.maximum(wanted.std(axis=0), 1e-12)
    found = []
    for draw in map(Parameters, *draws):
        gap = (wanted[:, None] - _traits(draw)[None]) / unit
        _, order = linear_sum_assignment((gap**2).sum(axis=2))
        found.append((
            draw.startprob[order], draw.transmat[np.ix_(order, order)],
            draw.emission[order],
        ))  # fmt: skip
    return Parameters(*(np.array(part) for part in zip(*found)))


def _traits(parameters: Parameters) -> np.ndarray:
    """What states are known by."""
    return np.column_stack([parameters.emission, np.diag(parameters.transmat)])


def mean_of(draws: Parameters) -> Parameters:
    """Means over aligned draws."""
    return Parameters(*(part.mean(axis=0) for part in draws))
