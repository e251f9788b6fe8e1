"""From tables to graphs and predictions; promises of all are in contract.py."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.wording import refuses, warns

import clearwood as cw
from clearwood.datasets import make_cluster_classes, make_corral
from clearwood.exceptions import InputError, InterruptedFitWarning
from clearwood.sbfc import collapsed, estimators
from clearwood.sbfc.graphs import log_posterior
from clearwood.sbfc.scores import Penalty, score

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "sbfc.json").read_text(encoding="utf-8")
)
PRIOR = ("alpha", "lambda_x", "lambda_y")
Forest = cw.SelectiveBayesianForestClassifier


def golden_table(case):
    """Rows as texts, so that every level is one."""
    rows = [list(row) for row in case["rows_X"]]
    return pd.DataFrame(rows, columns=[f"f{j}" for j in range(case["d"])]), [*case["y"]]


@pytest.fixture(scope="module")
def corral():
    return make_corral(n_noise=4, random_state=0)


@pytest.fixture(scope="module")
def exact(corral):
    return Forest(random_state=0).fit(*corral)


@pytest.mark.parametrize("case", GOLDEN["enumerated"], ids=lambda case: case["name"])
def test_golden_posteriors_of_tables(case):
    X, y = golden_table(case)
    prior = {name: case[name] for name in PRIOR} | {"prior": "paper"}
    found = Forest("exact", n_graphs=200, random_state=0, **prior)
    found.fit(X, y)
    expected = case["rooted"]
    np.testing.assert_allclose(
        found.inclusion_probability_, expected["signal_probability"], atol=1e-9
    )
    upper = np.triu(found.edge_probability_.toarray(), 1)
    np.testing.assert_allclose(upper, expected["edge_probability"], atol=1e-9)
    evidence = case["log_evidence_unnormalised_rooted"]
    assert found.log_evidence_ == pytest.approx(evidence, abs=1e-9)
    # Graphs are draws: four standard errors.
    drawn = np.mean([graph.signal for graph in found.graphs_], axis=0)
    p = found.inclusion_probability_
    assert (np.abs(drawn - p) <= 4 * np.sqrt(p * (1 - p) / 200) + 1e-9).all()


@pytest.mark.parametrize("case", GOLDEN["enumerated"], ids=lambda case: case["name"])
def test_the_best_graph_is_the_best_of_all(case):
    X, y = golden_table(case)
    prior = {name: case[name] for name in PRIOR} | {"prior": "paper"}
    found = Forest(n_graphs=1, random_state=0, **prior).fit(X, y)
    top = case["top_graphs"][0]
    best = top["log_prior"] + top["log_likelihood"]
    assert found.best_log_posterior_ == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("sampler", ["collapsed", "exchange", "original"])
def test_chains_find_what_the_sum_finds(sampler, corral, exact):
    chains = Forest(sampler, n_draws=300, random_state=0).fit(*corral)
    for name, d in chains.diagnose().items():
        if name in exact.levels_.features.names:
            p = exact.inclusion_probability_[int(name[1:])]
            assert abs(d.mean - p) < 4 * d.mcse
    error = np.abs(chains.inclusion_probability_ - exact.inclusion_probability_).max()
    assert error < (1e-3 if sampler == "collapsed" else 0.05)
    assert np.abs(chains.edge_probability_ - exact.edge_probability_).max() < 0.05
    assert chains.best_log_posterior_ == pytest.approx(exact.best_log_posterior_)
    assert chains.log_evidence_ is None
    parts = [model.predict_proba_error(corral[0]) for model in (chains, exact)]
    away = chains.predict_proba(corral[0]) - exact.predict_proba(corral[0])
    assert (np.abs(away) <= 5 * np.hypot(*parts) + 1e-3).all()


def test_graphs_have_edges_as_often_as_they_should():
    X, y = golden_table(GOLDEN["enumerated"][0])
    found = Forest(n_graphs=3000, random_state=0).fit(X, y)
    edges = np.zeros(found.edge_probability_.shape)
    for graph in found.graphs_:
        child, parent = graph.edges.T
        edges[child, parent] += 1 / 3000
    p = found.edge_probability_.toarray()
    error = 4 * np.sqrt(p * (1 - p) / 3000)
    assert (np.abs(edges + edges.T - p) <= error).all()


def test_constant_columns_are_set_aside_but_counted(corral, exact):
    X, y = corral
    wide = np.column_stack([np.zeros(len(X)), X, np.full(len(X), 3.0)])
    found = Forest(random_state=0).fit(wide, y)
    assert found.inclusion_probability_[[0, -1]].tolist() == [0, 0]
    assert (found.inclusion_probability_[1:-1] != exact.inclusion_probability_).any()
    assert found.edge_probability_[[0, -1]].nnz == 0
    assert all(graph.parent[0] == -1 for graph in found.graphs_)
    assert {int(p) for graph in found.graphs_ for p in graph.parent} <= {*range(-1, 11)}
    # As if the prior had been told that there are two columns more.
    table, _ = Forest()._read(X, y, None)
    scores = score(table)
    penalty = Penalty.of("balanced", 4.0, 1.0, len(wide[0]), 2)
    narrow = cw.sbfc.FeatureForest(
        found.best_graph_.signal[1:-1],
        np.where(found.best_graph_.parent < 0, -1, found.best_graph_.parent - 1)[1:-1],
    )
    expected = log_posterior(narrow, scores, penalty)
    assert found.best_log_posterior_ == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")
@pytest.mark.parametrize("sampler", ["exact", "collapsed"])
def test_only_what_cannot_be_has_the_probability_0_or_1(sampler):
    y = np.arange(600) % 2
    ward = np.arange(600) // 2 % 15  # as frequent in both classes
    X = pd.DataFrame({"same": y, "ward": ward.astype(str), "room": ward.astype(str)})
    found = Forest(sampler, n_draws=5, random_state=0).fit(X.assign(one=1), y)
    same, ward, room, one = found.inclusion_probability_
    assert 1 - 1e-9 < same < 1
    assert 0 < ward < 1e-9
    assert 0 < room < 1e-9
    assert one == 0
    assert 1 - 1e-9 < found.edge_probability_[1, 2] < 1


def test_where_nothing_varies_the_classes_have_their_shares():
    found = Forest().fit(np.ones((6, 2)), list("aabbbb"))
    np.testing.assert_allclose(found.predict_proba([[1, 1]]), [[1 / 3, 2 / 3]])
    assert found.inclusion_probability_.tolist() == [0, 0]


def test_numbers_that_matter_only_together_are_signal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    found = Forest(random_state=0).fit(X[:400], y[:400])
    assert (found.inclusion_probability_ > 0.5).tolist() == [True, True, False, False]
    assert (found.inclusion_probability_ > 0).all()
    assert found.score(X[400:], y[400:]) > 0.85
    alone = Forest(binning="mdlp", random_state=0).fit(X[:400], y[:400])
    assert alone.inclusion_probability_[:2].tolist() == [0, 0]


def test_missing_cells_say_nothing_unless_some_were_missing_in_the_fit(corral):
    X, y = corral
    found = Forest(random_state=0).fit(X[:, :4], y)
    gaps = np.array([[1, 1, 0, 0], [np.nan] * 4])
    # All missing: what is known of the classes alone.
    _, count = np.unique(y, return_counts=True)
    np.testing.assert_allclose(found.predict_proba(gaps)[1], count / len(y))
    # Missing where it tells the class.
    told = np.where(y == 1, np.nan, X[:, 4])
    again = Forest(random_state=0).fit(np.column_stack([X[:, :4], told]), y)
    assert again.predict_proba([[0, 0, 0, 0, np.nan]])[0, 1] > 0.2
    assert again.inclusion_probability_[4] > 0.999


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")
@pytest.mark.parametrize("sampler", ["collapsed", "exchange", "original"])
def test_edges_that_chains_disagree_on_are_diagnosed(corral, sampler):
    found = Forest(sampler, n_draws=60, random_state=0).fit(*corral)
    diagnoses = {k: d for k, d in found.diagnose().items() if "--" in k}
    for name, diagnosis in diagnoses.items():
        i, j = (int(x[1:]) for x in name.split(" -- "))
        p = found.edge_probability_[i, j]
        assert diagnosis.mean == pytest.approx(p, abs=5e-4)
        assert diagnosis.rhat < 1.2
    assert 0.1 < diagnoses["x0 -- x1"].mean < 0.9
    if sampler != "collapsed":
        parent = found.chains_.draws["parent"]
        drawn = (parent[..., 0] == 1) | (parent[..., 1] == 0)
        assert diagnoses["x0 -- x1"].mean == pytest.approx(drawn.mean())
    assert not any("--" in name for name in Forest().fit(*corral).diagnose())


def test_many_noise_features_do_not_hide_the_clusters():
    X, y = make_cluster_classes(400, 60, random_state=0)
    found = Forest(n_draws=150, n_graphs=100, random_state=0).fit(X, y)
    assert {name for name, p in found.feature_ranking() if p > 0.5} == {
        f"x{j}" for j in range(7)
    }
    assert found.score(*make_cluster_classes(400, 60, random_state=1)) > 0.9
    assert max(d.rhat for d in found.diagnose().values()) < 1.1


def test_what_cannot_be_is_refused(corral, monkeypatch):
    X, y = corral
    with refuses(InputError, match="17"):
        Forest().fit(X, y, np.full(len(X), 1e15))
    ids = pd.DataFrame({"a": np.arange(128).astype(str), "b": X[:, 0]})
    monkeypatch.setattr(estimators, "MOST_PAIRS", 128 * 128)
    with refuses(InputError, match="'a'.*128"):
        Forest().fit(ids, y)
    wide = np.column_stack([X, X])
    with refuses(InputError, match="16"):
        Forest("exact").fit(wide, y)
    with refuses(InputError, match="one class only"):
        Forest().fit(X, ["a"] * len(X))


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")
def test_auto_takes_what_can_be_done(corral, exact, monkeypatch):
    X, y = corral
    few = {"n_draws": 5, "n_graphs": 5, "random_state": 0}
    wide = np.column_stack([X, X])
    assert exact.sampler_ == "exact"
    found = Forest(**few).fit(wide, y)
    assert found.sampler_ == "collapsed"
    monkeypatch.setattr(collapsed, "BOUNDS", (0.01,))
    assert exact.dropped_ == 0 < Forest(**few).fit(wide, y).dropped_ < 0.2
    monkeypatch.setattr(collapsed, "MOST_TIED", 1)
    assert Forest(**few).fit(wide, y).sampler_ == "exchange"
    with refuses(InputError):
        Forest("collapsed", **few).fit(wide, y)


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")
def test_chains_go_on_from_a_checkpoint(corral, tmp_path):
    X, y = corral
    settings = {"sampler": "collapsed", "n_graphs": 20, "random_state": 0}
    whole = Forest(n_draws=60, **settings).fit(X, y)
    path = tmp_path / "chains.json"
    Forest(n_draws=25, checkpoint=path, **settings).fit(X, y)
    again = Forest(n_draws=60, checkpoint=path, **settings).fit(X, y)
    for name, draws in whole.chains_.draws.items():
        np.testing.assert_array_equal(again.chains_.draws[name], draws)
    np.testing.assert_array_equal(again.predict_proba(X), whole.predict_proba(X))


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")
def test_ctrl_c_leaves_what_the_chains_have_drawn(corral, monkeypatch):
    X, y = corral
    made = []

    class Slow(estimators.run_chains.__globals__["_Chain"]):
        def advance(self, *args):
            super().advance(*args)
            made.append(1)
            if len(made) > 4 * 30:
                raise KeyboardInterrupt

    monkeypatch.setitem(estimators.run_chains.__globals__, "_Chain", Slow)
    with warns(InterruptedFitWarning, match="400"):
        found = Forest("original", n_draws=400, n_graphs=20, random_state=0).fit(X, y)
    assert 0 < found.chains_.n_draws < 400
    assert found.score(X, y) > 0.9


def test_a_table_saved_and_loaded_reads_the_same(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 90, 200)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(200) < 0.1, np.nan, age),
            "ward": rng.choice(["north", "south"], 200),
            "same": 1,
        }
    )
    y = np.where(age + 20 * (X["ward"] == "north") > 60, "ill", "well")
    settings = {"prior": "balanced", "n_graphs": np.int64(30)}
    found = Forest(random_state=0, **settings).fit(X, y)
    cw.save(found, tmp_path / "forest.cw")
    again = cw.load(tmp_path / "forest.cw")
    np.testing.assert_array_equal(again.predict_proba(X), found.predict_proba(X))
    assert again.feature_ranking() == found.feature_ranking()
    assert (again.edge_probability_ != found.edge_probability_).nnz == 0
    assert str(again.best_graph_) == str(found.best_graph_)
    assert {"age", "ward", "same"} <= set(re.findall(r"\w+", str(again.best_graph_)))
    assert len(again.graphs_) == 30
    assert again.log_evidence_ == found.log_evidence_
    assert again.levels_.names_of(0) == found.levels_.names_of(0)
    assert again.sampler_ == found.sampler_ == "exact"
    assert again.dropped_ == found.dropped_ == 0
    assert again.get_params()["prior"] == "balanced"
    assert again.get_params()["n_graphs"] == 30
