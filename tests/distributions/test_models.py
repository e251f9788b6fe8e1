"""Every closed form against numerical integration over the leaf's parameters."""

import math

import numpy as np
import pytest
from scipy import integrate, stats
from tests.distributions import naive
from tests.wording import refuses

from clearwood._kernels.distributions import log_gamma_rise
from clearwood.distributions import (
    BernoulliBeta,
    CategoricalDirichlet,
    ExponentialGamma,
    LinearRegressionNormalGamma,
    NormalNormalGamma,
    PoissonGamma,
)
from clearwood.exceptions import InputError

WEIGHT = np.array([1.0, 2.0, 0.5, 1.0])
PRECISION = ((2.0, 0.3), (0.3, 1.5))


def likelihood(log_pdf, y, weight):
    return np.exp(sum(w * log_pdf(v) for v, w in zip(y, weight)))


def over_probability(model, y, weight):
    """Beta prior; the evidence of rows and then of one more."""
    prior = stats.beta(model.a, model.b)
    return integrate.quad(
        lambda p: likelihood(lambda v: np.log(p if v else 1 - p), y, weight)
        * prior.pdf(p),
        0, 1, epsabs=0, epsrel=1e-12,
    )[0]  # fmt: skip


def over_simplex(model, y, weight):
    prior = stats.dirichlet(model.alpha)

    def integrand(q, p):
        shares = np.array([p, q, 1 - p - q])
        return likelihood(lambda v: np.log(shares[int(v)]), y, weight) * prior.pdf(
            shares
        )

    return integrate.dblquad(
        integrand, 0, 1, 0, lambda p: 1 - p, epsabs=0, epsrel=1e-9
    )[0]


def over_rate(model, y, weight):
    prior = stats.gamma(model.alpha, scale=1 / model.beta)
    kind = stats.poisson if model.discrete else stats.expon

    def log_pdf(rate, v):
        return kind.logpmf(v, rate) if model.discrete else kind.logpdf(v, 0, 1 / rate)

    return integrate.quad(
        lambda r: likelihood(lambda v: log_pdf(r, v), y, weight) * prior.pdf(r),
        0, np.inf, epsabs=0, epsrel=1e-12,
    )[0]  # fmt: skip


def over_mean_and_precision(model, y, weight):
    """On a grid of log precision and standardised mean, where sums are exact."""
    log_tau, u = np.meshgrid(np.linspace(-40, 8, 2400), np.linspace(-60, 60, 1500))
    tau = np.exp(log_tau)
    mean = np.average([model.m, *y]) + u / np.sqrt(tau)
    log_p = stats.gamma.logpdf(tau, model.alpha, scale=1 / model.beta)
    log_p += stats.norm.logpdf(mean, model.m, (model.kappa * tau) ** -0.5)
    for v, w in zip(y, weight):
        log_p += w * stats.norm.logpdf(v, mean, tau**-0.5)
    steps = (log_tau[0, 1] - log_tau[0, 0]) * (u[1, 0] - u[0, 0])
    return np.sum(np.exp(log_p) * np.sqrt(tau)) * steps


CASES = {
    "bernoulli": (BernoulliBeta(1.5, 2.0), [1, 0, 1, 1], over_probability),
    "categorical": (CategoricalDirichlet((1.5, 2.0, 3.0)), [2, 0, 2, 1], over_simplex),
    "poisson": (PoissonGamma(1.5, 0.7), [2, 0, 5, 1], over_rate),
    "exponential": (ExponentialGamma(2.5, 0.7), [0.2, 1.3, 0.0, 2.2], over_rate),
    "normal": (
        NormalNormalGamma(0.3, 1.2, 2.0, 1.5),
        [0.2, -1.3, 0.0, 2.2],
        over_mean_and_precision,
    ),
}
# Two-dimensional integrals are not as exact.
EXACT = {"categorical": 1e-7}


@pytest.fixture(params=CASES)
def case(request):
    model, y, evidence = CASES[request.param]
    return model, np.array(y, dtype=float), evidence, EXACT.get(request.param, 1e-10)


def test_log_marginal(case):
    model, y, evidence, exact = case
    found = model.log_marginal(naive.stats_of(model, y, WEIGHT))
    np.testing.assert_allclose(np.exp(found), evidence(model, y, WEIGHT), rtol=exact)


def test_no_rows_have_evidence_one(case):
    model, *_ = case
    assert model.log_marginal(np.zeros((2, model.n_stats))).tolist() == [0.0, 0.0]


def test_density_is_a_ratio_of_evidences(case):
    model, y, _, _ = case
    before = naive.stats_of(model, y, WEIGHT)
    for value in sorted(set(y)):
        after = naive.stats_of(model, np.append(y, value), np.append(WEIGHT, 1.0))
        expected = model.log_marginal(after) - model.log_marginal(before)
        np.testing.assert_allclose(
            model.log_density(before, value), expected, rtol=1e-11
        )


def rows_and_density(model, y):
    at = naive.stats_of(model, y, WEIGHT)

    def density(v):
        return float(np.exp(model.log_density(at, v)))

    def total(function, low=-np.inf, high=np.inf):
        """Sum or integral of a function times the density."""
        if model.discrete:
            values = np.arange(3000.0)
            values = values[(values >= low) & (values <= high)]
            p = np.exp(
                model.log_density(np.broadcast_to(at, (len(values), at.size)), values)
            )
            return float(np.sum(p * function(values)))
        low = max(low, 0.0) if isinstance(model, ExponentialGamma) else low
        middle = min(max(float(model.mean(at)), low), high)
        return sum(
            integrate.quad(lambda v: function(v) * density(v), a, b, epsabs=1e-13,
                           epsrel=1e-12, limit=400)[0]
            for a, b in ((low, middle), (middle, high)) if a < b
        )  # fmt: skip

    return at, total


def test_mean_and_variance(case):
    model, y, *_ = case
    at, total = rows_and_density(model, y)
    mean = float(model.mean(at))
    assert total(lambda v: 0 * v + 1) == pytest.approx(1.0, rel=1e-10)
    assert mean == pytest.approx(total(lambda v: v), rel=1e-9)
    variance = total(lambda v: (v - mean) ** 2)
    assert float(model.variance(at)) == pytest.approx(variance, rel=1e-7)


def test_cdf_and_quantile(case):
    model, y, *_ = case
    at, total = rows_and_density(model, y)
    for value in (-0.5, 0.0, 0.3, 1.0, 2.6):
        expected = total(lambda v: 0 * v + 1, high=value)
        assert float(model.cdf(at, value)) == pytest.approx(expected, abs=1e-10)
    for p in (0.001, 0.1, 0.5, 0.9, 0.999):
        q = float(model.quantile(at, p))
        if model.discrete:
            assert model.cdf(at, q) >= p > model.cdf(at, q - 1)
        else:
            assert float(model.cdf(at, q)) == pytest.approx(p, rel=1e-9)


def test_linear_regression_is_a_student_process():
    """With theta and tau integrated out, y is multivariate t: an outside formula."""
    model = LinearRegressionNormalGamma((0.5, -1.0), PRECISION, 2.0, 1.5)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    shape = np.eye(6) + x @ np.linalg.solve(np.array(PRECISION), x.T)
    joint = stats.multivariate_t(
        x @ model.mu, shape * model.beta / model.alpha, df=2 * model.alpha
    )
    all_rows = naive.stats_of(model, y, np.ones(6), x)
    assert float(model.log_marginal(all_rows)) == pytest.approx(joint.logpdf(y))

    before = naive.stats_of(model, y[:5], np.ones(5), x[:5])
    first = stats.multivariate_t(
        x[:5] @ model.mu, shape[:5, :5] * model.beta / model.alpha, df=4.0
    )
    expected = joint.logpdf(y) - first.logpdf(y[:5])
    found = model.log_density(before, y[5], x[5])
    assert float(found) == pytest.approx(expected, rel=1e-10)

    def density(v):
        return float(np.exp(model.log_density(before, v, x[5])))

    mean = float(model.mean(before, x[5]))
    moments = [
        integrate.quad(lambda v, k=k: (v - mean) ** k * density(v), -np.inf, np.inf)[0]
        for k in (0, 1, 2)
    ]
    assert moments == pytest.approx(
        [1.0, 0.0, float(model.variance(before, x[5]))], rel=1e-6, abs=1e-7
    )
    below = integrate.quad(density, -np.inf, 0.7)[0]
    assert float(model.cdf(before, 0.7, x[5])) == pytest.approx(below, rel=1e-7)
    q = model.quantile(before, 0.9, x[5])
    assert float(model.cdf(before, q, x[5])) == pytest.approx(0.9)


def test_linear_regression_on_a_constant_is_the_normal_leaf():
    linear = LinearRegressionNormalGamma((0.4,), 1.3, 2.0, 1.5)
    normal = NormalNormalGamma(0.4, 1.3, 2.0, 1.5)
    y, ones = np.array([1e3, 1e3 + 1, 1e3 - 2, 1e3 + 0.5]), np.ones((4, 1))
    a = naive.stats_of(linear, y, WEIGHT, ones)
    b = naive.stats_of(normal, y, WEIGHT)
    for name in ("mean", "variance"):
        found, expected = getattr(linear, name)(a, ones[0]), getattr(normal, name)(b)
        assert float(found) == pytest.approx(float(expected), rel=1e-12)
    assert float(linear.log_marginal(a)) == pytest.approx(
        float(normal.log_marginal(b)), rel=1e-12
    )


@pytest.mark.parametrize(
    ("n0", "n1"), [(10**6, 3), (500_000, 499_000), (15, 16), (0, 10**6)]
)
def test_large_counts_lose_no_digits(n0, n1):
    """Log gammas of a million have seven digits before the point; none may be lost."""
    a, b = 0.5, 1.5
    i, j = np.arange(n0), np.arange(n1)
    exact = math.fsum(np.log1p(-a / (a + b + i)))
    exact += math.fsum(np.log((a + j) / (a + b + n0 + j)))
    found = BernoulliBeta(a, b).log_marginal(np.array([n0, n1], dtype=float))
    assert float(found) == pytest.approx(exact, rel=1e-14, abs=2e-14)


def test_infinite_moments():
    at = np.zeros((1, 3))
    assert NormalNormalGamma(alpha=1.0).variance(at) == np.inf
    assert ExponentialGamma(1.0, 1.0).mean(np.zeros((1, 2))) == np.inf
    assert ExponentialGamma(2.0, 1.0).variance(np.zeros((1, 2))) == np.inf


@pytest.mark.parametrize(
    "make",
    [
        lambda: BernoulliBeta(0.0, 1.0),
        lambda: CategoricalDirichlet(()),
        lambda: PoissonGamma(1.0, float("nan")),
        lambda: NormalNormalGamma(m=float("inf")),
        lambda: LinearRegressionNormalGamma(()),
        lambda: LinearRegressionNormalGamma((0, 0), ((1, 2), (2, 1))),
        lambda: LinearRegressionNormalGamma((0, 0), ((1, 2), (0, 1))),
    ],
)
def test_wrong_hyperparameters(make):
    with refuses(InputError):
        make()


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (BernoulliBeta(), [0, 2]),
        (BernoulliBeta(), [0.5, 1.0]),
        (BernoulliBeta(), [0.0, float("nan")]),
        (CategoricalDirichlet.symmetric(3), [-1, 0]),
        (PoissonGamma(), [1.5]),
        (PoissonGamma(), [-1]),
        (ExponentialGamma(), [-0.1]),
        (ExponentialGamma(), [float("inf")]),
        (NormalNormalGamma(), [float("nan")]),
        (NormalNormalGamma(), ["a"]),
        (NormalNormalGamma(), [[1.0]]),
    ],
)
def test_wrong_targets(model, y):
    with refuses(InputError):
        model.check_target(y)


@pytest.mark.parametrize("x", [1e-3, 0.5, 3.0, 15.9, 16.1, 1e8])
def test_log_gamma_rises_without_loss(x):
    # gamma(x + 2) = (x + 1) x gamma(x), and two steps of a half make one of one.
    two = math.log(x) + math.log1p(x)
    assert log_gamma_rise(x, 2.0) == pytest.approx(two, rel=1e-13, abs=1e-13)
    halves = [log_gamma_rise(x + h, 0.5) for h in (0.0, 0.5)]
    assert sum(halves) == pytest.approx(math.log(x), rel=1e-13, abs=1e-13)
