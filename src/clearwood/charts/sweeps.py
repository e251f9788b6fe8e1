"""Trace plots of Markov chains: a line per chain, over its draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.charts.chart import Axis, Chart, Panel
from clearwood.charts.marks import Points
from clearwood.charts.style import COLOURS


def sweeps_chart(values: Any, rhat: float, what: str, across: str = "draw") -> Chart:
    """Trace plot of chains, with R-hat.

    Parameters
    ----------
    values : array-like of shape (n_chains, n_draws)
    rhat : float
        NaN if unknown.
    what, across : str
        Labels of the numbers and of the x axis.
    """
    chains = np.atleast_2d(np.asarray(values, dtype=float))
    n = chains.shape[1]
    names = [f"chain {i + 1}" if len(chains) > 1 else "" for i in range(len(chains))]
    lines = [
        Points(
            np.arange(1, n + 1), one, f"c{i % len(COLOURS)}", name, width=0.9, alpha=0.8
        )
        for i, (one, name) in enumerate(zip(chains, names))
    ]
    above = "" if np.isnan(rhat) else f"R-hat {rhat:.3f} (1 where chains agree)"
    x = Axis(across, 1, max(n, 2), is_whole=True)
    y = Axis(what, shown="{:.8g}".format)
    panel = Panel(lines, x, y, legend="below", above=above)
    return Chart(f"The {what} of all chains", [panel], size=(7.2, 3.6))
