"""How chains have come along: a line for each, over its draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.charts.display import axes_of
from clearwood.charts.style import QUIET, colour


def draw_sweeps(ax: Any, values: np.ndarray, rhat: float, what: str) -> Any:
    """Draw chains of numbers, and what R-hat says of them.

    Parameters
    ----------
    ax : matplotlib Axes or None
        A new figure by default.
    values : ndarray of shape (n_chains, n_draws)
    rhat : float
        NaN where nothing is said of it.
    what : str
        The numbers, in words.

    Returns
    -------
    matplotlib Axes
    """
    from matplotlib.ticker import MaxNLocator

    ax = axes_of(ax, 7.2, 3.6)
    n = values.shape[1]
    for i, one in enumerate(values):
        ax.plot(
            np.arange(1, n + 1), one, color=colour(i), linewidth=0.9, alpha=0.8,
            label=f"chain {i + 1}",
        )  # fmt: skip
    ax.set(xlabel="draw", ylabel=what, xlim=(1, max(n, 2)))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.ticklabel_format(axis="y", useOffset=False)
    if not np.isnan(rhat):
        said = f"R-hat {rhat:.3f} (1 where chains agree)"
        ax.set_title(said, fontsize=9, color=QUIET, loc="left")
    if len(values) > 1:
        ax.legend(fontsize=8, frameon=False, ncols=4, loc="lower right",
                  bbox_to_anchor=(1.0, 1.0), borderaxespad=0.1, handlelength=1.2,
                  columnspacing=1.2)  # fmt: skip
    return ax
