"""Rules of Spark frames: as of the same rows in memory, computed on the workers."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.guides import blocks_of
from tests.wording import refuses

import clearwood as cw
from clearwood._numeric import BLOCK_ROWS
from clearwood._tables import open_rows
from clearwood.exceptions import InputError, ModelError
from clearwood.rules import CategorySet, FeatureSpace, Interval, Rule, RuleList

sql = pytest.importorskip("pyspark.sql")
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.timeout(300),
]
N_ROWS = 2 * BLOCK_ROWS + 700


@pytest.fixture(scope="module")
def spark():
    # SPARK_REMOTE=local[2] runs the same tests with Spark Connect.
    builder = sql.SparkSession.builder
    if "SPARK_REMOTE" not in os.environ:
        builder = builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 20, N_ROWS),
            "ward": rng.choice(["a", "b", "c"], N_ROWS),
            "beds.n": rng.integers(0, 9, N_ROWS),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "ward"] = None
    ill = (frame["age"] > 60) | (frame["ward"] == "b")
    return frame.assign(ill=np.where(ill ^ (rng.random(N_ROWS) < 0.1), "yes", "no"))


@pytest.fixture(scope="module")
def table(spark, rows):
    """Two partitions, whose first rows fill a block."""
    return spark.createDataFrame(
        rows.astype(object).where(rows.notna(), None)
    ).coalesce(2)


SPACE = FeatureSpace(("age", "ward", "beds.n"), (None, ("a", "b"), None))
RULES = RuleList(
    (
        Rule((Interval(0, 60.0, missing=False),), "yes", (0.1, 0.9)),
        Rule((CategorySet(1, (1,), unseen=True), Interval(2, 3.0)), "yes", (0.3, 0.7)),
    ),
    Rule((), "no", (0.8, 0.2)),
    SPACE,
    ("no", "yes"),
)


def test_scores_and_statistics_are_those_in_memory(table, rows):
    y = rows["ill"].to_numpy()
    found, wanted = RULES.evaluate(table, "ill"), RULES.evaluate(rows, y)
    assert str(found) == str(wanted)
    # Blocks are cut elsewhere: sums differ in the last bits.
    pd.testing.assert_frame_equal(
        RULES.described_on(table, "ill").to_frame(),
        RULES.described_on(rows, y).to_frame(),
        rtol=1e-12,
    )


def test_predictions_are_columns(table, rows):
    found = RULES.predict(RULES.predict_proba(table)).toPandas()
    assert found["prediction"].tolist() == RULES.predict(rows).tolist()
    shares = np.array(found["probabilities"].tolist())
    np.testing.assert_array_equal(shares, RULES.predict_proba(rows))
    assert found["beds.n"].tolist() == rows["beds.n"].tolist()


def test_the_sample_is_that_of_the_rows_in_order(table, rows):
    blocks = open_rows(table, "ill")
    assert (blocks.n_rows, sum(block.n_rows for block in blocks)) == (N_ROWS, N_ROWS)
    sample, same = blocks.sample(500), open_rows(rows, "ill").sample(500)
    assert sample.X["beds.n"].tolist() == same.X["beds.n"].tolist()
    assert sample.y.tolist() == same.y.tolist()


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.SampledRowsWarning")
def test_rules_are_searched_for_on_a_sample(table, rows):
    numbers = rows[["age", "beds.n"]].fillna(0.0)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    forest.fit(numbers, rows["ill"])
    frame = table.select("age", "`beds.n`", "ill").fillna({"age": 0.0})
    options = {"max_rules": 3, "random_state": 0, "max_samples": 2000}
    found = cw.simplify(forest, frame, "ill", **options)
    known = rows[["age", "beds.n", "ill"]].fillna({"age": 0.0})
    wanted = cw.simplify(forest, lambda: iter([known]), "ill", **options)
    assert found.to_text() == wanted.to_text()


def test_what_is_refused(spark, table):
    with refuses(InputError):
        RULES.evaluate(table, np.zeros(3))
    with refuses(InputError):
        RULES.evaluate(table, "y")
    with refuses(InputError):
        RULES.predict(RULES.predict(table))
    with refuses(InputError):
        RULES.evaluate(table.limit(0), "ill")
    wrong = spark.createDataFrame([("x", "a", 1, "no")], table.columns).coalesce(1)
    with refuses(InputError):
        RULES.evaluate(wrong, "ill")


def test_other_rows_on_another_pass(table):
    from pyspark.sql import functions

    passes = functions.udf(lambda _: int.from_bytes(os.urandom(1), "big") > 127)
    random = table.filter(passes.asNondeterministic()(table["age"]) == "true")
    with pytest.raises(InputError, match="persist"):
        RULES.evaluate(random, "ill")


def test_models_of_spark_are_refused():
    from pyspark.ml.classification import RandomForestClassificationModel

    with refuses(ModelError):
        cw.read_ensemble(
            RandomForestClassificationModel.__new__(RandomForestClassificationModel)
        )


def test_the_guide_runs(spark, capsys):
    blocks = blocks_of("spark")
    assert len(blocks) == 4
    names = {}
    for block in blocks:
        exec(block, names)
    assert "then yes" in capsys.readouterr().out
