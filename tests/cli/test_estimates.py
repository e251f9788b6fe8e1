"""``clearwood simplify --task quantile`` and ``--task effect``."""

import json
import re

import lightgbm
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.wording import same_text

import clearwood as cw
from clearwood.cli import main
from clearwood.outcomes import Effect


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    age, ward = rng.integers(30, 90, 500), rng.choice(["north", "south"], 500)
    drug = rng.integers(0, 2, 500)
    days = 3 + rng.exponential(np.where(age > 60, 8.0, 3.0))
    pain = age / 20 - drug * (age > 60) + 0.5 * rng.normal(size=500)
    columns = {"age": age, "ward": ward, "drug": drug, "days": days, "pain": pain}
    path = tmp_path_factory.mktemp("estimates") / "patients.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def model(table):
    frame = pd.read_csv(table)
    model = lightgbm.LGBMRegressor(
        objective="quantile", alpha=0.8, n_estimators=20, num_leaves=5, verbose=-1
    ).fit(frame[["age"]], frame["days"])
    path = table.parent / "model.txt"
    model.booster_.save_model(path)
    return path


def test_rules_of_a_quantile_trained_here(table, tmp_path):
    out, page = tmp_path / "rules.json", tmp_path / "page.html"
    done = run(
        "simplify", table, "--task", "quantile", "--quantile", 0.9, "--target", "days",
        "--drop", "pain", "--max-rules", 3, "--out", out, "--report", page, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    found, rules = json.loads(done.stdout), cw.RuleSet.load(out)
    assert found["task"] == rules.task == "quantile" and rules.outcome.level == 0.9
    assert found["decisions"] is None and found["scores"]["rules"]["error"] > 0
    shares = [rule["precision_assigned"] for rule in found["rules_held_out"]["rules"]]
    # Of about 40 rows: three standard errors.
    assert all(0.75 < share <= 1 for share in shares)
    assert "90 % of values" in page.read_text(encoding="utf-8")
    again = run("evaluate", out, table)
    assert again.exit_code == 0 and "observed" in again.stdout
    checked = run("monitor", out, table)
    assert checked.exit_code == 0 and "mean of days" not in checked.stdout
    assert run("monitor", out, table, "--target", "days").exit_code == 1
    assert re.search(r"written +\d{4}-\d\d-\d\d, by", run("check", out).stdout)


def test_a_model_file_of_a_quantile_gives_its_level(table, model):
    done = run("simplify", model, table, "--target", "days", "--max-rules", 2)
    assert done.exit_code == 0 and "80 % of values" in done.stdout
    assert "pinball" in done.stdout
    added = run(
        "simplify", model, table, "--target", "days", "--max-rules", 2, "--method",
        "additive",
    )  # fmt: skip
    assert added.exit_code == 0 and "80 % of values" not in added.stdout


def test_rules_of_effects(table, tmp_path):
    out = tmp_path / "rules.json"
    done = run(
        "simplify", table, "--task", "effect", "--target", "pain", "--treatment",
        "drug", "--propensity", 0.5, "--drop", "days", "--max-rules", 2, "--out", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "treatment" in done.stdout and "observed" in done.stdout
    rules = cw.RuleSet.load(out)
    assert rules.task == "effect" and "drug" not in rules.features.names
    young = pd.DataFrame({"age": [40, 80], "ward": ["north", "north"]})
    assert np.abs(rules.predict(young) - [0, -1]).max() < 0.4
    trial = ("--treatment", "drug", "--propensity", 0.5)
    scored = run("evaluate", out, table, *trial)
    assert scored.exit_code == 0, scored.stderr
    assert re.search(r"-\d.* observed", scored.stdout) and "error" in scored.stdout
    outcomes = run("evaluate", out, table, "--target", "pain")
    assert outcomes.exit_code == 2 and "--treatment" in outcomes.stderr
    unknown = run("evaluate", out, table, "--treatment", "pill")
    assert unknown.exit_code == 1 and "'pill'" in unknown.stderr
    page = tmp_path / "page.html"
    assert run("report", out, table, "--out", page).exit_code == 0
    # Outcomes are no effects.
    assert "Mean squared error" not in page.read_text("utf-8")
    asked = run("report", out, table, "--target", "pain", "--out", page, "--overwrite")
    assert asked.exit_code == 1 and "outcome" in asked.stderr
    done = run("report", out, table, *trial, "--out", page, "--overwrite")
    assert done.exit_code == 0, done.stderr
    assert Effect.error[1:] in page.read_text("utf-8")


WRONG = {
    "no level": ["--task", "quantile", "--target", "days"],
    "no treatment": ["--task", "effect", "--target", "pain"],
    "no column": ["--task", "effect", "--target", "pain", "--treatment", "pill"],
    "of effects": ["--target", "pain", "--treatment", "drug"],
    "of quantiles": [
        *("--task", "effect", "--target", "pain"),
        *("--treatment", "drug", "--quantile", "0.5"),
    ],
    "of classes": [
        "--task",
        "quantile",
        "--target",
        "days",
        "--class-weight",
        "balanced",
    ],
    "sum": [
        *("--task", "quantile", "--quantile", "0.5", "--target", "days"),
        *("--method", "additive"),
    ],
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_option(name, table):
    done = run("simplify", table, *WRONG[name])
    assert done.exit_code == (2 if done.stderr.startswith("Usage") else 1)
    same_text(done.stderr)


def test_effects_train_their_own_model(table, model):
    done = run(
        "simplify", model, table, "--task", "effect", "--target", "pain",
        "--treatment", "drug",
    )  # fmt: skip
    assert done.exit_code == 2
    same_text(done.stderr)
