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
from clearwood.circuits.queries.table_cells import cell_conditionals
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

LINES = ("-", "--", "-.", ":")

MOST_POINT_MASSES = 2
"""Maximum number of point masses labelled per curve."""

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
        features = circuit.table.columns
        if any(column in known for known in given):
            raise InputError(f"{column!r} is the column shown; leave it out of given.")
        self.column, self.given = column, [{}, *given]
        (place,) = positions_of([column], features.names, "column")
        self.labels = features.categories[place]
        rows = np.array([row_of(features, known) for known in self.given])
        variables = circuit.table.to_variables(rows)
        self._found: Any = cell_conditionals(circuit, variables)[place]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        column: str,
        given: Sequence[Mapping[str, Any]] = (),
        *,
        ax: Any = None,
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
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        ConditionalDisplay
        """
        return cls(circuit_from(estimator), column, given).plot(ax)

    @property
    def shares(self) -> np.ndarray:
        """Probabilities of the levels of a discrete column, one row per curve."""
        return np.asarray(self._found.probabilities)

    def density(self, values: np.ndarray) -> np.ndarray:
        """Density of a continuous column at some values, one row per curve.

        At a point mass of the column, its probability.
        """
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
        own, column = self._found.number, self._found.column
        heard = own.weight > OUTER
        parts = own.mean_of[heard] + FINE[:, None] * own.sd_of[heard]
        edges = np.concatenate([own.low.ravel(), own.high.ravel()])
        inner = column.from_number(np.concatenate([parts.ravel(), edges]))
        grid = np.clip(np.concatenate([np.linspace(low, high, GRID), inner]), low, high)
        grid = np.setdiff1d(grid, column.point_masses)
        curves = self.density(grid)
        top = float(curves.max())
        for i, curve in enumerate(curves):
            ax.plot(grid, curve, label=self._name(i), **look_of(i))
        low, high = grid[curves.max(axis=0) > LEAST * top][[0, -1]]
        ax.set(xlim=(low, high), ylim=(0, 1.05 * top), ylabel="density")
        ax.set_xlabel(plain(printable(self.column)))
        outside = 1 - float(self._between(low, high).min())
        notes = [f"{share_text(outside)} of rows are outside"] * (outside > 0.005)
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

    def _name(self, i: int) -> str:
        known = self.given[i].items()
        words = [f"{name} = {label_words(value)}," for name, value in known]
        text = " ".join(words).removesuffix(",") or "all rows"
        at = [] if self.labels else self._found.at[i].tolist()
        masses = zip(at, self._found.column.point_masses) if at else ()
        most = [mass for mass in sorted(masses, reverse=True) if mass[0] > LEAST]
        if most:
            of = [
                f"{number_text(value)} in {share_text(p)}"
                for p, value in most[:MOST_POINT_MASSES]
            ]
            text += f" ({', '.join(of)})"
        lines = wrapped([printable(text)], LEGEND_WIDTH, len)
        return plain(*lines)


def look_of(i: int) -> dict[str, Any]:
    """Line styles that differ in colour and dash; the first is that of all rows."""
    if i == 0:
        return {"color": QUIET, "linestyle": ":", "linewidth": 2.0}
    return {"color": colour(i - 1), "linestyle": LINES[(i - 1) // 7 % 4],
            "linewidth": 1.8}  # fmt: skip
