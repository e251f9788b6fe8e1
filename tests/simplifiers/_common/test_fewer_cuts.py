"""Cuts that stay where an ensemble has thousands."""

import numpy as np
import pytest

from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import FeatureBins
from clearwood.simplifiers._common import fewer_cuts
from clearwood.simplifiers._common.fewer_cuts import (
    MOST_CUTS,
    cuts_at_quantiles,
    with_fewer_cuts,
)


def bins_of(*cuts):
    feature = np.repeat(np.arange(len(cuts)), [len(c) for c in cuts])
    space = FeatureSpace.numeric(len(cuts))
    return FeatureBins.from_splits(space, feature=feature, cut=np.concatenate(cuts))


def test_few_cuts_stay_as_they_are():
    bins = bins_of(np.arange(MOST_CUTS), np.arange(3.0))
    assert with_fewer_cuts(bins, np.zeros((5, 2))) is bins


def test_cuts_that_stay_part_the_rows_evenly():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(4000, 2)))
    bins = bins_of(np.sort(X[:3000, 0]) + 1e-9, np.array([1.0, 2.0]))
    found = with_fewer_cuts(bins, X)
    assert set(found.cuts[0]) <= set(bins.cuts[0])
    np.testing.assert_array_equal(found.cuts[1], bins.cuts[1])
    assert MOST_CUTS * 0.98 <= len(found.cuts[0]) <= MOST_CUTS
    rows = np.bincount(found.transform(X)[:, 0])
    assert rows[:-2].max() <= 2.5 * len(X) / MOST_CUTS


def test_of_cuts_as_good_the_middle_one_stays(monkeypatch):
    monkeypatch.setattr(fewer_cuts, "MOST_CUTS", 2)
    X = np.array([[0.0], [1.0], [10.0], [11.0], [np.nan]])
    # Below the first four lies the lower half of the rows, or less.
    found = with_fewer_cuts(bins_of(np.array([0.5, 2.0, 3.0, 4.0, 10.5])), X)
    np.testing.assert_array_equal(found.cuts[0], [3.0, 10.5])


@pytest.mark.parametrize("column", [np.full(6, np.nan), np.full(6, 3.0)])
def test_columns_without_order_keep_a_cut(column):
    bins = bins_of(np.arange(400.0))
    assert len(with_fewer_cuts(bins, column[:, None]).cuts[0]) >= 1


def test_the_cuts_nearest_to_quantiles_stay():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(1000, 2)))
    X[::7, 0] = np.nan
    cuts = np.unique(rng.choice(X[1::7, 0], 60))
    found = cuts_at_quantiles(bins_of(cuts, np.array([1.0])), X, 4)
    below = np.array(
        [np.nanmean(np.where(np.isnan(X[:, 0]), np.nan, X[:, 0] <= c)) for c in cuts]
    )
    nearest = {cuts[np.abs(below - share).argmin()] for share in (0.2, 0.4, 0.6, 0.8)}
    assert set(found.cuts[0]) == nearest
    np.testing.assert_array_equal(found.cuts[1], [1.0])


def test_columns_without_values_keep_at_most_one_cut():
    bins = bins_of(np.arange(5.0))
    assert len(cuts_at_quantiles(bins, np.full((6, 1), np.nan), 9).cuts[0]) == 1
