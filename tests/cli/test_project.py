import json
import re
import sys
import types

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.wording import same_lines, same_text

import clearwood as cw
from clearwood.cli import command, main
from clearwood.cli.train import hold_out
from clearwood.rules import RuleSet


def run(*arguments):
    return CliRunner().invoke(main, ["project", *[str(a) for a in arguments]])


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(120, 2)).round(3), columns=["dose", "age"])
    X["hue"] = rng.choice(["red", "blue", "tan"], 120)
    X["state"] = np.where((X["dose"] > 0.5) ^ (X["hue"] == "tan"), "ill", "well")
    X["cost"] = 3 * (X["dose"] > 0.3) + rng.normal(size=120).round(3) / 9
    return X


@pytest.fixture(scope="module")
def table(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "data.csv"
    frame.assign(age=frame["age"].where(np.arange(120) % 9 > 0)).to_csv(
        path, index=False
    )
    return path


def test_tree_scores_and_files_come_out(table, frame, tmp_path):
    rules, page = tmp_path / "rules.json", tmp_path / "report.html"
    result = run(
        table, "--target", "state", "--drop", "cost", "--n-draws", 10, "--size", 4,
        "--out", rules, "--report", page,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    same_lines(result.stdout)
    # The printed numbers of rows are of those held out.
    counts = re.findall(r"\((\d+) rows?", result.stdout)
    assert sum(map(int, counts)) == 30
    kept = RuleSet.load(rules)
    assert kept.target == "state"
    X = frame[["dose", "age", "hue"]]
    assert (kept.predict(X) == frame["state"]).mean() > 0.9
    same_lines(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("quiet", [True, False])
def test_progress_is_shown_on_a_terminal_unless_it_is_to_be_quiet(
    quiet, terminal, table, monkeypatch
):
    given = []

    class Noted(cw.ProjectedLinearRegression):
        def fit(self, X, y):
            given.append(self.verbose)
            return super().fit(X, y)

    stream = types.SimpleNamespace(isatty=lambda: terminal)
    monkeypatch.setattr(command, "sys", types.SimpleNamespace(stderr=stream))
    monkeypatch.setattr(cw, "ProjectedLinearRegression", Noted)
    result = run(
        table, "--target", "cost", "--drop", "state,hue,age", "--reference", "ridge",
        "--proxy", "linear", "--n-draws", 5, *["--quiet"] * quiet,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert given == [terminal and not quiet]


def test_json_is_the_same_again_and_holds_the_size_path(table, frame):
    command = (
        table, "--target", "cost", "--drop", "state,hue,age", "--reference", "ridge",
        "--n-draws", 20, "--alpha", 0.05, "--json", "--quiet", "--random-state", 4,
    )  # fmt: skip
    result = run(*command)
    assert result.exit_code == 0 and result.stderr == ""
    assert run(*command).stdout == result.stdout
    found = json.loads(result.stdout)
    assert found["reference"]["n_draws"] == 20 and found["reference"]["is_posterior"]
    rules = RuleSet.from_json(json.dumps(found["rules"]))
    assert found["size_path"]["judged_by"] == "nothing"
    assert rules.n_rules in found["size_path"]["size"]
    assert len(found["leaves"]["mean"]) == rules.n_rules
    # The scores are of the rows held out, as others would hold them out.
    kept = hold_out(frame[["dose"]], frame["cost"].to_numpy(), "regression", 0.25, 4)
    gap = rules.predict(kept.X_test) - kept.y_test
    rmse = float(np.sqrt((gap**2).mean()))
    assert found["scores"]["proxy"]["rmse"] == pytest.approx(rmse)
    counted = RuleSet.from_json(json.dumps(found["rules_held_out"]))
    assert counted.n_rows == len(kept.y_test) < rules.n_rows
    assert [r.conditions for r in counted] == [r.conditions for r in rules]


def test_a_list_comes_out(table, frame, tmp_path):
    page = tmp_path / "page.html"
    result = run(
        table, "--target", "cost", "--drop", "state,age", "--n-draws", 10,
        "--proxy", "list", "--size", 3, "--report", page,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "  list " in result.stdout
    same_lines(result.stdout)
    text = page.read_text(encoding="utf-8")
    same_lines(text)


def test_coefficients_come_out_of_a_linear_proxy(table, tmp_path):
    page = tmp_path / "page.html"
    result = run(
        table, "--target", "cost", "--drop", "state,age", "--n-draws", 10,
        "--proxy", "linear", "--report", page,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "dose" in result.stdout
    same_lines(result.stdout)
    same_lines(page.read_text(encoding="utf-8"))


def test_a_teacher_without_posterior_is_said_to_be_one(table):
    result = run(
        table, "--target", "cost", "--drop", "state", "--size", 2, "--quiet",
        "--reference", "hist-gradient-boosting",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    same_lines(result.stdout)
    assert "not known" not in result.stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--target", "cost", "--reference", "gp"],
        ["--target", "cost", "--reference", "gp", "--drop", "hue,state"],
        ["--target", "state", "--reference", "ridge"],
        ["--target", "cost", "--reference", "random-forest"],
        ["--target", "nothing"],
    ],
)
def test_what_cannot_be_done_is_one_line(table, options):
    result = run(table, *options)
    assert result.exit_code == 1
    assert result.stdout == "" and "Traceback" not in result.stderr
    same_text(result.stderr)


def test_a_number_too_large_is_told_by_its_column(frame, tmp_path):
    frame = frame.copy()
    frame.loc[3, "dose"] = 1e300
    frame.to_csv(tmp_path / "large.csv", index=False)
    result = run(tmp_path / "large.csv", "--target", "cost", "--drop", "state")
    assert result.exit_code == 1 and "row" not in result.stderr
    same_text(result.stderr)


def test_without_the_extra_there_is_a_remedy(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "stochtree", None)
    result = run(table, "--target", "state", "--drop", "age", "--reference", "bart")
    assert result.exit_code == 1
    same_text(result.stderr)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--size", "0"], "--size"),
        (["--size", "3", "--alpha", "1"], "--alpha"),
        (["--alpha", "-1"], "--alpha"),
        (["--alpha", "free"], "--alpha"),
        (["--proxy", "linear", "--size", "3"], "--size"),
        (["--proxy", "linear", "--out", "x.json"], "--out"),
        (["--reference", "random-forest", "--n-draws", "9"], "--n-draws"),
    ],
)
def test_what_is_written_wrongly_is_told(table, options, named):
    result = run(table, "--target", "cost", *options)
    assert result.exit_code == 2
    assert named in result.stderr
    same_lines(result.stderr)


def test_nothing_is_overwritten_unasked(table, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")
    result = run(table, "--target", "state", "--report", page)
    assert result.exit_code == 1 and page.read_text() == "mine"
