"""Whether rules meet new rows like those that they come from."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._words.spelling import suggests_parameters
from clearwood.exceptions import InputError
from clearwood.results import Result
from clearwood.rules.monitoring import shifts
from clearwood.rules.monitoring.groups import GroupErrors, errors_by_group
from clearwood.rules.monitoring.in_words import monitoring_text
from clearwood.rules.monitoring.quantities import (
    Quantity,
    compare,
    read_sample,
)
from clearwood.rules.rule_set import RuleSet, rules_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring(Result):
    """Result of :func:`clearwood.monitor`.

    Attributes
    ----------
    rules : RuleSet
        The rules that are monitored.
    n_rows : int
        Number of new rows.
    quantities : tuple of Quantity
    stability_index : float
        Population stability index of the rows by the rule that predicts them; NaN where
        not exactly one rule predicts.
    groups : tuple of GroupErrors
        By the column given as ``by``.
    by : str
        Name of that column; empty if none.
    is_reference : bool
        Whether reference rows were given.
    is_estimate : bool
        Whether rates or means of the target are compared with the estimates of the
        rules although reference rows were given, as these had no labels.
    error_rate : float
        Probability of at least one signal, at most, where nothing has changed.
    """

    rules: RuleSet
    n_rows: int
    quantities: tuple[Quantity, ...]
    stability_index: float
    groups: tuple[GroupErrors, ...]
    by: str
    is_reference: bool
    is_estimate: bool
    error_rate: float

    @property
    def signals(self) -> tuple[Quantity, ...]:
        """The quantities for which a change is signalled."""
        return tuple(one for one in self.quantities if one.signal)

    def to_frame(self) -> pd.DataFrame:
        """All quantities, one per row."""
        import pandas as pd

        columns = ["subject", "quantity", "expected", "observed", "low", "high",
                   "rows", "p", "signal"]  # fmt: skip
        table = [
            (c.subject, c.name, c.expected, *c.observed, c.p, c.signal)
            for c in self.quantities
        ]
        return pd.DataFrame(table, columns=columns)

    def groups_to_frame(self) -> pd.DataFrame:
        """All errors by group, one per row."""
        import pandas as pd

        table = [
            (g.group, g.rows, name, *rate[:3])
            for g in self.groups
            for name, rate in g.errors.items()
        ]
        columns = [self.by or "group", "rows", "error", "value", "low", "high"]
        return pd.DataFrame(table, columns=columns)

    def __str__(self) -> str:
        return monitoring_text(self)


@suggests_parameters
def monitor(
    result: Any,
    X: Any,
    y: Any = None,
    *,
    reference: Any = None,
    reference_y: Any = None,
    by: Any = None,
    pos_label: Any = None,
    error_rate: float = 0.05,
) -> Monitoring:
    """Test whether rules meet new rows like those that they come from.

    Tested are, per rule, the share of rows, and with labels the rate of the predicted
    class or the mean of the target; and, per column that the rules use, unknown levels
    and, with reference rows, missing values, values outside of the range, and the
    distribution. Holm's procedure bounds the probability of any false signal. With many
    rows even small changes are signalled: read the sizes together with the p
    values.

    Parameters
    ----------
    result : RuleSet or fitted estimator with ``rules_``
    X : array-like or frame of shape (n_samples, n_features)
        New rows.
    y : array-like of shape (n_samples,), optional
        Their true labels or values; not for rules of quantiles and effects.
    reference : array-like or frame of shape (n_reference, n_features), optional
        Held-out rows to compare with; by default the statistics that the rules carry,
        which are those of their training rows, and the rates estimated by
        cross-fitting.
    reference_y : array-like of shape (n_reference,), optional
        Their true labels or values; on training rows the rates are optimistic, and
        changes are signalled too often.
    by : column label, or array-like of shape (n_samples,), optional
        Groups of the new rows, for errors by group; needs ``y``.
    pos_label : a class label, optional
        The positive class of the errors by group; of two classes the second by default.
    error_rate : float, default=0.05
        Probability of at least one signal where nothing has changed, at most.

    Returns
    -------
    Monitoring
        Prints as a table; ``to_frame()`` returns a frame.

    Raises
    ------
    InputError
        If a table is empty or lacks columns, ``by`` is given without ``y``, or ``y``
        for quantiles or effects.

    Notes
    -----
    Shares are compared by Fisher's exact test. The rate of a class is compared with the
    rule's estimate for new rows by a beta-binomial distribution that has the mean of
    the estimate and the width of its interval; means by Welch's test. Numbers outside
    of the range of the reference rows are beta-binomial, too. Distributions are
    compared by Kolmogorov and Smirnov's test, those of levels by the chi-squared test.

    Examples
    --------
    >>> import clearwood as cw, numpy as np
    >>> rules = cw.RuleList((cw.Rule((cw.Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     cw.Rule((), "well", (0.8, 0.2)),
    ...     cw.FeatureSpace(("temperature",), (None,)), ("well", "ill"), "state")
    >>> before = np.array([[36.0 + k / 20] for k in range(60)])
    >>> found = cw.monitor(rules, before + 1, reference=before)
    >>> print(found)
    Monitoring of state on 60 rows, compared with the reference rows
    4 of 4 checks signal a change; probability of any false signal at most 5 %
    <BLANKLINE>
                                          expected       observed       p
    rule 1              share of rows         48 %  82 % [70, 89]  <0.001  change
    rule 2              share of rows         52 %  18 % [11, 30]  <0.001  change
    column temperature  outside of range       3 %  33 % [23, 46]  <0.001  change
    column temperature  distribution                        0.333   0.002  change
    <BLANKLINE>
    population stability index 0.50
    """
    rules = rules_of(result, "result")
    if not isinstance(error_rate, Real) or not 0 < error_rate < 1:
        raise InputError(f"error_rate must be between 0 and 1, found {error_rate!r}.")
    if by is not None and y is None:
        raise InputError(
            "Errors by group need the true labels or values: pass y (--target)."
        )
    known = y is not None or reference_y is not None
    if known and rules.outcome.estimates_truth:
        raise InputError(
            f"True values are not compared with the task {rules.task}; leave y out, "
            "and reference_y, and use rules.evaluate(X, y) and "
            "rules.described_on(X, y)."
        )
    if reference is None and reference_y is not None:
        raise InputError("reference_y belongs to reference; pass both, or neither.")
    new = read_sample(rules, X, y, "X")
    old = None
    if reference is not None:
        old = read_sample(rules, reference, reference_y, "reference")
    found, index = compare(rules, old, new)
    signals = shifts.holm(np.array([one.p for one in found]), error_rate)
    quantities = [
        one._replace(signal=one.signal or bool(signal))
        for one, signal in zip(found, signals)
    ]
    groups, name = errors_by_group(rules, new, by, pos_label)
    return Monitoring(
        rules,
        new.n,
        tuple(quantities),
        index,
        groups,
        name,
        old is not None,
        old is not None and old.truth is None and new.truth is not None,
        error_rate,
    )
