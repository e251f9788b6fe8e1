"""What stays the same when rules are found again on other samples."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeRegressor
from tests.wording import refuses, same_lines, warns

import clearwood as cw
from clearwood import stability
from clearwood.exceptions import InputError, InterruptedFitWarning
from clearwood.outcomes import Mean


def rule_list(estimator, **settings):
    quick = {"n_rules": 3, "max_rules": 3, "n_synthetic": 0}
    regressor = type(estimator).__name__.endswith("Regressor")
    make = cw.RuleListRegressor if regressor else cw.RuleListClassifier
    return make(estimator, **{**quick, "random_state": 0, **settings})


def sample(n_rows=200):
    rng = np.random.default_rng(0)
    names = [f"f{d}" for d in range(6)]
    return pd.DataFrame(rng.uniform(size=(n_rows, 6)), columns=names), rng


@pytest.fixture(scope="module")
def planted():
    """Two boxes decide everything, each for a class of its own."""
    X, _ = sample()
    y = np.select([X["f0"] > 0.7, X["f1"] < 0.25], ["high", "low"], "none")
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    return X, y, rule_list(forest).fit(X, y)


@pytest.fixture(scope="module")
def noise():
    """Labels that no feature tells anything of."""
    X, rng = sample()
    y = rng.choice(["yes", "no"], len(X))
    forest = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y)
    return X, y, rule_list(forest, n_rules=5, max_rules=5).fit(X, y)


def test_a_planted_rule_is_stable_and_noise_is_not(planted, noise):
    X, y, fitted = planted
    strong = stability(fitted, X, y, n_refits=6, random_state=0)
    assert strong.agreement > 0.95
    assert strong.agreement_with_rules > 0.95
    assert [rule.returned for rule in strong.rules] == [6, 6]
    assert min(rule.overlap for rule in strong.rules) > 0.85
    assert list(strong.features)[:2] == ["f0", "f1"]
    assert strong.features["f0"] == 6
    X, y, fitted = noise
    weak = stability(fitted, X, y, n_refits=6, refit_ensemble=True, random_state=0)
    assert weak.agreement < 0.8
    assert np.mean([rule.overlap for rule in weak.rules]) < 0.5
    assert sum(rule.returned for rule in weak.rules) < 0.5 * 6 * len(weak.rules)
    assert len(weak.features) > 3
    assert weak.agreement_std > strong.agreement_std


def test_the_ensemble_fitted_again_varies_more_where_there_is_noise(noise):
    X, y, fitted = noise
    fixed = stability(fitted, X, y, n_refits=4, random_state=0)
    again = stability(fitted, X, y, n_refits=4, refit_ensemble=True, random_state=0)
    assert again.agreement < fixed.agreement - 0.05
    same_lines(str(again))
    same_lines(str(fixed))


def test_the_same_seed_gives_the_same_answer_whatever_n_jobs(noise):
    X, y, fitted = noise
    before = str(fitted.rules_)
    one = stability(fitted, X, y, n_refits=3, random_state=1)
    two = stability(fitted, X, y, n_refits=3, n_jobs=2, random_state=1)
    assert one == two
    assert one != stability(fitted, X, y, n_refits=3, random_state=2)
    assert str(fitted.rules_) == before and fitted.n_jobs is None


def test_numbers_are_what_the_definitions_say(noise):
    """All refits by hand, from the same samples."""
    X, y, fitted = noise
    found = stability(fitted, X, n_refits=3, random_state=5)
    refits = []
    for generator in np.random.default_rng(5).spawn(3):
        drawn = generator.integers(len(X), size=len(X))
        weight = np.bincount(drawn, minlength=len(X))
        seed = int(generator.integers(2**31))
        again = rule_list(fitted.ensemble_, n_rules=5, max_rules=5, random_state=seed)
        refits.append(again.fit(X, None, sample_weight=weight).rules_)
    said = [rules.predict(X) for rules in refits]
    pairs = [np.mean(a == b) for a, b in itertools.combinations(said, 2)]
    assert found.agreement == pytest.approx(np.mean(pairs))
    assert found.agreement_std == pytest.approx(np.std(pairs))
    for i, rule in enumerate(fitted.rules_.rules):
        best = []
        for rules in refits:
            mine = set(np.flatnonzero(fitted.rules_.matches(X)[:, i]))
            theirs = [
                set(np.flatnonzero(rules.matches(X)[:, j]))
                for j, other in enumerate(rules.rules)
                if other.prediction == rule.prediction
            ]
            if rules.otherwise.prediction == rule.prediction:
                theirs.append(set(np.flatnonzero(~rules.matches(X).any(axis=1))))
            best.append(max([len(mine & t) / len(mine | t) for t in theirs] or [0]))
        assert found.rules[i].overlap == pytest.approx(np.mean(best))
        assert found.rules[i].returned == sum(b >= 0.5 for b in best)
    assert found.n_rules == tuple(rules.n_rules for rules in refits)


def test_regression_is_judged_by_concordance():
    X, rng = sample(120)
    y = 10.0 * (X["f0"] > 0.5) + rng.normal(scale=0.1, size=len(X))
    forest = RandomForestRegressor(8, max_depth=4, random_state=0).fit(X, y)
    fitted = rule_list(forest, n_rules=2, max_rules=2).fit(X, y)
    found = stability(fitted, X, y, n_refits=3, random_state=0)
    assert found.agreement > 0.95 and found.rules[0].returned == 3
    assert "concordance" in str(found)
    one, two = rng.normal(size=(2, 100_000))
    assert Mean().concordance(one, one) == 1.0
    assert abs(Mean().concordance(one, two)) < 0.02
    assert Mean().concordance(one, one + 5.0) == pytest.approx(2 / 27, rel=0.05)


def test_text_table_and_plain_data(planted):
    X, y, fitted = planted
    found = stability(fitted, X, y, n_refits=3, random_state=0)
    same_lines(str(found))
    assert found._repr_html_().count("3 of 3") >= 2
    assert json.loads(json.dumps(found.as_dict()))["rules"][0]["returned"] == 3


def test_fab_and_progress(planted, capsys):
    X, y, fitted = planted
    fab = cw.FABRulesClassifier(
        fitted.ensemble_, max_rules=4, n_init=2, random_state=0, verbose=True
    ).fit(X, y)
    capsys.readouterr()
    stability(fab, X, y, n_refits=2, random_state=0, verbose=True)
    shown = capsys.readouterr().err
    assert "refits: " in shown and "2/2" in shown and "restarts" not in shown


def test_an_interrupt_keeps_what_is_done(planted, monkeypatch):
    X, y, fitted = planted

    def interrupted_at(position):
        calls = iter(range(10))
        whole = cw.RuleListClassifier.fit

        def fit(self, *args, **options):
            if next(calls) == position:
                raise KeyboardInterrupt
            return whole(self, *args, **options)

        return fit

    with monkeypatch.context() as patch:
        patch.setattr(cw.RuleListClassifier, "fit", interrupted_at(2))
        with warns(InterruptedFitWarning):
            found = stability(fitted, X, y, n_refits=5, random_state=0)
    assert found.n_refits == 2 and len(found.n_rules) == 2
    with monkeypatch.context() as patch:
        patch.setattr(cw.RuleListClassifier, "fit", interrupted_at(1))
        with pytest.raises(KeyboardInterrupt):
            stability(fitted, X, y, n_refits=5, random_state=0)


def test_what_cannot_be_fitted_again_is_refused(planted):
    X, y, fitted = planted
    with refuses(InputError):
        stability(rule_list(None), X, y)
    with pytest.raises(InputError, match="n_refits"):
        stability(fitted, X, y, n_refits=1)
    with refuses(InputError):
        stability(fitted, X, refit_ensemble=True)
    for model in (fitted.ensemble_, FrozenEstimator(fitted.estimator_)):
        held = rule_list(model).fit(X, y)
        with refuses(InputError):
            stability(held, X, y, refit_ensemble=True)


def test_the_weights_of_the_fit_are_those_of_the_refits():
    X = np.arange(400.0)[:, None]
    y = np.where(X[:, 0] < 200, X[:, 0] > 100, X[:, 0] > 350).astype(float)
    tree = DecisionTreeRegressor(random_state=0).fit(X, y)
    weight = (X[:, 0] < 200).astype(float)
    rules = cw.RuleListRegressor(
        tree, n_rules=2, max_rules=2, n_synthetic=0, random_state=0
    ).fit(X, y, sample_weight=weight)
    found = cw.stability(rules, X, y, sample_weight=weight, n_refits=4, random_state=0)
    assert found.agreement_with_rules > 0.95
    with pytest.raises(InputError, match="sample_weight"):
        cw.stability(rules, X, y, sample_weight=weight[:3], n_refits=4)
