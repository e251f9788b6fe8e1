"""Estimators that fit rules of all sizes at once, and choose a size."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from clearwood._estimators import Interval, StrOptions
from clearwood.rules import RuleSet, Training, Tree
from clearwood.simplifiers._common.base import RulesFromEnsemble
from clearwood.simplifiers._common.cross_validation import (
    N_FOLDS,
    TUNED_ROWS,
    cross_validate,
)
from clearwood.simplifiers._common.lesson import Job, Lesson, make_job, make_lesson
from clearwood.simplifiers._common.synthetic_rows import default_number
from clearwood.simplifiers._common.teacher import Teacher

MADE_ROWS: dict[str, Any] = {
    "n_synthetic": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")]
}
"""Constraint of those who learn from rows that are made beforehand."""


class RulesOnPath(RulesFromEnsemble):
    """Fits a path of rules, and chooses settings and a size on held-out rows.

    A subclass says which settings there are, how a path is fitted, and how its steps
    are printed.
    """

    _parameter_constraints: dict[str, Any] = {
        "estimator": "no_validation",
        "n_rules": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_rules": [Interval(Integral, 1, None, closed="left")],
        "forbidden": "no_validation",
        "verbose": ["verbose"],
        "n_jobs": [None, Integral],
        "random_state": "no_validation",
    }

    n_rules: int | str
    max_rules: int
    tune: str | None
    n_synthetic: int | str
    n_jobs: int | None
    verbose: bool
    _with_pool = True

    def _settings_to_try(self, job: Job, tune: bool) -> Sequence[Any]:
        """The default settings first; with ``tune`` all others after them."""
        raise NotImplementedError

    def _fit_path(self, job: Job, lesson: Lesson, settings: Any, /) -> Sequence[Any]:
        """Rules that grow from one to the next, in bins."""
        raise NotImplementedError

    def _print_path(
        self, job: Job, lesson: Lesson, path: Sequence[Any], /
    ) -> tuple[RuleSet, ...]:
        """These rules in the data's own terms."""
        raise NotImplementedError

    def _n_made(self, n_rows: int) -> int:
        """How many rows to make."""
        if self.n_synthetic == "auto":
            return default_number(n_rows)
        return int(self.n_synthetic)

    def _about(self) -> dict[str, str]:
        """What the rules say of their making."""
        raise NotImplementedError

    def _find_rules(
        self, teacher: Teacher, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        limits = self._limits(teacher)
        n_rows = len(training.encoded)
        n_made = self._n_made(n_rows)
        n_rules = None if self.n_rules == "auto" else int(self.n_rules)
        longest = max(self.max_rules, n_rules or 1)
        job = make_job(teacher, training, self.bins_, longest, n_made, limits)
        tried = self._settings_to_try(job, self.tune == "auto" and n_rows < TUNED_ROWS)
        seeds = generator.integers(2**63, size=N_FOLDS + 2).tolist()
        chosen = self._choose(job, tried, n_rules, seeds[1:])
        lesson = make_lesson(
            job, training, chosen.augment, seeds[0], with_pool=self._with_pool
        )
        path = self._fit_path(job, lesson, chosen)
        printed = self._print_path(job, lesson, path)
        # Two may end up with as many lines, where a region is one that is there.
        by_size = {rules.n_rules: rules for rules in printed}
        self.path_ = tuple(by_size[size] for size in sorted(by_size))
        self.settings_ = chosen._asdict()
        self.rules_ = self._of_size(self.n_rules_)
        return {**self._about(), **limits.about(self.bins_.features)}

    def _choose(
        self, job: Job, tried: Sequence[Any], n_rules: int | None, seeds: list[int]
    ) -> Any:
        """Settings and size, on held-out rows where there is a choice."""
        self.cv_results_ = None
        self.n_rules_ = job.max_rules if n_rules is None else n_rules
        no_choice = len(tried) == 1 and n_rules is not None
        if no_choice or job.max_rules == 1 or len(job.training.encoded) < N_FOLDS:
            return tried[0]
        validation = cross_validate(
            job,
            tried,
            seeds,
            self.n_jobs,
            self._fit_path,
            self._with_pool,
            self.verbose,
        )
        best = validation.best_settings(n_rules)
        if n_rules is None:
            self.n_rules_ = validation.fewest_rules(best)
        self.cv_results_ = {
            name: [getattr(settings, name) for settings in tried]
            for name in tried[0]._fields
        } | {name: part.tolist() for name, part in validation._asdict().items()}
        return tried[best]

    def _of_size(self, n_rules: int) -> RuleSet:
        """The longest rules with so many lines at most."""
        return [found for found in self.path_ if found.n_rules <= n_rules][-1]


class TreesOnPath(RulesOnPath):
    """Fits trees of all sizes, and keeps them as trees too.

    A subclass says how one of them is printed.
    """

    trees_: tuple[Tree, ...]
    tree_: Tree
    tune = None
    _with_pool = False

    def _print_tree(self, job: Job, lesson: Lesson, tree: Any, /) -> Tree:
        """A tree of bins in the data's own terms."""
        raise NotImplementedError

    def _print_path(
        self, job: Job, lesson: Lesson, path: Sequence[Any]
    ) -> tuple[RuleSet, ...]:
        self.trees_ = tuple(self._print_tree(job, lesson, tree) for tree in path)
        return tuple(tree.to_rules() for tree in self.trees_)

    def _find_rules(
        self, teacher: Teacher, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        about = super()._find_rules(teacher, training, generator)
        fits = [tree for tree in self.trees_ if tree.n_leaves <= self.n_rules_]
        self.tree_ = fits[-1]
        return about
