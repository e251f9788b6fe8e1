"""Units of features and target: answers in other units are the same answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.wording import refuses, warns

from clearwood import (
    MetaForestClassifier,
    MetaForestRegressor,
    MetaTreeClassifier,
    MetaTreeRegressor,
)
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError, LostDigitsWarning
from clearwood.metatree import (
    ExponentialGamma,
    LinearRegressionNormalGamma,
    from_ensemble_tree,
    from_sklearn_tree,
)
from clearwood.metatree.growing.cart import (
    centre_and_unit,
    cuts_between,
    grow_ensemble,
)

FOREST = RandomForestRegressor(5, random_state=0)
REGRESSORS = [
    MetaTreeRegressor(random_state=0),
    MetaTreeRegressor(random_state=0, missing="branch", max_depth=3),
    MetaForestRegressor(FOREST),
    MetaForestRegressor(FOREST, weights="evidence"),
]


def table(n=200, seed=0, digits=9):
    """Numbers with holes, repeated ones among them, and values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, 3))
    X[:, 2] = np.round(4 * X[:, 2])
    y = 2 * X[:, 0] + (X[:, 1] > 0) + 0.2 * rng.normal(size=2 * n)
    X[::7, 1] = np.nan
    return X[:n], np.round(y[:n], digits), X[n:]


def answers(estimator, X, y, X_new):
    estimator.fit(X, y)
    if hasattr(estimator, "classes_"):
        return [estimator.predict_proba(X_new)]
    return [estimator.predict(X_new), *estimator.predict_quantile(X_new, [0.1, 0.7]).T]


@pytest.mark.filterwarnings("ignore:Weights by evidence")
@pytest.mark.parametrize("estimator", REGRESSORS)
@pytest.mark.parametrize("k", [-400, -27, 3, 400])
def test_powers_of_two_of_the_target_change_nothing(estimator, k):
    X, y, X_new = table(digits=1)
    expected = answers(estimator, X, y, X_new)
    structure, evidence = estimator.to_ensemble(), estimator.log_evidence_
    found = answers(estimator, X, y * 2.0**k, X_new)
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other * 2.0**k)
    for name in ("feature", "cut", "left", "missing_left"):
        np.testing.assert_array_equal(
            getattr(estimator.to_ensemble(), name), getattr(structure, name)
        )
    shift = len(y) * k * np.log(2.0)
    np.testing.assert_allclose(estimator.log_evidence_, evidence - shift, rtol=1e-9)
    np.testing.assert_allclose(
        estimator.log_density(X, y * 2.0**k) + k * np.log(2.0),
        estimator.fit(X, y).log_density(X, y),
        atol=1e-9,
    )


@pytest.mark.filterwarnings("ignore:Weights by evidence")
@pytest.mark.parametrize("k", [-500, -60, -5, 500])
@pytest.mark.parametrize("classes", [False, True])
def test_powers_of_two_of_the_features_change_nothing(classes, k):
    X, y, X_new = table()
    kinds = (MetaTreeClassifier, MetaForestClassifier) if classes else None
    target = np.where(y > 0, "high", "low") if classes else y
    cases = [kind(random_state=0) for kind in kinds] if kinds else REGRESSORS
    scale = 2.0 ** np.array([k, -k // 2, k])
    for estimator in cases:
        expected = answers(estimator, X, target, X_new)
        cut = estimator.to_ensemble().cut
        found = answers(estimator, X * scale, target, X_new * scale)
        np.testing.assert_array_equal(found, expected)
        d = np.maximum(estimator.to_ensemble().feature, 0)
        zero = np.abs(cut) < 1e-30  # what float32 rounds to 0, whatever the unit
        np.testing.assert_array_equal(
            estimator.to_ensemble().cut[~zero], (cut * scale[d])[~zero]
        )


@pytest.mark.parametrize("estimator", REGRESSORS[:3])
@pytest.mark.parametrize("far", [1e9, -1e12])
def test_offsets_leave_the_signal(estimator, far):
    X, y, X_new = table()
    predicted, low, high = answers(estimator, X, y, X_new)
    moved = answers(estimator, X, y + far, X_new)
    # What is left of y in y + far is good to 1e-7 or 1e-4: most rows are told the same
    # up to that; where rounding decides between equal splits, nearly the same.
    tolerance = 20 * np.spacing(abs(far))
    for one, other in zip(moved, (predicted, low, high)):
        gap = np.abs(one - far - other)
        assert np.quantile(gap, 0.3) < tolerance
        assert np.sqrt(np.mean(gap**2)) < 0.02 * y.std()
    # What is next to a cut may come to lie on its other side.
    shifted = answers(estimator, X + far, y, X_new + far)[0]
    assert np.sqrt(np.mean((shifted - predicted) ** 2)) < 0.05 * y.std()


def test_no_limit_of_scikit_learn_shows():
    """Values nearer than 1e-7, of all sizes, a target of tiny parts; and beyond."""
    X = np.sort(10.0 ** np.random.default_rng(0).uniform(-45, 30, size=(200, 1)), 0)
    y = np.where(np.arange(200) // 10 % 2, 1.0, 2.0)
    for target in (y, y * 1e-30, y * 1e30, y + 1e12):
        tree = MetaTreeRegressor(random_state=0).fit(X, target)
        assert tree.score(X, target) > 0.9
    close = 1.7e9 + np.arange(200.0)[:, None]  # float32 has steps of 128 there
    tree = MetaTreeRegressor(random_state=0).fit(close, y)
    assert tree.score(close, y) > 0.9
    # An outlier does not hide the others.
    y[0] = 1e6
    tree = MetaTreeRegressor(random_state=0, prior="constant").fit(X, y)
    assert tree.structure_.is_leaf.sum() >= 20


def test_a_fitted_forest_speaks_of_the_data():
    X, y, X_new = table()
    X, X_new = np.nan_to_num(X), np.nan_to_num(X_new)
    for target in (y, 100.0 * y, 5.0 + y):
        forest = MetaForestRegressor(FOREST).fit(X, target).estimator_
        itself = RandomForestRegressor(5, random_state=0).fit(X, target)
        np.testing.assert_allclose(
            forest.predict(X_new), itself.predict(X_new), rtol=1e-12
        )
        np.testing.assert_allclose(
            forest.feature_importances_, itself.feature_importances_, atol=1e-6
        )
    # Its own limits are in the units of the data.
    limited = RandomForestRegressor(5, random_state=0, min_impurity_decrease=0.1)
    found = MetaForestRegressor(limited).fit(X, y)
    itself = limited.fit(X, y)
    assert found.ensemble_.n_nodes == sum(t.tree_.node_count for t in itself)
    assert found.estimator_.min_impurity_decrease == 0.1
    drawn = MetaForestRegressor(ExtraTreesRegressor(3, random_state=0)).fit(X, y)
    itself = ExtraTreesRegressor(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(drawn.estimator_.predict(X), itself.predict(X))


@pytest.mark.filterwarnings("ignore:.*friedman_mse:FutureWarning")
@pytest.mark.parametrize(
    "limit", [{"ccp_alpha": 0.02}, {"min_impurity_decrease": 0.02}]
)
@pytest.mark.parametrize(
    "criterion", ["squared_error", "friedman_mse", "absolute_error", "poisson"]
)
@pytest.mark.parametrize("unit", [1.0, 2.0**-20, 2.0**30])
def test_limits_are_in_the_units_of_the_criterion(criterion, limit, unit):
    X, y, _ = table()
    X, y = np.nan_to_num(X), (y - y.min()) * unit
    power = 2 if criterion in ("squared_error", "friedman_mse") else 1
    limit = {name: value * unit**power for name, value in limit.items()}
    itself = RandomForestRegressor(
        5, criterion=criterion, max_leaf_nodes=8, random_state=0, **limit
    )
    found = MetaForestRegressor(itself).fit(X, y).estimator_
    itself.fit(X, y)
    assert max(tree.tree_.node_count for tree in itself) > 1
    for one, other in zip(found, itself):
        assert one.tree_.node_count == other.tree_.node_count
        np.testing.assert_allclose(one.tree_.impurity, other.tree_.impurity, 1e-6)
        assert one.get_params() == other.get_params()


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failed_fit_leaves_the_parameters(kind, error, monkeypatch):
    def fail(*_):
        raise error

    X, y, _ = table()
    model = kind(ccp_alpha=0.1, min_impurity_decrease=0.2)
    expected = model.get_params()
    monkeypatch.setattr(kind, "fit", fail)
    with pytest.raises(error):
        grow_ensemble(X, FeatureSpace.numeric(3), y, np.ones(len(y)), model)
    assert model.get_params() == expected


def structure_of(model, X, y, classes=None):
    space, weight = FeatureSpace.numeric(X.shape[1]), np.ones(len(y))
    return from_ensemble_tree(grow_ensemble(X, space, y, weight, model, classes))


@pytest.mark.parametrize("unit", [2.0**-1070, 2.0**-540, 1e-160, 1e160, 2.0**1000])
def test_units_of_which_there_is_no_square(unit):
    X, y, _ = table()
    y = np.round(4 * y) * unit  # few digits: the smallest numbers have no more

    def grown(y, **limits):
        model = DecisionTreeRegressor(max_depth=4, random_state=0, **limits)
        return structure_of(model, X, y)

    found, expected = grown(y), grown(y / unit)
    assert found.same_as(expected)
    # Above all that can be gained, or below.
    limited = grown(y, ccp_alpha=1e-300)
    assert len(limited.feature) == (1 if unit < 1 else len(expected.feature))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_same_tree_as_scikit_learn_grows(task):
    X, y, _ = table()
    model, classes = DecisionTreeRegressor(random_state=0), None
    if task == "classification":
        model, classes = DecisionTreeClassifier(random_state=0), np.array(["a", "b"])
        y = (y > 0).astype(int)
    grown = structure_of(clone(model), X, y, classes)
    itself = model.fit(X, y)
    assert grown.same_as(from_sklearn_tree(itself))
    np.testing.assert_array_equal(grown.original, from_sklearn_tree(itself).original)


number = st.floats(-1e30, 1e30)


@given(
    st.lists(st.tuples(number, number), min_size=1, max_size=5), st.integers(-40, 40)
)
@settings(max_examples=300)
def test_a_cut_lies_between(pairs, k):
    pairs = [sorted(pair) for pair in pairs if pair[0] != pair[1]]
    low, high = np.array(pairs, dtype=float).reshape(-1, 2).T
    threshold, cut = cuts_between(low, high)
    assert ((low <= cut) & (cut < high)).all()
    moved = cuts_between(low * 2.0**-k, high * 2.0**-k)
    normal = np.abs(low) + np.abs(high) > 1e-280
    # Halfway between two powers of two apart, subnormal numbers lose digits.
    same = np.isclose(moved[1] * 2.0**k, cut, rtol=1e-15, atol=1e-38)
    assert same[normal].all()


@given(st.lists(st.floats(-1e100, 1e100), min_size=1), st.integers(-99, 99))
def test_units_of_a_target(y, k):
    y = np.array(y)
    centre, unit = centre_and_unit(y)
    assert centre in (0.0, *y)
    assert np.frexp(unit)[0] == 0.5 or unit == 1.0
    small = np.abs(y[y != 0]).min(initial=np.inf) < 1e-200
    if not small:
        moved = centre_and_unit(y * 2.0**k)
        assert moved[0] == centre * 2.0**k
        assert moved[1] == unit * 2.0**k or not np.ptp(y)


def test_durations_in_other_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = rng.exponential(np.where(X[:, 0] > 0, 10.0, 1.0))
    found = [
        MetaTreeRegressor(leaf_model=ExponentialGamma(2.0, 3.0 * unit), random_state=0)
        .fit(X, y * unit)
        .predict(X)
        / unit
        for unit in (1.0, 2.0**40)
    ]
    np.testing.assert_array_equal(*found)


def test_the_best_of_all_trees_in_other_units():
    X, y, _ = table()
    X = (X > 0).astype(float)
    tree = MetaTreeRegressor("exact")
    expected = tree.fit(X, y).predict(X)
    np.testing.assert_array_equal(
        tree.fit(X, y * 2.0**70).predict(X), expected * 2.0**70
    )


def test_powers_of_two_of_the_weights_grow_the_same_forest():
    X, y, _ = table()
    every_row = RandomForestRegressor(2, bootstrap=False, random_state=0)
    forest = MetaForestRegressor(every_row)
    cuts = [
        forest.fit(X, y, sample_weight=np.full(len(y), w)).ensemble_.cut
        for w in (2.0, 2.0**-1000, 2.0**300)
    ]
    np.testing.assert_array_equal(cuts[1], cuts[0])
    np.testing.assert_array_equal(cuts[2], cuts[0])


def test_targets_without_squares_are_refused():
    X = np.arange(4.0)[:, None]
    with refuses(InputError):
        MetaTreeRegressor().fit(X, [1e-170, 2e-170, 3e-170, 4e-170])
    with refuses(InputError):
        MetaTreeRegressor().fit(X, [1e170, 2e170, 3e170, 4e170])
    equal = MetaTreeRegressor().fit(X, np.full(4, 1e12))
    assert (equal.predict(X) == 1e12).all()


def test_lines_far_from_zero_are_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    tree = MetaTreeRegressor(
        leaf_model=LinearRegressionNormalGamma((0.0,) * 3), max_depth=2, random_state=0
    )
    tree.fit(X + 1e3, X[:, 0])
    with warns(LostDigitsWarning, match="'x1'"):
        tree.fit(X + [0.0, 1.7e9], X[:, 0])
