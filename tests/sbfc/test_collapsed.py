"""Draws of sets of signal features, beside the sum over all sets."""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.stats import chi2
from tests.sampling import geweke
from tests.sbfc import naive
from tests.sbfc.tables import copies, random_table
from tests.wording import refuses

from clearwood._kernels.sbfc import (
    log_sums_of_blocks,
    most_gained,
    most_gained_by_one,
)
from clearwood.exceptions import InputError
from clearwood.sampling import run_chains
from clearwood.sbfc import collapsed
from clearwood.sbfc.collapsed import SignalSampler, SignalState
from clearwood.sbfc.exact import exact_posterior
from clearwood.sbfc.graphs import active_nodes
from clearwood.sbfc.scores import CodedTable, Penalty, score, strong_edges

EXACT = 1e-9

pytestmark = pytest.mark.filterwarnings(
    "ignore::clearwood.exceptions.PoorMixingWarning"
)


@pytest.fixture(scope="module")
def mixed():
    """Six features, most of them in doubt, two of them nearly one; all edges kept."""
    table = random_table((2, 3, 2, 2, 4, 2), 40)
    table.codes[:, 5] = table.codes[:, 3]
    table.codes[:8, 5] ^= 1
    return score(table), Penalty((1.0, 0.5), (0.0, 0.7))


@pytest.fixture
def all_edges(monkeypatch):
    monkeypatch.setattr(collapsed, "BOUNDS", (1e-12,))


def some_sets(d, n=12):
    return np.random.default_rng(1).random((n, d)) < 0.5


def test_log_joints_are_those_of_plain_determinants(mixed, all_edges):
    sampler = SignalSampler(*mixed)
    for signal in some_sets(6):
        wanted = naive.log_joint(*mixed, signal)
        assert sampler.state_of(signal).log_joint == pytest.approx(wanted, abs=EXACT)


def test_edges_found_before_are_used(mixed, monkeypatch):
    found = strong_edges(*mixed, np.log(1e-8))
    sampler = SignalSampler(*mixed)
    monkeypatch.delattr(collapsed, "strong_edges")
    again = SignalSampler(*mixed, edges=found)
    assert again.fingerprint == sampler.fingerprint
    assert again.dropped == pytest.approx(sampler.dropped)


def test_a_sweep_keeps_its_log_joint(mixed, all_edges):
    sampler, rng = SignalSampler(*mixed), np.random.default_rng(0)
    state = sampler.init(rng)
    for _ in range(20):
        state, _ = sampler.step(rng, state)
        again = sampler.state_of(state.signal)
        assert state.log_joint == pytest.approx(again.log_joint, abs=EXACT)


def test_averages_of_one_set(mixed, all_edges):
    sampler = SignalSampler(*mixed)
    scores, penalty = mixed
    for signal in some_sets(6, 4):
        found = sampler.average(signal)
        here = naive.log_joint(scores, penalty, signal)
        for j in range(6):
            flipped = signal.copy()
            flipped[j] ^= True
            stays = 1 / (1 + np.exp(naive.log_joint(scores, penalty, flipped) - here))
            p = stays if signal[j] else 1 - stays
            assert found.signal_probability[j] == pytest.approx(p, abs=EXACT)
        edges = found.edge_probability
        assert edges[np.ix_(signal, ~signal)].nnz == 0
        for group in (0, 1):
            members = np.flatnonzero(signal == group)
            log_weight = scores.gains(group)[np.ix_(members, members)]
            weight = np.exp(log_weight - penalty.edge[group]).tolist()
            for a, i in enumerate(members):
                for b, j in enumerate(members[:a]):
                    p = float(naive.edge_probability(weight, a, b))
                    assert edges[i, j] == pytest.approx(p, abs=EXACT)
                    assert edges[j, i] == pytest.approx(p, abs=EXACT)


def test_no_move_gains_more_than_its_bound(all_edges):
    scores = score(copies(4, 30))
    penalty = Penalty((1.0, 0.5), (0.0, 0.7))
    sampler, d = SignalSampler(scores, penalty), 6
    rng = np.random.default_rng(0)
    for signal in some_sets(d):
        for size in (1, 2, 3, 5):
            block = rng.permutation(d)[:size]
            flipped = signal.copy()
            flipped[block] ^= True
            there = sampler.state_of(flipped).log_joint
            gain = there - sampler.state_of(signal).log_joint
            given = (active_nodes(signal), sampler._own, sampler._graph)
            inside, place = np.zeros(2 * d, bool), np.zeros(2 * d, np.int64)
            blocks = np.array([0, size]), block
            log_sum = log_sums_of_blocks(sampler._graph, blocks)[0]
            assert most_gained(block, log_sum, *given, inside, place) >= gain - EXACT
            if size == 1:
                most, exact = most_gained_by_one(block[0], *given)
                assert most >= gain - EXACT
                assert not exact or most == pytest.approx(gain, abs=EXACT)


def test_a_step_leaves_the_exact_posterior_as_it_is(mixed, all_edges):
    exact, sampler = exact_posterior(*mixed), SignalSampler(*mixed)
    rng, n = np.random.default_rng(0), 20_000
    number = exact.sets @ 2 ** np.arange(6)
    starts = rng.choice(len(exact.sets), size=n, p=exact.set_probability)
    count = np.zeros(64)
    for k in starts:
        state, _ = sampler.step(rng, SignalState(exact.sets[k], 0.0))
        count[state.signal @ 2 ** np.arange(6)] += 1
    wanted = np.zeros(64)
    wanted[number] = n * exact.set_probability
    likely = wanted > 5
    found = np.append(count[likely], count[~likely].sum())
    wanted = np.append(wanted[likely], wanted[~likely].sum())
    assert likely.sum() > 20
    assert chi2.sf(((found - wanted) ** 2 / wanted).sum(), likely.sum()) > 1e-4


def test_chains_agree_with_the_exact_posterior(mixed):
    exact, sampler = exact_posterior(*mixed), SignalSampler(*mixed)
    chains = run_chains(sampler, 1500, n_warmup=50, random_state=0)
    found = sampler.average(chains.draws["signal"])
    sets = chains.draws["signal"].astype(float)
    error = sets.std(axis=(0, 1)) / np.sqrt(sets[..., 0].size / 4)
    gap = np.abs(found.signal_probability - exact.signal_probability)
    assert (gap < 4 * error).all()
    assert gap.max() > 0  # these are draws
    edges = np.abs(found.edge_probability - exact.edge_probability).max()
    assert edges < 4 * error.max()


def test_a_cluster_of_noise_changes_sides_at_once():
    scores = score(copies(6, 150))
    # Such that noise and signal suit the cluster about equally well.
    penalty = Penalty((8.0, 6.0), (0.0, 0.0))
    exact = exact_posterior(scores, penalty)
    assert 0.1 < exact.signal_probability[0] < 0.9
    sampler = SignalSampler(scores, penalty, forest_starts=False)
    chains = run_chains(sampler, 400, n_warmup=20, random_state=0)
    assert chains.diagnose()["n_signal"].rhat < 1.01
    found = sampler.average(chains.draws["signal"]).signal_probability
    np.testing.assert_allclose(found, exact.signal_probability, rtol=0, atol=0.06)


def test_branches_of_a_forest():
    # 0 - 1 - 2 - 3 with 4 at 2, and 5 - 6.
    edges = np.array([(0, 1), (1, 2), (2, 3), (4, 2), (6, 5)]).T
    tree = coo_array((np.ones(5), tuple(edges)), shape=(8, 8))
    found = {tuple(sorted(block)) for block in collapsed._branches(tree)}
    sides = {(0,), (0, 1), (3,), (4,)} | ({(5,)} if (5,) in found else {(6,)})
    assert found == sides | {tuple(sorted(ends)) for ends in edges.T.tolist()}
    every = collapsed._blocks([tree, tree], [[0, 1], [3, 1, 2]])
    assert [len(block) for block in every[:8]] == [1] * 8
    assert every[8:] == [[0, 1], [1, 2], [1, 2, 3], [2, 3], [2, 4], [5, 6]]


def test_huge_weights():
    scores = score(copies(7, 4000, noise=0.001))
    penalty = Penalty.of("paper", 4.0, 1.0, 9, 2)
    assert scores.gains(1)[0, 1] > 2000
    exact, sampler = exact_posterior(scores, penalty), SignalSampler(scores, penalty)
    log_joint = np.log(exact.set_probability) + exact.log_evidence
    for signal, wanted in zip(exact.sets, log_joint):
        found = sampler.state_of(signal).log_joint
        assert found == pytest.approx(wanted, abs=2 * sampler.dropped + 1e-7)


@pytest.mark.parametrize("bound", [1e-3, 0.05, 0.5])
def test_edges_left_out_change_little(monkeypatch, bound):
    table = random_table((2,) * 8, 40)
    scores, penalty = score(table), Penalty.of("paper", 4.0, 1.0, 8, 2)
    exact = exact_posterior(scores, penalty)
    monkeypatch.setattr(collapsed, "BOUNDS", (bound,))
    sampler = SignalSampler(scores, penalty)
    total = most = 0.0
    for group in (0, 1):
        weight = np.exp(scores.gains(group) - penalty.edge[group])
        weak = np.where(weight <= bound, weight, 0.0)
        total += weak.sum() / 2
        most = max(most, weak.sum(axis=1).max())
    assert sampler.dropped == pytest.approx(most)
    log_joint = np.log(exact.set_probability) + exact.log_evidence
    for signal, wanted in zip(exact.sets[::10], log_joint[::10]):
        found = sampler.state_of(signal).log_joint
        assert wanted - 2 * total < found < wanted + EXACT


def test_giant_components_are_refused(monkeypatch):
    monkeypatch.setattr(collapsed, "MOST_TIED", 5)
    scores, penalty = score(copies(6, 150)), Penalty.of("paper", 4.0, 1.0, 8, 2)
    with refuses(InputError):
        SignalSampler(scores, penalty)
    monkeypatch.setattr(collapsed, "MOST_TIED", 8)
    exact, sampler = exact_posterior(scores, penalty), SignalSampler(scores, penalty)
    wanted = np.log(exact.set_probability[0]) + exact.log_evidence
    assert sampler.state_of(exact.sets[0]).log_joint == pytest.approx(wanted, abs=0.01)


def test_checkpoints_go_on_to_the_same_bits(tmp_path, mixed):
    sampler, path = SignalSampler(*mixed), tmp_path / "chains"
    whole = run_chains(sampler, 60, n_warmup=10, n_chains=2, random_state=3)
    run_chains(sampler, 20, n_warmup=10, n_chains=2, random_state=3, checkpoint=path)
    again = run_chains(sampler, 60, n_warmup=10, n_chains=2, checkpoint=path)
    for name, values in whole.draws.items():
        np.testing.assert_array_equal(again.draws[name], values)


def test_forest_starts_are_near_the_best_set():
    scores, penalty = score(copies(6, 150)), Penalty.of("paper", 4.0, 1.0, 8, 2)
    exact, sampler = exact_posterior(scores, penalty), SignalSampler(scores, penalty)
    best = np.log(exact.set_probability[0]) + exact.log_evidence
    starts = [sampler.init(np.random.default_rng(k)).log_joint for k in range(20)]
    found, count = np.unique(starts, return_counts=True)
    assert 5 < len(found) < 15  # half of them at random
    assert found[count.argmax()] > best - 1
    sampler = SignalSampler(scores, penalty, forest_starts=False)
    starts = [sampler.init(np.random.default_rng(k)).log_joint for k in range(20)]
    assert len(set(starts)) > 15


# Geweke's test: the forests are summed out of the sampler, not of the model


@cache
def forests(d):
    """All forests as lists of edges, with the trees that they leave."""
    found = []
    pairs = [(i, j) for i in range(d) for j in range(i)]
    for number in range(2 ** len(pairs)):
        edges = [pair for k, pair in enumerate(pairs) if number >> k & 1]
        trees = [{j} for j in range(d)]
        for i, j in edges:
            one, other = (next(t for t in trees if k in t) for k in (i, j))
            if one is other:
                break
            trees.remove(other)
            one |= other
        else:
            found.append((edges, trees))
    return found


def draw_forest(rng, scores, penalty, signal):
    """A forest given the groups, each counted once per choice of its roots."""
    found, log_weight = [], []
    for edges, trees in forests(len(signal)):
        if all(signal[i] == signal[j] for i, j in edges):
            total = sum(np.log(len(tree)) for tree in trees)
            for i, j in edges:
                group = int(signal[i])
                total += scores.gains(group)[i, j] - penalty.edge[group]
            found.append(edges)
            log_weight.append(total)
    p = np.exp(np.array(log_weight) - max(log_weight))
    return found[rng.choice(len(found), p=p / p.sum())]


def draw_rows(rng, table, alpha, signal, edges):
    """Rows given a graph: every cell of the parents has probabilities of its own."""
    n, d = table.codes.shape
    codes, order = np.zeros((n, d), np.uint8), []
    parent = dict.fromkeys(range(d), -1)
    while len(order) < d:
        j = next(k for k in range(d) if k not in order)
        stack = [(j, -1)]
        while stack:
            j, parent[j] = stack.pop()
            order.append(j)
            ends = [e for e in edges if j in e]
            stack += [(a + b - j, j) for a, b in ends if a + b - j != parent[j]]
    for j in order:
        cell, w = np.zeros(n, int), 1
        if parent[j] >= 0:
            cell, w = codes[:, parent[j]].astype(int), 2
        if signal[j]:
            cell, w = 2 * cell + table.y, 2 * w
        p = rng.beta(alpha / (2 * w), alpha / (2 * w), size=w)
        codes[:, j] = rng.random(n) < p[cell]
    return table._replace(codes=codes)


def test_geweke(all_edges):
    d, n, alpha = 3, 8, 2.0
    y = np.arange(n) % 2
    penalty = Penalty((0.5, 0.2), (0.0, 0.4))
    empty = CodedTable(np.zeros((0, d), np.uint8), np.full(d, 2), y[:0], 2, None, d)
    nothing = score(empty, alpha)
    prior = exact_posterior(nothing, penalty)
    rng = np.random.default_rng(0)
    table = empty._replace(codes=np.zeros((n, d), np.uint8), y=y)

    def quantities(table, signal):
        codes = table.codes.astype(int)
        same = [(codes[:, j] == y).mean() - 0.5 for j in range(d)]
        pairs = [(codes[:, j] == codes[:, j - 1]).mean() - 0.5 for j in range(d)]
        # Spread of these, as groups and edges show in it.
        return [*signal, signal.sum() ** 2, *np.abs(same), *np.abs(pairs)]

    def fresh():
        signal = prior.sets[rng.choice(len(prior.sets), p=prior.set_probability)]
        edges = draw_forest(rng, nothing, penalty, signal)
        return signal, draw_rows(rng, table, alpha, signal, edges)

    independent = []
    for _ in range(2000):
        signal, rows = fresh()
        independent.append(quantities(rows, signal))
    chain = []
    signal, rows = fresh()
    for _ in range(500):
        scores = score(rows, alpha)
        sampler = SignalSampler(scores, penalty)
        signal = sampler.step(rng, sampler.state_of(signal))[0].signal
        edges = draw_forest(rng, scores, penalty, signal)
        rows = draw_rows(rng, rows, alpha, signal, edges)
        chain.append(quantities(rows, signal))
    z = geweke.z_scores(np.array(independent, float), np.array(chain, float))
    assert np.abs(z).max() < 4
