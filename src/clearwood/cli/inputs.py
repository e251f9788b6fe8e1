"""What verbs read: a table, and a model or rules of one, or neither."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

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


class NewRows(NamedTuple):
    """Rows that rules are asked about, their target and the model, where known."""

    X: Any
    y: Any
    model: Any


def read_saved(path: str) -> tuple[Any, Any]:
    """What a file holds that ``--out`` or ``save`` wrote, and the rules in it."""
    from clearwood.persistence import load
    from clearwood.rules.rule_set import rules_of

    result = load(path)
    return result, rules_of(result, path)


def read_rows(rules: Any, data: str, options: dict[str, Any]) -> Any:
    """The rows of a file of which rules are asked something."""
    from clearwood.cli.tables.reading import read_table_of

    return read_table_of(
        rules.features,
        data,
        asked=rules.asked,
        missing=options["na"],
        form=form_of(options),
    )


PLAIN = (str, int, float, bool, type(None))
"""What JSON can hold."""


def names_of_rows(frame: Any, own: str, taken: Collection[str]) -> list[Any]:
    """What a column holds that names the rows, and that the result has not already."""
    from clearwood.exceptions import InputError

    if own not in frame.columns or own in taken:
        raise InputError(
            f"--id names {own!r}, which the table does not have, or the result has "
            f"already; the table has {list(frame.columns)}."
        )
    cells = [None if cell != cell else cell for cell in frame[own].tolist()]
    return [cell if isinstance(cell, PLAIN) else str(cell) for cell in cells]


def read_new_rows(rules: Any, data: str, options: dict[str, Any], say: Any) -> NewRows:
    """Rows on which rules are judged: by the target that is in the table, by a model.

    The target is the column that is named, or else the one that the rules are about,
    where the table has it.
    """
    from clearwood.cli.tables.reading import read_table_of
    from clearwood.cli.tables.target import truth_of

    model = None
    if options["model"] is not None:
        model = read_model_of(rules, options["model"], options["classes"], say)
    elif options["classes"]:
        raise click.UsageError("--classes names the classes of a --model file.")
    target = options["target"] or rules.target
    frame = read_table_of(
        (model or rules).features,
        data,
        asked=None if model else rules.asked,
        missing=options["na"],
        target=target,
        task=rules.task,
        form=form_of(options),
    )
    if options["target"] is None and target not in frame:
        return NewRows(frame, None, model)
    return NewRows(
        frame.drop(columns=target, errors="ignore"),
        truth_of(rules, frame, target),
        model,
    )


def read_model_of(rules: Any, path: str, classes: str | None, say: Any) -> Any:
    """The ensemble of a file, with its classes as the rules call them."""
    from clearwood.ensembles import read_ensemble
    from clearwood.exceptions import InputError

    model = read_ensemble(path)
    if model.task != rules.task:
        raise InputError(
            f"{path} is for {model.task}, and the rules are for {rules.task}; name the "
            "model that they speak for."
        )
    own = [] if model.classes is None else list(model.classes)
    theirs = list(rules.classes)
    if classes is not None:
        written = {str(label): label for label in theirs}
        return model.with_classes([written.get(x, x) for x in known.names(classes)])
    if set(own) == set(theirs) or len(own) != len(theirs):
        return model
    say(
        f"note: the classes of {path} are taken for those of the rules, in this order: "
        f"{', '.join(f'{a} for {b}' for a, b in zip(own, theirs))} (otherwise: "
        "--classes)"
    )
    return model.with_classes(theirs)


def with_said(frame: Any, path: str | None) -> Any:
    """The same table, with what a file says of its columns."""
    if path is not None:
        from clearwood.cli.tables.columns_file import read_columns_file
        from clearwood.columns.feature_space import FeatureSpace

        said = read_columns_file(path)
        # Refused here if it is wrong, before anything that takes long.
        FeatureSpace.numeric(frame.shape[1], list(frame.columns)).with_info(said)
        frame.attrs["column_info"] = said
    return frame


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
    frame = with_said(frame, options["columns"])
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
    frame = with_said(frame, options["columns"])
    table = split_target(frame, target, ensemble.task)
    if options["classes"]:
        # As the table writes them: 1 where its labels are numbers, "1" where texts.
        written = {str(label): label for label in set(table.y.tolist())}
        labels = known.names(options["classes"])
        ensemble = ensemble.with_classes([written.get(x, x) for x in labels])
    return ensemble, table


def json_text(found: Any, indent: int | None = 2) -> str:
    """Plain data as JSON for people and programs, and nothing that a terminal obeys."""
    import json

    from clearwood._words.labels import CONTROL

    text = json.dumps(found, indent=indent, ensure_ascii=False, allow_nan=False)
    lines = text.split("\n")
    escape = "\\u{:04x}".format
    return "\n".join(CONTROL.sub(lambda c: escape(ord(c[0])), line) for line in lines)
