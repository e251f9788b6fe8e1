"""
Rules for a random forest
=========================

A random forest of a hundred trees classifies tumours as malignant or benign. A short
rule list has nearly the same predictions.
"""

# %%
# The forest is trained on 70 % of the patients.
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import clearwood as cw

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target.map(dict(enumerate(data.target_names)))
X_train, X_test, y_train, y_test = train_test_split(
    X, y.rename("tumour"), test_size=0.3, stratify=y, random_state=0
)
forest = RandomForestClassifier(100, random_state=0).fit(X_train, y_train)

# %%
# The rule list. The first rule that holds predicts.
few = cw.RuleListClassifier(forest, max_rules=10, random_state=0).fit(X_train, y_train)
print(few.rules_)

# %%
# The list as a chart, with counts on the test set.
chart = cw.rules.TreeDisplay.from_estimator(few, X_test, y_test)

# %%
# Error and fidelity on the test set.
print(f"error of the forest {1 - forest.score(X_test, y_test):.3f}")
print(few.rules_.evaluate(X_test, y_test, model=forest))

# %%
# One patient: the rule that applies, and counterfactuals.
print(cw.explain(few.rules_, X_test.iloc[0]))
