"""Filter, smoother, Viterbi and backward sampling, beside enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.sequences import naive
from tests.sequences.golden_facts import joined, log_table, model, parts, section
from tests.wording import refuses

from clearwood.exceptions import InputError
from clearwood.sequences import states_over_time
from clearwood.sequences.states_over_time import (
    StateEvidence,
    expected_counts,
    filter_states,
    kind_counts,
    log_likelihoods,
    most_probable_states,
    sample_states,
    smooth_states,
    state_counts,
)

EXACT = 1e-12
CASES = section("discrete")["cases"]
POSSIBLE = [name for name in CASES if name != "k3_impossible"]


def near(found, wanted, atol=EXACT):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=atol)


def golden(name):
    case = CASES[name]
    startprob, transmat, emission = model(case["model"])
    row, lengths = joined(case["sequences"], emission.shape[1])
    return (
        case["per_sequence"],
        (startprob, transmat, log_table(emission)),
        row,
        lengths,
    )


@pytest.mark.parametrize("dense", [False, True], ids=["kinds", "steps"])
@pytest.mark.parametrize("name", POSSIBLE)
def test_golden_states(name, dense):
    wanted, (startprob, transmat, table), row, lengths = golden(name)
    given = (startprob, transmat, table[row]) if dense else (startprob, transmat, table)
    seen = StateEvidence(*given, lengths, None if dense else row)
    filtered, log_p = filter_states(seen)
    near(filtered, parts(wanted, "filtered"))
    near(log_p, [part["log_likelihood"] for part in wanted])
    smoothed, pairs, log_p = smooth_states(seen)
    near(smoothed, parts(wanted, "smoothed"))
    near(log_p, [part["log_likelihood"] for part in wanted])
    pairwise = [np.array(m) for part in wanted for m in part["pairwise"]]
    near(pairs, sum(pairwise, np.zeros_like(pairs)))
    states, log_joint = most_probable_states(seen)
    near(log_joint, [part["viterbi_log_joint"] for part in wanted])
    for part, own in zip(wanted, np.split(states, np.cumsum(lengths)[:-1])):
        assert own.tolist() in part["viterbi_paths"]
    counts = expected_counts(seen)
    near(counts.start, sum(np.array(part["smoothed"][0]) for part in wanted))
    near(counts.rows.sum(axis=0), smoothed.sum(axis=0))


def test_golden_long_sequence():
    wanted = section("discrete")["long"]
    startprob, transmat, emission = model(wanted["model"])
    t = np.arange(wanted["T"])
    row = ((t * t + 3 * t) // 5 + t // 7) % 4
    seen = StateEvidence(startprob, transmat, log_table(emission), row=row)
    filtered, log_p = filter_states(seen)
    smoothed, _, _ = smooth_states(seen)
    near(log_p, wanted["log_likelihood"], atol=1e-9)
    near(most_probable_states(seen)[1], wanted["viterbi_log_joint"], 1e-9)
    near(smoothed.sum(axis=0), wanted["expected_occupancy"], atol=1e-9)
    for found, name in ((filtered, "filtered"), (smoothed, "smoothed")):
        for step, values in wanted[name].items():
            near(found[int(step)], values)


def test_what_is_impossible_stays_in_its_sequence():
    startprob, transmat, emission = model("k3_m3_zeros")
    row = np.array([2, 0, 1, 0, 1, 1])
    seen = StateEvidence(startprob, transmat, log_table(emission), [3, 3], row)
    last = seen._replace(lengths=None, row=row[3:])
    # Steps that cannot be there count as not seen: 2 cannot begin, 0 may follow.
    unseen = seen._replace(lengths=None, row=np.array([3, 0, 1]))
    for find in (filter_states, smooth_states, most_probable_states):
        *states, log_p = find(seen)
        alone = find(last)
        assert log_p.tolist() == [-np.inf, alone[-1][0]]
        assert np.isfinite(states[0]).all()
        near(states[0][3:], alone[0])
        near(states[0][:3], find(unseen)[0])
    states, log_p = sample_states(np.random.default_rng(0), seen)
    assert log_p[0] == -np.inf


def test_what_only_an_unlikely_state_explains():
    """Shares of the likeliest state would underflow; the state is not impossible."""
    log_emission = np.array([[-1000.0, 3.0], [-900.0, 5.0]])
    seen = StateEvidence(np.array([1.0, 0.0]), np.eye(2), log_emission)
    filtered, log_p = filter_states(seen)
    near(filtered, [[1.0, 0.0]] * 2)
    near(log_p, [-1900.0])
    smoothed, pairs, _ = smooth_states(seen)
    near(smoothed, filtered)
    near(pairs, [[1.0, 0.0], [0.0, 0.0]])
    assert sample_states(np.random.default_rng(0), seen)[0].tolist() == [0, 0]


@st.composite
def models(draw):
    """A model, and several sequences: exact zeros, or emissions far from each other."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    k, lengths = draw(st.integers(1, 5)), draw(st.lists(st.integers(1, 4), min_size=1))
    p, scale = rng.dirichlet(np.ones(k), k + 1), draw(st.sampled_from([1, 500]))
    if scale == 1:
        p[:, :-1] *= rng.random((k + 1, k - 1)) > 0.3
    p += 0.1 * (p > 0) + 0.1 * (np.arange(k) == k - 1)
    p /= p.sum(axis=1, keepdims=True)
    log_emission = rng.normal(scale=scale, size=(sum(lengths), k))
    return p[0], p[1:], log_emission, lengths


@given(models())
def test_states_are_those_of_all_paths(case):
    startprob, transmat, log_emission, lengths = case
    seen = StateEvidence(startprob, transmat, log_emission, lengths)
    filtered, log_p = filter_states(seen)
    smoothed, pairs, _ = smooth_states(seen)
    states, log_joint = most_probable_states(seen)
    wanted_pairs, end = np.zeros_like(pairs), 0
    for s, n in enumerate(lengths):
        own = slice(end, end + n)
        plain = startprob, transmat, log_emission[own]
        # Logs of a thousand have three digits fewer behind the point.
        near(log_p[s], naive.log_likelihood(*plain), 1e-11)
        near(filtered[own], naive.filtered(*plain), 1e-9)
        expected, more = naive.smoothed_and_pairs(*plain)
        near(smoothed[own], expected, 1e-9)
        wanted_pairs += more
        paths, joint = naive.all_paths(*plain)
        near(log_joint[s], joint.max(), 1e-11)
        chosen = joint[(paths == states[own]).all(axis=1)]
        near(chosen, [joint.max()], 1e-11)
        end += n
    near(pairs, wanted_pairs, 1e-9)


@pytest.mark.parametrize("entries", [4, 12, 40])
def test_blocks_say_the_same(monkeypatch, entries):
    rng = np.random.default_rng(0)
    row, lengths = rng.integers(4, size=30), [1, 12, 9, 1, 7]
    startprob, transmat, emission = model("k3_m4")
    seen = StateEvidence(startprob, transmat, log_table(emission), lengths, row)
    by_step = seen._replace(log_emission=seen.log_emission[row], row=None)

    def all_found():
        counts, dense = expected_counts(seen), expected_counts(by_step)
        drawn = sample_states(np.random.default_rng(5), seen)
        return *counts, *dense, drawn[1], log_likelihoods(seen)

    whole = all_found()
    near(whole[-1], whole[3])
    monkeypatch.setattr(states_over_time, "BLOCK_ENTRIES", entries)
    for found, wanted in zip(all_found(), whole):
        near(found, wanted)


@pytest.mark.parametrize("stay", [0.4, 0.999999, 1.0])
@pytest.mark.parametrize("dense", [False, True], ids=["kinds", "steps"])
def test_a_filter_that_forgets_runs_once(monkeypatch, stay, dense):
    rng, k, n = np.random.default_rng(0), 3, 4_000
    transmat = np.full((k, k), (1 - stay) / (k - 1))
    np.fill_diagonal(transmat, stay)
    log_emission = np.log(rng.dirichlet(np.full(5, 20.0), k).T)
    row, startprob = rng.integers(5, size=n), np.array([0.8, 0.2, 0.0])
    seen = StateEvidence(startprob, transmat, log_emission, [2_900, 1, 1_099], row)
    if dense:
        seen = seen._replace(log_emission=log_emission[row], row=None)

    def all_found():
        states, log_p = sample_states(np.random.default_rng(1), seen)
        return *expected_counts(seen), states, log_p

    whole, filtered = expected_counts(seen), []
    plain = states_over_time._Chain.filter

    def counted(self, first, block, *others):
        filtered.append(len(block))
        plain(self, first, block, *others)

    monkeypatch.setattr(states_over_time._Chain, "filter", counted)
    monkeypatch.setattr(states_over_time, "BLOCK_ENTRIES", 4 * 1_500)
    twice = all_found()  # blocks are too short for the usual memory
    # It comes from the first step, and all blocks but the last run again.
    assert sum(filtered) == 2 * (n + 3_000)
    filtered.clear()
    monkeypatch.setattr(states_over_time, "MEMORY", 200)
    found = all_found()
    assert sum(filtered) == 2 * (n if stay < 0.5 else n + 3_000)
    for one, other in zip(found, twice):
        near(one, other, 1e-10)
    for one, other in zip(found, whole):
        near(one, other, 1e-9)


@pytest.mark.parametrize("entries", [2**24, 8])
@pytest.mark.parametrize("name", ["full", "missing", "exact_zeros"])
def test_golden_draws_of_states(monkeypatch, name, entries):
    monkeypatch.setattr(states_over_time, "BLOCK_ENTRIES", entries)
    case = section("ffbs")["joint_posterior"]["cases"][name]
    startprob, transmat, emission = model(case["model"])
    n_draws, n = 20_000, len(case["x"])
    row, lengths = joined([case["x"]] * n_draws, emission.shape[1])
    rng = np.random.default_rng(1)
    seen = StateEvidence(startprob, transmat, log_table(emission), lengths, row)
    states, _ = sample_states(rng, seen)
    base = emission.shape[0] ** np.arange(n)
    drawn = states.reshape(n_draws, n) @ base
    possible = np.array(case["state_sequences"]) @ base
    assert set(drawn) <= set(possible)
    counts = (drawn[:, None] == possible).sum(axis=0)
    p = np.array(case["probability"])
    rare = p * n_draws < 5
    counts, p = (np.append(a[~rare], a[rare].sum()) for a in (counts, p))
    counts, p = counts[p > 0], p[p > 0]
    assert stats.chisquare(counts, p / p.sum() * n_draws).pvalue > 1e-4


def test_counts_of_states():
    case = section("ffbs")["dirichlet_conditionals"]["two_sequences_missing"]
    states = np.concatenate(case["states"])
    row, lengths = joined(case["symbols"], case["n_symbols"])
    start, pairs = state_counts(states, case["K"], lengths)
    np.testing.assert_array_equal(start, case["counts_initial"])
    np.testing.assert_array_equal(pairs, case["counts_transition"])
    kinds = kind_counts(states, row, case["n_symbols"] + 1, case["K"])
    np.testing.assert_array_equal(kinds[:-1].T, case["counts_emission"])


@pytest.mark.parametrize(
    "lengths",
    [
        [2, 2],
        [3, 0],
        [4, -1],
        [1.5, 1.5],
        [],
        3,
    ],
)
def test_lengths_that_are_none(lengths):
    with refuses(InputError):
        seen = StateEvidence(np.ones(1), np.ones((1, 1)), np.zeros((3, 1)), lengths)
        filter_states(seen)
