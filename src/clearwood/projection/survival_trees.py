"""Small trees of survival curves, projected from draws of survival probabilities.

Horizons divide time into intervals, of which the last has no end. Which of them holds
the event is a class, with the probabilities S(t_k-1) - S(t_k) of a row. By the chain
rule the divergence between two such distributions is the sum, over the intervals, of
the divergence between their hazards, weighted by survival up to the interval: that of
the discrete-time likelihood of survival, censored at the last horizon. So trees grow,
and are pruned and chosen, as for class probabilities (section 3.3), and the optimal
survival of a leaf is the mean over its rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood.columns.validation import interval_ends
from clearwood.outcomes.kaplan_meier import curve_of_draws
from clearwood.outcomes.survival import Survival, survival_of
from clearwood.projection.estimators import ProjectedTree
from clearwood.projection.predictive_draws import PredictiveDraws
from clearwood.rules import RuleList, Training
from clearwood.rules.evaluation.sums import described
from clearwood.rules.evaluation.survival_scores import CurvePredictions


class ProjectedTreeSurvival(CurvePredictions, ProjectedTree):
    """Small tree of survival curves, projected from draws of survival probabilities.

    The tree is nearest to the reference in Kullback-Leibler divergence of the time of
    the event, in intervals between the horizons; later events are censored. Each leaf
    is printed with the mean of its survival over the draws, their central 95 %, and the
    median, for which hazards of the mean are constant between horizons. Parameters and
    attributes are those of :class:`ProjectedTreeRegressor`, except ``family``.

    Parameters
    ----------
    reference : Reference
        With ``horizons``, as made by :func:`clearwood.reference` of draws of survival
        probabilities, of shape (n_draws, n_samples, n_horizons), or of a function.
    n_leaf_nodes, alpha, complexity, max_leaf_nodes, draws, refine, tolerance, \
min_samples_leaf, exclude_features, round_thresholds, verbose, random_state
        As in :class:`ProjectedTreeRegressor`. In ``fit``, ``y`` are survival times, as
        in :class:`RuleListSurvival`, of which events are counted in each leaf; sizes
        are evaluated by the reference alone.

    Attributes
    ----------
    rules_, tree_, trees_, size_path_, alpha_, fidelity_, draw_trees_, reference_
        As in :class:`ProjectedTreeRegressor`; ``predict`` returns the mean of the
        survival at the horizons. ``rule.curve`` is the curve of a leaf.
    leaves_ : Leaves
        ``means`` are the probabilities of an event in each interval, and after the
        last horizon.

    Examples
    --------
    >>> import numpy as np
    >>> from clearwood import ProjectedTreeSurvival, reference
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 2))
    >>> rate = np.where(X[:, 0] > 0.5, 1.0, 0.2) * rng.gamma(50, 1 / 50, size=(100, 1))
    >>> draws = np.exp(-rate[..., None] * [1.0, 2.0])
    >>> ref = reference(draws, X, horizons=[1, 2])
    >>> print(ProjectedTreeSurvival(ref, random_state=0).fit(X).rules_)
    1. if x0 <= 0.5
       then survival 82 % [77, 86] at 1, 67 % [60, 73] at 2  (87 rows, agreement 1)
    2. otherwise survival 37 % [28, 46] at 1, 14 % [8, 21] at 2, median 0.701  (113
         rows, agreement 1)
    """

    _task = "survival"

    def _family(self) -> str:
        return "classes"

    def _positions(self, y: np.ndarray) -> np.ndarray:
        return y

    def _uses_labels(self, labels: np.ndarray | None) -> bool:
        return False

    def _training(
        self,
        X: Any,
        labels: np.ndarray | None,
        weight: np.ndarray,
        predictive: PredictiveDraws,
    ) -> Training:
        source = self.reference_
        mean = PredictiveDraws(survival_of(predictive.draws).mean(axis=2), None)
        rows = super()._training(X, None, weight, mean)
        outcome = Survival((), source.horizons, source.time_unit)
        return replace(rows, outcome=outcome)

    def _completed(self, own: PredictiveDraws, training: Training, labels: Any) -> Any:
        chosen = [tree is self.tree_ for tree in self.trees_].index(True)
        self.trees_ = tuple(
            tree.with_leaves(self._with_curves(tree.to_rules(), own, training, labels))
            for tree in self.trees_
        )
        self.tree_ = self.trees_[chosen]
        rules = self.rules_.with_lines(self.tree_.to_rules())
        self.rules_ = rules.with_target("survival")
        return self.leaves_.predictive(rules.apply_encoded(training.encoded)).mean

    def _with_curves(
        self,
        rules: RuleList,
        predictive: PredictiveDraws,
        training: Training,
        labels: np.ndarray | None,
    ) -> RuleList:
        """Leaves with the draws of their curves and of the mean over the horizons."""
        leaf, events = rules.apply_encoded(training.encoded), [None] * rules.n_rules
        if labels is not None:
            own = leaf[labels["event"]]
            events = np.bincount(own, minlength=rules.n_rules).tolist()
        draws = survival_of(self._leaves(predictive, training, rules).means)
        means = draws.mean(axis=2)
        rules = rules.with_lines(
            replace(
                rule,
                curve=curve_of_draws(draws[:, i], self._horizons, events[i]),
                prediction=float(means[:, i].mean().round(4)),
            )
            for i, rule in enumerate(rules)
        )
        rules = described(rules, training.counted)
        ends = np.quantile(means, [0.025, 0.975], axis=0).T
        ends[ends[:, 0] == ends[:, 1]] = np.nan
        return rules.with_lines(
            replace(rule, statistics=replace(rule.statistics, low=low, high=high))
            for rule, (low, high) in zip(rules, ends.tolist())
        )

    @property
    def _horizons(self) -> tuple[float, ...]:
        return self.rules_.outcome.horizons

    def predict_draws(self, X: Any) -> np.ndarray:
        """Survival at the horizons under each posterior draw.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_horizons)
        """
        return survival_of(super().predict_draws(X))

    def predict_interval(self, X: Any, coverage: float = 0.95) -> np.ndarray:
        """Interval of the mean survival of the leaf at each horizon, over the draws.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.95

        Returns
        -------
        ndarray of shape (n_samples, n_horizons, 2)
            Lower and upper ends.
        """
        ends = interval_ends(coverage)
        return np.moveaxis(np.quantile(self.predict_draws(X), ends, axis=0), 0, -1)
