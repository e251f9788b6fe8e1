"""scikit-learn estimators of inTrees."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from numbers import Integral, Real
from typing import Any

import numpy as np

from clearwood._estimators import Interval, StrOptions
from clearwood.rules import RuleSet, Training
from clearwood.search import candidate_boxes
from clearwood.simplifiers._common.base import (
    CORE,
    BaseRuleExtractor,
    RuleClassifierMixin,
    RuleRegressorMixin,
)
from clearwood.simplifiers.in_trees.algorithm import R_PACKAGE, Procedure, find_rules
from clearwood.simplifiers.in_trees.paths import Paths, extract_paths, paths_of_boxes
from clearwood.simplifiers.in_trees.pruning import ExtractedRules


class _InTrees(BaseRuleExtractor):
    _needs_trees = True

    _paper = {"max_rules": None, "learn_from": "labels", "min_frequency": 0.01}
    _procedure: Procedure | None = None

    _parameter_constraints: dict[str, Any] = {
        **CORE,
        "max_rules": [*CORE["max_rules"], None],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_trees": [Interval(Integral, 1, None, closed="left"), None],
        "min_frequency": [
            StrOptions({"auto"}),
            Interval(Real, 0, 1, closed="both"),
        ],
        "preset": [None, StrOptions({"paper"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int | None = 10,
        min_samples_leaf: int = 1,
        learn_from: str = "model",
        exclude_features: Sequence[str | int] = (),
        round_thresholds: bool = True,
        max_depth: int | None = 6,
        max_trees: int | None = 100,
        min_frequency: float | str = "auto",
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
        self.max_depth = max_depth
        self.max_trees = max_trees
        self.min_frequency = min_frequency
        self.preset = preset
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cv = cv
        self.random_state = random_state

    @property
    def _choices(self) -> Procedure:
        own = Procedure() if self.preset is None else R_PACKAGE
        return self._procedure or own

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        paths = extract_paths(
            self.ensemble_,
            training.bins,
            training.seen,
            max_depth=self.max_depth,
            max_trees=self.max_trees,
            nodes=self._choices.nodes,
            exclude_features=training.exclude_features,
        )
        self.extracted_, self.pruned_, self.path_ = self._from_paths(
            paths, training, generator
        )
        self.rules_ = self.path_[-1]
        return {"method": "in-trees", "learn_from": self.learn_from}

    def _refit(self, training: Training, generator: np.random.Generator) -> RuleSet:
        """As in the base class, but from trees grown on these rows alone.

        The ensemble's trees were split by labels of the rows left out, too.
        """
        boxes = candidate_boxes(
            training.grid, training.standardised, training.weight, generator
        )
        paths = paths_of_boxes(boxes, training.used_features, training.bins)
        quiet = copy(self).set_params(
            n_jobs=None, verbose=False, round_thresholds=False
        )
        *_, path = quiet._from_paths(paths, training, generator)
        return path[-1]

    def _from_paths(
        self, paths: Paths, training: Training, generator: np.random.Generator
    ) -> tuple[ExtractedRules, ExtractedRules, tuple[RuleSet, ...]]:
        is_auto = isinstance(self.min_frequency, str)
        return find_rules(
            paths,
            training,
            self._choices,
            max_rules=self._most_rules,
            min_samples_leaf=self.min_samples_leaf,
            min_frequency=None if is_auto else float(self.min_frequency),
            round_thresholds=self.round_thresholds,
            generator=generator,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )


class InTreesClassifier(RuleClassifierMixin, _InTrees):
    """inTrees rule list: rules of an ensemble's trees, pruned and ordered.

    The paths of the trees are rules, those to inner nodes included. Literals without
    which the error hardly rises are removed; of the resulting rules, the one of least
    error comes first, then the one of least error on the remaining rows, and so on.
    :class:`RuleListClassifier` searches for new rules, of which fewer are needed for
    the same fidelity.

    Parameters
    ----------
    estimator : estimator, TreeEnsemble or None, default=None
        The ensemble to explain. A fitted one is used as it is and never refitted
        (wrap it in ``sklearn.frozen.FrozenEstimator`` where it must survive
        ``clone``); an unfitted one is fitted on ``X, y``; None means histogram
        gradient boosting.
    n_rules : int or "auto", default="auto"
        Maximum number of rules, the default rule included; fewer if the list ends
        before, once a constant for all remaining rows has no larger error than the best
        rule. "auto" prints up to ``max_rules``.
    max_rules : int or None, default=10
        Maximum number of rules, the default rule included; None for no limit.
    min_samples_leaf : int, default=1
        Minimum number of training rows that a rule covers, regardless of weights.
    learn_from : {"model", "labels"}, default="model"
        Target of the fit: the predictions of the ensemble (probabilities, or values),
        so that the rules explain the model; or the labels, as in the article.
    exclude_features : sequence of str or int, default=()
        Names, or column indices, of features that no rule may use. The ensemble may use
        them.
    round_thresholds : bool, default=True
        Print, and predict with, the shortest thresholds that separate the same training
        values, and predicted values rounded within half a percent of the target's
        standard deviation.
    max_depth : int or None, default=6
        Maximum number of splits of a path; longer paths are truncated.
    max_trees : int or None, default=100
        Maximum number of trees; the first are used.
    min_frequency : float or "auto", default="auto"
        Minimum share of all rows that a rule must decide. The R package has 0.01.
        "auto" tries .01, .02, .05, .1 and .2, and takes the smallest training error for
        the number of rules.
    preset : {"paper"} or None, default=None
        "paper" uses the settings of the R package inTrees: paths to leaves only, values
        as three levels while rules are evaluated, and ``max_rules=None``,
        ``learn_from="labels"`` and ``min_frequency=0.01`` in place of the defaults of
        these parameters (other values are kept; for
        fewer rules set ``n_rules``).
    n_jobs : int or None, default=None
        Number of threads for pruning. The result does not depend on it.
    verbose : bool, default=False
        Show a progress bar on stderr, of the pruning.
    cv : int, splitter of scikit-learn, iterable or None, default=None
        How rows are held out: None for random folds; otherwise as in
        scikit-learn, such as ``TimeSeriesSplit()`` for rows ordered by time. With
        ``groups`` in ``fit``, a number means so many folds of whole groups.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the subsamples of at most 10,000 rules, and of at most 20,000 rows to
        evaluate them on (and of the default ensemble).

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
    single_split_fidelity_ : float
        Fidelity of a tree with a single split (decision stump) to the target of the
        fit, on the training rows: the benchmark for the rules.
    shrinkage_ : dict, or None
        If labels were given, the shrinkage of the rules for new rows (cross-fitting):
        ``"usual_rows"``, the rows of average composition that each is pooled with,
        times ``(1 + n_literals) ** 2``; and for intervals ``"evidence"``, the weight of
        each row.
    extracted_ : ExtractedRules
        The distinct rules of the trees: ``prediction``, ``frequency``, ``error`` and
        ``length``, one entry each, and ``to_pandas()``.
    pruned_ : ExtractedRules
        The distinct rules after pruning.
    path_ : tuple of RuleSet
        The lists of all sizes, from the default rule to ``rules_``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, if the table had any.
    classes_ : ndarray
        Class labels.

    References
    ----------
    Deng, "Interpreting tree ensembles with inTrees", 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = InTreesClassifier(forest, max_rules=3, random_state=0).fit(X, y)
    >>> rules.rules_.evaluate(X, y, model=forest).fidelity > 0.9
    True
    """


class InTreesRegressor(RuleRegressorMixin, _InTrees):
    """inTrees rule list for regression: pruned and ordered rules of an ensemble.

    Parameters and attributes are those of :class:`InTreesClassifier`, but for
    ``classes_``. Rules predict the mean of their rows and are evaluated by squared
    error.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)
    >>> rules = InTreesRegressor(forest, max_rules=5, random_state=0).fit(X, y)
    >>> rules.rules_.n_rules <= 5
    True
    """
