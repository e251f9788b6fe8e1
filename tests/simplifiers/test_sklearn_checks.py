"""scikit-learn's own conformance checks."""

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearwood import (
    AdditiveRulesClassifier,
    AdditiveRulesRegressor,
    BornAgainTreeClassifier,
    BornAgainTreeRegressor,
    DistilledTreeClassifier,
    DistilledTreeRegressor,
    FABRulesClassifier,
    FABRulesRegressor,
    InTreesClassifier,
    InTreesRegressor,
    NodeHarvestClassifier,
    NodeHarvestRegressor,
    RuleListClassifier,
    RuleListRegressor,
)

# A forest draws rows, so that a weight is not the same as repeated rows to it.
INNER = {"check_sample_weight_equivalence_on_dense_data": "the forest fails it"}


def few_trees(ensemble):
    return ensemble(n_estimators=5, max_depth=4, random_state=0)


@parametrize_with_checks(
    [
        BornAgainTreeClassifier(max_rules=3, n_node_rows=100),
        BornAgainTreeRegressor(n_rules=3, p_alt=0.5, n_node_rows=100),
        DistilledTreeClassifier(n_rules=3, max_rules=3, n_synthetic=200),
        DistilledTreeRegressor(max_rules=2, n_synthetic=200),
        FABRulesClassifier(n_restarts=2),
        FABRulesRegressor(n_restarts=2),
        FABRulesClassifier(few_trees(RandomForestClassifier), n_restarts=2),
        FABRulesRegressor(few_trees(RandomForestRegressor), n_restarts=2, method="em"),
        InTreesClassifier(max_rules=3),
        InTreesRegressor(max_rules=3),
        InTreesClassifier(few_trees(RandomForestClassifier)),
        RuleListClassifier(n_rules=3, max_rules=3, tune=None),
        RuleListRegressor(max_rules=2, tune=None),
        RuleListClassifier(
            few_trees(RandomForestClassifier), n_rules=3, max_rules=3, tune=None
        ),
        NodeHarvestClassifier(max_rules=4, min_rows=3),
        NodeHarvestRegressor(max_rules=4),
        NodeHarvestClassifier(few_trees(RandomForestClassifier), max_rules=None),
        AdditiveRulesClassifier(n_rules=3, max_rules=3, tune=None),
        AdditiveRulesRegressor(max_rules=2, tune=None, n_synthetic=300),
        AdditiveRulesClassifier(
            few_trees(RandomForestClassifier), n_rules=3, max_rules=3, tune=None
        ),
    ],
    expected_failed_checks=lambda e: {} if e.estimator is None else INNER,
)
def test_conformance(estimator, check):
    check(estimator)
