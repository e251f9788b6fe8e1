from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.wording import refuses, same_text

from clearwood.exceptions import InputError
from clearwood.rules import RuleScores
from clearwood.rules.displays import PathDisplay
from clearwood.rules.displays.held_out import held_out_of
from clearwood.simplifiers import (
    FABRulesClassifier,
    RuleListClassifier,
    RuleListRegressor,
)

matplotlib.use("agg")


@pytest.fixture(scope="module", params=["classification", "regression"])
def fitted(request):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(240, 3))
    if request.param == "classification":
        y = np.array(["low", "middle", "high"])[(X[:, :2] > 0.5).sum(axis=1)]
        forest, make = RandomForestClassifier, RuleListClassifier
    else:
        y = 2 * X[:, 0] + (X[:, 1] > 0.5)
        forest, make = RandomForestRegressor, RuleListRegressor
    model = forest(8, max_depth=4, random_state=0).fit(X, y)
    rules = make(model, max_rules=4, n_synthetic=0, random_state=0)
    return rules.fit(X, y), X[:100], y[:100]


def test_every_size_is_scored_on_the_rows_handed_in(fitted):
    rules, X, y = fitted
    display = PathDisplay.from_estimator(rules, X, y)
    said = rules.ensemble_.predict(X)
    assert len(display.scores) == len(rules.path_) > 2
    for score, found in zip(display.scores, rules.path_):
        assert score.n_rules == found.n_rules
        assert score.n_literals == found.n_literals
        if found.classes:
            assert score.fidelity == np.mean(found.predict(X) == said)
            assert score.error == np.mean(found.predict(X) != y)
        else:
            residual = np.mean((found.predict(X) - said) ** 2)
            assert score.fidelity == pytest.approx(1 - residual / np.var(said))
            assert score.error == pytest.approx(np.mean((found.predict(X) - y) ** 2))
    assert display.chosen == rules.rules_.n_rules
    wrong = np.mean(said != y) if rules.rules_.classes else np.mean((said - y) ** 2)
    assert display.model_error == pytest.approx(wrong)


def test_the_band_is_that_of_the_fit(fitted):
    rules, X, _ = fitted
    held_out = PathDisplay.from_estimator(rules, X).held_out
    results = rules.cv_results_
    same_text(held_out.rows)
    assert held_out.fidelity.tolist() == results["fidelity"]
    assert held_out.standard_error.tolist() == results["standard_error"]


def test_a_size_that_was_not_chosen_has_no_band():
    assert held_out_of(SimpleNamespace(cv_results_=None)) is None
    assert held_out_of(SimpleNamespace()) is None


def test_plot_draws_the_scores_and_marks_the_size(fitted):
    rules, X, y = fitted
    display = PathDisplay.from_estimator(rules, X, y)
    assert display.plot() is display
    assert display.ax_.figure is display.figure_
    sizes = [found.n_rules for found in rules.path_]
    for ax, name in (
        (display.ax_, "fidelity"),
        (display.error_ax_, "error"),
        (display.literals_ax_, "n_literals"),
    ):
        assert list(ax.lines[0].get_xdata()) == sizes
        values = [getattr(score, name) for score in display.scores]
        assert list(ax.lines[0].get_ydata()) == values
        # The large dot.
        assert list(ax.lines[1].get_xdata()) == [display.chosen]
    (model,) = (
        line for line in display.error_ax_.lines if line.get_label() == "the model"
    )
    assert set(model.get_ydata()) == {display.model_error}
    band = display.ax_.collections[0].get_paths()[0].vertices
    middle, error = display.held_out.fidelity, display.held_out.standard_error
    assert band[:, 1].min() == pytest.approx((middle - error).min())
    assert band[:, 1].max() == pytest.approx((middle + error).max())
    display.figure_.canvas.draw()


def test_without_truth_or_held_out_rows_there_is_less_to_draw(fitted):
    rules, X, _ = fitted
    display = PathDisplay.from_estimator(rules, X)
    assert display.error_ax_ is None
    alone = PathDisplay(display.scores, task="regression", chosen=1).plot()
    assert len(alone.ax_.collections) == 0
    labels = [text.get_text() for text in alone.ax_.get_legend().get_texts()]
    same_text(labels)


def test_a_path_of_one_and_a_size_beyond_the_path_are_drawn():
    one = RuleScores(0.3, 0.7, 0.0, 0.0, n_rules=1, n_literals=0)
    display = PathDisplay([one], task="classification", chosen=1, model_error=0.1)
    display.plot().figure_.canvas.draw()
    assert display.literals_ax_.get_xlim() == (0.7, 1.3)


def test_another_teacher_may_be_named_and_axes_given(fitted):
    import matplotlib.pyplot as plt

    rules, X, _ = fitted
    said = rules.path_[-1].predict(X)
    figure, axes = plt.subplots(1, 2)
    display = PathDisplay.from_estimator(rules, X, model=said, ax=axes[1])
    assert display.scores[-1].fidelity == 1.0
    assert display.figure_ is figure
    place = axes[1].get_position()
    for part in (display.ax_, display.literals_ax_):
        assert place.x0 - 1e-9 <= part.get_position().x0
        assert part.get_position().x1 <= place.x1 + 1e-9
        assert place.y0 - 1e-9 <= part.get_position().y0
        assert part.get_position().y1 <= place.y1 + 1e-9


@pytest.mark.parametrize("estimator", [FABRulesClassifier(), RuleListClassifier(), 3])
def test_what_has_no_path_is_refused(estimator):
    with refuses(InputError, match="path_"):
        PathDisplay.from_estimator(estimator, np.zeros((2, 2)))
