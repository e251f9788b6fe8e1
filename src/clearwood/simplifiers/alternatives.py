"""Bound on the fidelity of all short rule lists, and alternatives to a fitted one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._warned_once import warned_once
from clearwood._words.labels import type_text
from clearwood._words.spelling import suggests_parameters
from clearwood.columns.validation import check_excluded
from clearwood.exceptions import InputError
from clearwood.outcomes import OUTCOMES
from clearwood.results import Result
from clearwood.rules import (
    CategorySet,
    FeatureBins,
    Interval,
    RuleList,
    RuleSet,
    Training,
    build_rule_list,
)
from clearwood.rules.conditions import name_text
from clearwood.rules.exports.html_table import summarize_rules
from clearwood.rules.rule import wrapped
from clearwood.rules.rule_set import rules_of
from clearwood.search.lists.optimal import (
    NearList,
    NearOptimal,
    optimal_lists,
    orderings,
)

if TYPE_CHECKING:
    import pandas as pd

MOST_SETS = 10
"""Maximum number of sets of features in the printed text; ``lists`` has all."""

EARLY = (
    "The search ended early: the bound holds, but there may be better lists and "
    "further sets. A longer time limit, or fewer cuts, completes it."
)


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives(Result):
    """Best short rule lists on some rows; see :func:`~clearwood.alternatives`.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``.
    n_rows, n_splits, n_rules, max_literals : int
        Number of rows and of splits, and the size of the lists: of rules (the default
        rule included), and of literals per rule.
    fidelity : float
        Fidelity of the fitted rules.
    size : str
        Their number and longest rule, in words.
    bound : float
        No list has a higher fidelity.
    best : RuleList
        The best list found.
    best_fidelity : float
        Its fidelity. It equals ``bound`` unless the search ended early.
    tolerance : float
        Difference to ``best_fidelity`` up to which a list is an alternative.
    lists : dict from frozenset of str to RuleList
        The alternatives: for each set of features that suffices for one, and of which
        no part does, the best list; the best first.
    fidelities : dict from frozenset of str to float
        Their fidelities.
    features : dict from str to int
        Number of these sets that each feature of the splits is in, descending.
    without : dict from str to float
        For each feature in all of these sets, the fidelity of the best list found
        without it.
    is_complete : bool
        Whether all searches ended before the time limit. If not, ``bound`` still
        holds, but better lists and further alternatives may exist.
    """

    task: str
    n_rows: int
    n_splits: int
    n_rules: int
    max_literals: int
    fidelity: float
    size: str
    bound: float
    best: RuleList
    best_fidelity: float
    tolerance: float
    lists: dict[frozenset[str], RuleList]
    fidelities: dict[frozenset[str], float]
    features: dict[str, int]
    without: dict[str, float]
    is_complete: bool

    def to_frame(self) -> pd.DataFrame:
        """Fidelity of the best list of each set of features, one set per row."""
        import pandas as pd

        table = [
            (", ".join(sorted(used)), fidelity, self.lists[used].n_rules)
            for used, fidelity in self.fidelities.items()
        ]
        return pd.DataFrame(table, columns=["features", "fidelity", "n_rules"])

    def __str__(self) -> str:
        return "\n".join(wrapped(line) for line in self._lines())

    def _lines(self) -> Iterator[str]:
        figure = self._figure
        yield self._heading()
        yield self._bound_text()
        if not self.n_splits:
            return
        yield f"{self._n_sets()}: {len(self.lists)}"
        for used in list(self.lists)[:MOST_SETS]:
            yield f"   {figure(self.fidelities[used])} with {self._names(used)}"
        if len(self.lists) > MOST_SETS:
            yield f"   {len(self.lists) - MOST_SETS} more"
        counts = [f"{name_text(d)} in {n}" for d, n in self.features.items() if n]
        others = len(self.features) - len(counts)
        if others:
            counts.append(f"{others} other{'s' * (others > 1)} in none")
        yield f"Features in these sets: {', '.join(counts)}"
        for name, other in self.without.items():
            yield (
                f"{name_text(name)} is in all of them; without it, the best list found "
                f"has {figure(other)}."
            )
        if not self.is_complete:
            yield EARLY

    def _heading(self) -> str:
        words = OUTCOMES[self.task].agreement_words
        return f"{words} on the {self.n_rows} given row{'s' * (self.n_rows != 1)}"

    def _figure(self, value: float) -> str:
        return OUTCOMES[self.task].figure(value)

    def _bound_text(self) -> str:
        figure = self._figure
        if not self.n_splits:
            return (
                "No split of the model separates these rows, so there is no list to "
                f"compare: the default rule alone has {figure(self.best_fidelity)}. "
                "Pass rows for which the predictions of the model differ."
            )
        bound, best = figure(self.bound), figure(self.best_fidelity)
        if bound != best:  # rounded up, so that it is one
            bound = figure(math.ceil(1000 * self.bound) / 1000)
        return (
            f"No list of at most {self.n_rules} rules, each of at most "
            f"{self.max_literals} of {self.n_splits} "
            f"split{'s' * (self.n_splits != 1)}, exceeds {bound}. "
            f"The best list found has {best}, these rules "
            f"{figure(self.fidelity)} ({self.size})."
        )

    def _n_sets(self) -> str:
        tolerance = self._figure(self.tolerance)
        return f"Sets of features that suffice for a list within {tolerance} of it"

    def _names(self, used: frozenset[str]) -> str:
        return ", ".join(map(name_text, sorted(used))) or "none"


def section(result: Alternatives, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Page of the alternatives, as plain data."""
    if X is not None:
        raise InputError("Alternatives have their own rows; leave X and y out.")
    figure, without = result._figure, result.without
    return {
        "title": "Alternative rule lists",
        "heading": result._heading(),
        "bound": result._bound_text(),
        "early": "" if result.is_complete else EARLY,
        "best": summarize_rules(result.best, "Rows given"),
        "sets": [
            [result._names(used), figure(fidelity), str(result.lists[used].n_rules)]
            for used, fidelity in result.fidelities.items()
        ],
        "within": result._n_sets(),
        "features": [
            [name_text(d), str(n), figure(without[d]) if d in without else ""]
            for d, n in result.features.items()
            if n
        ],
    }


@warned_once()
@suggests_parameters
def alternatives(
    estimator: Any,
    X: Any,
    *,
    n_rules: int = 3,
    max_literals: int = 2,
    n_cuts: int = 4,
    tolerance: float = 0.01,
    time_limit: float | None = 10.0,
) -> Alternatives:
    """Bound the fidelity of all short rule lists, and find those that are nearly best.

    An exact search (branch and bound) over all rule lists of a small size. It shows
    whether the search of an estimator has missed a better list, and whether other
    features would describe the model as well: lists of different features with about
    the same fidelity are different explanations of the same predictions. The numbers
    hold for the given rows, not for new ones.

    Parameters
    ----------
    estimator : fitted estimator that finds rules
        A list, a tree or any other rules; not changed.
    X : array-like or frame of shape (n_samples, n_features)
        At least one row, not sparse. The time is proportional to the number of distinct
        rows.
    n_rules : int, default=3
        Maximum number of rules, the default rule included. The time is exponential in
        it: 3 takes seconds; for 4, set ``max_literals=1``.
    max_literals : {1, 2}, default=2
        Maximum number of literals of a rule.
    n_cuts : int, default=4
        Maximum number of splits per feature: thresholds of the model at quantiles of
        the rows, or its most frequent groups of categories, each against all others.
        Those of the fitted rules are added.
    tolerance : float, default=0.01
        Difference to the highest fidelity up to which a list is an alternative.
    time_limit : float or None, default=10.0
        Seconds after which each search ends: one over all lists, and one for each
        feature that all alternatives use. The bound proven by then is valid; Ctrl-C
        ends a search in the same way.

    Returns
    -------
    Alternatives
        Prints the bound and the sets of features; ``to_frame()`` returns a frame.

    Raises
    ------
    InputError
        The estimator is not fitted, or a parameter is out of range.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from clearwood import RuleListClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = RuleListClassifier(forest, n_rules=3, random_state=0).fit(X, y)
    >>> found = alternatives(rules, X)
    >>> print(found)
    Agreement with the model on the 150 given rows
    No list of at most 3 rules, each of at most 2 of 18 splits, exceeds 97.3 %. The best
         list found has 97.3 %, these rules 96 % (3 rules of at most 2 literals).
    Sets of features that suffice for a list within 1 % of it: 1
       97.3 % with petal length (cm), petal width (cm)
    Features in these sets: petal length (cm) in 1, petal width (cm) in 1, 2 others in
         none
    petal length (cm) is in all of them; without it, the best list found has 96 %.
    petal width (cm) is in all of them; without it, the best list found has 95.3 %.
    >>> found.best.n_rules
    3
    """
    rules = rules_of(estimator)
    _check(estimator, n_rules, max_literals, n_cuts, tolerance, time_limit)
    training = _training(estimator, rules, X, n_cuts)
    orders = orderings(training.grid, _category_sets(training))

    def search(omitted: int | None = None) -> NearOptimal:
        return optimal_lists(
            training.grid,
            training.loss,
            [order for order in orders if order[0] != omitted],
            int(n_rules) - 1,
            max_literals=int(max_literals),
            tolerance=0.0 if omitted is not None else float(tolerance),
            time_limit=time_limit,
        )

    def as_rules(one: NearList) -> RuleList:
        regions = [training.region(box) for box in one.boxes]
        known = [region for region in regions if region is not None]
        return build_rule_list(known, training)

    def fidelity(one: RuleSet) -> float:
        points = rules.outcome.codes(one.predict(X))
        return rules.outcome.fidelity(training.model_predictions, points)

    found = search()
    others = {d: search(d) for d in sorted(frozenset.intersection(*found.by_features))}
    names = [training.bins.features.names[d] for d in training.used_features]
    shown = as_rules(found.best)
    lists = {
        frozenset(names[d] for d in used): as_rules(one)
        for used, one in found.by_features.items()
    }
    counts = {name: sum(name in used for used in lists) for name in names}
    longest = max((rule.n_literals for rule in rules.rules), default=0)
    return Alternatives(
        rules.task,
        len(training),
        found.n_splits,
        int(n_rules),
        int(max_literals),
        fidelity(rules),
        f"{rules.n_rules} rule{'s' * (rules.n_rules != 1)} of at most {longest} "
        f"literal{'s' * (longest != 1)}",
        1.0 - found.bound,
        shown,
        fidelity(shown),
        float(tolerance),
        lists,
        {used: fidelity(one) for used, one in lists.items()},
        dict(sorted(counts.items(), key=lambda item: -item[1])),
        {names[d]: fidelity(as_rules(other.best)) for d, other in others.items()},
        all(result.is_complete for result in (found, *others.values())),
    )


def _check(
    estimator: Any,
    n_rules: Any,
    max_literals: Any,
    n_cuts: Any,
    tolerance: float,
    time_limit: float | None,
) -> None:
    if not hasattr(estimator, "bins_"):
        raise InputError(
            f"estimator is {type_text(estimator)}; expected a fitted simplifier, "
            "such as RuleListClassifier."
        )
    if not isinstance(n_rules, Integral) or n_rules < 2:
        raise InputError(f"n_rules is {n_rules!r}; expected a whole number from 2.")
    if max_literals not in (1, 2):
        raise InputError(f"max_literals is {max_literals!r}; expected 1 or 2.")
    if not isinstance(n_cuts, Integral) or n_cuts < 1:
        raise InputError(f"n_cuts is {n_cuts!r}; expected a whole number from 1.")
    if not isinstance(tolerance, Real) or not 0 <= tolerance < 1:
        raise InputError(
            f"tolerance is {tolerance!r}; expected a number from 0 and below 1."
        )
    is_time = isinstance(time_limit, Real) and time_limit >= 0
    if time_limit is not None and not is_time:
        raise InputError(
            f"time_limit is {time_limit!r}; expected seconds from 0, or None for a "
            "search without limit."
        )


def _training(estimator: Any, rules: RuleSet, X: Any, n_cuts: int) -> Training:
    """The rows in few bins; the target is what the model predicts."""
    bins, outcome = estimator.bins_, rules.outcome
    features = bins.features
    encoded = np.asfortranarray(features.encode(X))
    if len(encoded) == 0:
        raise InputError("Cannot compare rules on an empty table; pass some rows.")
    predicted = rules.model_predictions(estimator.ensemble_, X, len(encoded))
    assert predicted is not None
    points = outcome.codes(predicted)
    columns = getattr(estimator, "feature_names_in_", features.names)
    return Training(
        encoded,
        np.eye(len(rules.classes))[points] if rules.classes else points,
        None,
        np.ones(len(encoded)),
        points,
        _few_bins(bins, rules, encoded, n_cuts),
        rules.classes,
        check_excluded(estimator.exclude_features, features, list(columns)),
        outcome=outcome,
    )


def _few_bins(
    bins: FeatureBins, rules: RuleSet, encoded: np.ndarray, n_cuts: int
) -> FeatureBins:
    """Bins of at most ``n_cuts`` splits per feature, and of those of the rules."""
    conditions = [c for rule in rules.rules for c in rule.conditions]
    cuts = {
        (c.feature, cut)
        for c in conditions
        if isinstance(c, Interval)
        for cut in (c.low, c.high)
        if math.isfinite(cut)
    }
    sets = {
        (c.feature, c.codes, c.missing, c.unseen)
        for c in conditions
        if isinstance(c, CategorySet)
    }
    codes = bins.transform_encoded(encoded)
    for d in bins.used_features.tolist():
        known = codes[codes[:, d] < bins.missing_bin(d), d]
        own, groups = bins.cuts[d], bins.groups[d]
        if groups is not None:
            frequent = np.argsort(-np.bincount(known), kind="stable")[:n_cuts]
            members = (np.flatnonzero(groups == group).tolist() for group in frequent)
            sets |= {(d, tuple(each), False, False) for each in members}
        elif len(known):
            at = np.linspace(0, 1, n_cuts + 2)[1:-1]
            near = np.quantile(known, at, method="inverted_cdf").astype(int)
            cuts |= {(d, cut) for cut in own[np.minimum(near, len(own) - 1)].tolist()}
    feature, cut = np.array(sorted(cuts)).reshape(-1, 2).T
    return FeatureBins.from_splits(
        bins.features, feature=feature, cut=cut, category_splits=sorted(sets)
    )


def _category_sets(training: Training) -> list[tuple[int, np.ndarray]]:
    """Categorical features of the grid, and the bins on one side of their splits."""
    statements, used = training.bins.statements, training.used_features
    features = statements.feature[len(statements.first_true) :]
    return [
        (int(np.searchsorted(used, d)), members)
        for d, members in zip(features, statements.category_truth)
        if d in used
    ]
