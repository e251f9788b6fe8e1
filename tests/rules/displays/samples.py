"""What the tests of several displays need."""

import numpy as np

from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import Interval, Rule, RuleList, RuleStatistics, RuleSum

LONG = "height of the building in metres above the lowest ground beside it"
UNBROKEN = "a_name_without_any_place_to_break_it_" * 3


def boxes_list(target="y"):
    """Rule 1 takes the upper right of rule 2; both ask features 0 and 1 only."""
    return RuleList(
        (
            Rule((Interval(0, low=0.5), Interval(1, low=0.5)), "b", (0.0, 1.0, 0.0)),
            Rule((Interval(0, low=0.2),), "c", (0.0, 0.0, 1.0)),
        ),
        Rule((), "a", (1.0, 0.0, 0.0)),
        FeatureSpace.numeric(3),
        ("a", "b", "c"),
        target=target,
    )


def values_sum():
    return RuleSum(
        (
            Rule((Interval(0, low=0.5),), -8.0, statistics=RuleStatistics(30.0, 30.0)),
            Rule((Interval(1, low=0.5),), 2.0, statistics=RuleStatistics(60.0, 60.0)),
        ),
        Rule((), 20.0, statistics=RuleStatistics(100.0, 100.0)),
        FeatureSpace.numeric(2),
    )


def scores_sum(n_classes):
    rng = np.random.default_rng(0)

    def rule(conditions, rows):
        scores = rng.normal(size=n_classes)
        scores[0] *= n_classes > 2
        best = classes[int(scores.argmax())]
        return Rule(
            conditions,
            best,
            scores=tuple(scores.tolist()),
            statistics=RuleStatistics(rows, rows),
        )

    classes = tuple(f"kind {k} of a thing" for k in range(n_classes))
    rules = tuple(rule((Interval(0, low=k / 10),), 10.0 * k) for k in range(1, 5))
    space = FeatureSpace.numeric(2)
    return RuleSum(rules, rule((), 100.0), space, classes)
