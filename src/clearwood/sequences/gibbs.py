"""Gibbs sampling of hidden Markov models: states and parameters alternately."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import product, rounded
from clearwood.distributions import Emission
from clearwood.sampling import Chains, fingerprint_of
from clearwood.sequences.sequence_model import (
    Observed,
    SequencePrior,
    StateModel,
    evidence_of,
)
from clearwood.sequences.states_over_time import (
    kind_counts,
    sample_states,
    smooth_states,
    state_counts,
    working_space,
)

ALIGNED_STEPS = 2_000
"""Number of steps on which states of different draws are compared."""

MOST_AVERAGED = 20
"""Maximum number of draws, evenly spaced, that a prediction averages over."""


class SweepState(NamedTuple):
    """Parameters, and the log-likelihood of those from which states were drawn."""

    startprob: np.ndarray
    transmat: np.ndarray
    emission: np.ndarray
    log_likelihood: float


class SweepInfo(NamedTuple):
    """Number of states in use in a sweep."""

    used: int


class StateSampler:
    """Gibbs sampler of the parameters, for ``sampling.run_chains``.

    A step draws all states given the parameters (forward filtering, backward
    sampling), and parameters given the states.

    Parameters
    ----------
    observed : Observed
    prior : SequencePrior
    n_states : int
    start : StateModel, optional
        Starting values of all chains; by default, from states drawn independently for
        every step, as in the thesis.

    Examples
    --------
    >>> from clearwood.sampling import run_chains
    >>> from clearwood.distributions import CategoricalEmission
    >>> steps = np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> seen = Observed.from_values(steps, [4], discrete=True)
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
        start: StateModel | None = None,
    ) -> None:
        self.observed, self.prior = observed, prior
        self.n_states, self.start = n_states, start
        self._steps = observed.steps().astype(np.int32)
        self._own = threading.local()  # chains run side by side, each with its space
        # Not the start: chains that go on need none, whatever seed has found it.
        self.fingerprint = fingerprint_of(
            observed.values, self._steps, observed.lengths, n_states, repr(prior)
        )

    # Interface of samplers

    def init(self, rng: np.random.Generator) -> SweepState:
        """Given starting values, or parameters drawn given random states."""
        if self.start is not None:
            return SweepState(*self.start, log_likelihood=-np.inf)
        states = rng.integers(self.n_states, size=len(self._steps), dtype=np.int32)
        emission = self.prior.emission
        nowhere = emission.mode(np.zeros((self.n_states, emission.n_statistics)))
        return self._parameters(rng, nowhere, states, -np.inf)

    def step(
        self, rng: np.random.Generator, state: SweepState
    ) -> tuple[SweepState, SweepInfo]:
        """One sweep: the three steps of the thesis (5.2.2)."""
        model, emission = StateModel(*state[:3]), self.prior.emission
        given = evidence_of(self.observed, model, emission)
        # 1. States, by forward filtering and backward sampling.
        states, log_likelihood = sample_states(rng, given, space=self._space())
        # 2. Transitions (and what sequences begin with). 3. Emissions.
        after = self._parameters(
            rng, state.emission, states, float(log_likelihood.sum())
        )
        used = np.count_nonzero(np.bincount(states))
        return after, SweepInfo(int(used))

    def record(self, state: SweepState) -> dict[str, Any]:
        """Log-likelihood and mean probability of staying; and the parameters.

        The parameters as bits: states may switch labels, so that R-hat and effective
        sample size of a parameter are meaningless.
        """
        bits = {
            name: getattr(state, name).view(np.uint64) for name in StateModel._fields
        }
        stay = float(np.trace(state.transmat) / self.n_states)
        return {"log_likelihood": state.log_likelihood, "stay": stay, **bits}

    def _space(self) -> tuple[np.ndarray, np.ndarray]:
        """Working memory for states, reused because allocation takes time."""
        if not hasattr(self._own, "space"):
            n_steps = self.observed.n_steps
            self._own.space = working_space(n_steps, self.n_states)
        space: tuple[np.ndarray, np.ndarray] = self._own.space
        return space

    def _parameters(
        self,
        rng: np.random.Generator,
        emission: np.ndarray,
        states: np.ndarray,
        log_likelihood: float,
    ) -> SweepState:
        """Draw parameters given states; missing entries given earlier parameters."""
        values, k = self.observed.values, self.n_states
        start, pairs = state_counts(states, k, self.observed.lengths)
        kinds = kind_counts(states, self._steps, len(values), k)
        statistics = self.prior.emission.statistics(emission, values, kinds, rng)
        return SweepState(
            *self.prior.draw(rng, start, pairs, statistics), log_likelihood
        )


def drawn_parameters(chains: Chains) -> StateModel:
    """Parameters of all draws, chain by chain."""
    return StateModel(*(
        chains.draws[name].reshape(-1, *chains.draws[name].shape[2:]).view(np.float64)
        for name in StateModel._fields
    ))  # fmt: skip


def aligned(
    draws: StateModel,
    reference: StateModel,
    observed: Observed,
    emission: Emission,
) -> StateModel:
    """Align the states of draws with those of a reference.

    The Hungarian algorithm, on the number of steps at which a state of the draw and one
    of the reference are expected together.

    Parameters
    ----------
    draws : StateModel
        With an axis of draws in front.
    reference : StateModel
    observed : Observed
        Steps for the comparison.
    emission : Emission

    Examples
    --------
    >>> from clearwood.distributions import CategoricalEmission
    >>> transmat = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> one = StateModel(np.array([0.7, 0.3]), transmat, transmat)
    >>> turned = StateModel(*(part[None, ::-1] for part in one))
    >>> turned = turned._replace(transmat=turned.transmat[:, :, ::-1])
    >>> seen = Observed.from_values(np.array([[0.0], [1.0]]), [2], discrete=True)
    >>> aligned(turned, one, seen, CategoricalEmission((1.0, 1.0))).transmat.tolist()
    [[[0.9, 0.1], [0.4, 0.6]]]
    """
    from scipy.optimize import linear_sum_assignment

    def smoothed(model: StateModel) -> np.ndarray:
        return smooth_states(evidence_of(observed, model, emission))[0]

    wanted, found = smoothed(reference), []
    for draw in map(StateModel, *draws):
        together = rounded(product(wanted.T, smoothed(draw)))
        _, order = linear_sum_assignment(together, maximize=True)
        found.append((
            draw.startprob[order], draw.transmat[np.ix_(order, order)],
            draw.emission[order],
        ))  # fmt: skip
    return StateModel(*(np.array(part) for part in zip(*found)))


def average(
    chains: Chains, observed: Observed, prior: SequencePrior
) -> tuple[StateModel, StateModel]:
    """All draws, aligned with the likeliest one on a part of the steps; their means."""
    draws = drawn_parameters(chains)
    reference = StateModel(*(part[likeliest(chains)] for part in draws))
    part = observed.part(ALIGNED_STEPS, np.random.default_rng(0))
    in_order = aligned(draws, reference, part, prior.emission)
    return in_order, StateModel(*(part.mean(axis=0) for part in in_order))


def likeliest(chains: Chains) -> int:
    """Index of the likeliest draw of parameters, over all chains.

    A draw holds the log-likelihood of the previous parameters: that of its own is in
    the next draw of the chain, and that of the last draw is unknown.

    Examples
    --------
    >>> likely = {"log_likelihood": np.array([[-1.0, -9.0, -7.0], [-8.0, -5.0, -6.0]])}
    >>> likeliest(Chains(likely, {}, []))
    3
    """
    log_likelihood = chains.draws["log_likelihood"]
    n_draws = log_likelihood.shape[1]
    if n_draws == 1:
        return 0
    chain, draw = divmod(int(log_likelihood[:, 1:].argmax()), n_draws - 1)
    return chain * n_draws + draw


def thinned_indices(n_draws: int) -> np.ndarray:
    """Indices of the draws that a prediction averages over.

    Examples
    --------
    >>> thinned_indices(3), len(thinned_indices(1000))
    (array([0, 1, 2]), 20)
    """
    n = min(n_draws, MOST_AVERAGED)
    return np.unique(np.linspace(0, n_draws - 1, n).astype(np.int64))
