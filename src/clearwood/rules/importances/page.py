"""What matters, as a table with bars for pages."""

from __future__ import annotations

from typing import Any

from clearwood._features import printable
from clearwood.rules.importances.permuted import Importances

MOST = 15
"""Features in the table."""


def summarize_importances(found: Importances) -> dict[str, Any]:
    """What the template ``reporting/importances.html`` shows."""
    largest = max([*found.rules, *found.model, 1e-12])
    sides = (found.rules, found.rules_error), (found.model, found.model_error)
    lines = []
    for i, name in enumerate(found.names[:MOST]):
        numbers = [(float(middle[i]), float(error[i])) for middle, error in sides]
        lines.append({
            "name": printable(name),
            "is_asked": name not in found.unasked,
            "sides": [(v, e, 100 * max(v, 0.0) / largest) for v, e in numbers],
        })  # fmt: skip
    return {
        "lines": lines,
        "n_left": max(len(found.names) - MOST, 0),
        "n_unasked": len(found.unasked),
        "unasked": [printable(name) for name in found.unasked[:MOST]],
        "n_rows": found.n_rows,
        "unit": "percent" if found.task == "classification" else "number",
    }
