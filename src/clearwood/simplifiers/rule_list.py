"""Short ordered lists of rules that approximate an ensemble.

The ensemble labels the training rows, and synthetic mixtures of them. A box is a set of
allowed bins of every feature; the first box of a list that contains a row predicts.
``fit`` (``_common.base``, whose class lists all steps) calls ``_find_rules``
(``_common.size_path``), which calls:

1. ``_choose``: the length, by fits to two thirds of the rows and their score on
   mixtures of the others, before rounding.
2. ``_fit``: candidates are the nodes of small randomized trees. A list grows by the
   candidate and position of largest gain; then all its boxes are moved until no move
   improves it. The loss is squared error; for classes, also the regret.
3. ``_print``: boxes become conditions in the units of the data, rounded. The printed
   rules are those that predict.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from clearwood._words.labels import marked_names
from clearwood.columns.validation import check_signs
from clearwood.rules import RuleSet, Training, build_rule_list
from clearwood.rules.building.monotone import expected_in_order
from clearwood.search import BoxList, Loss, Penalties, grow_lists, make_problem
from clearwood.simplifiers._common.base import (
    CORE,
    RuleClassifierMixin,
    RuleRegressorMixin,
)
from clearwood.simplifiers._common.cross_fitting import Change
from clearwood.simplifiers._common.scoring import (
    CLASS_WEIGHT,
    SCORING,
    at_stake,
    search_loss,
)
from clearwood.simplifiers._common.size_path import N_SYNTHETIC, BaseSizePath

LITERAL_PENALTY = 0.002
"""Penalty per literal, in units of the mean loss (regret, or squared error of the
standardized target)."""

OVERLAP_PENALTY = {True: 0.05, False: 0.01}
"""Penalty per row in a further box, in the same units: for classes, and for values."""

SQRT_2 = 2**0.5
"""Divisor of a difference of two probabilities, whose square is then both errors'."""


class _RuleList(BaseSizePath):
    # Weight of the squared error of probabilities beside the regret: lists then rank
    # rows by the ensemble's probabilities, at no lower agreement.
    _softness = 0.5
    _reads_sparse = True
    _parameter_constraints: dict[str, Any] = {
        **CORE,
        "n_synthetic": N_SYNTHETIC,
        "monotonic_cst": "no_validation",
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
        monotonic_cst: Any = None,
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
        self.monotonic_cst = monotonic_cst
        self.scoring = scoring
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cv = cv
        self.random_state = random_state

    def _training(self, *args: Any) -> Training:
        training = super()._training(*args)
        # Per feature 1 where predictions must rise, -1 where they must fall, else 0.
        self._signs = check_signs(
            self.monotonic_cst,
            training.bins.features,
            self._columns(),
            len(training.classes),
        )
        return training

    def _fit(self, training: Training, generator: np.random.Generator) -> list[BoxList]:
        """Best list found of each size, the shortest first."""
        candidates = self._candidates(training, generator)
        loss = search_loss(training, self.scoring, self._softness)
        if self._signs.any() and training.classes:
            # One number has an order, several probabilities have none.
            first, second = training.standardised.T
            loss = Loss.squares((second - first) / SQRT_2, training.weight)
        penalised = at_stake(loss)
        overlap = OVERLAP_PENALTY[training.outcome.is_share]
        problem = make_problem(
            training.grid,
            loss,
            Penalties(penalised * LITERAL_PENALTY, penalised * overlap),
            training.counts,
            self._signs[training.used_features],
            min_samples_leaf=self.min_samples_leaf,
        )
        # One rule is the default.
        return grow_lists(problem, candidates, self.max_rules - 1)

    def _predict_bins(self, rules: BoxList, rows: Training) -> np.ndarray:
        predicted = rules.predict(rows.grid)
        if predicted.ndim > 1 or not rows.classes:
            return predicted
        # From the difference of weighted scores to the second class's probability.
        first, second = rows.standardise(np.eye(2)).diagonal()
        p = (SQRT_2 * predicted + first) / (first + second)
        return rows.standardise(np.column_stack([1.0 - p, p]))

    def _print(self, training: Training, path: Sequence[BoxList]) -> list[RuleSet]:
        # A box without any value has no region. Predictions are recomputed from the
        # rows that each rule covers as printed.
        regions = [[training.region(box) for box in lst.boxes] for lst in path]
        return [
            build_rule_list(
                [region for region in found if region is not None],
                training,
                round_thresholds=self.round_thresholds,
                signs=self._signs,
            )
            for found in regions
        ]

    def _change_rules(self, change: Change) -> None:
        super()._change_rules(change)
        if self._outcome.is_share and self._signs.any():
            super()._change_rules(partial(expected_in_order, signs=self._signs))

    def _about(self) -> dict[str, str]:
        rising, falling = self._signs == 1, self._signs == -1
        names = self.bins_.features.names
        limits = marked_names(names, increasing=rising, decreasing=falling)
        return {"method": "list", **limits}


class RuleListClassifier(RuleClassifierMixin, _RuleList):
    """Short rule list that approximates an ensemble classifier.

    The list is fitted to the ensemble's class probabilities: every rule is moved
    through the data, one after the other, until no move lowers the loss of the list or
    simplifies it at little loss.

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
        Maximum number of rules, the default rule (``otherwise``) included; ``path_``
        holds the lists of all sizes.
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
        values, and predicted values rounded within half a percent of the target's
        standard deviation.
    n_synthetic : int or "auto", default="auto"
        Number of synthetic rows, labelled by the ensemble: training rows mixed with
        their neighbours. "auto" makes three per row, at least 4,000 and at most 20,000,
        and none with ``learn_from="labels"``.
    monotonic_cst : dict of str to int, array-like of int or None, default=None
        Monotonicity constraints: numeric features with which predictions must not fall
        (1) or not rise (-1), by name or one sign per column; 0 for the others. They
        hold for every row, whatever its other features: for values; for two classes,
        for the printed probability of the second and so for the class; more than two
        have no order. A missing value is not ordered relative to others.
    scoring : {"auto", "log_loss", "agreement", "balanced"} or callable, default="auto"
        Score that chooses the number of rules on held-out rows. "auto": log
        loss of the probabilities of the rules against those of the ensemble (R2 for
        regression). "log_loss": the same, and the search minimizes it, too (but not
        with ``monotonic_cst``): probabilities improve, and agreement falls.
        "agreement": the share of rows for which rules and ensemble predict the same
        class. "balanced": the mean of the agreement in each class; unless
        ``class_weight`` is given, the fit weights classes as if equally frequent. Or a
        function of the targets and predictions (probabilities or values) of some rows
        that returns one number per row, higher is better.
    class_weight : "balanced", dict from label to float, or None, default=None
        Weights of the classes: rules predict the class whose probability times its
        weight is largest, and print the unweighted probability. "balanced" finds rare
        classes: weights are inverse to the mean probabilities.
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
        If labels were given, the shrinkage of the rules for new rows (cross-fitting):
        ``"usual_rows"``, the rows of average composition that each is pooled with,
        times ``(1 + n_literals) ** 2``; and for intervals ``"evidence"``, the weight of
        each row.
    path_ : tuple of RuleSet
        The lists of all sizes, from the default rule alone to the longest found.
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
    >>> rules = RuleListClassifier(forest, n_rules=3, random_state=0)
    >>> rules.fit(X, y).rules_.evaluate(X, y, model=forest).fidelity > 0.9
    True
    """


class RuleListRegressor(RuleRegressorMixin, _RuleList):
    """Short rule list that approximates an ensemble regressor.

    The list is fitted to the ensemble's values: every rule is moved through the data,
    one after the other, until no move lowers the squared error or simplifies the list
    at little loss. Parameters and attributes are those of :class:`RuleListClassifier`,
    but for ``class_weight`` and ``classes_``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, y)
    >>> rules = RuleListRegressor(forest, n_rules=5, random_state=0)
    >>> rules.fit(X, y).rules_.n_rules <= 5
    True
    """

    _parameter_constraints = {
        **_RuleList._parameter_constraints,
        "scoring": SCORING["regression"],
        "class_weight": [None],
    }
