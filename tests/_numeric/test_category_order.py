"""The order of categories, which decides the sets that trees can split off."""

import numpy as np
import pytest

from clearwood._numeric import category_ranks


def test_it_is_the_first_principal_component_of_the_mean_targets():
    rng = np.random.default_rng(0)
    code, targets = rng.integers(8, size=500), rng.random((500, 4))
    targets[:, 2] += code % 5
    weight = rng.random(500)
    share = np.bincount(code, weight)
    mean = np.array([np.bincount(code, weight * t) / share for t in targets.T]).T
    gap = np.sqrt(share)[:, None] * (mean - np.average(mean, axis=0, weights=share))
    place = mean @ np.linalg.svd(gap)[2][0]
    expected = np.argsort(np.argsort(place))
    ranks = category_ranks(code, targets, weight, 8)
    assert ranks.tolist() in (expected.tolist(), (7 - expected).tolist())


@pytest.mark.parametrize("seed", range(3))
def test_balanced_classes_are_ordered_alike_by_any_eigenvectors(monkeypatch, seed):
    code = np.arange(12)
    targets, weight = np.eye(3)[code % 3], np.ones(12)
    before = category_ranks(code, targets, weight, 12)
    eigh, rng = np.linalg.eigh, np.random.default_rng(seed)

    def turned(matrix):
        values, axes = eigh(matrix)
        other, _ = np.linalg.qr(rng.normal(size=(2, 2)))
        axes[:, 1:] = axes[:, 1:] @ other  # two components share the variance
        return values, axes

    monkeypatch.setattr(np.linalg, "eigh", turned)
    assert category_ranks(code, targets, weight, 12).tolist() == before.tolist()
    by_rank = code[np.argsort(before)] % 3
    assert np.count_nonzero(np.diff(by_rank)) == 2  # each class in one piece


def test_one_target_orders_by_its_mean_and_equal_means_by_code():
    code = np.array([0, 1, 2, 3, 3])
    value = np.array([[2.0], [1.0], [2.0], [0.0], [1.0]])
    assert category_ranks(code, value, np.ones(5), 4).tolist() == [2, 1, 3, 0]


def test_categories_without_rows_and_no_categories_have_ranks():
    none = np.zeros(0, dtype=int)
    assert category_ranks(none, np.zeros((0, 3)), np.zeros(0), 0).tolist() == []
    ranks = category_ranks(np.array([0, 2]), np.eye(2), np.ones(2), 3)
    assert sorted(ranks.tolist()) == [0, 1, 2]
