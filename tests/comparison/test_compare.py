"""``compare`` from end to end: numbers by hand, kinds of data, wrong input."""

import math
import warnings
from dataclasses import replace
from importlib import import_module
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, LeaveOneGroupOut
from tests.comparison.stand_in import Here
from tests.wording import refuses, same_lines, same_text

import clearwood as cw
from clearwood.comparison import processes
from clearwood.comparison.fits import do_job
from clearwood.comparison.folds import Job, Reply, deal_folds, make_parts
from clearwood.comparison.scores import warnings_in_words
from clearwood.exceptions import InputError, ModelError


def sample(n_rows=90):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(n_rows, 3)), columns=["dose", "age", "mass"])
    y = np.select([X["dose"] > 0.6, X["age"] < 0.4], ["ill", "odd"], "well")
    return X, y.astype(object)


def compare(model, X, y, **settings):
    quick = {"methods": ["tree"], "cv": 3, "n_refits": 0, "max_rules": 4}
    return cw.compare(model, X, y, **{**quick, "random_state": 0, **settings})


def without_time(found):
    return str([(replace(p, seconds=0.0), p.rules, p.text) for p in found.points])


@pytest.fixture(scope="module")
def forest():
    X, y = sample()
    return RandomForestClassifier(8, max_depth=3, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def found(forest):
    X, y = sample()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "Worker", Here)
        return compare(forest, X, y, n_refits=3, methods=["tree", "em", "in-trees"])


def test_every_number_is_what_its_definition_says(found, forest):
    """A tree of three lines, fitted and judged by hand."""
    X, y = sample()
    dealer, _, *generators = np.random.default_rng(0).spawn(9)
    folds = deal_folds(y, 3, True, dealer)
    parts = make_parts(folds, np.ones(len(y)), 3, True, generators)
    target = forest.predict(X)

    def fit(part):
        made = cw.DistilledTreeClassifier(
            forest, n_rules=4, max_rules=4, random_state=part.seed
        ).fit(X, y, sample_weight=part.weight)
        return next(rules for rules in made.path_ if rules.n_rules == 3)

    said, held = np.empty(len(y), dtype=object), []
    for part in parts[:3]:
        rules = fit(part)
        said[part.test] = rules.predict(X.iloc[part.test])
        scores = rules.evaluate(X.iloc[part.test], y[part.test])
        held.append((scores.error, scores.coverage, scores.overlap))
    point = next(p for p in found.points if (p.method, p.n_rules) == ("tree", 3))
    errors, coverage, overlap = np.array(held).T
    assert point.error == pytest.approx((said != y).mean())
    assert errors.mean() == pytest.approx(point.error)
    spread = math.sqrt(point.error * (1 - point.error) / len(y))
    assert point.error_se == pytest.approx(spread)
    assert point.fidelity == pytest.approx((said == target).mean())
    assert point.coverage == pytest.approx(coverage.mean())
    assert point.overlap == pytest.approx(overlap.mean())
    assert str(point.rules) == str(fit(parts[3])) == point.text
    again = [fit(part).predict(X) for part in parts[4:]]
    pairs = [(a == b).mean() for a, b in combinations(again, 2)]
    assert point.stability == pytest.approx(np.mean(pairs))
    assert found.model_error == pytest.approx((target != y).mean())


def test_points_say_their_true_size_and_come_once(found):
    for point in found.points:
        assert point.n_rules == point.rules.n_rules <= point.requested <= 4
        assert point.n_literals == point.rules.n_literals
        assert point.seconds > 0
    by_method = [(p.method, p.n_rules) for p in found.points if p.method != "em"]
    assert len(set(by_method)) == len(by_method)
    assert {method for method, _ in by_method} == {"tree", "in-trees"}
    assert not found.failures and not found.model_refitted
    assert found.model_error < 0.1
    same_lines(str(found))
    assert found.classes == ("ill", "odd", "well")
    assert found.model == "RandomForestClassifier"
    assert found.feature_names == ("dose", "age", "mass")
    # Three boxes decide all.
    assert found.best(4).evaluate(*sample()).error < 0.1


def test_groups_and_splitters_hold_out_rows(forest, in_this_process, monkeypatch):
    X, y = sample()
    groups, fits = np.arange(len(y)) // 9, []
    fit = cw.DistilledTreeClassifier.fit

    def spy(self, X, y=None, sample_weight=None, groups=None):
        fits.append((self.cv, groups))
        return fit(self, X, y, sample_weight, groups)

    monkeypatch.setattr(cw.DistilledTreeClassifier, "fit", spy)

    found = compare(forest, X, y, cv=LeaveOneGroupOut(), groups=groups)
    assert found.n_folds == 10
    assert isinstance(fits[-1][0], LeaveOneGroupOut)
    assert (fits[-1][1] == groups).all()
    with refuses(InputError):
        compare(forest, X, y, groups=groups, cv=KFold(3))


@pytest.mark.dear
def test_the_same_seed_gives_the_same_whatever_runs_beside_it(found, forest):
    settings = {"n_refits": 3, "methods": ["tree", "em", "in-trees"]}
    side_by_side = compare(forest, *sample(), n_jobs=2, **settings)
    assert without_time(side_by_side) == without_time(found)


def test_neither_other_methods_nor_the_form_of_the_data_count(
    found, forest, in_this_process
):
    X, y = sample()
    alone = compare(cw.read_ensemble(forest), pl.from_pandas(X), y.tolist(), n_refits=3)
    tree = replace(found, points=[p for p in found.points if p.method == "tree"])
    assert [replace(p, on_frontier=False) for p in map(untimed, alone.points)] == [
        replace(p, on_frontier=False) for p in map(untimed, tree.points)
    ]


def untimed(point):
    return replace(point, seconds=0.0, rules=None)


def test_an_unfitted_model_never_sees_the_held_out_rows(in_this_process):
    """Labels are noise: only who saw them gets them right."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(120, 4)), rng.integers(2, size=120)
    model = RandomForestClassifier(10)
    fresh = compare(model, X, y)
    assert fresh.model_refitted and 0.3 < fresh.model_error < 0.7
    assert not hasattr(model, "classes_") and model.random_state is None
    assert without_time(fresh) == without_time(compare(model, X, y))
    other = compare(model, X, y, random_state=1)
    assert without_time(other) != without_time(fresh)


def test_categories_missing_values_weights_and_a_rare_class(in_this_process):
    X, y = sample(60)
    X["hue"] = pd.Categorical(np.where(y == "ill", "red", "blue"))
    X.loc[3, "dose"] = np.nan
    y[7] = "rare"
    weight = np.ones(60)
    weight[:5] = 0.0
    model = HistGradientBoostingClassifier(
        max_iter=5, min_samples_leaf=3, categorical_features="from_dtype"
    )
    found = compare(
        model, X, y, sample_weight=weight, methods=["in-trees", "imodels:FIGS"]
    )
    assert found.n_rows == 55 and "rare" in found.classes
    assert found.failures[0][0] == "imodels:FIGS"
    assert any("hue" in point.text for point in found.points)
    # Rows without weight are not there.
    part = np.flatnonzero(weight)
    same = compare(model, X.iloc[part], y[part], methods=["in-trees"])
    assert [p.error for p in same.points] == [
        p.error for p in found.points if p.method == "in-trees"
    ]


def test_numbers_a_constant_target_and_a_model_file(in_this_process, tmp_path):
    X, _ = sample(20)
    y = pd.Series(np.arange(20.0), name="level")
    model = RandomForestRegressor(3, random_state=0).fit(X, y * 0 + 7.0)
    found = compare(model, X, y * 0 + 7.0)
    assert [(p.n_rules, p.error, p.fidelity) for p in found.points] == [(1, 0.0, 1.0)]
    assert found.points[0].rules.target == "level"
    import xgboost

    y = 10.0 * (X["dose"] > 0.5) + y / 100
    booster = xgboost.XGBRegressor(n_estimators=3, max_depth=2).fit(X, y)
    booster.save_model(tmp_path / "model.json")
    # Every row is held out alone.
    read = compare(tmp_path / "model.json", X, y, cv=20, methods="tree", max_rules=2)
    assert read.task == "regression" and read.model.startswith("XGBoost")
    assert read.points[1].fidelity > 0.1 and math.isfinite(read.points[1].error_se)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"methods": ["tree", "forest"]}, "found \\['forest'\\]"),
        ({"methods": []}, "methods"),
        ({"methods": None}, "methods"),
        ({"max_rules": 0}, "max_rules is 0"),
        ({"cv": 1}, "cv is 1"),
        ({"cv": 91}, "cv=91"),
        ({"n_refits": 1}, "n_refits is 1"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"peers": "some"}, "peers"),
        ({"y": None}, "y"),
        ({"y": ["ill"] * 89 + ["new"]}, "'new'"),
        ({"y": ["ill"] * 5}, "inconsistent"),
        ({"sample_weight": np.zeros(90)}, "sample_weight|zero"),
        ({"X": np.zeros((90, 2))}, "columns"),
        ({"column_info": {"size": {"unit": "m"}}}, "column_info"),
        ({"X": np.zeros((0, 3))}, "0 sample"),
    ],
)
def test_wrong_input_is_refused_before_any_work(changed, words, forest, monkeypatch):
    monkeypatch.setattr("clearwood.comparison.processes.Worker", None)
    X, y = sample()
    given = {"X": X, "y": y, **changed}
    with refuses((InputError, ValueError), match=words):
        compare(forest, **given)


def test_models_that_cannot_be_compared_with_are_refused():
    X, y = sample(12)
    with pytest.raises(ModelError, match="model is None"):
        compare(None, X, y)
    one = ["ill"] * 11 + ["odd"]
    with refuses(InputError):
        compare(RandomForestClassifier(2), X, one)
    gaps = X.where(X > 0.1)
    from sklearn.ensemble import GradientBoostingClassifier

    with refuses(InputError, match="GradientBoostingClassifier"):
        compare(GradientBoostingClassifier(), gaps, y)
    lightgbm = pytest.importorskip("lightgbm")
    named = X.set_axis(["a", 'b"', "c"][: X.shape[1]], axis=1)
    model = lightgbm.LGBMClassifier(verbose=-1, n_jobs=1)
    with refuses(InputError):
        compare(model, named, y)


def test_methods_named_all_mean_peers_that_are_installed(monkeypatch):
    # The room's function hides the module of its name.
    api = import_module("clearwood.comparison.compare")

    monkeypatch.setattr(api, "is_installed", lambda peer: peer == "te2rules")
    ours = list(api.METHODS)
    assert api._check_methods("all", "auto") == [*ours, "te2rules"]
    assert api._check_methods("all", False) == ours
    assert api._check_methods("all", True) == [*ours, *api.PEERS]
    assert api._check_methods(["te2rules", "tree", "tree"], False) == [
        "tree",
        "te2rules",
    ]


def test_warnings_of_fits_are_counted_and_said_once(monkeypatch):
    jobs = [Job("fab", (size,), part) for size in (2, 3) for part in range(2)]
    told = ("ConvergenceWarning", "raise max_iter")
    replies = {
        job: Reply([], 1.0, "", (told, told) if job.sizes == (2,) else ())
        for job in jobs
    }
    same_text(warnings_in_words(replies))

    def fit(problem, job):
        warnings.warn("raise max_iter", ConvergenceWarning, stacklevel=2)
        return []

    monkeypatch.setattr("clearwood.comparison.fits.fit_job", fit)
    assert do_job(None, jobs[0]).warnings == (told,)
    assert do_job(None, Job("te2rules", (2,), 0)).warnings == ()


def test_an_error_of_a_fit_is_one_line(monkeypatch):
    def fail(problem, job):
        raise ZeroDivisionError("by\nzero" + 600 * "!")

    monkeypatch.setattr("clearwood.comparison.fits.fit_job", fail)
    reply = do_job(None, Job("tree", (2,), 0))
    same_text(reply.error)
    assert len(reply.error) < 520 and reply.answers == []


def test_rules_of_a_ranking_model_are_chosen_by_its_scores(in_this_process, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    X, _ = sample()
    y = np.digitize(X["dose"], [0.4, 0.8])
    ranker = lightgbm.LGBMRanker(n_estimators=9, min_child_samples=5, verbose=-1)
    ranker.fit(X, y, group=[10] * 9)
    found = compare(ranker, X, y)
    score = ranker.predict(X)
    for point in found.points:
        # One minus R2 is the error in variances of the target.
        assert point.error == pytest.approx((1 - point.fidelity) * np.var(score))
    assert math.isnan(found.model_error) and math.isnan(found.constant_error)
    assert found.enough().fidelity > 0.5
    same_text(found.heading()[1])
    cw.report(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert found.heading()[1] in page and "the model itself" not in page
    assert "always predicting" not in page


def test_a_sparse_matrix_gives_what_the_dense_one_does(in_this_process):
    X, y = sample()
    X = np.where(X > 0.3, X, 0.0)
    few = RandomForestClassifier(5, max_depth=3, random_state=0)
    for model in (few, clone(few).fit(X, y)):
        dense, sparse = (
            compare(model, form(X), y, methods=["tree", "in-trees"])
            for form in (np.asarray, csr_array)
        )
        assert [method for method, _ in sparse.failures] == ["in-trees"]
        of_both = [p for p in dense.points if p.method != "in-trees"]
        assert len(of_both) == len(sparse.points)
        for one, other in zip(of_both, sparse.points):
            assert one.text == other.text and one.error == other.error
            assert (one.coverage, one.log_loss) == (other.coverage, other.log_loss)
