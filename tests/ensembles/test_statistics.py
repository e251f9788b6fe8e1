"""A model of a median, a quantile or an order is not presented as one of a mean."""

import catboost as cb
import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.linear_model import HuberRegressor, LinearRegression, QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, LinearSVR
from sklearn.tree import DecisionTreeRegressor
from tests.wording import refuses, same_lines, same_text

import clearwood as cw
from clearwood.ensembles.lightgbm.objectives import VALUE_LINKS
from clearwood.exceptions import ClearwoodError
from clearwood.simplifiers._common.explained_model import read_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
Y = np.where(X[:, 0] > 0, 3.0, 1.0) + RNG.exponential(size=200)
CAT = {"iterations": 5, "depth": 2, "verbose": 0, "allow_writing_files": False}
FORESTS = {"n_estimators": 5, "max_depth": 3, "random_state": 0}


def of_lightgbm(objective, **how):
    return lgb.LGBMRegressor(
        objective=objective, n_estimators=5, num_leaves=4, verbose=-1, **how
    )


def of_xgboost(objective, **how):
    return xgb.XGBRegressor(n_estimators=5, max_depth=2, objective=objective, **how)


def of_catboost(loss):
    return cb.CatBoostRegressor(loss_function=loss, **CAT)


def of_hist(loss, **how):
    return HistGradientBoostingRegressor(loss=loss, max_iter=5, **how)


def transformed(model, there, back):
    return TransformedTargetRegressor(model, func=there, inverse_func=back)


HIGH = {"loss": "quantile", "quantile": 0.9}
HUBER = GradientBoostingRegressor(loss="huber", **FORESTS)
CASES = [
    (GradientBoostingRegressor(loss="quantile", alpha=0.9, **FORESTS), True),
    (GradientBoostingRegressor(loss="absolute_error", **FORESTS), True),
    (HUBER, True),
    (of_hist(**HIGH), True),
    (of_hist("absolute_error"), True),
    *((of_hist(loss), False) for loss in ("squared_error", "poisson", "gamma")),
    (RandomForestRegressor(criterion="absolute_error", **FORESTS), True),
    (RandomForestRegressor(criterion="poisson", **FORESTS), False),
    (BaggingRegressor(DecisionTreeRegressor(criterion="absolute_error"), 3), True),
    (of_lightgbm("quantile", alpha=0.9), True),
    (of_lightgbm("regression_l1"), True),
    (of_lightgbm("mape"), True),
    *((of_lightgbm(name), True) for name in ("huber", "fair")),
    *((of_lightgbm(name), False) for name in ("regression", "poisson", "tweedie")),
    (of_lightgbm("regression", reg_sqrt=True), True),
    (of_lightgbm(lambda y, p: (p - y, np.ones(len(y)))), True),
    (of_xgboost("reg:quantileerror", quantile_alpha=0.9), True),
    (of_xgboost("reg:absoluteerror"), True),
    (of_xgboost("reg:pseudohubererror"), True),
    (of_xgboost("reg:squaredlogerror"), True),
    (of_xgboost("survival:cox"), True),
    *((of_xgboost(f"reg:{name}"), False) for name in ("squarederror", "gamma")),
    (of_xgboost("count:poisson"), False),
    (of_catboost("Quantile:alpha=0.9"), True),
    (of_catboost("MAE"), True),
    (of_catboost("Expectile:alpha=0.9"), True),
    *((of_catboost(loss), False) for loss in ("RMSE", "Poisson")),
    (QuantileRegressor(quantile=0.9, alpha=0.0), True),
    (make_pipeline(StandardScaler(), of_hist(**HIGH)), True),
    (GridSearchCV(of_hist(**HIGH), {}, cv=2), True),
    (VotingRegressor([("a", of_hist(**HIGH))]), True),
    (LinearRegression(), False),
    (HuberRegressor(), True),
    *((svr, True) for svr in (SVR(), LinearSVR())),
    (LinearSVR(loss="squared_epsilon_insensitive"), False),
    (AdaBoostRegressor(n_estimators=3), True),
    (transformed(LinearRegression(), np.log, np.exp), True),
    (transformed(of_hist("absolute_error"), np.log, np.exp), True),
    (transformed(of_hist(**HIGH), np.log, np.exp), True),
    (transformed(LinearRegression(), np.negative, np.negative), False),
    (transformed(of_hist(**HIGH), np.negative, np.negative), True),
    (transformed(AdaBoostRegressor(n_estimators=3), np.log, np.exp), True),
    (
        TransformedTargetRegressor(LinearRegression(), transformer=StandardScaler()),
        False,
    ),
]


@pytest.mark.parametrize(("model", "told"), CASES)
def test_the_statistic_is_told_where_it_is_not_the_mean(model, told, tmp_path):
    found = read_model(model.fit(X, Y), X, Y)
    assert told == bool(found.statistic)
    same_text(found.statistic)
    if isinstance(found, cw.TreeEnsemble):
        text = " ".join(str(cw.check(model)).split())
        assert f"predicts {found.statistic or 'values'} (link" in text
        assert "objective" in text
        if told:
            same_lines(text.partition("unusual:")[2])


def test_rules_pages_and_references_tell_it(in_this_process, tmp_path):
    model = of_hist(**HIGH).fit(X, Y)
    rules = cw.simplify(model, X, Y, max_rules=3, random_state=0)
    same_lines(str(rules))
    same_lines(rules._repr_html_())
    cw.save(rules, tmp_path / "rules.json")
    assert str(cw.load(tmp_path / "rules.json")) == str(rules)
    cw.report(rules, tmp_path / "page.html", X=X, y=Y, model=model)
    same_lines((tmp_path / "page.html").read_text())
    median = of_hist("absolute_error").fit(X, Y)
    found = cw.compare(median, X, Y, methods=["list"], cv=2, n_refits=2, random_state=0)
    same_lines(" ".join(str(found).split("mean squared")[0].split()))
    same_text(repr(cw.reference(model, X)))
    plain = of_hist("poisson").fit(X, Y)
    assert "They predict" not in str(
        cw.simplify(plain, X, Y, max_rules=3, random_state=0)
    )


def test_files_tell_it_too(tmp_path):
    for model, name, how in (
        (of_lightgbm("quantile", alpha=0.9), "m.txt", {}),
        (of_xgboost("reg:quantileerror", quantile_alpha=0.9), "m.ubj", {}),
        (of_catboost("Quantile:alpha=0.9"), "m.json", {"format": "json"}),
    ):
        model.fit(X, Y)
        saved = getattr(model, "booster_", model)
        saved.save_model(str(tmp_path / name), **how)
        same_text(cw.read_ensemble(tmp_path / name).statistic)


@pytest.mark.parametrize(
    "model",
    [
        of_xgboost("reg:quantileerror", quantile_alpha=[0.1, 0.9]),
        of_catboost("MultiQuantile:alpha=0.1,0.9"),
    ],
)
def test_several_quantiles_are_refused_with_the_remedy(model):
    with refuses(ClearwoodError):
        cw.simplify(model.fit(X, Y), X)


def test_what_only_orders_rows_is_told():
    ranks = (Y > 3).astype(int)
    ranker = xgb.XGBRanker(n_estimators=3).fit(X, ranks, group=[100, 100])
    same_text(read_model(ranker, X).statistic)
    ranker = lgb.LGBMRanker(n_estimators=3, verbose=-1).fit(X, ranks, group=[100, 100])
    same_lines(str(cw.simplify(ranker, X, max_rules=2, random_state=0)))


def test_every_objective_that_lightgbm_reads_is_known_as_mean_or_not():
    from clearwood.ensembles.statistics import statistic_of

    means = {"regression", "poisson", "gamma", "tweedie"}
    means |= {"cross_entropy", "cross_entropy_lambda"}
    assert {name for name in VALUE_LINKS if not statistic_of(name)} == means


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_scale_of_a_target_decides_nothing(scale):
    linear = TransformedTargetRegressor(
        LinearRegression(), transformer=StandardScaler()
    )
    assert not read_model(linear.fit(X, scale * Y), X, scale * Y).statistic
    logs = transformed(LinearRegression(), np.log, np.exp)
    assert read_model(logs.fit(X, scale * Y), X, scale * Y).statistic


def test_a_transformer_inside_a_model_of_its_own_is_no_transformed_target():
    class Own(LinearRegression):
        def fit(self, X, y):
            self.transformer_ = StandardScaler().fit(X)
            return super().fit(self.transformer_.transform(X), y)

        def predict(self, X):
            return super().predict(self.transformer_.transform(X))

    assert not read_model(Own().fit(X, Y), X, Y).statistic
