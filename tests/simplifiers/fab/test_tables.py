"""Mixtures of a table larger than memory: begun on a sample, fitted to all rows."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests._tables.storing import FAR, N, in_parts, stored
from tests.wording import refuses, same_text, warns

import clearwood as cw
from clearwood._tables import open_rows
from clearwood.exceptions import InputError, InterruptedFitWarning
from clearwood.simplifiers.fab import estimators
from clearwood.simplifiers.fab.inference import fit_mixture

pytest.importorskip("dask")
pytest.importorskip("pyarrow")

SAMPLE = 3000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, N))
    weight = rng.random(N) * (rng.random(N) < 0.9)
    y = 2 * (a > 0.3) + np.where(b > 0, a, 1.0) + rng.normal(size=N)
    return pd.DataFrame({"a": a, "b": b, "y": y, "w": weight})


@pytest.fixture(scope="module")
def forest(frame):
    X, y = frame[["a", "b"]].to_numpy()[:500], frame["y"][:500]
    return RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)


def fitted(fab, X, y, sample_weight=None):
    table = open_rows(X, y, sample_weight)
    return fab._fit_rows(*table.sample(SAMPLE), table=table)


def regressor(forest, **settings):
    settings = {"n_init": 2, "max_rules": 5, "random_state": 0} | settings
    return cw.FABRulesRegressor(forest, **settings)


@pytest.fixture(scope="module")
def begun(frame, forest):
    """What the sample alone gives."""
    sample = open_rows(lambda: in_parts(frame), "y", "w").sample(SAMPLE)
    return regressor(forest).fit(*sample)


@pytest.fixture(scope="module")
def of_frames(frame, forest):
    X, rest = stored("frames", frame, None)
    return fitted(regressor(forest), X, **rest)


@pytest.fixture
def runs(monkeypatch):
    """Runs over all rows, with what they were handed."""
    seen = []

    def spy(problem, start, counts, **settings):
        fit = fit_mixture(problem, start, counts, **settings)
        if "max_passes" in settings:
            seen.append((problem, start, counts, settings, fit))
        return fit

    monkeypatch.setattr(estimators, "fit_mixture", spy)
    return seen


def bytes_of(parameters):
    return [np.asarray(p).tobytes() for p in (*parameters[:3], *parameters.output)]


@pytest.mark.parametrize("kind", FAR)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_form_gives_the_same_to_the_last_bit(
    kind, n_jobs, frame, forest, of_frames, tmp_path, runs
):
    X, rest = stored(kind, frame, tmp_path)
    fab = fitted(regressor(forest, n_jobs=n_jobs), X, **rest)
    assert fab.rules_.about["mixture"] == of_frames.rules_.about["mixture"]
    assert fab.history_ == of_frames.history_
    assert bytes_of(fab._best.fit.parameters) == bytes_of(
        of_frames._best.fit.parameters
    )
    said = [str(fit.rules_).replace("x0", "a").replace("x1", "b")
            for fit in (fab, of_frames)]  # fmt: skip
    assert said[0] == said[1]


@pytest.mark.parametrize("method", ["fab", "em"])
def test_it_is_the_fit_to_all_rows_in_memory(method, frame, forest, begun, runs):
    settings = {"method": method, "statement_weight": 0.3, "exclude_features": ["b"]}
    fab = regressor(forest, **settings)
    fitted(fab, lambda: in_parts(frame), "y", "w")
    ((problem, start, counts, settings, fit),) = runs
    weight = frame["w"].to_numpy()
    X = frame[["a", "b"]].to_numpy()
    sample = open_rows(lambda: in_parts(frame), "y", "w").sample(SAMPLE)
    training = fab._training(
        fab.ensemble_, sample.X.to_numpy(), None, np.ones(SAMPLE)
    ).in_one_order()
    assert problem.total_weight == pytest.approx(weight.sum())
    # From the same start on all rows, in bins and units of the sample.
    own = estimators.make_problem(
        fab.bins_.transform(X),
        (forest.predict(X) - problem.output.centre) / problem.output.unit,
        weight,
        training.bins.without(training.exclude_features),
        problem.output,
        0.3,
    )
    assert fab.bins_.used_features.tolist() == [0, 1]
    assert own.bins.used_features.tolist() == [0]
    whole = fit_mixture(own, start, counts, **settings)
    assert len(whole.history) == len(fit.history)
    for mine, its in zip(fit.parameters[:3], whole.parameters[:3]):
        np.testing.assert_allclose(mine, its, rtol=1e-6, atol=1e-9)
    for mine, its in zip(fit.parameters.output, whole.parameters.output):
        np.testing.assert_allclose(mine, its, rtol=1e-6)
    # It begins where the sample's best start ended, with as many rows more.
    assert counts.sum() == pytest.approx(weight.sum())
    assert settings["truncate"] == (method == "fab")
    assert len(fit.history) < 200 and fit.converged


@pytest.mark.parametrize("gain", [0.0, -1e-9])
def test_what_follows_the_model_better_is_kept(gain, frame, forest, begun, monkeypatch):
    found = begun._best.fidelity + gain
    plain = estimators.judged
    monkeypatch.setattr(
        estimators, "judged", lambda *a: plain(*a)._replace(fidelity=found)
    )
    fab = fitted(regressor(forest), lambda: in_parts(frame), "y", "w")
    same_text(fab.rules_.about["mixture"])
    assert f"{N:,}" in fab.rules_.about["mixture"]
    asked = [[rule.conditions for rule in fit.rules_] for fit in (fab, begun)]
    assert asked[0] == asked[1] or gain == 0
    assert (fab.history_ == begun.history_) == (gain < 0)


def test_labels_categories_and_cells_that_are_missing(runs):
    rng = np.random.default_rng(1)
    ward = rng.choice(["north", "south", None], N).astype(object)
    stay = np.where(rng.random(N) < 0.1, np.nan, rng.integers(0, 9, N))
    y = np.where((ward == "north") | (stay > 5), "mild", "grave")
    sampled = open_rows(np.zeros((N, 1)), np.arange(N)).sample(SAMPLE).y
    ward[np.setdiff1d(np.arange(N), sampled)[:5]] = "east"
    known = pd.DataFrame({"ward": pd.Categorical(ward), "stay": stay, "y": y})
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    model.fit(known[["ward", "stay"]][:900], y[:900])
    settings = {"method": "fab", "n_init": 2, "random_state": 0, "max_rules": 4}
    for learn_from in ("model", "labels"):
        rules = cw.simplify(
            model, lambda: in_parts(known), "y", max_samples=SAMPLE,
            learn_from=learn_from,
            **settings,
        )  # fmt: skip
        assert rules.n_rows == N and "mixture" in rules.about
    told = [fit for *_, fit in runs]
    assert len(told) == 2 and all(fit.converged for fit in told)
    # The shares of classes are those of all rows, as said and as true.
    for fit, expected in zip(
        told, (model.predict_proba(known[["ward", "stay"]]), pd.get_dummies(y))
    ):
        shares = fit.parameters.share @ fit.parameters.output.probability
        np.testing.assert_allclose(shares, np.mean(expected, axis=0), atol=1e-9)


def test_a_table_that_fits_is_fitted_once(frame, forest, runs):
    few = frame[["a", "b", "y"]][:1500]
    rules = cw.simplify(
        forest, lambda: [few[:99], few[99:]], "y", method="fab", n_init=1
    )
    assert not runs and "mixture" not in rules.about


def test_ctrl_c_keeps_the_sample(frame, forest, begun, monkeypatch):
    def interrupted(*arguments, **settings):
        if "max_passes" in settings:
            raise KeyboardInterrupt
        return fit_mixture(*arguments, **settings)

    monkeypatch.setattr(estimators, "fit_mixture", interrupted)
    with warns(InterruptedFitWarning) as told:
        rules = cw.simplify(
            forest, lambda: in_parts(frame), "y", sample_weight="w", method="fab",
            max_samples=SAMPLE, n_init=2, max_rules=5, random_state=0,
        )  # fmt: skip
    assert [r.conditions for r in rules] == [r.conditions for r in begun.rules_]
    assert "mixture" not in rules.about
    assert told[0].filename == __file__


def test_a_block_that_cannot_be_coded_is_named(frame, forest, tmp_path):
    broken = frame.copy()
    sampled = open_rows(np.zeros((N, 1)), np.arange(N)).sample(SAMPLE).y
    row = np.setdiff1d(np.arange(N), sampled)[-1]
    broken.loc[row, "a"] = np.inf
    with refuses(InputError, match="'a'"):
        fitted(regressor(forest), lambda: in_parts(broken), "y", "w")


def test_one_line_needs_no_rows(frame, forest, runs):
    fab = fitted(regressor(forest, max_rules=1), lambda: in_parts(frame), "y", "w")
    assert not runs and fab.rules_.n_rules == 1


def test_progress(frame, forest, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted(regressor(forest, verbose=True), lambda: in_parts(frame), "y", "w")
    same_text(dict.fromkeys(re.findall(r"\r([^:]+):", capsys.readouterr().err)))


def test_a_classifier_says_what_all_rows_say(frame):
    X, y = frame[["a", "b"]], frame["y"] > 1
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(
        X[:500], y[:500]
    )
    fab = cw.FABRulesClassifier(forest, n_init=2, random_state=0)
    fitted(fab, lambda: in_parts(X.assign(y=y)), "y")
    assert np.mean(fab.predict_soft(X) == forest.predict(X)) > 0.8
