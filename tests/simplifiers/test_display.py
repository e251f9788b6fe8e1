import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.charts.drawn import lines
from tests.wording import refuses

from clearwood.charts.chart import svg
from clearwood.exceptions import InputError
from clearwood.rules.displays import RegionsDisplay
from clearwood.simplifiers import (
    FABRulesClassifier,
    FABRulesRegressor,
    RuleListClassifier,
    RuleListRegressor,
)
from clearwood.simplifiers.fab.display import FABPathDisplay

matplotlib.use("agg")


def fit(task, n_features=2):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(300, n_features)))
    X.columns = [f"part {i}" for i in range(n_features)]
    above = (X > 0.5).sum(axis=1).to_numpy()
    if task == "classification":
        y = np.array(["few", "some", "many", "all"])[above]
        forest, make = RandomForestClassifier, FABRulesClassifier
    else:
        y, forest, make = above.astype(float), RandomForestRegressor, FABRulesRegressor
    model = forest(8, max_depth=4, random_state=0).fit(X, y)
    return make(model, max_rules=5, n_init=2, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module", params=["classification", "regression"])
def fitted(request):
    return fit(request.param)


def test_boxes_are_the_printed_bounds(fitted):
    fab, X, _ = fitted
    display = RegionsDisplay.from_estimator(fab, X)
    assert [box.number for box in display.boxes] == [
        n for n, rule in enumerate(fab.rules_.rules, start=1) if rule.conditions
    ]
    for box in display.boxes:
        rule = fab.rules_.rules[box.number - 1]
        inside = ((display.points > box.low) & (display.points <= box.high)).all(axis=1)
        np.testing.assert_array_equal(inside, rule.matches(X.to_numpy()))
        assert not box.further


def test_the_background_is_what_the_ensemble_says(fitted):
    fab, X, _ = fitted
    first, second, said = RegionsDisplay.from_estimator(fab, X).background
    corner = pd.DataFrame([[first[3], second[7]]], columns=X.columns)
    assert said[7, 3] == fab.ensemble_.predict(corner)[0]


@pytest.mark.parametrize("features", [(0, 1), ("part 1", 0)])
def test_plot_returns_itself_and_draws(fitted, features):
    fab, X, y = fitted
    display = RegionsDisplay.from_estimator(fab, X, y, features=features)
    assert display.plot() is display
    assert display.ax_.figure is display.figure_
    assert display.ax_.get_xlabel() == display.names[0]
    assert len(display.ax_.patches) == len(display.boxes)
    display.figure_.canvas.draw()


def test_it_draws_where_it_is_told(fitted):
    import matplotlib.pyplot as plt

    fab, X, _ = fitted
    figure, axes = plt.subplots(1, 2)
    display = RegionsDisplay.from_estimator(fab, X, ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure


def test_a_model_of_more_features_has_no_background_and_dashed_boxes():
    fab, X, _ = fit("classification", n_features=3)
    display = RegionsDisplay.from_estimator(fab, X, features=(0, 1))
    assert display.background is None
    for box in display.boxes:
        asked = {c.feature for c in fab.rules_.rules[box.number - 1].conditions}
        assert box.further == (2 in asked)
    _, labels = display.ax_.get_legend_handles_labels()
    shadows = sum("further" in label for label in labels)
    assert shadows == sum(box.further for box in display.boxes)


def test_rules_of_other_methods_are_drawn(fitted):
    fab, X, y = fitted
    kind = RuleListRegressor if fab.rules_.task == "regression" else RuleListClassifier
    rules = kind(fab.estimator_, n_rules=3, random_state=0).fit(X, y)
    display = RegionsDisplay.from_estimator(rules, X, y)
    assert [box.number for box in display.boxes] == [1, 2]


def test_bad_data_is_refused(fitted):
    fab, X, _ = fitted
    with refuses(InputError):
        RegionsDisplay.from_estimator("fab", X)
    with refuses(InputError):
        RegionsDisplay.from_estimator(fab, X, [1.0])
    with refuses(InputError):
        RegionsDisplay.from_estimator(fab, X, ["neither"] * len(X))


def test_the_path_is_the_history(fitted):
    fab, _, _ = fitted
    display = FABPathDisplay.from_estimator(fab)
    assert display.bound.tolist() == [step.bound for step in fab.history_]
    assert display.plot() is display
    assert display.ax_.lines[0].get_ydata().tolist() == display.bound.tolist()
    assert display.n_components[0] == fab.n_start_components_
    assert len(display.n_components) == len(fab.history_) + 1
    lower = display.components_ax_.lines[0].get_ydata()
    assert lower.tolist() == display.n_components.tolist()
    display.figure_.canvas.draw()


@pytest.mark.parametrize("bound", [[-3.0], [-3.0] * 3, [-np.inf, -3.0], range(5000)])
def test_any_bound_is_drawn_and_told(bound):
    display = FABPathDisplay(np.array(bound, dtype=float), np.full(len(bound) + 1, 2))
    drawn = svg(display.chart(), "history", display.words())
    assert len(lines(drawn, "second")) == 1 and "nan" not in drawn
    display.plot().figure_.canvas.draw()


def test_both_halves_of_the_path_stand_within_the_axes_and_apart(fitted):
    from matplotlib import pyplot as plt

    figure, given = plt.subplots()
    display = FABPathDisplay.from_estimator(fitted[0], ax=given)
    figure.canvas.draw()
    whole = given.get_position()
    above, below = (
        axes.get_window_extent().transformed(figure.transFigure.inverted())
        for axes in (display.ax_, display.components_ax_)
    )
    assert below.y1 < above.y0
    for half in (above, below):
        assert half.x0 == pytest.approx(whole.x0) and half.x1 == pytest.approx(whole.x1)
        assert whole.y0 - 1e-6 <= half.y0 and half.y1 <= whole.y1 + 1e-6


def test_a_fit_without_history_is_refused():
    with refuses(InputError, match="history_"):
        FABPathDisplay.from_estimator(FABRulesClassifier())
    X = np.arange(20.0)[:, None]
    model = RandomForestRegressor(2, random_state=0).fit(X, X[:, 0])
    one = FABRulesRegressor(model, max_rules=1).fit(X, X[:, 0])
    with refuses(InputError):
        FABPathDisplay.from_estimator(one)
