"""
LightGBM with categorical features
==================================

Rules for a LightGBM model with categorical columns use the names of the categories. The
data are simulated, so that the truth is known: repairs are expensive for vans in all
towns, and for other cars older than six years in three of eight towns.
"""

# %%
# The data have missing values.
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
# The rules contain category names. An unseen category is treated as by the model.
rules = cw.RuleListClassifier(booster, max_rules=6, random_state=0)
rules.fit(X[train], y[train].rename("repair"))
print(rules.rules_)
print(rules.rules_.evaluate(X[test], y[test], model=booster))

# %%
# Each rule on test rows.
rules.rules_.described_on(X[test], y[test], model=booster)

# %%
# Permutation importance in the model and in the rules.
bars = cw.rules.ImportancesDisplay.from_estimator(rules, X[test])
