"""Command-line interface ``clearwood``.

Only click is imported here; each command imports what it needs when it runs, so that
help appears at once.
"""

from importlib import import_module
from typing import Any

import click

from clearwood import __version__
from clearwood.families import command_of, families

__all__ = ["main"]

COMMANDS = {
    "check": "check",
    "compare": "compare",
    "stability": "stability",
    "difference": "difference",
    **{
        name: f"saved.{name}"
        for name in (
            *("predict", "export", "explain", "evaluate", "monitor", "report"),
            *("validate", "mcp"),
        )
    },
}
"""Commands for all families, and their modules in ``verbs``."""


# \b keeps click from joining the lines that follow it.
HELP = """Interpretable models: a few rules, one tree, a graph or states.

Approximate a fitted model, or fit one to a table and summarize it:

\b
  clearwood explore data.csv --target y --report page.html
  clearwood check model.ubj
  clearwood simplify model.ubj data.csv --target y --classes no,yes --report page.html
  clearwood simplify data.csv --target y --out rules.json
  clearwood compare model.ubj data.csv --target y --classes no,yes
  clearwood stability data.csv --target y
  clearwood alternatives data.csv --target y
  clearwood difference old.txt new.txt data.csv --target y
  clearwood metatree data.csv --target y --report page.html
  clearwood project data.csv --target y --reference bart --report page.html
  clearwood sbfc data.csv --target y --report graph.html
  clearwood density data.csv --report clusters.html
  clearwood states series.csv --n-states 8 --report states.html
  clearwood predict rules.json new.csv
  clearwood export rules.json --to sql --table visits
  clearwood explain rules.json new.csv --row 1
  clearwood evaluate rules.json new.csv --target y
  clearwood monitor rules.json new.csv --reference old.csv
  clearwood report rules.json new.csv --target y --out page.html
  clearwood validate rules.json new.csv --purpose "Triage" --out document.html
  clearwood mcp rules.json --allow new.csv
"""


class _Commands(click.Group):
    """Commands of all families, loaded on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*COMMANDS, *(name for f in families() for name in f.commands)])

    def get_command(self, ctx: click.Context, name: str) -> Any:
        if name not in COMMANDS:
            return command_of(name)
        module = import_module(f"clearwood.cli.verbs.{COMMANDS[name]}")
        return getattr(module, name)


@click.group(
    cls=_Commands, help=HELP, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="clearwood")
def main() -> None:
    """Run the command line."""
