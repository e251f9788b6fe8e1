"""Pruned rules are minimal and say the same."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import (
    FeatureBins,
    Interval,
    prune_by_coverage,
    prune_by_prediction,
    region_conditions,
)
from clearwood.rules.conditions import combine_literals, matches_all
from clearwood.rules.rule import first_match
from clearwood.simplifiers.fab.rules import component_boxes

GRID = st.sampled_from([-np.inf, 0.0, 1.0, 2.0, 3.0, np.inf])
CONDITION = st.tuples(st.integers(0, 2), GRID, GRID, st.booleans()).map(
    lambda t: Interval(t[0], min(t[1], t[2]), max(t[1], t[2]), t[3])
)
RULE = st.lists(CONDITION, max_size=4).map(combine_literals)
ROWS = st.lists(
    st.tuples(*[st.sampled_from([0.0, 0.5, 1.5, 2.5, 3.5, np.nan])] * 3),
    min_size=1,
    max_size=12,
).map(np.array)


def literals(rule):
    return [part for condition in rule for part in condition.literals()]


def without_each(rule):
    parts = literals(rule)
    return [combine_literals(parts[:i] + parts[i + 1 :]) for i in range(len(parts))]


@given(RULE, ROWS)
def test_coverage_pruning_keeps_the_rows_and_is_minimal(rule, X):
    pruned = prune_by_coverage(rule, X)
    held = matches_all(rule, X)
    np.testing.assert_array_equal(matches_all(pruned, X), held)
    assert set(literals(pruned)) <= set(literals(rule))
    for shorter in without_each(pruned):
        assert (matches_all(shorter, X) != held).any()


def test_the_literals_that_carry_a_rule_stay():
    # The last keeps out all that the two others do, of which each keeps out less.
    X = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    rule = [Interval(d, high=0.5) for d in range(3)]
    assert prune_by_coverage(rule, X) == (rule[2],)


@given(st.lists(RULE, min_size=1, max_size=4), ROWS, st.integers(0, 2**16))
def test_prediction_pruning_keeps_every_prediction_and_is_minimal(rules, X, seed):
    said = np.random.default_rng(seed).integers(0, 2, size=len(rules) + 1)

    def predict(some):
        matches = np.array([matches_all(rule, X) for rule in some]).T
        return said[first_match(matches)]

    pruned = prune_by_prediction(rules, said[:-1], said[-1], X)
    before = predict(rules)
    np.testing.assert_array_equal(predict(pruned), before)
    # The last rule was pruned against the final list: no literal of it is idle.
    for shorter in without_each(pruned[-1]):
        assert (predict([*pruned[:-1], shorter]) != before).any()


@pytest.fixture
def facts(golden_folder):
    return json.loads((golden_folder / "fab.json").read_text())["rule_extraction"]


def test_extraction_and_pruning_reproduce_the_golden_facts(facts):
    """Boxes equal; the pruned rule is one of all minimal rules (brute force)."""
    X = np.array(facts["X"])
    statements = facts["statements"]
    bins = FeatureBins.from_splits(
        FeatureSpace.numeric(X.shape[1]),
        feature=[s["feature"] for s in statements],
        cut=[s["threshold"] for s in statements],
    )
    # Statements of the file in the order of the bins.
    order = np.lexsort(
        ([s["threshold"] for s in statements], [s["feature"] for s in statements])
    )
    eta = np.array(facts["eta"]).T[order]
    seen = np.zeros(bins.n_bins.sum(), dtype=bool)
    for row in bins.transform(X) + bins.bin_start:
        seen[row] = True
    boxes = component_boxes(bins, eta, 1.0 - eta, facts["kappa"])
    regions = [region_conditions(bins, box, seen) for box in boxes]
    assert len(regions) == len(facts["components"]) == 5
    for region, expected in zip(regions, facts["components"]):
        box = {c.feature: c for c in region}
        for d in range(X.shape[1]):
            found = box.get(d, Interval(d))
            low, high = expected["box_lower"][d], expected["box_upper"][d]
            assert found.low == (-np.inf if low is None else low)
            assert found.high == (np.inf if high is None else high)
        rows = np.flatnonzero(matches_all(region, X)).tolist()
        assert rows == expected["covered_rows"]
        pruned = {describe(part) for part in literals(prune_by_coverage(region, X))}
        minimal = [{key(part) for part in m} for m in expected["all_minimal_rules"]]
        assert pruned in minimal


def describe(part):
    if part.low > -np.inf:
        return (part.feature, ">", part.low)
    return (part.feature, "<=", part.high)


def key(part):
    return (part["feature"], part["op"], part["threshold"])
