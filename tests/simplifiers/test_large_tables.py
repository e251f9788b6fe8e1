"""A sample finds the rules of a large table, and all rows count."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.wording import same_lines

import clearwood as cw

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20_000, 3)), columns=["a", "b", "c"])
    frame["id"] = [f"row {i}" for i in range(len(frame))]
    noisy = frame["a"] + (frame["b"] > 0.5) + rng.normal(size=len(frame)) / 2
    frame["y"] = np.where(noisy > 0.5, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def forest(table):
    forest = RandomForestClassifier(10, max_depth=4, random_state=0)
    return forest.fit(table[["a", "b", "c"]][:2000], table["y"][:2000])


FEW = {"max_rules": 3, "random_state": 0}


def test_all_rows_are_counted(table, forest, tmp_path):
    path = tmp_path / "rows.parquet"
    table.to_parquet(path, row_group_size=3001)
    rules = cw.simplify(forest, path, "y", max_samples=1000, **FEW)
    assert rules.n_rows == len(table) and rules.target == "y"
    assert rules == rules.with_metadata(**rules.described_on(
        table, table["y"], model=forest.predict(table[["a", "b", "c"]])
    ).about)  # fmt: skip
    X = table[["a", "b", "c"]]
    scores = rules.evaluate(X, model=forest)
    same_lines(rules.about["sample"])
    assert f" {scores.fidelity:.4g}" in rules.about["sample"]
    frames = cw.simplify(forest, lambda: [table], "y", max_samples=1000, **FEW)
    assert frames.to_json() == rules.to_json()


def test_a_table_that_fits_is_taken_whole(table, forest):
    X, y = table[["a", "b", "c"]][:1500], table["y"][:1500]
    whole = cw.simplify(forest, X, y, **FEW)
    blocks = cw.simplify(forest, lambda: [table[:700], table[700:1500]], "y", **FEW)
    assert blocks.to_json() == whole.to_json()


def test_a_model_that_is_not_fitted_learns_from_the_sample(table):
    dd = pytest.importorskip("dask.dataframe")
    numbers = table[["a", "b", "c"]].assign(value=table["a"] * 2)
    model = RandomForestRegressor(5, max_depth=4, random_state=0)
    frame = dd.from_pandas(numbers, npartitions=3)
    rules = cw.simplify(model, frame, "value", max_samples=800, **FEW)
    assert rules.n_rows == len(table) and rules.task == "regression"
