"""Options shared by several commands, and their constructors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

# A literal, because the module that defines them loads scikit-learn.
MODELS = (
    "random-forest",
    "extra-trees",
    "gradient-boosting",
    "hist-gradient-boosting",
    "decision-tree",
)

DEFAULT_MODEL = "hist-gradient-boosting"

PEERS = ("imodels:RuleFit", "imodels:FIGS", "imodels:GreedyRuleList", "te2rules")

TEXT = click.STRING
FROM_0, FROM_1, FROM_2 = (click.IntRange(min=least) for least in range(3))
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
NEW_FILE = click.Path()
FILE = click.Path(exists=True, dir_okay=False)
FILE_OR_PIPE = click.Path(exists=True, dir_okay=False, allow_dash=True)


def option(
    names: str, kind: click.ParamType[Any], help: str, default: Any = None, **more: Any
) -> click.Option:
    """Option with its names, type, help and the displayed default."""
    if default is not None:
        more |= {"default": default, "show_default": True}
    return click.Option(names.split(), type=kind, help=help, **more)


def choice(names: str, values: str | Sequence[str], help: str) -> click.Option:
    """Option with a fixed set of values; by default the first."""
    values = values.split() if isinstance(values, str) else values
    return option(names, click.Choice(values), help, values[0])


def flag(names: str, help: str) -> click.Option:
    """Boolean flag."""
    return click.Option(names.split(), is_flag=True, help=help)


def listing(names: str, help: str) -> click.Option:
    """Option of names separated by commas, or repeated; an empty list by default."""

    def joined(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> Any:
        return [name for text in texts for name in parted(text)]

    return option(names, TEXT, help, callback=joined, multiple=True)


def parted(text: str | None) -> list[str]:
    """Split at commas.

    Examples
    --------
    >>> parted("age, sex"), parted(None)
    (['age', 'sex'], [])
    """
    return [name.strip() for name in text.split(",")] if text else []


def auto_or_number(_: click.Context, param: click.Parameter, text: str) -> str | int:
    """Read ``auto|NUMBER``."""
    if text == "auto":
        return text
    if not re.fullmatch("[1-9][0-9]*", text):
        raise click.UsageError(f"{param.opts[0]} must be auto or a number from 1.")
    return int(text)


def n_jobs(what: str) -> click.Option:
    """Option of the number of parallel threads or processes."""

    def number(_: click.Context, __: click.Parameter, found: int | None) -> Any:
        if found == 0:
            raise click.UsageError("--n-jobs must not be 0; -1 means all cores.")
        return found

    help = f"{what} to use; the result does not change."
    return option("--n-jobs", click.INT, help, callback=number)


def only_for(what: str, holds: Any, names: str, why: str = "") -> None:
    """Raise for options that do not apply in the given circumstances."""
    given = click.get_current_context().get_parameter_source
    for name in names.split():
        if not holds and given(name) is not ParameterSource.DEFAULT:
            written = name.replace("_", "-")
            raise click.UsageError(f"--{written} is for {what}{why}.")


# Input files

files = click.Argument(
    ["files"], nargs=-1, required=True, metavar="[MODEL] DATA", type=FILE_OR_PIPE
)
data = click.Argument(["data"], type=FILE_OR_PIPE)
saved = click.Argument(["rules"], type=FILE)
model = option("--model", FILE, "Model file that the rules approximate.")

# Columns and cells

target = option("--target", TEXT, "Column to predict.", required=True)
target_of_task = option(
    "--target",
    TEXT,
    "Column to predict, or several with numbers: --target heating,cooling. Not for "
    "survival.",
)
true_target = option(
    "--target",
    TEXT,
    "Column of DATA with the true values; by default the target of the rules, if DATA "
    "has it.",
)
drop = listing("--drop", "Columns to leave out: --drop id,name")
categories = listing(
    "--categories",
    "Categorical columns, even if they hold numbers: --categories zip,code",
)
column_info = option(
    "--column-info",
    TEXT,
    "Display names, units and descriptions of the columns: a CSV with the columns "
    'column, name, unit and description, or JSON: {"chol": {"unit": "mg/dl"}}.',
    metavar="FILE",
)
groups = option(
    "--groups",
    TEXT,
    "Column whose equal cells mark rows that belong together, such as those of a "
    "patient: they are held out together wherever rows are held out. An ensemble "
    "trained here does not use it.",
    metavar="COLUMN",
)
id_column = option(
    "--id id_column",
    TEXT,
    "Column of row identifiers to include in the result.",
    metavar="COLUMN",
)
na = option(
    "--na",
    TEXT,
    "Cell of a CSV file that means missing, besides the empty cell; may be repeated: "
    "--na NA --na -999. In numeric columns NA, NaN, null, None and the like are "
    "always missing; in text columns they are values.",
    multiple=True,
    metavar="CELL",
)
sep = option(
    "--sep",
    TEXT,
    "Separator of a CSV file; by default it is detected (comma, semicolon, tab or "
    "bar).",
    metavar="CHARACTER",
)
encoding = option(
    "--encoding",
    TEXT,
    "Encoding of a CSV file other than UTF-8: --encoding cp1252",
)
CELLS = (na, sep, encoding)
TABLE = (drop, categories, column_info, *CELLS)

# Models and rules

train = option(
    "--train",
    click.Choice(MODELS),
    f"Ensemble to train and explain if no MODEL is given; by default {DEFAULT_MODEL}.",
)
classes = listing(
    "--classes", "Labels in DATA of the MODEL's classes 0, 1, ...: --classes no,yes"
)
task = choice(
    "--task",
    "auto classification regression",
    "auto: classification for text, true/false and few distinct integers.",
)
any_task = choice(
    "--task",
    "auto classification regression survival quantile effect",
    "auto: classification for text, true/false and few distinct integers; quantile for "
    "a MODEL of one. survival: with --time and --event instead of --target. effect: "
    "with --treatment.",
)
max_rules = option(
    "--max-rules",
    FROM_1,
    "Maximum number of rules, including the default rule ('otherwise').",
    10,
)
exclude_features = listing(
    "--exclude-features", "Columns that rules must not use: --exclude-features sex,age"
)
n_draws = option(
    "--n-draws",
    FROM_1,
    "Number of posterior draws (per chain); by default that of the estimator.",
)


def held_out_from(*values: str) -> click.Option:
    """Option of what the rows of DATA were held out from."""
    both = "the fit of the rules, or also from "
    help = "State that the rows of DATA were held out from {}the training of the model."
    help = help.format(both if "rules" in values else "")
    return option("--held-out-from", click.Choice(values), help)


def min_samples_leaf(default: int | None = None) -> click.Option:
    """Option of the least number of rows."""
    help = "Minimum number of rows of a leaf, or rule"
    help += "." if default else "; by default that of the method (mostly 5)."
    return option("--min-samples-leaf", FROM_1, help, default)


row = option("--row", FROM_1, "Explain this row of DATA, counted from 1.")
pos_label = option("--pos-label", TEXT, "The positive class; by default the second.")
threshold = option(
    "--threshold",
    SHARE,
    "Probability from which a row is classified as positive; by default the prediction "
    "of the rules.",
)
test_size = option(
    "--test-size",
    SHARE,
    "Fraction of the rows held out for the scores.",
    0.25,
)
random_state = option("--random-state", click.IntRange(0, 2**32 - 1), "Random seed.", 0)

# Outputs


def out(what: str, name: str = "out", **more: Any) -> click.Option:
    """Option of the output file."""
    return option(f"--out {name}", NEW_FILE, f"Write {what} to this file.", **more)


RULES, NUMBERS = "the rules as JSON", "all results as JSON"

save = option("--save", NEW_FILE, "Save the fitted estimator for clearwood.load.")
report = option("--report", NEW_FILE, "Write an HTML report.")
show_rows = flag(
    "--show-rows",
    "Show single rows in the HTML report, and statistics of fewer than 5 rows.",
)
as_json = flag("--json as_json", "Print JSON instead of text.")
overwrite = flag("--overwrite", "Overwrite existing files.")
FITTED = (save, report, as_json, overwrite)
"""Outputs of commands that fit an estimator."""

COMMON = (
    flag("--quiet", "Print only errors on stderr."),
    flag("--debug", "Show the full traceback of an error."),
    option(
        "--max-memory",
        FROM_1,
        "Maximum memory for the content of one file; by default ten times its size "
        "plus 67 MB (tables: 1,074 MB). Increase it only for trusted files.",
        metavar="MB",
    ),
)
"""Options of every command."""
