"""Expectation maximization (Baum-Welch), and its starting values."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric.logspace import overrelaxed
from clearwood._warned_once import users_level
from clearwood._words.labels import type_text
from clearwood.distributions import Emission
from clearwood.distributions.categorical import draw_rows, shares
from clearwood.exceptions import InputError, InterruptedFitWarning
from clearwood.sequences.sequence_model import (
    Observed,
    SequencePrior,
    StateModel,
    evidence_of,
)
from clearwood.sequences.states_over_time import (
    ExpectedCounts,
    expected_counts,
    working_space,
)

RUNG_STEPS, RUNG_ITERATIONS, FAST_ITERATIONS = 20_000, 40, 25
"""Steps read in the first round of starts, and iterations of every round: of EM, and of
overrelaxed EM where there are few distinct steps."""

LONGER, LONGEST = 1.2, 8.0
"""Growth factor of the step length after a success, and its maximum, in steps of EM."""

ALIKE = 8
"""One in this many starts is made for numbers, as clusters of these are similar."""


class Fitted(NamedTuple):
    """Fitted parameters of EM, with its log-likelihoods.

    Attributes
    ----------
    parameters : StateModel
    log_likelihood : float
        Of all sequences, at these parameters.
    history : list of float
        Log-likelihood plus log prior before every update, and at the end.
    converged : bool
    """

    parameters: StateModel
    log_likelihood: float
    history: list[float]
    converged: bool


def baum_welch(
    observed: Observed,
    prior: SequencePrior,
    parameters: StateModel,
    n_iter: int,
    tol: float = 0.0,
    *,
    keep: bool = False,
) -> Fitted:
    """Maximize the posterior density of the parameters by EM, from starting values.

    It stops after ``n_iter`` updates, or if one gains less than ``tol`` per step of the
    sequences. With ``keep`` the current parameters are kept after Ctrl-C, with a
    warning.
    """
    fitted = None
    try:
        for found in _raised(observed, prior, parameters, n_iter, tol):
            fitted = found
    except KeyboardInterrupt:
        if fitted is None or not keep:
            raise
        warnings.warn(
            f"Interrupted: the parameters are those after {len(fitted.history) - 1} of "
            f"{n_iter} iterations of EM.",
            InterruptedFitWarning,
            stacklevel=users_level(),
        )
    assert fitted is not None
    return fitted


def _raised(
    observed: Observed,
    prior: SequencePrior,
    parameters: StateModel,
    n_iter: int,
    tol: float,
) -> Iterator[Fitted]:
    """Results before the first update, and after each."""
    space = working_space(observed.n_steps, len(parameters.startprob))
    history: list[float] = []
    while True:
        expected = expected_counts(
            evidence_of(observed, parameters, prior.emission), space=space
        )
        log_likelihood = float(expected.log_likelihood.sum())
        history.append(log_likelihood + prior.log_density(parameters))
        converged = (
            len(history) > 1 and history[-1] - history[-2] <= tol * observed.n_steps
        )
        yield Fitted(parameters, log_likelihood, history, converged)
        if converged or len(history) > n_iter:
            return
        statistics = prior.emission.statistics(
            parameters.emission, observed.values, expected.rows
        )
        parameters = prior.mode(expected, statistics)


def raised_fast(
    observed: Observed, prior: SequencePrior, parameters: StateModel, n_iter: int
) -> Fitted:
    """Like :func:`baum_welch`, in fewer steps, by overrelaxation.

    Adaptive overrelaxed EM (Salakhutdinov and Roweis, 2003): log expected counts change
    by a multiple of the change in EM. It grows while the density rises; when that
    falls, EM continues from the best parameters so far.
    """
    assert observed.row is not None  # counts, not shares of every step
    space = working_space(observed.n_steps, len(parameters.startprob))
    history: list[float] = []
    counts: ExpectedCounts | None = None
    top, length = -np.inf, 1.0
    for _ in range(n_iter):
        expected = expected_counts(
            evidence_of(observed, parameters, prior.emission), space=space
        )
        log_likelihood = float(expected.log_likelihood.sum())
        density = log_likelihood + prior.log_density(parameters)
        if density >= top:
            top, best, likely, good = density, parameters, log_likelihood, expected
            counts = good if counts is None else _beyond(counts, good, length)
            length = min(LONGER * length, LONGEST)
        else:
            counts, length = good, 1.0
        history.append(top)
        statistics = prior.emission.statistics(
            best.emission, observed.values, counts.rows
        )
        parameters = prior.mode(counts, statistics)
    return Fitted(best, likely, history, False)


def _beyond(old: ExpectedCounts, new: ExpectedCounts, length: float) -> ExpectedCounts:
    """Extrapolate log counts from old ones; the total of each state is that of EM."""

    def moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
        far = shares(overrelaxed(after, before, length), 0.0)
        return far * after.sum(axis=-1, keepdims=True)

    start, pairs, rows, log_likelihood = new
    return ExpectedCounts(
        moved(old.start, start),
        moved(old.pairs, pairs),
        moved(old.rows.T, rows.T).T,
        log_likelihood,
    )


class GivenStart(NamedTuple):
    """Starting values that are the parameters of a model.

    Attributes
    ----------
    parameters : StateModel
    labels : tuple
        Symbols of the model, or the categories of its columns; None if it has none.
    """

    parameters: StateModel
    labels: tuple[Any, ...] | None

    @classmethod
    def of(cls, start: Any, model: Any) -> GivenStart:
        """Parameters of another model with the same emission, or of the same one."""
        found = getattr(start, "emission", type(start).__name__)
        if not isinstance(start, type(model)) or found != model.emission:
            raise InputError(
                f"start must be {type_text(model)} of emission "
                f"{model.emission!r}, found {found!r}."
            )
        try:
            parameters = start._model()[0]
        except AttributeError as error:  # sklearn's NotFittedError is one
            raise InputError(
                "start has no parameters, or only some; fit it, or set startprob_, "
                "transmat_ and the parameters of its emission (emissionprob_, or "
                "means_ and covars_)."
            ) from error
        k = len(parameters.startprob)
        if model.n_states not in (k, "auto"):
            raise InputError(
                f"start has {k} states, but n_states is {model.n_states}; pass "
                f'n_states={k}, or "auto", or another start.'
            )
        return cls(parameters, _labels_of(start))

    def checked(self, model: Any, emission: Emission) -> StateModel:
        """The parameters, if they are of the same symbols or columns as the data."""
        k = len(self.parameters.startprob)
        wanted = emission.mode(np.zeros((k, emission.n_statistics))).shape
        fits = self.parameters.emission.shape == wanted
        if not fits or self.labels not in (None, _labels_of(model)):
            raise InputError(
                "start is a model of other symbols, labels, columns or point masses "
                "than those of X, or of another covariance_type."
            )
        return self.parameters


def _labels_of(model: Any) -> tuple[Any, ...] | None:
    if hasattr(model, "features_"):
        masses = getattr(model, "point_masses_", {})
        return *model.features_.categories, tuple(masses.items())
    return tuple(model.symbols_) if hasattr(model, "symbols_") else None


def random_start(
    rng: np.random.Generator, observed: Observed, prior: SequencePrior, n_states: int
) -> StateModel:
    """Random parameters: every kind of step is shared among the states.

    Transition and start probabilities are uniform; missing kinds do not count.
    """
    kinds = np.bincount(observed.steps(), minlength=len(observed.values))
    share = rng.dirichlet(np.ones(n_states), len(kinds))
    nowhere = prior.emission.mode(np.zeros((n_states, prior.emission.n_statistics)))
    statistics = prior.emission.statistics(
        nowhere, observed.values, kinds[:, None] * share
    )
    return StateModel(
        rng.dirichlet(np.ones(n_states)),
        draw_rows(rng, np.ones((n_states, n_states))),
        prior.emission.mode(statistics),
    )


def clustered_start(
    rng: np.random.Generator, observed: Observed, prior: SequencePrior, n_states: int
) -> StateModel:
    """Parameters from k-means clusters of the steps."""
    from sklearn.cluster import KMeans

    values = observed.values[observed.steps()]
    points = prior.emission.points(values)
    n_clusters = min(n_states, len(np.unique(points, axis=0)))
    seed = int(rng.integers(2**31))
    clusters = KMeans(n_clusters, n_init=1, random_state=seed).fit(points)
    share = np.eye(n_states)[clusters.labels_]
    whole = Observed(values, None, observed.lengths)
    start = random_start(rng, whole, prior, n_states)
    statistics = prior.emission.statistics(start.emission, values, share)
    return start._replace(emission=prior.emission.mode(statistics))


def best_start(
    rng: np.random.Generator,
    observed: Observed,
    prior: SequencePrior,
    n_states: int,
    n_init: int,
) -> StateModel:
    """Best of several starts, by successive halving.

    All start with a few iterations on a part of the steps; the half with the larger
    likelihood continues, on twice as many.
    """
    make, raised, n_iter = random_start, raised_fast, FAST_ITERATIONS
    if observed.row is None:  # numbers
        make, n_init = clustered_start, -(-n_init // ALIKE)
        raised, n_iter = baum_welch, RUNG_ITERATIONS
    n_steps, part = RUNG_STEPS, observed.part(RUNG_STEPS, rng)
    starts = [make(rng, part, prior, n_states) for _ in range(n_init)]
    while len(starts) > 1:
        fits = [raised(part, prior, start, n_iter) for start in starts]
        fits.sort(key=lambda fit: -fit.log_likelihood)
        starts = [fit.parameters for fit in fits[: -(-len(fits) // 2)]]
        n_steps *= 2
        part = observed.part(n_steps, rng)
    return starts[0]
