"""
A rare class
============

Few payments are fraud, and a forest names few of them. Rules can be told that fraud
matters, in two ways.
"""

# %%
# The payments are made up; what makes fraud likelier is known, and never certain.
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import clearwood as cw

rng = np.random.default_rng(0)
n = 4000
X = pd.DataFrame(
    {
        "amount": np.exp(rng.normal(4, 1, n)).round(2),
        "hour": rng.integers(0, 24, n),
        "abroad": rng.random(n) < 0.2,
        "days_known": rng.gamma(1.5, 200, n).round(),
    }
)
chance = 0.005 + 0.5 * (X.abroad & (X.amount > 80)) + 0.15 * (X.days_known < 20)
y = pd.Series(np.where(rng.random(n) < chance, "fraud", "fine"), name="payment")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
forest = RandomForestClassifier(50, min_samples_leaf=10, random_state=0)
forest.fit(X_train, y_train)
print(f"{(y_test == 'fraud').mean():.1%} of new payments are fraud")

# %%
# A forest calls fraud what is more likely fraud than not. ``scoring="balanced"``
# chooses the lines so that both classes count the same; ``class_weight`` says what a
# miss costs in false alarms.
ways = {
    "balanced": {"scoring": "balanced"},
    "4 to 1": {"class_weight": {"fraud": 4, "fine": 1}},
}
fitted = {
    name: cw.RuleListClassifier(forest, max_rules=6, random_state=0, **settings).fit(
        X_train, y_train
    )
    for name, settings in ways.items()
}
for name, model in {"forest": forest, **fitted}.items():
    said, is_fraud = model.predict(X_test) == "fraud", y_test == "fraud"
    print(
        f"{name:9} stops {said.sum():4} payments and finds "
        f"{(said & is_fraud).sum():3} of {is_fraud.sum()} frauds"
    )

# %%
# Such a rule names fraud where fine is more probable, and prints how probable it is.
print(fitted["4 to 1"].rules_)
calls = cw.rules.DecisionsDisplay.from_estimator(
    fitted["4 to 1"], X_test, y_test, pos_label="fraud"
).plot()
