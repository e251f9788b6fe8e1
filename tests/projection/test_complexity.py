"""Complexity other than the number of leaves: the path, the choice, and the words."""

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.projection.test_estimators import Drawn
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.charts.chart import svg
from clearwood.exceptions import InputError
from clearwood.projection.display import SizePathDisplay
from clearwood.projection.reading.section import section
from clearwood.projection.sizes import SizePath, undominated
from clearwood.rules import Question

mpl.use("agg")


class Rough(Drawn):
    """A step, a slope in a part of the rows, and a little noise."""

    def draws(self, X):
        X = np.asarray(X, dtype=float)
        mean = 2 * (X[:, 0] > 0) + X[:, 1] * (X[:, 2] > 0.3) + np.sin(50 * X[:, 3]) / 3
        return mean + self.shift[:, None] * (X[:, 0] > 0)


def table(seed, n_rows=150):
    """Rows and their targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(2)
    return X, Rough(1).draws(X)[0] + rng.normal(size=n_rows) / 3


def longest(node):
    """Splits on the longest path, by another route: one level after the other."""
    level, depth = [node], -1
    while level:
        inner = [node for node in level if isinstance(node, Question)]
        level = [child for node in inner for child in (node.if_yes, node.if_no)]
        depth += 1
    return depth


def n_features(proxy):
    rules = getattr(proxy, "leaves", None) or proxy.rules
    return len({c.feature for rule in rules for c in rule.conditions})


OF_TREES = {
    "size": lambda tree: len(tree.leaves),
    "literals": lambda tree: sum(rule.n_literals for rule in tree.leaves[:-1]),
    "depth": lambda tree: longest(tree.root),
    n_features: n_features,
}
OF_LISTS = {
    "size": lambda rules: len(rules.rules) + 1,
    "literals": lambda rules: sum(rule.n_literals for rule in rules.rules),
    n_features: n_features,
}
CASES = [
    (kind, measure, by_hand)
    for kind, measures in (
        (cw.ProjectedTreeRegressor, OF_TREES),
        (cw.ProjectedRuleListRegressor, OF_LISTS),
    )
    for measure, by_hand in measures.items()
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("kind", "measure", "by_hand"), CASES)
def test_each_of_the_path_is_more_likely_than_all_that_are_as_simple(
    kind, measure, by_hand, seed
):
    X, _ = table(seed)
    size = "max_leaf_nodes" if kind is cw.ProjectedTreeRegressor else "max_rules"
    settings = {"complexity": measure, "random_state": seed, size: 10}
    proxy = kind(Rough(), alpha=0.05, **settings).fit(X)
    path, proxies = proxy.size_path_, proxy._proxies
    assert path.complexity.tolist() == [by_hand(found) for found in proxies]
    assert (np.diff(path.complexity) > 0).all()
    assert (np.diff(path.log_likelihood) > 0).all()
    utility = path.log_likelihood - 0.05 * path.complexity
    assert proxy.rules_.n_rules == path.size[utility.argmax()]
    chosen = path.best_at(np.geomspace(1e-6, 10, 50))
    assert (np.diff(chosen) <= 0).all() and chosen[0] > chosen[-1]


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(-9, 0)), min_size=1),
    st.floats(0, 10),
)
def test_none_that_is_dropped_is_ever_the_best(candidates, alpha):
    complexity, likelihood = np.array(candidates, dtype=float).T
    kept = undominated(complexity, likelihood)
    assert (np.diff(complexity[kept]) > 0).all()
    assert (np.diff(likelihood[kept]) > 0).all()
    utility = likelihood - alpha * complexity
    assert utility[kept].max() == utility.max()


def test_the_best_of_all_sizes_is_found_by_literals():
    """Utility over literals, maximized over the trees of the path over sizes."""
    X, y = table(3)
    by_size = cw.ProjectedTreeRegressor(Rough(), alpha=0.0, max_leaf_nodes=10).fit(X)
    literals = np.array([tree.to_rules().n_literals for tree in by_size.trees_])
    for alpha in (1e-5, 1e-4, 1e-3, 0.02):
        utility = by_size.size_path_.log_likelihood - alpha * literals
        tree = cw.ProjectedTreeRegressor(
            Rough(), alpha=alpha, complexity="literals", max_leaf_nodes=10
        )
        assert tree.fit(X).tree_ == by_size.trees_[utility.argmax()]


@pytest.mark.parametrize("alpha", [None, "cv"])
def test_held_out_rows_choose_by_complexity(alpha):
    """A fold stands for the trees of at most the complexity of each of the path."""
    X, y = table(4)
    seen = []

    class Watched(cw.ProjectedTreeRegressor):
        def _held_out_losses(self, *given):
            for test, found in super()._held_out_losses(*given):
                sizes, losses = found[5]
                seen.append((test, sizes.complexity, losses))
                yield test, found

    tree = Watched(
        Rough(), max_leaf_nodes=8, complexity="depth", alpha=alpha, min_samples_leaf=5,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    path = tree.size_path_
    loss = np.empty((len(path.size), len(X)))
    for test, complexity, losses in seen:
        for i, most in enumerate(path.complexity):
            loss[i, test] = losses[np.flatnonzero(complexity <= most)[-1]]
    assert path.held_out == pytest.approx(loss.mean(axis=1))
    assert tree.tree_.depth in path.complexity


def test_a_fold_without_one_as_simple_is_stood_for_by_its_simplest():
    path = SizePath(
        np.array([2, 4]), np.zeros(2), np.zeros(2), complexity=np.array([2.0, 5.0])
    )
    assert path.up_to(np.array([1.0, 2.0, 4.9, 7.0])).tolist() == [0, 0, 0, 1]


def test_what_is_shown_names_the_complexity():
    X, y = table(5)
    tree = cw.ProjectedTreeRegressor(
        Rough(), max_leaf_nodes=6, complexity="literals", random_state=0
    )
    path = tree.fit(X, y).size_path_
    assert str(path).split()[:3] == ["literals", "size", "log"]
    line = str(path).splitlines()[2].split()
    assert line[:2] == [f"{path.complexity[1]:g}", str(path.size[1])]
    display = SizePathDisplay.from_estimator(tree)
    assert display.ax_.get_xlabel() == "literals"
    at = path.complexity[path.size == tree.tree_.n_leaves]
    assert any((line.get_xdata() == at).all() for line in display.ax_.lines)
    assert "literals" in svg(display.chart(), "sizes", "")
    shown = section(tree)
    same_text(shown["size_choice"])
    tree.set_params(alpha="cv").fit(X, y)
    shown = section(tree)
    same_text(shown["size_choice"])
    table_ = shown["chart"]["lines"]
    assert table_["names"][0] == "Literals"
    cells = [row["cells"][0] for row in table_["rows"]]
    assert cells == [f"{c:g}" for c in tree.size_path_.complexity]


def test_a_function_must_return_a_number():
    X, y = table(6)
    tree = cw.ProjectedTreeRegressor(Rough(), complexity=lambda tree: np.nan)
    with refuses(InputError, "complexity returned nan"):
        tree.fit(X, y)
