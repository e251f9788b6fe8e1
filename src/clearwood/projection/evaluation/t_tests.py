"""Bayesian t-tests of the difference of two methods, given scores of both.

``correlated`` accounts for the training rows that the scores of one cross-validation
share, and has a closed form. ``paired`` and ``two_groups`` are BEST: Student's t with
unknown tails, so that outliers have less weight; the posterior is summed on a grid,
without a sampler. All computations are in standardised units.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, stdtr, stdtrit

from clearwood._words.numbers import number_text, probability_text, short_text
from clearwood._words.spelling import suggests_parameters
from clearwood.exceptions import InputError
from clearwood.projection.evaluation.best import Curve, paired, two_groups
from clearwood.results import Result
from clearwood.rules.rule import wrapped

if TYPE_CHECKING:
    import pandas as pd


TESTS = ("correlated", "paired", "two_groups")
FEWEST, MOST = 3, 500
"""Minimum and maximum number of scores of a method; with more, BEST would be slow."""

MASS = 0.95
"""Probability of the highest-density interval."""


@dataclass(frozen=True, repr=False)
class MethodComparison(Result):
    """Bayesian t-test of two methods; result of :func:`~clearwood.compare_methods`.

    Attributes
    ----------
    test : {"correlated", "paired", "two_groups"}
    n_scores : tuple of int
        Number of scores of ``a`` and of ``b``.
    difference, sd : float
        Posterior mean and standard deviation of the mean of ``a`` minus that of ``b``,
        in the scores' units. With three correlated pairs ``sd`` is infinite.
    hdi : tuple of float
        Highest-density interval: the shortest with 95 % of the posterior.
    p_a_better, p_rope, p_b_better : float
        Probabilities that ``a`` is better by more than ``rope``, that the difference is
        no larger than ``rope``, and that ``b`` is better by more.
    rope : float
    greater_is_better : bool
    test_size : float or None
        For ``"correlated"``: the share of rows that each split tests on.
    curve : tuple of ndarray
        Differences and the density of each, for plots; empty where ``sd`` is 0.
    """

    _display = "clearwood.projection.evaluation.t_test_display:DifferenceDisplay"

    test: str
    n_scores: tuple[int, int]
    difference: float
    sd: float
    hdi: tuple[float, float]
    p_a_better: float
    p_rope: float
    p_b_better: float
    rope: float
    greater_is_better: bool
    test_size: float | None
    curve: tuple[np.ndarray, np.ndarray] = field(compare=False)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Assumptions of the test, in sentences."""
        n, m = self.n_scores
        assumptions = [
            f"{'Higher' if self.greater_is_better else 'Lower'} scores are better."
        ]
        if self.test_size == 0:
            assumptions.append(f"The {n} differences are independent and normal.")
        elif self.test == "correlated":
            folds = f", as in {n} folds" if self.test_size == 1 / n else ""
            assumptions.append(
                f"Each of the {n} pairs of scores is of a split that tests a share of "
                f"{self.test_size:.3g} of the rows{folds}; differences are normal, "
                "with this share as their correlation."
            )
        elif self.test == "paired":
            assumptions.append(
                f"The {n} differences are independent, with a Student's t distribution."
            )
        else:
            assumptions.append(
                f"The {n} and {m} scores are independent; those of each method have a "
                "Student's t distribution with its own mean and scale and common "
                "degrees of freedom."
            )
        if self.sd == 0:
            assumptions.append(
                "All differences are equal: their mean is taken as certain."
            )
        if self.rope == 0:
            assumptions.append("No difference is too small to matter (rope=0).")
        return tuple(assumptions)

    def __str__(self) -> str:
        rope = number_text(self.rope)
        margin = f" by more than {rope}" if self.rope else ""
        same = f"they differ by {rope} at most" if self.rope else "they are equal"
        a, b, neither = map(
            probability_text, (self.p_a_better, self.p_b_better, self.p_rope)
        )
        sd = short_text(self.sd) if math.isfinite(self.sd) else "infinite"
        low, high = (short_text(end, 4) for end in self.hdi)
        lines = [
            f"a is better{margin} with probability {a}, b with {b}"
            + (f"; {same} with {neither}" if self.rope or self.p_rope else ""),
            f"mean of a minus mean of b: {short_text(self.difference, 4)}, standard "
            f"deviation {sd}, 95 % interval {low} to {high}",
            "assumptions: " + " ".join(self.assumptions),
        ]
        return "\n".join(wrapped(line) for line in lines)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the curve; an infinite ``sd`` is None."""
        fields = asdict(self) | {"assumptions": self.assumptions}
        del fields["curve"]
        return fields | {"sd": self.sd if math.isfinite(self.sd) else None}

    def to_frame(self) -> pd.DataFrame:
        """Posterior of the difference, in one row."""
        import pandas as pd

        names = ("difference", "sd", "p_a_better", "p_rope", "p_b_better")
        ends = dict(zip(("hdi_low", "hdi_high"), self.hdi))
        return pd.DataFrame([{name: getattr(self, name) for name in names} | ends])


@suggests_parameters
def compare_methods(
    scores_a: Any,
    scores_b: Any,
    *,
    test: str = "correlated",
    rope: float = 0.0,
    greater_is_better: bool = True,
    test_size: float | None = None,
) -> MethodComparison:
    """Compare two methods by a Bayesian t-test of their mean scores.

    The result is three probabilities: that ``a`` is better, that ``b`` is better, and
    that they are practically equivalent.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_scores,)
        Scores or losses of both methods, at least three each. For ``"correlated"`` and
        ``"paired"`` those at the same position belong together: the same fold, the same
        split, the same data set.
    test : {"correlated", "paired", "two_groups"}, default="correlated"
        ``"correlated"``: folds or random splits of one data set, which share training
        rows (Nadeau and Bengio's correlation; Corani and Benavoli). ``"paired"``: pairs
        that are independent of each other, such as those of several data sets.
        ``"two_groups"``: two independent groups, of any sizes. The last two are BEST
        (Kruschke 2013), in which outliers have less weight.
    rope : float, default=0.0
        Largest practically irrelevant difference, in the scores' units.
    greater_is_better : bool, default=True
        False for losses and errors.
    test_size : float, optional
        For ``"correlated"``: share of rows tested in each split, such as 0.1 for ten
        folds, however often repeated. By default the scores are assumed to be those of
        one cross-validation: one over their number.

    Returns
    -------
    MethodComparison

    Raises
    ------
    InputError
        Scores are not finite numbers, too few, or not in pairs.

    Notes
    -----
    The priors of BEST are Kruschke's, vague in units of the standard deviation of all
    scores (of all differences). Equal differences carry no information on their
    variance; the difference is then taken as certain, and the result states so.

    Examples
    --------
    >>> a = [0.91, 0.88, 0.93, 0.90, 0.92, 0.89, 0.94, 0.90, 0.91, 0.93]
    >>> b = [0.90, 0.88, 0.90, 0.89, 0.90, 0.90, 0.91, 0.88, 0.90, 0.91]
    >>> found = compare_methods(a, b, rope=0.005)
    >>> print(found)
    a is better by more than 0.005 with probability 0.922, b with 0.005; they differ by
         0.005 at most with 0.073
    mean of a minus mean of b: 0.014, standard deviation 0.00659, 95 % interval
         0.0008526 to 0.02715
    assumptions: Higher scores are better. Each of the 10 pairs of scores is of a split
         that tests a share of 0.1 of the rows, as in 10 folds; differences are normal,
         with this share as their correlation.
    """
    if not isinstance(greater_is_better, bool | np.bool_):
        raise InputError(
            f"greater_is_better must be True or False, found {greater_is_better!r}."
        )
    a, b = _scores(scores_a, "scores_a"), _scores(scores_b, "scores_b")
    share = _check(test, len(a), len(b), rope, test_size)
    # Powers of two scale without rounding: no unit is too large or too small.
    unit = int(np.frexp(np.abs(np.concatenate([a, b])).max())[1])
    a, b = np.ldexp(a, -unit), np.ldexp(b, -unit)
    z, centre, sd = _standardised(
        np.concatenate([a, b]) if test == "two_groups" else a - b
    )
    if test == "two_groups":
        centre = 0.0  # It is that of both groups, and cancels in the difference.
    if sd == 0.0:
        posterior = certain()
    elif test == "two_groups":
        posterior = two_groups(z[: len(a)], z[len(a) :])
    elif test == "paired":
        posterior = paired(z)
    else:
        posterior = correlated(len(z), share)

    scale = sd or 1.0

    def in_units(x: float) -> float:
        return _times_power(centre + scale * x, unit)

    bound = _times_power(rope, -unit)
    below = float(posterior.below((-bound - centre) / scale))
    above = float(posterior.above((bound - centre) / scale))
    low, high = shortest_interval(posterior)
    return MethodComparison(
        test=test,
        n_scores=(len(a), len(b)),
        difference=in_units(posterior.mean),
        sd=_times_power(scale * posterior.sd, unit),
        hdi=(in_units(low), in_units(high)),
        p_a_better=above if greater_is_better else below,
        p_rope=max(0.0, 1.0 - below - above),
        p_b_better=below if greater_is_better else above,
        rope=float(rope),
        greater_is_better=bool(greater_is_better),
        test_size=share if test == "correlated" else None,
        curve=_points(posterior, centre, scale, unit),
    )


# Posteriors of the difference, in standardised units


def certain() -> Curve:
    """Point mass at zero."""
    return Curve(
        0.0, 0.0, lambda x: x > 0, lambda x: x < 0, np.zeros_like, np.zeros_like
    )


def correlated(n: int, share: float) -> Curve:
    """Student's t for n differences, any two of which correlate by ``share``."""
    df, scale = n - 1, math.sqrt(1 / n + share / (1 - share))
    sd = scale * math.sqrt(df / (df - 2)) if df > 2 else math.inf
    log_top = gammaln((df + 1) / 2) - gammaln(df / 2) - math.log(scale)

    def density(x: Any) -> Any:
        tail = -(df + 1) / 2 * np.log1p((x / scale) ** 2 / df)
        return np.exp(log_top + tail) / math.sqrt(df * math.pi)

    def below(x: Any) -> Any:
        return stdtr(df, x / scale)

    return Curve(
        0.0, sd, below, lambda x: 1.0 - below(x),
        lambda p: scale * stdtrit(df, p), density,
    )  # fmt: skip


def shortest_interval(curve: Curve) -> tuple[float, float]:
    """Shortest interval with 95 % of a unimodal distribution.

    Examples
    --------
    >>> low, high = shortest_interval(correlated(20, 0.0))
    >>> round(low, 4), round(high, 4)
    (-0.468, 0.468)
    """

    def length(p: float) -> float:
        return float(curve.quantile(p + MASS) - curve.quantile(p))

    left = minimize_scalar(
        length, bounds=(0.0, 1.0 - MASS), method="bounded", options={"xatol": 1e-10}
    ).x
    return float(curve.quantile(left)), float(curve.quantile(left + MASS))


def _points(
    curve: Curve, centre: float, scale: float, unit: int
) -> tuple[np.ndarray, np.ndarray]:
    """Points of a curve for plots, in the scores' units."""
    if curve.sd == 0.0:
        return np.zeros(0), np.zeros(0)
    p = np.linspace(0.002, 0.998, 101)
    peak = curve.quantile(p)
    x = np.union1d(peak, np.linspace(peak[0], peak[-1], 201))
    with np.errstate(over="ignore"):
        return (
            np.ldexp(centre + scale * x, unit),
            np.ldexp(curve.density(x) / scale, -unit),
        )


# Validation and scaling


def _times_power(x: float, exponent: int) -> float:
    """A number times a power of two, infinite where it is too large for a float."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(x, exponent))


def _standardised(values: np.ndarray) -> tuple[np.ndarray, float, float]:
    centre = float(values.mean())
    # The scores are below 1: those that differ in their last digits are equal.
    if np.ptp(values) <= 8 * np.finfo(float).eps:
        return np.zeros_like(values), centre, 0.0
    deviation = values - centre
    # Squares of the smallest numbers would underflow.
    unit = int(np.frexp(np.abs(deviation).max())[1])
    sd = float(np.ldexp(np.ldexp(deviation, -unit).std(ddof=1), unit))
    return deviation / sd, centre, sd


def _scores(values: Any, name: str) -> np.ndarray:
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, one per run or fold.") from None
    if scores.ndim != 1:
        raise InputError(
            f"{name} has {scores.ndim} dimension(s); expected a list of scores, one "
            "per run or fold."
        )
    if not np.isfinite(scores).all():
        k = int(np.argmin(np.isfinite(scores)))
        raise InputError(
            f"{name} holds {scores[k]} at position {k}; omit failed runs, of both "
            "methods if scores are paired."
        )
    if len(scores) < FEWEST:
        raise InputError(
            f"{name} holds {len(scores)} score(s), too few to estimate their variance; "
            f"pass {FEWEST} or more."
        )
    return scores


def _check(test: str, n_a: int, n_b: int, rope: Any, test_size: Any) -> float:
    """Validate all settings; return the share of rows tested."""
    if test not in TESTS:
        raise InputError(f"test must be one of {TESTS}, found {test!r}.")
    if test != "two_groups" and n_a != n_b:
        raise InputError(
            f"scores_a holds {n_a} scores and scores_b {n_b}; {test!r} requires pairs. "
            "For independent runs set test='two_groups'."
        )
    if test != "correlated" and max(n_a, n_b) > MOST:
        raise InputError(
            f"{test!r} accepts at most {MOST} scores, found {max(n_a, n_b)}. Their "
            "mean is nearly normal: set test='correlated' with test_size=0."
        )
    if not 0 <= rope < math.inf:
        raise InputError(
            f"rope is {rope!r}; expected the largest irrelevant difference, 0 or more."
        )
    if test_size is None:
        return 1 / n_a
    if test != "correlated" or not 0 <= test_size < 1:
        raise InputError(
            f"test_size is {test_size!r} with test={test!r}; expected the share of "
            "rows that each split tests, from 0 to below 1, with test='correlated'."
        )
    return float(test_size)
