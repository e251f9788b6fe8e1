"""EM for all parameters of a circuit with fixed structure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import numpy as np

from clearwood._warned_once import users_level
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import Compiled, compile_circuit
from clearwood.exceptions import InterruptedFitWarning

Expected = tuple[float, np.ndarray, list[np.ndarray]]
"""Log-likelihood, edge counts, and sufficient statistics of leaves."""

MUCH = 10.0
"""Multiple of the tolerance; EM that gains less per sweep is close to convergence."""

LONGER, LONGEST = 1.5, 8.0
"""Growth factor of the step per sweep, and its maximum, in steps of EM."""


def refine(
    circuit: Circuit,
    values: np.ndarray,
    *,
    valid: np.ndarray | None = None,
    alpha: float = 0.0,
    spread: np.ndarray | None = None,
    sweeps: int = 50,
    tolerance: float = 1e-6,
    much: float = MUCH,
) -> Circuit:
    """Fit all parameters to rows by EM, from their current values.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_rows, n_columns)
        Encoded rows; missing entries are marginalized.
    valid : ndarray of shape (n_valid, n_columns), optional
        Encoded validation rows for early stopping: as soon as their likelihood falls.
        By default the training rows are used.
    alpha : float, default=0.0
        Pseudo-count of every edge of a sum and of every level. Normal leaves get as
        many pseudo-rows with the variance of their column: otherwise a leaf of few rows
        would be as narrow as these happen to be.
    spread : ndarray of shape (n_columns,), optional
        Variances of the columns, by default in these rows. Those of leaves are at least
        a millionth of these.
    sweeps : int, default=50
        Maximum number of sweeps.
    tolerance : float, default=1e-6
        Stop when the mean log-likelihood rises by no more than this.
    much : float, default=10
        Multiple of the tolerance: sweeps that gain less are followed by longer ones.

    Returns
    -------
    Circuit
        The best so far, also after Ctrl-C, with a warning.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.circuits.nodes import Sum
    >>> from clearwood.distributions import Gaussian
    >>> root = Sum(np.full(2, 0.5), (Gaussian(0, 1.0, 1.0), Gaussian(0, 8.0, 1.0)))
    >>> circuit = Circuit(root, FeatureSpace(("x",), (None,)))
    >>> found = refine(circuit, np.array([[0.0], [2.0], [1.0], [9.0], [11.0]]))
    >>> found.root.weights.round(2).tolist(), round(found.root.children[1].mean, 2)
    ([0.6, 0.4], 10.0)
    """
    spread = variances(values) if spread is None else spread
    start = compile_circuit(circuit)
    expects = partial(_expected, values)
    if valid is not None and len(valid):
        steps = long_sweeps(start, expects, valid, alpha, spread, tolerance, much)
    else:
        plain = em_sweeps(start, expects, alpha, spread)
        steps = ((found, float(log / len(values))) for found, log in plain)
    return climb(start, steps, sweeps, tolerance)


def _expected(values: np.ndarray, compiled: Compiled) -> Expected:
    return compiled.expected(values, np.ones(len(values)))


def climb(
    start: Compiled,
    steps: Iterator[tuple[Compiled, float]],
    sweeps: int = 50,
    tolerance: float = 1e-6,
    keeps_last: bool = False,
) -> Circuit:
    """Take steps as long as their score rises.

    Parameters
    ----------
    start : Compiled
    steps : iterator of (Compiled, float)
        Parameters and their scores, those of ``start`` first.
    sweeps, tolerance
        As in :func:`refine`.
    keeps_last : bool
        Whether the last sweep, which gains less than the tolerance, is kept.
    """
    best, best_score = start, -np.inf
    try:
        for compiled, found in islice(steps, sweeps + 1):
            # With an impossible row, the log-likelihood is no measure of the others.
            if best_score > -np.inf and not found > best_score + tolerance:
                best = compiled if keeps_last and found > best_score else best
                break
            best, best_score = compiled, found
    except KeyboardInterrupt:
        if best is start:
            raise
        warnings.warn(
            "Interrupted; the parameters of greatest likelihood so far are kept.",
            InterruptedFitWarning,
            stacklevel=users_level(),
        )
    return best.as_circuit()


def em_sweeps(
    compiled: Compiled,
    expects: Callable[[Compiled], Expected],
    alpha: float,
    spread: np.ndarray,
) -> Iterator[tuple[Compiled, float]]:
    """Parameters and the log-likelihood of the rows, before and after every sweep.

    Without smoothing it never falls; with it, what never falls is the log-likelihood
    ``alpha`` times the sum of the logs of all weights and probabilities of levels, and
    the log density of ``alpha`` rows as wide as ``spread`` about the mean of every
    continuous leaf.
    """
    while True:
        likelihood, edges, leaves = expects(compiled)
        yield compiled, likelihood
        compiled = compiled.estimated(edges, leaves, alpha, spread)


def long_sweeps(
    compiled: Compiled,
    expects: Callable[[Compiled], Expected],
    valid: np.ndarray,
    alpha: float,
    spread: np.ndarray,
    tolerance: float,
    much: float = MUCH,
) -> Iterator[tuple[Compiled, float]]:
    """Parameters and the mean validation log-likelihood, sweep by sweep.

    Close to convergence EM moves slowly in one direction. There each sweep is longer
    than the last one, counted in steps of EM, as long as the validation log-likelihood
    rises by more than ``tolerance``; otherwise it is the step of EM.

    References
    ----------
    Salakhutdinov and Roweis, "Adaptive overrelaxed bound optimization methods", ICML
    2003.
    """

    def score(compiled: Compiled) -> float:
        return float(compiled.log_likelihood(valid).mean())

    found, length = score(compiled), 1.0
    while True:
        yield compiled, found
        _, edges, leaves = expects(compiled)
        plain = compiled.estimated(edges, leaves, alpha, spread)
        far = plain.beyond(compiled, length, spread) if length > 1.0 else plain
        least, close = found + tolerance, found + much * tolerance
        compiled, found = far, score(far)
        if length > 1.0 and not found > least:
            compiled, found, length = plain, score(plain), 1.0
        elif found < close:
            length = min(LONGER * length, LONGEST)


def variances(values: np.ndarray) -> np.ndarray:
    """Variance per column; 1 where there is one value."""
    variance = np.ma.masked_invalid(values).var(axis=0).filled(0.0)
    return np.where(variance > 0.0, variance, 1.0)
