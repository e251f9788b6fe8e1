"""Bins against the questions that they stand for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.rules import naive
from tests.wording import refuses

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules import FeatureBins

VALUES = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, np.inf, -np.inf])
SPLITS = st.lists(
    st.tuples(st.integers(0, 1), VALUES, st.booleans()), min_size=1, max_size=8
)
CATEGORY_SPLITS = st.lists(
    st.tuples(
        st.just(2), st.frozensets(st.integers(0, 3)), st.booleans(), st.booleans()
    ),
    max_size=4,
)
ROWS = st.lists(
    st.tuples(
        st.one_of(VALUES, st.just(np.nan), st.floats(-3, 3)),
        st.one_of(VALUES, st.just(np.nan)),
        st.sampled_from([0.0, 1.0, 2.0, 3.0, -1.0, np.nan]),
    ),
    min_size=1,
    max_size=10,
)
SPACE = FeatureSpace(("a", "b", "c"), (None, None, ("p", "q", "r", "s")))


def make(splits, category_splits, **options):
    feature, cut, missing_right = zip(*splits)
    return FeatureBins.from_splits(
        SPACE,
        feature=feature,
        cut=cut,
        missing_right=missing_right,
        category_splits=category_splits,
        **options,
    )


@given(SPLITS, CATEGORY_SPLITS, ROWS)
def test_rows_in_one_bin_answer_all_questions_alike(splits, category_splits, rows):
    X = np.array(rows)
    codes = make(splits, category_splits).transform_encoded(X)
    assert (codes < make(splits, category_splits).n_bins).all()
    answers = [[naive.goes_right(x, s) for s in splits] for x in X]
    sides = [[naive.category_goes_left(x[2], s) for s in category_splits] for x in X]
    by_bins = {}
    for row, answer in zip(codes.tolist(), zip(answers, sides)):
        assert by_bins.setdefault(tuple(row), answer) == answer


@given(SPLITS, CATEGORY_SPLITS, ROWS)
def test_statements_are_the_distinct_questions(splits, category_splits, rows):
    """Each split's answers are a statement's, up to the direction of a set."""
    bins, X = make(splits, category_splits), np.array(rows)
    truth = naive.truth(bins, bins.transform_encoded(X))
    columns = {tuple(c) for c in truth.T.tolist()}
    for split in splits:
        assert tuple(bool(naive.goes_right(x, split)) for x in X) in columns
    for split in category_splits:
        left = tuple(bool(naive.category_goes_left(x[2], split)) for x in X)
        assert left in columns or tuple(not v for v in left) in columns
    n_numeric = len(set(splits))
    mirrored = {min(k, ~k & 0b111111) for k in map(pattern, category_splits)}
    assert bins.n_statements == n_numeric + len(mirrored)


def pattern(split):
    """Sides of the four categories, missing and unseen, as bits."""
    _, codes, missing_left, unseen_left = split
    bits = [c in codes for c in range(4)] + [missing_left, unseen_left]
    return sum(int(b) << i for i, b in enumerate(bits))


@given(SPLITS, CATEGORY_SPLITS, ROWS, st.integers(0, 2**32 - 1))
def test_sums_equal_the_dense_ones(splits, category_splits, rows, seed):
    rng = np.random.default_rng(seed)
    bins, X = make(splits, category_splits), np.array(rows)
    codes = bins.transform_encoded(X)
    truth = naive.truth(bins, codes)
    when_true, when_false = -rng.exponential(size=(2, truth.shape[1], 3))
    table = bins.sum_over_statements(when_true, when_false)
    at_rows = table[codes + bins.bin_start].sum(axis=1)
    # All terms have one sign: relative error stays at some units of rounding.
    np.testing.assert_allclose(
        at_rows, naive.statement_sum(truth, when_true, when_false), rtol=1e-13
    )
    mass = rng.random((len(X), 3))
    histogram = np.zeros((bins.n_bins.sum(), 3))
    for n, row in enumerate(codes + bins.bin_start):
        histogram[row] += mass[n]
    for fast, slow in zip(
        bins.mass_of_statements(histogram), naive.statement_mass(truth, mass)
    ):
        np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=1e-14)


def test_counts_all_weighs_repeated_questions():
    splits = [(0, 1.0, False)] * 3 + [(0, 2.0, False)]
    category_splits = [(2, {0}, False, False), (2, {1, 2, 3}, True, True)]
    bins = make(splits, category_splits, counts="all")
    assert bins.statements.weight.tolist() == [3.0, 1.0, 2.0]
    assert bins.n_statements == 6.0
    assert make(splits, category_splits).n_statements == 3.0


def test_side_of_missing_counts_only_where_some_are_missing():
    splits = [(0, 1.0, False), (0, 1.0, True)]
    assert make(splits, []).n_statements == 2
    seen = np.zeros(3, dtype=bool)
    assert make(splits, [], missing_seen=seen).n_statements == 1


def test_values_on_a_cut_and_beside_it():
    bins = make([(0, 1.0, False)], [])
    beside = [np.nextafter(1.0, 0), 1.0, np.nextafter(1.0, 2)]
    X = np.array([[v, 0.0, 0.0] for v in beside])
    assert bins.transform_encoded(X)[:, 0].tolist() == [0, 0, 1]


def test_smallest_unsigned_type():
    cuts = np.arange(300.0)
    bins = FeatureBins.from_splits(
        FeatureSpace.numeric(1), feature=np.zeros(300, int), cut=cuts
    )
    assert bins.transform(np.array([[1e9], [np.nan]])).dtype == np.uint16
    assert bins.transform(np.array([[1e9], [np.nan]])).ravel().tolist() == [300, 301]


def test_categorical_split_of_a_numeric_feature_is_refused():
    with refuses(InputError, match="'a'"):
        make([(0, 1.0, False)], [(0, {1}, False, False)])


def test_unknown_way_of_counting_is_refused():
    with refuses(InputError, match="'distinct'.*'all'"):
        make([(0, 1.0, False)], [], counts="some")


@given(SPLITS, CATEGORY_SPLITS, ROWS, st.data())
def test_with_some_of_the_cuts_other_questions_stay(
    splits, category_splits, rows, data
):
    bins = make(splits, category_splits)
    n_cuts = sum(map(len, bins.cuts))
    kept = np.array(
        data.draw(st.lists(st.booleans(), min_size=n_cuts, max_size=n_cuts))
    )
    kept = kept.astype(bool)
    cuts = np.concatenate(bins.cuts)[kept]
    feature = np.repeat(np.arange(3), [len(c) for c in bins.cuts])[kept]
    asked = {(d, cut) for d, cut in zip(feature.tolist(), cuts.tolist())}
    left = [split for split in splits if (split[0], split[1]) in asked]
    found = bins.with_cuts(kept)
    if not left and not category_splits:
        assert not len(found.statements.feature)
        return
    wanted = make(left or [(0, 0.0, False)], category_splits)
    if not left:
        wanted = wanted.with_cuts(np.zeros(1, dtype=bool))
    for mine, others in zip(found.cuts, wanted.cuts):
        np.testing.assert_array_equal(mine, others)
    for mine, others in zip(found.statements, wanted.statements):
        np.testing.assert_array_equal(np.array(mine), np.array(others))
    np.testing.assert_array_equal(
        found.transform_encoded(np.array(rows)),
        wanted.transform_encoded(np.array(rows)),
    )
