"""What all displays of charts share: how they are drawn."""

from __future__ import annotations

from typing import Any, Self

from clearwood.charts.chart import Chart, draw


class Display:
    """A chart that matplotlib draws; the page embeds the same one."""

    def chart(self) -> Chart:
        """Its marks."""
        raise NotImplementedError

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Is divided where there are several panels; a new figure by default.

        Returns
        -------
        Self
            With ``ax_`` and ``figure_``.
        """
        self.parts_ = draw(self.chart(), ax)
        self.ax_ = self.parts_[0]
        self.figure_ = self.ax_.figure
        return self
