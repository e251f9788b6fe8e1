"""Draws of parameters: exact posteriors, Geweke's joint test, stopping and going on."""

import numpy as np
import pytest
from tests.sampling.geweke import z_scores
from tests.sequences.golden_facts import section
from tests.sequences.made import coins, normal, observed
from tests.wording import refuses

from clearwood.distributions import CategoricalEmission, JointEmission
from clearwood.exceptions import InputError, PoorMixingWarning
from clearwood.sampling import bulk_ess, run_chains
from clearwood.sequences.gibbs import (
    StateSampler,
    aligned,
    drawn_parameters,
    likeliest,
)
from clearwood.sequences.sequence_model import (
    Observed,
    SequencePrior,
    StateModel,
    evidence_of,
)
from clearwood.sequences.states_over_time import (
    StateEvidence,
    filter_states,
    log_likelihoods,
    state_counts,
)

COLLAPSED = section("ffbs")["collapsed"]["cases"]


@pytest.mark.parametrize("name", ["alpha_half", "two_sequences", "missing"])
@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")
def test_golden_posterior_without_parameters(name):
    case = COLLAPSED[name]
    alpha = 0.5 if name == "alpha_half" else 1.0
    seen = observed(case["sequences"])
    emission = CategoricalEmission((alpha, alpha))
    sampler = StateSampler(seen, SequencePrior(alpha, alpha, emission), 2)
    chains = run_chains(sampler, 1200, n_warmup=20, n_chains=1, random_state=3)
    found = []
    for draw in map(StateModel, *drawn_parameters(chains)):
        log_rows = emission.log_likelihood(draw.emission, seen.values)
        filtered, _ = filter_states(
            StateEvidence(
                draw.startprob, draw.transmat, log_rows, seen.lengths, row=seen.row
            )
        )
        ahead = filtered[-1] @ draw.transmat @ draw.emission
        gap = draw.emission[0, 0] - draw.emission[1, 0]
        found.append([ahead[0], np.trace(draw.transmat), gap**2])
    found = np.array(found)
    wanted = [
        case["next_symbol_after_last_sequence"][0],
        case["expected_trace_of_transition"],
        case["expected_squared_difference_of_emission_of_symbol_0"],
    ]
    for column, exact in zip(found.T, wanted):
        error = column.std() / np.sqrt(min(bulk_ess(column[None]), len(column)))
        assert abs(column.mean() - exact) < 4 * error


@pytest.mark.parametrize("name", ["one", "two_sequences_missing", "empty_state"])
def test_golden_conditionals_of_parameters(name):
    case = section("ffbs")["dirichlet_conditionals"][name]
    alpha, k = case["prior"], case["K"]
    emission = CategoricalEmission((alpha["alpha_emission"],) * case["n_symbols"])
    prior = SequencePrior(alpha["alpha_initial"], alpha["alpha_transition"], emission)
    lengths = [len(part) for part in case["states"]]
    start, pairs = state_counts(np.concatenate(case["states"]), k, lengths)
    rng, n = np.random.default_rng(0), 1500
    counts = np.array(case["counts_emission"], dtype=float)
    drawn = [prior.draw(rng, start, pairs, counts) for _ in range(n)]
    for values, key in zip(map(np.array, zip(*drawn)), ("initial", "transition")):
        error = values.std(axis=0) / np.sqrt(n)
        gap = values.mean(axis=0) - case[f"posterior_mean_{key}"]
        assert (np.abs(gap) < 4.5 * error).all()


def test_missing_entries_of_rows_are_drawn(monkeypatch):
    seen, emission = observed([[[1.0, None], [0.5, 2.0]]], discrete=False), normal(2)
    sampler = StateSampler(seen, SequencePrior(1.0, 1.0, emission), 1)
    given = []
    whole = type(emission).statistics

    def watched(self, parameters, values, weight, rng=None):
        given.append(rng)
        return whole(self, parameters, values, weight, rng)

    monkeypatch.setattr(type(emission), "statistics", watched)
    rng = np.random.default_rng(0)
    sampler.step(rng, sampler.init(rng))
    assert given == [rng, rng]


JOINT = {
    "categorical": CategoricalEmission((0.8, 1.5, 2.0)),
    "switches": coins(2, 0.7, 1.6),
    "normal": normal(2),
    "mixed": JointEmission(
        [
            ([1], CategoricalEmission((1.0, 2.0, 0.5))),
            ([0], CategoricalEmission((1.0, 3.0))),
        ]
    ),  # fmt: skip
}


@pytest.mark.parametrize("kind", JOINT)
def test_two_ways_to_draw_agree(kind):
    """Geweke: parameters, then data; or steps of the sampler and new data in turn."""
    emission, rng, k, lengths = JOINT[kind], np.random.default_rng(7), 2, [5, 3]
    prior = SequencePrior(1.3, 0.8, emission)
    # Which cells are missing says nothing, so that it may stay the same.
    n_columns = emission.sample(
        rng, emission.draw(rng, np.zeros((1, emission.n_statistics))), np.zeros(1, int)
    ).shape[1]
    absent = np.random.default_rng(0).random((8, n_columns)) < 0.25
    absent[2] = True

    def from_prior():
        nothing = np.zeros(k), np.zeros((k, k)), np.zeros((k, emission.n_statistics))
        return prior.draw(rng, *nothing)

    def data(p):
        states = []
        for t in range(8):
            row = p.startprob if t in (0, 5) else p.transmat[states[-1]]
            states.append(rng.choice(k, p=row))
        values = emission.sample(rng, p.emission, np.array(states))
        values[absent] = np.nan
        return values

    def quantities(p, values):
        stay = np.diag(p.transmat)
        return [
            stay.sum(), (p.startprob**2).sum(), (p.startprob * stay).sum(),
            *p.emission.mean(axis=0), *np.abs(p.emission).max(axis=0),
            (stay[:, None] * p.emission).sum(),
            *np.nanmean(values, axis=0), np.nansum(values[:-1] * values[1:]),
        ]  # fmt: skip

    n = 250 if kind == "normal" else 500
    independent = np.array(
        [quantities(p, data(p)) for p in (from_prior() for _ in range(800))]
    )
    p, chain = from_prior(), []
    values = data(p)
    for _ in range(n):
        seen = Observed.from_values(values, lengths, kind != "normal")
        sampler = StateSampler(seen, prior, k, p)
        state, _ = sampler.step(rng, sampler.init(rng))
        p = StateModel(*state[:3])
        values = data(p)
        chain.append(quantities(p, values))
    # Some heavy tails: 4 standard errors of about 15 quantities.
    assert np.abs(z_scores(independent, np.array(chain))).max() < 4


def small_problem():
    rng = np.random.default_rng(0)
    values = rng.integers(3, size=(40, 1)).astype(float)
    seen = Observed.from_values(values, [25, 15], True)
    return seen, SequencePrior(1.0, 1.0, CategoricalEmission((1.0,) * 3))


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")
def test_chains_go_on_to_the_same_bits(tmp_path):
    sampler = StateSampler(*small_problem(), 2)
    settings = {"n_warmup": 5, "n_chains": 2, "random_state": 1}
    whole = run_chains(sampler, 20, **settings)
    path = tmp_path / "chains.json"
    run_chains(sampler, 8, checkpoint=path, **settings)
    again = run_chains(sampler, 20, checkpoint=path, n_jobs=2, **settings)
    for name, values in whole.draws.items():
        np.testing.assert_array_equal(values, again.draws[name])
    # From wherever chains began: they have gone on from there.
    other = StateSampler(*small_problem(), 2, StateModel(*whole.states[0][:3]))
    again = run_chains(other, 20, checkpoint=path, **settings | {"random_state": None})
    np.testing.assert_array_equal(whole.draws["stay"], again.draws["stay"])
    seen, prior = small_problem()
    for more in (StateSampler(seen, prior, 3), StateSampler(
        seen, prior._replace(transition=2.0), 2
    )):  # fmt: skip
        with refuses(InputError):
            run_chains(more, 20, checkpoint=path, **settings)


def test_judged_are_only_numbers_without_labels():
    sampler = StateSampler(*small_problem(), 2)
    with pytest.warns(PoorMixingWarning):
        chains = run_chains(sampler, 10, n_warmup=0, n_chains=2, random_state=0)
    assert set(chains.diagnose()) == {"log_likelihood", "stay"}
    draws = drawn_parameters(chains)
    assert draws.transmat.shape == (20, 2, 2)
    np.testing.assert_allclose(draws.transmat.sum(axis=2), 1.0)
    stay = np.trace(draws.transmat, axis1=1, axis2=2) / 2
    np.testing.assert_allclose(stay, chains.draws["stay"].ravel())


def test_the_reference_is_the_likeliest_draw():
    seen, prior = small_problem()
    with pytest.warns(PoorMixingWarning):
        chains = run_chains(
            StateSampler(seen, prior, 2), 6, n_warmup=0, n_chains=3, random_state=0
        )
    found = [
        log_likelihoods(evidence_of(seen, draw, prior.emission)).sum()
        for draw in map(StateModel, *drawn_parameters(chains))
    ]
    # Each is told with the draw after it.
    told = np.reshape(found, (3, 6))[:, :-1]
    np.testing.assert_allclose(told, chains.draws["log_likelihood"][:, 1:])
    assert found[likeliest(chains)] == told.max()


def test_states_are_brought_into_one_order():
    rng, k, (seen, prior) = np.random.default_rng(0), 4, small_problem()
    one = StateModel(*(rng.dirichlet(np.full(n, 0.3), k) for n in (k, k, 3)))
    one = one._replace(startprob=one.startprob[0])
    orders = [rng.permutation(k) for _ in range(6)]
    mixed = StateModel(*map(np.array, zip(*(
        (one.startprob[o], one.transmat[np.ix_(o, o)], one.emission[o]) for o in orders
    ))))  # fmt: skip
    found = aligned(mixed, one, seen, prior.emission)
    for drawn, wanted in zip(found, one):
        np.testing.assert_allclose(drawn, np.broadcast_to(wanted, drawn.shape))


def test_a_state_without_steps_keeps_its_prior():
    seen, prior = small_problem()
    start = StateModel(np.array([1.0, 0.0]), np.eye(2), np.full((2, 3), 1 / 3))
    sampler = StateSampler(seen, prior, 2, start)
    rng = np.random.default_rng(0)
    drawn = [sampler.step(rng, sampler.init(rng)) for _ in range(800)]
    assert {info.used for _, info in drawn} == {1}
    empty = np.array([state.emission[1] for state, _ in drawn])
    np.testing.assert_allclose(empty.mean(axis=0), 1 / 3, atol=4 * 0.236 / np.sqrt(800))
