"""The tree says of X what the rules say of X in float32."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.exports import samples
from tests.wording import refuses

from clearwood.columns.feature_space import FeatureSpace
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
@settings(max_examples=40)
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


def test_missing_values_are_parted_from_all_numbers_as_scikit_learn_does_it():
    # After the first rule, all numbers left are a yes to the bound of the second.
    first = Rule((Interval(0, high=5.0, missing=True), Interval(1, low=0.0)), 1.0)
    second = Rule((Interval(0, high=5.0),), 2.0)
    rules = RuleList((first, second), Rule((), 3.0), FeatureSpace.numeric(2))
    tree = rules.to_sklearn().tree_
    assert sorted(tree.threshold[tree.feature == 0]) == [5.0, math.inf]


def test_float64_bounds_of_float32_tests_hold_for_all_numbers():
    """Rules that were read from such a tree and not rounded lose nothing."""
    cut = 0.5000000298023224
    rules = RuleList(
        (Rule((Interval(0, low=cut),), 1.0),), Rule((), 0.0), FeatureSpace.numeric(1)
    )
    X = np.array([[0.5], [cut], [np.nextafter(cut, 1)], [np.nextafter(cut, 0)]])
    assert rules.to_sklearn().predict(X).tolist() == rules.predict(X).tolist()


def test_what_no_tree_can_hold(monkeypatch):
    with refuses(InputError):
        RuleSum((), Rule((), 1.0), FeatureSpace.numeric(1)).to_sklearn()
    rule = Rule((CategorySet(0, (0,)),), 1.0)
    for labels in (("a", 2), (2**24 + 1,)):
        mixed = FeatureSpace(("ward",), (labels,))
        with refuses(InputError, match="'ward'"):
            RuleList((rule,), Rule((), 1.0), mixed).to_sklearn()
    hashed = FeatureSpace(("ward",), (("a", "b"),), lookup=("hash",))
    with refuses(InputError, match="'ward'"):
        RuleList((rule,), Rule((), 1.0), hashed).to_sklearn()
    doubtful = Rule((), "yes", (0.5, 0.5))
    with refuses(InputError, match="'yes'"):
        RuleList((), doubtful, FeatureSpace.numeric(1), ("no", "yes")).to_sklearn()
    with pytest.raises(InputError, match="finite"):
        RuleList((), Rule((), math.nan), FeatureSpace.numeric(1)).to_sklearn()
    monkeypatch.setattr(sklearn_tree, "MOST_LEAVES", 6)
    with refuses(InputError):
        example().to_sklearn()
    monkeypatch.setattr(sklearn_tree, "MOST_LEAVES", 7)
    example().to_sklearn()


def random_rules(rng):
    """Rules of sets of texts and of numbers, and of intervals."""
    features = FeatureSpace(
        ("ward", "dose", "code", "hue", "never"),
        (("south", "north", "a b"), None, (7, 1, 2), ("red", "blue"), ("x", "y")),
    )

    def condition(d):
        labels = features.categories[d]
        missing, unseen = rng.random(2) < 0.5
        if labels is None:
            low = float(rng.uniform(0, 0.7))
            return Interval(d, low, low + 0.3, bool(missing))
        codes = np.flatnonzero(rng.random(len(labels)) < 0.5).tolist()
        return CategorySet(d, tuple(codes), bool(missing), bool(unseen))

    rules = []
    for value in range(int(rng.integers(1, 5))):
        asked = rng.choice(4, rng.integers(1, 4), replace=False).tolist()
        rules.append(Rule(tuple(map(condition, asked)), float(value)))
    return RuleList(tuple(rules), Rule((), -1.0), features)


def test_texts_are_encoded_in_a_pipeline():
    rng = np.random.default_rng(0)
    cells = {
        "hue": ["red", "blue", "green", None],
        "ward": ["south", "north", "a b", "east", None, np.nan],
        "code": [7, 1, 2, 3, 1.5, np.nan],
        "more": ["?"],
    }
    X = pd.DataFrame(
        {name: rng.choice(np.array(of, object), 300) for name, of in cells.items()}
    ).astype({"code": float})
    dose = rng.random(300).astype(np.float32)
    X["dose"] = np.where(rng.random(300) < 0.2, np.nan, dose)
    kinds = set()
    for _ in range(30):
        rules = random_rules(rng)
        found = rules.to_sklearn()
        kinds.add(type(found).__name__)
        # A tree alone reads all columns, and only numbers.
        table = X
        if not hasattr(found, "steps"):
            table = X.assign(ward=0, hue=0, never=0)[list(rules.features.names)]
        np.testing.assert_array_equal(found.predict(table), rules.predict(X))
    assert kinds == {"Pipeline", "DecisionTreeRegressor"}


def test_a_pipeline_reads_columns_by_name_or_by_place():
    X = np.array([["b", 1.0], ["a", 3.0], ["c", 3.0], [None, 3.0]], dtype=object)
    rule = Rule((CategorySet(0, (0,), True), Interval(1, low=2.0)), "yes", (0.25, 0.75))
    for names, table in (
        (None, X),
        (["ward", "age"], pd.DataFrame(X[:, ::-1], columns=["age", "ward"])),
    ):
        features = FeatureSpace(
            tuple(names or ("x0", "x1")), (("a", "b"), None), names is not None
        )
        rules = RuleList((rule,), Rule((), "no", (0.9, 0.1)), features, ("no", "yes"))
        found = rules.to_sklearn()
        assert found.predict(table).tolist() == ["no", "yes", "no", "yes"]
        np.testing.assert_array_equal(
            found.predict_proba(table), rules.predict_proba(table)
        )
