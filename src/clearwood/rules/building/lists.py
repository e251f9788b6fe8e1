"""Construction of lists and sums of rules from regions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood.rules.building.monotone import in_order
from clearwood.rules.building.rule_curves import with_curves
from clearwood.rules.building.shorten import prune_by_coverage, rounded
from clearwood.rules.building.true_estimates import with_true_estimates
from clearwood.rules.conditions import Condition, matches_all
from clearwood.rules.evaluation.sums import Kind, described
from clearwood.rules.rule import Rule
from clearwood.rules.rule_kinds import RuleList, RuleSum
from clearwood.rules.training import Training


def build_rule_set(
    regions: Sequence[Sequence[Condition]],
    training: Training,
    *,
    max_rules: int | None = None,
    min_samples_leaf: float = 1,
    round_thresholds: bool = True,
) -> RuleList:
    """Construct an ordered rule list from regions, sorted by agreement.

    A rule predicts the mean of the fitted target over the region's rows (in
    classification, the most probable class). Rules are sorted by agreement with it,
    best first; a region that holds no rows or all, or is left with too few, is omitted.
    Literals without which a rule holds the same rows are dropped.

    Parameters
    ----------
    regions : sequence of sequences of conditions
        Regions as conditions.
    training : Training
        Rows and the target to fit; without synthetic rows.
    max_rules : int, optional
        Maximum number of rules, the default rule included, which predicts the rest.
    min_samples_leaf : float, default=1
        Minimum number of rows that a rule predicts, unweighted; with 1, all rules that
        predict some row are kept.
    round_thresholds : bool, default=True
        Replace each bound by the shortest decimal that separates the same training
        values, and each predicted value by a short one within half a percent of the
        target's standard deviation. The rules predict with these.

    Returns
    -------
    RuleList
    """
    encoded, features = training.encoded, training.bins.features
    pruned = [prune_by_coverage(region, encoded) for region in regions]
    held = [matches_all(conditions, encoded) for conditions in pruned]
    kept = [
        i
        for i, rows in enumerate(held)
        # A region of all rows adds nothing to the default rule.
        if pruned[i] and (training.weight * rows).sum() > 0
    ]
    rules = [
        _rule(pruned[i], held[i], training, round_thresholds)
        for i in _in_printed_order(kept, held, training)
    ]
    rules = _with_rows(rules, training, min_samples_leaf)
    if max_rules is not None:
        rules = rules[: max_rules - 1]
    otherwise = _otherwise(rules, training, round_thresholds)
    if round_thresholds:
        rules = [
            replace(rule, conditions=rounded(rule.conditions, encoded, features))
            for rule in rules
        ]
    return printed(RuleList, rules, otherwise, training)


def build_rule_list(
    regions: Sequence[Sequence[Condition]],
    training: Training,
    *,
    round_thresholds: bool = True,
    signs: np.ndarray | None = None,
) -> RuleList:
    """Construct a rule list from regions in the given order.

    A rule predicts the mean of the fitted target over the rows that reach and satisfy
    it (in classification, the most probable class). Literals without which it holds the
    same rows are dropped; a region left without training rows is omitted.

    Parameters
    ----------
    regions : sequence of sequences of conditions
        Regions as conditions.
    training : Training
        Rows and the target to fit. Synthetic ones count for predictions of rules and
        for which literals they need, but not in statistics.
    round_thresholds : bool, default=True
        As in :func:`build_rule_set`.
    signs : ndarray of shape (n_features,), optional
        Monotonicity constraints: 1 where predictions (of two classes, the probability
        of the second) must rise with a feature, -1 where they must fall, else 0. Rules
        then predict what is nearest to the means under these. No region may be bounded
        on both sides in such a feature.

    Returns
    -------
    RuleList
    """
    encoded, features = training.encoded, training.bins.features
    rules: list[Rule] = []
    free = training.weight > 0
    for region in regions:
        conditions = prune_by_coverage(region, encoded)
        assigned = free & matches_all(conditions, encoded)
        if not (assigned & training.is_real).any():
            continue
        if not conditions:
            break  # It holds every row, as the default rule does.
        rule = _rule(conditions, assigned, training, round_thresholds)
        if round_thresholds:
            rule = replace(rule, conditions=rounded(conditions, encoded, features))
        rules.append(rule)
        free &= ~assigned
    otherwise = _otherwise(rules, training, round_thresholds)
    if signs is not None and signs.any():
        *rules, otherwise = in_order(
            [*rules, otherwise],
            training,
            signs,
            _shortening(training, round_thresholds),
        )
    return printed(RuleList, rules, otherwise, training)


def build_rule_sum(
    regions: Sequence[Sequence[Condition]],
    values: Sequence[Any],
    constant: Any,
    training: Training,
    frequency: Sequence[float] | None = None,
    *,
    round_thresholds: bool = True,
) -> RuleSum:
    """Construct a sum of regions: each adds its value to the rows that it holds.

    Literals without which a region holds the same rows are dropped, and so is a region
    without training rows; one that holds all rows is merged into the constant.

    Parameters
    ----------
    regions : sequence of sequences of conditions
        Regions as conditions, in the order of printing.
    values : sequence of float or of array-like of shape (n_classes,)
        Value that each region adds: to the prediction, or to each class's log-odds.
    constant : float or array-like of shape (n_classes,)
        The constant of the sum.
    training : Training
        As in :func:`build_rule_list`.
    frequency : sequence of float, optional
        Share of small trees that have each region.
    round_thresholds : bool, default=True
        Replace bounds as in :func:`build_rule_set`, each value by a short one within a
        thousandth of the target's standard deviation, and log-odds by three digits. The
        rules predict with these.

    Returns
    -------
    RuleSum
    """
    real, outcome = training.real, training.outcome
    shorten = outcome.shortening(0.001 * round_thresholds, real.target, real.weight)
    frequency = [math.nan] * len(regions) if frequency is None else frequency
    kept = []
    constant = np.asarray(constant, dtype=np.float64)
    for region, value, share in zip(regions, values, frequency):
        conditions = prune_by_coverage(region, training.encoded)
        if not (real.weight * matches_all(conditions, real.encoded)).sum() > 0:
            continue
        if not conditions:
            constant = constant + value
            continue
        if round_thresholds:
            conditions = rounded(conditions, training.encoded, training.bins.features)
        kept.append((conditions, value, share))
    rules = [
        Rule(conditions, frequency=share, **outcome.added_fields(value, shorten))
        for conditions, value, share in [*kept, ((), constant, math.nan)]
    ]
    return printed(RuleSum, rules[:-1], rules[-1], training)


def _in_printed_order(
    kept: list[int],
    held: list[np.ndarray],
    training: Training,
) -> list[int]:
    outcome, weight = training.outcome, training.weight
    target = outcome.point(training.target)
    found = {}
    for i in kept:
        predicted = outcome.point(_aggregate(held[i], training))
        found[i] = outcome.fidelity(target, predicted, weight, held[i])
    support = {i: (training.weight * held[i]).sum() for i in kept}
    return sorted(kept, key=lambda i: (-found[i], -support[i], i))


def _with_rows(
    rules: list[Rule], training: Training, min_samples_leaf: float
) -> list[Rule]:
    """Omit rules that predict too few rows; these fall through to the next rule."""
    kept = []
    free = np.ones(len(training), dtype=bool)
    for rule in rules:
        assigned = free & rule.matches(training.encoded)
        if training.counts[assigned].sum() >= min_samples_leaf:
            kept.append(rule)
            free &= ~assigned
    return kept


def _aggregate(rows: np.ndarray, training: Training) -> Any:
    return training.outcome.aggregate(training.target[rows], training.weight[rows])


def _rule(
    conditions: tuple[Condition, ...],
    rows: np.ndarray,
    training: Training,
    round_values: bool,
) -> Rule:
    shorten = _shortening(training, round_values)
    answer = _aggregate(rows, training)
    predicted = training.outcome.rule_fields(answer, shorten, training.class_counts)
    return Rule(conditions, **predicted)


def _shortening(training: Training, round_values: bool) -> Callable[[float], float]:
    """Rounding of values within half a percent of the target's standard deviation."""
    return training.outcome.shortening(
        0.005 * round_values, training.target, training.weight
    )


def _otherwise(rules: list[Rule], training: Training, round_values: bool) -> Rule:
    free = np.ones(len(training.encoded), dtype=bool)
    for rule in rules:
        free &= ~rule.matches(training.encoded)
    if (training.weight * free).sum() == 0:
        # No training row is left: predict for the whole, as in the paper.
        free = np.ones_like(free)
    return _rule((), free, training, round_values)


def printed(
    kind: type[Kind], rules: Sequence[Rule], otherwise: Rule, training: Training
) -> Kind:
    """Rule set of a kind, with its statistics on the real rows."""
    rule_set = kind(
        tuple(rules),
        otherwise,
        training.bins.features,
        training.classes,
        outcome=training.outcome,
    )
    if training.times is not None:
        return with_curves(rule_set, training)
    if training.outcome.estimates_truth and training.labels is not None:
        return with_true_estimates(rule_set, training)
    return described(rule_set, training.real.counted)
