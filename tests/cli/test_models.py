"""The command on model files: what is in them, and their rules."""

import json
import os
import re
from threading import Thread

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from tests.cli.test_cli import failed, run
from tests.waiting import SECONDS
from tests.wording import same_lines, same_text

from clearwood.rules import CategorySet, FeatureSpace, Rule, RuleList, RuleSet


@pytest.fixture
def table(tmp_path):
    """Numbers, gaps, a text column, and a target in words."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "dose": rng.uniform(size=300).round(2),
            "age": rng.integers(20, 80, 300).astype(float),
            "ward": rng.choice(["north", "south", "west"], 300),
        }
    )
    frame["ill"] = ((frame.dose > 0.8) | (frame.ward == "west")).astype(int)
    frame.loc[::17, "age"] = np.nan
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def frame(table):
    return pd.read_csv(table).astype({"ward": "category"})


@pytest.fixture
def xgboost_file(frame, tmp_path):
    model = xgboost.XGBClassifier(
        n_estimators=20, max_depth=3, enable_categorical=True, n_jobs=1
    ).fit(frame[["dose", "age", "ward"]], frame["ill"])
    path = tmp_path / "model.ubj"
    model.save_model(path)
    return path


@pytest.fixture
def lightgbm_file(frame, tmp_path):
    model = lightgbm.LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1).fit(
        frame[["dose", "age", "ward"]], frame["ill"]
    )
    path = tmp_path / "model.txt"
    model.booster_.save_model(path)
    return path


def test_check(xgboost_file):
    result = run("check", xgboost_file)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{xgboost_file}: sound")
    for word in (
        "XGBoost",
        "binary:logistic",
        "classes 0, 1",
        "trees",
        "1 categorical",
    ):
        assert word in result.stdout
    found = json.loads(run("check", xgboost_file, "--json").stdout)
    assert found["sound"] is True
    assert [feature["name"] for feature in found["features"]] == ["dose", "age", "ward"]
    assert found["features"][2]["categories"] == 3


def test_check_of_a_damaged_file_is_exit_1(lightgbm_file):
    text = lightgbm_file.read_text()
    lightgbm_file.write_text(
        re.sub(r"^left_child=\d", "left_child=99", text, flags=re.M)
    )
    result = run("check", lightgbm_file)
    assert result.exit_code == 1
    assert "NOT SOUND" in result.stdout
    same_lines(" ".join(result.stdout.split()))
    found = json.loads(run("check", lightgbm_file, "--json").stdout)
    assert found["sound"] is False and "left_child" in found["problem"]
    other = run("check", lightgbm_file.parent / "data.csv")
    assert other.exit_code == 1
    same_text(" ".join(other.stdout.split()))


@pytest.mark.parametrize("file", ["xgboost_file", "lightgbm_file"])
def test_rules_of_a_model_file(file, table, tmp_path, request):
    model = request.getfixturevalue(file)
    out, page = tmp_path / "rules.json", tmp_path / "report.html"
    result = run(
        "simplify", model, table, "--target", "ill", "--method", "fab", "--n-init", 3,
        "--out", out, "--report", page,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    same_lines(result.stdout)
    assert "'west'" in result.stdout and "dose" in result.stdout
    rules = RuleSet.load(out)
    said = " ".join(result.stdout.split())
    assert all(rule.text(rules.features) in said for rule in rules.rules)
    assert rules.target == "ill"
    shown = page.read_text(encoding="utf-8")
    # The model may have been trained on any row of the table.
    same_lines(shown)
    predicted = run("predict", out, table)
    assert predicted.exit_code == 0 and len(predicted.stdout.splitlines()) == 301


def test_classes_may_be_named(xgboost_file, table):
    frame = pd.read_csv(table)
    frame["ill"] = np.where(frame["ill"] == 1, "yes", "no")
    frame.to_csv(table, index=False)
    command = ["simplify", xgboost_file, table, "--target", "ill", "--max-rules", 2]
    assert failed(run(*command), "['no', 'yes']", "--classes")
    assert failed(run(*command, "--classes", "no,maybe"), "'yes'")
    assert failed(run(*command, "--classes", "no"))
    result = run(*command, "--classes", "no, yes")
    assert result.exit_code == 0, result.output
    assert "otherwise yes" in result.stdout or "then yes" in result.stdout


def test_a_model_or_an_ensemble_to_train(xgboost_file, table):
    both = run("simplify", xgboost_file, table, "--target", "ill", "--train",
               "random-forest")  # fmt: skip
    none = run("simplify", xgboost_file, "--target", "ill")
    named = run("simplify", table, "--target", "ill", "--train", "decision-tree",
                "--classes", "a,b")  # fmt: skip
    for result in (both, none, named):
        assert result.exit_code == 2
    assert "--train" in none.stderr
    same_lines(both.stderr)
    wrong = run("simplify", xgboost_file, table, "--target", "ill", "--task",
                "regression")  # fmt: skip
    assert failed(wrong)


def test_columns_are_found_by_name(xgboost_file, table):
    frame = pd.read_csv(table)
    frame[["ill", "more", "ward", "age", "dose"]] = frame[
        ["ill", "dose", "ward", "age", "dose"]
    ].to_numpy()
    shuffled = table.with_name("shuffled.csv")
    frame[["more", "ward", "ill", "age", "dose"]].to_csv(shuffled, index=False)
    command = [
        "simplify",
        xgboost_file,
        "--target",
        "ill",
        "--method",
        "fab",
        "--n-init",
        2,
        "--json",
    ]
    rules = [
        json.loads(run(*command[:2], data, *command[2:]).stdout)["rules"]["rules"]
        for data in (table, shuffled)
    ]
    assert rules[0] == rules[1]
    frame.drop(columns="age").to_csv(shuffled, index=False)
    assert failed(run(*command[:2], shuffled, *command[2:]), "['age']")


CODES = {"text": ["01", "02", "10"], "number": [3, 4, 5], "flag": [True, False, True]}


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("library", ["lightgbm", "catboost"])
def test_only_the_model_knows_what_is_a_text(library, kind, frame, tmp_path):
    """A table does not say it, and LightGBM knows no blanks in names."""
    at = frame["ward"].cat.codes.to_numpy()
    # So that each category has an effect of its own.
    frame["ill"] = np.array(CODES[kind])[at] == CODES[kind][1]
    frame["ward no"] = np.array(CODES[kind])[at]
    X, data, path = frame[["dose", "ward no"]], tmp_path / "b.csv", tmp_path / "m"
    if library == "lightgbm":
        model = lightgbm.LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1)
        X = X.astype({"ward no": "category"})
        model.fit(X, frame["ill"]).booster_.save_model(path)
    else:
        model = catboost.CatBoostClassifier(
            iterations=20, learning_rate=0.5, one_hot_max_size=9, cat_features=[1],
            thread_count=1, verbose=False, allow_writing_files=False,
        ).fit(X, frame["ill"].astype(int))  # fmt: skip
        model.save_model(path, format="json")
    X.assign(ill=frame["ill"].astype(int)).to_csv(data, index=False)
    out = tmp_path / "rules.json"
    result = run(
        "simplify",
        path,
        data,
        "--target",
        "ill",
        "--method",
        "fab",
        "--n-init",
        3,
        "--out",
        out,
    )
    assert result.exit_code == 0, result.output
    same_lines(result.stdout)
    rules, predicted = RuleSet.load(out), run("predict", out, data).stdout
    assert [int(line.split(",")[1]) for line in predicted.splitlines()[1:]] == (
        rules.predict(X).tolist()
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_table_may_come_through_a_pipe(table, tmp_path):
    rules = RuleList(
        (Rule((CategorySet(0, (0,)),), 1.0),), Rule((), 0.0),
        FeatureSpace(("ward",), (("west",),)),
    )  # fmt: skip
    rules.save(tmp_path / "rules.json")
    os.mkfifo(tmp_path / "pipe")
    text = table.read_text()
    writer = Thread(target=(tmp_path / "pipe").write_text, args=(text,), daemon=True)
    writer.start()
    result = run("predict", tmp_path / "rules.json", tmp_path / "pipe")
    writer.join(SECONDS)
    assert result.stdout == run("predict", tmp_path / "rules.json", table).stdout


def test_a_rule_list_of_a_model_file(xgboost_file, table, tmp_path):
    out, page = tmp_path / "rules.json", tmp_path / "report.html"
    command = ["simplify", xgboost_file, table, "--target", "ill", "--method", "list"]
    result = run(*command, "--max-rules", 4, "--out", out, "--report", page, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["method"] == "list" and found["scores"]["rules"]["fidelity"] > 0.9
    rules = RuleSet.load(out)
    assert rules.n_rules <= 4 and rules.target == "ill"
    # How the labels were made, in two lines.
    assert rules.n_rules == 2
    same_lines(str(rules))
    same_lines(page.read_text(encoding="utf-8"))
    wrong = run(*command, "--n-init", 3)
    assert wrong.exit_code == 2
    same_lines(wrong.stderr)


@pytest.mark.parametrize(
    "verb", ["simplify", pytest.param("compare", marks=pytest.mark.dear)]
)
def test_classes_in_the_wrong_order_are_spoken_of(xgboost_file, table, tmp_path, verb):
    frame = pd.read_csv(table)
    frame["ill"] = np.where(frame["ill"] == 1, "yes", "no")
    frame.to_csv(table, index=False)
    page = tmp_path / "page.html"
    own = ("--methods", "tree", "--cv", 2, "--n-refits", 0) if verb == "compare" else ()
    command = (verb, xgboost_file, table, "--target", "ill", "--max-rules", 2, *own)
    wrong = run(*command, "--classes", "yes,no", "--report", page)
    assert wrong.exit_code == 0, wrong.output
    same_lines(wrong.stderr)
    if verb == "simplify":
        same_lines(page.read_text(encoding="utf-8"))
    right = run(*command, "--classes", "no,yes")
    assert "warning" not in right.stderr
