"""Construction of weighted averages of rules from regions."""

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
    round_thresholds: bool = True,
) -> RuleAverage:
    """Construct a weighted average of regions, each predicting its mean.

    Literals without which a region holds the same rows are dropped, and so is a region
    without training rows; one that holds all rows is merged into the default rule.

    Parameters
    ----------
    regions : sequence of sequences of conditions
        Regions as conditions, in the order of printing.
    weights : sequence of float
        Weight of each region.
    weight_of_all : float
        Weight of the mean of all rows: the default rule.
    training : Training
        Rows and the target to fit; without synthetic rows.
    round_thresholds : bool, default=True
        Replace bounds by short ones that split the same rows, each value by a short one
        within a thousandth of the target's standard deviation, probabilities by three
        decimals, and weights by three digits. The rules predict with these.

    Returns
    -------
    RuleAverage
    """
    encoded = training.encoded
    shorten = training.outcome.shortening(
        0.001 * round_thresholds, training.target, training.weight
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
        if round_thresholds:
            conditions = rounded(conditions, encoded, training.bins.features)
        rules.append(
            _part(conditions, rows, weight, training, round_thresholds, shorten)
        )
    everything = np.ones(len(encoded), dtype=bool)
    last = _part((), everything, weight_of_all, training, round_thresholds, shorten)
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
    answer = outcome.aggregate(training.target[rows], training.weight[rows])
    if round_values:
        answer, weight = outcome.rounded(answer), float(f"{weight:.3g}")
    return Rule(
        conditions, **outcome.rule_fields(answer, shorten), weight=float(weight)
    )
