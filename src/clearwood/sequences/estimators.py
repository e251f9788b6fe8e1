"""Hidden Markov models with the interface of hmmlearn, and extensions."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from clearwood._base import Estimator
from clearwood._estimators import Interval, StrOptions, fit_context, take_rows
from clearwood._numeric import as_generator, product, spawn_generators
from clearwood.distributions import Emission
from clearwood.exceptions import InputError
from clearwood.sampling import Chains, Diagnosis, run_chains
from clearwood.sequences.baum_welch import GivenStart, baum_welch, best_start
from clearwood.sequences.gibbs import StateSampler, average, thinned_indices
from clearwood.sequences.kinds import KINDS, rows_of_shares
from clearwood.sequences.recurrent.trace import last_steps, lengths_of_first
from clearwood.sequences.sequence_model import (
    Observed,
    SequencePrior,
    StateModel,
    evidence_of,
    walk,
)
from clearwood.sequences.states_over_time import (
    StateEvidence,
    filter_states,
    log_likelihoods,
    most_probable_states,
    sample_states,
    sequence_bounds,
    smooth_states,
)

SIZES, HELD_OUT = (1, 2, 3, 4, 5, 7, 10, 14, 20), 0.2
"""Numbers of states of "auto", and the share of steps on which they are compared."""

N_CHAINS, WARMUP = 4, 100
"""Number of Markov chains, and of warm-up sweeps of each."""

TOLERANCE = 1e-6
"""Convergence threshold of EM: gain in log density per step of the sequences."""


class HiddenMarkovModel(Estimator):
    """Hidden Markov model with categorical, Bernoulli, Gaussian or mixed emissions.

    Every step of a sequence is in one of several hidden states; the next state and the
    observation depend only on this one. Cells and whole steps may be missing.
    Parameters are drawn by Gibbs sampling (all states by forward filtering and backward
    sampling, then parameters), or maximize the posterior density by EM. Names are
    hmmlearn's; attributes may be set by hand, and used without ``fit``.

    Parameters
    ----------
    n_states : int or "auto", default=10
        With "auto" 1, 2, 3, 4, 5, 7, 10, 14, 20 are fitted by EM to the first four
        fifths of the steps (whole sequences, if there are several), until two do not
        raise the likelihood of the others; the smallest within a standard error of the
        best is taken.
    emission : {"categorical", "bernoulli", "gaussian", "mixed"}, default="categorical"
        ``"categorical"``: one symbol per step, of any type; a string is a sequence of
        characters. ``"bernoulli"``: columns of 0 and 1, independent given the state.
        ``"gaussian"``: columns of numbers. ``"mixed"``: a frame; columns of strings or
        declared categories are independent given the state, numbers are normal but for
        their point masses, values that many cells share, as in `MiniSPN`.
    covariance_type : {"full", "diag"}, default="full"
        Covariance structure of numbers, given the state.
    algorithm : {"gibbs", "em"}, default="gibbs"
        With ``"gibbs"`` attributes are posterior means.
    alpha : float, default=1.1
        Dirichlet (beta) pseudo-counts of states and classes. For EM 1 is a flat prior,
        which allows probabilities of 0; numbers have a normal-inverse-Wishart prior
        with both algorithms.
    n_init : int, default=32
        Number of random starts, of which successive halving on a part of the steps
        selects the one of largest likelihood. For numbers, an eighth as many k-means
        clusterings.
    n_iter : int, default=100
        Maximum number of EM iterations.
    n_draws : int, default=250
        Number of draws per chain, of four, after a warm-up of 100.
    checkpoint : str or Path, default=None
        File from which chains resume, if it exists; see `sampling.run_chains`.
    n_jobs : int, default=None
        Number of chains run in parallel. The result does not depend on it.
    verbose : bool, default=False
        Show the progress of the chains on stderr.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    startprob_ : ndarray of shape (n_states,)
    transmat_ : ndarray of shape (n_states, n_states)
        Rows are the current states, columns the next ones.
    emissionprob_ : ndarray of shape (n_states, n_symbols) or (n_states, n_columns)
        Of symbols; of 1 in every column for ``"bernoulli"``; for ``"mixed"`` a dict of
        such arrays, by column.
    means_, covars_ : ndarray of shape (n_states, d) and (n_states, d, d)
        Of numbers; for ``"mixed"`` of those that are at no point mass.
    point_masses_ : dict of str to tuple of float
        For ``"mixed"``, by column. ``emissionprob_["income, point mass"]`` has the
        probabilities that the income is at none of them, and at each.
    symbols_ : ndarray of shape (n_symbols,)
        The columns of ``emissionprob_``; 0, 1, ... where it was set by hand.
    unseen_prob_ : float
        Probability of a symbol that was not seen in training, the same in all states,
        so that it carries no information about the state. As if there were one more
        symbol with the same pseudo-count; 0 if parameters were set by hand. The rows of
        ``emissionprob_`` are the probabilities given that a symbol is a known one, and
        add up to 1.
    n_states_ : int
        Number of states.
    held_out_scores_ : dict of int to float
        With ``n_states="auto"``, held-out log-likelihood per step by number of states.
    mean_length_ : float
        Mean number of steps of a training sequence.
    log_likelihood_ : float
        Of the training data, at the attributes.
    draws_ : StateModel or None
        All posterior draws, with their states aligned to those of the most likely one;
        after loading, those that predictions average over.
    chains_ : Chains or None
        The draws in their original order; ``sampling.to_arviz`` takes them.
    history_ : list of float or None
        Log posterior density of every iteration of EM.

    References
    ----------
    Krakovna, "Building Interpretable Models: From Bayesian Networks to Neural
    Networks", Harvard 2016, section 5.2.2.

    Examples
    --------
    >>> text = "abab abba baab " * 20
    >>> hmm = HiddenMarkovModel(2, algorithm="em", n_init=4, random_state=0).fit(text)
    >>> hmm.predict_next("ab").shape
    (2, 3)
    >>> by_hand = HiddenMarkovModel(2)
    >>> by_hand.startprob_, by_hand.transmat_ = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]
    >>> by_hand.emissionprob_ = [[0.9, 0.1], [0.2, 0.8]]
    >>> by_hand.predict([0, 0, 0, 1, 1, 1])
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _parameter_constraints: dict[str, Any] = {
        "n_states": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "emission": [StrOptions(set(KINDS))],
        "covariance_type": [StrOptions({"full", "diag"})],
        "algorithm": [StrOptions({"gibbs", "em"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "checkpoint": [None, str, Path],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
        "random_state": "no_validation",
    }

    def __init__(
        self,
        n_states: int | str = 10,
        *,
        emission: str = "categorical",
        covariance_type: str = "full",
        algorithm: str = "gibbs",
        alpha: float = 1.1,
        n_init: int = 32,
        n_iter: int = 100,
        n_draws: int = 250,
        checkpoint: str | Path | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_states = n_states
        self.emission = emission
        self.covariance_type = covariance_type
        self.algorithm = algorithm
        self.alpha = alpha
        self.n_init = n_init
        self.n_iter = n_iter
        self.n_draws = n_draws
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    # Fitting

    @fit_context
    def fit(
        self,
        X: Any,
        lengths: Sequence[int] | None = None,
        start: HiddenMarkovModel | None = None,
    ) -> HiddenMarkovModel:
        """Fit the model to one or several sequences.

        States without any step keep their prior. Ctrl-C ends the chains, or EM, early,
        with a warning: the results so far are used.

        Parameters
        ----------
        X : str, list, array-like or frame of shape (n_steps,) or (n_steps, n_columns)
            All sequences, concatenated; None or NaN is missing. For symbols also a list
            of sequences: of strings, whose characters are the symbols, of lists or of
            arrays. In an array, a Series, or with ``lengths``, strings are symbols,
            whatever their length.
        lengths : sequence of int, optional
            Numbers of steps of the sequences; by default one sequence, or a list's.
        start : HiddenMarkovModel, optional
            Model whose parameters, fitted or set by hand, are the starting values, in
            place of the best of ``n_init`` random starts; ``n_states`` is its number of
            states, or "auto". Starts and transitions of probability 0 remain so, as in
            a left-to-right model; emissions of probability 0 need not.

        Returns
        -------
        self
        """
        given = None if start is None else GivenStart.of(start, self)
        self._reset()
        self.chains_: Chains | None = None
        self.draws_: StateModel | None = None
        self.history_: list[float] | None = None
        kind = KINDS[self.emission]
        X, lengths = kind.end_to_end(X, lengths)
        if given is not None:
            self.n_states_ = len(given.parameters.startprob)
        elif isinstance(self.n_states, str):
            scores = self._scores_by_size(X, lengths)
            self.n_states_ = _smallest_near_best(scores)
            self.held_out_scores_ = {k: float(v.mean()) for k, v in scores.items()}
        else:
            self.n_states_ = int(self.n_states)
        self._set_attributes(kind.columns(self, X))
        values = kind.values(self, X)
        emission = kind.prior(self, values)
        observed = self._observed(values, lengths)
        self.mean_length_ = observed.n_steps / len(observed.lengths)
        prior = SequencePrior(self.alpha, self.alpha, emission)
        start_seed, chain_seed = spawn_generators(self.random_state, 2)
        if given is not None:
            first = given.checked(self, emission)
            prior = prior.within(first)
        else:
            first = best_start(start_seed, observed, prior, self.n_states_, self.n_init)
        if self.algorithm == "em":
            fit = baum_welch(observed, prior, first, self.n_iter, TOLERANCE, keep=True)
            self.history_, found = fit.history, fit.parameters
        else:
            found = self._sample(observed, prior, first, chain_seed)
        self._set_parameters(found)
        likely = log_likelihoods(evidence_of(observed, *self._model()))
        self.log_likelihood_ = float(likely.sum())
        return self

    def _scores_by_size(self, X: Any, lengths: Any) -> dict[int, np.ndarray]:
        """Log-likelihood of held-out steps, until two sizes do not raise its mean."""
        n_steps = X.shape[0] if hasattr(X, "shape") else len(X)
        sizes = np.diff(sequence_bounds(lengths, n_steps))
        n_fitted = int((~last_steps(sizes, HELD_OUT)).sum())
        part = take_rows(X, np.arange(n_fitted)), lengths_of_first(sizes, n_fitted)
        scores: dict[int, np.ndarray] = {}
        for size in SIZES:
            model = clone(self).set_params(n_states=size, algorithm="em").fit(*part)
            scores[size] = model.step_log_likelihood(X, lengths)[n_fitted:]
            if size not in sorted(scores, key=lambda k: -scores[k].mean())[:2]:
                break
        return scores

    def _reset(self) -> None:
        """Delete attributes of an earlier fit, or set by hand."""
        for name in [n for n in vars(self) if n.endswith("_") and not n.endswith("__")]:
            delattr(self, name)

    def _set_attributes(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def _set_parameters(self, found: StateModel) -> None:
        """Set parameters as attributes."""
        self.startprob_, self.transmat_, table = found
        self._set_attributes(KINDS[self.emission].named(self, table))

    def _sample(
        self,
        observed: Observed,
        prior: SequencePrior,
        start: StateModel,
        seed: Any,
    ) -> StateModel:
        sampler = StateSampler(observed, prior, self.n_states_, start)
        self.chains_ = chains = run_chains(
            sampler,
            self.n_draws,
            n_warmup=WARMUP,
            n_chains=N_CHAINS,
            random_state=seed,
            n_jobs=self.n_jobs,
            checkpoint=self.checkpoint,
            progress=bool(self.verbose),
        )
        self.draws_, mean = average(chains, observed, prior)
        return mean

    # Reading sequences

    def _observed(self, values: np.ndarray, lengths: Sequence[int] | None) -> Observed:
        sizes = np.diff(sequence_bounds(lengths, len(values))).tolist()
        return Observed.from_values(values, sizes, KINDS[self.emission].discrete)

    def _read(self, X: Any, lengths: Sequence[int] | None) -> Observed:
        check_is_fitted(self, ["startprob_", "transmat_"])
        X, lengths = KINDS[self.emission].end_to_end(X, lengths)
        return self._observed(KINDS[self.emission].values(self, X), lengths)

    def _model(self) -> tuple[StateModel, Emission]:
        """Parameters and emission from the current attributes."""
        check_is_fitted(self, ["startprob_", "transmat_"])
        startprob = rows_of_shares("startprob_", self.startprob_, (None,))
        k = len(startprob)
        transmat = rows_of_shares("transmat_", self.transmat_, (k, k))
        emission, table = KINDS[self.emission].emission(self, k)
        return StateModel(startprob, transmat, table), emission

    def _given(self, X: Any, lengths: Sequence[int] | None) -> StateEvidence:
        """Observed steps and the model."""
        return evidence_of(self._read(X, lengths), *self._model())

    def score(self, X: Any, lengths: Sequence[int] | None = None) -> float:
        """Log-likelihood of all sequences; -inf if one is impossible.

        Parameters
        ----------
        X, lengths
            As in ``fit``.
        """
        return float(log_likelihoods(self._given(X, lengths)).sum())

    def score_samples(
        self, X: Any, lengths: Sequence[int] | None = None
    ) -> tuple[float, np.ndarray]:
        """Log-likelihood, and smoothed state probabilities of every step."""
        smoothed, _, log_likelihood = smooth_states(self._given(X, lengths))
        return float(log_likelihood.sum()), smoothed

    def predict_proba(self, X: Any, lengths: Sequence[int] | None = None) -> np.ndarray:
        """Smoothed probabilities P(state | whole sequence), (n_steps, n_states)."""
        return self.score_samples(X, lengths)[1]

    def filter_proba(self, X: Any, lengths: Sequence[int] | None = None) -> np.ndarray:
        """Filtered probabilities P(state | steps so far), (n_steps, n_states)."""
        return filter_states(self._given(X, lengths))[0]

    def decode(
        self, X: Any, lengths: Sequence[int] | None = None
    ) -> tuple[float, np.ndarray]:
        """Most probable path of every sequence (Viterbi).

        Returns
        -------
        log_joint : float
            Log probability of the paths and the data.
        states : ndarray of int of shape (n_steps,)
        """
        states, log_joint = most_probable_states(self._given(X, lengths))
        return float(log_joint.sum()), states

    def predict(self, X: Any, lengths: Sequence[int] | None = None) -> np.ndarray:
        """States of the most probable paths."""
        return self.decode(X, lengths)[1]

    def sample_states(
        self,
        X: Any,
        lengths: Sequence[int] | None = None,
        *,
        random_state: Any = None,
    ) -> np.ndarray:
        """Draw states jointly, given whole sequences."""
        given = self._given(X, lengths)
        return sample_states(as_generator(random_state), given)[0]

    # Prediction

    def predict_next(
        self, X: Any, lengths: Sequence[int] | None = None, *, average: bool = True
    ) -> np.ndarray:
        """Predictive distribution of the next step, given all up to each step.

        Parameters
        ----------
        X, lengths
            As in ``fit``.
        average : bool, default=True
            Whether to average over draws, if there are any (20 of them, evenly spaced);
            otherwise, and with False, the attributes are used: choose False if these
            were changed after ``fit``.

        Returns
        -------
        ndarray of shape (n_steps, n)
            Probabilities of ``symbols_`` (all add up to 1 with ``unseen_prob_``), or of
            1; means of numbers; for ``"mixed"`` the class probabilities of every
            categorical column, followed by the means.
        """
        observed = self._read(X, lengths)
        models = self._averaged(average)
        mean = np.zeros(())
        for found, emission in models:
            filtered, _ = filter_states(evidence_of(observed, found, emission))
            ahead = product(found.transmat, emission.expected(found.emission))
            mean = mean + product(filtered, ahead) / len(models)
        return mean[:, 1::2] if self.emission == "bernoulli" else mean

    def step_log_likelihood(
        self, X: Any, lengths: Sequence[int] | None = None, *, average: bool = True
    ) -> np.ndarray:
        """Predictive log probability of every step, given those before it.

        Parameters
        ----------
        X, lengths, average
            As in ``predict_next``; the probability is averaged, not its log.

        Returns
        -------
        ndarray of shape (n_steps,)
            0 for missing steps. Without averaging they add up to ``score``.
        """
        observed = self._read(X, lengths)
        begins = sequence_bounds(observed.lengths, observed.n_steps)[:-1]
        total, models = np.full(observed.n_steps, -np.inf), self._averaged(average)
        for found, emission in models:
            given = evidence_of(observed, found, emission)
            predicted = np.empty((observed.n_steps, len(found.startprob)))
            filtered, _ = filter_states(given)
            predicted[1:] = product(filtered[:-1], found.transmat)
            predicted[begins] = found.startprob
            with np.errstate(divide="ignore"):
                joint = np.log(predicted) + given.log_emission[observed.steps()]
            total = np.logaddexp(total, np.logaddexp.reduce(joint, axis=1))
        return total - np.log(len(models))

    def _averaged(self, average: bool) -> list[tuple[StateModel, Emission]]:
        """Models to average over."""
        found, emission = self._model()
        draws = getattr(self, "draws_", None)
        if not average or draws is None:
            return [(found, emission)]
        some = thinned_indices(len(draws.startprob))
        return [(StateModel(*(part[i] for part in draws)), emission) for i in some]

    def sample(
        self,
        n_samples: int = 1,
        *,
        random_state: Any = None,
        start_state: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw a random sequence from the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of steps.
        random_state : int, Generator, RandomState or None
        start_state : int, optional
            State of the first step; drawn by default.

        Returns
        -------
        X : ndarray of shape (n_samples,) or (n_samples, n_columns)
            Symbols, or rows.
        states : ndarray of int of shape (n_samples,)
        """
        if n_samples < 1:
            raise InputError(f"n_samples is {n_samples}, expected 1 or more.")
        found, emission = self._model()
        rng, k = as_generator(random_state), len(found.startprob)
        if start_state is not None:
            if not 0 <= start_state < k:
                raise InputError(f"start_state is {start_state}, not 0 to {k - 1}.")
            found = found._replace(startprob=np.eye(k)[start_state])
        states = walk(rng, found, n_samples)
        values = emission.sample(rng, found.emission, states)
        return KINDS[self.emission].cells(self, values), states

    def diagnose(self) -> dict[str, Diagnosis]:
        """Convergence diagnostics of the chains.

        Returns
        -------
        dict of str to Diagnosis
            R-hat, effective sample size and standard error of the log-likelihood and of
            the mean probability of staying in a state. Empty without chains.
        """
        check_is_fitted(self, ["startprob_", "transmat_"])
        chains = getattr(self, "chains_", None)
        return {} if chains is None else chains.diagnose()


def _smallest_near_best(scores: dict[int, np.ndarray]) -> int:
    """Smallest size that is within a standard error of the best one."""
    best = max(scores.values(), key=np.mean)

    def is_near(own: np.ndarray) -> bool:
        behind = best - own
        return bool(behind.mean() <= behind.std() / np.sqrt(len(behind)))

    return next(size for size, own in scores.items() if is_near(own))
