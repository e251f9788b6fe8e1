"""Fitting rules of all sizes at once, and choosing a size.

A method defines how rules grow from one size to the next in bins, and how they are
printed. The loop is here: rules are fitted to two thirds of the rows and evaluated on
mixtures of the others, which the ensemble was not trained on, three times; then they
are fitted to all rows; and of all sizes, the smallest within half a standard error of
the best is chosen. For classes the score is proper, the log loss: by agreement a
constant would be best if a class is rare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from clearwood._estimators import Interval, StrOptions, fit_context
from clearwood._numeric import weighted_mean_and_error
from clearwood._numeric.fold_roles import N_FOLDS, draw_folds
from clearwood._numeric.progress import progress
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules import RuleSet, Training, Tree
from clearwood.search import candidate_boxes
from clearwood.simplifiers._common.base import BaseRuleExtractor
from clearwood.simplifiers._common.cross_fitting import Change
from clearwood.simplifiers._common.fewer_cuts import with_fewer_cuts
from clearwood.simplifiers._common.flaws import (
    Flaw,
    SingleSplit,
    diagnose,
    varies,
)
from clearwood.simplifiers._common.scoring import class_weights, losses_of
from clearwood.simplifiers._common.synthetic_rows import (
    default_number,
    evaluation_rows,
    with_synthetic_rows,
)

MOST_EVALUATED = 10_000
"""Maximum number of rows, drawn at random, to choose the size."""

ENOUGH_ERRORS = 0.5
"""Standard errors within which a smaller size is chosen: with a whole one, the loss on
new rows exceeds the benefit of fewer rules."""

N_SYNTHETIC: list[Any] = [
    StrOptions({"auto"}),
    Interval(Integral, 0, None, closed="left"),
]
"""Constraint of ``n_synthetic``, for methods that learn from synthetic rows."""


class BaseSizePath(BaseRuleExtractor):
    """Fits a path of rules, and chooses a size on held-out rows.

    A subclass is a method: ``_fit`` and ``_print`` are its steps, ``_about`` names it.
    """

    max_rules: int
    n_synthetic: int | str = 0
    scoring: Any = "auto"
    _method_remedy = "Find the method of highest fidelity (compare)."
    class_weight: Any = None
    # Results shared by kinds of rules that are fitted to the same rows with the same
    # seed, see ``_choose_size``; None for a single kind.
    _cache: dict[Any, Any] | None = None

    def _fit(self, training: Training, generator: np.random.Generator) -> Sequence[Any]:
        """Rules in bins of increasing size.

        They have ``boxes``, and ``predict`` a grid.
        """
        raise NotImplementedError

    def _print(self, training: Training, path: Sequence[Any]) -> Sequence[RuleSet]:
        """The rules of one path in the units of the data."""
        raise NotImplementedError

    def _about(self) -> dict[str, str]:
        """Entries of ``about`` on how the rules were found."""
        raise NotImplementedError

    def _training(self, *args: Any) -> Training:
        training = super()._training(*args)
        bins = with_fewer_cuts(training.bins, training.encoded)
        training = replace(training, bins=bins)
        given = self.class_weight
        if given is None and self.scoring == "balanced":
            given = "balanced"
        if given is None:
            return training
        return replace(training, class_weight=class_weights(training, given))

    def _predict_bins(self, rules: Any, rows: Training) -> np.ndarray:
        """Predictions of rules in bins: class probabilities, or values."""
        predicted = rules.predict(rows.grid)
        return (
            predicted
            if predicted.ndim == rows.target.ndim
            else rows.outcome.certain(predicted)
        )

    @fit_context
    def _choose_size(self, X: Any, *rows: Any, cache: dict[Any, Any]) -> None:
        """Choose a size without a final fit; share results by a cache."""
        self._cache = cache
        self._settle(*self._begin(X, *rows))

    def _begin(self, *rows: Any) -> tuple[Training, np.random.Generator]:
        begin = super()._begin
        return self._cached(("begun", type(self)), lambda: begin(*rows))

    def _settle(self, training: Training, generator: np.random.Generator) -> int:
        """Choose a size; a seed for the next step."""

        def settled() -> int:
            size = training.n_folds + 2
            first, *others = generator.integers(2**63, size=size).tolist()
            self.n_rules_, self.cv_results_ = self._choose(training, others)
            return first

        return self._cached(("settled", type(self)), settled)

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        seed = self._settle(training, generator)
        n_synthetic = self._n_synthetic(training)
        rows, generator = self._rows_to_fit(training, n_synthetic, seed)
        path = self._print(rows, self._fit(rows, generator))
        # Two paths may end up with the same size, if a region occurs twice.
        by_size = {rules.n_rules: rules for rules in path}
        self.path_ = tuple(by_size[size] for size in sorted(by_size))
        self.rules_ = [r for r in self.path_ if r.n_rules <= self.n_rules_][-1]
        return self._about() | self._goals(training)

    def _move(self, features: FeatureSpace, place: dict[int, int]) -> None:
        super()._move(features, place)
        self.path_ = tuple(rules.in_columns(features, place) for rules in self.path_)

    def _goals(self, training: Training) -> dict[str, str]:
        """Entries of ``about`` for parameters that differ from the defaults."""
        goals = {}
        if isinstance(self.scoring, str) and self.scoring != "auto":
            goals["scoring"] = self.scoring
        if training.class_weight is not None:
            pairs = zip(training.classes, training.class_weight)
            goals["class_weight"] = ", ".join(f"{c} {w:.4g}" for c, w in pairs)
        return goals

    def _remedy(self, flaw: Flaw, training: Training, split: SingleSplit) -> str:
        """A size without this flaw, or a parameter that makes rules more specific."""
        for rules in self.path_:
            against = diagnose(rules, training, split, self.min_samples_leaf)
            if not {one.kind for one in against} & {flaw.kind, "constant"}:
                n = rules.n_rules
                return f"Request {n} rules (n_rules={n}, --n-rules {n})."
        if flaw.kind == "constant" and len(training.used_features):
            return (
                "No rule of so many rows reduces the loss enough; allow fewer "
                f"(min_samples_leaf={self.min_samples_leaf}, --min-samples-leaf), or "
                "fit the model more closely."
            )
        has_weights = "class_weight" in self.get_params()
        if flaw.kind == "never_predicted" and has_weights and self.class_weight is None:
            return (
                "Weight rare classes as much as others (class_weight='balanced', "
                "--class-weight balanced)."
            )
        if self.path_[-1].n_rules == self.max_rules:
            most = 2 * self.max_rules
            return f"Allow more rules (max_rules={most}, --max-rules {most})."
        return super()._remedy(flaw, training, split)

    def _refit(self, training: Training, generator: np.random.Generator) -> RuleSet:
        """As in the base class, without synthetic rows, which need the ensemble."""
        other = copy(self).set_params(
            round_thresholds=False, max_rules=self.n_rules_, learn_from="labels"
        )
        path = other._fit(training, generator)
        return other._print(training, path[-1:])[-1]

    def _n_synthetic(self, training: Training) -> int:
        if self.learn_from == "labels":
            # Labels of synthetic rows are unknown.
            if self.n_synthetic not in ("auto", 0):
                raise InputError(
                    f"n_synthetic={self.n_synthetic} requests rows without labels, but "
                    "learn_from='labels'; set n_synthetic='auto', or "
                    "learn_from='model'."
                )
            return 0
        if self.n_synthetic == "auto":
            return default_number(len(training))
        return int(self.n_synthetic)

    def _candidates(
        self, training: Training, generator: np.random.Generator
    ) -> np.ndarray:
        """Candidate boxes; none if a single rule is requested."""
        grid = training.grid
        if self.max_rules == 1:
            return np.zeros((0, int(grid.n_bins.sum())), dtype=bool)

        def candidates() -> tuple[np.ndarray, Any]:
            scores, weight = training.standardised, training.weight
            found = candidate_boxes(grid, scores, weight, generator)
            return found, generator.bit_generator.state

        # The same state of the generator means the same rows.
        before = generator.bit_generator.state["state"]["state"]
        found, state = self._cached(("candidates", before), candidates)
        generator.bit_generator.state = state  # the same after a cached result
        return found

    def _rows_to_fit(
        self, rows: Training, n_synthetic: int, seed: int
    ) -> tuple[Training, np.random.Generator]:
        """Rows with synthetic ones, and a generator for the next step."""

        def with_more() -> tuple[Training, np.random.Generator]:
            generator, more = np.random.default_rng(seed), rows
            if n_synthetic:
                more = with_synthetic_rows(more, self.ensemble_, n_synthetic, generator)
            return more, generator

        more, generator = self._cached(("rows", seed, n_synthetic), with_more)
        return more, deepcopy(generator)

    def _cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """Compute a value once per key, shared between kinds of rules."""
        if self._cache is None:
            return make()
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def _choose(
        self, training: Training, seeds: list[int]
    ) -> tuple[int, dict[str, list[float]] | None]:
        """A size, and scores of all on held-out rows if there is a choice."""
        if self.n_rules != "auto" or self.max_rules == 1 or len(training) < N_FOLDS:
            return self._most_rules, None
        results = self._cross_validate(self._some(training, seeds[0]), seeds)
        # A single rule explains nothing of a model with varying predictions.
        fewest = 2 if varies(training.target) else 1
        enough = ENOUGH_ERRORS if self.preset is None else 0.0
        return max(fewest_rules(results, enough), fewest), results

    @staticmethod
    def _some(training: Training, seed: int) -> Training:
        """A random sample of very many rows, sufficient to choose a size."""
        if len(training) <= MOST_EVALUATED:
            return training
        generator = np.random.default_rng((seed, 2))
        rows = generator.choice(len(training), MOST_EVALUATED, replace=False)
        return training.take(np.sort(rows))

    def _cross_validate(
        self, training: Training, seeds: list[int]
    ) -> dict[str, list[float]]:
        """Fit to two thirds of the rows and evaluate on the others, three times.

        Or by the folds of ``cv``. ``seeds``: one for the folds and one per fold.
        Returns, for each size, fidelity (share of equal classes, or R2) and its
        standard error; and the same for the score that decides, if it is another one.
        """
        from joblib import Parallel, delayed

        n_rows, generator = len(training), np.random.default_rng(seeds[0])
        folds = draw_folds(n_rows, training.folds, generator, n_rows)
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        parts = parallel(
            delayed(self._held_out_losses)(training, *fold, seed)
            for fold, seed in zip(folds, seeds[1:])
        )
        by_fold = list(progress(parts, len(folds), "held-out parts", self.verbose))
        held = np.concatenate([held for _, held in folds])
        # In the order of the rows, on which the last digits of sums depend.
        order = np.argsort(held, kind="stable")
        losses = np.concatenate(by_fold, axis=-1)[..., order]
        mean, error = weighted_mean_and_error(losses, training.weight[held[order]])
        score, error = (1.0 - mean).tolist(), error.tolist()
        found = {"fidelity": score[0], "standard_error": error[0]}
        scoring = training.outcome.scoring if self.scoring == "auto" else self.scoring
        if scoring == "agreement":
            return found
        return found | {"score": score[1], "score_error": error[1]}

    def _held_out_losses(
        self, training: Training, kept: np.ndarray, held: np.ndarray, seed: int
    ) -> np.ndarray:
        """Losses of all rules on each of the held-out rows.

        By agreement and by ``scoring``: (2, sizes, rows).
        """
        test = self._cached(
            ("evaluation", seed), lambda: self._evaluation_rows(training, held, seed)
        )
        rows = training.take(kept)
        n_synthetic = round(self._n_synthetic(training) * len(rows) / len(training))
        losses = np.empty((2, self.max_rules, len(held)))
        for rules in self._fit(*self._rows_to_fit(rows, n_synthetic, seed)):
            predicted = self._predict_bins(rules, test)
            for j, scoring in enumerate(("agreement", self.scoring)):
                wrong = losses_of(scoring, test, predicted)
                wrong = wrong.reshape(len(held), -1).mean(axis=1)
                losses[j, len(rules.boxes) :] = wrong
        return losses

    def _evaluation_rows(
        self, training: Training, held: np.ndarray, seed: int
    ) -> Training:
        """Rows to evaluate rules on, equally many for each held-out row.

        The ensemble was trained on the rows themselves, so it predicts for mixtures of
        them; labels are only known for the rows.
        """
        if self.learn_from == "labels":
            return training.take(held)
        generator = np.random.default_rng((seed, 1))
        n_each = math.ceil(default_number(len(training)) / len(training))
        return evaluation_rows(training.take(held), self.ensemble_, n_each, generator)


def deciding(results: dict[str, list[float]]) -> tuple[list[float], list[float]]:
    """The score that decides, and its standard error: fidelity if there is no other."""
    if "score" in results:
        return results["score"], results["score_error"]
    return results["fidelity"], results["standard_error"]


def fewest_rules(
    results: dict[str, list[float]], n_errors: float = ENOUGH_ERRORS
) -> int:
    """The smallest size within so many standard errors of the best."""
    score, error = deciding(results)
    best = int(np.argmax(score))
    enough = np.array(score) >= score[best] - n_errors * error[best]
    return int(enough.argmax()) + 1


class BaseTreePath(BaseSizePath):
    """Fit trees of all sizes, and keep them as trees too.

    A subclass prints one of them in ``_print_tree``.
    """

    trees_: tuple[Tree, ...]
    tree_: Tree

    def _print_tree(self, training: Training, tree: Any) -> Tree:
        """A tree of bins in the units of the data."""
        raise NotImplementedError

    def _print(self, training: Training, path: Sequence[Any]) -> Sequence[RuleSet]:
        self.trees_ = tuple(self._print_tree(training, tree) for tree in path)
        return [tree.to_rules() for tree in self.trees_]

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        about = super()._find_rules(training, generator)
        self.tree_ = [t for t in self.trees_ if t.n_leaves <= self.n_rules_][-1]
        return about

    def _move(self, features: FeatureSpace, place: dict[int, int]) -> None:
        super()._move(features, place)
        at = [tree is self.tree_ for tree in self.trees_].index(True)
        self.trees_ = tuple(tree.in_columns(features, place) for tree in self.trees_)
        self.tree_ = self.trees_[at]

    def _change_rules(self, change: Change) -> None:
        at = [tree is self.tree_ for tree in self.trees_].index(True)
        self.trees_ = tuple(
            tree.with_leaves(change(tree.to_rules())) for tree in self.trees_
        )
        self.tree_ = self.trees_[at]
        super()._change_rules(change)
