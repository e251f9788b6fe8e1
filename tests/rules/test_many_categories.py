"""Rules with many categories are told, explained and exported in linear time.

Categories that count how often they are compared and hashed tell a search of all of
them, one after the other, from a look at each.
"""

import numpy as np
import pytest

from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import CategorySet, Interval, Rule, RuleList

FEW, MANY = 200, 1600


class Code(int):
    """A code that counts how often it is compared or looked up."""

    looks = 0

    def __eq__(self, other):
        Code.looks += 1
        return int(self) == int(other)

    def __hash__(self):
        Code.looks += 1
        return int(self)


def rules_of(n, lookup, unseen):
    labels = tuple(range(n)) if lookup == "integer" else tuple(map(str, range(n)))
    space = FeatureSpace(("ward", "age"), (labels, None), lookup=(lookup, "exact"))
    codes = tuple(Code(code) for code in range(0, n, 2))
    first = Rule((CategorySet(0, codes, unseen=unseen), Interval(1, low=50.0)), 1.0)
    return RuleList((first, Rule((CategorySet(0, codes),), 2.0)), Rule((), 0.0), space)


TOLD = {
    "explain": lambda rules: rules.explain([rules.features.categories[0][1], 60.0]),
    "text": str,
    "html": lambda rules: rules._repr_html_(),
    "python": lambda rules: rules.to_python(),
    "sql": lambda rules: rules.to_sql(),
    "latex": lambda rules: rules.to_latex(),
    "json": lambda rules: rules.to_json(),
}


@pytest.mark.parametrize("unseen", [False, True])
@pytest.mark.parametrize("lookup", ["exact", "integer"])
@pytest.mark.parametrize("tell", TOLD.values(), ids=TOLD.keys())
def test_codes_are_not_sought_one_after_the_other(tell, lookup, unseen):
    looks = []
    for n in (FEW, MANY):
        rules = rules_of(n, lookup, unseen)
        Code.looks = 0
        tell(rules)
        looks.append(Code.looks)
    # Quadratic would be 64 times as many.
    assert looks[1] <= 12 * max(looks[0], FEW)


def test_a_change_asks_each_condition_once_of_all_categories(monkeypatch):
    asked = []
    matches = CategorySet.matches

    def counted(condition, column):
        asked.append(len(column))
        return matches(condition, column)

    monkeypatch.setattr(CategorySet, "matches", counted)
    counts = []
    for n in (FEW, MANY):
        asked.clear()
        told = rules_of(n, "exact", False).explain(["1", 60.0])
        assert told.prediction == 0.0 and told.changes[0].values == ("0",)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_pieces_of_whole_numbers_leave_out_what_is_outside():
    rules = rules_of(6, "integer", unseen=True)
    space = rules.features
    rows = np.array([[x, 60.0] for x in (-1, 0, 0.5, 1, 2, 3.9, 5, 6, 7, np.nan)])
    made = {}
    exec(rules.to_python(), made)
    said = [made["predict"](dict(zip(space.names, row))) for row in rows]
    np.testing.assert_array_equal(said, rules.predict(rows))
