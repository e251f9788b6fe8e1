"""Plot of the course of a FAB fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from clearwood._words.labels import type_text
from clearwood._words.numbers import short_text
from clearwood.charts.chart import Axis, Chart, Panel
from clearwood.charts.display import Display
from clearwood.charts.marks import Points
from clearwood.exceptions import InputError


@dataclass(eq=False, repr=False)
class FABPathDisplay(Display):
    """Bound and number of surviving components per iteration.

    Created by :meth:`from_estimator`.

    Parameters
    ----------
    bound : ndarray of shape (n_iterations,)
        Lower bound on the log evidence.
    n_components : ndarray of shape (n_iterations + 1,)
        Components at the start, and after each iteration.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the bound.
    components_ax_ : matplotlib Axes
        Axes of the components, below ``ax_``.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> display = FABPathDisplay(np.array([-9.0, -4.0]), np.array([9, 5, 3]))
    >>> display.plot().ax_.get_ylabel()
    'bound'
    """

    bound: np.ndarray
    n_components: np.ndarray

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> FABPathDisplay:
        """Plot the best start of a fitted estimator.

        Parameters
        ----------
        estimator : fitted FABRulesClassifier or FABRulesRegressor
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        FABPathDisplay
        """
        return cls.of_result(estimator).plot(ax)

    @classmethod
    def of_result(cls, result: Any, /) -> Self:
        """The best start of a fitted estimator."""
        history = getattr(result, "history_", None)
        if history is None:
            raise InputError(
                f"estimator is {type_text(result)} without history_; pass a "
                "fitted FABRulesClassifier or FABRulesRegressor."
            )
        if not history:
            raise InputError(
                "The fit had no iterations (one rule, or an ensemble without "
                "splits); there is no path to draw."
            )
        return cls(
            np.array([step.bound for step in history], dtype=float),
            np.array([result.n_start_components_, *(s.n_components for s in history)]),
        )

    def chart(self) -> Chart:
        """Chart of both over the iterations."""
        n = len(self.bound)
        across = Axis("iteration", is_whole=True)
        bound = Points(np.arange(1, n + 1), self.bound)
        components = Points(np.arange(n + 1), self.n_components, "second", steps=True)
        most = 1.1 * float(self.n_components.max())
        return Chart(
            "Bound and components by iteration",
            [
                Panel([bound], across, Axis("bound"), 110.0),
                Panel(
                    [components], across,
                    Axis("components", 0.0, most, is_whole=True), 110.0,
                ),
            ],
            size=(6.4, 4.4),
        )  # fmt: skip

    def words(self) -> str:
        """Text alternative of the chart."""
        n, bound, left = len(self.bound), self.bound, self.n_components
        return (
            f"In {n:,} iteration{'s' * (n > 1)} the bound went from "
            f"{short_text(bound[0], 6)} to {short_text(bound[-1], 6)} and the "
            f"components from {left[0]:.0f} to {left[-1]:.0f}."
        )

    @property
    def components_ax_(self) -> Any:
        """Axes of the components."""
        return self.parts_[1]
