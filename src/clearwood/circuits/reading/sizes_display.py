"""Plot of the Pareto front of networks: likelihood against size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from clearwood._words.labels import type_text
from clearwood.charts.display import Display, axes_of
from clearwood.charts.scale import LOG_RATIO
from clearwood.charts.style import COLOURS, QUIET
from clearwood.exceptions import InputError


@dataclass(eq=False, repr=False)
class NetworkSizesDisplay(Display):
    """Plot of the held-out log density of networks against their size.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    degrees_of_freedom : sequence of int
        Of each network, increasing.
    log_likelihood : sequence of float
        Mean log density of the held-out rows.
    chosen : int
        Position of the selected network.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> display = NetworkSizesDisplay([3, 5, 9], [-2.0, -1.6, -1.5], 1).plot()
    >>> display.ax_.get_xlabel()
    'degrees of freedom'
    """

    degrees_of_freedom: Sequence[int]
    log_likelihood: Sequence[float]
    chosen: int

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> NetworkSizesDisplay:
        """Create the display from the front of a fitted search.

        Parameters
        ----------
        estimator : ParetoSPN or HybridSPN
            Fitted.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        NetworkSizesDisplay
        """
        front = getattr(estimator, "front_", None)
        if front is None:
            if hasattr(estimator, "fit"):
                check_is_fitted(estimator)
            raise InputError(
                f"estimator is {type_text(estimator)}, which has no front_; pass "
                "a fitted ParetoSPN or HybridSPN."
            )
        sizes = [one.degrees_of_freedom for one in front]
        used = estimator.circuit_.degrees_of_freedom
        # EM changes no number of parameters; a network is identified by its size.
        chosen = min(range(len(sizes)), key=lambda i: abs(sizes[i] - used))
        return cls(sizes, [one.log_likelihood for one in front], chosen).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        ax = axes_of(ax, 6.4, 3.6)
        sizes, heights = self.degrees_of_freedom, self.log_likelihood
        ax.step(sizes, heights, where="post", color=QUIET, linewidth=1.2)
        ax.plot(sizes, heights, "o", color=COLOURS[0], markersize=4.5)
        ax.plot(
            sizes[self.chosen], heights[self.chosen], "o", markersize=11,
            markerfacecolor="none", markeredgecolor=COLOURS[1], markeredgewidth=2,
            label="selected",
        )  # fmt: skip
        if sizes[-1] > LOG_RATIO * max(sizes[0], 1):
            ax.set_xscale("log")
        ax.set(xlabel="degrees of freedom", ylabel="mean log density, held-out rows")
        ax.legend(loc="lower right", frameon=False)
        return [ax]
