from dataclasses import replace

import numpy as np
from tests.sequences.recurrent.traces import made_trace

from clearwood.sequences.recurrent.equivalence import ranked
from clearwood.sequences.recurrent.quantizers import (
    QUANTIZERS,
    comparable,
)


def said_by_the_first(scale=(1.0, 1.0, 0.0)):
    """Only the first of three units moves what is said; the last never moves."""
    rng = np.random.default_rng(0)
    units = rng.choice([-1.0, 1.0], size=(600, 3))
    trace = made_trace([600], n_symbols=2, n_held_out=100)
    logits = np.column_stack([units[:, 0], -units[:, 0]])
    log_proba = logits - np.logaddexp(*logits.T)[:, None]
    return replace(trace, states=units * scale, log_proba=log_proba), units


def test_vectors_are_near_that_say_the_same_but_never_the_same_place():
    trace, units = said_by_the_first()
    places = comparable(trace)

    def apart(one, two):
        ends = [places[(units[:, :2] == unit).all(axis=1)][0] for unit in (one, two)]
        return np.linalg.norm(ends[0] - ends[1])

    says, keeps = apart([1, 1], [-1, 1]), apart([1, 1], [1, -1])
    assert says > 3 * keeps > 0.3
    assert np.isfinite(places).all()


def test_how_wide_units_are_does_not_matter():
    narrow, _ = said_by_the_first()
    wide, _ = said_by_the_first((0.01, 300.0, 0.0))
    one, two = comparable(narrow), comparable(wide)
    np.testing.assert_allclose(
        np.linalg.norm(one - one[0], axis=1),
        np.linalg.norm(two - two[0], axis=1),
        atol=1e-5,
    )
    # Cells are wide; k-means must not see them alone.
    states = QUANTIZERS["kmeans"](wide, two, 2, np.random.default_rng(0))
    assert len(np.unique(np.column_stack([states, wide.states[:, 0]]), axis=0)) == 2


def test_what_is_remembered_for_later_sets_vectors_apart():
    # The second unit moves what is predicted two steps later, and nothing now.
    rng = np.random.default_rng(0)
    units = rng.choice([-1.0, 1.0], size=(600, 2))
    units[2:, 0] = units[:-2, 1]
    trace = made_trace([600], n_symbols=2, n_held_out=100)
    logits = np.column_stack([units[:, 0], -units[:, 0]])
    log_proba = logits - np.logaddexp(*logits.T)[:, None]
    places = comparable(replace(trace, states=units, log_proba=log_proba))
    first, second = (
        np.linalg.norm(places[own > 0].mean(axis=0) - places[own < 0].mean(axis=0))
        for own in units.T
    )
    assert second > 0.7 * first


def test_the_most_frequent_state_of_training_is_the_first():
    trace = made_trace([8], n_held_out=3)
    states = np.array([7, 4, 4, 4, 7, 9, 9, 9])
    found = ranked(states, ~trace.is_held_out)
    assert found.tolist() == [1, 0, 0, 0, 1, 2, 2, 2]


def test_no_step_is_in_a_state_without_training():
    # More states than vectors that differ, so that centres stand in one place; those
    # of held-out steps are off by what rounding is.
    codes = np.random.default_rng(0).integers(40, size=2000)
    trace = made_trace([2000], n_symbols=4, n_held_out=1000)
    logits = np.random.default_rng(1).normal(size=(40, 4))
    log_proba = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    vectors = np.random.default_rng(2).normal(size=(40, 8))[codes]
    vectors[1000:] += np.random.default_rng(3).normal(size=(1000, 8)) * 1e-6
    trace = replace(trace, states=vectors, log_proba=log_proba[codes])
    states = QUANTIZERS["kmeans"](
        trace, comparable(trace), 200, np.random.default_rng(0)
    )
    assert set(states[1000:]) <= set(states[:1000])
