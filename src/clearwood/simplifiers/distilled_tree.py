"""One small tree that says what an ensemble says.

The ensemble says what training rows, and synthetic ones mixed of them, are. A tree
grows by the split after which two more say most, is cut back to every size exactly,
and at each size splits and leaves are moved until nothing improves (``search.trees``).
How many leaves it has is chosen on held-out rows (``size_path``). The leaves are
printed as rules in the data's own terms, rounded, of which a row satisfies one only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clearwood.rules import Training, Tree, print_tree
from clearwood.search.trees.grow import grow_trees
from clearwood.search.trees.nodes import TREE_PENALTY, GrownNode, make_tree_problem
from clearwood.simplifiers._common.base import CORE, ClassifiesByRules, PredictsByRules
from clearwood.simplifiers._common.scoring import (
    CLASS_WEIGHT,
    SCORING,
    at_stake,
    softness,
)
from clearwood.simplifiers._common.size_path import N_SYNTHETIC, TreesOnSizePath


class TreeSettings(NamedTuple):
    """Whether synthetic rows are used; there is nothing to tune."""

    synthetic: bool


class _DistilledTree(TreesOnSizePath):
    """What classifier and regressor share: the method."""

    # Weight of the squared error of probabilities beside the regret: of splits after
    # which the same classes are said, it prefers the one that says how sure they are;
    # more orders rows better, but follows the classes less in few lines.
    _softness = 0.1
    _reads_sparse = True
    _parameter_constraints: dict[str, Any] = {
        **CORE,
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
        self.n_synthetic = n_synthetic
        self.scoring = scoring
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _about(self) -> dict[str, str]:
        return {"method": "tree"}

    def _settings(self, training: Training) -> list[TreeSettings]:
        return [TreeSettings(self._n_synthetic(training) > 0)]

    def _fit(
        self,
        training: Training,
        settings: Sequence[TreeSettings],
        generator: np.random.Generator,
    ) -> list[list[GrownNode]]:
        loss = training.soft_loss(softness(self.scoring, self._softness))
        problem = make_tree_problem(
            training.grid,
            loss,
            training.counts,
            at_stake(loss) * TREE_PENALTY,
            min_rows=self.min_rows,
        )
        return [grow_trees(problem, self.max_rules)]

    def _print_tree(self, training: Training, tree: GrownNode) -> Tree:
        return print_tree(tree, training, round_cuts=self.round_cuts)


class DistilledTreeClassifier(ClassifiesByRules, _DistilledTree):
    """A small tree that says what an ensemble classifies as what.

    Every row is in one leaf only, so each rule can be read by itself. Splits are
    chosen for what can be said after two more of them, and the whole tree is then
    improved; see :class:`RuleListClassifier` for lists, which are closer to the
    ensemble at the same number of lines.

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
        Most lines printed, ``otherwise`` included: each is a leaf. ``path_`` holds the
        trees of all sizes.
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
        values, and values short within half a percent of the target's standard
        deviation.
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
        What a class counts: rules say the class whose probability times this is
        largest, and print the probability as it is. "balanced" finds rare classes: it
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
        Where labels were given, how careful to be with the rules on new rows:
        ``"usual_rows"`` of the usual mix that each is counted with, and for intervals
        the ``"evidence"`` of each of its own rows (cross-fitting).
    tree_ : Tree
        The rules as a tree, which predicts the same.
    trees_ : tuple of Tree
        Trees of all sizes.
    path_ : tuple of RuleSet
        The trees of all sizes as rules, from ``otherwise`` alone to the largest.
    n_rules_ : int
        Leaves asked for, or chosen.
    cv_results_ : dict of str to list, or None
        Where the size was chosen on held-out rows: ``"fidelity"`` and its
        ``"standard_error"``, one line with an entry per size, and ``"synthetic"``;
        where another ``scoring`` decides, ``"score"`` and ``"score_error"`` too.
    settings_ : dict
        Whether synthetic rows were used.
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
    >>> tree = DistilledTreeClassifier(forest, n_rules=3, random_state=0).fit(X, y)
    >>> tree.rules_.evaluate(X, y, teacher=forest).fidelity > 0.9
    True
    """


class DistilledTreeRegressor(PredictsByRules, _DistilledTree):
    """A small tree that says what an ensemble predicts where.

    Every row is in one leaf only, so each rule can be read by itself. Parameters and
    attributes are those of :class:`DistilledTreeClassifier`, but for ``class_weight``
    and ``classes_``; see :class:`RuleListRegressor` for lists, which are closer to the
    ensemble at the same number of lines.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> tree = DistilledTreeRegressor(forest, n_rules=5, random_state=0).fit(X, y)
    >>> tree.tree_.n_leaves
    5
    """

    _parameter_constraints = {
        **_DistilledTree._parameter_constraints,
        "scoring": SCORING["regression"],
        "class_weight": [None],
    }
