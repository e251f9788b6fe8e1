"""``clearwood mcp``: saved rules as read-only tools of a language model."""

from __future__ import annotations

import signal
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command


@command(
    "Serve saved rules to agents (Model Context Protocol).",
    shared.saved,
    shared.option(
        "--allow",
        click.Path(exists=True),
        "Table or model, or a folder of these, that clients may name in evaluate and "
        "check; may be repeated. By default none.",
        multiple=True,
    ),
    *shared.CELLS,
)
def mcp(args: Any) -> Answer:
    """Serve the RULES of a file on standard input and output to a client of MCP.

    The tools rules, explain, what_if, check and evaluate only read. No cell of a table
    is returned, and no statistic of fewer than 5 rows. The server ends with its input.
    """
    from clearwood.cli.mcp_server import server_of

    server = server_of(args)
    # A thread waits for input, and would outlive an exception of Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server.run("stdio")
    return Answer()
