"""Densities of all sizes, and the choice among them."""

import numpy as np
import pytest
from tests.circuits.test_estimators import people
from tests.interrupts import points, stopped_at
from tests.wording import refuses, warns

import clearwood as cw
from clearwood.circuits.compiled import compile_circuit
from clearwood.exceptions import InputError, InterruptedFitWarning


@pytest.fixture(scope="module")
def network():
    # In other units than those of learning: ages in days.
    X = people().assign(age=lambda X: 365.25 * X["age"])
    X_val = people(150, seed=1).assign(age=lambda X: 365.25 * X["age"])
    return cw.ParetoSPN(60, random_state=0).fit(X, X_val=X_val), X, X_val


def test_the_front_is_in_units_of_the_table(network):
    found, X, X_val = network
    assert len(found.front_) > 2
    for one in found.front_:
        smaller = found.at_most(one.degrees_of_freedom)
        assert smaller.circuit_ is one.circuit
        assert smaller.degrees_of_freedom_ == one.degrees_of_freedom
        assert smaller.score(X_val) == pytest.approx(one.log_likelihood, abs=1e-9)


def test_the_circuit_is_the_likeliest_and_polished(network):
    found, X, X_val = network
    last = found.front_[-1]
    assert last.log_likelihood == max(one.log_likelihood for one in found.front_)
    assert found.degrees_of_freedom_ == last.degrees_of_freedom
    assert found.score(X_val) > last.log_likelihood
    thesis = cw.ParetoSPN(30, preset="paper", random_state=0).fit(X, X_val=X_val)
    best = max(one.log_likelihood for one in thesis.front_)
    assert thesis.score(X_val) == pytest.approx(best, abs=1e-9)


def test_a_smaller_network_leaves_the_other_as_it_is(network):
    found, *_ = network
    before = found.circuit_
    first = found.front_[0]
    assert found.at_most(first.degrees_of_freedom + 1).circuit_ is first.circuit
    assert found.circuit_ is before
    with refuses(InputError, match=str(first.degrees_of_freedom)):
        found.at_most(1)


def test_the_hybrid_begins_with_mini_spn(network):
    _, X, X_val = network
    for as_in in (None, "paper"):
        settings = {"preset": as_in, "random_state": 0}
        mini = cw.MiniSPN(**settings).fit(X, X_val=X_val)
        none, some = (cw.HybridSPN(n, **settings).fit(X, X_val=X_val) for n in (0, 60))
        (only,) = none.front_
        assert only.degrees_of_freedom == mini.degrees_of_freedom_
        assert only.log_likelihood == pytest.approx(mini.score(X_val), abs=1e-9)
        assert only[:2] in [one[:2] for one in some.front_] and len(some.front_) > 1
        later = [one for one in some.front_ if one[0] > only.degrees_of_freedom]
        assert all(one.log_likelihood > only.log_likelihood for one in later)
    assert later  # MiniSPN without repairs leaves something to be found


def test_an_interrupted_fit_is_a_fit(network):
    _, X, X_val = network

    def fit():
        return cw.ParetoSPN(10, random_state=0).fit(X, X_val=X_val)

    at = points(fit, 9)[5]
    with stopped_at(at, KeyboardInterrupt):
        with warns(InterruptedFitWarning):
            found = fit()
    density = compile_circuit(found.circuit_)
    assert np.isfinite(density.log_likelihood(found._encoded(X))).all()
    assert found.front_


def test_the_search_shows_how_far_it_is(capsys, network):
    _, X, _ = network
    cw.ParetoSPN(3, verbose=True, random_state=0).fit(X)
    assert "3/3" in capsys.readouterr().err
