"""The estimator: hmmlearn's conventions, missing cells, and what cannot be read."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.sequences.golden_facts import model, section
from tests.sequences.made import rows_of
from tests.wording import refuses, warns

from clearwood import HiddenMarkovModel
from clearwood.exceptions import (
    InputError,
    InterruptedFitWarning,
    UnknownCategoriesWarning,
)
from clearwood.sequences import estimators, sequence_model
from clearwood.sequences.states_over_time import filter_states

EXACT = 1e-12
TEXT = "the cat sat on the mat; the rat sat on the hat. " * 8

quiet = pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")


@pytest.fixture(autouse=True)
def short_warmup(monkeypatch):
    """Chains start from the best of several starts: here that is enough."""
    monkeypatch.setattr(estimators, "WARMUP", 5)


def near(found, wanted, atol=EXACT):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=atol)


def quick(n_states=3, **settings):
    return HiddenMarkovModel(
        n_states, **{"algorithm": "em", "n_init": 2, "n_iter": 15, "random_state": 0}
        | settings,
    )  # fmt: skip


def by_hand(name):
    hmm = HiddenMarkovModel()
    hmm.startprob_, hmm.transmat_, hmm.emissionprob_ = model(name)
    return hmm


def series(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 4.0 * (np.arange(n) // 10 % 2)[:, None]


# Without a fit


@pytest.mark.parametrize("name", ["k2", "k3_two_sequences", "k2_missing_2_5"])
def test_golden_symbols_by_hand(name):
    case = section("discrete")["cases"][name]
    hmm, wanted = by_hand(case["model"]), case["per_sequence"]
    x = [symbol for part in case["sequences"] for symbol in part]
    lengths = [len(part) for part in case["sequences"]]
    smoothed = np.concatenate([part["smoothed"] for part in wanted])
    total = sum(part["log_likelihood"] for part in wanted)
    assert hmm.score(x, lengths) == pytest.approx(total, abs=EXACT)
    log_p, found = hmm.score_samples(x, lengths)
    assert log_p == pytest.approx(total, abs=EXACT)
    near(found, smoothed)
    near(hmm.predict_proba(x, lengths), smoothed)
    near(hmm.filter_proba(x, lengths), np.concatenate([p["filtered"] for p in wanted]))
    log_joint, states = hmm.decode(x, lengths)
    joint = sum(part["viterbi_log_joint"] for part in wanted)
    assert log_joint == pytest.approx(joint, abs=EXACT)
    np.testing.assert_array_equal(states, hmm.predict(x, lengths))
    ahead = np.concatenate([part["next_symbol"][1:] for part in wanted])
    near(hmm.predict_next(x, lengths), ahead)
    steps = np.concatenate([part["log_likelihood_per_step"] for part in wanted])
    near(hmm.step_log_likelihood(x, lengths), steps)


def test_golden_normal_columns_by_hand():
    facts = section("gaussian")
    p, case = facts["parameters"], facts["cases"]["missing_rows_2_5"]
    hmm = HiddenMarkovModel(emission="gaussian")
    hmm.startprob_, hmm.transmat_ = p["initial"], p["transition"]
    hmm.means_, hmm.covars_ = p["means"], p["covariances"]
    x, _ = rows_of(case["sequences"])
    assert hmm.score(x) == pytest.approx(case["per_sequence"][0]["log_likelihood"])
    near(hmm.predict_next(x), case["per_sequence"][0]["predictive_mean"][1:])
    one = HiddenMarkovModel(emission="gaussian", covariance_type="diag")
    one.startprob_, one.transmat_, one.means_ = (
        p["initial"],
        p["transition"],
        p["means"],
    )
    variances = np.diagonal(np.array(p["covariances"]), axis1=1, axis2=2)
    scores = []
    for covars in (variances, variances[:, :, None] * np.eye(2)):
        one.covars_ = hmm.covars_ = covars
        scores.append(one.score(x))
    assert scores == [pytest.approx(hmm.score(x))] * 2


def test_golden_switches_by_hand():
    facts = section("multivariate_binary")
    hmm = HiddenMarkovModel(emission="bernoulli")
    hmm.startprob_, hmm.transmat_ = facts["initial_stationary"], facts["transition"]
    hmm.emissionprob_ = facts["emission"]
    wanted = facts["stationary"]
    near(hmm.score(np.array(facts["x"])), wanted["log_likelihood_x"])
    near(hmm.predict_next(facts["x"]), wanted["next_feature_probability"][1:])


def test_what_was_set_by_hand_is_checked():
    with pytest.raises(NotFittedError):
        HiddenMarkovModel().score("ab")
    for name, value, message in (
        ("transmat_", [[1.0, 0.0]], "transmat_"),
        ("transmat_", [[1.0, 0.5], [0.5, 0.5]], "transmat_"),
        ("startprob_", [1.5, -0.5], "startprob_"),
        ("emissionprob_", [[0.5, 0.5, np.nan]] * 2, "emissionprob_"),
        ("symbols_", ["a", "b"], "emissionprob_"),
    ):
        hmm = by_hand("k2_m3")
        setattr(hmm, name, value)
        with refuses(InputError, match=message):
            hmm.score([0, 1])
    hmm = HiddenMarkovModel(emission="gaussian")
    hmm.startprob_, hmm.transmat_, hmm.means_ = [1.0], [[1.0]], [[0.0, 0.0]]
    for covars in (
        [[1.0, 1.0]],
        [[[1.0, 2.0], [2.0, 1.0]]],
    ):
        hmm.covars_ = covars
        with refuses(InputError):
            hmm.score([[0.0, 0.0]])


@pytest.mark.parametrize("width", [1, 3])
def test_data_of_other_columns_than_what_was_set_by_hand(width):
    hmm = HiddenMarkovModel(emission="gaussian")
    hmm.startprob_, hmm.transmat_, hmm.means_ = [1.0], [[1.0]], [[0.0, 0.0]]
    hmm.covars_ = [np.eye(2)]
    flags = HiddenMarkovModel(emission="bernoulli")
    flags.startprob_, flags.transmat_ = [1.0], [[1.0]]
    flags.emissionprob_ = [[0.5, 0.5]]
    for one in (hmm, flags):
        with refuses(InputError, match=str(width)):
            one.score(np.zeros((3, width)))


def test_impossible_sequences():
    hmm = by_hand("k3_m3_zeros")
    assert hmm.score([2, 0, 1]) == -np.inf
    assert hmm.step_log_likelihood([2, 0])[0] == -np.inf
    assert np.isfinite(hmm.predict_proba([2, 0, 1])).all()
    assert hmm.decode([2, 0, 1])[0] == -np.inf
    with warns(UnknownCategoriesWarning):
        assert by_hand("k2_m3").score([7, 9]) == -np.inf


# Fits


@quiet
@pytest.mark.parametrize("algorithm", ["em", "gibbs"])
def test_texts(algorithm):
    hmm = quick(5, algorithm=algorithm, n_draws=25).fit(TEXT)
    assert "".join(hmm.symbols_) == "".join(sorted(set(TEXT)))
    again = clone(hmm).fit(list(TEXT))
    for name in ("startprob_", "transmat_", "emissionprob_"):
        np.testing.assert_array_equal(getattr(hmm, name), getattr(again, name))
    assert hmm.score(TEXT) == pytest.approx(hmm.log_likelihood_)
    share = np.unique(list(TEXT), return_counts=True)[1] / len(TEXT)
    # Far better than the shares of the characters: the states know the words.
    assert hmm.score(TEXT) / len(TEXT) > (share * np.log(share)).sum() + 0.5
    ahead = hmm.predict_next(TEXT)
    np.testing.assert_allclose(ahead.sum(axis=1), 1.0 - hmm.unseen_prob_)
    following = np.searchsorted(hmm.symbols_, list(TEXT[1:]))
    chosen = np.log(ahead[np.arange(len(TEXT) - 1), following])
    near(chosen, hmm.step_log_likelihood(TEXT)[1:], 1e-9)
    plain = hmm.step_log_likelihood(TEXT, average=False)
    assert plain.sum() == pytest.approx(hmm.log_likelihood_)
    assert (algorithm == "gibbs") == (not np.allclose(plain[1:], chosen))
    found, states = hmm.sample(2000, random_state=0)
    assert found.shape == states.shape == (2000,)
    near(np.mean(found == "t"), np.mean(np.array(list(TEXT)) == "t"), 0.05)
    assert set(hmm.diagnose()) == (
        {"log_likelihood", "stay"} if algorithm == "gibbs" else set()
    )
    restored = pickle.loads(pickle.dumps(hmm))
    assert restored.score("the hat") == hmm.score("the hat")


@quiet
def test_jobs_and_checkpoints_change_nothing(tmp_path):
    settings = {"algorithm": "gibbs", "n_draws": 6}
    wanted = quick(**settings).fit(TEXT)
    path = tmp_path / "chains.json"
    for more in ({"n_jobs": 2}, {"checkpoint": path}, {"checkpoint": path}):
        found = quick(**settings, **more).fit(TEXT)
        np.testing.assert_array_equal(found.emissionprob_, wanted.emissionprob_)
        np.testing.assert_array_equal(found.draws_.transmat, wanted.draws_.transmat)


def test_symbols_of_any_type():
    numbers = [3, 7, 3, None, 7, 7, 3, 3, 7] * 5
    hmm = quick(2).fit(numbers)
    assert hmm.symbols_.tolist() == [3, 7]
    as_floats = [np.nan if x is None else float(x) for x in numbers]
    for same in (as_floats, np.array(as_floats)[:, None], pd.Series(as_floats)):
        near(hmm.score(same), hmm.log_likelihood_, 1e-9)
    mixed = quick(2).fit(["a", 1, ("b", 2), None, 1, "a"])
    assert set(mixed.symbols_) == {"a", 1, ("b", 2)}
    words = "to be or not to be".split()
    assert quick(2).fit([words]).symbols_.tolist() == ["be", "not", "or", "to"]


def test_a_symbol_that_training_had_not():
    hmm = quick(2, alpha=0.5).fit("aabbab")
    assert hmm.unseen_prob_ == 0.5 / (6 + 0.5 * 3)
    steps = hmm.step_log_likelihood("a?b")
    assert steps[1] == pytest.approx(np.log(hmm.unseen_prob_))
    near(hmm.predict_proba("a?b"), hmm.predict_proba(["a", None, "b"]))
    # In all methods, probabilities of the known symbols and of others add up to 1.
    near(hmm.predict_next("ab").sum(axis=1) + hmm.unseen_prob_, 1.0)
    ahead = [hmm.step_log_likelihood(f"a{symbol}")[1] for symbol in "ab?"]
    near(np.exp(ahead).sum(), 1.0)


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("lengths", [None, [100, 150, 250]])
def test_the_number_of_states_is_found_on_held_out_steps(missing, lengths):
    """Three states that last; more overfit, above all with missing cells. By chance one
    more may be better on the held-out steps."""
    rng = np.random.default_rng(0)
    states = np.repeat(rng.integers(3, size=50), 10)
    X = rng.normal(size=(500, 4)) + 5 * np.eye(4)[states]
    X[rng.random(X.shape) < missing] = np.nan
    settings = {"emission": "gaussian", "algorithm": "em", "random_state": 0}
    hmm = HiddenMarkovModel("auto", **settings).fit(X, lengths)
    assert hmm.n_states_ == len(hmm.startprob_) in {3, 4}
    scores = hmm.held_out_scores_
    assert list(scores)[:4] == [1, 2, 3, 4]
    assert scores[1] < scores[2] < scores[3]
    n_fitted = 400 if lengths is None else 250
    own = None if lengths is None else lengths[:2]
    three = HiddenMarkovModel(3, **settings).fit(X[:n_fitted], own)
    near(scores[3], three.step_log_likelihood(X, lengths)[n_fitted:].mean())


def test_missing_cells_do_not_make_states():
    """One state, and half of the cells missing: six are hardly worse on new steps."""
    scores = {1: [], 6: []}
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(600, 4))
        X[np.random.default_rng(seed + 9).random(X.shape) < 0.5] = np.nan
        for k, own in scores.items():
            settings = {"emission": "gaussian", "algorithm": "em", "random_state": 0}
            hmm = HiddenMarkovModel(k, n_init=8, **settings).fit(X[:300])
            own.append(hmm.score(X[300:]) / 300)
    # Without further pseudo-rows the loss is 0.5.
    assert np.mean(scores[6]) > np.mean(scores[1]) - 0.35


def test_a_fit_begins_with_the_parameters_of_a_model():
    hmm = quick(3).fit(TEXT)
    again = quick("auto").fit(TEXT, start=hmm)
    assert again.n_states_ == 3 and len(again.history_) <= 3
    assert again.history_[0] == pytest.approx(hmm.history_[-1], rel=1e-9)
    likelihood = hmm.log_likelihood_
    assert hmm.fit(TEXT, start=hmm).log_likelihood_ >= likelihood - 1e-6
    by_hand = HiddenMarkovModel(emission="gaussian")
    by_hand.startprob_, by_hand.transmat_ = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]
    by_hand.means_, by_hand.covars_ = [[3.0], [0.0]], [[[1.0]], [[1.0]]]
    X = np.random.default_rng(0).normal(size=(60, 1)) + np.repeat([0, 3], 30)[:, None]
    settings = {"emission": "gaussian", "algorithm": "em"}
    found = HiddenMarkovModel(2, **settings).fit(X, start=by_hand)
    assert found.means_[0] > 2 > 1 > found.means_[1], "in the order that was given"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("algorithm", ["em", "gibbs"])
def test_excluded_starts_and_transitions_remain_excluded(algorithm):
    rng = np.random.default_rng(0)
    X = np.repeat([0.0, 3.0, 6.0] * 3, 20)[:, None] + rng.normal(size=(180, 1))
    given = HiddenMarkovModel(3, emission="gaussian")
    given.startprob_ = [1.0, 0.0, 0.0]
    given.transmat_ = [[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]]
    given.means_, given.covars_ = [[0.0], [3.0], [6.0]], [[[1.0]]] * 3
    hmm = HiddenMarkovModel(
        3, emission="gaussian", algorithm=algorithm, n_draws=20, random_state=0
    ).fit(X, [60] * 3, start=given)
    np.testing.assert_array_equal(hmm.startprob_, [1, 0, 0])
    np.testing.assert_array_equal(hmm.transmat_ > 0, np.array(given.transmat_) > 0)
    np.testing.assert_allclose(hmm.transmat_.sum(axis=1), 1)
    if algorithm == "em":
        assert (np.diff(hmm.history_) > -1e-9).all()


def test_a_start_has_the_same_point_masses():
    X, _ = showers()
    start = quick(2, emission="mixed").fit(X)
    quick(2, emission="mixed").fit(X, start=start)
    with refuses(InputError):
        quick(2, emission="mixed").fit(X.replace({"rain": {0.0: 1.0}}), start=start)


@pytest.mark.parametrize("start", ["model", "emission", "symbols", "size", "part"])
def test_other_models_are_no_start(start):
    found = {
        "model": 3,
        "emission": HiddenMarkovModel(emission="gaussian"),
        "symbols": quick(2).fit("xyxy" * 9),
        "size": quick(3).fit(TEXT),
        "part": quick(2),
    }[start]
    if start == "part":
        found.startprob_, found.transmat_ = [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]
    with refuses(InputError):
        quick(2).fit(TEXT, start=found)


def test_independent_steps_have_one_state():
    X = np.random.default_rng(0).normal(size=(300, 2))
    hmm = HiddenMarkovModel("auto", emission="gaussian", algorithm="em", random_state=0)
    assert hmm.fit(X).n_states_ == 1


def test_no_text_of_known_characters_is_impossible():
    hmm = quick(4).fit(TEXT)
    assert np.isfinite(hmm.score(TEXT[::-1] + "qxz"))


def test_sequences_are_apart():
    hmm = quick(2, alpha=1.0).fit("aaabbb" * 6, lengths=[6] * 6)
    parts = "aab", "ba"
    whole = hmm.score("aabba", lengths=[3, 2])
    assert whole == pytest.approx(sum(hmm.score(part) for part in parts))
    near(
        hmm.predict_proba("aabba", lengths=[3, 2]),
        np.vstack([hmm.predict_proba(part) for part in parts]),
    )
    assert hmm.startprob_.max() > 0.99  # all begin alike
    for name in ("fit", "score", "decode", "predict_next"):
        with refuses(InputError):
            getattr(hmm, name)("aabba", lengths=[3, 1])


@quiet
@pytest.mark.parametrize("algorithm", ["em", "gibbs"])
@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_numbers(algorithm, covariance_type):
    X = series()
    X[5], X[17, 0] = np.nan, np.nan
    hmm = quick(
        2,
        emission="gaussian",
        algorithm=algorithm,
        covariance_type=covariance_type,
        n_draws=10,
    ).fit(X)
    order = np.argsort(hmm.means_[:, 0])
    near(hmm.means_[order], [[0, 0], [4, 4]], atol=0.6)
    assert hmm.covars_.shape == (2, 2, 2)
    assert (hmm.covars_[:, 0, 1] == 0).all() == (covariance_type == "diag")
    states = order.argsort()[hmm.predict(X)]
    assert (states == np.arange(120) // 10 % 2).mean() > 0.95
    frame = pd.DataFrame(X, columns=["u", "v"])
    again = clone(hmm).fit(frame)
    near(again.score(pl.from_pandas(frame)), hmm.log_likelihood_, 1e-9)
    found, states = hmm.sample(500, random_state=0, start_state=order[1])
    assert states[0] == order[1] and found.shape == (500, 2)
    assert abs(found[states == order[1]].mean() - 4) < 0.6


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
@pytest.mark.parametrize(("unit", "zero"), [(2.0**10, 2.0**20), (1e-3, 0), (1, 1e9)])
def test_units_and_offsets_change_only_the_unit(unit, zero, covariance_type):
    X, settings = series(), {"emission": "gaussian", "covariance_type": covariance_type}
    plain = quick(2, **settings).fit(X)
    other = quick(2, **settings).fit(X * unit + zero)
    near(other.transmat_, plain.transmat_, 1e-5)
    near((other.means_ - zero) / unit, plain.means_, 1e-5)
    near(other.covars_ / unit**2, plain.covars_, 1e-5)


def test_switches():
    X = np.array([[1, 0], [1, 1], [1, 0], [0, np.nan]])
    hmm = quick(1, emission="bernoulli", alpha=1.0).fit(X)
    near(hmm.emissionprob_, [[0.75, 1 / 3]])
    near(hmm.predict_next(X), [[0.75, 1 / 3]] * 4)


@quiet
def test_frames_of_labels_and_numbers():
    hidden = np.arange(200) // 20 % 2
    rng = np.random.default_rng(0)
    noise = rng.random(200) < 0.1
    X = pd.DataFrame({
        "hue": np.where(hidden ^ noise, "red", "blue"),
        "size": hidden * 3.0 + rng.normal(size=200),
    })  # fmt: skip
    X.loc[3, "hue"], X.loc[9, "size"] = None, np.nan
    hmm = quick(2, emission="mixed", algorithm="gibbs", n_draws=10).fit(X)
    states = hmm.predict(X)
    assert max((states == hidden).mean(), (states != hidden).mean()) > 0.95
    assert hmm.emissionprob_["hue"].shape == (2, 2)
    assert hmm.means_.shape == (2, 1)
    assert hmm.predict_next(X).shape == (200, 3)
    found, _ = hmm.sample(50, random_state=0)
    assert set(found[:, 0]) == {"red", "blue"}
    strange = X.assign(hue="green")
    missing = X.assign(hue=pd.Series([None] * 200, dtype=object))
    with pytest.warns(UnknownCategoriesWarning, match="hue"):
        near(hmm.score(strange), hmm.score(missing))


def showers(n=400, seed=0):
    """Dry and wet days: rain is 0 on most of the former."""
    rng = np.random.default_rng(seed)
    is_wet = np.arange(n) // 40 % 2
    rain = np.where(rng.random(n) < np.where(is_wet, 0.2, 0.8), 0, rng.gamma(9, 1, n))
    X = pd.DataFrame({"rain": rain.round(2), "heat": rng.normal(20 - 4 * is_wet, 2)})
    X.loc[[5, 300], "rain"] = np.nan
    return X, is_wet


@quiet
@pytest.mark.parametrize("algorithm", ["em", "gibbs"])
@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_values_that_many_cells_share_are_point_masses(algorithm, covariance_type):
    X, is_wet = showers()
    hmm = quick(
        2, emission="mixed", algorithm=algorithm, covariance_type=covariance_type,
        n_draws=30,
    ).fit(X)  # fmt: skip
    states = hmm.predict(X)
    wet = int((states == is_wet).mean() > 0.5)
    assert (states == (is_wet if wet else 1 - is_wet)).mean() > 0.95
    assert hmm.point_masses_ == {"rain": (0.0,)}
    at = hmm.emissionprob_["rain, point mass"]
    assert at.shape == (2, 2) and at[wet, 1] == pytest.approx(0.2, abs=0.08)
    # Moments are those of the other cells.
    assert hmm.means_[:, 0] == pytest.approx([9.0, 9.0], abs=1.0)
    found, states = hmm.sample(4000, random_state=0)
    assert (found[states == wet, 0] == 0).mean() == pytest.approx(at[wet, 1], abs=0.04)
    filtered = filter_states(hmm._given(X, None))[0]
    means = np.column_stack([at[:, 0] * hmm.means_[:, 0], hmm.means_[:, 1]])
    ahead = hmm.transmat_ @ means
    near(hmm.predict_next(X, average=False), filtered @ ahead, 1e-9)


def test_a_point_mass_is_as_probable_as_its_share_and_no_number():
    X, _ = showers()
    X = X[["rain"]].dropna().reset_index(drop=True)
    hmm = quick(1, emission="mixed").fit(X)
    rain, is_dry = X["rain"], X["rain"] == 0
    (rest, at), mean, variance = (
        hmm.emissionprob_["rain, point mass"][0], *hmm.means_[0], hmm.covars_[0, 0]
    )  # fmt: skip
    wanted = np.where(
        is_dry, np.log(at), np.log(rest) + norm.logpdf(rain, mean, variance[0] ** 0.5)
    )
    near(hmm.step_log_likelihood(X), wanted, 1e-9)
    assert rest + at == pytest.approx(1)
    assert at == pytest.approx(is_dry.mean(), abs=0.01)


# What is hard, or cannot be


@quiet
@pytest.mark.parametrize("algorithm", ["em", "gibbs"])
@pytest.mark.parametrize(
    ("emission", "X"),
    [
        ("categorical", "a"),
        ("categorical", "aaaa"),
        ("categorical", ["a", None, None]),
        ("bernoulli", [[0, 1], [0, 1]]),
        ("bernoulli", [[np.nan, 1.0]] * 3),
        ("gaussian", [[1.0, 2.0]]),
        ("gaussian", [[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]),  # constant
        ("gaussian", np.outer(np.arange(9.0), [1.0, 2.0])),  # collinear
        ("gaussian", [[np.nan, 1.0], [2.0, np.nan]]),
    ],
)
def test_few_steps_and_more_states(algorithm, emission, X):
    hmm = quick(4, emission=emission, algorithm=algorithm, n_draws=3).fit(X)
    for values in (hmm.startprob_, hmm.transmat_, hmm.predict_proba(X)):
        assert np.isfinite(values).all()
        np.testing.assert_allclose(values.sum(axis=-1), 1.0)
    assert np.isfinite(hmm.score(X)) and np.isfinite(hmm.predict_next(X)).all()


def test_one_state():
    hmm = quick(1, alpha=1.0).fit("abca")
    near(hmm.emissionprob_[0], [0.5, 0.25, 0.25])
    assert hmm.predict("ab").tolist() == [0, 0]


@pytest.mark.parametrize(
    ("emission", "X"),
    [
        ("categorical", ""),
        ("categorical", [None, None]),
        ("categorical", np.array([[1, 2], [3, 4]])),
        ("categorical", [[1], [2, 3], 4]),
        ("bernoulli", [[0, 2]]),
        ("gaussian", [[np.nan, 1.0], [np.nan, 2.0]]),
        ("mixed", pd.DataFrame({"a": list("xy"), "b": [np.nan] * 2})),
        ("gaussian", [np.ones((3, 2)), np.ones((1, 2))]),
        ("bernoulli", [[[0, 1]], [[1, 1], [0, 1]]]),
        ("mixed", [pd.DataFrame({"a": ["x"]})] * 2),
        ("gaussian", [[np.inf], [1.0]]),
        ("gaussian", [[1e200], [1.0]]),
    ],
)
def test_data_that_cannot_be_read(emission, X):
    with refuses(InputError):
        quick(emission=emission).fit(X)


@pytest.mark.parametrize(
    ("name", "value"), [("n_states", 0), ("alpha", 0.0), ("emission", "poisson")]
)
def test_settings_that_cannot_be(name, value):
    with pytest.raises(ValueError, match=name):
        quick().set_params(**{name: value}).fit("ab")


def test_a_fit_forgets_the_one_before():
    hmm = quick(2).fit("abab")
    hmm.set_params(emission="gaussian").fit(series())
    assert not hasattr(hmm, "symbols_") and not hasattr(hmm, "emissionprob_")
    with pytest.raises(InputError):
        hmm.fit([[np.inf, 1.0]])
    assert hmm.means_.shape == (2, 2)  # as it was


def test_samples_need_a_number_and_a_state():
    hmm = by_hand("k2_m3")
    with refuses(InputError, match="n_samples"):
        hmm.sample(0)
    with refuses(InputError, match="start_state"):
        hmm.sample(3, start_state=2)
    drawn = hmm.sample_states([0, 2, 2], random_state=0)
    assert drawn.shape == (3,)


@pytest.mark.parametrize("emission", ["categorical", "gaussian"])
def test_an_interrupted_em_is_that_of_fewer_iterations(emission, monkeypatch):
    X = TEXT if emission == "categorical" else np.random.default_rng(0).normal(size=60)
    X = X if emission == "categorical" else X[:, None]
    steps, plain = [], sequence_model.SequencePrior.mode

    def mode(*given):
        steps.append(given)
        if len(steps) == 4:
            raise KeyboardInterrupt
        return plain(*given)

    settings = {"emission": emission, "n_init": 1, "random_state": 0}
    wanted = quick(2, n_iter=3, **settings).fit(X)
    monkeypatch.setattr(sequence_model.SequencePrior, "mode", mode)
    with warns(InterruptedFitWarning):
        hmm = quick(2, n_iter=9, **settings).fit(X)
    assert hmm.history_ == wanted.history_
    np.testing.assert_array_equal(hmm.transmat_, wanted.transmat_)
    assert hmm.log_likelihood_ == wanted.log_likelihood_ == hmm.score(X)
    # Before it has begun there is nothing to keep.
    monkeypatch.setattr(sequence_model.SequencePrior, "log_density", mode)
    steps[:] = [None] * 3
    with pytest.raises(KeyboardInterrupt):
        hmm.fit(X)
    assert hmm.log_likelihood_ == wanted.log_likelihood_


def test_ctrl_c_among_the_starts_ends_the_fit(monkeypatch):
    calls, plain = [], sequence_model.SequencePrior.mode

    def mode(*given):
        calls.append(given)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return plain(*given)

    monkeypatch.setattr(sequence_model.SequencePrior, "mode", mode)
    with pytest.raises(KeyboardInterrupt):
        quick(2, n_init=4).fit(TEXT)
    assert len(calls) == 5
