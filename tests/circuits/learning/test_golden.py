"""The golden facts of learning: tests, clusters, and two whole networks."""

import numpy as np
import pytest
from tests.circuits.made import GOLDEN, space

from clearwood._kernels.circuits_learning import pair_tests
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.learning.clusters import (
    Starts,
    cluster_rows,
    one_cluster,
)
from clearwood.circuits.learning.dependence import critical_values, find_dependence
from clearwood.circuits.learning.fitting import PAPER_OPTIONS, LearningTable, mini_spn
from clearwood.circuits.learning.slices import Slice, cut_codes
from clearwood.circuits.nodes import Product, Sum
from clearwood.distributions import Bernoulli


def table(rows):
    """Rows as lists, or as texts of 0, 1 and ?."""
    cells = {"0": 0.0, "1": 1.0, "?": np.nan, None: np.nan}
    return np.array([[cells.get(cell, cell) for cell in row] for row in rows], float)


def slice_of(train, n_levels, valid=()):
    train = table(train)
    valid = table(valid) if len(valid) else train[:0]
    return Slice.from_table(train, valid, space(n_levels))


def check_pairs(found, facts):
    for pair in facts["pairs"]:
        at = pair["i"], pair["j"]
        assert found.n_both[at] == pair["n"]
        assert found.edges[at] == pair["dependent"], at
        if pair["df"]:
            np.testing.assert_allclose(
                found.statistic[at], pair["statistic"], rtol=1e-12, atol=1e-12
            )


def test_tables_of_categories():
    facts = GOLDEN["chi_square"]["discrete"]
    whole = slice_of(facts["rows"], facts["levels"])
    found = find_dependence(whole)
    check_pairs(found, facts)
    for pair in facts["pairs"]:
        freedom = pair_tests(whole.train.codes, whole.offsets, False)[1]
        assert freedom[pair["i"], pair["j"]] == pair["df"]
    groups = [np.flatnonzero(found.groups == g).tolist() for g in set(found.groups)]
    assert sorted(groups) == facts["components"]


def test_critical_values():
    facts = GOLDEN["chi_square"]["discrete"]
    found = critical_values(9, facts["critical_p"])
    for freedom, value in facts["critical_values"].items():
        assert found[int(freedom)] == pytest.approx(value, rel=1e-12)


def test_continuous_columns_are_cut_at_the_median_of_the_slice():
    facts = GOLDEN["chi_square"]["median_binarisation"]
    whole = slice_of(facts["rows"], [None] * 5 + [2])
    above, below = facts["above"], facts["at_or_above"]
    check_pairs_of_columns(whole, above)
    # The repair takes the rule that makes the halves more equal.
    halves = cut_codes(whole)[0][:, 1:]
    for j, (n, one, other) in enumerate(
        zip(facts["n_present"][:5], above["ones"], below["ones"])
    ):
        rule = above if abs(2 * one - n) <= abs(2 * other - n) else below
        wanted = table(np.array([list(rule["binary_columns"][j])]))[0]
        np.testing.assert_array_equal(halves[:, j], np.nan_to_num(wanted, nan=-1))


def check_pairs_of_columns(whole, facts):
    """The slice has its discrete column first, the facts have it last."""
    found = find_dependence(whole, balanced=False)
    order = [1, 2, 3, 4, 5, 0]
    check_pairs(type(found)(*(part[np.ix_(order, order)] for part in found)), facts)


@pytest.mark.parametrize("name", GOLDEN["hard_em"]["cases"])
def test_hard_em(name):
    facts = GOLDEN["hard_em"]["cases"][name]
    d = len(facts["train"][0])
    whole = slice_of(facts["train"], [2] * d, facts["valid"])
    distance = np.array(facts["seed_hamming"])
    found = cluster_rows(whole, distance[1] < distance[0], 2)
    if facts["status"] == "empty_cluster":
        assert not found.sizes.all()
        return
    last = facts["history"][-1]
    assert "".join(map(str, found.cluster)) == last["assignments"]
    np.testing.assert_allclose(
        np.exp(found.log_weights), facts["final"]["weights"], atol=1e-13
    )
    tables = np.exp(found.tables[:, :-1]).reshape(2, d, 2)
    np.testing.assert_allclose(tables[..., 1], facts["final"]["theta"], atol=1e-13)
    one = one_cluster(whole)
    for wanted, value in (
        ("train_single", one.log_likelihood(whole.train)),
        ("train_mixture_soft", found.log_likelihood(whole.train)),
        ("train_mixture_hard", found.scores(whole.train).max(axis=1).sum()),
        ("valid_single", one.log_likelihood(whole.valid)),
        ("valid_mixture_soft", found.log_likelihood(whole.valid)),
    ):
        assert value == pytest.approx(facts["log_likelihood"][wanted], rel=1e-12)
    routed = found.scores(whole.valid).argmax(axis=1)
    assert "".join(map(str, routed)) == facts["valid_routing"]


@pytest.mark.parametrize("name", GOLDEN["mini_spn"]["cases"])
def test_the_thesis_network(name):
    facts = GOLDEN["mini_spn"]["cases"][name]
    train, valid, test = (table(facts[part]) for part in ("train", "valid", "test"))
    found = mini_spn(
        LearningTable(train, valid, space([2] * 6)),
        0.0005,
        PAPER_OPTIONS._replace(first=Starts(1), later=(Starts(1),)),
        np.random.default_rng(0),
    )
    assert plain(found) == plain(golden_tree(facts["tree"]))
    density = compile_circuit(Circuit(found, space([2] * 6))).log_likelihood
    for part, rows in (("train", train), ("valid", valid), ("test", test)):
        total = facts["log_likelihood"][part]["total"]
        assert density(rows).sum() == pytest.approx(total, rel=1e-12)


def golden_tree(facts):
    """A learned tree of the facts; a block of leaves is a product."""
    if facts["type"] != "leaves":
        children = tuple(golden_tree(child) for child in facts["children"])
        if facts["type"] == "product":
            return Product(children)
        return Sum(np.array(facts["weights"]), children)
    leaves = tuple(map(Bernoulli, facts["vars"], facts["theta"]))
    return leaves[0] if len(leaves) == 1 else Product(leaves)


def plain(node):
    """The tree to 13 digits, products in products made one, in a fixed order."""
    if isinstance(node, Sum):
        return [node.weights.round(13).tolist(), *map(plain, node.children)]
    if isinstance(node, Bernoulli):
        return [("leaf", node.variable, round(node.probability, 13))]
    return sorted((part for child in node.children for part in parts(child)), key=repr)


def parts(node):
    return plain(node) if isinstance(node, Product | Bernoulli) else [plain(node)]
