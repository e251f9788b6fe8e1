"""What a verb that explains a model reads: a table, and a model or none."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as known
from clearwood.cli.errors import plain_warnings

MODEL_FILES = (".json", ".ubj", ".ubjson", ".cbm", ".model", ".bin", ".pkl", ".joblib")
"""How files end that are no tables."""


def check_files(verb: str, files: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse what does not go together; where no model is named, name one to train."""
    is_model = files[0].lower().endswith(MODEL_FILES)
    if len(files) != (1 if options["train"] else 2) and (len(files) > 1 or is_model):
        raise click.UsageError(
            f"Give either a model file and a table, as in 'clearwood {verb} "
            "model.json data.csv', or one table; --train "
            f"{{{','.join(known.MODELS)}}} says which ensemble learns from it."
        )
    if len(files) == 1 and not options["train"]:
        options["train"] = known.DEFAULT_MODEL
    for name in ("drop", "categories"):
        if options[name] and not options["train"]:
            raise click.UsageError(
                f"--{name} is for --train; a model finds its own columns."
            )
    if options["classes"] and options["train"]:
        raise click.UsageError("--classes names the classes of a model file.")


def form_of(options: dict[str, Any]) -> Any:
    """How CSV is written, as far as that is said."""
    from clearwood.cli.tables.csv_file import CsvForm
    from clearwood.exceptions import InputError

    sep = {"tab": "\t", "\\t": "\t"}.get(options.get("sep") or "", options.get("sep"))
    if sep is not None and len(sep) != 1:
        raise InputError(f"--sep must be one character or tab, found {sep!r}.")
    return CsvForm(sep, options.get("encoding"))


def read_rows(rule_set: Any, data: str, options: dict[str, Any]) -> Any:
    """The rows of a file of which rules are asked something."""
    from clearwood.cli.tables.reading import read_table_of

    return read_table_of(
        rule_set.features,
        data,
        asked=rule_set.asked,
        missing=options["na"],
        form=form_of(options),
    )


def read_training_table(
    data: str, reader: str, options: dict[str, Any], say: Any
) -> Any:
    """A table to train on, as the ensemble that is named reads it, and its target.

    Returns
    -------
    Labelled
    """
    from clearwood.cli.tables.reading import read_table
    from clearwood.cli.tables.target import split_target
    from clearwood.cli.train import prepare

    with plain_warnings(say):
        frame = read_table(
            data,
            drop=known.names(options["drop"]),
            categories=known.names(options["categories"]),
            missing=options["na"],
            form=form_of(options),
        )
    table = split_target(frame, options["target"], options["task"])
    if options["task"] == "auto":
        other = {"classification": "regression", "regression": "classification"}
        say(
            f"{table.task}, because of the target: {table.reason} "
            f"(otherwise: --task {other[table.task]})"
        )
    return table._replace(X=prepare(table.X, reader))


def read_model_and_table(
    path: str, data: str, options: dict[str, Any], say: Any, sample: Any = None
) -> tuple[Any, Any]:
    """The ensemble of a file, and the table as the ensemble reads it.

    ``sample`` are rows of the table that stand for it, where it is too large.

    Returns
    -------
    ensemble : TreeEnsemble
    table : Labelled
    """
    from clearwood.cli.tables.reading import read_table_of
    from clearwood.cli.tables.target import split_target
    from clearwood.ensembles import read_ensemble
    from clearwood.exceptions import InputError

    ensemble = read_ensemble(path)
    if options["task"] not in ("auto", ensemble.task):
        raise InputError(f"{path} is for {ensemble.task}, not for {options['task']}.")
    for note in ensemble.notes:
        say(f"note: {note}")
    target = options["target"]
    with plain_warnings(say):
        frame = (
            sample
            if sample is not None
            else read_table_of(
                ensemble.features,
                data,
                missing=options["na"],
                target=target,
                task=ensemble.task,
                form=form_of(options),
            )
        )
    table = split_target(frame, target, ensemble.task)
    if options["classes"]:
        # As the table writes them: 1 where its labels are numbers, "1" where texts.
        written = {str(label): label for label in set(table.y.tolist())}
        labels = known.names(options["classes"])
        ensemble = ensemble.with_classes([written.get(x, x) for x in labels])
    return ensemble, table


def json_text(found: Any) -> str:
    """Plain data as JSON for people and programs."""
    import json

    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
