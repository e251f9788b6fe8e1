"""What all promise that turn an ensemble into rules: each promise once.

The rows of ``tests/estimators.py`` are held to this and to ``tests/contract.py``.
"""

import inspect
import json

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.estimators import SIMPLIFIERS, asked, each, says
from tests.rules.naive import read_aloud
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import ClearwoodError, InputError
from clearwood.simplifiers._common import cross_fitting
from clearwood.simplifiers._common.size_path import BaseSizePath

CORE = {
    "n_rules": "auto",
    "max_rules": 10,
    "min_samples_leaf": 5,
    "learn_from": "model",
    "exclude_features": (),
    "round_thresholds": True,
}
LAST = {"n_jobs": None, "verbose": False, "cv": None, "random_state": None}
MIN_ROWS = {  # of the articles
    cw.InTreesClassifier: 1,
    cw.InTreesRegressor: 1,
    cw.NodeHarvestClassifier: 10,
    cw.NodeHarvestRegressor: 10,
}
MOST_OF_ITS_OWN = 10
STRANGE = pd.DataFrame({"age": [np.nan, 30.0, 70.0], "ward": ["west", None, None]})


def sizes(found):
    """All rules that a fit leaves behind, by the number of lines."""
    return {rules.n_rules: rules for rules in getattr(found, "path_", [found.rules_])}


@each(SIMPLIFIERS)
def test_an_ensemble_that_says_one_thing_is_one_line(case):
    X, y = case.data()
    flat = case.unfitted(min_samples_leaf=len(y)).fit(X, y)
    for n_rules in ("auto", 3):
        found = case.made(flat, n_rules=n_rules).fit(X, y)
        assert found.rules_.n_rules == 1
        np.testing.assert_allclose(says(found, X), says(flat, X), rtol=5e-2)


@each(SIMPLIFIERS, keeps="any-model")
def test_no_row_is_special_where_a_model_has_no_trees(case):
    rng, n = np.random.default_rng(0), 200
    flag = rng.random(n) < 0.5
    X = np.column_stack([rng.normal(size=(n, 2)), *[flag] * 12])
    tables = []

    def model(Z):
        tables.append(Z)
        return 1 / (1 + np.exp(-2 * Z[:, 0] - Z[:, 1] - (Z[:, 2:] - 0.5).sum(axis=1)))

    y = model(X)
    y = np.where(y > 0.5, "yes", "no") if case.classifies else y
    plain = case.made(model).fit(X, y)
    for first in (flag, ~flag):
        order = np.argsort(first + rng.random(n))
        other = case.made(model).fit(X[order], y[order])
        np.testing.assert_allclose(says(other, X), says(plain, X), rtol=1e-9)
    # Four lines hold three columns at most; the others vary.
    fixed = [(Z == Z[0]).all(axis=0).sum() for Z in tables if len(Z) >= 100]
    assert len(fixed) > 3 and max(fixed) <= 3


@each(SIMPLIFIERS)
def test_two_rows_are_one_line(case):
    X, y = case.data()
    tree = (DecisionTreeClassifier if case.classifies else DecisionTreeRegressor)()
    two = case.made(tree, n_rules="auto", min_samples_leaf=5).fit(X[:2], y[:2])
    assert two.rules_.n_rules == 1


@each(SIMPLIFIERS)
def test_the_default_is_histogram_boosting(case):
    X, y = case.data()
    inner = case.made(None).fit(X[:80], y[:80]).estimator_
    assert type(inner).__name__.startswith("HistGradientBoosting")


@each(SIMPLIFIERS)
def test_labels_are_not_needed_to_explain_a_fitted_ensemble(case):
    X, _ = case.data()
    found = case.made(case.forest()).fit(X)
    assert np.isnan(found.rules_.rules[0].precision)
    # Of new rows nothing is known without them.
    np.testing.assert_array_equal(found.predict(X), case.fitted().predict(X))
    asked = [[r.conditions for r in e.rules_] for e in (found, case.fitted())]
    assert asked[0] == asked[1]


@each(SIMPLIFIERS)
@pytest.mark.parametrize("data", ["numbers", "gaps"])
def test_the_printed_rules_are_what_predicts(case, data):
    numbers = data == "numbers"
    X, y = case.data() if numbers else case.gaps()
    found = case.made(case.forest() if numbers else case.reader()).fit(X, y)
    if not numbers:  # A ward that nobody has seen, and none.
        X = pd.concat([X.astype({"ward": object}), STRANGE])
    for rules in (found.rules_, *sizes(found).values()):
        document = json.loads(rules.to_json())
        aloud = [read_aloud(document, row) for row in X.to_dict("records")]
        if case.classifies:
            np.testing.assert_allclose(rules.predict_proba(X), aloud, rtol=1e-12)
            most = [rules.classes[i] for i in np.argmax(aloud, axis=1)]
            if isinstance(rules, cw.RuleList):  # What the model says, likely or not.
                most = rules.predictions[rules.apply(X)]
            np.testing.assert_array_equal(rules.predict(X), most)
        else:
            np.testing.assert_allclose(rules.predict(X), aloud, rtol=1e-12)
    np.testing.assert_array_equal(found.predict(X), found.rules_.predict(X))


@each(SIMPLIFIERS)
def test_rules_count_the_rows_that_they_catch(case):
    X, y = case.data()
    rules = case.fitted().rules_
    caught = rules.matches(X)
    for i, rule in enumerate(rules.rules):
        assert rule.support == caught[:, i].sum()
    if isinstance(rules, cw.RuleList):
        first = rules.apply(X)
        assert [line.assigned for line in rules] == [
            (first == i).sum() for i in range(rules.n_rules)
        ]


def weighted(case, scale=1.0):
    """Fitted with weights in 32nds, of which sums are exact; and which."""
    X, y = case.data()
    weight = scale * (1 + np.arange(len(y)) % 97) / 32
    found = case.made(case.forest()).fit(X, y, sample_weight=weight)
    return found, weight


@each(SIMPLIFIERS)
def test_rows_are_counted_and_their_weight_stands_beside(case):
    X, _ = case.data()
    found, weight = weighted(case)
    rules = found.rules_
    matches = rules.matches(X)
    part = rules.contributing(matches)
    for i, rule in enumerate(rules):
        if rule.conditions:
            assert rule.rows == matches[:, i].sum()
            assert rule.support == weight[matches[:, i]].sum()
        assert rule.rows_assigned == part[:, i].sum()
        assert rule.assigned == weight[part[:, i]].sum()
    assert (rules.n_rows, rules.total_weight) == (len(X), weight.sum())
    rule = rules.rules[0]
    # It decides all that it holds; the others may not.
    rows, weighing = f"{rule.rows} rows, ", f"weight {rule.support:.6g}"
    assert rows + weighing in str(rules).replace("\n     ", " ")
    assert f">{weighing}</span>" in rules._repr_html_()
    assert f"& {rule.rows}, {weighing}" in rules.to_latex()
    assert cw.RuleSet.from_json(rules.to_json()) == rules
    without = json.loads(rules.to_json())
    for line in (*without["rules"], without["otherwise"]):
        del line["rows"], line["rows_assigned"]
    before = cw.RuleSet.from_json(json.dumps(without))
    assert before.rules[0].rows == rule.support


@each(SIMPLIFIERS)
def test_rows_without_weights_are_their_own_weight(case):
    for rule in case.fitted().rules_:
        assert (rule.rows, rule.rows_assigned) == (rule.support, rule.assigned)
    assert '"rows"' not in case.fitted().rules_.to_json()


@each(SIMPLIFIERS)
def test_the_unit_of_weights_does_not_matter(case):
    if "FAB" in case.make.__name__:
        pytest.skip("Its criterion asks how many rows the weights stand for.")
    X, _ = case.data()
    found = weighted(case)[0].rules_
    for power in (-300, 1, 300):
        other = weighted(case, 2.0**power)[0].rules_
        assert [r.conditions for r in other] == [r.conditions for r in found]
        assert other.rules[0].support == 2.0**power * found.rules[0].support
        np.testing.assert_array_equal(other.predict(X), found.predict(X))


@each(SIMPLIFIERS)
@pytest.mark.parametrize("largest", [1e-150, 1e150])
def test_weights_that_cannot_be_summed_are_refused(case, largest):
    X, y = case.data()
    with refuses(InputError, match="sample_weight"):
        case.made(case.forest()).fit(X, y, sample_weight=np.full(len(y), largest))


@each(SIMPLIFIERS)
def test_min_rows_are_rows_whatever_they_weigh(case):
    X, y = case.data()
    least, weight = len(y) // 8, np.full(len(y), 1e3)
    found = case.made(case.forest(), min_samples_leaf=least)
    for rules in sizes(found.fit(X, y, sample_weight=weight)).values():
        assert all(rule.rows_assigned >= least for rule in rules.rules)


# Of scikit-learn, which takes means of neighbours.
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@each(SIMPLIFIERS)
@pytest.mark.parametrize("largest", [1.7e308, 1e-310])
def test_numbers_near_the_ends_of_float64(case, largest):
    X, y = case.data()
    # Numbers of both signs, whose means scikit-learn can take.
    X = X - X.median()
    X = X / np.abs(X).max() * largest
    boosting = HistGradientBoostingRegressor, HistGradientBoostingClassifier
    model = boosting[case.classifies](max_iter=10, random_state=0)
    rules = case.made(model).fit(X, y).rules_
    assert rules.n_rows == len(X) and len(set(rules.predict(X).tolist())) > 1
    aloud = [read_aloud(json.loads(rules.to_json()), r) for r in X.to_dict("records")]
    found = rules.predict_proba(X) if case.classifies else rules.predict(X)
    np.testing.assert_allclose(found, aloud, rtol=1e-12)
    told = rules.explain(X.iloc[0])
    for change in told.changes:
        changed = X.iloc[0].to_dict() | dict(zip(change.features, change.values))
        assert rules.predict([list(changed.values())])[0] == change.prediction
    for export in (str, cw.RuleSet.to_python, cw.RuleSet.to_sql, cw.RuleSet.to_latex):
        assert export(rules)


@each(SIMPLIFIERS)
def test_progress_is_shown_where_it_is_asked_for(case, capsys):
    quiet = case.fitted(n_rules="auto")
    assert capsys.readouterr() == ("", "")
    shown = case.fitted(n_rules="auto", verbose=True)
    out, progress = capsys.readouterr()
    assert out == "" and progress
    assert shown.rules_ == quiet.rules_


@each(SIMPLIFIERS)
def test_the_core_parameters_are_the_same(case):
    found = {
        name: parameter.default
        for name, parameter in inspect.signature(case.make).parameters.items()
    }
    names = list(found)
    own = names[1 + len(CORE) : -len(LAST)]
    assert names == ["estimator", *CORE, *own, *LAST]
    assert len(own) <= MOST_OF_ITS_OWN
    core = {name: found[name] for name in (*CORE, *LAST)}
    assert core == {**CORE, **LAST, "min_samples_leaf": MIN_ROWS.get(case.make, 5)}


@each(SIMPLIFIERS)
def test_n_rules_and_max_rules_are_caps(case):
    X, y = case.data()
    for n_rules, most in ((1, 1), (3, 6), ("auto", 2), ("auto", 1)):
        found = case.made(case.forest(), n_rules=n_rules, max_rules=most).fit(X, y)
        cap = most if n_rules == "auto" else n_rules
        assert found.rules_.n_rules <= cap
        if n_rules == 3:
            assert found.rules_.n_rules > 1
    wish = case.made(case.forest(), n_rules=5, max_rules=4)
    with pytest.raises(InputError, match="n_rules.*5.*max_rules.*4"):
        wish.fit(X, y)


@each(SIMPLIFIERS, keeps="path")
def test_the_path_has_all_sizes(case):
    X, y = case.data()
    longest = case.made(case.forest(), n_rules=6, max_rules=6).fit(X, y)
    lines = [rules.n_rules for rules in longest.path_]
    assert lines[0] == 1
    assert lines == sorted(set(lines))
    assert len(lines) > 3
    assert longest.path_[-1].rules == longest.rules_.rules
    fidelity = [r.evaluate(X, model=case.forest()).fidelity for r in longest.path_]
    assert fidelity[-1] > fidelity[0]


@each(SIMPLIFIERS, keeps="choice")
def test_as_many_lines_as_pay_within_half_a_standard_error(case):
    X, y = case.data()
    path = case.made(case.forest(), n_rules=6, max_rules=6).fit(X, y).path_
    found = case.made(case.forest(), n_rules="auto", max_rules=6).fit(X, y)
    # How much is to be expected of them is learnt at the length that is taken.
    one, two = (
        [[r.conditions for r in rules] for rules in p] for p in (found.path_, path)
    )
    assert one == two
    judged = found.cv_results_
    names = (
        ("score", "score_error")
        if "score" in judged
        else ("fidelity", "standard_error")
    )
    score, error = (np.array(judged[name]) for name in names)
    best = score.argmax()
    enough = score >= score[best] - error[best] / 2
    assert found.n_rules_ == enough.argmax() + 1
    assert found.rules_.n_rules == max(n for n in sizes(found) if n <= found.n_rules_)


@each(SIMPLIFIERS)
def test_no_rule_catches_fewer_than_min_rows(case):
    least = int(min(rule.assigned for rule in case.fitted().rules_.rules))
    for rules in sizes(case.fitted(min_samples_leaf=least + 1)).values():
        assert all(rule.assigned > least for rule in rules.rules)
    assert case.fitted(min_samples_leaf=1000).rules_.n_rules == 1


# As if the forest's two classes were in the wrong order.
@pytest.mark.filterwarnings("ignore::clearwood.exceptions.ClassOrderWarning")
@each(SIMPLIFIERS)
def test_labels_are_followed_where_they_are_the_target(case):
    """A forest that is wrong about half of the rows, which its cuts tell apart."""
    X, y = case.data()
    sick = X["bmi"] > 26
    y, wrong = (
        (np.where(side, "high", "low") if case.classifies else 100.0 * side)
        for side in (sick, ~sick)
    )
    forest = case.unfitted().fit(X, wrong)
    by_model, by_labels = (
        case.made(forest, learn_from=learn_from, **case.no_synthetic).fit(X, y)
        for learn_from in ("model", "labels")
    )
    assert by_model.score(X, wrong) > 0.8 > 0.2 > by_model.score(X, y)
    assert by_labels.score(X, y) > 0.8 > 0.2 > by_labels.score(X, wrong)
    with pytest.raises(ValueError, match="requires y"):
        case.made(forest, learn_from="labels", **case.no_synthetic).fit(X)


@each(SIMPLIFIERS)
def test_forbidden_features_are_never_asked(case):
    X, y = case.data()
    assert "s5" in asked(case.fitted().rules_)
    found = case.fitted(exclude_features=["s5", list(X).index("bp")])
    for rules in sizes(found).values():
        assert asked(rules) <= {"age", "bmi"}
    assert found.rules_.n_rules > 1
    assert found.rules_.about["exclude_features"] == "bp, s5"
    assert case.fitted(exclude_features=list(X)).rules_.n_rules == 1
    with refuses(InputError, match="'size'"):
        case.fitted(exclude_features=["size"])


@each(SIMPLIFIERS)
def test_rounded_cuts_change_no_training_prediction(case):
    X, _ = case.data()
    rounded, exact = (case.fitted(round_thresholds=choice) for choice in (True, False))
    digits = {}
    for found in (rounded, exact):
        bounds = {
            (c.feature, bound)
            for rule in found.rules_
            for c in rule.conditions
            for bound in (c.low, c.high)
            if np.isfinite(bound)
        }
        digits[found] = sum(len(repr(bound)) for _, bound in bounds) / len(bounds)
        if found is exact:
            assert all(b in found.bins_.cuts[d] for d, b in bounds)
    assert digits[rounded] < digits[exact]
    np.testing.assert_array_equal(rounded.rules_.matches(X), exact.rules_.matches(X))


@each(SIMPLIFIERS)
def test_wrong_settings_are_refused(case):
    X, y = case.data()
    other = next(c for c in SIMPLIFIERS if c.classifies != case.classifies)
    for settings, message in (
        ({"n_rules": 0}, "n_rules"),
        ({"n_rules": "all"}, "n_rules"),
        ({"max_rules": 0}, "max_rules"),
        ({"min_samples_leaf": -1}, "min_samples_leaf"),
        ({"learn_from": "ensemble"}, "learn_from"),
        ({"round_thresholds": "yes"}, "round_thresholds"),
        ({"exclude_features": "age"}, "exclude_features"),
        ({"estimator": object()}, "object"),
        ({"estimator": other.forest()}, "classification|regression"),
        ({"estimator": case.boosting()}, r"\['ward'\]"),
    ):
        with pytest.raises((ClearwoodError, ValueError, TypeError), match=message):
            case.made(**{"estimator": case.forest(), **settings}).fit(X, y)


@each([case for case in SIMPLIFIERS if case.classifies])
def test_one_class_is_refused(case):
    X, y = case.data()
    with refuses(InputError):
        case.made(case.unfitted()).fit(X, np.full(len(y), "high"))


# Rows that are held out


def folds_drawn(monkeypatch, fit):
    """Values of the first column in both parts of each fold that a fit draws."""
    seen = []

    def kept_apart(*parts):
        seen.append([set(part.encoded[:, 0]) for part in parts])

    def left_out(method, training):
        for rules, fitted, held in of_estimates(method, training):
            kept_apart(fitted, held)
            yield rules, fitted, held

    def losses(self, training, kept, held, seed):
        kept_apart(training.take(kept), training.take(held))
        return of_sizes(self, training, kept, held, seed)

    of_estimates, of_sizes = cross_fitting.left_out_parts, BaseSizePath._held_out_losses
    with monkeypatch.context() as patch:
        patch.setattr(cross_fitting, "left_out_parts", left_out)
        patch.setattr(BaseSizePath, "_held_out_losses", losses)
        fit()
    return seen


def panel(case):
    """Rows of twelve groups, which the first column numbers, and a model of them."""
    X, y = case.data()
    X, groups = X.iloc[:, :3].copy(), np.arange(len(y)) % 12
    X.insert(0, "group", 1.0 * groups)
    return X, y, groups, case.unfitted().fit(X, y)


@each(SIMPLIFIERS)
def test_no_fold_divides_a_group(case, monkeypatch):
    X, y, groups, model = panel(case)

    def fit(given=groups):
        case.made(model, n_rules="auto").fit(X, y, groups=given)

    seen = folds_drawn(monkeypatch, fit)
    assert seen and all(kept and held and not kept & held for kept, held in seen)
    # Every group is held out once, by every three folds.
    assert sum(len(held) for _, held in seen) == 12 * len(seen) / 3
    assert all(
        kept & held for kept, held in folds_drawn(monkeypatch, lambda: fit(None))
    )


@each(SIMPLIFIERS)
def test_a_splitter_in_time_holds_out_later_rows(case, monkeypatch):
    X, y, _, model = panel(case)
    X["group"] = 1.0 * np.arange(len(y))  # the time
    splitter = TimeSeriesSplit(4)
    made = case.made(model, n_rules="auto", cv=splitter)
    if "stability" in made.get_params():
        made.set_params(stability=0.5)
    seen = folds_drawn(monkeypatch, lambda: made.fit(X, y))
    assert seen and len(seen) % 4 == 0
    assert all(max(kept) < min(held) for kept, held in seen)


def test_groups_are_routed_as_in_scikit_learn():
    case = SIMPLIFIERS[0]
    X, y, groups, model = panel(case)
    made = case.made(FrozenEstimator(model))
    with config_context(enable_metadata_routing=True):
        found = cross_validate(
            make_pipeline("passthrough", made.set_fit_request(groups=True)),
            X, y, cv=GroupKFold(2), params={"groups": groups},
            return_estimator=True, return_indices=True,
        )  # fmt: skip
    rows = found["indices"]["train"][0]
    with_groups, without = (
        clone(made).fit(X.iloc[rows], y.iloc[rows], groups=given)
        for given in (groups[rows], None)
    )
    routed = found["estimator"][0][-1]
    assert routed.shrinkage_ == with_groups.shrinkage_ != without.shrinkage_


@pytest.mark.parametrize(
    ("groups", "cv"),
    [
        (range(2), None),
        ([7] * 442, None),
        (range(2), 3),
        (np.arange(442) % 9, KFold(3)),
    ],
    ids=["too few", "one", "number", "divided"],
)
def test_wrong_groups_are_refused(groups, cv):
    X, y, _, model = panel(SIMPLIFIERS[0])
    if len(groups) == 2 and cv:
        groups = np.arange(len(y)) % 2  # fewer than folds
    with refuses(InputError):
        SIMPLIFIERS[0].made(model, cv=cv).fit(X, y, groups=list(groups))
