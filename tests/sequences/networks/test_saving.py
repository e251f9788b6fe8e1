"""Networks in files, and files that are none."""

import numpy as np
import pytest
from tests.sequences.archives import changed
from tests.sequences.networks.with_torch import torch  # noqa: F401
from tests.wording import refuses

import clearwood as cw
from clearwood.datasets import make_hidden_series
from clearwood.exceptions import ModelFormatError

X, Y, _ = make_hidden_series(100, random_state=0)
GIVEN = {"text": ("to be or not to be",), "series": (X, Y), "numbers": ([3, 1, 3, 1],)}
QUICK = {"n_hidden": 3, "n_states": 2, "n_epochs": 1, "random_state": 0}


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("hybrid", ["sequential", "joint", None])
def test_what_is_saved_is_loaded(name, hybrid, tmp_path):
    emission = "bernoulli" if name == "series" else "categorical"
    hmm = cw.HiddenMarkovModel(2, emission=emission, algorithm="em", random_state=0)
    preset = "paper" if hybrid is None else None
    found = cw.HMMLSTM(**QUICK, hybrid=hybrid, hmm=hmm, preset=preset)
    found.fit(*GIVEN[name])
    cw.save(found, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    X = GIVEN[name][0]
    np.testing.assert_array_equal(again.predict_next(X), found.predict_next(X))
    assert again.classes_.dtype == found.classes_.dtype
    assert again.history_ == found.history_
    assert again.n_parameters_ == found.n_parameters_
    types = [p.dtype for p in found.network_.parameters()]
    assert [p.dtype for p in again.network_.parameters()] == types
    if name != "series":
        assert np.all(
            again.sample(9, random_state=0) == found.sample(9, random_state=0)
        )


@pytest.fixture(scope="module")
def network():
    return cw.HMMLSTM(**QUICK, hybrid="joint").fit("to be or not to be")


@pytest.mark.parametrize(
    "damage",
    [
        {"document": ("settings", "n_hidden", 10**9)},
        {"document": ("settings", "hybrid", None)},
        {"document": ("settings", "hybrid", "all")},
        {"document": ("settings", "verbose", True)},
        {"document": ("classes", ["a", "b"])},
        {"document": ("classes", list("rtonbe "))},
        {"document": ("classes", [])},
        {"document": ("n_columns", 0)},
        {"document": ("n_columns", 3)},
        {"frequency": np.full(7, 0.5)},
        {"frequency": np.full(7, np.nan)},
        {"output__bias": np.full(7, np.inf)},
        {"hmm__transition": np.zeros((2, 3))},
        {"history": np.zeros((2, 2))},
    ],
)
def test_damaged_files_are_refused(damage, network, tmp_path):
    cw.save(network, tmp_path / "kept")
    changed(tmp_path / "kept", **damage)
    with refuses(ModelFormatError):
        cw.load(tmp_path / "kept")
