"""The scikit-learn face of rule lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clearwood._estimators import StrOptions
from clearwood.rules import RuleSet
from clearwood.search import BoxList
from clearwood.simplifiers._common.base import ClassifiesByRules, PredictsByRules
from clearwood.simplifiers._common.docstrings import LIST_ATTRIBUTES, LIST_PARAMETERS
from clearwood.simplifiers._common.lesson import Job, Lesson
from clearwood.simplifiers._common.size_path import MADE_ROWS, RulesOnPath
from clearwood.simplifiers.rule_list import (
    Settings,
    fit_path,
    print_lists,
    settings_to_try,
)


class _RuleList(RulesOnPath):
    """What classifier and regressor share."""

    _parameter_constraints: dict[str, Any] = {
        **RulesOnPath._parameter_constraints,
        **MADE_ROWS,
        "combine": [StrOptions({"near-disjoint", "first", "disjoint"})],
        "tune": [StrOptions({"auto"}), None],
        "monotonic_cst": "no_validation",
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int = 10,
        combine: str = "near-disjoint",
        tune: str | None = "auto",
        n_synthetic: int | str = "auto",
        forbidden: Sequence[str | int] = (),
        monotonic_cst: Any = None,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.combine = combine
        self.tune = tune
        self.n_synthetic = n_synthetic
        self.forbidden = forbidden
        self.monotonic_cst = monotonic_cst
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _settings_to_try(self, job: Job, tune: bool) -> list[Settings]:
        return settings_to_try(job.task, self.combine, tune, job.n_made)

    def _fit_path(self, job: Job, lesson: Lesson, settings: Settings) -> list[BoxList]:
        return fit_path(job, lesson, settings)

    def _print_path(
        self, job: Job, lesson: Lesson, path: Sequence[BoxList]
    ) -> tuple[RuleSet, ...]:
        return print_lists(job, lesson, path)

    def _about(self) -> dict[str, str]:
        return {"method": "list", "combine": self.combine}


class RuleListClassifier(ClassifiesByRules, _RuleList):  # noqa: D101
    __doc__ = f"""A short list of rules that says what an ensemble classifies as what.

    The list is fitted to the ensemble's class probabilities: every rule is moved
    about in the data until the list is as seldom, and as little, wrong as it gets.
    {LIST_PARAMETERS}{LIST_ATTRIBUTES}
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = RuleListClassifier(forest, n_rules=3, tune=None, random_state=0)
    >>> rules.fit(X, y).rules_.evaluate(X, y, teacher=forest).fidelity > 0.9
    True
    """


class RuleListRegressor(PredictsByRules, _RuleList):  # noqa: D101
    __doc__ = f"""A short list of rules that says what an ensemble predicts where.

    The list is fitted to the ensemble's values: every rule is moved about in the
    data until the squared differences are as small as they get.
    {LIST_PARAMETERS}{LIST_ATTRIBUTES}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = RuleListRegressor(forest, n_rules=5, tune=None, random_state=0)
    >>> rules.fit(X, y).rules_.n_rules <= 5
    True
    """
