"""Clearwood turns a model that nobody can read into one that anybody can.

Names are loaded when they are first used, so that importing the library is cheap.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "AdditiveRulesClassifier": "simplifiers",
    "AdditiveRulesRegressor": "simplifiers",
    "AutomatonDisplay": "sequences.reading.automaton_display",
    "BayesianBootstrapForest": "references",
    "BinaryBinner": "discretize",
    "BornAgainTreeClassifier": "simplifiers",
    "BornAgainTreeRegressor": "simplifiers",
    "CategorySet": "rules",
    "CircuitDisplay": "circuits.reading.display",
    "ConditionalDisplay": "circuits.reading.curves",
    "Decisions": "rules.decisions",
    "DecisionsDisplay": "rules.decisions.display",
    "DifferenceDisplay": "projection.judging.t_test_display",
    "DistilledTreeClassifier": "simplifiers",
    "DistilledTreeRegressor": "simplifiers",
    "Explanation": "rules.explain",
    "FABPathDisplay": "simplifiers.fab.display",
    "FABRulesClassifier": "simplifiers",
    "FABRulesRegressor": "simplifiers",
    "FeatureBins": "rules",
    "FeatureGraphDisplay": "sbfc.reading.display",
    "FeatureSpace": "rules",
    "FidelityCurveDisplay": "sequences.reading.display",
    "Frontier": "comparison",
    "FrontierDisplay": "comparison.display",
    "FrontierPoint": "comparison",
    "GraphSizesDisplay": "sbfc.reading.draws_display",
    "HMMLSTM": "sequences",
    "HiddenMarkovModel": "sequences",
    "HybridSPN": "circuits",
    "ImportancesDisplay": "rules.importances.display",
    "Importances": "rules.importances.permuted",
    "InTreesClassifier": "simplifiers",
    "InTreesRegressor": "simplifiers",
    "Interval": "rules",
    "LearnSPN": "circuits",
    "LeavesDisplay": "projection.display",
    "LocalDisplay": "projection.display",
    "LocalExplanation": "projection",
    "LogPosteriorDisplay": "sbfc.reading.draws_display",
    "MDLPDiscretizer": "discretize",
    "MetaForestClassifier": "metatree",
    "MetaForestRegressor": "metatree",
    "MetaTreeClassifier": "metatree",
    "MetaTreeDisplay": "metatree.reading.display",
    "MetaTreeRegressor": "metatree",
    "MethodComparison": "projection",
    "MiniSPN": "circuits",
    "ModelCheck": "ensembles",
    "NetworkSizesDisplay": "circuits.reading.sizes_display",
    "NodeHarvestClassifier": "simplifiers",
    "NodeHarvestRegressor": "simplifiers",
    "ParetoSPN": "circuits",
    "PathDisplay": "rules.displays",
    "ProjectedLinearRegression": "projection",
    "ProjectedLogisticRegression": "projection",
    "ProjectedRuleListClassifier": "projection",
    "ProjectedRuleListRegressor": "projection",
    "ProjectedTreeClassifier": "projection",
    "ProjectedTreeRegressor": "projection",
    "RecurrentExplanation": "sequences",
    "Reference": "references",
    "RegionsDisplay": "rules.displays",
    "Rule": "rules",
    "Residuals": "rules.decisions",
    "ResidualsDisplay": "rules.decisions.display",
    "RuleAverage": "rules",
    "RuleList": "rules",
    "RuleListClassifier": "simplifiers",
    "RuleListRegressor": "simplifiers",
    "RuleScores": "rules",
    "RuleSet": "rules",
    "RuleSum": "rules",
    "RulesDisplay": "rules.displays",
    "SPNClassifier": "circuits",
    "SPNImputer": "circuits",
    "SelectiveBayesianForestClassifier": "sbfc",
    "SignalDisplay": "sbfc.reading.display",
    "SizePathDisplay": "projection.display",
    "Stability": "comparison.stability",
    "StatesDisplay": "sequences.reading.states_display",
    "StepSurpriseDisplay": "sequences.reading.display",
    "SurpriseDisplay": "circuits.reading.surprise_display",
    "SweepsDisplay": "sequences.reading.sweeps_display",
    "Tree": "rules",
    "TreeDisplay": "rules.drawn.display",
    "TreeEnsemble": "ensembles",
    "TreeStabilityDisplay": "projection.judging.stability_display",
    "check": "persistence",
    "compare": "comparison",
    "compare_methods": "projection",
    "decisions": "rules.decisions",
    "explain": "rules.explain",
    "explain_local": "projection",
    "explain_rnn": "sequences",
    "load": "persistence",
    "measure_importances": "rules.importances.permuted",
    "read_ensemble": "ensembles",
    "reference": "references",
    "report": "reporting",
    "save": "persistence",
    "simplify": "simplifiers",
    "stability": "comparison.stability",
    "state_trees": "sequences",
}
_ROOMS = (
    "circuits", "comparison", "conjugate", "datasets", "discretize", "ensembles",
    "exceptions", "metatree", "projection", "references", "reporting", "rules",
    "sampling", "sbfc", "sequences",
)  # fmt: skip

__all__ = sorted([*_HOME, *_ROOMS, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"clearwood.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(f"clearwood.{name}")
    raise AttributeError(f"module 'clearwood' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
