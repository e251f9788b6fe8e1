import numpy as np
import pytest
from hypothesis import given, settings
from tests.circuits.made import circuits
from tests.circuits.reading.cases import apart, clinic, deep, spiked, wide
from tests.wording import refuses, same_lines, same_text

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.nodes import Product, Sum
from clearwood.circuits.queries.conditioning import condition
from clearwood.circuits.reading.outline import MOST_CLUSTERS, clusters_of, outline
from clearwood.circuits.reading.profiles import Shares, profile_of
from clearwood.columns.table_variables import NumericColumn, TableVariables
from clearwood.distributions import (
    Bernoulli,
    ChowLiuTree,
    Gaussian,
    MultivariateGaussian,
)
from clearwood.exceptions import InputError
from clearwood.rules import FeatureSpace


def test_kinds_are_told_with_what_marks_them():
    same_text(str(clinic()))


def test_point_masses_are_apart_from_the_mean_of_the_others():
    lines = str(spiked()).splitlines()
    same_lines(lines)
    healthy = condition(spiked(), np.array([0.0, np.nan, np.nan]))
    assert healthy.features.names == ("dose", "dose, point mass")
    # Of a cell at a point mass no number is left.
    at_zero = condition(spiked(), np.array([np.nan, np.nan, 1.0]))
    assert at_zero.features.names == ("ill",)
    assert profile_of(at_zero.root)[0].probabilities[1] == pytest.approx(0.1)


def test_columns_of_one_leaf_that_hardly_depend_on_each_other():
    normal = MultivariateGaussian((0, 1), np.zeros(2), np.array([[1, 0.01], [0.01, 1]]))
    text = str(Circuit(normal, FeatureSpace.numeric(2)))
    same_text(text)


def test_what_is_left_out_is_said_and_how_to_see_it():
    text = clinic().text(depth=1)
    same_text(text)
    assert "1.b." not in text and "text(depth=2)" in text.splitlines()[-1]


def test_groups_that_are_independent_stand_beside_each_other():
    lines = str(apart()).splitlines()
    same_lines(lines)
    assert any(line.strip().startswith("b.2. 50 %: r 5.0 ± 1.0") for line in lines)
    same_text(lines[-1])


@pytest.mark.parametrize("size", [(3, 2), (30, 8), (100, 40)])
def test_large_networks_are_cut(size):
    text = str(wide(*size))
    assert len(text.splitlines()) < 100
    assert max(map(len, text.splitlines())) <= 110
    if size[0] > 3:
        same_lines(text)
    few = wide(*size).text(depth=1)
    assert len(few.splitlines()) <= len(text.splitlines())


def test_one_leaf_and_a_tower_are_told():
    alone = Circuit(Gaussian(0, 3.0, 4.0), FeatureSpace(("a",), (None,)))
    assert str(alone).splitlines()[-1] == "- a 3.0 ± 2.0"
    same_lines(str(deep()))


def test_a_depth_of_nothing_is_refused():
    with refuses(InputError):
        clinic().text(depth=0)


@settings(max_examples=25)
@given(circuits())
def test_kinds_add_up_to_what_they_are_kinds_of(circuit):
    def check(part):
        if part.clusters:
            assert len(part.clusters) <= max(MOST_CLUSTERS, len(part.node.children))
            shares = [kind.share for kind in part.clusters]
            assert sum(shares) == pytest.approx(1) and shares == sorted(shares)[::-1]
            for j, facts in part.profile.items():
                parts = [kind.profile[j] for kind in part.clusters]
                pooled = type(facts).pooled(np.array(shares), parts)
                assert np.allclose(np.hstack(pooled[:2]), np.hstack(facts[:2]))
        if part.groups:
            columns = [j for group in part.groups for j in group.columns]
            assert sorted(columns) == list(part.columns)
        for inner in (*part.clusters, *part.groups):
            check(inner)

    check(outline(circuit.root, 3))
    assert str(circuit)


def test_mixtures_of_mixtures_are_one_while_kinds_are_few():
    def coin(p):
        return Bernoulli(0, p)

    inner = Sum(np.array([0.5, 0.5]), (coin(0.1), coin(0.9)))
    outer = Sum(np.array([0.4, 0.6, 0.0]), (coin(0.5), inner, coin(0.3)))
    assert [round(share, 2) for share, _ in clusters_of(outer)] == [0.4, 0.3, 0.3]
    assert [round(share, 2) for share, _ in clusters_of(outer, 2)] == [0.6, 0.4]
    part = outline(outer, 1)
    assert not any(kind.n_hidden_clusters for kind in part.clusters)


def test_what_differs_most_marks_a_kind():
    same, far = Gaussian(0, 0.0, 1.0), Gaussian(1, 9.0, 1.0)
    kinds = (Product((same, far)), Product((same, Gaussian(1, 0.0, 1.0))))
    part = outline(Sum(np.array([0.5, 0.5]), kinds), 1)
    assert [kind.marks for kind in part.clusters] == [(1,), (1,)]
    assert isinstance(profile_of(Bernoulli(0, 0.5))[0], Shares)


def test_weak_dependence_is_said_however_weak():
    """Of draws from so weak a mixture the gain may be below 0."""
    texts = []
    for difference in (0.03, 0.2):
        halves = [
            Product((Bernoulli(0, p), Bernoulli(1, p)))
            for p in (0.5 - difference, 0.5 + difference)
        ]
        circuit = Circuit(
            Sum(np.array([0.5, 0.5]), tuple(halves)),
            FeatureSpace(("a", "b"), ((0, 1), (0, 1))),
        )
        texts.append(str(circuit))
    same_text("\n".join(texts))
    alone = Circuit(halves[0], circuit.features)
    assert "All columns are independent." in str(alone)
    assert "weak" not in str(alone)


def test_hidden_variables_and_their_states_are_named():
    both = np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5]])
    start, change = np.array([[0.4, 0.4, 0.2]]), np.eye(3) * 0.7 + 0.1
    tree = ChowLiuTree((0, 1), (-1, 0, 0, 1), (start, change, both, both))
    same_text(str(Circuit(tree, FeatureSpace(("a", "b"), ((0, 1), (0, 1))))))


def test_numbers_of_few_rows_do_not_mark_a_cluster():
    """Of the others there are 2 %, whatever their mean."""
    columns = FeatureSpace(("ill", "dose"), (("no", "yes"), None))
    dose = NumericColumn((0.0,), None, 0, (0.0, 60.0))
    variables = TableVariables(columns, (None, dose), (0.0, 0.0))
    kinds = (
        Product((Bernoulli(0, 0.1), Gaussian(1, 55.0, 1.0), Bernoulli(2, 0.98))),
        Product((Bernoulli(0, 0.9), Gaussian(1, 30.0, 1.0), Bernoulli(2, 0.5))),
    )
    root = Sum(np.array([0.5, 0.5]), kinds)
    zero, other = outline(root, 1, variables.numbers).clusters
    assert 1 not in zero.marks[:2]
    assert 1 in other.marks
