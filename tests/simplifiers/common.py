"""What the tests of several methods need."""

import numpy as np


def check_disjoint_and_true(found, X, min_samples_leaf=5):
    """One rule per row; tree, rules and estimator say the same; support."""
    rules = found.rules_
    assert rules.matches(X).sum(axis=1).max(initial=0) <= 1
    np.testing.assert_array_equal(found.predict(X), rules.predict(X))
    np.testing.assert_array_equal(found.tree_.predict(X), rules.predict(X))
    caught = rules.apply(X)
    for i, rule in enumerate(rules):
        assert rule.support == rule.assigned == (caught == i).sum() >= min_samples_leaf
