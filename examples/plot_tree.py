"""
Many trees as one
=================

A gradient boosting for three kinds of wine becomes one small tree: lines that never
overlap, each of which holds by itself.
"""

# %%
# Histograms show the wines at each question.
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
picture = cw.rules.TreeDisplay.from_estimator(tree, X_train, y_train).plot()

# %%
# The same in text, and what is lost on new wines.
print(tree.rules_)
print(tree.rules_.evaluate(X_test, y_test, model=model))

# %%
# A wine's way through the tree.
way = cw.rules.TreeDisplay.from_estimator(
    tree, X_train, y_train, row=X_test.iloc[[0]]
).plot()
