import numpy as np
import pytest
from hypothesis import given
from tests.sequences.recurrent.test_automaton import FACTS, golden_trace
from tests.sequences.recurrent.traces import TRACES, made_trace, naive_table
from tests.wording import same_lines

from clearwood.sequences.recurrent import fidelity, trace
from clearwood.sequences.recurrent.fidelity import fidelity_of, symbol_tables


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("automaton_alone", "output"),
        ("states_read", "output"),
        ("distilled", None),
        ("distilled_read", None),
        ("counted", None),
        ("constant_baseline", None),
        ("surrogate_with_zero", None),
    ],
)
def test_golden_numbers(name, output, monkeypatch):
    facts = FACTS[name]
    said = np.atleast_2d(FACTS[output] if output else facts["output"])
    states, following = np.array(facts["states"]), np.array(FACTS["next_symbols"])
    for block in (trace.BLOCK, 3):
        monkeypatch.setattr(trace, "BLOCK", block)
        found = fidelity_of(golden_trace().log_proba, said, states, following)
        assert found.kl == pytest.approx(float(facts["mean_kl"]), abs=1e-12)
        assert found.agreement == facts["top1_agreement"]
        gap = float(facts["log_likelihood_gap"])
        assert found.log_likelihood_loss == pytest.approx(gap, abs=1e-12)


def test_a_step_that_nothing_follows_has_no_likelihood():
    facts, said = FACTS["states_read"], np.array(FACTS["output"])
    following = np.array(FACTS["next_symbols"])
    log_proba, states = golden_trace().log_proba, np.array(facts["states"])
    following[4:] = -1
    found = fidelity_of(log_proba, said, states, following)
    first = fidelity_of(log_proba[:4], said, states[:4], following[:4])
    assert found.log_likelihood_loss == pytest.approx(first.log_likelihood_loss)
    assert found.kl == pytest.approx(facts["mean_kl"])


def test_what_network_and_picture_both_rule_out_makes_no_gap():
    with np.errstate(divide="ignore"):
        says = np.log([[0.5, 0.5, 0.0]] * 2)
    found = fidelity_of(says, np.exp(says[:1]), np.zeros(2, int), np.array([2, 0]))
    assert found[:3] == (0.0, 1.0, 0.0)


@given(TRACES)
def test_tables_of_the_last_symbols_are_those_of_a_dictionary(trace):
    for longest, (said, lines) in enumerate(symbol_tables(trace, 3)):
        np.testing.assert_allclose(said[lines], naive_table(trace, longest))


def test_fidelity_prints_as_a_table_and_knows_what_is_explained():
    lines = fidelity.table_fidelity(made_trace([30, 20], n_held_out=20))
    found = fidelity.NetworkFidelity(lines, 20)
    assert list(found) == [*fidelity.LAST, fidelity.CONSTANT]
    assert found.explained("constant") == 0.0
    same_lines(str(found))
    assert len(str(found).splitlines()) == 5
