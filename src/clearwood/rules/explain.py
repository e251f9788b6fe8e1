"""Explanation of single predictions of an estimator's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clearwood._words.spelling import suggests_parameters
from clearwood.rules.row_explanation import Explanation, explain_rows
from clearwood.rules.rule_set import rules_of
from clearwood.rules.tree import Tree


@suggests_parameters
def explain(
    rules: Any, x: Any, *, fixed: Sequence[str] = (), scale: Any = None
) -> Explanation | list[Explanation]:
    """Explain a prediction: the rule, those that nearly held, and counterfactuals.

    Parameters
    ----------
    rules : RuleSet, or an estimator with ``rules_``
    x : mapping, array-like or frame
        One row: a mapping of names to values, the values in order, or a table of one
        row. Or a table of several rows.
    fixed : sequence of str, default=()
        Features that cannot change, such as age; no counterfactual changes them.
    scale : mapping of str to float, or sequence of float, optional
        Unit of change of each numeric feature, such as the standard deviations in the
        training data (``X.std()``). Rules hold no data: without a scale, the change
        that crosses the fewest thresholds counts as the smallest. A change of category
        counts 1, and so does a value in place of a missing one.

    Returns
    -------
    Explanation, or list of Explanation
        A list for a table of several rows.

    Notes
    -----
    Counterfactuals change one feature, or two where no change of one suffices. Each is
    exact: with the value written into the row, ``predict`` returns another prediction.
    They describe the rules and are not causal: nothing implies that a patient whose
    temperature is brought down is less ill.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
    >>> rules = RuleList(
    ...     (Rule((Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     Rule((), "well", (0.8, 0.2)),
    ...     FeatureSpace(("temperature",), (None,)), ("well", "ill"), "state")
    >>> print(explain(rules, {"temperature": 36.9}))
    state: well, by rule 2, otherwise
    rule 1 (ill): its condition fails:
      temperature > 37.5  (temperature is 36.9, off by 0.6)
    counterfactuals:
      temperature from 36.9 to above 37.5 would change the prediction to ill (rule 1)
    """
    tree = getattr(rules, "tree_", rules)
    rules = rules_of(rules, "rules")
    if isinstance(tree, Tree):
        return explain_rows(rules, x, fixed, scale, tree.way_encoded)
    return explain_rows(rules, x, fixed, scale)
