"""The scikit-learn face of rule lists."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from clearwood.rules import RuleSet, Training
from clearwood.simplifiers._documentation import LIST_ATTRIBUTES, LIST_PARAMETERS
from clearwood.simplifiers.augment import default_number
from clearwood.simplifiers.base import (
    ClassifiesByRules,
    PredictsByRules,
    RulesFromEnsemble,
)
from clearwood.simplifiers.limits import read_limits
from clearwood.simplifiers.rule_list import (
    N_FOLDS,
    TUNED_ROWS,
    Job,
    Settings,
    cross_validate,
    fit_path,
    make_job,
    make_lesson,
    print_lists,
    settings_to_try,
)
from clearwood.simplifiers.teacher import Teacher


class _RuleList(RulesFromEnsemble):
    """What classifier and regressor share."""

    _parameter_constraints: dict[str, Any] = {
        "estimator": "no_validation",
        "n_rules": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_rules": [Interval(Integral, 1, None, closed="left")],
        "combine": [StrOptions({"near-disjoint", "first", "disjoint"})],
        "tune": [StrOptions({"auto"}), None],
        "n_synthetic": [
            StrOptions({"auto"}),
            Interval(Integral, 0, None, closed="left"),
        ],
        "forbidden": "no_validation",
        "monotonic_cst": "no_validation",
        "n_jobs": [None, Integral],
        "random_state": "no_validation",
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
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _find_rules(
        self, teacher: Teacher, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        features = self.bins_.features
        limits = read_limits(
            self.forbidden,
            self.monotonic_cst,
            features,
            list(getattr(self, "feature_names_in_", features.names)),
            len(teacher.classes),
        )
        n_rows = len(training.encoded)
        n_made = default_number(n_rows)
        if self.n_synthetic != "auto":
            n_made = int(self.n_synthetic)
        n_rules = None if self.n_rules == "auto" else int(self.n_rules)
        longest = max(self.max_rules, n_rules or 1)
        job = make_job(teacher, training, self.bins_, longest, n_made, limits)
        tuned = self.tune == "auto" and n_rows < TUNED_ROWS
        tried = settings_to_try(job.task, self.combine, tuned, n_made)
        seeds = generator.integers(2**63, size=N_FOLDS + 2).tolist()
        chosen = self._choose(job, tried, n_rules, seeds[1:])
        lesson = make_lesson(job, training, chosen.augment, seeds[0])
        lists = fit_path(job, lesson, chosen)
        self.path_ = print_lists(job, lesson, lists)
        self.settings_ = chosen._asdict()
        self.rules_ = self._of_size(self.n_rules_)
        return {"method": "list", "combine": self.combine, **limits.about(features)}

    def _choose(
        self, job: Job, tried: list[Settings], n_rules: int | None, seeds: list[int]
    ) -> Settings:
        """Settings and size, on held-out rows where there is a choice."""
        self.cv_results_ = None
        self.n_rules_ = job.max_rules if n_rules is None else n_rules
        no_choice = len(tried) == 1 and n_rules is not None
        if no_choice or job.max_rules == 1 or len(job.training.encoded) < N_FOLDS:
            return tried[0]
        validation = cross_validate(job, tried, seeds, self.n_jobs)
        best = validation.best_settings(n_rules)
        if n_rules is None:
            self.n_rules_ = validation.fewest_rules(best)
        self.cv_results_ = {
            name: [getattr(settings, name) for settings in tried]
            for name in Settings._fields
        } | {name: part.tolist() for name, part in validation._asdict().items()}
        return tried[best]

    def _of_size(self, n_rules: int) -> RuleSet:
        """The longest list with so many lines at most."""
        return [found for found in self.path_ if found.n_rules <= n_rules][-1]


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
