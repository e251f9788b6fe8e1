"""Projected trees against exact values (tests/golden/README.md says how obtained)."""

import json

import numpy as np
import pytest
from tests.projection.naive import weakest_links

from clearwood.columns.feature_space import FeatureSpace
from clearwood.projection.leaves import Leaves, expected_log_likelihood
from clearwood.projection.predictive_draws import PredictiveDraws
from clearwood.projection.sizes import SizePath
from clearwood.projection.trees import leaves_of, projection_problem, value_bins
from clearwood.rules import Training
from clearwood.search.trees.nodes import inner_nodes, root_of, with_node
from clearwood.search.trees.splits import grow, next_split, prunings


@pytest.fixture(scope="module")
def facts(golden_folder):
    return json.loads((golden_folder / "projection.json").read_text())


def grid_of(X):
    X = np.array(X, dtype=float)
    bins = value_bins(FeatureSpace.numeric(X.shape[1]), X)
    values = np.zeros(len(X))
    return Training(X, values, None, np.ones(len(X)), values, bins).grid


def grown_to(problem, depth):
    """The tree that is split wherever that helps, down to a depth."""
    tree = grow(root_of(problem), 1000, next_split)
    for address, node in list(inner_nodes(tree)):
        if len(address) == depth:
            tree = with_node(tree, address, node.leaf())
    return tree


def by_position(tree):
    """Nodes by heap position: the root is 1, children of p are 2 p and 2 p + 1."""
    found, todo = {}, [(1, tree)]
    while todo:
        position, node = todo.pop()
        found[position] = node
        todo += [(2 * position + i, child) for i, child in enumerate(node.children)]
    return found


def leaf_positions(tree):
    return [p for p, node in sorted(by_position(tree).items()) if not node.children]


def check_nodes(tree, nodes):
    """The same questions of the same rows, node by node."""
    found = by_position(tree)
    assert sorted(found) == sorted(node["pos"] for node in nodes)
    for node in nodes:
        ours = found[node["pos"]]
        assert sorted(ours.rows) == sorted(node["rows"])
        if node.get("feature") is not None:
            assert ours.feature == node["feature"]


def regression(facts, key, weight=None, family="mean"):
    case = facts[key]
    data = facts["regression_tree"]["data"] if key == "weights" else case["data"]
    predictive = PredictiveDraws(np.array([data["ybar"]]), np.array([data["s2"]]))
    grid, params = grid_of(data["X"]), case["params"]
    weight = np.ones(grid.n_rows) if weight is None else weight
    problem = projection_problem(predictive, family, grid, weight, params["min_leaf"])
    return case, predictive, grid, grown_to(problem, params["max_depth"]), weight


def likelihood(tree, predictive, grid, weight, family):
    share = weight / weight.sum()
    leaf = leaves_of(tree, grid)
    leaves = Leaves.from_predictive(predictive, leaf, share, family)
    rows = expected_log_likelihood(leaves, predictive, leaf)
    assert rows @ share == pytest.approx(leaves.log_likelihood)
    return leaves, leaves.log_likelihood


@pytest.mark.parametrize("key", ["regression_tree", "weights"])
def test_mean_shift_trees(facts, key):
    weight = np.array(facts["weights"]["pi"]) if key == "weights" else None
    case, predictive, grid, tree, weight = regression(facts, key, weight)
    check_nodes(tree, case["nodes"])
    leaves, found = likelihood(tree, predictive, grid, weight, "mean")
    golden = case["tree"]
    assert leaves.variances[0] == pytest.approx(golden["sigma2"], rel=1e-12)
    assert found * weight.sum() == pytest.approx(golden["loglik_expected"], rel=1e-12)
    path = prunings(tree, 20)
    assert len(path) == len(case["best_subtrees"])
    likelihoods = []
    for best in case["best_subtrees"]:
        subtree = path[best["size"]]
        assert leaf_positions(subtree) == sorted(best["leaves"])
        leaves, found = likelihood(subtree, predictive, grid, weight, "mean")
        likelihoods.append(found)
        for alpha, utility in best["utility"].items():
            value = found - float(alpha) * best["size"]
            assert value == pytest.approx(utility, rel=1e-12)
    sizes = SizePath(np.arange(len(path)) + 1, np.array(likelihoods), np.zeros(1))
    for alpha, best in case["best_alpha_tree"].items():
        assert sizes.best_by_utility(float(alpha)) == best["size"]


def test_divergence_from_the_reference(facts):
    case, predictive, grid, tree, weight = regression(facts, "regression_tree")
    _, found = likelihood(tree, predictive, grid, weight, "mean")
    divergence = predictive.negative_entropy.mean() - found
    assert divergence == pytest.approx(case["tree"]["mean_kl"], rel=1e-12)


def test_leaves_with_variances_of_their_own(facts):
    case, predictive, grid, tree, weight = regression(
        facts, "variance_shift_tree_2", family="mean_variance"
    )
    check_nodes(tree, case["nodes"])
    leaves, found = likelihood(tree, predictive, grid, weight, "mean_variance")
    assert found * 30 == pytest.approx(case["loglik_expected"], rel=1e-9)
    score = 30 * (leaves.share * np.log(leaves.variances[0])).sum()
    assert score == pytest.approx(case["score"], rel=1e-9)
    path = prunings(tree, 20)
    for best in case["best_subtrees"]:
        assert leaf_positions(path[best["size"]]) == sorted(best["leaves"])
    divergence = predictive.negative_entropy.mean() - found
    assert divergence == pytest.approx(case["mean_kl"], rel=1e-9)


def test_soft_labels(facts):
    case = facts["classification_tree"]
    predictive = PredictiveDraws(np.array([case["data"]["P"]]), None)
    grid, params = grid_of(case["data"]["X"]), case["params"]
    weight = np.ones(grid.n_rows)
    problem = projection_problem(
        predictive, "classes", grid, weight, params["min_leaf"]
    )
    tree = grown_to(problem, params["max_depth"])
    check_nodes(tree, case["nodes"])
    leaves, found = likelihood(tree, predictive, grid, weight, "classes")
    assert found * 40 == pytest.approx(case["loglik"], rel=1e-12)
    nodes = by_position(tree)
    for node in case["nodes"]:
        if node["pos"] in case["leaves"]:
            rows = nodes[node["pos"]].rows
            said = leaves.means[0][leaves_of(tree, grid)[rows[0]]]
            np.testing.assert_allclose(said, node["value"], rtol=1e-12)
    path = prunings(tree, 20)
    for best in case["best_subtrees"]:
        assert leaf_positions(path[best["size"]]) == sorted(best["leaves"])
    divergence = predictive.negative_entropy.mean() - found
    assert divergence == pytest.approx(case["mean_kl"], rel=1e-12)


def test_hard_labels_are_the_soft_ones_of_a_teacher_that_is_sure(facts):
    case = facts["classification_tree"]
    labels = np.array(case["data"]["P"]).argmax(axis=1)
    predictive = PredictiveDraws(np.eye(3)[labels][None], None)
    grid = grid_of(case["data"]["X"])
    problem = projection_problem(predictive, "classes", grid, np.ones(40), 3)
    tree = grown_to(problem, 3)
    check_nodes(tree, case["hard_label_tree"]["nodes"])
    _, found = likelihood(tree, predictive, grid, np.ones(40), "classes")
    assert found * 40 == pytest.approx(case["hard_label_tree"]["loglik"], rel=1e-12)


def draws_of(facts):
    case = facts["draws"]
    f = np.array(case["f"])
    noise = np.repeat(np.array(case["noise_var"])[:, None], f.shape[1], axis=1)
    return (
        case,
        PredictiveDraws(f, noise),
        grid_of(facts["regression_tree"]["data"]["X"]),
    )


def test_one_structure_for_all_draws(facts):
    case, predictive, grid = draws_of(facts)
    case = case["shared"]
    weight = np.ones(grid.n_rows)
    problem = projection_problem(
        predictive, "mean", grid, weight, case["params"]["min_leaf"]
    )
    tree = grown_to(problem, case["params"]["max_depth"])
    check_nodes(tree, case["nodes"])
    leaf = leaves_of(tree, grid)
    leaves = Leaves.from_predictive(predictive, leaf, weight / weight.sum(), "mean")
    np.testing.assert_allclose(
        leaves.variances[:, 0], case["sigma2_per_draw"], rtol=1e-12
    )
    nodes = by_position(tree)
    for position in case["leaves"]:
        b = leaf[nodes[position].rows[0]]
        mean, spread = leaves.means[:, b].mean(), leaves.epistemic[b]
        assert mean == pytest.approx(case["leaf_value_mean"][str(position)], rel=1e-12)
        golden = case["leaf_value_sd_ddof1"][str(position)]
        assert spread * np.sqrt(5 / 4) == pytest.approx(golden, rel=1e-12)
    path = prunings(tree, 20)
    for best in case["best_subtrees"]:
        assert leaf_positions(path[best["size"]]) == sorted(best["leaves"])


def test_a_tree_for_each_draw(facts):
    case, predictive, grid = draws_of(facts)
    case = case["per_draw"]
    for number, golden in enumerate(case["trees"]):
        said = predictive.draw(number)
        problem = projection_problem(
            said, "mean", grid, np.ones(30), case["params"]["min_leaf"]
        )
        tree = grown_to(problem, case["params"]["max_depth"])
        check_nodes(tree, golden["nodes"])
        leaves, found = likelihood(tree, said, grid, np.ones(30), "mean")
        assert leaves.variances[0, 0] == pytest.approx(golden["sigma2"], rel=1e-12)
        for alpha, utility in golden["utility"].items():
            value = found - float(alpha) * tree.n_leaves
            assert value == pytest.approx(utility, rel=1e-12)


def test_refinement_finds_the_best_tree_where_greedy_growth_does_not(facts):
    from clearwood.projection.trees import project_trees

    case = facts["optimal_depth2_xor"]
    predictive = PredictiveDraws(np.array([case["data"]["y"]]), np.ones((1, 20)))
    grid = grid_of(case["data"]["X"])
    problem = projection_problem(predictive, "mean", grid, np.ones(20), 2)
    tree = grown_to(problem, 2)
    check_nodes(tree, case["greedy"]["nodes"])
    for refine in (False, True):
        tree = project_trees(problem, 4, refine=refine)[-1]
        leaf = leaves_of(tree, grid)
        leaves = Leaves.from_predictive(predictive, leaf, np.full(20, 0.05), "mean")
        squares = 20 * (leaves.variances[0, 0] - 1.0)
        assert squares <= case["greedy"]["sse"] + 1e-9
    assert squares < 0.5 * case["greedy"]["sse"]


@pytest.fixture(scope="module")
def sizes_of_eq_9(facts):
    """The best subtree of every size, and the paper's steps of pruning."""
    case, predictive, grid, tree, weight = regression(facts, "regression_tree")
    path = prunings(tree, 20)
    likelihoods = [
        likelihood(path[size], predictive, grid, weight, "mean")[1] for size in path
    ]
    sizes = SizePath(np.array(list(path)), np.array(likelihoods), np.zeros(1))
    steps = case["cost_complexity_log_eq9"]["steps"]
    for step in steps:
        assert leaf_positions(path[step["size"]]) == sorted(step["leaves"])
    return sizes, {step["size"]: step["alpha"] for step in steps[1:]}


def test_alphas_at_which_the_paper_prunes(sizes_of_eq_9):
    sizes, prunes = sizes_of_eq_9
    low, high = 2 * sizes.alpha_ranges.T
    for size, alpha in prunes.items():
        # From one leaf more; out of order is the step from six leaves to five.
        if size + 1 not in (6, 7):
            assert high[size] == pytest.approx(alpha, rel=1e-9)
        if size not in (5, 6):
            assert low[size - 1] == pytest.approx(alpha, rel=1e-9)
    assert prunes[5] < prunes[6]
    assert high[5] == pytest.approx(prunes[5]) and low[5] == pytest.approx(prunes[6])
    # So six leaves are best at no alpha: seven are, until five are.
    between = (prunes[5] + prunes[6]) / 2
    assert high[6] == pytest.approx(between) and low[4] == pytest.approx(between)
    assert low[-1] == 0 and high[0] == np.inf


def test_one_alpha_stands_for_each_size_that_is_best_somewhere(sizes_of_eq_9):
    sizes, _ = sizes_of_eq_9
    best = [sizes.best_by_utility(alpha) for alpha in sizes.alphas]
    assert best == [1, 2, 3, 4, 5, 7, 8, 9, 10, 11]
    for alpha in np.geomspace(1e-4, 10, 50):
        assert sizes.best_by_utility(alpha) != 6


@pytest.mark.parametrize("noise", [1e-4, 0.5])
@pytest.mark.parametrize("seed", range(2))
def test_weakest_links_find_the_same_trees_that_are_best_at_some_alpha(seed, noise):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3)).round(2)
    mean = np.sin(2 * X[:, 0]) + (X[:, 1] > 0) * X[:, 2] + 0.3 * rng.normal(size=120)
    predictive = PredictiveDraws(mean[None], np.full((1, 120), noise))
    grid, weight = grid_of(X), np.ones(120)
    problem = projection_problem(predictive, "mean", grid, weight, 5)
    tree = grow(root_of(problem), 16, next_split)

    def cost(tree):
        # Equation (9) but for a constant: less twice the log likelihood.
        return -2 * likelihood(tree, predictive, grid, weight, "mean")[1]

    steps, alphas = weakest_links(tree, cost)
    assert (np.diff(alphas) < 0).any()
    best = []
    for trees in (steps[::-1], list(prunings(tree, 16).values())):
        said = np.array([-0.5 * cost(tree) for tree in trees])
        size = np.array([tree.n_leaves for tree in trees])
        low, high = SizePath(size, said, said).alpha_ranges.T
        best.append([leaf_positions(trees[i]) for i in np.flatnonzero(low <= high)])
    assert best[0] == best[1]
