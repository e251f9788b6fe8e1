"""Parts that have grown in vain become leaves again, from below."""

from __future__ import annotations

import numpy as np

from clearwood.circuits.learning.recursion import Piece
from clearwood.distributions.categorical import shares
from clearwood.distributions.chow_liu import levels_of


def judge(
    pieces: list[Piece], valid: np.ndarray, alpha: float, trees: bool
) -> tuple[float, set[int]]:
    """What rows to judge by say of all that has grown, and where it was in vain.

    Rows and columns are split for as long as independent columns are the alternative. A
    tree of columns is a better one: where it makes those rows likelier that came to a
    slice, it takes the place of all that grew there.

    Parameters
    ----------
    pieces : list of Piece
        Those that may become leaves again have a block.
    valid : ndarray of shape (n_valid, n_columns)
        Rows to judge by, encoded.
    alpha, trees
        Smoothing and the kind of leaves where nothing split, see `Block.leaves`.

    Returns
    -------
    score : float
        Mean log density of ``valid`` under what is left, see `assemble`.
    pruned : set of int
        Pieces that are better as leaves.
    """
    codes = levels_of(valid)
    pruned: set[int] = set()
    log: dict[int, np.ndarray] = {}  # of all rows, under every piece that is not taken
    for i in reversed(range(len(pieces))):
        piece, block = pieces[i], pieces[i].block
        below = [log.pop(child) for child in piece.children]
        if block is not None and not below:
            log[i] = block.log_density(valid, codes, alpha, trees)
            continue
        if piece.sizes is None:
            log[i] = np.sum(below, axis=0)
        else:
            log_weights = np.log(shares(piece.sizes + alpha))
            log[i] = np.logaddexp.reduce(np.add(log_weights[:, None], below))
        if block is None:
            continue
        judges = piece.judges
        own = valid[judges], codes[judges]
        instead = block.log_density(*own, alpha, True)
        if instead.sum() > log[i][judges].sum():
            pruned.add(i)
            log[i] = block.log_density(valid, codes, alpha, True)
    return float(log[0].mean()), pruned
