"""From sequences to a network and to what it says."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.sequences.networks.with_torch import torch
from tests.wording import refuses

import clearwood as cw
from clearwood.datasets import make_hidden_series
from clearwood.exceptions import InputError, UnknownCategoriesWarning

TEXT = "now here now there " * 40
QUICK = {"n_hidden": 4, "n_states": 3, "n_epochs": 3, "window": 16, "random_state": 0}


def fitted(X=TEXT, *given, **settings):
    return cw.HMMLSTM(**{**QUICK, "hybrid": "joint", **settings}).fit(X, *given)


@pytest.fixture(scope="module")
def joint():
    """A joint hybrid; only to be read."""
    return fitted()


@pytest.fixture(scope="module")
def series():
    X, y, _ = make_hidden_series(600, random_state=0)
    return X, np.where(y == 1, "yes", "no")


def test_a_network_knows_what_it_has_read(joint):
    assert joint.classes_.tolist() == list(" ehnortw")
    assert joint.score(TEXT) == pytest.approx(joint.history_[-1].validation, abs=0.2)
    assert joint.history_[0].training < joint.score(TEXT) < 0
    following = joint.predict_next("now the")
    assert following.shape == (7, 8)
    np.testing.assert_allclose(following.sum(axis=1), 1)
    chance = following[np.arange(6), joint.classes_.searchsorted(list("ow the"))]
    assert joint.score("now the") == pytest.approx(np.log(chance).mean(), abs=1e-6)
    assert joint.hidden_states("now").shape == (3, 4)
    states = joint.filter_proba("now")
    assert states.shape == (3, 3) and np.allclose(states.sum(axis=1), 1)
    numbers = sum(p.numel() for p in joint.network_.parameters())
    assert joint.n_parameters_ == numbers


def test_predictions_look_back_and_not_ahead(joint):
    first, other = (joint.predict_next(f"now {end}") for end in ("here", "now "))
    np.testing.assert_allclose(first[:4], other[:4], atol=1e-6)
    assert np.abs(first[4:] - other[4:]).max() > 1e-3


@pytest.mark.parametrize("hybrid", ["joint", None])
@pytest.mark.parametrize("preset", [None, "paper"])
def test_every_kind_is_made(hybrid, preset):
    found = fitted(hybrid=hybrid, preset=preset, n_epochs=1)
    weights = found.network_.state_dict()
    assert ("hmm.transition" in weights) == (hybrid == "joint")
    assert ("lstm.peephole" in weights) == (preset == "paper")
    # The rate of gradient descent is 1, that of Adam 0.01.
    assert found.history_[0].rate == (1.0 if preset == "paper" else 0.01)
    if hybrid is None:
        with refuses(InputError):
            found.filter_proba("now")


def test_symbols_may_be_anything():
    words = np.array((TEXT * 2).split())
    found = fitted(words, n_epochs=1)
    assert found.classes_.tolist() == ["here", "now", "there"]
    numbers = np.array([{"now": 7, "here": -1, "there": 0}[word] for word in words])
    assert fitted(numbers[:, None], n_epochs=1).classes_.tolist() == [-1, 0, 7]
    gaps = [[None if w == "here" else w for w in words]]
    mixed = fitted(gaps, n_epochs=1)
    assert mixed.classes_.tolist() == ["now", "there"]
    drawn = found.sample(5, random_state=0)
    assert drawn.shape == (5,) and set(drawn) <= {"here", "now", "there"}


def test_the_sequential_hybrid_leaves_its_hmm_as_it_is():
    hmm = cw.HiddenMarkovModel(3, algorithm="em", n_iter=5, n_init=2, random_state=0)
    found = fitted(hybrid="sequential", hmm=hmm)
    assert not hasattr(hmm, "startprob_") and found.hmm_ is not hmm
    states = found.filter_proba(["now here", "there"])
    own = found.hmm_.filter_proba("now herethere", [8, 5])
    np.testing.assert_allclose(states, own, rtol=0, atol=1e-12)
    learned = [p.numel() for p in found.network_.parameters() if p.requires_grad]
    assert found.n_parameters_ == sum(learned)
    assert not any(p.requires_grad for p in found.network_.hmm.parameters())
    other = fitted(hybrid="sequential", hmm=found.hmm_, n_states=7, n_epochs=1)
    assert other.hmm_ is found.hmm_ and other.filter_proba("now").shape == (3, 3)
    with pytest.raises(InputError, match="symbols"):
        fitted(TEXT + "!", hybrid="sequential", hmm=found.hmm_)
    with refuses(InputError, match="HiddenMarkovModel"):
        fitted(hybrid="sequential", hmm="gibbs")


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")
def test_by_default_the_hmm_has_as_many_states_as_asked_for():
    found = fitted("abba" * 8, hybrid="sequential", n_states=2, n_epochs=1)
    assert found.hmm_.startprob_.shape == (2,) and found.hmm_.algorithm == "gibbs"
    again = fitted("abba" * 8, hybrid="sequential", n_states=2, n_epochs=1)
    np.testing.assert_array_equal(found.predict_next("ab"), again.predict_next("ab"))


def test_columns_of_an_hmm_by_hand_are_those_of_its_symbols():
    hmm = cw.HiddenMarkovModel(2)
    hmm.startprob_, hmm.transmat_ = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]
    hmm.symbols_, hmm.emissionprob_ = np.array(["b", "a"]), [[0.9, 0.1], [0.2, 0.8]]
    found = fitted("abba" * 20, hybrid="sequential", hmm=hmm, n_epochs=1)
    own = hmm.filter_proba("abb")
    np.testing.assert_allclose(found.filter_proba("abb"), own, rtol=0, atol=1e-12)


def test_series_have_an_hmm_of_flags(series):
    X, y = series
    hmm = cw.HiddenMarkovModel(
        3, emission="bernoulli", algorithm="em", n_iter=5, n_init=2, random_state=0
    )
    found = fitted(X, y, hybrid="sequential", hmm=hmm, n_epochs=1)
    gaps = np.where(np.arange(600)[:, None] % 50 == 7, np.nan, X)
    states = found.filter_proba(gaps, [400, 200])
    own = found.hmm_.filter_proba(gaps, [400, 200])
    np.testing.assert_allclose(states, own, rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="'bernoulli'.*'categorical'"):
        fitted(hybrid="sequential", hmm=found.hmm_)
    with refuses(InputError):
        fitted(X[:, :6], y, hybrid="sequential", hmm=found.hmm_)


def test_unseen_symbols_are_left_out_of_the_score(joint):
    told = joint.score("now xhere")
    following = joint.predict_next(list("now ") + [None] + list("here"))
    places = joint.classes_.searchsorted(list("ow here"))
    steps = [0, 1, 2, 4, 5, 6, 7]  # where a known symbol follows
    assert told == pytest.approx(np.log(following[steps, places]).mean(), abs=1e-6)
    with (
        pytest.warns(UnknownCategoriesWarning, match="'z'"),
        refuses(InputError),
    ):
        joint.score("zzz")


def test_sequences_are_apart(joint):
    several = joint.predict_next(["now", "the"])
    for own, text in zip((several[:3], several[3:]), ("now", "the")):
        np.testing.assert_allclose(own, joint.predict_next(text), atol=1e-6)
    same = joint.predict_next("nowthe", lengths=[3, 3])
    np.testing.assert_array_equal(several, same)


def test_samples_are_texts_that_could_go_on(joint):
    text = joint.sample(200, random_state=0)
    assert isinstance(text, str) and len(text) == 200
    assert text == joint.sample(200, random_state=0)
    assert joint.score(text) == pytest.approx(
        # Drawn from the network: its own mean entropy.
        (joint.predict_next(text)[:-1] * np.log(joint.predict_next(text)[:-1]))
        .sum(axis=1)
        .mean(),
        abs=4 * 0.8 / np.sqrt(200),
    )
    assert joint.sample(0) == ""
    first = np.random.default_rng(3).choice(list(" ehnortw"), p=joint.frequency_)
    assert joint.sample(1, random_state=3) == first
    after = [joint.sample(1, start="now the", random_state=seed) for seed in range(60)]
    likely = joint.predict_next("now the")[-1]
    assert np.mean([c == "r" for c in after]) == pytest.approx(
        likely[joint.classes_.searchsorted("r")], abs=0.26
    )


def test_outputs_of_series(series):
    X, y = series
    found = fitted(X, y, n_epochs=8)
    assert found.classes_.tolist() == ["no", "yes"]
    shares = np.array([np.mean(y == c) for c in found.classes_])
    constant = (shares * np.log(shares)).sum()
    assert found.score(X, y) > constant + 0.02
    chances = found.predict_next(X)
    taken = chances[np.arange(len(y)), found.classes_.searchsorted(y)]
    assert found.score(X, y) == pytest.approx(np.log(taken).mean(), abs=1e-6)
    assert found.filter_proba(X, lengths=[200, 400]).shape == (600, 3)
    with refuses(InputError):
        found.sample(3)
    with refuses(InputError):
        found.score(X[:, :3], y)


def test_outputs_that_are_not_known_are_not_learned(series):
    X, y = series
    known = np.arange(600) < 400
    gaps = np.where(known, y, None)
    X = np.where(known[:, None], X, np.nan)
    found = fitted(X, gaps, [400, 200], n_epochs=1)
    assert found.score(X, gaps, [400, 200]) == pytest.approx(
        found.score(X[:400], y[:400]), abs=1e-6
    )


@pytest.mark.parametrize(
    ("X", "given"),
    [
        ("a", {}),
        ([["a"], ["b"]], {}),
        ([None, None], {}),
        ("", {}),
        ("abab", {"lengths": [2]}),
        (np.zeros((5, 2)), {}),
        (np.zeros((5, 2)), {"y": [0, 1]}),
        (np.zeros((5, 2)) + 0.5, {"y": [0] * 5}),
    ],
)
def test_bad_sequences_are_refused(X, given):
    with refuses(InputError):
        cw.HMMLSTM(**QUICK, hybrid=None).fit(X, **given)


@pytest.mark.parametrize(
    "settings",
    [{"n_hidden": 0}, {"hybrid": "both"}, {"preset": "thesis"}, {"window": 0}],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        fitted(**settings)


def test_before_a_fit_there_is_nothing():
    with pytest.raises(NotFittedError):
        cw.HMMLSTM().score("now")


def test_one_symbol_is_sure():
    found = fitted("a" * 50, n_epochs=1)
    assert found.score("aaa") == 0.0 and found.sample(3) == "aaa"


def test_copies_say_the_same(joint):
    again = clone(joint).fit(TEXT)
    others = pickle.loads(pickle.dumps(joint)), again
    for other in others:
        np.testing.assert_array_equal(
            other.predict_next("now"), joint.predict_next("now")
        )


def test_without_torch_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with refuses(InputError):
        fitted()


def test_networks_are_readable_from_outside(joint):
    """What explains networks hands in codes alone, and finds torch's LSTM inside."""
    with torch.no_grad():
        logits, _ = joint.network_(torch.tensor([[0, 1]]))
    assert logits.shape == (1, 2, 8)
    assert isinstance(joint.network_.lstm, torch.nn.LSTM)
