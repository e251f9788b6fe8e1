"""Short ordered rule lists projected from a Bayesian reference model.

The first rule that a row satisfies predicts it with the mean of the reference for such
rows, draw by draw. From :func:`project_lists` on: candidate boxes are the nodes of
small randomised trees; a list grows by the box and the position of highest likelihood,
and then all its boxes are improved while the likelihood rises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from clearwood._estimators import Interval, StrOptions
from clearwood.exceptions import InputError
from clearwood.projection.base import ProjectedRules
from clearwood.projection.predictive_draws import PredictiveDraws
from clearwood.projection.sizes import Words
from clearwood.projection.tasks import ProjectedClasses, ProjectedValues
from clearwood.projection.trees import leaves_of, scores_of
from clearwood.rules import RuleList, Training, build_rule_list
from clearwood.search import (
    BoxList,
    Grid,
    Loss,
    Penalties,
    candidate_boxes,
    grow_lists,
    make_problem,
)

PENALTIES = Penalties(literal=0.002, overlap=0.01)
"""Penalties of literals and overlap, added to the unexplained variance of the
predictions, or to nats per row: so small that they only break ties."""


def project_lists(
    target: PredictiveDraws,
    family: str,
    grid: Grid,
    weight: np.ndarray,
    max_size: int,
    min_samples_leaf: int,
    generator: np.random.Generator,
) -> list[BoxList]:
    """Lists of 1, 2, ... rules, each with the highest likelihood that is found.

    Parameters
    ----------
    target : PredictiveDraws
        Predictions of the reference, as one draw.
    family : {"mean", "counts", "classes"}
    grid : Grid
    weight : ndarray of shape (n_rows,)
    max_size : int
    min_samples_leaf : int
        Minimum number of rows covered by a rule.
    generator : Generator

    Returns
    -------
    list of BoxList
        Of increasing size.
    """
    scores, _ = scores_of(target, family, weight / weight.sum())
    # With one variance for all rules, maximum likelihood is least squares.
    loss = Loss.logarithmic(scores, weight)
    if family == "mean":
        loss = Loss.squares(scores[:, 0], weight)
    counts = np.ones(grid.n_rows)
    problem = make_problem(
        grid, loss, PENALTIES, counts, min_samples_leaf=min_samples_leaf
    )
    boxes = np.zeros((0, int(grid.n_bins.sum())), dtype=bool)
    if max_size > 1 and len(grid.n_bins):
        boxes = candidate_boxes(grid, scores, weight, generator)
    lists = grow_lists(problem, boxes, max_size - 1)
    ended = [_ends_with_rows(lst, grid) for lst in lists]
    by_size = {len(lst.boxes): lst for lst in ended}
    return [by_size[size] for size in sorted(by_size)]


def _ends_with_rows(lst: BoxList, grid: Grid) -> BoxList:
    """Same list with its last box as the default rule, if no rows are left for that."""
    if (leaves_of(lst, grid) == len(lst.boxes)).any():
        return lst
    return BoxList(lst.boxes[:-1], lst.values[:-1], lst.values[-1], lst.objective)


class _ProjectedRuleList(ProjectedRules):
    _sizes = "n_rules", "max_rules"
    _words = Words("list", "rule", "rules")
    _measures = {
        "size": lambda rules: rules.n_rules,
        "literals": lambda rules: rules.n_literals,
    }
    _parameter_constraints: dict[str, Any] = {
        **ProjectedRules._parameter_constraints,
        "n_rules": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_rules": [Interval(Integral, 1, None, closed="left")],
        "complexity": [StrOptions(set(_measures)), callable],
    }

    def __init__(
        self,
        reference: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int = 10,
        alpha: float | str | None = None,
        complexity: str | Callable[[RuleList], float] = "size",
        tolerance: float = 0.001,
        min_samples_leaf: int | str = 5,
        exclude_features: Sequence[str | int] = (),
        round_thresholds: bool = True,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.reference = reference
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.alpha = alpha
        self.complexity = complexity
        self.tolerance = tolerance
        self.min_samples_leaf = min_samples_leaf
        self.exclude_features = exclude_features
        self.round_thresholds = round_thresholds
        self.verbose = verbose
        self.random_state = random_state

    def _check_sizes(self) -> None:
        super()._check_sizes()
        if self._max_size > self.max_rules:
            raise InputError(
                f"n_rules={self.n_rules} is more than max_rules={self.max_rules}; "
                "raise max_rules or lower n_rules."
            )

    def _project(
        self,
        target: PredictiveDraws,
        grid: Grid,
        weight: np.ndarray,
        generator: np.random.Generator,
        min_samples_leaf: int,
    ) -> list[BoxList]:
        largest, least = self._max_size, min_samples_leaf
        return project_lists(
            target, self._family(), grid, weight, largest, least, generator
        )

    def _printed(self, proxy: BoxList, training: Training) -> RuleList:
        regions = [training.region(box) for box in proxy.boxes]
        return build_rule_list(
            [region for region in regions if region is not None],
            training,
            round_thresholds=self.round_thresholds,
        )

    def _print(
        self,
        path: Sequence[Any],
        chosen: int,
        predictive: PredictiveDraws,
        training: Training,
    ) -> RuleList:
        self.path_ = tuple(self._printed(lst, training) for lst in path)
        return self.path_[chosen]

    @property
    def _proxies(self) -> tuple[RuleList, ...]:
        return self.path_


class ProjectedRuleListRegressor(ProjectedValues, _ProjectedRuleList):
    """Short rule list for regression, projected from a Bayesian reference model.

    Like :class:`ProjectedTreeRegressor`, with an ordered list in place of a tree: the
    first rule that a row satisfies predicts. A list states the exceptions first and the
    rest in one rule, for which a tree may need many leaves. It is fitted to the mean
    over all draws; its rules keep the prediction of each.

    Parameters
    ----------
    reference : Reference, estimator or None, default=None
        As in :class:`ProjectedTreeRegressor`.
    n_rules : int or "auto", default="auto"
        Maximum number of rules, the default included; fewer where more do not help.
        "auto" takes the fewest with which held-out rows are as likely as with the best
        number, up to ``tolerance``.
    max_rules : int, default=10
        Maximum number of rules, where the size is chosen.
    alpha : float or "cv", optional
        Penalty per rule, in nats per row, as in :class:`ProjectedTreeRegressor`.
    complexity : {"size", "literals"} or callable, default="size"
        What ``alpha`` penalizes, and by which "auto" takes the simplest list: the
        number of rules, their literals, or a function of the
        :class:`~clearwood.RuleList`; see :class:`ProjectedTreeRegressor`.
    tolerance : float, default=0.001
        Loss that a shorter list may have relative to the best number of rules, in nats
        per held-out row.
    min_samples_leaf : int or "auto", default=5
        Minimum number of training rows covered by a rule; "auto" as in
        :class:`ProjectedTreeRegressor`.
    exclude_features, round_thresholds, verbose, random_state
        As in :class:`ProjectedTreeRegressor`; the seed also generates the candidate
        boxes.

    Attributes
    ----------
    rules_ : RuleList
        The printed rules, by which ``predict`` predicts.
    path_ : tuple of RuleList
        The lists of all sizes.
    leaves_ : Leaves
        Distributions of each rule, draw by draw, as for the leaves of a tree.
    size_path_, alpha_, fidelity_, reference_
        As in :class:`ProjectedTreeRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from clearwood import ProjectedRuleListRegressor, reference
    >>> X = np.arange(40.0)[:, None] / 40
    >>> y = X[:, 0] + np.sin(np.arange(40.0)) / 10
    >>> ref = reference(BayesianRidge().fit(X, y), random_state=0)
    >>> found = ProjectedRuleListRegressor(ref, n_rules=3, random_state=0).fit(X, y)
    >>> found.rules_.n_rules, found.predict_interval(X[:1]).shape
    (3, (1, 2))
    """


class ProjectedRuleListClassifier(ProjectedClasses, _ProjectedRuleList):
    """Short rule list for classification, projected from a Bayesian reference model.

    Rules hold class probabilities, nearest to the reference's in Kullback-Leibler
    divergence. Parameters and attributes are those of
    :class:`ProjectedRuleListRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, in the reference's order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clearwood import ProjectedRuleListClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = ProjectedRuleListClassifier(n_rules=3, random_state=0).fit(X, y)
    >>> found.predict_proba(X[:1]).shape, found.score(X, y) > 0.9
    ((1, 3), True)
    """
