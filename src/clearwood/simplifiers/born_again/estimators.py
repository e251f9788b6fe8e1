"""Born-again trees: one tree grown on synthetic rows that are made in every node.

In a node rows are drawn inside its box (``smearing``), and the ensemble says what they
are; the split is taken after which squared error is least, and the leaf with most to
gain is split next (``trees``). The tree is kept at every size, and how many leaves it
has is chosen on held-out rows (``size_path``). The leaves are printed as rules in the
data's own terms, of which a row satisfies one only.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from clearwood._estimators import Interval
from clearwood.rules import Training, Tree
from clearwood.simplifiers._common.base import (
    CORE,
    ClassifiesByRules,
    PredictsByRules,
    RulesFromEnsemble,
)
from clearwood.simplifiers._common.doubts import Doubt, SingleSplit
from clearwood.simplifiers._common.size_path import TreesOnSizePath
from clearwood.simplifiers.born_again.trees import (
    SmearedTree,
    grow_smeared_trees,
    print_smeared_tree,
)


class SmearSettings(NamedTuple):
    """How rows are made; there is nothing to tune.

    Attributes
    ----------
    p_alt : float
        Probability that a feature takes the value of another row.
    n_node_rows : int
        Rows that are made in each node.
    synthetic : bool
        Whether there are synthetic rows before the tree grows: no, each node makes
        its own.
    """

    p_alt: float
    n_node_rows: int
    synthetic: bool = False


class _BornAgainTree(TreesOnSizePath):
    """What classifier and regressor share: the method."""

    _parameter_constraints: dict[str, Any] = {
        **CORE,
        "p_alt": [Interval(Real, 0, 1, closed="both")],
        "n_node_rows": [Interval(Integral, 1, None, closed="left")],
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
        p_alt: float = 0.1,
        n_node_rows: int = 1000,
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
        self.p_alt = p_alt
        self.n_node_rows = n_node_rows
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    # Leaves that say the same class are one.
    scoring = "agreement"

    def _remedy(self, doubt: Doubt, training: Training, split: SingleSplit) -> str:
        # Fewer rows in a leaf do not change the class that it says.
        if doubt.kind == "constant":
            return RulesFromEnsemble._remedy(self, doubt, training, split)
        return super()._remedy(doubt, training, split)

    def _about(self) -> dict[str, str]:
        return {"method": "born-again", "p_alt": str(self.settings_["p_alt"])}

    def _settings(self, training: Training) -> list[SmearSettings]:
        # Nobody knows the labels of rows that are made.
        n_node_rows = 0 if self.target == "labels" else int(self.n_node_rows)
        return [SmearSettings(float(self.p_alt), n_node_rows)]

    @staticmethod
    def _without_synthetic(chosen: SmearSettings) -> SmearSettings:
        return chosen._replace(n_node_rows=0)

    def _fit(
        self,
        training: Training,
        settings: Sequence[SmearSettings],
        generator: np.random.Generator,
    ) -> list[list[SmearedTree]]:
        (setting,) = settings
        trees = grow_smeared_trees(
            training,
            self.ensemble_,
            self.max_rules,
            p_alt=setting.p_alt,
            n_node_rows=setting.n_node_rows,
            min_rows=self.min_rows,
            generator=generator,
        )
        return [trees]

    def _print_tree(self, training: Training, tree: SmearedTree) -> Tree:
        return print_smeared_tree(training, tree, round_cuts=self.round_cuts)


class BornAgainTreeClassifier(ClassifiesByRules, _BornAgainTree):
    """A tree grown on synthetic rows that an ensemble classifies.

    The tree of Breiman and Shang: rows are made in every node, so that a split deep in
    the tree is chosen on as many as the first one, and a tree may grow large: some
    fifty leaves are no trouble. Leaves say what the ensemble says. For trees of a few
    lines, :class:`DistilledTreeClassifier` usually follows the ensemble better.

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
        the best fidelity on mixtures of rows held out from the training rows (three
        folds).
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
    p_alt : float, default=0.1
        Probability with which each feature of a synthetic row takes the value of
        another training row. The more, the more is learnt of how the ensemble goes on
        where there are few rows, and the more rows are asked about that do not occur:
        where features depend on each other, large values do harm, and where they
        hardly do, 0.2 and more are often better. The program of Hara and Hayashi has
        0.5.
    n_node_rows : int, default=1000
        Synthetic rows that are made in each node; none with ``target="labels"``.
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
        Trees of growing size.
    path_ : tuple of RuleSet
        The same trees as rules, from ``otherwise`` alone to the largest. Where both
        sides of a split say the same class it is left out, so a size may be missing.
    n_rules_ : int
        Leaves asked for, or chosen.
    cv_results_ : dict of str to list, or None
        Where the size was chosen on held-out rows: ``"fidelity"`` and its
        ``"standard_error"``, one line with an entry per size, and the settings.
    settings_ : dict
        How rows were made.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, where the table had some.
    classes_ : ndarray
        Class labels.

    References
    ----------
    Breiman and Shang, "Born again trees", technical report, University of California,
    Berkeley, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> tree = BornAgainTreeClassifier(forest, n_rules=3, random_state=0).fit(X, y)
    >>> tree.rules_.evaluate(X, y, teacher=forest).fidelity > 0.9
    True
    """


class BornAgainTreeRegressor(PredictsByRules, _BornAgainTree):
    """A tree grown on synthetic rows for which an ensemble predicts values.

    The tree of Breiman and Shang: rows are made in every node, so that a split deep in
    the tree is chosen on as many as the first one. Parameters and attributes are those
    of :class:`BornAgainTreeClassifier`, but for ``classes_``. For trees of a few lines,
    :class:`DistilledTreeRegressor` usually follows the ensemble better.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> tree = BornAgainTreeRegressor(forest, n_rules=5, random_state=0).fit(X, y)
    >>> tree.tree_.n_leaves
    5
    """
