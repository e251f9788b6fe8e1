"""Proxies are found on a sample of a large table, and their rules counted on all."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import BayesianRidge
from sklearn.tree import DecisionTreeClassifier
from tests._tables.storing import FAR, N, in_parts, of_dask, stored
from tests.wording import refuses

import clearwood as cw
from clearwood._tables import open_rows
from clearwood.exceptions import InputError

pytest.importorskip("dask")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.usefixtures("small_samples")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, N))
    weight = rng.random(N) * (rng.random(N) < 0.9)
    y = 2 * (a > 0.3) + np.where(b > 0, a, -a) + rng.normal(size=N) / 2
    return pd.DataFrame({"a": a, "b": b, "y": y, "w": weight})


@pytest.fixture(scope="module")
def source(frame):
    """A reference without names, so that it reads arrays and frames alike."""
    few = frame[:500]
    model = BayesianRidge().fit(few[["a", "b"]].to_numpy(), few["y"])
    return cw.reference(model, n_draws=5, random_state=0)


def tree_of(source):
    return cw.ProjectedTreeRegressor(source, n_leaf_nodes=4, random_state=0)


@pytest.mark.parametrize("kind", FAR)
def test_every_form_says_the_same_to_the_last_bit(kind, frame, source, tmp_path):
    X, rest = stored(kind, frame, tmp_path)
    tree = tree_of(source).fit(X, **rest)
    frames = tree_of(source).fit(lambda: in_parts(frame), "y", "w")
    assert str(tree.rules_).replace("x0", "a").replace("x1", "b") == str(frames.rules_)
    assert tree.rules_.about["sample"] == frames.rules_.about["sample"]
    values = frame[["a", "b"]]
    expected = frames.predict(values)
    np.testing.assert_array_equal(np.asarray(tree.predict(X)), expected)


def test_it_is_found_on_a_sample_and_counted_on_all_rows(frame, source):
    tree = tree_of(source).fit(lambda: in_parts(frame), "y", "w")
    sample = open_rows(lambda: [frame], "y", "w").sample(2000)
    few = tree_of(source).fit(*sample)
    assert [rule.conditions for rule in tree.rules_] == [
        rule.conditions for rule in few.rules_
    ]
    X = frame[["a", "b"]]
    np.testing.assert_array_equal(tree.predict(X), few.predict(X))
    said = source.draws(X).mean(axis=0)
    whole = few.rules_.described_on(X, frame["y"], model=said, sample_weight=frame.w)
    for own, other in zip([*tree.rules_], [*whole]):
        assert own.support == pytest.approx(other.support, rel=1e-12)
        assert own.agreement == pytest.approx(other.agreement, rel=1e-9)
        assert own.std == pytest.approx(other.std, rel=1e-9)
    assert sum(rule.assigned for rule in tree.rules_) == pytest.approx(frame["w"].sum())
    assert f"2,000 of {N:,} rows" in tree.rules_.about["sample"]


def test_a_table_that_fits_is_read_as_in_memory(frame, source):
    few = frame[:1500]
    tree = tree_of(source).fit(lambda: [few[:99], few[99:]], "y", "w")
    whole = tree_of(source).fit(few[["a", "b"]], few["y"], few["w"])
    assert str(tree.rules_) == str(whole.rules_)
    assert "sample" not in tree.rules_.about


def test_classes_lists_and_linear_proxies(frame):
    table = frame[["a", "b"]].assign(y=np.where(frame["y"] > 1, "high", "low"))
    X = table[["a", "b"]]
    model = DecisionTreeClassifier(max_leaf_nodes=9).fit(X[:900], table["y"][:900])
    for make, given in (
        (cw.ProjectedTreeClassifier, {"n_leaf_nodes": 3}),
        (cw.ProjectedRuleListClassifier, {"max_rules": 3}),
        (cw.ProjectedLogisticRegression, {"draws": "mean"}),
    ):
        proxy = make(cw.reference(model), random_state=0, **given)
        proxy.fit(lambda: in_parts(table), "y")
        shares = proxy.predict_proba(of_dask(in_parts(frame)))
        assert not isinstance(shares, pd.DataFrame)
        found = shares.compute()
        assert found.columns.tolist() == ["high", "low"]
        np.testing.assert_array_equal(found, proxy.predict_proba(X))
        said = proxy.predict(lambda: in_parts(frame))
        assert (said == proxy.predict(X)).all() and set(said) == {"high", "low"}
    line = cw.ProjectedLinearRegression(
        cw.reference(BayesianRidge().fit(X[:900], frame["y"][:900]), random_state=0),
        draws="mean",
    ).fit(lambda: in_parts(frame), "y", "w")
    np.testing.assert_array_equal(
        line.predict(lambda: in_parts(frame)), line.predict(X)
    )


def test_what_is_wrong_is_named_with_its_place(frame, source):
    last = frame[-9:].assign(a="long")
    with refuses(InputError, match="'a'"):
        tree_of(source).fit(lambda: [frame, last], "y")
    with refuses(InputError, match="'z'"):
        tree_of(source).fit(lambda: [frame], "z")
    tree = tree_of(source).fit(frame[["a", "b"]][:99])
    with refuses(InputError, match="'b'"):
        tree.predict(lambda: [frame[["a"]]])
