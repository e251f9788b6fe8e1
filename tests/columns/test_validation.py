"""Tables, targets and weights that are none, and what is said of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError

N = 60
X = pd.DataFrame({"age": np.arange(N) % 30, "dose": np.arange(N) / 7})
Y = np.where(X["age"] > 14, "ill", "well")
FOREST = RandomForestClassifier(5, random_state=0).fit(X, Y)


def rules(**changed):
    return cw.RuleListClassifier(FOREST, random_state=0, **changed)


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        (X, "state", "'state'"),
        (X, pd.get_dummies(Y), "60"),
        (Y, X, "'well'"),
        ("data.csv", Y, "'data.csv'"),
        (Path("data.csv"), Y, ""),
        (pl.from_pandas(X).lazy(), Y, "LazyFrame"),
    ],
)
def test_what_is_no_table_or_no_target_is_refused_with_the_remedy(
    table, target, message
):
    with refuses(InputError, match=message):
        rules().fit(table, target)


@pytest.mark.parametrize("weight", ["balanced", {"ill": 2.0}])
def test_weights_are_numbers(weight):
    with pytest.raises(InputError, match="compute_sample_weight"):
        rules().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("library", [lambda frame: frame, pl.from_pandas])
@pytest.mark.parametrize(
    "estimator",
    [
        cw.RuleListClassifier(random_state=0),
        cw.MetaTreeClassifier(),
        cw.SelectiveBayesianForestClassifier(random_state=0),
        cw.SPNClassifier(random_state=0),
    ],
)
def test_a_target_that_is_a_column_of_the_table_is_refused(estimator, library):
    whole = library(X.assign(state=Y))
    with refuses(InputError, match="'state'"):
        estimator.fit(whole, whole["state"])


def test_a_column_that_is_only_called_like_the_target_is_read():
    other = X.assign(state=X["age"])
    fitted = cw.RuleListClassifier(random_state=0).fit(
        other, pd.Series(Y, name="state")
    )
    assert (fitted.predict(other) == Y).all()


def test_compare_refuses_a_target_among_the_columns():
    whole = X.assign(state=Y)
    with refuses(InputError, match="'state'"):
        cw.compare(RandomForestClassifier(5, random_state=0), whole, whole["state"])


# What rules are judged beside


def probability(frame):
    return (np.asarray(frame["age"]) > 9) * 0.9


@pytest.mark.parametrize(
    "model",
    [
        probability,
        lambda frame: probability(frame)[:, None],
        lambda frame: np.column_stack([probability(frame), 1 - probability(frame)])[
            :, ::-1
        ],
        lambda frame: np.where(probability(frame) > 0.5, "well", "ill"),
    ],
)
def test_rules_are_judged_beside_a_function_as_beside_what_it_says(model):
    listed = rules().fit(X, Y).rules_
    assert listed.classes == ("ill", "well")
    said = np.where(X["age"] > 9, "well", "ill")
    told = listed.evaluate(X, Y, model=said)
    assert 0 < told.fidelity < 1
    assert listed.evaluate(X, Y, model=model) == told


def test_a_function_that_gives_the_classes_as_numbers_is_taken_at_its_word():
    labels = 1.0 + (Y == "ill")
    forest = RandomForestClassifier(5, random_state=0).fit(X, labels)
    listed = cw.simplify(forest, X, labels, max_rules=3, random_state=0)
    judged = listed.evaluate(X, model=lambda frame: 1.0 + (frame["age"] > 14))
    assert judged.fidelity == listed.evaluate(X, model=labels).fidelity > 0.95


def test_a_function_of_values_teaches_values():
    values = np.sin(X["age"])
    tree = cw.DistilledTreeRegressor(lambda frame: np.sin(frame["age"])).fit(X, values)
    judged = tree.rules_.evaluate(X, model=lambda frame: np.sin(frame["age"]))
    assert judged.fidelity == tree.rules_.evaluate(X, model=values).fidelity


@pytest.mark.parametrize("model", [RandomForestClassifier, RandomForestClassifier()])
def test_a_teacher_that_is_not_fitted_is_named(model):
    listed = rules().fit(X, Y).rules_
    with pytest.raises(TypeError, match="RandomForestClassifier is not fitted"):
        listed.evaluate(X, Y, model=model)


def test_probabilities_are_no_labels():
    with refuses(InputError):
        rules().fit(X, Y).rules_.evaluate(X, model=FOREST.predict_proba(X))


# Weights through a search over a pipeline


def searched(**weights):
    steps = [
        ("scale", StandardScaler()),
        ("rules", cw.RuleListClassifier(
            RandomForestClassifier(5, random_state=0), random_state=0)),
    ]  # fmt: skip
    search = GridSearchCV(
        Pipeline(steps), {"rules__n_rules": [2, 3]}, cv=2, error_score="raise"
    )
    return search.fit(X.to_numpy(), Y, **weights).best_estimator_["rules"].rules_


def test_weights_reach_rules_in_a_pipeline_that_is_searched():
    only_young = np.where(X["age"] > 14, 1e-3, 1.0)
    weighted = searched(rules__sample_weight=only_young)
    assert searched().to_json() != weighted.to_json()
    with pytest.raises(ValueError, match="stepname__parameter"):
        searched(sample_weight=only_young)
