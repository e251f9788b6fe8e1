"""From weighted regions to a printed average: values, readable numbers, statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clearwood.rules.building.shorten import (
    prune_by_coverage,
    rounded,
    short_value,
)
from clearwood.rules.conditions import Condition, matches_all
from clearwood.rules.evaluation.sums import described
from clearwood.rules.rule import Rule
from clearwood.rules.rule_kinds import RuleAverage
from clearwood.rules.scores import variance
from clearwood.rules.training import Training

DECIMALS = 3
"""Of class probabilities."""


def build_rule_average(
    regions: Sequence[Sequence[Condition]],
    weights: Sequence[float],
    weight_of_all: float,
    training: Training,
    *,
    round_cuts: bool = True,
) -> RuleAverage:
    """Make an average of regions, each of which says the mean of its training rows.

    Literals without which a region holds the same rows are dropped, and so is a
    region that holds no training row; one that holds all rows joins the last line.

    Parameters
    ----------
    regions : sequence of sequences of conditions
        One sequence per region, in the order of printing.
    weights : sequence of float
        How much each region counts.
    weight_of_all : float
        How much the mean of all rows counts: the last line.
    training : Training
        Rows and what is said of them; without synthetic ones.
    round_cuts : bool, default=True
        Replace bounds by short ones that part the same rows, each value by a short
        one within a thousandth of the target's standard deviation, probabilities by
        three decimals, and weights by three digits. The rules predict with these.

    Returns
    -------
    RuleAverage
    """
    encoded = training.encoded
    step = 0.0
    if round_cuts and not training.classes:
        step = 0.001 * math.sqrt(variance(training.taught, training.weight))
    rules = []
    for region, weight in zip(regions, weights):
        conditions = prune_by_coverage(region, encoded)
        rows = matches_all(conditions, encoded)
        if not (training.weight * rows).sum() > 0:
            continue
        if not conditions:
            weight_of_all += weight
            continue
        if round_cuts:
            conditions = rounded(conditions, encoded, training.bins.features)
        rules.append(_part(conditions, rows, weight, training, round_cuts, step))
    everything = np.ones(len(encoded), dtype=bool)
    last = _part((), everything, weight_of_all, training, round_cuts, step)
    rule_set = RuleAverage(tuple(rules), last, training.bins.features, training.classes)
    return described(rule_set, training.counted)


def _part(
    conditions: tuple[Condition, ...],
    rows: np.ndarray,
    weight: float,
    training: Training,
    round_values: bool,
    step: float,
) -> Rule:
    mean = np.average(training.taught[rows], axis=0, weights=training.weight[rows])
    weight = float(f"{weight:.3g}") if round_values else float(weight)
    if not training.classes:
        return Rule(conditions, short_value(float(mean), step), weight=weight)
    shares = np.clip(mean, 0.0, 1.0)
    if round_values:
        shares = _short_shares(shares)
    said = training.classes[int(shares.argmax())]
    return Rule(conditions, said, tuple(shares.tolist()), weight=weight)


def _short_shares(shares: np.ndarray) -> np.ndarray:
    """Few decimals that still add up to 1: the largest share takes what is left.

    Examples
    --------
    >>> import numpy as np
    >>> _short_shares(np.array([2, 2, 2]) / 6)
    array([0.334, 0.333, 0.333])
    """
    short = np.round(shares, DECIMALS)
    largest = shares.argmax()
    left = 1.0 - np.delete(short, largest).sum()
    short[largest] = np.round(left, DECIMALS)
    # With very many classes nothing may be left.
    return short if short.argmax() == largest else shares
