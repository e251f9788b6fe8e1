"""FAB and EM against exact values (tests/golden/README.md says how obtained)."""

import json

import numpy as np
import pytest
from tests.rules.naive import truth as truth_of
from tests.simplifiers.fab import naive
from tests.simplifiers.fab.reference import fit_reference

from clearwood._kernels import fab as _kernels
from clearwood._numeric import Blocks
from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import FeatureBins
from clearwood.simplifiers.fab.inference import (
    Mixture,
    MixtureProblem,
    Parameters,
    RowBlock,
    Sums,
    fit_mixture,
    m_step,
    make_problem,
    sums_of_rows,
    with_log_joint,
)
from clearwood.simplifiers.fab.outputs import (
    GaussianOutput,
    Multinomial,
    MultinomialOutput,
    Normal,
)

CASES = ("regression_numeric", "regression_categorical",
         "classification_numeric", "classification_categorical")  # fmt: skip
RUNS = [0, 1]


@pytest.fixture(scope="module")
def facts(golden_folder):
    return json.loads((golden_folder / "fab.json").read_text())


def read_data(data):
    """Bins, codes and target; the file's statements in the order of the bins."""
    statements = data["statements"]
    numeric = [s for s in statements if "threshold" in s]
    labels = sorted({v for row in data["X"] for v in row if isinstance(v, str)})
    n_features = len(data["X"][0])
    categories = [None] * n_features
    sets = [s for s in statements if "set" in s]
    for s in sets:
        categories[s["feature"]] = tuple(labels)
    space = FeatureSpace(tuple(f"x{d}" for d in range(n_features)), tuple(categories))
    bins = FeatureBins.from_splits(
        space,
        feature=[s["feature"] for s in numeric],
        cut=[s["threshold"] for s in numeric],
        category_splits=[
            (s["feature"], {labels.index(v) for v in s["set"]}, False, False)
            for s in sets
        ],
    )
    codes = bins.transform(data["X"])
    order = [
        i
        for i, s in sorted(
            enumerate(statements),
            key=lambda item: (item[1]["feature"], item[1].get("threshold", 0.0)),
        )
        if "threshold" in s
    ]
    flipped = [False] * len(order)
    # Our categorical statements are false for the first label: maybe the mirror
    # image of the file's "in the set".
    for table in bins.statements.category_truth:
        feature = sets[0]["feature"]
        ours = {v for v, g in zip(labels, bins.groups[feature]) if table[g]}
        for i, s in enumerate(statements):
            if "set" in s and set(s["set"]) in (ours, set(labels) - ours):
                order.append(i)
                flipped.append(set(s["set"]) != ours)
    assert sorted(order) == list(range(len(statements)))
    given = np.array(data["S"], dtype=bool)[:, order] != np.array(flipped)
    np.testing.assert_array_equal(truth_of(bins, codes), given)
    return bins, codes, np.array(order), np.array(flipped)


def ordered(eta, order, flipped):
    """The file's eta (K x L) as true and false probabilities of our statements."""
    eta = np.array(eta).T[order]
    not_eta = 1.0 - eta
    return (
        np.where(flipped[:, None], not_eta, eta),
        np.where(flipped[:, None], eta, not_eta),
    )


def read_output(values):
    if "mu" in values:
        return Normal(np.array(values["mu"]), np.array(values["lambda"]))
    return Multinomial(np.array(values["gamma"]))


def problem_of(data, kind, y, n_classes=3):
    bins, codes, order, flipped = read_data(data)
    if kind == "regression":
        output, target = GaussianOutput(), np.array(y)
    else:
        output, target = MultinomialOutput(n_classes), np.eye(n_classes)[np.array(y)]
    # One block of unmerged rows, in the order of the file.
    problem = MixtureProblem(
        Blocks([RowBlock(codes, target, np.ones(len(codes)))]),
        bins,
        bins.bin_start,
        output,
        1.0,
        float(len(codes)),
    )
    return problem, order, flipped


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("variant", [0, 1])
def test_e_step(facts, name, variant):
    case = next(c for c in facts["e_step"]["cases"] if c["name"] == name)
    expected = case["variants"][variant]
    problem, order, flipped = problem_of(case, case["kind"], case["y"])
    assert problem.omega == case["omega"]
    parameters = Parameters(
        *ordered(expected["eta"], order, flipped),
        np.array(case["alpha"]),
        read_output(case["phi"]),
    )
    joint = with_log_joint(problem, parameters).gather()[3]
    # 1e-12 relative: 1 - eta formed here loses the last digits where eta is near 1.
    np.testing.assert_allclose(joint, expected["logf"], rtol=1e-12)
    beta, counts = np.array(case["beta_start"]), None
    counts = beta.sum(axis=0)
    start = naive.bound(joint, beta, problem.omega)
    assert start == pytest.approx(expected["start"]["bound"], rel=1e-12)
    weight = np.ones(len(joint))
    for done in range(1, 11):
        penalty = problem.omega / (counts + 1.0)
        beta = _kernels.responsibilities(joint, penalty)
        counts = _kernels.responsibility_counts(joint, penalty, weight)
        np.testing.assert_allclose(counts, beta.sum(axis=0), rtol=1e-12)
        if done in (2, 10):
            golden = expected[f"passes_{done}_no_eps"]
            np.testing.assert_allclose(beta, golden["beta"], rtol=1e-9, atol=1e-14)
            bound = naive.bound(joint, beta, problem.omega)
            assert bound == pytest.approx(golden["bound"], rel=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_m_step(facts, name):
    case = next(c for c in facts["e_step"]["cases"] if c["name"] == name)
    updates = next(c for c in facts["m_step"]["cases"] if c["name"] == name)["from"]
    problem, order, flipped = problem_of(case, case["kind"], case["y"])
    before = Parameters(
        *ordered(case["variants"][1]["eta"], order, flipped),
        np.array(case["alpha"]),
        read_output(case["phi"]),
    )
    rows = next(iter(problem.blocks))
    for update in updates:
        expected, beta = update["result"], update["beta"]
        beta = np.array(case["beta_start"] if beta == "beta_start" else beta)
        sums = sums_of_rows(rows, beta, problem, before.output)
        found = m_step(problem, Sums(*sums), before)
        true, false = ordered(expected["eta"], order, flipped)
        np.testing.assert_allclose(found.true_probability, true, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(
            found.false_probability, false, rtol=1e-12, atol=1e-15
        )
        np.testing.assert_allclose(found.share, expected["alpha"], rtol=1e-12)
        if case["kind"] == "classification":
            np.testing.assert_allclose(
                found.output.probability, expected["gamma"], rtol=1e-12, atol=1e-15
            )
            continue
        np.testing.assert_allclose(found.output.mean, expected["mu"], rtol=1e-12)
        for precision, golden in zip(found.output.precision, expected["lambda"]):
            if golden is None:
                # One row alone: its variance is zero up to rounding.
                assert precision > 1e12
            else:
                assert precision == pytest.approx(golden, rel=1e-12)


def start_of(facts, case):
    data = facts["fab_run"]["data"][case["kind"]]
    problem, order, flipped = problem_of(data, case["kind"], data["y"])
    init = case["init"]
    start = Parameters(
        *ordered(init["eta"], order, flipped),
        np.array(init["alpha"]),
        read_output(init),
    )
    return problem, start, np.array(init["Q"]), (order, flipped)


def check_end(fit, final, direction):
    np.testing.assert_allclose(
        fit.parameters.true_probability, ordered(final["eta"], *direction)[0], atol=1e-6
    )
    np.testing.assert_allclose(fit.parameters.share, final["alpha"], atol=1e-6)
    output = read_output(final)
    for found, golden in zip(fit.parameters.output, output):
        np.testing.assert_allclose(found, golden, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("section", ["fab_run", "em_run"])
@pytest.mark.parametrize("schedule", ["paper", "reference"])
def test_whole_runs(facts, section, schedule):
    truncate = section == "fab_run"
    for case in facts[section]["cases"]:
        problem, start, responsibility, direction = start_of(facts, case)
        if schedule == "paper":
            counts = responsibility.sum(axis=0)
            # The file's runs go on to the last digit.
            fit = fit_mixture(
                problem, start, counts, truncate=truncate,
                tol=1e-9, inner_tol=1e-13, max_passes=100_000,
            )  # fmt: skip
        else:
            fit = fit_reference(problem, start, responsibility, truncate=truncate)
        golden = case[schedule]
        iterations = golden["iterations"]
        assert len(fit.history) == len(iterations)
        for found, expected in zip(fit.history, iterations):
            assert found.bound == pytest.approx(expected["bound"], abs=1e-7)
            assert found.n_components == len(expected.get("active", case["init"]["mu"
                if case["kind"] == "regression" else "gamma"]))  # fmt: skip
            if schedule == "reference" and truncate:
                assert found.n_passes == expected["inner_passes"]
        if truncate:
            assert fit.components.tolist() == golden["final"]["component_ids"]
        check_end(fit, golden["final"], direction)


@pytest.mark.parametrize("section", ["fab_run", "em_run"])
def test_predictions_of_the_mixture(facts, section):
    """Shares p(k|s), and by (10) and (11); their sum by (9) in plain NumPy."""
    for case in facts[section]["cases"]:
        problem, *_, direction = start_of(facts, case)
        final = case["paper"]["final"]
        parameters = Parameters(
            *ordered(final["eta"], *direction),
            np.array(final["alpha"]),
            read_output(final),
        )
        mixture = Mixture.of(problem, parameters)
        codes = mixture.codes(facts["fab_run"]["data"][case["kind"]]["X_test"])
        golden = final["soft"]
        shares = mixture._replace(values=np.eye(len(final["alpha"]))).average(codes)
        # 1 - eta, formed from the file's eta, has lost digits.
        np.testing.assert_allclose(shares, golden["test_posterior"], 1e-6, 1e-12)
        value = mixture.predict(codes)
        if case["kind"] == "classification":
            value = value.argmax(axis=1)
        np.testing.assert_allclose(value, golden["test_prediction"], rtol=1e-12)
        values = np.array(final["mu"] if "mu" in final else final["gamma"])
        expected = naive.mixture_mean(truth_of(problem.bins, codes), parameters, values)
        np.testing.assert_allclose(mixture.average(codes), expected, rtol=1e-9)


def test_merging_equal_rows_changes_nothing(facts):
    case = facts["fab_run"]["cases"][1]
    problem, start, responsibility, _ = start_of(facts, case)
    codes, target, weight = problem.blocks.gather()
    merged = make_problem(codes, target, weight, problem.bins, problem.output)
    assert merged.n_rows < problem.n_rows
    counts = responsibility.sum(axis=0)
    plain, compressed = (fit_mixture(p, start, counts) for p in (problem, merged))
    assert [i.bound for i in plain.history] == pytest.approx(
        [i.bound for i in compressed.history], rel=1e-12
    )


def test_the_e_step_has_several_limits(facts):
    """Appendix C's claim of one optimum is false: the start decides."""
    unique = facts["e_step"]["uniqueness"]
    joint = np.zeros((12, 2))
    for omega, limits in ((8.0, unique["omega_8"]), (9.0, unique["omega_9"])):
        for limit in limits:
            counts = np.array(limit["start_N_k"])
            for _ in range(20_000):
                counts = _kernels.responsibility_counts(
                    joint, omega / (counts + 1.0), np.ones(12)
                )
            # Where the limit is only just stable the last digits come slowly.
            np.testing.assert_allclose(counts, limit["N_k"], atol=1e-6)
