"""Inputs of commands: tables, models and saved rules."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import click

from clearwood.cli import options as known
from clearwood.cli.errors import plain_warnings
from clearwood.exceptions import InputError

MODEL_FILES = (".json", ".ubj", ".ubjson", ".cbm", ".model", ".bin", ".pkl", ".joblib")
"""File extensions of models, not of tables."""

PLAIN = (str, int, float, bool, type(None))
"""Types that JSON can hold."""


# Tables to learn from


def read_frame(args: Any, labels: Collection[str] = ()) -> Any:
    """Columns of a table that are not dropped, with their descriptions.

    ``labels`` are categorical columns besides the requested ones.
    """
    from clearwood.cli.tables.reading import read_table

    frame = read_table(
        args.data,
        drop=args.drop,
        categories=[*args.categories, *labels],
        as_read=[getattr(args, "id_column", None)],
        form=csv_form(args),
    )
    return with_column_info(frame, args.column_info)


def read_labelled(args: Any, reader: str | None = None) -> Any:
    """Training table, encoded for the named ensemble, and its target."""
    from clearwood._tables.target import split_target
    from clearwood.cli.train import READS_TEXT, prepare

    with plain_warnings(args.log):
        frame = read_frame(args)
    table = _with_groups(split_target(frame, args.target, args.task), args)
    if table.groups is not None:
        table = table._replace(X=table.X.drop(columns=args.groups))
    if args.task == "auto":
        other = {"classification": "regression", "regression": "classification"}
        args.log(
            f"{table.task}, because of the target: {table.reason} "
            f"(otherwise: --task {other[table.task]})"
        )
    # Accepts text, as categories, and missing values.
    return table._replace(X=prepare(table.X, reader or READS_TEXT))


def _with_groups(table: Any, args: Any) -> Any:
    """The same table with the column ``--groups``, if the verb has it, as groups."""
    name = getattr(args, "groups", None)
    if name is None:
        return table
    if name not in table.X or table.X[name].isna().any():
        raise InputError(
            f"--groups is {name!r}; expected a column of the table without empty "
            f"cells, other than the target; it has {list(table.X.columns)}."
        )
    return table._replace(groups=table.X[name].to_numpy())


def split_rows(table: Any, args: Any) -> Any:
    """Split into training and held-out rows."""
    from clearwood.cli.train import hold_out

    X, y, task, _, groups = table
    return hold_out(X, y, task, args.test_size, args.random_state, groups)


def csv_form(args: Any) -> Any:
    """Format of CSV by the options."""
    from clearwood._tables.csv_file import CsvForm

    sep = {"tab": "\t", "\\t": "\t"}.get(args.sep, args.sep)
    if sep is not None and len(sep) != 1:
        raise InputError(f"--sep must be one character or tab, found {sep!r}.")
    return CsvForm(sep, args.encoding, args.na)


def with_column_info(frame: Any, path: str | None) -> Any:
    """Table with the descriptions of its columns from a file."""
    if path is not None:
        from clearwood.cli.tables.columns_file import read_columns_file
        from clearwood.columns.feature_space import FeatureSpace

        info = read_columns_file(path)
        # Raises here if it is invalid, before anything that takes long.
        FeatureSpace.numeric(frame.shape[1], list(frame.columns)).with_info(info)
        frame.attrs["column_info"] = info
    return frame


def given(args: Any, *names: str) -> dict[str, Any]:
    """Options that are given, as parameters of an estimator."""
    options = {name: getattr(args, name) for name in names}
    return {name: value for name, value in options.items() if value is not None}


def search_settings(args: Any) -> dict[str, Any]:
    """Options of every search for rules, as parameters of an estimator."""
    return {
        "n_rules": args.n_rules,
        "max_rules": args.max_rules,
        "learn_from": args.learn_from,
        "exclude_features": args.exclude_features,
        "round_thresholds": not args.exact_thresholds,
        "n_jobs": args.n_jobs,
        "verbose": args.progress,
        **given(args, "min_samples_leaf"),
    }


# Models to explain


def check_files(args: Any) -> None:
    """Raise for contradictory options; without a model, choose one to train."""
    files = args.files
    is_model = files[0].lower().endswith(MODEL_FILES)
    if len(files) != (1 if args.train else 2) and (len(files) > 1 or is_model):
        verb = click.get_current_context().info_name
        raise click.UsageError(
            f"Give either a model file and a table, as in 'clearwood {verb} "
            "model.json data.csv', or one table; --train "
            f"{{{','.join(known.MODELS)}}} selects the ensemble to train on it."
        )
    if len(files) == 1 and not args.train:
        args.train = known.DEFAULT_MODEL
    args.data, args.large = files[-1], None
    trained = "--train; a model selects its columns by name"
    known.only_for(trained, args.train, "drop categories")
    if args.classes and args.train:
        raise click.UsageError("--classes is for a model file.")


def read_model_and_table(args: Any) -> tuple[Any, Any]:
    """Ensemble of a file, and the table encoded for it; of a large file a sample."""
    from clearwood._tables.target import split_target
    from clearwood.ensembles import read_ensemble

    path = args.files[0]
    ensemble = read_ensemble(path)
    if args.task not in ("auto", ensemble.task):
        raise InputError(f"{path} is for {ensemble.task}, not for {args.task}.")
    for note in ensemble.notes:
        args.log(f"note: {note}")
    with plain_warnings(args.log):
        frame = (
            args.large.sample.X
            if args.large
            else read_table_for(ensemble, args, target=args.target, task=ensemble.task)
        )
    frame = with_column_info(frame, args.column_info)
    table = _with_groups(split_target(frame, args.target, ensemble.task), args)
    if args.classes:
        # As in the table: 1 where its labels are numbers, "1" where they are text.
        ensemble = with_classes(ensemble, args.classes, set(table.y.tolist()))
    return ensemble, table


def with_classes(ensemble: Any, names: list[str], labels: Collection[Any]) -> Any:
    """Ensemble with the classes of ``--classes``, typed as these labels."""
    written = {str(label): label for label in labels}
    return ensemble.with_classes([written.get(name, name) for name in names])


# Saved rules, and new rows


class NewRows(NamedTuple):
    """New rows for rules, with their target and the model, if known."""

    X: Any = None
    y: Any = None
    model: Any = None


def read_saved(path: str, *, several: bool = False) -> tuple[Any, Any]:
    """Content of a file written by ``--out`` or ``save``, and the rules in it.

    Rules for several targets are read if ``several``; else they raise an error.
    """
    from clearwood.persistence import load
    from clearwood.rules.rule_set import rules_of
    from clearwood.rules.several_targets import MultiOutputRules

    result = load(path)
    if isinstance(result, MultiOutputRules):
        if several:
            return result, result
        raise InputError(
            f"{path} has rules for several targets, {list(result.targets)}; this "
            "command reads those of one. In Python, save one of them: "
            f"load(path)[{result.targets[0]!r}].save(other_path)."
        )
    return result, rules_of(result, path)


def read_rows(rules: Any, args: Any) -> Any:
    """Rows of a file, encoded for rules."""
    return read_table_for(rules, args, required=rules.used_features)


def read_table_for(known: Any, args: Any, **settings: Any) -> Any:
    """Rows of a file with the column types of a model or of rules."""
    from clearwood.cli.tables.reading import read_table_of

    return read_table_of(known.features, args.data, form=csv_form(args), **settings)


def read_new_rows(rules: Any, args: Any) -> NewRows:
    """Rows to evaluate rules against the target in the table, or a model.

    The target is the named column, or else that of the rules, if the table has it; or
    survival times.
    """
    from clearwood._tables.target import target_as_labels

    if rules.outcome.horizons:
        return NewRows(*read_survival(rules, args))
    is_effect = rules.task == "effect"
    treatment = getattr(args, "treatment", None)
    if args.classes and args.model is None:
        raise click.UsageError("--classes is for a --model file.")
    model = None if args.model is None else _read_model_of(rules, args)
    target = args.target or rules.target
    frame = read_table_for(
        model or rules,
        args,
        required=None if model or treatment else rules.used_features,
        target=target,
        task="regression" if treatment else rules.task,
    )
    if args.target is None and target not in frame:
        return NewRows(frame, None, model)
    X = frame.drop(columns=target, errors="ignore")
    if is_effect and treatment is None:
        if args.target is not None:
            raise InputError(
                "--target is an outcome, but these rules predict effects of a "
                "treatment; name the column of treatments, too (--treatment), or "
                "leave --target out."
            )
        return NewRows(X, None, model)
    y = target_as_labels(rules, frame, target)
    if is_effect:
        from clearwood.cli.estimates import scores_of

        X, y = scores_of(X, y, args)
    return NewRows(X, y, model)


def read_survival(rules: Any, args: Any) -> tuple[Any, Any]:
    """Rows of a file, encoded for rules, and their survival times, if named."""
    frame = read_rows(rules, args)
    named = [name for name in (args.time, args.event) if name is not None]
    if len(named) == 1:
        raise click.UsageError("Give both --time and --event.")
    if not named:
        return frame, None
    check_complete(frame, named)
    return frame, survival_times(frame, args)


def check_complete(frame: Any, named: list[str]) -> None:
    """Raise unless a table has these columns, without empty cells."""
    absent = [name for name in named if name not in frame]
    if absent:
        raise InputError(
            f"The table has no column {absent[0]!r}; it has {list(frame.columns)}."
        )
    empty = [name for name in named if frame[name].isna().any()]
    if empty:
        raise InputError(
            f"The column {empty[0]!r} has empty cells; remove or complete these rows."
        )


def survival_times(frame: Any, args: Any) -> Any:
    """Survival times in two columns of a table."""
    import numpy as np

    from clearwood.outcomes.survival import MOST_CAUSES

    event = frame[args.event]
    known = event.isin(range(MOST_CAUSES + 1))
    if not known.all():
        raise InputError(
            f"The column {args.event!r} (--event) holds "
            f"{event[~known].tolist()[0]!r}; expected 1 or true for an event, and 0 or "
            "false for a censored row; of several causes of events, 1 to at most "
            f"{MOST_CAUSES}."
        )
    if frame[args.time].dtype.kind not in "iuf":
        raise InputError(f"The column {args.time!r} (--time) holds other than numbers.")
    # A column named "cause" holds causes of events, even if no row is censored.
    name = "cause" if args.event == "cause" else "event"
    y = np.empty(len(frame), [(name, np.int64), ("time", np.float64)])
    y[name], y["time"] = event, frame[args.time]
    return y


def _read_model_of(rules: Any, args: Any) -> Any:
    """Ensemble of a file, with classes named as in the rules."""
    from clearwood.ensembles import read_ensemble

    path = args.model
    model = read_ensemble(path)
    if model.task != rules.task:
        raise InputError(
            f"{path} is for {model.task}, and the rules are for {rules.task}; pass the "
            "model that they approximate."
        )
    labels = [] if model.classes is None else list(model.classes)
    theirs = list(rules.classes)
    if args.classes:
        return with_classes(model, args.classes, theirs)
    if set(labels) == set(theirs) or len(labels) != len(theirs):
        return model
    args.log(
        f"note: the classes of {path} are matched to those of the rules in order: "
        f"{', '.join(f'{a} for {b}' for a, b in zip(labels, theirs))} (otherwise: "
        "--classes)"
    )
    return model.with_classes(theirs)


def numbered_row(frame: Any, args: Any) -> Any:
    """Row with the number of ``--row``, from 1."""
    if args.row > len(frame):
        raise InputError(
            f"--row is {args.row}, but {args.data} has {len(frame)} row(s)."
        )
    return frame.iloc[[args.row - 1]]


def row_names(frame: Any, id_column: str, taken: Collection[str]) -> list[Any]:
    """Row names from a column, if the result does not have it already."""
    if id_column not in frame.columns or id_column in taken:
        raise InputError(
            f"--id is {id_column!r}, which is not in the table, or already a column of "
            f"the result; the table has {list(frame.columns)}."
        )
    cells = [None if cell != cell else cell for cell in frame[id_column].tolist()]
    return [cell if isinstance(cell, PLAIN) else str(cell) for cell in cells]
