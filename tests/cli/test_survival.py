"""``clearwood simplify --task survival``."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.wording import same_text

import clearwood as cw
from clearwood.cli import main


def run(*arguments):
    return CliRunner().invoke(main, ["simplify", *map(str, arguments)])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    age, ward = rng.integers(30, 90, 300), rng.choice(["north", "south"], 300)
    died = rng.exponential(np.where(age > 60, 1.0, 6.0))
    left = rng.exponential(4.0, 300)
    columns = {"age": age, "ward": ward, "years": np.minimum(died, left)}
    path = tmp_path_factory.mktemp("survival") / "patients.csv"
    frame = pd.DataFrame(columns | {"died": (died <= left) * 1})
    frame.to_csv(path, index=False)
    return path


def test_rules_of_a_forest_with_their_scores(table, tmp_path):
    out, page = tmp_path / "rules.json", tmp_path / "page.html"
    done = run(
        table, "--task", "survival", "--time", "years", "--event", "died",
        "--horizons", "1,3", "--time-unit", "years", "--max-rules", 3,
        "--method", "tree", "--out", out, "--report", page, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    found, rules = json.loads(done.stdout), cw.RuleSet.load(out)
    assert rules.outcome.horizons == (1.0, 3.0)
    assert json.loads(rules.to_json()) == found["rules"]
    assert found["rows"] == {"training": 225, "held_out": 75}
    assert 0.6 < found["scores"]["harrell"] < 0.9
    assert any("age" in rule.text(rules.features) for rule in rules)
    assert "survival" in page.read_text(encoding="utf-8")
    scored = CliRunner().invoke(main, ["evaluate", str(out), str(table)])
    assert scored.exit_code == 1
    assert "RuleListSurvival" in scored.stderr


WRONG = {
    "no time": ["--event", "died"],
    "no column": ["--event", "died", "--time", "year"],
    "no event": ["--event", "age", "--time", "years"],
    "text": ["--event", "died", "--time", "ward"],
    "horizons": ["--event", "died", "--time", "years", "--horizons", "soon"],
    "of classes": ["--event", "died", "--time", "years", "--class-weight", "balanced"],
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_option(name, table):
    done = run(table, "--task", "survival", *WRONG[name])
    assert done.exit_code == (2 if done.stderr.startswith("Usage") else 1)
    same_text(done.stderr)


def test_options_of_survival_are_for_it_alone(table):
    done = run(table, "--target", "died", "--time", "years")
    assert done.exit_code == 2
    same_text(done.stderr)
