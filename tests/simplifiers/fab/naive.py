"""The dense formulas of Hara & Hayashi 2018, statement by statement."""

import numpy as np

SMALLEST = 1e-10


def log_joint(truth, eta, not_eta, share, log_output, weight=1.0):
    """log f_k(n) = log p(y|k) + log p(s|k) + log p(k), rows by components."""
    log_true = np.log(np.maximum(eta, SMALLEST))
    log_false = np.log(np.maximum(not_eta, SMALLEST))
    statements = truth @ log_true + (1 - truth) @ log_false
    return log_output + weight * statements + np.log(share)


def gaussian(y, mean, precision):
    return (
        0.5 * np.log(precision / (2 * np.pi))
        - 0.5 * precision * (y[:, None] - mean) ** 2
    )


def e_step_pass(joint, counts, omega):
    """Eq. 13, once."""
    scores = joint - omega / (counts + 1)
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def bound(joint, beta, omega):
    """Eq. 12."""
    entropy = -(beta * np.log(np.maximum(beta, 1e-300))).sum()
    return (beta * joint).sum() - omega * np.log(beta.sum(axis=0) + 1).sum() + entropy


def mixture_mean(truth, parameters, values):
    """Sum over components of p(k|s) times their values, by Bayes' rule from eq. 9."""
    eta, not_eta, share, _ = parameters
    joint = log_joint(truth, eta, not_eta, share, 0.0)
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    return joint / joint.sum(axis=1, keepdims=True) @ values
