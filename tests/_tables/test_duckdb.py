"""Rules predict a Parquet file as their SQL does in DuckDB."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood._numeric import BLOCK_ROWS

duckdb = pytest.importorskip("duckdb")
N = BLOCK_ROWS + 901


@pytest.fixture(scope="module")
def table():
    """Numbers, texts, truth values and dates, some of them missing."""
    rng = np.random.default_rng(0)
    day = np.datetime64("2024-01-01") + rng.integers(0, 400, N).astype("m8[D]")
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, N).astype(float),
            "ward": rng.choice(["north", "south", "it's"], N).astype(object),
            "first": rng.random(N) < 0.5,
            "start": day.astype("M8[us]"),
        }
    )
    for name, share in (("age", 0.1), ("ward", 0.2), ("start", 0.1)):
        X.loc[rng.random(N) < share, name] = None
    risk = (
        0.05 * X["age"].fillna(80)
        + 2.0 * (X["ward"] == "it's")
        + 1.5 * X["ward"].isna()
        + 2.0 * (X["start"] > pd.Timestamp("2024-09-01"))
        + X["first"]
    )
    return X, risk


@pytest.mark.parametrize(
    "make",
    [
        cw.RuleListClassifier,
        cw.DistilledTreeClassifier,
        cw.AdditiveRulesClassifier,
        cw.AdditiveRulesRegressor,
    ],
)
@pytest.mark.usefixtures("few_folds")
def test_duckdb_says_of_a_file_what_rules_say(make, table, tmp_path):
    X, risk = table
    if make.__name__.endswith("Classifier"):
        risk = np.array(["low", "middle", "high"])[np.digitize(risk, [4.0, 6.5])]
    else:
        risk = risk.to_numpy()
    rules = make(n_rules=8, n_synthetic=0, random_state=0).fit(X[:600], risk[:600])
    assert len(rules.rules_.used_features) >= 3
    path = tmp_path / "rows.parquet"
    X.to_parquet(path, row_group_size=5000)
    query = f"SELECT {rules.rules_.to_sql('duckdb')} FROM read_parquet('{path}')"
    told = [row[0] for row in duckdb.connect().sql(query).fetchall()]
    said = rules.rules_.predict(path)
    assert len(set(said)) >= 3
    assert told == np.asarray(said).tolist()
