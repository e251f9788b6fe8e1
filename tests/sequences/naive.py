"""Slow and plain: sums over all sequences of states."""

import itertools

import numpy as np


def all_paths(startprob, transmat, log_emission):
    """Every sequence of states and its joint log probability with what is seen."""
    n, k = log_emission.shape
    paths = np.array(list(itertools.product(range(k), repeat=n)))
    with np.errstate(divide="ignore"):
        log_start, log_transmat = np.log(startprob), np.log(transmat)
    joint = log_start[paths[:, 0]] + log_emission[0, paths[:, 0]]
    for t in range(1, n):
        joint = joint + log_transmat[paths[:, t - 1], paths[:, t]]
        joint = joint + log_emission[t, paths[:, t]]
    return paths, joint


def log_sum(values):
    top = values.max(axis=-1)
    return top + np.log(np.exp(values - top[..., None]).sum(axis=-1))


def log_likelihood(startprob, transmat, log_emission):
    return float(log_sum(all_paths(startprob, transmat, log_emission)[1]))


def smoothed_and_pairs(startprob, transmat, log_emission):
    """P(state | all), and expected numbers of pairs in a row."""
    k = len(startprob)
    paths, joint = all_paths(startprob, transmat, log_emission)
    p = np.exp(joint - log_sum(joint))
    smoothed = np.array([np.bincount(s, p, minlength=k) for s in paths.T])
    pairs = np.zeros((k, k))
    for before, after in itertools.pairwise(paths.T):
        np.add.at(pairs, (before, after), p)
    return smoothed, pairs


def filtered(startprob, transmat, log_emission):
    """P(state | all up to its step): the end of every shorter sequence."""
    return np.array([
        smoothed_and_pairs(startprob, transmat, log_emission[: t + 1])[0][-1]
        for t in range(len(log_emission))
    ])  # fmt: skip
