"""
A rule list for a random forest
===============================

A random forest of two hundred trees classifies three cultivars of wine by thirteen
measurements. A rule list approximates it with a few rules, and charts show the
reliability of each.
"""

# %%
# Train the forest on half of the wines.
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import clearwood as cw

data = load_wine(as_frame=True)
X = data.data
y = data.target.map({0: "barolo", 1: "grignolino", 2: "barbera"}).rename("wine")
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
forest = RandomForestClassifier(200, random_state=0).fit(X_train, y_train)
print("forest error", round(1 - forest.score(X_test, y_test), 3))

# %%
# The list is fitted to the predictions of the forest. Cross-validation on the training
# rows selects its length.
rules = cw.RuleListClassifier(forest, max_rules=8, random_state=0)
rules.fit(X_train, y_train)
print(rules.rules_)
print(rules.rules_.evaluate(X_test, y_test, model=forest))

# %%
# Each rule on the test set: the number of rows it applies to, the share for which the
# forest agrees, and its precision.
rules.rules_.described_on(X_test, y_test, model=forest)

# %%
# Error and fidelity by the length of the list. The marked length is the selected one:
# the shortest within one standard error of the best.
path = cw.rules.PathDisplay.from_estimator(rules, X_test, y_test)

# %%
# The rules in the plane of two features. Dashed boxes have conditions on further
# features; the background is coloured where these two features determine the
# prediction.
boxes = cw.rules.RegionsDisplay.from_estimator(
    rules, X_test, y_test, features=("flavanoids", "proline")
)
