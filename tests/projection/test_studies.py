"""The studies of projected trees take a folder of CSV files."""

import numpy as np
import pandas as pd
import pytest

cases = pytest.importorskip("benchmarks.projection.cases")


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=40), "kind": ["x", "y"] * 20})
    frame.loc[:3, "a"] = np.nan
    targets = {
        "price": rng.normal(size=40),
        "grade": np.repeat(["low", "high"], 20),
        "flag": np.repeat([0, 1], 20),
        "wine": rng.integers(3, 9, 40),
    }
    for name, target in targets.items():
        frame.assign(target=target).to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "notes.txt").write_text("no table", "utf-8")
    return str(tmp_path)


def test_the_last_column_is_the_target_of_values_or_classes(folder):
    assert cases.sets_in(folder, False, ("bodyfat",)) == ["price", "wine"]
    assert cases.sets_in(folder, True, ()) == ["flag", "grade"]
    assert cases.sets_in("", False, ("bodyfat",)) == ("bodyfat",)
    X, y, is_class = cases.table("grade", folder)
    assert is_class and y.tolist() == [1] * 20 + [0] * 20
    assert X.shape == (40, 2) and np.isfinite(X).all()


def test_rows_without_a_target_are_left_out(folder):
    pd.DataFrame({"a": range(9), "y": [np.nan, *range(8)]}).to_csv(
        f"{folder}/gaps.csv", index=False
    )
    X, y, _ = cases.table("gaps", folder)
    assert y.tolist() == list(range(8)) and X[:, 0].tolist() == list(range(1, 9))


def test_a_split_of_a_file_is_scored_like_one_of_a_set(folder):
    methods = pytest.importorskip("benchmarks.projection.methods")
    for name, measures in (("wine", ["rmse"]), ("grade", ["log loss", "accuracy"])):
        case = cases.make_case(name, 1, folder)
        assert (len(case.y), len(case.y_test)) == (30, 10)
        found = methods.rows_of(case, "searched", methods.searched(case, None), 0.0)
        assert [row["measure"] for row in found] == measures
        assert all(np.isfinite(row["20"]) for row in found)
        carts = methods.carts(case, None)
        assert {"cart", "cart_tuned", "cart_at_most"} <= set(carts)
