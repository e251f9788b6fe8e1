"""``clearwood simplify --task survival``."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.wording import same_text

import clearwood as cw
from clearwood.cli import main

TIMES = ("--task", "survival", "--time", "years", "--event", "died")


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
    assert "Kaplan-Meier" in page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def saved(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "rules.json"
    done = run(
        table, *TIMES, "--horizons", "1,3", "--max-rules", 3, "--out", path
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    return path


def test_competing_risks_have_codes(table, saved, tmp_path):
    frame, out = pd.read_csv(table), tmp_path / "rules.json"
    frame["died"] *= np.where(np.arange(len(frame)) % 3, 1, 2)
    path = tmp_path / "causes.csv"
    frame.to_csv(path, index=False)
    done = run(path, *TIMES, "--horizons", "1,3", "--max-rules", 3, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert "incidence of cause 2: " in " ".join(done.stdout.split())
    times = ["--time", "years", "--event", "died"]
    done = call("evaluate", out, path, *times, "--json")
    first = json.loads(done.stdout)["observed"][0]["horizons"][0]
    assert len(first["causes"]) == 2
    found = pd.read_csv(io.StringIO(call("predict", out, path).stdout))
    expected = cw.load(out).predict_cumulative_incidence(frame, [1, 3])
    names = [f"incidence of cause {k} at {h}" for k in (1, 2) for h in (1, 3)]
    np.testing.assert_allclose(found[names], expected.reshape(len(frame), 4), atol=1e-9)
    # Rows with a single cause are of both.
    assert call("evaluate", out, table, *times).exit_code == 0
    more = call("evaluate", saved, path, *times)
    assert more.exit_code == 1 and "2 causes" in more.stderr


def test_status_of_r_is_no_cause(table, tmp_path):
    frame, path = pd.read_csv(table), tmp_path / "status.csv"
    frame["died"] += 1
    frame.to_csv(path, index=False)
    done = run(path, *TIMES)
    assert done.exit_code == 1 and done.stdout == ""
    same_text(done.stderr)
    frame.rename(columns={"died": "cause"}).to_csv(path, index=False)
    done = run(path, *TIMES[:-1], "cause", "--horizons", "1,3", "--max-rules", 2)
    assert done.exit_code == 0, done.stderr
    assert "incidence of cause 2" in " ".join(done.stdout.split())


def call(verb, *arguments):
    return CliRunner().invoke(main, [verb, *map(str, arguments)])


def test_saved_rules_are_evaluated(saved, table):
    done = call("evaluate", saved, table, "--time", "years", "--event", "died")
    assert done.exit_code == 0, done.stderr
    same_text(done.stdout.replace(str(table), "patients.csv"))
    done = call(
        "evaluate", saved, table, "--time", "years", "--event", "died", "--json"
    )
    found, rules, frame = json.loads(done.stdout), cw.load(saved), pd.read_csv(table)
    y = frame[["died", "years"]].astype({"died": bool})
    assert found["scores"]["uno"] == rules.evaluate_survival(frame, y).uno
    first, rows = found["observed"][0], y[rules.apply(frame) == 0]
    assert first["rows"] == len(rows) and first["events"] == rows["died"].sum()
    assert first["horizons"][1]["at_risk"] == (rows["years"] >= 3).sum()


def test_predictions_have_the_survival_at_each_horizon(saved, table):
    done = call("predict", saved, table)
    found = pd.read_csv(io.StringIO(done.stdout))
    expected = cw.load(saved).predict_survival_function(pd.read_csv(table), [1, 3])
    np.testing.assert_allclose(found[["survival 1", "survival 3"]], expected)


def test_pages_and_monitoring_read_survival_times(saved, table, tmp_path):
    page, times = tmp_path / "page.html", ["--time", "years", "--event", "died"]
    assert call("report", saved, table, *times, "--out", page).exit_code == 0
    assert "Integrated Brier score" in page.read_text(encoding="utf-8")
    assert "mean of survival" in call("monitor", saved, table, *times).stdout


NOT_SAVED = {
    "no times": [],
    "no event": ["--time", "years"],
    "target": ["--target", "died"],
    "column": ["--time", "year", "--event", "died"],
}


@pytest.mark.parametrize("name", NOT_SAVED)
def test_evaluation_needs_survival_times(name, saved, table):
    done = call("evaluate", saved, table, *NOT_SAVED[name])
    assert done.exit_code == (2 if done.stderr.startswith("Usage") else 1)
    same_text(done.stderr)


@pytest.mark.parametrize("name", ["negative", "no event"])
def test_times_are_checked(name, saved, table, tmp_path):
    frame, path = pd.read_csv(table), tmp_path / "patients.csv"
    change = {"negative": {"years": -1.0}, "no event": {"died": 0}}[name]
    frame.assign(**change).to_csv(path, index=False)
    for done in (
        run(path, *TIMES),
        call("evaluate", saved, path, "--time", "years", "--event", "died"),
    ):
        assert done.exit_code == 1
        same_text(done.stderr)


WRONG = {
    "beyond": ["--event", "died", "--time", "years", "--horizons", "99"],
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
