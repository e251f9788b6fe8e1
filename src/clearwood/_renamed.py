"""Names of earlier versions, for the error that a use of them raises."""

_MOVED = {
    "circuits": "CircuitDisplay ConditionalDisplay NetworkSizesDisplay",
    "comparison": "Frontier FrontierDisplay FrontierPoint Stability",
    "ensembles": "ModelCheck",
    "metatree": "MetaTreeDisplay",
    "projection": """DifferenceDisplay LeavesDisplay LocalDisplay LocalExplanation
        MethodComparison SizePathDisplay TreeStabilityDisplay""",
    "rules": """CategorySet Decisions DecisionsDisplay Explanation FeatureBins
        Importances ImportancesDisplay PathDisplay RegionsDisplay Residuals
        ResidualsDisplay RuleAverage RuleScores RuleSum Tree TreeDisplay""",
    "sbfc": "FeatureGraphDisplay GraphSizesDisplay LogPosteriorDisplay SignalDisplay",
    "sequences": """AutomatonDisplay FidelityCurveDisplay RecurrentExplanation
        StatesDisplay SweepsDisplay""",
    "simplifiers": "FABPathDisplay",
}
"""Names that moved from the package itself to one of its modules."""

RENAMED = {
    "StepSurpriseDisplay": "sequences.SurprisalDisplay",
    "SurpriseDisplay": "circuits.AnomalyDisplay",
    "measure_importances": "permutation_importance",
} | {
    name: f"{module}.{name}"
    for module, names in _MOVED.items()
    for name in names.split()
}
"""Present name of each former one."""


def hint(name: str) -> str:
    """End of the error of an unknown name: its present one, if it was renamed.

    Examples
    --------
    >>> hint("TreeDisplay"), hint("unknown")
    ('; it is now clearwood.rules.TreeDisplay', '')
    """
    return f"; it is now clearwood.{RENAMED[name]}" if name in RENAMED else ""
