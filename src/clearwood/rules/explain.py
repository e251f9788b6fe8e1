"""Why an estimator's rules say of rows what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clearwood.rules.row_explanation import Explanation, explain_rows
from clearwood.rules.rule_set import rules_of
from clearwood.rules.tree import Tree


def explain(
    rules: Any, x: Any, *, fixed: Sequence[str] = (), scale: Any = None
) -> Explanation | list[Explanation]:
    """Say which rule decides a row, which nearly did, and what would change it.

    Parameters
    ----------
    rules : RuleSet, or an estimator with ``rules_``
    x : mapping, array-like or frame
        One row: names and values, the values in order, or a table of one row. Or a
        table of more rows.
    fixed : sequence of str, default=()
        Features that cannot change, such as age; no change of them is suggested.
    scale : mapping of str to float, or sequence of float, optional
        What counts as a change of size 1 in each numeric feature, such as the
        standard deviations in the training data (``X.std()``). Rules know their cuts
        and no data: without a scale, the change that crosses the fewest cuts counts
        as the smallest. A change of category counts 1, and so does a value in place
        of a missing one.

    Returns
    -------
    Explanation, or list of Explanation
        A list for a table of several rows.

    Notes
    -----
    Changes are those of one feature; of two features where none of one suffices. Each
    is exact: with the value written into the row, ``predict`` says something else. It
    speaks of the rules, not of the world: nothing says that a patient whose
    temperature is brought down is less ill.

    Examples
    --------
    >>> from clearwood import FeatureSpace, Interval, Rule, RuleList
    >>> rules = RuleList(
    ...     (Rule((Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     Rule((), "well", (0.8, 0.2)),
    ...     FeatureSpace(("temperature",), (None,)), ("well", "ill"), "state")
    >>> print(explain(rules, {"temperature": 36.9}))
    state: well, by rule 2, otherwise
    rule 1 says ill: its condition fails:
      temperature > 37.5  (temperature is 36.9, off by 0.6)
    what would change it:
      temperature from 36.9 to above 37.5 would say ill (rule 1)
    """
    tree = getattr(rules, "tree_", rules)
    rules = rules_of(rules, "rules")
    if isinstance(tree, Tree):
        return explain_rows(rules, x, fixed, scale, tree.way_encoded)
    return explain_rows(rules, x, fixed, scale)
