"""Histogram gradient boosting: categories, missing and unseen values, column order."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from tests.wording import refuses

from clearwood.ensembles import read_ensemble
from clearwood.exceptions import ModelError

sklearn_version = tuple(int(n) for n in sklearn.__version__.split(".")[:2])
CITIES = ["Oslo", "Rome", "Bern", "Lima", "Kyiv", "Cairo"]


def table(seed, missing=True):
    """Numeric, categorical, numeric, categorical: a target that needs the sets."""
    rng = np.random.default_rng(seed)
    city = rng.integers(len(CITIES), size=150)
    size = rng.integers(3, size=150)
    data = pd.DataFrame(
        {
            "age": rng.normal(size=150),
            "city": pd.Categorical.from_codes(city, CITIES),
            "height": np.round(rng.normal(size=150), 1),
            "size": pd.Categorical.from_codes(size, ["small", "big", "huge"]),
        }
    )
    target = np.array([3, -2, 5, 0, -4, 1])[city] + data["age"] * size
    if missing:
        for column in data.columns:
            data.loc[rng.random(150) < 0.1, column] = None
    return data, target.to_numpy()


def new_rows(data):
    """The rows again, and rows with cities that nobody has seen, and with holes."""
    unseen = data.astype({"city": object, "size": object})
    unseen.loc[::2, "city"] = "Atlantis"
    unseen.loc[::3, "size"] = "tiny"
    holes = data.astype({"city": object, "size": object})
    holes.loc[::2, ["age", "city"]] = None
    holes.loc[::3, ["height", "size"]] = np.nan
    rows = pd.concat([data.astype(holes.dtypes), unseen, holes], ignore_index=True)
    return rows.astype({"city": "category", "size": "category"})


def hist(classes=0, **settings):
    settings = {"max_iter": 8, "min_samples_leaf": 3, "random_state": 0} | settings
    if classes:
        return HistGradientBoostingClassifier(**settings)
    return HistGradientBoostingRegressor(**settings)


def assert_same(model, X):
    ensemble = read_ensemble(model)
    assert len(ensemble.splits().categorical) > 0
    assert_array_equal(ensemble.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        raw = model.decision_function(X)
        assert_array_equal(ensemble.decision_function(X), raw)
        # A softmax may add its terms in another order.
        assert_allclose(ensemble.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    return ensemble


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("classes", [0, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_pandas_categories(seed, classes, missing):
    data, target = table(seed, missing)
    y = np.digitize(target, np.linspace(-3, 4, classes - 1)) if classes else target
    model = hist(classes).fit(data, y)
    ensemble = assert_same(model, new_rows(data))
    assert ensemble.features.names == ("age", "city", "height", "size")
    assert ensemble.features.categories[0] is None
    assert ensemble.features.categories[1] == tuple(sorted(CITIES))
    assert ensemble.features.categories[3] == ("big", "huge", "small")


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", ["Categorical", "Enum"])
@pytest.mark.parametrize("which", ["from_dtype", ["city", "size"]])
def test_polars_categories(dtype, which, missing):
    if which == "from_dtype" and sklearn_version < (1, 9):
        pytest.skip("scikit-learn sees the types of current polars columns since 1.9")
    pl = pytest.importorskip("polars")
    data, target = table(0, missing)
    kind = {
        "Categorical": pl.Categorical,
        "Enum": pl.Enum([*CITIES, "small", "big", "huge", "Atlantis", "tiny"]),
    }[dtype]
    columns = [pl.col("city").cast(kind), pl.col("size").cast(kind)]

    def to_polars(frame):
        lists = {name: frame[name].tolist() for name in frame.columns}
        for name in ("city", "size"):
            lists[name] = [None if v != v else v for v in lists[name]]
        return pl.DataFrame(lists, strict=False).with_columns(columns)

    model = hist(categorical_features=which).fit(to_polars(data), target)
    assert_same(model, to_polars(new_rows(data)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [False, True])
def test_numpy_codes_with_gaps(seed, missing):
    data, target = table(seed, missing)
    X = data.assign(
        city=data["city"].cat.codes.replace(-1, np.nan) * 7.5 - 2,
        size=data["size"].cat.codes.replace(-1, np.nan) + 100,
    ).to_numpy(dtype=float)
    model = hist(categorical_features=[3, 1]).fit(X, target)
    rows = np.concatenate([X, X])
    rows[::3, 1] = -1.0
    rows[::4, 3] = 42.0
    rows[::5, 1] = np.nan
    ensemble = assert_same(model, rows)
    assert ensemble.features.names == ("x0", "x1", "x2", "x3")
    assert ensemble.features.categories[3] == (100.0, 101.0, 102.0)


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
def test_categories_of_plain_text_columns_with_none():
    # To scikit-learn None is a category here; to us it is a missing value.
    data, target = table(1)
    for name in ("city", "size"):
        column = data[name].astype(object)
        data[name] = column.where(column.notna(), None)
    model = hist(categorical_features=["city", "size"]).fit(data, target)
    ensemble = assert_same(model, data)
    assert None not in ensemble.features.categories[1]
    unseen = data.assign(city="Atlantis")
    assert_array_equal(ensemble.predict(unseen), model.predict(unseen))
    splits = ensemble.splits().categorical
    assert any(s.missing_left != s.unseen_left for s in splits)


def test_two_kinds_of_missing_are_refused():
    data, target = table(1, missing=False)
    city = data["city"].astype(object).to_numpy(copy=True)
    city[:5], city[5:9] = None, np.nan
    X = np.column_stack([data["age"].to_numpy(dtype=object), city])
    model = hist(categorical_features=[1]).fit(X, target)
    with refuses(ModelError, match="NaN"):
        read_ensemble(model)


@pytest.mark.parametrize("labels", [[True, False], [3, 20], ["yes", "no"]])
def test_kinds_of_labels(labels):
    rng = np.random.default_rng(0)
    which = rng.integers(2, size=80)
    data = pd.DataFrame({"a": rng.normal(size=80), "b": np.array(labels)[which]})
    data["b"] = data["b"].astype("category")
    assert_same(hist().fit(data, which + data["a"]), data)


def test_many_categories_use_all_words_of_the_bit_sets():
    rng = np.random.default_rng(0)
    codes = rng.integers(250, size=(3000, 1)).astype(float)
    effect = rng.normal(size=250)
    model = hist(categorical_features=[0], max_iter=30).fit(
        codes, effect[codes[:, 0].astype(int)]
    )
    ensemble = assert_same(model, np.arange(-5.0, 300.0)[:, None])
    assert max(max(s.codes_left) for s in ensemble.splits().categorical) > 224


def test_all_columns_categorical():
    rng = np.random.default_rng(0)
    X = rng.integers(5, size=(100, 2)).astype(float)
    model = hist(categorical_features=[0, 1]).fit(X, X[:, 0] * X[:, 1])
    ensemble = assert_same(model, X)
    assert ensemble.splits().numeric.node.size == 0


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_losses_with_a_log_link(loss):
    data, target = table(2)
    y = np.exp(target / 4)
    model = hist(loss=loss).fit(data, y)
    ensemble = assert_same(model, data)
    assert ensemble.link == "exp"


def test_infinite_values_are_read_like_any_other():
    X = np.array([[-np.inf], [0.0], [1.0], [np.inf]] * 20)
    model = hist().fit(X, np.tile([1.0, 2.0, 3.0, 4.0], 20))
    ensemble = read_ensemble(model)
    assert_array_equal(ensemble.predict(X), model.predict(X))


def test_early_stopping():
    data, target = table(0)
    model = hist(early_stopping=True, max_iter=50, n_iter_no_change=2)
    model.fit(data, target)
    assert_same(model, new_rows(data))


def test_one_class_is_refused():
    model = hist(classes=1).fit(np.arange(20.0)[:, None], ["only"] * 20)
    with refuses(ModelError, match="'only'"):
        read_ensemble(model)


@pytest.mark.parametrize("categories", ["from_dtype", None])
def test_leaves_ask_no_feature(categories):
    data, target = table(0)
    X = data if categories else data[["age", "height"]]
    model = HistGradientBoostingRegressor(
        max_iter=3, categorical_features=categories
    ).fit(X, target)
    found = read_ensemble(model)
    assert_array_equal(found.feature[found.left < 0], -1)
    assert (found.feature[found.left >= 0] >= 0).all()
