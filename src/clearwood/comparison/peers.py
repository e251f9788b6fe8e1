"""Methods of other packages, each fitted to the ensemble's predictions."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from clearwood.comparison.folds import Job, Part, Problem, SizedAnswer
from clearwood.exceptions import InputError
from clearwood.outcomes import outcome_of
from clearwood.rules.conditions import name_text


class Lesson(NamedTuple):
    """Training data of a peer.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        All rows, as numbers.
    target : ndarray of shape (n_rows,)
        Target, the ensemble's predictions: values, or positions in its classes.
    rows : ndarray of int
        Rows to fit to, with repetitions.
    test : ndarray of int
        Rows to predict.
    n_classes : int
        0 in regression.
    sizes : tuple of int
    seed : int
    pickled_model : bytes
    """

    X: np.ndarray
    target: np.ndarray
    rows: np.ndarray
    test: np.ndarray
    n_classes: int
    sizes: tuple[int, ...]
    seed: int
    pickled_model: bytes


class Found(NamedTuple):
    """Predictions and size of a fitted peer.

    In ``text`` columns are called ``X0`` or ``X_0`` and so on.
    """

    requested: int
    n_rules: int
    n_literals: int
    predicted: np.ndarray
    text: str


def fit_peer(problem: Problem, job: Job, part: Part) -> list[SizedAnswer]:
    """Run one job of a peer."""
    lesson = _make_lesson(problem, job, part)
    outcome = outcome_of(problem.ensembles[part.ensemble].classes)
    names = problem.ensembles[part.ensemble].as_in(problem.X).features.names
    try:
        every = PEERS[job.method](lesson)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise InputError(
            f"needs {package}, which is not installed: pip install {package}"
        ) from None
    answers = []
    for found in every:
        predicted, text = problem.positions(outcome.named(found.predicted)), ""
        if part.kind == "all":
            text = _with_names(found.text, names)
            for position, label in enumerate(outcome.classes):
                text += f"\n  Class {position} is {name_text(str(label))}."
        answers.append(
            SizedAnswer(
                found.requested, found.n_rules, found.n_literals, predicted, text=text
            )
        )
    return answers


def _make_lesson(problem: Problem, job: Job, part: Part) -> Lesson:
    if problem.is_weighted:
        raise InputError("does not support sample_weight")
    ensemble = problem.ensembles[part.ensemble]
    if any(categories is not None for categories in ensemble.features.categories):
        raise InputError("does not support categorical columns")
    X = ensemble.encode(problem.X)
    if not np.isfinite(X).all():
        raise InputError("does not support missing or infinite values")
    outcome = outcome_of(ensemble.classes)
    target = outcome.codes(ensemble.predict(problem.X))
    models = problem.pickled_models
    return Lesson(
        X,
        target,
        # Weights are counts here: of a bootstrap, or 0 for held-out rows.
        np.repeat(np.arange(len(X)), part.weight.astype(np.int64)),
        part.test,
        len(outcome.classes),
        job.sizes,
        part.seed,
        models[part.ensemble] if models else b"",
    )


def _with_names(text: str, names: Sequence[str]) -> str:
    return re.sub(
        r"\bX_?(\d+)\b", lambda column: name_text(names[int(column[1])]), text
    )


def figs(lesson: Lesson) -> list[Found]:
    """FIGS, a sum of small trees; its size is the number of leaves of all of them."""
    every = {found.n_rules: found for found in figs_by_splits(lesson)}
    return [every[size] for size in sorted(every) if size <= max(lesson.sizes)]


def figs_by_splits(lesson: Lesson) -> list[Found]:
    """FIGS with one split, with two, and so on, up to the largest size less one."""
    from imodels import FIGSClassifier, FIGSRegressor

    make = FIGSClassifier if lesson.n_classes else FIGSRegressor
    every = []
    for n_splits in range(1, max(lesson.sizes)):
        # imodels breaks ties with the global state.
        np.random.seed(lesson.seed)  # noqa: NPY002
        model = make(max_rules=n_splits)
        model.fit(lesson.X[lesson.rows], lesson.target[lesson.rows])
        n_leaves = sum(_n_leaves(tree) for tree in model.trees_)
        n_literals = sum(_n_literals(tree) for tree in model.trees_)
        text = str(model)
        if "\n" not in text:  # for more than two classes imodels prints no trees
            text = "\n".join(["FIGS: the sum of", *map(_tree_text, model.trees_)])
        predicted = _predictions(model, lesson)
        every.append(Found(n_leaves, n_leaves, n_literals, predicted, text))
    return every


def _n_leaves(node: Any) -> int:
    if node.left is None:
        return 1
    return _n_leaves(node.left) + _n_leaves(node.right)


def _tree_text(node: Any, indent: str = "  ") -> str:
    """Tree with the contributions of its leaves to each class."""
    if node.left is None:
        return f"{indent}{np.round(np.ravel(node.value), 4).tolist()}"
    question = f"{indent}X{node.feature} <= {node.threshold:.6g}"
    sides = [_tree_text(side, indent + "  ") for side in (node.left, node.right)]
    return "\n".join([question, sides[0], f"{indent}else", sides[1]])


def _n_literals(node: Any, sides: frozenset[tuple[int, int]] = frozenset()) -> int:
    """Bounds on the paths to all leaves; two on one side of a feature are one."""
    if node.left is None:
        return len(sides)
    left, right = sides | {(node.feature, 0)}, sides | {(node.feature, 1)}
    return _n_literals(node.left, left) + _n_literals(node.right, right)


def _predictions(model: Any, lesson: Lesson) -> np.ndarray:
    """Predictions; none for no rows, which scikit-learn rejects."""
    if not len(lesson.test):
        return np.zeros(0)
    return np.asarray(model.predict(lesson.X[lesson.test])).reshape(-1)


def rulefit(lesson: Lesson) -> list[Found]:
    """RuleFit without linear terms; its size is its rules and the constant.

    The candidates do not depend on the size and are drawn once. ``cv=False`` takes the
    smallest penalty that leaves the requested number of rules. Class 1 is predicted
    above 0, as the logistic regression was fitted; imodels 3.0.4 does so above 0.5.
    """
    from imodels import RuleFitClassifier, RuleFitRegressor

    _two_classes_at_most(lesson)
    base = RuleFitClassifier if lesson.n_classes else RuleFitRegressor
    candidates: list[Any] = []
    found: dict[int, Found] = {}
    for size in range(2, max(lesson.sizes) + 1):
        model = base(
            max_rules=size - 1, include_linear=False, cv=False, random_state=lesson.seed
        )
        _remember(candidates, model)
        model.fit(lesson.X[lesson.rows], lesson.target[lesson.rows])
        predicted, text = np.zeros(0), str(model)
        if len(lesson.test):
            predicted = np.ravel(
                model._predict_continuous_output(lesson.X[lesson.test])
            )
        if lesson.n_classes:
            predicted = (predicted > 0).astype(np.int64)
            text += "\n  Scored with class 1 where f > 0, as f is fitted."
        rules = model.rules_without_feature_names_
        n_literals = sum(len(rule.agg_dict) for rule in rules)
        n_rules = len(rules) + 1
        # The penalty may leave more rules than requested.
        if n_rules <= max(lesson.sizes):
            found[n_rules] = Found(n_rules, n_rules, n_literals, predicted, text)
    return [found[size] for size in sorted(found)]


def _remember(candidates: list[Any], model: Any) -> None:
    """Make RuleFit draw its candidates only if there are none."""
    draw = model._extract_rules

    def remembered(X: Any, y: Any) -> list[Any]:
        if not candidates:
            candidates.extend(draw(X, y))
        return candidates

    model._extract_rules = remembered


def greedy_list(lesson: Lesson) -> list[Found]:
    """GreedyRuleList: two classes only, one bound per rule."""
    from imodels import GreedyRuleListClassifier

    _two_classes(lesson)
    found: dict[int, Found] = {}
    for size in range(2, max(lesson.sizes) + 1):
        model = GreedyRuleListClassifier(max_depth=size - 1)
        model.fit(lesson.X[lesson.rows], lesson.target[lesson.rows])
        n_rules = len(model.rules_)
        if n_rules not in found:
            predicted = _predictions(model, lesson)
            found[n_rules] = Found(n_rules, n_rules, n_rules - 1, predicted, str(model))
    return [found[size] for size in sorted(found)]


def te2rules(lesson: Lesson) -> list[Found]:
    """te2rules: rules of class 1, in a number of its own choice, for two classes."""
    from te2rules.explainer import ModelExplainer

    _two_classes(lesson)
    if not lesson.pickled_model:
        raise InputError("needs the model itself, in memory and picklable")
    model = pickle.loads(lesson.pickled_model)
    names = [f"X{d}" for d in range(lesson.X.shape[1])]
    explainer = ModelExplainer(model=model, feature_names=names)
    rules = explainer.explain(X=lesson.X[lesson.rows], y=lesson.target[lesson.rows])
    predicted = np.zeros(0)
    if len(lesson.test):
        predicted = np.array(explainer.predict(lesson.X[lesson.test]))
    n_literals = sum(len(set(re.findall(r"(X\d+) *([<>])", rule))) for rule in rules)
    lines = [f"{i}. if {rule}\n   then class 1" for i, rule in enumerate(rules, 1)]
    text = "\n".join([*lines, f"{len(rules) + 1}. otherwise class 0"])
    size = max(lesson.sizes)
    return [Found(size, len(rules) + 1, n_literals, predicted, text)]


def _two_classes(lesson: Lesson) -> None:
    if lesson.n_classes != 2:
        raise InputError("supports binary classification only")


def _two_classes_at_most(lesson: Lesson) -> None:
    if lesson.n_classes > 2:
        raise InputError("does not support more than two classes")


PEERS: dict[str, Callable[[Lesson], list[Found]]] = {
    "imodels:RuleFit": rulefit,
    "imodels:FIGS": figs,
    "imodels:GreedyRuleList": greedy_list,
    "te2rules": te2rules,
}
"""Peers by name, the slowest last."""


def is_installed(peer: str) -> bool:
    """Whether the package of a peer is installed."""
    return find_spec(peer.partition(":")[0]) is not None
