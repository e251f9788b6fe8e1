"""Lists as proxies: what they say, how they are chosen, and against all lists."""

import itertools

import matplotlib
import numpy as np
import pytest
from tests.projection.test_estimators import Drawn
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.projection.leaves import Leaves
from clearwood.projection.lists import project_lists
from clearwood.projection.predictive_draws import PredictiveDraws
from clearwood.projection.trees import leaves_of
from clearwood.search import Grid


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, Drawn().draws(X).mean(axis=0) + 0.5 * rng.normal(size=300)


def test_lines_carry_what_the_draws_say(rows):
    X, y = rows
    reference = Drawn()
    found = cw.ProjectedRuleListRegressor(reference, random_state=0).fit(X, y)
    assert found.rules_.n_rules == 3
    assert found.size_path_.evaluated_on == "labels"
    said = reference.draws(X)
    np.testing.assert_allclose(found.predict_draws(X), said, atol=1e-12)
    line = found.rules_.apply(X)
    np.testing.assert_allclose(
        found.leaves_.epistemic[line], said.std(axis=0), atol=1e-12
    )
    # Estimated from 400 observations.
    np.testing.assert_allclose(found.leaves_.aleatoric, 0.5, rtol=0.15)
    scores = found.rules_.evaluate(X, model=reference)
    assert found.fidelity_ == pytest.approx(scores.fidelity, rel=1e-12)
    low, high = found.predict_interval(X, 0.9).T
    assert ((low < y) & (y < high)).mean() == pytest.approx(0.9, abs=0.05)
    assert [rules.n_rules for rules in found.path_][:3] == [1, 2, 3]
    np.testing.assert_allclose(found.predict(X), said.mean(axis=0), atol=0.02)


@pytest.mark.parametrize("task", ["counts", "classification"])
def test_rates_and_probabilities_are_followed_and_not_only_classes(rows, task):
    X, _ = rows

    class Never(Drawn):
        """The first class is more probable everywhere; how much, differs."""

        def draws(self, X):
            values = super().draws(X)
            if task == "counts":
                return values
            values = np.stack([1 - values[..., 1] / 4, values[..., 1] / 4], axis=2)
            return values

    reference = Never(task=task)
    kinds = {
        "counts": cw.ProjectedRuleListRegressor,
        "classification": cw.ProjectedRuleListClassifier,
    }
    found = kinds[task](reference, n_rules=3, random_state=0).fit(X)
    np.testing.assert_allclose(found.predict_draws(X), reference.draws(X), atol=1e-9)
    assert found.size_path_.held_out is None


def likelihoods(said, family, grid, lines):
    share = np.full(grid.n_rows, 1 / grid.n_rows)
    return Leaves.from_predictive(said, lines, share, family).log_likelihood


@pytest.mark.parametrize("family", ["mean", "classes", "counts"])
def test_one_box_is_the_best_of_all(family):
    """Two lines on two features of three values: every box is tried by hand."""
    rng = np.random.default_rng(1)
    codes = np.repeat(list(itertools.product(range(3), repeat=2)), 6, axis=0)
    grid = Grid.of(codes.astype(np.uint8), np.array([4, 4]), np.zeros(2, bool))
    inside = (codes[:, 0] == 1) & (codes[:, 1] < 2)
    values = 2.0 * inside + 0.1 * rng.normal(size=54)
    said = PredictiveDraws(values[None], np.full((1, 54), 0.2))
    if family == "counts":
        said = PredictiveDraws(np.exp(values)[None], None)
    if family == "classes":
        yes = 1 / (1 + np.exp(-values - np.array([[0.0], [1.0]])))
        shares = np.stack([yes[0], yes[1], 2 - yes.sum(axis=0)], axis=1) / 2
        said = PredictiveDraws(shares[None], None)
    generator = np.random.default_rng(0)
    path = project_lists(said, family, grid, np.ones(54), 2, 5, generator)
    found = likelihoods(said, family, grid, leaves_of(path[1], grid))
    edges = list(itertools.combinations(range(4), 2))
    best = max(
        likelihoods(said, family, grid, 1 - box.astype(int))
        for (a, b), (c, d) in itertools.product(edges, edges)
        if 5 <= (
            box := (a <= codes[:, 0]) & (codes[:, 0] < b)
            & (c <= codes[:, 1]) & (codes[:, 1] < d)
        ).sum() < 54
    )  # fmt: skip
    assert found == pytest.approx(best)
    np.testing.assert_array_equal(leaves_of(path[1], grid) == 0, inside)


def test_a_box_that_catches_the_rest_is_otherwise():
    from clearwood.projection.lists import _ends_with_rows
    from clearwood.search import BoxList

    codes = np.repeat([0, 1], 8)[:, None].astype(np.uint8)
    grid = Grid.of(codes, np.array([3]), np.array([False]))
    boxes = np.array([[True, False, False], [False, True, False]])
    ended = _ends_with_rows(BoxList(boxes, (1.0, 2.0), 3.0, 0.5), grid)
    assert len(ended.boxes) == 1 and ended.otherwise == 2.0
    assert _ends_with_rows(ended, grid) is ended


def test_a_price_or_the_papers_choice_of_one(rows):
    X, y = rows
    made = cw.ProjectedRuleListRegressor
    sizes = [
        made(Drawn(), alpha=alpha, random_state=0).fit(X).rules_.n_rules
        for alpha in (0.001, 0.2, 10.0)
    ]
    assert sizes[0] >= 3 and sizes[-1] == 1 and sizes == sorted(sizes, reverse=True)
    chosen = made(Drawn(), alpha="cv", random_state=0).fit(X, y)
    assert (
        chosen.rules_.n_rules == 3 == chosen.size_path_.best_by_utility(chosen.alpha_)
    )
    # A third line would help, but two are asked for.
    assert made(Drawn(), n_rules=2, random_state=0).fit(X).rules_.n_rules == 2
    with refuses(InputError, match="'cv'.*n_rules"):
        made(Drawn(), alpha="cv", n_rules=3).fit(X)
    with refuses(InputError, match="max_rules"):
        made(Drawn(), n_rules=11).fit(X)


def test_lists_are_drawn_and_reported(rows, tmp_path):
    matplotlib.use("agg")
    X, _ = rows
    found = cw.ProjectedRuleListRegressor(Drawn(), n_rules=3, random_state=0).fit(X)
    drawn = cw.projection.LeavesDisplay.from_estimator(found)
    assert "otherwise" in drawn.labels[-1] and len(drawn.labels) == 3
    assert (drawn.observation_interval[0] < drawn.mean_interval[0]).all()
    assert drawn.plot().ax_.get_xlabel() == "y"
    cw.projection.SizePathDisplay.from_estimator(found)
    cw.report(found, tmp_path / "page.html", X=X, model=Drawn())
    assert "otherwise" in (tmp_path / "page.html").read_text()
