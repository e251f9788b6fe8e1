"""Files of simplifiers: what is lost, and what is not let in.

That each says the same after ``save`` and ``load`` is in ``contract.py``.
"""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.utils import get_tags

import clearwood as cw
from clearwood.exceptions import InputError, ModelFormatError

X = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=list("abc"))
y = np.where(X["a"] > 0, "yes", "no")


@pytest.fixture(scope="module")
def found():
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    return cw.RuleListClassifier(
        model, n_rules="auto", max_rules=4, forbidden=("b",), random_state=3
    ).fit(X, y)


def test_sizes_settings_and_doubts_are_kept(found, tmp_path):
    cw.save(found, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    assert again.path_ == found.path_ and again.caution_ == found.caution_
    assert again.forbidden == ("b",) and again.random_state == 3
    assert again.n_rules_ == found.n_rules_
    assert again.classes_.tolist() == ["no", "yes"]
    assert again.feature_names_in_.tolist() == ["a", "b", "c"]
    # Whether the model takes missing values is said of the rules, too.
    for one in (found, again):
        assert not get_tags(one).input_tags.allow_nan


def test_the_model_is_not_in_the_file(found, tmp_path):
    cw.save(found, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    with pytest.raises(
        InputError, match=r"GradientBoosting.*was not saved.*set_params"
    ):
        again.fit(X, y)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    again.set_params(estimator=forest).fit(X, y)
    assert again.rules_.n_rules <= 4


def changed(path, changes):
    with zipfile.ZipFile(path) as file:
        document = json.loads(file.read("model.json"))
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("model.json", json.dumps({**document, **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classes": None}, "rules of other classes"),
        ({"classes": ["no", "maybe"]}, "rules of other classes"),
        ({"rules": {}}, "format"),
        ({"path": [3]}, "an object"),
        ({"n_columns": 2}, "3 names"),
        ({"n_columns": 0}, "at least 1"),
        ({"caution": {"x": "y"}}, "finite number"),
        ({"n_rules_": "many"}, "finite number"),
        ({"settings": {"estimator": 3}}, "settings"),
        ({"settings": {"n_rules": -1}}, "settings"),
        ({"settings": {"random_state": "x"}}, "random_state"),
        ({"settings": {"forbidden": {"a": 1}}}, "settings"),
        ({"settings": 3}, "settings"),
        ({"model": 3}, "object"),
    ],
)
def test_what_does_not_fit_is_refused(found, tmp_path, changes, message):
    cw.save(found, tmp_path / "kept")
    changed(tmp_path / "kept", changes)
    with pytest.raises(ModelFormatError, match=message):
        cw.load(tmp_path / "kept")


def test_a_subclass_is_not_saved_as_what_it_is_not(found, tmp_path):
    RuleListClassifier = type("RuleListClassifier", (cw.RuleListClassifier,), {})
    own = RuleListClassifier(found.ensemble_, max_rules=2).fit(X, y)
    with pytest.raises(InputError, match="of your own"):
        cw.save(own, tmp_path / "kept")
