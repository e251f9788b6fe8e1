"""``clearwood density``: which kinds of rows there are, and which rows surprise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import (
    check_outputs,
    common_options,
    plain_warnings,
    show,
    speaker,
)
from clearwood.cli.inputs import form_of, json_text, names_of_rows, with_said
from clearwood.exceptions import InputError

MOST_GIVEN, MOST_SURPRISING = 12, 5
"""Columns, and rows held out, that are printed."""

TAKEN = {"row", "log_density", "surprise", "because"}
"""What is said of a surprising row already."""

NO_BETTER = (
    "So on these rows the network is no better than independent columns are: the kinds",
    "and the dependences above may be chance. More rows, or fewer columns, would help.",
)


@click.command(short_help="Find kinds of rows, and rows that surprise.")
@shared.data
@shared.own
@shared.drop
@shared.categories
@shared.columns
@shared.na
@shared.sep
@shared.encoding
@click.option(
    "--networks",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Networks whose mixture is the density: more are likelier, one is readable.",
)
@click.option(
    "--given",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Print how the other columns are distributed where this is so; may be "
    "repeated: --given smoker=yes --given age=60",
)
@shared.test_size
@click.option(
    "--out", type=click.Path(), help="Write all numbers and the network to this JSON."
)
@click.option(
    "--save", type=click.Path(), help="Write the network to a file for clearwood.load."
)
@shared.report
@shared.seed
@shared.as_json
@shared.force
@shared.quiet
@common_options
def density(data: str, **options: Any) -> None:
    """Find the kinds of rows of a table, and the rows that surprise.

    DATA is a table (CSV or Parquet) with text, numbers and empty cells as they come. A
    sum-product network learns how probable every row is: a mixture of kinds of rows, in
    which groups of columns go together. It is printed in words, with how probable rows
    are that were held out, and the most surprising of these.
    """
    from clearwood.codec.files import write_text
    from clearwood.persistence import save
    from clearwood.reporting import report

    say = speaker(options["quiet"])
    out, page, force = options["out"], options["report"], options["force"]
    # Before anything that takes long.
    check_outputs([out, page, options["save"]], [data], force)
    with plain_warnings(say):
        X, X_test, names = _read(data, options)
        _check_given(options["given"], X)
        fitted = _fit(X, options)
        summary = _summarize(fitted, X, X_test, names, options)
        if out:
            network = {"network": _plain(fitted)}
            write_text(out, json_text(summary | network), overwrite=force)
            say(f"wrote {out}")
        if options["save"]:
            save(fitted, options["save"], overwrite=force)
            say(f"wrote {options['save']}")
        if page:
            title = f"Kinds of rows of {Path(data).name}"
            rows = [_row_text(row, names, options["own"]) for row in X_test.index]
            shown = X_test.set_axis(rows)
            report(fitted, page, X=shown, overwrite=force, title=title)
            say(f"wrote {page}")
    if options["as_json"]:
        show(json_text(summary))
    else:
        show(_text(fitted, summary, names, options["own"]))


def _read(data: str, options: dict[str, Any]) -> tuple[Any, Any, dict[int, Any]]:
    """The table, the part of it that is held out, and what rows are called."""
    import numpy as np

    from clearwood.cli.tables.reading import read_table
    from clearwood.cli.train import hold_out

    frame = read_table(
        data,
        drop=shared.names(options["drop"]),
        categories=shared.names(options["categories"]),
        missing=options["na"],
        form=form_of(options),
    )
    frame = with_said(frame, options["columns"])
    # As an editor counts them, without the header.
    frame.index = frame.index + 1
    names, own = {}, options["own"]
    if own is not None:
        names = dict(zip(frame.index, names_of_rows(frame, own, TAKEN)))
        frame = frame.drop(columns=own)
    _check_finite(frame)
    nothing = np.zeros(len(frame))
    split = hold_out(
        frame, nothing, "regression", options["test_size"], options["seed"]
    )
    return split.X, split.X_test, names


def _row_text(row: int | str, names: dict[int, Any], own: str | None) -> str:
    """The number of a row, and what it is called."""
    return f"{row}, {own} {names[int(row)]}" if names else str(row)


def _check_finite(frame: Any) -> None:
    """While rows still go by the numbers that they have in the file."""
    import numpy as np

    for name, column in frame.select_dtypes("number").items():
        rows = frame.index[np.isinf(column.to_numpy(np.float64, na_value=np.nan))]
        if len(rows):
            raise InputError(
                f"Column {name!r} holds infinity in row {rows[0]} (counted from 1); "
                "correct the cell, or leave it empty."
            )


def _check_given(given: tuple[str, ...], X: Any) -> None:
    """Before anything that takes long."""
    from clearwood.circuits.learning.variables import read_variables, row_of

    names = [_parted(text, X.columns)[0] for text in given]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise click.UsageError(f"--given: {twice!r} is given more than once.")
    if given:
        features = read_variables(X, ())
        row_of(features, dict(_known(features, text) for text in given))


def _parted(text: str, columns: Any) -> tuple[str, str]:
    """The column and the value; names of columns may have an equals sign, too."""
    known = [name for name in columns if text.startswith(f"{name}=")]
    if known:
        name = max(known, key=len)
        return name, text[len(name) + 1 :]
    name, equals, _ = text.partition("=")
    if not equals:
        raise click.UsageError(f"--given {text}: expected COLUMN=VALUE.")
    raise click.UsageError(f"--given {text}: no column is called {name!r}.")


def _fit(X: Any, options: dict[str, Any]) -> Any:
    from clearwood.circuits.estimators import MiniSPN

    return MiniSPN(
        n_networks=options["networks"],
        random_state=options["seed"],
        verbose=not options["quiet"],
    ).fit(X)


def _summarize(
    fitted: Any, X: Any, X_test: Any, named: dict[int, Any], options: dict[str, Any]
) -> dict[str, Any]:
    from clearwood.circuits.reading.section import summarize_rows
    from clearwood.circuits.reading.strengths import strengths
    from clearwood.circuits.reading.words import strongest_pairs

    circuit = fitted.circuit_
    names = circuit.features.names
    pairs = strongest_pairs(strengths(circuit))
    found = summarize_rows(circuit, circuit.features.encode(X_test), X_test)
    return {
        "rows": {"training": len(X), "held_out": len(X_test)},
        "degrees_of_freedom": circuit.degrees_of_freedom,
        "log_density": found["log_density"],
        "log_density_of_independent_columns": found["independent"],
        "no_better": found["no_better"],
        "depend": [
            {"columns": [names[j], names[k]], "strength": strength}
            for j, k, strength in pairs
        ],
        "columns": found["columns"],
        "surprising": [
            {options["own"]: named[int(line["row"])], **line} if named else line
            for line in found["surprising"]
        ],
        "given": _given(circuit, options["given"]),
    }


def _plain(fitted: Any) -> dict[str, Any]:
    """The network as plain data: what a file for ``clearwood.load`` holds."""
    from clearwood.circuits.saving import SAVED

    document, arrays = SAVED[type(fitted).__name__].write(fitted)
    return document | {name: array.tolist() for name, array in arrays.items()}


def _given(circuit: Any, given: tuple[str, ...]) -> dict[str, Any] | None:
    """The other columns, those that change most first."""
    from clearwood.circuits.learning.variables import row_of
    from clearwood.circuits.queries.conditioning import condition
    from clearwood.circuits.reading.outline import marking
    from clearwood.circuits.reading.profiles import column_words, profile_of

    if not given:
        return None
    known = dict(_known(circuit.features, one) for one in given)
    rest = condition(circuit, row_of(circuit.features, known))
    before, after = (profile_of(own.root, own.heaps) for own in (circuit, rest))
    features = rest.features
    of_all = {i: before[circuit.features.names.index(name)]
              for i, name in enumerate(features.names)}  # fmt: skip
    return {
        "known": known,
        "changed": [
            column_words(features, i, after[i], of_all[i])
            for i in marking(after, of_all)
        ],
        "n_others": len(features.names),
    }


def _known(features: Any, text: str) -> tuple[str, Any]:
    """A column and the value that it is to have, as the table has it."""
    from clearwood.circuits.reading.profiles import label_words

    name, value = _parted(text, features.names)
    labels = dict(zip(features.names, features.categories)).get(name)
    by_text = {label_words(label): label for label in labels or ()}
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if labels is not None:
        return name, by_text.get(value, number if number in labels else value)
    if not math.isfinite(number):
        raise click.UsageError(f"--given {text}: {value!r} is no number.")
    return name, number


def _text(
    fitted: Any, summary: dict[str, Any], names: dict[int, Any], column: str | None
) -> str:
    from clearwood.circuits.reading.profiles import label_words
    from clearwood.rules.conditions import name_text

    scores = "log_density", "log_density_of_independent_columns"
    own, independent = (summary[key] for key in scores)
    lines = [str(fitted.circuit_), ""]
    if own is not None:
        n_rows = summary["rows"]["held_out"]
        lines += [
            f"On {n_rows:,} row{'s' * (n_rows != 1)} held out from training the mean "
            f"log density is {own:.4g};",
            f"if all columns were independent it would be {independent:.4g}.",
            *(NO_BETTER if summary["no_better"] else ()),
            "",
        ]
    lines.append("Most surprising of the rows held out (rows are counted from 1):")
    for line in summary["surprising"][:MOST_SURPRISING]:
        because = [
            f"{name_text(one['column'])} is {one['found']} (expected: "
            f"{one['expected']})"
            for one in line["because"]
        ]
        why = "; ".join(because) or "no single entry"
        lines.append(f"  row {_row_text(line['row'], names, column)}: {why}")
    if not summary["surprising"]:
        lines.append("  none")
    given = summary["given"]
    if given:
        known = given["known"].items()
        said = ", ".join(
            f"{name_text(name)} = {label_words(value)}" for name, value in known
        )
        changed = given["changed"]
        lines += ["", f"Where {said} (in brackets: among all rows):"]
        lines += [f"  {one}" for one in changed[:MOST_GIVEN]]
        same = given["n_others"] - min(len(changed), MOST_GIVEN)
        lines += [f"  less in {same:,} of the others"] if same else []
    return "\n".join(lines)
