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
    from clearwood.rules.monitoring.groups import GroupErrors
    from clearwood.rules.monitoring.monitor import Monitoring
    from clearwood.rules.monitoring.quantities import Quantity


HEAD = ["", "", "expected", "observed", "p", ""]


def monitoring_text(found: Monitoring) -> str:
    """All tests, and the errors by group."""
    lines = heading(found)
    if found.quantities:
        table = [HEAD, *map(quantity_cells, found.quantities)]
        lines += ["", *aligned(table, 1, 5)]
    if not math.isnan(found.stability_index):
        lines += ["", stability_text(found)]
    if found.groups:
        rows = [
            [printable(str(group.group)), f"{group.rows:,}", *group_cells(group)]
            for group in found.groups
        ]
        lines += ["", *aligned([group_head(found), *rows])]
    return "\n".join(lines)


def heading(found: Monitoring) -> list[str]:
    """What was compared, and how many checks signal a change."""
    than = "reference rows" if found.is_reference else "statistics of the rules"
    if found.is_estimate:
        than += " (the target, which they lack, with the estimates of the rules)"
    n = sum(one.signal or not math.isnan(one.p) for one in found.quantities)
    k = len(found.signals)
    return [
        f"Monitoring of {printable(found.rules.target)} on "
        f"{rows_in_words(found.n_rows)}, compared with the {than}",
        f"{k} of {n} check{'s' * (n != 1)} signal{'s' * (k == 1)} a change; "
        f"probability of any false signal at most {percent_text(found.error_rate)}"
        if n
        else "no test is possible: pass y, or reference rows",
    ]


def stability_text(found: Monitoring) -> str:
    """The population stability index."""
    return f"population stability index {found.stability_index:.2f}"


def group_head(found: Monitoring) -> list[str]:
    """Head of a table of the errors by group."""
    return [printable(found.by), "rows", *found.groups[0].errors]


def group_cells(group: GroupErrors) -> list[str]:
    """Errors of a group as texts."""
    return [
        rate.as_number() if name in ("RMSE", "bias") else rate.as_share()
        for name, rate in group.errors.items()
    ]


def quantity_cells(one: Quantity) -> list[str]:
    """A comparison as a row of texts, below ``HEAD``."""
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
