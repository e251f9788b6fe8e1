"""The peers: imodels and te2rules, each in its fairest setting."""

import contextlib
import io
import multiprocessing
import queue
import re
import warnings
from importlib.util import find_spec

import numpy as np

from benchmarks.few_rules.methods import SIZES, Answer, longest

PACKAGES = {
    "figs": "imodels",
    "figs_probabilities": "imodels",
    "figs_splits": "imodels",
    "rulefit": "imodels",
    "greedy_list": "imodels",
    "te2rules": "te2rules",
    "te2rules_full": "te2rules",
}

TIME_LIMIT = 60.0
"""Seconds for one run of te2rules."""


def missing_packages():
    """Method -> package, of the peers that are not installed."""
    return {m: package for m, package in PACKAGES.items() if find_spec(package) is None}


def figs(case, *, soft=False, by_splits=False):
    """FIGS fitted to the ensemble's classes or values.

    Parameters
    ----------
    case : Case
    soft : bool, default=False
        To class probabilities instead, one sum of trees with a vector per leaf.
    by_splits : bool, default=False
        Size K means K - 1 splits, which is how long the sum is when each tree of m
        leaves is written as m - 1 boxes and the constants are put together. Else it
        means that all trees have K leaves together, as they are printed.
    """
    from imodels import FIGSClassifier, FIGSRegressor

    make = FIGSClassifier if case.is_class and not soft else FIGSRegressor
    target = case.output if soft else case.labels
    answers = []
    for n_splits in range(1, max(SIZES)):
        np.random.seed(case.seed)  # noqa: NPY002 - imodels breaks ties with it
        model = make(max_rules=n_splits).fit(case.X, target)
        said = model.predict(case.X_test)
        answers.append(
            Answer(
                said.argmax(axis=1) if soft else said,
                sum(_n_leaves(tree) for tree in model.trees_),
                sum(_n_literals(tree) for tree in model.trees_),
                float(len(model.trees_)),
            )
        )
    if by_splits:
        return {size: answers[size - 2] for size in SIZES}
    return {size: longest(answers, size) for size in SIZES}


def _n_leaves(node):
    if node.left is None:
        return 1
    return _n_leaves(node.left) + _n_leaves(node.right)


def _n_literals(node, sides=frozenset()):
    if node.left is None:
        return len(sides)
    return _n_literals(node.left, sides | {(node.feature, 0)}) + _n_literals(
        node.right, sides | {(node.feature, 1)}
    )


def rulefit(case):
    """RuleFit without linear terms, fitted to the ensemble's classes or values.

    The candidates do not depend on the size: they are drawn once. ``cv=False`` takes
    the smallest penalty that leaves K - 1 rules, as ``cv=True`` does too in imodels
    3.0.4 (it compares a score with itself and falls back), in a sixth of the time.
    Its classifier says class 1 above log-odds of .5; here it does so above 0, as the
    logistic regression was fitted to.
    """
    from imodels import RuleFitClassifier, RuleFitRegressor

    candidates, answers = [], []

    class Remembering(RuleFitClassifier if case.is_class else RuleFitRegressor):
        def _extract_rules(self, X, y):
            if not candidates:
                candidates.extend(super()._extract_rules(X, y))
            return candidates

    for size in (2, *SIZES):
        model = Remembering(
            max_rules=size - 1, include_linear=False, cv=False, random_state=case.seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(case.X, case.labels)
            total = np.ravel(model._predict_continuous_output(case.X_test))
        rules = model.rules_without_feature_names_
        held = model.transform(case.X_test, [rule.rule for rule in rules])
        answers.append(
            Answer(
                (total > 0).astype(int) if case.is_class else total,
                len(rules) + 1,
                sum(len(rule.agg_dict) for rule in rules),
                float(held.sum(axis=1).mean()),
            )
        )
    # The penalty may leave more rules than were asked for.
    answers.sort(key=lambda answer: answer.lines)
    shortest = answers[0].lines
    return {size: longest(answers, size) for size in SIZES if shortest <= size}


def greedy_list(case):
    """GreedyRuleList fitted to the ensemble's classes: two only, one bound a rule."""
    from imodels import GreedyRuleListClassifier

    answers = {}
    for size in SIZES:
        model = GreedyRuleListClassifier(max_depth=size - 1)
        rules = model.fit(case.X, case.labels).rules_
        held = sum(
            (case.X_test[:, r["index_col"]] < r["cutoff"]) == r["flip"]
            for r in rules[:-1]
        )
        answers[size] = Answer(
            model.predict(case.X_test),
            len(rules),
            len(rules) - 1,
            float(np.mean(held)),
        )
    return answers


def te2rules(case):
    """te2rules, default settings, for two classes; it has no size, so K is 0.

    It looks for rules of class 1 until the time is over. Without an answer the
    lines are 0 and nothing is said.
    """
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=_te2rules_in_child, args=(case, answers))
    process.start()
    try:
        answer = answers.get(timeout=TIME_LIMIT)
    except queue.Empty:
        answer = Answer(np.full(len(case.said), np.nan), 0, 0, np.nan)
    process.kill()
    process.join()
    return {0: answer}


def _te2rules_in_child(case, answers):
    from te2rules.explainer import ModelExplainer

    names = [f"x{d}" for d in range(case.X.shape[1])]
    with contextlib.redirect_stderr(io.StringIO()):
        explainer = ModelExplainer(model=case.model, feature_names=names)
        rules = explainer.explain(X=case.X, y=case.labels)
        said = np.array(explainer.predict(case.X_test))
    bounds = [
        {tuple(bound) for bound in re.findall(r"(x\d+) *([<>])", rule)}
        for rule in rules
    ]
    answers.put(Answer(said, len(rules) + 1, sum(map(len, bounds)), np.nan))
