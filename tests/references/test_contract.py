"""What every reference promises, of every kind."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from tests.references.kinds import KINDS, NAMES, made
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.references import base

every_kind = pytest.mark.parametrize("name", NAMES)

ROUNDING = 1e-10
"""Relative: matrix products of other shapes add in another order."""


def rows_of(name):
    return KINDS[name].rows()[0]


def assert_same(one, two):
    scale = max(np.abs(one).max(), 1.0)
    np.testing.assert_allclose(one, two, rtol=ROUNDING, atol=ROUNDING * scale)


@every_kind
def test_it_says_what_its_task_says(name):
    reference, X = made(name), rows_of(name)
    draws, noise = reference.draws(X), reference.noise_variance(X)
    assert draws.dtype == noise.dtype == np.float64
    assert draws.shape[:2] == noise.shape == (reference.n_draws, len(X))
    assert np.isfinite(draws).all()
    assert np.isfinite(noise).all() and (noise >= 0).all()
    if reference.task == "classification":
        assert draws.shape[2:] == (len(reference.classes),)
        assert (draws >= 0).all()
        np.testing.assert_allclose(draws.sum(axis=2), 1, rtol=1e-12)
    elif reference.task == "survival":
        assert draws.shape[2:] == (len(reference.horizons),)
        assert (np.diff(draws, axis=2, prepend=1.0, append=0.0) <= 0).all()
    else:
        assert draws.ndim == 2 and reference.classes is None
    if reference.task == "counts":
        assert (draws >= 0).all()
    if reference.task != "regression":
        assert not noise.any()


@every_kind
def test_draws_are_functions_of_a_row_alone(name):
    reference, X = made(name), rows_of(name)
    draws, noise = reference.draws(X), reference.noise_variance(X)
    some = [5, 3, 3, 60]
    assert_same(reference.draws(X.iloc[some]), draws[:, some])
    assert_same(reference.noise_variance(X.iloc[some]), noise[:, some])
    assert_same(reference.draws(X.iloc[[7]]), draws[:, [7]])


@every_kind
def test_moments_are_of_the_draws_in_blocks_of_any_size(name, monkeypatch):
    reference, X = made(name), rows_of(name)
    draws, noise = reference.draws(X), reference.noise_variance(X)
    expected = draws.mean(axis=0), draws.var(axis=0), noise.mean(axis=0)
    for block in (base.BLOCK, 100, 1):
        monkeypatch.setattr(base, "BLOCK", block)
        for one, two in zip(reference.mean_and_variance(X), expected):
            assert_same(one, two)


@every_kind
def test_the_seed_decides(name):
    kind, X = KINDS[name], rows_of(name)
    again = kind.make(*kind.rows(), 0)
    assert (again.draws(X) == made(name).draws(X)).all()
    assert (again.noise_variance(X) == made(name).noise_variance(X)).all()
    other = kind.make(*kind.rows(), 1)
    assert (other.draws(X) != made(name).draws(X)).any() == kind.draws_at_random


@every_kind
def test_fitted_again_it_is_the_same_kind_on_other_rows(name):
    reference, (X, y) = made(name), KINDS[name].rows()
    assert reference.can_refit == KINDS[name].refits
    if not KINDS[name].refits:
        with refuses(InputError):
            reference.refit(X, y)
        return
    same = reference.refit(X, y)
    assert (same.draws(X) == reference.draws(X)).all()
    assert (same.noise_variance(X) == reference.noise_variance(X)).all()
    other = reference.refit(X[5:], y[5:])
    assert type(other) is type(reference)
    assert other.description == reference.description
    assert (other.task, other.n_draws) == (reference.task, reference.n_draws)
    assert (other.draws(X) != reference.draws(X)).any()


@every_kind
def test_it_knows_the_rows_it_was_made_with(name):
    X, y = KINDS[name].rows()
    reference = KINDS[name].make(X, y, 0)
    assert reference.rows is X
    cw.reference(reference, X[:5])
    assert reference.rows is X
    assert pickle.loads(pickle.dumps(reference)).rows.equals(X)
    if KINDS[name].refits:
        half = X[::2]
        assert reference.refit(half, y[::2]).rows is half
        assert reference.rows is X


OF_CLASSES = [p for p in NAMES if "class" in p.values[0] and KINDS[p.values[0]].refits]


@pytest.mark.parametrize("name", OF_CLASSES)
def test_classes_that_a_fold_lacks_keep_their_place(name):
    reference, (X, y) = made(name), KINDS[name].rows()
    classes = reference.classes
    if len(classes) > 2:
        kept = y != classes[1]
        fold = reference.refit(X[kept], y[kept])
        draws = fold.draws(X)
        assert fold.classes.tolist() == classes.tolist()
        assert draws.shape == (reference.n_draws, len(X), len(classes))
        assert (draws[..., 1] == 0).all()
        mean = draws.mean(axis=0)[kept]
        # As it is without the place: nearer to what is true than halves are.
        assert np.mean(mean[np.arange(kept.sum()), codes_of(y[kept], classes)]) > 0.55
        again = pickle.loads(pickle.dumps(fold)).refit(X, y)
        assert (again.draws(X) == reference.draws(X)).all()
    only = y == classes[-1]
    sure = reference.refit(X[only], y[only])
    assert sure.can_refit and sure.n_draws == reference.n_draws
    draws, noise = sure.draws(X), sure.noise_variance(X)
    assert draws.shape == (reference.n_draws, len(X), len(classes))
    assert (draws[..., -1] == 1).all() and (draws[..., :-1] == 0).all()
    assert not noise.any()
    with refuses(InputError):
        reference.refit(X, y[only])


def codes_of(y, classes):
    return np.argmax(y[:, None] == classes, axis=1)


def test_classes_that_are_new_are_no_classes_that_are_lacking():
    X, y = KINDS["forest, classes"].rows()
    other = made("forest, classes").refit(X, np.where(y == "setosa", "new", y))
    assert other.classes.tolist() == ["new", "versicolor", "virginica"]


def test_a_way_of_their_own_makes_subclasses_refit():
    class Own(cw.Reference):
        def refit(self, X, y):
            return self

    assert Own().can_refit and not cw.Reference().can_refit


@every_kind
def test_it_can_be_sent_elsewhere(name):
    X, sent = rows_of(name), pickle.loads(pickle.dumps(made(name)))
    assert (sent.draws(X) == made(name).draws(X)).all()
    assert (sent.noise_variance(X) == made(name).noise_variance(X)).all()


class Reader(BaseEstimator):
    def __init__(self, reference):
        self.reference = reference


@every_kind
def test_clones_of_an_estimator_keep_it(name):
    assert clone(Reader(made(name))).reference is made(name)


@every_kind
def test_columns_go_by_name(name):
    if not KINDS[name].checks_columns:
        return
    reference, X = made(name), rows_of(name)
    other = X[X.columns[::-1]].assign(more=1.0)
    assert_same(reference.draws(other), reference.draws(X))
    with refuses(InputError):
        reference.draws(X.drop(columns=X.columns[0]))
    with refuses(InputError):
        reference.draws(X.to_numpy()[:, 1:])


@every_kind
def test_arrays_go_by_position(name):
    reference, X = made(name), rows_of(name)
    assert_same(reference.draws(X.to_numpy()), reference.draws(X))


@every_kind
def test_what_is_no_posterior_says_so(name):
    reference = made(name)
    assert reference.description in repr(reference)
    same_text(reference.description)


def test_a_reference_is_made_of_itself():
    reference = made("forest")
    assert cw.reference(reference) is reference
    with refuses(InputError, match="'n_draws'"):
        cw.reference(reference, n_draws=3)


def test_foreign_frames_are_read():
    polars = pytest.importorskip("polars")
    X = rows_of("predictor")
    frame = polars.DataFrame(X.to_dict(orient="list"))
    for name in ("bayesian bootstrap", "ridge", "given", "function"):
        assert_same(made(name).draws(frame), made(name).draws(X))


@every_kind
def test_it_predicts_what_its_draws_say_on_average(name):
    reference, X = made(name), rows_of(name)
    mean = reference.draws(X).mean(axis=0)
    if reference.classes is None:
        by_row = mean.mean(axis=1) if reference.task == "survival" else mean
        assert_same(reference.predict(X), by_row)
        # A model with this method passes for a classifier.
        with pytest.raises(AttributeError) as absent:
            reference.predict_proba(X)
        same_text(str(absent.value.__cause__))
        return
    assert_same(reference.predict_proba(X), mean)
    best = reference.classes[mean.argmax(axis=1)]
    assert (reference.predict(X) == best).all()
