"""The generators of features in groups: who depends on whom, and on the class."""

import numpy as np
import pytest
from tests.wording import refuses

from clearwood.datasets import make_cluster_classes, make_corral, make_logistic_classes
from clearwood.exceptions import InputError

ALL = [make_cluster_classes, make_logistic_classes, make_corral]
GROUPS = {
    make_cluster_classes: [range(3), range(3, 7), range(7, 10)],
    make_logistic_classes: [range(1, 3), range(3, 6), range(6, 8)],
}


def dependent(X, least=0.2):
    """Pairs of columns that are correlated."""
    found = np.triu(np.abs(np.corrcoef(X.T)) > least, 1)
    return {(int(i), int(j)) for i, j in np.argwhere(found)}


def pairs(*groups):
    return {(i, j) for group in groups for i in group for j in group if i < j}


def test_clusters_depend_in_their_class_alone():
    X, y = make_cluster_classes(4000, 20, random_state=0)
    first, second, noise = GROUPS[make_cluster_classes]
    assert dependent(X[y == 1]) == pairs(first, noise)
    assert dependent(X[y == 2]) == pairs(second, noise)
    assert set(np.unique(X)) == {1, 2, 3} and set(y) == {1, 2}


@pytest.mark.parametrize("label", [1, 2])
def test_no_single_feature_of_a_cluster_tells_the_class(label):
    X, y = make_cluster_classes(20_000, 12, random_state=1)
    for value in (1, 2, 3):
        share = (X[y == label] == value).mean(axis=0)
        np.testing.assert_allclose(share, 1 / 3, atol=5 * 0.4714 / np.sqrt(9_500))


def test_half_of_the_rows_of_the_noise_cluster_are_sorted():
    X, _ = make_cluster_classes(20_000, 10, random_state=2)
    # Half the rows are opposite, then the same; half are independent.
    found = np.corrcoef(X[:, 7:10].T)[0]
    np.testing.assert_allclose(found, [1, -0.5, 0.5], atol=0.03)


@pytest.mark.parametrize("related", [True, False])
def test_sets_of_the_logistic_model_are_correlated(related):
    X, _ = make_logistic_classes(2000, 12, related=related, random_state=0)
    assert dependent(X, 0.8) == pairs(*GROUPS[make_logistic_classes])
    assert set(np.unique(X)) == {1, 2}


def test_classes_follow_the_formula():
    # Small tables, in which correlated features differ often enough.
    rng = np.random.default_rng(3)
    tables = [make_logistic_classes(6, 8, random_state=rng) for _ in range(3000)]
    X, y = (np.concatenate(parts) for parts in zip(*tables))
    pattern = X[:, :6] @ (1 << np.arange(6))
    for one in np.unique(pattern):
        rows = pattern == one
        x1, x2, x3, x4, x5, x6 = X[rows][0, :6].astype(float)
        p = 1 / (1 + np.exp(-(x1 - x2 * x3 + x4 * x5 - x5 * x6)))
        error = 5 * np.sqrt(p * (1 - p) / rows.sum())
        assert abs(y[rows].mean() - p) < error + 1 / rows.sum()


def test_noise_has_the_same_features_and_other_classes():
    X, _ = make_logistic_classes(5000, 10, random_state=4)
    same, y = make_logistic_classes(5000, 10, related=False, random_state=4)
    np.testing.assert_array_equal(same, X)
    table = np.corrcoef(np.column_stack([X, y]).T)[-1, :-1]
    assert np.abs(table).max() < 5 / np.sqrt(5000)
    assert abs(y.mean() - 0.5) < 5 * 0.5 / np.sqrt(5000)


def test_corral_is_the_formula_and_its_noise_are_shuffled_columns():
    X, y = make_corral(200, random_state=5)
    a0, a1, b0, b1, _, correlated = X[:, :6].T
    np.testing.assert_array_equal(y, (a0 & a1) | (b0 & b1))
    assert (correlated == y).mean() == 0.75
    _, counts = np.unique(X[:, :5], axis=0, return_counts=True)
    assert counts.tolist() == [4] * 32
    assert set(X[:, 6:].sum(axis=0)) == {60, 64}
    # Of a correlation of chance the standard deviation is 1 / sqrt(n).
    noise = np.corrcoef(np.column_stack([y, X[:, 6:]]).T)[0, 1:]
    assert abs(noise.mean()) < 5 / np.sqrt(128 * 200)
    assert noise.std() == pytest.approx(1 / np.sqrt(128), rel=0.25)


@pytest.mark.parametrize("make", GROUPS)
def test_the_order_of_rows_says_nothing(make):
    X, _ = make(4000, 12, random_state=6)
    place = np.arange(len(X))
    assert max(abs(np.corrcoef(place, x)[0, 1]) for x in X.T) < 5 / np.sqrt(4000)


@pytest.mark.parametrize("make", ALL)
def test_an_integer_seed_repeats_the_data(make):
    first, again, other = (make(random_state=seed) for seed in (6, 6, 7))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])
    assert first[0].shape[1] == 100


@pytest.mark.parametrize(
    ("make", "sizes", "message"),
    [
        (make_cluster_classes, (0, 10), "n_samples"),
        (make_cluster_classes, (10, 9), "n_features.*10"),
        (make_logistic_classes, (10, 7), "n_features"),
        (make_logistic_classes, (10, 8.0), "n_features.*8.0"),
        (make_corral, (-1,), "n_noise"),
    ],
)
def test_bad_sizes(make, sizes, message):
    with refuses(InputError, match=message):
        make(*sizes)
