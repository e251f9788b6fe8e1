"""What rules say of new rows, and how that is found."""

import math
import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.wording import same_lines, warns

import clearwood as cw
from clearwood.exceptions import InterruptedFitWarning
from clearwood.rules.building.new_rows import evaluate_apart, fit_shrinkage
from clearwood.simplifiers._common import cross_fitting

N_ROWS = 240
QUICK = {"n_synthetic": 300, "random_state": 0}


def rows_of(seed, n_rows, *, noise=False):
    """Four columns, two of which tell the class; or none does."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 4))
    true = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 0.85, 0.2)
    true = np.full(n_rows, 0.5) if noise else true
    return X, (generator.random(n_rows) < true).astype(int), true


METHODS = [
    ("RuleList", {"n_rules": 5, "n_synthetic": 300}),
    ("DistilledTree", {"n_rules": 5, "n_synthetic": 300}),
    ("BornAgainTree", {"n_rules": 5, "n_node_samples": 100}),
    ("FABRules", {"n_init": 2}),
    ("InTrees", {"n_rules": 5}),
    ("NodeHarvest", {"n_rules": 5}),
]


@pytest.fixture(scope="module")
def noise():
    X, y, _ = rows_of(0, N_ROWS, noise=True)
    return X, y, RandomForestClassifier(20, random_state=0).fit(X, y)


@pytest.mark.parametrize(("method", "settings"), METHODS)
def test_a_forest_that_learnt_noise_by_heart_takes_nobody_in(noise, method, settings):
    X, y, forest = noise
    make = getattr(cw, f"{method}Classifier")
    found = make(forest, random_state=0, **settings).fit(X, y)
    told = [rule for rule in found.rules_ if not math.isnan(rule.expected)]
    assert len(told) >= found.rules_.n_rules - 1 > 1
    # Of its own rows a rule knows far more than is so.
    weights = [rule.assigned for rule in told]
    own = np.average([rule.precision_assigned for rule in told], weights=weights)
    expected = np.average([rule.expected for rule in told], weights=weights)
    assert expected < 0.62
    assert all(rule.low < 0.6 for rule in told)
    assert own > expected + 0.04 or method == "NodeHarvest"


def test_what_is_expected_holds_on_new_rows():
    X, y, _ = rows_of(1, 600)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    found = cw.RuleListClassifier(forest, n_rules=5, **QUICK)
    rules = found.fit(X, y).rules_
    X_new, y_new, _ = rows_of(2, 20_000)
    new = rules.described_on(X_new, y_new)
    # But for a rule of this list, now and then.
    holds = [
        there.rows_assigned * (rule.low <= there.precision_assigned <= rule.high)
        for rule, there in zip(rules, new)
    ]
    assert sum(holds) > 0.9 * new.n_rows
    said = found.predict_proba(X_new)
    assert np.abs(said.sum(axis=1) - 1).max() < 1e-12
    # What is printed is what is predicted.
    decided = rules.apply(X_new)
    shares = np.array([rule.probabilities for rule in rules])
    np.testing.assert_array_equal(said, shares[decided])
    texts = " ".join(str(rules).split())
    told = [rules.outcome.expected_text(rule.statistics) for rule in rules]
    assert all(f"probability {text}" in texts for text in told)


def test_means_of_values_hold_on_new_rows():
    X, _, true = rows_of(3, 400)
    generator = np.random.default_rng(0)
    y = 10 * true + generator.normal(size=len(X))
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    found = cw.DistilledTreeRegressor(
        forest, n_rules=4, n_synthetic=300, random_state=0
    ).fit(X, y)
    X_new, _, truth = rows_of(4, 20_000)
    decided = found.rules_.apply(X_new)
    holds = []
    for k, rule in enumerate(found.rules_):
        there = 10 * truth[decided == k].mean()
        holds.append((decided == k).mean() * (rule.low <= there <= rule.high))
        assert abs(rule.expected - there) < 1.0
        # Leaves of the tree and rules know the same.
        assert found.tree_.leaves[k].expected == rule.expected
    assert sum(holds) > 0.7


def test_rules_are_judged_without_the_rows_left_out(noise, monkeypatch):
    X, y, forest = noise
    seen = []

    def spy(rules, fitted, left_out):
        seen.append((fitted, left_out))
        assert not fitted.n_synthetic
        return evaluate_apart(rules, fitted, left_out)

    monkeypatch.setattr(cross_fitting, "evaluate_apart", spy)
    cw.RuleListClassifier(forest, n_rules=3, **QUICK).fit(X, y)
    # Five folds, as these rows are few.
    assert len(seen) == 5
    kept = [{tuple(row) for row in left_out.encoded} for _, left_out in seen]
    assert sum(map(len, kept)) == len(set.union(*kept)) == N_ROWS
    for fitted, left_out in seen:
        # What the forest says of them it has learnt from the others, too.
        np.testing.assert_array_equal(fitted.target, np.eye(2)[fitted.labels])
        rows = {tuple(row) for row in fitted.encoded}
        assert not rows & {tuple(row) for row in left_out.encoded}
        assert len(fitted) + len(left_out) == N_ROWS


def test_rules_that_nobody_reads_warn_nobody(noise, monkeypatch, recwarn):
    """Those of a part of the rows; but Ctrl-C there ends the search for all."""
    X, y, forest = noise
    find, kind = cw.RuleListClassifier._refit, [UserWarning]

    def warning(self, *args):
        warnings.warn("of a part", kind[0], stacklevel=1)
        return find(self, *args)

    monkeypatch.setattr(cw.RuleListClassifier, "_refit", warning)
    asked = cw.RuleListClassifier(forest, n_rules=3, **QUICK)
    told = asked.fit(X, y).rules_
    assert not any("of a part" in str(w.message) for w in recwarn)
    assert not all(math.isnan(rule.expected) for rule in told)
    kind[0] = InterruptedFitWarning
    with warns(InterruptedFitWarning):
        told = asked.fit(X, y).rules_
    assert all(math.isnan(rule.expected) for rule in told)


def test_of_many_rows_a_part_tells_how_careful_to_be(noise, monkeypatch):
    X, y, forest = noise
    sizes = []

    def spy(judged, outcome):
        sizes.append(sum(lines.new_rows.sum() for lines in judged))
        return fit_shrinkage(judged, outcome)

    monkeypatch.setattr(cross_fitting, "fit_shrinkage", spy)
    monkeypatch.setattr(cross_fitting, "MOST_ROWS", 90)
    cw.RuleListClassifier(forest, n_rules=3, **QUICK).fit(X, y)
    assert sizes == [90]


def test_without_labels_nothing_is_known_of_new_rows(noise):
    X, y, forest = noise
    plain = cw.RuleListClassifier(forest, n_rules=3, **QUICK)
    rules = plain.fit(X).rules_
    assert all(math.isnan(rule.expected) for rule in rules)
    assert plain.shrinkage_ is None
    told = plain.fit(X, y).rules_
    # The search is the same.
    assert [r.conditions for r in told] == [r.conditions for r in rules]


def test_lists_in_order_expect_in_order():
    X, y, _ = rows_of(5, 300)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    found = cw.RuleListClassifier(
        forest, n_rules=5, monotonic_cst=[1, 0, 0, 0], **QUICK
    ).fit(X, y)
    steps = np.repeat(X[:50], 2, axis=0)
    steps[1::2, 0] += 0.7
    said = found.predict_proba(steps)[:, 1]
    assert (said[1::2] >= said[::2]).all()
    for rule in found.rules_:
        assert rule.expected == rule.probabilities[int(rule.prediction)]


def test_estimates_of_rows_in_groups_hold_only_with_groups():
    """Patients differ by an effect of their own, by which measurements know them."""
    generator = np.random.default_rng(0)

    def visits(n_patients):
        patient = np.repeat(np.arange(n_patients), 10)
        X, effect = (
            generator.normal(size=(n_patients, 3)),
            generator.normal(size=n_patients),
        )
        true = 1 / (1 + np.exp(-3 * effect))[patient]
        return X[patient], (generator.random(len(true)) < true).astype(int), patient

    X, y, patient = visits(40)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    asked = cw.RuleListClassifier(forest, n_rules=5, **QUICK)
    X_new, y_new, _ = visits(2000)
    errors = {}
    for groups in (None, patient):
        rules = asked.fit(X, y, groups=groups).rules_
        new = rules.described_on(X_new, y_new)
        weight = np.array([there.rows_assigned for there in new])
        share = np.array([there.precision_assigned for there in new])
        expected = np.array([rule.expected for rule in rules])
        holds = [rule.low <= there <= rule.high for rule, there in zip(rules, share)]
        errors[groups is None] = (
            np.average(expected - share, weights=weight),
            np.average(holds, weights=weight),
        )
    assert errors[True][0] > 0.2 and errors[True][1] < 0.5
    assert abs(errors[False][0]) < 0.1 and errors[False][1] > 0.9


@pytest.mark.parametrize("method", ["RuleList", "DistilledTree", "AdditiveRules"])
def test_folds_select_what_is_true_and_not_what_is_noise(method):
    X = np.random.default_rng(0).normal(size=(N_ROWS, 4))
    y = (X[:, 0] > 0).astype(int)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    make = getattr(cw, f"{method}Classifier")
    own = {"n_rules": 2, "learn_from": "labels", "random_state": 0}
    rules = make(forest, **own).fit(X, y).rules_
    assert rules.rules[0].selected == (5, 5)
    same_lines(str(rules))
    assert rules._repr_html_().count("selected in") == 1
    X, y, _ = rows_of(0, N_ROWS, noise=True)
    noise = make(forest, n_rules=5, learn_from="labels", random_state=0)
    counts = [rule.selected[0] for rule in noise.fit(X, y).rules_.rules]
    assert len(counts) > 1 and np.mean(counts) < 2


def test_selected_folds_are_those_of_the_splitter_and_are_saved(tmp_path):
    X, y, _ = rows_of(0, N_ROWS)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    found = cw.RuleListClassifier(
        forest, n_rules=4, cv=4, learn_from="labels", random_state=0
    )
    rules = found.fit(X, y).rules_
    assert {rule.selected[1] for rule in rules.rules} == {4}
    rules.save(tmp_path / "rules.json")
    assert cw.load(tmp_path / "rules.json") == rules
    # Rules of folds are fitted to labels, and are no refits of those of a model.
    of_model = cw.RuleListClassifier(forest, n_rules=4, **QUICK).fit(X, y).rules_
    assert {rule.selected for rule in of_model.rules} == {()}
    assert "folds" not in str(of_model)
