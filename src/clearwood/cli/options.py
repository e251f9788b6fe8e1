"""Options that more than one verb has, each written once."""

from __future__ import annotations

import click

# Written out, because the module that knows them loads scikit-learn.
MODELS = (
    "random-forest",
    "extra-trees",
    "gradient-boosting",
    "hist-gradient-boosting",
    "decision-tree",
)

DEFAULT_MODEL = "hist-gradient-boosting"

PEERS = ("imodels:RuleFit", "imodels:FIGS", "imodels:GreedyRuleList", "te2rules")

files = click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="[MODEL] DATA",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
)
target = click.option("--target", required=True, help="Column to predict.")
truth = click.option(
    "--target",
    help="Column of DATA that holds what is true; by default the one that the rules "
    "are about, where DATA has it.",
)
model = click.option(
    "--model",
    type=click.Path(exists=True, dir_okay=False),
    help="File of the model that the rules speak for.",
)
train = click.option(
    "--train",
    type=click.Choice(MODELS),
    help="Ensemble to train and explain, where no MODEL is given; without it "
    f"{DEFAULT_MODEL}.",
)
classes = click.option(
    "--classes",
    help="Labels of the MODEL's classes 0, 1, ... in the data: --classes no,yes",
)
max_rules = click.option(
    "--max-rules",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Most rules, the last ('otherwise') included.",
)
drop = click.option(
    "--drop", help="Columns to leave out before training: --drop id,name"
)
columns = click.option(
    "--columns",
    metavar="FILE",
    help="What people call the columns: a CSV with the columns column, name, unit and "
    'description, or JSON: {"chol": {"unit": "mg/dl"}}.',
)
positive = click.option(
    "--positive", help="The class that is looked for; by default the second."
)
threshold = click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Call a row positive from this probability on; by default, what rules say.",
)
saved = click.argument("rules", type=click.Path(exists=True, dir_okay=False))
data = click.argument(
    "data", type=click.Path(exists=True, dir_okay=False, allow_dash=True)
)
own = click.option(
    "--id", "own", metavar="COLUMN", help="A column to carry to the result."
)
na = click.option(
    "--na",
    multiple=True,
    metavar="CELL",
    help="Cells of a CSV file that are missing, besides empty ones; may be repeated: "
    "--na NA --na -999. In columns of numbers NA, NaN, null, None and the like are "
    "missing anyway; in columns of text they are values.",
)
sep = click.option(
    "--sep",
    metavar="CHARACTER",
    help="What stands between the cells of a CSV file; by default it is found (of "
    "comma, semicolon, tab and bar).",
)
encoding = click.option(
    "--encoding", help="How a CSV file is written, if not in UTF-8: --encoding cp1252"
)
categories = click.option(
    "--categories",
    help="Columns of categories, also where they hold numbers: --categories zip,code",
)
task = click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    show_default=True,
    help="auto: classes for text, true/false and few whole numbers.",
)
test_size = click.option(
    "--test-size",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.25,
    show_default=True,
    help="Share of the rows kept out of the fit, for the scores.",
)
out = click.option(
    "--out", type=click.Path(), help="Write the rules to this JSON file."
)
report = click.option(
    "--report", type=click.Path(), help="Write an HTML page about them."
)
seed = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of all that is random.",
)
as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of text."
)
force = click.option("--force", is_flag=True, help="Overwrite files that exist.")
quiet = click.option("--quiet", is_flag=True, help="Say nothing on stderr but errors.")


def names(text: str | None) -> list[str]:
    """What stands between commas.

    Examples
    --------
    >>> names("age, sex"), names(None)
    (['age', 'sex'], [])
    """
    return [name.strip() for name in text.split(",")] if text else []
