"""Few nodes with good weights: the short averages of Node Harvest.

An addition to the article, which prints all nodes of positive weight, often dozens;
here, averages of two, three, ... rules are searched for.
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed

from clearwood._numeric import product
from clearwood._numeric.progress import progress
from clearwood.simplifiers.node_harvest.programme import (
    SMALLEST,
    Harvest,
    Programme,
    harvest,
    solve,
    solver,
)

POOL_PENALTIES = (0.0, 0.003, 0.03)
"""Penalties per unit of weight, whose nodes are candidates of the sparse path."""

PATH_PENALTIES = np.geomspace(1e-4, 0.5, 24)
"""Penalties per unit of weight, whose solutions form the path."""

MOST_TRIED = 12
"""Up to this size every node is tried when one is dropped."""

FEW_TRIED = 3
"""Number of the lightest nodes tried beyond that size."""

ROUGHLY = 4
"""Step in the penalties for rules that are only used in cross-fitting."""

ROUNDS = 6
"""Maximum rounds of reweighting for each of these penalties."""


def sparse_path(
    programme: Programme,
    nodes: np.ndarray,
    max_lines: int,
    *,
    roughly: bool = False,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> list[Harvest]:
    """Few nodes with good weights, then more that are better.

    The programme has solutions with dozens of nodes. A penalty on weight leads to
    fewer: the sum of the weights is one if a row is in one node, and larger if regions
    are small (the article bounds this sum). A node of small weight gets a larger
    penalty in the next round, as the number of nodes is to be small (reweighting). The
    weights of the remaining nodes are fitted without penalty. For the shortest lists,
    rows are also split by nodes as in a tree.

    Parameters
    ----------
    programme : Programme
    nodes : ndarray of int
        Candidates, 0 among them.
    max_lines : int
        Maximum number of rules.
    roughly : bool, default=False
        Try less, for nodes that are only used in cross-fitting.
    n_jobs : int, optional
        Number of threads for the penalties.
    verbose : bool, default=False
        Whether to show a progress bar of them.

    Returns
    -------
    list of Harvest
        By number of rules, each with a smaller loss than all before it.
    """
    prices = PATH_PENALTIES[::ROUGHLY] if roughly else PATH_PENALTIES
    pool = {0}
    weights_at = solver(programme, nodes)
    for price in POOL_PENALTIES[1:2] if roughly else POOL_PENALTIES:
        pool |= set(nodes[weights_at(price) > SMALLEST].tolist())
    everything = np.array(sorted(pool))
    weights_at = solver(programme, everything)
    best: dict[int, Harvest] = {}
    for parts in partitions(programme, nodes, MOST_TRIED):
        _keep(best, programme, Harvest(parts, np.ones(len(parts))))

    def at_price(price: float) -> Harvest:
        # The rule that contains all rows is printed in any case.
        weights = weights_at(np.where(everything == 0, 0.0, price))
        return harvest(programme, _few_nodes(programme, everything, weights, price))

    # Threads, because the solver releases the GIL.
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    found = parallel(delayed(at_price)(price) for price in prices)
    for candidate in progress(found, len(prices), "prices", verbose):
        _keep(best, programme, candidate)
    if roughly:
        # Only the longest of these is requested.
        enough = min((size for size in best if size >= max_lines), default=max(best))
        best = {size: found for size, found in best.items() if size <= enough}
    _drop_one_by_one(best, programme, FEW_TRIED if roughly else MOST_TRIED)
    path: list[Harvest] = []
    for size, candidate in sorted(best.items()):
        if size > max_lines:
            break
        if not path or programme.loss(*candidate) < programme.loss(*path[-1]):
            path.append(candidate)
    return path


def partitions(
    programme: Programme, nodes: np.ndarray, most_parts: int
) -> list[np.ndarray]:
    """Nodes of which each row is in one: all rows, then recursive splits.

    At each step the split of one part that lowers the loss most.

    Parameters
    ----------
    programme : Programme
    nodes : ndarray of int
        Candidates, 0 first.
    most_parts : int

    Returns
    -------
    list of ndarray of int
        Of one part, two, and so on, ascending.
    """
    bits = np.packbits(programme.held[:, nodes], axis=0).T
    place = {rows.tobytes(): i for i, rows in enumerate(bits)}
    # The loss of some parts is one less the sum of these.
    explained = product(programme.share, programme.held[:, nodes]) * (
        programme.predicted[nodes] ** 2
    ).sum(axis=1)

    def best_split(part: int) -> tuple[float, int, int]:
        found = (0.0, part, part)
        for i in np.flatnonzero(((bits & ~bits[part]) == 0).all(axis=1)).tolist():
            other = place.get((bits[part] ^ bits[i]).tobytes(), -1)
            if other > i:
                gain = float(explained[i] + explained[other] - explained[part])
                found = max(found, (gain, i, other))
        return found

    splits = {0: best_split(0)}
    found = [nodes[:1]]
    while len(splits) < most_parts:
        part = max(splits, key=lambda part: splits[part])
        gain, *sides = splits.pop(part)
        if gain <= 0:
            break
        splits |= {side: best_split(side) for side in sides}
        found.append(nodes[np.sort(list(splits))])
    return found


def _keep(best: dict[int, Harvest], programme: Programme, new: Harvest) -> None:
    """Keep a new solution if none of its size is better."""
    rival = best.get(new.n_lines)
    if rival is None or programme.loss(*new) < programme.loss(*rival):
        best[new.n_lines] = new


def _drop_one_by_one(
    best: dict[int, Harvest], programme: Programme, most_tried: int
) -> None:
    """Fill in the sizes that no penalty leads to, the largest first.

    Without a node, its complements may lose their weight, too: some sizes do not exist,
    and two rules never.
    """
    found = best[max(best)]
    while found.n_lines > 1:
        light_first = np.argsort(
            found.weights + 2.0 * (found.nodes == 0), kind="stable"
        )
        every = found.n_lines - 1
        tried = light_first[: every if found.n_lines <= most_tried else FEW_TRIED]
        rivals = [
            harvest(programme, np.union1d(0, np.delete(found.nodes, i))) for i in tried
        ]
        for rival in rivals:
            _keep(best, programme, rival)
        found = best[max(size for size in best if size < found.n_lines)]


def _few_nodes(
    programme: Programme, nodes: np.ndarray, weights: np.ndarray, price: float
) -> np.ndarray:
    """Reweight, and drop nodes without weight, until the nodes no longer change."""
    for _ in range(ROUNDS):
        kept = (weights > SMALLEST) | (nodes == 0)
        if kept.all():
            break
        nodes, weights = nodes[kept], weights[kept]
        penalty = np.where(nodes == 0, 0.0, price / (weights + 0.05))
        weights = solve(programme, nodes, penalty)
    return nodes
