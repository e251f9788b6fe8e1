"""The scikit-learn face of inTrees."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from clearwood._estimators import Interval, StrOptions
from clearwood.rules import FeatureBins, RuleSet, Training, build_rule_list
from clearwood.simplifiers._common.base import (
    ClassifiesByRules,
    PredictsByRules,
    RulesFromEnsemble,
)
from clearwood.simplifiers._common.docstrings import (
    COLUMNS,
    ESTIMATOR,
    FITTED,
    FORBIDDEN,
)
from clearwood.simplifiers.in_trees.ordering import (
    FREQUENCIES,
    ExtractedRules,
    Judged,
    Pruning,
    Rows,
    best_prefixes,
    distinct,
    informative,
    judge_and_prune,
    order_rules,
    without_twins,
)
from clearwood.simplifiers.in_trees.paths import extract_paths

MOST_ROWS = 20_000
"""Rules are judged by so many rows, drawn at random; what they say is of all rows."""

PARAMETERS = f"""{ESTIMATOR.rstrip()}
    max_rules : int or None, default=10
        Most lines printed, ``otherwise`` included; None for as many as the list has.
    target : {{"ensemble", "labels"}}, default="ensemble"
        What rules are judged by: what the ensemble predicts, so that they explain the
        model; or the labels, as in the article.
    nodes : {{"leaves", "all"}}, default="all"
        Whether the paths to all leaves are rules, as in the article, or those to all
        nodes. The latter cover more rows each, and make better short lists.
    max_depth : int or None, default=6
        Longer paths are cut off after so many questions.
    max_trees : int or None, default=100
        Rules of the first so many trees.
    max_extracted : int or None, default=10000
        Of more rules so many are drawn at random.
    decay : {{"relative", "absolute"}} or None, default="absolute"
        A literal is left out of a rule if the rule's error rises little without it:
        relative to the error of the whole rule, as in the article, or not, as the R
        package does by default. None keeps all. Rules without error hardly get shorter
        by the relative rise.
    max_decay : float, default=0.05
        The largest rise. The error of values is in units of the target's variance.
    select : "forest" or None, default=None
        Use only the rules that a random forest on the rules' memberships asks most,
        short ones preferred.
    min_frequency : float or "auto", default="auto"
        Least share of all rows that a rule must decide. The R package has 0.01. "auto"
        tries .01, .02, .05, .1 and .2, and takes what is least wrong on the training
        rows within ``max_rules`` lines."""

COMMON = f"""{FORBIDDEN.rstrip()}
    n_jobs : int or None, default=None
        Threads for pruning. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of what is drawn (and of the default ensemble).
"""

ATTRIBUTES = f"""{FITTED.rstrip()}
    extracted_ : ExtractedRules
        The distinct rules of the trees: ``prediction``, ``frequency``, ``error`` and
        ``length``, one entry each, and ``to_pandas()``.
    pruned_ : ExtractedRules
        The distinct rules after pruning.
    path_ : tuple of RuleSet
        The lists of all sizes, from ``otherwise`` to ``max_rules`` lines.{COLUMNS}"""


class _InTrees(RulesFromEnsemble):
    """What classifier and regressor share."""

    discretize: int | None = None

    _parameter_constraints: dict[str, Any] = {
        "estimator": "no_validation",
        "max_rules": [Interval(Integral, 1, None, closed="left"), None],
        "target": [StrOptions({"ensemble", "labels"})],
        "nodes": [StrOptions({"leaves", "all"})],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_trees": [Interval(Integral, 1, None, closed="left"), None],
        "max_extracted": [Interval(Integral, 1, None, closed="left"), None],
        "decay": [StrOptions({"relative", "absolute"}), None],
        "max_decay": [Interval(Real, 0, None, closed="left")],
        "select": [StrOptions({"forest"}), None],
        "min_frequency": [
            StrOptions({"auto"}),
            Interval(Real, 0, 1, closed="both"),
        ],
        "forbidden": "no_validation",
        "n_jobs": [None, Integral],
        "random_state": "no_validation",
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_rules: int | None = 10,
        target: str = "ensemble",
        nodes: str = "all",
        max_depth: int | None = 6,
        max_trees: int | None = 100,
        max_extracted: int | None = 10_000,
        decay: str | None = "absolute",
        max_decay: float = 0.05,
        select: str | None = None,
        min_frequency: float | str = "auto",
        forbidden: Any = (),
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_rules = max_rules
        self.target = target
        self.nodes = nodes
        self.max_depth = max_depth
        self.max_trees = max_trees
        self.max_extracted = max_extracted
        self.decay = decay
        self.max_decay = max_decay
        self.select = select
        self.min_frequency = min_frequency
        self.forbidden = forbidden
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        seen = training.seen
        rows, names = self._rows(training, generator)
        paths = extract_paths(
            self.ensemble_,
            self.bins_,
            seen,
            max_depth=self.max_depth,
            max_trees=self.max_trees,
            nodes=self.nodes,
            forbidden=training.forbidden,
        )
        if self.max_extracted is not None and paths.n_rules > self.max_extracted:
            drawn = generator.choice(paths.n_rules, self.max_extracted, replace=False)
            paths = paths.take(np.sort(drawn))
        pruning = Pruning(self.decay, self.max_decay)
        whole, pruned = judge_and_prune(paths, rows, pruning, self.n_jobs)
        pruned = distinct(pruned)
        self.extracted_, self.pruned_ = (
            _shown(judged, rows, names, self.bins_, seen) for judged in (whole, pruned)
        )
        self.path_ = self._lists(pruned, rows, training, generator)
        self.rules_ = self.path_[-1]
        return {"method": "in-trees", "target": self.target}

    def _rows(
        self, training: Training, generator: np.random.Generator
    ) -> tuple[Rows, np.ndarray | None]:
        """The rows that judge, and what classes or levels are called."""
        names, taught = None, training.taught
        codes = training.codes
        if training.classes:
            names, taught = np.array(training.classes), taught.argmax(axis=1)
        elif self.discretize is not None:
            taught, names = levels_of(taught, self.discretize)
        if len(codes) <= MOST_ROWS:
            some = np.arange(len(codes))
        else:
            some = np.sort(generator.choice(len(codes), MOST_ROWS, replace=False))
        n_classes = 0 if names is None else len(names)
        return Rows.of(
            codes[some], taught[some], training.weight[some], n_classes
        ), names

    def _lists(
        self,
        judged: Judged,
        rows: Rows,
        training: Training,
        generator: np.random.Generator,
    ) -> tuple[RuleSet, ...]:
        """The lists of all sizes."""
        judged = without_twins(judged)
        if self.select == "forest" and judged.paths.n_rules:
            judged = informative(judged, rows, int(generator.integers(2**31)))
        least = self.min_frequency
        tried = FREQUENCIES if isinstance(least, str) else (least,)
        most = None if self.max_rules is None else self.max_rules - 1
        lists = [order_rules(judged, rows, least, most) for least in tried]
        path: dict[int, RuleSet] = {}
        prefixes = [tuple(prefix) for prefix in best_prefixes(lists, most)]
        for prefix in dict.fromkeys(prefixes):
            regions = [
                region
                for k in prefix
                if (region := judged.paths.conditions(k, self.bins_, training.seen))
                is not None
            ]
            rules = build_rule_list(regions, training)
            path[rules.n_rules] = rules
        return tuple(path[size] for size in sorted(path))


def levels_of(values: np.ndarray, n_levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Values as levels of about as many rows each, as in the R package.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
    n_levels : int

    Returns
    -------
    level : ndarray of int of shape (n_rows,)
    names : ndarray of str
        ``L1`` for the lowest, and so on.

    Examples
    --------
    >>> levels_of(np.array([5.0, 1.0, 2.0, 9.0, 7.0, 4.0]), 3)[0]
    array([1, 0, 0, 2, 2, 1])
    """
    shares = np.arange(1, n_levels) / n_levels
    borders = np.quantile(values, shares, method="closest_observation")
    names = np.array([f"L{i + 1}" for i in range(n_levels)])
    return np.searchsorted(borders, values, side="left"), names


def _shown(
    judged: Judged,
    rows: Rows,
    names: np.ndarray | None,
    bins: FeatureBins,
    seen: np.ndarray,
) -> ExtractedRules:
    """Rules for people, in the target's own units."""
    if names is None:
        said = rows.centre + rows.unit * judged.said
    else:
        said = names[judged.said.astype(np.int64)]
    return ExtractedRules(
        said,
        judged.frequency,
        judged.error * rows.unit**2,
        judged.paths.lengths,
        judged.paths,
        bins,
        seen,
    )


class InTreesClassifier(ClassifiesByRules, _InTrees):  # noqa: D101
    __doc__ = f"""inTrees: an ensemble's own rules, pruned and put in an ordered list.

    The paths of the trees are rules. Literals are left out of them where the error
    hardly rises; of what is left, the rule that is least wrong comes first, then the
    one that is least wrong on the other rows, and so on. :class:`RuleListClassifier`
    searches for rules of its own, of which fewer are needed for the same fidelity.
    {PARAMETERS}{COMMON}{ATTRIBUTES}
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
    >>> rules.rules_.evaluate(X, y, teacher=forest).fidelity > 0.9
    True
    """


class InTreesRegressor(PredictsByRules, _InTrees):  # noqa: D101
    __doc__ = f"""inTrees: an ensemble's own rules, pruned and put in an ordered list.

    The paths of the trees are rules. Literals are left out of them where the error
    hardly rises; of what is left, the rule that is least wrong comes first, then the
    one that is least wrong on the other rows, and so on. :class:`RuleListRegressor`
    searches for rules of its own, of which fewer are needed for the same fidelity.
    {PARAMETERS}
    discretize : int or None, default=None
        Judge rules by whether values are in the same of so many levels, of about as
        many rows each; the R package does so with 3. None judges by squared error. What
        is printed is a mean in either case.{COMMON}{ATTRIBUTES}

    References
    ----------
    Deng, "Interpreting tree ensembles with inTrees", 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = InTreesRegressor(forest, max_rules=5, random_state=0).fit(X, y)
    >>> rules.rules_.n_rules <= 5
    True
    """

    _parameter_constraints = {
        **_InTrees._parameter_constraints,
        "discretize": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_rules: int | None = 10,
        target: str = "ensemble",
        nodes: str = "all",
        max_depth: int | None = 6,
        max_trees: int | None = 100,
        max_extracted: int | None = 10_000,
        decay: str | None = "absolute",
        max_decay: float = 0.05,
        select: str | None = None,
        min_frequency: float | str = "auto",
        discretize: int | None = None,
        forbidden: Any = (),
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            max_rules=max_rules,
            target=target,
            nodes=nodes,
            max_depth=max_depth,
            max_trees=max_trees,
            max_extracted=max_extracted,
            decay=decay,
            max_decay=max_decay,
            select=select,
            min_frequency=min_frequency,
            forbidden=forbidden,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.discretize = discretize
