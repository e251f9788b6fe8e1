"""The exact posterior for few features: a sum over all sets of signal features.

Given the set, the sum over all forests is a determinant (matrix-tree theorem).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clearwood._kernels.sbfc import edges_of_sets, log_sums_of_sets
from clearwood._numeric import product
from clearwood.exceptions import InputError
from clearwood.sbfc.scores import NOISE, SIGNAL, Penalty, Scores

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_FEATURES = 16
"""Largest number of features: beyond, there are too many sets."""

LEAST = 1e-20
"""Sets less probable than this, relative to the best one, are left out."""


class ExactPosterior(NamedTuple):
    """Posterior over graphs, from a sum over all of them.

    Attributes
    ----------
    log_evidence : float
        Log evidence, without that of the classes and the prior's constant.
    signal_probability : ndarray of shape (d,)
    edge_probability : csr_array of shape (d, d)
        Posterior probability of an edge in either group; symmetric.
    sets : ndarray of bool of shape (n_sets, d)
        Signal features of each set, the most probable set first.
    set_probability : ndarray of shape (n_sets,)
    """

    log_evidence: float
    signal_probability: np.ndarray
    edge_probability: csr_array
    sets: np.ndarray
    set_probability: np.ndarray


def exact_posterior(scores: Scores, penalty: Penalty) -> ExactPosterior:
    """Compute the posterior by summing over all graphs, of at most 16 features.

    Examples
    --------
    >>> from clearwood.sbfc.scores import CodedTable, score
    >>> codes = np.array([[0, 0, 1, 1] * 9, [0, 1] * 18], dtype=np.uint8).T
    >>> levels, y = np.array([2, 2]), codes[:, 0].astype(int)
    >>> table = CodedTable(codes, levels, y, 2, None, n_columns=2)
    >>> penalty = Penalty.of("paper", 4.0, 1.0, n_columns=2, n_classes=2)
    >>> exact_posterior(score(table), penalty).signal_probability.round(3)
    array([1.  , 0.21])
    """
    from scipy.sparse import csr_array

    d = scores.table.n_features
    if d > MOST_FEATURES:
        raise InputError(
            f"There are {d} features; all graphs can be enumerated for at most "
            f"{MOST_FEATURES}. Use the sampler 'collapsed'."
        )
    log_weight = [scores.gains(g) - penalty.edge[g] for g in (NOISE, SIGNAL)]
    alone = scores.alone - np.array(penalty.node)[:, None]
    everything = 2**d - 1
    numbers = np.arange(everything + 1)
    inside = (numbers[:, None] >> np.arange(d) & 1).astype(bool)
    log_joint = np.where(inside, alone[SIGNAL], alone[NOISE]).sum(axis=1)
    # The complement of a set has the inverted bits: the list in reverse.
    log_joint += log_sums_of_sets(log_weight[NOISE])[::-1]
    log_joint += log_sums_of_sets(log_weight[SIGNAL])

    order = np.argsort(-log_joint, kind="stable")
    share = np.exp(log_joint[order] - log_joint[order[0]])
    n_sets = int((share > LEAST).sum())
    order, probability = order[:n_sets], share[:n_sets] / share[:n_sets].sum()
    edges = edges_of_sets(log_weight[NOISE], everything - order, probability)
    edges += edges_of_sets(log_weight[SIGNAL], order, probability)
    return ExactPosterior(
        log_evidence=float(log_joint[order[0]] + np.log(share.sum())),
        signal_probability=product(probability, inside[order]),
        edge_probability=csr_array(edges + edges.T),
        sets=inside[order],
        set_probability=probability,
    )
