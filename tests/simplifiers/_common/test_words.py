"""Rules from a table speak of its columns as people do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import ColumnInfo
from clearwood.exceptions import InputError

INFO = {
    "chol": {"name": "cholesterol", "unit": "mg/dl", "description": "in the blood"},
    "age": {"unit": "years"},
    "elsewhere": {"unit": "m"},
}


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "chol": rng.normal(220, 40, 300),
            "age": rng.integers(20, 80, 300),
            "smokes": rng.random(300) < 0.4,
            "sex": rng.integers(0, 2, 300),
        }
    )
    ill = ((X.chol > 240) & X.smokes) | ((X.age > 60) & (X.sex == 1))
    y = np.where(ill, "ill", "well")
    forest = RandomForestClassifier(10, max_depth=5, random_state=0).fit(X, y)
    rules = cw.simplify(forest, X, y, column_info=INFO, n_synthetic=200, random_state=0)
    return X, y, forest, rules


def test_numbers_and_names_are_those_of_people(case):
    kinds = [info.kind for info in case[-1].features.info]
    assert kinds == ["number", "integer", "boolean", "binary"]
    text = str(case[-1])
    assert "cholesterol > 2" in text
    same_lines(text)
    assert "age > 60 years" in text or "age >= 61 years" in text


def test_files_and_exports_say_and_decide_the_same(case):
    X, _, _, rules = case
    again = cw.RuleSet.from_json(rules.to_json())
    assert again == rules and str(again) == str(rules)
    functions = {}
    code = rules.to_python()
    exec(code, functions)
    said = [functions["predict"](row) for row in X.to_dict("records")]
    assert said == rules.predict(X).tolist()
    for export in (code, rules.to_sql(), rules.to_latex()):
        same_lines(export)


def test_pages_pictures_and_explanations_use_the_same_words(case, tmp_path):
    X, y, forest, rules = case
    plain = rules.with_columns(dict.fromkeys(INFO, {"name": "", "unit": ""}))
    assert "chol > " in str(plain)
    cw.report(plain, tmp_path / "page.html", X=X, y=y, column_info=INFO)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<dt>cholesterol</dt>" in page
    same_lines(page)
    told = str(rules.explain(X.iloc[0]))
    assert "chol is" not in told
    same_lines(told)
    display = cw.rules.RegionsDisplay.from_estimator(rules, X, features=("chol", "age"))
    assert display.names == ("cholesterol (mg/dl)", "age (years)")


def test_a_change_of_a_whole_number_is_one(case):
    X, _, _, rules = case
    for i in range(40):
        row = X.iloc[[i]]
        for change in rules.explain(row).changes:
            changed = row.copy()
            for name, value in zip(change.features, change.values):
                assert name == "chol" or float(value).is_integer(), change.text
                changed[name] = value
            assert rules.predict(changed)[0] == change.prediction


def test_whole_numbers_are_told_so_in_explanations():
    info = (ColumnInfo(kind="integer"), ColumnInfo(kind="boolean"))
    space = FeatureSpace(("n", "smokes"), (None, None), info=info)
    rules = cw.RuleList(
        (
            cw.Rule((cw.Interval(0, 7.5, 1200.0),), 1.0),
            cw.Rule((cw.Interval(1, low=0.5),), 2.0),
        ),
        cw.Rule((), 0.0),
        space,
    )
    low, high = (str(rules.explain({"n": n, "smokes": 0})) for n in (5, 1300))
    same_lines(low)
    same_lines(high)


@pytest.mark.parametrize(
    "info",
    [
        "chol",
        {"chol": "mg/dl"},
        {"chol": {"units": "mg"}},
        {"chol": {"unit": 3}},
        {"chol": {"unit": "a\nb"}},
        {"elsewhere": {"unit": "m"}},
        {"chol": {"name": "age"}},
    ],
)
def test_what_columns_cannot_be_called_is_told(case, info):
    with refuses(InputError):
        case[-1].with_columns(info)
