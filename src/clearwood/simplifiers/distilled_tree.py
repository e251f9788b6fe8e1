"""One small tree that says what an ensemble says."""

from __future__ import annotations

from typing import Any, NamedTuple

from clearwood._estimators import StrOptions
from clearwood.rules import BinSplit, Tree, build_tree
from clearwood.search.trees.cart import cart_trees
from clearwood.search.trees.grow import grow_trees
from clearwood.search.trees.nodes import Node, make_tree_problem
from clearwood.simplifiers._common.base import ClassifiesByRules, PredictsByRules
from clearwood.simplifiers._common.docstrings import TREE_ATTRIBUTES, TREE_PARAMETERS
from clearwood.simplifiers._common.lesson import Job, Lesson
from clearwood.simplifiers._common.size_path import MADE_ROWS, TreesOnPath
from clearwood.simplifiers.rule_list import TREE_PENALTY


class TreeSettings(NamedTuple):
    """Whether made rows are used; there is nothing to tune."""

    augment: bool


def fit_trees(job: Job, lesson: Lesson, grow: str) -> list[Node]:
    """Trees of 1, 2, ... leaves.

    Parameters
    ----------
    job : Job
    lesson : Lesson
    grow : {"lookahead", "cart", "depth2"}
    """
    loss = job.loss(lesson.target, lesson.weight)
    problem = make_tree_problem(lesson.grid, loss, lesson.counts, TREE_PENALTY)
    if grow == "lookahead":
        return grow_trees(problem, job.max_rules)
    depth = 2 if grow == "depth2" else None
    return cart_trees(problem, lesson.target, job.max_rules, max_depth=depth)


def print_tree(job: Job, lesson: Lesson, node: Node) -> Tree:
    """A tree of bins in the data's own terms."""
    used = job.asked

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


class _DistilledTree(TreesOnPath):
    """What classifier and regressor share."""

    _parameter_constraints: dict[str, Any] = {
        **TreesOnPath._parameter_constraints,
        **MADE_ROWS,
        "grow": [StrOptions({"lookahead", "cart", "depth2"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int = 10,
        grow: str = "lookahead",
        n_synthetic: int | str = "auto",
        forbidden: Any = (),
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.grow = grow
        self.n_synthetic = n_synthetic
        self.forbidden = forbidden
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _n_made(self, n_rows: int) -> int:
        # The trees of the papers learn from the rows that there are.
        return super()._n_made(n_rows) if self.grow == "lookahead" else 0

    def _settings_to_try(self, job: Job, tune: bool) -> list[TreeSettings]:
        return [TreeSettings(job.n_made > 0)]

    def _fit_path(self, job: Job, lesson: Lesson, settings: TreeSettings) -> list[Node]:
        return fit_trees(job, lesson, self.grow)

    def _print_tree(self, job: Job, lesson: Lesson, tree: Node) -> Tree:
        return print_tree(job, lesson, tree)

    def _about(self) -> dict[str, str]:
        return {"method": "tree", "grow": self.grow}


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
