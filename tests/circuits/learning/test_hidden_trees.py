"""Hidden Chow-Liu trees: learned by EM, selected by held-out rows, queried exactly."""

from itertools import product

import numpy as np
import pytest
from tests.circuits.made import space
from tests.distributions import naive

import clearwood as cw
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.expectation import refine
from clearwood.circuits.learning.fitting import (
    LearningTable,
    Options,
    latent_tree,
    mini_spn,
)
from clearwood.circuits.learning.hidden_trees import with_hidden
from clearwood.circuits.nodes import Sum, walk
from clearwood.circuits.queries.completion import most_probable
from clearwood.distributions import ChowLiuTree

SIZES = (3, 2, 2, 3)


def small_tree(seed=0):
    """Over four columns in another order, with hidden variables of three states."""
    rng = np.random.default_rng(seed)
    parents = (-1, 0, 0, 2)
    shapes = [(1 if p < 0 else SIZES[p], n) for p, n in zip(parents, SIZES)]
    tables = tuple(rng.dirichlet(np.ones(n), size=m) for m, n in shapes)
    return with_hidden(ChowLiuTree((2, 0, 3, 1), parents, tables), 3, rng)


def noisy_chains(n, d, seed):
    """Rows of a hidden chain of four states, which columns show with noise."""
    rng = np.random.default_rng(seed)
    states = rng.integers(4, size=(n, d))
    for j in range(1, d):
        stays = rng.random(n) < 0.9
        states[stays, j] = states[stays, j - 1]
    seen = np.where(rng.random((n, d)) < 0.3, rng.integers(4, size=(n, d)), states)
    return seen.astype(float)


def hidden_states(root):
    """Number of states of the hidden variables of a circuit; None without any."""
    trees = [node for node in walk(root) if isinstance(node, ChowLiuTree)]
    sizes = {tree.tables[0].shape[1] for tree in trees if tree.n_hidden}
    return sizes.pop() if sizes else None


def test_moments_are_those_of_all_states():
    tree = small_tree()
    tables = [np.eye(n)[:, 1:] for n in SIZES]
    for own in ([np.nan] * 4, [np.nan, 1.0, np.nan, np.nan], [0.0, np.nan, np.nan, 2]):
        rows = [
            [*x] for x in product(*map(range, SIZES))
            if all(np.isnan(a) or a == b for a, b in zip(own, x))
        ]  # fmt: skip
        p = np.array([naive.tree_probability(tree, row) for row in rows])
        points = np.array([np.concatenate([t[k] for t, k in zip(tables, r)])
                           for r in rows])  # fmt: skip
        (mean,), (covariance,) = tree.moments(np.array([own]), tables)
        np.testing.assert_allclose(mean, p @ points / p.sum(), atol=1e-12)
        gap = points - mean
        expected = (gap * p[:, None]).T @ gap / p.sum()
        np.testing.assert_allclose(covariance, expected, atol=1e-12)


def test_the_most_probable_row_is_found_and_proved():
    for seed in range(5):
        tree = small_tree(seed)
        levels = [2, 3, 3, 2]  # columns 0 to 3
        found = most_probable(Circuit(tree, space(levels)), np.full((1, 4), np.nan))
        rows = np.array([*product(*map(range, levels))], dtype=float)
        logs = tree.log_density(rows)
        assert found.log_density[0] == pytest.approx(logs.max(), rel=1e-9)
        assert found.proved[0]


def test_em_never_makes_rows_less_likely():
    rows = noisy_chains(300, 6, 0)
    rows[np.random.default_rng(1).random(rows.shape) < 0.3] = np.nan
    shape = ChowLiuTree(tuple(range(6)), (-1, *range(5)), (np.ones((1, 4)),) * 6)
    circuit = Circuit(with_hidden(shape, 4, np.random.default_rng(0)), space([4] * 6))
    scores = [
        refine(circuit, rows, sweeps=n, tolerance=-1.0).log_density(rows).mean()
        for n in (0, 1, 2, 10)
    ]
    assert scores == sorted(scores) and scores[-1] > scores[0] + 0.3


def test_held_out_rows_select_the_learner_and_the_states():
    parts = [noisy_chains(n, 20, seed) for seed, n in enumerate((500, 500, 1000))]
    table = LearningTable(*parts[:2], space([4] * 20))
    new = LearningTable(parts[0], parts[2], space([4] * 20))
    rng = np.random.default_rng(0)
    visible = mini_spn(table, 0.0005, Options(hidden=False), rng)
    hidden = latent_tree(table, (4, 8), Options(), rng)
    assert new.score(hidden) > new.score(visible) + 0.05
    selected = mini_spn(table, 0.0005, Options(), rng)
    assert hidden_states(selected)
    # Rows of two kinds of independent columns are no tree.
    kinds = np.random.default_rng(0).integers(2, size=(900, 1))
    rows = (np.random.default_rng(1).random((900, 12)) < 0.2 + 0.6 * kinds) * 1.0
    table = LearningTable(rows[:600], rows[600:], space([2] * 12))
    selected = mini_spn(table, 0.0005, Options(), rng)
    assert any(isinstance(node, Sum) for node in walk(selected))
    # A goal out of reach ends the search, without which more states are tried.
    few = latent_tree(table, (2, 4, 8), Options(), rng, goal=0.0)
    assert hidden_states(few) == 2


def test_without_validation_rows_the_first_number_of_states_is_taken():
    rows = noisy_chains(300, 6, 0)
    found = cw.LatentTreeSPN(validation_fraction=0.0, random_state=0).fit(rows)
    assert hidden_states(found.circuit_.root) == 4
    six = cw.LatentTreeSPN(6, random_state=0).fit(rows)
    assert hidden_states(six.circuit_.root) == 6
