"""Base class of displays."""

from __future__ import annotations

from typing import Any, Self

from clearwood.charts.chart import Chart, draw


class Display:
    """Base class of plots by matplotlib.

    Subclasses define a :meth:`chart`, which pages embed as well, or ``_draw``.
    """

    @classmethod
    def of_result(cls, result: Any, /) -> Self:
        """Display of a result."""
        return cls(result)  # type: ignore[call-arg]

    def chart(self) -> Chart:
        """Chart of the display."""
        raise NotImplementedError

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Divided if there are several panels; fonts shrink if the text does not fit.
            A new figure by default.

        Returns
        -------
        Self
            With ``ax_`` and ``figure_``, and ``parts_``, the axes of all panels.
        """
        self.parts_ = self._draw(ax)
        self.ax_ = self.parts_[0]
        self.figure_ = self.ax_.figure
        return self

    def _draw(self, ax: Any) -> list[Any]:
        return draw(self.chart(), ax)


def axes_of(ax: Any, width: float, height: float) -> Any:
    """Given axes, or new ones of this size in inches, without top spine."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
