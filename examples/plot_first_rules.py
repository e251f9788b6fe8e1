"""
A forest on one page
====================

A hundred trees tell malignant tumours from benign ones. Four lines say nearly the same.
"""

# %%
# Seven of ten patients train the forest.
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
# The rules, from the first to the last: the first that holds decides.
few = cw.RuleListClassifier(forest, max_rules=10, random_state=0).fit(X_train, y_train)
print(few.rules_)

# %%
# As a picture, counted on patients whom neither forest nor rules have seen.
way = cw.rules.TreeDisplay.from_estimator(few, X_test, y_test).plot()

# %%
# What was lost on the way.
print(f"error of the forest {1 - forest.score(X_test, y_test):.3f}")
print(few.rules_.evaluate(X_test, y_test, model=forest))

# %%
# One patient: which rule decided, and what would have to differ for another answer.
print(cw.explain(few.rules_, X_test.iloc[0]))
