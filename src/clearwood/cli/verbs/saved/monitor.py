"""``clearwood monitor``: whether saved rules meet new rows like those before."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from clearwood.cli import options as shared
from clearwood.cli import survival
from clearwood.cli.command import Answer, command
from clearwood.cli.errors import FAILED
from clearwood.cli.inputs import NewRows, read_new_rows, read_saved


@command(
    "Test whether new rows are like those that saved rules come from.",
    shared.saved,
    shared.data,
    shared.option(
        "--reference",
        shared.FILE,
        "Table of held-out rows to compare with, not of training rows: with their "
        "target, changes are signalled too often. By default the statistics in the "
        "file of the rules.",
    ),
    shared.true_target,
    *survival.TIMES,
    shared.option("--by", shared.TEXT, "Column of DATA: errors by its groups."),
    shared.pos_label,
    *shared.CELLS,
    shared.report,
    shared.as_json,
    shared.overwrite,
)
def monitor(args: Any) -> Answer:
    """Compare the rows of DATA (CSV or Parquet) with what the RULES of a file expect.

    Tests the share of rows per rule, rates and means if the target is known, unknown
    levels, types of numbers and, with --reference, missing values, ranges and
    distributions of the columns. The exit code is 1 if a change is signalled.
    """
    from clearwood.rules.monitoring import monitor as monitor_rules

    _, rules = read_saved(args.rules)
    X, y, _ = _rows(rules, args, args.data)
    before = NewRows() if args.reference is None else _rows(rules, args, args.reference)
    found = monitor_rules(
        rules,
        X,
        y,
        reference=before.X,
        reference_y=before.y,
        by=args.by,
        pos_label=args.pos_label,
    )
    summary = {
        "target": rules.target,
        "rows": found.n_rows,
        "signals": len(found.signals),
        "checks": _records(found.to_frame()),
        "groups": _records(found.groups_to_frame()),
    }
    exit_code = FAILED if found.signals else 0
    return Answer(summary, lambda: found, found, exit_code=exit_code)


def _rows(rules: Any, args: Any, path: str) -> NewRows:
    """Rows of a file, with their target if it has one."""
    own = vars(args) | {"data": path, "model": None, "classes": []}
    rows = read_new_rows(rules, SimpleNamespace(**own))
    # Monitoring compares true values with means only.
    is_mean = not rules.outcome.estimates_truth
    return rows if is_mean or args.target else rows._replace(y=None)


def _records(frame: Any) -> Any:
    return json.loads(frame.to_json(orient="records"))
