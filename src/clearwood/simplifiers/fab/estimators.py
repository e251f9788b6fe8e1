"""scikit-learn estimators of FAB and EM."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import Interval, StrOptions
from clearwood._tables import RowBlocks, RowsOfTable
from clearwood.columns.validation import check_table
from clearwood.exceptions import InputError, InterruptedFitWarning
from clearwood.rules import RuleSet, Training
from clearwood.rules.building.lists import build_rule_set
from clearwood.simplifiers._common.base import (
    CORE,
    BaseRuleExtractor,
    RuleClassifierMixin,
    RuleRegressorMixin,
)
from clearwood.simplifiers._common.predictions import answers_of, class_positions
from clearwood.simplifiers.fab.inference import (
    Fit,
    Mixture,
    MixtureProblem,
    RowBlock,
    fit_mixture,
    make_problem,
    merge_equal_rows,
)
from clearwood.simplifiers.fab.outputs import (
    VARIANCE_FLOOR,
    GaussianOutput,
    MultinomialOutput,
    Output,
)
from clearwood.simplifiers.fab.restarts import Restart, judged, run_restarts
from clearwood.simplifiers.fab.rules import refined_rules, region_rules


class _FABRules(BaseRuleExtractor):
    max_rules: int
    selected_: int | None
    _mixture: Mixture | None
    _best: Restart | None
    _method_remedy = (
        "Try statement_counts='all', statement_weight=0.1 or n_init=100 "
        "(--statement-counts all, --n-init 100)."
    )
    _paper = {
        "rules": "regions",
        "learn_from": "labels",
        "max_rules": 11,  # ten components, and otherwise
        "min_samples_leaf": 1,
    }

    _parameter_constraints: dict[str, Any] = {
        **CORE,
        "method": [StrOptions({"fab", "em"})],
        "rules": [StrOptions({"refined", "regions"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "statement_weight": [Interval(Real, 0, None, closed="left")],
        "statement_counts": [StrOptions({"distinct", "all"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "preset": [None, StrOptions({"paper"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int = 10,
        min_samples_leaf: int = 5,
        learn_from: str = "model",
        exclude_features: Sequence[str | int] = (),
        round_thresholds: bool = True,
        method: str = "fab",
        rules: str = "refined",
        n_init: int = 20,
        statement_weight: float = 1.0,
        statement_counts: str = "distinct",
        tol: float = 1e-6,
        max_iter: int = 1000,
        preset: str | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.min_samples_leaf = min_samples_leaf
        self.learn_from = learn_from
        self.exclude_features = exclude_features
        self.round_thresholds = round_thresholds
        self.method = method
        self.rules = rules
        self.n_init = n_init
        self.statement_weight = statement_weight
        self.statement_counts = statement_counts
        self.tol = tol
        self.max_iter = max_iter
        self.preset = preset
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cv = cv
        self.random_state = random_state

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        most = self._most_rules
        problem = self._problem(training)
        # A single component would contain every row and predict as the default rule.
        n_components = min(max(most - 1, 2), problem.n_rows)
        if most == 1 or len(problem.bins.used_features) == 0:
            n_components = 0
        self.n_start_components_ = n_components
        if n_components:
            restarts = run_restarts(
                problem, training, n_components, self._fitting(problem),
                self._printing(training), n_init=self.n_init,
                generator=generator, n_jobs=self.n_jobs, verbose=self.verbose,
            )  # fmt: skip
            self._keep_best(restarts)
        else:
            self._keep_otherwise(training)
        return {
            "method": self.method,
            "rules": self.rules,
            "learn_from": self.learn_from,
        }

    def _fitting(self, problem: MixtureProblem) -> Callable[..., Fit]:
        return partial(
            fit_mixture,
            problem,
            truncate=self.method == "fab",
            tol=self.tol * problem.total_weight,
            max_iter=self.max_iter,
        )

    def _printing(self, training: Training) -> Callable[..., RuleSet]:
        return partial(
            refined_rules if self.rules == "refined" else region_rules,
            training=training,
            max_rules=self._most_rules,
            min_samples_leaf=self.min_samples_leaf,
            round_thresholds=self.round_thresholds,
        )

    def _problem(self, training: Training) -> MixtureProblem:
        output: Output
        if training.classes:
            output = MultinomialOutput(len(training.classes))
        else:
            output = GaussianOutput(VARIANCE_FLOOR, training.centre, training.unit)
        return make_problem(
            training.codes,
            training.standardised,
            training.weight,
            training.bins.without(training.exclude_features),
            output,
            float(self.statement_weight),
        )

    def _keep_best(self, restarts: list[Restart]) -> None:
        soft = self.preset == "paper"
        merits = [restart.merit(soft=soft) for restart in restarts]
        self.selected_ = merits.index(max(merits))
        self._keep(restarts[self.selected_])
        self.restarts_ = [restart.summary() for restart in restarts]

    def _keep(self, best: Restart) -> None:
        self._best, self.rules_, self._mixture = best, best.rules, best.mixture
        self.history_ = best.fit.history
        self.n_iter_ = len(self.history_)
        if not best.fit.converged:
            warnings.warn(
                f"The best start did not converge in {self.max_iter} iterations; "
                "raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=6,
            )

    def _learn_table(self, table: RowBlocks, training: Training) -> dict[str, str]:
        """Continue the best start on all rows of a table, as one more candidate.

        Its rows are encoded once; each iteration is one pass over the codes. Rules are
        printed from the mixture, and evaluated, on the sample.
        """
        best = self._best
        if best is None:
            return {}
        try:
            again = self._go_on(best.fit, table, training)
        except KeyboardInterrupt:
            warnings.warn(
                "Interrupted while fitting to all rows of the table; the fit to the "
                "sample is kept.",
                InterruptedFitWarning,
                stacklevel=8,
            )
            return {}
        text = f"fitted to all {table.n_rows:,} rows"
        n_passes = len(again.fit.history)
        if again.fidelity < best.fidelity:
            text = f"of the sample; {text}, fidelity is lower"
        else:
            self._keep(again)
        return {"mixture": f"{text} ({n_passes} passes)"}

    def _go_on(self, start: Fit, table: RowBlocks, training: Training) -> Restart:
        problem = self._problem(training)
        more = {"max_passes": 0, "verbose": self.verbose}
        reading = self, training.take(slice(0)), problem.bins.used_features
        with table.kept(_coded, *reading, n_jobs=self.n_jobs) as blocks:
            (total,) = blocks.map_sum(_weight_of)
            whole = replace(problem, blocks=blocks, total_weight=float(total))
            counts = start.counts * (whole.total_weight / problem.total_weight)
            fit = self._fitting(whole)(start.parameters, counts, **more)
        return judged(fit, whole, training, self._printing(training))

    def _keep_otherwise(self, training: Training) -> None:
        """A single rule: no split, or one rule requested."""
        self.rules_ = build_rule_set(
            [], training, round_thresholds=self.round_thresholds
        )
        self.selected_, self._mixture, self._best = None, None, None
        self.history_, self.n_iter_, self.restarts_ = (), 0, []

    def predict_soft(self, X: Any) -> np.ndarray:
        """Predict by the most probable component of the mixture (eq. 10 and 11).

        The mixture is the fit before it is reduced to rules. These are not the
        predictions of the printed rules, and often closer to the ensemble. A missing
        value of a feature that had none in training counts as a low one.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels, or values.
        """
        values = self._by_mixture(X, Mixture.predict)
        return self.classes_[values.argmax(axis=1)] if values.ndim == 2 else values

    def predict_mixture(self, X: Any) -> np.ndarray:
        """Mean of the target given the statements, over all components of the mixture.

        By Bayes' rule (eq. 9) ``p(y | s)`` is the sum over components of ``p(k | s)``,
        which equation 10 maximizes, times ``p(y | k)``. :meth:`predict_soft` uses the
        most probable component alone.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Class probabilities in the order of ``classes_``, or values.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
        >>> fab = FABRulesClassifier(forest, max_rules=4, random_state=0).fit(X, y)
        >>> fab.predict_mixture(X).shape
        (150, 3)
        """
        return self._by_mixture(X, Mixture.average)

    def _by_mixture(
        self, X: Any, function: Callable[[Mixture, np.ndarray], np.ndarray]
    ) -> np.ndarray:
        check_is_fitted(self, "rules_")
        if not hasattr(self, "_mixture"):
            raise InputError("This file has rules without their mixture; fit again.")
        X = check_table(self, X, reset=False)
        if self._mixture is None:
            rules = self.rules_
            return rules.predict_proba(X) if rules.classes else rules.predict(X)
        return function(self._mixture, self._mixture.codes(X))


def _coded(
    rows: RowsOfTable, method: _FABRules, training: Training, used: np.ndarray
) -> RowBlock:
    """Rows of a table encoded in the bins of the sample."""
    ensemble = method.ensemble_
    X = check_table(method, rows.X, reset=False)
    weight = rows.checked_weight()
    labels = None
    if method.learn_from == "labels":
        y = training.outcome.check(rows.y, rows.n_rows)
        labels = class_positions(ensemble, y)
    encoded = ensemble.encode(X)
    target = method._target(answers_of(ensemble, encoded), labels)
    part = replace(training, encoded=encoded, target=target, weight=weight)
    codes = np.ascontiguousarray(part.codes[:, used])
    return merge_equal_rows((codes, part.standardised, weight))


def _weight_of(rows: RowBlock) -> tuple[float]:
    return (float(rows.weight.sum()),)


class FABRulesClassifier(RuleClassifierMixin, _FABRules):
    """FAB or EM rules that approximate a classifying tree ensemble.

    A mixture of a few components is fitted to the statements (splits) of the ensemble,
    each true or false for a row, and to the ensemble's predictions; where a component
    is certain of its statements, it is a rule.

    Parameters
    ----------
    estimator : estimator, callable, TreeEnsemble or None, default=None
        The ensemble to explain. A fitted one is used as it is and never refitted (wrap
        it in ``sklearn.frozen.FrozenEstimator`` where it must survive ``clone``); an
        unfitted one is fitted on ``X, y``; None means histogram gradient boosting. Of
        any other model, or a function that predicts, only predictions are used, and the
        method chooses thresholds itself.
    n_rules : int or "auto", default="auto"
        Maximum number of rules, the default rule included. "auto" prints those of the
        components that survive, up to ``max_rules``. Both methods start from one
        component fewer than rules (at least two); FAB drops those that do not raise the
        bound. A component without a region of its own gives no rule.
    max_rules : int, default=10
        Maximum number of rules, the default rule (``otherwise``) included.
    min_samples_leaf : int, default=5
        Minimum number of training rows that a rule covers, regardless of weights.
    learn_from : {"model", "labels"}, default="model"
        Target of the fit: the predictions of the ensemble (probabilities, or values),
        so that the rules explain the model; or the labels, as in the paper.
    exclude_features : sequence of str or int, default=()
        Names, or column indices, of features that no rule may use. The ensemble may use
        them.
    round_thresholds : bool, default=True
        Print, and predict with, the shortest thresholds that separate the same training
        values, and predicted values rounded within half a percent of the target's
        standard deviation.
    method : {"fab", "em"}, default="fab"
        Factorized asymptotic Bayesian inference, which chooses the number of
        components, or EM at a fixed number.
    rules : {"refined", "regions"}, default="refined"
        Rules to print: the regions in which the components are certain, as in the
        paper, which leave the rows between them to the default rule; or these regions
        moved, one after the other, to maximize the fidelity of the printed list.
    n_init : int, default=20
        Number of random starts. The one whose printed rules have the highest fidelity
        to the target on the training rows is kept.
    statement_weight : float, default=1.0
        Factor on the statements' log-likelihood and on their number in the
        penalty. Below one, the target counts for more.
    statement_counts : {"distinct", "all"}, default="distinct"
        Whether a split that many trees share counts once or each time.
    tol : float, default=1e-6
        Tolerance: a start ends when the bound changes by less than this per row.
    max_iter : int, default=1000
        Maximum number of iterations per start.
    preset : {"paper"} or None, default=None
        "paper" uses the settings of the 2018 paper: ``rules="regions"``,
        ``learn_from="labels"``, ``max_rules=11`` (ten components) and
        ``min_samples_leaf=1`` in place of the defaults of these parameters (other
        values are kept; for fewer rules set ``n_rules``), and of the starts keeps the
        one whose mixture, not its printed rules, has the smallest training error (eq.
        11). The text counts each split once for each tree (``statement_counts="all"``),
        the authors' program once.
    n_jobs : int or None, default=None
        Number of threads for the restarts. The result does not depend on it.
    verbose : bool, default=False
        Show a progress bar on stderr.
    cv : int, splitter of scikit-learn, iterable or None, default=None
        How rows are held out: None for random folds; otherwise as in
        scikit-learn, such as ``TimeSeriesSplit()`` for rows ordered by time. With
        ``groups`` in ``fit``, a number means so many folds of whole groups.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts (and of the default ensemble).

    Attributes
    ----------
    rules_ : RuleSet
        The printed rules, which ``predict`` applies.
    ensemble_ : TreeEnsemble
        The ensemble as it was read.
    estimator_ : estimator
        The fitted ensemble, as passed in or fitted here.
    bins_ : FeatureBins
        The bins on which the rules were found.
    history_ : tuple of Iteration
        Bound, surviving components and passes per iteration of the best start.
    restarts_ : list of dict
        Per start: bound, components, iterations, convergence, and fidelity of the
        printed rules and of the soft posterior to the target of the fit.
    n_iter_ : int
        Iterations of the best start.
    single_split_fidelity_ : float
        Fidelity of a tree with a single split (decision stump) to the target of the
        fit, on the training rows: the benchmark for the rules.
    shrinkage_ : dict, or None
        If labels were given, the shrinkage of the rules for new rows (cross-fitting):
        ``"usual_rows"``, the rows of average composition that each is pooled with,
        times ``(1 + n_literals) ** 2``; and for intervals ``"evidence"``, the weight of
        each row.
    n_start_components_ : int
        Number of components at each start.
    selected_ : int or None
        Index of the best start in ``restarts_``; None if there was nothing to fit (one
        rule requested, or an ensemble without splits).
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, if the table had any.
    classes_ : ndarray
        Class labels.

    References
    ----------
    Hara and Hayashi, "Making Tree Ensembles Interpretable: A Bayesian Model
    Selection Approach", AISTATS 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    >>> fab = FABRulesClassifier(forest, max_rules=4, random_state=0).fit(X, y)
    >>> fab.rules_.evaluate(X, y, model=forest).fidelity > 0.9
    True
    """


class FABRulesRegressor(RuleRegressorMixin, _FABRules):
    """FAB or EM rules that approximate a tree ensemble for regression.

    Parameters and attributes are those of :class:`FABRulesClassifier`, but for
    ``classes_``. Components are normal around one value each, in place of class
    probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)
    >>> fab = FABRulesRegressor(forest, max_rules=5, random_state=0).fit(X, y)
    >>> fab.rules_.n_rules <= 5
    True
    """
