"""Plot of a Bayesian t-test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._words.numbers import number_text, probability_text
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import COLOURS, QUIET

if TYPE_CHECKING:
    from clearwood.projection.evaluation.t_tests import MethodComparison

SOLID = 0.55
"""Opacity of the areas."""


@dataclass(eq=False, repr=False)
class DifferenceDisplay(Display):
    """Plot of the posterior of the difference of two methods, with the ROPE.

    Make one with :meth:`from_comparison`. The areas under the curve are the
    probabilities that ``a`` is better, that ``b`` is, and that the difference is
    practically irrelevant. The bar below is the 95 % highest-density interval of the
    posterior; the dot on it is the mean.

    Parameters
    ----------
    found : MethodComparison

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood import compare_methods
    >>> found = compare_methods([3.0, 2.0, 4.0, 3.0], [2.0, 2.5, 2.0, 1.0], rope=0.5)
    >>> DifferenceDisplay(found).plot().ax_.get_xlabel()
    'mean of a minus mean of b (higher is better)'
    """

    found: MethodComparison

    @classmethod
    def from_comparison(cls, found: MethodComparison) -> DifferenceDisplay:
        """Plot the posterior of a comparison.

        Parameters
        ----------
        found : MethodComparison
            Result of ``compare_methods``.

        Returns
        -------
        DifferenceDisplay
        """
        return cls(found)

    @property
    def areas(self) -> list[tuple[float, float, str, str]]:
        """Ends, colour and label of each area, from left to right."""
        found, rope = self.found, self.found.rope
        a = (COLOURS[0], f"a is better: {probability_text(found.p_a_better)}")
        b = (COLOURS[1], f"b is better: {probability_text(found.p_b_better)}")
        left, right = (b, a) if found.greater_is_better else (a, b)
        same = f"difference of at most {number_text(rope)}" if rope else "equal"
        middle = (QUIET, f"{same}: {probability_text(found.p_rope)}")
        areas = [
            (-np.inf, -rope, *left),
            (-rope, rope, *middle),
            (rope, np.inf, *right),
        ]
        return areas if rope or found.p_rope else [areas[0], areas[2]]

    def _draw(self, ax: Any) -> list[Any]:
        ax = axes_of(ax, 6.4, 3.8)
        self._draw_areas(ax)
        self._draw_interval(ax)
        found = self.found
        for end in {-found.rope, found.rope, 0.0}:
            ax.axvline(
                end, color="black", linewidth=0.8, linestyle="-" if end == 0 else ":"
            )
        better = "higher" if found.greater_is_better else "lower"
        ax.set(xlabel=f"mean of a minus mean of b ({better} is better)", yticks=[])
        ax.set_ylim(-0.1, 1.08)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(self.areas),
            fontsize=9, frameon=False, handlelength=1.2,
        )  # fmt: skip
        return [ax]

    def _draw_areas(self, ax: Any) -> None:
        x, density = self.found.curve
        if not len(x):  # The difference is certain.
            x, density = np.full(2, self.found.difference), np.array([0.0, 1.0])
        height = density / density.max()
        for low, high, ink, words in self.areas:
            # With the ends themselves, so that areas meet there.
            ends = [end for end in (low, high) if x[0] < end < x[-1]]
            inside = np.union1d(x[(low <= x) & (x <= high)], ends)
            ax.fill_between(
                inside, np.interp(inside, x, height), color=ink, alpha=SOLID,
                linewidth=0, label=words,
            )  # fmt: skip
        ax.plot(x, height, color="black", linewidth=1.2)

    def _draw_interval(self, ax: Any) -> None:
        found, low = self.found, -0.05
        ax.plot(
            found.hdi, (low, low), color="black", linewidth=3, solid_capstyle="butt"
        )
        ax.plot([found.difference], [low], "o", color="black", markersize=7)
        ax.annotate(
            "95 %", (found.hdi[1], low), xytext=(7, 0), textcoords="offset points",
            va="center", fontsize=8, bbox={"fc": "white", "ec": "none", "pad": 1},
        )  # fmt: skip
