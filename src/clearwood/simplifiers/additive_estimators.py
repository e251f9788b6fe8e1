"""The scikit-learn face of additive rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clearwood._estimators import StrOptions
from clearwood.rules import RuleSet
from clearwood.search.sums.grow import BoxSum
from clearwood.simplifiers._common.base import ClassifiesByRules, PredictsByRules
from clearwood.simplifiers._common.docstrings import (
    ADDITIVE_ATTRIBUTES,
    ADDITIVE_PARAMETERS,
)
from clearwood.simplifiers._common.lesson import Job, Lesson
from clearwood.simplifiers._common.size_path import MADE_ROWS, RulesOnPath
from clearwood.simplifiers.additive import (
    SumSettings,
    fit_sums,
    print_sums,
    sum_settings,
)


class _AdditiveRules(RulesOnPath):
    """What classifier and regressor share."""

    _parameter_constraints: dict[str, Any] = {
        **RulesOnPath._parameter_constraints,
        **MADE_ROWS,
        "tune": [StrOptions({"auto"}), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int = 10,
        tune: str | None = "auto",
        n_synthetic: int | str = "auto",
        forbidden: Any = (),
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.tune = tune
        self.n_synthetic = n_synthetic
        self.forbidden = forbidden
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _settings_to_try(self, job: Job, tune: bool) -> list[SumSettings]:
        return sum_settings(tune, job.n_made)

    def _fit_path(
        self, job: Job, lesson: Lesson, settings: SumSettings
    ) -> list[BoxSum]:
        return fit_sums(job, lesson, settings)

    def _print_path(
        self, job: Job, lesson: Lesson, path: Sequence[BoxSum]
    ) -> tuple[RuleSet, ...]:
        return print_sums(job, lesson, path)

    def _about(self) -> dict[str, str]:
        return {"method": "additive"}


class AdditiveRulesClassifier(ClassifiesByRules, _AdditiveRules):  # noqa: D101
    __doc__ = f"""A sum of a few rules that says how likely an ensemble finds a class.

    Every rule that a row satisfies adds to the log-odds of one class (of two classes,
    the second), starting from a constant. The sum is fitted to the ensemble's class
    probabilities: every rule is moved about in the data, and all that they add is
    refitted together, until the cross-entropy is as small as it gets.
    {ADDITIVE_PARAMETERS}{ADDITIVE_ATTRIBUTES}
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = AdditiveRulesClassifier(forest, n_rules=4, tune=None, random_state=0)
    >>> rules.fit(X, y).rules_.evaluate(X, y, teacher=forest).fidelity > 0.9
    True
    """


class AdditiveRulesRegressor(PredictsByRules, _AdditiveRules):  # noqa: D101
    __doc__ = f"""A sum of a few rules that says what an ensemble predicts.

    Every rule that a row satisfies adds its value to a constant. The sum is fitted to
    the ensemble's values: every rule is moved about in the data, and all values are
    refitted together, until the squared differences are as small as they get. Where
    effects add up, a sum takes far fewer lines than a list.
    {ADDITIVE_PARAMETERS}{ADDITIVE_ATTRIBUTES}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = AdditiveRulesRegressor(forest, n_rules=5, tune=None, random_state=0)
    >>> rules.fit(X, y).rules_.combine
    'sum'
    """
