"""
A scorecard
===========

Additive rules have a constant and a number of points for each rule that holds. Here
they approximate a gradient boosting model that classifies tumours.
"""

# %%
# The model, and six additive rules.
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split

import clearwood as cw

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target.map({0: "malignant", 1: "benign"}).rename("tumour")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = GradientBoostingClassifier(random_state=0).fit(X_train, y_train)
card = cw.AdditiveRulesClassifier(model, n_rules=6, random_state=0)
card.fit(X_train, y_train)
print(card.rules_)
print(card.rules_.evaluate(X_test, y_test, model=model))

# %%
# The points of one patient.
print(cw.explain(card.rules_, X_test.iloc[0]))

# %%
# Confusion matrix at a threshold of 0.3, and calibration.
calls = cw.rules.DecisionsDisplay.from_estimator(
    card, X_test, y_test, pos_label="malignant", threshold=0.3
)
