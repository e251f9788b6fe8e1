"""Methods of other packages, by a stand-in; for real where they are installed."""

import pickle
import sys
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.comparison.stand_in import stand_in
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.comparison import peers
from clearwood.comparison.folds import Job, Part, Problem
from clearwood.exceptions import InputError


def problem_of(is_weighted=False, labels=("ham", "spam"), **changed):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(40, 2)), columns=["my dose", "<b>"])
    y = np.array(labels)[(X["my dose"] > 0.5).astype(int)]
    forest = RandomForestClassifier(5, max_depth=1, max_features=None, random_state=0)
    forest.fit(X, y)
    weight = np.ones(40)
    parts = (
        Part("fold", np.r_[np.zeros(10), np.full(30, 2.0)], np.arange(10), 0, 0),
        Part("all", weight, np.zeros(0, dtype=int), 0, 0),
    )
    found = Problem(
        X, y, weight, is_weighted, (cw.read_ensemble(forest).as_in(X),),
        np.array(labels), parts, pickled_models=(pickle.dumps(forest),),
    )  # fmt: skip
    return found._replace(**changed)


def answers_of(problem, method, part, sizes=(1, 2, 3, 4, 5)):
    return peers.fit_peer(problem, Job(method, sizes, part), problem.parts[part])


def test_a_peer_learns_from_the_ensemble_and_tells_in_our_names(tmp_path, monkeypatch):
    keep = "FIGSClassifier.last = X, y"
    stand_in(tmp_path, monkeypatch, keep)
    problem = problem_of()
    with pytest.warns(UserWarning, match="noise"):
        held = answers_of(problem, "imodels:FIGS", 0)
        last = answers_of(problem, "imodels:FIGS", 1)
    assert [(a.requested, a.n_rules, a.n_literals) for a in last] == [
        (2, 2, 2), (3, 3, 4), (4, 4, 6), (5, 5, 8),
    ]  # fmt: skip
    same_lines(last[-1].text)
    # With four splits the stand-in says what decides.
    right = held[-1]
    truth = np.searchsorted(["ham", "spam"], problem.y[:10])
    assert right.predicted.tolist() == truth.tolist()
    assert right.rules is None and np.isnan(right.coverage) and right.text == ""
    # Weights are numbers of times, and the held-out rows are not there.
    import imodels

    with pytest.warns(UserWarning, match="noise"):
        answers_of(problem, "imodels:FIGS", 0)
    X, y = imodels.FIGSClassifier.last
    assert len(X) == 60 and set(np.unique(y)) == {0, 1}
    assert not set(problem.X["my dose"][:10]) & set(X[:, 0])


def test_through_compare_noise_of_a_peer_goes_nowhere(tmp_path, monkeypatch, capfd):
    stand_in(tmp_path, monkeypatch)
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 2))
    y = (X[:, 0] > 0.5).astype(int)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    found = cw.compare(
        forest, X, y, methods="imodels:FIGS", cv=2, n_refits=2, max_rules=5,
        random_state=0,
    )  # fmt: skip
    assert [p.n_rules for p in found.points] == [2, 3, 4, 5]
    assert found.points[-1].error == 0.0 and found.points[0].error > 0.1
    assert found.points[-1].stability == 1.0
    assert capfd.readouterr() == ("", "")
    with refuses(InputError):
        found.best()


def test_te2rules_gets_the_model_itself(monkeypatch):
    seen = {}

    class ModelExplainer:
        def __init__(self, model, feature_names):
            seen["model"], seen["names"] = model, feature_names

        def explain(self, X, y):
            seen["y"] = y
            return ["X0 > 0.5 & X1 <= 2.0", "X0 > 0.7"]

        def predict(self, X):
            return (X[:, 0] > 0.5).astype(int).tolist()

    package = types.ModuleType("te2rules")
    explainer = types.ModuleType("te2rules.explainer")
    explainer.ModelExplainer = ModelExplainer
    monkeypatch.setitem(sys.modules, "te2rules", package)
    monkeypatch.setitem(sys.modules, "te2rules.explainer", explainer)
    problem = problem_of()
    (answer,) = answers_of(problem, "te2rules", 1)
    assert type(seen["model"]) is RandomForestClassifier
    assert seen["names"] == ["X0", "X1"] and set(seen["y"]) == {0, 1}
    assert (answer.requested, answer.n_rules, answer.n_literals) == (5, 3, 3)
    same_lines(answer.text)
    (held,) = answers_of(problem, "te2rules", 0)
    assert len(held.predicted) == 10
    with refuses(InputError):
        answers_of(problem._replace(pickled_models=()), "te2rules", 1)


@pytest.mark.parametrize("peer", peers.PEERS)
def test_a_peer_that_is_not_installed_says_what_to_install(peer, monkeypatch):
    for package in ("imodels", "te2rules"):
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.delitem(sys.modules, f"{package}.explainer", raising=False)
    with refuses(InputError, match=peer.split(":")[0]):
        answers_of(problem_of(), peer, 1)


@pytest.mark.parametrize("peer", peers.PEERS)
def test_what_a_peer_cannot_do_it_says(peer, tmp_path, monkeypatch):
    for package in ("imodels", "te2rules", "te2rules.explainer"):
        empty = types.ModuleType(package)
        for name in (
            "FIGSClassifier FIGSRegressor RuleFitClassifier RuleFitRegressor "
            "GreedyRuleListClassifier ModelExplainer"
        ).split():
            setattr(empty, name, None)
        monkeypatch.setitem(sys.modules, package, empty)
    with pytest.raises(InputError, match="sample_weight"):
        answers_of(problem_of(is_weighted=True), peer, 1)
    problem = problem_of()
    gaps = problem.X.where(problem.X > 0.1)
    with refuses(InputError):
        answers_of(problem._replace(X=gaps), peer, 1)
    X = problem.X.to_numpy()
    numbers = RandomForestRegressor(2, random_state=0).fit(X, X[:, 0])
    three = RandomForestClassifier(2, random_state=0).fit(X, (3 * X[:, 0]).astype(int))
    for model, cannot in (
        (numbers, ("imodels:GreedyRuleList", "te2rules")),
        (three, ("imodels:RuleFit", "imodels:GreedyRuleList", "te2rules")),
    ):
        labels = np.zeros(0) if model is numbers else np.arange(3)
        other = problem._replace(
            X=X, ensembles=(cw.read_ensemble(model),), labels=labels
        )
        if peer in cannot:
            with refuses(InputError):
                answers_of(other, peer, 1)


def test_for_real():
    """Not in continuous integration: neither is installed there."""
    pytest.importorskip("imodels", reason="not installed")
    pytest.importorskip("te2rules", reason="not installed")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(100, 3)), columns=["dose", "my age", "<b>"])
    y = np.where((X["dose"] > 0.6) | (X["my age"] < 0.3), "ill", "well")
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    found = cw.compare(
        forest, X, y, methods=list(peers.PEERS), cv=2, n_refits=2, max_rules=4,
        random_state=0,
    )  # fmt: skip
    assert {p.method for p in found.points} == set(peers.PEERS)
    for point in (p for p in found.points if p.n_literals):
        assert "dose" in point.text or "my age" in point.text
        assert 0 <= point.error < 0.45
