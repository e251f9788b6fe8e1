r"""Direct sampling of smeared rows inside a box.

Smearing (Breiman and Shang, 1996) makes a synthetic row from a training row: each
feature keeps its value, or with probability ``p_alt`` takes that of a random training
row. A node of a tree needs such rows inside its box. Rejection sampling is slow if the
box is small, but its distribution is known.
Let row i be drawn with probability w_i, let B_d be the values of feature d that the box
allows, and q_d = sum of w_j over the rows whose value is in B_d. Given row i, features

    r_id = (1 - p_alt) [x_id in B_d] + p_alt q_d.

So among the smeared rows that are in the box

* row i is the source with probability proportional to w_i times the product of
  r_id over the features that the box restricts (for all others r_id = 1);
* given that, feature d keeps its value with probability
  (1 - p_alt) [x_id in B_d] / r_id;
* else its value is that of a row j with x_jd in B_d, in proportion to w_j.

The sum over all rows of the first is the share of smeared rows that are in the box.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Inside = Mapping[int, np.ndarray]
"""Per feature that a box restricts, which training rows have a value in it."""


def reach(share: np.ndarray, inside: Inside, p_alt: float) -> np.ndarray:
    """Probability of each row to be drawn, and to be in the box once smeared.

    Parameters
    ----------
    share : ndarray of shape (n_rows,)
        Probability of each training row; they sum to one.
    inside : mapping of int to ndarray of bool of shape (n_rows,)
    p_alt : float

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> share, low = np.full(4, 0.25), np.array([True, False, False, False])
    >>> reach(share, {0: low}, p_alt=0.5)
    array([0.15625, 0.03125, 0.03125, 0.03125])
    """
    probability = share
    for allowed in inside.values():
        probability = probability * (
            (1 - p_alt) * allowed + p_alt * share[allowed].sum()
        )
    return probability


def smear(
    share: np.ndarray,
    inside: Inside,
    p_alt: float,
    n_features: int,
    n_drawn: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """Draw smeared rows inside a box.

    Parameters
    ----------
    share : ndarray of shape (n_rows,)
        Probability of each training row; they sum to one.
    inside : mapping of int to ndarray of bool of shape (n_rows,)
        Some smeared rows are in the box: see :func:`reach`.
    p_alt : float
        Probability that a feature takes the value of another row.
    n_features : int
    n_drawn : int
        Number of rows to draw.
    generator : numpy.random.Generator

    Returns
    -------
    ndarray of int of shape (n_drawn, n_features)
        The training row from which each feature of each synthetic row comes.
    """
    behind = _draw(reach(share, inside, p_alt), n_drawn, generator)
    other = _draw(share, (n_drawn, n_features), generator)
    keeps = generator.random((n_drawn, n_features)) >= p_alt
    for d, allowed in inside.items():
        kept = (1 - p_alt) * allowed[behind]
        changed = p_alt * share[allowed].sum()
        keeps[:, d] = generator.random(n_drawn) * (kept + changed) < kept
        other[:, d] = _draw(share * allowed, n_drawn, generator)
    return np.where(keeps, behind[:, None], other)


def _draw(
    weight: np.ndarray, size: int | tuple[int, ...], generator: np.random.Generator
) -> np.ndarray:
    """Positions in proportion to their weights; none whose weight is zero."""
    rows = np.flatnonzero(weight)
    if (weight[rows] == weight[rows[0]]).all():
        return rows[generator.integers(len(rows), size=size)]
    upto = np.cumsum(weight[rows])
    drawn = np.searchsorted(upto, generator.random(size) * upto[-1], side="right")
    # Rounding may raise the product to the total.
    return rows[np.minimum(drawn, len(rows) - 1)]
