"""Core parameters of lists, sums and trees: sizes, rows, labels, short numbers."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError

METHODS = ("RuleList", "AdditiveRules", "DistilledTree", "BornAgainTree")
OWN = {
    "RuleList": {"n_synthetic": 200},
    "AdditiveRules": {"n_synthetic": 200},
    "DistilledTree": {"n_synthetic": 200},
    "BornAgainTree": {"n_node_samples": 200},
}


@pytest.fixture(scope="module")
def cases():
    """A forest that was fitted to something else than the labels at hand."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    told = 3.0 * (X[:, 0] > 0.4) + (X[:, 1] > 0.6) - 4.0 * (X[:, 2] > 0.9)
    y = 5.0 * (X[:, 1] > 0.6) + X[:, 0]
    forest = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, told)
    classes = np.where(told > 2, "high", "low")
    labels = np.where(y > 3, "high", "low")
    classifier = RandomForestClassifier(10, max_depth=4, random_state=0)
    return {
        "Regressor": (X, y, forest),
        "Classifier": (X, labels, classifier.fit(X, classes)),
    }


def fitted(method, kind, case, **settings):
    X, y, forest = case
    quick = {"n_rules": 4, "max_rules": 4, "random_state": 0, **OWN[method]}
    make = getattr(cw, f"{method}{kind}")
    return make(forest, **{**quick, **settings}).fit(X, y)


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
@pytest.mark.parametrize("method", METHODS)
def test_rules_of_labels_say_what_the_labels_are(cases, method, kind):
    X, y, forest = cases[kind]
    own = {"n_synthetic": "auto"} if "n_synthetic" in OWN[method] else {}
    found = fitted(
        method, kind, cases[kind], learn_from="labels", round_thresholds=False, **own
    )
    of_model = fitted(method, kind, cases[kind])
    assert found.rules_.about["learn_from"] == "labels"
    assert "target" not in of_model.rules_.about
    assert found.score(X, y) > 0.9 > of_model.score(X, y) + 0.2
    if method == "AdditiveRules":
        return
    caught = found.rules_.apply(X)
    for i, rule in enumerate(found.rules_):
        rows = caught == i
        if kind == "Regressor":
            assert rule.prediction == pytest.approx(y[rows].mean(), rel=1e-12)
        else:
            # Between the share of its rows and that of all.
            own, usual = (y[rows] == "high").mean(), (y == "high").mean()
            high, low = rule.probabilities
            assert high + low == pytest.approx(1.0)
            assert 0.5 < (high - usual) / (own - usual) <= 1.0
            # Agreement is with the model, precision with the labels.
            told = (forest.predict(X[rows]) == rule.prediction).mean()
            assert rule.agreement_assigned == pytest.approx(told)


@pytest.mark.parametrize("method", METHODS)
def test_labels_are_needed_where_rules_are_fitted_to_them(cases, method):
    X, _, forest = cases["Regressor"]
    make = getattr(cw, f"{method}Regressor")
    with refuses(InputError, match="'labels'"):
        make(forest, learn_from="labels").fit(X)


def test_no_labels_are_known_of_synthetic_rows(cases):
    with refuses(InputError, match="n_synthetic.*200"):
        fitted("RuleList", "Regressor", cases["Regressor"], learn_from="labels")


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
@pytest.mark.parametrize("method", METHODS)
def test_a_rule_catches_so_many_rows_at_least(cases, method, kind):
    found = fitted(method, kind, cases[kind], min_samples_leaf=60)
    fewest = [min(rule.assigned for rule in rules) for rules in found.path_]
    assert len(found.path_) > 1
    assert min(fewest) >= 60
    free = fitted(
        method, kind, cases[kind], n_rules=10, max_rules=10, min_samples_leaf=1
    )
    assert min(rule.assigned for rules in free.path_ for rule in rules) < 60
    assert fitted(method, kind, cases[kind], min_samples_leaf=300).rules_.n_rules == 1


@pytest.mark.parametrize("method", METHODS)
def test_a_row_is_a_row_whatever_it_weighs(cases, method):
    X, y, forest = cases["Regressor"]
    make = getattr(cw, f"{method}Regressor")
    settings = {**OWN[method], "n_rules": 2, "max_rules": 2, "min_samples_leaf": 300}
    estimator = make(forest, random_state=0, **settings)
    assert estimator.fit(X, y).rules_.n_rules == 1
    three = np.full(len(X), 3.0)
    assert estimator.fit(X, y, sample_weight=three).rules_.n_rules == 1
    few = np.full(len(X), 0.1)
    estimator.set_params(min_samples_leaf=100)
    assert estimator.fit(X, y, sample_weight=few).rules_.n_rules == 2


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
@pytest.mark.parametrize("method", METHODS)
def test_cuts_are_those_of_the_ensemble_or_short(cases, method, kind):
    exact = fitted(method, kind, cases[kind], round_thresholds=False)
    short = fitted(method, kind, cases[kind])
    cuts = exact.bins_.cuts

    def bounds(found):
        both = {(c.feature, b) for r in found.rules_ for c in r.conditions
                for b in (c.low, c.high) if np.isfinite(b)}  # fmt: skip
        assert both
        return both

    assert all(bound in cuts[d] for d, bound in bounds(exact))
    assert not any(bound in cuts[d] for d, bound in bounds(short))
    digits = [max(len(f"{b:g}") for _, b in bounds(f)) for f in (short, exact)]
    assert digits[0] < digits[1]
    X = cases[kind][0]
    if method != "BornAgainTree":
        # On rows that both were fitted to, the cuts part alike.
        np.testing.assert_array_equal(exact.rules_.matches(X), short.rules_.matches(X))
    if kind == "Regressor":
        told = [r.prediction for r in exact.rules_]
        assert np.mean([len(repr(value)) for value in told]) > 12


@pytest.mark.parametrize("method", METHODS)
def test_more_lines_than_the_most_are_refused(cases, method):
    with refuses(InputError, match="n_rules=7.*max_rules=4"):
        fitted(method, "Regressor", cases["Regressor"], n_rules=7)
