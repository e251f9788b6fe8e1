"""From weighted regions to a printed average: values, readable numbers, statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from clearwood.rules.building.lists import printed
from clearwood.rules.building.shorten import prune_by_coverage, rounded
from clearwood.rules.conditions import Condition, matches_all
from clearwood.rules.rule import Rule
from clearwood.rules.rule_kinds import RuleAverage
from clearwood.rules.training import Training


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
    shorten = training.outcome.shortening(
        0.001 * round_cuts, training.taught, training.weight
    )
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
        rules.append(_part(conditions, rows, weight, training, round_cuts, shorten))
    everything = np.ones(len(encoded), dtype=bool)
    last = _part((), everything, weight_of_all, training, round_cuts, shorten)
    return printed(RuleAverage, rules, last, training)


def _part(
    conditions: tuple[Condition, ...],
    rows: np.ndarray,
    weight: float,
    training: Training,
    round_values: bool,
    shorten: Callable[[float], float],
) -> Rule:
    outcome = training.outcome
    answer = outcome.aggregate(training.taught[rows], training.weight[rows])
    if round_values:
        answer, weight = outcome.rounded(answer), float(f"{weight:.3g}")
    return Rule(conditions, **outcome.says(answer, shorten), weight=float(weight))
