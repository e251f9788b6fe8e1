"""By what rules are judged, and what classes count."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss, roc_auc_score
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.rules import FeatureBins, FeatureSpace, Training
from clearwood.simplifiers._common.scoring import class_weights, losses_of

METHODS = (
    cw.RuleListClassifier,
    cw.DistilledTreeClassifier,
    cw.AdditiveRulesClassifier,
)


@pytest.fixture(scope="module")
def rare():
    """Two of a hundred rows are of a class that is likelier where both are high."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3))
    y = rng.random(3000) < np.where((X[:, 0] > 0.8) & (X[:, 1] > 0), 0.15, 0.005)
    forest = RandomForestClassifier(20, min_samples_leaf=20, random_state=0)
    return X, y.astype(int), forest.fit(X[:1500], y[:1500].astype(int))


def rows_of(target, weight=None):
    n, n_classes = target.shape
    bins = FeatureBins.from_splits(FeatureSpace.numeric(1), feature=[], cut=[])
    weight = np.ones(n) if weight is None else weight
    predicted = target.argmax(axis=1)
    classes = tuple("abc"[:n_classes])
    return Training(np.zeros((n, 1)), target, None, weight, predicted, bins, classes)


def test_losses_are_those_of_the_books():
    rng = np.random.default_rng(0)
    target, said = rng.dirichlet(np.ones(3), (2, 60))
    weight = rng.uniform(0.5, 2, 60)
    rows = rows_of(target, weight)
    truth, guess = target.argmax(axis=1), said.argmax(axis=1)
    np.testing.assert_array_equal(losses_of("agreement", rows, said), truth != guess)
    wrong = losses_of("balanced", rows, said)
    by_class = [
        np.average((truth != guess)[truth == k], weights=weight[truth == k])
        for k in range(3)
    ]
    assert np.average(wrong, weights=weight) == pytest.approx(np.mean(by_class))
    said = np.clip(said, 0.01, None)
    said /= said.sum(axis=1, keepdims=True)
    sure = rows_of(np.eye(3)[truth], weight)
    found = np.average(losses_of("log_loss", sure, said), weights=weight)
    expected = log_loss(truth, said, sample_weight=weight)
    assert found == pytest.approx(expected)
    # What is said to be impossible is lost dearly, but not beyond measure.
    assert 6 < losses_of("log_loss", rows_of(np.eye(2)), np.eye(2)[::-1])[0] < 8


def test_a_function_gives_a_number_per_row():
    target = np.array([[0.9, 0.1], [0.2, 0.8]])
    rows = rows_of(target)

    def brier(target, said):
        return -((target - said) ** 2).sum(axis=1)

    found = losses_of(brier, rows, np.full((2, 2), 0.5))
    np.testing.assert_allclose(found, 1 + np.array([0.32, 0.18]))
    values = replace(rows_of(target), target=np.array([10.0, 30.0]), classes=())
    # In the data's own units, not in those of the search.
    near = losses_of(lambda t, s: -abs(t - s), values, np.array([-1.0, 0.0]))
    np.testing.assert_allclose(near, [1, 11])
    with refuses(InputError):
        losses_of(lambda t, s: 1.0, rows, target)


def test_weights_of_classes():
    rows = rows_of(np.array([[0.9, 0.1, 0.0], [0.7, 0.3, 0.0]]))
    found = class_weights(rows, "balanced")
    assert found[:2] * [0.8, 0.2] == pytest.approx([0.5, 0.5])
    given = class_weights(rows, {"b": 3})
    assert given == pytest.approx(np.array([1, 3, 1]) / 1.4)
    weighted = replace(rows, class_weight=given)
    # Twice as probable is not enough against three times the weight.
    assert weighted.point(np.array([[0.6, 0.3, 0.1], [0.8, 0.2, 0]])).tolist() == [
        1,
        0,
    ]
    with refuses(InputError, match="'z'"):
        class_weights(rows, {"z": 3})
    with refuses(InputError):
        class_weights(rows, {"b": 0})


@pytest.mark.parametrize("make", METHODS)
def test_rare_classes_are_found_if_they_count(make, rare):
    X, y, forest = rare
    quick = {"n_rules": 3, "max_rules": 3, "n_synthetic": 0, "random_state": 0}
    found = make(forest, class_weight="balanced", **quick).fit(X[:1500])
    said = found.predict(X[1500:])
    there = said[y[1500:] == 1].mean()
    assert 0.4 < there and said.mean() < 0.3
    assert y[1500:][said == 1].mean() > 3 * y.mean()
    assert found.rules_.about["class_weight"].startswith("0 0.5")
    p = found.predict_proba(X[1500:])[:, 1]
    assert roc_auc_score(y[1500:], p) > 0.65
    target, said = (m.predict_proba(X[:1500]) for m in (forest, found))
    if make is cw.AdditiveRulesClassifier:
        # As many of both in a world with so many more of the second.
        weight = target @ (0.5 / target.mean(axis=0))
        assert np.average(said[:, 1], weights=weight) == pytest.approx(0.5, abs=0.01)
    else:
        # Printed is how probable it is, not how much it counts.
        assert p.max() < 0.5
        assert said.mean(axis=0) == pytest.approx(target.mean(axis=0))


def test_balanced_needs_no_weights(rare):
    X, y, forest = rare
    quick = {"max_rules": 3, "n_synthetic": 0, "random_state": 0}
    plain = cw.DistilledTreeClassifier(forest, **quick).fit(X[:1500])
    assert set(plain.predict(X)) == {0}
    found = cw.DistilledTreeClassifier(forest, scoring="balanced", **quick)
    found.fit(X[:1500])
    assert set(found.predict(X)) == {0, 1}
    assert found.rules_.about["scoring"] == "balanced"
    score, error = (
        np.array(found.cv_results_[name]) for name in ("score", "score_error")
    )
    assert score.argmax() > 0 and (error > 0).all()
    enough = score >= score.max() - error[score.argmax()] / 2
    assert found.n_rules_ == enough.argmax() + 1
    # By agreement a constant would do: the forest says the same of all rows.
    assert plain.n_rules_ > 1 and plain.cv_results_["fidelity"][0] == 1.0


@pytest.mark.parametrize("make", METHODS)
def test_what_decides_is_what_was_asked_for(make, cancer):
    X, y, forest = cancer
    quick = {"max_rules": 3, "n_synthetic": 0, "random_state": 0}
    lines = {}
    for scoring in ("log_loss", lambda target, said: 1 - (target[:, 0] > 2) * 1.0):
        found = make(forest, scoring=scoring, **quick).fit(X[:150])
        lines[str(scoring)[:8]] = found.n_rules_
        score = np.array(found.cv_results_["score"])
        assert score.shape == np.array(found.cv_results_["fidelity"]).shape
    # All are as good by a function that does not look; a constant tells nothing.
    assert lines["log_loss"] > found.n_rules_ - 1 == 1


def test_by_log_loss_lists_predict_probabilities_better(cancer):
    X, _, forest = cancer
    quick = {"n_rules": 5, "max_rules": 5, "n_synthetic": 0, "random_state": 0}
    loss, wanted = {}, forest.predict_proba(X)
    for scoring in ("agreement", "log_loss"):
        found = cw.RuleListClassifier(forest, scoring=scoring, **quick).fit(X)
        p = np.clip(found.predict_proba(X), 1e-3, 1)
        loss[scoring] = -np.sum(wanted * np.log(p), axis=1).mean()
    assert loss["log_loss"] < 0.98 * loss["agreement"]


def test_what_does_not_go_together(cancer):
    X, y, forest = cancer
    with pytest.raises(ValueError, match="'scoring' parameter"):
        cw.RuleListRegressor(forest, scoring="balanced").fit(X, y)
    with pytest.raises(ValueError, match="'class_weight' parameter"):
        cw.AdditiveRulesRegressor(forest, class_weight="balanced").fit(X, y)


def test_rare_classes_are_found_where_lists_must_rise(rare):
    X, _, forest = rare
    rows = rows_of(forest.predict_proba(X[:1500]))
    quick = {"n_rules": 3, "max_rules": 3, "n_synthetic": 0}
    found = cw.RuleListClassifier(
        forest, class_weight="balanced", monotonic_cst=[1, 1, 0], **quick
    ).fit(X[:1500])
    # As much as it counts, not as probable as it is, decides what a line says.
    least = 1 / (1 + np.divide(*class_weights(rows, "balanced")[::-1]))
    said, p = found.predict(X), found.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(said, p > least)
    assert set(said) == {0, 1} and p.max() < 0.5


def test_rules_are_doubted_by_what_counts(cancer):
    X, _, forest = cancer
    quick = {"n_rules": 4, "max_rules": 4, "n_synthetic": 0, "random_state": 0}
    with warnings.catch_warnings():
        # The model's own class is another one in many rows; that is what was asked.
        warnings.simplefilter("error", cw.exceptions.PoorFidelityWarning)
        found = cw.DistilledTreeClassifier(forest, class_weight={0: 5.0}, **quick)
        assert (found.fit(X).predict(X) != forest.predict(X)).mean() > 0.02
