"""Pictures of projections in words that a clinician reads."""

import matplotlib
import numpy as np
import pytest
from tests.projection.test_estimators import Drawn
from tests.wording import same_lines, same_text

import clearwood as cw

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    rows = np.random.default_rng(0).normal(size=(120, 3))
    rows[:, 2] = np.round(2 * rows[:, 2])
    return rows


def labels_of(display):
    return display.ax_.get_legend_handles_labels()[1]


def test_one_draw_has_no_spread_and_trees_are_no_posterior(rows):
    one = cw.ProjectedTreeRegressor(Drawn(1), n_leaf_nodes=2).fit(rows)
    shown = labels_of(cw.projection.LeavesDisplay.from_estimator(one))
    # Both leaves have one variance.
    same_text(shown)
    own = cw.ProjectedTreeRegressor(Drawn(1), n_leaf_nodes=2, family="mean_variance")
    shown = labels_of(cw.projection.LeavesDisplay.from_estimator(own.fit(rows)))
    same_text(shown[0])

    trees = Drawn()
    trees.is_posterior = False
    forest = cw.ProjectedTreeRegressor(trees, n_leaf_nodes=2).fit(rows)
    shown = labels_of(cw.projection.LeavesDisplay.from_estimator(forest))
    same_lines(shown)


def test_the_spread_of_an_explanation_is_named_where_there_is_one(rows):
    for n_draws in (1, 30):
        found = cw.explain_local(Drawn(n_draws), rows[0], rows, n_neighbours=64)
        same_text(labels_of(cw.projection.LocalDisplay(found).plot()))


def test_leaves_are_numbered_weighed_and_valued(rows):
    tree = cw.ProjectedTreeClassifier(Drawn(task="classification"), n_leaf_nodes=3)
    display = cw.projection.LeavesDisplay.from_estimator(tree.fit(rows))
    texts = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    for i, (text, share) in enumerate(zip(texts, tree.leaves_.share), start=1):
        assert text.startswith(f"{i}. ")
        joined = " ".join(text.split())
        assert f"({100 * share:.0f} % " in joined
        same_lines(joined)
    values = [float(text.get_text()) for text in display.ax_.texts]
    assert values == pytest.approx(display.predictions, abs=0.0006)
    assert display.ax_.get_xlim() == (-0.05, 1.05)


def test_conditions_are_not_torn_apart(rows):
    tree = cw.ProjectedTreeRegressor(Drawn(), n_leaf_nodes=8).fit(rows)
    display = cw.projection.LeavesDisplay.from_estimator(tree)
    conditions = {
        c.text(tree.rules_.features) for r in tree.rules_ for c in r.conditions
    }
    lines = [
        line
        for tick in display.ax_.get_yticklabels()
        for line in tick.get_text().split("\n")
    ]
    for condition in conditions:
        assert any(condition in line for line in lines)


def test_whole_numbers_stand_side_by_side(rows):
    found = cw.explain_local(Drawn(), rows[0], rows, n_neighbours=64)
    ax = cw.projection.LocalDisplay(found, feature="x2").plot().ax_
    at = np.unique(found.neighbours[:, 2])
    assert ax.get_xticks().tolist() == at.tolist()
    places = ax.lines[0].get_xdata()
    assert np.abs(places - found.neighbours[:, 2]).max() < 0.21
    assert len(np.unique(places)) == len(places)
    assert cw.projection.LocalDisplay(found, feature="x0").plot().ax_.lines[
        0
    ].get_xdata() == (pytest.approx(found.neighbours[:, 0]))
    here = [line for line in ax.lines if len(line.get_xdata()) == 1]
    heights = {float(line.get_ydata()[0]) for line in here}
    assert {found.predicted, found.proxy_predicted} <= heights


def test_a_size_path_names_what_is_counted(rows):
    found = cw.ProjectedRuleListRegressor(Drawn(), n_rules=3, random_state=0).fit(rows)
    display = cw.projection.SizePathDisplay.from_estimator(found)
    assert display.ax_.get_xlabel() == "rules"
    same_text(labels_of(display))
