"""``preset="paper"``: the settings of a paper without naming each of them."""

import json

import pytest
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw
from clearwood.simplifiers.in_trees.algorithm import R_PACKAGE

METHODS = {
    cw.FABRulesClassifier: {
        "rules": "regions",
        "learn_from": "labels",
        "max_rules": 11,
        "min_samples_leaf": 1,
    },
    cw.InTreesClassifier: {
        "max_rules": None,
        "learn_from": "labels",
        "min_frequency": 0.01,
    },
    cw.NodeHarvestClassifier: {"max_rules": None, "learn_from": "labels"},
}


@pytest.fixture(scope="module")
def forest(cancer):
    X, y, _ = cancer
    make = RandomForestClassifier(15, max_leaf_nodes=8, random_state=0)
    return make.fit(X, y)


def fitted(make, forest, cancer, **settings):
    X, y, _ = cancer
    if make is cw.FABRulesClassifier:
        settings["n_init"] = 1  # so that the criterion among starts plays no part
    return make(forest, random_state=0, **settings).fit(X, y)


def content(method):
    """The rules without the description of how they were found."""
    found = json.loads(method.rules_.to_json())
    del found["about"]
    return found


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorFidelityWarning")
@pytest.mark.parametrize("make", METHODS)
def test_a_preset_is_the_same_as_its_settings(make, forest, cancer, monkeypatch):
    by_preset = fitted(make, forest, cancer, preset="paper")
    if make is cw.InTreesClassifier:
        monkeypatch.setattr(make, "_procedure", R_PACKAGE)
    by_hand = fitted(make, forest, cancer, **METHODS[make])
    assert content(by_preset) == content(by_hand)
    assert content(by_preset) != content(fitted(make, forest, cancer))


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorFidelityWarning")
@pytest.mark.parametrize("make", METHODS)
def test_parameters_stay_as_given_and_other_values_than_defaults_count(
    make, forest, cancer
):
    model = fitted(make, forest, cancer, preset="paper", max_rules=3)
    assert model.rules_.n_rules <= 3 and model.max_rules == 3
    assert model.learn_from == "model"
    assert model.rules_.about["learn_from"] == "labels"
    for text in ("paper: ", "max_rules=3", "learn_from='labels'"):
        assert text in model.rules_.about["preset"]
    with pytest.raises(ValueError, match="learn_from='labels' requires y"):
        model.fit(cancer[0])
    assert model.learn_from == "model"
