"""
How many lines, by which method?
================================

Every method in every size, on rows held out: few lines to the left, few errors below.
"""

# %%
# The forest is handed in unfitted, so that it never sees the rows that judge.
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
# Filled points are on the frontier; the dashed line is the forest.
chart = cw.comparison.FrontierDisplay.from_frontier(frontier).plot()

# %%
# The best of at most five lines.
print(frontier.best(max_rules=5))
