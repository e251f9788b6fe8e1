"""Permutation importance: how predictions change when a feature is permuted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._estimators import take_rows
from clearwood._words.spelling import suggests_parameters
from clearwood.columns.feature_space import EncodedTable, is_frame
from clearwood.exceptions import InputError
from clearwood.outcomes import OUTCOMES
from clearwood.results import Result
from clearwood.rules.rule_set import RuleSet, ensemble_of, rows_for, rules_of

if TYPE_CHECKING:
    import pandas as pd


SMALLEST = 1e-12
"""Changes below this are treated as zero."""


@dataclass(frozen=True, repr=False)
class Importances(Result):
    """Permutation importance of features for the rules and for the model.

    Attributes
    ----------
    names : tuple of str
        Features used by rules or model, in descending order for the model.
    rules, model : ndarray of shape (n_names,)
        Decrease of the agreement of each with its own predictions (for values: of R2)
        when the feature is permuted; 0 where nothing changes.
    rules_error, model_error : ndarray of shape (n_names,)
        Standard errors over the permutations.
    unused_features : tuple of str
        Features that change the model's predictions and that no rule uses.
    task : {"classification", "regression"}
    n_rows : int
        Number of rows of the measurement.
    """

    _display = "clearwood.rules.importances.display:ImportancesDisplay"

    names: tuple[str, ...]
    rules: np.ndarray
    model: np.ndarray
    rules_error: np.ndarray
    model_error: np.ndarray
    unused_features: tuple[str, ...]
    task: str
    n_rows: int

    def __str__(self) -> str:
        lost, table = OUTCOMES[self.task].lost, self.to_frame().round(3).to_string()
        return f"{lost}, {self.n_rows:,} rows; errors: standard errors\n{table}"

    def to_frame(self) -> pd.DataFrame:
        """Importances and standard errors, one feature per row."""
        import pandas as pd

        columns = ("model", "model_error", "rules", "rules_error")
        return pd.DataFrame(
            {name: getattr(self, name) for name in columns},
            index=pd.Index(self.names, name="feature"),
        )


class _Speaker:
    """Adapter of a model to scikit-learn's interface.

    Encoded rows are passed as a frame, the only table whose cells may be infinite.
    """

    def __init__(self, model: Any, table: Any) -> None:
        self.model = model
        self.features = table.features if isinstance(table, EncodedTable) else None

    def fit(self, X: Any, y: Any = None) -> _Speaker:
        """Do nothing: the model is already fitted."""
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions of the model."""
        if self.features is not None:
            X = self.features.as_encoded(X.to_numpy())
        return np.asarray(self.model.predict(X))


@suggests_parameters
def permutation_importance(
    result: Any,
    X: Any,
    *,
    model: Any = None,
    n_repeats: int = 5,
    max_samples: int = 2000,
    random_state: int = 0,
) -> Importances:
    """Measure permutation importance for the rules and for the model.

    Parameters
    ----------
    result : fitted estimator with ``rules_``, or RuleSet
    X : array-like or frame of shape (n_samples, n_features)
        At least two rows.
    model : fitted model or path, optional
        The model that the rules approximate; by default the estimator's ensemble.
    n_repeats : int, default=5
        Permutations of each feature, at least two.
    max_samples : int, default=2000
        Maximum number of rows; of more, as many are sampled.
    random_state : int, default=0
        Seed of sampling and permutations.

    Returns
    -------
    Importances

    Notes
    -----
    This is permutation importance [1]_ with respect to the predictions instead of the
    truth: it measures what the predictions depend on, right or wrong. Features with the
    same information share their importance, or mask each other.

    References
    ----------
    .. [1] Breiman, L. (2001). Random forests. Machine Learning 45.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
    >>> rules = RuleList((Rule((Interval(0, low=0.5),), 1.0),), Rule((), 0.0),
    ...     FeatureSpace.numeric(2))
    >>> X = np.array([[0, 0], [1, 0], [0, 1], [1, 1]] * 10)
    >>> permutation_importance(rules, X, model=rules).names
    ('x0',)
    """
    from clearwood.ensembles.read import as_predictor

    rules = rules_of(result)
    model = ensemble_of(result, X) if model is None else model
    model = as_predictor(model)
    if not hasattr(model, "predict"):
        raise InputError("model must be a model that predicts; pass a fitted one.")
    if n_repeats < 2:
        raise InputError(f"n_repeats is {n_repeats}; expected at least 2.")
    tables = rows_for(rules, model, X)
    return importances_of(rules, model, tables, n_repeats, max_samples, random_state)


def importances_of(
    rules: RuleSet,
    model: Any,
    tables: tuple[Any, Any],
    n_repeats: int,
    max_samples: int,
    seed: int = 0,
) -> Importances:
    """As :func:`permutation_importance`, for the two tables of :func:`rows_for`."""
    n_rows = min(len(tables[0]), max_samples)
    if n_rows < 2:
        raise InputError("X has fewer than two rows; there is nothing to permute.")
    of_rules, of_model = (
        _measure(who, _some_rows(X, n_rows, seed), rules, n_repeats, seed)
        for who, X in zip((rules, model), tables)
    )
    used = rules.used_features
    uses = np.maximum(np.abs(of_rules).max(axis=1), np.abs(of_model).max(axis=1))
    shown = [d for d in range(len(uses)) if uses[d] > SMALLEST or d in used]
    shown.sort(key=lambda d: (-of_model[d].mean(), -of_rules[d].mean(), d))
    names = rules.features.names
    moves = [d for d in shown if np.abs(of_model[d]).max() > SMALLEST]
    error = 1 / np.sqrt(n_repeats)
    return Importances(
        tuple(names[d] for d in shown),
        of_rules[shown].mean(axis=1),
        of_model[shown].mean(axis=1),
        of_rules[shown].std(axis=1, ddof=1) * error,
        of_model[shown].std(axis=1, ddof=1) * error,
        tuple(names[d] for d in moves if d not in used),
        rules.task,
        n_rows,
    )


def _some_rows(X: Any, n_rows: int, seed: int) -> Any:
    """Sample of rows, in a form that scikit-learn permutes."""
    if is_frame(X) and not hasattr(X, "iloc"):
        X = X.to_pandas()
    table = X if is_frame(X) else np.asanyarray(X)
    if n_rows == len(table):
        return table
    drawn = np.random.default_rng(seed).choice(len(table), n_rows, replace=False)
    return take_rows(table, np.sort(drawn))


def _measure(
    model: Any, table: Any, rules: RuleSet, n_repeats: int, seed: int
) -> np.ndarray:
    """Decrease per permutation of every feature: (n_features, n_repeats)."""
    import pandas as pd
    from sklearn.inspection import permutation_importance

    speaker = _Speaker(model, table)
    if speaker.features is not None:
        table = pd.DataFrame(table)

    def score(speaker: _Speaker, X: Any, y: np.ndarray) -> float:
        return rules.outcome.fidelity(y, speaker.predict(X))

    predicted = speaker.predict(table)
    if len(np.unique(predicted)) == 1:
        return np.zeros((rules.features.n_features, n_repeats))
    found = permutation_importance(
        speaker, table, predicted, scoring=score, n_repeats=n_repeats, random_state=seed
    )
    if speaker.features is not None or not is_frame(table):
        return found.importances
    # A frame may have further columns, and these in any order.
    column = {str(name): place for place, name in enumerate(table.columns)}
    own = rules.features.as_in(table, rules.used_features).names
    places = np.array([column.get(name, -1) for name in own])
    return np.where(places[:, None] < 0, 0.0, found.importances[places])
