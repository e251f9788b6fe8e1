"""FAB with dense matrices, for comparison: ``S`` is rows by statements, 0 or 1.

The update order is that of ``tests/simplifiers/fab/reference.py``. The formulas are
given in two forms: those of the authors' program (defragTrees), and the fastest ones
with dense matrices.
"""

from typing import NamedTuple

import numpy as np

CLIP, SMOOTHING, TRUNCATION = 1e-10, 1e-10, 1e-8


class Model(NamedTuple):
    """Parameters; ``eta`` is statements by K, ``gamma`` is K by classes."""

    eta: np.ndarray
    alpha: np.ndarray
    gamma: np.ndarray


def log_joint_of_program(S, y, model):
    """Per component two products, ``1 - S`` formed for each, as the program does."""
    log_joint = np.empty((len(S), len(model.alpha)))
    for k in range(len(model.alpha)):
        eta = model.eta[:, k]
        log_joint[:, k] = (
            S.dot(np.log(np.maximum(CLIP, eta)))
            + (1 - S).dot(np.log(np.maximum(CLIP, 1 - eta)))
            + y.dot(np.log(np.maximum(CLIP, model.gamma[k])))
            + np.log(model.alpha[k])
        )
    return log_joint


def log_joint_one_product(S, y, model):
    """All components in one product of matrices."""
    log_true = np.log(np.maximum(CLIP, model.eta))
    log_false = np.log(np.maximum(CLIP, 1 - model.eta))
    constant = log_false.sum(axis=0) + np.log(model.alpha)
    outputs = y @ np.log(np.maximum(CLIP, model.gamma)).T
    return S @ (log_true - log_false) + outputs + constant


def eta_of_program(S, beta):
    """Per component one product, as the program does."""
    return np.array([S.T.dot(b) / b.sum() for b in beta.T]).T


def eta_one_product(S, beta):
    """All components in one product of matrices."""
    return (beta.T @ S).T / beta.sum(axis=0)


class Formulas(NamedTuple):
    """``again``: log f is computed for the bound and once more for the E-step."""

    log_joint: object
    eta: object
    again: bool


FORMULAS = {
    "program": Formulas(log_joint_of_program, eta_of_program, True),
    "one product": Formulas(log_joint_one_product, eta_one_product, False),
}


def fit_dense(S, y, model, beta, omega, formulas, tol=1e-6, max_iter=1000):
    """Classification in the program's order; returns the bounds, one per iteration."""
    log_joint = formulas.log_joint(S, y, model)
    bound, bounds = objective(log_joint, beta, omega), []
    for iteration in range(max_iter):
        if formulas.again and iteration > 0:
            log_joint = formulas.log_joint(S, y, model)
        new = e_step(log_joint, beta, omega, 2 if iteration < 5 else 10, tol)
        new = new[:, new.mean(axis=0) > TRUNCATION]
        counts = new.sum(axis=0)
        gamma = (new.T @ y) / counts[:, None]
        model = Model(formulas.eta(S, new), counts / counts.sum(), gamma)
        log_joint = formulas.log_joint(S, y, model)
        bounds.append(objective(log_joint, new, omega))
        if bounds[-1] - bound < tol:
            break
        bound, beta = bounds[-1], new
    return bounds


def e_step(log_joint, beta, omega, most, tol):
    """Passes of eq. 13; one is kept only if it raises the bound."""
    bound = objective(log_joint, beta, omega)
    for _ in range(most):
        scores = log_joint - omega / (1 + beta.sum(axis=0))
        tried = np.exp(scores - scores.max(axis=1, keepdims=True))
        tried /= tried.sum(axis=1, keepdims=True)
        if tried.shape[1] > 1:
            tried += SMOOTHING
            tried /= tried.sum(axis=1, keepdims=True)
        new_bound = objective(log_joint, tried, omega)
        if new_bound > bound:
            beta = tried
        if new_bound - bound < tol:
            break
        bound = new_bound
    return beta


def objective(log_joint, beta, omega):
    """The lower bound under given responsibilities."""
    terms = (beta * log_joint).sum() - (beta * np.log(beta)).sum()
    return float(terms - omega * np.log(beta.sum(axis=0) + 1).sum())
