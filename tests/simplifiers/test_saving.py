"""Files of simplifiers: what is lost, and what is not let in.

That each says the same after ``save`` and ``load`` is in ``contract.py``.
"""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.utils import get_tags
from tests.codec.saved import FILES, members
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError, ModelFormatError

X = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=list("abc"))
y = np.where(X["a"] > 0, "yes", "no")


@pytest.fixture(scope="module")
def found():
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    return cw.RuleListClassifier(
        model, n_rules="auto", max_rules=4, exclude_features=("b",), random_state=3
    ).fit(X, y)


def test_sizes_settings_and_doubts_are_kept(found, tmp_path):
    cw.save(found, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    assert again.path_ == found.path_ and again.shrinkage_ == found.shrinkage_
    assert again.exclude_features == ("b",) and again.random_state == 3
    assert again.n_rules_ == found.n_rules_
    assert again.classes_.tolist() == ["no", "yes"]
    assert again.feature_names_in_.tolist() == ["a", "b", "c"]
    # Whether the model takes missing values is said of the rules, too.
    for one in (found, again):
        assert not get_tags(one).input_tags.allow_nan


def test_the_model_is_not_in_the_file(found, tmp_path):
    cw.save(found, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    with refuses(InputError, match="GradientBoosting.*set_params"):
        again.fit(X, y)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    again.set_params(estimator=forest).fit(X, y)
    assert again.rules_.n_rules <= 4


def changed(path, changes, without=()):
    with zipfile.ZipFile(path) as file:
        document = json.loads(file.read("model.json"))
    document = {key: part for key, part in document.items() if key not in without}
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("model.json", json.dumps({**document, **changes}))


@pytest.mark.parametrize(
    "changes",
    [
        {"classes": None},
        {"classes": ["no", "maybe"]},
        {"rules": {}},
        {"path": [3]},
        {"n_columns": 2},
        {"n_columns": 0},
        {"shrinkage": {"x": "y"}},
        {"n_rules_": "many"},
        {"settings": {"estimator": 3}},
        {"settings": {"n_rules": -1}},
        {"settings": {"random_state": "x"}},
        {"settings": {"exclude_features": {"a": 1}}},
        {"settings": 3},
        {"model": 3},
    ],
)
def test_what_does_not_fit_is_refused(found, tmp_path, changes):
    cw.save(found, tmp_path / "kept")
    changed(tmp_path / "kept", changes)
    with refuses(ModelFormatError):
        cw.load(tmp_path / "kept")


@pytest.fixture(scope="module")
def tree():
    both = np.where((X["a"] > 0) & (X["b"] > 0.3), "yes", "no")
    forest = RandomForestClassifier(5, random_state=0).fit(X, both)
    return cw.DistilledTreeClassifier(
        forest, n_rules=4, max_rules=4, random_state=0
    ).fit(X, both)


NEW = ("trees", "chosen_tree", "chosen", "tried", "n_iter_", "n_start_components_",
       "n_nodes_", "selected_")  # fmt: skip
"""What files did not hold at first."""


def test_the_tree_is_kept_and_drawn(tree, tmp_path):
    cw.save(tree, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    assert again.trees_ == tree.trees_
    assert again.tree_ is again.trees_[tree.trees_.index(tree.tree_)]
    assert (again.tree_.predict(X) == tree.predict(X)).all()
    for found, name in ((tree, "found"), (again, "again")):
        cw.report(found.set_params(estimator=None), tmp_path / name, X=X, y=y,
                  model=y)  # fmt: skip
    pages = [(tmp_path / name).read_text("utf-8") for name in ("found", "again")]
    assert pages[0] == pages[1] and "svg" in pages[0]


def test_older_files_are_read(tree, tmp_path):
    cw.save(tree, tmp_path / "kept")
    changed(tmp_path / "kept", {}, without=NEW)
    again = cw.load(tmp_path / "kept")
    assert again.rules_ == tree.rules_ and again.path_ == tree.path_
    assert again.n_rules_ == tree.n_rules_ and not hasattr(again, "tree_")


@pytest.mark.parametrize(
    "changes",
    [
        {"trees": [[None]]},
        {"path": None},
        {"chosen_tree": 9},
        {"chosen_tree": None},
        {"trees": 3},
    ],
)
def test_what_was_never_found_is_refused(tree, tmp_path, changes):
    cw.save(tree, tmp_path / "kept")
    changed(tmp_path / "kept", changes)
    with refuses(ModelFormatError):
        cw.load(tmp_path / "kept")


def other_feature(nodes):
    asked = next(node for node in nodes if node)
    asked["no"]["feature"] = "c" if asked["no"]["feature"] != "c" else "a"


@pytest.mark.parametrize(
    "change",
    [
        lambda nodes: nodes.pop(),
        lambda nodes: nodes.append(None),
        lambda nodes: nodes.clear(),
        lambda nodes: nodes.__setitem__(0, 3),
        lambda nodes: nodes[0].pop("no"),
        other_feature,
    ],
)
def test_trees_that_are_none_are_refused(tree, tmp_path, change):
    cw.save(tree, tmp_path / "kept")
    with zipfile.ZipFile(tmp_path / "kept") as file:
        trees = json.loads(file.read("model.json"))["trees"]
    change(trees[-1])
    changed(tmp_path / "kept", {"trees": trees})
    with refuses(ModelFormatError):
        cw.load(tmp_path / "kept")


def holes_and_labels():
    """Rows with labels and holes, and a model of them."""
    table = X.assign(hue=np.where(X["c"] > 0.4, "red", "blue"))
    value = table["a"] + 3 * (table["hue"] == "red")
    table.loc[::7, "a"] = np.nan
    table["hue"] = table["hue"].astype("category")
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype")
    return model.fit(table, value), table


def forest_of_labels():
    return RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y), X


@pytest.mark.parametrize("make", [holes_and_labels, forest_of_labels])
def test_the_mixture_is_kept(tmp_path, make):
    model, table = make()
    kind = cw.FABRulesClassifier if make is forest_of_labels else cw.FABRulesRegressor
    settings = {"n_init": 2, "random_state": 0, "exclude_features": ["b"]}
    found = kind(model, statement_weight=0.1, **settings).fit(table)
    cw.save(found, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    assert again.history_ == found.history_ != ()
    assert again.restarts_ == found.restarts_ and again.n_iter_ == found.n_iter_
    mean = found.predict_mixture(table)
    assert mean.ndim == 1 + (kind is cw.FABRulesClassifier)
    np.testing.assert_array_equal(again.predict_mixture(table), mean)
    if "hue" in table:
        other = table.assign(hue=table["hue"].cat.rename_categories(["red", "blue"]))
        assert (found.predict_mixture(other) != mean).all()
    np.testing.assert_array_equal(again.predict_soft(table), found.predict_soft(table))
    cw.save(again, tmp_path / "again")
    assert members(tmp_path / "again") == members(tmp_path / "kept")
    changed(tmp_path / "kept", {"history": [[0.5, 2]]})
    with pytest.raises(ModelFormatError, match="history"):
        cw.load(tmp_path / "kept")


def test_nothing_to_fit_is_kept(tmp_path):
    found = cw.FABRulesClassifier(forest_of_labels()[0], max_rules=1).fit(X, y)
    cw.save(found, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    np.testing.assert_array_equal(again.predict_mixture(X), found.predict_proba(X))
    np.testing.assert_array_equal(again.predict_soft(X), found.predict(X))


def test_earlier_files_have_no_mixture():
    with refuses(InputError):
        cw.load(FILES / "FABRulesRegressor").predict_soft(X)


def test_a_subclass_is_not_saved_as_what_it_is_not(found, tmp_path):
    RuleListClassifier = type("RuleListClassifier", (cw.RuleListClassifier,), {})
    own = RuleListClassifier(found.ensemble_, max_rules=2).fit(X, y)
    with refuses(InputError):
        cw.save(own, tmp_path / "kept")
