"""Black-box models, used through their own predictions.

A model without readable trees only predicts for rows. Candidate splits come from trees
inside it where it has some; else rules choose thresholds of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from clearwood.columns.cells import unwrapped
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.like_table import TableLike
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

INEXACT = 0.01
"""Error of probabilities, and of their sum, that numbers of half precision may have."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BlackBox:
    """Black-box model, used through its predictions like a ``TreeEnsemble``.

    Make one with :func:`wrap_model`.

    Parameters
    ----------
    model : object or callable
        Fitted.
    like : TableLike
        The first table that it was applied to, as a template of others.
    task : {"regression", "classification"}
    classes : ndarray or None
        Class labels, in the order of the probabilities.
    by : {"predict_proba", "predict", "call"}
        Method that is called.
    questions : Splits
        Candidate splits of rules.
    split_source : str
        Origin of these splits, in words.
    source : str
        Class of the model.
    objective : str
        Training objective, if known.
    n_outputs : int
        Number of values per row; 0 for one that is not in a column.
    """

    model: Any
    like: TableLike
    task: Literal["regression", "classification"]
    classes: np.ndarray | None
    by: Literal["predict_proba", "predict", "call"]
    questions: Splits = NO_SPLITS
    split_source: str = ""
    source: str
    link: str = "probability"
    objective: str = ""
    n_outputs: int = 0

    @property
    def description(self) -> str:
        """Description of the model on pages."""
        return f"{self.source}, as a black box"

    @property
    def features(self) -> FeatureSpace:
        """Columns of the first table."""
        return self.like.features

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.features.n_features

    @property
    def feature(self) -> np.ndarray:
        """Columns that its predictions may depend on: all of them."""
        return np.arange(self.n_features)

    @property
    def statistic(self) -> str:
        """Statistic of the target that it predicts; empty for the mean or classes."""
        return "" if self.classes is not None else statistic_of(self.objective)

    @property
    def used_features(self) -> np.ndarray:
        """Features of the candidate splits, ascending."""
        by_set = [split.feature for split in self.questions.categorical]
        return np.unique(np.append(self.questions.numeric.feature, by_set)).astype(int)

    def splits(self) -> Splits:
        """All candidate splits of rules."""
        return self.questions

    def with_questions(self, questions: Splits, split_source: str) -> BlackBox:
        """Copy with other candidate splits."""
        return replace(self, questions=questions, split_source=split_source)

    def with_classes(self, classes: Sequence[Any]) -> BlackBox:
        """Copy with other class labels, in the same order."""
        if self.classes is None or len(classes) != len(self.classes):
            raise InputError(f"Found the classes {list(classes)}; {self!r} has others.")
        return replace(self, classes=np.array(classes))

    def as_in(self, X: Any) -> BlackBox:
        """Itself: its columns have the names of its table."""
        return self

    def __repr__(self) -> str:
        return f"<BlackBox: {self.task}, features: {self.n_features}, {self.source}>"

    # Predictions

    def predict(self, X: Any) -> np.ndarray:
        """Predicted class labels or values of the model."""
        predicted = self._raw_predictions(self._columns(X))
        return (
            predicted
            if self.classes is None
            else self.classes[predicted.argmax(axis=1)]
        )

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities; 0 and 1 for a model that predicts labels only."""
        if self.classes is None:
            raise InputError(f"{self.source} predicts values; use predict.")
        return self._raw_predictions(self._columns(X))

    def encode(self, X: Any) -> np.ndarray:
        """Encode rows as float64 codes."""
        return self.features.encode(X)

    def answers_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """Class probabilities, or values, for rows from :meth:`encode`."""
        return self._raw_predictions(self.like.decode(encoded))

    def _raw_predictions(self, X: Any) -> np.ndarray:
        if self.by == "predict_proba":
            predicted = _numbers(self.model.predict_proba(X))
        else:
            ask = self.model if self.by == "call" else self.model.predict
            labels = np.asarray(unwrapped(ask(X)))
            if self.classes is None or (
                self.by == "call" and not _are_labels(labels, self.classes)
            ):
                predicted = _numbers(labels)
            else:
                predicted = (labels.reshape(len(labels), -1, 1) == self.classes) * 1.0
                predicted = predicted[:, 0] if predicted.shape[1] == 1 else predicted
        if predicted.shape[1:] == (1,):
            predicted = predicted[:, 0]
        if self.classes is not None and predicted.ndim == 1:
            # For two classes a network returns the second one's probability.
            predicted = np.column_stack([1 - predicted, predicted])
        self._check(predicted, X.shape[0])
        return predicted

    def _check(self, predicted: np.ndarray, n_rows: int) -> None:
        n_columns = self.n_outputs if self.classes is None else len(self.classes)
        expected = (n_rows, n_columns) if n_columns else (n_rows,)
        found = remedy = ""
        if predicted.shape != expected:
            found = f"predictions of shape {predicted.shape}"
            if predicted.ndim > len(expected):
                remedy = (
                    " Of several outputs pass one, as a function of the table, such as "
                    "lambda X: model.predict(X)[:, 0]; or all, to simplify, with a "
                    "column of Y for each."
                )
        elif not np.isfinite(predicted).all():
            found = "NaN or infinite predictions"
        elif self.classes is not None and self.by == "call":
            total = predicted.sum(axis=1)
            off = (predicted < -INEXACT).any(axis=1) | (np.abs(total - 1) > INEXACT)
            if off.any():
                found = f"{predicted[off.argmax()].tolist()} for row {off.argmax()}"
        if found:
            wanted = f"shape {expected}, one finite number per row"
            if self.classes is not None:
                wanted = (
                    f"shape {expected}, one probability per class, in the order "
                    f"{self.classes.tolist()}; or a label of these per row"
                )
            elif self.n_outputs:
                wanted += " and column of Y"
            raise InputError(
                f"{self.source} returned {found}; expected {wanted}.{remedy}"
            )

    # Tables in the form of the first one

    def _columns(self, X: Any) -> Any:
        """Select the columns of the first table, where a frame has more."""
        blank = self.like.blank
        if not is_frame(X):
            # An array of numbers, for a model that reads frames.
            rows = self.like.decode(self.encode(X)) if is_frame(blank) else X
            return unwrapped(rows)
        import narwhals as nw

        names = list(blank.columns) if is_frame(blank) else list(X.columns)
        return nw.from_native(X, eager_only=True).select(names).to_native()


def _numbers(predicted: Any) -> np.ndarray:
    """Predictions as an array, also from a network's tensor."""
    return np.asarray(unwrapped(predicted), dtype=np.float64)


def are_texts(values: Any) -> bool:
    """Whether predictions or a target are text labels."""
    cells = np.asarray(values)
    return cells.dtype.kind == "U" or (
        cells.dtype.kind == "O" and any(isinstance(cell, str) for cell in cells.flat)
    )


def _are_labels(predicted: np.ndarray, classes: np.ndarray) -> bool:
    is_single = predicted.shape[1:] in ((), (1,))
    is_known = predicted.dtype.kind in "iub" and np.isin(predicted, classes).all()
    return is_single and (are_texts(predicted) or bool(is_known))


def predicts(model: Any) -> bool:
    """Whether an object can predict for rows, after a fit if necessary."""
    if isinstance(model, type):
        return False
    return hasattr(model, "predict") or hasattr(model, "fit") or callable(model)


def task_of(
    model: Any, X: Any = None, y: Any = None
) -> Literal["regression", "classification"]:
    """Task of a model, fitted or not: whether it predicts classes or values.

    That of a function follows from its predictions for X, or text labels in y.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> task_of(RidgeClassifier()), task_of(lambda X: X.sum(axis=1), np.ones((2, 3)))
    ('classification', 'regression')
    """
    from sklearn.base import is_classifier

    if isinstance(model, TreeEnsemble | BlackBox):
        return model.task
    if hasattr(model, "predict"):
        try:
            by_tag = is_classifier(model)
        except (AttributeError, TypeError):  # not a scikit-learn estimator
            by_tag = False
        # CatBoost's regressors have an empty classes_, before a fit None.
        classes = getattr(model, "classes_", None)
        named = classes is not None and len(classes) > 0
        has_classes = by_tag or hasattr(model, "predict_proba") or named
        return "classification" if has_classes else "regression"
    predicted = np.asarray(unwrapped(model(X)))
    is_table = predicted.ndim == 2 and predicted.shape[1] > 1
    of_labels = is_table or are_texts(predicted) or are_texts(y)
    return "classification" if of_labels else "regression"


def predict_with(model: Any, X: Any, classes: Sequence[Any]) -> Any:
    """Labels or values that a model predicts for rows.

    Parameters
    ----------
    model : object with ``predict``, callable or array-like
        A callable returns labels or values; or probabilities, a column per class or,
        for two classes, the second one alone. Anything else holds the predictions.
    X : ndarray or frame
    classes : sequence
        Labels in the order of the probabilities; empty for values.

    Examples
    --------
    >>> predict_with(lambda X: X[:, 0] / 10, np.array([[1.0], [9.0]]), ["no", "yes"])
    array(['no', 'yes'], dtype='<U3')
    """
    from clearwood.ensembles.read import needs_fit

    if isinstance(model, type) or (hasattr(model, "fit") and needs_fit(model)):
        name = model.__name__ if isinstance(model, type) else _name_of(model)
        raise ModelError(
            f"The model {name} is not fitted; pass the model that the rules explain, "
            "after its fit(X, y)."
        )
    if hasattr(model, "predict"):
        return model.predict(X)
    if not callable(model):
        return model
    predicted = np.asarray(unwrapped(model(X)))
    if predicted.ndim == 2 and predicted.shape[1] == 1:
        predicted = predicted[:, 0]
    if not len(classes) or predicted.dtype.kind != "f":
        return predicted
    if (
        predicted.ndim == 1
        and len(classes) == 2
        and not np.isin(predicted, classes).all()
    ):
        predicted = np.column_stack([1 - predicted, predicted])
    if predicted.shape[1:] == (len(classes),):
        return np.array(classes)[predicted.argmax(axis=1)]
    return predicted


def wrap_model(
    model: Any, X: Any, y: np.ndarray | None, task: str, n_outputs: int = 0
) -> BlackBox:
    """Wrap a model as a black box, for rows like those of a table.

    Parameters
    ----------
    model : object with ``predict``, or callable
        Fitted. A callable returns a value per row, or a probability per row and class,
        the classes in order, or a class label per row.
    X : ndarray or frame
        All rows, which define the categories.
    y : ndarray, optional
        Defines the classes if the model does not.
    task : {"regression", "classification"}
    n_outputs : int
        Number of values per row that a model for regression predicts; 0 for one.

    Returns
    -------
    BlackBox
        Without candidate splits.

    Raises
    ------
    ModelError
        It does not predict for these rows, or not reproducibly.
    """
    features = features_of(X, learned=True)
    made = BlackBox(
        model=model,
        like=TableLike.of(X, features),
        task=task,  # type: ignore[arg-type]
        classes=_classes_of(model, X, y) if task == "classification" else None,
        by="predict" if hasattr(model, "predict") else "call",
        source=_name_of(model),
        objective=objective_of(model),
        n_outputs=n_outputs,
    )
    try:
        if made.classes is not None and hasattr(model, "predict_proba"):
            sure = replace(made, by="predict_proba")
            # A decision threshold may contradict the most probable class.
            if np.array_equal(sure.predict(X), made.predict(X)):
                made = sure
        again = X if is_sparse(X) else made.like.decode(made.encode(X))
        predicted = made._raw_predictions(again)
        same = np.allclose(predicted, made._raw_predictions(X), rtol=1e-6, atol=1e-9)
    except Exception as error:  # Whatever a foreign object raises.
        raise ModelError(
            f"{made.source} cannot predict for these rows: "
            f"{' '.join(str(error).split())}"
        ) from error
    if not same:
        raise ModelError(
            f"{made.source} predicts differently for the same rows when called again, "
            "or after they were converted to numbers and categories; rules cannot be "
            "fitted to it."
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
    predicted = np.asarray(unwrapped(ask(X))) if callable(ask) else np.zeros((0, 2))
    if are_texts(predicted):
        return np.unique(predicted)
    return np.arange(predicted.shape[1] if predicted.ndim == 2 else 2)
