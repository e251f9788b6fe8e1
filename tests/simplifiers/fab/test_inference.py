"""FAB on bins against the dense formulas, and what must hold of every run."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.rules.naive import truth as truth_of
from tests.simplifiers.fab import naive
from tests.simplifiers.fab import reference as fab_reference

from clearwood.columns.feature_space import FeatureSpace
from clearwood.datasets import make_synthetic1, make_xor_regression
from clearwood.ensembles import read_ensemble
from clearwood.rules import FeatureBins
from clearwood.simplifiers.fab import inference as fab
from clearwood.simplifiers.fab.inference import fit_mixture, make_problem
from clearwood.simplifiers.fab.outputs import (
    VARIANCE_FLOOR,
    GaussianOutput,
    MultinomialOutput,
    Normal,
)
from clearwood.simplifiers.fab.restarts import random_start


def classification(seed, n_rows=300, counts="distinct"):
    X, y = make_synthetic1(n_rows, random_state=seed)
    forest = RandomForestClassifier(10, max_depth=5, random_state=seed).fit(X, y)
    bins = FeatureBins.from_ensemble(read_ensemble(forest), counts=counts)
    return X, forest.predict_proba(X), bins, MultinomialOutput(2)


def regression(seed, n_rows=300, counts="distinct"):
    X, y = make_xor_regression(n_rows, random_state=seed)
    forest = RandomForestRegressor(10, max_depth=5, random_state=seed).fit(X, y)
    bins = FeatureBins.from_ensemble(read_ensemble(forest), counts=counts)
    target = forest.predict(X)
    target = (target - target.mean()) / target.std()
    return X, target, bins, GaussianOutput(VARIANCE_FLOOR)


KINDS = pytest.mark.parametrize("make", [classification, regression])


def start_of(problem, seed, n_components=6):
    return random_start(problem, n_components, np.random.default_rng(seed))


@KINDS
@pytest.mark.parametrize("counts", ["distinct", "all"])
@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_log_joint_and_bound_equal_the_dense_formulas(make, counts, weight):
    X, target, bins, output = make(0, counts=counts)
    codes = bins.transform(X)
    problem = make_problem(codes, target, np.ones(len(X)), bins, output, weight)
    start, counts_k = start_of(problem, 1)
    fit = fit_mixture(problem, start, counts_k, max_iter=3)
    # Unmerged rows, so that they stand in the order of X.
    plain = fab.MixtureProblem(
        fab.Blocks([fab.RowBlock(codes, target, np.ones(len(X)))]),
        bins, bins.bin_start, output, weight, float(len(X)),
    )  # fmt: skip
    joint = fab.with_log_joint(plain, fit.parameters).gather()[3]
    truth = truth_of(bins, codes).astype(float)
    repeats = bins.statements.weight.astype(int)
    dense = naive.log_joint(
        np.repeat(truth, repeats, axis=1),
        np.repeat(fit.parameters.true_probability, repeats, axis=0),
        np.repeat(fit.parameters.false_probability, repeats, axis=0),
        fit.parameters.share,
        output.log_density(target, fit.parameters.output),
        weight,
    )
    np.testing.assert_allclose(joint, dense, rtol=1e-12)
    assert plain.omega == (output.n_parameters + weight * repeats.sum() + 1) / 2


@KINDS
def test_bound_after_the_m_step_is_eq_12(make):
    X, target, bins, output = make(0)
    problem = make_problem(bins.transform(X), target, np.ones(len(X)), bins, output)
    start, counts = start_of(problem, 2)
    fit = fit_mixture(problem, start, counts, max_iter=4)
    # Responsibilities of the last E-step are those of the parameters before it.
    before = fit_mixture(problem, start, counts, max_iter=3)
    rows = fab.with_log_joint(problem, before.parameters)
    joint, weight = rows.gather()[3], rows.gather()[2]
    counts = before.counts
    for _ in range(10_000):
        beta = naive.e_step_pass(joint, counts, problem.omega)
        new = weight @ beta
        done, counts = np.abs(new - counts).max() < 1e-13 * len(X), new
        if done:
            break
    assert len(fit.components) == len(before.components)
    after = fab.with_log_joint(problem, fit.parameters).gather()[3]
    terms = weight[:, None] * beta * (after - np.log(np.maximum(beta, 1e-300)))
    bound = terms.sum() - problem.omega * np.log(weight @ beta + 1.0).sum()
    assert fit.history[-1].bound == pytest.approx(bound, rel=1e-10)


@KINDS
@pytest.mark.parametrize("truncate", [True, False])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_passes", [1000, 0])
def test_the_bound_never_falls_unless_a_component_is_dropped(
    make, truncate, seed, max_passes
):
    X, target, bins, output = make(seed)
    problem = make_problem(bins.transform(X), target, np.ones(len(X)), bins, output)
    fit = fit_mixture(
        problem, *start_of(problem, seed), tol=1e-6, truncate=truncate,
        inner_tol=1e-8, max_passes=max_passes,
    )  # fmt: skip
    assert fit.converged
    most = 0 if max_passes == 0 else 1000 if truncate else 1
    assert max(step.n_passes for step in fit.history) <= most
    for earlier, later in zip(fit.history, fit.history[1:]):
        if later.n_components == earlier.n_components:
            assert later.bound >= earlier.bound - 1e-10 * abs(earlier.bound)
    if not truncate:
        assert {i.n_components for i in fit.history} == {6}


def test_em_raises_the_likelihood():
    X, target, bins, output = classification(0)
    problem = make_problem(bins.transform(X), target, np.ones(len(X)), bins, output)
    start = start_of(problem, 0)
    likelihoods = []
    for n in range(1, 8):
        fit = fit_mixture(problem, *start, max_iter=n, truncate=False)
        _, _, weight, joint = fab.with_log_joint(problem, fit.parameters).gather()
        likelihoods.append(weight @ np.logaddexp.reduce(joint, axis=1))
    assert (np.diff(likelihoods) >= -1e-9 * abs(likelihoods[0])).all()


@KINDS
def test_rows_may_be_merged_repeated_or_weighted(make):
    """The same fit from repeated rows and from weights."""
    X, target, bins, output = make(3, n_rows=120)
    weight = np.arange(120) % 4
    repeat = np.repeat(np.arange(120), weight)
    codes = bins.transform(X)
    weighted = make_problem(codes, target, weight.astype(float), bins, output)
    repeated = make_problem(
        codes[repeat], target[repeat], np.ones(len(repeat)), bins, output
    )
    assert weighted.n_rows == repeated.n_rows
    start = start_of(weighted, 0)
    one, other = (fit_mixture(p, *start, tol=1e-6) for p in (weighted, repeated))
    assert [i.bound for i in one.history] == [i.bound for i in other.history]


@pytest.mark.parametrize("order", ["paper", "reference"])
def test_many_blocks_give_the_fit_of_one(order):
    """Only the order of additions differs, so agreement is to rounding."""
    X, target, bins, output = classification(1)
    codes = bins.transform(X)

    def problem(block_rows):
        blocks = fab.Blocks.from_arrays(
            codes, target, np.ones(len(X)), block_rows=block_rows
        )
        return fab.MixtureProblem(
            blocks.map(fab.RowBlock._make),
            bins,
            bins.bin_start,
            output,
            1.0,
            float(len(X)),
        )

    fits = []
    for rows in (10_000, 37):
        p = problem(rows)
        start, counts = start_of(p, 5)
        if order == "reference":
            beta = fab_reference.random_responsibility(p, 6, np.random.default_rng(0))
            fits.append(fab_reference.fit_reference(p, start, beta, max_iter=20))
        else:
            fits.append(fit_mixture(p, start, counts, max_iter=20))
    bounds = [[i.bound for i in f.history] for f in fits]
    np.testing.assert_allclose(*bounds, rtol=1e-9)


def test_a_constant_component_has_finite_precision():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.repeat([-1.0, 1.0], 20)
    bins = FeatureBins.from_splits(FeatureSpace.numeric(1), feature=[0], cut=[0.5])
    output = GaussianOutput(VARIANCE_FLOOR)
    problem = make_problem(bins.transform(X), y, np.ones(40), bins, output)
    fit = fit_mixture(problem, *start_of(problem, 0, n_components=2), tol=1e-9)
    assert np.isfinite(fit.parameters.output.precision).all()
    assert (fit.parameters.output.precision <= 1 / output.variance_floor).all()
    assert np.isfinite([i.bound for i in fit.history]).all()


def test_merge_keeps_the_total_weight_and_distinct_rows():
    codes = np.array([[0, 1], [0, 1], [2, 1], [0, 1]], dtype=np.uint16)
    target = np.array([1.0, 1.0, 1.0, 2.0])
    weight = np.array([1.0, 2.0, 0.5, 4.0])
    merged = fab.merge_equal_rows((codes, target, weight))
    rows = {(*c, t): w for c, t, w in zip(merged[0].tolist(), *merged[1:])}
    assert rows == {(0, 1, 1.0): 3.0, (2, 1, 1.0): 0.5, (0, 1, 2.0): 4.0}


def test_em_goes_on_without_a_component_that_no_row_belongs_to():
    X, target, bins, output = regression(0)
    problem = make_problem(bins.transform(X), target, np.ones(len(X)), bins, output)
    start, counts = start_of(problem, 0)
    mean = start.output.mean.copy()
    mean[2] = 1e6
    start = start._replace(output=start.output._replace(mean=mean))
    fit = fit_mixture(problem, start, counts, truncate=False)
    assert fit.components.tolist() == [0, 1, 3, 4, 5]
    assert np.isfinite([step.bound for step in fit.history]).all()
    assert fit.converged


def test_a_mixture_says_values_in_the_units_of_the_target():
    normal = Normal(np.array([-1.0, 3.0]), np.ones(2))
    assert GaussianOutput(centre=10.0, unit=2.0).values(normal).tolist() == [8.0, 16.0]
