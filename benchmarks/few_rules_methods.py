"""The ways to say in K lines what an ensemble says, of the library and of CART.

A method takes a case and gives ``{K: Answer}`` for the sizes it is asked for.
"""

import warnings
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from few_rules_cases import make_case

SIZES = (3, 4, 5, 6, 8, 10)


class Answer(NamedTuple):
    """What a method found.

    Attributes
    ----------
    said : ndarray
        Of the test rows.
    lines : int
        Rules or leaves; a constant or an ``otherwise`` counts.
    literals : int
        Bounds in all of them; two of one feature on the same side are one.
    overlap : float
        Mean number of rules, without ``otherwise`` and constant, per test row.
    """

    said: np.ndarray
    lines: int
    literals: int
    overlap: float


def longest(answers, size):
    """The longest of some answers, in order, that has so many lines at most."""
    return [answer for answer in answers if answer.lines <= size][-1]


def of_rules(case, rules):
    """What a RuleSet says."""
    found = rules.evaluate(case.X_test)
    return Answer(
        rules.predict(case.X_test), found.n_rules, found.n_literals, found.overlap
    )


def estimator(case, name, **settings):
    """An estimator of the library for the case's task."""
    import clearwood as cw

    make = getattr(cw, name + ("Classifier" if case.is_class else "Regressor"))
    return make(case.model, random_state=case.seed, **settings)


def along_path(case, name, **settings):
    """All sizes from the path of one fit."""
    rules = estimator(case, name, **settings).fit(case.X, case.y)
    answers = [of_rules(case, found) for found in rules.path_]
    return {size: longest(answers, size) for size in SIZES}


def rule_list(case):
    """RuleList with its default settings."""
    return along_path(case, "RuleList", n_rules=max(SIZES), tune=None)


def tree(case):
    """DistilledTree with its default settings."""
    return along_path(case, "DistilledTree", n_rules=max(SIZES))


def additive(case):
    """AdditiveRules with its default settings."""
    return along_path(case, "AdditiveRules", n_rules=max(SIZES), tune=None)


@lru_cache(maxsize=len(SIZES))
def _fab(key, size, rules):
    case = make_case(*key)
    fab = estimator(case, "FABRules", max_rules=size, rules=rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the rules are poor is seen below
        return fab.fit(case.X, case.y)


def fab_regions(case, key):
    """FAB's rules as in the paper, fitted to each size."""
    return {size: of_rules(case, _fab(key, size, "regions").rules_) for size in SIZES}


def fab_refined(case, key):
    """FAB's rules, moved to where they follow the ensemble best."""
    return {size: of_rules(case, _fab(key, size, "refined").rules_) for size in SIZES}


def fab_soft(case, key):
    """FAB's soft posterior, of the fits of ``fab_regions``: it prints no rules."""
    fits = {size: _fab(key, size, "regions") for size in SIZES}
    return {
        size: Answer(fit.predict_soft(case.X_test), fit.rules_.n_rules, 0, np.nan)
        for size, fit in fits.items()
    }


def cart(case, *, soft, made=False):
    """A CART with K leaves, fitted to what the ensemble says.

    Parameters
    ----------
    case : Case
    soft : bool
        To class probabilities (squared error) or to classes (Gini impurity).
        Values in regression, where there is only one kind.
    made : bool, default=False
        Also on made rows, drawn and weighted as those of the list.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, weight = _with_made_rows(case) if made else (case.X, None)
    as_output = soft and case.is_class
    target = case.model.predict_proba(X) if as_output else case.model.predict(X)
    tree_of = (
        DecisionTreeRegressor if soft or not case.is_class else DecisionTreeClassifier
    )
    answers = {}
    for size in SIZES:
        tree = tree_of(max_leaf_nodes=size, random_state=0).fit(X, target, weight)
        said = tree.predict(case.X_test)
        answers[size] = Answer(
            said.argmax(axis=1) if said.ndim == 2 else said,
            tree.get_n_leaves(),
            tree_literals(tree.tree_),
            1.0,
        )
    return answers


def _with_made_rows(case):
    """The training rows and made ones, with their weights."""
    from clearwood.simplifiers._common.lesson import MADE_WEIGHT

    from clearwood.simplifiers._common.synthetic_rows import default_number, mixed_rows

    n_rows, n_features = case.X.shape
    made = mixed_rows(
        case.X,
        np.zeros(n_features, dtype=bool),
        np.ones(n_rows),
        default_number(n_rows),
        np.random.default_rng(case.seed),
    )
    weight = np.ones(n_rows + len(made))
    weight[n_rows:] = min(1.0, MADE_WEIGHT * n_rows / max(len(made), 1))
    return np.vstack([case.X, made]), weight


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
cart_made_labels = partial(cart, soft=False, made=True)
cart_made_probabilities = partial(cart, soft=True, made=True)
