"""Fitting rules of all sizes at once, and choosing settings and a size.

A method defines its settings, how rules grow from one size to the next in bins, and how
they are printed. The loop is here: with each of the settings, rules are fitted to two
thirds of the rows and evaluated on mixtures of the others, which the ensemble was not
trained on, three times; with the best settings they are fitted to all rows; and of all
sizes, the smallest within half a standard error of the best is chosen. For classes the
score is proper, the log loss: by agreement a constant would be best if a class is rare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from clearwood._estimators import Interval, StrOptions, fit_context
from clearwood._numeric import weighted_mean_and_error
from clearwood._numeric.progress import progress
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules import RuleSet, Training, Tree
from clearwood.search import candidate_boxes
from clearwood.simplifiers._common.base import BaseRuleExtractor
from clearwood.simplifiers._common.cross_fitting import N_FOLDS, Change
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

TUNED_ROWS = 2000
"""Number of rows above which settings hardly matter, and are not tuned."""

MOST_EVALUATED = 10_000
"""Maximum number of rows, drawn at random, to choose size and settings."""

ENOUGH_ERRORS = 0.5
"""Standard errors within which a smaller size is chosen: with a whole one, the loss on
new rows exceeds the benefit of fewer rules."""

N_SYNTHETIC: list[Any] = [
    StrOptions({"auto"}),
    Interval(Integral, 0, None, closed="left"),
]
"""Constraint of ``n_synthetic``, for methods that learn from synthetic rows."""


class BaseSizePath(BaseRuleExtractor):
    """Fits a path of rules, and chooses settings and a size on held-out rows.

    A subclass is a method: ``_settings``, ``_fit`` and ``_print`` are its steps, and
    ``_about`` names it.
    """

    max_rules: int
    n_synthetic: int | str = 0
    tune: str | None = None
    scoring: Any = "auto"
    _method_remedy = "Find the method of highest fidelity (compare)."
    class_weight: Any = None
    # Results shared by kinds of rules that are fitted to the same rows with the same
    # seed, see ``_choose_size``; None for a single kind.
    _cache: dict[Any, Any] | None = None

    def _settings(self, training: Training) -> Sequence[Any]:
        """Named tuples of settings that may be tuned, the default first.

        Each has a field ``synthetic``: whether synthetic rows are used.
        """
        raise NotImplementedError

    def _fit(
        self,
        training: Training,
        settings: Sequence[Any],
        generator: np.random.Generator,
    ) -> Sequence[Sequence[Any]]:
        """For each of the settings, rules in bins of increasing size.

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
        asked = self.class_weight
        if asked is None and self.scoring == "balanced":
            asked = "balanced"
        if asked is None:
            return training
        return replace(training, class_weight=class_weights(training, asked))

    def _predict_bins(self, rules: Any, rows: Training) -> np.ndarray:
        """Predictions of rules in bins: class probabilities, or values."""
        predicted = rules.predict(rows.grid)
        return (
            predicted
            if predicted.ndim == rows.target.ndim
            else rows.outcome.certain(predicted)
        )

    @fit_context
    def _choose_size(
        self, X: Any, y: Any = None, weight: Any = None, *, cache: dict[Any, Any]
    ) -> None:
        """Choose settings and a size without a final fit; share results by a cache."""
        self._cache = cache
        self._settle(*self._begin(X, y, weight))

    def _begin(self, *rows: Any) -> tuple[Training, np.random.Generator]:
        begin = super()._begin
        return self._cached(("begun", type(self)), lambda: begin(*rows))

    def _settle(
        self, training: Training, generator: np.random.Generator
    ) -> tuple[Any, int]:
        """Settings of the fit, and a seed for the next step."""

        def settled() -> tuple[Any, int]:
            settings = self._settings(training)
            if self.tune is None or len(training) >= TUNED_ROWS:
                settings = settings[:1]
            first, *others = generator.integers(2**63, size=N_FOLDS + 2).tolist()
            found = self._choose(training, settings, others)
            chosen, self.n_rules_, self.cv_results_ = found
            self.settings_ = chosen._asdict()
            return chosen, first

        return self._cached(("settled", type(self)), settled)

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        chosen, seed = self._settle(training, generator)
        n_synthetic = self._n_synthetic(training) if chosen.synthetic else None
        rows, generator = self._rows_to_fit(training, n_synthetic, seed)
        (path,) = self._fit(rows, [chosen], generator)
        # Two paths may end up with the same size, if a region occurs twice.
        by_size = {rules.n_rules: rules for rules in self._print(rows, path)}
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
        if flaw.kind == "constant" and len(training.asked):
            return (
                "No rule of so many rows reduces the loss enough; allow fewer "
                f"(min_samples_leaf={self.min_samples_leaf}, --min-samples-leaf), or "
                "fit the model more closely."
            )
        has_weights = "class_weight" in self.get_params()
        if flaw.kind == "unsaid" and has_weights and self.class_weight is None:
            return (
                "Weight rare classes as much as others (class_weight='balanced', "
                "--class-weight balanced)."
            )
        if self.path_[-1].n_rules == self.max_rules:
            most = 2 * self.max_rules
            return f"Allow more rules (max_rules={most}, --max-rules {most})."
        return super()._remedy(flaw, training, split)

    def _refit(self, training: Training, generator: np.random.Generator) -> RuleSet:
        """As in the base class, with the chosen settings and without synthetic rows."""
        other = copy(self).set_params(round_thresholds=False, max_rules=self.n_rules_)
        chosen = self._settings(training)[0]._replace(**self.settings_)
        chosen = self._without_synthetic(chosen)
        (path,) = other._fit(training, [chosen], generator)
        return other._print(training, path[-1:])[-1]

    @staticmethod
    def _without_synthetic(chosen: Any) -> Any:
        """The same settings without synthetic rows, which need the ensemble."""
        return chosen._replace(synthetic=False)

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

    def _synthetic_or_not(self, training: Training) -> tuple[bool, ...]:
        """Options for synthetic rows: those to try, the default first."""
        return (True, False) if self._n_synthetic(training) else (False,)

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
        self, rows: Training, n_synthetic: int | None, seed: int
    ) -> tuple[Training, np.random.Generator]:
        """Rows with synthetic ones, and a generator for the next step."""

        def with_more() -> tuple[Training, np.random.Generator]:
            generator, more = np.random.default_rng(seed), rows
            if n_synthetic is not None:
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
        self, training: Training, settings: Sequence[Any], seeds: list[int]
    ) -> tuple[Any, int, dict[str, list[Any]] | None]:
        """Settings, size, and scores on held-out rows if there is a choice."""
        n_rules, is_free = self._most_rules, self.n_rules == "auto"
        no_choice = len(settings) == 1 and not is_free
        if no_choice or self.max_rules == 1 or len(training) < N_FOLDS:
            return settings[0], n_rules, None
        held_out = self._cross_validate(self._some(training, seeds[0]), settings, seeds)
        best = held_out.best_settings(None if is_free else n_rules)
        if is_free:
            # A single rule explains nothing of a model with varying predictions.
            fewest = 2 if varies(training.target) else 1
            n_rules = max(held_out.fewest_rules(best), fewest)
        results = {
            name: [getattr(tried, name) for tried in settings]
            for name in settings[0]._fields
        } | {
            name: part.tolist()
            for name, part in held_out._asdict().items()
            if part is not None
        }
        return settings[best], n_rules, results

    @staticmethod
    def _some(training: Training, seed: int) -> Training:
        """A random sample of very many rows, sufficient to choose settings."""
        if len(training) <= MOST_EVALUATED:
            return training
        generator = np.random.default_rng((seed, 2))
        rows = generator.choice(len(training), MOST_EVALUATED, replace=False)
        return training.take(np.sort(rows))

    def _cross_validate(
        self, training: Training, settings: Sequence[Any], seeds: list[int]
    ) -> HeldOutFidelity:
        """Fit to two thirds of the rows and evaluate on the others, three times.

        ``seeds``: one for the folds and one per fold. Synthetic rows and candidate
        boxes are the same for all settings.
        """
        from joblib import Parallel, delayed

        order = np.random.default_rng(seeds[0]).permutation(len(training))
        folds = [np.sort(part) for part in np.array_split(order, N_FOLDS)]
        alike = [
            [i for i, tried in enumerate(settings) if tried.synthetic == synthetic]
            for synthetic in (True, False)
        ]
        pieces = [
            (held, seed, group)
            for held, seed in zip(folds, seeds[1:])
            for group in alike
            if group
        ]
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        parts = parallel(
            delayed(self._held_out_losses)(
                training, held, [settings[i] for i in group], seed
            )
            for held, seed, group in pieces
        )
        losses = np.zeros((2, len(settings), self.max_rules, len(training)))
        parts = progress(parts, len(pieces), "held-out parts", self.verbose)
        for part, (held, _, group) in zip(parts, pieces):
            losses[:, group, :, held[:, None]] = np.moveaxis(part, 2, 1)
        mean, error = weighted_mean_and_error(losses, training.weight)
        found = HeldOutFidelity(1.0 - mean[0], error[0])
        scoring = training.outcome.scoring if self.scoring == "auto" else self.scoring
        if scoring == "agreement":
            return found
        return found._replace(score=1.0 - mean[1], score_error=error[1])

    def _held_out_losses(
        self,
        training: Training,
        held: np.ndarray,
        settings: Sequence[Any],
        seed: int,
    ) -> np.ndarray:
        """Losses of all rules on each of the held-out rows.

        By agreement and by ``scoring``: (rows, 2, settings, sizes).
        """
        test = self._cached(
            ("evaluation", seed), lambda: self._evaluation_rows(training, held, seed)
        )
        rows = training.take(np.setdiff1d(np.arange(len(training)), held))
        n_synthetic = None
        if settings[0].synthetic:
            n_all = self._n_synthetic(training)
            n_synthetic = round(n_all * len(rows) / len(training))
        rows, generator = self._rows_to_fit(rows, n_synthetic, seed)
        losses = np.empty((len(held), 2, len(settings), self.max_rules))
        for i, path in enumerate(self._fit(rows, settings, generator)):
            for rules in path:
                predicted = self._predict_bins(rules, test)
                for j, scoring in enumerate(("agreement", self.scoring)):
                    wrong = losses_of(scoring, test, predicted)
                    wrong = wrong.reshape(len(held), -1).mean(axis=1)
                    losses[:, j, i, len(rules.boxes) :] = wrong[:, None]
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


class HeldOutFidelity(NamedTuple):
    """Scores of rules on held-out rows.

    Attributes
    ----------
    fidelity : ndarray of shape (n_settings, max_rules)
        Share of equal classes, or R2, of rules of maximum size 1, 2, ...
    standard_error : ndarray of shape (n_settings, max_rules)
    score, score_error : ndarray of shape (n_settings, max_rules), or None
        The same for the deciding score if it is not fidelity, higher is better.
    """

    fidelity: np.ndarray
    standard_error: np.ndarray
    score: np.ndarray | None = None
    score_error: np.ndarray | None = None

    @property
    def _judged(self) -> tuple[np.ndarray, np.ndarray]:
        """The deciding score and its standard error."""
        if self.score is None or self.score_error is None:
            return self.fidelity, self.standard_error
        return self.score, self.score_error

    def best_settings(self, n_rules: int | None) -> int:
        """Index of the best settings, at a size or at the best one."""
        score, _ = self._judged
        if n_rules is None:
            return int(score.max(axis=1).argmax())
        return int(score[:, n_rules - 1].argmax())

    def fewest_rules(self, settings: int) -> int:
        """The smallest size within half a standard error of the best."""
        score, error = (part[settings] for part in self._judged)
        best = int(score.argmax())
        enough = score >= score[best] - ENOUGH_ERRORS * error[best]
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
