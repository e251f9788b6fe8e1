"""Smallest automaton of nearly the same fidelity: equivalent states are merged.

States are equivalent if their predictions are similar, and remain so after any word.
The similarity is the widest at which the automaton, alone, loses at most a tolerance;
classes that noise in the transitions keeps apart are merged within the same tolerance.
"""

from __future__ import annotations

import numpy as np
from scipy.special import rel_entr

from clearwood.sequences.recurrent.automaton import StateAutomaton, distil
from clearwood.sequences.recurrent.fidelity import alone_divergence
from clearwood.sequences.recurrent.trace import NetworkTrace

WIDTHS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001, 0.0)
"""Jensen-Shannon divergences, in nats, below which predictions may count as similar."""


def merge_states(
    trace: NetworkTrace,
    automaton: StateAutomaton,
    output: np.ndarray,
    visits: np.ndarray,
    tolerance: float,
) -> np.ndarray:
    """Class of each state of an automaton, the most frequent class being 0.

    Parameters
    ----------
    trace : NetworkTrace
        Training steps.
    automaton : StateAutomaton
    output : ndarray of shape (n_states, n_symbols)
        Prediction of each state, as read from the network; most frequent states first.
    visits : ndarray of int of shape (n_states,)
        Number of training steps of each state.
    tolerance : float
        Largest loss of fidelity, in nats.
    """

    def loss(classes: np.ndarray) -> float:
        return alone_divergence(trace, distil(quotient(automaton, classes), trace))

    tried = [
        ranked(equivalent(automaton.transition, similar(output, width)), visits)
        for width in WIDTHS
    ]
    losses = [loss(classes) for classes in tried]
    allowed = min(losses) + tolerance
    classes = next(own for own, lost in zip(tried, losses) if lost <= allowed)
    for rare in range(int(classes.max()), 0, -1):
        target = _closest(automaton, output, visits, classes, rare)
        joint = ranked(np.where(classes == rare, target, classes), visits)
        if loss(joint) <= allowed:
            classes = joint
    return classes


def ranked(classes: np.ndarray, visits: np.ndarray) -> np.ndarray:
    """Classes, numbered by their frequency; those never visited come last."""
    own = np.unique(classes, return_inverse=True)[1]
    rank = np.empty(own.max() + 1, dtype=np.int64)
    rank[np.argsort(-np.bincount(own, visits), kind="stable")] = np.arange(len(rank))
    return rank[own]


def _closest(
    automaton: StateAutomaton,
    output: np.ndarray,
    visits: np.ndarray,
    classes: np.ndarray,
    rare: int,
) -> int:
    """Class with the most similar predictions and transitions."""
    whole = quotient(automaton, classes)
    total = np.zeros((whole.n_states, output.shape[1]))
    np.add.at(total, classes, output * np.maximum(visits, 1e-9)[:, None])
    mean = total / total.sum(axis=1, keepdims=True)
    differs = whole.transition != whole.transition[rare]
    contradicted = differs @ whole.counts[rare] / max(whole.counts[rare].sum(), 1)
    far = _divergences(mean, mean[rare]) + contradicted
    far[rare] = np.inf
    return int(far.argmin())


def similar(output: np.ndarray, width: float) -> np.ndarray:
    """Class of each prediction: that of the nearest earlier one within this width.

    Examples
    --------
    >>> similar(np.array([[0.9, 0.1], [0.1, 0.9], [0.8, 0.2]]), 0.1)
    array([0, 1, 0])
    """
    leaders: list[int] = []
    classes = np.empty(len(output), dtype=np.int64)
    for state, own in enumerate(output):
        apart = _divergences(output[leaders], own)
        if not leaders or apart.min() > width:
            apart = np.append(apart, -1.0)
            leaders.append(state)
        classes[state] = apart.argmin()
    return classes


def _divergences(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Jensen-Shannon divergences of rows from one distribution."""
    middle = (p + q) / 2
    both = rel_entr(p, middle) + rel_entr(q, middle)
    found: np.ndarray = both.sum(axis=1) / 2
    return found


def equivalent(transition: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Coarsest refinement of the classes with which all transitions are consistent.

    Moore's partition refinement: states are split until those of a class have
    transitions to the same classes.

    Examples
    --------
    >>> equivalent(np.array([[1, 2], [0, 2], [2, 2]]), np.array([0, 0, 1]))
    array([0, 0, 1])
    """
    while True:
        seen = np.column_stack([classes, classes[transition]])
        finer = np.unique(seen, axis=0, return_inverse=True)[1]
        if finer.max() == classes.max():
            return finer
        classes = finer


def quotient(automaton: StateAutomaton, classes: np.ndarray) -> StateAutomaton:
    """Automaton of classes, without output, with their most frequent transitions."""
    columns = np.arange(automaton.counts.shape[1])
    table = np.empty((int(classes.max()) + 1, len(columns)), dtype=np.int64)
    # The most frequent pair of each class is written last.
    order = np.argsort(automaton.counts, axis=0, kind="stable")
    table[classes[order], columns] = classes[automaton.transition[order, columns]]
    counts = np.zeros_like(table)
    np.add.at(counts, classes, automaton.counts)
    return StateAutomaton(classes[automaton.first], table, counts, np.empty(0))
