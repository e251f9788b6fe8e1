"""
Choosing a method and a number of rules
=======================================

`compare` evaluates several methods at several sizes by cross-validation. The chart
shows the error by the number of rules.
"""

# %%
# The forest is passed unfitted, so that it is refitted without the test rows.
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw

data = load_wine(as_frame=True)
X, y = data.data, data.target.map({0: "barolo", 1: "grignolino", 2: "barbera"})
forest = RandomForestClassifier(50, random_state=0)
frontier = cw.compare(
    forest,
    X,
    y.rename("wine"),
    methods=["list", "tree", "additive"],
    max_rules=8,
    cv=3,
    n_refits=2,
    random_state=0,
)
print(frontier)

# %%
# Filled points are on the Pareto frontier; the dashed line is the forest.
chart = cw.comparison.FrontierDisplay.from_frontier(frontier).plot()

# %%
# The best result with at most five rules.
print(frontier.best(max_rules=5))
