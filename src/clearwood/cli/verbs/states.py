"""``clearwood states``: hidden states of a text or a time series."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.inputs import given, read_frame
from clearwood.cli.templates import fill
from clearwood.exceptions import InputError


@command(
    "Fit a hidden Markov model to a text or a time series.",
    shared.data,
    shared.option("--n-states", shared.FROM_1, "Number of states.", 10),
    shared.option(
        "--id",
        shared.TEXT,
        "Column of a table that identifies the sequence of each row.",
        metavar="COLUMN",
    ),
    shared.flag("--lines", "Treat each line of a text as a sequence."),
    *shared.TABLE,
    shared.choice(
        "--algorithm",
        "gibbs em",
        "gibbs: posterior means, which predict better; em: faster.",
    ),
    shared.n_draws,
    shared.test_size,
    shared.random_state,
    shared.out(shared.NUMBERS),
    *shared.FITTED,
)
def states(args: Any) -> Answer:
    """Fit a hidden Markov model to a text or a time series.

    DATA is a text (a .txt file, whose characters are the steps) or a table (CSV or
    Parquet), whose rows are the steps in order: one column of labels, or columns of
    numbers, booleans and labels, with missing values. Prints the emissions and
    transitions of the states, and the log-likelihood of the model and of baselines on
    the end of the data, which is held out.
    """
    from clearwood.sequences import HiddenMarkovModel
    from clearwood.sequences.reading.last_steps import hold_out_last

    is_text = Path(args.data).suffix.lower() == ".txt"
    X, lengths, emission = (_read_text if is_text else _read_table)(args)
    if len(X) < 2:
        raise InputError(
            f"{args.data!r} has fewer than two steps; provide a longer sequence."
        )
    parts = hold_out_last(X, lengths, args.test_size)
    fitted = HiddenMarkovModel(
        args.n_states,
        emission=emission,
        algorithm=args.algorithm,
        random_state=args.random_state,
        verbose=args.progress,
        **given(args, "n_draws"),
    ).fit(parts.X_train, parts.lengths_train)
    summary = _summarize(fitted, X, lengths, parts.is_held_out)
    page = {
        "X": parts.X_test,
        "y": parts.lengths_test,
        "title": f"States of {Path(args.data).name}",
        "held_out_from": "model",
    }
    return Answer(summary, lambda: fill("states.txt", **summary), fitted, page=page)


def _read_text(args: Any) -> tuple[str, list[int], str]:
    """Letters, the lengths of the sequences, and the type of emission."""
    from clearwood._tables.csv_file import as_utf8
    from clearwood.codec.files import read_bytes

    about = f"; {args.data!r} is a text"
    shared.only_for("tables", False, "id drop categories column_info na sep", about)
    data = as_utf8(read_bytes(args.data), args.data, args.encoding)
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    if not args.lines:
        return text, [len(text)], "categorical"
    parts = [line for line in text.split("\n") if line]
    return "".join(parts), list(map(len, parts)), "categorical"


def _read_table(args: Any) -> tuple[Any, list[int], str]:
    """Rows, the lengths of the sequences, and the type of emission."""
    id_column = args.id
    if args.lines:
        raise click.UsageError("--lines is for texts; for a table use --id.")
    if id_column and id_column in args.drop:
        raise click.UsageError(f"--drop contains {id_column!r}, the column of --id.")
    # Identifiers are labels, even if they look like numbers.
    frame = read_frame(args, labels=[id_column] if id_column else [])
    lengths = [len(frame)]
    if id_column:
        if frame[id_column].isna().any():
            raise InputError(
                f"Column {id_column!r} (--id) has missing values; identify every "
                "sequence."
            )
        # In order of first appearance.
        code = frame[id_column].factorize()[0]
        frame = frame.iloc[code.argsort(kind="stable")].drop(columns=id_column)
        lengths = [int((code == i).sum()) for i in range(code.max() + 1)]
    if not frame.shape[1]:
        raise InputError(f"{args.data!r} has no column besides {id_column!r}.")
    emission = _emission_of(frame)
    if emission == "categorical":
        return frame.iloc[:, 0].astype(object).tolist(), lengths, emission
    return frame.reset_index(drop=True), lengths, emission


def _emission_of(frame: Any) -> str:
    from clearwood.columns.table_variables import point_masses_of
    from clearwood.columns.variables import read_variables

    if (frame.isin([0, 1]) | frame.isna()).to_numpy().all():
        return "bernoulli"
    features = read_variables(frame)
    has_levels = [levels is not None for levels in features.categories]
    if not any(has_levels) and not any(own.is_time for own in features.info):
        has_masses = any(point_masses_of(cells) for cells in features.encode(frame).T)
        return "mixed" if has_masses else "gaussian"
    return "categorical" if has_levels == [True] else "mixed"


def _summarize(
    fitted: Any, X: Any, lengths: list[int], held_out: Any
) -> dict[str, Any]:
    from clearwood.sequences.reading.last_steps import evaluate_states
    from clearwood.sequences.reading.markov_states import column_names, markov_states

    share = fitted.predict_proba(X, lengths).mean(axis=0)
    names = column_names(fitted)
    n = int(held_out.sum())
    return {
        "emission": fitted.emission,
        "steps": {"training": len(held_out) - n, "held_out": n},
        "sequences": len(lengths),
        "log_likelihood": {
            name: value if abs(value) < float("inf") else None
            for name, value in evaluate_states(fitted, X, lengths, held_out).items()
        },
        "states": [
            {
                "state": state.number,
                "name": state.name,
                "share": state.share,
                "lasts": min(state.stay, 1e9),
                "emits": dict(zip(names, (cell.text for cell in state.emits)))
                or [cell.text for cell in state.emits],
                "then": dict(state.transitions),
            }
            for state in sorted(markov_states(fitted, share), key=lambda s: -s.share)
        ],
    }
