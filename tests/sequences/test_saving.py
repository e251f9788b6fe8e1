"""Hidden Markov models in files, and files that are none."""

import numpy as np
import pandas as pd
import pytest
from tests.sequences.archives import changed
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError, ModelFormatError, PoorMixingWarning

pytestmark = pytest.mark.filterwarnings("ignore", category=PoorMixingWarning)

RNG = np.random.default_rng(0)
DATA = {
    "text": ("categorical", "to be or not to be, " * 3),
    "numbers": ("categorical", [7, 3, 7, 3, 3, 7, 7]),
    "switches": ("bernoulli", RNG.integers(2, size=(40, 3))),
    "series": ("gaussian", RNG.normal(size=(40, 2))),
    "frame": ("mixed", pd.DataFrame({
        "hue": RNG.choice(["red", "blue"], 40), "size": RNG.normal(size=40),
    })),
    "masses": ("mixed", pd.DataFrame({
        "hue": RNG.choice(["red", "blue"], 60),
        "rain": np.where(RNG.random(60) < 0.5, 0.0, RNG.gamma(9, 1, 60)),
    })),
}  # fmt: skip


def model(name, algorithm="em", **settings):
    emission, X = DATA[name]
    hmm = cw.HiddenMarkovModel(
        2, emission=emission, algorithm=algorithm, n_init=8, n_draws=8,
        random_state=0, **settings,
    )  # fmt: skip
    return hmm.fit(X), X


@pytest.mark.parametrize("algorithm", ["em", "gibbs"])
@pytest.mark.parametrize("name", DATA)
def test_what_is_saved_is_loaded(name, algorithm, tmp_path):
    found, X = model(name, algorithm)
    cw.save(found, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    for ask in ("predict_next", "step_log_likelihood", "predict_proba"):
        np.testing.assert_array_equal(getattr(again, ask)(X), getattr(found, ask)(X))
    for own, other in zip(
        again.sample(9, random_state=0), found.sample(9, random_state=0)
    ):
        np.testing.assert_array_equal(own, other)
    assert again.log_likelihood_ == found.log_likelihood_
    assert again.history_ == found.history_
    kept = again.get_params() | {"random_state": 0}
    assert kept == found.get_params()
    assert (again.draws_ is None) == (algorithm == "em")


def test_diagonal_covariances_and_parameters_set_by_hand_are_kept(tmp_path):
    found, X = model("series", covariance_type="diag")
    by_hand = cw.HiddenMarkovModel(2, emission="gaussian", covariance_type="diag")
    for name in ("startprob_", "transmat_", "means_", "covars_"):
        setattr(by_hand, name, getattr(found, name).tolist())
    cw.save(by_hand, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    np.testing.assert_array_equal(again.predict_proba(X), found.predict_proba(X))
    with refuses(InputError):
        odd, _ = model("numbers")
        odd.symbols_ = np.array([(1,), "x"], dtype=object)
        cw.save(odd, tmp_path / "odd")


def test_the_length_of_sequences_is_kept_and_older_files_have_none(tmp_path):
    found = model("numbers")[0]
    cw.save(found, tmp_path / "kept")
    assert cw.load(tmp_path / "kept").mean_length_ == found.mean_length_
    changed(tmp_path / "kept", document=("mean_length", None))
    assert not hasattr(cw.load(tmp_path / "kept"), "mean_length_")


TWO = np.full((2, 2), 0.5)


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("numbers", {"document": ("settings", "emission", "poisson")}, "settings"),
        ("numbers", {"document": ("settings", "n_jobs", 3)}, "settings"),
        ("numbers", {"document": ("symbols", [1, 2, 3])}, ""),
        ("numbers", {"document": ("symbols", [1, 1])}, ""),
        ("numbers", {"document": ("unseen_prob", 2.0)}, "unseen_prob"),
        ("numbers", {"document": ("mean_length", 0.5)}, "mean_length"),
        ("numbers", {"transmat": TWO + 1}, "transmat_"),
        ("numbers", {"transmat": np.ones((2, 3)) / 3}, "transmat_"),
        ("numbers", {"startprob": np.array([0.5, 0.6])}, "startprob_"),
        ("numbers", {"emission": -TWO}, "emissionprob_"),
        ("numbers", {"draws_startprob": TWO[:1]}, "draws_transmat"),
        ("numbers", {"log_likelihood": np.zeros(2)}, "log_likelihood"),
        ("series", {"emission": np.zeros((2, 6))}, ""),
        ("series", {"emission": np.zeros((2, 5))}, "draws_emission"),
        ("frame", {"emission": np.array([[0.7, 0.7, 0.0, 1.0]] * 2)}, ""),
        ("frame", {"emission": np.array([[0.5, 0.5, 0.0, -1]] * 2)}, "positive"),
        ("frame", {"document": ("features", None)}, ""),
        ("masses", {"document": ("point_masses", [[0.0], []])}, "point_masses"),
        ("masses", {"document": ("point_masses", [[0.0]])}, "point_masses"),
        ("masses", {"document": ("point_masses", [[], [0.0, 1.0]])}, ""),
        ("masses", {"document": ("point_masses", [[], [1.0, 0.0]])}, "point_masses"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused(name, damage, message, tmp_path):
    cw.save(model(name)[0], tmp_path / "kept")
    changed(tmp_path / "kept", **damage)
    with refuses(ModelFormatError, match=message):
        cw.load(tmp_path / "kept")
