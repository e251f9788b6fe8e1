"""
A model in a pipeline, and a network
====================================

Most models stand behind steps that encode and scale. Rules speak of the table as it
was before: the questions of the trees are carried back exactly. What has no trees, a
network for instance, is asked as it stands.
"""

# %%
# A table with text and gaps, and a forest behind the usual steps.
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import clearwood as cw

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": rng.integers(18, 80, 800),
        "income": np.exp(rng.normal(8, 0.6, 800)).round(-1),
        "status": rng.choice(["none", "small", "large"], 800),
    }
)
bad = (X.status == "none") & (X.income < 3500) | (X.age < 25) & (X.status != "large")
X["income"] = X.income.where(rng.random(800) > 0.1)
y = pd.Series(np.where(bad ^ (rng.random(800) < 0.05), "bad", "good"), name="credit")


def behind_steps(model):
    return make_pipeline(
        make_column_transformer(
            (OneHotEncoder(), ["status"]),
            (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]),
        ),
        model,
    )


pipeline = behind_steps(RandomForestClassifier(50, min_samples_leaf=5, random_state=0))
pipeline.fit(X, y)

# %%
# The forest, read in the columns of the table. It decides every row as the pipeline.
ensemble = cw.read_ensemble(pipeline)
print(ensemble)
print((ensemble.predict(X) == pipeline.predict(X)).all())

# %%
# Rules in years, in money, and in words.
rules = cw.RuleListClassifier(pipeline, max_rules=6, random_state=0)
print(rules.fit(X, y).rules_)

# %%
# A network behind the same steps has no trees, so it is asked. Rules look for cuts of
# their own, where what it says changes, and say so.
network = behind_steps(MLPClassifier((16,), max_iter=1000, random_state=0)).fit(X, y)
asked = cw.RuleListClassifier(network, max_rules=6, random_state=0)
print(asked.fit(X, y).rules_)
print(asked.rules_.about["cuts"])
print(asked.rules_.evaluate(X, y, model=network))
