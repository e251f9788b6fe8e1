"""Lists and trees for survival: printed curves, scores, models, files."""

import json

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor
from sksurv import metrics
from sksurv.ensemble import RandomSurvivalForest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.nonparametric import kaplan_meier_estimator
from sksurv.tree import SurvivalTree
from sksurv.util import Surv
from tests.wording import refuses, same_text
from xgboost import DMatrix, XGBRegressor, train

import clearwood as cw
from clearwood.exceptions import InputError, ModelError, ModelFormatError
from clearwood.outcomes.survival import check_survival
from clearwood.rules.displays.survival_curves import survival_chart
from clearwood.rules.evaluation.survival_scores import observed_curves
from clearwood.simplifiers.survival.models import mean_survival

KINDS = [cw.RuleListSurvival, cw.DistilledTreeSurvival]
FEW = {"max_rules": 4, "n_synthetic": 200, "random_state": 0}
HORIZONS = (1.0, 3.0)


def patients(n, seed, censored=3.0):
    """Ages, stages and doses; times whose hazard has three steps; and the hazards."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(30, 90, n).astype(float),
            "stage": rng.integers(1, 5, n).astype(float),
            "dose": rng.random(n).round(2),
        }
    )
    hazard = np.where(X["age"] > 60, np.where(X["stage"] >= 3, 0.8, 0.25), 0.1)
    died = rng.exponential(1 / hazard)
    left = rng.exponential(censored, n)
    return X, Surv.from_arrays(died <= left, np.minimum(died, left)), hazard


@pytest.fixture(scope="module")
def data():
    return patients(400, 0)


@pytest.fixture(scope="module")
def forest(data):
    X, y, _ = data
    return RandomSurvivalForest(10, min_samples_leaf=15, random_state=0).fit(X, y)


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def found(request, data, forest):
    X, y, _ = data
    settings = FEW | {"horizons": HORIZONS, "time_unit": "years"}
    return request.param(forest, **settings).fit(X, y)


def test_the_steps_of_the_hazard_are_the_rules(found):
    same_text(str(found.rules_))


def test_predictions_are_the_printed_curves(found, data):
    X = data[0]
    times = np.linspace(0, 6, 13)
    survival = found.predict_survival_function(X, times)
    assert survival.shape == (len(X), 13)
    assert (survival[:, 0] == 1).all() and (np.diff(survival, axis=1) <= 0).all()
    at = found.predict_survival_function(X, HORIZONS)
    np.testing.assert_allclose(at.mean(axis=1), found.predict(X), atol=1e-4)
    places = found.rules_.apply(X)
    for j, rule in enumerate(found.rules_):
        np.testing.assert_array_equal(survival[places == j][0], rule.curve.at(times))


def test_times_must_be_numbers(found, data):
    with refuses(InputError):
        found.predict_survival_function(data[0], "soon")


def test_a_curve_is_between_that_of_its_rows_and_that_of_all(found, data):
    X, y, _ = data
    _, usual = kaplan_meier_at(y, HORIZONS)
    for j, rule in enumerate(found.rules_):
        rows = found.rules_.apply(X) == j
        n_events, own = kaplan_meier_at(y[rows], HORIZONS)
        between = np.sort([own, usual], axis=0)
        shown = rule.curve.at(HORIZONS)
        # A pooled sample, with its own censoring, is nearly a mixture of both.
        assert (shown >= between[0] - 0.02).all()
        assert (shown <= between[1] + 0.02).all()
        assert rule.curve.events == n_events and rule.statistics.is_expected


def kaplan_meier_at(y, times):
    known, survival = kaplan_meier_estimator(y["event"], y["time"])
    place = np.searchsorted(known, times, side="right") - 1
    return y["event"].sum(), survival[place]


def test_scores_are_those_of_scikit_survival(found, data):
    X, y, hazard = patients(300, 1)
    scores = found.evaluate(X, y, y_train=data[1])
    risk = -found.predict(X)
    at = np.array(HORIZONS)
    survival = found.predict_survival_function(X, at)
    _, brier = metrics.brier_score(data[1], y, survival, at)
    assert scores.brier == pytest.approx(tuple(brier))
    harrell = metrics.concordance_index_censored(y["event"], y["time"], risk)[0]
    assert found.score(X, y) == scores.harrell == pytest.approx(harrell)
    # Between a constant and the truth.
    best = metrics.concordance_index_censored(y["event"], y["time"], hazard)[0]
    assert 0.6 < scores.harrell <= best + 0.02 and 0.6 < scores.uno
    true = np.exp(-hazard[:, None] * at)
    assert scores.brier <= tuple(metrics.brier_score(data[1], y, true, at)[1] + 0.03)
    assert scores.integrated_brier < 0.2
    assert scores.n_events == y["event"].sum()
    same_text(str(scores))


def test_rows_of_each_rule_have_their_own_estimate(found):
    X, y, _ = patients(300, 1)
    y["time"][::30] = HORIZONS[0]
    curves = observed_curves(found.rules_, X, y)
    assigned = found.rules_.apply(X)
    for j, one in enumerate(curves):
        rows = assigned == j
        event, time = y["event"][rows], y["time"][rows]
        _, survival, ends = kaplan_meier_estimator(event, time, conf_type="log-log")
        last = np.searchsorted(np.unique(time), 3.0, side="right") - 1
        assert one.curve.at([3.0]) == pytest.approx([survival[last]], abs=1e-5)
        assert one.curve.interval(3.0) == pytest.approx(ends[:, last], abs=1e-3)
        assert one.at_risk == tuple((time >= h).sum() for h in HORIZONS)
        assert one.n_rows == rows.sum() and one.n_events == event.sum()
    few = observed_curves(found.rules_, X[assigned == 0], y[assigned == 0])
    assert few[0] == curves[0]
    assert few[1].curve is None and few[1].at_risk == (0, 0)
    assert few[1].text(HORIZONS, "") == "0 rows"
    assert few[1].as_dict(HORIZONS)["horizons"][0]["survival"] is None


def test_estimates_of_few_rows_are_not_on_pages(found, tmp_path):
    X, y, _ = patients(300, 1)
    rules, path = found.rules_, tmp_path / "page.html"
    (first, *_), time = observed_curves(rules, X, y, 5), y["time"][rules.apply(X) == 0]
    assert first.curve.until == np.sort(time)[-5]
    rows = np.r_[np.flatnonzero(rules.apply(X) == 0)[:4], np.arange(100, 200)]
    rows = rows[(rules.apply(X)[rows] > 0) | (np.arange(len(rows)) < 4)]
    few = observed_curves(rules, X.iloc[rows], y[rows])[0]
    for show_rows in (False, True):
        cw.report(
            found, path, X=X.iloc[rows], y=y[rows], show_rows=show_rows, overwrite=True
        )
        page = path.read_text(encoding="utf-8")
        assert (few.curve.text(HORIZONS, "years") in page) == show_rows
        assert ("&lt; 5 rows" in page) != show_rows


def test_the_page_shows_curves_numbers_at_risk_and_scores(found, tmp_path):
    X, y, _ = patients(300, 1)
    path, rules = tmp_path / "page.html", found.rules_
    cw.report(found, path, X=X, y=y)
    page = path.read_text(encoding="utf-8")
    scores = found.evaluate(X, y)
    for number in (scores.integrated_brier, scores.harrell, scores.uno):
        assert f"{number:.3g}" in page
    assert page.count('aria-labelledby="survival-') == rules.n_rules
    assert "pseudo" not in page and "Residuals" not in page
    at_risk = observed_curves(rules, X, y)[0].at_risk[0]
    assert f'data-label="At risk">{at_risk}</td>' in page
    # One row has no scores.
    y[0] = True, 2.0
    for rows in ({}, {"X": X[:1], "y": y[:1]}):
        cw.report(rules, path, overwrite=True, **rows)
        page = path.read_text(encoding="utf-8")
        assert "Integrated Brier score" not in page
        assert page.count('aria-labelledby="survival-') == rules.n_rules
    with refuses(InputError):
        cw.report(found, path, X=X, y=y["time"], overwrite=True)


def test_a_chart_has_the_interval_of_the_curve(found):
    rule = found.rules_[0]
    chart = survival_chart(rule.curve, None, found.rules_.outcome, 4.0)
    area, line, *levels = chart.panels[0].marks
    assert [level.at for level in levels] == list(HORIZONS)
    np.testing.assert_allclose(rule.curve.at(line.x), line.y)
    assert line.x[0] == 0 and line.x[-1] == min(4.0, rule.curve.until)
    at = np.searchsorted(area.x, 3.0)
    assert area.high[at + 1] == rule.curve.interval(3.0)[1]
    low = np.array(area.low)
    assert (np.diff(low) <= 0).all() and low[at + 1] >= rule.curve.interval(3.0)[0]


def test_files_and_sql_hold_the_curves(found, data, tmp_path):
    X = data[0]
    rules = found.rules_
    assert cw.RuleSet.from_json(rules.to_json()) == rules
    cw.save(found, tmp_path / "found.json")
    loaded = cw.load(tmp_path / "found.json")
    about = cw.check(tmp_path / "found.json").facts
    assert about["predicts"].endswith("at 1 and 3 years")
    assert loaded.rules_ == rules
    assert loaded.evaluate(*data[:2]) == found.evaluate(*data[:2])
    query = rules.to_sql("duckdb", table="X", probabilities=True)
    columns = duckdb.sql(query).df()
    survival = found.predict_survival_function(X, HORIZONS)
    np.testing.assert_array_equal(columns[["survival 1", "survival 3"]], survival)
    np.testing.assert_array_equal(columns["prediction"], found.predict(X))
    frame = rules.to_frame()
    assert frame["survival 3"].tolist() == [r.curve.at([3.0])[0] for r in rules]
    assert (frame["survival 3 low"] < frame["survival 3"]).all()


@pytest.mark.parametrize(
    "change",
    [
        {"times": [2.0, 1.0]},
        {"survival": [0.5, 0.75]},
        {"error": [0.1]},
        {"until": None},
    ],
    ids=lambda change: next(iter(change)),
)
def test_curves_in_files_are_checked(change, found):
    document = json.loads(found.rules_[-1:].to_json())
    curve = {"times": [1.0, 2.0], "survival": [0.75, 0.5], "error": [0.1, 0.2]}
    document["otherwise"]["curve"] |= curve
    cw.RuleSet.from_json(json.dumps(document))
    document["otherwise"]["curve"] |= change
    with refuses(ModelFormatError):
        cw.RuleSet.from_json(json.dumps(document))


def test_simplify_reads_survival_times(data, forest):
    X, y, _ = data
    frame = pd.DataFrame({"died": y["event"], "years": y["time"]})
    settings = FEW | {"max_rules": 2}
    for method, kind in zip(("list", "tree"), KINDS):
        expected = kind(forest, **settings).fit(X, y).rules_
        assert cw.simplify(forest, X, frame, method=method, **settings) == expected
    with refuses(InputError):
        cw.simplify(forest, X, y, method="additive")


def test_agreement_is_that_with_the_mean_survival(found, data, forest):
    X = data[0]
    functions = forest.predict_survival_function(X)
    mean = np.mean([[f(h) for h in HORIZONS] for f in functions], axis=1)
    np.testing.assert_allclose(found.ensemble_.predict(X), mean)
    off = ((mean - found.predict(X)) ** 2).mean() / mean.var()
    fidelity = found.rules_.evaluate(X, model=found.ensemble_).fidelity
    assert fidelity == pytest.approx(1 - off)
    described = str(found.rules_.described_on(*data[:2])).replace("\n     ", " ")
    named = "mean survival at 1 and 3 years"
    assert described.count(f"{named} in [") == found.rules_.n_rules
    assert f"then {named} &" in found.rules_.to_latex()
    assert f"Predicts '{named}'" in found.rules_.to_python()
    assert found.rules_.explain(X[:1]).title.startswith(f"{named}: ")
    scores = found.rules_.evaluate(*data[:2])
    assert "error of pseudo-values 0." in str(scores)
    assert "error_name" not in scores.as_dict()


def test_labels_alone_give_a_survival_tree(data):
    X, y, hazard = data
    tree = cw.DistilledTreeSurvival(
        lambda X: np.zeros(len(X)), learn_from="labels", n_rules=3, horizons=HORIZONS
    ).fit(X, y)
    risk = -tree.predict(X)
    assert np.corrcoef(risk, hazard)[0, 1] > 0.9


# Models


def of_model(model, data, horizons=HORIZONS):
    X, y, _ = data
    y = check_survival(y, len(X))
    return mean_survival(model, horizons, X, y)(X)


def test_risks_become_survival_by_a_cox_model(data):
    X, y, hazard = data
    log = np.log(hazard)
    cox = CoxPHSurvivalAnalysis(ties="breslow").fit(log[:, None], y)
    expected = np.mean(
        [[f(h) for h in HORIZONS] for f in cox.predict_survival_function(log[:, None])],
        axis=1,
    )
    for slope in (2.0, -0.1):  # Larger for longer survival, too.
        shown = of_model(lambda X, slope=slope: 5 + slope * log, data)
        np.testing.assert_allclose(shown, expected, atol=2e-3)
    assert np.ptp(of_model(lambda X: np.ones(len(X)), data)) < 1e-12


def test_probabilities_are_taken_as_they_are(data):
    survival = np.exp(-data[2][:, None] * HORIZONS)
    np.testing.assert_allclose(
        of_model(lambda X: survival[: len(X)], data), survival.mean(axis=1)
    )


def lower_and_upper(X, y):
    labels = DMatrix(X)
    labels.set_float_info("label_lower_bound", y["time"])
    labels.set_float_info("label_upper_bound", np.where(y["event"], y["time"], np.inf))
    return labels


@pytest.mark.parametrize("error", ["normal", "logistic", "extreme"])
def test_survival_of_xgboost_aft(error, data):
    X, y, _ = data
    settings = {
        "objective": "survival:aft",
        "aft_loss_distribution": error,
        "aft_loss_distribution_scale": 1.5,
    }
    rows = lower_and_upper(X, y)
    booster = train(settings, rows, 8)
    z = (np.log(HORIZONS) - np.log(booster.predict(rows))[:, None]) / 1.5
    own = {
        "normal": norm.cdf(z),
        "logistic": 1 / (1 + np.exp(-z)),
        "extreme": 1 - np.exp(-np.exp(z)),
    }
    shown = of_model(booster, data)
    np.testing.assert_allclose(shown, (1 - own[error]).mean(axis=1), atol=1e-6)


def test_survival_of_xgboost_cox_and_its_file(data, tmp_path):
    X, y, _ = data
    unfitted = XGBRegressor(objective="survival:cox", n_estimators=10, max_depth=2)
    model = clone(unfitted).fit(X, np.where(y["event"], y["time"], -y["time"]))
    ratio = np.log(model.predict(X))
    cox = CoxPHSurvivalAnalysis(ties="breslow").fit(ratio[:, None], y)
    shown = of_model(model, data)
    # Breslow's estimator, for a slope of one.
    times = np.unique(y["time"][y["event"]])
    at_risk = np.exp(ratio) @ (y["time"][:, None] >= times)
    deaths = (y["event"] * y["time"] == times[:, None]).sum(axis=1)
    hazard = [(deaths / at_risk)[times <= h].sum() for h in HORIZONS]
    own = np.exp(-np.exp(ratio)[:, None] * hazard)
    np.testing.assert_allclose(shown, own.mean(axis=1), atol=1e-6)
    assert cox.coef_[0] > 1
    model.save_model(tmp_path / "cox.json")
    again = cw.RuleListSurvival(tmp_path / "cox.json", horizons=HORIZONS, **FEW)
    direct = cw.RuleListSurvival(model, horizons=HORIZONS, **FEW).fit(X, y)
    assert again.fit(X, y).rules_.rules == direct.rules_.rules
    for given in (unfitted, make_pipeline(unfitted)):
        fitted = cw.RuleListSurvival(given, horizons=HORIZONS, **FEW).fit(X, y)
        predicted = fitted.estimator_.predict(X)
        np.testing.assert_allclose(predicted, model.predict(X), rtol=1e-6)


WRONG_MODELS = {
    "shape": lambda X: np.ones((len(X), 3)),
    "rising": lambda X: np.tile([0.2, 0.4], (len(X), 1)),
    "infinite": lambda X: np.full(len(X), np.inf),
    "texts": lambda X: np.full(len(X), "high"),
    "objective": XGBRegressor(n_estimators=1),
}


@pytest.mark.parametrize("name", WRONG_MODELS)
def test_models_without_survival_are_refused(name, data):
    X, y, _ = data
    model = WRONG_MODELS[name]
    if name == "objective":
        model.fit(X, y["time"])
    with refuses((ModelError, InputError)):
        of_model(model, data)


UNFITTED = {
    "aft": XGBRegressor(objective="survival:aft"),
    "objective": XGBRegressor(),
}


@pytest.mark.parametrize("name", UNFITTED)
def test_models_that_are_not_fitted_to_survival_times_are_refused(name, data):
    X, y, _ = data
    with refuses(InputError):
        cw.RuleListSurvival(UNFITTED[name], horizons=HORIZONS, **FEW).fit(X, y)
    with pytest.raises(InputError, match=r"DecisionTreeRegressor failed: .*survival"):
        cw.RuleListSurvival(DecisionTreeRegressor(), **FEW).fit(X, y)


def test_an_unfitted_model_is_fitted_and_survival_times_are_needed(data):
    X, y, _ = data
    forest = RandomSurvivalForest(3, min_samples_leaf=30, random_state=0)
    rules = cw.RuleListSurvival(forest, horizons=2, **FEW).fit(X, y)
    assert not hasattr(forest, "estimators_")
    assert len(rules.estimator_.estimators_) == 3
    for again in (
        lambda: rules.fit(X),
        lambda: rules.fit(X, y, groups=np.zeros(400)),
        lambda: rules.set_params(horizons=900).fit(X, y),
    ):
        with refuses(InputError):
            again()


def test_other_rules_have_no_survival(data):
    X, y, _ = data
    model = XGBRegressor(n_estimators=2).fit(X, y["time"])
    rules = cw.simplify(model, X, method="list", max_rules=2)
    with refuses(InputError):
        rules.predict_survival_function(X, 1.0)
    with refuses(InputError):
        rules.evaluate_survival(X, y)


def test_a_constant_model_is_one_rule(data):
    X, y, _ = data
    found = cw.RuleListSurvival(lambda X: np.zeros(len(X)), **FEW).fit(X, y)
    assert found.rules_.n_rules == 1


# Numbers that hold on new rows


def test_intervals_cover_the_survival_of_new_rows():
    """95 %, give or take five standard errors of 36 intervals: 77 to 100 %."""
    new, _, hazard = patients(4000, 99)
    covered = []
    for seed in range(9):
        X, y, _ = patients(300, seed, censored=(12.0, 3.0, 0.75)[seed % 3])
        horizon = np.quantile(y["time"], 0.6)
        true = np.exp(-hazard * horizon)
        model = SurvivalTree(min_samples_leaf=10, random_state=seed)
        tree = cw.DistilledTreeSurvival(model, horizons=horizon, n_rules=4, **FEW)
        place = tree.fit(X, y).rules_.apply(new)
        for j, rule in enumerate(tree.rules_):
            low, high = rule.curve.interval(horizon)
            covered.append(low <= true[place == j].mean() <= high)
    assert np.mean(covered) >= 0.77


@pytest.mark.parametrize("score", ["evaluate", "monitor"])
def test_rows_followed_for_a_shorter_time_are_refused(found, data, score):
    X, y, _ = data
    short = y.copy()
    short["time"] = y["time"].clip(max=0.9)
    short["event"] &= y["time"] < 0.9
    call = found.evaluate if score == "evaluate" else getattr(cw, score)
    rules = () if score == "evaluate" else (found,)
    with refuses(InputError):
        call(*rules, X, short)


def test_a_survival_model_needs_survival_times(forest, data):
    X, y, _ = data
    with refuses(InputError):
        cw.simplify(forest, X, y["time"])


def test_the_default_model_reads_text(data):
    X, y, _ = data
    X = X.assign(stage=X["stage"].map({1: "I", 2: "II", 3: "III", 4: "IV"}))
    rules = cw.RuleListSurvival(**FEW).fit(X, y).rules_
    assert {rules.features.names[d] for d in rules.used_features} <= set(X)
    assert rules.features.categories[1] == ("I", "II", "III", "IV")
