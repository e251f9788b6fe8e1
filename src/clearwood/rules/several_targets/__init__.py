"""One rule list for several numeric targets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood import codec
from clearwood._html.disclosure import FEW, MIN_ROWS, OfRows
from clearwood._words.labels import prediction_text, printable, type_text
from clearwood._words.numbers import r2_text, short_text
from clearwood.codec.documents import Place
from clearwood.codec.files import check_version
from clearwood.columns.cells import unwrapped
from clearwood.ensembles.black_box import predict_with, predicts
from clearwood.ensembles.read import as_predictor
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.results import Result
from clearwood.rules.rule import MOST_CATEGORIES, wrapped
from clearwood.rules.rule_kinds import RuleList
from clearwood.rules.scores import RuleScores
from clearwood.rules.serialise import RULES, Storable

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "clearwood.multi_output_rules"
VERSION = 1

WITHHELD = f"Statistics of fewer than {MIN_ROWS} rows are withheld."


@dataclass(frozen=True, eq=False, repr=False)
class MultiOutputRules(Storable, Result):
    """Rule list each rule of which predicts several numeric targets.

    It has one :class:`~clearwood.RuleList` per target, all with the same conditions.
    ``rules["target"]`` returns that list, for whatever needs the rules of one target,
    such as :func:`~clearwood.monitor` or :meth:`~clearwood.RuleList.to_onnx`; iteration
    is over the names of the targets.

    Attributes
    ----------
    lists : tuple of RuleList
        One per target.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
    >>> features = FeatureSpace(("height",), (None,))
    >>> heating, cooling = (
    ...     RuleList((Rule((Interval(0, low=5.25),), high),), Rule((), low), features,
    ...         target=name)
    ...     for name, low, high in (("heating", 13.0, 31.0), ("cooling", 16.0, 33.0)))
    >>> rules = MultiOutputRules((heating, cooling))
    >>> print(rules)
    1. if height > 5.25
       then heating 31, cooling 33
    2. otherwise heating 13, cooling 16
    >>> rules.predict([[7.0]])
    array([[31., 33.]])
    >>> rules["cooling"].predict([[7.0]])
    array([33.])
    """

    lists: tuple[RuleList, ...]
    _page_title = "Rules for several targets"

    def __post_init__(self) -> None:
        if not self.lists:
            raise InputError(
                "MultiOutputRules needs a RuleList per target, found none."
            )
        first, names = self.lists[0], self.targets
        if len(set(names)) < len(names):
            raise InputError(
                f"The targets are {names}; give each a name of its own (with_target)."
            )
        for one in self.lists:
            if not isinstance(one, RuleList) or one.task != "regression":
                raise InputError(
                    f"The rules of {one.target!r} are {type_text(one)} for {one.task}; "
                    "expected a RuleList for regression. Keep other rules apart."
                )
            conditions = [rule.conditions for rule in one]
            if one.features != first.features or conditions != [
                rule.conditions for rule in first
            ]:
                raise InputError(
                    f"The rules of {one.target!r} differ from those of "
                    f"{first.target!r} in columns or conditions; all targets have the "
                    "same. Keep the two lists apart."
                )

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the targets."""
        return tuple(one.target for one in self.lists)

    @property
    def n_rules(self) -> int:
        """Number of rules printed, the default rule included."""
        return self.lists[0].n_rules

    @property
    def features(self) -> Any:
        """Columns of the data."""
        return self.lists[0].features

    @property
    def rules_(self) -> Any:
        """Raises an error: what reads the rules of an estimator needs one target."""
        raise InputError(
            f"These rules predict several targets, {list(self.targets)}; pass those of "
            f"one of them, such as rules[{self.targets[0]!r}]."
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(RuleList, name):
            raise AttributeError(f"MultiOutputRules have no {name!r}.")
        raise AttributeError(
            f"{name} is for the rules of one target; use "
            f"rules[{self.targets[0]!r}].{name}."
        )

    def __len__(self) -> int:
        return len(self.lists)

    def __iter__(self) -> Iterator[str]:
        return iter(self.targets)

    def __contains__(self, target: object) -> bool:
        return target in self.targets

    def __getitem__(self, target: str) -> RuleList:
        if target not in self.targets:
            raise InputError(
                f"There is no target {target!r}; the targets are {list(self.targets)}."
            )
        return self.lists[self.targets.index(target)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MultiOutputRules) and self.lists == other.lists

    def __hash__(self) -> int:
        return hash(self.lists)

    def with_columns(self, column_info: Any) -> MultiOutputRules:
        """Copy with display names; see :meth:`~clearwood.RuleSet.with_columns`."""
        lists = tuple(one.with_columns(column_info) for one in self.lists)
        return replace(self, lists=lists)

    def apply(self, X: Any) -> np.ndarray:
        """Rule that predicts each row; see :meth:`~clearwood.RuleSet.apply`."""
        return self.lists[0].apply(X)

    def predict(self, X: Any) -> np.ndarray:
        """Predict all targets with the printed rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_targets)
        """
        values = np.column_stack([one.predictions for one in self.lists])
        return values[self.apply(X)]

    def evaluate(
        self, X: Any, Y: Any = None, *, model: Any = None, groups: Any = None
    ) -> MultiOutputScores:
        """Score the rules of each target, see :meth:`~clearwood.RuleSet.evaluate`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        Y : array-like or frame of shape (n_samples, n_targets), optional
            True values, for ``error``. Columns of a frame are matched by name.
        model : model, callable, path, or array-like or frame like Y, optional
            The model that the rules approximate, its file, or its predictions, for
            ``fidelity``.
        groups : None
            Only for a ranking score, which is a single target.

        Returns
        -------
        MultiOutputScores
        """
        if groups is not None:
            raise InputError(
                "groups is for a ranking score, and these rules predict several "
                f"targets, {list(self.targets)}; leave groups out."
            )
        predicted = model
        if isinstance(model, str | Path) or predicts(model):
            # As in the fit, in the order of the columns, whatever their names.
            predicted = np.asarray(unwrapped(predict_with(as_predictor(model), X, ())))
        true, of_model = self._columns(Y, "Y"), self._columns(predicted, "the model")
        return MultiOutputScores(
            {
                one.target: one.evaluate(X, y, model=of_target)
                for one, y, of_target in zip(self.lists, true, of_model)
            }
        )

    def _columns(self, values: Any, name: str) -> list[Any]:
        """Values of each target; None for unknown ones."""
        if values is None:
            return [None] * len(self.lists)
        if hasattr(values, "columns"):
            labels = {str(label): label for label in values.columns}
            names = list(map(str, values.columns))
            if sorted(names) != sorted(self.targets):
                raise InputError(
                    f"{name} has the columns {names}; expected those of the targets, "
                    f"{list(self.targets)}. Select or rename columns, or pass an array "
                    "with the targets in this order."
                )
            return [np.asarray(values[labels[target]]) for target in self.targets]
        try:
            columns = np.asarray(unwrapped(values))
            found = f"the shape {columns.shape}"
        except ValueError:
            columns, found = np.empty(0), "rows of different lengths"
        if columns.shape[1:] != (len(self.lists),):
            raise InputError(
                f"{name} has {found}; expected an array or frame with a row per row of "
                f"X and a column per target, {list(self.targets)}."
            )
        return list(columns.T)

    # Text, tables and files

    def _told(self, place: int) -> str:
        """Predictions of a rule in words, with means for new rows, and its rows."""
        parts = [
            f"{printable(one.target)} {prediction_text(rule.prediction)}{mean}"
            for one, rule, mean in self._cells(place)
        ]
        known = self.lists[0][place].statistics
        rows = "" if math.isnan(known.rows) else f"  ({known.rows_text})"
        return f"{', '.join(parts)}{rows}"

    def _cells(self, place: int) -> list[tuple[RuleList, Any, str]]:
        """Per target its list, the rule, and the mean of true values in words."""
        found = []
        for one in self.lists:
            rule = list(one)[place]
            text = one.outcome.expected_text(rule.statistics)
            found.append((one, rule, f" (mean {text})" if text else ""))
        return found

    def __str__(self) -> str:
        first, lines = self.lists[0], []
        for place, rule in enumerate(first.rules):
            lines.append(f"{place + 1}. if {rule.text(self.features, MOST_CATEGORIES)}")
            lines.append(f"   then {self._told(place)}")
        last = f"{self.n_rules}. otherwise {self._told(self.n_rules - 1)}"
        return "\n".join(map(wrapped, [*lines, last]))

    def _page(self) -> tuple[str, dict[str, Any]]:
        lines: list[OfRows] = []
        n_rows: list[float] = []
        has_means = False
        for place, rule in enumerate(self.lists[0]):
            known, cells = rule.statistics, self._cells(place)
            has_means |= any(mean for *_, mean in cells)
            line = {
                "conditions": [c.text(self.features) for c in rule.conditions],
                "values": [prediction_text(own.prediction) for _, own, _ in cells],
                "means": [mean.strip(" ()") for *_, mean in cells],
                "rows": "" if math.isnan(known.rows) else known.rows_text,
            }
            withheld = line | {"means": [""] * len(cells), "rows": FEW}
            rows = known.rows, known.rows_assigned
            lines.append(OfRows(line, *rows, instead=withheld))
            n_rows += rows
        return "rules/several_targets/rule_table.html", {
            "targets": list(map(printable, self.targets)),
            "has_means": has_means,
            "withheld": OfRows("", *n_rows, instead=WITHHELD),
            "lines": lines,
        }

    def to_frame(self) -> pd.DataFrame:
        """Rules as a pandas frame, one row each.

        Returns
        -------
        DataFrame
            ``conditions``, ``n_literals`` and ``rows``; and per target the columns
            ``prediction``, ``expected``, ``low`` and ``high`` of
            :meth:`~clearwood.RuleSet.to_frame`, where known, followed by its name.
        """
        import pandas as pd

        frames = [one.to_frame() for one in self.lists]
        shared = frames[0].reindex(columns=["conditions", "n_literals", "rows"])
        parts = [
            frame.filter(["prediction", "expected", "low", "high"]).add_suffix(
                f" {target}"
            )
            for frame, target in zip(frames, self.targets)
        ]
        return pd.concat([shared.dropna(axis="columns", how="all"), *parts], axis=1)

    def to_sql(self, dialect: str = "standard", *, table: str | None = None) -> str:
        """Export the rules as SQL, see :meth:`~clearwood.RuleSet.to_sql`.

        Parameters
        ----------
        dialect : str
        table : str, optional
            Table to select from. Without it the text is a list of expressions, for use
            in a query.

        Returns
        -------
        str
            With a column per target, ``prediction`` followed by its name.
        """
        from clearwood.rules.exports.sql import outputs_to_sql

        return outputs_to_sql(self.lists, dialect, table=table)

    def _document(self) -> dict[str, Any]:
        from clearwood import __version__

        head = {"format": FORMAT, "version": VERSION, "clearwood": __version__}
        return head | {"lists": LISTS.write(self.lists)}

    @classmethod
    def _of_document(cls, top: Place) -> MultiOutputRules:
        where = top.where
        if top["format"].value != FORMAT:
            raise ModelFormatError(f"{where}: format: expected {FORMAT!r}.")
        check_version(top["version"].integer(), VERSION, where)
        top.only("format", "version", "clearwood", "date", "lists")
        try:
            return cls(LISTS.read(top["lists"]))
        except InputError as error:
            raise ModelFormatError(f"{where}: lists: {error}") from None


LISTS = codec.tuple_of(RULES)
"""The rule sets of all targets in a document."""


@dataclass(frozen=True, repr=False)
class MultiOutputScores(Result):
    """Scores of rules for several targets on one table of data.

    Attributes
    ----------
    scores : dict of str to RuleScores
        By target.

    Examples
    --------
    >>> one = RuleScores(0.08, 0.9, 1.0, 1.2, n_rules=4, n_literals=5)
    >>> scores = MultiOutputScores({"heating": one, "cooling": one})
    >>> print(scores)
    heating: error 0.08, fidelity 0.9
    cooling: error 0.08, fidelity 0.9
    mean fidelity 0.9
    """

    scores: dict[str, RuleScores]

    @property
    def fidelity(self) -> float:
        """Mean over the targets of the R2 with the model's predictions."""
        return float(np.mean([one.fidelity for one in self.scores.values()]))

    def __str__(self) -> str:
        lines = []
        for target, one in self.scores.items():
            both = ("error", one.error, short_text), ("fidelity", one.fidelity, r2_text)
            parts = [f"{n} {text(v, 4)}" for n, v, text in both if not math.isnan(v)]
            lines.append(f"{printable(target)}: {', '.join(parts) or 'unknown'}")
        if not math.isnan(self.fidelity):
            lines.append(f"mean fidelity {r2_text(self.fidelity, 4)}")
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """The scores, a row per target."""
        import pandas as pd

        rows = {target: one.as_dict() for target, one in self.scores.items()}
        return pd.DataFrame(rows).T.rename_axis("target")


def shapes_outputs(y: Any) -> bool:
    """Whether a target has several columns."""
    return len(np.shape(y)) == 2 and np.shape(y)[1] > 1


def names_of_targets(Y: Any, n_targets: int) -> tuple[str, ...]:
    """Column labels of targets, or y1, y2, ...

    Examples
    --------
    >>> names_of_targets(np.zeros((3, 2)), 2)
    ('y1', 'y2')
    """
    columns = getattr(Y, "columns", None)
    labels = range(1, n_targets + 1) if columns is None else columns
    return tuple(f"y{label}" if columns is None else str(label) for label in labels)
