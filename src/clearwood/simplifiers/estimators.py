"""The scikit-learn face of FAB and EM."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from clearwood._numeric import as_generator
from clearwood._validation import check_table, check_target, check_weight
from clearwood.exceptions import PoorFidelityWarning
from clearwood.rules import FeatureBins, RuleSet, Training, build_rule_set
from clearwood.rules.build import PRUNING
from clearwood.simplifiers._documentation import ATTRIBUTES, PARAMETERS, REFERENCES
from clearwood.simplifiers.components import component_of, soft_values
from clearwood.simplifiers.fab import Fit, Problem
from clearwood.simplifiers.restarts import Job, Restart, make_job, run_restarts
from clearwood.simplifiers.teacher import (
    Teacher,
    get_teacher,
    single_split_fidelity,
    warn_of_unknown_categories,
)


class _FABRules(BaseEstimator):
    """What classifier and regressor share."""

    _task: str
    rules_: RuleSet
    selected_: int | None
    _problem: Problem | None
    _fit: Fit | None

    _parameter_constraints: dict[str, Any] = {
        "estimator": "no_validation",
        "max_rules": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"fab", "em"})],
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self._default_estimator() if self.estimator is None else self.estimator
        if hasattr(inner, "__sklearn_tags__"):
            tags.input_tags.allow_nan = get_tags(inner).input_tags.allow_nan
        return tags

    # A fitted ensemble in `estimator` keeps its own settings.
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,), optional
            Labels or values. Not needed when ``estimator`` is fitted and
            ``target="ensemble"``; then the rules' precision is not known.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.

        Returns
        -------
        self
        """
        X = check_table(self, X, reset=True)
        n_samples, target_name = X.shape[0], getattr(y, "name", None)
        weight = check_weight(sample_weight, n_samples)
        if y is not None:
            y = check_target(y, n_samples, numeric=self._task == "regression")
        # The ensemble's seed comes first, so that the starts do not depend on it.
        generator = as_generator(self.random_state)
        default = self._default_estimator().set_params(
            random_state=int(generator.integers(2**31))
        )
        teacher = get_teacher(
            self.estimator,
            default,
            X,
            y,
            weight if sample_weight is not None else None,
            self._task,
        )
        self.estimator_, self.ensemble_ = teacher.model, teacher.ensemble
        if teacher.classes:
            self.classes_ = np.asarray(self.ensemble_.classes)

        training = self._training(teacher, X, y, weight)
        self.bins_ = FeatureBins.from_ensemble(
            self.ensemble_,
            missing_seen=np.isnan(training.encoded).any(axis=0),
            counts=self.statement_counts,
        )
        job = make_job(training, self.bins_, teacher.classes, self.get_params(False))
        if job.n_components == 0:
            self._keep_otherwise_only(job)
        else:
            restarts = run_restarts(
                job, self.n_restarts, generator, self.n_jobs, self.verbose
            )
            self._keep_best(job, restarts)
        self.rules_ = self.rules_.with_about(
            model=self.ensemble_.source, method=self.method, target=self.target
        )
        if target_name:
            self.rules_ = self.rules_.with_target(str(target_name))
        return self

    def _training(self, teacher: Teacher, X: Any, y: Any, weight: Any) -> Training:
        """The rows that count, and what the rules shall say of them."""
        counted = weight > 0
        labels = None if y is None else teacher.label_codes(y)
        said = teacher.says(X)
        taught = teacher.taught(said, labels, self.target)
        encoded = teacher.ensemble.encode(X)
        warn_of_unknown_categories(teacher.ensemble, encoded)
        return Training(
            encoded[counted],
            taught[counted],
            None if labels is None else labels[counted],
            weight[counted],
            (said.argmax(axis=1) if teacher.classes else said)[counted],
        )

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
                stacklevel=3,
            )

    def _compare_with_one_split(self, job: Job, best: Restart) -> None:
        self.single_split_fidelity_ = single_split_fidelity(
            job.codes, self.bins_, job.training
        )
        # Short values cost up to 0.00003 of R2; the split may be judged on a part.
        if best.fidelity < self.single_split_fidelity_ - 0.005:
            warnings.warn(
                f"These rules agree with what they were fitted to less "
                f"({best.fidelity:.3g}) than one best split does "
                f"({self.single_split_fidelity_:.3g}): do not read them as an "
                "explanation. Try statement_counts='all', statement_weight=0.1 or "
                "n_restarts=100.",
                PoorFidelityWarning,
                stacklevel=4,
            )

    def _keep_otherwise_only(self, job: Job) -> None:
        """No split, or one line asked for: the list is its `otherwise`."""
        self.rules_ = build_rule_set(
            [], job.training, job.problem.bins.features, classes=job.classes,
            round_cuts=self.round_cuts,
        )  # fmt: skip
        self.selected_, self.history_, self.restarts_ = None, (), []
        self.n_iter_ = 0
        self.n_start_components_ = 0
        self.single_split_fidelity_ = single_split_fidelity(
            job.codes, self.bins_, job.training
        )
        self._problem = self._fit = None

    def predict(self, X: Any) -> np.ndarray:
        """What the printed rules say.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict(check_table(self, X, reset=False))

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


class FABRulesClassifier(ClassifierMixin, _FABRules):  # noqa: D101
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

    _task = "classification"

    @staticmethod
    def _default_estimator() -> Any:
        return HistGradientBoostingClassifier()

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the printed rule that decides each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Means, on the rule's training rows, of what the rules were fitted to.
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict_proba(check_table(self, X, reset=False))


class FABRulesRegressor(RegressorMixin, _FABRules):  # noqa: D101
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

    _task = "regression"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A few steps cannot follow a plane through ten features, which is what
        # scikit-learn means by a reasonable score.
        tags.regressor_tags.poor_score = True
        return tags

    @staticmethod
    def _default_estimator() -> Any:
        return HistGradientBoostingRegressor()
