"""Components of a mixture as the start of a search for the rules that are printed."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.rules import (
    RuleSet,
    Training,
    build_rule_list,
    region_conditions,
)
from clearwood.search import (
    BoxList,
    Grid,
    Penalties,
    contains,
    make_problem,
    refine,
)
from clearwood.search.losses import Loss
from clearwood.simplifiers.rule_list import LITERAL_PENALTIES, NEAR_DISJOINT


def refined_rules(
    boxes: np.ndarray,
    training: Training,
    *,
    max_rules: int,
    round_cuts: bool = True,
) -> RuleSet:
    """Move the sides of boxes to where a list of them follows the target best.

    The regions of a mixture describe where each component is certain, and leave the
    rows between them to ``otherwise``. Box after box is moved, the others as they
    are, until nothing improves.

    Parameters
    ----------
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
        Allowed bins; a box may be empty.
    training : Training
    max_rules : int
        Most lines, ``otherwise`` included.
    round_cuts : bool, default=True
        As in :func:`~clearwood.rules.build_rule_set`.

    Returns
    -------
    RuleSet
    """
    bins, loss = training.bins, training.loss
    grid = Grid.of(training.codes, bins.n_bins, bins.is_category)
    start = _in_order(boxes, grid, loss, max_rules - 1)
    penalties = Penalties(LITERAL_PENALTIES[0], NEAR_DISJOINT[training.task])
    problem = make_problem(grid, loss, penalties, training.counts)
    found = refine(problem, start)
    regions = [region_conditions(bins, box, training.seen) for box in found.boxes]
    return build_rule_list(
        [region for region in regions if region is not None],
        training,
        round_cuts=round_cuts,
    )


def _in_order(boxes: np.ndarray, grid: Grid, loss: Loss, most: int) -> BoxList:
    """Boxes that hold rows, those first that lose least per row; others go."""
    member = contains(grid, boxes)
    share = member @ loss.share
    member, boxes, share = (part[share > 0] for part in (member, boxes, share))
    values: list[Any] = [loss.best_value(rows) for rows in member]
    lost = [loss.rows(value) @ rows for value, rows in zip(values, member)]
    order = np.argsort(np.array(lost) / share, kind="stable")[:most]
    return BoxList(
        boxes[order],
        tuple(values[i] for i in order),
        loss.best_value(np.ones(grid.n_rows, dtype=bool)),
        np.inf,
    )
