"""The command ``clearwood``: file in, file out.

Only click is imported here; each verb imports what it needs when it runs, so that
help appears at once.
"""

import click

from clearwood import __version__
from clearwood.cli.verbs.check import check
from clearwood.cli.verbs.compare import compare
from clearwood.cli.verbs.density import density
from clearwood.cli.verbs.metatree import metatree
from clearwood.cli.verbs.project import project
from clearwood.cli.verbs.saved.evaluate import evaluate
from clearwood.cli.verbs.saved.explain import explain
from clearwood.cli.verbs.saved.export import export
from clearwood.cli.verbs.saved.predict import predict
from clearwood.cli.verbs.saved.report import report
from clearwood.cli.verbs.sbfc import sbfc
from clearwood.cli.verbs.simplify import simplify
from clearwood.cli.verbs.stability import stability
from clearwood.cli.verbs.states import states

__all__ = ["main"]


# \b keeps click from joining the lines that follow it.
HELP = """Turn tree ensembles into a few readable rules.

Explain the model you have, or train one and read what it learnt:

\b
  clearwood check model.ubj
  clearwood simplify model.ubj data.csv --target y --report report.html
  clearwood simplify data.csv --target y --out rules.json
  clearwood compare model.ubj data.csv --target y --report compare.html
  clearwood stability data.csv --target y
  clearwood metatree data.csv --target y --report report.html
  clearwood project data.csv --target y --reference bart --report report.html
  clearwood sbfc data.csv --target y --report graph.html
  clearwood density data.csv --report kinds.html
  clearwood states series.csv --states 8 --report states.html
  clearwood predict rules.json new.csv
  clearwood export rules.json --to sql --table visits
  clearwood explain rules.json new.csv --row 1
  clearwood evaluate rules.json new.csv --target y
  clearwood report rules.json new.csv --target y --out page.html
"""


@click.group(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="clearwood")
def main() -> None:
    """Run the command line."""


main.add_command(check)
main.add_command(simplify)
main.add_command(compare)
main.add_command(stability)
main.add_command(metatree)
main.add_command(project)
main.add_command(sbfc)
main.add_command(density)
main.add_command(states)
main.add_command(predict)
main.add_command(export)
main.add_command(explain)
main.add_command(evaluate)
main.add_command(report)
