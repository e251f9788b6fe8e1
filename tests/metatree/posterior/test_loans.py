"""Nodes that lend rows to their children, and values that were rounded."""

import numpy as np
import pytest

from clearwood.distributions import CategoricalDirichlet, NormalNormalGamma
from clearwood.metatree import MetaTree, given

TARGETS = {
    "classes": (CategoricalDirichlet((0.5, 0.5), lent=3.0), [0, 0, 1, 0, 1, 1, 1]),
    "values": (NormalNormalGamma(lent=2.5), [0.1, 0.4, 2.0, 1.0, 3.0, 2.5, 2.0]),
}
CODES = [[0, 0], [0, 0], [0, 1], [0, 1], [1, 0], [1, 1], [5, 0]]


def lent(model, known, above, own):
    """Some rows' worth of statistics, one number after the other."""
    part = float(model.weight_of(own)) / float(model.weight_of(above))
    share = min(model.lent * part / float(model.weight_of(known)), 1.0)
    if model.n_columns is None:
        return known * share
    return np.array([known[0] * share, known[1], known[2] * share])


@pytest.mark.parametrize("kind", TARGETS)
def test_a_node_knows_its_rows_and_those_lent_from_above(kind):
    model, y = TARGETS[kind]
    tree = MetaTree(given([0, 1, 1], n_values=2), model, 0.4).update(CODES, y)
    posterior, s = tree.posterior(), tree.structure
    for node in range(1, s.n_nodes):
        up = s.parent[node]
        stats = posterior.known[up], posterior.total[up], posterior.total[node]
        from_above = lent(model, *stats)
        both = from_above[None].copy()
        model.merge(both, posterior.total[[node]])
        np.testing.assert_allclose(posterior.known[node], both[0])
        evidence = model.log_marginal(both[0]) - model.log_marginal(from_above)
        assert posterior.log_marginal[node] == pytest.approx(evidence)
    np.testing.assert_array_equal(posterior.known[0], posterior.total[0])
    # Theorem 1 by hand; the last row stops at the root, and borrows from it.
    node = model.log_marginal(posterior.total[0])
    known, own = posterior.known[0], posterior.own[0]
    from_root = lent(model, known, posterior.total[0], own)
    both = from_root[None].copy()
    model.merge(both, posterior.own[[0]])
    stopped = model.log_marginal(both[0]) - model.log_marginal(from_root)
    below = posterior.log_q[1] + posterior.log_q[2] + stopped
    expected = np.logaddexp(np.log(0.6) + node, np.log(0.4) + below)
    assert posterior.log_q[0] == pytest.approx(expected)


def test_leaves_shrink_by_the_rows_of_their_parent_and_empty_ones_are_it():
    model = NormalNormalGamma(0.0, kappa=1e-12, lent=5.0)
    y = np.array([1.0, 2.0, 6.0, 9.0])
    tree = MetaTree(given([0], n_values=3), model, 1.0).update([[0], [0], [0], [1]], y)
    predicted = tree.predictive([[0], [1], [2]]).mean()
    # Hierarchical shrinkage: the difference from above over 1 + lambda / n.
    expected = y.mean() + (np.array([3.0, 9.0]) - y.mean()) / (1 + 5.0 / 4)
    np.testing.assert_allclose(predicted, [*expected, y.mean()])


@pytest.mark.parametrize("kind", TARGETS)
def test_rows_in_turn_and_taken_out_give_the_same(kind):
    model, y = TARGETS[kind]
    structure = given([0, 1, 1], n_values=2)
    tree = MetaTree(structure, model).update(CODES, y)
    stream = MetaTree(structure, model)
    first = stream.update_stream(CODES[:3], y[:3])
    ahead = stream.predictive(CODES[3:4]).log_density(y[3])
    rest = stream.update_stream(CODES[3:], y[3:])
    assert rest[0] == pytest.approx(ahead[0]) and np.isfinite(first).all()
    assert stream.log_evidence == pytest.approx(tree.log_evidence)
    tree.unlearn(CODES[3:], y[3:])
    before = MetaTree(structure, model).update(CODES[:3], y[:3])
    assert tree.log_evidence == pytest.approx(before.log_evidence)


def test_no_leaf_is_surer_than_rounding_lets_it():
    structure, y = given([0], n_values=2), [3.0] * 500 + [5.0] * 500
    codes = [[0]] * 500 + [[1]] * 500
    sharp = MetaTree(structure, NormalNormalGamma(4.0)).update(codes, y)
    leaf = NormalNormalGamma(4.0, rounding=2.0)
    tree = MetaTree(structure, leaf).update(codes, y)
    floor = 2.0**2 / 12
    assert sharp.predictive([[0]]).variance()[0] < 0.1 * floor
    assert tree.predictive([[0]]).variance()[0] > floor
    stream = MetaTree(structure, leaf)
    stream.update_stream(codes, y)
    assert stream.log_evidence == pytest.approx(tree.log_evidence)
    np.testing.assert_allclose(stream.posterior().total, tree.posterior().total)
    assert tree.unlearn(codes, y).weight == 0.0
