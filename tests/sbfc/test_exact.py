"""Sums over all graphs, beside lists of all graphs and exact determinants."""

import math

import numpy as np
import pytest
from tests.sbfc import naive
from tests.sbfc.tables import as_table, corral, golden_cases, random_table
from tests.wording import refuses

from clearwood._kernels import sbfc as _kernels
from clearwood.exceptions import InputError
from clearwood.sbfc.exact import exact_posterior
from clearwood.sbfc.scores import Penalty, score

# Golden probabilities of edges have 12 digits.
EXACT, DIGITS = 1e-9, 1e-12


def agrees(case):
    penalty = Penalty.of(
        "paper", case["lambda_x"], case["lambda_y"], case["d"], case["classes"]
    )
    found = exact_posterior(score(as_table(case), case["alpha"]), penalty)
    wanted = case["rooted"]
    evidence = case["log_evidence_unnormalised_rooted"]
    assert found.log_evidence == pytest.approx(evidence, abs=EXACT)
    one_way = np.array(wanted["edge_probability"])
    np.testing.assert_allclose(
        found.edge_probability.toarray(), one_way + one_way.T, rtol=0, atol=DIGITS
    )
    np.testing.assert_allclose(
        found.signal_probability, wanted["signal_probability"], rtol=0, atol=DIGITS
    )
    assert found.set_probability.sum() == pytest.approx(1.0, abs=DIGITS)
    assert (np.diff(found.set_probability) <= 0).all()


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case["name"])
def test_golden_posteriors(case):
    agrees(case)


def test_golden_posterior_of_corral(shared_data):
    agrees(corral(shared_data))


def test_sets_have_the_log_joint_of_plain_determinants():
    scores = score(random_table((2, 3, 2, 4, 2, 2), 50, n_classes=3))
    penalty = Penalty((0.5, 0.2), (0.0, 0.7))
    found = exact_posterior(scores, penalty)
    for signal, p in zip(found.sets[:20], found.set_probability):
        wanted = naive.log_joint(scores, penalty, signal) - found.log_evidence
        assert math.log(p) == pytest.approx(wanted, abs=EXACT)


@pytest.mark.parametrize("most", [3, 60, 1900])
@pytest.mark.parametrize("seed", range(3))
def test_sums_of_huge_weights(most, seed):
    rng = np.random.default_rng(seed)
    exponent = np.tril(rng.integers(-most if most < 60 else 0, most, size=(5, 5)), -1)
    # Two features that are all but one, and one with hardly an edge.
    exponent[1, 0] = most
    weight = [[naive.Fraction(0)] * 5 for _ in range(5)]
    for i in range(5):
        for j in range(i):
            weight[i][j] = weight[j][i] = naive.Fraction(2) ** int(exponent[i, j])
    log_weight = exponent * math.log(2.0)
    graph = _kernels.with_ground(log_weight, np.arange(5))
    total = naive.sum_of_forests(weight)
    wanted = math.log(total.numerator) - math.log(total.denominator)
    assert _kernels.log_sum_of_forests(graph.copy()) == pytest.approx(wanted, rel=1e-13)
    edges = _kernels.edge_probabilities(graph)
    for i in range(5):
        for j in range(i):
            p = float(naive.edge_probability(weight, i, j))
            assert edges[i + 1, j + 1] == pytest.approx(p, abs=DIGITS)


def test_too_many_features_are_refused():
    scores = score(random_table((2,) * 17, 5))
    with refuses(InputError, match="17"):
        exact_posterior(scores, Penalty.of("paper", 4.0, 1.0, 17, 2))
