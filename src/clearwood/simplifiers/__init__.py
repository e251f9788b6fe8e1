"""Tree ensembles simplified to a few rules.

Each method is a file or a folder: ``rule_list``, ``additive``, ``distilled_tree``,
``born_again/``, ``fab/``, ``in_trees/``, ``node_harvest/``. Names are loaded on first
use, so that the table of methods is cheap to import.
"""

from clearwood._lazy import loader, names_in

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
_NAMES = names_in(
    {
        f"simplifiers.{home}": f"{method}Classifier {method}Regressor"
        for method, home in _HOME.items()
    }
    | {
        "simplifiers.survival.estimators": "DistilledTreeSurvival RuleListSurvival",
        "simplifiers.alternatives": "Alternatives alternatives",
        "simplifiers.api": "make_simplifier simplify",
        "simplifiers.fab.display": "FABPathDisplay",
    }
)

__all__ = sorted([*_NAMES, "METHODS"])


__getattr__ = loader(__name__, _NAMES)


def __dir__() -> list[str]:
    return __all__
