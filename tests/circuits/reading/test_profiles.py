import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.stats.contingency import association
from tests.circuits import made
from tests.circuits.made import circuits
from tests.circuits.reading.cases import deep
from tests.wording import same_text

from clearwood._words.numbers import share_text
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.nodes import Product, Sum
from clearwood.circuits.reading.anomalies import entry_text
from clearwood.circuits.reading.profiles import (
    Moments,
    Shares,
    column_words,
    profile_of,
)
from clearwood.circuits.reading.strengths import strengths
from clearwood.columns.schema import features_of
from clearwood.columns.table_variables import LogScale, NumericColumn
from clearwood.distributions import Bernoulli, Categorical, Gaussian
from clearwood.rules import FeatureSpace

FEW = settings(max_examples=25)


def known(circuit, entries):
    """Rows of which only some entries are known."""
    rows = np.full((len(entries), circuit.features.n_features), np.nan)
    for row, entry in zip(rows, entries):
        for j, value in entry.items():
            row[j] = value
    return rows


def probability(circuit, entries):
    return np.exp(compile_circuit(circuit).log_likelihood(known(circuit, entries)))


@FEW
@given(circuits())
def test_marginals_are_those_of_the_circuit(circuit):
    mean, covariance = made.moments(circuit, known(circuit, [{}]))[:2]
    for j, facts in profile_of(circuit.root).items():
        labels = circuit.features.categories[j]
        if labels:
            levels = [{j: level} for level in range(len(labels))]
            assert facts.probabilities == pytest.approx(probability(circuit, levels))
        else:
            assert facts.mean == pytest.approx(mean[0, j])
            assert facts.variance == pytest.approx(covariance[0, j, j])


def naive_covariance(circuit, j, k):
    """Of indicators of levels, or of the number, one by one."""

    def sides(i):
        labels = circuit.features.categories[i]
        return [None] if labels is None else range(len(labels))

    def mean(entry, numbers):
        """E of the product of numbers where the entry is known, and 0 elsewhere."""
        if not numbers:
            return probability(circuit, [entry])[0]
        p = probability(circuit, [entry])[0]
        if p == 0:
            return 0.0
        means, covariance = (
            x[0] for x in made.moments(circuit, known(circuit, [entry]))[:2]
        )
        if len(numbers) == 1:
            return p * means[numbers[0]]
        a, b = numbers
        return covariance[a, b] + means[a] * means[b]

    def expected(*ends):
        entry, numbers, known_of = {}, [], {}
        for i, level in ends:
            if level is None:
                numbers.append(i)
            elif known_of.setdefault(i, level) != level:
                return 0.0
            else:
                entry[i] = level
        return mean(entry, numbers)

    def between(one, other):
        return expected(one, other) - expected(one) * expected(other)

    return np.array([[between((j, a), (k, b)) for b in sides(k)] for a in sides(j)])


@FEW
@given(circuits(most_columns=3))
def test_strengths_are_those_of_moments_one_by_one(circuit):
    found = strengths(circuit)
    d = len(found)
    assert np.allclose(found, found.T) and found.min() >= 0 and found.max() <= 1
    for j in range(d):
        for k in range(j):
            own, other = (naive_covariance(circuit, i, i) for i in (j, k))
            between = naive_covariance(circuit, j, k)
            ranks = [np.linalg.matrix_rank(one, tol=1e-9) for one in (own, other)]
            trace = np.trace(
                np.linalg.pinv(own, 1e-9) @ between
                @ np.linalg.pinv(other, 1e-9) @ between.T
            )  # fmt: skip
            assert found[j, k] == pytest.approx(np.sqrt(trace / min(ranks)), abs=1e-6)


def test_between_levels_it_is_cramers_v():
    counts = np.array([[30, 5, 15], [10, 25, 15]])
    kinds = [
        Product((Categorical(0, one_hot), Categorical(1, row / row.sum())))
        for one_hot, row in zip(np.eye(2), counts)
    ]
    features = FeatureSpace(("a", "b"), ((0, 1), (0, 1, 2)))
    circuit = Circuit(Sum(counts.sum(axis=1) / counts.sum(), tuple(kinds)), features)
    assert strengths(circuit)[0, 1] == pytest.approx(association(counts))


def test_a_constant_column_depends_on_nothing():
    one = Categorical(0, np.array([1.0, 0.0]))
    kinds = [Product((one, Bernoulli(1, p))) for p in (0.1, 0.5, 0.9)]
    features = FeatureSpace(("a", "b"), (("k", "l"), (0, 1)))
    # Of weights whose sum is rounded.
    for seed in range(10):
        weights = np.random.default_rng(seed).dirichlet(np.ones(3))
        circuit = Circuit(Sum(weights, tuple(kinds)), features)
        assert np.allclose(strengths(circuit), [[0, 0], [0, 1]])


def test_a_circuit_may_be_deeper_than_python_recurses():
    assert strengths(deep())[0, 1] == pytest.approx(0.64, abs=0.01)
    assert profile_of(deep().root)[0].probabilities[1] == pytest.approx(0.52, abs=0.01)


@pytest.mark.parametrize(
    ("mean", "deviation", "text"),
    [
        (54.06, 9.13, "54.1 ± 9.1"),
        (1234567.0, 45678.0, "1,235,000 ± 46,000"),
        (-0.001, 3.0, "0.0 ± 3.0"),
        (5.0, 0.0, "5"),
        (1.5e-9, 2e-10, "1.5e-09 ± 2e-10"),
        (99.96, 9.96, "100.0 ± 10.0"),
    ],
)
def test_numbers_have_the_digits_that_their_deviation_gives(mean, deviation, text):
    assert Moments(mean, deviation**2).numbers() == text


def test_skewed_columns_have_quartiles_in_place_of_a_deviation():
    column = NumericColumn(scale=LogScale(2.0, 0.5), places=1, range=(2.0, 900.0))
    numbers, weights = (column,), np.array([0.3, 0.7])
    leaves = Gaussian(0, 1.0, 0.25), Gaussian(0, 4.0, 1.0)
    found = profile_of(Sum(weights, leaves), numbers)[0]
    rng = np.random.default_rng(0)
    which = rng.random(400_000) < 0.7
    number = rng.normal(np.where(which, 4, 1), np.where(which, 1, 0.5))
    cells = column.from_number(number)
    wanted = np.quantile(cells, (0.25, 0.5, 0.75))
    quartiles = [found.skewed.quantile(p) for p in (0.25, 0.5, 0.75)]
    assert quartiles == pytest.approx(wanted, rel=0.02)
    assert [round(x, 1) for x in quartiles] == quartiles
    assert found.skewed.quantile(1e-9) == 2.0  # in the range of the cells
    alone = profile_of(leaves[0], numbers)[0]
    features = FeatureSpace(("income",), (None,))
    same_text([
        found.words(()), found.brief(alone, ()), found.numbers(),
        column_words(features, 0, alone, found),
        column_words(features, 0, alone.with_point_mass(5.0, 0.97), found),
    ])  # fmt: skip
    # Of pooled parts it is the same.
    pooled = type(found).pooled(weights, [profile_of(x, numbers)[0] for x in leaves])
    assert pooled.numbers() == found.numbers()


def test_a_cell_has_few_digits():
    spread = Moments(3.0, 1e-6)
    assert spread.numbers() == "3.0000 ± 0.0010"
    assert spread.brief(spread, ()) == "3.000"


def test_shares_name_the_level_that_is_more_common_here():
    here, of_all = Shares(np.array([0.5, 0.1, 0.4])), Shares(np.array([0.6, 0.3, 0.1]))
    assert here.compared(of_all, "abc") == "c in 40 % (10 %)"
    assert here.brief(of_all, "abc") == "c: 40 %"
    same_text(here.words("abc"))
    many = Shares(np.array([0.05, 0.5, 0.2, 0.15, 0.1]))
    same_text(many.words("abcde"))
    same_text(Shares(np.ones(1)).words((None,)))
    assert [share_text(x) for x in (1e-14, 1 - 1e-14)] == ["0 %", "100 %"]


def test_dates_are_written_as_dates_and_their_spread_in_days():
    frame = pd.DataFrame({"seen": pd.date_range("2019-01-01", periods=80, freq="D")})
    features = features_of(frame)
    here, of_all = Moments(17987.3, 900.0), Moments(18000.0, 0.0)
    said = column_words(features, 0, here, of_all)
    assert said == "seen 2019-04-01 ± 30 days (2019-04-14)"
    assert here.brief(of_all, (), "date") == "2019-04-01"
    with_point_mass = here.with_point_mass(17987.0, 0.95)
    assert column_words(features, 0, with_point_mass) == "seen = 2019-04-01 in 95 %"
    within_a_day = Moments(17987.5, 0.01)
    assert within_a_day.numbers("datetime") == "2019-04-01 12:00 ± 0.10 days"
    assert entry_text(features, 0, 17987.0) == "2019-04-01"
    numbers = {123456.0: "123,456", -1234.5: "-1,234.5", 999.5: "999.5", 2e20: "2e+20"}
    plain = FeatureSpace.numeric(1)
    assert {x: entry_text(plain, 0, x) for x in numbers} == numbers
