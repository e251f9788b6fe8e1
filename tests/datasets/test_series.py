"""The series of hidden states: their chain, their flags, their outputs."""

import json
from pathlib import Path

import numpy as np
import pytest

from clearwood.datasets import make_hidden_series
from clearwood.exceptions import InputError

FACTS = json.loads(
    (Path(__file__).parents[1] / "golden" / "hmm.json").read_text(encoding="utf-8")
)["multivariate_binary"]
NAMES = {"state": "D_s", "both": "D_sx", "flags": "D_x"}
N = 20_000


@pytest.mark.parametrize("output", NAMES)
def test_series_are_those_of_the_thesis(output):
    X, y, states = make_hidden_series(N, output=output, random_state=0)
    pairs = np.zeros((5, 5))
    np.add.at(pairs, (states[:-1], states[1:]), 1)
    share = pairs / pairs.sum(axis=1, keepdims=True)
    # At least 2400 steps in a state: four standard errors are .041.
    np.testing.assert_allclose(share, FACTS["transition"], atol=0.041)
    shown = np.array([X[states == k].mean(axis=0) for k in range(5)])
    np.testing.assert_allclose(shown, FACTS["emission"], atol=0.041)
    weights = FACTS["stationary"]["outputs"][NAMES[output]]
    logit = np.array(weights["w_s"])[states] + X @ weights["w_x"] + weights["w_bias"]
    chance = 1 / (1 + np.exp(-logit))
    error = (y - chance) / np.sqrt(chance * (1 - chance))
    for level in np.unique(logit):
        own = error[logit == level]
        assert abs(own.mean()) < 4 / np.sqrt(len(own))
    margin = FACTS["marginal_output_under_stationarity"][f"{NAMES[output]} bias -2"]
    assert y.mean() == pytest.approx(margin["marginal_probability"], abs=0.025)


def test_the_first_state_is_as_any_other():
    first = [make_hidden_series(1, random_state=seed)[2][0] for seed in range(800)]
    share = np.bincount(first, minlength=5) / 800
    np.testing.assert_allclose(share, FACTS["initial_stationary"], atol=0.062)


def test_outputs_alone_depend_on_what_they_depend_on():
    one, other = (
        make_hidden_series(50, output=o, random_state=3) for o in NAMES if o[0] != "b"
    )
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[2], other[2])
    assert (one[1] != other[1]).any()


@pytest.mark.parametrize(
    ("given", "message"), [({"n_steps": 0}, "n_steps"), ({"output": "x"}, "'flags'")]
)
def test_bad_input_is_named(given, message):
    with pytest.raises(InputError, match=message):
        make_hidden_series(**given)
