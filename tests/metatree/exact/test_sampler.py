"""Trees drawn by a Markov chain, beside the exact sum over all of them."""

import numpy as np
import pytest
from tests.metatree.exact import naive
from tests.sampling import geweke
from tests.wording import refuses

from clearwood.exceptions import InputError
from clearwood.metatree import (
    BernoulliBeta,
    LinearRegressionNormalGamma,
    NormalNormalGamma,
)
from clearwood.metatree.exact import sampler as structure_mcmc
from clearwood.metatree.exact.sampler import TreeSampler, flat, nested
from clearwood.metatree.exact.sum import exact_sum
from clearwood.metatree.exact.trees import sample_trees
from clearwood.sampling import run_chains
from clearwood.sampling.diagnostics import diagnose

pytestmark = pytest.mark.filterwarnings(
    "ignore::clearwood.exceptions.PoorMixingWarning"
)


def problem(leaf_model, n=60, n_values=(2,) * 6):
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(m, size=n) for m in n_values])
    y = codes[:, 0] + codes[:, 1] * codes[:, 2] + 0.7 * rng.normal(size=n)
    return codes, (y > 0.8).astype(float) if leaf_model == BernoulliBeta() else y


CASES = {
    "one ahead": (BernoulliBeta(), (2,) * 6, (0.5, 0.5, 0.5), 1),
    "two ahead": (BernoulliBeta(), (2,) * 6, (0.7, 0.5, 0.6, 0.4), 2),
    "normal": (NormalNormalGamma(), (2,) * 5, (0.5, 0.6, 0.3), 1),
    "three values": (BernoulliBeta(), (3, 2, 3, 2), (0.5, 0.6, 0.3), 1),
    "all asked": (BernoulliBeta(), (2, 2, 2), (0.6,) * 5, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_exact_sum(name):
    leaf_model, n_values, g, lookahead = CASES[name]
    codes, y = problem(leaf_model, n_values=n_values)
    options = {"max_depth": len(g), "g": g, "n_values": n_values}
    exact = exact_sum(codes, y, leaf_model, **options)
    sampler = TreeSampler(codes, y, leaf_model, lookahead=lookahead, **options)
    chains = run_chains(
        sampler, n_draws=400, n_warmup=50, n_chains=10, thin=2, random_state=1
    )
    assert chains.info["accepted"].mean() < chains.info["proposed"].mean() < 1.0
    found = chains.diagnose()
    for j, probability in enumerate(exact.feature_used()):
        told = found[f"feature_used[{j}]"]
        assert abs(told.mean - probability) < 4.0 * told.mcse + 1e-3
    # The error of the predictions is what the chains differ by.
    by_chain = np.array(
        [sampler.predict(draws, codes) for draws in chains.draws["questions"]]
    )
    error = by_chain.std(axis=0, ddof=1) / np.sqrt(len(by_chain))
    gap = np.abs(by_chain.mean(axis=0) - exact.predict(codes))
    assert (gap < 5.0 * error + 0.01).all()
    assert gap.max() < 0.05


def test_single_trees_come_as_often_as_their_posterior_says():
    codes, y = problem(BernoulliBeta(), n=20, n_values=(2, 2, 2))
    g = (0.6, 0.5)
    listed = naive.Enumeration(codes, y, BernoulliBeta(), (2, 2, 2), g, False)
    sampler = TreeSampler(codes, y, BernoulliBeta(), max_depth=2, g=g, lookahead=1)
    chains = run_chains(sampler, n_draws=1500, n_warmup=20, random_state=0)
    n_values = np.array([2, 2, 2])
    drawn = [
        [nested(q, n_values) for q in chain] for chain in chains.draws["questions"]
    ]
    likely = np.argsort(listed.posterior)[::-1][:8]
    for i in likely:
        hit = np.array([[t == listed.trees[i] for t in c] for c in drawn], dtype=float)
        told = diagnose(hit)
        assert abs(told.mean - listed.posterior[i]) < 4.0 * told.mcse


def test_log_joint_is_that_of_the_tree():
    codes, y = problem(BernoulliBeta(), n=20, n_values=(2, 3, 2))
    g = (0.6, 0.5)
    listed = naive.Enumeration(codes, y, BernoulliBeta(), (2, 3, 2), g, False)
    sampler = TreeSampler(
        codes, y, BernoulliBeta(), max_depth=2, g=g, n_values=(2, 3, 2)
    )
    for tree, log_posterior in list(zip(listed.trees, listed.log_posterior))[::50]:
        state = sampler.state_of(tree)
        assert state.log_joint == pytest.approx(
            log_posterior + listed.log_evidence, rel=1e-12
        )
        assert nested(state.questions, sampler.n_values) == tree
        assert flat(tree) == state.questions.tolist()


def test_a_look_at_everything_ahead_needs_no_correction(monkeypatch):
    codes, y = problem(BernoulliBeta())
    monkeypatch.setattr(structure_mcmc, "BOLD", 0.0)
    sampler = TreeSampler(codes, y, BernoulliBeta(), max_depth=3, lookahead=3)
    info = run_chains(sampler, n_draws=100, n_warmup=5, random_state=0).info
    np.testing.assert_array_equal(info["accepted"], info["proposed"])


def test_features_that_matter_only_together_are_found_by_two_ahead():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(400, 30))
    y = codes[:, 4] ^ codes[:, 9] ^ (rng.random(400) < 0.05)
    sampler = TreeSampler(codes, y, BernoulliBeta(), max_depth=6)
    chains = run_chains(sampler, n_draws=100, n_warmup=20, random_state=0)
    used = chains.draws["feature_used"].mean(axis=1)
    assert (used[:, [4, 9]] == 1.0).all()


def test_resumes_to_the_same_bits_with_nothing_known(tmp_path):
    codes, y = problem(BernoulliBeta())

    def run(n_draws, **options):
        sampler = TreeSampler(codes, y, BernoulliBeta(), max_depth=4, lookahead=1)
        return run_chains(
            sampler, n_draws, n_warmup=5, n_chains=2, random_state=3, **options
        )

    run(20, checkpoint=tmp_path / "c.json")
    resumed, straight = run(60, checkpoint=tmp_path / "c.json"), run(60, n_jobs=2)
    for name in straight.draws:
        np.testing.assert_array_equal(resumed.draws[name], straight.draws[name])


def test_a_step_says_whether_it_was_tried_and_kept():
    codes, y = problem(BernoulliBeta())
    sampler = TreeSampler(codes, y, BernoulliBeta(), max_depth=4, lookahead=1)
    rng, steps = np.random.default_rng(0), []
    state = sampler.init(rng)
    for _ in range(100):
        before, (state, info) = state, sampler.step(rng, state)
        steps.append(info)
        assert info.accepted or state is before
        assert info.proposed or not info.accepted
    assert {(True, True), (True, False)} <= {*steps}


def test_half_a_tree_is_no_state():
    codes, y = problem(BernoulliBeta())
    sampler = TreeSampler(codes, y, BernoulliBeta(), max_depth=3)
    half = structure_mcmc.State(np.array([0, -1], dtype=np.int32), 0.0)
    with refuses(ValueError):
        sampler.record(half)


def test_another_problem_has_another_fingerprint():
    codes, y = problem(BernoulliBeta())
    options = {"max_depth": 3}
    first = TreeSampler(codes, y, BernoulliBeta(), **options).fingerprint
    assert TreeSampler(codes, y, BernoulliBeta(), **options).fingerprint == first
    for other in (
        TreeSampler(codes, 1 - y, BernoulliBeta(), **options),
        TreeSampler(codes, y, BernoulliBeta(1.0, 1.0), **options),
        TreeSampler(codes, y, BernoulliBeta(), g=0.4, **options),
    ):
        assert other.fingerprint != first


def test_geweke():
    """Prior and data in two ways; see ``geweke``."""
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(8, 3))
    leaf, g, n_values = BernoulliBeta(1.0, 2.0), (0.7, 0.5), np.array([2, 2, 2])
    nothing = exact_sum(codes[:0], [], leaf, max_depth=2, g=g)

    def draw_data(tree):
        y = np.zeros(len(codes))
        for rows in naive.leaves(tree, codes, np.arange(len(codes))):
            y[rows] = rng.random(len(rows)) < rng.beta(leaf.a, leaf.b)
        return y

    def quantities(tree, y):
        features = naive.features_of(tree)
        size = naive.n_nodes(tree)
        parts = naive.leaves(tree, codes, np.arange(len(codes)))
        fit = sum(y[rows].sum() ** 2 / max(len(rows), 1) for rows in parts)
        return [size, size**2, *(j in features for j in range(3)), y.mean(), fit]

    trees = sample_trees(nothing, 2500, rng)
    independent = np.array([quantities(t, draw_data(t)) for t in trees], dtype=float)
    tree, chain = trees[0], []
    for _ in range(2500):
        y = draw_data(tree)
        sampler = TreeSampler(codes, y, leaf, max_depth=2, g=g, lookahead=1)
        state, _ = sampler.step(rng, sampler.state_of(tree))
        tree = nested(state.questions, n_values)
        chain.append(quantities(tree, y))
    chain = np.array(chain, dtype=float)
    assert np.abs(geweke.z_scores(independent, chain)).max() < 4.0


def test_depth_zero_and_no_rows():
    codes, y = problem(BernoulliBeta())
    stump = TreeSampler(codes, y, BernoulliBeta(), max_depth=0)
    chains = run_chains(stump, n_draws=4, n_warmup=0, random_state=0)
    assert (chains.draws["n_leaves"] == 1.0).all()
    empty = TreeSampler(codes[:0], y[:0], BernoulliBeta(), max_depth=2, g=0.9)
    chains = run_chains(empty, n_draws=500, n_warmup=0, random_state=0)
    assert chains.draws["n_leaves"].mean() > 2.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lookahead": 0}, ""),
        ({"max_depth": 40}, "100,000"),
        (
            {"leaf_model": LinearRegressionNormalGamma((0.0,))},
            "LinearRegressionNormalGamma",
        ),
    ],
)
def test_wrong_input(change, message):
    codes = np.zeros((3, 50), dtype=int)
    given = {"leaf_model": BernoulliBeta(), "max_depth": 2} | change
    with refuses(InputError, match=message):
        TreeSampler(codes, np.zeros(3), given.pop("leaf_model"), **given)
