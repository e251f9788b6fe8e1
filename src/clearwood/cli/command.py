"""Shared runner of all commands.

A command is a function of the parsed options that returns its result. Before it runs
the files are checked, afterwards the result is written and printed, and throughout
warnings and errors are reduced to lines::

    @command("Count the rows.", shared.data, shared.as_json)
    def count(args):
        ...
        return Result({"rows": n}, text=lambda: f"{n} rows")
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import plain_errors, plain_warnings
from clearwood.exceptions import InputError, safe_text

READ = ("files", "rules", "data", "model", "column_info")
WRITTEN = ("out", "report", "save")
"""Arguments and options that name output files."""

COMMON = (
    shared.flag("--quiet", "Print only errors on stderr."),
    shared.flag("--debug", "Show the full traceback of an error."),
    shared.option(
        "--max-memory",
        shared.FROM_1,
        "Maximum memory for the content of one file; by default ten times its size "
        "plus 67 MB (tables: 1,074 MB). Increase it only for trusted files.",
        metavar="MB",
    ),
)


@dataclass(frozen=True)
class Result:
    """Result of a command, in all its output forms.

    Attributes
    ----------
    summary : plain data
        Output of ``--json``.
    text : callable
        Output without it.
    fitted : optional
        Object for ``--save`` and ``--report``.
    out : callable, optional
        Text for ``--out``, if not the summary.
    page : mapping
        Further content of the page: rows, a title.
    indent : int, optional
        Indentation of JSON; None writes a single line.
    """

    summary: Any
    text: Callable[[], Any]
    fitted: Any = None
    out: Callable[[], str] | None = None
    page: Mapping[str, Any] = field(default_factory=dict)
    indent: int | None = 2


def command(
    short: str, *options: click.Parameter
) -> Callable[[Callable[[Any], Result | None]], click.Command]:
    """Make a command of a function; its docstring is the help.

    The parsed options have an attribute each, and ``log``, which prints a line on
    stderr, and ``progress``, whether to show bars. A command that prints its own output
    returns None.
    """

    def made(verb: Callable[[Any], Result | None]) -> click.Command:
        def callback(debug: bool, max_memory: int | None, **args: Any) -> None:
            from clearwood._memory import memory_allowed

            allowed = None if max_memory is None else max_memory * 10**6
            with plain_errors(debug), memory_allowed(allowed):
                _run(verb, args)

        return click.Command(
            verb.__name__,
            callback=callback,
            params=[*options, *COMMON],
            help=inspect.getdoc(verb),
            short_help=short,
        )

    return made


def _run(verb: Callable[[Any], Result | None], options: dict[str, Any]) -> None:
    quiet = options["quiet"]
    log, progress = _logger(quiet), sys.stderr.isatty() and not quiet
    args = SimpleNamespace(**options, log=log, progress=progress)
    check_outputs(options)  # Before anything that takes long.
    with plain_warnings(log):
        result = verb(args)
    if result is None:
        return
    with plain_warnings(log):
        _write(result, args)
        text = (
            json_text(result.summary, result.indent) if args.as_json else result.text()
        )
    show(text)


def _logger(quiet: bool) -> Callable[[str], None]:
    """Function that prints each line once on stderr, or nothing when ``quiet``."""
    printed = set()

    def log(text: str) -> None:
        if not quiet and text not in printed:
            printed.add(text)
            click.echo(f"clearwood: {safe_text(text)}", err=True)

    return log


def show(text: Any) -> None:
    """Print a result as text, without terminal control sequences."""
    from clearwood._words.labels import visible

    click.echo(visible(str(text)))


def json_text(data: Any, indent: int | None = 2) -> str:
    """Plain data as readable JSON, without terminal control sequences."""
    from clearwood._words.labels import CONTROL

    text = json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)
    lines = text.split("\n")
    escape = "\\u{:04x}".format
    return "\n".join(CONTROL.sub(lambda c: escape(ord(c[0])), line) for line in lines)


# Files


def check_outputs(options: dict[str, Any]) -> None:
    """Raise, before the work, if outputs cannot be written or are inputs."""
    from pathlib import Path

    from clearwood.codec.files import check_writable

    written = [options[name] for name in WRITTEN if options.get(name)]
    paths = [check_writable(path, overwrite=options["overwrite"]) for path in written]
    read = [options[name] for name in READ if options.get(name)]
    inputs = [path for one in read for path in ([one] if isinstance(one, str) else one)]
    both = [path.resolve() for path in paths]
    if len(set(both)) < len(both) or {Path(p).resolve() for p in inputs} & set(both):
        raise InputError(
            "The files that are read and those that are written must be different "
            "files; choose another path."
        )


def _write(result: Result, args: Any) -> None:
    if getattr(args, "out", None):
        write_out(result.out() if result.out else json_text(result.summary), args)
    if getattr(args, "save", None):
        from clearwood.persistence import save

        save(result.fitted, args.save, overwrite=args.overwrite)
        args.log(f"wrote {args.save}")
    if getattr(args, "report", None):
        write_page(result.fitted, args.report, args, **result.page)


def write_out(text: str, args: Any) -> None:
    """Write the file of ``--out``."""
    from clearwood.codec.files import write_text

    write_text(args.out, text, overwrite=args.overwrite)
    args.log(f"wrote {args.out}")


def write_page(result: Any, path: str, args: Any, **shown: Any) -> None:
    """Write a page about a result."""
    from clearwood.reporting import report

    report(result, path, overwrite=args.overwrite, **shown)
    args.log(f"wrote {path}")


def out_or_print(text: str, args: Any) -> None:
    """Write a text to the named file, or else print it."""
    from clearwood.codec.files import write_text

    if args.out:
        write_text(args.out, text, overwrite=args.overwrite)
    else:
        click.echo(text, nl=False)


def first_lines(lines: list[str], most: int, what: str = "") -> list[str]:
    """First lines up to a maximum, with the number of the others."""
    more = len(lines) - most
    return [*lines[:most], *[f"  ... {more:,} more{what} (--json)"] * (more > 0)]
