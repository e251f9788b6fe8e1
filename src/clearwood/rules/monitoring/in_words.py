"""Monitoring as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from clearwood._words.labels import printable
from clearwood._words.numbers import (
    percent_text,
    probability_text,
    share_text,
    short_text,
)
from clearwood._words.sentences import rows_in_words
from clearwood.rules.decisions.in_words import aligned

if TYPE_CHECKING:
    from clearwood.rules.monitoring.monitor import Monitoring
    from clearwood.rules.monitoring.quantities import Quantity


def monitoring_text(found: Monitoring) -> str:
    """All tests, and the errors by group."""
    than = "reference rows" if found.is_reference else "statistics of the rules"
    if found.is_estimate:
        than += " (the target, which they lack, with the estimates of the rules)"
    n = sum(one.signal or not math.isnan(one.p) for one in found.quantities)
    k = len(found.signals)
    lines = [
        f"Monitoring of {printable(found.target)} on {rows_in_words(found.n_rows)}, "
        f"compared with the {than}",
        f"{k} of {n} check{'s' * (n != 1)} signal{'s' * (k == 1)} a change; "
        f"probability of any false signal at most {percent_text(found.error_rate)}"
        if n
        else "no test is possible: pass y, or reference rows",
    ]
    if found.quantities:
        head = ["", "", "expected", "observed", "p", ""]
        lines += ["", *aligned([head, *map(_cells, found.quantities)], 1, 5)]
    if not math.isnan(found.stability_index):
        lines += ["", f"population stability index {found.stability_index:.2f}"]
    if found.groups:
        names = list(found.groups[0].errors)
        rows = [
            [
                printable(str(group.group)),
                f"{group.rows:,}",
                *(
                    rate.as_number() if name in ("RMSE", "bias") else rate.as_share()
                    for name, rate in group.errors.items()
                ),
            ]
            for group in found.groups
        ]
        lines += ["", *aligned([[printable(found.by), "rows", *names], *rows])]
    return "\n".join(lines)


def _cells(one: Quantity) -> list[str]:
    observed = one.observed
    if one.is_share:
        expected = share_text(one.expected)
        seen = observed.as_share()
    else:
        expected = short_text(one.expected)
        seen = observed.as_number()
    return [
        printable(one.subject),
        printable(one.name),
        "" if math.isnan(one.expected) else expected,
        "no rows" if math.isnan(observed.value) else seen,
        "" if math.isnan(one.p) else probability_text(one.p),
        "change" * one.signal,
    ]
