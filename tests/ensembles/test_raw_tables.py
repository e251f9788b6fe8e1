"""Ensembles that are fitted here to texts and dates, whatever they read themselves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    BaggingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.estimators import visits
from tests.wording import refuses

import clearwood as cw
from clearwood.ensembles.raw_tables import fit_to_table
from clearwood.exceptions import InputError


@pytest.mark.parametrize(
    "make", [RandomForestClassifier, HistGradientBoostingClassifier]
)
def test_texts_and_dates_are_learnt_from(make):
    X, came_back = visits()
    ensemble = fit_to_table(make(random_state=0), X, came_back)
    assert (ensemble.predict(X) == came_back).mean() > 0.97
    assert [info.kind for info in ensemble.features.info][:3] == [
        "date",
        "datetime",
        "duration",
    ]
    strange = X[:2].assign(city=["Bergen", None])
    assert len(ensemble.predict(strange)) == 2


def test_one_cut_parts_the_categories_by_their_means():
    X = pd.DataFrame({"hue": ["b", "a", "d", "c", None] * 4})
    y = np.tile([1.0, 9.0, 2.0, 8.0, 5.0], 4)
    stump = DecisionTreeRegressor(max_depth=1, random_state=0)
    tree = fit_to_table(stump, X[X["hue"].notna()], y[X["hue"].notna()])
    (split,) = tree.splits().categorical
    named = {tree.features.categories[0][code] for code in split.codes_left}
    assert named in ({"b", "d"}, {"a", "c"})
    bag = fit_to_table(BaggingRegressor(random_state=0), X, y)
    np.testing.assert_allclose(bag.predict(X), y)


def test_weights_and_three_classes():
    X = pd.DataFrame({"hue": list("abcabc") * 5})
    y = np.array(["x", "y", "z"] * 10)
    weight = np.arange(30) % 2 + 0.0
    tree = fit_to_table(DecisionTreeClassifier(random_state=0), X, y, weight)
    assert (tree.predict(X) == y).all()


def test_numbers_go_to_the_model_as_they_are():
    X, y = pd.DataFrame({"a": [1.0, 2.0, 3.0]}), np.array([0, 1, 1])
    model = fit_to_table(DecisionTreeClassifier(), X, y)
    assert isinstance(model, DecisionTreeClassifier)


def test_more_categories_than_boosting_parts_are_refused():
    X = pd.DataFrame({"a": pd.Categorical([f"c{i}" for i in range(300)]), "b": "x"})
    with refuses(InputError, match="'a'.*300"):
        cw.RuleListRegressor(random_state=0).fit(X, np.arange(300.0))


def test_an_empty_column_is_ignored():
    a = np.random.default_rng(0).normal(size=60)
    X = pd.DataFrame({"a": a, "q": np.nan})
    learnt = fit_to_table(HistGradientBoostingRegressor(), X[["a"]], a).predict(
        X[["a"]]
    )
    both = MultiOutputRegressor(HistGradientBoostingRegressor())
    for table in (X, X.to_numpy(), X.astype({"q": "Int64"})):
        model = fit_to_table(HistGradientBoostingRegressor(), table, a)
        np.testing.assert_array_equal(model.predict(table), learnt)
        of_both = fit_to_table(both, table, np.column_stack([a, a])).predict(table)
        np.testing.assert_array_equal(of_both[:, 1], learnt)
    with_text = fit_to_table(HistGradientBoostingRegressor(), X.assign(t="x"), a)
    np.testing.assert_array_equal(with_text.predict(X.assign(t="x")), learnt)
