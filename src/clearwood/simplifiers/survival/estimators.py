"""Rule lists and trees that approximate a survival model.

Rules are fitted to the mean of the survival probabilities that the model predicts at
the horizons, as to a value (``rule_list``, ``distilled_tree``). The steps that differ:

1. ``_fitted_model``: the model as a function of that mean (``models``).
2. ``_training``: true values are pseudo-values of the rows' survival times, from which
   the shrinkage of the rules for new rows is estimated by cross-fitting, as of any
   value (``rules.building.new_rows``).
3. Each rule predicts by the Kaplan-Meier curve of its rows, pooled with the others by
   that shrinkage (``rules.building.rule_curves``).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from clearwood.ensembles.raw_tables import fitted
from clearwood.ensembles.read import needs_fit
from clearwood.exceptions import InputError
from clearwood.outcomes import Outcome
from clearwood.outcomes.survival import (
    Survival,
    causes_of,
    check_horizons,
    check_survival,
    of_cause,
)
from clearwood.rules import Training
from clearwood.rules.evaluation.survival_scores import EXTRA, CurvePredictions
from clearwood.simplifiers._common.base import CORE
from clearwood.simplifiers._common.explained_model import read_model
from clearwood.simplifiers._common.predictions import Model
from clearwood.simplifiers._common.size_path import N_SYNTHETIC, BaseSizePath
from clearwood.simplifiers.distilled_tree import _DistilledTree
from clearwood.simplifiers.rule_list import _RuleList
from clearwood.simplifiers.survival.models import (
    mean_survival,
    times_for,
    with_encoder,
    xgboost_of_file,
)


class _SurvivalRules(CurvePredictions, BaseSizePath):
    """Steps that differ for survival; a method follows as the second base class."""

    _outcome: Outcome = Survival()
    _reads_sparse = False
    scoring, class_weight, monotonic_cst = "auto", None, None
    _parameter_constraints: dict[str, Any] = {
        "horizons": "no_validation",
        "time_unit": [str],
        **CORE,
        "n_synthetic": N_SYNTHETIC,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        horizons: Any = None,
        time_unit: str = "",
        n_rules: int | str = "auto",
        max_rules: int = 10,
        min_samples_leaf: int = 20,
        learn_from: str = "model",
        exclude_features: Sequence[str | int] = (),
        round_thresholds: bool = True,
        n_synthetic: int | str = "auto",
        n_jobs: int | None = None,
        verbose: bool = False,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.horizons = horizons
        self.time_unit = time_unit
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.min_samples_leaf = min_samples_leaf
        self.learn_from = learn_from
        self.exclude_features = exclude_features
        self.round_thresholds = round_thresholds
        self.n_synthetic = n_synthetic
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cv = cv
        self.random_state = random_state

    @staticmethod
    def _default_estimator() -> Any:
        try:
            from sksurv.ensemble import RandomSurvivalForest
        except ImportError:
            raise InputError(EXTRA.format("has the default model")) from None
        return RandomSurvivalForest(min_samples_leaf=10)

    def _check_y(self, y: Any, n_samples: int) -> np.ndarray:
        found = check_survival(y, n_samples)
        horizons = check_horizons(self.horizons, found)
        n_causes = int(causes_of(found).max())
        self._outcome = Survival((), horizons, self.time_unit, n_causes)
        return found

    def _fitted_model(self, default: Any, X: Any, y: Any, weight: Any) -> Any:
        if y is None:
            raise InputError(
                "Rules for survival require y to be passed, but the target y is None: "
                "their curves are estimates from survival times."
            )
        model = self.estimator
        if isinstance(model, str | Path):
            model = xgboost_of_file(model)
        if needs_fit(model):
            model = with_encoder(default, X) if model is None else deepcopy(model)
            given = {} if weight is None else {"sample_weight": weight}
            fitted(model, X, times_for(model, of_cause(y)), given)
        function = mean_survival(model, self._outcome.horizons, X, y)
        black_box: Any = read_model(function, X, task="regression")
        # It predicts a probability, whatever the objective of the model.
        return model, replace(black_box, objective="")

    def _training(
        self, ensemble: Model, X: Any, y: Any, weight: np.ndarray
    ) -> Training:
        values = self._outcome.check(y, len(y))
        training = super()._training(ensemble, X, values, weight)
        return replace(training, times=y[weight > 0])

    def _fit_rows(self, X: Any, y: Any, *more: Any, table: Any = None) -> Any:
        super()._fit_rows(X, y, *more, table=table)
        has_causes = self._outcome.n_causes > 1  # type: ignore[attr-defined]
        name = "freedom from cause 1" if has_causes else "survival"
        self.rules_ = self.rules_.with_target(name)
        return self


class RuleListSurvival(_SurvivalRules, _RuleList):
    """Short rule list that approximates a survival model.

    The list is fitted to the mean of the survival probabilities that the model predicts
    at the horizons. Every rule predicts by the Kaplan-Meier curve of its training rows,
    pooled with as many of the others as makes it hold on new rows (cross-fitting), and
    is printed with survival at the horizons, its 95 % intervals, the median, and the
    number of events.

    Where events have several causes, ``y`` holds 0 for a censored row and 1, 2 and so
    on for the cause, in a frame in a column named "event" or "cause". Cause 1
    is that of interest: the model, and the search, are for the time until it, with
    other events censored. Every rule is printed with the cumulative incidence of each
    cause (Aalen and Johansen); ``predict`` and the scores are for the first.

    Parameters
    ----------
    estimator : estimator, callable, path or None, default=None
        The model to explain. Of scikit-survival, any with
        ``predict_survival_function``; of XGBoost, any with the objective survival:cox
        or survival:aft, or its file. Or any model or function that returns the survival
        probabilities at the horizons, of shape (n_samples, n_horizons); or a risk score
        per row, from which a proportional-hazards model, fitted to the training rows,
        makes probabilities. A fitted model is never refitted, an unfitted one is fitted
        on ``X, y``; None means scikit-survival's random survival forest.
    horizons : array-like of float, float or None, default=None
        Times at which survival is approximated and printed; None means the quartiles of
        the times of events.
    time_unit : str, default=""
        Unit of times in the text of the rules, such as "years".
    n_rules : int or "auto", default="auto"
        Maximum number of rules, as in :class:`RuleListClassifier`.
    max_rules : int, default=10
        Maximum number of rules, the default rule (``otherwise``) included.
    min_samples_leaf : int, default=20
        Minimum number of training rows that a rule covers, censored ones included.
    learn_from : {"model", "labels"}, default="model"
        Target of the fit: the predictions of the model; or the pseudo-values of the
        survival times, for rules of the data alone.
    exclude_features : sequence of str or int, default=()
        Names, or column indices, of features that no rule may use.
    round_thresholds : bool, default=True
        Print, and predict with, the shortest thresholds that separate the same training
        values.
    n_synthetic : int or "auto", default="auto"
        Number of synthetic rows, labelled by the model: training rows mixed with their
        neighbours. They never enter curves.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.
    verbose : bool, default=False
        Show a progress bar on stderr.
    cv : int, splitter of scikit-learn, iterable or None, default=None
        How rows are held out, as in :class:`RuleListClassifier`. With ``groups`` in
        ``fit``, such as patients with several rows, a number means so many folds of
        whole groups.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the search (and of the default model).

    Attributes
    ----------
    rules_ : RuleList
        The printed rules. ``rule.curve`` is the curve of a rule, and
        ``rule.prediction`` its mean at the horizons.
    estimator_, ensemble_, bins_, single_split_fidelity_, shrinkage_, path_, n_rules_, \
cv_results_, n_features_in_, feature_names_in_
        As in :class:`RuleListClassifier`; the fidelity is that of the mean survival.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(400, 2))
    >>> time = rng.exponential(np.where(X[:, 0] > 0.5, 1.0, 4.0))
    >>> y = pd.DataFrame({"died": time < 3, "years": np.minimum(time, 3)})
    >>> risk = lambda X: np.where(X[:, 0] > 0.5, 1.0, 0.0)
    >>> rules = RuleListSurvival(risk, horizons=[1, 2], n_rules=2, random_state=0)
    >>> rules.fit(X, y).rules_.n_rules
    2
    >>> rules.predict_survival_function(X[:1], [0.0, 1.0]).shape
    (1, 2)
    """


class DistilledTreeSurvival(_SurvivalRules, _DistilledTree):
    """Small decision tree that approximates a survival model.

    Every row is in one leaf only, so each rule can be read by itself. The tree is found
    as in :class:`DistilledTreeClassifier`; its leaves predict by Kaplan-Meier curves.
    Parameters and attributes are those of :class:`RuleListSurvival`, and ``tree_``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(400, 2))
    >>> time = rng.exponential(np.where(X[:, 0] > 0.5, 1.0, 4.0))
    >>> y = pd.DataFrame({"died": time < 3, "years": np.minimum(time, 3)})
    >>> risk = lambda X: np.where(X[:, 0] > 0.5, 1.0, 0.0)
    >>> tree = DistilledTreeSurvival(risk, horizons=2, n_rules=2, random_state=0)
    >>> tree.fit(X, y).tree_.n_leaves
    2
    """
