"""From fitted components to boxes of bins, and the soft prediction."""

from __future__ import annotations

import numpy as np

from clearwood.rules import FeatureBins
from clearwood.simplifiers.fab.inference import Fit, Problem, _kernels, statement_table
from clearwood.simplifiers.fab.outputs import GaussianOutput


def component_boxes(
    bins: FeatureBins,
    true_probability: np.ndarray,
    false_probability: np.ndarray,
    kappa: float = 1e-6,
) -> np.ndarray:
    """Bins that the 0-1 pattern of eta allows (section 4.2).

    A statement with ``eta > 1 - kappa`` must be true in the region, one with
    ``eta < kappa`` false; the others do not matter.

    Parameters
    ----------
    bins : FeatureBins
        Their statements are the rows of the probabilities.
    true_probability, false_probability : ndarray of shape (n_statements, K)
        eta and 1 - eta.
    kappa : float
        What counts as certain.

    Returns
    -------
    ndarray of bool of shape (K, total number of bins)
    """
    must_be_true = (false_probability < kappa).astype(np.float64)
    must_be_false = (true_probability < kappa).astype(np.float64)
    # Per bin, the number of statements that rule it out.
    contradictions = bins.sum_over_statements(must_be_false, must_be_true)
    return np.ascontiguousarray(contradictions.T == 0)


def component_of(problem: Problem, fit: Fit, codes: np.ndarray) -> np.ndarray:
    """The component with the largest posterior given the statements (eq. 10).

    Parameters
    ----------
    problem, fit : Problem, Fit
        What was fitted.
    codes : ndarray of shape (n_samples, n_features)
        Bins of all features.

    Returns
    -------
    ndarray of int of shape (n_samples,)
    """
    used = problem.bins.used_features
    scores = np.tile(np.log(fit.parameters.share), (len(codes), 1))
    _kernels.add_looked_up(
        scores,
        np.ascontiguousarray(codes[:, used]),
        problem.bin_start,
        statement_table(problem, fit.parameters),
    )
    return scores.argmax(axis=1)


def soft_values(problem: Problem, fit: Fit, component: np.ndarray) -> np.ndarray:
    """What each row's component says (eq. 11): a value, or class probabilities."""
    output = fit.parameters.output
    if isinstance(problem.output, GaussianOutput):
        return problem.output.unscaled(output.mean)[component]
    return output.probability[component]
