"""``clearwood density``: clusters, dependences and anomalies of a table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command, json_text
from clearwood.cli.inputs import read_frame, row_names
from clearwood.cli.templates import fill

TAKEN = {"row", "log_density", "surprise", "because"}
"""Keys that the record of an anomaly has already."""


@command(
    "Fit a density; report clusters, dependences and anomalies.",
    shared.data,
    shared.id_column,
    *shared.TABLE,
    shared.option(
        "--n-networks",
        shared.FROM_1,
        "Number of networks in the mixture: more fit better, one is interpretable.",
        1,
    ),
    shared.option(
        "--given",
        shared.TEXT,
        "Print the distribution of the other columns given this value; may be "
        "repeated: --given smoker=yes --given age=60",
        multiple=True,
        metavar="COLUMN=VALUE",
    ),
    shared.test_size,
    shared.random_state,
    shared.out("all results, and the network, as JSON"),
    *shared.FITTED,
)
def density(args: Any) -> Answer:
    """Fit a density to a table; report clusters, dependences and anomalies.

    DATA is a table (CSV or Parquet) of text, numbers, dates and missing values. The
    density is a sum-product network: a mixture of clusters of rows, in each of which
    groups of columns are dependent. Prints a summary of the network, its log density on
    held-out rows, and the least probable of these rows.
    """
    from clearwood.circuits.estimators import MiniSPN

    X, X_test, names = _read(args)
    known = _known(args.given, X)
    fitted = MiniSPN(
        n_networks=args.n_networks,
        random_state=args.random_state,
        verbose=args.progress,
    ).fit(X)
    summary = _summarize(fitted.circuit_, X, X_test, known)
    if names:
        summary["surprising"] = [
            {args.id_column: names[int(line["row"])], **line}
            for line in summary["surprising"]
        ]
    rows = [_row_text(row, names.get(row), args.id_column) for row in X_test.index]
    return Answer(
        summary,
        lambda: _text(fitted.circuit_, summary, args.id_column),
        fitted,
        out=lambda: json_text(summary | {"network": _plain(fitted)}),
        page={
            "X": X_test.set_axis(rows),
            "title": f"Clusters of rows of {Path(args.data).name}",
            "held_out_from": "model",
        },
    )


def _read(args: Any) -> tuple[Any, Any, dict[int, Any]]:
    """Table, its held-out part, and the names of the rows."""
    from clearwood.cli.train import check_finite, hold_out

    frame = read_frame(args)
    # Line numbers as in an editor, without the header.
    frame.index = range(1, len(frame) + 1)
    names = {}
    if args.id_column is not None:
        names = dict(zip(frame.index, row_names(frame, args.id_column, TAKEN)))
        frame = frame.drop(columns=args.id_column)
    check_finite(frame)
    split = hold_out(
        frame, frame.index, "regression", args.test_size, args.random_state
    )
    return split.X, split.X_test, names


def _row_text(row: int | str, name: Any, id_column: str | None) -> str:
    return str(row) if id_column is None else f"{row}, {id_column} {name}"


def _known(given: tuple[str, ...], X: Any) -> dict[str, Any]:
    """Known values by column, typed as in the table; validated before the fit."""
    from clearwood.circuits.reading.profiles import label_words
    from clearwood.columns.dates import DATES
    from clearwood.columns.variables import read_variables, row_of

    if not given:
        return {}
    features = read_variables(X)
    levels = dict(zip(features.names, features.categories))
    is_date = {n: own.kind in DATES for n, own in zip(features.names, features.info)}
    known: dict[str, Any] = {}
    for text in given:
        name, value = _parted(text, features.names)
        if name in known:
            raise click.UsageError(f"--given: {name!r} is given more than once.")
        labels = levels[name]
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if labels is not None:
            by_text = {label_words(label): label for label in labels}
            known[name] = by_text.get(value, number if number in labels else value)
        elif is_date[name]:
            known[name] = value
        elif math.isfinite(number):
            known[name] = number
        else:
            raise click.UsageError(f"--given {text}: {value!r} is no number.")
    row_of(features, known)
    return known


def _parted(text: str, columns: Any) -> tuple[str, str]:
    """Column and value; names of columns may contain an equals sign, too."""
    known = [name for name in columns if text.startswith(f"{name}=")]
    if known:
        name = max(known, key=len)
        return name, text[len(name) + 1 :]
    name, equals, _ = text.partition("=")
    if not equals:
        raise click.UsageError(f"--given {text}: expected COLUMN=VALUE.")
    raise click.UsageError(f"--given {text}: no column is called {name!r}.")


def _summarize(
    circuit: Any, X: Any, X_test: Any, known: dict[str, Any]
) -> dict[str, Any]:
    from clearwood.circuits.reading.section import summarize_rows
    from clearwood.circuits.reading.strengths import strengths
    from clearwood.circuits.reading.words import strongest_pairs

    names = circuit.features.names
    rows = circuit.table.columns.encode(X_test)
    found = summarize_rows(circuit, circuit.table.to_variables(rows), X_test)
    return {
        "rows": {"training": len(X), "held_out": len(X_test)},
        "degrees_of_freedom": circuit.degrees_of_freedom,
        "log_density": found["log_density"],
        "log_density_of_independent_columns": found["independent"],
        "no_better": found["no_better"],
        "is_weak": found["is_weak"],
        "depend": [
            {"columns": [names[j], names[k]], "strength": strength}
            for j, k, strength in strongest_pairs(strengths(circuit))
        ],
        "columns": found["columns"],
        "surprising": found["surprising"],
        "given": _given(circuit, known) if known else None,
    }


def _plain(fitted: Any) -> dict[str, Any]:
    """Network as plain data: the content of a file for ``clearwood.load``."""
    from clearwood.circuits.saving import SAVED

    document, arrays = SAVED[type(fitted).__name__].write(fitted)
    return document | {name: array.tolist() for name, array in arrays.items()}


def _given(circuit: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Conditional distributions of the other columns, the largest change first."""
    from clearwood.circuits.queries.conditioning import condition
    from clearwood.circuits.reading.outline import distinguishing_columns
    from clearwood.circuits.reading.profiles import column_words, profile_of
    from clearwood.columns.variables import row_of

    row = row_of(circuit.table.columns, known)
    rest = condition(circuit, circuit.table.to_variables(row[None])[0])
    before, after = (profile_of(one.root, one.table.numbers) for one in (circuit, rest))
    features, place = rest.features, circuit.features.names.index
    of_all = {i: before[place(name)] for i, name in enumerate(features.names)}
    return {
        "known": known,
        "changed": [
            column_words(features, i, after[i], of_all[i])
            for i in distinguishing_columns(after, of_all)
        ],
        "n_others": len(features.names),
    }


def _text(circuit: Any, summary: dict[str, Any], id_column: str | None) -> str:
    from clearwood.circuits.reading.profiles import label_words

    facts = {"circuit": circuit, "id_column": id_column, "label": label_words}
    return fill("density.txt", **summary, **facts)
