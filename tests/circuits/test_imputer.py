"""Missing cells filled from a network."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from tests.circuits.test_estimators import people
from tests.wording import refuses

import clearwood as cw
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.imputer import filled as filled_by
from clearwood.circuits.nodes import Product, Sum
from clearwood.distributions import Categorical
from clearwood.exceptions import InputError
from clearwood.rules import FeatureSpace

KINDS = {
    "pandas": lambda X: X.assign(
        ward=pd.Categorical(X["ward"], categories=["west", "x", "north", "east"]),
        ill=X["ill"].astype("boolean"),
        grade=X["grade"].astype("Int8"),
        pulse=X["pulse"].astype("float32"),
        visits=X["visits"].astype("Int64"),
    ),
    "objects": lambda X: X.astype(object),
    "arrow": lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda X: pl.from_pandas(
        X.astype({"ill": "boolean", "visits": "Int64"})
    ).with_columns(
        pl.col("ward").cast(pl.Categorical), pl.col("pulse").cast(pl.Float32)
    ),
}


def table(n=300, seed=0):
    X = people(n, seed, missing=0)
    X["visits"] = np.round(X["age"] / 4) + np.arange(n) % 9
    holes = np.random.default_rng(seed).random(X.shape) < 0.15
    return X.mask(holes), X


@pytest.fixture(scope="module")
def fitted():
    return cw.SPNImputer(random_state=0).fit(table()[0])


def frame(filled):
    return filled if isinstance(filled, pd.DataFrame) else filled.to_pandas()


def test_guesses_are_modes_and_means(fitted):
    X, truth = table(200, seed=1)
    filled = fitted.transform(X)
    network = cw.MiniSPN(n_networks=5, random_state=0).fit(table()[0])
    for name, answer in network.conditional(X).items():
        cells = filled[name].to_numpy()[answer.rows]
        if name in ("age", "pulse", "visits"):
            np.testing.assert_allclose(cells, answer.mean)
        else:
            levels = network.circuit_.features.categories[X.columns.get_loc(name)]
            best = answer.probabilities.argmax(axis=1)
            assert cells.tolist() == [levels[k] for k in best]
    present = X.notna()
    pd.testing.assert_frame_equal(filled.where(present), X)
    holes = X["age"].isna()
    assert (filled["age"] - truth["age"])[holes].abs().mean() < 8
    assert (filled["ill"] == truth["ill"])[X["ill"].isna()].mean() > 0.85


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [{}, {"joint": True}, {"n_draws": 2}], ids=str)
def test_tables_keep_their_kind(kind, how):
    X = KINDS[kind](table(80)[0])
    before = X.copy() if isinstance(X, pd.DataFrame) else X.clone()
    filled = cw.SPNImputer(random_state=0, **how).fit_transform(X)
    assert type(filled) is type(X) and list(filled.columns) == list(X.columns)
    assert list(filled.dtypes) == list(X.dtypes)
    assert not frame(filled).isna().any(axis=None)
    assert X.equals(before)


def test_arrays_and_other_outputs():
    X = table(60)[0][["ill", "grade", "age"]].astype(float).to_numpy()
    imputer = cw.SPNImputer(random_state=0).fit(X)
    filled = imputer.transform(X)
    assert filled.dtype == np.float64 and not np.isnan(filled).any()
    np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    assert imputer.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    named = imputer.set_output(transform="pandas").transform(X)
    np.testing.assert_array_equal(named.to_numpy(), filled)
    empty = np.column_stack([X, np.full(60, np.nan)])
    filled = cw.SPNImputer(random_state=0).fit_transform(empty)
    assert np.isnan(filled[:, 3]).all() and not np.isnan(filled[:, :3]).any()
    y = np.arange(60) % 2
    pipe = make_pipeline(cw.SPNImputer(random_state=0), LogisticRegression())
    assert pipe.fit(X, y).predict(X).shape == (60,)


KINDS_OF_ROWS = [(0.4, (0, 1)), (0.3, (1, 0)), (0.3, (2, 0))]


def torn():
    """Each column is likeliest of the first level, but both together are not."""
    tables = np.eye(3) * 0.94 + 0.02
    children = tuple(
        Product((Categorical(0, tables[a]), Categorical(1, tables[b])))
        for _, (a, b) in KINDS_OF_ROWS
    )
    levels = ("x", "y", "z")
    features = FeatureSpace(("a", "b"), (levels, levels))
    return Circuit(
        Sum(np.array([share for share, _ in KINDS_OF_ROWS]), children), features
    )


@pytest.fixture(scope="module")
def of_torn():
    X = pd.DataFrame({"a": ["x", "y", "z"] * 10, "b": ["y", "x", "z"] * 10})

    def imputer(**settings):
        found = cw.SPNImputer(random_state=0, **settings).fit(X)
        found.circuit_ = torn()
        return found

    return imputer


def test_cells_alone_and_rows_as_a_whole(of_torn):
    X = pd.DataFrame({"a": [None], "b": [None]}, dtype=object)
    alone, joint = (of_torn(joint=joint).transform(X) for joint in (False, True))
    assert alone.to_numpy().tolist() == [["x", "x"]]
    assert joint.to_numpy().tolist() == [["x", "y"]]


def test_draws_are_joint(of_torn):
    X = pd.DataFrame({"a": [None] * 1000, "b": [None] * 1000}, dtype=object)
    imputer = of_torn(n_draws=3)
    drawn = imputer.draws(X)
    assert len(drawn) == 3 and not drawn[0].equals(drawn[1])
    pd.testing.assert_frame_equal(imputer.transform(X), drawn[0])
    every = pd.concat(drawn)
    pairs = pd.crosstab(every["a"], every["b"]).to_numpy()
    table = np.eye(3) * 0.94 + 0.02
    expected = sum(
        share * np.outer(table[a], table[b]) for share, (a, b) in KINDS_OF_ROWS
    )
    assert stats.chisquare(pairs.ravel(), 3000 * expected.ravel()).pvalue > 1e-3
    known = X.assign(a="x")
    given = imputer.transform(known)
    assert (given["a"] == "x").all() and (given["b"] == "y").mean() > 0.8


def test_unknown_levels_and_empty_columns_stay(fitted):
    X, _ = table(6, seed=3)
    X = X.assign(ward=["south", "west", None, "east", "east", "west"], age=np.nan)
    filled = fitted.transform(X)
    assert filled["ward"][0] == "south" and filled["ward"][2] in ("west", "east")
    assert filled["age"].notna().all()
    with pytest.warns(UserWarning, match="ward") as told:
        cw.SPNImputer(n_draws=2, random_state=0).fit(table()[0]).draws(
            X.assign(ward="south")
        )
    assert len(told) == 1
    types = {"none": float, "nothing": object, "whole": "Int64", "truth": "boolean"}
    holes = {name: pd.Series([None] * 50, dtype=kind) for name, kind in types.items()}
    filled = cw.SPNImputer(random_state=0).fit_transform(table(50)[0].assign(**holes))
    assert filled[list(types)].isna().all(axis=None)
    assert not filled.drop(columns=list(types)).isna().any(axis=None)


def test_whole_numbers_stay_whole():
    X = table()[0].astype({"visits": "Int64"})
    filled = cw.SPNImputer(random_state=0).fit_transform(X)["visits"]
    means = cw.MiniSPN(n_networks=5, random_state=0).fit(X).conditional(X)["visits"]
    np.testing.assert_array_equal(
        filled.to_numpy()[means.rows].astype(float), np.round(means.mean)
    )
    small = pd.DataFrame({"n": pd.array([3, None, None], dtype="UInt8")})
    known = np.array([[3.0], [np.nan], [np.nan]])
    for table_ in (small, pl.from_pandas(small)):
        drawn = np.array([[3.0], [-2.0], [300.0]])
        cells = filled_by(table_, FeatureSpace.numeric(1), known, drawn)["n"]
        assert cells.to_list() == [3, 0, 255]


def test_wrong_use_is_told():
    with pytest.raises(ValueError, match="not fitted"):
        cw.SPNImputer().transform(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="network"):
        cw.SPNImputer(LogisticRegression()).fit(np.eye(4))
    X, _ = table(60)
    with refuses(InputError, match="'age'"):
        cw.SPNImputer(random_state=0).fit(X).transform(X.assign(age=np.inf))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas])
@pytest.mark.parametrize("n_draws", [0, 1])
def test_dates_are_imputed_by_dates(library, n_draws):
    rng = np.random.default_rng(0)
    start = pd.Timestamp("2020-01-01", tz="Europe/Berlin")
    X = pd.DataFrame({
        "seen": start + pd.to_timedelta(rng.integers(0, 5000, 200), "h"),
        "stay": pd.to_timedelta(rng.integers(1, 900, 200), "h"),
    })  # fmt: skip
    X.loc[:20, "seen"], X.loc[15:40, "stay"] = pd.NaT, pd.NaT
    table = library(X)
    filled = cw.SPNImputer(random_state=0, n_draws=n_draws).fit_transform(table)
    assert list(filled.dtypes) == list(table.dtypes)
    back = filled if library is pd.DataFrame else filled.to_pandas()
    assert not back.isna().any(axis=None)
    assert back["seen"].between(X["seen"].min(), X["seen"].max()).all()
    pd.testing.assert_series_equal(back["seen"][21:], X["seen"][21:], check_dtype=False)


def test_means_of_skewed_columns_stay_in_the_range_of_the_cells():
    """Of exponentials they would be 1e19 where a condition is far away."""
    a = np.random.default_rng(0).normal(size=500)
    X = pd.DataFrame({"a": a, "b": np.exp(2 * a + 0.1)})
    imputer = cw.SPNImputer(random_state=0).fit(X)
    far = pd.DataFrame({"a": [-30.0, 30.0], "b": [np.nan, np.nan]})
    filled = imputer.transform(far)["b"]
    assert filled.between(X["b"].min(), X["b"].max()).all()
