"""Tables of symbols per state, beside golden ones."""

import numpy as np
import pytest
from tests.sequences.golden_facts import section
from tests.sequences.made import normal, normal_parameters, rows_of

from clearwood.sequences.next_symbols import symbol_table
from clearwood.sequences.states_over_time import (
    StateEvidence,
    filter_states,
    most_probable_states,
    smooth_states,
)

EXACT = 1e-12


@pytest.mark.parametrize("name", ["smoothed", "filtered", "hard_viterbi"])
def test_golden_tables(name):
    facts = section("gaussian")
    wanted, p = facts["prediction_tables"][name], facts["parameters"]
    symbols = np.array(facts["prediction_tables"]["symbols"])
    values, _ = rows_of(facts["cases"]["one"]["sequences"])
    log_rows = normal(2).log_likelihood(
        normal_parameters(p["means"], p["covariances"]), values
    )
    initial, transition = np.array(p["initial"]), np.array(p["transition"])
    given = StateEvidence(initial, transition, log_rows)
    filtered, _ = filter_states(given)
    weight = {
        "smoothed": smooth_states(given)[0],
        "filtered": filtered,
        "hard_viterbi": np.eye(2)[most_probable_states(given)[0]],
    }[name]
    same, following = (symbol_table(weight, symbols, 3, ahead=n) for n in (0, 1))
    for found, key in (
        (same, "table_same_step"),
        (following, "table_next_step"),
        (filtered @ given[1] @ same, "next_symbol_through_transition"),
        (filtered @ following, "next_symbol_direct"),
    ):
        if key in wanted:
            np.testing.assert_allclose(found, wanted[key], rtol=0, atol=EXACT)


def test_the_next_step_stays_in_its_sequence():
    weight, symbols = np.ones((5, 1)), np.array([0, 0, 1, 1, 1])
    assert symbol_table(weight, symbols, 2, [2, 3], ahead=1).tolist() == [
        [1 / 3, 2 / 3]
    ]
    assert symbol_table(weight, symbols, 2, [1] * 5, ahead=1).tolist() == [[0.5, 0.5]]
