"""Readable trees: what they say, how they are drawn, and their rules."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wording import same_text

from clearwood.columns.feature_space import UNSEEN, FeatureSpace
from clearwood.rules import (
    BinSplit,
    CategorySet,
    FeatureBins,
    Interval,
    Question,
    Rule,
    Training,
    Tree,
    build_tree,
)

SPACE = FeatureSpace(("dose", "hue"), (None, ("red", "blue", "tan")))
CUTS = [1.0001, 2.5, 4.0001]
BINS = FeatureBins.from_splits(
    SPACE,
    feature=[0, 0, 0],
    cut=CUTS,
    category_splits=[(1, (0,), False, False), (1, (1,), False, False)],
)
SEEDS = st.integers(0, 2**32 - 1)


def training_of(encoded, target, classes=()):
    target = np.asarray(target, dtype=float)
    predicted = target.argmax(axis=1) if classes else target
    weight = np.ones(len(encoded))
    return Training(encoded, target, None, weight, predicted, BINS, classes)


def rows_of(rng, n_rows=60, missing=True, unseen=True):
    dose = rng.integers(0, 6, n_rows) + rng.choice([0.0, 0.3], n_rows)
    hue = rng.integers(0, 3, n_rows).astype(float)
    if missing:
        dose[rng.random(n_rows) < 0.2] = np.nan
        hue[rng.random(n_rows) < 0.2] = np.nan
    if unseen:
        hue[rng.random(n_rows) < 0.2] = UNSEEN
    return np.column_stack([dose, hue])


def table_of(encoded):
    """The rows as people hand them in."""
    words = {0.0: "red", 1.0: "blue", 2.0: "tan", UNSEEN: "pink"}
    hue = [words.get(code, None) for code in encoded[:, 1]]
    table = np.empty(encoded.shape, dtype=object)
    table[:, 0], table[:, 1] = encoded[:, 0], hue
    return table


def random_split(rng, codes, depth):
    """Questions that part the rows at hand, at random."""
    if depth == 0 or rng.random() < 0.1:
        return None
    d = int(rng.integers(0, 2))
    size = int(BINS.n_bins[d])
    if d == 0:
        goes_left = np.arange(size) <= rng.integers(0, size - 1)
        goes_left[-1] = rng.random() < 0.5
    else:
        goes_left = rng.random(size) < 0.5
    left = goes_left[codes[:, d]]
    if left.all() or not left.any():
        return random_split(rng, codes, depth - 1)
    below = [random_split(rng, codes[rows], depth - 1) for rows in (left, ~left)]
    return BinSplit(d, goes_left, *below)


def leaf_rows(split, codes):
    """Positions of the rows in each leaf, as a set of tuples."""

    def walk(split, rows):
        if split is None:
            return [tuple(rows.tolist())]
        left = split.goes_left[codes[rows, split.feature]]
        return walk(split.left, rows[left]) + walk(split.right, rows[~left])

    return set(walk(split, np.arange(len(codes))))


@given(SEEDS, st.booleans(), st.booleans())
@settings(max_examples=60)
def test_tree_and_rules_say_what_the_bins_say(seed, missing, unseen):
    rng = np.random.default_rng(seed)
    encoded = rows_of(rng, missing=missing, unseen=unseen)
    codes = BINS.transform_encoded(encoded)
    split = random_split(rng, codes, 4)
    target = rng.normal(size=60)
    tree = build_tree(split, training_of(encoded, target))
    decided = tree.apply(table_of(encoded))
    groups = {tuple(np.flatnonzero(decided == k)) for k in range(tree.n_leaves)}
    assert groups == leaf_rows(split, codes)
    for k, leaf in enumerate(tree.leaves):
        assert leaf.prediction == pytest.approx(
            target[decided == k].mean(), abs=0.0051 * target.std()
        )
        assert leaf.assigned == leaf.support == (decided == k).sum()
    # On all kinds of rows, those that training never had among them.
    rules, others = tree.to_rules(), table_of(rows_of(rng, 300))
    assert rules.n_rules == tree.n_leaves
    np.testing.assert_array_equal(rules.apply(others), tree.apply(others))
    np.testing.assert_array_equal(rules.predict(others), tree.predict(others))
    assert rules.matches(others).sum(axis=1).max(initial=0) <= 1
    again = type(rules).from_json(rules.to_json())
    np.testing.assert_array_equal(again.predict(others), tree.predict(others))


def small_tree(synthetic=(), **settings):
    encoded = np.column_stack([np.repeat([0.5, 2.0, 3.0, np.nan], 10), np.zeros(40)])
    target = np.repeat([[1.0, 0.0], [0.2, 0.8], [0.0, 1.0], [0.3, 0.7]], 10, axis=0)
    low = BinSplit(0, np.array([True, False, False, False, False]), None, None)
    split = BinSplit(0, np.array([True, True, False, False, False]), low, None)
    training = training_of(encoded, target, ("a", "b"))
    if synthetic:
        training = training.with_synthetic(*synthetic)
    return build_tree(split, training, **settings)


def test_drawing():
    # The shorter side stands first, cuts are short, and numbers are those of rules.
    same_text(str(small_tree()).splitlines())
    rules = small_tree().to_rules()
    same_text([rule.text(SPACE) for rule in rules])
    assert small_tree().leaves[2].text(SPACE) == "1 < dose <= 2"
    assert rules.rules[0].probabilities == pytest.approx((0.15, 0.85))
    words = " ".join(["very"] * 40)
    long = Tree(
        Question(
            CategorySet(0, (0,)),
            CategorySet(0, (1,)),
            Rule((CategorySet(0, (0,)),), 1.0),
            Rule((CategorySet(0, (1,)),), 2.0),
        ),
        FeatureSpace(("hue",), ((words, "x"),)),
    )
    assert max(map(len, str(long).splitlines())) <= 88
    # A line ends between words, not within one.
    words = " ".join(["a hundred-and-one"] * 20)
    long = replace(long, features=FeatureSpace(("hue",), ((words, "x"),)))
    assert str(long).count("hundred-and-one") == 20
    assert not any(line.endswith("-") for line in str(long).splitlines())


def test_synthetic_rows_count_for_what_is_said_but_not_for_support():
    rows = np.column_stack([np.full(30, 0.5), np.zeros(30)])
    tree = small_tree((rows, np.tile([0.0, 1.0], (30, 1)), np.ones(30)))
    low = tree.leaves[1]
    assert low.probabilities == pytest.approx((0.25, 0.75))
    assert low.support == 10


def test_what_is_not_known_is_left_to_the_last_leaf():
    encoded = np.column_stack([np.repeat([0.5, 2.0, 3.0], 10), np.zeros(30)])
    split = BinSplit(0, np.array([False, True, True, True, True]), None, None)
    tree = build_tree(split, training_of(encoded, np.repeat([1.0, 2.0, 2.0], 10)))
    assert [leaf.text(SPACE) for leaf in tree.leaves] == ["dose > 1", "dose <= 1"]
    assert tree.predict([[np.nan, "red"], [5.0, "red"]]).tolist() == [1.0, 2.0]


def test_a_leaf_of_missing_values_only():
    encoded = np.column_stack([np.repeat([0.5, 2.0, np.nan], 10), np.zeros(30)])
    nothing_high = BinSplit(0, np.array([True, True, True, True, False]), None, None)
    split = BinSplit(0, np.array([True, False, False, False, True]), nothing_high, None)
    training = training_of(encoded, np.repeat([1.0, 2.0, 3.0], 10))
    tree = build_tree(split, training)
    texts = [leaf.text(SPACE) for leaf in tree.leaves]
    same_text(texts)
    assert tree.predict([[np.nan, "red"], [0.1, "red"]]).tolist() == [3.0, 1.0]


def test_one_leaf():
    training = training_of(np.zeros((6, 2)), [1.0, 1, 1, 4, 4, 4])
    tree = build_tree(None, training)
    assert tree.n_leaves == 1
    assert str(tree).startswith("1. then 2.5")
    assert tree.to_rules().n_rules == 1
    assert tree.predict([[1.0, "red"]]).tolist() == [2.5]
    assert isinstance(tree.root, Rule)


def test_trees_are_values():
    low, high = Interval(0, high=1.0), Interval(0, low=1.0)
    one, two = (
        Tree(Question(low, high, Rule((low,), 1.0), Rule((high,), 2.0)), SPACE)
        for _ in range(2)
    )
    assert one == two
    with pytest.raises(AttributeError):
        one.root = None
