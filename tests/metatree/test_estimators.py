"""One meta-tree behind scikit-learn's face."""

import pickle
import tracemalloc
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.metatree import naive
from tests.wording import refuses, same_lines, warns

from clearwood import (
    MetaForestClassifier,
    MetaForestRegressor,
    MetaTreeClassifier,
    MetaTreeRegressor,
    exceptions,
    load,
    save,
)
from clearwood.exceptions import DegenerateDensityWarning, InputError
from clearwood.metatree import (
    BernoulliBeta,
    CategoricalDirichlet,
    LinearRegressionNormalGamma,
    MetaTree,
    NormalNormalGamma,
    PoissonGamma,
    given,
)
from clearwood.metatree.posterior import meta_tree


@pytest.fixture(scope="module")
def wine():
    return train_test_split(*load_wine(return_X_y=True), random_state=0)


def with_holes(X, share, seed=0):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


def table(n=300, seed=0):
    """Labels, numbers and holes; the target depends on both kinds of labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "hue": rng.choice(list("abcdefg"), n),
            "size": rng.normal(size=n),
            "kind": pd.Series(rng.choice(["u", "v", None], n), dtype=object),
        }
    )
    y = np.where(frame.hue.isin(list("aceg")), 1.0, -1.0) + (frame.kind == "u")
    return frame, y + 0.1 * rng.normal(size=n)


# The prior


@pytest.mark.parametrize("split_prior", [0.6, lambda depth: [0.8, 0.3][depth]])
@pytest.mark.parametrize("prior", ["search-corrected", "constant"])
def test_prior_and_evidence_are_those_of_enumeration(prior, split_prior):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 5))
    X[:, 4] = 1.0
    y = X[:, 0] + rng.normal(size=40)
    tree = MetaTreeRegressor(max_depth=2, max_features=3, prior=prior, random_state=0)
    tree.set_params(leaf_model=NormalNormalGamma(), split_prior=split_prior).fit(X, y)
    s, model = tree.structure_, tree.leaf_model_
    n = naive.effective_questions(s, X, 3)
    g = np.full(s.n_nodes, 0.6)
    if callable(split_prior):
        assert s.depth.max() == 2
        g = np.array([0.8, 0.3, 0.0])[s.depth]
    g[s.is_leaf] = 0.0
    if prior == "search-corrected":
        g = naive.search_corrected(s, g, n)
    np.testing.assert_allclose(tree.meta_tree_.g, g, rtol=1e-12)
    ends = s.route(s.encode(X))
    weighed = naive.weighed_prunings(s, model, g, ends, y, np.ones(40))
    evidence = naive.log_sum([log_p for *_, log_p in weighed])
    assert tree.log_evidence_ == pytest.approx(evidence, rel=1e-12)
    used = naive.feature_used(s, weighed)
    np.testing.assert_allclose(tree.inclusion_probability_, used, rtol=1e-10)


def test_every_node_of_a_given_tree_has_its_own_prior(tmp_path):
    """As (2) has it, in the posterior, after a merge, and in a file."""
    rng = np.random.default_rng(0)
    structure = given([0, 1, 2, -1, 2, -1, 1], n_values=[3, 2, 2])
    X = rng.integers(0, [3, 2, 2], (40, 3))
    y = (rng.random(40) < 0.2 + 0.3 * X[:, 0]).astype(int)
    g = np.where(structure.is_leaf, 0.0, rng.random(structure.n_nodes))
    leaf = CategoricalDirichlet((0.5, 1.5))
    kind = MetaTreeClassifier(structure, split_prior=g, leaf_model=leaf)
    tree, shard = clone(kind).fit(X[:25], y[:25]), clone(kind).fit(X[25:], y[25:])
    save(tree, tmp_path / "tree")
    tree = load(tmp_path / "tree").merge(shard)
    ends = structure.route(X)
    weighed = naive.weighed_prunings(structure, leaf, g, ends, y, np.ones(40))
    total = naive.log_sum([log_p for *_, log_p in weighed])
    assert tree.log_evidence_ == pytest.approx(total, rel=1e-12)
    posterior = tree.meta_tree_.posterior()
    for node in np.flatnonzero(~structure.is_leaf):
        reached = naive.log_sum([w for i, s, w in weighed if node in i | s])
        splits = naive.log_sum([w for i, _, w in weighed if node in i])
        assert posterior.g[node] == pytest.approx(np.exp(splits - reached), rel=1e-10)
    alone = clone(kind).fit(X[:25], y[:25])
    assert tree.unlearn(X[25:], y[25:]).log_evidence_ == alone.log_evidence_
    # By inner node it is the same.
    inner = clone(kind).set_params(split_prior=g[~structure.is_leaf])
    assert inner.fit(X[:25], y[:25]).log_evidence_ == alone.log_evidence_


def test_constant_columns_are_not_searched():
    X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [2.0, 5.0]])
    tree = MetaTreeClassifier(max_depth=1, prior="search-corrected")
    tree.fit(X, [0, 0, 1, 1])
    # One column varies, with two cuts: asking weighs g / sqrt(2), and 1 - g to stop.
    assert tree.meta_tree_.g[0] == pytest.approx(1 / (1 + np.sqrt(2)))


def test_auto_corrects_for_what_was_searched_only(wine):
    X, _, y, _ = wine
    cart = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    fitted = MetaTreeClassifier(FrozenEstimator(cart)).fit(X, y)
    as_it_is = MetaTreeClassifier(fitted.structure_).fit(X, y)
    assert (as_it_is.meta_tree_.g[~as_it_is.structure_.is_leaf] == 0.5).all()
    assert (fitted.meta_tree_.g < as_it_is.meta_tree_.g)[0]


def test_automatic_leaves_say_what_they_are():
    tree = MetaTreeRegressor().fit([[0.0], [1.0]], [1.0, 5.0])
    assert tree.leaf_model_.m == 3.0
    assert tree.leaf_model_.beta / (tree.leaf_model_.alpha + 1) == pytest.approx(
        0.1 * 4.0
    )
    labels = MetaTreeClassifier().fit([[0.0], [1.0], [2.0]], list("abc"))
    assert labels.leaf_model_ == CategoricalDirichlet((1 / 3,) * 3)
    whole = MetaTreeRegressor().fit([[0.0], [1.0], [2.0]], [1.0, 1.0, 5.0])
    assert whole.leaf_model_.rounding == 4.0


def test_priors_are_chosen_by_held_out_rows():
    rng = np.random.default_rng(0)
    X = rng.random((300, 1))
    # The best of many settings is better by chance, but by less than its error.
    for seed in range(3):
        noise = np.random.default_rng(seed)
        tree = MetaTreeRegressor(random_state=seed)
        tree.fit(noise.random((100, 1)), noise.normal(size=100))
        assert tree.leaf_model_.lent == 0.0 and tree.inclusion_probability_ < 0.02
    # A smooth function takes many splits, and leaves near their neighbours.
    y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=300)
    smooth = MetaTreeRegressor(random_state=0).fit(X, y)
    assert smooth.leaf_model_.lent > 0.0 and smooth.meta_tree_.g[0] == 0.5
    # What is given is not chosen.
    given_prior = MetaTreeRegressor(prior="search-corrected", random_state=0)
    assert given_prior.fit(X, y).meta_tree_.g[0] < 0.5
    plain = MetaTreeRegressor(leaf_model=NormalNormalGamma(), random_state=0)
    assert plain.fit(X, y).leaf_model_ == NormalNormalGamma()


def test_a_row_of_weight_two_chooses_as_two_rows_do():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    y, twice = X[:, 0] + 0.3 * rng.normal(size=60), rng.integers(1, 3, 60)
    weighted = MetaTreeRegressor(random_state=0).fit(X, y, sample_weight=twice)
    rows = rng.permutation(np.repeat(np.arange(60), twice))
    repeated = MetaTreeRegressor(random_state=0).fit(X[rows], y[rows])
    assert weighted.leaf_model_.lent == repeated.leaf_model_.lent
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))


def test_a_value_among_others_that_no_density_has_is_told_of():
    X = np.arange(100.0)[:, None]
    y = np.where(X[:, 0] < 50, 0.0, np.sqrt(X[:, 0]))
    with warns(DegenerateDensityWarning, match="50"):
        MetaTreeRegressor().fit(X, y)


# Structures


def test_better_probabilities_than_the_same_tree_unpruned(wine):
    X, X_test, y, y_test = wine
    tree = MetaTreeClassifier(random_state=0).fit(X, y)
    cart = DecisionTreeClassifier(random_state=0).fit(X, y)
    averaged = log_loss(y_test, tree.predict_proba(X_test))
    assert averaged < 0.5 * log_loss(y_test, cart.predict_proba(X_test))
    assert tree.score(X_test, y_test) > 0.85


def test_intervals_hold_what_they_promise():
    X, X_test, y, y_test = train_test_split(
        *load_diabetes(return_X_y=True), random_state=0
    )
    tree = MetaTreeRegressor(random_state=0).fit(X, y)
    low, high = tree.predict_interval(X_test, coverage=0.8).T
    inside = (low <= y_test) & (y_test <= high)
    assert 0.7 < inside.mean() < 0.92
    np.testing.assert_allclose(low, tree.predict_quantile(X_test, 0.1))
    assert tree.score(X_test, y_test) > 0.1


FOREST = RandomForestRegressor(n_estimators=10, random_state=0)


@pytest.mark.parametrize(
    "estimator", [MetaTreeRegressor(random_state=0), MetaForestRegressor(FOREST)]
)
@pytest.mark.parametrize("n", [5, 10])
def test_intervals_cover_with_few_rows(estimator, n):
    rng = np.random.default_rng(n)
    inside = []
    for _ in range(15):
        X, y = rng.normal(size=(n + 200, 1)), rng.normal(size=n + 200)
        low, high = estimator.fit(X[:n], y[:n]).predict_interval(X[n:]).T
        inside.append(((low <= y[n:]) & (y[n:] <= high)).mean())
    assert 0.84 < np.mean(inside) < 0.97


def test_one_row_does_not_determine_a_scale():
    tree = MetaTreeRegressor(random_state=0).partial_fit([[0.0]], [3.0])
    assert tree.predict_quantile([[1.0]], [0.1, 0.5, 0.9]).tolist() == [
        [-np.inf, 3.0, np.inf]
    ]
    p = tree.meta_tree_.predictive(tree.structure_.encode([[1.0]]))
    assert p.cdf(7.0).tolist() == [0.5]
    tree.partial_fit([[1.0]] * 5, np.arange(5.0))
    assert np.isfinite(tree.predict_interval([[1.0]])).all()
    # A given prior is used as it is.
    fixed = replace(tree.leaf_model_, estimated_from=0.0)
    alone = MetaTreeRegressor(leaf_model=fixed).fit([[0.0]], [3.0])
    m, a, b = fixed.student(np.array([1.0, 3.0, 0.0]))
    np.testing.assert_allclose(
        alone.predict_quantile([[1.0]], 0.9), stats.t.ppf(0.9, 2 * a, m, (b / a) ** 0.5)
    )


def test_intervals_of_the_root_have_the_degrees_of_freedom_of_its_rows():
    y = np.array([1.0, 2.0, 4.0, 8.0, 9.0])
    tree = MetaTreeRegressor(max_depth=1, split_prior=0.0).fit(np.zeros((5, 1)), y)
    leaf = tree.leaf_model_
    assert leaf.estimated_from == 5
    m, a, b = leaf.student(np.array([5.0, y.mean(), ((y - y.mean()) ** 2).sum()]))
    # 5 - 1 for the data; three of the prior and one of the mean are spent.
    assert 2 * a * 4 / 8 == pytest.approx(4.0)
    expected = stats.t.ppf(0.9, 4, m, (b / 2.0) ** 0.5)
    np.testing.assert_allclose(tree.predict_quantile([[0.0]], 0.9), expected)


@pytest.mark.parametrize("wrap", [FrozenEstimator, lambda model: model])
def test_a_fitted_tree_asks_the_same(wine, wrap):
    X, X_test, y, _ = wine
    cart = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    tree = MetaTreeClassifier(wrap(cart)).fit(X, y)
    leaf = tree.structure_.original[tree.structure_.route(tree.structure_.encode(X))]
    np.testing.assert_array_equal(leaf, cart.apply(X))


def test_the_best_tree_of_the_exact_sum():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 6))
    y = (X[:, 1] ^ X[:, 4]) | (rng.random(300) < 0.05)
    tree = MetaTreeClassifier("exact", split_prior=lambda depth: 0.5).fit(X, y)
    assert tree.structure_.feature[:3].tolist() in ([1, 4, 4], [4, 1, 1])
    assert tree.meta_tree_.posterior().map_tree().inner.tolist() == [0, 1, 2]
    # Six features at the root, five below: asking on weighs 1/2 over their number.
    below = 0.5 / 5 / (0.5 + 0.5 / 5)
    z = (0.5 + 0.5 / 5) ** 2 * 0.5 / 6
    expected = [z / (0.5 + z), below, below]
    np.testing.assert_allclose(tree.meta_tree_.g[:3], expected, rtol=1e-12)
    with refuses(exceptions.InputError, match=r"0\.5"):
        MetaTreeClassifier("exact").fit([[1.0], [0.5]], [0, 1])


@pytest.mark.parametrize(
    "change",
    [
        {"structure": "carts"},
        {"prior": "flat"},
        {"leaf_model": PoissonGamma()},
        {"leaf_model": CategoricalDirichlet((1.0, 1.0, 1.0))},
        {"leaf_model": "normal"},
    ],
)
def test_wrong_parameters_are_told(change):
    with refuses(exceptions.InputError):
        MetaTreeClassifier(**change).fit([[0.0], [1.0]], [0, 1])


def test_infinite_numbers_are_refused_in_fit():
    with refuses(exceptions.InputError, match="'x0'"):
        MetaTreeClassifier().fit([[0.0], [np.inf]], [0, 1])


# Leaves


def test_leaves_of_all_kinds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    counts = rng.poisson(np.exp(X[:, 0]))
    tree = MetaTreeRegressor(leaf_model=PoissonGamma(), random_state=0).fit(X, counts)
    assert (tree.predict_quantile(X, 0.5) % 1 == 0).all()
    linear = LinearRegressionNormalGamma((0.0, 0.0, 0.0), 1e-3)
    y = 3.0 + X @ [1.0, -2.0] + 0.01 * rng.normal(size=200)
    tree = MetaTreeRegressor(leaf_model=linear, max_depth=2, random_state=0).fit(X, y)
    assert tree.score(X, y) > 0.999
    with refuses(exceptions.InputError):
        tree.to_ensemble()
    two = MetaTreeClassifier(leaf_model=BernoulliBeta(), random_state=0).fit(X, y > 3)
    assert two.score(X, y > 3) > 0.9


# Tables


@pytest.mark.parametrize("missing", ["evidence", "branch"])
@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas])
def test_frames_with_labels_and_holes(missing, make):
    frame, y = table()
    tree = MetaTreeRegressor(missing=missing, random_state=0).fit(make(frame), y)
    assert tree.score(make(frame), y) > 0.98
    assert tree.feature_names_in_.tolist() == ["hue", "size", "kind"]
    assert (tree.inclusion_probability_[[0, 2]] > 0.99).all()
    strange = frame.head(3).assign(hue=["z", "a", None], kind=["w", None, "u"])
    baked = tree.to_ensemble().predict(make(strange))
    np.testing.assert_allclose(baked, tree.predict(make(strange)), rtol=1e-12)


def test_unseen_categories_stop_where_they_are_asked_for():
    frame, y = table()
    tree = MetaTreeRegressor(random_state=0).fit(frame[["hue"]], y)
    end = tree.structure_.route(tree.structure_.encode(pd.DataFrame({"hue": ["z"]})))
    assert end.tolist() == [0]
    own = tree.leaf_model_.mean(tree.meta_tree_.posterior().total[0])
    assert tree.predict(pd.DataFrame({"hue": ["z"]}))[0] == pytest.approx(own)


def test_categories_of_three_classes_are_grouped_at_once():
    frame = pd.DataFrame({"hue": list("abcdef") * 20})
    y = frame.hue.map(dict(zip("abcdef", "xyzxyz"))).to_numpy()
    tree = MetaTreeClassifier(random_state=0).fit(frame, y)
    assert tree.structure_.is_leaf.sum() == 3
    assert tree.score(frame, y) == 1.0


# Missing values


def test_missing_values_go_to_the_branch_of_larger_evidence(wine):
    X, _, y, _ = wine
    X = with_holes(X, 0.2)
    tree = MetaTreeClassifier(random_state=0, max_depth=3).fit(X, y)
    s, codes = tree.structure_, tree.structure_.encode(X)
    from clearwood.metatree import MetaTree
    from clearwood.metatree.growing.missing import missing_codes, send_missing

    # At the root, everything else being as it is, the other side is no better.
    asked = codes[:, s.feature[0]] == missing_codes(s)[s.feature[0]]
    assert asked.any()
    other = send_missing(s, np.array([0]), 1 - s.missing_child[0])
    turned = MetaTree(other, tree.leaf_model_, tree.meta_tree_.g).update(codes, y)
    # Below the root the choices were made for these rows, so this may only be lower.
    assert turned.log_evidence <= tree.log_evidence_


def test_settling_one_question_maximises_the_evidence():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = (x > 0).astype(int)
    X = np.where(rng.random(200) < 0.3, np.nan, x)[:, None]
    y[np.isnan(X[:, 0])] = 1
    tree = MetaTreeClassifier(max_depth=1).fit(X, y)
    assert tree.predict([[np.nan]]).tolist() == [1]
    tree = MetaTreeClassifier(max_depth=1).fit(X, np.where(np.isnan(X[:, 0]), 0, y))
    assert tree.predict([[np.nan]]).tolist() == [0]


def test_without_missing_rows_the_heavier_side_takes_them():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 1, 1]
    tree = MetaTreeClassifier().fit(X, y)
    assert tree.predict([[np.nan]]).tolist() == [1]
    tree = MetaTreeClassifier().fit(X, y, sample_weight=[9, 1, 1, 1])
    assert tree.predict([[np.nan]]).tolist() == [0]
    # Of two sides alike, the first.
    tree = MetaTreeClassifier().fit(X[:2], y[:2])
    assert tree.predict([[np.nan]]).tolist() == [0]


def test_missing_rows_that_fit_both_sides_alike_stay_where_they_were():
    X, y = np.repeat([[0.0], [1.0], [np.nan]], [10, 10, 2], axis=0), [0, 1] * 11
    y[:10], y[10:20] = [0] * 8 + [1] * 2, [1] * 8 + [0] * 2
    tree = MetaTreeClassifier(max_depth=1).fit(X, y)
    assert tree.structure_.missing_child[0] == 0


def test_missing_values_with_a_branch_of_their_own():
    x = np.repeat([0.0, 1.0, np.nan], 20)[:, None]
    y = np.repeat(list("abc"), 20)
    tree = MetaTreeClassifier(missing="branch", max_depth=1).fit(x, y)
    assert tree.structure_.n_children[0] in (2, 3)
    deep = MetaTreeClassifier(missing="branch").fit(x, y)
    assert deep.predict([[0.0], [1.0], [np.nan]]).tolist() == ["a", "b", "c"]
    # Where no row was missing, a missing value stops, and the node speaks.
    full = MetaTreeClassifier(missing="branch").fit(x[:40], y[:40])
    np.testing.assert_allclose(full.predict_proba([[np.nan]]), [[0.5, 0.5]])


# Learning, forgetting, merging


@pytest.fixture(scope="module")
def started():
    """Data, and an estimator that has learned the first 60 rows."""
    frame, y = table()
    return frame, y, MetaTreeRegressor(random_state=0).fit(frame[:60], y[:60])


def same(one, other, frame):
    assert one.log_evidence_ == pytest.approx(other.log_evidence_, rel=1e-12)
    np.testing.assert_allclose(one.predict(frame), other.predict(frame), rtol=1e-11)


def test_batches_are_as_good_as_all_rows_at_once(started):
    frame, y, first = started
    at_once = MetaTreeRegressor(
        first.structure_, leaf_model=first.leaf_model_, split_prior=first.meta_tree_.g
    )
    parts = clone(at_once)
    at_once.fit(frame, y)
    for rows in np.array_split(np.random.default_rng(1).permutation(len(y)), 7):
        parts.partial_fit(frame.iloc[rows], y[rows])
    same(parts, at_once, frame)
    same(
        pickle.loads(pickle.dumps(first)).partial_fit(frame[60:], y[60:]), parts, frame
    )


def test_counts_of_batches_are_the_same_to_the_last_bit(wine):
    X, _, y, _ = wine
    names = np.array(["low", "middle", "high"])[y]
    cart = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    structure = MetaTreeClassifier(cart).fit(X, y).structure_
    at_once = MetaTreeClassifier(structure).fit(X, names)
    parts = MetaTreeClassifier(structure)
    for rows in np.array_split(np.argsort(y), 5):
        parts.partial_fit(X[rows], names[rows], classes=np.unique(names))
    np.testing.assert_array_equal(parts.predict_proba(X), at_once.predict_proba(X))
    assert parts.log_evidence_ == at_once.log_evidence_
    with pytest.raises(exceptions.InputError, match="'huge'"):
        parts.partial_fit(X[:1], ["huge"])


def test_unlearned_rows_leave_no_trace(started):
    frame, y, first = started
    went_on = pickle.loads(pickle.dumps(first)).partial_fit(frame[60:], y[60:])
    assert went_on.log_evidence_ != pytest.approx(first.log_evidence_)
    same(went_on.unlearn(frame[60:], y[60:]), first, frame)
    with refuses(exceptions.InputError):
        went_on.unlearn(frame, y)
    same(went_on, first, frame)


def test_shards_merge(started):
    frame, y, first = started
    both = pickle.loads(pickle.dumps(first)).partial_fit(frame[60:], y[60:])
    shard = MetaTreeRegressor(
        first.structure_, leaf_model=first.leaf_model_, split_prior=first.meta_tree_.g
    ).fit(frame[60:], y[60:])
    same(pickle.loads(pickle.dumps(first)).merge(shard), both, frame)
    other = MetaTreeRegressor(random_state=0).fit(frame[:90], y[:90])
    with refuses(exceptions.InputError):
        first.merge(other)
    with refuses(exceptions.InputError):
        first.merge(MetaTreeClassifier().fit(frame, y > 0))
    with refuses(exceptions.InputError):
        first.merge(first)


@pytest.mark.parametrize("kind", [MetaTreeRegressor, MetaForestRegressor])
def test_a_copy_learns_by_itself(started, kind):
    frame, y, _ = started
    model = kind(random_state=0).fit(frame[:60], y[:60])
    before, other = model.predict(frame), copy(model)
    after = other.partial_fit(frame[60:], y[60:]).predict(frame)
    assert not np.array_equal(after, before)
    np.testing.assert_array_equal(model.predict(frame), before)


def test_a_posterior_that_comes_late_forgets_no_rows(monkeypatch):
    tree = MetaTree(given([0], n_values=2), BernoulliBeta())

    def compute(*of):
        # Rows that another thread learns meanwhile.
        monkeypatch.undo()
        tree.update([[0], [1]], [0, 1])
        return meta_tree.compute_posterior(*of)

    monkeypatch.setattr(meta_tree, "compute_posterior", compute)
    tree.posterior()
    assert tree.weight == 2.0
    fresh = MetaTree(tree.structure, BernoulliBeta()).update([[0], [1]], [0, 1])
    assert tree.log_evidence == fresh.log_evidence


@pytest.mark.parametrize("kind", [MetaTreeClassifier, MetaTreeRegressor])
def test_a_weight_is_so_many_rows(kind):
    rng = np.random.default_rng(0)
    X = with_holes(rng.normal(size=(120, 3)), 0.1)
    y = np.nan_to_num(X[:, 0] + X[:, 1]) + rng.normal(size=120)
    if kind is MetaTreeClassifier:
        y = (y > 0).astype(int)
    weight = rng.integers(0, 4, 120)
    model = kind(min_samples_leaf=3, max_depth=4, random_state=0)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=1e-10)
    np.testing.assert_allclose(weighted.log_density(X, y), repeated.log_density(X, y))


def test_fractions_count():
    tree = MetaTreeClassifier(given([0], 2)).fit([[0], [1]], [0, 1], [0.25, 2.5])
    assert tree.meta_tree_.own[1:].tolist() == [[0.25, 0.0], [0.0, 2.5]]


# Baking


@pytest.mark.parametrize("missing", ["evidence", "branch"])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_baked_trees_predict_the_average(wine, missing, share):
    X, X_test, y, _ = wine
    names = np.array(["low", "middle", "high"])[y]
    tree = MetaTreeClassifier(missing=missing, random_state=0)
    tree.fit(with_holes(X, share), names)
    queries = with_holes(X_test, 0.3)
    p = tree.predict_proba(queries)
    np.testing.assert_allclose(tree.to_ensemble().predict_proba(queries), p, atol=1e-12)
    plain = tree.to_sklearn()
    assert type(plain) is DecisionTreeClassifier
    np.testing.assert_allclose(plain.predict_proba(queries), p, atol=1e-12)
    np.testing.assert_array_equal(plain.predict(queries), tree.predict(queries))


def test_categories_that_no_question_tells_apart_bake_alike():
    hues = pd.Categorical(["red", "blue", "green", "grey"] * 20)
    warm = hues.isin(["red", "grey"])
    tree = MetaTreeRegressor(max_depth=1, random_state=0)
    tree.fit(pd.DataFrame({"hue": hues}), 3.0 * warm)
    rows = pd.DataFrame({"hue": ["grey", "red", "green", "blue", "white", None]})
    expected = tree.predict(rows)
    assert expected[:4] == pytest.approx([3.0, 3.0, 0.0, 0.0], abs=0.2)
    np.testing.assert_allclose(tree.to_ensemble().predict(rows), expected, rtol=1e-12)


def test_scikit_learn_sees_the_same_at_the_cuts():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree = MetaTreeRegressor(random_state=0).fit(X, y)
    plain = tree.to_sklearn()
    assert type(plain) is DecisionTreeRegressor
    assert plain.feature_names_in_.tolist() == X.columns.tolist()
    cuts = tree.structure_.coder.bins.cuts
    rows = X.head(400).to_numpy().copy()
    for d, cut in enumerate(cuts):
        beside = np.concatenate([cut, np.nextafter(cut, np.inf)])[:400]
        rows[: len(beside), d] = beside
    frame = pd.DataFrame(rows, columns=X.columns)
    np.testing.assert_allclose(plain.predict(frame), tree.predict(frame), rtol=1e-12)


def test_nodes_with_many_answers_bake_into_questions_in_a_row():
    rng = np.random.default_rng(0)
    X = rng.integers(0, [3, 2], (100, 2)).astype(float)
    X = with_holes(X, 0.1)
    for missing in ("branch", "stop"):
        structure = given([0, 1, 1, -1], n_values=[3, 2], missing=missing)
        tree = MetaTreeRegressor(structure).fit(X, np.nansum(X, axis=1))
        rows = [[a, b] for a in (0, 1, 2, 7, np.nan) for b in (0, 1, -3, np.nan)]
        expected = tree.predict(rows)
        np.testing.assert_allclose(
            tree.to_ensemble().predict(rows), expected, rtol=1e-12
        )
        np.testing.assert_allclose(tree.to_sklearn().predict(rows), expected)


def test_what_scikit_learn_cannot_say_is_refused():
    frame, y = table()
    tree = MetaTreeRegressor(random_state=0).fit(frame, y)
    with refuses(exceptions.InputError, match="'hue'"):
        tree.to_sklearn()


def test_pickle_and_clone(started):
    frame, y, first = started
    again = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(again.predict(frame), first.predict(frame))
    assert not hasattr(clone(first), "log_evidence_")
    refit = clone(MetaTreeRegressor(first.structure_)).fit(frame, y)
    assert refit.structure_.same_as(first.structure_)


# What is said of wrong input


def test_labels_are_named_as_they_were_written(wine):
    X, _, y, _ = wine
    tree = MetaTreeClassifier(max_depth=1).fit(X, y)
    with refuses(exceptions.InputError):
        tree.log_density(X[:2], [0, 7])
    other = MetaTreeClassifier(max_depth=1).fit(X, y + 1)
    with refuses(exceptions.InputError):
        tree.merge(other)


def test_shards_with_other_priors_are_told_which(wine):
    X, _, y, _ = wine
    first = MetaTreeClassifier(max_depth=2, random_state=0).fit(X[:60], y[:60])
    both = pickle.loads(pickle.dumps(first)).partial_fit(X[60:], y[60:])
    # The structure was not searched on these rows, so "auto" means another prior.
    shard = MetaTreeClassifier(first.structure_, leaf_model=first.leaf_model_)
    with refuses(exceptions.InputError, match=r"0\.5"):
        first.merge(clone(shard).fit(X[60:], y[60:]))
    shard.set_params(prior="constant", split_prior=first.meta_tree_.g)
    first.merge(shard.fit(X[60:], y[60:]))
    np.testing.assert_array_equal(first.predict_proba(X), both.predict_proba(X))


def test_a_structure_among_the_parameters_takes_one_line(wine):
    X, _, y, _ = wine
    structure = MetaTreeClassifier(max_depth=2, random_state=0).fit(X, y).structure_
    expected = f"<Structure: {structure.n_nodes} nodes, "
    assert repr(structure).startswith(expected)
    assert expected in repr(MetaTreeClassifier(structure))
    assert "array" not in repr(structure)


def test_wrong_numbers_are_refused_in_the_words_of_the_estimator(wine):
    X, _, y, _ = wine
    with refuses(exceptions.InputError, match="'half'"):
        MetaTreeClassifier(split_prior="half").fit(X, y)
    with refuses(exceptions.InputError, match=r"\(2, 2\)"):
        MetaTreeClassifier(
            split_prior=lambda depth: [0.5, 0.5], max_depth=2, random_state=0
        ).fit(X, y)
    tree = MetaTreeRegressor(max_depth=1).fit(X, y)
    with refuses(exceptions.InputError):
        tree.predict_quantile(X, [])
    line = LinearRegressionNormalGamma((0.0, 0.0, 0.0))
    with refuses(exceptions.InputError):
        MetaTreeRegressor(leaf_model=line).fit(X, y)
    holes = X[:, :2].copy()
    holes[4, 1] = np.nan
    with refuses(exceptions.InputError, match="'x1'"):
        MetaTreeRegressor(leaf_model=line).fit(holes, y)


@pytest.mark.parametrize("kind", [MetaTreeClassifier, MetaForestClassifier])
def test_dates_are_numbers_of_days(kind):
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=20), "size": 1.0})
    late = np.arange(20) > 9
    found = kind(random_state=0).fit(days, late)
    assert (found.predict(days) == late).all()
    days["day"] = (days["day"] - pd.Timestamp(0)).dt.days
    again = kind(random_state=0).fit(days, late)
    np.testing.assert_array_equal(
        again.predict_proba(days),
        found.predict_proba(days.assign(day=pd.to_datetime(days["day"], unit="D"))),
    )


def test_later_classes_are_those_of_the_first_fit():
    X, y = np.arange(20.0)[:, None], np.repeat(["a", "b"], 10)
    tree = MetaTreeClassifier(random_state=0).partial_fit(X, y, classes=["a", "b"])
    learned = tree.partial_fit(X, y, ["b", "a"]).meta_tree_.weight
    with pytest.raises(InputError, match="sample_weight="):
        tree.partial_fit(X, y, np.ones(20))
    assert tree.meta_tree_.weight == learned == 40.0


def test_numbers_are_told_as_what_they_are_in_all_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.integers(20, 80, 200), "smokes": rng.random(200) < 0.5}
    )
    y = np.where((X["age"] > 49) & X["smokes"], "ill", "well")
    tree = MetaTreeClassifier(random_state=0).fit(X, y)
    assert "age <= 49 " in str(tree.rules_)
    same_lines(str(tree.rules_))
    other = pickle.loads(pickle.dumps(tree))
    # What is true of the first rows alone is not said any more.
    tree.partial_fit(X.assign(age=X["age"] + 0.3), y)
    assert "age <= 49.5 " in str(tree.rules_)
    same_lines(str(tree.rules_))
    assert "age <= 49.5 " in str(other.merge(tree).rules_)


def test_rows_times_classes_are_predicted_some_at_a_time(monkeypatch):
    X, y = load_wine(return_X_y=True)
    tree = MetaTreeClassifier(random_state=0).fit(X, y)
    expected, asked = tree.predict_proba(X), []
    whole = MetaTree.predictive

    def predictive(self, codes):
        asked.append(len(codes))
        return whole(self, codes)

    monkeypatch.setattr(MetaTree, "predictive", predictive)
    width = 3 * (int(tree.structure_.depth.max()) + 1)
    cells = "clearwood.metatree.posterior.predictive.MIXTURE_CELLS"
    monkeypatch.setattr(cells, 7 * width + 2)
    np.testing.assert_array_equal(tree.predict_proba(X), expected)
    assert asked == [7] * 25 + [3]


def test_thousands_of_categories_take_no_square_of_memory():
    rng, n = np.random.default_rng(0), 4000
    codes = rng.integers(n, size=2 * n)
    X = pd.DataFrame({"place": pd.Categorical([f"p{code}" for code in codes])})
    y = (rng.normal(size=n)[codes] > 0).astype(int) + (codes % 7 == 0)
    tracemalloc.start()
    try:
        tree = MetaTreeClassifier(random_state=0).fit(X, y)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 * n**2 / 2
    assert tree.score(X, y) > 0.9
