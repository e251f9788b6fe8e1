"""What users of additive rules count on."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import clearwood as cw
from clearwood.rules.evaluation.overlap import jaccard


def additive(estimator, **settings):
    quick = {"n_rules": 4, "max_rules": 4, "n_synthetic": 300}
    settings = {**quick, "random_state": 0, **settings}
    regressor = type(estimator).__name__.endswith("Regressor")
    make = cw.AdditiveRulesRegressor if regressor else cw.AdditiveRulesClassifier
    return make(estimator, **settings)


def planted(n=600, seed=0):
    """Three effects that add up, one of them of two features."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 10, (n, 4)), columns=list("abcd")).astype(float)
    y = (
        10
        + 8.0 * (X["a"] > 4)
        - 3.0 * ((X["b"] <= 5) & (X["c"] > 2))
        + 2.0 * (X["d"] <= 2)
    )
    return X, y


def test_a_planted_sum_is_printed():
    X, y = planted()
    tree = DecisionTreeRegressor().fit(X, y)
    # With some seeds the search ends where four boxes say what three could.
    found = additive(tree, n_rules=6, max_rules=6, random_state=1).fit(X, y)
    assert found.rules_.n_rules == 4
    assert isinstance(found.rules_, cw.rules.RuleSum)
    assert found.rules_.about["method"] == "additive"
    # Printed to a thousandth of the standard deviation.
    np.testing.assert_allclose(found.predict(X), y, atol=0.005 * y.std())
    asked = {frozenset(c.feature for c in r.conditions) for r in found.rules_.rules}
    assert asked == {frozenset({0}), frozenset({1, 2}), frozenset({3})}
    # The rule that moves most comes first.
    assert found.rules_.rules[0].conditions[0].feature == 0


def by_hand(rules, X):
    """Add up what is printed, row by row."""
    rows = X.to_numpy(float)
    totals = []
    for row in rows:
        total = np.array(rules.otherwise.scores or rules.otherwise.prediction)
        for rule in rules.rules:
            if all(c.low < row[c.feature] <= c.high for c in rule.conditions):
                total = total + np.array(rule.scores or rule.prediction)
        totals.append(total)
    return np.array(totals)


def test_values_are_the_printed_sum(diabetes):
    X, y, forest = diabetes
    found = additive(forest).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), by_hand(found.rules_, X))
    fidelity = found.rules_.evaluate(X, y, model=forest).fidelity
    assert fidelity > 0.6
    again = cw.RuleSet.from_json(found.rules_.to_json())
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    for rule in found.rules_.rules:
        assert rule.support >= 5
        assert len(f"{abs(rule.prediction):g}") <= 6


def test_values_are_those_of_least_squares(diabetes):
    X, y, forest = diabetes
    found = additive(forest, n_synthetic=0).fit(X, y)
    target = forest.predict(X)
    design = np.column_stack([found.rules_.matches(X), np.ones(len(X))])
    best = np.linalg.lstsq(design, target, rcond=None)[0]
    printed = [rule.prediction for rule in found.rules_]
    # What they are rounded by, and the slight ridge.
    np.testing.assert_allclose(printed, best, atol=0.02 * target.std())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_the_printed_sum(cancer, n_classes):
    X, y, forest = cancer
    if n_classes == 3:
        X, y = load_iris(return_X_y=True, as_frame=True)
        y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
        forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    found = additive(forest, n_rules=5, max_rules=5).fit(X, y)
    assert found.rules_.evaluate(X, y, model=forest).fidelity > 0.93
    totals = by_hand(found.rules_, X)
    odds = np.exp(totals)
    np.testing.assert_allclose(
        found.predict_proba(X), odds / odds.sum(axis=1, keepdims=True)
    )
    np.testing.assert_array_equal(
        found.predict(X), found.classes_[totals.argmax(axis=1)]
    )
    for rule in found.rules_.rules:
        # Each rule is about one class; of two, about the second.
        assert sum(score != 0 for score in rule.scores) == 1
        if n_classes == 2:
            assert rule.scores[0] == 0
    told = forest.predict_proba(X)
    assert np.abs(found.predict_proba(X) - told).mean() < 0.1


def test_a_model_that_is_sure_gives_finite_scores():
    X = np.arange(100.0)[:, None]
    y = (X[:, 0] > 40).astype(int)
    found = additive(DecisionTreeClassifier().fit(X, y), n_synthetic=0).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), y)
    assert found.rules_.n_rules == 2
    assert np.abs(found.rules_.totals(X)).max() < 20


def test_energy_is_a_sum(shared_data):
    """Effects that add up: a list of 13 lines errs by more than twice as much."""
    table = pd.read_csv(shared_data("data/uci/energy.csv.gz"))
    X, y = table.iloc[:, :8], table["heating_load"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    forest = RandomForestRegressor(20, random_state=0).fit(X_train, y_train)
    found = additive(forest, n_rules=13, max_rules=13, n_synthetic=0).fit(
        X_train, y_train
    )
    scores = found.rules_.evaluate(X_test, y_test, model=forest)
    assert scores.n_rules <= 13
    assert scores.error < 1.5  # the variance of y is about 100
    assert scores.fidelity > 0.98


def correlated(n=240, seed=0):
    """Noisy effects of features that are nearly interchangeable, and a forest."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    X = common + 0.7 * rng.normal(size=(n, 6))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    return X, RandomForestRegressor(20, random_state=0).fit(X, y)


def test_stable_rules_are_frequent_nodes_at_deciles():
    X, forest = correlated()
    found = additive(forest, n_rules=6, max_rules=6, stability=1).fit(X)
    shares = [rule.frequency for rule in found.rules_.rules]
    assert 0.05 < min(shares) and max(shares) <= 1.0
    assert all(len(cuts) <= 9 for cuts in found.bins_.cuts)
    below = [
        np.mean(X[:, c.feature] <= end)
        for rule in found.rules_.rules
        for c in rule.conditions
        for end in (c.low, c.high)
        if np.isfinite(end)
    ]
    # The forest's thresholds are dense enough.
    assert np.abs(np.multiply(10, below) - np.round(np.multiply(10, below))).max() < 0.2
    # Every rule is another one.
    assert len({str(r.conditions) for r in found.rules_.rules}) == len(shares) >= 3
    for text in (str(found.rules_), found.rules_._repr_html_()):
        assert text.count("of the trees") == len(shares)
    assert cw.rules.RuleSet.from_json(found.rules_.to_json()) == found.rules_


def test_stable_rules_change_less_with_the_rows():
    X, forest = correlated()
    likeness = {}
    for stability in (0.0, 1.0):
        found = []
        for seed in range(4):
            kept = np.random.default_rng(seed).permutation(len(X))[:200]
            rules = additive(forest, n_rules=6, max_rules=6, stability=stability)
            found.append(rules.fit(X[kept]).rules_.matches(X))
        shared = [
            jaccard(one, two).max(axis=1).mean()
            for one in found
            for two in found
            if one is not two
        ]
        likeness[stability] = np.mean(shared)
    assert likeness[1.0] > likeness[0.0] + 0.05


def test_the_loss_of_fidelity_by_stability_holds_on_new_rows():
    X, forest = correlated(800)
    new, _ = correlated(4000, seed=1)
    size = {"n_rules": 6, "max_rules": 6, "n_synthetic": 2000}
    fits = [additive(forest, stability=s, **size).fit(X) for s in (0, 1)]
    free, stable = (one.rules_.evaluate(new, model=forest).fidelity for one in fits)
    assert fits[0].stability_loss_ == 0.0
    # The rules of a fold differ from those of all rows.
    assert fits[1].stability_loss_ == pytest.approx(free - stable, abs=0.1)
    assert f"{fits[1].stability_loss_:.3f}" in fits[1].rules_.about["stability"]
