"""Sums of a few rules and a constant, fitted in bins to what an ensemble says.

The ensemble says what training rows, and synthetic ones mixed of them, are. Boxes to
choose from are the nodes of small randomised trees. A sum grows box by box in a beam
search, all that its boxes add being refitted together. How much literals cost, and how
long the sum is, is chosen on held-out rows (``size_path``). What is printed is put in
the data's own terms and units, what moves most first, and predicts as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clearwood._estimators import StrOptions
from clearwood._numeric import product, rounded
from clearwood.rules import RuleSet, Training, build_rule_sum
from clearwood.search import BoxSum, contains, grow_sums, make_sum_problem
from clearwood.search.sums.losses import ClassSumLoss, SquaredSumLoss
from clearwood.simplifiers._common.base import CORE, ClassifiesByRules, PredictsByRules
from clearwood.simplifiers._common.scoring import (
    CLASS_WEIGHT,
    SCORING,
    SOFTNESS_FOR_LOG_LOSS,
    at_stake,
)
from clearwood.simplifiers._common.size_path import N_SYNTHETIC, RulesOnSizePath

LITERAL_PENALTIES = (0.004, 0.002)
"""Penalties per literal, the default first."""

RIDGE = {True: 1e-2, False: 1e-4}
"""Penalty on half the square of what a rule adds, of classes and of values: log-odds
must not run away where the ensemble is sure."""


class SumSettings(NamedTuple):
    """What is tuned.

    Attributes
    ----------
    literal_penalty : float
        Per literal.
    synthetic : bool
        Whether synthetic rows are used.
    """

    literal_penalty: float
    synthetic: bool


class _AdditiveRules(RulesOnSizePath):
    """What classifier and regressor share: the method."""

    _reads_sparse = True
    _parameter_constraints: dict[str, Any] = {
        **CORE,
        "tune": [StrOptions({"auto"}), None],
        "n_synthetic": N_SYNTHETIC,
        "scoring": SCORING["classification"],
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int = 10,
        min_rows: int = 5,
        target: str = "ensemble",
        forbidden: Sequence[str | int] = (),
        round_cuts: bool = True,
        tune: str | None = None,
        n_synthetic: int | str = "auto",
        scoring: Any = "auto",
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.min_rows = min_rows
        self.target = target
        self.forbidden = forbidden
        self.round_cuts = round_cuts
        self.tune = tune
        self.n_synthetic = n_synthetic
        self.scoring = scoring
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _about(self) -> dict[str, str]:
        return {"method": "additive"}

    def _settings(self, training: Training) -> list[SumSettings]:
        return [
            SumSettings(literal, synthetic)
            for synthetic in self._synthetic_or_not(training)
            for literal in LITERAL_PENALTIES
        ]

    def _fit(
        self,
        training: Training,
        settings: Sequence[SumSettings],
        generator: np.random.Generator,
    ) -> list[list[BoxSum]]:
        candidates = self._candidates(training, generator)
        kind: Any = ClassSumLoss if training.classes else SquaredSumLoss
        taught, weight = training.standardised, training.weight
        if training.class_weight is not None:
            # Probabilities again, of a world in which there are so many of each class.
            total = taught.sum(axis=1)
            taught, weight = taught / total[:, None], weight * total
        loss = kind.of(taught, weight)
        penalised = at_stake(training.soft_loss(SOFTNESS_FOR_LOG_LOSS))
        problems = [
            make_sum_problem(
                training.grid,
                loss,
                penalised * setting.literal_penalty,
                RIDGE[training.outcome.is_share],
                training.counts,
                min_rows=self.min_rows,
            )
            for setting in settings
        ]
        # The same luck for every size and all settings: what differs is not that.
        return [
            grow_sums(problem, candidates, self.max_rules - 1, np.random.default_rng(0))
            for problem in problems
        ]

    def _said(self, rules: BoxSum, rows: Training) -> np.ndarray:
        return rows.outcome.linked(rows.outcome.answers(rules.scores(rows.grid).T))

    def _print(self, training: Training, path: Sequence[BoxSum]) -> list[RuleSet]:
        return [self._print_sum(training, boxes) for boxes in path]

    def _print_sum(self, training: Training, boxes: BoxSum) -> RuleSet:
        """A sum in the data's own terms and units, what moves most first."""
        # To the value, or to the log-odds of one class each.
        values = np.eye(len(boxes.constant))[boxes.outputs] * boxes.values[:, None]
        values, constant = values * training.unit, boxes.constant * training.unit
        constant = constant + training.centre
        regions, added = [], []
        for k in _by_effect(boxes, training):
            region = training.region(boxes.boxes[k])
            if region is not None:
                regions.append(region)
                added.append(values[k])
        return build_rule_sum(
            regions, added, constant, training, round_cuts=self.round_cuts
        )


def _by_effect(boxes: BoxSum, training: Training) -> list[int]:
    """Boxes in order of the variance that they add, the largest first."""
    share = training.weight / training.weight.sum()
    inside = product(contains(training.grid, boxes.boxes), share)
    effect = boxes.values**2 * inside * (1.0 - inside)
    return np.argsort(-rounded(effect), kind="stable").tolist()


class AdditiveRulesClassifier(ClassifiesByRules, _AdditiveRules):
    """A sum of a few rules that says how likely an ensemble finds a class.

    Every rule that a row satisfies adds to the log-odds of one class (of two classes,
    the second), starting from a constant. The sum is fitted to the ensemble's class
    probabilities: every rule is moved about in the data, and all that they add is
    refitted together, until the cross-entropy is as small as it gets.

    Parameters
    ----------
    estimator : estimator, callable, TreeEnsemble or None, default=None
        The ensemble to explain. A fitted one is used as it is and never refitted
        (wrap it in ``sklearn.frozen.FrozenEstimator`` where it must survive
        ``clone``); an unfitted one is fitted on ``X, y``; None means histogram
        gradient boosting. Any other model, or a function that predicts, is asked as
        it stands, and rules choose cuts of their own.
    n_rules : int or "auto", default="auto"
        Lines printed at most; fewer where more do not pay. "auto" takes as many as
        pay, up to ``max_rules``: the fewest that are within half a standard error of
        the best score (``scoring``) on mixtures of rows held out from the training
        rows (three folds); one only where the ensemble predicts the same for all rows.
    max_rules : int, default=10
        Most lines printed, ``otherwise`` included (here the constant); ``path_`` holds
        the sums of all sizes.
    min_rows : int, default=5
        Fewest training rows that a rule catches, whatever they weigh.
    target : {"ensemble", "labels"}, default="ensemble"
        What the rules are fitted to: what the ensemble predicts (probabilities, or
        values), so that they explain the model; or the labels.
    forbidden : sequence of str or int, default=()
        Names, or positions among the columns, of features that no rule may ask. The
        ensemble may ask them.
    round_cuts : bool, default=True
        Print, and predict with, the shortest bounds that separate the same training
        values, values short within a thousandth of the target's standard deviation,
        and log-odds of three digits.
    tune : "auto" or None, default=None
        With fewer than 2,000 rows, choose by ``scoring`` on held-out rows (three folds)
        how much literals cost, and whether synthetic rows are used. That takes twice
        as long, and with as many lines it is no closer on average.
    n_synthetic : int or "auto", default="auto"
        Synthetic rows, which the ensemble labels: training rows mixed with their
        neighbours. "auto" makes three per row, at least 4,000 and at most 20,000, and
        none with ``target="labels"``.
    scoring : {"auto", "log_loss", "agreement", "balanced"} or callable, default="auto"
        By what settings and length are chosen on held-out rows. "auto": log loss of
        the probabilities of the rules against those of the ensemble (of values, R2).
        "log_loss": the same, and rules grow more by probabilities, less by classes.
        "agreement": the share of rows for which rules and ensemble predict the same
        class. "balanced": the mean of the agreement in each class; unless
        ``class_weight`` is given, classes are taught as if all were as frequent. Or a
        function of the targets and predictions, probabilities or values of some rows,
        that gives a number per row, the higher the better.
    class_weight : "balanced", dict from label to float, or None, default=None
        What a class counts: the sum is fitted as if there were so many more rows of
        it, and so are the probabilities that it says. "balanced" finds rare classes: it
        counts the inverse of the mean probability.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it.
    verbose : bool, default=False
        Show a progress bar on stderr.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the search (and of the default ensemble).

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
    single_split_fidelity_ : float
        How far a tree of one split follows what the rules were fitted to, on the
        training rows: what rules have to beat.
    caution_ : dict, or None
        Where labels were given, the ``"slope"`` by which all log-odds were multiplied
        so that probabilities hold on new rows (cross-fitting).
    path_ : tuple of RuleSet
        The sums of all sizes, from the constant alone to the longest that pays.
    n_rules_ : int
        Lines asked for, or chosen.
    cv_results_ : dict of str to list, or None
        Where something was chosen on held-out rows: per settings tried
        ``"literal_penalty"`` and ``"synthetic"``, and, with one entry per size,
        ``"fidelity"`` and its ``"standard_error"``; where another ``scoring``
        decides, ``"score"`` and ``"score_error"`` too.
    settings_ : dict
        The settings of the sums in ``path_``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, where the table had some.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = AdditiveRulesClassifier(forest, n_rules=4, random_state=0)
    >>> rules.fit(X, y).rules_.evaluate(X, y, teacher=forest).fidelity > 0.9
    True
    """


class AdditiveRulesRegressor(PredictsByRules, _AdditiveRules):
    """A sum of a few rules that says what an ensemble predicts.

    Every rule that a row satisfies adds its value to a constant. The sum is fitted to
    the ensemble's values: every rule is moved about in the data, and all values are
    refitted together, until the squared differences are as small as they get. Where
    effects add up, a sum takes far fewer lines than a list. Parameters and attributes
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
