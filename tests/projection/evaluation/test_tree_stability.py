"""How unlike trees are, and how much they change with the sample."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from tests.projection import naive
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.projection import tree_dissimilarity, tree_stability
from clearwood.projection.evaluation.tree_stability import compare_trees, place_splits
from clearwood.rules import CategorySet, FeatureSpace, Interval, Question, Rule, Tree

SEEDS = st.integers(0, 2**32 - 1)
NUMBERS = FeatureSpace.numeric(3)
MIXED = FeatureSpace(("dose", "hue"), (None, ("tan", "red", "blue")))


def tree_of(questions, features=NUMBERS, turned=()):
    """A tree from places, features and cuts; some questions printed the other way."""
    asked = {place: (feature, cut) for place, feature, cut in questions}
    number = itertools.count()

    def node(place):
        if place not in asked:
            return Rule((), float(next(number)))
        feature, cut = asked[place]
        low = Interval(feature, high=cut), node(2 * place)
        high = Interval(feature, low=cut), node(2 * place + 1)
        first, second = (high, low) if place in turned else (low, high)
        return Question(first[0], second[0], first[1], second[1])

    return Tree(node(1), features)


def random_tree(rng, depth=3):
    def places(place, depth):
        if depth == 0 or rng.random() < 0.25:
            return []
        asked = (place, int(rng.integers(3)), float(rng.integers(1, 9)))
        below = places(2 * place, depth - 1) + places(2 * place + 1, depth - 1)
        return [asked, *below]

    return tree_of(places(1, depth), turned=set(rng.integers(1, 16, 6).tolist()))


@pytest.fixture(scope="module")
def golden(golden_folder):
    return json.loads((golden_folder / "projection.json").read_text())["stability"]


@pytest.mark.parametrize("turned", [(), (1, 2, 3, 7)])
def test_equation_12_is_that_of_exact_fractions(golden, turned):
    X = np.array([[0.0] * 3, [golden["ranges"][str(d)] for d in range(3)]])
    for pair in golden["pairs"]:
        one, two = tree_of(pair["tree_1"]), tree_of(pair["tree_2"], turned=turned)
        assert tree_dissimilarity(one, two, X) == pytest.approx(
            pair["corrected"]["value"], abs=1e-15
        )
        # Where the trees are of one size, this is the paper's in either order.
        assert tree_dissimilarity(one, two, X, weights="paper") == pytest.approx(
            pair["paper_d_max_b"]["value"], abs=1e-15
        )


@given(SEEDS)
def test_dissimilarity_is_what_recursion_says_and_behaves(seed):
    rng = np.random.default_rng(seed)
    one, two, X = random_tree(rng), random_tree(rng), np.array([[0] * 3, [8, 9, 10.0]])
    found = tree_dissimilarity(one, two, X)
    assert found == pytest.approx(naive.dissimilarity(one, two, np.ptp(X, axis=0)))
    assert found == tree_dissimilarity(two, one, X) and 0 <= found <= 1
    assert tree_dissimilarity(one, one, X) == 0
    paper = tree_dissimilarity(one, one, X, weights="paper")
    assert paper == pytest.approx(1 / one.n_leaves)
    # Other units, and rows without a value, change nothing.
    holes = np.vstack([X, [np.nan, np.inf, -np.inf]])
    assert tree_dissimilarity(one, two, holes) == found


def stump(left, right, features=MIXED):
    return Tree(
        Question(left, right, Rule((left,), 0.0), Rule((right,), 1.0)), features
    )


def test_categories_are_alike_by_those_that_stay_on_their_side():
    X = np.array([[0.0, "red"], [4.0, "tan"]], dtype=object)
    one = stump(CategorySet(1, (0,)), CategorySet(1, (1, 2)))
    # The same the other way round, and with a word about what is missing.
    same = stump(CategorySet(1, (1, 2), missing=True), CategorySet(1, (0,)))
    assert tree_dissimilarity(one, same, X) == 0
    two = stump(CategorySet(1, (2,)), CategorySet(1, (0, 1)))  # blue | red, tan
    # In alphabetical order: blue and red | tan, and blue | red and tan.
    assert tree_dissimilarity(one, two, X) == pytest.approx(1 / 3)
    assert tree_dissimilarity(two, one, X) == pytest.approx(1 / 3)
    # Codes are each tree's own.
    other = FeatureSpace(("dose", "hue"), (None, ("red", "blue", "tan")))
    renamed = stump(CategorySet(1, (2,)), CategorySet(1, (0, 1)), other)
    assert tree_dissimilarity(one, renamed, X) == 0


def test_missing_values_are_a_question_of_their_own():
    X = [[0.0, "red"], [4.0, "red"]]
    cut = stump(Interval(0, high=2.0), Interval(0, low=2.0, missing=True))
    plain = stump(Interval(0, low=2.0), Interval(0, high=2.0, missing=True))
    gone = stump(Interval(0, low=np.inf, missing=True), Interval(0))
    assert tree_dissimilarity(cut, plain, X) == 0
    assert tree_dissimilarity(cut, gone, X) == 1
    assert tree_dissimilarity(gone, gone, X) == 0
    (question,) = place_splits(gone).values()
    assert question.pivot == np.inf


def test_a_column_of_one_value_has_no_range():
    one, two = tree_of([(1, 0, 1.0)]), tree_of([(1, 0, 2.0)])
    assert tree_dissimilarity(one, two, np.ones((4, 3))) == 1
    assert tree_dissimilarity(one, one, np.full((4, 3), np.nan)) == 0


def test_all_measures_are_what_their_definitions_say():
    rng = np.random.default_rng(1)
    X, trees = rng.uniform(0, 9, size=(200, 3)), [random_tree(rng) for _ in range(4)]
    found = compare_trees(trees, X)
    assert found.n_leaves == tuple(tree.n_leaves for tree in trees)
    for k, (one, two) in enumerate(itertools.combinations(trees, 2)):
        paper = tree_dissimilarity(one, two, X, weights="paper")
        assert found.dissimilarity[k] == tree_dissimilarity(one, two, X)
        assert found.paper_dissimilarity[k] == paper
        apart = one.predict(X) - two.predict(X)
        assert found.prediction_rms[k] == pytest.approx(np.sqrt(np.mean(apart**2)))
        assert found.adjusted_rand[k] == adjusted_rand_score(one.apply(X), two.apply(X))
        a, b = ({q.feature for q in place_splits(t).values()} for t in (one, two))
        assert found.shared_features[k] == (len(a & b) / len(a | b) if a | b else 1)


def test_classes_that_a_sample_lacks_have_no_probability_there():
    one = Tree(Rule((), "a", (0.25, 0.75)), NUMBERS, ("b", "a"))
    two = Tree(Rule((), "a", (1.0,)), NUMBERS, ("a",))
    found = compare_trees([one, two], np.zeros((5, 3)))
    assert found.prediction_rms == pytest.approx((0.25,))
    assert found.adjusted_rand == found.shared_features == (1.0,)
    assert found.dissimilarity == (0.0,) and found.paper_dissimilarity == (1.0,)


@pytest.fixture(scope="module")
def body(diabetes):
    X, y, forest = diabetes

    def fit(rows, n_rules=5):
        tree = cw.DistilledTreeRegressor(
            forest, n_rules=n_rules, n_synthetic=0, random_state=0
        )
        return tree.fit(X.iloc[rows], y.iloc[rows]).tree_

    return X, fit


@pytest.mark.dear
def test_real_trees_change_with_the_sample(body):
    X, fit = body
    found = tree_stability(fit, X, n_refits=4, random_state=0)
    assert len(found.dissimilarity) == 6 and max(found.n_leaves) == 5
    for name in ("dissimilarity", "paper_dissimilarity", "shared_features"):
        assert all(0 <= value <= 1 for value in getattr(found, name))
    assert 0 < np.mean(found.dissimilarity) < np.mean(found.paper_dissimilarity)
    # The same forest teaches all: they agree far better than by chance.
    assert np.mean(found.adjusted_rand) > 0.3
    assert json.loads(json.dumps(found.as_dict()))["n_leaves"] == list(found.n_leaves)
    same_lines(str(found))
    threads = tree_stability(fit, X, n_refits=4, n_jobs=2, random_state=0)
    assert threads == found
    assert tree_stability(fit, X, n_refits=4, random_state=1) != found


def test_a_tree_that_never_changes_is_stable(body):
    X, fit = body
    same = fit(np.arange(len(X)))
    found = tree_stability(lambda rows: same, X, n_refits=3, random_state=0)
    assert found.dissimilarity == found.prediction_rms == (0.0,) * 3
    assert found.paper_dissimilarity == pytest.approx((1 / 5,) * 3)
    assert found.adjusted_rand == found.shared_features == (1.0,) * 3


def test_samples_are_drawn_with_replacement():
    drawn = []

    def fit(rows):
        drawn.append(rows)
        return tree_of([])

    tree_stability(fit, np.zeros((1000, 3)), n_refits=3, random_state=0)
    for rows in drawn:
        assert len(rows) == 1000 and 0 <= rows.min() and rows.max() < 1000
        # 1 - 1/e of the rows, to within five standard deviations.
        assert 0.58 < len(np.unique(rows)) / 1000 < 0.68
    assert not np.array_equal(drawn[0], drawn[1])


@pytest.mark.parametrize(
    "call",
    [
        lambda t: tree_stability(lambda r: t, np.zeros((3, 3)), n_refits=1),
        lambda t: tree_stability(lambda r: t, np.zeros((0, 3))),
        lambda t: tree_stability(lambda r: None, np.zeros((3, 3))),
        lambda t: tree_dissimilarity(t, t, [[1, 2, 3]], weights="b"),
        lambda t: tree_dissimilarity(t, replace(t, features=MIXED), np.zeros((3, 3))),
    ],
)
def test_what_cannot_be_compared_is_refused(call):
    with refuses(InputError):
        call(tree_of([(1, 0, 2.0)]))
