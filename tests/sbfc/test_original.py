"""Chains by the moves of the thesis, beside sums over all graphs."""

import numpy as np
import pytest
from scipy.special import logsumexp
from tests.sampling import geweke
from tests.sbfc import naive
from tests.sbfc.tables import as_table, golden_cases, random_table
from tests.wording import refuses

from clearwood.exceptions import InputError
from clearwood.sampling import run_chains
from clearwood.sampling.diagnostics import diagnose
from clearwood.sbfc import original
from clearwood.sbfc.exact import exact_posterior
from clearwood.sbfc.graphs import FeatureForest, log_posterior
from clearwood.sbfc.original import GraphState, OriginalSampler
from clearwood.sbfc.samplers import GraphProblem
from clearwood.sbfc.scores import CodedTable, Penalty, score

pytestmark = pytest.mark.filterwarnings(
    "ignore::clearwood.exceptions.PoorMixingWarning"
)

LIVELY = Penalty((0.6, 0.2), (0.0, 0.4))
"""Edges in both groups are common."""


both_moves = pytest.mark.parametrize(
    "exchange", [False, True], ids=["thesis", "exchange"]
)


def golden_problem(place):
    case = golden_cases()[place]
    cost = Penalty.of(
        "paper", case["lambda_x"], case["lambda_y"], case["d"], case["classes"]
    )
    return case, score(as_table(case), case["alpha"]), cost


def joined(parents):
    """Which pairs have an edge, for graphs as rows."""
    d = parents.shape[-1]
    up = parents[..., None] == np.arange(d)
    return (up | np.swapaxes(up, -1, -2)).astype(float)


def same(draws, exact):
    """Means of draws (chains, draws, ...) within 4 standard errors of the truth.

    What comes in few of the draws does not tell its error: it is not below that of
    independent draws, nor one draw in 4.
    """
    n = draws.shape[0] * draws.shape[1]
    for place in np.ndindex(exact.shape):
        told, p = diagnose(draws[(..., *place)].astype(float)), exact[place]
        error = max(told.mcse, np.sqrt(max(p * (1 - p), 0) / n)) + 0.25 / n
        assert abs(told.mean - p) < 4.0 * error, (place, p, told)


# Against the exact posterior


@both_moves
@pytest.mark.parametrize("place", range(3))
def test_golden_posteriors(place, exchange):
    case, scores, cost = golden_problem(place)
    sampler = OriginalSampler(scores, cost, exchange=exchange, thin=8)
    chains = run_chains(sampler, n_draws=1200, n_warmup=50, random_state=place)
    same(chains.draws["signal"], np.array(case["rooted"]["signal_probability"]))
    edge = np.array(case["rooted"]["edge_probability"])
    same(joined(chains.draws["parent"]), edge + edge.T)


@both_moves
def test_every_graph_comes_as_often_as_it_should(exchange):
    _, scores, _ = golden_problem(0)
    signals, parents = naive.graphs(3)
    log_each = naive.graph_log_posteriors(signals, parents, scores, LIVELY)
    each = np.exp(log_each - logsumexp(log_each))
    sampler = OriginalSampler(scores, LIVELY, exchange=exchange, thin=2)
    draws = run_chains(sampler, n_draws=1500, n_warmup=20, random_state=1).draws
    drawn = np.concatenate([draws["signal"], draws["parent"]], axis=2)
    listed = np.hstack([signals, parents])
    same((drawn[:, :, None] == listed).all(axis=3), each)


@both_moves
def test_trees_that_never_break_have_any_root(exchange):
    """As their edges weigh e^60 and more: only pivots lead from root to root."""
    d = 5
    scores = score(random_table((2,) * d, 30))
    cost = Penalty((-60.0, -60.0), (0.0, 0.0))
    sampler = OriginalSampler(scores, cost, exchange=exchange, thin=5)
    draws = run_chains(sampler, n_draws=500, n_warmup=50, random_state=0).draws
    assert ((draws["parent"] >= 0).sum(axis=2) == d - 1).all()
    same(draws["parent"] < 0, np.full(d, 1 / d))


@both_moves
def test_more_trees_than_are_switched_at_once(monkeypatch, exchange):
    monkeypatch.setattr(original, "TREES_SWITCHED", 2)
    table = random_table((2, 3, 2, 2, 3, 2, 2), 40, n_classes=3)
    scores, cost = score(table), Penalty((1.5, 1.0), (0.0, 0.5))
    exact = exact_posterior(scores, cost)
    sampler = OriginalSampler(scores, cost, exchange=exchange, thin=10)
    chains = run_chains(sampler, n_draws=1000, n_warmup=50, random_state=0)
    same(chains.draws["signal"], exact.signal_probability)
    edge = exact.edge_probability.toarray()
    same(joined(chains.draws["parent"]), np.maximum(edge, edge.T))


@both_moves
def test_geweke(exchange):
    """Groups, forests and rows in two ways; see ``geweke``."""
    rng, levels, alpha = np.random.default_rng(0), np.array([2, 3, 2]), 2.0
    y = np.array([0, 1, 0, 1, 1])
    cost = Penalty((0.3, 0.2), (0.0, 0.3))

    def table_of(codes):
        return CodedTable(codes, levels, y, 2, None, 3)

    def draw_rows(signal, parent):
        codes = np.zeros((len(y), 3), np.uint8)
        for j in sorted(range(3), key=lambda j: naive.depth(parent, j)):
            known = [y] if signal[j] else []
            sizes = [2] if signal[j] else []
            if parent[j] >= 0:
                known.append(codes[:, parent[j]])
                sizes.append(levels[parent[j]])
            cell = np.ravel_multi_index(known, sizes) if known else 0 * y
            w, v = int(np.prod(sizes)), levels[j]
            share = rng.dirichlet(np.full(v, alpha / (w * v)), size=w)
            codes[:, j] = (rng.random((len(y), 1)) > share[cell].cumsum(1)).sum(1)
        return np.minimum(codes, levels - 1).astype(np.uint8)

    def quantities(signal, parent, codes):
        edge = np.triu(joined(parent)).ravel()[[1, 2, 5]]
        agree = [(codes[:, 0] == codes[:, 2]).sum(), (codes[:, 0] == y).sum()]
        alike = (codes == codes[0]).sum()
        return [*signal, *edge, (signal.sum()) ** 2, edge.sum() ** 2, *agree, alike]

    signals, parents = naive.graphs(3)
    group = signals.astype(int)
    log_prior = -np.take(cost.node, group).sum(1)
    log_prior -= (np.take(cost.edge, group) * (parents >= 0)).sum(1)
    chosen = rng.choice(len(signals), 1000, p=np.exp(log_prior - logsumexp(log_prior)))
    independent = np.array([
        quantities(signals[i], parents[i], draw_rows(signals[i], parents[i]))
        for i in chosen
    ], dtype=float)  # fmt: skip
    graph, chain = (signals[chosen[0]], parents[chosen[0]]), []
    for _ in range(1000):
        codes = draw_rows(*graph)
        own = score(table_of(codes), alpha)
        sampler = OriginalSampler(own, cost, exchange=exchange, thin=1)
        state, _ = sampler.step(rng, GraphState(*graph, 0.0))
        graph = state.signal, state.parent
        chain.append(quantities(*graph, codes))
    z = geweke.z_scores(independent, np.array(chain, dtype=float))
    assert np.abs(z).max() < 4.0


# The chain itself


@both_moves
def test_log_posterior_is_that_of_the_graph(exchange):
    table = random_table((2, 3, 2, 2, 3, 2, 2, 2), 30)
    scores = score(table)
    sampler = OriginalSampler(scores, LIVELY, exchange=exchange, thin=7)
    rng = np.random.default_rng(0)
    state, seen = sampler.init(rng), set()
    for _ in range(50):
        state, info = sampler.step(rng, state)
        graph = FeatureForest(state.signal, state.parent)
        found = log_posterior(graph, scores, LIVELY)
        assert state.log_posterior == pytest.approx(found, abs=1e-9)
        assert sampler.state_of(graph).log_posterior == state.log_posterior
        assert 0 <= info.switched <= 1
        assert 0 <= info.reassigned <= 1
        seen.add(state.parent.tobytes())
    assert len(seen) > 40


def test_steps_leave_their_state_alone():
    _, scores, _ = golden_problem(1)
    sampler = OriginalSampler(scores, LIVELY)
    state = sampler.init(np.random.default_rng(0))
    before = state.signal.copy(), state.parent.copy()
    sampler.step(np.random.default_rng(1), state)
    np.testing.assert_array_equal(state.signal, before[0])
    np.testing.assert_array_equal(state.parent, before[1])


def test_starts_are_far_apart():
    scores = score(random_table((2,) * 40, 20))
    sampler = OriginalSampler(scores, LIVELY)
    rng = np.random.default_rng(0)
    shares = [sampler.init(rng).signal.mean() for _ in range(30)]
    assert min(shares) < 0.2 < 0.8 < max(shares)


def test_resumes_to_the_same_bits(tmp_path):
    scores = score(random_table((2, 3, 2, 2, 3, 2), 30))

    def run(n_draws, **options):
        sampler = OriginalSampler(scores, LIVELY, thin=4)
        return run_chains(
            sampler, n_draws, n_warmup=5, n_chains=2, random_state=3, **options
        )

    run(20, checkpoint=tmp_path / "c.json")
    resumed, straight = run(60, checkpoint=tmp_path / "c.json"), run(60, n_jobs=2)
    for name in straight.draws:
        np.testing.assert_array_equal(resumed.draws[name], straight.draws[name])


def test_a_circle_is_no_state():
    _, scores, cost = golden_problem(0)
    circle = GraphState(np.zeros(3, bool), np.array([1, 2, 0], np.int32), 0.0)
    with refuses(InputError):
        OriginalSampler(scores, cost).record(circle)


def test_another_problem_has_another_fingerprint():
    _, scores, cost = golden_problem(0)
    first = OriginalSampler(scores, cost).fingerprint
    assert OriginalSampler(scores, cost).fingerprint == first
    for other in (
        OriginalSampler(golden_problem(1)[1], cost),
        OriginalSampler(scores, LIVELY),
        OriginalSampler(scores, cost, thin=5),
        OriginalSampler(scores, cost, exchange=True, thin=50),
    ):
        assert other.fingerprint != first


def test_one_feature():
    table = CodedTable(np.zeros((4, 1), np.uint8), np.array([1]), np.arange(4) % 2, 2,
                       None, 1)  # fmt: skip
    chains = run_chains(
        OriginalSampler(score(table), Penalty((0.0, 0.0), (0.0, 0.0)), thin=1),
        n_draws=500, n_warmup=0, random_state=0,
    )  # fmt: skip
    same(chains.draws["signal"], np.array([0.5]))


def test_edges_that_are_there_already_are_not_looked_for_again(monkeypatch):
    table = random_table([2, 3, 2, 2], n=60)
    problem = GraphProblem.from_scores(score(table), LIVELY)
    plain = OriginalSampler(problem.scores, LIVELY)
    monkeypatch.delattr(original, "strong_edges")
    given = OriginalSampler(problem.scores, LIVELY, edges=problem.edges)
    assert given.fingerprint == plain.fingerprint
