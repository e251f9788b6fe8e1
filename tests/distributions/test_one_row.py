"""What kernels say of one row is what the models say."""

import numpy as np
import pytest
from tests.distributions import naive
from tests.wording import refuses

from clearwood import distributions
from clearwood._kernels.distributions import add_one, log_predictive
from clearwood.exceptions import InputError

CASES = [
    (distributions.BernoulliBeta(1.5, 2.0), [1, 0, 1, 1]),
    (distributions.CategoricalDirichlet((1.5, 2.0, 3.0)), [2, 0, 2, 1]),
    (distributions.PoissonGamma(1.5, 0.7), [2, 0, 5, 1]),
    (distributions.ExponentialGamma(2.5, 0.7), [0.2, 1.3, 0.0, 2.2]),
    (distributions.NormalNormalGamma(0.3, 1.2, 2.0, 1.5), [0.2, -1.3, 0.0, 2.2]),
    (distributions.LinearRegressionNormalGamma((0.5, -1.0)), [0.2, -1.3, 0.0, 2.2]),
]


def test_every_model_has_a_case():
    assert {type(model) for model, _ in CASES} == set(distributions.CONJUGATE)
    with refuses(InputError):
        _ = distributions.LeafModel().kind


@pytest.mark.parametrize(("model", "y"), CASES)
def test_rows_one_after_the_other(model, y):
    y = np.array(y, dtype=float)
    x = np.random.default_rng(0).normal(size=(4, 2)) if model.reads_features else None
    z, kind = model.columns(y, x), model.kind
    stats = model.no_rows(1)[0]
    for i in range(len(y)):
        row = None if x is None else x[i]
        np.testing.assert_allclose(
            log_predictive(kind, stats, model.prior, z[i]) - np.log(model.unit),
            model.log_density(stats, y[i], row),
            rtol=1e-12,
        )
        add_one(kind, stats, model.prior, z[i])
    np.testing.assert_allclose(
        stats, naive.stats_of(model, y, np.ones(4), x), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(("model", "y"), CASES)
def test_rows_are_added_merged_and_removed(model, y):
    y, weight = np.array(y, dtype=float), np.array([1.0, 2.0, 0.5, 1.5])
    x = np.random.default_rng(0).normal(size=(4, 2)) if model.reads_features else None

    def part(rows):
        own = model.no_rows(2)
        ends = np.ones(len(y[rows]), dtype=int)
        model.add_rows(own, ends, y[rows], weight[rows], None if x is None else x[rows])
        return own

    everything, first, rest = part(slice(4)), part(slice(1)), part(slice(1, 4))
    expected = naive.stats_of(model, y, weight, x)
    np.testing.assert_allclose(everything[1], expected, rtol=1e-12, atol=1e-12)
    assert not everything[0].any()
    np.testing.assert_allclose(model.remove(everything, first), rest, atol=1e-12)
    model.merge(first, rest)
    np.testing.assert_allclose(first, everything, rtol=1e-12, atol=1e-12)
    with refuses(InputError):
        model.remove(rest, everything)
