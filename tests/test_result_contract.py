"""What every result promises: each promise once, for every class of results.

A new class gets a row in ``RESULTS``.
"""

import html
import inspect
import re
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from tests.reporting.results import ROWS, classes_rules, numbers_rules

import clearwood as cw
from clearwood.circuits import Circuit, ClassEvidence
from clearwood.comparison import Frontier, FrontierPoint, Stability
from clearwood.comparison.stability import RuleStability
from clearwood.distributions import Gaussian
from clearwood.ensembles import ModelCheck
from clearwood.exceptions import InputError
from clearwood.projection import TreeStability
from clearwood.results import Result
from clearwood.rules import Question
from clearwood.rules.tree import Tree
from clearwood.sbfc import FeatureForest
from clearwood.sequences.recurrent.fidelity import NetworkFidelity, SurrogateFidelity
from clearwood.sequences.recurrent.state_trees import StateTree, StateTrees

LABELS = ["ill", "well", "ill", "well"]


def iris():
    X, y = cw.datasets.make_corral(n_noise=1, random_state=0)
    return pd.DataFrame(X), y


def several():
    rules = numbers_rules()
    named = rules.with_target("<a>"), rules.with_target("b")
    return cw.rules.MultiOutputRules(named)


def forest():
    X, y = iris()
    return RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)


def tree():
    low, high = cw.Interval(0, high=1.0), cw.Interval(0, low=1.0)
    leaves = (cw.Rule((one,), value) for one, value in ((low, 2.0), (high, 3.0)))
    return Tree(Question(low, high, *leaves), cw.FeatureSpace(("<a>",), (None,)))


def projected():
    X, y = iris()
    few = {"max_leaf_nodes": 4, "random_state": 0}
    return cw.ProjectedTreeClassifier(forest(), **few).fit(X, y)


def point():
    rules = classes_rules()
    return FrontierPoint(
        "list", 3, 3, 4, 0.1, 0.01, 0.9, 1.0, 1.0, 0.8, 1.0, True, rules, str(rules)
    )


def frontier():
    return Frontier(
        "classification", "forest", 9, 3, 2, 0.1, 0.01, True, (point(),), (), 1.0,
        ("temperature", "colour"), ("well", "ill"),
    )  # fmt: skip


def network():
    rng = np.random.default_rng(0)
    eye = np.eye(2)

    def reads(codes):
        return eye[codes], eye[codes] + 0.1

    return cw.explain_rnn(
        reads, rng.integers(2, size=200), n_states=2, symbols=["a", "b"]
    )


def local():
    X = np.random.default_rng(0).normal(size=(60, 2))
    reference = cw.reference(LinearRegression().fit(X, X[:, 1]), X, X[:, 1])
    return cw.explain_local(reference, X[0], X, n_neighbours=64, random_state=0)


SURROGATE = SurrogateFidelity(0.1, 0.9, 0.01, 3)
RESULTS = {
    "RuleList": classes_rules,
    "Conditionals": lambda: cw.MiniSPN(random_state=0).fit(iris()[0]).conditional(
        {"0": 1, "1": 0}
    ),
    "RuleSum": lambda: cw.rules.RuleSum(
        (cw.Rule((cw.Interval(0, low=1.0),), 2.0),), cw.Rule((), 1.0),
        cw.FeatureSpace(("<a>",), (None,)),
    ),
    "RuleAverage": lambda: cw.rules.RuleAverage(
        (cw.Rule((cw.Interval(0, low=1.0),), 2.0),), cw.Rule((), 1.0),
        cw.FeatureSpace(("<a>",), (None,)),
    ),
    "Tree": tree,
    "AnnotatedTree": lambda: cw.MetaTreeClassifier().fit(*iris()).map_tree_,
    "Decisions": lambda: cw.decisions(classes_rules(), ROWS, LABELS),
    "Residuals": lambda: cw.decisions(
        numbers_rules(), np.eye(2), [1.0, 2.0], model=[2.0, 2.0]
    ),
    "Explanation": lambda: cw.explain(classes_rules(), ROWS[0]),
    "Importances": lambda: cw.permutation_importance(forest_rules(), iris()[0]),
    "RuleScores": lambda: classes_rules().evaluate(ROWS, LABELS),
    "MultiOutputRules": several,
    "MultiOutputScores": lambda: several().evaluate(np.eye(2), np.eye(2)),
    "Stability": lambda: Stability(
        "classification", 2, False, 0.9, 0.1, 0.8,
        (RuleStability(1, "<a> > 1", "ill", 0.5, 1),), {"<a>": 2}, (3, 3), 3,
    ),
    "Frontier": frontier,
    "FrontierPoint": point,
    "Exploration": lambda: cw.explore(
        pd.DataFrame({"<a>": np.arange(40.0) ** 2, "y": list("ab" * 20)}), "y",
        seconds=0.01, random_state=0,
    ),
    "Alternatives": lambda: cw.alternatives(
        cw.RuleListClassifier(forest(), n_rules=2, random_state=0).fit(*iris()),
        iris()[0],
        n_cuts=1,
    ),
    "Monitoring": lambda: cw.monitor(classes_rules(), ROWS, LABELS),
    "Difference": lambda: cw.difference(
        numbers_rules(), numbers_rules().change(1, "x0", low=0.8), np.eye(2)[[0, 1] * 9]
    ),
    "ModelCheck": lambda: ModelCheck(
        "<model>", None, {"trees": 2}, ({"name": "a", "categories": None, "splits": 3},)
    ),
    "LocalExplanation": local,
    "SplitPosterior": lambda: cw.projection.split_posterior(projected(), iris()[0]),
    "SizePath": lambda: projected().size_path_,
    "MethodComparison": lambda: cw.compare_methods([3.0, 2, 4, 3], [2.0, 2.5, 2, 1]),
    "TreeStability": lambda: TreeStability(
        (3, 3), (0.2,), (0.4,), (1.5,), (0.9,), (1.0,)
    ),
    "FeatureForest": lambda: FeatureForest([True, True, False], [-1, 0, -1]),
    "Circuit": lambda: Circuit(Gaussian(0, 1.0, 2.0), cw.FeatureSpace.numeric(1)),
    "ClassEvidence": lambda: ClassEvidence("ill", 0.9, {"<a>": ("3", 0.7)}),
    "NetworkFidelity": lambda: NetworkFidelity({"constant": SURROGATE}, 90),
    "StateTrees": lambda: StateTrees((StateTree("0", tree(), 0.9, 1),)),
    "RecurrentExplanation": network,
}  # fmt: skip
"""A small result of each class, by its name."""

each = pytest.mark.parametrize("name", RESULTS)


def forest_rules():
    return cw.RuleListClassifier(forest(), n_rules=2, random_state=0).fit(*iris())


def all_classes():
    modules = [cw, *(import_module(f"clearwood.{name}") for name in cw._SUBMODULES)]
    named = [getattr(m, name) for m in modules for name in getattr(m, "__all__", ())]
    return {one for one in named if inspect.isclass(one)}


def below(kind):
    return {kind}.union(*map(below, kind.__subclasses__()))


def test_every_class_of_results_has_a_row():
    for name in RESULTS:
        assert type(RESULTS[name]()).__name__ == name
    whole = {kind.__name__ for kind in below(Result) if not inspect.isabstract(kind)}
    own = {name for name in whole if not name.startswith("_")}
    assert own == set(RESULTS)


def test_every_public_class_that_prints_is_a_result():
    prints = {kind for kind in all_classes() if "__str__" in vars(kind)}
    others = {kind for kind in prints if not issubclass(kind, Result | Exception)}
    # A rate is a number of a result, with its interval.
    assert {kind.__name__ for kind in others} <= {"Rate"}


@each
def test_the_prompt_and_a_notebook_show_the_text(name):
    result = RESULTS[name]()
    text = str(result)
    assert repr(result) == text
    # No fields, arrays or addresses of objects.
    assert not re.search(r"[A-Z]\w+\(\w+=|array\(| object at 0x", text)
    shown = result._repr_html_()
    assert "<a>" not in shown
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", shown)).split())
    if type(result)._page is Result._page:
        assert words == " ".join(text.split())
    assert words


@each
def test_it_is_a_table_and_a_page(name, tmp_path):
    result = RESULTS[name]()
    table = result.to_frame()
    assert isinstance(table, pd.DataFrame) and len(table)
    assert table.columns.is_unique
    cw.report(result, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.startswith("<!DOCTYPE html>") and "<a>" not in page


@each
def test_what_predicts_is_saved_and_the_rest_names_the_remedy(name, tmp_path):
    result = RESULTS[name]()
    if isinstance(result, cw.RuleSet | cw.rules.MultiOutputRules | Circuit):
        cw.save(result, tmp_path / "file")
        assert str(cw.load(tmp_path / "file")) == str(result)
    else:
        with pytest.raises(
            InputError, match=f"Cannot save an? {name}; .*report.*to_fr"
        ):
            cw.save(result, tmp_path / "file")


@each
def test_it_is_drawn_or_has_no_chart(name):
    result = RESULTS[name]()
    if not type(result)._display:
        with pytest.raises(InputError, match=f"{name} has no chart.*to_frame"):
            result.plot()
        return
    _, ax = plt.subplots()
    display = result.plot(ax)
    assert display.figure_ is ax.figure
    plt.close(ax.figure)


def test_displays_of_estimators_take_axes():
    made = [one for one in all_classes() if "from_estimator" in vars(one)]
    assert len(made) > 15
    for one in made:
        assert "ax" in inspect.signature(one.from_estimator).parameters, one
