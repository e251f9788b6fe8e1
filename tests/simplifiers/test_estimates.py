"""Rules for quantiles and for effects of treatments, by ``simplify``."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import mean_pinball_loss
from sklearn.tree import DecisionTreeRegressor
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.outcomes import Effect, Mean, Quantile
from clearwood.rules.displays.regions import RegionsDisplay
from clearwood.rules.drawn.nodes import draw_tree
from clearwood.simplifiers.effects import LEAST

SMALL = {"n_estimators": 40, "max_depth": 3, "random_state": 0}


def waits(n, seed=0):
    """Waiting times, longer and more variable for the old."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.uniform(20, 90, n), "noise": rng.uniform(size=n)})
    return X, 3 + rng.exponential(np.where(X["age"] > 60, 6.0, 2.0))


@pytest.fixture(scope="module")
def high():
    X, y = waits(1200)
    return GradientBoostingRegressor(loss="quantile", alpha=0.9, **SMALL).fit(X, y)


@pytest.fixture(scope="module")
def ninths(high):
    X, y = waits(1200)
    return cw.simplify(high, X, pd.Series(y, name="days"), max_rules=4, random_state=0)


def in_form(rules):
    """Texts of the predictions of rules, without their numbers."""
    text = " ".join(str(rules).split())
    lines = re.findall(r"(?:then|otherwise) (.*?\))", text)
    return sorted({re.sub(r"-?[\d.]+", "#", line) for line in lines})


# Quantiles


def test_rules_of_a_quantile_model_hold_that_share_of_new_values(high, ninths):
    assert ninths.outcome == Quantile(level=0.9) and ninths.target == "days"
    X, y = waits(20_000, seed=1)
    predicted = ninths.predict(X)
    assert np.mean(y <= predicted) == pytest.approx(0.9, abs=0.03)
    for place, rule in enumerate(ninths):
        # Its rows in the fit are at least 30: two standard errors, and the pooling.
        own = y[ninths.apply(X) == place]
        assert np.mean(own <= rule.prediction) == pytest.approx(0.9, abs=0.12)
        assert rule.low <= rule.prediction <= rule.high
    alone = mean_pinball_loss(y, np.full(len(y), np.quantile(y, 0.9)), alpha=0.9)
    found = mean_pinball_loss(y, predicted, alpha=0.9)
    assert ninths.evaluate(X, y).error == pytest.approx(found)
    assert found < 0.95 * alone
    assert found < 1.05 * mean_pinball_loss(y, high.predict(X), alpha=0.9)


def test_quantiles_are_printed_with_intervals_and_with_shares_observed(ninths):
    rows = waits(500, seed=2)
    same_text(in_form(ninths))
    same_text(in_form(ninths.described_on(*rows)))


def test_a_quantile_of_any_model_may_be_given():
    """As requested for trees and forests in scikit-learn#18540."""
    X, y = waits(600)
    forest = RandomForestRegressor(20, min_samples_leaf=10, random_state=0).fit(X, y)
    for level in (0.1, 0.5):
        rules = cw.simplify(forest, X, y, quantile=level, max_rules=3, random_state=0)
        assert rules.outcome.level == level
        # Pooling moves single rules, and 600 rows have a standard error of 0.02.
        assert np.mean(y <= rules.predict(X)) == pytest.approx(level, abs=0.06)
    tree = cw.simplify(
        lambda X: X["age"] / 10, X, y, task="quantile", quantile=0.8, method="tree",
        max_rules=3, random_state=0,
    )  # fmt: skip
    assert tree.task == "quantile"


def test_the_task_of_a_quantile_model_may_be_regression(high):
    X, y = waits(300)
    settings = {"max_rules": 3, "random_state": 0}
    mean = cw.simplify(high, X, y, task="regression", method="list", **settings)
    alone = cw.simplify(high, X, method="list", **settings)
    added = cw.simplify(high, X, y, method="additive", **settings)
    assert mean.outcome == alone.outcome == added.outcome == Mean()


def test_weights_and_groups_are_counted(high):
    X, y = waits(400)
    old = X["age"] > 55
    rules = cw.simplify(
        high, X, y, sample_weight=np.where(old, 1.0, 1e-9),
        groups=np.arange(400) // 2, max_rules=2, random_state=0,
    )  # fmt: skip
    share = np.mean(y[old] <= rules.predict(X[old]))
    assert share == pytest.approx(0.9, abs=0.06)


# Effects


def trial(n, seed=0, randomized=True):
    """Treatment helps the old by one; the sick are treated more often."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    p = np.full(n, 0.5) if randomized else 0.2 + 0.6 * X[:, 1]
    t = rng.random(n) < p
    effect = np.where(X[:, 0] > 0.5, 1.0, 0.0)
    return X, t, 2 * X[:, 1] + t * effect + 0.5 * rng.normal(size=n), p, effect


def older(X):
    return 1 / (1 + np.exp(-30 * (X[:, 0] - 0.5)))


def test_scores_are_the_formula_of_augmented_inverse_probabilities():
    X, t, y, p, effect = trial(2000, randomized=False)
    known = cw.effect_scores(X, y, t, propensity=p)
    # Against the truth of all three models: what is left is their error.
    m0, m1 = 2 * X[:, 1], 2 * X[:, 1] + effect
    exact = m1 - m0 + t * (y - m1) / p - ~t * (y - m0) / (1 - p)
    assert np.corrcoef(known, exact)[0, 1] > 0.95
    assert np.mean(known - exact) == pytest.approx(0, abs=0.03)
    estimated = cw.effect_scores(X, y, t.astype(int))
    assert np.mean(estimated - exact) == pytest.approx(0, abs=0.06)
    assert np.abs(estimated).max() < 10 / LEAST
    # Without the correction, the difference of means is confounded.
    assert y[t].mean() - y[~t].mean() > effect.mean() + 0.15
    grouped = cw.effect_scores(
        X, y, t, propensity=p, sample_weight=[1.0] * 2000, groups=np.arange(2000) // 4
    )
    assert np.corrcoef(grouped, exact)[0, 1] > 0.95


def test_rules_of_a_cate_function_predict_effects_with_intervals():
    X, t, y, _, _ = trial(1500)
    settings = {"propensity": 0.5, "max_rules": 3, "random_state": 0}
    rules = cw.simplify(
        older, X, pd.Series(y, name="pain"), task="effect", treatment=t, **settings
    )
    assert rules.outcome == Effect() and rules.target == "pain"
    _, _, _, _, effect = new = trial(20_000, seed=1)
    place = rules.apply(new[0])
    for k, rule in enumerate(rules):
        true = effect[place == k].mean()
        # 95 % intervals; this seed has no exception.
        assert rule.low <= true <= rule.high and rule.high - rule.low < 0.8
    assert max(rules.predictions) > 0.8 and min(rules.predictions) < 0.2
    same_text(in_form(rules))
    scores = cw.effect_scores(*new[:1], new[2], new[1], propensity=0.5)
    same_text(in_form(rules.described_on(new[0], scores)))
    again = cw.RuleSet.from_json(rules.to_json())
    assert again == rules and again.outcome == Effect()


OUTCOMES_AS_TRUTH = {
    "evaluate": lambda rules, X, y: rules.evaluate(X, y),
    "blocks": lambda rules, X, y: rules.evaluate(
        lambda: iter([pd.DataFrame(X, columns=rules.features.names).assign(y=y)]), "y"
    ),
    "described_on": lambda rules, X, y: rules.described_on(X, y),
    "report": lambda rules, X, y: cw.report(rules, "page.html", X=X, y=y),
    "monitor": lambda rules, X, y: cw.monitor(rules, X, y),
    "reference": lambda rules, X, y: cw.monitor(rules, X, reference=X, reference_y=y),
    "difference": lambda rules, X, y: cw.difference(older, rules, X, y),
    "tree": lambda rules, X, y: draw_tree(rules, X, y),
    "regions": lambda rules, X, y: RegionsDisplay.from_estimator(rules, X, y),
}


@pytest.fixture(scope="module")
def effects():
    X, t, y, p, _ = trial(400)
    return cw.simplify(
        older, X, y, task="effect", treatment=t, propensity=p, max_rules=2,
        random_state=0,
    )  # fmt: skip


@pytest.mark.parametrize("name", OUTCOMES_AS_TRUTH)
def test_outcomes_are_never_compared_with_effects(name, effects, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    X, _, y, *_ = trial(60)
    with refuses(InputError):
        OUTCOMES_AS_TRUTH[name](effects, X, y)


def test_effects_are_evaluated_on_scores(effects, tmp_path):
    X, t, y, p, effect = trial(2000, seed=1)
    scores = cw.effect_scores(X, y, t, propensity=p)
    predicted = effects.predict(X)
    error = np.mean((np.asarray(scores) - predicted) ** 2)
    assert effects.evaluate(X, scores).error == pytest.approx(error)
    some = effects.evaluate(X[:500], scores[:500], model=older)
    assert some.fidelity == pytest.approx(
        effects.evaluate(X[:500], model=older).fidelity
    )
    cw.report(effects, tmp_path / "page.html", X=X, y=scores, model=older)
    assert Effect.error[1:] in (tmp_path / "page.html").read_text("utf-8")
    for pair in ((effects, older), (older, older)):
        with refuses(InputError):
            cw.difference(*pair, X, scores)
    for plain in (pd.Series(scores), scores.tolist(), np.concatenate([scores])):
        with refuses(InputError):
            effects.evaluate(X, plain)
        marked = cw.EffectScores(plain)
        assert effects.evaluate(X, marked) == effects.evaluate(X, scores)
    assert type(pickle.loads(pickle.dumps(scores))) is cw.EffectScores
    with refuses(InputError):
        cw.EffectScores([[1.0, 2.0]])
    # Computations return plain numbers, which are no scores.
    assert type(2 * scores) is np.ndarray and type(scores.mean()) is np.float64
    with refuses(InputError):
        effects.evaluate(X, 2 * scores)


def test_without_outcomes_rules_predict_what_the_function_does():
    X, *_ = trial(400)
    rules = cw.simplify(older, X, task="effect", max_rules=2, random_state=0)
    for k, rule in enumerate(rules):
        own = older(X)[rules.apply(X) == k].mean()
        assert rule.prediction == pytest.approx(own, abs=0.01)
        # Means of a function are no evidence of an effect, and have no interval.
        assert np.isnan(rule.low) and "[" not in str(rules)


def test_an_unfitted_model_learns_from_the_scores():
    X, t, y, _, _ = trial(1000)
    forest = RandomForestRegressor(30, min_samples_leaf=40, random_state=0)
    rules = cw.simplify(
        forest, X, y, task="effect", treatment=t, propensity=0.5, max_rules=2,
        random_state=0,
    )  # fmt: skip
    (first,) = [rule for rule in rules if rule.conditions]
    assert {c.feature for c in first.conditions} == {0}
    assert not hasattr(forest, "estimators_")


def test_intervals_of_effects_hold_for_new_rows():
    held = []
    for seed in range(12):
        X, t, y, _, _ = trial(400, seed)
        arms = [
            DecisionTreeRegressor(min_samples_leaf=20, random_state=0).fit(X[a], y[a])
            for a in (t, ~t)
        ]
        rules = cw.simplify(
            lambda X, arms=arms: arms[0].predict(X) - arms[1].predict(X), X, y,
            task="effect", treatment=t, propensity=0.5, max_rules=3, method="tree",
            n_synthetic=0, random_state=0,
        )  # fmt: skip
        new, *_, effect = trial(5000, seed + 100)
        place = rules.apply(new)
        for k, rule in enumerate(rules):
            true = effect[place == k].mean()
            held.append(rule.low <= true <= rule.high)
    # The model was fitted to the same rows; of some 30 intervals 95 % are 28.
    assert len(held) > 20 and np.mean(held) > 0.85


# Errors


def anything(X):
    return np.asarray(X)[:, 0]


ONES = np.tile([0, 1], 150)
WRONG = {
    "no y": {"y": None, "task": "quantile", "quantile": 0.9},
    "no level": {"task": "quantile"},
    "level": {"quantile": 90},
    "task": {"task": "uplift"},
    "sum": {"quantile": 0.9, "method": "additive"},
    "auto": {"quantile": 0.9, "method": "auto"},
    "ordered": {"quantile": 0.9, "monotonic_cst": {"age": 1}},
    "both": {"quantile": 0.9, "task": "effect"},
    "mean": {"quantile": 0.9, "task": "regression"},
    "no task": {"treatment": ONES},
    "no outcome": {"y": None, "task": "effect", "treatment": ONES},
    "no treatment": {"task": "effect"},
    "three arms": {"task": "effect", "treatment": np.tile([0, 1, 2], 100)},
    "one arm": {"task": "effect", "treatment": 0 * ONES},
    "propensity": {"task": "effect", "treatment": ONES, "propensity": 1.0},
    "groups": {"task": "effect", "treatment": ONES, "groups": ONES},
    "alone": {"y": None, "task": "effect", "propensity": 0.5},
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_remedy(name):
    X, y = waits(300)
    settings = {"y": y} | WRONG[name]
    with refuses(InputError):
        cw.simplify(anything, X, **settings)


def test_another_quantile_than_the_models_and_classes_are_refused(high):
    X, y = waits(300)
    with refuses(InputError):
        cw.simplify(high, X, y, quantile=0.5)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y > 5)
    with refuses(InputError):
        cw.simplify(forest, X, y > 5, quantile=0.5)


def test_pages_show_what_was_observed(ninths, high, tmp_path):
    X, y = waits(300, seed=3)
    path = tmp_path / "page.html"
    cw.report(ninths, path, X=X, y=y, model=high, held_out_from="model")
    page = path.read_text(encoding="utf-8")
    assert "90 % of values" in page and ">Observed<" in page
    assert "pinball" in page and "quared error" not in page
    assert "Residuals" not in page


def test_damaged_levels_in_files_are_refused(ninths):
    text = ninths.to_json()
    with pytest.raises(ModelFormatError, match="between 0 and 1"):
        cw.RuleSet.from_json(text.replace('"quantile": 0.9', '"quantile": 1.9'))


# What users of explanation tools wish for: one test per need


def test_a_quantile_model_of_scikit_learn_can_be_explained():
    """As requested in shap/shap#327."""
    X, y = waits(400)
    for model in (
        GradientBoostingRegressor(loss="quantile", alpha=0.8, **SMALL),
        HistGradientBoostingRegressor(loss="quantile", quantile=0.8, max_iter=20),
    ):
        rules = cw.simplify(model.fit(X, y), X, y, max_rules=3, random_state=0)
        assert rules.outcome.level == 0.8


def test_a_quantile_model_of_a_boosting_library_can_be_explained(tmp_path):
    lightgbm, xgboost, catboost = map(
        pytest.importorskip, ("lightgbm", "xgboost", "catboost")
    )
    X, y = waits(400)
    models = [
        lightgbm.LGBMRegressor(
            objective="quantile", alpha=0.8, n_estimators=20, verbose=-1
        ),
        xgboost.XGBRegressor(
            objective="reg:quantileerror", quantile_alpha=0.8, n_estimators=20
        ),
        catboost.CatBoostRegressor(
            loss_function="Quantile:alpha=0.8", iterations=20, verbose=False,
            allow_writing_files=False,
        ),
    ]  # fmt: skip
    for model in models:
        model.fit(X, y)
        assert (
            cw.simplify(model, X, y, max_rules=2, random_state=0).outcome.level == 0.8
        )
    path = tmp_path / "model.txt"
    models[0].booster_.save_model(path)
    assert cw.simplify(path, X, y, max_rules=2, random_state=0).outcome.level == 0.8


def test_a_prediction_interval_has_an_explanation_of_each_end(high, ninths):
    X, y = waits(1200)
    low = GradientBoostingRegressor(loss="quantile", alpha=0.1, **SMALL).fit(X, y)
    tenths = cw.simplify(low, X, y, max_rules=4, random_state=0)
    new, values = waits(10_000, seed=4)
    inside = (tenths.predict(new) <= values) & (values <= ninths.predict(new))
    assert inside.mean() == pytest.approx(0.8, abs=0.05)


def test_leaves_of_an_effect_tree_have_sizes_intervals_and_a_diagram():
    """As requested in uber/causalml#424, #736 and #775."""
    X, t, y, _, _ = trial(600)
    rules = cw.simplify(
        older, X, y, task="effect", treatment=t, propensity=0.5, method="tree",
        max_rules=3, random_state=0,
    )  # fmt: skip
    frame = rules.to_frame()
    assert frame["rows"].sum() == 600 and (frame["low"] < frame["high"]).all()
    assert (
        len(cw.draw_tree(rules).tree.nodes) >= 3 if hasattr(cw, "draw_tree") else True
    )


def test_an_effect_model_of_another_library_is_a_function():
    class Forest:
        """As econml's estimators: effects by a method of another name."""

        def effect(self, X):
            return older(X)[:, None]

    X, *_ = trial(300)
    rules = cw.simplify(Forest().effect, X, task="effect", max_rules=2, random_state=0)
    assert rules.task == "effect"


def test_a_policy_follows_from_the_rules_in_sql():
    X, t, y, _, _ = trial(600)
    rules = cw.simplify(
        older, X, y, task="effect", treatment=t, propensity=0.5, max_rules=2,
        random_state=0,
    )  # fmt: skip
    assert "CASE" in rules.to_sql()
    treat = rules.predict(X) > 0.5
    assert np.mean(treat == (X[:, 0] > 0.5)) > 0.95


def queries(n=60, seed=0):
    """Rows of queries of ten, whose relevance has four levels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(10 * n, 3)), columns=list("abc"))
    order = X["a"] + (X["b"] > 0) + rng.normal(size=len(X)) / 3
    relevance = pd.Series(np.digitize(order, [0, 1, 2]), name="relevance")
    return X, relevance, np.arange(len(X)) // 10


def test_a_ranking_model_is_explained_by_its_scores_within_queries(tmp_path):
    """As requested in shap#570, interpret#181 and lime#251."""
    lightgbm, xgboost, catboost = map(
        pytest.importorskip, ("lightgbm", "xgboost", "catboost")
    )
    X, y, query = queries()
    models = [
        lightgbm.LGBMRanker(n_estimators=20, verbose=-1).fit(X, y, group=[10] * 60),
        xgboost.XGBRanker(n_estimators=10, max_depth=3).fit(X, y, qid=query),
        catboost.CatBoostRanker(
            iterations=20, verbose=False, allow_writing_files=False
        ).fit(X, y, group_id=query),
    ]
    new, _, groups = queries(seed=1)
    for model in models:
        rules = cw.simplify(model, X, y, groups=query, max_rules=6, random_state=0)
        assert "a ranking score" in rules.statistic
        found = rules.evaluate(new, model=model, groups=groups)
        mine, scores = rules.predict(new), np.ravel(model.predict(new))
        each = [spearmanr(mine[groups == g], scores[groups == g])[0] for g in range(60)]
        assert (
            found.rank_correlation == pytest.approx(np.mean(each))
            and np.mean(each) > 0.8
        )
        assert "rank correlation" in str(found)
    path = tmp_path / "ranker.json"
    models[1].save_model(path)
    assert cw.read_ensemble(path).statistic == "a ranking score"


def test_rank_correlations_need_a_model_and_a_group_per_row():
    X, y, query = queries(10)
    rules = cw.simplify(lambda X: X["a"], X, max_rules=2, random_state=0)
    for settings in (
        {"groups": query},
        {"groups": query[:5], "model": y},
        {"groups": np.where(query < 2, np.nan, query), "model": y},
        {"groups": np.full(len(X), None), "model": y},
        {"groups": np.arange(len(X)), "model": y},
    ):
        with refuses(InputError):
            rules.evaluate(X, **settings)
    # A constant has no order, and neither has a query of equal scores.
    constant = rules[:0]
    assert constant.evaluate(X, model=y, groups=query).rank_correlation == 0.0
    assert "rank_correlation" not in constant.evaluate(X, model=y).as_dict()


def test_one_explanation_of_several_targets_instead_of_one_for_each():
    """As requested in oegedijk/explainerdashboard#218, and in marcotcr/lime#314."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(400, 3)), columns=list("abc"))
    Y = pd.DataFrame({"heat": 3.0 * (X["a"] > 0.5), "cool": X["a"] + (X["b"] > 0.5)})
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(X, Y)
    rules = cw.simplify(forest, X, Y, max_rules=5, random_state=0)
    assert rules.predict(X).shape == (400, 2)
    assert rules.evaluate(X, Y, model=forest).fidelity > 0.8
    assert {"heat", "cool"} == set(rules.targets)


def test_survival_forests_and_boosting_are_explained_by_survival():
    """As requested in shap#3308, iml#172, treeshap#19, and interpret#293 (boosting)."""
    sksurv = pytest.importorskip("sksurv.ensemble")
    xgboost = pytest.importorskip("xgboost")
    X, time = waits(300)
    y = np.empty(300, [("event", bool), ("time", float)])
    y["event"], y["time"] = time < 9, np.minimum(time, 9)
    forest = sksurv.RandomSurvivalForest(10, min_samples_leaf=15, random_state=0)
    cox = xgboost.XGBRegressor(objective="survival:cox", n_estimators=10, max_depth=2)
    models = forest.fit(X, y), cox.fit(X, np.where(y["event"], y["time"], -y["time"]))
    for model in models:
        rules = cw.simplify(model, X, y, horizons=[6.0], n_rules=2, random_state=0)
        old, young = rules.predict_survival_function([[80.0, 0.5], [30.0, 0.5]], [6.0])
        # 3 years and an exponential of mean 6, or 2: exp(-1/2) and exp(-3/2).
        assert old[0] == pytest.approx(np.exp(-0.5), abs=0.15)
        assert young[0] == pytest.approx(np.exp(-1.5), abs=0.15)
