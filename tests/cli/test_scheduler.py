"""``simplify --scheduler``: rows are counted on a cluster, or it says why not."""

import time

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.waiting import SECONDS, local_cluster
from tests.wording import same_lines, same_text

from clearwood.cli import main

distributed = pytest.importorskip("distributed")
xgboost = pytest.importorskip("xgboost")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model, a table, and where to write."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(3000, 2)), columns=["dose", "age"])
    y = (X["dose"] > 0.5) ^ (rng.random(3000) < 0.1)
    folder = tmp_path_factory.mktemp("files")
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2).fit(X[:400], y[:400])
    model.save_model(folder / "model.ubj")
    table = X.assign(y=y.astype(int))
    table.to_parquet(folder / "rows.parquet", row_group_size=700)
    table[:50].to_csv(folder / "rows.csv", index=False)
    return folder


@pytest.fixture
def simplify(files, monkeypatch, tmp_path):
    from clearwood import _tables

    monkeypatch.setattr(_tables, "SAMPLE_ROWS", 400)
    monkeypatch.setattr("clearwood.cli.large.WAIT", 0.5)

    def run(*options, table="rows.parquet", model=("model.ubj",)):
        out = tmp_path / "rules.json"
        named = [files / name for name in (*model, table)]
        named += ["--target", "y", "--max-rules", "3", "--json", "--out", out]
        done = CliRunner().invoke(main, ["simplify", *map(str, (*named, *options))])
        assert out.exists() == (done.exit_code == 0)
        out.unlink(missing_ok=True)
        return done

    return run


def test_a_cluster_says_what_the_command_says_alone(simplify, monkeypatch):
    from clearwood._tables import of_dask

    opened = []
    there = of_dask.open_dask
    monkeypatch.setattr(of_dask, "open_dask", lambda *a: opened.append(1) or there(*a))
    alone = simplify()
    assert alone.exit_code == 0 and not opened
    with local_cluster(n_workers=1, processes=False) as dask:
        done = simplify("--scheduler", dask.scheduler_address)
        assert list(dask.scheduler.clients) == ["fire-and-forget"], "ours is closed"
    assert opened and done.stdout == alone.stdout


def test_one_without_workers_is_refused(simplify):
    with local_cluster(n_workers=1, processes=False) as dask:
        dask.scale(0)
        end = time.monotonic() + SECONDS
        while dask.scheduler.workers and time.monotonic() < end:
            time.sleep(0.01)
        done = simplify("--scheduler", dask.scheduler_address)
    assert done.exit_code == 1
    assert f" {dask.scheduler_address} " in done.stderr
    same_text(done.stderr.replace(dask.scheduler_address, "<address>"))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "odd://host:1"])
def test_one_that_is_not_there_is_named(simplify, address):
    done = simplify("--scheduler", address)
    assert done.exit_code == 1 and done.stdout == ""
    assert f" {address} " in done.stderr
    same_text(done.stderr)


def test_other_tables_have_no_use_for_it(simplify):
    asked = ("--scheduler", "tcp://127.0.0.1:1")
    same_text(simplify(*asked, table="rows.csv").stderr)
    wrong = simplify(*asked, model=())
    assert wrong.exit_code == 2
    same_lines(wrong.stderr)
