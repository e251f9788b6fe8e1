"""What all displays share: how they are drawn."""

from __future__ import annotations

from typing import Any, Self

from clearwood.charts.chart import Chart, draw


class Display:
    """A picture that matplotlib draws.

    Either a :meth:`chart`, which a page embeds as well, or what ``_draw`` draws.
    """

    def chart(self) -> Chart:
        """Its marks."""
        raise NotImplementedError

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Is divided where there are several panels; letters shrink where they say
            more than fits. A new figure by default.

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
    """Axes of a new figure of so many inches where none are given; open above."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
