"""Any order, batches and shards give one posterior, which is that of enumeration."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.distributions.naive import moments
from tests.metatree import naive
from tests.wording import refuses

from clearwood.exceptions import InputError, LostDigitsWarning
from clearwood.metatree import (
    BernoulliBeta,
    CategoricalDirichlet,
    ExponentialGamma,
    LinearRegressionNormalGamma,
    MetaTree,
    NormalNormalGamma,
    PoissonGamma,
    compute_posterior,
    constant_prior,
    search_corrected_prior,
)
from clearwood.metatree import given as given_tree

MODELS = {
    "bernoulli": BernoulliBeta(0.5, 1.5),
    "categorical": CategoricalDirichlet((0.5, 1.0, 1.5)),
    "poisson": PoissonGamma(1.5, 0.5),
    "exponential": ExponentialGamma(2.5, 0.5),
    "normal": NormalNormalGamma(0.2, 0.5, 2.0, 1.5),
    "linear": LinearRegressionNormalGamma((0.0, 0.1), 0.5, 2.0, 1.5),
}
# Features with 3, 2 and 2 values; the nodes are not a perfect tree.
STRUCTURE = given_tree([0, 1, 2, -1, 2, -1, 1], n_values=[3, 2, 2])
# One so large that few rows change few of its nodes.
LARGE = given_tree(np.arange(400) % 3, n_values=[3, 2, 2])
SLOW = settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))


def targets(name, n, rng, shift=0.0):
    if name == "bernoulli":
        return rng.integers(0, 2, n)
    if name == "categorical":
        return rng.integers(0, 3, n)
    if name == "poisson":
        return rng.poisson(3.0, n)
    if name == "exponential":
        return rng.exponential(2.0, n)
    return rng.normal(size=n) + shift


class Rows:
    """Rows of codes with targets, some of them with unseen values."""

    def __init__(self, name, n, seed, weighted=False, shift=0.0):
        rng = np.random.default_rng(seed)
        self.codes = rng.integers(0, [3, 2, 2], (n, 3))
        # Two of them have to stop on their way.
        self.codes[: n // 5, 2] = 9
        self.codes[: n // 10, 0] = -1
        self.codes = self.codes[rng.permutation(n)]
        self.y = targets(name, n, rng, shift)
        self.weight = rng.integers(0, 9, n) / 4 if weighted else None
        self.x = np.column_stack([np.ones(n), rng.normal(size=n)])
        self.x = self.x if name == "linear" else None

    def part(self, rows):
        return [
            None if a is None else a[rows]
            for a in (self.codes, self.y, self.weight, self.x)
        ]

    def weights(self):
        return np.ones(len(self.y)) if self.weight is None else self.weight


def learned(name, rows, structure=STRUCTURE, g=0.4):
    return MetaTree(structure, MODELS[name], g).update(*rows.part(slice(None)))


def assert_same(a, b, exact):
    """Equal statistics (counts to the last bit) and posteriors."""
    n = a.own.shape[1] if a.model.n_columns is None else 1
    if isinstance(a.model, BernoulliBeta | CategoricalDirichlet):
        assert np.array_equal(a.own, b.own)
    assert np.array_equal(a.own[:, 0], b.own[:, 0])
    scale = np.abs(b.own).max(initial=1.0)
    np.testing.assert_allclose(a.own[:, n:], b.own[:, n:], exact, exact * scale)
    p, q = a.posterior(), b.posterior()
    np.testing.assert_allclose(p.g, q.g, rtol=exact, atol=exact)
    np.testing.assert_allclose(p.log_q, q.log_q, rtol=exact, atol=exact)


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


@given(seed=st.integers(0, 2**32), weighted=st.booleans(), data=st.data())
@SLOW
def test_any_order_batches_and_shards(seed, weighted, data):
    name = data.draw(st.sampled_from(sorted(MODELS)))
    n = data.draw(st.integers(1, 60))
    rows = Rows(name, n, seed, weighted)
    at_once = learned(name, rows)
    order = data.draw(st.permutations(range(n)))
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    batches = np.split(np.array(order, dtype=int), cuts)
    shards = [MetaTree(STRUCTURE, MODELS[name], 0.4) for _ in range(3)]
    for batch in batches:
        shard = shards[data.draw(st.integers(0, 2))]
        shard.update(*rows.part(batch))
    merged = shards[0].merge(shards[1]).merge(shards[2])
    assert_same(merged, at_once, 1e-12)


@given(seed=st.integers(0, 2**32), data=st.data())
@SLOW
def test_batches_in_order_are_the_same_to_the_last_bit(seed, data):
    name = data.draw(st.sampled_from(sorted(MODELS)))
    rows = Rows(name, 40, seed)
    cuts = sorted(data.draw(st.lists(st.integers(0, 40), max_size=6)))
    tree = MetaTree(STRUCTURE, MODELS[name], 0.4)
    for batch in np.split(np.arange(40), cuts):
        tree.update(*rows.part(batch)).posterior()
    assert np.array_equal(tree.own, learned(name, rows).own)


@given(seed=st.integers(0, 2**32), weighted=st.booleans(), data=st.data())
@SLOW
def test_unlearn(seed, weighted, data):
    name = data.draw(st.sampled_from(sorted(MODELS)))
    n = data.draw(st.integers(1, 50))
    rows = Rows(name, n, seed, weighted)
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    tree = learned(name, rows).unlearn(*rows.part(gone))
    kept = MetaTree(STRUCTURE, MODELS[name], 0.4).update(*rows.part(~gone))
    assert_same(tree, kept, 1e-11)
    assert not tree.unlearn(*rows.part(~gone)).own.any()


def test_rows_that_were_never_learned_cannot_be_taken_out(name):
    rows = Rows(name, 20, 0)
    tree = MetaTree(STRUCTURE, MODELS[name]).update(*rows.part(slice(0, 10)))
    before = tree.own.copy()
    with refuses(InputError):
        tree.unlearn(*rows.part(slice(0, 20)))
    assert np.array_equal(tree.own, before)


@pytest.mark.parametrize("name", ["normal", "linear"])
def test_rows_with_other_values_cannot_be_taken_out(name):
    """Weights would be left, but with a negative variance: no distribution at all."""
    rows = Rows(name, 40, 0)
    tree = learned(name, rows)
    before = tree.own.copy()
    codes, y, *rest = rows.part(slice(0, 20))
    with refuses(InputError):
        tree.unlearn(codes, y + 50.0, *rest)
    assert np.array_equal(tree.own, before)


@pytest.mark.parametrize(("shift", "exact"), [(1e3, 1e-12), (1e8, 1e-7)])
def test_moments_far_from_zero(shift, exact):
    """Squares about the mean keep their digits; of sums of squares, none were left."""
    rows = Rows("normal", 500, 3, shift=shift)
    found = learned("normal", rows)
    ends = STRUCTURE.route(rows.codes)
    for node in np.unique(ends):
        here = rows.y[ends == node]
        expected = moments(here[:, None], np.ones(len(here)))
        np.testing.assert_allclose(found.own[node], expected, rtol=exact)
    total = found.posterior().total[0]
    expected = np.sum((rows.y - rows.y.mean()) ** 2)
    assert total[2] == pytest.approx(expected, rel=exact)


@given(seed=st.integers(0, 2**32), data=st.data())
@SLOW
def test_one_by_one_is_the_batch(seed, data):
    name = data.draw(st.sampled_from(sorted(MODELS)))
    rows = Rows(name, data.draw(st.integers(1, 80)), seed)
    batch = learned(name, rows)
    stream = MetaTree(STRUCTURE, MODELS[name], 0.4)
    start = data.draw(st.integers(0, len(rows.y)))
    stream.update(*rows.part(slice(0, start)))
    before = stream.log_evidence
    densities = []
    for codes, y, _, x in (rows.part([i]) for i in range(start, len(rows.y))):
        densities += stream.update_stream(codes, y, x).tolist()
    held = stream.posterior()
    fresh = compute_posterior(STRUCTURE, MODELS[name], stream.g, stream.own)
    assert np.array_equal(stream.own[:, 0], batch.own[:, 0])
    # Log factorials come from two libraries.
    np.testing.assert_allclose(stream.own, batch.own, rtol=1e-14)
    for attribute in ("g", "log_q", "log_marginal", "total", "reach"):
        np.testing.assert_allclose(
            getattr(held, attribute), getattr(fresh, attribute),
            rtol=1e-11, atol=1e-12,
        )  # fmt: skip
    assert before + sum(densities) == pytest.approx(batch.log_evidence, rel=1e-12)


def test_a_long_stream():
    """Differences do not add up over ten thousand rows."""
    rng = np.random.default_rng(0)
    structure = given_tree([0] + [1] * 2 + [2] * 4, n_values=2, n_features=3)
    codes = rng.integers(0, 2, (10_000, 3))
    y = (rng.random(10_000) < 0.2 + 0.5 * codes[:, 0] * codes[:, 1]).astype(int)
    stream = MetaTree(structure, BernoulliBeta())
    log_density = stream.update_stream(codes, y)
    batch = MetaTree(structure, BernoulliBeta()).update(codes, y).posterior()
    assert log_density.sum() == pytest.approx(batch.log_evidence, rel=1e-13)
    np.testing.assert_allclose(stream.posterior().g, batch.g, rtol=1e-10)


def test_few_rows_change_only_nodes_on_their_ways(name):
    """To the last bit as all would be computed anew, and in nobody else's arrays."""
    rows = Rows(name, 140, 5, weighted=True)
    tree = MetaTree(LARGE, MODELS[name], 0.4).update(*rows.part(slice(0, 100)))
    other, own, n_rows = copy.copy(tree), tree.own.copy(), tree.rows.copy()
    for start in range(100, 140, 5):
        if start == 110:
            tree.update(*rows.part(slice(0, 0)))  # forgets its posterior
        elif start == 120:
            held = tree.posterior()
            known = held.log_q.copy()
        else:
            assert np.isfinite(tree.log_evidence)
        assert tree._are_few(np.zeros(5))
        tree.update(*rows.part(slice(start, start + 5)))
        fresh = compute_posterior(LARGE, MODELS[name], tree.g, tree._state.own)
        for part in ("own", "total", "known", "log_marginal", "log_q", "log_odds"):
            found, expected = getattr(tree.current(), part), getattr(fresh, part)
            assert np.array_equal(found, expected)
    whole = MetaTree(LARGE, MODELS[name]).update(*rows.part(slice(None)))
    assert np.array_equal(tree.own, whole.own)
    assert np.array_equal(tree.rows, whole.rows)
    assert np.array_equal(other.own, own) and np.array_equal(other.rows, n_rows)
    assert np.array_equal(held.log_q, known)


def test_few_rows_after_a_stream():
    rows = Rows("normal", 110, 7)
    tree = MetaTree(LARGE, MODELS["normal"])
    tree.update_stream(*rows.part(slice(0, 100))[:2])
    tree.update(*rows.part(slice(100, 110)))
    fresh = compute_posterior(LARGE, tree.model, tree.g, tree.own)
    assert np.array_equal(tree.posterior().log_q, fresh.log_q)


def test_few_rows_ask_for_no_more_than_their_ways(name):
    rows = Rows(name, 130, 6)
    tree = MetaTree(LARGE, MODELS[name], 0.4).update(*rows.part(slice(0, 100)))
    ends = LARGE.route(rows.codes[100:105])
    few = tree.current().path_weights(ends)
    assert "g" not in vars(tree.current())
    assert tree.current().g.size == LARGE.n_nodes
    for found, expected in zip(few, tree.current().path_weights(ends)):
        assert np.array_equal(found, expected)


def test_a_posterior_that_was_handed_out_does_not_change(name):
    rows = Rows(name, 30, 1)
    tree = MetaTree(STRUCTURE, MODELS[name]).update(*rows.part(slice(0, 10)))
    posterior = tree.posterior()
    known = [a.copy() for a in (posterior.own, posterior.total, posterior.log_q)]
    codes, y, _, x = rows.part([10])
    tree.update_stream(codes, y, x)
    second = tree.posterior()
    own = second.own.copy()
    tree.update(*rows.part(slice(11, 20)))
    assert np.array_equal(second.own, own)
    tree.unlearn(*rows.part(slice(11, 12)))
    tree.merge(tree)
    now = (posterior.own, posterior.total, posterior.log_q)
    assert all(np.array_equal(a, b) for a, b in zip(now, known))
    assert tree.weight == 2 * 19


# Beside enumeration


@pytest.mark.parametrize("weighted", [False, True])
def test_posterior_is_that_of_all_prunings(name, weighted):
    rows = Rows(name, 30, 5, weighted)
    tree = learned(name, rows, g=np.linspace(0.2, 0.8, STRUCTURE.n_nodes))
    posterior = tree.posterior()
    ends = STRUCTURE.route(rows.codes)
    weighed = naive.weighed_prunings(
        STRUCTURE, tree.model, tree.g, ends, rows.y, rows.weights(), rows.x
    )
    log_evidence = naive.log_sum([log_p for *_, log_p in weighed])
    assert posterior.log_evidence == pytest.approx(log_evidence, rel=1e-12)
    reach, leaf = np.zeros(STRUCTURE.n_nodes), np.zeros(STRUCTURE.n_nodes)
    for inner, leaves, log_p in weighed:
        p = np.exp(log_p - log_evidence)
        reach[list(inner | leaves)] += p
        leaf[list(leaves)] += p
    np.testing.assert_allclose(posterior.reach, reach, rtol=1e-10)
    np.testing.assert_allclose(posterior.leaf, leaf, rtol=1e-10)
    used = naive.feature_used(STRUCTURE, weighed)
    np.testing.assert_allclose(posterior.feature_used, used, rtol=1e-10)

    weighed.sort(key=lambda w: -w[2])
    top = posterior.top_trees(len(weighed) + 5)
    assert len(top) == len(weighed)
    for found, (_, _, log_p) in zip(top, weighed):
        assert found.log_probability == pytest.approx(log_p - log_evidence, abs=1e-9)
        asks = np.isin(np.arange(STRUCTURE.n_nodes), found.inner)
        assert posterior.pruned(asks).log_probability == found.log_probability
    best = posterior.map_tree()
    assert best.inner.tolist() == sorted(weighed[0][0]) == top[0].inner.tolist()
    assert best.leaves.tolist() == sorted(weighed[0][1])


def test_prediction_is_a_ratio_of_evidences(name):
    if name == "linear":
        pytest.skip("the twin hands no features on")
    rows = Rows(name, 25, 7)
    rows.codes = np.clip(rows.codes, 0, 1)  # none stop on their way
    tree = learned(name, rows)
    ends = STRUCTURE.route(rows.codes)
    predictive = tree.predictive(rows.codes[:6])
    found = predictive.log_density(rows.y[:6])
    for i in range(6):
        expected = naive.log_density(
            STRUCTURE, tree.model, tree.g, ends, rows.y, rows.weights(), ends[i],
            rows.y[i],
        )  # fmt: skip
        assert found[i] == pytest.approx(expected, rel=1e-9)


def test_moments_and_quantiles_of_the_mixture(name):
    rows = Rows(name, 40, 2)
    tree = learned(name, rows)
    p = tree.predictive(rows.codes, rows.x)
    posterior = tree.posterior()
    nodes, weight = posterior.path_weights(STRUCTURE.route(rows.codes))
    np.testing.assert_allclose(weight.sum(axis=1), 1.0, rtol=1e-14)
    x = None if rows.x is None else rows.x[:, None]
    parts = tree.model.mean(posterior.total[nodes], x)
    mean = (weight * parts).sum(axis=1)
    np.testing.assert_allclose(p.mean(), mean, rtol=1e-12)
    spread = tree.model.variance(posterior.total[nodes], x) + parts**2
    variance = (weight * spread).sum(axis=1) - mean**2
    np.testing.assert_allclose(p.variance(), variance, rtol=1e-9)
    density = tree.model.log_density(posterior.total[nodes], rows.y[:, None], x)
    found = np.exp(p.log_density(rows.y))
    np.testing.assert_allclose(found, (weight * np.exp(density)).sum(1), rtol=1e-10)
    levels = [0.05, 0.5, 0.95]
    for level, q in zip(levels, p.quantile(levels).T):
        assert np.array_equal(q, p.quantile(level))
        if tree.model.discrete:
            assert (p.cdf(q) >= level).all()
            assert (p.cdf(q - 1) < level).all()
        else:
            np.testing.assert_allclose(p.cdf(q), level, rtol=1e-9)


def test_a_row_that_stops_gets_the_rest_from_its_node():
    rows = Rows("bernoulli", 60, 4)
    tree = learned("bernoulli", rows)
    posterior = tree.posterior()
    unseen = np.array([[1, 0, 9]])
    (node,) = STRUCTURE.route(unseen)
    assert not STRUCTURE.is_leaf[node] and node > 0
    means = tree.model.mean(posterior.total[[0, node]])
    g = posterior.g[0]
    expected = (1 - g) * means[0] + g * means[1]
    assert tree.predictive(unseen).mean()[0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("rounding", "best"), [(2e-14, []), (1e-9, [0])])
def test_what_rounding_tells_apart_is_a_tie(rounding, best):
    """Of two trees whose probabilities differ in the last bits, the smaller one."""
    posterior = MetaTree(given_tree([0], n_values=2), BernoulliBeta()).posterior()
    nearly = replace(posterior, log_odds=np.array([rounding, -np.inf, -np.inf]))
    assert nearly.map_tree().inner.tolist() == best
    assert nearly.top_trees(1)[0].inner.tolist() == best


def test_sampled_trees():
    tree = learned("bernoulli", Rows("bernoulli", 60, 4))
    posterior = tree.posterior()
    asks = posterior.sample_trees(20_000, random_state=0)
    inner = posterior.reach * posterior.g
    np.testing.assert_allclose(asks.mean(axis=0), inner, atol=0.015)
    has_parent = asks[:, STRUCTURE.parent[1:]] | ~asks[:, 1:]
    assert has_parent.all()
    again = posterior.sample_trees(20_000, random_state=0)
    assert np.array_equal(asks, again)


# Priors, and what is refused


def test_search_corrected_prior():
    found = search_corrected_prior(STRUCTURE, 0.6, 3)
    expected = naive.search_corrected(STRUCTURE, 0.6, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    same = search_corrected_prior(STRUCTURE, 0.6, 1)
    np.testing.assert_allclose(same, constant_prior(STRUCTURE, 0.6), rtol=1e-14)
    total = sum(
        np.prod(found[list(inner)]) * np.prod(1 - found[list(leaves)])
        for inner, leaves in naive.prunings(STRUCTURE)
    )
    assert total == pytest.approx(1.0, rel=1e-14)


def test_search_corrected_prior_of_a_very_wide_tree():
    wide = given_tree([0] + [1] * 200, n_values=200, n_features=1000)
    g = search_corrected_prior(wide, 1.0 - 1e-9)
    assert 0.0 <= g[0] < 1e-300
    assert g[1] == pytest.approx(1.0, abs=1e-6)


def test_a_small_weight_may_carry_the_density_of_a_row():
    # The split is as good as sure, and rules a target out that the root allows.
    x = np.repeat([0, 1], 50)[:, None]
    y = 40.0 * x[:, 0] + np.random.default_rng(0).normal(size=100)

    def learned(log_g):
        tree = MetaTree(given_tree([0], n_values=2), NormalNormalGamma(), np.exp(log_g))
        return tree.update(x, y)

    tree = learned(40.0 - learned(np.log(0.5)).posterior().log_odds[0])
    assert tree.posterior().g[0] == 1.0
    found = tree.predictive([[0]]).log_density([40.0])[0]
    leaf, total = tree.model, tree.posterior().total
    assert found > 5.0 + leaf.log_density(total[1], 40.0)
    assert found == pytest.approx(tree.update_stream([[0]], [40.0])[0], rel=1e-9)


def test_the_last_of_very_many_rows_stays():
    tree = MetaTree(given_tree([0], n_values=2), BernoulliBeta(), 0.5)
    tree.update([[0], [0]], [1, 0], [4e9, 1.0]).unlearn([[0]], [1], [4e9])
    assert tree.own.tolist() == [[0, 0], [1, 0], [0, 0]]


def test_rounding_leaves_no_negative_squares():
    rng = np.random.default_rng(0)
    for name in ("normal", "linear"):
        rows = Rows(name, 60, 1)
        rows.y = np.where(np.arange(60) < 30, 1e8 * rng.normal(size=60), 0.1)
        tree = learned(name, rows)
        with pytest.warns(LostDigitsWarning):
            tree.unlearn(*rows.part(slice(30)))
        d = tree.model.n_columns
        assert (tree.own[:, d + np.cumsum(np.arange(1, d + 1))] >= 0.0).all()


@pytest.mark.parametrize("g", [0.0, 1.0])
def test_certain_priors(g):
    rows = Rows("normal", 30, 0)
    posterior = learned("normal", rows, g=g).posterior()
    assert posterior.g[~STRUCTURE.is_leaf].tolist() == [g] * 5
    assert len(posterior.top_trees(3)) == 1
    assert posterior.map_tree().probability == 1.0
    tree = MetaTree(STRUCTURE, MODELS["normal"], g)
    tree.update_stream(rows.codes, rows.y)
    np.testing.assert_allclose(tree.posterior().log_q, posterior.log_q, rtol=1e-12)


def test_no_rows_leave_the_prior():
    posterior = MetaTree(STRUCTURE, BernoulliBeta(), 0.3).posterior()
    np.testing.assert_allclose(posterior.g[~STRUCTURE.is_leaf], 0.3, rtol=1e-15)
    assert posterior.log_evidence == 0.0


def test_pickle(name):
    rows = Rows(name, 20, 0)
    tree = learned(name, rows)
    copy = pickle.loads(pickle.dumps(tree))
    assert np.array_equal(copy.own, tree.own)
    assert np.array_equal(copy.posterior().g, tree.posterior().g)
    assert copy.merge(tree).weight == 40


def test_a_tree_of_one_leaf():
    tree = MetaTree(given_tree([-1], n_values=2, n_features=1), BernoulliBeta())
    tree.update([[0], [5]], [1, 1]).update_stream([[0]], [0])
    assert tree.posterior().map_tree().leaves.tolist() == [0]
    assert tree.predictive([[1]]).mean()[0] == pytest.approx(2.5 / 4)


def test_what_does_not_fit_is_refused():
    tree = learned("bernoulli", Rows("bernoulli", 20, 0))
    other = MetaTree(given_tree([0], n_values=[3, 2, 2]), MODELS["bernoulli"], 0.4)
    with refuses(InputError):
        tree.merge(other)
    with refuses(InputError):
        tree.merge(MetaTree(STRUCTURE, MODELS["bernoulli"], 0.5))
    with refuses(InputError):
        tree.update([[0, 0, 0], [0, 0, 0]], [1])
    with refuses(InputError):
        tree.update([[0, 0, 0]], [1], weight=[-1.0])
    with refuses(InputError):
        tree.update([[0.0, 0.0, 0.0]], [1])
    with refuses(InputError):
        tree.update([[0, 0]], [1])
    with refuses(InputError):
        MetaTree(STRUCTURE, MODELS["linear"]).update([[0, 0, 0]], [1.0])
    with refuses(InputError):
        MetaTree(STRUCTURE, MODELS["normal"]).predictive([[0, 0, 0]]).probabilities()
    with refuses(InputError):
        tree.predictive([[0, 0, 0]]).quantile(1.0)
    with refuses(InputError):
        constant_prior(STRUCTURE, 1.5)
    with refuses(InputError):
        constant_prior(STRUCTURE, [0.5, 0.5])
    with pytest.raises(InputError, match="n_searched"):
        search_corrected_prior(STRUCTURE, 0.5, 0)
    with refuses(InputError):
        tree.posterior().top_trees(0)
