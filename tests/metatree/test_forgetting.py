"""Rows taken out again: exactly, or with a word; and learning that fails half-way."""

import copy
import warnings

import numpy as np
import pytest
from tests.wording import refuses, warns

from clearwood import (
    MetaForestClassifier,
    MetaForestRegressor,
    MetaTreeClassifier,
    MetaTreeRegressor,
)
from clearwood.exceptions import InputError, LostDigitsWarning
from clearwood.metatree import (
    ExponentialGamma,
    LinearRegressionNormalGamma,
    PoissonGamma,
)

LINE = LinearRegressionNormalGamma((0.0, 0.0, 0.0))
CASES = {
    "tree": (MetaTreeRegressor(random_state=0), 1.0),
    "forest": (MetaForestRegressor(random_state=0), 1.0),
    "evidence": (MetaForestRegressor(random_state=0, weights="evidence"), 1.0),
    "classes": (MetaForestClassifier(random_state=0), 0),
    "tree of classes": (MetaTreeClassifier(random_state=0), 0),
    "durations": (
        MetaTreeRegressor(leaf_model=ExponentialGamma(), random_state=0),
        1.0,
    ),
    "counts": (MetaTreeRegressor(leaf_model=PoissonGamma(), random_state=0), 0),
    "lines": (MetaTreeRegressor(leaf_model=LINE, random_state=0, max_depth=2), 1.0),
}


def table(kind, n=160):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = np.exp(X[:, 0] + 0.1 * rng.normal(size=n))
    return X, np.floor(y) % 3 if kind == 0 else y


def fitted(name):
    estimator, kind = CASES[name]
    X, y = table(kind)
    # A forest of few trees, as quick as a tree.
    forest = {}
    if "Forest" in type(estimator).__name__:
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        kinds = RandomForestRegressor, RandomForestClassifier
        forest = {"estimator": kinds[kind == 0](5, random_state=0)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return copy.deepcopy(estimator).set_params(**forest).fit(X[:120], y[:120]), X, y


def answers(estimator, X):
    if hasattr(estimator, "classes_"):
        return estimator.predict_proba(X)
    return np.column_stack([estimator.predict(X), estimator.predict_interval(X)])


# Exact, or with a word


@pytest.mark.parametrize("name", ["tree", "forest"])
@pytest.mark.parametrize("one_by_one", [False, True])
def test_what_large_values_leave_behind_is_told(name, one_by_one):
    model, X, y = fitted(name)
    expected = answers(model, X)
    far = y[120:126] + 10.0 ** np.arange(4, 10)
    rows = [slice(6 - i - 1, 6 - i) for i in range(6)] if one_by_one else [slice(6)]
    new = np.repeat(X[:1], 6, axis=0)  # all end at one node
    model.partial_fit(new, far)
    with warns(LostDigitsWarning):
        for part in rows:
            model.unlearn(new[part], far[part])
    model, *_ = fitted(name)
    model.partial_fit(X[120:], y[120:] + 1e3).unlearn(X[120:], y[120:] + 1e3)
    np.testing.assert_allclose(answers(model, X), expected, rtol=1e-8)


def test_what_large_sums_leave_behind_is_told():
    model, X, y = fitted("durations")
    model.partial_fit(X[:1], [1e17])
    with pytest.warns(LostDigitsWarning):
        model.unlearn(X[:1], [1e17])
    model, X, y = fitted("counts")
    expected = answers(model, X)
    model.partial_fit(X[:1], [2.0**40]).unlearn(X[:1], [2.0**40])
    np.testing.assert_array_equal(answers(model, X), expected)  # whole numbers
    model, X, y = fitted("lines")
    far = np.array([[1e9, 0.0]])
    model.partial_fit(far, y[:1])
    with pytest.warns(LostDigitsWarning):
        model.unlearn(far, y[:1])


@pytest.mark.filterwarnings("ignore:Weights by evidence")
@pytest.mark.parametrize("name", list(CASES))
def test_rows_come_and_go_in_any_order(name):
    """No word where nothing is lost, and none of other rows, whatever rounding did."""
    model, X, y = fitted(name)
    expected = answers(model, X)
    order = np.random.default_rng(1).permutation(120)
    for part in np.array_split(order, 4):
        model.unlearn(X[part], y[part])
    assert model._forest.bare[0].weight == 0 if "forest" in name else True
    for part in np.array_split(order, 5):
        model.partial_fit(X[part], y[part])
    np.testing.assert_allclose(answers(model, X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["tree", "forest", "durations", "lines"])
@pytest.mark.parametrize("wrong", [lambda y: y + 0.5, lambda y: 2 * y, np.flip])
def test_other_values_than_were_learned_are_refused(name, wrong):
    model, X, y = fitted(name)
    expected = answers(model, X)
    with refuses(InputError):
        model.unlearn(X[:120], wrong(y[:120]))
    np.testing.assert_array_equal(answers(model, X), expected)


def test_large_targets_hide_no_other_values():
    model, X, y = fitted("tree")
    y = 1e9 + y[:120]
    model.fit(X[:120], y)
    with refuses(InputError):
        model.unlearn(X[:120], y + 0.5)
    model.unlearn(X[:120], y)


# All or nothing


class Stop(BaseException):
    """As Ctrl-C, no Exception."""


def stops_at(function, call):
    """The function, that is interrupted at its nth call."""
    calls = [0]

    def wrapped(*args, **kwargs):
        calls[0] += 1
        if calls[0] == call:
            raise Stop
        return function(*args, **kwargs)

    return wrapped


STEPS = [
    ("partial_fit", "add_rows"),
    ("unlearn", "add_rows"),
    ("unlearn", "remove"),
    ("merge", "merge"),
]


@pytest.mark.filterwarnings("ignore:Weights by evidence")
@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize(("action", "step"), STEPS)
def test_an_interrupt_leaves_all_as_it_was(monkeypatch, name, action, step):
    model, X, y = fitted(name)
    other = copy.deepcopy(model)
    expected, evidence = answers(model, X), np.copy(model.log_evidence_)
    is_forest = "_forest" in vars(model)
    leaf = type(model.leaf_model_)
    steps = [(step, 1)]
    if is_forest:  # also when some trees are done, or all and their posteriors follow
        steps += [("log_marginal_in_unit", 3)] + [(step, 3)] * (step == "add_rows")
    for method, call in steps:
        with monkeypatch.context() as patch, pytest.raises(Stop):
            patch.setattr(leaf, method, stops_at(getattr(leaf, method), call))
            getattr(model, action)(*([other] if action == "merge" else [X[:9], y[:9]]))
        np.testing.assert_array_equal(answers(model, X), expected)
        np.testing.assert_array_equal(model.log_evidence_, evidence)


def test_rows_that_cannot_be_read_change_nothing():
    for name in ("tree", "forest"):
        model, X, y = fitted(name)
        expected = answers(model, X)
        bad = np.where(np.arange(160) == 159, 1e170, y)
        with pytest.raises(InputError):
            model.partial_fit(X, bad)
        np.testing.assert_array_equal(answers(model, X), expected)


# Tiny weights


@pytest.mark.parametrize("weight", [1e-150, 1e-200, 1e-300, 1e100])
@pytest.mark.parametrize("name", ["tree", "tree of classes", "forest", "classes"])
def test_weights_of_any_size(name, weight):
    model, X, y = fitted(name)
    model.fit(X, y, sample_weight=np.full(len(y), weight))
    assert np.isfinite(answers(model, X)).all()
    if hasattr(model, "rules_"):
        assert str(model.rules_) and model.rules_._repr_html_()
