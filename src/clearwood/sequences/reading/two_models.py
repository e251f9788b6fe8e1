"""Agreement of the states of two models, and both as coloured text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from clearwood._words.numbers import share_text
from clearwood.exceptions import InputError
from clearwood.sequences.reading.coloured_text import coloured_text

ACROSS = 88
"""Characters per line, where lines are in pairs."""

MOST_INFORMED = 100_000
"""Maximum number of steps, evenly spaced, for the mutual information: it is slow."""

ON_ONE_LINE = str.maketrans({"\n": "↵", "\r": "␍", "\t": "⇥"})


class StateAgreement(NamedTuple):
    """Agreement of the states of two models up to relabelling.

    Attributes
    ----------
    matched : float
        Share of the steps at which both are in matching states, for the one-to-one
        matching that maximizes it.
    information : float
        Adjusted mutual information: 1 if each determines the other, about 0 for
        independent states, however many there are.
    partner : ndarray of int
        For each state of the second model, its match in the first; -1 without one.
    meets : ndarray of int
        For each, the state of the first with the most common steps.
    """

    matched: float
    information: float
    partner: np.ndarray
    meets: np.ndarray

    def __str__(self) -> str:
        return (
            f"{share_text(self.matched)} of the steps in states that match, adjusted "
            f"mutual information {self.information:.2f}"
        )

    def hues(self, first: np.ndarray) -> np.ndarray:
        """Hues of the second model's states, in degrees: those of their partners.

        One without a partner is half way from the state it meets to the next.
        """
        beside = first[self.meets] + 180.0 / len(first)
        return np.where(self.partner >= 0, first[self.partner], beside)


def state_agreement(
    first: Any, second: Any, n_first: int = 0, n_second: int = 0
) -> StateAgreement:
    """Agreement of two models' states over the same steps.

    Parameters
    ----------
    first, second : array-like of int of shape (n_steps,)
    n_first, n_second : int, default=0
        Numbers of states of both, if not all of them occur.

    Examples
    --------
    >>> found = state_agreement([0, 0, 1, 1, 2, 2], [1, 1, 0, 0, 0, 0])
    >>> print(found)
    67 % of the steps in states that match, adjusted mutual information 0.62
    >>> found.partner
    array([1, 0])
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_mutual_info_score

    first, second = np.asarray(first), np.asarray(second)
    fits = second.shape == first.shape and second.dtype.kind in "iu"
    if not fits or second.min() < 0:
        raise InputError(
            f"other_states has the shape {second.shape} and type {second.dtype}; "
            f"expected a fitted model, or a state 0, 1, ... for each of {len(first)} "
            "steps."
        )
    shape = max(n_first, first.max() + 1), max(n_second, second.max() + 1)
    together = np.zeros(shape)
    np.add.at(together, (first, second), 1.0)
    own, others = linear_sum_assignment(together, maximize=True)
    partner = np.full(together.shape[1], -1)
    met = together[own, others] > 0  # those left over go together at no step
    partner[others[met]] = own[met]
    some = slice(None, None, -(-len(first) // MOST_INFORMED))
    return StateAgreement(
        float(together[own, others].sum()) / len(first),
        float(adjusted_mutual_info_score(first[some], second[some])),
        partner,
        together.argmax(axis=0),
    )


def paired_text(
    pieces: Sequence[str],
    first: np.ndarray,
    second: np.ndarray,
    begins: Sequence[int] | np.ndarray = (),
) -> Markup:
    """Lines of a text in pairs, in the colours of two models.

    States of the second have the class ``t`` and their number. Sequences start on new
    lines.

    Examples
    --------
    >>> print(paired_text("ab", np.array([0, 1]), np.array([1, 1])))
    <i class=s0>a</i><i class=s1>b</i>
    <i class=t1>ab</i>
    <BLANKLINE>
    """
    pieces = [piece.translate(ON_ONE_LINE) for piece in pieces]
    sizes = np.array([len(piece) for piece in pieces])
    line = (np.cumsum(sizes) - sizes) // ACROSS
    pairs = []
    ends = np.union1d(np.flatnonzero(np.diff(line)) + 1, begins).astype(np.int64)
    for part in np.split(np.arange(len(pieces)), ends[ends > 0]):
        own = [pieces[i] for i in part]
        pairs.append(coloured_text(own, first[part]))
        pairs.append(coloured_text(own, second[part], "t") + Markup("\n"))
    return Markup("\n").join(pairs)
