"""Classification and regression metrics of rules, on rows with known truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._warned_once import warned_once
from clearwood._words.labels import type_text
from clearwood._words.spelling import suggests_parameters
from clearwood.columns.validation import check_target, check_weight
from clearwood.ensembles.statistics import (
    ORDER,
    RISK,
    quantile_level,
    statistic_of_model,
)
from clearwood.exceptions import InputError
from clearwood.families import section_of
from clearwood.outcomes.classes import positions_of
from clearwood.outcomes.intervals import Rate
from clearwood.rules.decisions.of_classes import (
    CalibrationPoint,
    ClassAnswers,
    ClassMetrics,
    ClassRates,
    Decisions,
    calibration_of,
    evaluate_classes,
    positive_position,
)
from clearwood.rules.decisions.of_values import (
    Errors,
    LineErrors,
    Residuals,
    errors_of_model,
    evaluate_values,
)
from clearwood.rules.decisions.roc import Roc
from clearwood.rules.rule_set import RuleSet, ensemble_of, rules_of
from clearwood.rules.scores import check_errors

__all__ = [
    "ClassAnswers",
    "CalibrationPoint",
    "ClassRates",
    "Decisions",
    "Errors",
    "ClassMetrics",
    "LineErrors",
    "Rate",
    "Residuals",
    "Roc",
    "answers_of",
    "calibration_of",
    "positive_position",
    "decisions",
    "evaluate_encoded",
]


@warned_once()
@suggests_parameters
def decisions(
    result: Any,
    X: Any,
    y: Any,
    *,
    model: Any = None,
    pos_label: Any = None,
    threshold: float | None = None,
    sample_weight: Any = None,
) -> Decisions | Residuals:
    """Evaluate predictions against the truth: confusion matrix, rates, residuals.

    In classification: sensitivity, specificity, predictive values, calibration and AUC;
    each with a 95 % interval, for rules and model. In regression: residuals per rule,
    and whether the printed standard deviations hold.

    Parameters
    ----------
    result : fitted estimator with ``rules_``, RuleSet, or other model or path
        Any fitted classifier or regressor, such as a pipeline, is evaluated by itself.
    X : array-like or frame of shape (n_samples, n_features)
        Rows; on those of the search the metrics are optimistic.
    y : array-like of shape (n_samples,)
        Their true labels or values.
    model : model, path or array-like of shape (n_samples,), optional
        The model that the rules approximate, or its predictions for these rows; by
        default the ensemble that ``result`` was fitted to.
    pos_label : a class label, optional
        The positive class. Of two classes the second by default; of more, each is
        compared with all others unless one is given.
    threshold : float, optional
        Probability of ``pos_label`` from which a row is classified as positive, for
        rules and model. By default their own predictions are used.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights. Intervals use the effective number of rows.

    Returns
    -------
    Decisions or Residuals
        For classes, or for values. Prints as a table; ``to_frame()`` returns a frame.

    Examples
    --------
    >>> import clearwood as cw
    >>> rules = cw.RuleList((cw.Rule((cw.Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     cw.Rule((), "well", (0.8, 0.2)),
    ...     cw.FeatureSpace(("temperature",), (None,)), ("well", "ill"), "state")
    >>> X = [[36.9], [36.5], [38.1], [39.0], [37.0]]
    >>> print(cw.decisions(rules, X, ["well", "well", "ill", "ill", "ill"]))
    Predictions of state on 5 rows: positive class ill
    <BLANKLINE>
    rows: true  predicted ill  predicted well  total
    ill                     2               1      3
    well                    0               2      2
    total                   2               3      5
    <BLANKLINE>
                             rules
    base rate        60 % [23, 88]  of all rows are ill
    sensitivity      67 % [21, 94]  of true ill rows are predicted so
    specificity    100 % [34, 100]  of other rows are not predicted so
    PPV            100 % [34, 100]  of rows predicted ill are so
    NPV              67 % [21, 94]  of other predictions are not ill
    AUC          0.83 [0.31, 0.98]  of pairs are ranked correctly
    error             20 % [4, 62]  of all rows are misclassified
    <BLANKLINE>
            predicted ill               observed
    rule 1         90.0 %  100.0 % [34.2, 100.0]  of 2 rows
    rule 2         20.0 %     33.3 % [6.1, 79.2]  of 3 rows
    """
    record = section_of(result)
    if record is None:
        alone = not isinstance(getattr(result, "rules_", result), RuleSet)
    else:
        alone = not record.has_rules
    if alone and (predictor := _predictor_of(result)) is not None:
        if model is not None:
            raise InputError(
                f"The result is {type_text(result)}, which is not compared with a "
                "model; leave model out."
            )
        return _of_model(predictor, X, y, sample_weight, pos_label, threshold)
    if alone and callable(result):
        raise InputError(
            f"result is {type_text(result)}, which may predict anything; pass a fitted "
            "model of classes or values, or the rules of simplify(model, X, y)."
        )
    rules = rules_of(result, "result")
    check_errors(rules)
    if model is None:
        model = ensemble_of(result, X)
    rules, encoded = rules.read(X)
    if len(encoded) == 0:
        raise InputError("X is empty: it has no rows to evaluate.")
    truth = rules.check_target(y, len(encoded), "y")
    weight = check_weight(sample_weight, len(encoded))
    target, probabilities = answers_of(rules, model, X, len(encoded))
    return evaluate_encoded(
        rules, encoded, truth, target, probabilities, weight, pos_label, threshold
    )


def answers_of(
    rules: RuleSet, model: Any, X: Any, n_rows: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Predictions of a model for some rows.

    Parameters
    ----------
    rules : RuleSet
        Rules that approximate it.
    model : model, path or array-like of shape (n_rows,), or None
    X : array-like or frame of shape (n_rows, n_features)
    n_rows : int

    Returns
    -------
    predicted : ndarray of shape (n_rows,) or None
        Labels or values.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        In the order of the rules' classes; None where there are none or not needed.
    """
    from clearwood.ensembles.read import as_predictor

    model = as_predictor(model)
    predicted = rules.model_predictions(model, X, n_rows)
    if not rules.classes or not hasattr(model, "predict_proba"):
        return predicted, None
    p = np.asarray(model.predict_proba(X))
    own = getattr(model, "classes_", getattr(model, "classes", None))
    order = list(rules.classes if own is None else np.asarray(own).tolist())
    # A class that the model does not have has no probability.
    columns = [
        p[:, order.index(label)] if label in order else np.zeros(len(p))
        for label in rules.classes
    ]
    return predicted, np.column_stack(columns)


def evaluate_encoded(
    rules: RuleSet,
    encoded: np.ndarray,
    truth: np.ndarray,
    target: np.ndarray | None,
    probabilities: np.ndarray | None,
    weight: np.ndarray,
    pos_label: Any = None,
    threshold: float | None = None,
) -> Decisions | Residuals:
    """As :func:`decisions`, for validated input and predictions of the model."""
    matches = rules.matches_encoded(encoded)
    if not rules.classes:
        positive_position((), pos_label, threshold)
        return evaluate_values(rules, matches, truth, target, weight)
    classes = list(rules.classes)
    predicted = positions_of(classes, rules.predictions_by(matches))
    answers = {"rules": ClassAnswers(predicted, rules.answers_by(matches))}
    if target is not None:
        answers["model"] = ClassAnswers(positions_of(classes, target), probabilities)
    line = rules.predicting_rule(matches)
    return evaluate_classes(
        rules.target, classes, answers, truth, weight, line, pos_label, threshold
    )


def _predictor_of(result: Any) -> Any | None:
    """A fitted model that predicts; None where it is none."""
    from clearwood.ensembles.read import as_predictor, needs_fit

    model = as_predictor(result)
    return None if needs_fit(model) or not hasattr(model, "predict") else model


def _of_model(
    model: Any, X: Any, y: Any, weight: Any, pos_label: Any, threshold: float | None
) -> Decisions | Residuals:
    """Metrics of a model without rules."""
    predicted = np.asarray(model.predict(X)).ravel()
    n_rows, target = len(predicted), str(getattr(y, "name", None) or "y")
    weight = check_weight(weight, n_rows)
    own = getattr(model, "classes_", getattr(model, "classes", ()))
    classes = np.asarray(own).tolist()
    truth = check_target(y, n_rows, numeric=not classes)
    if not classes:
        known = statistic_of_model(model)
        if known in (ORDER, RISK) or quantile_level(known) is not None:
            raise InputError(
                f"The model predicts {known}, which errors of single rows do not "
                "describe; simplify it, and use evaluate and described_on of the rules."
            )
        positive_position((), pos_label, threshold)
        return errors_of_model(target, predicted, truth, weight)
    if not set(truth.tolist()) & set(classes):
        raise InputError(
            "No label of y is a class of the classifier: found "
            f"{sorted(set(map(str, truth.tolist())))[:5]}, it predicts {classes}."
        )
    p = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    answers = {"model": ClassAnswers(positions_of(classes, predicted), p)}
    return evaluate_classes(
        target, classes, answers, truth, weight, None, pos_label, threshold
    )
