"""Rules, rule sets, bins of features, and their evaluation."""

from clearwood._lazy import loader, names_in
from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules.bins import FeatureBins, Statements
from clearwood.rules.building.lists import (
    build_rule_list,
    build_rule_set,
    build_rule_sum,
)
from clearwood.rules.building.shorten import prune_by_coverage, prune_by_prediction
from clearwood.rules.conditions import (
    CategorySet,
    Condition,
    Interval,
    region_conditions,
)
from clearwood.rules.evaluation.statistics import RuleStatistics
from clearwood.rules.rule import Rule
from clearwood.rules.rule_kinds import RuleAverage, RuleList, RuleSum
from clearwood.rules.rule_set import RuleSet
from clearwood.rules.scores import RuleScores
from clearwood.rules.several_targets import MultiOutputRules, MultiOutputScores
from clearwood.rules.training import Training
from clearwood.rules.tree import BinSplit, Question, Tree, build_tree, print_tree

_DISPLAYS = names_in(
    {
        "rules.decisions": "Decisions Residuals",
        "rules.decisions.display": "DecisionsDisplay ResidualsDisplay",
        "rules.monitoring": "Monitoring",
        "rules.displays": "PathDisplay RegionsDisplay",
        "rules.drawn.display": "TreeDisplay",
        "rules.importances.display": "ImportancesDisplay",
        "rules.importances.permuted": "Importances",
        "rules.row_explanation": "Explanation",
    }
)
"""Names that are loaded when they are first used, and their modules."""

__all__ = [
    "BinSplit",
    "CategorySet",
    "Condition",
    "Decisions",
    "DecisionsDisplay",
    "Explanation",
    "FeatureBins",
    "FeatureSpace",
    "Importances",
    "ImportancesDisplay",
    "Interval",
    "Monitoring",
    "MultiOutputRules",
    "MultiOutputScores",
    "PathDisplay",
    "Question",
    "RegionsDisplay",
    "Residuals",
    "ResidualsDisplay",
    "Rule",
    "RuleAverage",
    "RuleList",
    "RuleScores",
    "RuleSet",
    "RuleStatistics",
    "RuleSum",
    "Statements",
    "Training",
    "Tree",
    "TreeDisplay",
    "build_rule_list",
    "build_rule_set",
    "build_rule_sum",
    "build_tree",
    "print_tree",
    "prune_by_coverage",
    "prune_by_prediction",
    "region_conditions",
]

__getattr__ = loader(__name__, _DISPLAYS)
