"""Proxies that explain little say so, and others do not."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from tests.projection.test_estimators import Drawn
from tests.wording import same_lines

import clearwood as cw
from clearwood.exceptions import ClassOrderWarning, PoorFidelityWarning
from clearwood.projection.evaluation.proxy_fidelity import explained_share

VALUES = [
    cw.ProjectedTreeRegressor,
    cw.ProjectedRuleListRegressor,
    cw.ProjectedLinearRegression,
]
CLASSES = [
    cw.ProjectedTreeClassifier,
    cw.ProjectedRuleListClassifier,
    cw.ProjectedLogisticRegression,
]


def told_by(make, X, y=None):
    """A fitted proxy, and what its fit warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = make.fit(X, y)
    # They point to the line that called fit.
    assert {w.filename for w in told} <= {__file__}
    return found, [(w.category, str(w.message)) for w in told]


class Waves(Drawn):
    """Too many steps for a few lines."""

    def draws(self, X):
        wave = 3 * np.sign(np.sin(40 * np.asarray(X)[:, 0]))
        if self.classes is None:
            return np.tile(wave, (self.n_draws, 1))
        yes = 1 / (1 + np.exp(-wave))
        return np.tile(np.stack([1 - yes, yes], axis=1), (self.n_draws, 1, 1))


@pytest.mark.parametrize("make", [*VALUES, *CLASSES])
def test_hardly_more_than_a_constant_is_said(make):
    X = np.random.default_rng(0).uniform(size=(300, 1))
    reference = Waves(3, "classification" if make in CLASSES else "regression")
    found = make(reference)
    if hasattr(found, "tolerance"):
        found.set_params(alpha=0.4, random_state=0)
    found, told = told_by(found, X)
    assert found.fidelity_ < 0.1
    ((kind, text),) = told
    assert kind is PoorFidelityWarning
    same_lines(text)
    if hasattr(found, "rules_"):
        assert found.rules_.about["warning"] == text
        # One line says one thing, as asked.
        size = found._sizes[0]
        assert not told_by(make(reference, **{size: 1}), X)[1]


@pytest.mark.parametrize(
    "settings",
    [{"n_leaf_nodes": 2}, {"alpha": 0.4}, {"n_leaf_nodes": 9, "min_samples_leaf": 100}],
)
def test_the_remedy_is_one_that_can_help(settings):
    X = np.random.default_rng(0).uniform(size=(300, 1))
    tree = cw.ProjectedTreeRegressor(Waves(3), random_state=0, **settings)
    ((_, text),) = told_by(tree, X)[1]
    same_lines(text)


@pytest.mark.parametrize("make", [*VALUES, *CLASSES])
def test_ordinary_data_raise_no_doubt(make):
    load = load_iris if make in CLASSES else load_diabetes
    X, y = (part[::2] for part in load(return_X_y=True, as_frame=True))
    reference = cw.reference(None, X, y, n_draws=8, random_state=0)
    found = make(reference, random_state=0)
    if hasattr(found, "tolerance"):
        found.set_params(alpha=0.01)
    found, told = told_by(found, X, y)
    assert found.fidelity_ > 0.6 and told == []


@pytest.mark.parametrize("make", CLASSES)
def test_a_class_that_is_never_said_is_named(make):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))

    class Rare(Drawn):
        def draws(self, X):
            X = np.asarray(X)
            often, near = X[:, 0] > 0.5, np.abs(X[:, 1] - 0.5) < 0.02
            rare = np.where(near, 0.5, 0.05)
            yes = np.where(often, 0.9, 0.1) * (1 - rare)
            return np.stack([1 - rare - yes, yes, rare], axis=1)[None]

    reference = Rare(1, "classification")
    reference.classes = np.array(["no", "yes", "rare"])
    size = {} if make is cw.ProjectedLogisticRegression else {"alpha": 0.1}
    _, told = told_by(make(reference, random_state=0, **size), X)
    n = int((np.abs(X[:, 1] - 0.5) < 0.02).sum())
    ((kind, text),) = told
    assert kind is PoorFidelityWarning
    assert f" {n} of 300 " in text
    same_lines(text)


@pytest.mark.parametrize("make", CLASSES)
def test_classes_in_another_order_are_seen_where_there_are_labels(make):
    X = np.random.default_rng(0).normal(size=(200, 4))
    reference = Drawn(3, "classification")
    y = reference.predict(X)
    found = make(reference, random_state=0)
    if hasattr(found, "tolerance"):
        found.set_params(alpha=0.01)
    assert told_by(found, X, y)[1] == []
    reference.classes = reference.classes[::-1]
    ((kind, text),) = told_by(found, X, y)[1]
    assert kind is ClassOrderWarning
    same_lines(text)


def test_a_share_of_what_can_be_followed():
    said, weight = np.array([0.0, 4.0, 0.0]), np.array([1.0, 1.0, 0.0])
    assert explained_share(said, np.array([1.0, 3.0, 9.0]), weight) == 0.75
    far = said + 1e9, np.array([1.0, 3.0, 9.0]) + 1e9
    assert explained_share(*far, weight) == pytest.approx(0.75)
    # Where nothing differs, nothing is left out.
    assert explained_share(np.full(3, 0.1), np.full(3, 0.2), weight) == 1.0
    shares = np.array([[0.9, 0.1], [0.5, 0.5]])
    even = np.array([[0.7, 0.3], [0.7, 0.3]])
    assert explained_share(shares, even, np.ones(2)) == pytest.approx(0.0)
    assert explained_share(shares, shares, np.ones(2)) == pytest.approx(1.0)
    assert explained_share(even, shares, np.ones(2)) == 1.0


def test_references_teach():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = pd.Series(np.array(["setosa", "versicolor", "virginica"])[y])
    reference = cw.reference(None, X, names, n_draws=8, random_state=0)
    tree = cw.ProjectedTreeClassifier(reference, n_leaf_nodes=4).fit(X)
    said = reference.predict(X)
    mean = reference.draws(X).mean(axis=0)
    np.testing.assert_allclose(reference.predict_proba(X), mean, atol=1e-12)
    assert (said == reference.classes[mean.argmax(axis=1)]).all()
    scores = tree.rules_.evaluate(X, names, model=reference)
    assert scores.fidelity == (tree.predict(X) == said).mean()
    page = cw.reporting.summarize(tree, X=X, y=names, model=reference)
    shown = {line["name"]: line["rules"] for line in page["scores"]["lines"]}
    assert scores.fidelity in shown.values()
