"""Born-again trees: a tree grown on synthetic rows drawn in every node.

In a node, rows are drawn inside its box (``smearing``) and labelled by the ensemble;
the split with the least squared error is taken, and the leaf with the largest gain is
split next (``trees``). The tree is kept at every size, and the number of leaves is
chosen on held-out rows (``size_path``). The leaves are printed as disjoint rules in the
units of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from clearwood._estimators import Interval, StrOptions
from clearwood.rules import Training, Tree
from clearwood.simplifiers._common.base import (
    CORE,
    BaseRuleExtractor,
    RuleClassifierMixin,
    RuleRegressorMixin,
)
from clearwood.simplifiers._common.flaws import Flaw, SingleSplit
from clearwood.simplifiers._common.size_path import BaseTreePath
from clearwood.simplifiers.born_again.trees import (
    DEPTHS,
    SmearedTree,
    grow_smeared_trees,
    print_smeared_tree,
)


class _BornAgainTree(BaseTreePath):
    # As many leaves as the deepest tree may have.
    _paper = {"max_rules": 2 ** max(DEPTHS), "p_alt": 0.5, "cv": 5}

    _parameter_constraints: dict[str, Any] = {
        **CORE,
        "p_alt": [Interval(Real, 0, 1, closed="both")],
        "n_node_samples": [Interval(Integral, 1, None, closed="left")],
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
        p_alt: float = 0.1,
        n_node_samples: int = 1000,
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
        self.p_alt = p_alt
        self.n_node_samples = n_node_samples
        self.preset = preset
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cv = cv
        self.random_state = random_state

    # Adjacent leaves of the same class are merged.
    scoring = "agreement"

    def _remedy(self, flaw: Flaw, training: Training, split: SingleSplit) -> str:
        # Smaller leaves do not change their predicted class.
        if flaw.kind == "constant":
            return BaseRuleExtractor._remedy(self, flaw, training, split)
        return super()._remedy(flaw, training, split)

    def _about(self) -> dict[str, str]:
        return {"method": "born-again", "p_alt": str(float(self.p_alt))}

    def _fit(
        self, training: Training, generator: np.random.Generator
    ) -> list[SmearedTree]:
        return grow_smeared_trees(
            training,
            self.ensemble_,
            self.max_rules,
            p_alt=float(self.p_alt),
            # Synthetic rows have no labels.
            n_node_samples=0 if self.learn_from == "labels" else self.n_node_samples,
            min_samples_leaf=self.min_samples_leaf,
            by_depth=self.preset == "paper",
            generator=generator,
        )

    def _print_tree(self, training: Training, tree: SmearedTree) -> Tree:
        return print_smeared_tree(
            training, tree, round_thresholds=self.round_thresholds
        )


class BornAgainTreeClassifier(RuleClassifierMixin, _BornAgainTree):
    """Tree grown on synthetic rows that an ensemble classifies.

    The tree of Breiman and Shang: rows are drawn in every node, so that a split deep in
    the tree is chosen on as many as the first one, and large trees, of some fifty
    leaves, are feasible. Leaves predict as the ensemble does. For trees of a few
    leaves, :class:`DistilledTreeClassifier` is usually closer to the ensemble.

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
        half a standard error of the best fidelity on mixtures of held-out training rows
        (three folds).
    max_rules : int, default=10
        Maximum number of rules, the default rule included: each is a leaf. ``path_``
        holds the trees of all sizes.
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
    p_alt : float, default=0.1
        Probability with which each feature of a synthetic row takes the value of
        another training row. Larger values explore more of the ensemble where rows are
        sparse, and predict for more rows that do not occur: they are harmful if
        features depend on each other, and if they hardly do, 0.2 and more are often
        better. The program of Hara and Hayashi has 0.5.
    n_node_samples : int, default=1000
        Number of synthetic rows drawn in each node; none with ``learn_from="labels"``.
    preset : {"paper"} or None, default=None
        Settings of Hara and Hayashi (2018) for parameters that are not given:
        ``max_rules=1024``, ``p_alt=0.5`` and ``cv=5``. The tree has the best of the
        depths 2, 3, 4, 6, 8 and 10 on held-out rows, in place of a number of leaves.
        The trees are large; use it to compare with that article.
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
    tree_ : Tree
        The rules as a tree, which predicts the same.
    trees_ : tuple of Tree
        Trees of growing size.
    path_ : tuple of RuleSet
        The same trees as rules, from the default rule alone to the largest. A split
        with the same class on both sides is left out, so a size may be missing.
    n_rules_ : int
        Number of leaves, as requested or chosen.
    cv_results_ : dict of str to list, or None
        If the size was chosen on held-out rows, an entry per size: ``"fidelity"`` and
        its ``"standard_error"``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, if the table had any.
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
    >>> tree.rules_.evaluate(X, y, model=forest).fidelity > 0.9
    True
    """


class BornAgainTreeRegressor(RuleRegressorMixin, _BornAgainTree):
    """Tree grown on synthetic rows for which an ensemble predicts values.

    The tree of Breiman and Shang: rows are drawn in every node, so that a split deep in
    the tree is chosen on as many as the first one. Parameters and attributes are those
    of :class:`BornAgainTreeClassifier`, but for ``classes_``. For trees of a few
    leaves, :class:`DistilledTreeRegressor` is usually closer to the ensemble.

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
