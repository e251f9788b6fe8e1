"""Sums of a few rules and a constant, fitted in bins to the predictions of an ensemble.

The ensemble labels the training rows, and synthetic mixtures of them. Candidate boxes
are the nodes of small randomized trees. A sum grows box by box in a beam search that
refits all contributions together. The length of the sum is chosen on held-out rows
(``size_path``). With ``stability``, boxes are frequent nodes of small trees, which are
not moved. The printed sum is in the units of the data, the largest effects first, and
is the one that predicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from clearwood._estimators import Interval
from clearwood._numeric import product, rounded
from clearwood.rules import FeatureBins, RuleSet, Training, build_rule_sum
from clearwood.search import (
    BoxSum,
    contains,
    frequent_boxes,
    grow_sums,
    make_sum_problem,
    select_sums,
)
from clearwood.search.sums.losses import ClassSumLoss, SquaredSumLoss
from clearwood.simplifiers._common.base import (
    CORE,
    RuleClassifierMixin,
    RuleRegressorMixin,
)
from clearwood.simplifiers._common.fewer_cuts import cuts_at_quantiles
from clearwood.simplifiers._common.scoring import (
    CLASS_WEIGHT,
    SCORING,
    at_stake,
)
from clearwood.simplifiers._common.size_path import N_SYNTHETIC, BaseSizePath

LITERAL_PENALTY = 0.004
"""Penalty per literal, in units of the mean loss."""

RIDGE = {True: 1e-2, False: 1e-4}
"""Ridge penalty on half the square of a contribution, for classes and for values: keeps
log-odds finite where the ensemble is certain."""

N_QUANTILES = 9
"""Thresholds of a numeric feature with ``stability``: at the deciles."""


class _AdditiveRules(BaseSizePath):
    _reads_sparse = True
    # Of the candidates of the last search, the share of the trees with each.
    _frequency: dict[bytes, float] | None = None
    # The rows in all bins, kept for the fit without ``stability``.
    _all_bins: FeatureBins | None = None
    _parameter_constraints: dict[str, Any] = {
        **CORE,
        "n_synthetic": N_SYNTHETIC,
        "stability": [Interval(Real, 0, 1, closed="both")],
        "scoring": SCORING["classification"],
        "class_weight": CLASS_WEIGHT,
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
        n_synthetic: int | str = "auto",
        stability: float = 0.0,
        scoring: Any = "auto",
        class_weight: Any = None,
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
        self.n_synthetic = n_synthetic
        self.stability = stability
        self.scoring = scoring
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cv = cv
        self.random_state = random_state

    def _about(self) -> dict[str, str]:
        return {"method": "additive"}

    def _training(self, *args: Any) -> Training:
        training = super()._training(*args)
        if not self.stability:
            return training
        self._all_bins = training.bins
        bins = cuts_at_quantiles(training.bins, training.encoded, N_QUANTILES)
        return replace(training, bins=bins)

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        about = super()._find_rules(training, generator)
        self.stability_loss_ = np.nan if self.stability else 0.0
        bins, self._all_bins = self._all_bins, None
        if bins is None or len(training) < training.n_folds:
            return about
        # Both are fitted to the same folds.
        seeds = generator.integers(2**63, size=training.n_folds + 1).tolist()
        free = copy(self).set_params(stability=0.0)
        fits = (free, replace(training, bins=bins)), (self, training)
        without, own = (
            one._cross_validate(one._some(rows, seeds[0]), seeds)["fidelity"]
            for one, rows in fits
        )
        self._frequency = None
        self.stability_loss_ = without[self.n_rules_ - 1] - own[self.n_rules_ - 1]
        lost = f"{self.stability_loss_:.3f} lower fidelity on held-out rows"
        return about | {"stability": f"{self.stability:g}, {lost}"}

    def _fit(self, training: Training, generator: np.random.Generator) -> list[BoxSum]:
        kind: Any = ClassSumLoss if training.classes else SquaredSumLoss
        target, weight = training.standardised, training.weight
        if training.class_weight is not None:
            # Probabilities again, under the class frequencies that the weights imply.
            total = target.sum(axis=1)
            target, weight = target / total[:, None], weight * total
        loss = kind.of(target, weight)
        penalised = at_stake(training.soft_loss(1.0))
        problem = make_sum_problem(
            training.grid,
            loss,
            penalised * LITERAL_PENALTY,
            RIDGE[training.outcome.is_share],
            training.counts,
            min_samples_leaf=self.min_samples_leaf,
        )
        if self.stability:
            found = frequent_boxes(training.grid, target, weight, generator)
            boxes, frequency = found[0], found[1].tolist()
            self._frequency = dict(zip(map(np.ndarray.tobytes, boxes), frequency))
            return select_sums(problem, *found, self.stability, self.max_rules - 1)
        candidates = self._candidates(training, generator)
        # The same random numbers for all sizes, so that only these differ.
        same = np.random.default_rng(0)
        return grow_sums(problem, candidates, self.max_rules - 1, same)

    def _predict_bins(self, rules: BoxSum, rows: Training) -> np.ndarray:
        return rows.outcome.linked(rows.outcome.answers(rules.scores(rows.grid).T))

    def _print(self, training: Training, path: Sequence[BoxSum]) -> list[RuleSet]:
        return [self._print_sum(training, boxes) for boxes in path]

    def _print_sum(self, training: Training, boxes: BoxSum) -> RuleSet:
        """Sum in the units of the data, the largest effects first."""
        # Contribution to the value, or to the log-odds of one class each.
        values = np.eye(len(boxes.constant))[boxes.outputs] * boxes.values[:, None]
        values, constant = values * training.unit, boxes.constant * training.unit
        constant = constant + training.centre
        regions, added, frequency = [], [], []
        known = self._frequency or {}
        for k in _by_effect(boxes, training):
            region = training.region(boxes.boxes[k])
            if region is not None:
                regions.append(region)
                added.append(values[k])
                frequency.append(known.get(boxes.boxes[k].tobytes(), np.nan))
        return build_rule_sum(
            regions,
            added,
            constant,
            training,
            frequency,
            round_thresholds=self.round_thresholds,
        )


def _by_effect(boxes: BoxSum, training: Training) -> list[int]:
    """Box indices by the variance of their contributions, the largest first."""
    share = training.weight / training.weight.sum()
    inside = product(contains(training.grid, boxes.boxes), share)
    effect = boxes.values**2 * inside * (1.0 - inside)
    return np.argsort(-rounded(effect), kind="stable").tolist()


class AdditiveRulesClassifier(RuleClassifierMixin, _AdditiveRules):
    """Additive rules that approximate the class probabilities of an ensemble.

    Every rule that a row satisfies adds to the log-odds of one class (of two classes,
    the second), starting from a constant. The sum is fitted to the ensemble's class
    probabilities: every rule is moved through the data, and all contributions are
    refitted together, until the cross-entropy no longer falls.

    Parameters
    ----------
    estimator : estimator, callable, TreeEnsemble or None, default=None
        The ensemble to explain. A fitted one is used as it is and never refitted (wrap
        it in ``sklearn.frozen.FrozenEstimator`` where it must survive ``clone``); an
        unfitted one is fitted on ``X, y``; None means histogram gradient boosting. Of
        any other model, or a function that predicts, only predictions are used, and the
        method chooses thresholds itself.
    n_rules : int or "auto", default="auto"
        Maximum number of rules, the default rule included; fewer if more bring no
        improvement. "auto" chooses the number, up to ``max_rules``: the fewest within
        half a standard error of the best score (``scoring``) on mixtures of held-out
        training rows (three folds); one only if the ensemble predicts the same for all
        rows.
    max_rules : int, default=10
        Maximum number of rules, the constant included; ``path_`` holds the sums of all
        sizes.
    min_samples_leaf : int, default=5
        Minimum number of training rows that a rule covers, regardless of weights.
    learn_from : {"model", "labels"}, default="model"
        Target of the fit: the predictions of the ensemble (probabilities, or values),
        so that the rules explain the model; or the labels.
    exclude_features : sequence of str or int, default=()
        Names, or column indices, of features that no rule may use. The ensemble may use
        them.
    round_thresholds : bool, default=True
        Print, and predict with, the shortest thresholds that separate the same training
        values, values rounded within a thousandth of the target's standard deviation,
        and log-odds of three digits.
    n_synthetic : int or "auto", default="auto"
        Number of synthetic rows, labelled by the ensemble: training rows mixed with
        their neighbours. "auto" makes three per row, at least 4,000 and at most 20,000,
        and none with ``learn_from="labels"``.
    stability : float, default=0.0
        From 0, the most faithful rules, to 1, those that change least with the rows.
        Above 0, thresholds are at the deciles of the rows, and rules are nodes of 1,000
        small trees fitted to the ensemble: those of largest gain times frequency, with
        ``1 - stability`` and ``stability`` as exponents. The frequency is printed;
        ``stability_loss_`` is the loss of fidelity.
    scoring : {"auto", "log_loss", "agreement", "balanced"} or callable, default="auto"
        Score that chooses the number of rules on held-out rows. "auto": log
        loss of the probabilities of the rules against those of the ensemble (R2 for
        regression). "log_loss": the same. "agreement": the share of rows for which
        rules and ensemble predict the same class. "balanced": the mean of the agreement
        in each class; unless ``class_weight`` is given, the fit weights classes as if
        equally frequent. Or a function of the targets and predictions (probabilities or
        values) of some rows that returns one number per row, higher is better.
    class_weight : "balanced", dict from label to float, or None, default=None
        Weights of the classes: the sum is fitted as if a class had that many times its
        rows, and predicts such probabilities. "balanced" finds rare classes: weights
        are inverse to the mean probabilities.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.
    verbose : bool, default=False
        Show a progress bar on stderr.
    cv : int, splitter of scikit-learn, iterable or None, default=None
        How rows are held out: None for random folds; otherwise as in
        scikit-learn, such as ``TimeSeriesSplit()`` for rows ordered by time. With
        ``groups`` in ``fit``, a number means so many folds of whole groups.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the search (and of the default ensemble).

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
        If labels were given, the ``"slope"`` by which all log-odds were multiplied to
        calibrate probabilities for new rows (cross-fitting).
    stability_loss_ : float
        Decrease of the fidelity on held-out rows (three folds) by ``stability``, at the
        same number of rules; 0 without.
    path_ : tuple of RuleSet
        The sums of all sizes, from the constant alone to the longest found.
    n_rules_ : int
        Number of rules, as requested or chosen.
    cv_results_ : dict of str to list, or None
        If the size was chosen on held-out rows, an entry per size: ``"fidelity"`` and
        its ``"standard_error"``; with another ``scoring`` also ``"score"`` and
        ``"score_error"``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, if the table had any.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = AdditiveRulesClassifier(forest, n_rules=4, random_state=0)
    >>> rules.fit(X, y).rules_.evaluate(X, y, model=forest).fidelity > 0.9
    True
    """


class AdditiveRulesRegressor(RuleRegressorMixin, _AdditiveRules):
    """Additive rules that approximate an ensemble regressor.

    Every rule that a row satisfies adds its value to a constant. The sum is fitted to
    the ensemble's values: every rule is moved through the data, and all values are
    refitted together, until the squared error no longer falls. For additive effects, a
    sum takes far fewer rules than a list. Parameters and attributes
    are those of :class:`AdditiveRulesClassifier`, but for ``class_weight`` and
    ``classes_``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = AdditiveRulesRegressor(forest, n_rules=5, random_state=0)
    >>> rules.fit(X, y).rules_.combine
    'sum'
    """

    _parameter_constraints = {
        **_AdditiveRules._parameter_constraints,
        "scoring": SCORING["regression"],
        "class_weight": [None],
    }
