"""
Pipelines and neural networks
=============================

Rules for a pipeline refer to the original columns: splits of a forest behind encoders
and scalers are transformed back exactly. A model without trees, such as a neural
network, is used as a black box.
"""

# %%
# A table with text and missing values, and a forest after the usual preprocessing.
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


def preprocessed(model):
    return make_pipeline(
        make_column_transformer(
            (OneHotEncoder(), ["status"]),
            (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]),
        ),
        model,
    )


pipeline = preprocessed(RandomForestClassifier(50, min_samples_leaf=5, random_state=0))
pipeline.fit(X, y)

# %%
# The forest in the original columns. Its predictions equal those of the pipeline.
ensemble = cw.read_ensemble(pipeline)
print(ensemble)
print((ensemble.predict(X) == pipeline.predict(X)).all())

# %%
# Rules in the original units and categories.
rules = cw.RuleListClassifier(pipeline, max_rules=6, random_state=0)
print(rules.fit(X, y).rules_)

# %%
# A neural network has no splits. Thresholds are placed where its predictions change;
# the rules record this.
network = preprocessed(MLPClassifier((16,), max_iter=1000, random_state=0)).fit(X, y)
rules = cw.RuleListClassifier(network, max_rules=6, random_state=0)
print(rules.fit(X, y).rules_)
print(rules.rules_.about["cuts"])
print(rules.rules_.evaluate(X, y, model=network))
