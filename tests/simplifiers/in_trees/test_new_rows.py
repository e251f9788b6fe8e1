"""Rules of trees that have not seen the rows by which they are evaluated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw
from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import FeatureBins, Training
from clearwood.rules.conditions import matches_all
from clearwood.search import candidate_boxes
from clearwood.search.grid import contains
from clearwood.simplifiers.in_trees.paths import paths_of_boxes

SPACE = FeatureSpace(
    ("dose", "unused", "hue", "age"), (None, None, ("red", "blue", "tan"), None)
)
BINS = FeatureBins.from_splits(
    SPACE,
    feature=[0, 0, 3],
    cut=[1.0, 2.0, 0.5],
    category_splits=[(2, (0,), False, False)],
)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_boxes_hold_the_same_rows_as_rules(seed):
    generator = np.random.default_rng(seed)
    rows = np.column_stack([
        np.where(generator.random(60) < 0.2, np.nan, generator.normal(1.5, 1.0, 60)),
        generator.random(60),
        generator.integers(0, 3, 60),
        generator.random(60),
    ])  # fmt: skip
    values = np.nan_to_num(rows[:, 0]) + (rows[:, 2] == 0) + 2 * (rows[:, 3] > 0.5)
    values += generator.normal(size=60)
    training = Training(rows, values, None, np.ones(60), values, BINS)
    boxes = candidate_boxes(
        training.grid, training.standardised, training.weight, generator, n_trees=3
    )
    paths = paths_of_boxes(boxes, training.used_features, BINS)
    assert paths.n_rules == len(boxes) > 1
    for k, held in enumerate(contains(training.grid, boxes)):
        region = paths.conditions(k, BINS, training.seen)
        np.testing.assert_array_equal(matches_all(region, rows), held)


@pytest.mark.parametrize("exclude_features", [[], [1]])
def test_rules_are_found_again_without_the_trees_of_the_ensemble(exclude_features):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    found = cw.InTreesClassifier(
        cw.read_ensemble(forest),
        n_rules=4,
        exclude_features=exclude_features,
        random_state=0,
    ).fit(X, y)
    whole = found._training(found.ensemble_, X, y, np.ones(200))
    del found.ensemble_
    again = found._refit(whole, np.random.default_rng(0))
    assert 1 < again.n_rules <= 4
    assert (again.predict(X) == y).mean() > 0.7
    if exclude_features:
        assert not any(c.feature == 1 for line in again for c in line.conditions)
