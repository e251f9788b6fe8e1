"""EM beside golden iterations; where it starts."""

import numpy as np
import pytest
from tests.sequences.golden_facts import section
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
from clearwood.distributions.normal_wishart import NormalInverseWishart
from clearwood.sequences.baum_welch import (
    baum_welch,
    best_start,
    clustered_start,
    raised_fast,
    random_start,
)
from clearwood.sequences.sequence_model import Observed, SequencePrior, StateModel

EXACT = 1e-12
CASES = section("em")["cases"]


def near(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=EXACT)


def emission_of(case, alpha):
    """The emission of a case, its parameters in an iteration, and golden names."""
    if case["kind"].startswith("gaussian"):
        flat = NormalInverseWishart.flat(np.zeros(2))
        return NormalEmission(flat), lambda now: normal_parameters(
            now["means"], now["covariances"]
        )
    if case["kind"] == "bernoulli":
        return coins(3, alpha, alpha), lambda now: coin_parameters(now["emission"])
    n = len(case["iterations"][0]["emission"][0])
    return CategoricalEmission((alpha,) * n), lambda now: np.array(now["emission"])


@pytest.mark.parametrize("name", CASES)
def test_golden_iterations(name):
    case = CASES[name]
    alpha = float(case.get("alpha", 1.0))
    emission, table = emission_of(case, alpha)
    seen = observed(case["sequences"], not case["kind"].startswith("gaussian"))
    prior = SequencePrior(alpha, alpha, emission)
    first, *others = case["iterations"]
    start = StateModel(
        np.array(first["initial"]), np.array(first["transition"]), table(first)
    )
    assert baum_welch(seen, prior, start, 0).log_likelihood == pytest.approx(
        first["log_likelihood"], abs=EXACT
    )
    for n, wanted in enumerate(others, start=1):
        fit = baum_welch(seen, prior, start, n, tol=-np.inf)
        near(fit.parameters.startprob, wanted["initial"])
        near(fit.parameters.transmat, wanted["transition"])
        near(fit.parameters.emission, table(wanted))
        near(fit.log_likelihood, wanted["log_likelihood"])
        assert len(fit.history) == n + 1
        if "log_likelihood_plus_log_prior" in wanted:
            gains = [it["log_likelihood_plus_log_prior"] for it in case["iterations"]]
            near(np.diff(fit.history), np.diff(gains[: n + 1]))


def series(rng, n, d):
    return rng.normal(size=(n, d)) + 4.0 * (np.arange(n) // 10 % 2)[:, None]


@pytest.mark.parametrize("kind", ["categorical", "switches", "normal", "gaps"])
def test_the_density_never_falls(kind):
    rng = np.random.default_rng(0)
    if kind == "categorical":
        values, emission = (
            rng.integers(4, size=(80, 1)),
            CategoricalEmission((2.0,) * 4),
        )
    elif kind == "switches":
        values, emission = rng.integers(2, size=(80, 3)), coins(3, 2.0, 1.5)
    else:
        values, emission = series(rng, 80, 2), normal(2)
    values = values.astype(float)
    if kind == "gaps":
        values[rng.random(values.shape) < 0.3] = np.nan
    seen = Observed.from_values(values, [50, 30], kind in ("categorical", "switches"))
    prior = SequencePrior(1.5, 1.2, emission)
    start = random_start(rng, seen, prior, 3)
    fit = baum_welch(seen, prior, start, 30, tol=-np.inf)
    assert len(fit.history) == 31
    assert (np.diff(fit.history) > -1e-9).all()


def test_it_stops_where_little_is_gained():
    rng = np.random.default_rng(0)
    seen = Observed.from_values(rng.integers(3, size=(60, 1)).astype(float), [60], True)
    prior = SequencePrior(1.0, 1.0, CategoricalEmission((1.0,) * 3))
    start = random_start(rng, seen, prior, 2)
    fit = baum_welch(seen, prior, start, 500, tol=1e-4)
    assert fit.converged and len(fit.history) < 500
    assert fit.history[-1] - fit.history[-2] <= 1e-4 * 60
    assert not baum_welch(seen, prior, start, 2, tol=0.0).converged


def test_more_starts_are_no_worse():
    rng = np.random.default_rng(1)
    text = rng.permutation(6)[np.cumsum(rng.integers(1, 3, size=600)) % 6]
    seen = Observed.from_values(text[:, None].astype(float), [600], True)
    prior = SequencePrior(1.0, 1.0, CategoricalEmission((1.0,) * 6))

    def height(n_init, seed):
        start = best_start(np.random.default_rng(seed), seen, prior, 6, n_init)
        return baum_welch(seen, prior, start, 30).log_likelihood / 600

    one, many = (np.mean([height(n, s) for s in range(4)]) for n in (1, 12))
    assert many > one + 0.05


@pytest.mark.parametrize("emission", [CategoricalEmission((1.1,) * 6), coins(3)])
def test_longer_steps_than_those_of_em_get_further(emission):
    rng = np.random.default_rng(2)
    states = np.cumsum(rng.integers(1, 3, size=400)) % 6
    values = states[:, None].astype(float)
    if emission.n_columns > 1:
        values = 1.0 * ((states[:, None] >> np.arange(3)) & 1)
    seen = Observed.from_values(values, [250, 150], True)
    prior = SequencePrior(1.1, 1.1, emission)
    starts = [random_start(rng, seen, prior, 4) for _ in range(12)]
    fast = [raised_fast(seen, prior, start, 10) for start in starts]
    for fit in fast:
        assert fit.history == sorted(fit.history) and len(fit.history) == 10
        again = baum_welch(seen, prior, fit.parameters, 1)
        np.testing.assert_allclose(
            fit.log_likelihood + prior.log_density(fit.parameters),
            again.history[0],
            rtol=EXACT,
        )
        np.testing.assert_allclose(fit.history[-1], again.history[0], rtol=EXACT)
    slow = [baum_welch(seen, prior, start, 10) for start in starts]
    reached = [[fit.history[9] for fit in fits] for fits in (fast, slow)]
    # On average: of some starts local optima decide.
    assert np.mean(reached[0]) > np.mean(reached[1])


def test_clusters_find_what_is_apart():
    rng = np.random.default_rng(0)
    values = series(rng, 100, 2)
    values[3] = np.nan
    seen, emission = Observed(values, None, [100]), normal(2, kappa=0.1)
    prior = SequencePrior(1.0, 1.0, emission)
    start = clustered_start(rng, seen, prior, 2)
    assert np.ptp(start.emission[:, 0]) > 2.0
    # More states than rows that differ: some stay without a row.
    few = Observed(np.zeros((5, 2)), None, [5])
    start = clustered_start(rng, few, prior, 4)
    assert all(np.isfinite(part).all() for part in start)
    # A column of which nothing is there yet.
    values[:, 0] = np.nan
    start = clustered_start(rng, Observed(values, None, [100]), prior, 2)
    assert np.ptp(start.emission[:, 1]) > 2.0


def test_classes_are_points_alike_far_apart():
    rng = np.random.default_rng(0)
    frame = JointEmission([([1], CategoricalEmission((1.0,) * 3)), ([0, 2], normal(2))])
    values = np.column_stack([
        rng.normal(5, 3, 90), np.tile([0.0, 1.0, 2.0], 30), rng.normal(0, 0.1, 90)
    ])  # fmt: skip
    values[:6, 1] = np.nan
    points = frame.points(values)
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(points[:6, :3], 0)
    of_class = points[6:9, :3]
    apart = np.linalg.norm(of_class[:, None] - of_class, axis=2)
    assert np.ptp(apart[np.triu_indices(3, 1)]) < 1e-12 < apart[0, 1]
    np.testing.assert_allclose((points[6:, :3] ** 2).sum(axis=1).mean(), 1)
    np.testing.assert_allclose(points[:, 3:].std(axis=0), 1)


def test_clusters_know_no_order_of_classes():
    rng = np.random.default_rng(0)
    label = np.tile([0.0, 1.0, 2.0, 1.0], 40)
    values = np.column_stack([label, 2.0 * (label == 1) + rng.normal(0, 1, 160)])
    emission = JointEmission([([0], CategoricalEmission((1.0,) * 3)), ([1], normal(1))])
    prior = SequencePrior(1.0, 1.0, emission)
    start = clustered_start(rng, Observed(values, None, [160]), prior, 2)
    # The first and the last class are together, apart from the one in the middle.
    (one, two) = start.emission[:, :3]
    assert abs(one[0] - two[0]) > 0.4
    np.testing.assert_allclose(one[0] > two[0], one[2] > two[2])


def test_parts_are_whole_sequences_but_for_the_last():
    seen = Observed(np.arange(10.0)[:, None], None, [3, 4, 3])
    part = seen.part(5, np.random.default_rng(0))
    assert part.n_steps == 5 and sum(part.lengths) == 5
    ends = np.cumsum(part.lengths)
    for end, n in zip(ends, part.lengths):
        steps = part.values[end - n : end, 0]
        assert (np.diff(steps) == 1).all() and steps[0] in (0, 3, 7)
    assert seen.part(50, np.random.default_rng(0)) is seen


def test_kinds_of_steps():
    values, lengths = rows_of([[[0, 1], None, [0, 1]], [[None, 1]]])
    seen = Observed.from_values(values, lengths, discrete=True)
    np.testing.assert_array_equal(seen.values[seen.row], values)
    assert len(seen.values) == 3
