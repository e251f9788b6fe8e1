"""One rule list for several numeric targets, by ``simplify``."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostRegressor
from lightgbm import LGBMRegressor
from sklearn.ensemble import (
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.ensembles.raw_tables import fit_to_table
from clearwood.exceptions import (
    ClassOrderWarning,
    InputError,
    ModelError,
    ModelFormatError,
    PoorFidelityWarning,
)
from clearwood.rules import MultiOutputRules

SETTINGS = {"max_rules": 6, "random_state": 0}


def truth(X):
    """Targets of very different units, which share one threshold."""
    a, b, c = (X[name] for name in "abc")
    return np.column_stack(
        [3 * (a > 0.5) + (b > 0.3), 1000 * ((a > 0.5) * 1.0 - (c > 0.6))]
    )


def table(n=600, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(size=(n, 4)), columns=list("abcd"))
    Y = truth(X) + noise * rng.normal(size=(n, 2)) * [1, 300]
    return X, pd.DataFrame(Y, columns=["heat", "cool"])


@pytest.fixture(scope="module")
def forest():
    return RandomForestRegressor(30, min_samples_leaf=5, random_state=0).fit(*table())


@pytest.fixture(scope="module")
def rules(forest):
    return cw.simplify(forest, *table(), **SETTINGS)


def test_each_rule_predicts_all_targets(forest, rules):
    assert isinstance(rules, MultiOutputRules) and rules.targets == ("heat", "cool")
    X, Y = table(2000, seed=1)
    predicted, model = rules.predict(X), forest.predict(X)
    assert predicted.shape == (2000, 2) and rules.n_rules <= 6
    assert len(np.unique(predicted, axis=0)) == rules.n_rules
    scores = rules.evaluate(X, Y, model=forest)
    found = r2_score(model, predicted, multioutput="raw_values")
    assert [s.fidelity for s in scores.scores.values()] == pytest.approx(found)
    assert scores.fidelity == pytest.approx(found.mean()) and found.min() > 0.85
    lost = mean_squared_error(Y, predicted, multioutput="raw_values")
    assert scores.to_frame()["error"].tolist() == pytest.approx(lost)
    same_text(str(scores))
    for j, target in enumerate(rules.targets):
        assert np.array_equal(rules[target].predict(X), predicted[:, j])
    same_text(str(rules))


def test_a_change_of_units_does_not_change_the_conditions(forest, rules):
    X, Y = table()
    other = cw.simplify(
        lambda X: forest.predict(X) * [1e6, 1e-6], X, Y * [1e6, 1e-6], **SETTINGS
    )
    for one, two in zip(rules.lists[0], other.lists[0]):
        assert one.conditions == two.conditions


def test_means_of_true_values_hold_for_new_rows(rules):
    X, _ = table(20_000, seed=2)
    place, true, held = rules.apply(X), truth(X), []
    for j, one in enumerate(rules.lists):
        for k, rule in enumerate(one):
            mean = true[place == k, j].mean()
            held.append(rule.low <= mean <= rule.high)
            assert rule.expected == pytest.approx(mean, abs=0.15 * np.ptp(true[:, j]))
    assert np.mean(held) > 0.8  # of some 12 intervals of 95 %


def test_a_list_of_one_target_is_that_of_the_list_method(forest):
    """With a constant second target, the loss is that of the first one."""
    X, Y = table()
    alone = cw.simplify(
        lambda X: forest.predict(X)[:, 0], X, Y["heat"], method="list", n_rules=4,
        random_state=0,
    )  # fmt: skip
    both = cw.simplify(
        lambda X: forest.predict(X) * [1, 0],
        X,
        Y.to_numpy() * [1, 0],
        n_rules=4,
        random_state=0,
    )
    at = np.linspace(0, 1, 2000)
    rows = pd.DataFrame({name: np.roll(at, 171 * i) for i, name in enumerate("abcd")})
    agreed = r2_score(alone.predict(rows), both.predict(rows)[:, 0])
    assert agreed > 0.98  # rows are in another order, and so are candidates


@pytest.mark.parametrize(
    "kind", ["forest", "unfitted", "xgboost", "pipeline", "each", "function"]
)
def test_a_column_of_0_and_1_is_no_event_where_the_model_has_several_targets(kind):
    X, Y = table(200)
    Y["cool"] = (Y["cool"] > 0).astype(int)
    tree = DecisionTreeRegressor(max_depth=2)
    xgboost = pytest.importorskip("xgboost")
    models = {
        "forest": tree.fit(X, Y),
        "unfitted": DecisionTreeRegressor(max_depth=2),
        "xgboost": xgboost.XGBRegressor(n_estimators=5, max_depth=2),
        "pipeline": make_pipeline(DecisionTreeRegressor(max_depth=2)).fit(X, Y),
        "each": MultiOutputRegressor(DecisionTreeRegressor(max_depth=2)).fit(X, Y),
        "function": lambda X: tree.predict(X),
    }
    found = cw.simplify(models[kind], X, Y, n_rules=2, random_state=0)
    assert found.targets == ("heat", "cool")


def test_models_of_several_kinds_and_true_values_unknown(forest):
    X, Y = table(300)
    xgboost = pytest.importorskip("xgboost")
    models = [
        MultiOutputRegressor(DecisionTreeRegressor(max_depth=3)),
        xgboost.XGBRegressor(n_estimators=10, max_depth=2).fit(X, Y),
        lambda X: truth(X),
    ]
    for model in models:
        found = cw.simplify(model, X, Y, max_rules=3, random_state=0)
        assert found.predict(X).shape == (300, 2)
    alone = cw.simplify(forest, X, max_rules=3, random_state=0)
    assert alone.targets == ("y1", "y2") and "mean" not in str(alone)
    assert "Means are" not in alone._repr_html_()


def test_weights_groups_and_labels_reach_the_search(forest):
    X, Y = table(300)
    right = X["a"] > 0.5
    weighted = cw.simplify(
        forest, X, Y, sample_weight=np.where(right, 1.0, 1e-9),
        groups=np.arange(300) // 3, n_rules=2, n_synthetic=0, random_state=0,
    )  # fmt: skip
    for found, by_a in (
        (weighted, False),
        (cw.simplify(forest, X, Y, n_rules=2), True),
    ):
        used = {c.feature for rule in found["heat"] for c in rule.conditions}
        assert (0 in used) == by_a
    labels = cw.simplify(forest, X, Y, learn_from="labels", n_rules=3, random_state=0)
    place, heat = labels.apply(X), Y["heat"].to_numpy()
    for k, rule in enumerate(labels["heat"]):
        assert rule.prediction == pytest.approx(heat[place == k].mean(), abs=0.05)


def test_columns_are_matched_by_name(forest, rules):
    X, Y = table(200, seed=4)
    predicted = pd.DataFrame(forest.predict(X), columns=Y.columns)
    known = rules.evaluate(X, Y.to_numpy(), model=predicted.to_numpy())
    for true, of_model in ((Y, predicted), (Y.iloc[:, ::-1], predicted.iloc[:, ::-1])):
        assert str(rules.evaluate(X, true, model=of_model)) == str(known)
    scores = rules.evaluate(X, model=lambda X: predicted.set_axis([0, 1], axis=1))
    assert scores.fidelity == known.fidelity


def test_predictions_in_another_order_than_y_are_named(forest):
    X, Y = table(300)
    with pytest.warns(ClassOrderWarning) as warned:
        cw.simplify(forest, X, Y[["cool", "heat"]], max_rules=3, random_state=0)
    same_text(str(warned[0].message))
    # Chance alone decides which of two equal targets a prediction is closest to.
    like = Y.assign(cool=Y["heat"] + 1e-3 * np.random.default_rng(0).normal(size=300))
    cw.simplify(DecisionTreeRegressor(max_depth=3), X, like, max_rules=3)


def test_rules_are_a_mapping_of_targets(rules):
    assert list(rules) == ["heat", "cool"] and len(rules) == 2
    assert "heat" in rules and "warm" not in rules and 0 not in rules


def test_forests_are_fitted_to_texts_and_dates():
    X, Y = table(400)
    generator = np.random.default_rng(0)
    X["town"] = generator.choice(["a", "b", "c", None], 400)
    X["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(400), unit="D")
    # The targets' mean over both is the same for all towns.
    Y["heat"] = 10.0 * (X["town"] == "b") + generator.normal(size=400)
    Y["cool"] = -900.0 * (X["town"] == "b") + generator.normal(size=400)
    forest = RandomForestRegressor(10, max_depth=4, random_state=0)
    each = MultiOutputRegressor(forest)
    for model, weight in ((forest, None), (forest, np.ones(400)), (each, None)):
        found = cw.simplify(
            model, X, Y, n_rules=2, sample_weight=weight, random_state=0
        )
        assert "town is 'b'" in str(found)
        assert np.ptp(found.predict(X), axis=0) == pytest.approx([10, 900], rel=0.1)
    fitted = fit_to_table(forest, X, Y.to_numpy())
    other = np.array(["elsewhere", *X["town"][1:]], dtype=object)
    gap = np.array([None, *X["town"][1:]], dtype=object)
    assert np.array_equal(*(fitted.predict(X.assign(town=t)) for t in (other, gap)))


def test_exports_predict_the_same(rules, tmp_path):
    X, _ = table(50, seed=3)
    with sqlite3.connect(":memory:") as database:
        X.to_sql("rows", database, index=False)
        found = database.execute(rules.to_sql("sqlite", table="rows")).fetchall()
    assert np.array_equal(np.array(found)[:, -2:], rules.predict(X))
    assert rules.to_sql().count(" AS ") >= 2
    frame = rules.to_frame()
    place = rules.apply(X)
    assert np.array_equal(
        frame["prediction cool"].to_numpy()[place], rules.predict(X)[:, 1]
    )
    cw.save(rules, tmp_path / "rules.json")
    again = cw.load(tmp_path / "rules.json")
    assert again == rules and MultiOutputRules.from_json(rules.to_json()) == rules
    same_text(str(cw.check(tmp_path / "rules.json")).partition("written")[0])
    cw.report(rules, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "then heat" in page and "then cool" in page
    assert "<h1>Rules for several targets</h1>" in page and "Means are" in page


def test_pages_withhold_statistics_of_few_rows(tmp_path):
    features = cw.FeatureSpace.numeric(1)
    few, many = (
        cw.rules.RuleStatistics(
            support=n, assigned=n, expected=31.4, low=31.2, high=31.6
        )
        for n in (3.0, 30.0)
    )
    one = cw.Rule((cw.Interval(0, low=1.0),), 7.25, statistics=few)
    rules = cw.RuleList((one,), cw.Rule((), 8.25, statistics=many), features)
    both = MultiOutputRules((rules, rules.with_target("z")))
    for show_rows, times in ((False, 2), (True, 4)):
        path = tmp_path / f"{show_rows}.html"
        cw.report(both, path, show_rows=show_rows)
        page = path.read_text(encoding="utf-8")
        assert page.count("mean 31.4") == times and page.count("7.25") == 2
        for text in ("&lt; 5", "Statistics of fewer than 5 rows are withheld."):
            assert (text in page) != show_rows


def test_names_are_escaped_on_pages():
    X, Y = table(100)
    Y.columns = ["<b>heat", "cool"]
    found = cw.simplify(lambda X: truth(X), X, Y, max_rules=2, random_state=0)
    assert "<b>" not in found._repr_html_() and "&lt;b&gt;heat" in found._repr_html_()


def test_damaged_files_are_refused(rules):
    document = json.loads(rules.to_json())
    changed = [document | {"lists": []}, document | {"version": 99}]
    other = json.loads(rules.to_json())
    other["lists"][1]["rules"][0]["conditions"][0]["low"] = 0.123
    other["lists"][1]["rules"][0]["conditions"][0]["high"] = 0.9
    for one in [*changed, other, document | {"more": 1}]:
        with pytest.raises(ModelFormatError):
            MultiOutputRules.from_json(json.dumps(one))


X, Y = table(60)
FLAGS = (Y > 0).astype(int)
FOR_ONE_TARGET = {
    "monitor": lambda rules: cw.monitor(rules, X),
    "explain": lambda rules: cw.explain(rules, X.iloc[0]),
    "decisions": lambda rules: cw.decisions(rules, X, Y["heat"]),
    "importance": lambda rules: cw.permutation_importance(rules, X),
    "validation": lambda rules: cw.validation_document(
        rules, "a.html", X=X, y=Y, purpose="test"
    ),
    "report": lambda rules: cw.report(rules, "page.html", X=X),
    "difference": lambda rules: cw.difference(rules, rules, X),
    "target": lambda rules: rules["warm"],
    "shape": lambda rules: rules.evaluate(X, Y["heat"]),
    "number": lambda rules: rules.evaluate(X, 3.0),
    "ragged": lambda rules: rules.evaluate(X, [[1.0], [1.0, 2.0]]),
    "other": lambda rules: rules.evaluate(X, Y.set_axis(["heat", "warm"], axis=1)),
    "twice": lambda rules: rules.evaluate(X, Y[["heat", "cool", "heat"]]),
    "unfitted": lambda rules: rules.evaluate(X, model=RandomForestRegressor()),
    "path": lambda rules: rules.evaluate(X, model="absent.txt"),
}


@pytest.mark.parametrize("name", FOR_ONE_TARGET)
def test_what_needs_one_target_says_so(rules, name):
    with refuses(ModelError if name == "unfitted" else InputError):
        FOR_ONE_TARGET[name](rules)


def test_methods_for_one_target_say_so(rules):
    for name in ("to_onnx", "to_python", "described_on", "plot_regions"):
        with pytest.raises(AttributeError, match="heat|no 'plot_regions'"):
            getattr(rules, name)


WRONG = {
    "tree": {"method": "tree"},
    "quantile": {"quantile": 0.9},
    "setting": {"monotonic_cst": {"a": 1}},
    "text": {"y": Y.astype(str) + "?"},
    "missing": {"y": Y.where(Y > 0)},
    "rows": {"y": Y.iloc[:50]},
    "names": {"y": Y.set_axis(["heat", "heat"], axis=1)},
    "column": {"y": Y.assign(a=X["a"])},
    "outputs": {"y": Y.assign(e=1.0)},
    "classes": {"model": RandomForestClassifier(3).fit(X, FLAGS), "y": FLAGS},
    "unfitted": {"model": MultiOutputClassifier(DecisionTreeClassifier()), "y": FLAGS},
    "read": {"model": cw.read_ensemble(DecisionTreeRegressor().fit(X, Y["heat"]))},
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_remedy(forest, name):
    settings = {"model": forest, "X": X, "y": Y, "max_rules": 2} | WRONG[name]
    kind = ModelError if name in ("outputs", "read") else InputError
    with refuses(kind):
        cw.simplify(**settings)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (LGBMRegressor(), r"MultiOutputRegressor\(LGBMRegressor"),
        (CatBoostRegressor(verbose=0), r"MultiOutputRegressor\(CatBoostRegressor"),
        (MultiOutputRegressor(GradientBoostingRegressor()), "NaN"),
    ],
    ids=["lightgbm", "catboost", "gaps"],
)
def test_models_that_cannot_be_fitted_are_named(model, reason):
    name = type(model).__name__
    with pytest.raises(InputError, match=f"Fitting the {name} failed: .*{reason}"):
        cw.simplify(model, X.where(X > 0.1) if reason == "NaN" else X, Y)


def test_a_target_that_the_rules_neglect_is_named():
    X, _ = table(300)

    def uneven(X):
        return np.column_stack([truth(X), truth(X)[:, 0], X["d"] > 0.5])

    with pytest.warns(PoorFidelityWarning) as warned:
        found = cw.simplify(uneven, X, uneven(X), n_rules=2, random_state=0)
    same_text(str(warned[0].message))
    assert "y4" in found["y4"].about["warning"]
    assert "warning" not in found["y1"].about
