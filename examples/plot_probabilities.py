"""
Do the probabilities hold?
==========================

Each line prints how probable its class is on new rows, with an interval. Here what the
lines promise is compared with what comes.
"""

# %%
# Is diabetes worse than usual a year later? Nobody can be sure, so probabilities matter
# more than classes.
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
# ``scoring="log_loss"`` chooses size and settings by probabilities, not by classes.
rules = cw.RuleListClassifier(
    forest, max_rules=8, scoring="log_loss", random_state=0
).fit(X_train, y_train)
print(rules.rules_)

# %%
# New patients: what does it cost to read eight lines in place of two hundred trees?
for name, model in {"forest": forest, "rules": rules}.items():
    print(f"{name:7} log loss {log_loss(y_test, model.predict_proba(X_test)):.3f}")
print(f"no model         {-np.log(0.5):.3f}")

# %%
# Promised and found, line by line.
calls = cw.rules.DecisionsDisplay.from_estimator(
    rules, X_test, y_test, pos_label="worse"
).plot()
