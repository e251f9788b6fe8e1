"""Linear and logistic models projected from a Bayesian reference model.

Each draw of the reference is projected by itself: the model with the highest expected
log likelihood under the draw (equation 3) is a least-squares fit to its means, or a
logistic fit to its probabilities as soft labels. The variation of the coefficients over
draws is the epistemic uncertainty of the reference.
"""

from __future__ import annotations

import textwrap
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._base import Estimator
from clearwood._estimators import Interval, StrOptions, fit_context
from clearwood._numeric import as_generator, product
from clearwood._numeric.progress import progress
from clearwood._tables.learning import accepts_tables, sample_of
from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import share_text
from clearwood._words.sentences import listed
from clearwood.columns.schema import features_of
from clearwood.columns.validation import check_table, interval_ends, label_positions
from clearwood.exceptions import InputError
from clearwood.projection.evaluation.proxy_fidelity import (
    divergence,
    explained_share,
    warn_of_poor_fit,
)
from clearwood.projection.predictive_draws import (
    PredictiveDraws,
    accepts_missing,
    check_fit_rows,
    find_reference,
    predictive_draws,
)
from clearwood.projection.terms import (
    MISSING,
    Terms,
    fit_linear,
    fit_logistic,
    probabilities_of,
)
from clearwood.rules.rule import TEXT_WIDTH
from clearwood.search.grid import LEAST_ROWS


class _ProjectedLinear(Estimator):
    _task: str
    coef_: np.ndarray
    intercept_: np.ndarray
    divergence_: float

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = accepts_missing(self.reference)
        return tags

    _parameter_constraints: dict[str, Any] = {
        "reference": "no_validation",
        "penalty": [StrOptions({"ridge", "lasso"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "max_terms": [Interval(Integral, 1, None, closed="left"), None],
        "draws": [StrOptions({"mean", "each"})],
        "verbose": ["verbose"],
        "random_state": "no_validation",
    }

    def __init__(
        self,
        reference: Any = None,
        *,
        penalty: str = "ridge",
        alpha: float = 0.01,
        max_terms: int | None = None,
        draws: str = "each",
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.reference = reference
        self.penalty = penalty
        self.alpha = alpha
        self.max_terms = max_terms
        self.draws = draws
        self.verbose = verbose
        self.random_state = random_state

    def _project(
        self, columns: np.ndarray, predictive: PredictiveDraws, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Intercepts (n_draws, n_outputs), and coefficients."""
        raise NotImplementedError

    @fit_context
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Project the reference onto a linear model.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows on which the model imitates the reference. Or a table read in blocks,
            see `ProjectedTreeRegressor.fit`: of more than 200,000 rows a random sample
            of that size is used.
        y : array-like of shape (n_samples,) or str, optional
            Observed targets: only an unfitted reference is fitted to them.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row: the neighbourhood pi of equation (1).

        Returns
        -------
        self
        """
        sample, _ = sample_of(X, y, sample_weight)
        X, y, weight = check_fit_rows(self, *sample, self._task)
        generator = as_generator(self.random_state)
        source = find_reference(self.reference, X, y, weight, self._task, generator)
        if source.task == "counts":
            raise InputError(
                f"The reference ({source.description}) predicts rates of counts, for "
                "which there is no linear proxy yet; project it onto a tree."
            )
        labels, classes = None, ()
        if source.classes is not None:
            self.classes_ = np.asarray(source.classes)
            classes = self.classes_.tolist()
            if y is not None:
                labels = label_positions(y, self.classes_, "reference")
        features = features_of(X)
        encoded = features.encode(X)
        predictive = predictive_draws(source, X)
        self.reference_ = source
        self.terms_ = Terms.from_table(features, encoded, weight)
        columns = self.terms_.design_matrix(encoded)
        kept = self._strongest(columns, predictive.pooled, weight)
        self.terms_, columns = self.terms_.taken(kept), columns[:, kept]
        intercept, coef = self._project(columns, predictive.pooled, weight)
        self.intercept_, self.coef_ = intercept[0], coef[0]
        self.intercept_draws_, self.coef_draws_ = intercept, coef
        if self.draws == "each":
            parts = [predictive.draw(number) for number in range(predictive.n_draws)]
            shown = progress(parts, len(parts), "draws", self.verbose)
            fitted = [self._project(columns, part, weight) for part in shown]
            self.intercept_draws_ = np.concatenate([part[0] for part in fitted])
            self.coef_draws_ = np.concatenate([part[1] for part in fitted])
        mean, predicted = predictive.mean, self._predict_columns(columns)
        if classes:
            self.divergence_ = divergence(mean, predicted, weight)
        self.fidelity_ = explained_share(mean, predicted, weight)
        warn_of_poor_fit(
            self.fidelity_, mean, predicted, labels, classes, LEAST_ROWS,
            "Project onto a tree (ProjectedTreeRegressor, ProjectedTreeClassifier), or "
            "lower alpha.",
        )  # fmt: skip
        return self

    def _strongest(
        self, columns: np.ndarray, pooled: PredictiveDraws, weight: np.ndarray
    ) -> np.ndarray:
        """At most ``max_terms`` terms, without the weakest fifth time after time."""
        kept = np.arange(columns.shape[1])
        while self.max_terms is not None and len(kept) > self.max_terms:
            _, coef = self._project(columns[:, kept], pooled, weight)
            strength = np.abs(coef[0]).sum(axis=0)
            n_left = max(self.max_terms, 4 * len(kept) // 5)
            kept = kept[np.sort(np.argsort(-strength, kind="stable")[:n_left])]
        return kept

    def _predict_columns(self, columns: np.ndarray) -> np.ndarray:
        """Predictions of the model: values, or probabilities."""
        raise NotImplementedError

    def _predict_rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "coef_")
        terms = self.terms_
        table = check_table(self, X, reset=False)
        encoded = terms.features.encode(table, set(terms.feature.tolist()))
        return self._predict_columns(self.terms_.design_matrix(encoded))

    def _scores(self, columns: np.ndarray) -> np.ndarray:
        return product(columns, self.coef_.T) + self.intercept_

    def _predictive(self, X: Any) -> PredictiveDraws | None:
        """Distributions of observations: not defined by coefficients."""
        return None

    def summary(self, coverage: float = 0.9) -> str:
        """Table of coefficients with their units and credible intervals over the draws.

        Parameters
        ----------
        coverage : float, default=0.9
            Probability of the interval over the reference's draws.

        Returns
        -------
        str
        """
        check_is_fitted(self, "coef_")
        ends = interval_ends(coverage)
        # One draw, or their mean, has no interval.
        low, high = np.quantile(self.coef_draws_, ends, axis=0)
        lines = [textwrap.fill(line, TEXT_WIDTH) for line in self._units()]
        if (low < high).any():
            lines.append(
                f"In brackets: the central {share_text(coverage)} interval over the "
                "draws."
            )
        for output in range(len(self.coef_)):
            if len(self.coef_) > 1:
                lines.append(f"{prediction_text(self.classes_[output])}:")
            order = np.argsort(-np.abs(self.coef_[output]), kind="stable")
            for term in order:
                lines.append(
                    f"{self.coef_[output, term]:+10.4g}  "
                    f"{_interval(low[output, term], high[output, term])}"
                    f"{printable(self.terms_.names[term])}"
                )
        return "\n".join(lines)

    def _units(self) -> list[str]:
        lines = [
            f"Change of {self._quantity()} per standard deviation of a term, all other "
            "terms held constant; divide by the standard deviation (terms_.unit) for "
            "the change per unit. Intercept, with all terms at their means: "
            f"{', '.join(f'{value:.4g}' for value in self.intercept_)}."
        ]
        without = self.terms_.without_term
        if without:
            baselines = ", ".join(
                f"{printable(name)} with {listed(labels)}"
                for name, labels in without.items()
            )
            lines.append(
                "The term of a category is an indicator (1 or 0), and compares it with "
                f"the categories that have no term: {baselines}."
            )
        if (self.terms_.category == MISSING).any():
            lines.append(
                "Where a feature is missing, its other terms are set to their means; "
                "its term 'missing' compares these rows with the mean of all others."
            )
        return lines

    def _quantity(self) -> str:
        """Quantity that a coefficient changes."""
        raise NotImplementedError


def _interval(low: float, high: float) -> str:
    return f"[{low:.3g}, {high:.3g}]  " if low < high else ""


class ProjectedLinearRegression(RegressorMixin, _ProjectedLinear):
    """Linear regression projected from a Bayesian reference model.

    Parameters
    ----------
    reference : Reference, estimator or None, default=None
        As in :class:`ProjectedTreeRegressor`.
    penalty : {"ridge", "lasso"}, default="ridge"
        Penalty of the coefficients, per standard deviation of their term: their
        squares, or their absolute values, which leaves some at zero.
    alpha : float, default=0.01
        Factor of the penalty relative to the squared error summed over rows, in units
        of the variance of the reference's predictions.
    max_terms : int or None, default=None
        Maximum number of terms. Beyond it the terms with the smallest coefficients are
        removed, a fifth of them at a time, and the others projected again.
    draws : {"each", "mean"}, default="each"
        Whether to project each posterior draw, too.
    verbose : bool, default=False
        Show a progress bar on stderr.
    random_state : int, Generator, RandomState or None, default=None
        Seed of a reference that is fitted here.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_terms)
        Change of the prediction per standard deviation of each term.
    intercept_ : ndarray of shape (1,)
        Prediction at the mean of all terms.
    coef_draws_, intercept_draws_ : ndarray
        The same per draw, (n_draws, 1, n_terms) and (n_draws, 1).
    terms_ : Terms
        Features, and one term per category but the first.
    fidelity_ : float
        Share of the variance of the reference's mean that the model reproduces.
    reference_ : Reference
        The reference as passed, or made here.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from clearwood import ProjectedLinearRegression, reference
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> ref = reference(BayesianRidge().fit(X, X[:, 0]), random_state=0)
    >>> model = ProjectedLinearRegression(ref).fit(X)
    >>> bool(model.fidelity_ > 0.99)
    True
    """

    _task = "regression"

    def _project(
        self, columns: np.ndarray, predictive: PredictiveDraws, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        unit = float(predictive.draws.std()) or 1.0
        penalty = {self.penalty: self.alpha}
        intercept, coef = fit_linear(
            columns, predictive.draws / unit, weight, **penalty
        )
        return unit * intercept[:, None], unit * coef[:, None]

    def _predict_columns(self, columns: np.ndarray) -> np.ndarray:
        return self._scores(columns)[:, 0]

    def _quantity(self) -> str:
        return "the prediction"

    @accepts_tables()
    def predict(self, X: Any) -> np.ndarray:
        """Predict with the linear model.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            For Dask a lazy collection.
        """
        return self._predict_rows(X)


class ProjectedLogisticRegression(ClassifierMixin, _ProjectedLinear):
    """Logistic regression projected from a Bayesian reference model.

    It is fitted to the reference's probabilities as soft labels. Parameters and
    attributes are those of :class:`ProjectedLinearRegression`, with one output for two
    classes and otherwise one per class, except for those below.

    Parameters
    ----------
    reference, penalty, max_terms, draws, verbose, random_state
        As in :class:`ProjectedLinearRegression`.
    alpha : float, default=0.01
        Factor of the penalty relative to the cross-entropy summed over rows.

    Attributes
    ----------
    coef_, intercept_, coef_draws_, intercept_draws_, terms_, reference_
        As in :class:`ProjectedLinearRegression`; log odds in place of values.
    classes_ : ndarray of shape (n_classes,)
        Class labels, in the reference's order.
    divergence_ : float
        Kullback-Leibler divergence from the reference, in nats per row.
    fidelity_ : float
        Share by which that is less than the divergence of a constant.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clearwood import ProjectedLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ProjectedLogisticRegression(draws="mean", random_state=0).fit(X, y)
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    """

    _task = "classification"

    def _project(
        self, columns: np.ndarray, predictive: PredictiveDraws, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        penalty = {self.penalty: self.alpha}
        fitted = [
            fit_logistic(columns, draw, weight, **penalty) for draw in predictive.draws
        ]
        return np.array([f[0] for f in fitted]), np.array([f[1] for f in fitted])

    def _predict_columns(self, columns: np.ndarray) -> np.ndarray:
        return probabilities_of(self._scores(columns))

    def _quantity(self) -> str:
        if len(self.classes_) > 2:
            return "each class's log probability (up to a constant common to all)"
        first, second = map(prediction_text, self.classes_)
        return f"the log odds of {second} against {first}"

    @accepts_tables(shares=True)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            For Dask a lazy collection.
        """
        return self._predict_rows(X)

    @accepts_tables()
    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            For Dask a lazy collection.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
