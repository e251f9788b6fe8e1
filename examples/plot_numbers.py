"""
Additive rules for regression
=============================

The target is the progression of diabetes after one year. Several features have additive
effects, which a sum of rules describes better than a rule list of the same length.
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
# Comparison with a rule list of the same length and with the model.
rule_list = cw.RuleListRegressor(model, max_rules=8, random_state=0)
rule_list.fit(X_train, y_train)
for name, estimator in {"sum": rules, "list": rule_list, "model": model}.items():
    print(f"{name:6} test R2 {estimator.score(X_test, y_test):.2f}")

# %%
# Predicted and observed values on the test set.
errors = cw.rules.ResidualsDisplay.from_estimator(rules, X_test, y_test)

# %%
# Permutation importance in the rules and in the model.
bars = cw.rules.ImportancesDisplay.from_estimator(rules, X_test)
