"""Server of saved rules as read-only tools of a language model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import wraps
from inspect import getdoc
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from clearwood._html.disclosure import MIN_ROWS, is_few
from clearwood.cli.errors import one_line, plain_warnings
from clearwood.cli.evaluation import evaluate_rules, scores_as_dict
from clearwood.cli.inputs import read_new_rows, read_saved
from clearwood.exceptions import ClearwoodError, InputError
from clearwood.rules.evaluation.statistics import RuleStatistics

Cells = dict[str, int | float | str | bool | None]
"""Cells by column, as in JSON; None is missing."""

# Without names from the data, which could give instructions of their own.
INSTRUCTIONS = """\
Rules that predict a column of a table from others. Call `rules` to read them, and
`explain` or `what_if` for predictions: do not evaluate rules yourself. Explanations and
counterfactuals describe the rules, not causes: they are no advice on what to change in
the world. All tools only read."""

MOST_FILES = 20
"""Maximum number of allowed files that are listed for a client."""

MOST_CHARACTERS = 200
"""Maximum length of the name of a file; that of file systems is 255 bytes or more."""

QUOTES = "the reason is in the log of the server, since it may quote the file"


def server_of(args: Any) -> Any:
    """Server of the tools for the rules of a file, by the options of the command."""
    try:
        from mcp.server import MCPServer
        from mcp_types import ToolAnnotations
    except ImportError:
        raise InputError(
            'This command needs mcp; install it with pip install "clearwood[mcp]".'
        ) from None
    from clearwood import __version__

    tools = Tools(args)
    server = MCPServer(
        "clearwood", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    reads = ToolAnnotations(
        read_only_hint=True,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )
    offered: list[Callable[..., Any]]
    offered = [tools.rules, tools.explain, tools.what_if, tools.check]
    for tool in offered + [tools.evaluate] * bool(args.allow):
        plain = _with_plain_errors(tool, args.log)
        server.add_tool(plain, description=getdoc(tool), annotations=reads)
    return server


def _with_plain_errors(
    tool: Callable[..., Any], log: Callable[[str], None]
) -> Callable[..., Any]:
    """The tool with its errors as the client's text, and its warnings in the log."""
    from mcp.server.mcpserver.exceptions import ToolError

    # Not run in threads, as synchronous tools are: threads share filters of warnings.
    @wraps(tool)
    async def plain(*args: Any, **named: Any) -> Any:
        try:
            with plain_warnings(log):
                return tool(*args, **named)
        except (ClearwoodError, OSError) as error:
            raise ToolError(one_line(error)) from None

    return plain


class Tools:
    """Tools for the rules of a file; a language model reads their docstrings."""

    def __init__(self, args: Any) -> None:
        self.args = args
        self.result, self.saved = read_saved(args.rules)
        names = self.saved.features.names
        self.columns = [names[d] for d in sorted(self.saved.used_features)]
        self.allowed = [Path(path).resolve() for path in args.allow]

    def rules(self, max_tokens: int | None = None) -> str:
        """The rules in full, with the columns, their units and levels.

        With max_tokens, a shorter text that states what it omits.
        """
        if not self.saved.outcome.horizons:
            return str(self.saved.to_prompt(max_tokens))
        # Curves are too long for a prompt.
        return str(_without_few(self.saved).to_text())

    def explain(self, row: Cells, fixed: list[str] | None = None) -> dict[str, Any]:
        """Predict one row: the rule that applies, reasons, and counterfactuals.

        row maps each column that the rules use to its value, null where it is missing.
        fixed lists columns that counterfactuals must not change.
        """
        explained = self._explained(row, fixed)
        return {**explained.as_dict(), "reasons": explained.reasons()}

    def what_if(
        self, row: Cells, changes: Cells, fixed: list[str] | None = None
    ) -> dict[str, Any]:
        """Predict one row before and after changes of some of its columns.

        Also returns the smallest changes of one or two columns that would change the
        prediction of the row, smallest first; fixed lists columns that they must not
        change.
        """
        if unknown := sorted(changes.keys() - set(self.columns)):
            raise InputError(
                f"changes has {unknown}, which the rules do not use; change some of "
                f"{self.columns}."
            )
        before = self._explained(row, fixed)
        after = self._explained(row | changes, fixed)
        return {
            "before": _predicted(before),
            "after": _predicted(after),
            "smallest_changes": before.as_dict()["changes"],
        }

    def check(self, file: str | None = None) -> dict[str, Any]:
        """Summary and validation of the file of the rules, or of an allowed model."""
        from clearwood.persistence import check

        path = self.args.rules if file is None else self._path_of(file)
        found = check(path).as_dict() | {"name": Path(path).name}
        if not found["sound"]:
            self.args.log(found["problem"])
            found["problem"] = f"This is no model that can be read; {QUOTES}."
        return found

    def evaluate(
        self, table: str, target: str | None = None, model: str | None = None
    ) -> dict[str, Any]:
        """Evaluate the rules on an allowed table: scores, rates of errors, each rule.

        target is the column with the true values, by default that of the rules; model
        is an allowed file of the model that the rules approximate, for their fidelity.
        Statistics of fewer than 5 rows are withheld.
        """
        if self.saved.outcome.horizons or self.saved.task == "effect":
            raise InputError(
                "Rules for survival or effects are not evaluated here; call explain."
            )
        options = vars(self.args) | {"target": target, "classes": []}
        options |= {"data": self._path_of(table), "pos_label": None, "threshold": None}
        options |= {"model": None if model is None else self._path_of(model)}
        try:
            return self._evaluated(SimpleNamespace(**options))
        except ClearwoodError as error:
            self.args.log(one_line(error))
            raise InputError(
                f"The rules cannot be evaluated on {table!r}; {QUOTES}. It must have "
                f"the columns {self.columns}, the target and at least {MIN_ROWS} rows."
            ) from None

    def _evaluated(self, args: Any) -> dict[str, Any]:
        X, y, model = read_new_rows(self.saved, args)
        if len(X) < MIN_ROWS:
            raise InputError(f"The table has {len(X)} row(s).")
        found = evaluate_rules(self.saved, X, y, model, args)
        decided = found.decisions
        return {
            "rows": len(X),
            "scores": scores_as_dict(found),
            "rules": _records(found.rules.to_frame()),
            "rates": None if decided is None else _records(decided.to_frame()),
        }

    def _explained(self, row: Cells, fixed: list[str] | None) -> Any:
        from clearwood.rules.explain import explain

        features = self.saved.features
        kinds = {name: one.kind for name, one in zip(features.names, features.info)}
        cells = {name: _cell(name, cell, kinds.get(name)) for name, cell in row.items()}
        return explain(self.result, cells, fixed=fixed or [])

    def _path_of(self, name: str) -> str:
        """Path of a file that a client names, if it is an allowed one."""
        if len(name) > MOST_CHARACTERS:
            raise InputError(
                f"The name of the file has {len(name):,} characters; at most "
                f"{MOST_CHARACTERS:,} are allowed."
            )
        for root in self.allowed:
            folder = root if root.is_dir() else root.parent
            path = (folder / name.replace("\0", "")).resolve()
            if path.is_relative_to(root) and path.is_file():
                return str(path)
        known = list(islice(self._names(), MOST_FILES + 1))
        more = " and others" if len(known) > MOST_FILES else ""
        raise InputError(
            f"{name!r} is no allowed file; these are {known[:MOST_FILES]}"
            f"{more}. For another one the server must be started with --allow."
        )

    def _names(self) -> Iterator[str]:
        """Names of the allowed files, as a client gives them."""
        for root in self.allowed:
            if root.is_file():
                yield root.name
            for folder, inner, files in os.walk(root):
                inner.sort()
                # Links, which may lead elsewhere, are not listed.
                paths = [Path(folder, name) for name in sorted(files)]
                yield from (
                    path.relative_to(root).as_posix()
                    for path in paths
                    if not path.is_symlink()
                )


def _without_few(rules: Any) -> Any:
    """The rules, of those of few rows or events without statistics of these."""

    def shown(rule: Any) -> Any:
        known = rule.statistics
        counts = [known.rows, known.rows_assigned]
        if rule.curve:
            counts += [one.events or 0 for one in rule.curve.causes]
        few = any(map(is_few, counts))
        return replace(rule, statistics=RuleStatistics()) if few else rule

    kept = tuple(map(shown, rules.rules))
    return replace(rules, rules=kept, otherwise=shown(rules.otherwise))


def _predicted(explained: Any) -> dict[str, Any]:
    """Prediction and rule of a row, with the curve of survival in words."""
    words = {"words": explained.words} if explained.words else {}
    return {"prediction": explained.prediction, "rule": explained.rule} | words


def _cell(name: str, cell: Any, kind: str | None) -> Any:
    """A cell of JSON; a date or a duration where a column of these holds a text."""
    from clearwood.columns.dates import TIMED

    if kind not in TIMED or not isinstance(cell, str):
        return cell
    import pandas as pd

    read = pd.Timedelta if kind == "duration" else datetime.fromisoformat
    try:
        return read(cell)
    except ValueError:
        raise InputError(
            f"{name!r} is {cell!r}; expected a {kind}, such as "
            f"{'3 days' if kind == 'duration' else '2019-04-01'}."
        ) from None


def _records(frame: Any) -> list[dict[str, Any]]:
    """Lines of a table; of those of few rows only what they are about."""
    # The quantiles of errors are errors of single rows.
    frame = frame.loc[:, ~frame.columns.str.startswith("error_")]
    records: list[dict[str, Any]] = json.loads(frame.to_json(orient="records"))
    return [
        {key: cell for key, cell in one.items() if isinstance(cell, str)}
        | {"withheld": f"fewer than {MIN_ROWS} rows"}
        if any(is_few(one.get(rows) or 0) for rows in ("rows", "rows_assigned"))
        else one
        for one in records
    ]
