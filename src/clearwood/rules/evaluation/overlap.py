"""Rules that cover nearly the same rows, in several rule sets for the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clearwood._numeric import product
from clearwood.rules.evaluation.sums import Kind
from clearwood.rules.rule_kinds import RuleList
from clearwood.rules.rule_set import RuleSet

SAME_RULE = 0.8
"""Jaccard index of the covered rows from which two rules count as the same."""


def with_selection(rules: Kind, refits: Sequence[RuleSet], encoded: np.ndarray) -> Kind:
    """Add to each rule the number of refits that selected the same rule.

    Parameters
    ----------
    rules : RuleSet
    refits : sequence of RuleSet
        From parts of the rows.
    encoded : ndarray of shape (n_rows, n_features)
        Rows to compare the rules on.

    Returns
    -------
    RuleSet
        With ``selected`` of each rule but the default one.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule
    >>> def rules(low):
    ...     some = (Rule((Interval(0, low=low),), 1.0),)
    ...     return RuleList(some, Rule((), 0.0), FeatureSpace.numeric(1))
    >>> found = with_selection(
    ...     rules(9.5), [rules(10.5), rules(20.5)], np.arange(30.0)[:, None])
    >>> found.rules[0].selected
    (1, 2)
    """
    matches = rules.matches_encoded(encoded)
    overlaps = [
        best_overlap(rules, matches, other, other.matches_encoded(encoded))
        for other in refits
    ]
    counts = (np.array(overlaps) >= SAME_RULE).sum(axis=0).tolist()
    selected = [(n, len(refits)) for n in counts]
    known = [replace(rule, selected=n) for rule, n in zip(rules.rules, selected)]
    return rules.with_lines([*known, rules.otherwise])


def best_overlap(
    rules: RuleSet, matches: np.ndarray, other: RuleSet, other_matches: np.ndarray
) -> np.ndarray:
    """Overlap of each rule with the most similar one of another rule set.

    Parameters
    ----------
    rules, other : RuleSet
    matches, other_matches : ndarray of bool of shape (n_rows, n_rules)
        Which of the same rows their rules cover.

    Returns
    -------
    ndarray of shape (n_rules,)
        Jaccard index of the covered rows; 0 for classes if no rule predicts the same.
    """
    lines = list(other.rules)
    if isinstance(other, RuleList):
        # One list may leave to the default rule what another has a rule for.
        is_left = ~other_matches.any(axis=1, keepdims=True)
        other_matches = np.hstack([other_matches, is_left])
        lines.append(other.otherwise)
    shared = jaccard(matches, other_matches)
    if rules.classes:
        for i, rule in enumerate(rules.rules):
            for j, line in enumerate(lines):
                if rule.prediction != line.prediction:
                    shared[i, j] = 0.0
    best: np.ndarray = shared.max(axis=1, initial=0.0)
    return best


def jaccard(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Jaccard index (rows in both over rows in either) for every pair of columns.

    Examples
    --------
    >>> import numpy as np
    >>> one, two = np.array([[1, 0], [1, 0]]), np.array([[1], [0]])
    >>> jaccard(one, two)
    array([[0.5],
           [0. ]])
    """
    one, two = one.astype(np.float64), two.astype(np.float64)
    both = product(one.T, two)
    either = one.sum(axis=0)[:, None] + two.sum(axis=0) - both
    return np.divide(both, either, out=np.zeros_like(both), where=either > 0)
