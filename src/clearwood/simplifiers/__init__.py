"""Tree ensembles simplified to a few rules.

Each method is a file or a folder: ``rule_list``, ``additive``, ``distilled_tree``,
``born_again/``, ``fab/``, ``in_trees/``, ``node_harvest/``. Names are loaded on first
use, so that the table of methods is cheap to import.
"""

from importlib import import_module
from typing import Any

METHODS = {
    "list": "RuleList",
    "tree": "DistilledTree",
    "born-again": "BornAgainTree",
    "additive": "AdditiveRules",
    "in-trees": "InTrees",
    "fab": "FABRules",
    "em": "FABRules",
    "node-harvest": "NodeHarvest",
}
"""Names of the two estimators of a method without the ending, Classifier or
Regressor."""

_HOME = {
    "RuleList": "rule_list",
    "DistilledTree": "distilled_tree",
    "BornAgainTree": "born_again.estimators",
    "AdditiveRules": "additive",
    "InTrees": "in_trees.estimators",
    "FABRules": "fab.estimators",
    "NodeHarvest": "node_harvest.estimators",
}
_NAMES = {
    f"{method}{kind}": home
    for method, home in _HOME.items()
    for kind in ("Classifier", "Regressor")
} | {"make_simplifier": "api", "simplify": "api"}

__all__ = sorted([*_NAMES, "METHODS"])


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
