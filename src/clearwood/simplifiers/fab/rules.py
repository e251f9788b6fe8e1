"""Rules from a fitted mixture: components, boxes of bins, rules.

Where a component is certain of its statements, it is a box of bins
(:func:`component_boxes`). The paper prints these boxes (:func:`region_rules`), which
leave the rows between them to the default rule. :func:`refined_rules` moves the sides
of the boxes, one box after the other, to where the printed list has the least loss on
the target.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._numeric import product, rounded
from clearwood.rules import FeatureBins, RuleSet, Training
from clearwood.rules.building.lists import build_rule_list, build_rule_set
from clearwood.search import (
    BoxList,
    Grid,
    Penalties,
    contains,
    make_problem,
    refine,
)
from clearwood.search.losses import Loss
from clearwood.simplifiers.rule_list import OVERLAP_PENALTY

LITERAL_PENALTY = 0.004
"""Penalty per literal: twice that of lists, whose search starts from few literals."""

KAPPA = 1e-6
"""A statement belongs to a box where its probability is within this of 0 or 1."""


def component_boxes(
    bins: FeatureBins,
    true_probability: np.ndarray,
    false_probability: np.ndarray,
    kappa: float = KAPPA,
) -> np.ndarray:
    """Bins allowed by the 0-1 pattern of eta (section 4.2).

    A statement with ``eta > 1 - kappa`` must be true in the region, one with
    ``eta < kappa`` false; the others do not matter.

    Parameters
    ----------
    bins : FeatureBins
        Bins whose statements are the rows of the probabilities.
    true_probability, false_probability : ndarray of shape (n_statements, K)
        eta and 1 - eta.
    kappa : float
        Tolerance of certainty.

    Returns
    -------
    ndarray of bool of shape (K, total number of bins)
    """
    must_be_true = (false_probability < kappa).astype(np.float64)
    must_be_false = (true_probability < kappa).astype(np.float64)
    # Per bin, the number of statements that exclude it.
    contradictions = bins.sum_over_statements(must_be_false, must_be_true)
    return np.ascontiguousarray(contradictions.T == 0)


def region_rules(
    boxes: np.ndarray,
    training: Training,
    *,
    max_rules: int,
    min_samples_leaf: float = 5,
    round_thresholds: bool = True,
) -> RuleSet:
    """The boxes as rules, in the order of their agreement with the target.

    Parameters
    ----------
    boxes : ndarray of bool of shape (n_boxes, total number of bins of the grid)
        Allowed bins; a box may be empty.
    training : Training
    max_rules : int
        Maximum number of rules, the default rule included.
    min_samples_leaf : float, default=5
        Minimum number of training rows that a rule covers.
    round_thresholds : bool, default=True
        As in :func:`~clearwood.rules.build_rule_set`.

    Returns
    -------
    RuleSet
    """
    return build_rule_set(
        _regions(boxes, training),
        training,
        max_rules=max_rules,
        min_samples_leaf=min_samples_leaf,
        round_thresholds=round_thresholds,
    )


def refined_rules(
    boxes: np.ndarray,
    training: Training,
    *,
    max_rules: int,
    min_samples_leaf: float = 5,
    round_thresholds: bool = True,
) -> RuleSet:
    """The boxes moved to where their list approximates the target best.

    One box after the other is moved, with the others fixed, until no move improves.

    Parameters
    ----------
    boxes, training, max_rules, min_samples_leaf, round_thresholds
        As in :func:`region_rules`.

    Returns
    -------
    RuleSet
    """
    grid, loss = training.grid, training.loss
    problem = make_problem(
        grid,
        loss,
        Penalties(LITERAL_PENALTY, OVERLAP_PENALTY[training.outcome.is_share]),
        training.counts,
        min_samples_leaf=min_samples_leaf,
    )
    found = refine(problem, _in_order(boxes, grid, loss, max_rules - 1))
    return build_rule_list(
        _regions(found.boxes, training), training, round_thresholds=round_thresholds
    )


def _in_order(boxes: np.ndarray, grid: Grid, loss: Loss, most: int) -> BoxList:
    """Boxes that contain rows, by increasing loss per row; empty ones are dropped."""
    member = contains(grid, boxes)
    share = product(member, loss.share)
    member, boxes, share = (part[share > 0] for part in (member, boxes, share))
    values: list[Any] = [loss.best_value(rows) for rows in member]
    lost = [loss.rows(value)[rows].sum() for value, rows in zip(values, member)]
    order = np.argsort(rounded(np.array(lost) / share), kind="stable")[:most]
    return BoxList(
        boxes[order],
        tuple(values[i] for i in order),
        loss.best_value(np.ones(grid.n_rows, dtype=bool)),
        np.inf,
    )


def _regions(boxes: np.ndarray, training: Training) -> list[Any]:
    """Regions of the boxes in the units of the data; empty ones are dropped."""
    regions = [training.region(box) for box in boxes]
    return [region for region in regions if region is not None]
