"""Any model as a teacher: what it says, asked through its own ``predict``.

What has no trees that can be read is asked about rows. Its questions come from
elsewhere: from trees inside it where it has some, else rules choose cuts of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any, Literal

import numpy as np

from clearwood.columns.cells import UNSEEN, unmasked
from clearwood.columns.dates import as_times
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.info import ColumnInfo
from clearwood.columns.schema import features_of
from clearwood.columns.sparse_tables import is_sparse
from clearwood.ensembles.flat_trees import NumericSplits, Splits
from clearwood.ensembles.own_predictions import IN_A_PIPELINE
from clearwood.ensembles.statistics import objective_of, statistic_of
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import InputError, ModelError

NO_SPLITS = Splits(
    NumericSplits(*(np.zeros(0, kind) for kind in (int, int, float, bool))), ()
)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AnyModel:
    """A model that is asked as it stands, where a ``TreeEnsemble`` would be read.

    Make one with :func:`ask_model`.

    Parameters
    ----------
    model : object or callable
        Fitted.
    features : FeatureSpace
        The columns of the table that it was first asked about.
    blank : ndarray or frame
        No rows of that table: what tables are made like.
    cells : tuple of (None or frame)
        Per column of categories a row for each, as it stands in the table.
    task : {"regression", "classification"}
    classes : ndarray or None
        Class labels, in the order of the probabilities.
    by : {"predict_proba", "predict", "call"}
        What is asked.
    questions : Splits
        What rules may ask.
    where_from : str
        Where the questions come from, in words.
    source : str
        The class of the model.
    objective : str
        What it was fitted by, where that is known.
    """

    model: Any
    features: FeatureSpace
    blank: Any
    cells: tuple[Any, ...]
    task: Literal["regression", "classification"]
    classes: np.ndarray | None
    by: Literal["predict_proba", "predict", "call"]
    questions: Splits = NO_SPLITS
    where_from: str = ""
    source: str
    link: str = "probability"
    objective: str = ""

    @property
    def description(self) -> str:
        """What it is, on pages."""
        return f"{self.source}, asked as it stands"

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.features.n_features

    @property
    def feature(self) -> np.ndarray:
        """Columns that its answers may depend on: all, as nobody knows better."""
        return np.arange(self.n_features)

    @property
    def statistic(self) -> str:
        """Which statistic of the target it predicts; empty for the mean or classes."""
        return "" if self.classes is not None else statistic_of(self.objective)

    @property
    def asked(self) -> np.ndarray:
        """Features that the questions are about, ascending."""
        by_set = [split.feature for split in self.questions.categorical]
        return np.unique(np.append(self.questions.numeric.feature, by_set)).astype(int)

    def splits(self) -> Splits:
        """All questions that rules may ask."""
        return self.questions

    def with_questions(self, questions: Splits, where_from: str) -> AnyModel:
        """The same with other questions."""
        return replace(self, questions=questions, where_from=where_from)

    def with_classes(self, classes: Sequence[Any]) -> AnyModel:
        """The same with other labels for the classes, in the same order."""
        if self.classes is None or len(classes) != len(self.classes):
            raise InputError(f"Found the classes {list(classes)}; {self!r} has others.")
        return replace(self, classes=np.array(classes))

    def as_in(self, X: Any) -> AnyModel:
        """Itself: its columns are called as in its table."""
        return self

    def __repr__(self) -> str:
        return f"<AnyModel: {self.task}, features: {self.n_features}, {self.source}>"

    # What it says

    def predict(self, X: Any) -> np.ndarray:
        """Class labels or values, as the model itself gives them."""
        said = self._said(self._columns(X))
        return said if self.classes is None else self.classes[said.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities; of a model that says labels only, 0 and 1."""
        if self.classes is None:
            raise InputError(f"{self.source} says values; use predict.")
        return self._said(self._columns(X))

    def encode(self, X: Any) -> np.ndarray:
        """The rows as float64 codes."""
        return self.features.encode(X)

    def answers_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """Class probabilities, or values, for rows that :meth:`encode` made."""
        return self._said(self.decode(encoded))

    def _said(self, X: Any) -> np.ndarray:
        if self.by == "predict_proba":
            said = _numbers(self.model.predict_proba(X))
        elif self.by == "call":
            said = _numbers(self.model(X))
        elif self.classes is None:
            said = _numbers(self.model.predict(X))
        else:
            labels = np.asarray(self.model.predict(X))
            said = (labels.reshape(len(labels), -1, 1) == self.classes) * 1.0
            said = said[:, 0] if said.shape[1] == 1 else said
        if said.shape[1:] == (1,):
            said = said[:, 0]
        if self.classes is not None and said.ndim == 1:
            # Of two classes a network tells the second one's probability.
            said = np.column_stack([1 - said, said])
        expected = () if self.classes is None else (len(self.classes),)
        if said.shape != (X.shape[0], *expected) or not np.isfinite(said).all():
            raise InputError(
                f"{self.source} says numbers of shape {said.shape}, or some that are "
                "not finite; expected one finite number per row, or one per row and "
                "class. Of several numbers hand in one: a function of the table that "
                "gives it, such as lambda X: model.predict(X)[:, 0]."
            )
        return said

    # Tables as it knows them

    def _columns(self, X: Any) -> Any:
        """The columns it was first asked about, where a frame has more."""
        if not is_frame(X):
            # An array of numbers, where the model knows a frame.
            return self.decode(self.encode(X)) if is_frame(self.blank) else unmasked(X)
        import narwhals as nw

        names = list(self.blank.columns) if is_frame(self.blank) else list(X.columns)
        return nw.from_native(X, eager_only=True).select(names).to_native()

    def decode(self, encoded: np.ndarray) -> Any:
        """Rows that :meth:`encode` made as a table like the first one."""
        if not is_frame(self.blank):
            return encoded
        import narwhals as nw

        blank = nw.from_native(self.blank, eager_only=True)
        columns = []
        for d, name in enumerate(blank.columns):
            column, kind = encoded[:, d], blank.schema[name]
            if self.features.info[d].is_time:
                info = self.features.info[d]
                columns.append(_column_of_times(name, column, kind, info, blank))
                continue
            if self.features.info[d].kind == "boolean" and np.isnan(column).any():
                columns.append(_column_of_flags(column, blank.get_column(name)))
                continue
            if self.cells[d] is None:
                columns.append(_column_of_numbers(name, column, kind, blank))
                continue
            n_labels = len(self.features.categories[d] or ())
            rows = np.where(np.isnan(column), n_labels, column).astype(np.int64)
            known = nw.from_native(self.cells[d], eager_only=True)
            if (column == UNSEEN).any() or rows.max(initial=0) >= len(known):
                raise InputError(
                    f"Column {name!r} holds a category, or a gap, that was not there "
                    f"when {self.source} was first asked; hand in the table whole."
                )
            columns.append(known[name][rows.tolist()])
        return nw.concat([c.to_frame() for c in columns], how="horizontal").to_native()


def _numbers(said: Any) -> np.ndarray:
    """Answers as an array, also of a network's tensor."""
    if hasattr(said, "detach"):
        said = said.detach().cpu()
    return np.asarray(said, dtype=np.float64)


def _column_of_numbers(name: str, column: np.ndarray, kind: Any, blank: Any) -> Any:
    """Numbers in the column's own type, where that loses nothing."""
    import narwhals as nw

    made = nw.new_series(name, column, nw.Float64(), backend=blank.implementation)
    whole = bool(np.isfinite(column).all() and (column == np.round(column)).all())
    exact = kind.is_integer() or kind == nw.Boolean
    return made.cast(kind) if (whole and exact) or kind == nw.Float32 else made


def _column_of_flags(column: np.ndarray, own: Any) -> Any:
    """Booleans, some of them missing, in the type of the column that they stand for."""
    import narwhals as nw

    cells = [None if np.isnan(cell) else bool(cell) for cell in column]
    made = nw.new_series(own.name, cells, backend=own.implementation)
    if made.dtype == own.dtype:
        return made
    kind = own.to_native().dtype  # of pandas, which has several that hold them
    return nw.from_native(made.to_native().astype(kind), series_only=True)


def _column_of_times(
    name: str, days: np.ndarray, kind: Any, info: ColumnInfo, blank: Any
) -> Any:
    """Dates, points in time or durations in the column's own type and zone."""
    import narwhals as nw

    times = as_times(days)
    if info.kind == "duration":
        times = times - np.datetime64(0, "us")
    if not kind.is_temporal():
        # Objects of Python, which know days from points in time.
        whole = info.kind == "date" and not info.is_zoned
        cells = times.astype("M8[D]" if whole else times.dtype)
        objects = cells.astype(object)  # None where there is none
        if info.is_zoned:
            objects = np.array([t and t.replace(tzinfo=UTC) for t in objects], object)
        kind = nw.Object()
        return nw.new_series(name, objects, kind, backend=blank.implementation)
    made = nw.new_series(name, times, backend=blank.implementation)
    zone = getattr(kind, "time_zone", None)
    if zone:
        made = made.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    return made.cast(kind)


def predicts(model: Any) -> bool:
    """Whether an object can be asked about rows, if need be after a fit."""
    if isinstance(model, type):
        return False
    return hasattr(model, "predict") or hasattr(model, "fit") or callable(model)


def task_of(model: Any, X: Any = None) -> Literal["regression", "classification"]:
    """Whether a model, fitted or not, says classes or values.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> task_of(RidgeClassifier()), task_of(lambda X: X.sum(axis=1), np.ones((2, 3)))
    ('classification', 'regression')
    """
    from sklearn.base import is_classifier

    if isinstance(model, TreeEnsemble | AnyModel):
        return model.task
    if hasattr(model, "predict"):
        try:
            by_tag = is_classifier(model)
        except (AttributeError, TypeError):  # not of scikit-learn's kind
            by_tag = False
        # A regressor of CatBoost has classes too: none.
        named = len(getattr(model, "classes_", ())) > 0
        says = by_tag or hasattr(model, "predict_proba") or named
        return "classification" if says else "regression"
    said = np.asarray(_detached(model(X)))
    return "classification" if said.ndim == 2 and said.shape[1] > 1 else "regression"


def _detached(said: Any) -> Any:
    return said.detach().cpu() if hasattr(said, "detach") else said


def said_by(teacher: Any, X: Any, classes: Sequence[Any]) -> Any:
    """Labels or values that a teacher says of rows.

    Parameters
    ----------
    teacher : object with ``predict``, callable or array-like
        A callable gives labels or values; or probabilities, a column per class, of two
        classes that of the second alone. What is none of them has said it already.
    X : ndarray or frame
    classes : sequence
        Labels in the order of the probabilities; empty for values.

    Examples
    --------
    >>> said_by(lambda X: X[:, 0] / 10, np.array([[1.0], [9.0]]), ["no", "yes"])
    array(['no', 'yes'], dtype='<U3')
    """
    from clearwood.ensembles.read import needs_fit

    if isinstance(teacher, type) or (hasattr(teacher, "fit") and needs_fit(teacher)):
        name = teacher.__name__ if isinstance(teacher, type) else _name_of(teacher)
        raise ModelError(
            f"The teacher {name} is not fitted; hand in the model that the rules speak "
            "for, after its fit(X, y)."
        )
    if hasattr(teacher, "predict"):
        return teacher.predict(X)
    if not callable(teacher):
        return teacher
    said = np.asarray(_detached(teacher(X)))
    if said.ndim == 2 and said.shape[1] == 1:
        said = said[:, 0]
    if not len(classes) or said.dtype.kind != "f":
        return said
    if said.ndim == 1 and len(classes) == 2 and not np.isin(said, classes).all():
        said = np.column_stack([1 - said, said])
    if said.shape[1:] == (len(classes),):
        return np.array(classes)[said.argmax(axis=1)]
    return said


def ask_model(model: Any, X: Any, y: np.ndarray | None, task: str) -> AnyModel:
    """A model that is asked as it stands, about rows like those of a table.

    Parameters
    ----------
    model : object with ``predict``, or callable
        Fitted. A callable gives a value per row, or a probability per row and class,
        the classes in order.
    X : ndarray or frame
        All rows: what categories there are.
    y : ndarray, optional
        Names the classes of what does not name them itself.
    task : {"regression", "classification"}

    Returns
    -------
    AnyModel
        Without questions.

    Raises
    ------
    ModelError
        It cannot be asked.
    """
    features = features_of(X, learned=True)
    made = AnyModel(
        model=model,
        features=features,
        blank=X[:0],
        cells=_known_cells(X, features),
        task=task,  # type: ignore[arg-type]
        classes=_classes_of(model, X, y) if task == "classification" else None,
        by="predict" if hasattr(model, "predict") else "call",
        source=_name_of(model),
        objective=objective_of(model),
    )
    try:
        if made.classes is not None and hasattr(model, "predict_proba"):
            sure = replace(made, by="predict_proba")
            # A threshold of its own may decide otherwise than the probabilities.
            if np.array_equal(sure.predict(X), made.predict(X)):
                made = sure
        again = X if is_sparse(X) else made.decode(made.encode(X))
        said = made._said(again)
        same = np.allclose(said, made._said(X), rtol=1e-6, atol=1e-9)
    except Exception as error:  # Whatever a foreign object raises.
        raise ModelError(
            f"Cannot ask {made.source} about these rows: {' '.join(str(error).split())}"
        ) from error
    if not same:
        raise ModelError(
            f"{made.source} says something else of the same rows when it is asked "
            "again, or after they were read as numbers and categories; it cannot teach."
        )
    return made


def _name_of(model: Any) -> str:
    if hasattr(model, "steps"):
        return _name_of(model.steps[-1][1]) + IN_A_PIPELINE
    kind = type(model)
    if hasattr(model, "predict"):
        return f"{kind.__module__.partition('._')[0]}.{kind.__qualname__}"
    inner = model.func if isinstance(model, functools.partial) else model
    return str(getattr(inner, "__name__", kind.__qualname__)).strip("<>")


def _classes_of(model: Any, X: Any, y: np.ndarray | None) -> np.ndarray:
    known = getattr(model, "classes_", None)
    if known is not None:
        return np.asarray(known)
    if y is not None:
        return np.unique(y)
    ask: Callable[[Any], Any] = getattr(model, "predict_proba", model)
    said = np.asarray(_detached(ask(X))) if callable(ask) else np.zeros((0, 2))
    return np.arange(said.shape[1] if said.ndim == 2 else 2)


def _known_cells(X: Any, features: FeatureSpace) -> tuple[Any, ...]:
    """Per column of categories a frame of one cell of each, and of a gap if any."""
    if not is_frame(X) or is_sparse(X):
        return (None,) * features.n_features
    import narwhals as nw

    frame, encoded = nw.from_native(X, eager_only=True), features.encode(X)
    cells: list[Any] = []
    for name, labels, column in zip(frame.columns, features.categories, encoded.T):
        if labels is None:
            cells.append(None)
            continue
        column = np.where(np.isnan(column), len(labels), column)
        rows = np.unique(column, return_index=True)[1]
        cells.append(frame.select(name)[rows.tolist()].to_native())
    return tuple(cells)
