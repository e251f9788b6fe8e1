"""Regions of an ensemble, against the leaves of a row in every combination of bins."""

from importlib import import_module
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from tests.ensembles import models

from clearwood.datasets import make_xor_regression
from clearwood.ensembles import read_ensemble

regions = import_module("clearwood.ensembles.check")


def rows_of_all_bins(e):
    """A row in each combination of intervals and categories."""
    values = []
    for d, labels in enumerate(e.features.categories):
        cuts = np.unique(e.cut[(e.feature == d) & (e.category_set < 0)])
        numbers = np.append(cuts, cuts.max(initial=0.0) + 1)
        values.append(numbers if labels is None else np.arange(len(labels)))
    return np.array(list(product(*values)), dtype=float)


def counted(e):
    leaves = e.find_leaves(rows_of_all_bins(e))
    return len(np.unique(leaves, axis=1).T)


@given(seed=st.integers(0, 2**32 - 1), n_trees=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_regions_of_numbers_and_categories(seed, n_trees):
    e = models.random_ensemble(np.random.default_rng(seed), n_trees)
    found = regions.count_regions(e)
    assert found[:2] == (counted(e), n_trees)
    assert found.n <= 10**found.log10_bound * (1 + 1e-9)


@pytest.fixture(scope="module")
def forest():
    X, y = make_xor_regression(300, random_state=0)
    return RandomForestRegressor(4, random_state=0, min_samples_leaf=5).fit(X, y)


def test_all_regions_are_counted(forest):
    e = read_ensemble(forest)
    found = regions.count_regions(e)
    assert found[:2] == (counted(e), 4)
    assert 10**found.log10_bound >= found.n


def test_depth_one_makes_the_regions_of_a_grid():
    X, y = make_xor_regression(300, random_state=0)
    model = GradientBoostingRegressor(n_estimators=20, max_depth=1).fit(X, y)
    e = read_ensemble(model)
    bins = [len(np.unique(e.cut[e.feature == d])) + 1 for d in (0, 1)]
    found = regions.count_regions(e)
    assert found.n == np.prod(bins) == round(10**found.log10_bound)


def test_what_is_not_counted_in_time_is_a_bound(forest, monkeypatch):
    e = read_ensemble(forest)
    whole = regions.count_regions(e)
    monkeypatch.setattr(regions, "MOST_CELLS", regions.CELLS_OF_NODE * 150)
    found = regions.count_regions(e)
    assert 0 < found.n_trees < 4 and 1 < found.n < whole.n
    assert found.log10_bound == whole.log10_bound
