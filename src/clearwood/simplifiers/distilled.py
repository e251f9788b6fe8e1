"""One small tree that says what an ensemble says."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from clearwood.rules import BinSplit, Training, Tree, build_tree
from clearwood.search import BoxList
from clearwood.search.carts import cart_trees
from clearwood.search.tree_nodes import Node, as_list, make_tree_problem
from clearwood.search.trees import grow_trees
from clearwood.simplifiers._documentation import TREE_ATTRIBUTES, TREE_PARAMETERS
from clearwood.simplifiers.augment import default_number
from clearwood.simplifiers.base import (
    ClassifiesByRules,
    PredictsByRules,
    RulesFromEnsemble,
)
from clearwood.simplifiers.rule_list import (
    N_FOLDS,
    Job,
    Lesson,
    Settings,
    cross_validate,
    make_job,
    make_lesson,
)
from clearwood.simplifiers.teacher import Teacher

LITERAL_PENALTY = 0.0003
"""Per literal of each leaf. It decides between trees that are as good; a tree of K
leaves cannot do without some K log K of them."""

DEPTH_2 = 4
"""Leaves of a tree of depth two."""


def tree_lesson(job: Job, training: Training, augment: bool, seed: int) -> Lesson:
    """Rows to fit trees to."""
    return make_lesson(job, training, augment, seed, with_pool=False)


def fit_trees(
    job: Job, lesson: Lesson, settings: Settings, grow: str, seed: int
) -> list[Node]:
    """Trees of 1, 2, ... leaves.

    Parameters
    ----------
    job : Job
    lesson : Lesson
    settings : Settings
        Overlap does not matter.
    grow : {"lookahead", "cart", "depth2"}
    seed : int
        Seed of CART's ties.
    """
    is_real = np.arange(lesson.grid.n_rows) < len(lesson.training.encoded)
    loss = job.loss(lesson.target, lesson.weight)
    problem = make_tree_problem(lesson.grid, loss, is_real, settings.literal_penalty)
    if grow == "lookahead":
        return grow_trees(problem, job.max_rules)
    return cart_trees(
        problem,
        lesson.target,
        job.max_rules,
        max_depth=2 if grow == "depth2" else None,
        random_state=seed % 2**32,
    )


def print_tree(job: Job, lesson: Lesson, node: Node) -> Tree:
    """A tree of bins in the data's own terms."""
    used = job.bins.used_features

    def asked(node: Node) -> BinSplit | None:
        if node.goes_left is None:
            return None
        left, right = node.children
        return BinSplit(
            int(used[node.feature]), node.goes_left, asked(left), asked(right)
        )

    return build_tree(
        asked(node),
        job.bins,
        lesson.training,
        made=lesson.made,
        classes=job.teacher.classes,
    )


class _DistilledTree(RulesFromEnsemble):
    """What classifier and regressor share."""

    _parameter_constraints: dict[str, Any] = {
        "estimator": "no_validation",
        "n_rules": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_rules": [Interval(Integral, 1, None, closed="left")],
        "grow": [StrOptions({"lookahead", "cart", "depth2"})],
        "n_synthetic": [
            StrOptions({"auto"}),
            Interval(Integral, 0, None, closed="left"),
        ],
        "n_jobs": [None, Integral],
        "random_state": "no_validation",
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int = 10,
        grow: str = "lookahead",
        n_synthetic: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.grow = grow
        self.n_synthetic = n_synthetic
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _find_rules(
        self, teacher: Teacher, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        n_made = default_number(len(training.encoded))
        if self.n_synthetic != "auto":
            n_made = int(self.n_synthetic)
        if self.grow != "lookahead":
            n_made = 0
        n_rules = None if self.n_rules == "auto" else int(self.n_rules)
        longest = max(self.max_rules, n_rules or 1)
        if self.grow == "depth2":
            longest = min(longest, DEPTH_2)
        job = make_job(teacher, training, self.bins_, longest, n_made)
        settings = Settings(LITERAL_PENALTY, 0.0, n_made > 0)
        seeds = generator.integers(2**63, size=N_FOLDS + 2).tolist()
        self.cv_results_: dict[str, list[float]] | None = None
        self.n_rules_ = longest if n_rules is None else n_rules
        if n_rules is None and longest > 1 and len(training.encoded) >= N_FOLDS:
            self._choose_size(job, settings, seeds[1:])
        lesson = tree_lesson(job, training, settings.augment, seeds[0])
        trees = fit_trees(job, lesson, settings, self.grow, seeds[0])
        printed = [print_tree(job, lesson, node) for node in trees]
        self.path_ = tuple(tree.to_rules() for tree in printed)
        self.tree_ = [t for t in printed if t.n_leaves <= self.n_rules_][-1]
        self.rules_ = self.tree_.to_rules()
        return {"method": "tree", "grow": self.grow}

    def _choose_size(self, job: Job, settings: Settings, seeds: list[int]) -> None:
        """The fewest leaves that do well on held-out rows."""

        def lists_of(
            job: Job, training: Training, settings: list[Settings], seed: int
        ) -> list[list[BoxList]]:
            lesson = tree_lesson(job, training, settings[0].augment, seed)
            trees = fit_trees(job, lesson, settings[0], self.grow, seed)
            return [[as_list(tree) for tree in trees]]

        judged = cross_validate(job, [settings], seeds, self.n_jobs, lists_of)
        self.n_rules_ = judged.fewest_rules(0)
        self.cv_results_ = {
            name: part[0].tolist() for name, part in judged._asdict().items()
        }


class DistilledTreeClassifier(ClassifiesByRules, _DistilledTree):  # noqa: D101
    __doc__ = f"""A small tree that says what an ensemble classifies as what.

    Every row is in one leaf only, so each rule can be read by itself. Splits are
    chosen for what can be said after two more of them, and the whole tree is then
    improved; see :class:`RuleListClassifier` for lists, which are closer to the
    ensemble at the same number of lines.
    {TREE_PARAMETERS}{TREE_ATTRIBUTES}
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> tree = DistilledTreeClassifier(forest, n_rules=3, random_state=0).fit(X, y)
    >>> tree.rules_.evaluate(X, y, teacher=forest).fidelity > 0.9
    True
    """


class DistilledTreeRegressor(PredictsByRules, _DistilledTree):  # noqa: D101
    __doc__ = f"""A small tree that says what an ensemble predicts where.

    Every row is in one leaf only, so each rule can be read by itself. Splits are
    chosen for what can be said after two more of them, and the whole tree is then
    improved; see :class:`RuleListRegressor` for lists, which are closer to the
    ensemble at the same number of lines.
    {TREE_PARAMETERS}{TREE_ATTRIBUTES}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> tree = DistilledTreeRegressor(forest, n_rules=5, random_state=0).fit(X, y)
    >>> tree.tree_.n_leaves
    5
    """
