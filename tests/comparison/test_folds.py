"""Folds, samples and the order of jobs."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import TimeSeriesSplit

from clearwood.comparison.fits import ONE_BY_ONE, fit_job, groups_of
from clearwood.comparison.folds import (
    Job,
    Problem,
    deal_folds,
    few_sizes,
    make_jobs,
    make_parts,
)
from clearwood.comparison.models import fit_afresh
from clearwood.simplifiers import METHODS
from clearwood.simplifiers.api import estimator_class


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60), st.integers(2, 8))
def test_folds_hold_every_row_once_and_classes_in_equal_shares(labels, n_folds):
    y = np.array(labels)
    folds = deal_folds(y, n_folds, True, np.random.default_rng(0))
    kept, folds = zip(*folds)
    assert sorted(np.concatenate(folds).tolist()) == list(range(len(y)))
    assert all(len(a) + len(b) == len({*a, *b}) == len(y) for a, b in zip(kept, folds))
    sizes = [len(rows) for rows in folds]
    assert max(sizes) - min(sizes) <= 1
    for label in set(labels):
        counts = [(y[rows] == label).sum() for rows in folds]
        assert max(counts) - min(counts) <= 1
        # A class with two rows is never held out whole.
        assert (y == label).sum() == 1 or max(counts) < (y == label).sum()


@given(st.integers(1, 200))
def test_few_sizes_end_at_the_most(max_rules):
    sizes = few_sizes(max_rules)
    assert sizes == sorted(set(sizes))
    assert sizes[: min(max_rules, 4)] == list(range(1, min(max_rules, 4) + 1))
    assert sizes[-1] == max_rules
    assert len(sizes) < 5 + np.log(max_rules) / np.log(1.25)


def parts_of(n_rows=20, n_refits=2, one_ensemble=True, weight=None):
    rng = np.random.default_rng(0)
    folds = deal_folds(np.zeros(n_rows), 3, False, rng)
    weight = np.ones(n_rows) if weight is None else weight
    return make_parts(folds, weight, n_refits, one_ensemble, rng.spawn(4 + n_refits))


def test_groups_are_held_out_and_drawn_whole():
    y, groups = np.arange(40) % 2, np.arange(40) // 4
    rng = np.random.default_rng(0)
    folds = deal_folds(y, 3, True, rng, groups)
    for kept, held in folds:
        assert not set(groups[kept]) & set(groups[held])
        assert len(kept) + len(held) == 40 and abs(y[held].mean() - 0.5) < 0.1
    parts = make_parts(folds, np.ones(40), 2, True, rng.spawn(6), groups)
    for refit in parts[4:]:
        # So many groups, and all rows of a group as often.
        assert refit.weight.sum() == 40 and len(set(refit.weight)) > 1
        assert (refit.weight.reshape(10, 4) == refit.weight[::4, None]).all()


def test_a_splitter_may_leave_rows_out_of_both_parts():
    y = np.arange(12) % 2
    folds = deal_folds(y, TimeSeriesSplit(2), True, np.random.default_rng(0))
    parts = make_parts(folds, np.ones(12), 0, True, np.random.default_rng(0).spawn(3))
    assert parts[0].weight.tolist() == [1.0] * 4 + [0.0] * 8
    assert parts[0].test.tolist() == [4, 5, 6, 7]


def test_refits_do_not_change_the_other_fits():
    """Nor on so many rows that refits are judged on some of them only."""
    without, some = (parts_of(10_001, n_refits=n) for n in (0, 2))
    assert [part.seed for part in without] == [part.seed for part in some[:4]]
    assert len(some[4].test) == 10_000


def test_no_fit_sees_the_rows_that_it_is_judged_on():
    weight = np.arange(1.0, 21.0)
    parts = parts_of(weight=weight)
    assert [part.kind for part in parts] == ["fold"] * 3 + ["all"] + ["refit"] * 2
    for fold in parts[:3]:
        assert (fold.weight[fold.test] == 0).all()
        rest = np.setdiff1d(np.arange(20), fold.test)
        assert (fold.weight[rest] == weight[rest]).all()
    assert (parts[3].weight == weight).all() and len(parts[3].test) == 0
    for refit in parts[4:]:
        times = refit.weight / weight
        assert times.sum() == 20 and (times == times.round()).all()
        assert refit.test.tolist() == list(range(20))
    assert len({part.seed for part in parts}) == 6


def test_each_fold_may_have_an_ensemble_of_its_own():
    assert [p.ensemble for p in parts_of()] == [0] * 6
    assert [p.ensemble for p in parts_of(one_ensemble=False)] == [0, 1, 2, 3, 3, 3]


def test_very_many_rows_are_compared_in_part():
    parts = parts_of(n_rows=10_500)
    assert len(parts[-1].test) == 10_000
    assert len(np.unique(parts[-1].test)) == 10_000


def test_what_makes_points_comes_before_what_tells_their_stability():
    jobs = make_jobs("fab", [(1,), (2,)], parts_of())
    assert [(job.sizes, job.part) for job in jobs] == [
        ((1,), 0), ((1,), 1), ((1,), 2), ((1,), 3),
        ((2,), 0), ((2,), 1), ((2,), 2), ((2,), 3),
        ((1,), 4), ((1,), 5), ((2,), 4), ((2,), 5),
    ]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_methods_give_all_sizes_at_once_if_and_only_if_they_have_a_path(method):
    """One fit, without a worker: no label of a fold's fit is seen."""
    from sklearn.ensemble import RandomForestRegressor

    import clearwood as cw

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 3))
    y = 3.0 * (X[:, 0] > 0.5) + (X[:, 1] > 0.3)
    forest = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, y)
    ensemble = cw.read_ensemble(forest)
    parts = parts_of(n_rows=60)
    weight = np.ones(60)
    problem = Problem(X, y, weight, False, (ensemble,), np.zeros(0), parts, "level")
    groups = groups_of(method, 4)
    assert len(groups) == (4 if method in ONE_BY_ONE else 1)
    made = estimator_class(method, "regression")(ensemble, max_rules=4).fit(X)
    assert hasattr(made, "path_") == (method not in ONE_BY_ONE)
    answers = fit_job(problem, Job(method, groups[-1], 3))
    assert answers[-1].requested <= 4 and answers[-1].rules.target == "level"
    assert [a.requested for a in answers] == sorted(a.requested for a in answers)
    assert all(a.n_rules == a.rules.n_rules <= a.requested for a in answers)
    assert answers[-1].rules.about["model"].endswith("RandomForestRegressor")
    wrong = problem._replace(y=np.full(60, np.nan))
    held = fit_job(wrong, Job(method, groups[-1], 0))
    assert held[-1].rules is None
    assert held[-1].predicted.shape == (20,) and np.isfinite(held[-1].predicted).all()


def test_loading_kernels_is_no_part_of_a_fit(monkeypatch):
    """And what cannot be loaded is left for the job to say."""
    from clearwood.comparison import fits
    from clearwood.exceptions import InputError

    fitted = []

    def make(model, method, task, **settings):
        assert settings["max_rules"] == 2
        made = type("Made", (), {})()

        def fit(X, y):
            fitted.append((method, task, len(X)))
            raise InputError("needs clarabel")

        made.fit = fit
        return made

    monkeypatch.setattr(fits, "make_simplifier", make)
    fits.warm_up("node-harvest", "regression")
    fits.warm_up("te2rules", "classification")
    assert fitted == [
        ("node-harvest", "regression", 20),
        ("node-harvest", "regression", 600),
    ]


def test_what_stands_beside_the_rules_anyway_is_no_warning_of_a_fit(monkeypatch):
    from clearwood import exceptions
    from clearwood.comparison import fits

    def fit(problem, job):
        for kind in ("PoorFidelity", "UnknownCategories", "ClassOrder", "Mixing"):
            category = getattr(exceptions, f"{kind}Warning", UserWarning)
            warnings.warn(f"{kind}\n  is said", category, stacklevel=1)
        return []

    monkeypatch.setattr(fits, "fit_job", fit)
    reply = fits.do_job(None, Job("rule-list", (3,), 0))
    assert reply.warnings == (("UserWarning", "Mixing is said"),)
    assert reply.error == ""
    # Nobody here can mend what other packages warn of.
    assert fits.do_job(None, Job(next(iter(fits.PEERS)), (3,), 0)).warnings == ()


def test_models_fitted_afresh_get_the_weights_of_their_rows():
    from sklearn.ensemble import RandomForestRegressor

    class Told(RandomForestRegressor):
        def fit(self, X, y, sample_weight=None):
            self.told_ = y, sample_weight
            return super().fit(X, y, sample_weight)

    y = np.arange(9.0)
    folds = deal_folds(y, 3, False, np.random.default_rng(0))
    X, weight = y.reshape(-1, 1), y + 1.0
    made = fit_afresh(Told(2), X, y, weight, folds, 0).originals
    for model, (_, held) in zip(made, [*folds, ([], [])], strict=True):
        values, weights = model.told_
        assert not set(values) & set(held) and len(values) == 9 - len(held)
        assert (weights == values + 1.0).all()
    without = fit_afresh(Told(2), X, y, None, folds, 0).originals
    assert all(model.told_[1] is None for model in without)


def test_models_fitted_afresh_get_a_seed_only_where_they_have_none():
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import LinearRegression

    class Mean:
        """No estimator of scikit-learn."""

        def fit(self, X, y):
            self.mean = y.mean()
            return self

        def predict(self, X):
            return np.full(len(X), self.mean)

    y = np.arange(8.0)
    folds = deal_folds(y, 2, False, np.random.default_rng(0))

    def made(model):
        return fit_afresh(model, y.reshape(-1, 1), y, None, folds, 5).originals

    seeds = {
        seed: [one.random_state for one in made(RandomForestRegressor(2, **given))]
        for seed, given in [(5, {}), (7, {"random_state": 7})]
    }
    assert seeds == {5: [5, 5, 5], 7: [7, 7, 7]}
    assert len(made(LinearRegression())) == len(made(Mean())) == 3


def test_coverage_and_overlap_count_rows_by_their_weight():
    from sklearn.tree import DecisionTreeRegressor

    import clearwood as cw

    X = np.arange(20.0).reshape(-1, 1)
    tree = DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] > 12)
    weight = np.where(X[:, 0] > 12, 3.0, 1.0)
    parts = parts_of(weight=weight)
    problem = Problem(
        X, X[:, 0], weight, True, (cw.read_ensemble(tree),), np.zeros(0), parts
    )
    told = parts[0].test
    answer = fit_job(problem, Job("list", (1, 2), 0))[-1]
    # The rule may stand on either side of the cut.
    share = np.average(X[told, 0] > 12, weights=weight[told])
    assert answer.coverage == pytest.approx(
        min((share, 1 - share), key=lambda part: abs(part - answer.coverage))
    )
    assert answer.coverage == answer.overlap
    assert abs(answer.coverage - 0.5) != pytest.approx(
        abs((X[told, 0] > 12).mean() - 0.5)
    )
