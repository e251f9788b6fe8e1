"""Clearwood turns a model that nobody can read into one that anybody can.

Names are loaded when they are first used, so that importing the library is cheap.
"""

from importlib import import_module
from typing import Any

from clearwood.families import OWN

__version__ = "0.1.0"

_HOME = {
    "BayesianBootstrapForest": "clearwood.references",
    "CategorySet": "clearwood.rules",
    "Decisions": "clearwood.rules.decisions",
    "DecisionsDisplay": "clearwood.rules.decisions.display",
    "Explanation": "clearwood.rules.row_explanation",
    "FeatureBins": "clearwood.rules",
    "FeatureSpace": "clearwood.rules",
    "Frontier": "clearwood.comparison",
    "FrontierDisplay": "clearwood.comparison.display",
    "FrontierPoint": "clearwood.comparison",
    "Importances": "clearwood.rules.importances.permuted",
    "ImportancesDisplay": "clearwood.rules.importances.display",
    "Interval": "clearwood.rules",
    "ModelCheck": "clearwood.ensembles",
    "PathDisplay": "clearwood.rules.displays",
    "Reference": "clearwood.references",
    "RegionsDisplay": "clearwood.rules.displays",
    "Residuals": "clearwood.rules.decisions",
    "ResidualsDisplay": "clearwood.rules.decisions.display",
    "Rule": "clearwood.rules",
    "RuleAverage": "clearwood.rules",
    "RuleList": "clearwood.rules",
    "RuleScores": "clearwood.rules",
    "RuleSet": "clearwood.rules",
    "RuleSum": "clearwood.rules",
    "Stability": "clearwood.comparison.stability",
    "Tree": "clearwood.rules",
    "TreeDisplay": "clearwood.rules.drawn.display",
    "TreeEnsemble": "clearwood.ensembles",
    "check": "clearwood.persistence",
    "compare": "clearwood.comparison",
    "decisions": "clearwood.rules.decisions",
    "explain": "clearwood.rules.explain",
    "load": "clearwood.persistence",
    "measure_importances": "clearwood.rules.importances.permuted",
    "read_ensemble": "clearwood.ensembles",
    "reference": "clearwood.references",
    "report": "clearwood.reporting",
    "save": "clearwood.persistence",
    "stability": "clearwood.comparison.stability",
} | {name: module for family in OWN for name, module in family.public.items()}
"""The module of each name: of the results and verbs of all families, and of each."""

_ROOMS = (
    "circuits", "codec", "comparison", "distributions", "datasets", "discretize",
    "ensembles", "exceptions", "families", "metatree", "projection", "references",
    "reporting", "rules", "sampling", "sbfc", "sequences",
)  # fmt: skip

__all__ = sorted([*_HOME, *_ROOMS, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(f"clearwood.{name}")
    raise AttributeError(f"module 'clearwood' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
