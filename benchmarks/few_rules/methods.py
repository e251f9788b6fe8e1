"""Methods that approximate an ensemble by K rules: the library's, CARTs, and peers.

A method takes a case and gives ``{K: Answer}`` for the requested sizes. Peers are
fitted by the adapters of ``compare``, each with its most favourable settings.
"""

import contextlib
import io
import multiprocessing
import pickle
import queue
import warnings
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from benchmarks._study import simplifier
from benchmarks.few_rules.cases import make_case
from clearwood.comparison import peers

SIZES = (3, 4, 5, 6, 8, 10)

TIME_LIMIT = 60.0
"""Time limit in seconds for one run of te2rules."""


class Answer(NamedTuple):
    """Rules that a method found, and their predictions.

    Attributes
    ----------
    predicted : ndarray
        Predictions for the test rows.
    lines : int
        Rules or leaves; a constant or an ``otherwise`` counts.
    literals : int
        Bounds in all of them; two of one feature on the same side are one.
    overlap : float
        Mean number of rules, without ``otherwise`` and constant, per test row; NaN
        for peers.
    """

    predicted: np.ndarray
    lines: int
    literals: int
    overlap: float


def longest(answers, size):
    """The longest of some answers, in order, that has at most so many lines."""
    return [answer for answer in answers if answer.lines <= size][-1]


def of_rules(case, rules):
    """Predictions and sizes of a RuleSet."""
    found = rules.evaluate(case.X_test)
    return Answer(
        rules.predict(case.X_test), found.n_rules, found.n_literals, found.overlap
    )


def estimator(case, name, **settings):
    """An estimator of the library for the case's task."""
    return simplifier(
        name, case.is_class, case.model, random_state=case.seed, **settings
    )


def along_path(case, name, **settings):
    """All sizes from the path of one fit, without labels and so without cross-fitting:
    the rules are the same."""
    rules = estimator(case, name, **settings).fit(case.X)
    answers = [of_rules(case, found) for found in rules.path_]
    return {size: longest(answers, size) for size in SIZES}


def rule_list(case):
    """RuleList with its default settings."""
    return along_path(case, "RuleList", n_rules=max(SIZES))


def tree(case):
    """DistilledTree with its default settings."""
    return along_path(case, "DistilledTree", n_rules=max(SIZES))


def additive(case):
    """AdditiveRules with its default settings."""
    return along_path(case, "AdditiveRules", n_rules=max(SIZES))


@lru_cache(maxsize=len(SIZES))
def _fab(key, size, rules):
    case = make_case(*key)
    fab = estimator(
        case, "FABRules", max_rules=size, rules=rules,
        # The regions of the paper as they are.
        min_samples_leaf=1 if rules == "regions" else 5,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # poor rules show in the scores below
        return fab.fit(case.X)  # as above, without labels


def fab_regions(case, key):
    """FAB's rules as in the paper, fitted to each size."""
    return {size: of_rules(case, _fab(key, size, "regions").rules_) for size in SIZES}


def fab_refined(case, key):
    """FAB's rules, refined to maximize fidelity to the ensemble."""
    return {size: of_rules(case, _fab(key, size, "refined").rules_) for size in SIZES}


def fab_soft(case, key):
    """FAB's soft posterior, of the fits of ``fab_regions``: it has no rules."""
    fits = {size: _fab(key, size, "regions") for size in SIZES}
    return {
        size: Answer(fit.predict_soft(case.X_test), fit.rules_.n_rules, 0, np.nan)
        for size, fit in fits.items()
    }


def cart(case, *, soft, synthetic=False):
    """A CART with K leaves, fitted to the predictions of the ensemble.

    Parameters
    ----------
    case : Case
    soft : bool
        To class probabilities (squared error) or to classes (Gini impurity).
        Values in regression, where there is only one kind.
    synthetic : bool, default=False
        Also on synthetic rows, drawn and weighted as those of the list.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, weight = _with_synthetic_rows(case) if synthetic else (case.X, None)
    as_output = soft and case.is_class
    target = case.model.predict_proba(X) if as_output else case.model.predict(X)
    tree_of = (
        DecisionTreeRegressor if soft or not case.is_class else DecisionTreeClassifier
    )
    answers = {}
    for size in SIZES:
        tree = tree_of(max_leaf_nodes=size, random_state=0).fit(X, target, weight)
        predicted = tree.predict(case.X_test)
        answers[size] = Answer(
            predicted.argmax(axis=1) if predicted.ndim == 2 else predicted,
            tree.get_n_leaves(),
            tree_literals(tree.tree_),
            1.0,
        )
    return answers


def _with_synthetic_rows(case):
    """The training rows and synthetic ones, with their weights."""
    from clearwood.simplifiers._common.synthetic_rows import (
        SYNTHETIC_WEIGHT,
        default_number,
        mixed_rows,
    )

    n_rows, n_features = case.X.shape
    synthetic, _ = mixed_rows(
        case.X,
        np.zeros(n_features, dtype=bool),
        np.ones(n_rows),
        default_number(n_rows),
        np.random.default_rng(case.seed),
    )
    weight = np.ones(n_rows + len(synthetic))
    weight[n_rows:] = min(1.0, SYNTHETIC_WEIGHT * n_rows / max(len(synthetic), 1))
    return np.vstack([case.X, synthetic]), weight


def tree_literals(tree, node=0, sides=frozenset()):
    """Bounds in the conditions of all leaves: one per feature and side."""
    if tree.feature[node] < 0:
        return len(sides)
    d = tree.feature[node]
    return sum(
        tree_literals(tree, child, sides | {(d, side)})
        for side, child in enumerate(
            (tree.children_left[node], tree.children_right[node])
        )
    )


cart_labels = partial(cart, soft=False)
cart_probabilities = partial(cart, soft=True)
cart_synthetic_labels = partial(cart, soft=False, synthetic=True)
cart_synthetic_probabilities = partial(cart, soft=True, synthetic=True)


def peer(case, name):
    """A peer of ``compare``, fitted to the ensemble's classes or values."""
    found = [_answer(one) for one in peers.PEERS[name](lesson_of(case))]
    shortest = min((answer.lines for answer in found), default=np.inf)
    return {size: longest(found, size) for size in SIZES if shortest <= size}


def figs_probabilities(case):
    """FIGS fitted to class probabilities, one sum of trees with a vector per leaf."""
    target = lesson_of(case)._replace(target=case.output, n_classes=0)
    found = [
        one._replace(
            predicted=one.predicted.reshape(len(case.X_test), -1).argmax(axis=1)
        )
        for one in peers.figs(target)
    ]
    return {size: longest([_answer(one) for one in found], size) for size in SIZES}


def figs_splits(case):
    """FIGS with K - 1 splits: the length of the sum when each tree of m leaves is
    written as m - 1 boxes and the constants are put together."""
    found = peers.figs_by_splits(lesson_of(case))
    return {size: _answer(found[size - 2]) for size in SIZES}


def lesson_of(case):
    """Training rows and target of a peer, and the test rows that it predicts."""
    n_rows = len(case.X)
    X = np.vstack([case.X, case.X_test])
    return peers.Lesson(
        X=X,
        target=case.labels,
        rows=np.arange(n_rows),
        test=np.arange(n_rows, len(X)),
        n_classes=len(case.model.classes_) if case.is_class else 0,
        sizes=SIZES,
        seed=case.seed,
        pickled_model=pickle.dumps(case.model),
    )


def _answer(found):
    return Answer(found.predicted, found.n_rules, found.n_literals, np.nan)


def te2rules(case):
    """te2rules, default settings, for two classes; it has no size, so K is 0.

    It looks for rules of class 1 until the time limit. Without a result the
    number of lines is 0 and there are no predictions.
    """
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=_te2rules_in_child, args=(case, answers))
    process.start()
    try:
        answer = answers.get(timeout=TIME_LIMIT)
    except queue.Empty:
        answer = Answer(np.full(len(case.predicted), np.nan), 0, 0, np.nan)
    process.kill()
    process.join()
    return {0: answer}


def _te2rules_in_child(case, answers):
    with contextlib.redirect_stderr(io.StringIO()):
        (found,) = peers.te2rules(lesson_of(case))
    answers.put(_answer(found))
