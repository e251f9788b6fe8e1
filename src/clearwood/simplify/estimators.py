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
from clearwood.exceptions import InputError
from clearwood.rules import FeatureBins, Training, build_rule_set
from clearwood.rules.build import PRUNING
from clearwood.simplify.components import component_of, soft_values
from clearwood.simplify.fab import make_problem
from clearwood.simplify.outputs import GaussianOutput, MultinomialOutput
from clearwood.simplify.restarts import Job, Restart, run_restarts
from clearwood.simplify.teacher import get_teacher

_PARAMETERS = """
    Parameters
    ----------
    estimator : estimator, TreeEnsemble or None, default=None
        The ensemble to explain. A fitted one is used as it is and never refitted
        (wrap it in ``sklearn.frozen.FrozenEstimator`` where it must survive
        ``clone``); an unfitted one is fitted on ``X, y``; None means histogram
        gradient boosting.
    max_rules : int, default=10
        Most lines printed, ``otherwise`` included. FAB starts from one component
        fewer and drops those that do not pay; EM keeps them all.
    method : {"fab", "em"}, default="fab"
        Factorized asymptotic Bayesian inference, which chooses the number of
        rules, or EM at a fixed number.
    target : {"ensemble", "labels"}, default="ensemble"
        What the rules are fitted to: what the ensemble predicts (probabilities,
        or values), so that they explain the model; or the labels, as in the paper.
    n_restarts : int, default=20
        Random starts, of which the best is kept.
    schedule : {"paper", "reference"}, default="paper"
        Update order of the paper's Algorithm 1, or of the authors' program.
    select : {"rules", "soft", "bound"}, default="rules"
        What the best start is best at: fidelity of the printed rules, fidelity of
        the soft posterior, or the lower bound; on the training rows.
    statement_weight : float, default=1.0
        Factor on the statements' log-likelihood and on their number in the
        penalty. Below one, the target counts for more.
    statement_counts : {"distinct", "all"}, default="distinct"
        Whether a question that many trees ask counts once or each time.
    kappa : float, default=1e-6
        A statement belongs to a rule if its probability is within this of 0 or 1.
    tol : float, default=1e-6
        A start ends when the bound moves by less than this per row.
    max_iter : int, default=1000
        Most iterations per start.
    prune : {"coverage", "prediction"}, default="coverage"
        Drop literals without which a rule holds the same training rows, or
        moreover those without which the list predicts the same on them.
    round_cuts : bool, default=True
        Print, and predict with, the shortest bounds that separate the same
        training values, and values short within half a percent of the target's
        standard deviation.
    verbose : bool, default=False
        Show a progress bar on stderr.
    n_jobs : int or None, default=None
        Threads for the restarts. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts (and of the default ensemble).
"""

_ATTRIBUTES = """
    Attributes
    ----------
    rules_ : RuleSet
        The printed rules; ``predict`` is what they say.
    ensemble_ : TreeEnsemble
        The ensemble as it was read.
    estimator_ : estimator
        The fitted ensemble as it was handed in, or fitted here.
    bins_ : FeatureBins
        The bins on which the rules were found.
    history_ : tuple of Iteration
        Bound, surviving components and passes per iteration of the best start.
    restarts_ : list of dict
        Per start: bound, components, iterations, convergence, fidelity of the
        printed rules and of the soft posterior.
    n_iter_ : int
        Iterations of the best start.
    selected_ : int
        Position of the best start in ``restarts_``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, where the table had some.
"""

_REFERENCES = """
    References
    ----------
    Hara and Hayashi, "Making Tree Ensembles Interpretable: A Bayesian Model
    Selection Approach", AISTATS 2018.
"""


class _FABRules(BaseEstimator):
    """What classifier and regressor share."""

    _task: str

    _parameter_constraints: dict = {
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
        estimator=None,
        *,
        max_rules=10,
        method="fab",
        target="ensemble",
        n_restarts=20,
        schedule="paper",
        select="rules",
        statement_weight=1.0,
        statement_counts="distinct",
        kappa=1e-6,
        tol=1e-6,
        max_iter=1000,
        prune="coverage",
        round_cuts=True,
        verbose=False,
        n_jobs=None,
        random_state=None,
    ):
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = self._default_estimator() if self.estimator is None else self.estimator
        if hasattr(inner, "__sklearn_tags__"):
            tags.input_tags.allow_nan = get_tags(inner).input_tags.allow_nan
        return tags

    # A fitted ensemble in `estimator` keeps its own settings.
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None, sample_weight=None):
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
        n_samples = X.shape[0]
        given_weight = sample_weight is not None
        weight = check_weight(sample_weight, n_samples)
        if y is not None:
            y = check_target(y, n_samples, numeric=self._task == "regression")
        elif self.target == "labels":
            raise InputError(
                "target='labels' requires y to be passed, but the target y is None."
            )
        self._check_two_classes(y)
        # Children draw their seeds from one generator, in one order.
        generator = as_generator(self.random_state)
        seed = int(generator.integers(2**31))
        teacher = get_teacher(
            self.estimator,
            self._default_estimator().set_params(random_state=seed),
            X,
            y,
            weight if given_weight else None,
            self._task,
        )
        self.estimator_, self.ensemble_ = teacher
        self._learn_classes()

        counted = weight > 0
        encoded = self.ensemble_.encode(X)[counted]
        taught = self._taught(X, y)[counted]
        labels = None if y is None else self._label_codes(y)[counted]
        training = Training(encoded, taught, labels, weight[counted])
        self.bins_ = FeatureBins.from_ensemble(
            self.ensemble_,
            missing_seen=np.isnan(encoded).any(axis=0),
            counts=self.statement_counts,
        )
        job = self._job(training)
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
        return self

    def _job(self, training: Training) -> Job:
        bins = self.bins_
        codes = bins.transform_encoded(training.encoded)
        output, target = self._output(training)
        problem = make_problem(
            codes, target, training.weight, bins, output, float(self.statement_weight)
        )
        seen = np.zeros(int(bins.n_bins.sum()), dtype=bool)
        for d, start in enumerate(bins.bin_start):
            seen[start + np.unique(codes[:, d])] = True
        has_splits = len(bins.statements.feature) > 0
        n_rows = sum(len(block[2]) for block in problem.blocks)
        return Job(
            problem=problem,
            training=training,
            codes=codes,
            features=self.ensemble_.features,
            classes=self._classes(),
            n_components=min(self.max_rules - 1, n_rows) if has_splits else 0,
            method=self.method,
            schedule=self.schedule,
            kappa=self.kappa,
            tol=self.tol,
            max_iter=self.max_iter,
            prune=self.prune,
            round_cuts=self.round_cuts,
            seen=seen,
        )

    def _keep_best(self, job: Job, restarts: list[Restart]) -> None:
        criteria = [restart.criterion(self.select) for restart in restarts]
        self.selected_ = criteria.index(max(criteria))
        best = restarts[self.selected_]
        self.rules_ = best.rules
        self.history_ = best.fit.history
        self.n_iter_ = len(self.history_)
        self.restarts_ = [
            {
                "bound": r.bound,
                "n_components": len(r.fit.components),
                "n_iterations": len(r.fit.history),
                "converged": r.fit.converged,
                "fidelity": r.fidelity,
                "soft_fidelity": r.soft_fidelity,
            }
            for r in restarts
        ]
        self._problem, self._fit = job.problem.without_rows(), best.fit
        if not best.fit.converged:
            warnings.warn(
                f"The best start did not converge in {self.max_iter} iterations; "
                "raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep_otherwise_only(self, job: Job) -> None:
        """No split, or one line asked for: the list is its `otherwise`."""
        self.rules_ = build_rule_set(
            [], job.training, job.features, classes=job.classes,
            round_cuts=self.round_cuts,
        )  # fmt: skip
        self.selected_, self.history_, self.restarts_ = 0, (), []
        self.n_iter_ = 0
        self._problem = self._fit = None

    def predict(self, X):
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

    def _soft(self, X) -> np.ndarray:
        check_is_fitted(self, "rules_")
        X = check_table(self, X, reset=False)
        if self._fit is None:
            only = self.rules_.otherwise
            said = only.probabilities or only.prediction
            return np.repeat([said], X.shape[0], axis=0)
        codes = self.bins_.transform_encoded(self.ensemble_.encode(X))
        return soft_values(self._fit, component_of(self._problem, self._fit, codes))


class FABRulesClassifier(ClassifierMixin, _FABRules):
    __doc__ = f"""A few printed rules that say what a tree ensemble classifies as what.
    {_PARAMETERS}{_ATTRIBUTES}
    classes_ : ndarray
        Class labels.
    {_REFERENCES}
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
    def _default_estimator():
        return HistGradientBoostingClassifier()

    def predict_proba(self, X):
        """Class probabilities of the printed rule that decides each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The teacher's mean probabilities on the rule's training rows.
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict_proba(check_table(self, X, reset=False))

    def predict_soft(self, X):
        """What the fitted mixture says before it is cut down to rules (eq. 10-11).

        This is not what the printed rules say; it is often closer to the ensemble.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        return self.classes_[self._soft(X).argmax(axis=1)]

    def _check_two_classes(self, y) -> None:
        if y is not None and len(np.unique(y)) < 2 and self.estimator is None:
            raise InputError(
                f"y holds one class only ({np.unique(y).tolist()}); rules that tell "
                "classes apart need at least two classes."
            )

    def _learn_classes(self) -> None:
        self.classes_ = self.ensemble_.classes

    def _classes(self) -> tuple:
        return tuple(self.classes_.tolist())

    def _label_codes(self, y) -> np.ndarray:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise InputError(
                f"y holds label(s) {unknown.tolist()} that the ensemble does not "
                f"know; it knows {self.classes_.tolist()}."
            )
        return np.searchsorted(self.classes_, y)

    def _taught(self, X, y) -> np.ndarray:
        if self.target == "ensemble":
            return np.ascontiguousarray(self.ensemble_.predict_proba(X))
        return np.eye(len(self.classes_))[self._label_codes(y)]

    def _output(self, training: Training):
        return MultinomialOutput(len(self.classes_)), training.taught


class FABRulesRegressor(RegressorMixin, _FABRules):
    __doc__ = f"""A few printed rules that say what a tree ensemble predicts where.
    {_PARAMETERS}{_ATTRIBUTES}{_REFERENCES}
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # A few steps cannot follow a plane through ten features, which is what
        # scikit-learn means by a reasonable score.
        tags.regressor_tags.poor_score = True
        return tags

    @staticmethod
    def _default_estimator():
        return HistGradientBoostingRegressor()

    def predict_soft(self, X):
        """What the fitted mixture says before it is cut down to rules (eq. 10-11).

        This is not what the printed rules say; it is often closer to the ensemble.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        soft = self._soft(X)
        return soft if self._fit is None else self._problem.output.unscaled(soft)

    def _check_two_classes(self, y) -> None:
        pass

    def _learn_classes(self) -> None:
        pass

    def _classes(self) -> tuple:
        return ()

    def _label_codes(self, y) -> np.ndarray:
        return y

    def _taught(self, X, y) -> np.ndarray:
        return self.ensemble_.predict(X) if self.target == "ensemble" else y

    def _output(self, training: Training):
        output = GaussianOutput.scaled_to(training.taught, training.weight)
        return output, output.scaled(training.taught)
