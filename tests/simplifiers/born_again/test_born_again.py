"""Rows drawn inside boxes, and what users of born-again trees count on."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, chisquare
from sklearn.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.simplifiers.common import check_disjoint_and_true

import clearwood as cw
from clearwood.simplifiers.born_again import trees as smeared_trees
from clearwood.simplifiers.born_again.smearing import reach, smear

TABLE = np.array([[0, 0, 2], [1, 0, 1], [1, 2, 0], [2, 1, 0], [0, 2, 2]])
SHARE = np.array([0.3, 0.1, 0.25, 0.15, 0.2])


def every_smeared_row(p_alt):
    """All rows that smearing can make of TABLE, with their probabilities."""
    n_rows, n_features = TABLE.shape
    options = [(None, 1 - p_alt), *((j, p_alt * SHARE[j]) for j in range(n_rows))]
    for i in range(n_rows):
        for taken in product(options, repeat=n_features):
            row = tuple(
                int(TABLE[i if j is None else j, d]) for d, (j, _) in enumerate(taken)
            )
            yield row, SHARE[i] * np.prod([p for _, p in taken])


@pytest.mark.parametrize("p_alt", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize(
    "box", [{}, {0: {0, 1}}, {0: {1}, 2: {1, 2}}, {0: {0, 2}, 1: {1, 2}, 2: {0, 2}}]
)
def test_draws_are_smeared_rows_that_fell_into_the_box(p_alt, box):
    """The exact law: all outcomes of smearing, those outside the box left out."""
    law = {}
    for row, probability in every_smeared_row(p_alt):
        if all(row[d] in allowed for d, allowed in box.items()):
            law[row] = law.get(row, 0.0) + probability
    inside = {d: np.isin(TABLE[:, d], list(allowed)) for d, allowed in box.items()}
    total = sum(law.values())
    assert reach(SHARE, inside, p_alt).sum() == pytest.approx(total, rel=1e-12)
    n = 60_000
    picks = smear(SHARE, inside, p_alt, 3, n, np.random.default_rng(0))
    rows, counts = np.unique(TABLE[picks, np.arange(3)], axis=0, return_counts=True)
    found = dict(zip(map(tuple, rows.tolist()), counts))
    possible = {row: p for row, p in law.items() if p > 0}
    assert set(found) <= set(possible)
    expected = n * np.array(list(possible.values())) / total
    observed = [found.get(row, 0) for row in possible]
    if len(observed) > 1:
        assert chisquare(observed, expected).pvalue > 1e-3


def test_draws_are_like_those_of_rejection():
    """Forty rows of dependent features; a box that one draw in dozens falls into."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=40)
    X = np.column_stack([first, first + 0.3 * rng.normal(size=40), -first])
    share = rng.random(40)
    share /= share.sum()
    inside = {0: X[:, 0] > 0.3, 1: X[:, 1] < 0.8, 2: X[:, 2] > -1.0}
    n = 150_000
    behind = rng.choice(40, n, p=share)
    other = rng.choice(40, (n, 3), p=share)
    rows = np.where(rng.random((n, 3)) < 0.4, other, behind[:, None])
    kept = rows[np.all([ok[rows[:, d]] for d, ok in inside.items()], axis=0)]
    drawn = smear(share, inside, 0.4, 3, len(kept), rng)
    assert len(kept) == pytest.approx(n * reach(share, inside, 0.4).sum(), rel=0.05)
    # Whether two features come from the same row, and their values, in four parts.
    for a, b in ((0, 1), (0, 2), (1, 2)):
        tables = []
        for rows in (kept, drawn):
            same = rows[:, a] == rows[:, b]
            high = [X[rows[:, d], d] > np.median(X[inside[d], d]) for d in (a, b)]
            cell = same * 4 + high[0] * 2 + high[1]
            tables.append(np.bincount(cell, minlength=8))
        some = np.sum(tables, axis=0) > 0
        assert chi2_contingency(np.array(tables)[:, some]).pvalue > 1e-3


def tree_of(estimator, **settings):
    quick = {"n_rules": 4, "max_rules": 4, "n_node_samples": 200, "random_state": 0}
    regressor = type(estimator).__name__.endswith("Regressor")
    make = cw.BornAgainTreeRegressor if regressor else cw.BornAgainTreeClassifier
    return make(estimator, **{**quick, **settings})


def test_a_forest_in_four_leaves(cancer, diabetes):
    for (X, y, forest), least in ((cancer, 0.93), (diabetes, 0.6)):
        found = tree_of(forest).fit(X, y)
        assert found.rules_.n_rules == found.tree_.n_leaves <= 4
        assert found.rules_.evaluate(X, y, model=forest).fidelity > least
        assert found.rules_.about["method"] == "born-again"
        check_disjoint_and_true(found, X)


def test_synthetic_rows_stay_in_the_box_of_their_node(monkeypatch, diabetes):
    X, y, forest = diabetes
    calls = []

    def watched(share, inside, p_alt, n_features, n_rows, generator):
        picks = smear(share, inside, p_alt, n_features, n_rows, generator)
        for d, allowed in inside.items():
            assert allowed[picks[:, d]].all()
        calls.append(len(inside))
        return picks

    monkeypatch.setattr(smeared_trees, "smear", watched)
    tree_of(forest, n_rules=12, max_rules=12, p_alt=0.5).fit(X, y)
    assert calls[0] == 0 and max(calls) >= 3 and len(calls) >= 23


def test_all_sizes_come_from_one_fit(diabetes):
    X, y, forest = diabetes
    found = tree_of(forest, n_rules=3, max_rules=40).fit(X, y)
    assert [rules.n_rules for rules in found.path_] == list(range(1, 41))
    assert found.path_[2].rules == found.rules_.rules
    assert found.cv_results_ is None
    fidelity = [r.evaluate(X, model=forest).fidelity for r in found.path_]
    assert fidelity[39] > fidelity[19] > fidelity[9] > fidelity[4]
    short = tree_of(forest, n_rules=3, max_rules=3).fit(X, y)
    assert short.rules_.rules == found.rules_.rules
    few = tree_of(forest, n_rules=40, max_rules=40, min_samples_leaf=30).fit(X, y)
    assert few.rules_.n_rules < 15
    check_disjoint_and_true(few, X, min_samples_leaf=30)


def test_leaves_side_by_side_say_different_classes(cancer):
    X, y, forest = cancer
    found = tree_of(forest, n_rules=8, max_rules=8).fit(X, y)

    def check(node):
        if isinstance(node, cw.Rule):
            return
        sides = (node.if_yes, node.if_no)
        if all(isinstance(side, cw.Rule) for side in sides):
            assert sides[0].prediction != sides[1].prediction
        for side in sides:
            check(side)

    for tree in found.trees_:
        check(tree.root)


def test_a_planted_tree_is_found():
    rng = np.random.default_rng(0)
    X = rng.random((1000, 5))
    right = np.where(X[:, 3] > 0.6, 1.0, 7.0)
    y = np.where(X[:, 1] > 0.4, right, np.where(X[:, 0] > 0.7, 4.0, -3.0))
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    found = tree_of(forest, n_rules="auto", max_rules=6, p_alt=0.5).fit(X, y)
    assert found.rules_.n_rules == 4
    assert sorted(found.tree_.predict(X[:200])) == pytest.approx(
        sorted(y[:200]), abs=0.2
    )
    cuts = {
        (c.feature, round(bound, 1))
        for rule in found.rules_
        for c in rule.conditions
        for bound in (c.low, c.high)
        if np.isfinite(bound)
    }
    assert cuts == {(1, 0.4), (3, 0.6), (0, 0.7)}


def test_leaves_say_what_the_ensemble_says(diabetes):
    X, y, forest = diabetes
    found = tree_of(forest).fit(X, y)
    shuffled = tree_of(forest).fit(X, np.roll(y, 100))
    np.testing.assert_array_equal(shuffled.predict(X), found.predict(X))
    # Nothing is made up where no feature changes.
    found, said = (
        tree_of(forest, p_alt=0, n_node_samples=20_000).fit(X),
        forest.predict(X),
    )
    caught = found.rules_.apply(X)
    for i, rule in enumerate(found.rules_):
        near = pytest.approx(said[caught == i].mean(), abs=0.02 * said.std())
        assert rule.prediction == near


def test_simplify(diabetes):
    X, y, forest = diabetes
    rules = cw.simplify(
        forest, X, y, method="born-again", n_rules=3, n_node_samples=100, random_state=0
    )
    assert rules.n_rules == 3
    assert rules.about["method"] == "born-again"


@pytest.mark.dear
def test_energy_and_spambase(shared_data):
    """As large as the papers' trees, and closer: 3.1 with 56 leaves, .109 with 15."""
    table = pd.read_csv(shared_data("data/uci/energy.csv.gz"))
    rows = np.random.default_rng(0).permutation(len(table))
    X, y = table.iloc[rows, :8], table["heating_load"].iloc[rows]
    forest = RandomForestRegressor(50, random_state=0).fit(X[:384], y[:384])
    found = cw.BornAgainTreeRegressor(forest, n_rules=56, max_rules=56, random_state=0)
    found.fit(X[:384], y[:384])
    scores = found.rules_.evaluate(X[384:], y[384:], model=forest)
    assert scores.n_rules == 56
    assert scores.error < 2
    assert scores.fidelity > 0.98

    table = pd.read_csv(shared_data("data/uci/spambase.csv.gz"))
    table = table.sample(2000, random_state=0)
    X, y = table.drop(columns="target"), table["target"]
    forest = RandomForestClassifier(50, random_state=0).fit(X[:1000], y[:1000])
    found = cw.BornAgainTreeClassifier(forest, n_rules=15, max_rules=15, random_state=0)
    found.fit(X[:1000], y[:1000])
    scores = found.rules_.evaluate(X[1000:], y[1000:], model=forest)
    assert scores.n_rules <= 15
    assert scores.error < 0.12
    assert scores.fidelity > 0.91


def test_the_preset_of_the_paper_selects_among_depths():
    X, y = cw.datasets.make_synthetic2(400, random_state=0)
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0).fit(X, y)
    tree = cw.BornAgainTreeClassifier(
        forest, preset="paper", n_node_samples=100, random_state=0
    ).fit(X, y)
    assert (tree.max_rules, tree.p_alt, tree.cv) == (10, 0.1, None)
    n_leaves = [one.n_leaves for one in tree.trees_]
    assert n_leaves == sorted(set(n_leaves)) and n_leaves[0] == 1
    depths = [one.depth for one in tree.trees_]
    assert depths == sorted(depths) and max(depths) <= 10
    assert all(n <= 2**depth for n, depth in zip(n_leaves, depths))
    # A tree that stops growing has the same leaves at two depths.
    assert len(set(depths) - {0, *smeared_trees.DEPTHS}) <= 1
    assert len(tree.cv_results_["fidelity"]) == 1024
    best = np.argmax(tree.cv_results_["fidelity"]) + 1
    assert tree.n_rules_ == best and tree.tree_ in tree.trees_
    assert tree.tree_.n_leaves == max(n for n in n_leaves if n <= best)


def test_trees_of_the_paper_are_cut_at_their_depth():
    """A cut at a level has the splits of the deeper tree above it."""
    X, y = cw.datasets.make_synthetic2(300, random_state=1)
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    make = cw.BornAgainTreeRegressor(
        forest, preset="paper", n_rules=40, n_node_samples=50, random_state=0
    )
    trees = make.fit(X, y).trees_

    def top(node, levels):
        if not levels or isinstance(node, cw.Rule):
            return "cut"
        below = [top(n, levels - 1) for n in (node.if_yes, node.if_no)]
        return str(node.yes.feature), *below

    by_depth = {tree.depth: tree for tree in trees}
    assert {2, 3, 4} <= set(by_depth)
    assert top(by_depth[2].root, 2) == top(by_depth[4].root, 2)
    assert top(by_depth[3].root, 3) == top(by_depth[4].root, 3)
    assert make.tree_.n_leaves <= 40
