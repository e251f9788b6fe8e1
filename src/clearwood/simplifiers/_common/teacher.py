"""The ensemble that the rules speak for: fitted, fitted here, or read."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from clearwood._features import UNSEEN
from clearwood.ensembles import TreeEnsemble, read_ensemble
from clearwood.ensembles.read import needs_fit
from clearwood.exceptions import InputError, UnknownCategoriesWarning
from clearwood.rules import FeatureBins, Training
from clearwood.rules.conditions import label_text
from clearwood.rules.scores import fidelity


class Teacher(NamedTuple):
    """A fitted model and the same model as a ``TreeEnsemble``."""

    model: Any
    ensemble: TreeEnsemble

    @property
    def classes(self) -> tuple[Any, ...]:
        """Class labels as plain Python values; empty for regression."""
        found = self.ensemble.classes
        return () if found is None else tuple(found.tolist())

    def label_codes(self, y: np.ndarray) -> np.ndarray:
        """Labels as positions in ``classes``; values as they are."""
        known = self.ensemble.classes
        if known is None:
            return y
        unknown = np.setdiff1d(y, known)
        if len(unknown):
            raise InputError(
                f"y holds label(s) {unknown.tolist()} that the ensemble does not "
                f"know; it knows {known.tolist()}. If these are the same classes "
                "under other names, say so in the order of its own: "
                "ensemble.with_classes(labels), or --classes on the command line."
            )
        # CatBoost keeps classes in the order of class_names, whatever that is.
        order = np.argsort(known)
        return order[np.searchsorted(known, y, sorter=order)]

    def says_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """What the ensemble predicts for rows that its ``encode`` made.

        Class probabilities, or values.
        """
        said = self.ensemble.answers_encoded(encoded)
        if self.ensemble.link == "one_vs_rest":
            # One model per class: their answers need not sum to 1, those of rules do.
            total = said.sum(axis=1, keepdims=True)
            even = np.full_like(said, 1 / len(self.classes))
            said = np.divide(said, total, out=even, where=total > 0)
        return np.ascontiguousarray(said)

    def taught(
        self, said: np.ndarray, labels: np.ndarray | None, target: str
    ) -> np.ndarray:
        """What the rules shall say: what the ensemble says, or the labels."""
        if target == "labels":
            if labels is None:
                raise InputError(
                    "target='labels' requires y to be passed, but the target y is None."
                )
            return np.eye(len(self.classes))[labels] if self.classes else labels
        return said


def get_teacher(
    estimator: Any,
    default: Any,
    X: Any,
    y: np.ndarray | None,
    sample_weight: np.ndarray | None,
    task: str,
) -> Teacher:
    """Use a fitted model as it is, fit an unfitted one, read anything else.

    Parameters
    ----------
    estimator : estimator, TreeEnsemble or None
        As handed to the meta-estimator; None means ``default``.
    default : estimator
        Fitted where ``estimator`` is None.
    X, y, sample_weight
        Training data for an unfitted estimator.
    task : {"classification", "regression"}
        What the rules shall predict.

    Returns
    -------
    Teacher
    """
    model = estimator
    if needs_fit(estimator):
        if y is None:
            raise InputError(
                "The estimator is not fitted yet: this fit requires y to be passed, "
                "but the target y is None. Hand in y, or a fitted ensemble."
            )
        if task == "classification" and len(np.unique(y)) < 2:
            raise InputError(
                f"y holds one class only ({y.tolist()[0]!r}); rules that tell classes "
                "apart need at least two classes."
            )
        # CatBoost copies a list of cat_features, which scikit-learn's clone refuses.
        model = deepcopy(default if estimator is None else estimator)
        if sample_weight is None:
            model.fit(X, y)
        else:
            model.fit(X, y, sample_weight=sample_weight)
    ensemble = read_ensemble(model)
    if ensemble.task != task:
        other = {"classification": "Classifier", "regression": "Regressor"}
        raise InputError(
            f"The ensemble ({ensemble.source}) is for {ensemble.task}, these rules "
            f"are for {task}; use the {other[ensemble.task]} of the same name."
        )
    if ensemble.classes is not None and len(ensemble.classes) < 2:
        raise InputError(
            f"The ensemble knows one class only ({ensemble.classes.tolist()[0]!r}); "
            "there is nothing for rules to tell apart."
        )
    return Teacher(model, ensemble.as_in(X))


def warn_of_unknown_categories(ensemble: TreeEnsemble, encoded: np.ndarray) -> None:
    """Say so where a whole column holds other categories than the model knows.

    Codes in place of labels, for example: every row would go the way of categories
    never seen, and nothing else would tell.
    """
    space = ensemble.features
    for d in np.unique(ensemble.feature[ensemble.category_set >= 0]):
        column = encoded[:, d]
        if (column == UNSEEN).any() and not (column >= 0).any():
            labels = [label_text(x, space.lookup[d]) for x in space.categories[d] or ()]
            warnings.warn(
                f"No row of {space.names[d]!r} holds a category that the model names; "
                f"it names {', '.join(labels[:5])}{' ...' if labels[5:] else ''}. Hand "
                "in the column as it was when the model was fitted.",
                UnknownCategoriesWarning,
                stacklevel=4,
            )


def single_split_fidelity(
    codes: np.ndarray, bins: FeatureBins, training: Training, most_rows: int = 20_000
) -> float:
    """How far a tree of one split follows what the rules are fitted to.

    The split is one of the ensemble's cuts, or a set of categories. Judged on the
    rows it is grown on, like the rules; of very many rows, on a random part.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    rows = np.arange(len(codes))
    if len(rows) > most_rows:
        rows = np.random.default_rng(0).choice(rows, most_rows, replace=False)
    taught, weight = training.taught[rows], training.weight[rows]
    scores = taught[:, 0] if taught.ndim == 2 else taught
    columns = codes[rows].astype(np.float32)
    for d, group in enumerate(bins.groups):
        if group is not None:
            columns[:, d] = _mean_scores(codes[rows, d], scores, weight)
    if taught.ndim == 2:
        taught, task = taught.argmax(axis=1), "classification"
        stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    else:
        task = "regression"
        stump = DecisionTreeRegressor(max_depth=1, random_state=0)
    stump.fit(columns, taught, sample_weight=weight)
    return fidelity(taught, stump.predict(columns), task, weight)


def _mean_scores(
    codes: np.ndarray, scores: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Rank of each row's category by its mean score: the best set is one cut."""
    total = np.bincount(codes, weights=weight)
    mean = np.bincount(codes, weights=weight * scores) / np.maximum(total, 1e-300)
    return np.argsort(np.argsort(mean))[codes]
