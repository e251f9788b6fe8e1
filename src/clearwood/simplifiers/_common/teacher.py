"""The ensemble that the rules speak for: fitted, fitted here, or read."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from clearwood._validation import label_positions
from clearwood.ensembles import TreeEnsemble, read_ensemble
from clearwood.ensembles.raw_tables import fit_to_table
from clearwood.ensembles.read import needs_fit
from clearwood.exceptions import InputError


def get_teacher(
    estimator: Any,
    default: Any,
    X: Any,
    y: np.ndarray | None,
    sample_weight: np.ndarray | None,
    task: str,
) -> tuple[Any, TreeEnsemble]:
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
    model : estimator, or what was handed in
    ensemble : TreeEnsemble
        The same, reading rows like X.
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
        model, ensemble = fit_to_table(model, X, y, sample_weight)
    else:
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
    return model, ensemble.as_in(X)


def class_positions(ensemble: TreeEnsemble, y: np.ndarray) -> np.ndarray:
    """Labels as positions in the ensemble's classes; values as they are."""
    if ensemble.classes is None:
        return y
    # CatBoost keeps classes in the order of class_names, whatever that is.
    return label_positions(
        y,
        ensemble.classes,
        "ensemble",
        " If these are the same classes under other names, say so in the order of its "
        "own: ensemble.with_classes(labels), or --classes on the command line.",
    )


def answers_of(ensemble: TreeEnsemble, encoded: np.ndarray) -> np.ndarray:
    """What an ensemble predicts for rows that its ``encode`` made.

    Class probabilities, or values.
    """
    answers = ensemble.answers_encoded(encoded)
    if ensemble.link == "one_vs_rest":
        # One model per class: their answers need not sum to 1, those of rules do.
        total = answers.sum(axis=1, keepdims=True)
        even = np.full_like(answers, 1 / answers.shape[1])
        answers = np.divide(answers, total, out=even, where=total > 0)
    return np.ascontiguousarray(answers)
