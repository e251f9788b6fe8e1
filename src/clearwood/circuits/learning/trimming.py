"""Bottom-up pruning: subcircuits that are no better than leaves."""

from __future__ import annotations

import numpy as np

from clearwood.circuits.learning.recursion import Piece
from clearwood.distributions.categorical import shares
from clearwood.distributions.chow_liu import levels_of


def prune_pieces(
    pieces: list[Piece], valid: np.ndarray, alpha: float, trees: bool
) -> tuple[float, set[int]]:
    """Log density of validation rows, and the subcircuits that are pruned.

    Splits of rows and columns are compared with independent columns. A tree of columns
    is a better alternative: if it raises the likelihood of the validation rows of a
    slice, it replaces the subcircuit grown there.

    Parameters
    ----------
    pieces : list of Piece
        Those that may become leaves again have a block.
    valid : ndarray of shape (n_valid, n_columns)
        Validation rows, encoded.
    alpha, trees
        Smoothing and the kind of leaves where nothing split, see `Block.leaves`.

    Returns
    -------
    score : float
        Mean log density of ``valid`` after pruning, see `assemble`.
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
        valid_rows = piece.valid_rows
        own = valid[valid_rows], codes[valid_rows]
        instead = block.log_density(*own, alpha, True)
        if instead.sum() > log[i][valid_rows].sum():
            pruned.add(i)
            log[i] = block.log_density(valid, codes, alpha, True)
    return float(log[0].mean()), pruned
