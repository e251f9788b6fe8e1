"""The tree says of X what the rules say of X in float32."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.exports import samples

from clearwood._features import FeatureSpace
from clearwood.ensembles import read_ensemble
from clearwood.exceptions import InputError
from clearwood.rules import CategorySet, Interval, Rule, RuleList, RuleSum
from clearwood.rules.exports import sklearn_tree

LIMIT = float(np.finfo(np.float32).max)


def frame(rules, rows):
    X = np.array(rows, dtype=np.float64)
    X = np.where(np.isnan(X), X, np.clip(X, -LIMIT, LIMIT))
    return pd.DataFrame(X, columns=rules.features.names)


# scikit-learn adds all values up when it looks for infinite ones.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
@settings(max_examples=80)
@given(st.data())
def test_it_says_what_the_rules_say_of_float32(data):
    rules = data.draw(samples.rule_sets(numeric=True, sums=False))
    X = frame(rules, data.draw(samples.tables(rules)))
    tree = rules.to_sklearn()
    single = X.astype(np.float32)
    assert tree.predict(X).tolist() == rules.predict(single).tolist()
    if rules.classes:
        assert tree.classes_.tolist() == list(rules.classes)
        held = tree.tree_.value[tree.apply(X), 0]
        np.testing.assert_array_equal(held, rules.predict_proba(single))


def example():
    rules = (
        Rule((Interval(0, 1.0, 3.0, missing=True), Interval(1, high=5.0)), 1.0),
        Rule((Interval(1, low=2.0),), 2.0),
    )
    return RuleList(rules, Rule((), 3.0), FeatureSpace(("a", "b"), (None, None)))


def test_it_is_a_tree_like_any_other():
    tree = example().to_sklearn()
    assert tree.feature_names_in_.tolist() == ["a", "b"]
    assert tree.get_n_leaves() == 7
    assert tree.get_depth() == 4
    counts = tree.tree_.n_node_samples
    assert counts[0] == 7
    assert (counts[tree.tree_.children_left == -1] == 1).all()
    again = read_ensemble(tree)
    X = frame(example(), [[2.0, 5.0], [2.0, 6.0], [0.0, 2.0], [0.0, 2.5], [np.nan, 1]])
    np.testing.assert_array_equal(again.predict(X), example().predict(X))
    assert again.predict(X).tolist() == [1.0, 2.0, 3.0, 2.0, 1.0]


def test_what_is_known_is_not_asked_again():
    rules = tuple(Rule((Interval(0, low=float(-i)),), float(i)) for i in range(50))
    rules += (Rule((Interval(0, 5.0, 6.0),), -1.0),)
    tree = RuleList(rules, Rule((), 3.0), FeatureSpace.numeric(1)).to_sklearn()
    assert tree.get_n_leaves() == 51
    assert not hasattr(tree, "feature_names_in_")


def test_float64_bounds_of_float32_tests_hold_for_all_numbers():
    """Rules that were read from such a tree and not rounded lose nothing."""
    cut = 0.5000000298023224
    rules = RuleList(
        (Rule((Interval(0, low=cut),), 1.0),), Rule((), 0.0), FeatureSpace.numeric(1)
    )
    X = np.array([[0.5], [cut], [np.nextafter(cut, 1)], [np.nextafter(cut, 0)]])
    assert rules.to_sklearn().predict(X).tolist() == rules.predict(X).tolist()


def test_what_no_tree_can_hold(monkeypatch):
    with pytest.raises(InputError, match="add up"):
        RuleSum((), Rule((), 1.0), FeatureSpace.numeric(1)).to_sklearn()
    text = FeatureSpace(("ward",), (("a", "b"),))
    rule = Rule((CategorySet(0, (0,)),), 1.0)
    with pytest.raises(InputError, match="category 'ward'"):
        RuleList((rule,), Rule((), 1.0), text).to_sklearn()
    doubtful = Rule((), "yes", (0.5, 0.5))
    with pytest.raises(InputError, match="Rule 1 says 'yes'"):
        RuleList((), doubtful, FeatureSpace.numeric(1), ("no", "yes")).to_sklearn()
    with pytest.raises(InputError, match="finite"):
        RuleList((), Rule((), math.nan), FeatureSpace.numeric(1)).to_sklearn()
    monkeypatch.setattr(sklearn_tree, "MOST_LEAVES", 6)
    with pytest.raises(InputError, match="more than 6 leaves"):
        example().to_sklearn()
    monkeypatch.setattr(sklearn_tree, "MOST_LEAVES", 7)
    example().to_sklearn()
