"""Node Harvest: the programme, the nodes it chooses from, and what users count on."""

import builtins
import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog, minimize
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.wording import refuses

import clearwood as cw
from clearwood.ensembles import TreeEnsemble, read_ensemble
from clearwood.exceptions import InputError
from clearwood.rules import FeatureBins, Training
from clearwood.search import candidate_boxes
from clearwood.simplifiers.node_harvest import estimators as node_harvest
from clearwood.simplifiers.node_harvest import programme as harvest
from clearwood.simplifiers.node_harvest.nodes import nodes_of_boxes, shallow_nodes
from clearwood.simplifiers.node_harvest.programme import make_programme, solve
from clearwood.simplifiers.node_harvest.sparse import partitions, sparse_path


@pytest.fixture(scope="module")
def golden(golden_folder):
    """Exact weights of a programme with 12 nodes (tests/golden/README.md)."""
    return json.loads((golden_folder / "fab.json").read_text())["node_harvest"]


# Few and shallow trees: the programme takes a while for many nodes.
@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y)
    return X, y, forest


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, y)
    return X, y, forest


def random_programme(seed, n_rows=40, n_splits=8, n_outputs=1, n_quarters=0):
    """Both sides of some splits of two features, quarters, and random row weights."""
    rng = np.random.default_rng(seed)
    x = rng.random((n_rows, 2))
    right = [x[:, k % 2] > cut for k, cut in enumerate(rng.uniform(0.2, 0.8, n_splits))]
    sides = [*right, *(~side for side in right)]
    quarters = [a & b for a, b in combinations(sides, 2) if (a & b).any()]
    held = np.array([*sides, *quarters[:n_quarters]]).T
    target = np.sin(5 * x[:, :1]) + x[:, 1:] ** np.arange(1, n_outputs + 1)
    return make_programme(held, target, rng.uniform(0.5, 2.0, n_rows))


def test_the_exact_solution(golden):
    held = np.array(golden["membership"], dtype=bool)
    y = np.array(golden["y"])
    programme = make_programme(held[:, 1:], y, np.ones(len(y)))
    weights = solve(programme, np.arange(12))
    np.testing.assert_allclose(weights, golden["weights"], atol=1e-8)
    fitted = held @ (weights * golden["node_mean"])
    exact = golden["objective_sum_of_squares"]
    assert ((y - fitted) ** 2).sum() == pytest.approx(exact, abs=1e-8)
    loss = programme.loss(np.arange(12), weights) * ((y - y.mean()) ** 2).sum()
    assert loss == pytest.approx(exact, abs=1e-8)


def ensemble_of_golden():
    """Three trees that have the nodes of the golden programme."""
    leaf = (-1, np.nan, -1, -1)
    nodes = [
        (0, 0.4505, 1, 4), (2, 0.5505, 2, 3), leaf, leaf, (1, 0.4005, 5, 6), leaf, leaf,
        (1, 0.5205, 8, 9), leaf, leaf,
        (2, 0.6205, 11, 12), leaf, (0, 0.5505, 13, 14), leaf, leaf,
    ]  # fmt: skip
    feature, cut, left, right = zip(*nodes)
    n = len(nodes)
    return TreeEnsemble(
        features=cw.FeatureSpace.numeric(3),
        task="regression",
        feature=feature,
        cut=cut,
        left=left,
        right=right,
        missing_left=np.zeros(n, dtype=bool),
        unseen_left=np.zeros(n, dtype=bool),
        category_set=np.full(n, -1),
        category_offsets=[0],
        categories_left=np.zeros(0, dtype=bool),
        value=np.zeros((n, 1)),
        roots=[0, 7, 10],
        output=[0, 0, 0],
        base_score=[0.0],
        link="identity",
        allows_missing=False,
        allows_infinite=False,
        input_dtype="float64",
        source="by hand",
    )


def test_the_exact_solution_from_an_ensemble_to_printed_rules(golden, monkeypatch):
    place = {tuple(row): i for i, row in enumerate(golden["X"])}

    def those_of_golden(ensemble, training, **limits):
        """Without one side of a split, which the golden programme leaves out."""
        found = shallow_nodes(ensemble, training, **limits)
        rows = [place[tuple(row)] for row in training.encoded.tolist()]
        member = np.array(golden["membership"])[rows]
        known = {tuple(column) for column in member.T.tolist()}
        kept = [i for i, r in enumerate(found.held.T) if tuple(r * 1) in known]
        allowed = tuple(found.allowed[i] for i in kept)
        return found._replace(allowed=allowed, held=found.held[:, kept])

    monkeypatch.setattr(node_harvest, "shallow_nodes", those_of_golden)
    X, y = np.array(golden["X"]), np.array(golden["y"])
    settings = {"max_rules": None, "min_samples_leaf": 3, "learn_from": "labels"}
    exact = cw.NodeHarvestRegressor(
        ensemble_of_golden(), round_thresholds=False, **settings
    ).fit(X, y)
    np.testing.assert_allclose(exact.predict(X), golden["fitted"], atol=1e-7)
    assert exact.n_nodes_ == 12
    printed = cw.NodeHarvestRegressor(ensemble_of_golden(), **settings).fit(X, y)
    np.testing.assert_allclose(printed.predict(X), golden["fitted"], atol=5e-3)
    # Two nodes have no weight, the one of all rows among them.
    expected = np.sort([float(f"{w:.3g}") for w in golden["weights"]])[2:]
    found = np.sort([rule.weight for rule in printed.rules_.rules])
    np.testing.assert_array_equal(found, expected)
    assert printed.rules_.otherwise.weight == 0
    assert "6. if " in str(printed.rules_) and "10. if" in str(printed.rules_)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_weights_are_optimal(n_outputs):
    """Karush, Kuhn and Tucker: multipliers exist that prove it."""
    for seed in range(3):
        programme = random_programme(seed, n_outputs=n_outputs)
        nodes = np.arange(programme.held.shape[1])
        weights = solve(programme, nodes)
        held = programme.held.astype(float)
        np.testing.assert_allclose(held @ weights, 1.0, atol=1e-9)
        assert weights.min() >= 0
        gap = programme.fitted(nodes, weights) - programme.target
        slope = 2 * ((programme.share[:, None] * gap).T @ held * programme.predicted.T)
        slope = slope.sum(axis=0)
        # The least eps with slope + held.T m in [-eps, inf), and <= eps where w > 0.
        n, eps = len(held), np.ones((len(nodes), 1))
        used = weights > 1e-6
        found = linprog(
            np.append(np.zeros(n), 1.0),
            np.vstack([np.hstack([-held.T, -eps]), np.hstack([held.T, -eps])[used]]),
            np.append(slope, -slope[used]),
            bounds=[(None, None)] * (n + 1),
        )
        assert found.fun < 1e-6


def test_a_general_solver_finds_nothing_better():
    programme = random_programme(5, n_splits=4)
    nodes = np.arange(9)
    weights = solve(programme, nodes)
    held = np.zeros((0, 9))
    for row in np.unique(programme.held, axis=0).astype(float):
        # The solver takes no equation that follows from others.
        if np.linalg.matrix_rank([*held, row]) > len(held):
            held = np.vstack([held, row])
    found = minimize(
        lambda w: programme.loss(nodes, w),
        np.append(1.0, np.zeros(8)),
        bounds=[(0, None)] * 9,
        constraints={"type": "eq", "fun": lambda w: held @ w - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    assert programme.loss(nodes, weights) == pytest.approx(found.fun, abs=1e-7)
    assert found.fun < 0.95  # Of the variance: there was something to find.


def test_a_price_leads_to_fewer_nodes_and_the_path_gets_better():
    programme = random_programme(1, n_rows=300, n_splits=6, n_quarters=60)
    nodes = np.arange(programme.held.shape[1])
    full = solve(programme, nodes)
    priced = solve(programme, nodes, 0.03)
    assert priced.sum() < full.sum()
    path = sparse_path(programme, nodes, 12)
    lines = [found.n_lines for found in path]
    assert lines[0] == 1 and lines == sorted(set(lines)) and lines[-1] <= 12
    losses = [programme.loss(*found) for found in path]
    assert losses == sorted(losses, reverse=True)
    for found in path:
        sums = programme.held[:, found.nodes] @ found.weights
        np.testing.assert_allclose(sums, 1.0, atol=0.01)
    # The whole programme is the best that there is.
    assert losses[-1] < programme.loss(nodes, full) + 0.1
    assert len(path) > 3 and losses[1] < 0.75


@pytest.mark.parametrize("n_nodes", [1, 3, 12, 40])
def test_equations_that_follow_from_others_are_left_out(n_nodes):
    rng = np.random.default_rng(n_nodes)
    held = rng.random((600, n_nodes)) < rng.uniform(0, 0.3, n_nodes)
    # One row is in a node that no other is in; it is the last to be looked at.
    last = np.random.default_rng(0).permutation(len(held))[-1]
    alone = np.arange(len(held)) == last
    held = np.column_stack([np.ones(len(held)), held, ~held[:, 0], alone]).astype(float)
    chosen = harvest._independent(held)
    rank = np.linalg.matrix_rank(held)
    assert len(chosen) == np.linalg.matrix_rank(held[chosen]) == rank
    assert last in chosen


def test_hardly_a_size_is_missing(diabetes):
    programme = random_programme(3, n_rows=300, n_splits=6, n_quarters=60)
    nodes = np.arange(programme.held.shape[1])
    lines = [found.n_lines for found in sparse_path(programme, nodes, 15)]
    assert lines == [1, *range(3, 16)]
    X, y, forest = diabetes
    path = cw.NodeHarvestRegressor(forest, max_rules=9).fit(X, y).path_
    assert [rules.n_rules for rules in path] == [1, *range(3, 10)]


def test_rows_are_parted_as_by_a_tree():
    programme = random_programme(0, n_rows=200, n_splits=4, n_quarters=40)
    held, nodes = programme.held, np.arange(programme.held.shape[1])
    found = partitions(programme, nodes, 5)
    assert [len(parts) for parts in found] == [1, 2, 3, 4]
    losses = []
    for parts in found:
        np.testing.assert_array_equal(held[:, parts].sum(axis=1), 1)
        losses.append(programme.loss(parts, np.ones(len(parts))))
    halves = [
        np.array([a, b])
        for a, b in combinations(nodes, 2)
        if (held[:, a] ^ held[:, b]).all()
    ]
    assert losses[1] == min(programme.loss(pair, np.ones(2)) for pair in halves)
    assert losses == sorted(losses, reverse=True)
    for before, after in zip(found, found[1:]):
        assert len(np.setdiff1d(before, after)) == 1


def naive_nodes(ensemble, encoded, max_features, min_samples_leaf, exclude_features=()):
    """Row by row down every tree: the sets of rows of all nodes that qualify.

    Where a forbidden feature is asked, a row goes both ways.
    """
    rows_of, asked_of = {}, {}
    codes_left = {s.node: s for s in ensemble.splits().categorical}
    for i, row in enumerate(encoded):
        waiting = [(int(root), frozenset()) for root in ensemble.roots]
        while waiting:
            node, asked = waiting.pop()
            rows_of.setdefault(node, set()).add(i)
            asked_of[node] = asked
            d = int(ensemble.feature[node])
            if d < 0:
                continue
            sides = [int(ensemble.left[node]), int(ensemble.right[node])]
            if d in exclude_features:
                waiting += [(side, asked) for side in sides]
                continue
            if np.isnan(row[d]):
                left = ensemble.missing_left[node]
            elif node in codes_left:
                left = int(row[d]) in codes_left[node].codes_left
            else:
                left = row[d] <= ensemble.cut[node]
            waiting.append((sides[0 if left else 1], asked | {d}))
    every = len(encoded)
    return {
        frozenset(rows)
        for node, rows in rows_of.items()
        if min_samples_leaf <= len(rows) < every and len(asked_of[node]) <= max_features
    }


def table_with_gaps(n=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "dose": rng.normal(size=n),
            "age": rng.integers(20, 80, n).astype(float),
            "ward": pd.Categorical(rng.choice(list("abcd"), n)),
        }
    )
    X.loc[rng.random(n) < 0.15, "dose"] = np.nan
    X.loc[rng.random(n) < 0.1, "ward"] = None
    y = np.where(X["ward"].isin(["a", "c"]), X["dose"].fillna(2) > 0.3, X["age"] > 50)
    return X, np.where(y, "sick", "well")


@pytest.mark.parametrize(
    ("max_features", "exclude_features", "asked"),
    [(1, (), {1}), (2, (), {1, 2}), (3, (), {0, 1, 2}), (2, (1,), {0, 2})],
)
def test_nodes_with_missing_values_and_categories(
    max_features, exclude_features, asked
):
    X, y = table_with_gaps()
    model = HistGradientBoostingClassifier(
        categorical_features="from_dtype", max_iter=8, max_leaf_nodes=8
    ).fit(X, y)
    ensemble = read_ensemble(model)
    encoded = ensemble.encode(X)
    bins = FeatureBins.from_ensemble(ensemble)
    codes, ones = bins.transform_encoded(encoded), np.ones(len(X))
    hidden = np.isin(np.arange(3), exclude_features)
    training = Training(encoded, ones, None, ones, ones, bins, exclude_features=hidden)
    found = shallow_nodes(
        ensemble, training, max_features=max_features, min_samples_leaf=10
    )
    sets = [frozenset(np.flatnonzero(rows).tolist()) for rows in found.held.T]
    assert len(set(sets)) == len(sets) > 3
    assert set(sets) == naive_nodes(
        ensemble, encoded, max_features, 10, exclude_features
    )
    assert {d for allowed in found.allowed for d in allowed} == asked
    for allowed, rows in zip(found.allowed, found.held.T):
        inside = [bins_in[codes[:, d]] for d, bins_in in allowed.items()]
        np.testing.assert_array_equal(np.all(inside, axis=0), rows)


def test_boxes_become_nodes_that_hold_the_same_rows():
    X, y = table_with_gaps()
    model = HistGradientBoostingClassifier(
        categorical_features="from_dtype", max_iter=8, max_leaf_nodes=8
    ).fit(X, y)
    ensemble = read_ensemble(model)
    encoded, ones = ensemble.encode(X), np.ones(len(X))
    bins, hidden = FeatureBins.from_ensemble(ensemble), np.array([False, True, False])
    training = Training(encoded, ones, None, ones, ones, bins, exclude_features=hidden)
    boxes = candidate_boxes(
        training.grid, pd.factorize(y)[0] * 1.0, ones, np.random.default_rng(0)
    )
    for most in (1, 2):
        found = nodes_of_boxes(boxes, training, max_features=most, min_samples_leaf=30)
        assert len(found.allowed) == found.held.shape[1] > 2
        assert max(map(len, found.allowed)) == most
        assert 30 <= found.held.sum(axis=0).min() and not found.held.all(axis=0).any()
        for allowed, rows in zip(found.allowed, found.held.T):
            inside = [part[training.codes[:, d]] for d, part in allowed.items()]
            np.testing.assert_array_equal(np.all(inside, axis=0), rows)


def test_rules_are_found_again_without_the_trees_of_the_ensemble(cancer):
    X, y, forest = cancer
    found = cw.NodeHarvestClassifier(forest, n_rules=4).fit(X, y)
    whole = found._training(found.ensemble_, X, np.asarray(y), np.ones(len(X)))
    del found.ensemble_
    again = found._refit(whole, np.random.default_rng(0))
    assert 1 < again.n_rules <= 4
    assert (again.predict(X) == y).mean() > 0.85


def check_weights(rules, X):
    """Of every row the weights add up to one, but for three digits each."""
    weights = np.array([rule.weight for rule in rules.rules])
    sums = rules.matches(X) @ weights + rules.otherwise.weight
    np.testing.assert_allclose(sums, 1.0, atol=0.004)
    assert (weights > 0).all()
    assert (np.diff(weights) <= 0).all()


@pytest.mark.dear
def test_a_forest_in_a_few_lines(cancer, diabetes):
    for (X, y, forest), least in ((cancer, 0.94), (diabetes, 0.7)):
        make = cw.NodeHarvestRegressor
        if y.nunique() == 2:
            make = cw.NodeHarvestClassifier
        found = make(forest, max_rules=8).fit(X, y)
        rules = found.rules_
        assert 3 < rules.n_rules <= 8
        assert rules.evaluate(X, y, model=forest).fidelity > least
        assert rules.target == "target"
        assert rules.about["method"] == "node-harvest"
        assert found.path_[0].n_rules == 1 and found.path_[-1].rules == rules.rules
        for step in found.path_:
            check_weights(step, X)
            assert all(len(rule.conditions) <= 2 for rule in step)
            assert all(rule.support >= 10 for rule in step.rules)
        np.testing.assert_array_equal(found.predict(X), rules.predict(X))
        same = cw.simplify(forest, X, y, method="node-harvest", max_rules=8)
        assert same == rules


def test_the_whole_programme_is_closer_and_longer(cancer):
    X, y, forest = cancer
    few = cw.NodeHarvestClassifier(forest, max_rules=6).fit(X, y)
    whole = cw.NodeHarvestClassifier(forest, max_rules=None).fit(X, y)
    assert whole.rules_.n_rules > 6 >= few.rules_.n_rules
    assert len(whole.path_) == 1
    check_weights(whole.rules_, X)
    said = forest.predict_proba(X)
    loss = [np.mean((f.predict_proba(X) - said) ** 2) for f in (few, whole)]
    assert loss[1] < loss[0]


def test_classes_share_the_weights():
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    forest = RandomForestClassifier(10, random_state=0).fit(X, labels)
    found = cw.NodeHarvestClassifier(forest, max_rules=6).fit(X, labels)
    assert found.score(X, labels) > 0.93
    shares = found.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    said = found.classes_[shares.argmax(axis=1)]
    assert found.rules_.predict(X).tolist() == said.tolist()
    check_weights(found.rules_, X)


def test_settings_do_what_they_say(diabetes):
    X, y, forest = diabetes
    rules = cw.NodeHarvestRegressor(forest, max_interaction=1, min_samples_leaf=60)
    rules.fit(X, y)
    assert all(len(rule.conditions) == 1 for rule in rules.rules_.rules)
    assert all(rule.support >= 60 for rule in rules.rules_.rules)
    target = cw.NodeHarvestRegressor(forest, max_rules=6, learn_from="labels").fit(X, y)
    for rule in target.rules_:
        rows = rule.matches(X.to_numpy())
        assert rule.prediction == pytest.approx(y[rows].mean(), abs=0.1)
    alone = cw.NodeHarvestRegressor(forest, max_rules=1).fit(X, y).rules_
    assert alone.n_rules == 1
    assert alone.otherwise.prediction == pytest.approx(
        forest.predict(X).mean(), abs=0.1
    )


def test_lines_asked_for_and_threads(diabetes, capsys):
    X, y, forest = diabetes
    one, two = (
        cw.NodeHarvestRegressor(forest, n_rules=5, n_jobs=n, verbose=True).fit(X, y)
        for n in (1, 2)
    )
    same = cw.NodeHarvestRegressor(forest, max_rules=5).fit(X, y)
    assert one.rules_ == two.rules_ == same.rules_
    assert one.rules_.n_rules == 5
    assert "prices" in capsys.readouterr().err
    alone = cw.NodeHarvestRegressor(forest, n_rules=5, max_rules=None).fit(X, y)
    assert alone.rules_ == same.rules_


def test_of_too_many_nodes_the_most_telling_take_part(diabetes, monkeypatch):
    X, y, forest = diabetes
    monkeypatch.setattr(harvest, "MOST_NODES", 12)
    found = cw.NodeHarvestRegressor(forest, max_rules=8).fit(X, y)
    assert found.n_nodes_ > 12
    assert 3 <= found.rules_.n_rules <= 8
    assert found.rules_.evaluate(X, y, model=forest).fidelity > 0.5
    check_weights(found.rules_, X)


def test_without_the_solver_the_extra_is_named(diabetes, monkeypatch):
    X, y, forest = diabetes
    load = builtins.__import__

    def without(name, *rest):
        if name == "clarabel":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with refuses(InputError):
        cw.NodeHarvestRegressor(forest).fit(X, y)


def test_a_programme_that_is_not_solved_says_so(monkeypatch):
    monkeypatch.setattr(harvest, "FEASIBLE", -1.0)
    programme = random_programme(0)
    with refuses(InputError, match="min_samples_leaf"):
        solve(programme, np.arange(5))


def test_energy(shared_data):
    """References reach 8.3 to 9.7 with 11 to 19 nodes."""
    table = pd.read_csv(shared_data("data/uci/energy.csv.gz"))
    X, y = table.iloc[:, :8], table["heating_load"]
    rows = np.random.default_rng(0).permutation(len(y))
    train, test = rows[:384], rows[384:]
    forest = RandomForestRegressor(30, random_state=0).fit(X.iloc[train], y[train])
    found = cw.NodeHarvestRegressor(forest, max_rules=15).fit(X.iloc[train], y[train])
    assert 10 <= found.rules_.n_rules <= 15
    assert found.rules_.evaluate(X.iloc[test], y[test]).error < 7
