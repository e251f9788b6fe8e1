"""What a comparison found: the rules of every method and size, and their scores."""

from __future__ import annotations

from dataclasses import dataclass

from clearwood.rules import RuleSet


@dataclass(frozen=True)
class FrontierPoint:
    """The rules of one method at one size, and how good they are."""

    method: str
    asked: int
    n_rules: int
    n_literals: int
    error: float
    error_spread: float
    fidelity: float
    coverage: float
    overlap: float
    stability: float
    seconds: float
    on_frontier: bool
    rules: RuleSet | None
    text: str


@dataclass(frozen=True)
class Frontier:
    """All points of a comparison, and what failed."""

    task: str
    model: str
    n_rows: int
    n_folds: int
    n_refits: int
    model_error: float
    model_error_spread: float
    model_refitted: bool
    points: tuple[FrontierPoint, ...]
    failures: tuple[tuple[str, str], ...]
    seconds: float
    feature_names: tuple[str, ...]
    classes: tuple
