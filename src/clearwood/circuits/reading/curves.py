"""Plots of conditional distributions of one column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import number_text, share_text
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import QUIET, colour, plain, wrapped
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.queries.shares import conditionals
from clearwood.circuits.reading.display import circuit_from
from clearwood.circuits.reading.profiles import label_words
from clearwood.columns.variables import positions_of, row_of
from clearwood.exceptions import InputError

GRID, FINE = 400, np.linspace(-4.0, 4.0, 33)
"""Points of a curve, and of each component, in standard deviations."""

OUTER, INNER = 0.001, 0.05
"""Shares of rows on both sides: a curve ends there at the latest, or there and as far
out again as the rows between span, for single rows may be far from all others."""

LEAST = 1e-3
"""Visible share of a curve's height."""

TALL, SHOWN_SHARE = 3.0, 0.05
"""Ratio to the rest of a curve at which it is truncated at a point mass, and the share
of rows that makes a point mass; the share is shown."""

LINES = ("-", "--", "-.", ":")

MOST_POINT_MASSES = 2
"""Maximum number of point_masses labelled per curve."""

LEGEND_WIDTH = 44
"""Maximum number of characters per line of the legend."""


class ConditionalDisplay(Display):
    """Distribution of a column, marginal and conditional on other columns.

    A continuous column is shown by its density, a discrete one by the probabilities of
    its levels.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    circuit : Circuit
    column : str
        Name of the column shown.
    given : sequence of dict
        Known columns of each conditional curve, with their values.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood.rules import FeatureSpace
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
            raise InputError(f"{column!r} is the column shown; leave it out of given.")
        self.column, self.given = column, [{}, *given]
        (place,) = positions_of([column], features.names, "column")
        self.labels = features.categories[place]
        self.point_masses = [
            mass for mass in circuit.point_masses if mass.column == place
        ]
        rows = np.array([row_of(features, known) for known in self.given])
        self._found: Any = conditionals(circuit, rows)[place]

    @classmethod
    def from_estimator(
        cls, estimator: Any, column: str, given: Sequence[Mapping[str, Any]] = ()
    ) -> ConditionalDisplay:
        """Create the display from a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With ``circuit_``, such as a MiniSPN.
        column : str
            Name of the column shown.
        given : sequence of dict
            For each curve besides that of all rows, the known columns with their
            values: ``[{"smoker": "yes"}, {"smoker": "no", "age": 30}]``.

        Returns
        -------
        ConditionalDisplay
        """
        return cls(circuit_from(estimator), column, given)

    @property
    def shares(self) -> np.ndarray:
        """Probabilities of the levels of a discrete column, one row per curve."""
        return np.asarray(self._found.probabilities)

    def density(self, values: np.ndarray) -> np.ndarray:
        """Density of a continuous column at some values, one row per curve."""
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
        top, shares = self._truncated(grid, curves)
        for i, curve in enumerate(curves):
            ax.plot(grid, curve, label=self._name(i, shares[i]), **look_of(i))
        low, high = grid[curves.max(axis=0) > LEAST * top][[0, -1]]
        ax.set(xlim=(low, high), ylim=(0, 1.05 * top), ylabel="density")
        ax.set_xlabel(plain(printable(self.column)))
        outside = 1 - float(self._between(low, high).min())
        notes = [f"{share_text(outside)} of rows are outside"] * (outside > 0.005)
        notes += ["truncated at point masses"] * any(shares)
        ax.set_title("; ".join(notes), fontsize=9, color=QUIET, loc="left")

    def _between(self, low: float, high: float) -> np.ndarray:
        """Probability of an interval under every curve."""
        upper, lower = (np.full(len(self.given), end) for end in (high, low))
        return np.asarray(self._found.cdf(upper) - self._found.cdf(lower))

    def _range(self) -> tuple[float, float]:
        """Range of the curves."""
        found = self._found
        first, last = found.quantile(INNER).min(), found.quantile(1 - INNER).max()
        reach = last - first
        low = max(found.quantile(OUTER).min(), first - reach)
        return low, min(found.quantile(1 - OUTER).max(), last + reach)

    def _truncated(
        self, grid: np.ndarray, curves: np.ndarray
    ) -> tuple[float, list[list[tuple[float, float]]]]:
        """Height of the plot; of every curve its point masses, if truncated."""
        beside = np.full(len(grid), True)
        shares: list[list[tuple[float, float]]] = [[] for _ in curves]
        for _, value, reach in self.point_masses:
            beside &= np.abs(grid - value) > reach
            inside = self._between(value - reach, value + reach).tolist()
            for own, share in zip(shares, inside):
                own += [(value, share)] if share >= SHOWN_SHARE else []
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

    def _name(self, i: int, point_masses: Sequence[tuple[float, float]] = ()) -> str:
        known = self.given[i].items()
        words = [f"{name} = {label_words(value)}," for name, value in known]
        text = " ".join(words).removesuffix(",") or "all rows"
        most = sorted(point_masses, key=lambda mass: -mass[1])[:MOST_POINT_MASSES]
        if most:
            of = [f"{number_text(value)} in {share_text(p)}" for value, p in most]
            text += f" ({', '.join(of)})"
        lines = wrapped([printable(text)], LEGEND_WIDTH, len)
        return plain(*lines)


def look_of(i: int) -> dict[str, Any]:
    """Line styles that differ in colour and dash; the first is that of all rows."""
    if i == 0:
        return {"color": QUIET, "linestyle": ":", "linewidth": 2.0}
    return {"color": colour(i - 1), "linestyle": LINES[(i - 1) // 7 % 4],
            "linewidth": 1.8}  # fmt: skip
