"""Pictures of how sampling went: the log posterior of chains, the sizes of graphs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood.charts.chart import Chart
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import COLOURS
from clearwood.charts.sweeps import sweeps_chart
from clearwood.exceptions import InputError
from clearwood.sbfc.reading.feature_graph import check_classifier

HEIGHTS = ("log_joint", "log_posterior")
"""What chains record of how probable their state is."""

SIZES = {
    "signal_size": "features that are signal",
    "edge_density": "edges per feature",
}


@dataclass(eq=False, repr=False)
class LogPosteriorDisplay(Display):
    """The log posterior of all draws, a line for every chain.

    Chains that agree move up and down in the same band. Collapsed chains are judged by
    the probability of their set of signal features, all forests together; original
    ones by that of their graph.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    log_posterior : array-like of shape (n_chains, n_draws)
    rhat : float, default=NaN

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> LogPosteriorDisplay([[-9, -8, -8], [-8, -9, -7]]).plot().ax_.get_ylabel()
    'log posterior'
    """

    log_posterior: Any
    rhat: float = math.nan

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> LogPosteriorDisplay:
        """The chains of a fitted classifier.

        Parameters
        ----------
        estimator : SelectiveBayesianForestClassifier
            Fitted, by chains.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        LogPosteriorDisplay
        """
        name, draws = drawn_heights(check_classifier(estimator))
        return cls(draws, estimator.chains_.diagnose()[name].rhat).plot(ax)

    def chart(self) -> Chart:
        """A line for every chain."""
        return sweeps_chart(self.log_posterior, self.rhat, "log posterior")


def drawn_heights(estimator: Any) -> tuple[str, np.ndarray]:
    """What chains call the log posterior, and its draws."""
    if estimator.chains_ is None:
        raise InputError(
            "There are no chains: all graphs were enumerated, or the classifier was "
            "loaded from a file, which does not keep them."
        )
    draws = estimator.chains_.draws
    name = next(name for name in HEIGHTS if name in draws)
    return name, draws[name]


@dataclass(eq=False, repr=False)
class GraphSizesDisplay(Display):
    """How large the graphs are that were drawn from the posterior.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    values : dict of str to array-like
        Per group, a number for every graph.
    of : {"signal_size", "edge_density"}, default="signal_size"
        The number of signal features, or edges over features in each of the groups.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> GraphSizesDisplay({"signal": [2, 3, 3]}).plot().ax_.get_xlabel()
    'features that are signal'
    """

    values: dict[str, Any]
    of: str = "signal_size"

    def __post_init__(self) -> None:
        if self.of not in SIZES:
            raise InputError(f"of is {self.of!r}; expected one of {tuple(SIZES)}.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, of: str = "signal_size", *, ax: Any = None
    ) -> GraphSizesDisplay:
        """The graphs of a fitted classifier.

        Parameters
        ----------
        estimator : SelectiveBayesianForestClassifier
            Fitted.
        of : {"signal_size", "edge_density"}, default="signal_size"
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        GraphSizesDisplay
        """
        graphs = check_classifier(estimator).graphs_
        if of == "signal_size":
            return cls({"signal": [int(g.signal.sum()) for g in graphs]}, of).plot(ax)
        values: dict[str, list[float]] = {"signal": [], "noise": []}
        for graph in graphs:
            for group, inside in (("signal", graph.signal), ("noise", ~graph.signal)):
                n_edges = int((graph.parent[inside] >= 0).sum())
                values[group].append(n_edges / max(int(inside.sum()), 1))
        return cls(values, of).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        from matplotlib.ticker import MaxNLocator

        ax = axes_of(ax, 6.4, 3.4)
        whole = self.of == "signal_size"
        every = np.concatenate([np.asarray(own) for own in self.values.values()])
        edges = np.linspace(0.0, 1.0, 26)
        if whole:
            edges = np.arange(every.min() - 0.5, every.max() + 1.5)
        for i, (group, own) in enumerate(self.values.items()):
            weights = np.full(len(own), 1 / len(own))
            look = {"color": COLOURS[i], "hatch": ("", "///")[i], "alpha": 0.55}
            ax.hist(own, bins=edges, weights=weights, label=group, **look)
        ax.set(xlabel=SIZES[self.of], ylabel="share of the graphs drawn")
        if whole:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        else:
            ax.legend(fontsize=9, frameon=False)
        return [ax]
