"""No file takes far more memory than it is large, unless that is allowed.

And predictions of rules and meta-trees take none that grows with the rows, beside the
answers.
"""

import gzip
import hashlib
import io
import json
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw
from clearwood import _memory
from clearwood._memory import memory_allowed, memory_bound
from clearwood._tables import open_rows
from clearwood.cli.tables.reading import read_table
from clearwood.exceptions import ClearwoodError, InputError
from clearwood.sampling.checkpoint import read_checkpoint

MANY = f"[{','.join(['{}'] * 900_000)}]"
"""Small values that take far more than their text."""
SPARE = 2**21
"""So that bombs may be small, too."""


def zipped(path, method=zipfile.ZIP_DEFLATED, **members):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members.items():
            file.writestr(name.replace("__", "."), content)


def array_of(n):
    content = io.BytesIO()
    np.save(content, np.zeros(n, np.uint8))
    return content.getvalue()


def node(**more):
    return {"__class__": "ndarray", "__module__": "numpy", "type": "numpy",
            "__loader__": "NdArrayNode", **more}  # fmt: skip


def spaces(path):
    zipped(path, schema__json=b'{"a": "' + b" " * 2**25 + b'"}')


def arrays(path):
    zipped(
        path, schema__json=json.dumps(node(file="0.npy")), **{"0__npy": array_of(2**25)}
    )


def one_array_named_often(path):
    schema = {"content": [node(file="0.npy")] * 1000}
    zipped(path, schema__json=json.dumps(schema), **{"0__npy": array_of(2**16)})


def archive_in_archive(path):
    inside = io.BytesIO()
    zipped(inside, data__npy=array_of(2**25))
    schema = json.dumps(node(file="0.npz"))
    zipped(path, schema__json=schema, **{"0__npz": inside.getvalue()})


def small_values(path):
    zipped(path, zipfile.ZIP_STORED, schema__json=MANY)


def packed_archive(path):
    head = {"format": "clearwood.archive", "version": 1, "kind": "Circuit"}
    zipped(path, model__json=json.dumps(head | {"a": " " * 2**25}))


def rules(path):
    path.write_text(f'{{"format": {MANY}}}')


def ubjson(path):
    path.write_bytes(b"{i\x01a[" + b"{}" * 2**17 + b"]}")


def checkpoint(path):
    digest = hashlib.sha256(MANY.encode()).hexdigest()
    head = f'{{"schema": "clearwood.chains/2", "sha256": "{digest}",\n"content": '
    path.write_text(f"{head}{MANY}}}\n")


def packed_csv(path):
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2**23))


def constant_column(path):
    column = pa.DictionaryArray.from_arrays(np.zeros(2**22, np.int8), ["x"])
    pq.write_table(pa.table({"a": column}), path, store_schema=False)


def long_text(path):
    column = pa.DictionaryArray.from_arrays(np.zeros(4000, np.int8), ["x" * 10_000])
    pq.write_table(pa.table({"a": column}), path, store_schema=False)


def declared(path):
    table = pa.table({"a": np.zeros(2**22)})
    pq.write_table(table, path, use_dictionary=False, row_group_size=2**22)


def all_rows(path):
    for _ in open_rows(path):
        pass


BOMBS = [
    (spaces, "skops", cw.read_ensemble), (arrays, "skops", cw.read_ensemble),
    (one_array_named_often, "skops", cw.read_ensemble),
    (archive_in_archive, "skops", cw.read_ensemble),
    (small_values, "skops", cw.read_ensemble), (packed_archive, "zip", cw.load),
    (rules, "json", cw.load), (rules, "json", cw.read_ensemble),
    (ubjson, "ubj", cw.read_ensemble), (checkpoint, "chains", read_checkpoint),
    (packed_csv, "csv.gz", lambda path: read_table(str(path))),
    *[(make, "parquet", lambda path: read_table(str(path)))
      for make in (constant_column, long_text, declared)],
    (long_text, "parquet", all_rows), (declared, "parquet", open_rows),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "kind", "read"), BOMBS, ids=lambda x: getattr(x, "__name__", x)
)
def test_a_bomb_is_refused_with_little_memory(make, kind, read, tmp_path, monkeypatch):
    monkeypatch.setattr(_memory, "SPARE", SPARE)
    monkeypatch.setattr(_memory, "SPARE_OF_TABLES", SPARE)
    if kind == "skops":
        pytest.importorskip("skops.io")  # its modules take more than the file may
    path = tmp_path / f"bomb.{kind}"
    make(path)
    most = SPARE + 10 * path.stat().st_size
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        with pytest.raises(ClearwoodError) as refused:
            read(path)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    inside = make in (archive_in_archive, packed_archive)
    assert inside or "max_memory" in str(refused.value)
    # Besides the file, what a first look at it takes.
    assert taken + pa.total_allocated_bytes() - before < most + 2**22


def test_the_bound_grows_with_the_file_and_is_the_users():
    assert memory_bound(10**9) == 64 * 2**20 + 10**10
    with memory_allowed(None):
        assert memory_bound(0) == _memory.SPARE
    with memory_allowed(5), pytest.raises(InputError, match="max_memory=-1"):
        assert memory_bound(10**9) == 5
        with memory_allowed(-1):
            pass


def test_files_that_people_have_pass_and_more_is_allowed_by_name(tmp_path):
    """Packed models, and tables whose columns are nearly constant."""
    io = pytest.importorskip("skops.io")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    forest = RandomForestClassifier(30, random_state=0).fit(X, X[:, 0] > 0)
    path = tmp_path / "forest.skops"
    io.dump(forest, path, compression=zipfile.ZIP_DEFLATED, compresslevel=9)
    assert cw.read_ensemble(path).n_trees == 30
    assert cw.check(path).sound
    assert not cw.check(path, max_memory=1000).supported
    table = tmp_path / "table.parquet"
    flags = {f"f{i}": np.arange(10**5) == i for i in range(20)}
    pd.DataFrame(flags | {"ward": ["north"] * 10**5}).to_parquet(table)
    assert table.stat().st_size < 10**5
    assert read_table(str(table)).shape == (10**5, 21)
    saved = tmp_path / "rules.json"
    cw.save(
        cw.RuleList((), cw.Rule((), 3.5), cw.FeatureSpace.numeric(2)),
        saved,
    )
    assert cw.load(saved, max_memory=10**6).n_rules == 1


def predicting_models():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] + X[:, 1] > rng.normal(size=400)).astype(int)
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y)
    rules = {"max_rules": 4, "random_state": 0}
    return {
        "list": cw.RuleListClassifier(forest, **rules).fit(X, y).predict,
        "sum": cw.AdditiveRulesClassifier(forest, **rules).fit(X, y).predict_proba,
        "meta-tree": cw.MetaTreeClassifier(random_state=0).fit(X, y).predict_proba,
        "labels": cw.MetaTreeClassifier(random_state=0).fit(X, y).predict,
        "values": cw.MetaTreeRegressor(random_state=0).fit(X, y).predict,
    }


def test_more_rows_take_no_more_memory_beside_their_answers():
    def beside(predict, n_rows):
        X = np.tile(np.linspace(-2, 2, 6000).reshape(1000, 6), (n_rows // 1000, 1))
        tracemalloc.start()
        try:
            answers = predict(X)
            return tracemalloc.get_traced_memory()[1] - answers.nbytes
        finally:
            tracemalloc.stop()

    for name, predict in predicting_models().items():
        predict(np.zeros((2, 6)))
        assert beside(predict, 900_000) <= 1.1 * beside(predict, 300_000), name
