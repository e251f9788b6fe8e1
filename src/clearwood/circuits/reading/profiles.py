"""Marginal distributions of the columns in a part of a circuit."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import number_text, share_text, short_text
from clearwood.circuits.nodes import Node, Product, Sum
from clearwood.circuits.queries.shares import ValueShares
from clearwood.columns.dates import DATES, date_text, value_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.table_variables import NumericColumn
from clearwood.distributions import Leaf
from clearwood.distributions.categorical import OfLevels
from clearwood.rules.conditions import name_text

TINY = 1e-12
"""Minimum probability, and share of a variance, in a divergence."""

NOTHING = 1e-6
"""Divergence in nats that may be rounding."""

MOST_LEVELS = 3
"""Maximum number of levels of a column in one line."""

Numbers = Sequence[NumericColumn | None]
"""Models of the columns of a table, by variable."""

PLAIN = NumericColumn()

NEARLY_ALL = 0.9
"""Minimum share of rows with one value for it to be shown in place of a mean."""


class Shares(NamedTuple):
    """Probabilities of the levels of a discrete column."""

    probabilities: np.ndarray

    @classmethod
    def pooled(cls, weights: np.ndarray, parts: Sequence[Shares]) -> Shares:
        """Mixture of several."""
        return cls(weights @ np.array([part.probabilities for part in parts]))

    def divergence(self, of_all: Shares) -> float:
        """Kullback-Leibler divergence from that of all rows, in nats."""
        own = self.probabilities
        ratio = np.maximum(own, TINY) / np.maximum(of_all.probabilities, TINY)
        return float(own @ np.log(ratio))

    def raised(self, of_all: Shares) -> int:
        """The level shown: of two the second, else the one most raised here."""
        own, other = self.probabilities, of_all.probabilities
        if len(own) == 2:
            return 1
        gain = own * np.log(np.maximum(own, TINY) / np.maximum(other, TINY))
        # If nothing differs, the most common one.
        return int(np.argmax(gain if gain.max() > NOTHING else own))

    def deviation(self, of_all: Shares) -> float:
        """Deviation of that level's share, in standard deviations of its indicator."""
        level = self.raised(of_all)
        p = float(of_all.probabilities[level])
        difference = float(self.probabilities[level]) - p
        return difference / math.sqrt(max(p * (1 - p), TINY)) if difference else 0.0

    def words(self, labels: Sequence[object], kind: str = "") -> str:
        """The levels, the most common first; of two only the second."""
        p = self.probabilities
        if len(p) == 1:
            return f"{label_words(labels[0])} always"
        if len(p) == 2:
            return f"{label_words(labels[1])} in {share_text(float(p[1]))}"
        order = np.argsort(-p, kind="stable")
        most = MOST_LEVELS if len(p) > MOST_LEVELS + 1 else len(p)
        shares = [share_text(float(share)) for share in p]
        texts = [f"{label_words(labels[i])} in {shares[i]}" for i in order[:most]]
        if most < len(p):
            rest = share_text(float(p[order[most:]].sum()))
            texts.append(f"{len(p) - most} others in {rest}")
        return ", ".join(texts)

    def expected(self, labels: Sequence[object], kind: str = "") -> str:
        """Expected level beside a found one: of two the more common."""
        if len(self.probabilities) != 2:
            return self.words(labels)
        level = int(np.argmax(self.probabilities))
        share = share_text(float(self.probabilities[level]))
        return f"{label_words(labels[level])} in {share}"

    def compared(self, of_all: Shares, labels: Sequence[object], kind: str = "") -> str:
        """A level here and, in brackets, among all rows."""
        level = self.raised(of_all)
        own = share_text(float(self.probabilities[level]))
        other = share_text(float(of_all.probabilities[level]))
        return f"{label_words(labels[level])} in {own} ({other})"

    def brief(self, of_all: Shares, labels: Sequence[object], kind: str = "") -> str:
        """The level shown and its share; of two levels the share alone."""
        level = self.raised(of_all)
        share = share_text(float(self.probabilities[level]))
        two = len(self.probabilities) == 2
        return share if two else f"{label_words(labels[level])}: {share}"


class LogMixture(NamedTuple):
    """Distribution of a skewed column, off its point masses.

    Attributes
    ----------
    column : NumericColumn
        With a logarithmic scale.
    weight, mean, variance : ndarray of shape (n_components,)
        Of normal distributions on that scale.
    """

    column: NumericColumn
    weight: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    @classmethod
    def pooled(cls, weights: np.ndarray, parts: Sequence[LogMixture]) -> LogMixture:
        """Mixture of several."""
        own = [w * part.weight for w, part in zip(weights, parts)]
        mean, variance = zip(*(part[2:] for part in parts))
        return cls(parts[0].column, *map(np.concatenate, (own, mean, variance)))

    def quantile(self, share: float) -> float:
        """Quantile, in the units of the table and rounded as its cells."""
        nothing = np.empty((1, 0))
        found = ValueShares(
            np.zeros(1, dtype=np.intp), self.weight[None], self.mean[None],
            np.sqrt(self.variance)[None], nothing, nothing, nothing,
        ).quantile(share)  # fmt: skip
        return float(self.column.rounded(self.column.from_number(found))[0])

    def text(self, share: float) -> str:
        """Quantile to three digits."""
        value = self.quantile(share)
        if not 1e3 <= abs(value) < 1e6:
            return short_text(value)
        return _fixed(value, 2 - math.floor(math.log10(abs(value))))


class Moments(NamedTuple):
    """Mean and variance of a continuous column.

    Attributes
    ----------
    mean, variance : float
    point_mass : tuple of float, optional
        The value of nearly all rows, and their share.
    skewed : LogMixture, optional
        Distribution of a skewed column, whose quartiles are shown.
    """

    mean: float
    variance: float
    point_mass: tuple[float, float] | None = None
    skewed: LogMixture | None = None

    @classmethod
    def pooled(cls, weights: np.ndarray, parts: Sequence[Moments]) -> Moments:
        """Mixture of several."""
        mean, variance = np.array([part[:2] for part in parts]).T
        middle = float(weights @ mean)
        spread = float(weights @ (variance + (mean - middle) ** 2))
        every = [part.skewed for part in parts if part.skewed is not None]
        skewed = LogMixture.pooled(weights, every) if every else None
        return cls(middle, spread, skewed=skewed)

    @property
    def sd(self) -> float:
        """Standard deviation."""
        return math.sqrt(self.variance)

    def with_point_mass(self, value: float, share: float) -> Moments:
        """Copy with a point mass, shown where nearly all rows have it."""
        return self._replace(point_mass=(value, share)) if share >= NEARLY_ALL else self

    def divergence(self, of_all: Moments) -> float:
        """Kullback-Leibler divergence between normals with these moments, in nats."""
        if not of_all.variance:
            return 0.0
        ratio = max(self.variance / of_all.variance, TINY)
        difference = (self.mean - of_all.mean) ** 2 / of_all.variance
        return 0.5 * (ratio - 1 - math.log(ratio) + difference)

    def deviation(self, of_all: Moments) -> float:
        """Deviation of the mean, in standard deviations among all rows."""
        difference = self.mean - of_all.mean
        return difference / of_all.sd if of_all.variance else 0.0

    def words(self, labels: Sequence[object], kind: str = "number") -> str:
        """Mean and deviation, quartiles, or the value of nearly all rows."""
        if self.point_mass is None:
            return self.numbers(kind)
        value, share = self.point_mass
        return f"{value_text(value, kind)} in {share_text(share)}"

    def expected(self, labels: Sequence[object], kind: str = "number") -> str:
        """Expected value beside a found number."""
        return self.words(labels, kind)

    def compared(
        self, of_all: Moments, labels: Sequence[object], kind: str = "number"
    ) -> str:
        """Both here and, in brackets, among all rows; there of quartiles the median."""
        if of_all.skewed is not None and of_all.point_mass is None:
            median = of_all.brief(of_all, labels, kind)
            return f"{self.words(labels, kind)} (median {median})"
        return f"{self.words(labels, kind)} ({of_all.words(labels, kind)})"

    def brief(
        self, of_all: Moments, labels: Sequence[object], kind: str = "number"
    ) -> str:
        """Mean alone, rounded to the digits of the deviation, but few; or median."""
        if self.point_mass is not None:
            value, share = self.point_mass
            return f"{value_text(value, kind)}: {share_text(share)}"
        if self.skewed is not None:
            return self.skewed.text(0.5)
        if kind in DATES:
            return date_text(round(self.mean))
        if not self.mean:
            return "0"
        places = 3 - math.floor(math.log10(abs(self.mean)))
        if self.variance:
            places = min(places, 1 - math.floor(math.log10(self.sd)))
        return _fixed(self.mean, places)

    def numbers(self, kind: str = "number") -> str:
        """Text of mean ± deviation, to two digits of the deviation; or of quartiles."""
        if self.skewed is not None:
            low, middle, high = map(self.skewed.text, (0.25, 0.5, 0.75))
            return f"median {middle}, quartiles {low} and {high}"
        deviation = self.sd
        if not deviation > 0:
            is_date = kind in DATES
            return date_text(self.mean) if is_date else short_text(self.mean, 6)
        places = 1 - math.floor(math.log10(deviation))
        spread = _fixed(deviation, places)
        if kind in DATES:
            day = round(self.mean) if deviation >= 1 else self.mean
            return f"{date_text(day)} ± {spread} days"
        return f"{_fixed(self.mean, places)} ± {spread}"


def _fixed(value: float, places: int) -> str:
    """Round a number to decimal places, or to digits before the point if negative."""
    if not -7 < places < 7:
        return short_text(value)
    # No -0, for numbers slightly below it.
    return f"{round(value, places) + 0.0:,.{max(places, 0)}f}"


Facts = Shares | Moments


def label_words(label: object) -> str:
    """Text of a level, numbers without redundant decimals."""
    if isinstance(label, float):
        return number_text(label)
    if label is None:
        return "missing"  # a column without any value
    return printable(str(label))


def column_words(
    features: FeatureSpace, j: int, here: Facts, of_all: Facts | None = None
) -> str:
    """Text of a column and its distribution, beside another's if given.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace
    >>> features = FeatureSpace(("smoker", "age"), (("no", "yes"), None))
    >>> print(column_words(features, 0, Shares(np.array([0.77, 0.23]))))
    smoker = yes in 23 %
    >>> print(column_words(features, 1, Moments(54.1, 81.0), Moments(61.0, 144.0)))
    age 54.1 ± 9.0 (61 ± 12)
    """
    name, labels = name_text(features.title(j)), features.categories[j] or ()
    kind = features.info[j].kind
    if of_all is None:
        text = here.words(labels, kind)
    else:
        text = here.compared(of_all, labels, kind)  # type: ignore[arg-type]
    is_one = isinstance(here, Moments) and here.point_mass is not None
    return f"{name} = {text}" if labels or is_one else f"{name} {text}"


# From leaves


def facts_of(leaf: Leaf, numbers: Numbers = ()) -> Iterator[tuple[int, Facts]]:
    """Marginal distributions of the columns of a leaf."""
    for one in leaf.apart():
        if isinstance(one, OfLevels):
            yield one.variable, Shares(one.probabilities)
        else:
            number = numbers[one.variable] if one.variable < len(numbers) else None
            number, skewed = number or PLAIN, None
            if number.scale is not None:
                own = np.array([[1.0], [one.mean], [one.variance]])
                skewed = LogMixture(number, *own)
            mean, variance = number.moments(one.mean, one.variance)
            moments = Moments(float(mean), float(variance), skewed=skewed)
            yield one.variable, moments


def leaves_below(node: Node) -> Iterator[tuple[Leaf, float]]:
    """All leaves, with their shares of the node's rows."""
    waiting = [(node, 1.0)]
    while waiting:
        node, share = waiting.pop()
        if isinstance(node, Sum):
            weights = (share * node.weights).tolist()
            waiting += [(c, w) for c, w in zip(node.children, weights) if w > 0]
        elif isinstance(node, Product):
            waiting += [(child, share) for child in node.children]
        else:
            yield node, share


def profile_of(node: Node, numbers: Numbers = ()) -> dict[int, Facts]:
    """Marginal distribution of every column below a node, by its moments.

    Exact: mixtures average probabilities and moments, and products do not change them.

    Parameters
    ----------
    node : node
    numbers : sequence of NumericColumn or None, optional
        Of the table, in whose units the moments are.

    Returns
    -------
    dict of int to Shares or Moments
        By column, in increasing order.

    Examples
    --------
    >>> from clearwood.distributions import Gaussian
    >>> mixture = Sum(np.array([0.5, 0.5]), (Gaussian(0, 1.0, 3.0),
    ...                                      Gaussian(0, 3.0, 3.0)))
    >>> profile_of(mixture)
    {0: Moments(mean=2.0, variance=4.0, point_mass=None, skewed=None)}
    """
    parts: dict[int, list[Facts]] = defaultdict(list)
    weights: dict[int, list[float]] = defaultdict(list)
    for leaf, share in leaves_below(node):
        for j, facts in facts_of(leaf, numbers):
            parts[j].append(facts)
            weights[j].append(share)
    return {
        j: type(parts[j][0]).pooled(np.array(weights[j]), parts[j])  # type: ignore[arg-type]
        for j in sorted(parts)
    }
