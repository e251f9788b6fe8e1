"""Ensembles behind the steps of a pipeline, in the data's own columns."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeRegressor
from tests.wording import refuses, same_text
from xgboost import XGBClassifier

from clearwood.ensembles import read_ensemble
from clearwood.ensembles.sklearn.inside import questions_inside
from clearwood.exceptions import ModelError

FOREST = RandomForestClassifier(8, max_depth=5, random_state=0)


def table(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.normal(45, 15, n_rows).round(1),
            "dose": np.where(rng.random(n_rows) < 0.2, np.nan, rng.random(n_rows)),
            "rooms": rng.integers(1, 5, n_rows),
            "ward": rng.choice(["n", "s", "w", None], n_rows),
        }
    )
    late = (X.age > 45) ^ (X.ward == "n") ^ (X.rooms > 2) ^ (X.dose.fillna(1) > 0.5)
    return X, np.where(late, "late", "soon")


X, Y = table()
NUMBERS, LABELS = ["age", "dose"], ["ward", "rooms"]


def filled_one_hot(**how):
    encoder = OneHotEncoder(handle_unknown="ignore", **how)
    return make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)


def behind(numbers, labels, model=FOREST, **how):
    columns = make_column_transformer((numbers, NUMBERS), (labels, LABELS), **how)
    return make_pipeline(columns, model)


@pytest.fixture(scope="module")
def new_rows():
    """Rows on the cuts and beside them, in part of a ward that nobody has seen."""

    def make(ensemble):
        rows = table(400, seed=1)[0]
        rows.loc[:20, "ward"] = "never seen"
        rng, asked = np.random.default_rng(2), ensemble.splits().numeric
        for name in sorted(set(NUMBERS) & set(ensemble.features.names)):
            d = ensemble.features.names.index(name)
            cuts = asked.cut[(asked.feature == d) & np.isfinite(asked.cut)]
            cut = rng.choice(cuts, len(rows))
            ends = rng.choice([-np.inf, np.inf], len(rows))
            on = np.where(rng.random(len(rows)) < 0.5, cut, np.nextafter(cut, ends))
            rows[name] = rows[name].where(rows[name].isna(), on)
        return rows

    return make


@pytest.mark.parametrize(
    "model",
    [
        behind(make_pipeline(SimpleImputer(), StandardScaler()), filled_one_hot()),
        behind(
            make_pipeline(MinMaxScaler(), SimpleImputer(add_indicator=True)),
            make_pipeline(
                SimpleImputer(strategy="most_frequent"),
                OrdinalEncoder(
                    handle_unknown="use_encoded_value", unknown_value=np.nan
                ),
            ),
        ),
        behind(RobustScaler(), filled_one_hot(drop="first", min_frequency=0.25)),
        behind(MaxAbsScaler(), filled_one_hot(), LGBMClassifier(n_estimators=8)),
        behind(
            StandardScaler(),
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
            HistGradientBoostingClassifier(max_iter=8, categorical_features=[2, 3]),
        ),
        behind(
            FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())]),
            make_pipeline(filled_one_hot(sparse_output=False), TargetEncoder())[:1],
            sparse_threshold=0,
        ),
        behind("passthrough", TargetEncoder()),
        make_pipeline(
            behind(SimpleImputer(), filled_one_hot(sparse_output=False))[0],
            FunctionTransformer(),
            SelectKBest(k=4),
            FOREST,
        ),
    ],
    ids=[
        "one-hot", "ordinal", "infrequent", "lightgbm", "categories", "union", "target",
        "selection",
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_every_row_is_decided_as_by_the_pipeline(model, new_rows):
    if model[-1].__class__.__name__ == "LGBMClassifier":
        model[-1].set_params(verbose=-1)
    model.fit(X, Y)
    ensemble = read_ensemble(model)
    assert set(ensemble.features.names) <= set(X.columns)
    for rows in (X, new_rows(ensemble)):
        np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))
        np.testing.assert_allclose(
            ensemble.predict_proba(rows), model.predict_proba(rows), rtol=1e-12
        )


def test_cuts_are_the_last_numbers_that_pass():
    rng = np.random.default_rng(0)
    rows = rng.lognormal(size=(200, 2)) * [1e-3, 1e6]
    model = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=6))
    model.fit(rows, rows[:, 0] * 1e3 + rows[:, 1] / 1e6)
    asked = read_ensemble(model).splits().numeric
    tree = model[-1].tree_
    assert len(asked.cut) == (tree.children_left >= 0).sum()
    for node, d, cut in zip(asked.node, asked.feature, asked.cut):
        scaled = [
            (x - model[0].mean_[d]) / model[0].scale_[d]
            for x in (cut, np.nextafter(cut, np.inf))
        ]
        passes = np.float32(scaled) <= tree.threshold[node]
        assert passes.tolist() == [True, False]


def test_gaps_go_where_their_filling_goes():
    rows = np.array([[0.0], [1.0], [4.0], [np.nan]])
    model = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=3.0), DecisionTreeRegressor()
    )
    ensemble = read_ensemble(model.fit(rows, [0.0, 1.0, 4.0, 3.0]))
    assert ensemble.predict([[np.nan], [3.0]]).tolist() == [3.0, 3.0]


def test_zeros_of_a_sparse_table_are_missing_to_xgboost():
    wards = X[["ward"]].fillna("none")
    model = make_pipeline(OneHotEncoder(), XGBClassifier(n_estimators=3, max_depth=2))
    late = (Y == "late").astype(int)
    ensemble = read_ensemble(model.fit(wards, late))
    np.testing.assert_allclose(
        ensemble.predict_proba(wards), model.predict_proba(wards), rtol=1e-6
    )
    scaled = ColumnTransformer(
        [("age", MinMaxScaler(), ["age"]), ("ward", OneHotEncoder(), ["ward"])],
        sparse_threshold=1,
    )
    both = make_pipeline(scaled, XGBClassifier(n_estimators=3)).fit(X, late)
    with refuses(ModelError):
        read_ensemble(both)


def test_searches_and_frozen_pipelines():
    pipeline = behind(SimpleImputer(), filled_one_hot())
    search = GridSearchCV(pipeline, {"randomforestclassifier__max_depth": [3]}, cv=2)
    ensemble = read_ensemble(FrozenEstimator(search.fit(X, Y)))
    same_text(ensemble.source)
    np.testing.assert_array_equal(ensemble.predict(X), search.predict(X))


def test_dropped_columns_may_hold_anything():
    rows = X.assign(day=pd.Timestamp("2026-01-01"))
    columns = make_column_transformer(
        ("passthrough", ["rooms"]), (SimpleImputer(), lambda X: [])
    )
    model = make_pipeline(columns, RandomForestRegressor(2)).fit(rows, X.age)
    ensemble = read_ensemble(model)
    assert ensemble.features.names == ("rooms",)
    np.testing.assert_array_equal(ensemble.predict(rows), model.predict(rows))


@pytest.mark.parametrize(
    "step",
    [
        PCA(2),
        FunctionTransformer(np.abs),
        FeatureUnion([("a", MinMaxScaler())], transformer_weights={"a": 2}),
        make_pipeline(MinMaxScaler(), OrdinalEncoder()),
        FeatureUnion([("a", MinMaxScaler()), ("b", OrdinalEncoder())]),
    ],
)
def test_what_is_not_followed_says_why(step):
    model = make_pipeline(step, RandomForestRegressor(2))
    with refuses(ModelError):
        read_ensemble(model.fit(X[["age", "rooms"]], X.age))


@pytest.mark.parametrize(
    "model",
    [
        CalibratedClassifierCV(behind(SimpleImputer(), filled_one_hot()), cv=2),
        behind(SimpleImputer(), filled_one_hot(), CalibratedClassifierCV(FOREST, cv=2)),
        VotingClassifier(
            [("a", behind(StandardScaler(), filled_one_hot()))], voting="soft"
        ),
    ],
)
def test_rows_that_no_question_inside_tells_apart_get_one_answer(model):
    from clearwood.columns.schema import features_of
    from clearwood.ensembles.black_box import wrap_model
    from clearwood.rules import FeatureBins

    model.fit(X, Y)
    features = features_of(X)
    asked = wrap_model(model, X, None, "classification").with_questions(
        questions_inside(model, X, features), "inside"
    )
    rows = pd.concat([X, table(3000, seed=3)[0]], ignore_index=True)
    codes = FeatureBins.from_ensemble(asked).transform(rows)
    said = model.predict_proba(rows)[:, 0]
    _, same = np.unique(codes, axis=0, return_inverse=True)
    first = np.unique(same, return_index=True)[1]
    assert len(first) < len(rows)
    np.testing.assert_allclose(said, said[first][same.ravel()], rtol=1e-12)


def test_questions_inside_keep_the_sides_of_gaps_and_of_what_was_never_seen():
    from clearwood.columns.schema import features_of

    known = X[X.ward != "s"]
    model = VotingClassifier([("a", behind("passthrough", filled_one_hot()))])
    model.fit(known, Y[known.index])
    asked = questions_inside(model, X, features_of(X))
    (inner,) = (read_ensemble(part) for part in model.estimators_)
    own = inner.splits().numeric
    assert sorted(own.missing_left) == sorted(
        asked.numeric.missing_left[np.isin(asked.numeric.feature, [0, 1])]
    )
    labels = features_of(X).categories[3]
    for split in asked.categorical:
        assert (labels.index("s") in split.codes_left) == split.unseen_left
    assert any(split.unseen_left for split in asked.categorical)
