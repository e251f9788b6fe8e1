"""Generators from every kind of seed."""

import numpy as np
import pytest

from clearwood._numeric import as_generator, spawn_generators
from clearwood._numeric.progress import progress
from clearwood.exceptions import InputError


@pytest.mark.parametrize("make", [lambda: 3, lambda: np.random.RandomState(3)])
def test_same_seed_same_draws(make):
    first, second = as_generator(make()), as_generator(make())
    assert first.integers(2**40) == second.integers(2**40)


def test_generator_is_used_as_it_is():
    generator = np.random.default_rng(0)
    assert as_generator(generator) is generator


@pytest.mark.parametrize("seed", [-1, True, "seed", 1.5, [1]])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(InputError, match="random_state"):
        as_generator(seed)


def test_none_differs_each_time():
    assert as_generator(None).integers(2**60) != as_generator(None).integers(2**60)


def test_global_state_is_respected():
    np.random.seed(5)
    first = as_generator(np.random).integers(2**40)
    np.random.seed(5)
    assert as_generator(np.random).integers(2**40) == first


def test_pieces_differ_and_do_not_depend_on_their_number():
    few = [g.integers(2**40) for g in spawn_generators(1, 2)]
    many = [g.integers(2**40) for g in spawn_generators(1, 6)]
    assert few == many[:2]
    assert len(set(many)) == 6


def test_progress_writes_a_line(capsys):
    assert list(progress([1, 2], 2, "starts", visible=True)) == [1, 2]
    shown = capsys.readouterr().err
    assert "2/2" in shown
    assert shown.endswith("\n")
