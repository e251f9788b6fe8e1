"""The scikit-learn face of FAB and EM."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import Interval, StrOptions
from clearwood._validation import check_table
from clearwood.exceptions import PoorFidelityWarning
from clearwood.rules import Training, build_rule_set
from clearwood.rules.building.lists import PRUNING
from clearwood.simplifiers._common.base import (
    ClassifiesByRules,
    PredictsByRules,
    RulesFromEnsemble,
)
from clearwood.simplifiers._common.docstrings import ATTRIBUTES, PARAMETERS, REFERENCES
from clearwood.simplifiers._common.teacher import single_split_fidelity
from clearwood.simplifiers.fab.components import component_of, soft_values
from clearwood.simplifiers.fab.inference import Fit, Problem
from clearwood.simplifiers.fab.restarts import Job, Restart, make_job, run_restarts


class _FABRules(RulesFromEnsemble):
    """What classifier and regressor share."""

    selected_: int | None
    _problem: Problem | None
    _fit: Fit | None

    _parameter_constraints: dict[str, Any] = {
        "estimator": "no_validation",
        "max_rules": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"fab", "em"})],
        "rules": [StrOptions({"refined", "regions"})],
        "target": [StrOptions({"ensemble", "labels"})],
        "n_restarts": [Interval(Integral, 1, None, closed="left")],
        "schedule": [StrOptions({"paper", "reference"})],
        "select": [StrOptions({"rules", "soft", "bound"})],
        "statement_weight": [Interval(Real, 0, None, closed="left")],
        "statement_counts": [StrOptions({"distinct", "all"})],
        "kappa": [Interval(Real, 0, 0.5, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "prune": [StrOptions(set(PRUNING))],
        "round_cuts": ["boolean"],
        "verbose": ["verbose"],
        "n_jobs": [None, Integral],
        "random_state": "no_validation",
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_rules: int = 10,
        method: str = "fab",
        rules: str = "refined",
        target: str = "ensemble",
        n_restarts: int = 20,
        schedule: str = "paper",
        select: str = "rules",
        statement_weight: float = 1.0,
        statement_counts: str = "distinct",
        kappa: float = 1e-6,
        tol: float = 1e-6,
        max_iter: int = 1000,
        prune: str = "coverage",
        round_cuts: bool = True,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_rules = max_rules
        self.method = method
        self.rules = rules
        self.target = target
        self.n_restarts = n_restarts
        self.schedule = schedule
        self.select = select
        self.statement_weight = statement_weight
        self.statement_counts = statement_counts
        self.kappa = kappa
        self.tol = tol
        self.max_iter = max_iter
        self.prune = prune
        self.round_cuts = round_cuts
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        job = make_job(training, self.get_params(False))
        if job.n_components == 0:
            self._keep_otherwise_only(job)
        else:
            restarts = run_restarts(
                job, self.n_restarts, generator, self.n_jobs, self.verbose
            )
            self._keep_best(job, restarts)
        return {"method": self.method, "rules": self.rules, "target": self.target}

    def _keep_best(self, job: Job, restarts: list[Restart]) -> None:
        criteria = [restart.criterion(self.select) for restart in restarts]
        self.selected_ = criteria.index(max(criteria))
        best = restarts[self.selected_]
        self.rules_ = best.rules
        self.history_ = best.fit.history
        self.n_iter_ = len(self.history_)
        self.n_start_components_ = job.n_components
        self.restarts_ = [restart.summary() for restart in restarts]
        self._problem, self._fit = job.problem.without_rows(), best.fit
        self._compare_with_one_split(job, best)
        if not best.fit.converged:
            warnings.warn(
                f"The best start did not converge in {self.max_iter} iterations; "
                "raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _compare_with_one_split(self, job: Job, best: Restart) -> None:
        self.single_split_fidelity_ = single_split_fidelity(job.training)
        # Short values cost up to 0.00003 of R2; the split may be judged on a part.
        if best.fidelity < self.single_split_fidelity_ - 0.005:
            warnings.warn(
                f"These rules agree with what they were fitted to less "
                f"({best.fidelity:.3g}) than one best split does "
                f"({self.single_split_fidelity_:.3g}): do not read them as an "
                "explanation. Try statement_counts='all', statement_weight=0.1 or "
                "n_restarts=100.",
                PoorFidelityWarning,
                stacklevel=6,
            )

    def _keep_otherwise_only(self, job: Job) -> None:
        """No split, or one line asked for: the list is its `otherwise`."""
        self.rules_ = build_rule_set([], job.training, round_cuts=self.round_cuts)
        self.selected_, self.history_, self.restarts_ = None, (), []
        self.n_iter_ = 0
        self.n_start_components_ = 0
        self.single_split_fidelity_ = single_split_fidelity(job.training)
        self._problem = self._fit = None

    def predict_soft(self, X: Any) -> np.ndarray:
        """What the fitted mixture says before it is cut down to rules (eq. 10-11).

        This is not what the printed rules say; it is often closer to the ensemble.
        A missing value of a feature that had none in training counts as a low one.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels, or values.
        """
        check_is_fitted(self, "rules_")
        X = check_table(self, X, reset=False)
        if self._fit is None or self._problem is None:
            return np.repeat([self.rules_.otherwise.prediction], X.shape[0])
        codes = self.bins_.transform_encoded(self.ensemble_.encode(X))
        component = component_of(self._problem, self._fit, codes)
        said = soft_values(self._problem, self._fit, component)
        return self.classes_[said.argmax(axis=1)] if said.ndim == 2 else said


class FABRulesClassifier(ClassifiesByRules, _FABRules):  # noqa: D101
    __doc__ = f"""A few printed rules that say what a tree ensemble classifies as what.
    {PARAMETERS}{ATTRIBUTES}
    classes_ : ndarray
        Class labels.
    {REFERENCES}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> fab = FABRulesClassifier(forest, max_rules=4, random_state=0).fit(X, y)
    >>> fab.rules_.evaluate(X, y, teacher=forest).fidelity > 0.9
    True
    """


class FABRulesRegressor(PredictsByRules, _FABRules):  # noqa: D101
    __doc__ = f"""A few printed rules that say what a tree ensemble predicts where.
    {PARAMETERS}{ATTRIBUTES}{REFERENCES}
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> fab = FABRulesRegressor(forest, max_rules=5, random_state=0).fit(X, y)
    >>> fab.rules_.n_rules <= 5
    True
    """
