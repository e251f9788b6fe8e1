"""
A short list for a forest
=========================

A forest of two hundred trees tells three kinds of wine apart by thirteen
measurements. A rule list says in a few lines what the forest says, and the
pictures show how far each line can be trusted.
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
# The list is fitted to what the forest says. Cross-validation inside the training
# rows chooses its length.
rules = cw.RuleListClassifier(forest, max_rules=8, random_state=0)
rules.fit(X_train, y_train)
print(rules.rules_)
print(rules.rules_.evaluate(X_test, y_test, model=forest))

# %%
# What the rules are worth on wines that neither the forest nor the rules have seen:
# how many each decides, how often the forest agrees, and how many of them are what
# the rule says.
rules.rules_.described_on(X_test, y_test, model=forest)

# %%
# How much a longer list would bring. The marked length is the one that was chosen:
# the shortest within one standard error of the best.
path = cw.rules.PathDisplay.from_estimator(rules, X_test, y_test).plot()

# %%
# The rules over the two features that two of them ask. Dashed boxes ask for more
# than the picture shows; the coloured ground is where these two features settle it.
boxes = cw.rules.RegionsDisplay.from_estimator(
    rules, X_test, y_test, features=("flavanoids", "proline")
).plot()
