"""Our methods: each gives its rules, by number of lines.

Names that end in ``_paper`` have the settings of the papers, or of the authors' program
where the papers do not state them; the others have ours.
"""

import time
import warnings
from functools import partial

import numpy as np

import clearwood as cw
from benchmarks._study import simplifier
from benchmarks.few_rules.methods import tree_literals

FAB_PAPER = {"preset": "paper"}
SHORT = (3, 4, 5, 6, 8, 10)
LONG = (*SHORT, 16, 24, 32, 48, 64, 96, 128)


def estimator(case, name, **settings):
    """An estimator of the library for the case's task."""
    settings = {"random_state": case.seed, **settings}
    return simplifier(name, case.is_class, case.model, **settings)


def timed_fit(case, name, **settings):
    """A fit and its seconds."""
    made = estimator(case, name, **settings)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # poor rules show in the tables
        made.fit(case.X, case.y)
    return made, time.perf_counter() - begin


def row_of(case, rules, size, seconds, **more):
    """The scores of a RuleSet on test rows."""
    found = rules.evaluate(case.X_test, case.y_test, model=case.model)
    return {
        "size": size,
        "lines": found.n_rules,
        "literals": found.n_literals,
        "error": found.error,
        "soft_error": np.nan,
        "forest_error": wrong(case, case.model.predict(case.X_test)),
        "fidelity": found.fidelity,
        "coverage": found.coverage,
        "overlap": found.overlap,
        "components": 0,
        "seconds": seconds,
        "early_error": early_error(case, rules),
    } | more


def early_error(case, rules):
    """The error as an early version of the authors' program computes it.

    The mean loss of all rules that cover a row, divided by their number once more.
    """
    if not isinstance(rules, cw.RuleList):
        return np.nan
    held = rules.matches(case.X_test)
    held = np.hstack([held, ~held.any(axis=1, keepdims=True)])
    y, predicted = case.y_test[:, None], rules.predictions
    loss = predicted != y if case.is_class else (predicted - y) ** 2
    return float(np.mean((loss * held).sum(axis=1) / held.sum(axis=1) ** 2))


def wrong(case, predicted):
    """Share of wrong classes, or mean squared error, on test rows."""
    loss = predicted != case.y_test if case.is_class else (predicted - case.y_test) ** 2
    return float(np.mean(loss))


def fab(case, **settings):
    """FAB: its rules, and the predictions of its mixture before the cut to rules."""
    fit, seconds = timed_fit(case, "FABRules", **settings)
    more = {"soft_error": wrong(case, fit.predict_soft(case.X_test))}
    if fit.selected_ is not None:
        more["components"] = fit.restarts_[fit.selected_]["n_components"]
    return [row_of(case, fit.rules_, "all", seconds, **more)]


def along_path(case, name, sizes, **settings):
    """All sizes from one fit, and its time."""
    fit, seconds = timed_fit(case, name, **settings)
    rows = [row_of(case, fit.rules_, "all", seconds)]
    for size in sizes:
        some = [rules for rules in fit.path_ if rules.n_rules <= size]
        if some:
            rows.append(row_of(case, some[-1], size, seconds))
    return rows


def in_trees_paper(case, sizes=()):
    """inTrees with the defaults of its R package."""
    return along_path(case, "InTrees", sizes, preset="paper")


def top_of_in_trees_paper(case):
    """The first ten rules of that list."""
    return in_trees_paper(case, sizes=(11,))[1:]


def cart(case, **settings):
    """A decision tree that is fitted to the labels."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    make = DecisionTreeClassifier if case.is_class else DecisionTreeRegressor
    return make(random_state=0, **settings)


def cart_row(case, fit, size, seconds):
    """The scores of a decision tree of scikit-learn."""
    from clearwood.outcomes import OUTCOMES

    predicted, target = fit.predict(case.X_test), case.model.predict(case.X_test)
    task = "classification" if case.is_class else "regression"
    return {
        "size": size,
        "lines": int(fit.get_n_leaves()),
        "literals": tree_literals(fit.tree_),
        "error": wrong(case, predicted),
        "soft_error": np.nan,
        "forest_error": wrong(case, target),
        "fidelity": OUTCOMES[task].fidelity(target, predicted),
        "coverage": 1.0,
        "overlap": 1.0,
        "components": 0,
        "seconds": seconds,
        "early_error": np.nan,
    }


def depth_two(case):
    """DTree2 of the paper."""
    begin = time.perf_counter()
    fit = cart(case, max_depth=2).fit(case.X, case.y)
    return [cart_row(case, fit, "all", time.perf_counter() - begin)]


def cart_of_sizes(case):
    """Trees of so many leaves."""
    rows = []
    for size in SHORT:
        begin = time.perf_counter()
        fit = cart(case, max_leaf_nodes=size).fit(case.X, case.y)
        rows.append(cart_row(case, fit, size, time.perf_counter() - begin))
    return rows


def cart_validated(case):
    """The decision tree of 2016: depth and rows per leaf by 5-fold cross-validation
    among the values of the authors' program."""
    from sklearn.model_selection import GridSearchCV

    tried = {"max_depth": [None, 2, 4, 6, 8], "min_samples_leaf": [5, 10, 20, 30]}
    begin = time.perf_counter()
    search = GridSearchCV(cart(case), tried, cv=5).fit(case.X, case.y)
    seconds = time.perf_counter() - begin
    return [cart_row(case, search.best_estimator_, "all", seconds)]


def short_path(name, **settings):
    """A method whose fit gives all sizes up to ten lines."""
    return partial(along_path, name=name, sizes=SHORT, **settings)


rule_list = short_path("RuleList", n_rules=10)
distilled = short_path("DistilledTree", n_rules=10)
additive = short_path("AdditiveRules", n_rules=10)
harvest = short_path("NodeHarvest", max_rules=10)
in_trees = partial(along_path, name="InTrees", sizes=LONG, max_rules=48)
born_again = partial(
    along_path, name="BornAgainTree", sizes=LONG, n_rules="auto", max_rules=128
)
harvest_paper = partial(along_path, name="NodeHarvest", sizes=(), preset="paper")

METHODS_2018 = {
    "FAB, as in the paper": partial(fab, **FAB_PAPER),
    "inTrees, R's settings": in_trees_paper,
    "Node Harvest, all nodes": harvest_paper,
    "born-again tree": born_again,
    "decision tree, depth 2": depth_two,
    "FAB, ours": fab,
    "inTrees, ours": in_trees,
    "Node Harvest, ours": harvest,
    "decision tree": cart_of_sizes,
    "rule list": rule_list,
    "distilled tree": distilled,
    "additive rules": additive,
}

METHODS_2016 = {
    "FAB, as in the paper": METHODS_2018["FAB, as in the paper"],
    "inTrees, R's settings": top_of_in_trees_paper,
    "decision tree, validated": cart_validated,
    "FAB, ours": fab,
    "inTrees, ours": short_path("InTrees", max_rules=10),
    "Node Harvest, ours": harvest,
    "born-again tree": short_path("BornAgainTree", n_rules=10),
    "rule list": rule_list,
    "distilled tree": distilled,
    "additive rules": additive,
}
