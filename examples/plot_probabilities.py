"""
Calibration of rules
====================

Each rule prints the probability of its class on new rows, with a confidence interval.
This example compares these probabilities with observed frequencies.
"""

# %%
# The class is whether the progression of diabetes after one year exceeds the median. It
# is hard to predict, so that probabilities are more informative than classes.
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import clearwood as cw

X, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
y = progression.gt(progression.median()).map({True: "worse", False: "better"})
X_train, X_test, y_train, y_test = train_test_split(
    X, y.rename("course"), test_size=0.4, random_state=0
)
forest = RandomForestClassifier(200, min_samples_leaf=5, random_state=0)
forest.fit(X_train, y_train)

# %%
# ``scoring="log_loss"`` selects the size and settings by probabilities, not by classes.
rules = cw.RuleListClassifier(
    forest, max_rules=8, scoring="log_loss", random_state=0
).fit(X_train, y_train)
print(rules.rules_)

# %%
# Test log loss of the rules and of the forest.
for name, model in {"forest": forest, "rules": rules}.items():
    print(f"{name:7} log loss {log_loss(y_test, model.predict_proba(X_test)):.3f}")
print(f"uninformative    {-np.log(0.5):.3f}")

# %%
# Predicted and observed frequencies of each rule.
calls = cw.rules.DecisionsDisplay.from_estimator(
    rules, X_test, y_test, pos_label="worse"
)
