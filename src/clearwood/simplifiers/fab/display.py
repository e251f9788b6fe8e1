"""The course of a fit by FAB, as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.charts.style import COLOURS
from clearwood.exceptions import InputError


class FABPathDisplay:
    """The bound and the surviving components, iteration by iteration.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    bound : ndarray of shape (n_iterations,)
        Lower bound on the log evidence.
    n_components : ndarray of shape (n_iterations + 1,)
        Components at the start, and those left after each iteration.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Shows the bound.
    components_ax_ : matplotlib Axes
        Shows the components; it lies below ``ax_``.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> display = FABPathDisplay(np.array([-9.0, -4.0]), np.array([9, 5, 3]))
    >>> display.plot().ax_.get_ylabel()
    'bound'
    """

    def __init__(self, bound: np.ndarray, n_components: np.ndarray) -> None:
        self.bound = bound
        self.n_components = n_components

    @classmethod
    def from_estimator(cls, estimator: Any) -> FABPathDisplay:
        """The course of the best start of a fitted estimator.

        Parameters
        ----------
        estimator : fitted FABRulesClassifier or FABRulesRegressor

        Returns
        -------
        FABPathDisplay
        """
        history = getattr(estimator, "history_", None)
        if history is None:
            raise InputError(
                f"estimator is a {type(estimator).__name__} without history_; hand in "
                "a fitted FABRulesClassifier or FABRulesRegressor."
            )
        if not history:
            raise InputError(
                "The fit had no iterations (one rule, or an ensemble without "
                "splits); there is no path to draw."
            )
        return cls(
            np.array([step.bound for step in history], dtype=float),
            np.array(
                [estimator.n_start_components_, *(s.n_components for s in history)]
            ),
        )

    def plot(self, ax: Any = None) -> FABPathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Is divided in two; a new figure by default.

        Returns
        -------
        FABPathDisplay
            Itself, with ``ax_``, ``components_ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
        below = ax.inset_axes((0, 0, 1, 0.42))
        above = ax.inset_axes((0, 0.54, 1, 0.46), sharex=below)
        ax.axis("off")
        iterations = np.arange(1, len(self.bound) + 1)
        above.plot(iterations, self.bound, color=COLOURS[0], linewidth=1.8)
        below.plot(
            np.arange(len(self.n_components)),
            self.n_components,
            color=COLOURS[1],
            linewidth=1.8,
            drawstyle="steps-post",
        )
        above.set_ylabel("bound")
        above.tick_params(labelbottom=False)
        below.set(xlabel="iteration", ylabel="components")
        below.set_ylim(0, 1.1 * self.n_components.max())
        for axis in (below.xaxis, below.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        for part in (above, below):
            part.spines[["top", "right"]].set_visible(False)
            part.grid(axis="y", color="#00000018")
        self.ax_, self.components_ax_, self.figure_ = above, below, ax.figure
        return self
