"""
An imbalanced class
===================

Few payments are fraudulent, and a forest detects few of them. Two parameters give the
minority class a larger weight in the rules.
"""

# %%
# The payments are simulated, with a known probability of fraud.
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
print(f"{(y_test == 'fraud').mean():.1%} of test payments are fraud")

# %%
# The forest predicts the more probable class. ``scoring="balanced"`` selects rules by
# balanced accuracy; ``class_weight`` sets the cost of a false negative relative to a
# false positive.
settings = {
    "balanced": {"scoring": "balanced"},
    "4 to 1": {"class_weight": {"fraud": 4, "fine": 1}},
}
fitted = {
    name: cw.RuleListClassifier(forest, max_rules=6, random_state=0, **chosen).fit(
        X_train, y_train
    )
    for name, chosen in settings.items()
}
for name, model in {"forest": forest, **fitted}.items():
    predicted, is_fraud = model.predict(X_test) == "fraud", y_test == "fraud"
    print(
        f"{name:9} stops {predicted.sum():4} payments and finds "
        f"{(predicted & is_fraud).sum():3} of {is_fraud.sum()} frauds"
    )

# %%
# Such a rule can predict fraud with a probability below one half, which it prints.
print(fitted["4 to 1"].rules_)
calls = cw.rules.DecisionsDisplay.from_estimator(
    fitted["4 to 1"], X_test, y_test, pos_label="fraud"
)
