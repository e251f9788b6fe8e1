"""
The Synthetic1 data
===================

The classes of Synthetic1 alternate over the quadrants of the unit square, with 10 %
label noise. A forest of a hundred trees finds the quadrants, but needs thousands of
leaves. A few rules give the same predictions.
"""

# %%
# The number of leaves of the forest.
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw
from clearwood.datasets import make_synthetic1

X, y = make_synthetic1(1000, random_state=0)
X_test, y_test = make_synthetic1(1000, random_state=1)
forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0).fit(X, y)
print(sum(tree.get_n_leaves() for tree in forest.estimators_), "leaves")

# %%
# The rules.
fab = cw.FABRulesClassifier(forest, max_rules=10, random_state=0).fit(X, y)
print(fab.rules_)

# %%
# Test error of the forest and of the rules.
print("forest error", round(1 - forest.score(X_test, y_test), 3))
print(fab.rules_.evaluate(X_test, y_test, model=forest))

# %%
# The rules as boxes, with the data.
display = cw.rules.RegionsDisplay.from_estimator(fab, X, y)
