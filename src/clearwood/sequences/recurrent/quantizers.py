"""Quantization of a network's state vectors into few states."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from clearwood.sequences.recurrent.trace import NetworkTrace, lengths_of_first

Quantizer = Callable[[NetworkTrace, np.ndarray, int, np.random.Generator], np.ndarray]
"""From a trace, its vectors in comparable coordinates and a number of states to the
state of every step."""

MOST_STEPS = 100_000
"""Maximum number of training steps for centres, evenly spaced; all get a state."""

OWN_SHARE = 0.1
"""Weight of the vectors themselves relative to their predictions in distances: states
should also differ in what the network remembers for later."""

MOST_FITTED, MOST_SWEEPS = 20_000, 10
"""Number of first training steps to which a Gaussian hidden Markov model is fitted, and
EM iterations from the clusters of k-means."""

AHEAD = 2
"""Number of later steps whose predictions determine distances, too."""

LEAST_LOG = -30.0
"""Lower bound of log probabilities."""


def nearest_centre(
    trace: NetworkTrace, places: np.ndarray, n_states: int, rng: np.random.Generator
) -> np.ndarray:
    """Nearest of the centres that k-means finds on training steps."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import pairwise_distances_argmin

    training = _some_training_steps(trace)
    centres = KMeans(
        min(n_states, len(training)), n_init=1, max_iter=100,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    with warnings.catch_warnings():
        # There may be fewer distinct vectors than states.
        warnings.simplefilter("ignore", ConvergenceWarning)
        centres.fit(places[training])
    states: np.ndarray = centres.predict(places).astype(np.int64)
    # Of centres in one place rounding decides, and nothing is known of one that
    # training never had.
    used = np.unique(states[~trace.is_held_out])
    lost = ~np.isin(states, used)
    if lost.any():
        near = centres.cluster_centers_[used]
        states[lost] = used[pairwise_distances_argmin(places[lost], near)]
    return states


def hidden_markov(
    trace: NetworkTrace, places: np.ndarray, n_states: int, rng: np.random.Generator
) -> np.ndarray:
    """Most probable state of a Gaussian hidden Markov model, up to each step.

    It is fitted by EM, which starts from the clusters of k-means.
    """
    from clearwood.sequences.estimators import HiddenMarkovModel

    places = places.astype(np.float64)
    lengths = [len(codes) for codes in trace.sequences]
    n_fitted = min(int((~trace.is_held_out).sum()), MOST_FITTED)
    model = HiddenMarkovModel(
        n_states, emission="gaussian", algorithm="em", n_init=1,
        n_iter=MOST_SWEEPS, random_state=rng,
    )  # fmt: skip
    model.fit(places[:n_fitted], lengths_of_first(np.array(lengths), n_fitted))
    return model.filter_proba(places, lengths).argmax(axis=1)


def comparable(trace: NetworkTrace) -> np.ndarray:
    """Network's state vectors in coordinates with meaningful distances.

    Units of a network differ in their effect on predictions, and cells in their range.
    So vectors are first mapped such that those of similar predictions, at this and the
    next steps, are near, as far as these are linear in them (as for hidden states below
    a linear layer), concatenated with the standardized units, with less weight.

    Returns
    -------
    ndarray of float32
    """
    some = _some_training_steps(trace)
    vectors = trace.states[some].astype(np.float64)
    centre, spread = vectors.mean(axis=0), vectors.std(axis=0)
    n_varying = max(int((spread > 0).sum()), 1)
    # Constant units do not count.
    spread[spread == 0] = np.inf
    units = (vectors - centre) / spread
    # Squared distances are those of all together, in as many coordinates as units.
    form = np.eye(len(centre)) * OWN_SHARE / n_varying
    for ahead in range(AHEAD + 1):
        later = np.minimum(some + ahead, some[-1])
        same = (later == some + ahead) & (trace.age[later] >= ahead)  # one sequence
        if not same.any():
            break
        predicted = np.maximum(trace.log_proba[later[same]].astype(float), LEAST_LOG)
        predicted -= predicted.mean(axis=1, keepdims=True)
        predicted -= predicted.mean(axis=0)
        effect = np.linalg.lstsq(units[same], predicted, rcond=None)[0]
        if ahead == 0:
            moved = float(np.square(units @ effect).sum(axis=1).mean()) or 1.0
        form += effect @ effect.T / moved
    values, axes = np.linalg.eigh(form)
    turn = axes * np.sqrt(np.maximum(values, 0.0)) / spread[:, None]
    return ((trace.states - centre) @ turn).astype(np.float32)


def _some_training_steps(trace: NetworkTrace) -> np.ndarray:
    steps = np.flatnonzero(~trace.is_held_out)
    return steps[:: max(len(steps) // MOST_STEPS, 1)]


QUANTIZERS: dict[str, Quantizer] = {"kmeans": nearest_centre, "hmm": hidden_markov}
