"""Born-again trees: one tree grown on rows that are made in every node."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from clearwood._estimators import Interval
from clearwood.rules import Tree
from clearwood.search.grid import LEAST_ROWS
from clearwood.simplifiers._common.base import ClassifiesByRules, PredictsByRules
from clearwood.simplifiers._common.docstrings import (
    BORN_AGAIN_ATTRIBUTES,
    BORN_AGAIN_PARAMETERS,
    BORN_AGAIN_REFERENCES,
)
from clearwood.simplifiers._common.lesson import Job, Lesson
from clearwood.simplifiers._common.size_path import TreesOnPath
from clearwood.simplifiers.born_again.trees import (
    SmearedTree,
    Smearing,
    fit_smeared_trees,
    print_smeared_tree,
)


class _BornAgainTree(TreesOnPath):
    """What classifier and regressor share."""

    _parameter_constraints: dict[str, Any] = {
        **TreesOnPath._parameter_constraints,
        "p_alt": [Interval(Real, 0, 1, closed="both")],
        "n_node_rows": [Interval(Integral, 1, None, closed="left")],
        "min_leaf": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int = 10,
        p_alt: float = 0.1,
        n_node_rows: int = 1000,
        min_leaf: int = LEAST_ROWS,
        forbidden: Any = (),
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.p_alt = p_alt
        self.n_node_rows = n_node_rows
        self.min_leaf = min_leaf
        self.forbidden = forbidden
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _n_made(self, n_rows: int) -> int:
        # The nodes make rows, each in its box.
        return 0

    def _settings_to_try(self, job: Job, tune: bool) -> list[Smearing]:
        return [Smearing(False, float(self.p_alt), self.n_node_rows, self.min_leaf)]

    def _fit_path(
        self, job: Job, lesson: Lesson, settings: Smearing
    ) -> list[SmearedTree]:
        return fit_smeared_trees(job, lesson, settings)

    def _print_tree(self, job: Job, lesson: Lesson, tree: SmearedTree) -> Tree:
        return print_smeared_tree(job, lesson, tree)

    def _about(self) -> dict[str, str]:
        return {"method": "born-again", "p_alt": str(self.settings_["p_alt"])}


class BornAgainTreeClassifier(ClassifiesByRules, _BornAgainTree):  # noqa: D101
    __doc__ = f"""A tree grown on made rows that an ensemble classifies.

    The tree of Breiman and Shang: rows are made in every node, so that a split deep in
    the tree is chosen on as many as the first one, and a tree may grow large. Leaves
    say what the ensemble says. For trees of a few lines,
    :class:`DistilledTreeClassifier` usually follows the ensemble better.
    {BORN_AGAIN_PARAMETERS}{BORN_AGAIN_ATTRIBUTES}
    classes_ : ndarray
        Class labels.
    {BORN_AGAIN_REFERENCES}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> tree = BornAgainTreeClassifier(forest, n_rules=3, random_state=0).fit(X, y)
    >>> tree.rules_.evaluate(X, y, teacher=forest).fidelity > 0.9
    True
    """


class BornAgainTreeRegressor(PredictsByRules, _BornAgainTree):  # noqa: D101
    __doc__ = f"""A tree grown on made rows for which an ensemble predicts values.

    The tree of Breiman and Shang: rows are made in every node, so that a split deep in
    the tree is chosen on as many as the first one, and a tree may grow large. Leaves
    say what the ensemble says. For trees of a few lines,
    :class:`DistilledTreeRegressor` usually follows the ensemble better.
    {BORN_AGAIN_PARAMETERS}{BORN_AGAIN_ATTRIBUTES}
    {BORN_AGAIN_REFERENCES}
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> tree = BornAgainTreeRegressor(forest, n_rules=5, random_state=0).fit(X, y)
    >>> tree.tree_.n_leaves
    5
    """
