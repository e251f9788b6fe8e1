import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.wording import same_lines, same_text

from clearwood.cli import main
from clearwood.metatree.estimators import MetaTreeClassifier
from clearwood.rules import RuleSet


def run(*arguments):
    return CliRunner().invoke(main, ["metatree", *[str(a) for a in arguments]])


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(160, 2)).round(3), columns=["dose", "age"])
    X["hue"] = rng.choice(["red", "blue", "tan"], 160)
    X["state"] = np.where((X["dose"] > 0.5) ^ (X["hue"] == "tan"), "ill", "well")
    X["cost"] = 3 * (X["dose"] > 0.3) + rng.normal(size=160).round(3) / 9
    X.loc[::10, "age"] = np.nan
    return X


@pytest.fixture(scope="module")
def table(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "data.csv"
    frame.to_csv(path, index=False)
    return path


def test_tree_scores_and_files_come_out(table, frame, tmp_path):
    rules, page = tmp_path / "rules.json", tmp_path / "report.html"
    result = run(
        table, "--target", "state", "--drop", "cost", "--out", rules, "--report", page
    )
    assert result.exit_code == 0, result.stderr
    assert "[reached 1, leaf" in result.stdout
    same_lines(result.stdout)
    same_text(result.stderr)
    kept = RuleSet.load(rules)
    assert kept.target == "state"
    assert kept.classes == ("ill", "well")
    X = frame[["dose", "age", "hue"]]
    assert (kept.predict(X) == frame["state"]).mean() > 0.9
    text = page.read_text(encoding="utf-8")
    same_lines(text)


def test_json_is_what_the_estimator_says(table):
    result = run(
        table, "--target", "state", "--drop", "cost,age", "--json", "--quiet",
        "--max-depth", 3, "--n-trees", 2, "--random-state", 4,
    )  # fmt: skip
    assert result.exit_code == 0
    assert result.stderr == ""
    found = json.loads(result.stdout)
    again = run(
        table, "--target", "state", "--drop", "cost,age", "--json", "--quiet",
        "--max-depth", 3, "--n-trees", 2, "--random-state", 4,
    )  # fmt: skip
    assert again.stdout == result.stdout
    assert found["rows"] == {"training": 120, "held_out": 40}
    assert set(found["scores"]) == {"average", "map_tree", "full_tree"}
    first, second = [t["log_probability"] for t in found["top_trees"]]
    assert second <= first <= 0
    assert found["feature_used"]["dose"] > 0.99
    rules = RuleSet.from_json(json.dumps(found["rules"]))
    assert rules.n_rules >= found["tree"]["n_leaves"]


def test_regression_tells_how_often_intervals_hold(table):
    result = run(table, "--target", "cost", "--drop", "state", "--missing", "branch")
    assert result.exit_code == 0, result.stderr
    same_lines(result.stdout)


def test_what_cannot_be_done_is_one_line(table, tmp_path):
    result = run(table, "--target", "nothing")
    assert result.exit_code == 1
    same_text(result.stderr)
    assert result.stdout == ""
    page = tmp_path / "page.html"
    page.write_text("mine")
    result = run(table, "--target", "state", "--report", page)
    assert result.exit_code == 1
    assert page.read_text() == "mine"
    assert run(table, "--target", "state", "--drop", "typo").exit_code == 1
    assert run(table).exit_code == 2


def test_the_target_name_is_a_default_only():
    assert MetaTreeClassifier().target_name == "y"
