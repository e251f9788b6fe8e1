"""Exact values from enumeration in rational arithmetic or with 50 digits."""

import json
from pathlib import Path

import numpy as np
import pytest

from clearwood.metatree import (
    BernoulliBeta,
    MetaTree,
    NormalNormalGamma,
    given,
    tree_weights,
)

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "golden" / "metatree.json").read_text()
)
BERNOULLI, NORMAL = GOLDEN["A_bernoulli"], GOLDEN["D_normal_gamma"]
QUERIES = np.array(np.unravel_index(np.arange(8), (2, 2, 2))).T


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def leaf_of(case):
    h = case["h0"]
    if "m" in h:
        return NormalNormalGamma(h["m"], h["kappa"], h["alpha"], h["beta"])
    return BernoulliBeta(h["alpha"], h["beta"])


def structure_of(k):
    return given(k, n_values=2, n_features=3)


def learned(case, k=None, g=None):
    tree = MetaTree(
        structure_of(case["k"] if k is None else k),
        leaf_of(case),
        case["g"] if g is None else g,
    )
    return tree.update(case["X"], case["y"])


@pytest.mark.parametrize("case", [BERNOULLI, NORMAL], ids=["A", "D"])
def test_posterior(case):
    posterior = learned(case).posterior()
    close(posterior.log_evidence, case["log_marginal_likelihood"])
    close(posterior.g[:7], case["g_posterior"])
    close(posterior.reach, case["node_reach_prob"])
    close(posterior.leaf, case["node_leaf_prob"])
    close(posterior.feature_used, case["feature_used_prob"])
    close(posterior.log_marginal, case["node_log_marginal"])


@pytest.mark.parametrize("case", [BERNOULLI, NORMAL], ids=["A", "D"])
def test_all_trees_in_order(case):
    posterior = learned(case).posterior()
    found = posterior.top_trees(100)
    assert len(found) == case["n_trees"] == len(case["trees"])
    expected = {tuple(tree["inner"]): tree for tree in case["trees"]}
    for tree in found:
        facts = expected.pop(tuple(tree.inner.tolist()))
        assert tree.leaves.tolist() == facts["leaves"]
        close(tree.probability, facts["posterior"])
    probabilities = [tree.probability for tree in found]
    assert np.all(np.diff(probabilities) <= 1e-12)
    close(sum(probabilities), 1.0)
    for k in (1, 3, 9):
        some = posterior.top_trees(k)
        assert [t.inner.tolist() for t in some] == [t.inner.tolist() for t in found[:k]]


@pytest.mark.parametrize("case", [BERNOULLI, NORMAL], ids=["A", "D"])
def test_map_tree(case):
    best = learned(case).posterior().map_tree()
    assert best.inner.tolist() == case["map_inner"]
    close(best.probability, case["map_posterior"])


def test_bernoulli_predictive():
    predictive = learned(BERNOULLI).predictive(QUERIES)
    close(predictive.probabilities(), BERNOULLI["predictive"])
    close(predictive.mean(), np.array(BERNOULLI["predictive"])[:, 1])
    for y in (0, 1):
        expected = np.array(BERNOULLI["predictive"])[:, y]
        close(np.exp(predictive.log_density(y)), expected)


def test_normal_predictive():
    predictive = learned(NORMAL).predictive(QUERIES)
    close(predictive.mean(), NORMAL["predictive_mean"])
    close(predictive.variance(), NORMAL["predictive_var"])
    for j, y in enumerate(NORMAL["density_at"]):
        expected = np.array(NORMAL["predictive_density"])[:, j]
        close(np.exp(predictive.log_density(y)), expected)


def test_one_row_after_the_other():
    case = BERNOULLI
    tree = MetaTree(structure_of(case["k"]), leaf_of(case), case["g"])
    for x, y, expected in zip(case["X"], case["y"], case["prequential_prob"]):
        before = tree.predictive([x]).probabilities()[0, y]
        close(before, expected)
        close(np.exp(tree.update_stream([x], [y])), [expected])
    close(tree.posterior().g[:7], case["g_posterior"])
    close(tree.log_evidence, case["log_marginal_likelihood"])


def test_several_structures():
    case = GOLDEN["E_three_metatrees"]
    trees = [learned(BERNOULLI, k=k) for k in case["k_list"]]
    log_evidence = [tree.log_evidence for tree in trees]
    close(log_evidence, case["log_marginals"])
    weights = tree_weights(log_evidence)
    close(weights, case["weights"])
    each = [tree.predictive(QUERIES).probabilities() for tree in trees]
    close(np.tensordot(weights, each, axes=1), case["predictive"])


def test_of_equally_probable_trees_the_smaller_one():
    case = GOLDEN["F_map_tie"]
    tree = learned(BERNOULLI, g=0.5)
    posterior = tree.posterior()
    close(posterior.log_evidence, case["log_marginal_likelihood"])
    close(posterior.g[:7], case["g_posterior"])
    close(tree.predictive(QUERIES).probabilities(), case["predictive"])
    for best in (posterior.map_tree(), *posterior.top_trees(1)):
        assert best.inner.tolist() == min(case["map_set"], key=len)
        close(best.probability, case["map_posterior"])
    two = [tree.inner.tolist() for tree in posterior.top_trees(2)]
    assert two == sorted(case["map_set"], key=len)


def test_shards():
    case, shards = GOLDEN["G_shards"], []
    for rows in (slice(0, 7), slice(7, 12)):
        tree = MetaTree(structure_of(BERNOULLI["k"]), leaf_of(BERNOULLI), 0.4)
        shards.append(tree.update(BERNOULLI["X"][rows], BERNOULLI["y"][rows]))
    for tree, name in zip(shards, ("shard1", "shard2")):
        assert_counts(tree, case[name])
    both = shards[0].merge(shards[1])
    assert_counts(both, case["total"])
    assert np.array_equal(both.own, learned(BERNOULLI).own)
    close(both.posterior().g[:7], BERNOULLI["g_posterior"])


def assert_counts(tree, counts):
    expected = np.zeros_like(tree.own)
    for node, count in counts.items():
        expected[int(node)] = count
    assert np.array_equal(tree.own, expected)
