"""The forward recursion of hidden Markov models, and its gradient."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel

IMPOSSIBLE = -1e5
"""A log-likelihood below this is that of something impossible."""

LEAST = 1e-300
"""So is a step of less than this probability, beside its likeliest state."""


@kernel
def filter_streams(
    predicted: np.ndarray, transition: np.ndarray, log_emission: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of states given all observations so far.

    Emissions come as logs and are scaled by their largest, so that none underflows. A
    step that no state explains counts as missing, with a log-likelihood of -inf.

    Parameters
    ----------
    predicted : ndarray of shape (n_streams, n_states)
        Probabilities of the states of the first step, before it is seen.
    transition : ndarray of shape (n_states, n_states)
        Rows are from, columns to.
    log_emission : ndarray of shape (n_streams, n_steps, n_states)
        Log-likelihood of every observation in every state; zeros where it is missing.

    Returns
    -------
    filtered : ndarray of shape (n_streams, n_steps, n_states)
    weight : ndarray of shape (n_streams, n_steps, n_states)
        What seeing the step multiplies the predicted probabilities by.
    log_likelihood : ndarray of shape (n_streams, n_steps)
        Of every observation given those before it.
    """
    n_streams, n_steps, n_states = log_emission.shape
    filtered = np.empty(log_emission.shape)
    weight = np.empty(log_emission.shape)
    log_likelihood = np.empty((n_streams, n_steps))
    ahead = np.empty(n_states)
    for b in range(n_streams):
        ahead[:] = predicted[b]
        for t in range(n_steps):
            largest = log_emission[b, t].max()
            total = 0.0
            for k in range(n_states):
                possible = log_emission[b, t, k] > IMPOSSIBLE
                shifted = np.exp(log_emission[b, t, k] - largest)
                weight[b, t, k] = shifted if possible else 0.0
                total += ahead[k] * weight[b, t, k]
            log_likelihood[b, t] = np.log(total) + largest
            if not total > LEAST:
                log_likelihood[b, t] = -np.inf
                weight[b, t] = 1.0
                total = ahead.sum()
            for k in range(n_states):
                weight[b, t, k] /= total
                filtered[b, t, k] = ahead[k] * weight[b, t, k]
            for j in range(n_states):
                ahead[j] = 0.0
            for i in range(n_states):
                for j in range(n_states):
                    ahead[j] += filtered[b, t, i] * transition[i, j]
    return filtered, weight, log_likelihood


@kernel
def filter_streams_backward(
    predicted: np.ndarray,
    transition: np.ndarray,
    filtered: np.ndarray,
    weight: np.ndarray,
    slope: np.ndarray,
    slope_of_likelihood: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a change of its inputs does to a function of what the filter gives.

    For the log-likelihood this is smoothing: the slope in the log of an emission is the
    probability of the state given the whole sequence.

    Parameters
    ----------
    predicted, transition, filtered, weight : ndarray
        As taken and given by :func:`filter_streams`.
    slope : ndarray of shape (n_streams, n_steps, n_states)
        Gradient of the function in the filtered probabilities.
    slope_of_likelihood : ndarray of shape (n_streams, n_steps)
        Gradient of the function in the log-likelihoods.

    Returns
    -------
    of_predicted, of_transition, of_log_emission : ndarray
        Gradients of the function in what the filter takes.
    """
    n_streams, n_steps, n_states = filtered.shape
    of_predicted = np.empty(predicted.shape)
    of_transition = np.zeros(transition.shape)
    of_log_emission = np.empty(filtered.shape)
    later = np.empty(n_states)  # gradient in the filtered states, by later steps
    ahead = np.empty(n_states)  # gradient in the predicted states
    for b in range(n_streams):
        later[:] = 0.0
        for t in range(n_steps - 1, -1, -1):
            mean = 0.0
            for k in range(n_states):
                later[k] += slope[b, t, k]
                mean += filtered[b, t, k] * later[k]
            for k in range(n_states):
                # Probabilities sum to one: only what is above the mean counts.
                excess = later[k] - mean + slope_of_likelihood[b, t]
                of_log_emission[b, t, k] = filtered[b, t, k] * excess
                ahead[k] = weight[b, t, k] * excess
            if t == 0:
                of_predicted[b] = ahead
                break
            for i in range(n_states):
                later[i] = 0.0
                for j in range(n_states):
                    later[i] += transition[i, j] * ahead[j]
                    of_transition[i, j] += filtered[b, t - 1, i] * ahead[j]
    return of_predicted, of_transition, of_log_emission
