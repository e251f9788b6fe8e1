"""Accuracy of rule sets, and their fidelity to the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._words.labels import prediction_text
from clearwood._words.numbers import percent_text, r2_text, short_text
from clearwood.columns.validation import check_target
from clearwood.ensembles.statistics import ORDER
from clearwood.exceptions import InputError
from clearwood.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from clearwood.rules.rule_set import RuleSet

MOST_NAMED = 5
"""Maximum number of classes in a message."""

LEAST = 1e-15
"""Smallest probability in the log loss, as a label may be new."""

SURE = 3.0
"""Standard deviations beyond which a difference is not due to chance."""


@dataclass(frozen=True, repr=False)
class RuleScores(Result):
    """Scores of a rule set on one table of data.

    Attributes
    ----------
    error : float
        Share of wrongly classified rows, or mean squared error, for quantiles mean
        pinball loss, and for survival that of pseudo-values; NaN without ``y``.
    fidelity : float
        Agreement with the model's predictions: share of equal classes, or R2; NaN
        without a model.
    coverage : float
        Share of rows that satisfy at least one rule other than the default rule.
    overlap : float
        Mean number of such rules that a row satisfies.
    n_rules : int
        Number of rules printed, the default rule included.
    n_literals : int
        Bounds and category sets in all rules; a two-sided interval is two.
    rank_correlation : float
        Agreement with the scores of a ranking model, or with true values: the mean over
        groups of rows of Spearman's correlation; NaN without groups.
    error_name : str
        What ``error`` is printed as.

    Examples
    --------
    >>> print(RuleScores(0.08, 0.95, 1.0, 1.2, n_rules=4, n_literals=5))
    error 0.08, fidelity 0.95, coverage 1, overlap 1.2, 4 rules, 5 literals
    """

    error: float
    fidelity: float
    coverage: float
    overlap: float
    n_rules: int
    n_literals: int
    rank_correlation: float = math.nan
    error_name: str = "error"

    def __str__(self) -> str:
        names = ("error", "fidelity", "rank_correlation", "coverage", "overlap")
        shares = dict.fromkeys(names, short_text) | {"fidelity": r2_text}
        called = {"error": self.error_name, "rank_correlation": "rank correlation"}
        lines = f"{self.n_rules} rule{'s' * (self.n_rules != 1)}"
        literals = f"{self.n_literals} literal{'s' * (self.n_literals != 1)}"
        parts = [
            f"{called.get(name, name)} {write(getattr(self, name), 4)}"
            for name, write in shares.items()
            if not math.isnan(getattr(self, name))
        ]
        return ", ".join([*parts, lines, literals])

    def as_dict(self) -> dict[str, Any]:
        """The scores as a dictionary; the rank correlation where known."""
        scores = asdict(self)
        del scores["error_name"]
        if math.isnan(self.rank_correlation):
            del scores["rank_correlation"]
        return scores

    def to_frame(self) -> pd.DataFrame:
        """The scores in one row."""
        import pandas as pd

        return pd.DataFrame([self.as_dict()])


def orders_only(rules: RuleSet) -> bool:
    """Whether rules predict ranking scores, whose level is not that of the target."""
    return rules.about.get("predicts") == ORDER


def check_errors(rules: RuleSet) -> None:
    """Raise an error if errors of single rows do not describe what rules predict."""
    what, remedy = f"the task {rules.task}", "rules.evaluate(X, y)"
    if orders_only(rules):
        what, remedy = "a ranking score", "rules.evaluate(X, y, groups=...)"
    elif rules.outcome.horizons:
        remedy = "rules.evaluate_survival(X, y)"
    elif not rules.outcome.estimates_truth:
        return
    commands = "`clearwood evaluate` or " * (not orders_only(rules))
    raise InputError(
        f"Errors of single rows do not describe {what}; use {remedy}, "
        "rules.described_on(X, y), or report(); on the command line, "
        f"{commands}`clearwood report`."
    )


def rank_correlation(one: np.ndarray, two: np.ndarray, groups: np.ndarray) -> float:
    """Mean over groups of Spearman's correlation of two scores.

    Groups in which ``two`` is constant have no order and are left out; if ``one`` is
    constant, the correlation is 0.

    Parameters
    ----------
    one, two : ndarray of shape (n_rows,)
    groups : ndarray of shape (n_rows,)
        Group of each row.

    Examples
    --------
    >>> one, two = np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 4, 3])
    >>> rank_correlation(one, two, np.array([0, 0, 1, 1]))
    0.0
    >>> round(rank_correlation(one, two, np.zeros(4, int)), 3)
    0.8
    """
    import pandas as pd

    ranks = pd.DataFrame({"one": one, "two": two}).groupby(groups).rank()
    centred = ranks - ranks.groupby(groups).transform("mean")
    products = {
        "both": centred["one"] * centred["two"],
        "one": centred["one"] ** 2,
        "two": centred["two"] ** 2,
    }
    sums = pd.DataFrame(products).groupby(groups).sum()
    sums = sums[sums["two"] > 0]
    scale = np.sqrt(sums["one"] * sums["two"])
    return float((sums["both"] / scale.where(scale > 0, 1.0)).mean())


# Checks of predicted classes, as text


def never_predicted(
    classes: Sequence[Any], predicted: np.ndarray, needed: np.ndarray, rows: np.ndarray
) -> str:
    """Classes that some rule should predict but none does, as text.

    Parameters
    ----------
    classes : sequence
    predicted : ndarray of int of shape (n_samples,)
        Positions in ``classes``.
    needed : ndarray of bool of shape (n_classes,)
        Whether some rule should predict each class.
    rows : ndarray of shape (n_classes,)
        Number of rows whose target is each class.

    Examples
    --------
    >>> rows = np.array([60, 8, 40])
    >>> never_predicted(["no", "rare", "yes"], np.array([0, 2, 2]), rows > 5, rows)
    'rare (target of 8 of 108 rows)'
    """
    absent = np.setdiff1d(np.flatnonzero(needed), predicted)
    named = [
        f"{prediction_text(classes[k])} (target of {rows[k]:,.6g} of "
        f"{rows.sum():,.6g} rows)"
        for k in absent[:MOST_NAMED]
    ]
    more = [f"{len(absent) - len(named)} more"] * (len(absent) > len(named))
    return ", ".join(named + more)


def likelier_order(
    classes: Sequence[Any], truth: np.ndarray, predicted: np.ndarray
) -> tuple[list[Any], str] | None:
    """Find another order of a model's classes if its own appears to be wrong.

    Rows are unweighted: the order of classes is the same for all.

    Parameters
    ----------
    classes : sequence
        The model's, in its own order.
    truth, predicted : ndarray of int of shape (n_rows,)
        Positions in ``classes``; -1 for a true class that is not among them.

    Returns
    -------
    labels : list
        The classes in the other order.
    text : str
        The evidence. None is returned if there is none.

    Examples
    --------
    >>> predicted = np.repeat([0, 1], 10)
    >>> likelier_order(("no", "yes"), predicted, predicted)
    >>> likelier_order(("no", "yes"), 1 - predicted, predicted)[0]
    ['yes', 'no']
    """
    from scipy.optimize import linear_sum_assignment

    known, n_classes = truth >= 0, len(classes)
    if not known.any():
        return None
    cell, n_rows = truth[known] * n_classes + predicted[known], int(known.sum())
    joint = np.bincount(cell, minlength=n_classes**2) / n_rows
    joint = joint.reshape(n_classes, n_classes)
    right, best = np.trace(joint), joint[linear_sum_assignment(-joint)].sum()
    is_luck = best - right < SURE * np.sqrt((best + right) / n_rows)
    if is_luck or 1.0 - best > (1.0 - right) / 2:
        return None
    labels = [classes[i] for i in linear_sum_assignment(-joint.T)[1]]
    return labels, (
        f"The model is wrong in {percent_text(1 - right)} of the rows, but in "
        f"{percent_text(abs(1 - best))} if its classes are, in this order, "
        f"{', '.join(map(prediction_text, labels))}"
    )


def class_scores(p: np.ndarray, classes: np.ndarray, y: Any) -> dict[str, float]:
    """Error and log loss of class probabilities; labels may include new ones.

    Parameters
    ----------
    p : ndarray of shape (n_rows, n_classes)
    classes : ndarray of shape (n_classes,)
    y : array-like of shape (n_rows,)

    Returns
    -------
    dict
        Share of wrong classes as ``error``, ``log_loss``, and the number of rows of
        probability zero as ``impossible``.

    Examples
    --------
    >>> p = np.array([[0.5, 0.5], [0.0, 1.0]])
    >>> scores = class_scores(p, np.array(["a", "b"]), ["a", "a"])
    >>> scores["error"], scores["impossible"]
    (0.5, 1)
    """
    y = check_target(y, len(p), numeric=False)
    place = {label: k for k, label in enumerate(classes.tolist())}
    truth = np.array([place.get(label, -1) for label in y.tolist()])
    true_p = np.where(truth < 0, 0.0, p[np.arange(len(y)), truth])
    return {
        "error": float((p.argmax(axis=1) != truth).mean()),
        "log_loss": float(-np.log(np.maximum(true_p, LEAST)).mean()),
        "impossible": int((true_p < LEAST).sum()),
    }
