"""What states emit: likelihoods, statistics, posteriors and draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.sequences.golden_facts import joined, parts, section
from tests.sequences.made import (
    coin_parameters,
    coins,
    normal,
    normal_parameters,
    observed,
    rows_of,
)

from clearwood.distributions import (
    CategoricalEmission,
    JointEmission,
    NormalEmission,
)
from clearwood.distributions.categorical import log_dirichlet, mode_of_rows
from clearwood.sequences.states_over_time import (
    StateEvidence,
    filter_states,
    smooth_states,
)

EXACT = 1e-12


def near(found, wanted, atol=EXACT):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=atol)


@pytest.mark.parametrize("name", ["stationary", "uniform", "missing"])
def test_golden_columns_of_switches(name):
    facts = section("multivariate_binary")
    wanted, x = facts[name], facts["missing"]["x"] if name == "missing" else facts["x"]
    start = "uniform" if name == "uniform" else "stationary"
    seen = observed([x])
    emission, table = coins(7), coin_parameters(facts["emission"])
    log_rows = emission.log_likelihood(table, seen.values)
    initial, transition = np.array(facts[f"initial_{start}"]), facts["transition"]
    given = StateEvidence(initial, np.array(transition), log_rows, row=seen.row)
    filtered, log_p = filter_states(given)
    near(filtered, wanted["filtered"])
    near(log_p, [wanted["log_likelihood_x"]])
    smoothed, pairs, _ = smooth_states(given)
    near(smoothed, wanted["smoothed"])
    near(pairs, np.sum(wanted["pairwise"], axis=0))
    ahead = filtered @ given[1] @ emission.expected(table)[:, 1::2]
    near(ahead, wanted["next_feature_probability"][1:])


@pytest.mark.parametrize("name", section("gaussian")["cases"])
def test_golden_normal_columns(name):
    facts = section("gaussian")
    case, p = facts["cases"][name], facts["parameters"]
    values, lengths = rows_of(case["sequences"])
    table = normal_parameters(p["means"], p["covariances"])
    log_rows = normal(2).log_likelihood(table, values)
    near(log_rows, parts(case["per_sequence"], "log_density"))
    initial, transition = np.array(p["initial"]), np.array(p["transition"])
    given = StateEvidence(initial, transition, log_rows, lengths)
    filtered, log_p = filter_states(given)
    near(filtered, parts(case["per_sequence"], "filtered"))
    near(log_p, [part["log_likelihood"] for part in case["per_sequence"]])
    near(smooth_states(given)[0], parts(case["per_sequence"], "smoothed"))
    if len(lengths) == 1:
        ahead = filtered @ given[1] @ normal(2).expected(table)
        near(ahead, case["per_sequence"][0]["predictive_mean"][1:])


@pytest.mark.parametrize("name", ["one", "two_sequences_missing", "empty_state"])
def test_golden_dirichlet_posteriors(name):
    case = section("ffbs")["dirichlet_conditionals"][name]
    row, _ = joined(case["symbols"], np.nan)
    weight = np.eye(case["K"])[np.concatenate(case["states"])]
    alpha = case["prior"]["alpha_emission"]
    emission = CategoricalEmission((alpha,) * case["n_symbols"])
    counts = emission.statistics(np.ones((case["K"], 1)), row[:, None], weight)
    near(counts, case["counts_emission"])
    rng, wanted = np.random.default_rng(0), np.array(case["posterior_mean_emission"])
    drawn = np.array([emission.draw(rng, counts) for _ in range(4000)])
    near(drawn.mean(axis=0), wanted, atol=4 * 0.5 / np.sqrt(4000))
    strength = counts.sum(axis=1, keepdims=True) + alpha * case["n_symbols"]
    variance = wanted * (1 - wanted) / (strength + 1)
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.2)


@pytest.mark.parametrize("case", section("ffbs")["beta_conditionals"]["cases"])
def test_golden_beta_posteriors(case):
    facts = section("ffbs")["beta_conditionals"]
    values, _ = rows_of([facts["x"]])
    weight = np.eye(facts["K"])[facts["states"]]
    emission = coins(3, case["a0"], case["b0"])
    counts = emission.statistics(np.ones((facts["K"], 6)), values, weight)
    near(counts[:, 1::2] + case["a0"], case["a"])
    near(counts[:, ::2] + case["b0"], case["b"])
    rng = np.random.default_rng(0)
    drawn = np.array([emission.draw(rng, counts)[:, 1::2] for _ in range(2000)])
    a, b = np.array(case["a"]), np.array(case["b"])
    near(drawn.mean(axis=0), a / (a + b), atol=4 * 0.5 / np.sqrt(2000))


def test_normal_statistics_lead_to_the_posterior():
    rng = np.random.default_rng(0)
    values, weight = rng.normal(3, 2, size=(30, 2)), rng.dirichlet([1, 1], 30)
    emission = normal(2)
    table = normal_parameters(rng.normal(size=(2, 2)), [np.eye(2), 2 * np.eye(2)])
    found = emission.mode(emission.statistics(table, values, weight))
    prior, kappa, nu = emission.prior, emission.prior.kappa, emission.prior.nu
    for own, w in zip(found, weight.T):
        n, centre = w.sum(), w @ values / w.sum()
        gap, apart = values - centre, centre - prior.mu
        psi = prior.psi + (w[:, None] * gap).T @ gap
        psi += kappa * n / (kappa + n) * np.outer(apart, apart)
        near(own[:2], prior.mu + n / (kappa + n) * apart)
        near(own[2:].reshape(2, 2), psi / (nu + n + 2 + 2))


def test_offsets_cost_no_digits():
    values = np.random.default_rng(0).normal(size=(50, 1))
    emission, weight = normal(1), np.ones((50, 1))
    plain = emission.mode(emission.statistics(np.array([[0.0, 1.0]]), values, weight))
    moved = NormalEmission(emission.prior.__class__(
        emission.prior.mu + 2.0**30, 1.0, emission.prior.nu, emission.prior.psi
    ))  # fmt: skip
    far = np.array([[2.0**30, 1.0]])
    found = moved.mode(moved.statistics(far, values + 2.0**30, weight))
    assert found[0, 1] == pytest.approx(plain[0, 1], rel=1e-6)


def test_missing_entries_are_expected_or_drawn():
    mean, covariance = np.array([1.0, -1.0]), np.array([[1.0, 0.8], [0.8, 1.0]])
    table = normal_parameters([mean], [covariance])
    values = np.array([[2.0, np.nan], [np.nan, np.nan], [0.0, 0.5]])
    emission, weight = normal(2), np.ones((3, 1))
    expected = emission.statistics(table, values, weight)[0]
    assert expected[0] == 2.0  # a row without any entry says nothing
    rng = np.random.default_rng(0)
    drawn = np.array([
        emission.statistics(table, values, weight, rng)[0] for _ in range(1000)
    ])  # fmt: skip
    error = np.maximum(drawn.std(axis=0) / np.sqrt(1000), 1e-12)
    assert (np.abs(drawn.mean(axis=0) - expected) < 4 * error).all()
    # The second entry varies by what the first one leaves open.
    assert drawn[:, 2].var() == pytest.approx(1 - 0.8**2, rel=0.2)


KINDS = {
    "categorical": (CategoricalEmission((0.7, 1.5, 2.0)), 1),
    "switches": (coins(3, 0.5, 2.0), 3),
    "normal": (normal(2), 2),
    "mixed": (
        JointEmission([([1], CategoricalEmission((1.0, 2.0))), ([0, 2], normal(2))]),
        3,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_samples_have_the_density(kind):
    """Ratios of densities have the means that they have under their own density."""
    emission, n_columns = KINDS[kind]
    rng = np.random.default_rng(1)
    table = emission.draw(rng, np.zeros((2, emission.n_statistics)))
    states = np.repeat([0, 1], 4000)
    values = emission.sample(rng, table, states)
    assert values.shape == (8000, n_columns)
    log_rows = emission.log_likelihood(table, values)
    for k in range(2):
        own = log_rows[states == k]
        # Under the true state samples are likelier than under the other: Gibbs.
        assert own[:, k].mean() > own[:, 1 - k].mean()
        # E[p_other / p_own] is 1 where densities are normalised and samples theirs.
        ratio = np.exp(own[:, 1 - k] - own[:, k])
        assert abs(ratio.mean() - 1) < 5 * ratio.std() / np.sqrt(len(ratio))
        sampled = values[states == k].mean(axis=0)
        if kind in ("switches", "normal"):
            wanted = emission.expected(table)[k]
            wanted = wanted[1::2] if kind == "switches" else wanted
            error = values[states == k].std(axis=0) / np.sqrt(4000)
            assert (np.abs(sampled - wanted) < 4 * np.maximum(error, 1e-3)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_missing_columns_are_left_out(kind):
    emission, n_columns = KINDS[kind]
    rng = np.random.default_rng(2)
    table = emission.draw(rng, np.zeros((3, emission.n_statistics)))
    values = emission.sample(rng, table, np.array([0, 1, 2, 0]))
    values[0] = np.nan
    found = emission.log_likelihood(table, values)
    assert (found[0] == 0).all()
    statistics = emission.statistics(table, values, np.ones((4, 3)))
    without = emission.statistics(table, values[1:], np.ones((3, 3)))
    near(statistics, without, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mode_is_highest(kind):
    """Of the density that log likelihood and log prior add up to."""
    emission, n_columns = KINDS[kind]
    if kind == "categorical":
        emission = CategoricalEmission((1.7, 1.5, 2.0))
    if kind == "switches":
        emission = coins(3, 1.5, 2.0)
    rng = np.random.default_rng(3)
    table = emission.draw(rng, np.zeros((1, emission.n_statistics)))
    values = emission.sample(rng, table, np.zeros(20, dtype=int))
    statistics = emission.statistics(table, values, np.ones((20, 1)))
    best = emission.mode(statistics)

    def height(parameters):
        likelihood = emission.log_likelihood(parameters, values).sum()
        return likelihood + emission.log_prior(parameters)

    for _ in range(30):
        other = emission.draw(rng, 20 * statistics)
        assert height(other) <= height(best) + 1e-9


@given(
    st.lists(st.floats(0, 20), min_size=2, max_size=5),
    st.floats(1, 5),
)
def test_modes_of_rows_are_highest(counts, alpha):
    counts = np.array([counts])
    best = mode_of_rows(alpha, counts)
    assert best.sum() == pytest.approx(1.0)
    if not counts.any() and alpha == 1:
        return
    rng = np.random.default_rng(0)
    weight = counts + alpha - 1.0
    top = (weight * np.log(np.maximum(best, 1e-300))).sum()
    for p in rng.dirichlet(np.ones(counts.shape[1]), 5):
        assert (weight * np.log(p)).sum() <= top + 1e-9


@pytest.mark.parametrize("shape", [(3,), (2, 3), (4, 2, 3)])
@pytest.mark.parametrize("alpha", [0.5, np.array([1.0, 2.0, 5.0]) / 8])
def test_rows_of_which_nothing_is_left_are_the_priors_mean(shape, alpha):
    mean = np.ones(3) / 3 if np.ndim(alpha) == 0 else alpha
    counts = np.zeros(shape)
    np.testing.assert_allclose(
        mode_of_rows(alpha, counts), np.broadcast_to(mean, shape)
    )
    counts[..., 1] = 4.0
    np.testing.assert_allclose(
        mode_of_rows(alpha, counts), np.broadcast_to([0.0, 1.0, 0.0], shape)
    )


def test_log_dirichlet_is_the_density():
    rows = np.random.default_rng(0).dirichlet([1, 2, 3], 4)
    alpha = np.array([0.5, 1.5, 4.0])
    wanted = sum(stats.dirichlet(alpha).logpdf(row) for row in rows)
    assert log_dirichlet(alpha, rows) == pytest.approx(wanted)


def test_a_class_that_training_had_not():
    emission = CategoricalEmission((1.0, 1.0), unseen=0.01)
    found = emission.log_likelihood(np.array([[0.5, 0.5]]), np.array([[-1.0], [1.0]]))
    np.testing.assert_allclose(np.exp(found[:, 0]), [0.01, 0.99 * 0.5])
    impossible = CategoricalEmission((1.0, 1.0))
    assert impossible.log_likelihood(np.ones((1, 2)), np.array([[-1.0]])) == -np.inf
    counts = emission.statistics(np.ones((1, 2)), np.array([[-1.0]]), np.ones((1, 1)))
    assert not counts.any()
