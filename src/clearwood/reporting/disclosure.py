"""Disclosure control: pages without single rows, and without statistics of few rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from clearwood.rules.decisions import Decisions, Residuals
from clearwood.rules.drawn.nodes import DrawnTree

MIN_ROWS = 5
"""Minimum number of rows of a rule, group or level whose statistics are shown."""

SINGLE_ROWS = {"disagreements", "surprising"}
"""Keys of page content that hold single rows."""

COUNTS = (
    ("rows_assigned", "precision"),  # of a rule: predicted, and covered
    ("rows", "precision"),
    ("n_rows", "half"),  # of the residuals of a rule
    ("n_rows", "predictions"),  # of a leaf of a projection
    ("rows", "ratio"),  # of a level
    ("rows", "cells"),  # of a group
)
"""Keys of numbers of rows, each with a statistic of these rows next to it."""

FEW = f"< {MIN_ROWS}"
WITHOUT: dict[str, Any] = {
    **dict.fromkeys(("rows_assigned", "n_rows", "rows"), FEW),
    **dict.fromkeys(("agreement", "agreement_assigned", "precision", "expected")),
    **dict.fromkeys(("precision_assigned", "std", "value", "matching", "instead")),
    "disagreement": None,
    **dict.fromkeys(("interval", "observed", "few", "weight_of_rows"), ""),
    **dict.fromkeys(("share", "ratio", "predicted", "mean", "half", "inside"), "–"),
}
"""What stands in place of the statistics of few rows, by their keys."""


def disclosed(content: Any) -> Any:
    """Content of a page without single rows, and without statistics of few rows.

    Examples
    --------
    >>> disclosed({"surprising": [{"row": "7"}], "level": "a", "rows": 3, "ratio": 0.3})
    {'surprising': [], 'level': 'a', 'rows': '< 5', 'ratio': '–'}
    """
    if type(content) in (list, tuple):
        return type(content)(map(disclosed, content))
    if not isinstance(content, dict):
        return content
    shown = {k: [] if k in SINGLE_ROWS else disclosed(v) for k, v in content.items()}
    rows = [content[n] for n, of in COUNTS if {n, of} <= content.keys()]
    if any(n is not None and is_few(n) for n in rows):
        shown |= {key: WITHOUT[key] for key in shown if key in WITHOUT}
        if "cells" in shown:
            shown["cells"] = ["–"] * len(shown["cells"])
    return shown


def is_few(rows: float) -> bool:
    """Whether statistics of so many rows are withheld."""
    return 0 < rows < MIN_ROWS


def without_few(found: Any) -> Any:
    """Metrics without those of rules that predict few rows; None instead of a tree."""
    if isinstance(found, Decisions):
        points = (one for one in found.calibration if not is_few(one.found.rows))
        return replace(found, calibration=tuple(points))
    if isinstance(found, Residuals):
        lines = (one for one in found.lines if not is_few(one.mean.rows))
        return replace(found, lines=tuple(lines))
    if isinstance(found, DrawnTree):
        few = any(is_few(one.rows) for one in found.nodes if not math.isnan(one.rows))
        return None if few else found
    return found
