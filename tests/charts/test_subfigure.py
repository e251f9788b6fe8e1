"""Charts are drawn on the axes of a part of a figure, too."""

import matplotlib.pyplot as plt
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw


@pytest.fixture
def axes():
    figure = plt.figure()
    yield figure.subfigures(1, 2)[1].subplots()
    plt.close(figure)


def test_trees_and_curves_are_drawn_on_the_axes_of_a_subfigure(axes):
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    few = cw.RuleListClassifier(forest, max_rules=3, random_state=0).fit(X, y)
    for display in (cw.rules.TreeDisplay, cw.rules.PathDisplay):
        assert display.from_estimator(few, X, y, ax=axes).figure_ is axes.figure


def test_states_are_drawn_on_the_axes_of_a_subfigure(axes):
    hmm = cw.HiddenMarkovModel(2, algorithm="em", random_state=0).fit("abcab" * 20)
    assert (
        cw.sequences.AutomatonDisplay.from_estimator(hmm, ax=axes).figure_
        is axes.figure
    )
