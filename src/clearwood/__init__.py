"""Clearwood turns a model that nobody can read into one that anybody can.

Names are loaded when they are first used, so that importing the library is cheap.
Results and displays are in the module of their family, as in
``clearwood.rules.TreeDisplay``.
"""

from importlib import import_module
from typing import Any

from clearwood._lazy import loader, names_in
from clearwood.families import OWN

__version__ = "0.2.0"

_HOME = names_in(
    {
        "comparison": "compare",
        "comparison.difference": "difference",
        "comparison.stability": "stability",
        "ensembles": "TreeEnsemble read_ensemble",
        "outcomes.effect": "EffectScores",
        "persistence": "check load save",
        "references": "BayesianBootstrapForest Reference reference",
        "reporting": "report validation_document",
        "rules": "FeatureSpace Interval Rule RuleList RuleSet",
        "rules.decisions": "decisions",
        "rules.explain": "explain",
        "rules.importances.permuted": "permutation_importance",
        "simplifiers.alternatives": "alternatives",
        "simplifiers.effects": "effect_scores",
        "rules.monitoring": "monitor",
    }
) | {name: module for family in OWN for name, module in family.public.items()}
"""The module of each name: of the results and verbs of all families, and of each."""

_SUBMODULES = (
    "circuits", "codec", "comparison", "distributions", "datasets", "discretize",
    "ensembles", "exceptions", "exploration", "families", "metatree", "mlflow",
    "projection", "references", "reporting", "results", "rules", "sampling", "sbfc",
    "sequences", "simplifiers",
)  # fmt: skip

__all__ = sorted([*_HOME, "__version__"])

_load = loader(__name__, _HOME)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"clearwood.{name}")
    return _load(name)


def __dir__() -> list[str]:
    return __all__
