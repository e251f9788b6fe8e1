"""
A forest on four quarters
=========================

The classes of Synthetic1 alternate over the quarters of the unit square, and one
label in ten is wrong. A forest of a hundred trees gets the quarters right but
needs thousands of small boxes for that. A few rules say the same.
"""

# %%
# Train the forest and look at its size.
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw
from clearwood.datasets import make_synthetic1

X, y = make_synthetic1(1000, random_state=0)
X_test, y_test = make_synthetic1(1000, random_state=1)
forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0).fit(X, y)
print(sum(tree.get_n_leaves() for tree in forest.estimators_), "leaves")

# %%
# The rules that explain it.
fab = cw.FABRulesClassifier(forest, max_rules=10, random_state=0).fit(X, y)
print(fab.rules_)

# %%
# What was lost: compare the error of the rules with that of the forest.
print("forest error", round(1 - forest.score(X_test, y_test), 3))
print(fab.rules_.evaluate(X_test, y_test, model=forest))

# %%
# The rules as boxes over the data.
display = cw.rules.RegionsDisplay.from_estimator(fab, X, y)
display.plot()
