"""Convergence of a fit by FAB, in words and as a chart."""

from __future__ import annotations

from typing import Any

from clearwood.charts.chart import svg
from clearwood.simplifiers.fab.display import FABPathDisplay


def summarize_history(result: Any) -> dict[str, Any] | None:
    """Data of the page; None for any other fit, and without a history."""
    if not getattr(result, "history_", ()):
        return None
    display = FABPathDisplay.of_result(result)
    words = display.words()
    return {"words": words, "chart": svg(display.chart(), "history", words)}
