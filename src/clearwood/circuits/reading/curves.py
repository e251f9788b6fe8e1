"""Pictures of one column given others, and of the surprising entries of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import number_text, share_text
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import QUIET, colour, plain, wrapped
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.learning.variables import positions_of, row_of
from clearwood.circuits.queries.shares import conditionals
from clearwood.circuits.reading.display import circuit_of
from clearwood.circuits.reading.profiles import label_words
from clearwood.exceptions import InputError

GRID, FINE = 400, np.linspace(-4.0, 4.0, 33)
"""Points of a curve, and of each of its parts in standard deviations."""

OUTER, INNER = 0.001, 0.05
"""Shares of rows to both sides: a curve ends there at the latest, or there and as far
out again as the rows between reach, for single rows may be far from all others."""

LEAST = 1e-3
"""Share of a curve's height from which on it is seen."""

TALL, HEAPED = 3.0, 0.05
"""How much higher than all else a curve is cut off at a heap, and what share of rows
makes that; the share is told."""

LINES = ("-", "--", "-.", ":")

MOST_HEAPS = 2
"""Heaps of a curve that are told."""

LEGEND_WIDTH = 44
"""Letters of a line of the legend."""


class ConditionalDisplay(Display):
    """How a column is distributed, among all rows and given other columns.

    A continuous column is shown by its density, a discrete one by the shares of its
    levels.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    circuit : Circuit
    column : str
        What is shown.
    given : sequence of dict
        Of each curve, the columns that are known, with their values.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood import FeatureSpace
    >>> from clearwood.circuits.nodes import Product, Sum
    >>> from clearwood.distributions import Bernoulli, Gaussian
    >>> features = FeatureSpace(("smoker", "age"), (("no", "yes"), None))
    >>> young = Product((Bernoulli(0, 0.1), Gaussian(1, 35.0, 64.0)))
    >>> old = Product((Bernoulli(0, 0.4), Gaussian(1, 60.0, 100.0)))
    >>> circuit = Circuit(Sum(np.array([0.7, 0.3]), (young, old)), features)
    >>> display = ConditionalDisplay(circuit, "smoker", [{"age": 30}, {"age": 60}])
    >>> np.round(display.shares, 2).tolist()
    [[0.81, 0.19], [0.9, 0.1], [0.61, 0.39]]
    >>> display.plot().ax_.get_xlabel()
    'share'
    """

    def __init__(
        self, circuit: Circuit, column: str, given: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        features = circuit.features
        if any(column in known for known in given):
            raise InputError(f"{column!r} is what is shown; leave it out of given.")
        self.column, self.given = column, [{}, *given]
        (place,) = positions_of([column], features.names, "column")
        self.labels = features.categories[place]
        self.heaps = [heap for heap in circuit.heaps if heap.column == place]
        rows = np.array([row_of(features, known) for known in self.given])
        self._found: Any = conditionals(circuit, rows)[place]

    @classmethod
    def from_estimator(
        cls, estimator: Any, column: str, given: Sequence[Mapping[str, Any]] = ()
    ) -> ConditionalDisplay:
        """A column of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With ``circuit_``, such as a MiniSPN.
        column : str
            What is shown.
        given : sequence of dict
            Of each curve besides that of all rows, the columns that are known, with
            their values: ``[{"smoker": "yes"}, {"smoker": "no", "age": 30}]``.

        Returns
        -------
        ConditionalDisplay
        """
        return cls(circuit_of(estimator), column, given)

    @property
    def shares(self) -> np.ndarray:
        """Of a discrete column: shares of its levels, a row for every curve."""
        return np.asarray(self._found.probabilities)

    def density(self, values: np.ndarray) -> np.ndarray:
        """Of a continuous column: its density at some values, a row for every curve."""
        n = len(self.given)
        return np.exp([self._found.log_density(np.full(n, x)) for x in values]).T

    def _draw(self, ax: Any) -> list[Any]:
        n_lines = 1 if self.labels is None else len(self.labels) * len(self.given)
        ax = axes_of(ax, 6.4, max(3.6, 0.8 + 0.2 * n_lines))
        draw = self._plot_curves if self.labels is None else self._plot_bars
        draw(ax)
        # Below, where neither curves nor bars are.
        ax.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, fontsize=9,
            ncols=2 if len(self.given) > 2 else 1,
        )  # fmt: skip
        return [ax]

    def _plot_curves(self, ax: Any) -> None:
        low, high = self._range()
        found = self._found
        heard = found.weight > OUTER
        parts = found.mean_of[heard] + FINE[:, None] * found.sd_of[heard]
        edges = np.concatenate([found.low.ravel(), found.high.ravel()])
        points = [np.linspace(low, high, GRID), parts.ravel(), edges]
        grid = np.unique(np.clip(np.concatenate(points), low, high))
        curves = self.density(grid)
        top, shares = self._heaped(grid, curves)
        for i, curve in enumerate(curves):
            ax.plot(grid, curve, label=self._name(i, shares[i]), **look_of(i))
        low, high = grid[curves.max(axis=0) > LEAST * top][[0, -1]]
        ax.set(xlim=(low, high), ylim=(0, 1.05 * top), ylabel="density")
        ax.set_xlabel(plain(printable(self.column)))
        outside = 1 - float(self._between(low, high).min())
        notes = [f"{share_text(outside)} of rows are further out"] * (outside > 0.005)
        notes += ["cut off where many rows have one value"] * any(shares)
        ax.set_title("; ".join(notes), fontsize=9, color=QUIET, loc="left")

    def _between(self, low: float, high: float) -> np.ndarray:
        """Share of the rows of every curve."""
        upper, lower = (np.full(len(self.given), end) for end in (high, low))
        return np.asarray(self._found.cdf(upper) - self._found.cdf(lower))

    def _range(self) -> tuple[float, float]:
        """From where to where curves go."""
        found = self._found
        first, last = found.quantile(INNER).min(), found.quantile(1 - INNER).max()
        reach = last - first
        low = max(found.quantile(OUTER).min(), first - reach)
        return low, min(found.quantile(1 - OUTER).max(), last + reach)

    def _heaped(
        self, grid: np.ndarray, curves: np.ndarray
    ) -> tuple[float, list[list[tuple[float, float]]]]:
        """How high to draw; of every curve its heaps and their shares, if cut off."""
        beside = np.full(len(grid), True)
        shares: list[list[tuple[float, float]]] = [[] for _ in curves]
        for _, value, reach in self.heaps:
            beside &= np.abs(grid - value) > reach
            inside = self._between(value - reach, value + reach).tolist()
            for own, share in zip(shares, inside):
                own += [(value, share)] if share >= HEAPED else []
        top = float(curves.max())
        rest = float(curves[:, beside].max(initial=0.0))
        if not any(shares) or top <= TALL * rest or not rest:
            return top, [[] for _ in curves]
        return TALL * rest, shares

    def _plot_bars(self, ax: Any) -> None:
        labels = [plain(label_words(label)) for label in self.labels or ()]
        shares = self.shares
        high = 0.8 / len(shares)
        for i, own in enumerate(shares):
            places = np.arange(len(labels)) - 0.4 + high * (i + 0.5)
            fill = QUIET if i == 0 else colour(i - 1)
            ax.barh(places, own, 0.92 * high, color=fill, label=self._name(i),
                    alpha=0.5 if i == 0 else 0.85)  # fmt: skip
        ax.set_yticks(np.arange(len(labels)), labels)
        ax.invert_yaxis()
        ax.set(xlim=(0, 1), xlabel="share", title=plain(printable(self.column)))

    def _name(self, i: int, heaps: Sequence[tuple[float, float]] = ()) -> str:
        known = self.given[i].items()
        said = [f"{name} = {label_words(value)}," for name, value in known]
        text = " ".join(said).removesuffix(",") or "all rows"
        most = sorted(heaps, key=lambda heap: -heap[1])[:MOST_HEAPS]
        if most:
            of = [f"{number_text(value)} in {share_text(p)}" for value, p in most]
            text += f" ({', '.join(of)})"
        lines = wrapped([printable(text)], LEGEND_WIDTH, len)
        return plain(*lines)


def look_of(i: int) -> dict[str, Any]:
    """Lines that differ in colour and in kind; the first is of all rows."""
    if i == 0:
        return {"color": QUIET, "linestyle": ":", "linewidth": 2.0}
    return {"color": colour(i - 1), "linestyle": LINES[(i - 1) // 7 % 4],
            "linewidth": 1.8}  # fmt: skip
