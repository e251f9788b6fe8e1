"""Plot of the stability of trees over bootstrap samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import MARKERS, colour, plain
from clearwood.projection.evaluation.tree_stability import TreeStability

MEASURES = {
    "splits\n(dissimilarity)": lambda s: np.array(s.dissimilarity),
    "partition of the rows\n(1 − adjusted Rand index)": lambda s: (
        1 - np.array(s.adjusted_rand)
    ),
    "features\n(1 − Jaccard index)": lambda s: 1 - np.array(s.shared_features),
}
"""Measures drawn, each 0 where both trees are equal."""


@dataclass(eq=False, repr=False)
class TreeStabilityDisplay(Display):
    """Plot of the dissimilarity of trees of bootstrap samples, one row per measure.

    A dot is a pair of trees, a large marker the mean of all pairs; further left is more
    stable. The difference of predictions is in the target's units, and is given in the
    legend.

    Parameters
    ----------
    found : dict of str to TreeStability
        Results of :func:`~clearwood.projection.tree_stability` by method.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood.projection import TreeStability
    >>> found = TreeStability((3, 3), (0.2,), (0.4,), (1.5,), (0.9,), (1.0,))
    >>> display = TreeStabilityDisplay({"projected tree": found}).plot()
    >>> display.ax_.get_legend_handles_labels()[1]
    ['projected tree: RMS difference of predictions 1.5']
    """

    found: dict[str, TreeStability]

    @classmethod
    def of_result(cls, result: Any, /) -> Self:
        """Display of a result."""
        return cls({"trees": result})

    def _draw(self, ax: Any) -> list[Any]:
        n = len(self.found)
        ax = axes_of(ax, 7.2, 1.4 + len(MEASURES) * (0.3 + 0.3 * n))
        heights = np.arange(len(MEASURES))[::-1]
        for i, (name, found) in enumerate(self.found.items()):
            ink, shape = colour(i), MARKERS[i % len(MARKERS)]
            middle = heights + 0.6 * ((n - 1) / 2 - i) / n
            values = [measure(found) for measure in MEASURES.values()]
            for at, pairs in zip(middle, values):
                # Side by side, so that equal pairs are visible.
                offset = np.linspace(-0.18, 0.18, len(pairs)) / n
                ax.plot(pairs, at + offset, ".", color=ink, alpha=0.35, markersize=5)
            rms = np.mean(found.prediction_rms)
            ax.plot(
                [pairs.mean() for pairs in values], middle, shape, color=ink,
                markeredgecolor="black", markersize=8, linestyle="",
                label=plain(f"{name}: RMS difference of predictions {rms:.3g}"),
            )  # fmt: skip
        ax.set_yticks(heights, list(MEASURES), fontsize=9)
        ax.set_ylim(-0.6, len(MEASURES) - 0.4)
        low, high = ax.get_xlim()
        ax.set_xlim(min(-0.03, low), max(1.03, high))
        ax.set_xlabel("difference of two trees (0: identical)")
        ax.grid(axis="x", alpha=0.3)
        ax.legend(
            fontsize=8, frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0)
        )
        return [ax]
