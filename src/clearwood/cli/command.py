"""Shared runner of all commands.

A command is a function of the parsed options that returns its result. Before it runs
the files are checked, afterwards the result is written and printed, and throughout
warnings and errors are reduced to lines::

    @command("Count the rows.", shared.data, shared.as_json)
    def count(args):
        ...
        return Answer({"rows": n}, text=lambda: f"{n} rows")
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

READ = "files rules old new data model reference column_info".split()
WRITTEN = ("out", "report", "save", "document")
"""Arguments and options that name output files."""


@dataclass(frozen=True)
class Answer:
    """Output of a command, in all its output forms.

    Attributes
    ----------
    summary : plain data
        Output of ``--json``.
    text : callable, optional
        Output without it.
    fitted : optional
        Object for ``--save`` and ``--report``.
    out : callable, optional
        Text or bytes for ``--out``, if not the summary.
    prints_out : bool
        Whether that text is the output where ``--out`` is not given.
    page : mapping
        Further content of the page: rows, a title.
    indent : int, optional
        Indentation of JSON; None writes a single line.
    exit_code : int
    error : InputError, optional
        Reason why there is no text for ``--out``; raised at the end.
    """

    summary: Any = None
    text: Callable[[], Any] | None = None
    fitted: Any = None
    out: Callable[[], str | bytes] | None = None
    prints_out: bool = False
    page: Mapping[str, Any] = field(default_factory=dict)
    indent: int | None = 2
    exit_code: int = 0
    error: InputError | None = None


class _Command(click.Command):
    """Command that rejects a repeated option where click keeps the last value."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = self.make_parser(ctx).parse_args(list(args))[2]
        for one in given:
            is_single = isinstance(one, click.Option) and not one.is_flag
            if is_single and not one.multiple and given.count(one) > 1:
                raise click.UsageError(f"{one.opts[0]} is given more than once.", ctx)
        return super().parse_args(ctx, args)


def command(
    short: str, *options: click.Parameter
) -> Callable[[Callable[[Any], Answer]], click.Command]:
    """Make a command of a function; its docstring is the help.

    The parsed options have an attribute each, and ``log``, which prints a line on
    stderr, and ``progress``, whether to show bars.
    """

    def made(verb: Callable[[Any], Answer]) -> click.Command:
        def callback(debug: bool, max_memory: int | None, **options: Any) -> None:
            from clearwood._memory import memory_allowed

            allowed = None if max_memory is None else max_memory * 10**6
            with plain_errors(debug), memory_allowed(allowed):
                exit_code = _run(verb, options)
            if exit_code:
                sys.exit(exit_code)

        has_page = any(one.name == "report" for one in options)
        return _Command(
            verb.__name__,
            callback=callback,
            params=[*options, *([shared.show_rows] * has_page), *shared.COMMON],
            help=inspect.getdoc(verb),
            short_help=short,
        )

    return made


def _run(verb: Callable[[Any], Answer], options: dict[str, Any]) -> int:
    quiet = options["quiet"]
    log, progress = _logger(quiet), sys.stderr.isatty() and not quiet
    args = SimpleNamespace(**options, log=log, progress=progress)
    check_outputs(options)  # Before anything that takes long.
    with plain_warnings(log):
        result = verb(args)
    with plain_warnings(log):
        _write(result, args)
        text = _printed(result, args)
    click.echo(text, nl=False)
    if result.error:
        raise result.error
    return result.exit_code


def _logger(quiet: bool) -> Callable[[str], None]:
    """Function that prints each line once on stderr, or nothing when ``quiet``."""
    printed = set()

    def log(text: str) -> None:
        if not quiet and text not in printed:
            printed.add(text)
            click.echo(f"clearwood: {safe_text(text)}", err=True)

    return log


def _printed(result: Answer, args: Any) -> str | bytes:
    """Output for the standard output, without terminal control sequences."""
    from clearwood._words.labels import visible

    if result.prints_out:
        return "" if args.out or not result.out else result.out()
    if getattr(args, "as_json", False):
        return visible(json_text(result.summary, result.indent)) + "\n"
    return visible(str(result.text())) + "\n" if result.text else ""


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


def _write(result: Answer, args: Any) -> None:
    """Write the files of ``--out``, ``--save`` and ``--report``."""
    given = vars(args).get
    if (path := given("out")) and not result.error:
        from clearwood.codec.files import write_bytes, write_text

        content = result.out() if result.out else json_text(result.summary)
        if isinstance(content, bytes):
            write_bytes(path, content, overwrite=args.overwrite)
        else:
            write_text(path, content, overwrite=args.overwrite)
        args.log(f"wrote {path}")
    if path := given("save"):
        from clearwood.persistence import save

        save(result.fitted, path, overwrite=args.overwrite)
        args.log(f"wrote {path}")
    if path := given("report"):
        from clearwood.reporting import report

        page = {"show_rows": args.show_rows, "overwrite": args.overwrite}
        report(result.fitted, path, **page, **result.page)
        args.log(f"wrote {path}")
