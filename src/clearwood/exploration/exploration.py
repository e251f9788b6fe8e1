"""Result of an exploration: overview, models, the recommended one, and anomalies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from clearwood._words.labels import printable
from clearwood._words.numbers import percent_text, rounded_text, short_text
from clearwood._words.sentences import sentences
from clearwood.exceptions import InputError
from clearwood.exploration.contenders import BOOSTING
from clearwood.exploration.contest import N_FOLDS, Entry, HeldOutScores, Task, choose
from clearwood.exploration.untidy import Reading, read_any
from clearwood.results import Result
from clearwood.rules.rule import wrapped

MOST_ANOMALIES = 5
"""Maximum number of printed anomalies."""

FEW_ROWS = 200
"""Rows below which scores are rough."""

CLEAR = 2.0
"""Standard errors from which a difference is beyond chance."""


@dataclass(frozen=True, eq=False, repr=False)
class Exploration(Result):
    """Result of :func:`clearwood.explore`; ``print`` shows it.

    Attributes
    ----------
    n_rows, n_duplicates, sampled : int
        Numbers of rows, of those equal to an earlier one, and of the sample that models
        were fitted to; 0 if they were fitted to all rows.
    columns : DataFrame
        Type, missing share, number of distinct values and values of each column.
    notes : tuple of str
        What was converted, set aside or left out.
    target, task, reason : str
        Column to predict, its task and why; empty without models.
    data : Task or None
        The rows that models were fitted to, and the folds.
    entries : tuple of Entry
        The models, with their scores on held-out rows.
    density : MiniSPN or None
        Density of all columns, with clusters of rows.
    anomalies : list of dict
        Improbable rows and entries.
    lines : tuple of str
        Python code and the command that repeat the exploration.
    readings : mapping of str to Reading
        How each column that models use is read.
    table : DataFrame
        The rows as read, without columns that are set aside.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clearwood import explore
    >>> table = load_iris(as_frame=True).frame.iloc[:100, 2:]
    >>> found = explore(table, target="target", seconds=1, random_state=0)
    >>> found.best.predict(found.read(table[:2]))
    array([0, 0])
    """

    n_rows: int
    n_duplicates: int
    sampled: int
    columns: pd.DataFrame
    notes: tuple[str, ...]
    lines: tuple[str, ...]
    readings: dict[str, Reading]
    table: pd.DataFrame
    target: str = ""
    task: str = ""
    reason: str = ""
    data: Task | None = None
    entries: tuple[Entry, ...] = ()
    density: Any = None
    anomalies: Sequence[dict[str, Any]] = ()

    @property
    def missing(self) -> float:
        """Share of missing cells."""
        return float(self.columns["missing"].mean())

    @property
    def choice(self) -> tuple[Entry, Entry, int] | None:
        """Recommended model, scores of such a choice, and number of folds with it."""
        return choose(self.data, self.entries) if self.data else None

    @property
    def best(self) -> Any:
        """The recommended model, fitted to all rows; None if there is none."""
        return self.choice[0].fitted if self.choice else None

    def read(self, table: Any) -> pd.DataFrame:
        """New rows as models read them: parsed, with the columns that are used.

        Parameters
        ----------
        table : frame, path
            As in :func:`clearwood.explore`; without the target, too.

        Returns
        -------
        DataFrame

        Raises
        ------
        InputError
            A column that models use is absent.
        """
        frame = read_any(table)
        absent = [name for name in self.readings if name not in frame]
        if absent:
            raise InputError(
                f"The table has no column {absent[0]!r}; it has {list(frame)}."
            )
        read = {name: self.readings[name].read(frame[name]) for name in self.readings}
        return pd.DataFrame(read, index=frame.index)

    def to_frame(self) -> pd.DataFrame:
        """Models, the best on held-out rows first; without models the columns.

        Returns
        -------
        DataFrame
            Columns ``model``, ``log_loss`` or ``rmse`` with its standard error, ``auc``
            and ``accuracy`` for classes, ``size``, ``seconds`` and ``recommended``.
        """
        best = self.choice[0] if self.choice else None
        loss = "log_loss" if self.task == "classification" else "rmse"
        lines = [
            {
                "model": entry.contender.name,
                **_renamed(entry.scores, loss),
                "size": entry.size,
                "seconds": entry.seconds,
                "recommended": entry is best,
            }
            for entry in sorted(self.entries, key=lambda entry: entry.losses.mean())
        ]
        return pd.DataFrame(lines).dropna(axis=1, how="all") if lines else self.columns

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        best = self.choice[0] if self.choice else None
        of_best = None if best is None else best.contender.text(best.fitted)
        return {
            "rows": self.n_rows,
            "duplicates": self.n_duplicates,
            "target": self.target or None,
            "task": self.task or None,
            "notes": list(self.notes),
            "columns": self.columns.to_dict("records"),
            "models": json.loads(self.to_frame().to_json(orient="records"))
            if self.entries
            else [],
            "recommended": of_best,
            "caveats": self.caveats(),
            "anomalies": list(self.anomalies),
            "repeat": list(self.lines),
        }

    def caveats(self) -> list[str]:
        """Sentences on the recommended model: how good it is, and in what it is not."""
        if not self.choice or self.data is None:
            return []
        best, chosen, n_same = self.choice
        by_name = {entry.contender.name: entry for entry in self.entries}
        others = [
            f"{entry.contender.name} ({scores_text(entry.scores, self.task)})"
            for entry in self.entries
            if not entry.contender.parts
            and entry.fitted is not None
            and entry.contender.name != BOOSTING
            and entry.contender.is_held_out
            and _difference(chosen, entry)["is_clear"]
        ]
        return sentences(
            "exploration/caveats.txt",
            name=best.contender.name,
            size=f"{best.size:.0f}",
            parts=best.contender.parts,
            n_same=n_same,
            n_folds=N_FOLDS,
            scores=scores_text(chosen.scores, self.task),
            loss_name=LOSS_NAMES[self.task][1],
            gain_of_boosting=_difference(chosen, by_name.get(BOOSTING, chosen)),
            gain_over_boosting=_difference(by_name.get(BOOSTING, chosen), chosen),
            gain_over_constant=_difference(by_name["constant"], chosen),
            others=others,
            all_held_out=all(entry.contender.is_held_out for entry in self.entries),
            target=printable(self.target),
            n_rows=len(self.data.y),
            few=FEW_ROWS,
        )

    def __str__(self) -> str:
        lines = [wrapped(text) for text in self.heading()]
        lines += ["", *aligned(columns_lines(self.columns), left=(0, 1, 4))]
        if self.choice:
            entry = self.choice[0]
            lines += [
                "",
                f"Models on held-out rows ({N_FOLDS} folds; ± standard error):",
            ]
            lines += aligned(model_lines(self), left=(0,))
            lines += ["", *map(wrapped, self.caveats())]
            lines += ["", entry.contender.text(entry.fitted)]
        if self.density is not None:
            lines += ["", str(self.density.circuit_)]
        if self.anomalies:
            lines += ["", "Anomalies: the least probable rows (counted from 0):"]
            lines += [wrapped(text) for text in anomaly_lines(self.anomalies)]
        return "\n".join([*lines, "", "To repeat:", *(f"    {x}" for x in self.lines)])

    def heading(self) -> list[str]:
        """Sentences on the table, and what was converted, set aside or left out."""
        return [*sentences("exploration/exploration.txt", found=self), *self.notes]


LOSS_NAMES = {
    "classification": ("log loss", "log loss"),
    "regression": ("RMSE", "squared error"),
}
"""By task: the score, and the loss per row."""


def _renamed(scores: HeldOutScores, loss: str) -> dict[str, float]:
    numbers = scores._asdict()
    return {name.replace("loss", loss, 1): value for name, value in numbers.items()}


def _difference(worse: Entry, better: Entry) -> dict[str, Any]:
    """By how much the loss of one model is lower, and whether beyond chance."""
    gains = worse.losses - better.losses
    mean, error = float(gains.mean()), float(gains.std() / np.sqrt(len(gains)))
    return {"text": with_error(mean, error), "is_clear": mean > CLEAR * error}


def with_error(value: float, error: float) -> str:
    """A number and its standard error, both rounded to the precision of the latter.

    Examples
    --------
    >>> with_error(0.39512, 0.0061)
    '0.3951 ± 0.0061'
    """
    if np.isnan(value):
        return ""
    return f"{rounded_text(value, error)} ± {rounded_text(error, error)}"


def scores_text(scores: HeldOutScores, task: str) -> str:
    """HeldOutScores in a sentence."""
    parts = [f"{LOSS_NAMES[task][0]} {with_error(scores.loss, scores.loss_error)}"]
    if not np.isnan(scores.auc):
        parts.append(f"AUC {with_error(scores.auc, scores.auc_error)}")
    elif not np.isnan(scores.accuracy):
        parts.append(f"accuracy {percent_text(scores.accuracy)}")
    return ", ".join(parts)


def columns_lines(columns: pd.DataFrame) -> list[list[str]]:
    """The table of columns as text."""
    body = [
        [
            printable(line.column),
            line.type,
            percent_text(line.missing) if line.missing > 0 else "",
            f"{line.distinct:,}",
            printable(line.values),
        ]
        for line in columns.itertuples()
    ]
    return [["column", "type", "missing", "distinct", "values"], *body]


def model_lines(found: Exploration) -> list[list[str]]:
    """The table of models as text; a star marks the recommended one."""
    best = found.choice[0] if found.choice else None
    is_pair = any(not np.isnan(entry.scores.auc) for entry in found.entries)
    second = "AUC" if is_pair else "accuracy"
    rows = [["model", LOSS_NAMES[found.task][0], second, "size", "seconds"]]
    for entry in sorted(found.entries, key=lambda entry: entry.losses.mean()):
        scores, parts = entry.scores, entry.contender.parts
        auc = with_error(scores.auc, scores.auc_error)
        if second == "accuracy":
            auc = "" if np.isnan(scores.accuracy) else percent_text(scores.accuracy)
        rows.append(
            [
                f"{'*' if entry is best else ' '} {entry.contender.name}",
                with_error(scores.loss, scores.loss_error),
                auc,
                f"{entry.size:.0f} {parts}" if parts else "",
                short_text(entry.seconds, 2) if entry.fitted is not None else "",
            ]
        )
    if found.task == "regression":
        rows = [[*row[:2], *row[3:]] for row in rows]
    return rows


def anomaly_lines(anomalies: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each of the first anomalies, with the reasons."""
    return [
        f"row {one['row']}: "
        + (
            "; ".join(
                f"{entry['column']} is {entry['found']} (expected: {entry['expected']})"
                for entry in one["because"]
            )
            or "no single entry, but their combination"
        )
        for one in anomalies[:MOST_ANOMALIES]
    ]


def aligned(rows: Sequence[Sequence[str]], left: Sequence[int]) -> list[str]:
    """Rows as aligned text; columns ``left`` are left-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
