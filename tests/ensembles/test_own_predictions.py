"""Models that do not predict what their trees say: found, refused, or asked."""

import warnings

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.wording import refuses, same_text, warns

import clearwood as cw
from clearwood.ensembles import TreeEnsemble, read_ensemble
from clearwood.ensembles.black_box import BlackBox
from clearwood.exceptions import ClearwoodError, ModelError, OwnPredictionsWarning
from clearwood.simplifiers._common.explained_model import read_model

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 3)).round(2)
Y = (X[:, 0] + RNG.normal(size=300) * 0.3 > 0.3).astype(int)
SMALL = {"n_estimators": 10, "max_depth": 3, "random_state": 0}
QUIET = {"n_estimators": 10, "num_leaves": 4, "verbose": -1}
CAT = {"iterations": 5, "depth": 2, "verbose": 0, "allow_writing_files": False}


class LowForest(RandomForestClassifier):
    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.15).astype(int)]


class LowXGB(xgb.XGBClassifier):
    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.15).astype(int)


class LowCat(cb.CatBoostClassifier):
    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.15).astype(int)


class Ruled(RandomForestClassifier):
    """Decides by a column that no tree asks for."""

    def predict_proba(self, X):
        found = super().predict_proba(X)
        found[np.asarray(X)[:, 2] > 0.5] = [0.9, 0.1]
        return found


class Tenfold(lgb.LGBMRegressor):
    def predict(self, X, **how):
        return 10 * super().predict(X, **how)


class Flipped(Pipeline):
    def predict(self, X, **how):
        return 1 - super().predict(X, **how)


class Doubled(StandardScaler):
    def transform(self, X):
        return 2 * super().transform(X)


class Shifted(xgb.Booster):
    def predict(self, data):
        return super().predict(data) + 1


def set_on_it():
    tree = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    tree.predict = lambda X: np.zeros(len(X), dtype=int)
    return tree


def shifted():
    booster = Shifted({"max_depth": 2}, [])
    booster.load_model(xgb.train({"max_depth": 2}, xgb.DMatrix(X, Y), 3).save_raw())
    return booster


STOPS = {"pred_early_stop": True, "pred_early_stop_freq": 2}
OTHERWISE = {
    "LowForest.predict": lambda: LowForest(**SMALL).fit(X, Y),
    "LowXGB.predict": lambda: LowXGB(n_estimators=5, max_depth=2).fit(X, Y),
    "LowCat.predict": lambda: LowCat(**CAT).fit(X, Y),
    "Ruled.predict_proba": lambda: Ruled(**SMALL).fit(X * [1, 1, 0], Y),
    "Tenfold.predict": lambda: Tenfold(**QUIET).fit(X, Y),
    "Flipped.predict": lambda: Flipped(
        [("s", StandardScaler()), ("m", DecisionTreeClassifier(max_depth=3))]
    ).fit(X, Y),
    "a part of it": lambda: make_pipeline(
        Doubled(), DecisionTreeClassifier(max_depth=3)
    ).fit(X, Y),
    "a setting for prediction": lambda: lgb.LGBMClassifier(
        **QUIET | {"n_estimators": 100}, **STOPS, pred_early_stop_margin=0.1
    ).fit(X, Y),
    "the function that was set": set_on_it,
    "Shifted.predict": shifted,
}


@pytest.mark.parametrize("cause", OTHERWISE)
def test_a_model_that_decides_otherwise_is_not_read_as_its_trees(cause):
    model = OTHERWISE[cause]()
    with refuses(ModelError):
        read_ensemble(model)
    if cause == "Shifted.predict":  # It takes no table, so that it cannot be asked.
        return
    with warns(OwnPredictionsWarning):
        asked = read_model(model, X, Y)
    assert isinstance(asked, BlackBox)
    np.testing.assert_array_equal(asked.predict(X), model.predict(X))
    columns = set(asked.splits().numeric.feature.tolist())
    assert 2 in columns or cause != "Ruled.predict_proba"


def test_rules_speak_for_what_the_model_itself_decides():
    model = LowForest(**SMALL).fit(X, Y)
    with warns(OwnPredictionsWarning, match="LowForest"):
        rules = cw.simplify(model, X, Y, method="auto", max_rules=4, random_state=0)
    said = model.predict(X)
    assert (rules.predict(X) == said).mean() > 0.9 > (said == Y).mean()


def test_texts_are_not_put_into_numbers_behind_its_back():
    table = pd.DataFrame({"a": X[:, 0], "hue": np.where(X[:, 1] > 0, "red", "tan")})
    with refuses(ModelError, match="LowForest"):
        cw.simplify(LowForest(**SMALL), table, Y)


def stopped(kind, **settings):
    return kind(**settings).fit(X, Y, eval_set=[(X[::2], 1 - Y[::2])])


SAME = {
    "searched": lambda: GridSearchCV(LowForest.__base__(**SMALL), {}, cv=2).fit(X, Y),
    "frozen": lambda: FrozenEstimator(RandomForestClassifier(**SMALL).fit(X, Y)),
    "scaled": lambda: make_pipeline(
        StandardScaler(), RandomForestClassifier(**SMALL)
    ).fit(pd.DataFrame(X, columns=list("abc")), Y),
    "categories": lambda: HistGradientBoostingClassifier(
        max_iter=3, categorical_features=[1]
    ).fit(X.round(), Y),
    "xgboost stopped early": lambda: stopped(
        xgb.XGBClassifier, n_estimators=20, early_stopping_rounds=2, verbosity=0
    ),
    "lightgbm stopped early": lambda: lgb.LGBMClassifier(**QUIET).fit(
        X, Y, eval_X=(X,), eval_y=(1 - Y,), callbacks=[lgb.early_stopping(2, verbose=0)]
    ),
    "base margin": lambda: xgb.XGBClassifier(n_estimators=3).fit(
        X, Y, base_margin=X[:, 1]
    ),
    "own objective": lambda: lgb.LGBMRegressor(
        objective=lambda y, p: (p - y, np.ones(len(y))), **QUIET
    ).fit(X, Y),
    "booster": lambda: xgb.train({"max_depth": 2}, xgb.DMatrix(X, Y), 3),
    "plain": lambda: cb.CatBoost(CAT | {"loss_function": "Logloss"}).fit(X, Y),
}


@pytest.mark.parametrize("name", SAME)
def test_models_that_predict_what_their_trees_say_are_read(name):
    model = SAME[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble = read_ensemble(model)
        table = X.round() if name == "categories" else X
        if name == "scaled":
            table = pd.DataFrame(X, columns=list("abc"))
        target = read_model(model, table, Y)
    assert isinstance(target, TreeEnsemble)
    assert not [note for note in ensemble.notes if "compared" in note]


FOREST = RandomForestClassifier(**SMALL)
AROUND = {
    "vote": VotingClassifier([("a", FOREST), ("b", LowForest(**SMALL))]),
    "stack": StackingClassifier([("a", LowForest(**SMALL))], cv=2),
    "calibrated": CalibratedClassifierCV(LowForest(**SMALL), cv=2),
    "fixed threshold": FixedThresholdClassifier(FOREST, threshold=0.15),
    "tuned threshold": TunedThresholdClassifierCV(FOREST, cv=2),
    "target": TransformedTargetRegressor(
        RandomForestRegressor(**SMALL), func=np.sinh, inverse_func=np.arcsinh
    ),
}


@pytest.mark.parametrize("name", AROUND)
def test_what_stands_around_an_ensemble_is_asked_itself(name):
    model = AROUND[name].fit(X, Y)
    asked = read_model(model, X, Y)
    assert isinstance(asked, BlackBox)
    np.testing.assert_array_equal(asked.predict(X), model.predict(X))


def test_several_classes_at_once_are_refused():
    model = MultiOutputClassifier(FOREST).fit(X, np.column_stack([Y, 1 - Y]))
    with refuses(ClearwoodError):
        cw.simplify(model, X)


def test_a_model_that_predicts_for_no_table_is_read_with_a_note():
    class Shy(RandomForestClassifier):
        def predict(self, X):
            raise RuntimeError("not today")

    ensemble = read_ensemble(Shy(**SMALL).fit(X, Y))
    same_text(ensemble.notes[-1])


class TieUp(RandomForestClassifier):
    """A forest whose sums are added in another order, so that its ties fall up."""

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] >= 0.5).astype(int)]


def test_a_tie_that_falls_the_other_way_is_no_difference():
    columns = np.repeat([[0.0], [1.0]], 50, axis=0)
    half = TieUp(1, bootstrap=False, max_depth=1).fit(columns, np.tile([0, 1], 50))
    assert half.predict(columns).all()
    assert not read_ensemble(half).predict(columns).any()


class TwoColumns(RandomForestRegressor):
    def predict(self, X):
        return np.column_stack([super().predict(X)] * 2)


def test_an_answer_of_another_shape_is_a_difference():
    with refuses(ModelError, match="TwoColumns"):
        read_ensemble(TwoColumns(**SMALL).fit(X, 1.0 * Y))
