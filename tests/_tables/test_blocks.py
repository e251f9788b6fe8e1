"""Rules say the same of a table however it is stored, and what is wrong with it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests._tables.storing import KINDS, N, in_parts, of_dask, stored
from tests.wording import refuses

import clearwood as cw
from clearwood._numeric import BLOCK_ROWS, WeightedMoments
from clearwood._tables import RowsOfTable, open_rows
from clearwood._tables.rows import PartRows, errors_located
from clearwood.exceptions import InputError
from clearwood.rules import CategorySet, Interval, Rule, RuleList, RuleSum

dask = pytest.importorskip("dask")
pytest.importorskip("pyarrow")


class Doubling:
    """A model of numbers that takes frames and arrays."""

    def predict(self, X):
        return 2.0 * np.asarray(X)[:, 0].astype(float) + 0.1


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, N))
    weight = rng.random(N) * (rng.random(N) < 0.9)
    return pd.DataFrame({"a": a, "b": b, "y": 2 * a + rng.normal(size=N), "w": weight})


@pytest.fixture(scope="module")
def rules():
    space = cw.FeatureSpace(("a", "b"), (None, None))
    lines = Rule((Interval(0, low=0.5),), 2.0), Rule((Interval(1, high=0.1),), -0.5)
    return RuleList(lines, Rule((), 0.25), space)


@pytest.mark.parametrize("kind", [*KINDS, "memmap"])
def test_all_say_the_same_to_the_last_bit(kind, frame, rules, tmp_path):
    X, rest = stored(kind, frame, tmp_path)
    whole = frame[["a", "b"]]
    own = {"y": frame["y"].to_numpy(), "sample_weight": frame["w"].to_numpy()}
    told = rules.described_on(X, model=Doubling(), **rest)
    expected = rules.described_on(whole, model=Doubling(), **own)
    assert told.to_json() == expected.to_json()
    scores = rules.evaluate(X, rest["y"], model=Doubling())
    assert scores == rules.evaluate(whole, own["y"], model=Doubling())
    assert (np.asarray(rules.predict(X)) == rules.predict(whole)).all()
    sample = open_rows(X, rest["y"]).sample(500, seed=3)
    drawn = open_rows(whole.to_numpy(), own["y"]).sample(500, seed=3)
    assert (np.asarray(sample.X)[:, :2] == drawn.X).all()
    assert (sample.y == drawn.y).all()


@pytest.fixture(scope="module")
def graded(frame):
    """A forest of three classes that are texts, and rules that speak for it."""
    X = frame[["a", "b"]]
    grade = np.array(["high", "low", "middle"])[np.digitize(frame["y"], [-1.0, 1.0])]
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, grade)
    rules = cw.simplify(forest, X[:500], n_rules=3, n_synthetic=0, random_state=0)
    return cw.read_ensemble(forest), rules


@pytest.mark.parametrize("kind", [*KINDS, "memmap"])
def test_models_predict_the_same_to_the_last_bit(kind, frame, graded, tmp_path):
    X, _ = stored(kind, frame, tmp_path)
    for model in graded:
        for verb in ("predict", "predict_proba"):
            said, whole = getattr(model, verb)(X), frame[["a", "b"]]
            lazy = kind.startswith("dask")
            assert hasattr(said, "compute") == lazy
            if kind == "dask frame" and verb == "predict_proba":
                assert list(said.columns) == list(model.classes)
            said = said.compute() if lazy else said
            assert (np.asarray(said) == getattr(model, verb)(whole)).all()


def test_a_model_reads_its_own_columns_of_a_file(frame, graded, tmp_path):
    texts = frame[["y", "b", "a"]].assign(name="x")
    texts.to_parquet(tmp_path / "rows.parquet")
    said = graded[0].predict(tmp_path / "rows.parquet")
    assert (said == graded[0].predict(frame[["a", "b"]])).all()


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_schedulers_change_nothing(scheduler, frame, rules):
    X = of_dask(in_parts(frame))
    with dask.config.set(scheduler=scheduler, num_workers=3):
        told = rules.described_on(X, "y", sample_weight="w")
    weight = frame["w"].to_numpy()
    expected = rules.described_on(frame, frame["y"], sample_weight=weight)
    assert told.to_json() == expected.to_json()


def test_dask_predicts_when_it_is_asked(frame, rules):
    calls = []
    parts = [dask.delayed(lambda p: calls.append(1) or p)(p) for p in in_parts(frame)]
    import dask.dataframe as dd

    said = rules.predict(dd.from_delayed(parts, meta=frame.iloc[:0]))
    assert not calls
    with dask.config.set(scheduler="sync"):
        assert len(said.compute()) == N and calls


def test_statistics_of_blocks_are_those_of_all_rows(frame, rules):
    # Written out here, as they are on one block.
    weight, caught = frame["w"].to_numpy(), (frame["a"] > 0.5).to_numpy()
    y = frame["y"].to_numpy()
    first = rules.described_on(frame, y, sample_weight=weight).rules[0]
    mean = np.average(y[caught], weights=weight[caught])
    spread = np.average((y[caught] - mean) ** 2, weights=weight[caught]) ** 0.5
    assert first.std == pytest.approx(spread, rel=1e-12)
    assert (first.low + first.high) / 2 == pytest.approx(mean, rel=1e-12)
    assert first.rows == ((weight > 0) & caught).sum()
    matches = rules.matches(frame)
    scores = rules.evaluate(frame, y)
    assert scores.overlap == matches.sum(axis=1).mean() > scores.coverage
    assert scores.error == pytest.approx(((rules.predict(frame) - y) ** 2).mean())


def test_moments_add_up():
    rng = np.random.default_rng(1)
    values, weight = 1e6 + rng.normal(size=300), 10.0 ** rng.uniform(-200, -190, 300)
    whole = WeightedMoments.of(values, weight)
    parts = [WeightedMoments.of(values[i::3], weight[i::3]) for i in range(3)]
    total = WeightedMoments() + parts[0] + parts[1] + parts[2] + WeightedMoments()
    for name, value in vars(whole).items():
        assert getattr(total, name) == pytest.approx(value, rel=1e-8, abs=0), name
    assert total.n_effective == pytest.approx(whole.n_effective)


def test_only_what_is_asked_is_read(rules, frame, tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    path, asked = tmp_path / "rows.parquet", []
    frame.assign(further="text").to_parquet(path)
    read = pq.ParquetFile.iter_batches

    def watched(self, **settings):
        asked.append(settings["columns"])
        return read(self, **settings)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    rules.evaluate(path, "y")
    assert asked == [["a", "b", "y"]]


# Categories


def of_hues(*parts):
    frames = [pd.DataFrame({"hue": p, "y": [1.0] * len(p)}) for p in parts]
    return [f.astype({"hue": "category"}) for f in frames]


def test_categories_may_differ_between_parts():
    space = cw.FeatureSpace(("hue",), (("red", "blue"),))
    rules = RuleSum((Rule((CategorySet(0, [1]),), 1.0),), Rule((), 0.0), space)
    parts = of_hues(["red", "red"], ["blue", None], ["blue", "red"])
    for X in (lambda: parts, of_dask(parts)):
        assert np.asarray(rules.predict(X)).tolist() == [0, 0, 1, 0, 1, 0]
    block = next(iter(open_rows(lambda: parts, "y")))
    assert list(block.X["hue"].cat.categories) == ["red", "blue"]


# What is wrong is said, and where


def broken(kind, frame, folder):
    path = folder / "rows.parquet"
    small = frame.iloc[:100]
    small.to_parquet(path, row_group_size=40)
    content = path.read_bytes()
    texts = small.assign(a="x")
    missing = small.assign(y=small["y"].where(small.index != 50))
    match kind:
        case "none":
            return folder / "no.parquet"
        case "truncated":
            path.write_bytes(content[:-20])
        case "damaged":
            path.write_bytes(content[:4] + bytes(len(content) // 2) +
                             content[4 + len(content) // 2 :])  # fmt: skip
        case "csv":
            path = folder / "rows.csv"
            path.write_text("a,b,y\n1,2,3\n")
        case "empty folder":
            path = folder / "empty"
            path.mkdir()
        case "without column" | "other type":
            path = folder / "many"
            path.mkdir()
            other = small.drop(columns="b") if kind == "without column" else texts
            small.to_parquet(path / "0.parquet")
            other.to_parquet(path / "1.parquet")
        case "no target":
            small.drop(columns="y").to_parquet(path)
        case "missing target":
            missing.to_parquet(path, row_group_size=40)
        case "no rows":
            small.iloc[:0].to_parquet(path)
        case "iterator":
            return iter([small])
        case "failing frames":
            return lambda: (f if i < 2 else 1 / 0 for i, f in enumerate([small] * 3))
        case "failing partition":
            fail = dask.delayed(lambda: 1 / 0)()
            import dask.dataframe as dd

            return dd.from_delayed([dask.delayed(small), fail], meta=small)
        case "type in partition":
            return of_dask([small, texts])
        case "target in partition":
            return of_dask([small, missing])
        case "column in partition":
            return of_dask([small, small.drop(columns="b")])
        case "column in frame":
            return lambda: [small, small.drop(columns="b")]
        case "other target in partition":
            return of_dask([small, small.assign(y="high")])
        case "other target in frame":
            return lambda: [small, small.assign(y="high")]
        case "mixed target":
            y = small["y"].astype(object).where(small.index != 7, "high")
            return lambda: [small, small.assign(y=y)]
        case "text in partition":
            a = small["a"].astype(object).where(small.index != 7, "high")
            return of_dask([small, small.assign(a=a)])
    return path


BAD = [
    "none",
    "truncated",
    "damaged",
    "csv",
    "empty folder",
    "without column",
    "other type",
    "no target",
    "missing target",
    "no rows",
    "iterator",
    "failing frames",
    "failing partition",
    "type in partition",
    "column in partition",
    "column in frame",
    "other target in partition",
    "other target in frame",
    "mixed target",
    "text in partition",
    "target in partition",
]


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_named(kind, frame, rules, tmp_path):
    X = broken(kind, frame, tmp_path)
    with (
        dask.config.set(scheduler="sync"),
        refuses(InputError),
    ):
        rules.evaluate(X, "y")


@pytest.mark.parametrize("n_rows", [40, 4000])
def test_a_fit_names_the_row_that_it_refuses(frame, graded, n_rows, monkeypatch):
    """Where it stands, also where it was met in a sample."""
    monkeypatch.setattr("clearwood._tables.learning.SAMPLE_ROWS", n_rows)
    table = frame[["a", "b", "y"]][:300]
    bad = pd.RangeIndex(300) % 100 >= 50
    table = table.assign(y=table["y"].where(~bad))
    parts = [table[:50], table[50:]]
    first = next(row for row in open_rows(lambda: parts)._drawn(n_rows) if bad[row])
    named = f"1: .*NaN.* {first - 50};"
    with refuses(InputError, match=f"^partition {named}"):
        cw.MetaTreeRegressor().fit(of_dask(parts), "y")
    with refuses(InputError, match=f"^frame {named}"):
        cw.MetaTreeRegressor().fit(lambda: parts, "y")
    with refuses(InputError, match=f"^frame {named}"):
        cw.simplify(graded[0], lambda: parts, "y", max_samples=n_rows)


def test_numbers_as_objects_are_numbers(frame, rules):
    parts = [frame[:500], frame[500:900].astype(object), frame[900:1500]]
    whole = rules.evaluate(frame[:1500], frame["y"][:1500]).error
    for X in (lambda: parts, of_dask(parts)):
        assert rules.evaluate(X, "y").error == whole


def test_targets_of_files_are_named(frame, rules, tmp_path):
    path, _ = stored("file", frame, tmp_path)
    with refuses(InputError):
        rules.evaluate(path, frame["y"])
    with refuses(InputError):
        rules.evaluate(stored("memmap", frame, tmp_path)[0], frame["y"][:5])
    with refuses(InputError):
        rules.evaluate(path, "y", model=frame["y"])


def test_labels_that_no_block_knows_are_refused(frame, tmp_path):
    space = cw.FeatureSpace(("a",), (None,))
    rules = RuleList((), Rule((), "yes", (0.4, 0.6)), space, ("no", "yes"))
    late = np.where(np.arange(N) < BLOCK_ROWS, "new", "yes")
    assert rules.evaluate(lambda: [frame.assign(y=late)], "y").error < 0.5
    with refuses(InputError):
        rules.evaluate(lambda: [frame.assign(y="new")], "y")


def test_rows_of_one_block_may_all_be_of_no_weight():
    X = np.zeros((3, 1))
    none = RowsOfTable(X, weight=np.zeros(3))
    assert none.checked_weight().tolist() == [0.0, 0.0, 0.0]
    assert RowsOfTable(X).checked_weight().tolist() == [1.0, 1.0, 1.0]
    assert RowsOfTable(X[:0], weight=np.zeros(0)).checked_weight().shape == (0,)
    with refuses(InputError):
        RowsOfTable(X, weight=np.array([1.0, -1.0, 0.0])).checked_weight()


def test_only_the_row_that_an_error_names_gets_its_number_in_the_part():
    with (
        refuses(InputError, match="11.*12"),
        errors_located(PartRows("part", 10, 5)),
    ):
        raise InputError("row 1 differs from row 12", row=1)
