"""Components of a mixture as the start of a search for the rules that are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.rules import (
    FeatureBins,
    RuleSet,
    Training,
    build_rule_list,
    region_conditions,
)
from clearwood.search import (
    BoxList,
    ClassLoss,
    Grid,
    Penalties,
    SquaredLoss,
    contains,
    make_problem,
    refine,
)
from clearwood.search.losses import Loss
from clearwood.simplifiers._common.lesson import centre_and_unit, counts_of
from clearwood.simplifiers.rule_list import LITERAL_PENALTIES, NEAR_DISJOINT


def refined_rules(
    boxes: np.ndarray,
    bins: FeatureBins,
    codes: np.ndarray,
    training: Training,
    *,
    classes: Sequence[Any] = (),
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
    bins : FeatureBins
    codes : ndarray of shape (n_samples, n_features)
        Bins of the training rows.
    training : Training
    classes : sequence, default=()
        Class labels; empty for regression.
    max_rules : int
        Most lines, ``otherwise`` included.
    round_cuts : bool, default=True
        As in :func:`~clearwood.rules.build_rule_set`.

    Returns
    -------
    RuleSet
    """
    is_category = np.array([group is not None for group in bins.groups], dtype=bool)
    grid = Grid.of(codes, bins.n_bins, is_category)
    loss: Loss
    if len(classes):
        loss = ClassLoss.of(training.taught, training.weight)
    else:
        centre, unit = centre_and_unit(training.taught, training.weight)
        loss = SquaredLoss.of((training.taught - centre) / unit, training.weight)
    start = _in_order(boxes, grid, loss, max_rules - 1)
    task = "classification" if len(classes) else "regression"
    penalties = Penalties(LITERAL_PENALTIES[0], NEAR_DISJOINT[task])
    problem = make_problem(grid, loss, penalties, counts_of(training.weight))
    found = refine(problem, start)
    seen = grid.seen()
    regions = [region_conditions(bins, box, seen) for box in found.boxes]
    return build_rule_list(
        [region for region in regions if region is not None],
        training,
        bins.features,
        classes=classes,
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
