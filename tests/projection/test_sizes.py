"""How large a tree is chosen, and how sizes are judged."""

import numpy as np
import pytest
from tests.projection.test_estimators import Drawn

import clearwood as cw
from clearwood.projection.sizes import SizePath, folds_of
from clearwood.references import Reference


def test_the_fewest_lines_that_are_as_good_as_the_best():
    lost = np.array([0.9, 0.3, 0.14, 0.115, 0.1, 0.12])
    for tolerance, size in ((0.0, 5), (0.016, 4), (0.05, 3), (0.5, 2), (1.0, 1)):
        error = np.full(6, 0.2)
        path = SizePath(np.arange(1, 7), -lost, lost, lost, error, "labels", tolerance)
        assert path.smallest_adequate() == size


def test_the_utility_counts_nats_per_leaf():
    path = SizePath(np.arange(1, 4), np.array([-3.0, -2.0, -1.5]), np.zeros(3))
    assert path.utility(0.6).tolist() == pytest.approx([-3.6, -3.2, -3.3])
    assert [path.best_by_utility(a) for a in (0.4, 0.5, 0.6, 1.0, 1.1)] == [
        3, 2, 2, 1, 1,
    ]  # fmt: skip


def test_folds_are_random_and_spread_every_class_in_any_order():
    labels = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [90, 7, 5]))
    fold = folds_of(102, 5, np.random.default_rng(1), labels)
    counts = np.array([np.bincount(labels[fold == k], minlength=3) for k in range(5)])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    other = folds_of(102, 5, np.random.default_rng(2), labels)
    assert (fold != other).any()
    assert (np.diff(folds_of(100, 5, np.random.default_rng(1))) != 1).any()


def steps(n):
    """As many steps as one likes, of one feature."""

    class Stairs(Reference):
        task, n_draws, description, noise = "regression", 1, "stairs", 0.01

        def draws(self, X):
            return np.floor(n * np.asarray(X)[:, 0])[None]

    return Stairs()


def test_sizes_end_where_they_are_told_and_the_smallest_that_is_enough_is_printed():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    tree = cw.ProjectedTreeRegressor(steps(8), max_leaf_nodes=5, random_state=0).fit(X)
    assert tree.size_path_.size.tolist() == [1, 2, 3, 4, 5]
    tree = cw.ProjectedTreeRegressor(steps(3), max_leaf_nodes=9, random_state=0)
    tree.set_params(tolerance=3.0, min_samples_leaf=1).fit(X)
    chosen = tree.size_path_.smallest_adequate()
    assert chosen == tree.rules_.n_rules < tree.size_path_.size[-1]


@pytest.mark.parametrize(("width", "noise", "least"), [(4, 0.0, 2), (50, 3.0, 10)])
def test_held_out_rows_choose_the_least_number_of_rows(width, noise, least):
    """Steps of four rows, or of fifty with noise in the reference."""

    class Noisy(Reference):
        task, n_draws, description = "regression", 1, "steps"

        def draws(self, X):
            at = np.rint(np.asarray(X)[:, 0] * 200).astype(int)
            shift = np.random.default_rng(1).normal(size=201)[at]
            return (4 * (np.floor(at / width) % 2) + noise * shift)[None]

    X = np.random.default_rng(0).permutation(200)[:, None] / 200
    settings = {"max_leaf_nodes": 60, "refine": False, "random_state": 0}
    tree = cw.ProjectedTreeRegressor(Noisy(), **settings).fit(X)
    assert tree.min_samples_leaf_ == least
    loss = {
        rows: cw.ProjectedTreeRegressor(Noisy(), min_samples_leaf=rows, **settings)
        .fit(X)
        .size_path_.held_out.min()
        for rows in (2, 10)
    }
    assert tree.size_path_.held_out.min() == min(loss.values()) == loss[least]
    fixed = cw.ProjectedTreeRegressor(Noisy(), n_leaf_nodes=3).fit(X)
    assert fixed.min_samples_leaf_ == 2


def test_held_out_rows_say_how_far_the_tree_is_from_its_reference():
    """In nats: the tree is the reference where steps are found, so nothing is lost."""
    X = np.random.default_rng(0).choice([0.1, 0.2, 0.4, 0.6, 0.7, 0.9], (200, 2))
    path = cw.ProjectedTreeRegressor(steps(3), random_state=0).fit(X).size_path_
    assert path.evaluated_on == "reference"
    assert path.held_out[2] == pytest.approx(0, abs=1e-6)
    # Of one leaf: normal distributions of variance 0.01, and of that of the stairs.
    values = np.floor(3 * X[:, 0])
    wide = 0.01 + values.var()
    apart = 0.5 * np.log(wide / 0.01) - 0.5 + 0.5 * (0.01 + values.var()) / wide
    assert path.held_out[0] == pytest.approx(apart, rel=0.05)
    assert path.divergence[0] == pytest.approx(apart, rel=1e-9)


def test_rows_of_little_weight_count_little_when_sizes_are_judged():
    X = np.repeat([0.0, 0.3, 0.9], [50, 35, 15])[:, None]
    weight = np.where(X[:, 0] < 0.85, 1.0, 1e-7)

    class Step(Reference):
        task, n_draws, description, noise = "regression", 1, "a step", 0.01

        def draws(self, X):
            return (np.asarray(X)[:, 0] >= 0.85).astype(float)[None]

    tree = cw.ProjectedTreeRegressor(Step(), max_leaf_nodes=2, random_state=0)
    path = tree.fit(X, sample_weight=weight).size_path_
    assert np.abs(path.held_out).max() < 1e-3
    assert tree.rules_.n_rules == 1


class Rare(Drawn):
    """Three classes, of which one is rare; it keeps what it is refitted to."""

    def __init__(self):
        super().__init__(n_draws=1, task="classification")
        self.classes = np.array(["a", "b", "rare"])
        self.refitted_to = []

    def draws(self, X):
        place = np.asarray(X)[:, 0].astype(int)
        return (0.01 + 0.97 * np.eye(3)[place])[None]

    def refit(self, X, y):
        self.refitted_to.append(y)
        return self


def test_parts_of_the_rows_hold_all_classes_alike():
    place = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [30, 30, 5]))
    reference = Rare()
    y = reference.classes[place]
    tree = cw.ProjectedTreeClassifier(reference, min_samples_leaf=5, random_state=3)
    tree.fit(place[:, None], y)
    assert [np.sum(y == "rare") for y in reference.refitted_to] == [4] * 5
    # With four rows of it no fold finds a third leaf: two stand for three.
    path = tree.size_path_
    assert path.size.tolist() == [1, 2, 3]
    assert path.held_out[2] == pytest.approx(path.held_out[1], rel=1e-12)
    assert path.held_out[1] < path.held_out[0]


def test_a_label_out_of_line_does_not_hide_what_the_others_say():
    """The reference finds two labels of a hundred impossible: one leaf is too few."""

    class Sure(Drawn):
        def draws(self, X):
            return np.eye(2)[(np.asarray(X)[:, 0] > 0.5).astype(int)][None]

        def refit(self, X, y):
            return self

    X = np.linspace(0, 1, 100)[:, None]
    y = np.where(X[:, 0] > 0.5, "yes", "no")
    y[[10, 70]] = y[[70, 10]]
    tree = cw.ProjectedTreeClassifier(Sure(1, "classification"), random_state=0)
    path = tree.fit(X, y).size_path_
    assert path.evaluated_on == "labels" and tree.rules_.n_rules == 2
    # A fair coin against 2 labels of 100 that were 1 in 162, and the others.
    seen = 0.02 * np.log(0.5 / 81) + 0.98 * np.log(80.5 / 81)
    assert path.held_out[0] == pytest.approx(seen - np.log(0.5), abs=0.03)
