"""
A tree for gradient boosting
============================

A gradient boosting model for three cultivars of wine is approximated by one small tree,
whose leaves are disjoint rules.
"""

# %%
# Histograms show the distribution of the wines at each split.
from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

import clearwood as cw

data = load_wine(as_frame=True)
X = data.data
y = data.target.map({0: "barolo", 1: "grignolino", 2: "barbera"}).rename("wine")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = HistGradientBoostingClassifier(max_iter=50, random_state=0)
model.fit(X_train, y_train)
tree = cw.DistilledTreeClassifier(model, max_rules=5, random_state=0)
tree.fit(X_train, y_train)
chart = cw.rules.TreeDisplay.from_estimator(tree, X_train, y_train)

# %%
# The rules, and their scores on test data.
print(tree.rules_)
print(tree.rules_.evaluate(X_test, y_test, model=model))

# %%
# The path of one wine through the tree.
path = cw.rules.TreeDisplay.from_estimator(tree, X_train, y_train, row=X_test.iloc[[0]])
