"""What a teacher says of rows, in the terms in which rules are fitted to it."""

from __future__ import annotations

import numpy as np

from clearwood.columns.validation import label_positions
from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.any_model import AnyModel

Teacher = TreeEnsemble | AnyModel


def class_positions(ensemble: Teacher, y: np.ndarray) -> np.ndarray:
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


def answers_of(ensemble: Teacher, encoded: np.ndarray) -> np.ndarray:
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
