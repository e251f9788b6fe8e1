"""The record of rows: what follows from its fields."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles import read_ensemble
from clearwood.rules import FeatureBins, Interval, Training
from clearwood.search import Grid

SPACE = FeatureSpace(("dose", "hue", "size"), (None, ("red", "blue", "tan"), None))
BINS = FeatureBins.from_splits(
    SPACE, feature=[0, 0], cut=[1.0, 2.0], category_splits=[(1, (0,), False, False)]
)


def sample(seed, n_rows=20, classes=()):
    rng = np.random.default_rng(seed)
    dose = np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(1.5, 1.0, n_rows))
    encoded = np.column_stack([dose, rng.integers(0, 3, n_rows), rng.random(n_rows)])
    target = rng.normal(5.0, 2.0, n_rows)
    predicted = target
    if classes:
        target = rng.dirichlet(np.ones(len(classes)), n_rows)
        predicted = target.argmax(axis=1)
    weight = rng.uniform(0.2, 3.0, n_rows)
    return Training(encoded, target, predicted + 1, weight, predicted, BINS, classes)


@given(st.integers(0, 2**32 - 1), st.sampled_from([(), ("no", "yes")]))
@settings(max_examples=30)
def test_a_part_is_the_record_of_some_rows_in_the_units_of_the_whole(seed, classes):
    whole = sample(seed, classes=classes)
    rows = np.flatnonzero(np.random.default_rng(seed).random(20) < 0.5)
    part = whole.take(rows)
    assert len(part) == len(rows)
    np.testing.assert_array_equal(part.codes, BINS.transform_encoded(part.encoded))
    np.testing.assert_array_equal(part.standardised, whole.standardised[rows])
    np.testing.assert_array_equal(part.labels, whole.labels[rows])
    np.testing.assert_array_equal(part.grid.columns, whole.grid.columns[:, rows])
    np.testing.assert_array_equal(part.counts, np.ones(len(part)))


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=30)
def test_rows_in_one_order_are_the_same_whatever_it_was(seed, labelled):
    rng = np.random.default_rng(seed)
    whole = sample(seed)
    # Many rows are alike in bins, some in all that the model asks about, too.
    encoded = whole.encoded.round(1)
    encoded[rng.random(20) < 0.2, 0] = np.inf
    labels = rng.integers(0, 2, 20) if labelled else None
    # What a model says depends on the bins alone.
    target = 1.1 * BINS.transform_encoded(encoded).sum(axis=1)
    whole = replace(
        whole, encoded=encoded, target=target, labels=labels, weight=np.full(20, 0.1)
    )
    mixed = rng.permutation(20)
    other = replace(
        whole,
        encoded=encoded[mixed],
        target=target[mixed],
        labels=labels[mixed] if labelled else None,
        model_predictions=whole.model_predictions[mixed],
    )
    one, two = whole.in_one_order(), other.in_one_order()
    for name in ("encoded", "codes", "target", "standardised", "labels"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.codes, BINS.transform_encoded(one.encoded))


def test_values_are_standardised_by_their_weighted_mean_and_deviation():
    training = sample(0)
    mean = np.average(training.standardised, weights=training.weight)
    square = np.average(training.standardised**2, weights=training.weight)
    assert (mean, square) == pytest.approx((0.0, 1.0), abs=1e-12)
    back = training.standardised * training.unit + training.centre
    np.testing.assert_allclose(back, training.target)
    constant = replace(training, target=np.full(20, 7.0))
    assert (constant.centre, constant.unit) == (pytest.approx(7.0), 1.0)
    assert sample(0, classes=("a", "b")).standardised.sum() == pytest.approx(20)


def test_synthetic_rows_come_last_and_count_for_nothing_but_what_is_said():
    real = sample(1)
    rows = np.array([[9.0, 2.0, 0.5], [np.nan, 1.0, 0.5]])
    both = real.with_synthetic(rows, np.array([50.0, 60.0]), np.array([0.5, 4.0]))
    assert (len(both), both.n_real, both.n_synthetic) == (22, 20, 2)
    assert both.counts[-2:].tolist() == [0.0, 0.0]
    assert both.counts[:20].tolist() == real.counts.tolist()
    assert (both.centre, both.unit) == (real.centre, real.unit)
    assert both.standardised[20] == (50.0 - real.centre) / real.unit
    np.testing.assert_array_equal(both.seen, real.seen)
    np.testing.assert_array_equal(both.codes, BINS.transform_encoded(both.encoded))
    for name in ("encoded", "target", "labels", "weight", "model_predictions", "codes"):
        np.testing.assert_array_equal(getattr(both.real, name), getattr(real, name))
    # Other ones take their place.
    assert len(both.with_synthetic(rows[:1], np.ones(1), np.ones(1))) == 21


def test_the_grid_holds_what_the_model_asks_and_rules_may_ask():
    training = sample(2)
    assert training.used_features.tolist() == [0, 1]
    grid = training.grid
    assert grid.is_category.tolist() == [False, True]
    everything = Grid.of(training.codes, BINS.n_bins, BINS.is_category)
    np.testing.assert_array_equal(training.seen, everything.seen())
    exclude_features = np.array([True, False, False])
    part = Training(
        training.encoded, training.target, None, training.weight,
        training.model_predictions, BINS, exclude_features=exclude_features,
    )  # fmt: skip
    assert part.used_features.tolist() == [1]
    # A box of the grid says nothing of what may not be asked.
    hue = np.array([True, False, False, False])
    assert [c.feature for c in part.region(hue)] == [1]
    dose = np.array([False, True, True, False])
    both = training.region(np.concatenate([dose, hue]))
    assert both[0] == Interval(0, low=1.0)
    assert training.region(np.zeros(8, dtype=bool)) is None


@pytest.mark.parametrize("loss", ["squared_error", "category"])
def test_bins_go_left_where_the_ensemble_goes_left(loss):
    from sklearn.ensemble import HistGradientBoostingRegressor

    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 2)).astype(float)
    X[rng.random((300, 2)) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + (np.isin(X[:, 1], [1, 4]) * 3.0)
    kinds = [1] if loss == "category" else None
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=kinds)
    ensemble = read_ensemble(model.fit(X, y))
    bins = FeatureBins.from_ensemble(ensemble)
    encoded = ensemble.encode(X)
    codes = bins.transform_encoded(encoded)
    inner = np.flatnonzero(ensemble.feature >= 0).tolist()
    goes_left = {node: bins.left_bins(ensemble, node) for node in inner}
    # Down every tree by bins, and by the ensemble itself.
    ends = ensemble.find_leaves(encoded)
    for t, root in enumerate(ensemble.roots.tolist()):
        for i in range(300):
            node = root
            while ensemble.feature[node] >= 0:
                is_left = goes_left[node][codes[i, ensemble.feature[node]]]
                node = int((ensemble.left if is_left else ensemble.right)[node])
            assert node == ends[t, i]
