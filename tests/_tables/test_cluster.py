"""On a cluster of processes all is said as in memory, also where a worker dies."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from tests._tables.dying import (
    Deadly,
    Leaving,
    become,
    broken_part,
    first_of,
    halved,
    leaving,
    ran_on,
    total_of,
)
from tests._tables.storing import CUTS, N, in_parts, of_dask, stored
from tests.waiting import SECONDS, await_workers, local_cluster
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood._numeric import BLOCK_ROWS
from clearwood._tables import open_rows
from clearwood.exceptions import InputError
from clearwood.rules import Interval, Rule, RuleList

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow")


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


@pytest.fixture(scope="module")
def cluster():
    """A scheduler with one worker, and a client that Dask asks by itself."""
    with local_cluster(n_workers=1) as c, distributed.Client(c) as client:
        yield client


@pytest.fixture(params=[pytest.param(1, marks=pytest.mark.dear), 2], scope="module")
def workers(request, cluster):
    await_workers(cluster, request.param)
    return request.param


@pytest.fixture(autouse=True)
def small_waves(monkeypatch):
    from clearwood._tables import of_dask

    monkeypatch.setattr(of_dask, "WAVE_BLOCKS", 1)


def test_workers_change_nothing(workers, frame, rules, tmp_path):
    X, path = of_dask(in_parts(frame)), stored("file", frame, tmp_path)[0]
    weighted = {"model": Deadly(), "sample_weight": "w"}
    told = [rules.described_on(X, "y", **weighted).to_json() for X in (X, path)]
    assert told[0] == told[1]
    scores = [rules.evaluate(X, "y", model=Deadly()) for X in (X, path)]
    assert scores[0] == scores[1]
    said = rules.predict(X).compute()
    assert (said == rules.predict(path)).all()


def test_a_worker_may_die(workers, frame, rules, tmp_path):
    last_will = tmp_path / "last_will"
    last_will.touch()
    deadly = Deadly(frame["a"][BLOCK_ROWS + 3000], last_will)
    X = of_dask(in_parts(frame))
    told = rules.described_on(X, "y", model=deadly, sample_weight="w")
    assert not last_will.exists(), "nobody died"
    weight = frame["w"].to_numpy()
    whole = rules.described_on(
        frame[["a", "b"]], frame["y"], model=deadly, sample_weight=weight
    )
    assert told.to_json() == whole.to_json()


def test_what_workers_keep_is_added_there(workers, frame, tmp_path, monkeypatch):
    from clearwood._tables import on_workers

    # More than a group and a wave, and partitions in several groups.
    monkeypatch.setattr(on_workers, "WAVE_BLOCKS", 2)
    many = pd.concat([frame] * 13, ignore_index=True)[["a"]]
    parts = [many[i : i + 99_991] for i in range(0, len(many), 99_991)]
    last_will = tmp_path / "last_will"
    last_will.touch()
    deadly = Deadly(many["a"].iloc[-7] / 3, last_will)
    with (
        open_rows(of_dask(parts)).kept(halved, 3.0) as there,
        open_rows(lambda: parts).kept(halved, 3.0) as here,
    ):
        assert type(there) is on_workers.WorkerBlocks
        expected = here.map_sum(total_of, 0.1)
        assert there.map_sum(total_of, 0.1) == expected
        # One dies, with the blocks that it kept: they are made anew.
        assert there.map_sum(total_of, 0.1, deadly) == expected
        assert not last_will.exists(), "nobody died"
        later = there.map(first_of, 9).map_sum(total_of, 2.0)
        assert later == here.map(first_of, 9).map_sum(total_of, 2.0)
        assert later[1] == 9 * -(-len(many) // BLOCK_ROWS)


def test_what_workers_keep_is_added_by_those_that_keep_it(
    workers, cluster, frame, monkeypatch
):
    from clearwood._tables import on_workers

    monkeypatch.setattr(on_workers, "GROUP_BLOCKS", 1)
    many = pd.concat([frame] * 5, ignore_index=True)[["a"]]
    parts = [many[i : i + 9_991] for i in range(0, len(many), 9_991)]
    await_workers(cluster, workers)  # One died before.
    addresses = sorted(cluster.nthreads())
    with open_rows(of_dask(parts)).kept(halved, 3.0) as blocks:
        owners = blocks._owners()
        assert len(owners) == -(-len(many) // BLOCK_ROWS)
        held = [sum(address in owner for owner in owners) for address in addresses]
        for _ in range(3):
            (ran,) = blocks.map_sum(ran_on, addresses)
            np.testing.assert_array_equal(ran, held)
        assert blocks._owners() == owners


def test_a_cluster_may_be_without_workers_for_a_while(frame, rules, monkeypatch):
    from clearwood._numeric import progress
    from clearwood._tables import dask_cluster

    monkeypatch.setattr(dask_cluster, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(progress, "TELL_SECONDS", 0.1)
    X, first, reports = of_dask(in_parts(frame)), frame["a"].iloc[0], []
    whole = rules.evaluate(frame[["a", "b"]], frame["y"], model=Leaving())
    with (
        local_cluster(n_workers=1, processes=False) as cluster,
        distributed.Client(cluster) as client,
    ):

        def leave():
            cluster.scale(0)
            end = time.monotonic() + SECONDS
            while time.monotonic() < end and any(
                worker.status.name == "running"
                for worker in cluster.scheduler.workers.values()
            ):
                time.sleep(0.01)

        def report(text):
            reports.append(text)
            cluster.scale(1)

        monkeypatch.setattr(progress.Patience, "_report", staticmethod(report))
        with leaving(leave):
            assert rules.evaluate(X, "y", model=Leaving(first)) == whole
        address = client.scheduler.address
        assert all(f" {address}" in report for report in reports)
        same_text(report.replace(address, "<address>") for report in reports)
        # And where none comes, an error.
        monkeypatch.setattr(progress.Patience, "_report", staticmethod(reports.append))
        with (
            dask.config.set({dask_cluster.WAIT_SETTING: "300ms"}),
            leaving(leave),
            refuses(InputError),
        ):
            rules.evaluate(X, "y", model=Leaving(first))
        cluster.scale(1)
        assert rules.evaluate(X, "y", model=Leaving(first)) == whole


def test_blocks_whose_cluster_is_gone_say_so(frame):
    X = of_dask(in_parts(frame))
    with (
        local_cluster(n_workers=1, processes=False) as gone,
        distributed.Client(gone, set_as_default=True) as client,
        open_rows(X[["a"]]).kept(halved, 3.0) as blocks,
    ):
        assert blocks.map_sum(total_of, 1.0)
        with (
            dask.config.set(scheduler="threads"),
            refuses(InputError),
        ):
            blocks.map_sum(total_of, 1.0)
        client.close()
        with refuses(InputError):
            blocks.map_sum(total_of, 1.0)


def test_mixtures_are_fitted_where_the_rows_are(workers, frame, tmp_path):
    X, path = of_dask(in_parts(frame)), stored("file", frame, tmp_path)[0]
    model = RandomForestRegressor(3, max_depth=3, random_state=0)
    model.fit(frame[["a", "b"]][:500], frame["y"][:500])
    settings = {"method": "fab", "n_init": 1, "max_rules": 4, "random_state": 0}
    told = [
        cw.simplify(model, X, "y", sample_weight="w", max_samples=3000, **settings)
        for X in (X, path)
    ]
    assert told[0].to_json() == told[1].to_json()
    assert f"all {N:,} rows" in told[0].about["mixture"]


@pytest.mark.parametrize("version", ["0.0.7", None])
def test_workers_without_this_library_are_named(cluster, frame, rules, version):
    cluster.run(become, version)
    try:
        with refuses(InputError, match=cw.__version__):
            rules.evaluate(of_dask(in_parts(frame)), "y")
    finally:
        cluster.run(become, cw.__version__)
    assert rules.evaluate(of_dask(in_parts(frame)), "y")


def test_rows_that_cannot_be_kept_are_named(cluster, frame):
    broken = frame.assign(a=frame["a"].astype(object))
    broken.loc[CUTS[-1] - 1, "a"] = "old"
    rows = open_rows(of_dask(in_parts(broken.drop(columns="b"))))
    with (
        refuses(InputError, match="TypeError"),
        rows.kept(halved, 3.0) as blocks,
    ):
        blocks.map_sum(total_of, 1.0)


def test_a_partition_that_raises_is_named(cluster, frame, rules):
    import dask.dataframe as dd

    small = frame[:50]
    parts = [dask.delayed(broken_part)(small, number, 2) for number in range(4)]
    X = dd.from_delayed(parts, meta=small)
    with refuses(InputError, match="ZeroDivisionError"):
        rules.evaluate(X, "y")
    missing = frame.assign(y=frame["y"].where(frame.index != CUTS[-1] - 1))
    with refuses(InputError, match="NaN"):
        rules.evaluate(of_dask(in_parts(missing)), "y")


def test_a_scheduler_that_is_gone_is_named(frame, rules):
    X = of_dask(in_parts(frame))
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "500ms"}),
        local_cluster(n_workers=1, processes=False) as gone,
        distributed.Client(gone, timeout=0.5) as client,
    ):
        address = client.scheduler.address
        gone.sync(gone.scheduler.close)
        with client.as_current():
            with refuses(InputError, match=str(address)):
                rules.evaluate(X, "y")
            client.close()
            with refuses(InputError):
                rules.evaluate(X, "y")
