"""
LightGBM with categories
========================

A booster that knows text columns as they are, and its rules in the same words. The
table is made up, so that what is true is known: small cars are dear to repair in three
of eight towns, large ones everywhere.
"""

# %%
# Gaps and all.
import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier

import clearwood as cw

rng = np.random.default_rng(0)
towns = ["Ahlen", "Borken", "Celle", "Dorsten", "Emden", "Fulda", "Goch", "Husum"]
X = pd.DataFrame(
    {
        "town": pd.Categorical(rng.choice(towns, 1500)),
        "body": pd.Categorical(rng.choice(["small", "estate", "van"], 1500)),
        "age": rng.integers(0, 20, 1500).astype(float),
        "km": (rng.gamma(3, 30, 1500)).round() * 1000,
    }
)
is_dear = (X.body == "van") | X.town.isin(["Celle", "Emden", "Husum"]) & (X.age > 6)
y = pd.Series(np.where(is_dear ^ (rng.random(1500) < 0.08), "dear", "cheap"))
X.loc[rng.random(1500) < 0.1, "km"] = np.nan
train, test = slice(0, 1000), slice(1000, None)
booster = LGBMClassifier(n_estimators=60, num_leaves=15, verbose=-1, n_jobs=1)
booster.fit(X[train], y[train].rename("repair"))

# %%
# The rules name the categories. One that the booster has never seen goes where the
# booster sends it.
rules = cw.RuleListClassifier(booster, max_rules=6, random_state=0)
rules.fit(X[train], y[train].rename("repair"))
print(rules.rules_)
print(rules.rules_.evaluate(X[test], y[test], model=booster))

# %%
# Line by line, on new rows.
rules.rules_.described_on(X[test], y[test], model=booster)

# %%
# Do booster and rules look at the same columns?
bars = cw.rules.ImportancesDisplay.from_estimator(rules, X[test]).plot()
