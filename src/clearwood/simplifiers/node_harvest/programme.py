"""Node Harvest: weights of nodes by one quadratic programme (Meinshausen 2010).

Each node predicts its mean of the target; a row gets the sum of these over its nodes,
each times the node's weight. Weights are at least 0, and over the nodes of every row
they sum to one::

    minimise   sum_i v_i |t_i - sum_g I_ig w_g m_g|^2    over w >= 0, I w = 1

:func:`make_programme` builds it and :func:`harvest` solves it. The objective is small
and dense in the nodes, while many rows lie in the same nodes: such rows are merged
(their mean gives the same objective), and linearly dependent equations are left out.
The cost of the programme then depends on the number of nodes, hardly on that of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csc_matrix

from clearwood._numeric import product, rounded
from clearwood.exceptions import InputError

SMALLEST = 1e-3
"""Nodes of smaller weight are dropped."""

MOST_NODES = 1000
"""Maximum number of nodes in a programme; the article draws as many. With nodes on two
features this is hardly ever reached; see benchmarks/baselines/ for the loss
incurred."""

FEASIBLE = 1e-5
"""Tolerance of the sum of the weights of a row, one."""


def harvest(programme: Programme, nodes: np.ndarray) -> Harvest:
    """Solve the programme for some nodes, and keep those of positive weight.

    Parameters
    ----------
    programme : Programme
    nodes : ndarray of int
        Candidates, the one that contains all rows among them.
    """
    weights = solve(programme, nodes)
    kept = weights > SMALLEST
    return Harvest(nodes[kept], weights[kept])


class Programme(NamedTuple):
    """Data of the quadratic programme; node 0 contains all rows.

    Attributes
    ----------
    held : ndarray of bool of shape (n_rows, n_nodes)
    share : ndarray of shape (n_rows,)
        Share of each row in the objective.
    target : ndarray of shape (n_rows, n_outputs)
        Less its mean, over its standard deviation (of all outputs together).
    predicted : ndarray of shape (n_nodes, n_outputs)
        Mean of the target over the rows of each node.
    """

    held: np.ndarray
    share: np.ndarray
    target: np.ndarray
    predicted: np.ndarray

    def fitted(self, nodes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Predictions of some nodes for every row."""
        return product(self.held[:, nodes], weights[:, None] * self.predicted[nodes])

    def loss(self, nodes: np.ndarray, weights: np.ndarray) -> float:
        """Mean squared error over the variance."""
        gap = self.target - self.fitted(nodes, weights)
        return float(product(self.share, (gap**2).sum(axis=1)))


class Harvest(NamedTuple):
    """Some nodes, ascending, and their weights."""

    nodes: np.ndarray
    weights: np.ndarray

    @property
    def n_lines(self) -> int:
        """Number of rules: one per node, and one for all rows, always printed."""
        return int((self.nodes != 0).sum()) + 1


def make_programme(
    held: np.ndarray, target: np.ndarray, weight: np.ndarray
) -> Programme:
    """Build the quadratic programme.

    Parameters
    ----------
    held : ndarray of bool of shape (n_rows, n_nodes)
        Without the node that contains all rows, which is prepended.
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
    weight : ndarray of shape (n_rows,)

    Returns
    -------
    Programme
    """
    target = target.reshape(len(target), -1)
    share = weight / weight.sum()
    target = target - product(share, target)
    unit = np.sqrt(product(share, (target**2).sum(axis=1)))
    if unit > 0:
        target = target / unit
    held = np.column_stack([np.ones(len(held), dtype=bool), held])
    predicted = product(held.T, share[:, None] * target) / product(share, held)[:, None]
    return Programme(held, share, target, predicted)


def most_telling(programme: Programme) -> np.ndarray:
    """All nodes; of too many, those whose rows lie farthest from the mean in total.

    Both sides of a split of all rows have equal distances.
    """
    far = np.abs(programme.predicted).sum(axis=1) * product(
        programme.share, programme.held
    )
    far[0] = np.inf
    return np.sort(np.argsort(-rounded(far), kind="stable")[:MOST_NODES])


def solve(
    programme: Programme, nodes: np.ndarray, penalty: np.ndarray | float = 0.0
) -> np.ndarray:
    """The weights of some nodes, the one that contains all rows among them.

    Parameters
    ----------
    programme : Programme
    nodes : ndarray of int
    penalty : float or ndarray
        Penalty per unit of weight.

    Returns
    -------
    ndarray of shape (n_nodes,)
    """
    return solver(programme, nodes)(penalty)


def solver(
    programme: Programme, nodes: np.ndarray
) -> Callable[[np.ndarray | float], np.ndarray]:
    """Function that solves for the weights of some nodes at a given penalty."""
    clarabel = _clarabel()
    held, share, target = _distinct_rows(programme, nodes)
    predicted = programme.predicted[nodes]
    # |t - sum_g I_g w_g m_g|^2, output by output.
    both = product(held.T * share, held)
    quadratic = _columns(np.triu(2 * both * product(predicted, predicted.T)))
    linear = -2 * (predicted * product(held.T, share[:, None] * target)).sum(axis=1)
    equations = held[_independent(held)]
    n, m = len(nodes), len(equations)
    limits = _columns(np.vstack([equations, -np.eye(n)]))
    at_most = np.concatenate([np.ones(m), np.zeros(n)])
    cones = [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10

    def weights_at(penalty: np.ndarray | float) -> np.ndarray:
        found = clarabel.DefaultSolver(
            quadratic, linear + penalty, limits, at_most, cones, settings
        ).solve()
        weights = np.array(found.x)
        if not np.abs(product(held, weights) - 1.0).max() <= FEASIBLE:
            raise InputError(
                f"The quadratic programme of {n} nodes was not solved (clarabel: "
                f"{found.status}); use fewer nodes by a larger min_samples_leaf."
            )
        return np.maximum(weights, 0.0)

    return weights_at


def _columns(dense: np.ndarray) -> csc_matrix:
    """A matrix by columns, without the checks of SciPy."""
    column, row = np.nonzero(dense.T)
    starts = np.searchsorted(column, np.arange(dense.shape[1] + 1))
    return csc_matrix((dense[row, column], row, starts), shape=dense.shape)


def _distinct_rows(
    programme: Programme, nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows in the same nodes merged: their nodes, share and mean target."""
    held = programme.held[:, nodes]
    bits = np.ascontiguousarray(np.packbits(held, axis=1))
    keys = bits.view(f"V{bits.shape[1]}").reshape(-1)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    share = np.bincount(group, weights=programme.share)
    target = np.array(
        [np.bincount(group, weights=programme.share * t) for t in programme.target.T]
    )
    return held[first].astype(np.float64), share, (target / share).T


def _independent(held: np.ndarray) -> np.ndarray:
    """Maximal set of linearly independent rows.

    Some rows span nearly all; only their residuals are examined with them.
    """
    n_some = 2 * held.shape[1]
    chosen = np.zeros(0, dtype=np.intp)
    generator = np.random.default_rng(0)
    waiting = generator.permutation(len(held))
    while len(waiting):
        some = np.concatenate([chosen, waiting[:n_some]])
        basis, triangle, order = qr(held[some].T, mode="economic", pivoting=True)
        size = np.abs(np.diag(triangle))
        rank = int((size > 1e-9 * size[0]).sum())
        chosen, basis = some[order[:rank]], basis[:, :rank]
        # Random directions orthogonal to the basis show the residuals.
        other = generator.normal(size=(held.shape[1], 4))
        other -= product(basis, product(basis.T, other))
        waiting = waiting[n_some:]
        waiting = waiting[np.abs(product(held[waiting], other)).max(axis=1) > 1e-7]
    return np.sort(chosen)


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError:
        raise InputError(
            "Node Harvest needs clarabel, which is not installed; install the extra "
            "that has it: pip install clearwood[harvest]."
        ) from None
    return clarabel
