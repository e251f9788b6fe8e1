"""
A number, as a sum of rules
===========================

How far diabetes has come a year later is a number, and several things add up to it. A
sum says more of that in few lines than a list.
"""

# %%
# The model is a forest.
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split

import clearwood as cw

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
y.name = "progression"
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = RandomForestRegressor(100, min_samples_leaf=5, random_state=0)
model.fit(X_train, y_train)
rules = cw.AdditiveRulesRegressor(model, max_rules=8, random_state=0)
rules.fit(X_train, y_train)
print(rules.rules_)

# %%
# A list of the same length, and the model.
listed = cw.RuleListRegressor(model, max_rules=8, random_state=0)
listed.fit(X_train, y_train)
for name, found in {"sum": rules, "list": listed, "model": model}.items():
    print(f"{name:6} R2 on new patients {found.score(X_test, y_test):.2f}")

# %%
# What the sum says, and what came.
errors = cw.rules.ResidualsDisplay.from_estimator(rules, X_test, y_test).plot()

# %%
# Which measurements matter to the sum, and to the model?
bars = cw.rules.ImportancesDisplay.from_estimator(rules, X_test).plot()
