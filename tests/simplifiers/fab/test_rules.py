"""Regions of a mixture, moved to where the printed list follows its target best."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from clearwood import FABRulesClassifier, FABRulesRegressor
from clearwood.datasets import make_synthetic1
from clearwood.rules import FeatureBins, FeatureSpace, Training
from clearwood.simplifiers.fab.rules import refined_rules

N = 400


def grid_bins():
    cuts = np.arange(1, 10) / 10
    return FeatureBins.from_splits(
        FeatureSpace.numeric(2), feature=np.repeat([0, 1], 9), cut=np.tile(cuts, 2)
    )


def box(bins, low, high):
    """Bins of feature 0 between two cuts, and all of feature 1."""
    allowed = np.ones(int(bins.n_bins.sum()), dtype=bool)
    allowed[: bins.n_bins[0]] = False
    allowed[low:high] = True
    return allowed


def rows(target):
    X = np.random.default_rng(0).random((N, 2))
    values = target(X)
    return X, Training(X, values, None, np.ones(N), values, grid_bins())


def refined(boxes, training, **options):
    return refined_rules(np.array(boxes), training, **options)


def test_a_box_off_its_place_finds_it():
    X, training = rows(lambda X: 3.0 * ((X[:, 0] > 0.4) & (X[:, 0] <= 0.8)))
    rules = refined([box(grid_bins(), 5, 7)], training, max_rules=10)
    assert rules.n_rules == 2
    assert np.abs(rules.predict(X) - training.target).max() < 0.02


def test_boxes_without_rows_and_those_beyond_max_rules_go():
    bins = grid_bins()
    X, training = rows(lambda X: np.floor(4 * X[:, 0]))
    nothing = np.zeros(int(bins.n_bins.sum()), dtype=bool)
    boxes = [nothing, box(bins, 0, 2), box(bins, 3, 5), box(bins, 6, 10)]
    assert refined(boxes, training, max_rules=3).n_rules == 3
    assert refined(boxes, training, max_rules=9).n_rules == 4
    assert refined([nothing], training, max_rules=9).n_rules == 1


def test_classes_and_weights():
    X, training = rows(lambda X: np.eye(2)[(X[:, 0] > 0.5).astype(int)])
    training = replace(
        training,
        model_predictions=training.target.argmax(axis=1),
        classes=("no", "yes"),
    )
    rules = refined([box(grid_bins(), 7, 10)], training, max_rules=4)
    assert rules.predict(X).tolist() == np.where(X[:, 0] > 0.5, "yes", "no").tolist()
    # Rows of no weight neither pull the box nor count.
    weight = (X[:, 0] > 0.6).astype(float) + (X[:, 0] < 0.3)
    unsure = np.where(weight[:, None] > 0, training.target, 1 - training.target)
    rules = refined(
        [box(grid_bins(), 7, 10)],
        replace(training, target=unsure, weight=weight),
        max_rules=4,
    )
    heavy = weight > 0
    assert (rules.predict(X)[heavy] == np.where(X[heavy, 0] > 0.5, "yes", "no")).all()


@pytest.mark.parametrize("method", ["fab", "em"])
def test_refined_rules_follow_the_ensemble_better(method):
    X, y = make_synthetic1(600, random_state=0)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    fidelity = {}
    for rules in ("regions", "refined"):
        fab = FABRulesClassifier(
            forest, method=method, rules=rules, n_init=3, random_state=0
        ).fit(X, y)
        fidelity[rules] = fab.rules_.evaluate(X, model=forest).fidelity
        assert fab.rules_.about["rules"] == rules
        assert fab.rules_.n_rules <= 10
    assert fidelity["refined"] >= fidelity["regions"]


def test_a_constant_ensemble_has_one_line():
    X = np.random.default_rng(0).random((60, 2))
    forest = RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    fab = FABRulesRegressor(forest, n_init=1, random_state=0)
    assert fab.set_params(max_rules=1).fit(X).rules_.n_rules == 1
    assert fab.set_params(max_rules=2).fit(X).rules_.n_rules == 2


def test_a_row_is_a_row_whatever_it_weighs():
    bins = grid_bins()
    few = np.array([0.05, 0.05, 0.95, 0.95, 0.5, 0.5, 0.5])
    X = np.stack([few, few], axis=1)
    target = (few > 0.9).astype(float)

    def lines(weight, times):
        rows = np.repeat(np.arange(len(few)), times)
        training = Training(
            X[rows], target[rows], None, np.full(len(rows), weight), target[rows], bins
        )
        return refined([box(bins, 9, 10)], training, max_rules=3).n_rules

    assert lines(1.0, 1) == 1
    assert lines(3.0, 1) == 1
    assert lines(0.1, 3) == lines(1.0, 3) == 2
