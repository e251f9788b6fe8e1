"""What the tests of several estimators need."""

import numpy as np
import pandas as pd


def people(n=600, seed=0):
    """A table with missing ages and three wards, and who is at risk."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.integers(20, 90, n)),
            "ward": pd.Categorical(rng.choice(["north", "south", "east"], n)),
        }
    )
    risk = (table["age"].fillna(80) > 60) & (table["ward"] != "north")
    return table, np.where(risk, "high", "low")


def check_disjoint_and_true(found, X, min_rows=5):
    """One rule per row; tree, rules and estimator say the same; support."""
    rules = found.rules_
    assert rules.matches(X).sum(axis=1).max(initial=0) <= 1
    np.testing.assert_array_equal(found.predict(X), rules.predict(X))
    np.testing.assert_array_equal(found.tree_.predict(X), rules.predict(X))
    caught = rules.apply(X)
    for i, rule in enumerate(rules):
        assert rule.support == rule.caught == (caught == i).sum() >= min_rows
