"""Page of a monitoring result, as plain data."""

from __future__ import annotations

import math
from typing import Any

from clearwood._html.disclosure import group_line
from clearwood._words.labels import printable
from clearwood.exceptions import InputError
from clearwood.rules.exports.html_table import summarize_rules
from clearwood.rules.monitoring.in_words import (
    group_cells,
    group_head,
    heading,
    quantity_cells,
    stability_text,
)
from clearwood.rules.monitoring.monitor import Monitoring


def section(result: Monitoring, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Checks, errors by group, and the rules."""
    if X is not None:
        raise InputError("A monitoring result has its own rows; leave X and y out.")
    about, signals = heading(result)
    index = "" if math.isnan(result.stability_index) else stability_text(result)
    return {
        "title": about.partition(" on ")[0],
        "about": about,
        "signals": signals,
        "head": ["Rule or column", "Quantity", "Expected", "Observed", "p", "Signal"],
        "checks": [quantity_cells(one) for one in result.quantities],
        "marked": [i for i, one in enumerate(result.quantities) if one.signal],
        "index": index,
        "group_head": group_head(result) if result.groups else [],
        "groups": [
            group_line(printable(str(one.group)), one.rows, group_cells(one))
            for one in result.groups
        ],
        "rules": summarize_rules(result.rules),
    }
