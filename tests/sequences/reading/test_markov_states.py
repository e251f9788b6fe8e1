import numpy as np
import pandas as pd
import pytest
from tests.sequences.reading.markov import of_flags, of_patients, of_text
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood._words.numbers import share_text
from clearwood.exceptions import InputError
from clearwood.sequences.reading.markov_states import (
    check_model,
    expected_share,
    markov_states,
    state_vectors,
)


def test_states_are_told_by_what_marks_them():
    hmm = of_patients()
    states = markov_states(hmm, np.array([0.55, 0.45]))
    ill, well = sorted(states, key=lambda state: -hmm.means_[state.number, 0])
    assert ill.name.startswith(("temperature 39.", "pulse 1"))
    assert ill.emits[1].text.startswith("intensive ")
    assert well.emits[1].text.startswith("normal ")
    share = [0.55, 0.45]
    mean = np.average(hmm.means_[:, 0], weights=share)
    variance = np.average(
        hmm.covars_[:, 0, 0] + (hmm.means_[:, 0] - mean) ** 2, weights=share
    )
    far = (hmm.means_[ill.number, 0] - mean) / np.sqrt(variance)
    assert ill.emits[0].far == pytest.approx(far)
    assert ill.transitions == ((well.number, 1.0),)
    assert ill.stay == pytest.approx(1 / (1 - hmm.transmat_[ill.number, ill.number]))


def test_symbols_come_most_probable_first():
    hmm = of_text()
    for state in markov_states(hmm):
        row = hmm.emissionprob_[state.number]
        assert [cell.far for cell in state.emits] == sorted(row[row >= 0.01])[::-1]
        assert share_text(float(row.max())) in state.emits[0].text
    assert state_vectors(hmm, markov_states(hmm)).shape == hmm.emissionprob_.shape


def test_a_state_without_end_has_everything_in_the_long_run():
    first, last = markov_states(of_flags())
    assert (first.share, last.share) == (pytest.approx(0), pytest.approx(1))
    assert first.stay == pytest.approx(4) and last.stay == np.inf
    assert first.transitions == ((1, 1.0),) and last.transitions == ()
    assert first.name == "x0 90 %, x1 10 %"


def test_shares_in_the_long_run_are_those_of_the_chain():
    rng = np.random.default_rng(0)
    transmat = rng.dirichlet(np.ones(4), 4)
    share = expected_share(np.eye(4)[0], transmat)
    np.testing.assert_allclose(share @ transmat, share, atol=1e-12)


@pytest.mark.parametrize("n_steps", [1, 2, 5, 6, 7, 100])
def test_shares_of_short_sequences_know_how_they_begin(n_steps):
    rng = np.random.default_rng(0)
    start, transmat = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4), 4)
    wanted = sum(start @ np.linalg.matrix_power(transmat, t) for t in range(n_steps))
    share = expected_share(start, transmat, n_steps)
    np.testing.assert_allclose(share, wanted / n_steps, atol=1e-12)


def test_shares_are_those_of_sequences_like_those_of_the_fit():
    hmm = cw.HiddenMarkovModel(2, algorithm="em", n_init=8, random_state=0)
    hmm.fit(["aabb"] * 20)
    assert hmm.mean_length_ == 4
    smoothed = hmm.predict_proba(["aabb"] * 20).mean(axis=0)
    found = [state.share for state in markov_states(hmm)]
    assert found == pytest.approx(smoothed, abs=0.05)
    long = expected_share(hmm.startprob_, hmm.transmat_)
    assert np.abs(long - smoothed).max() > 0.3


def test_point_masses_stand_before_the_moments_of_other_cells():
    rng = np.random.default_rng(0)
    is_wet = np.arange(200) // 20 % 2
    rain = np.where(rng.random(200) < 0.8 - 0.7 * is_wet, 0, rng.gamma(9, 1, 200))
    rain[40:60] = 0
    X = pd.DataFrame({"rain": rain, "heat": rng.normal(30 - 9 * is_wet, 2)})
    hmm = cw.HiddenMarkovModel(
        2, emission="mixed", algorithm="em", n_init=8, random_state=0
    ).fit(X)
    states = markov_states(hmm)
    same_text([state.emits[0].text for state in states])
    # In standard deviations of all cells of the column.
    at = hmm.emissionprob_["rain, point mass"][:, 0]
    means = at * hmm.means_[:, 0]
    share = np.array([state.share for state in states])
    far = (means - share @ means) / rain.std()
    found = [state.emits[0].far for state in states]
    assert found == pytest.approx(far, rel=0.05)


def test_something_else_is_refused():
    with refuses(InputError, match="HiddenMarkovModel"):
        check_model(cw.MiniSPN())
