"""``clearwood states``: between which states a text or a series moves."""

from __future__ import annotations

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
from clearwood.cli.inputs import form_of, json_text, with_said

MOST_LINES = 20
"""States that are printed."""


@click.command(short_help="Find the states between which a text or series moves.")
@shared.data
@click.option(
    "--states",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Number of states.",
)
@click.option(
    "--id",
    "sequence",
    metavar="COLUMN",
    help="Column of a table that says to which sequence a row belongs.",
)
@click.option("--lines", is_flag=True, help="Every line of a text is a sequence.")
@shared.drop
@shared.categories
@shared.columns
@shared.na
@shared.sep
@shared.encoding
@click.option(
    "--algorithm",
    type=click.Choice(["gibbs", "em"]),
    default="gibbs",
    show_default=True,
    help="gibbs: means over draws, which foretell better; em: sooner.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    help="Draws of each of the chains; by default those of the estimator.",
)
@shared.test_size
@click.option(
    "--out", type=click.Path(), help="Write scores and all states to this JSON."
)
@click.option(
    "--save", type=click.Path(), help="Write the model to a file for clearwood.load."
)
@shared.report
@shared.seed
@shared.as_json
@shared.force
@shared.quiet
@common_options
def states(data: str, **options: Any) -> None:
    """Find the states between which a text, or a series, moves.

    DATA is a text (a file named .txt, whose letters are the steps) or a table (CSV or
    Parquet), whose rows are the steps in their order: one column of labels, or columns
    of numbers, flags and labels as they come, with empty cells. A hidden Markov model
    says in which state each step is, what a state emits, and where it leads. It is
    printed with how well it foretells the end of the data, which is held out, beside
    what the last steps alone let expect.
    """
    from clearwood._files import write_text
    from clearwood.persistence import save
    from clearwood.reporting import report
    from clearwood.sequences.reading.last_steps import hold_out_last

    say = speaker(options["quiet"])
    out, page, force = options["out"], options["report"], options["force"]
    # Before anything that takes long.
    check_outputs([out, page, options["save"]], [data], force)
    with plain_warnings(say):
        X, lengths, emission = _read(data, options)
        if len(X) < 2:
            raise _too_short(data)
        parts = hold_out_last(X, lengths, options["test_size"])
        fitted = _fit(parts.X_train, parts.lengths_train, emission, options)
        summary = _summarize(fitted, X, lengths, parts.is_held_out)
        if out:
            write_text(out, json_text(summary), overwrite=force)
            say(f"wrote {out}")
        if options["save"]:
            save(fitted, options["save"], overwrite=force)
            say(f"wrote {options['save']}")
        if page:
            title = f"States of {Path(data).name}"
            report(
                fitted, page, X=parts.X_test, y=parts.lengths_test, overwrite=force,
                title=title,
            )  # fmt: skip
            say(f"wrote {page}")
    show(json_text(summary) if options["as_json"] else _text(summary))


def _too_short(data: str) -> Exception:
    from clearwood.exceptions import InputError

    return InputError(f"{data!r} holds fewer than two steps; give a longer sequence.")


def _read(data: str, options: dict[str, Any]) -> tuple[Any, list[int], str]:
    """Steps, the lengths of the sequences, and what is emitted."""
    if Path(data).suffix.lower() != ".txt":
        if options["lines"]:
            raise click.UsageError("--lines is for texts; of a table name the --id.")
        return _read_table(data, options)
    for name in ("sequence", "drop", "categories", "columns", "na", "sep"):
        if options[name]:
            option = "id" if name == "sequence" else name
            raise click.UsageError(f"--{option} is for tables; {data!r} is a text.")
    text = _read_text(data, options["encoding"]).replace("\r\n", "\n")
    return *_parted(text, options["lines"]), "categorical"


def _read_text(data: str, encoding: str | None) -> str:
    from clearwood._files import read_bytes
    from clearwood.cli.tables.csv_file import as_utf8

    return as_utf8(read_bytes(data), data, encoding).decode("utf-8-sig")


def _parted(text: str, by_line: bool) -> tuple[str, list[int]]:
    if not by_line:
        return text, [len(text)]
    parts = [line for line in text.split("\n") if line]
    return "".join(parts), [len(line) for line in parts]


def _read_table(data: str, options: dict[str, Any]) -> tuple[Any, list[int], str]:
    from clearwood.cli.tables.reading import read_table
    from clearwood.exceptions import InputError

    # Of a sequence only its name counts, whatever it looks like.
    own = options["sequence"]
    if own and own in shared.names(options["drop"]):
        raise click.UsageError(f"--drop leaves out {own!r}, which is the --id.")
    frame = read_table(
        data,
        drop=shared.names(options["drop"]),
        categories=shared.names(options["categories"]) + ([own] if own else []),
        missing=options["na"],
        form=form_of(options),
    )
    frame = with_said(frame, options["columns"])
    lengths = [len(frame)]
    if own:
        if frame[own].isna().any():
            raise InputError(f"Column {own!r} has empty cells; name every sequence.")
        # In the order in which they begin.
        code = frame[own].factorize()[0]
        frame = frame.iloc[code.argsort(kind="stable")].drop(columns=own)
        lengths = [int((code == i).sum()) for i in range(code.max() + 1)]
    if not frame.shape[1]:
        raise InputError(f"{data!r} has no column besides {own!r}; nothing to learn.")
    emission = _emission_of(frame)
    if emission == "categorical":
        return frame.iloc[:, 0].astype(object).tolist(), lengths, emission
    return frame.reset_index(drop=True), lengths, emission


def _emission_of(frame: Any) -> str:
    """What steps are: a label, flags, numbers, or both."""
    from clearwood.columns.schema import features_of

    is_label = [labels is not None for labels in features_of(frame).categories]
    if not any(is_label):
        is_flags = frame.isin([0, 1]) | frame.isna()
        return "bernoulli" if is_flags.to_numpy().all() else "gaussian"
    return "categorical" if len(is_label) == 1 else "mixed"


def _fit(X: Any, lengths: list[int], emission: str, options: dict[str, Any]) -> Any:
    from clearwood.sequences import HiddenMarkovModel

    draws = {} if options["draws"] is None else {"n_draws": options["draws"]}
    return HiddenMarkovModel(
        options["states"],
        emission=emission,
        algorithm=options["algorithm"],
        random_state=options["seed"],
        verbose=not options["quiet"],
        **draws,
    ).fit(X, lengths)


def _summarize(
    fitted: Any, X: Any, lengths: list[int], held_out: Any
) -> dict[str, Any]:
    from clearwood.sequences.reading.last_steps import judge_states
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
            for name, value in judge_states(fitted, X, lengths, held_out).items()
        },
        "states": [
            {
                "state": state.number,
                "name": state.name,
                "share": state.share,
                "lasts": min(state.stay, 1e9),
                "emits": dict(zip(names, (cell.text for cell in state.emits)))
                or [cell.text for cell in state.emits],
                "then": dict(state.leads),
            }
            for state in sorted(markov_states(fitted, share), key=lambda s: -s.share)
        ],
    }


def _text(summary: dict[str, Any]) -> str:
    from clearwood._words.numbers import percent_text, share_text

    n, n_sequences = summary["steps"]["held_out"], summary["sequences"]
    of = f" of {n_sequences:,} sequences" if n_sequences > 1 else ""
    lines = [f"{len(summary['states'])} states{of}, and what each emits:"]
    for state in summary["states"][:MOST_LINES]:
        emits = state["emits"]
        said = emits if isinstance(emits, list) else [
            f"{name} {text}" for name, text in emits.items()
        ]  # fmt: skip
        then = ", ".join(
            f"{j} {share_text(p)}" for j, p in list(state["then"].items())[:3]
        )
        lasts = f"{state['lasts']:.3g} step{'s' * (state['lasts'] >= 1.005)}"
        share = percent_text(state["share"])
        lines.append(
            f"  {state['state']:>3} {share:>6}  {'; '.join(said)}\n"
            f"              lasts {lasts}{f', then {then}' if then else ''}"
        )
    more = len(summary["states"]) - MOST_LINES
    lines += [f"  ... {more:,} more (--json)"] if more > 0 else []
    lines += ["", f"Mean log-likelihood of {n:,} steps held out, in nats:"]
    for name, value in summary["log_likelihood"].items():
        lines.append(f"  {name:28}{'impossible' if value is None else f'{value:.4g}'}")
    return "\n".join(lines)
