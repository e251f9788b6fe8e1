import importlib.util
import json
import types

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import clearwood as cw
from clearwood.cli import main
from clearwood.cli.train import hold_out
from clearwood.cli.verbs import project
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
    for words in (
        "Reference: Bayesian bootstrap forest, 10 draws",
        "Probability of well in each leaf",
        "On 30 rows held out",
        "the tree says the reference's class in",
    ):
        assert words in result.stdout
    kept = RuleSet.load(rules)
    assert kept.target == "state"
    X = frame[["dose", "age", "hue"]]
    assert (kept.predict(X) == frame["state"]).mean() > 0.9
    assert "The reference, and how sure it is" in page.read_text(encoding="utf-8")


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
    monkeypatch.setattr(project, "sys", types.SimpleNamespace(stderr=stream))
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
        "--n-draws", 20, "--alpha", 0.05, "--json", "--quiet", "--seed", 4,
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


def test_a_list_comes_out(table, frame, tmp_path):
    page = tmp_path / "page.html"
    result = run(
        table, "--target", "cost", "--drop", "state,age", "--n-draws", 10,
        "--proxy", "list", "--size", 3, "--report", page,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "Mean cost in each line:" in result.stdout and "  list " in result.stdout
    assert "The 90 % are of all lines together" in result.stdout
    assert "the 95 % interval of the mean of what was observed" in result.stdout
    text = page.read_text(encoding="utf-8")
    assert "What each line says" in text


def test_coefficients_come_out_of_a_linear_proxy(table, tmp_path):
    page = tmp_path / "page.html"
    result = run(
        table, "--target", "cost", "--drop", "state,age", "--n-draws", 10,
        "--proxy", "linear", "--report", page,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "the linear model follows" in result.stdout and "dose" in result.stdout
    assert "What moves the target" in page.read_text(encoding="utf-8")


def test_a_teacher_without_posterior_is_said_to_be_one(table):
    result = run(
        table, "--target", "cost", "--drop", "state", "--size", 2, "--quiet",
        "--reference", "hist-gradient-boosting",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "one draw (not a posterior)" in result.stdout
    assert "not known" not in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "cost", "--reference", "gp"], "hold text, which gp cannot"),
        (
            ["--target", "cost", "--reference", "gp", "--drop", "hue,state"],
            "['age'] have missing values",
        ),
        (["--target", "state", "--reference", "ridge"], "holds classes"),
        (
            ["--target", "cost", "--reference", "random-forest"],
            "use --reference forest, or leave",
        ),
        (["--target", "nothing"], "no column 'nothing'"),
    ],
)
def test_what_cannot_be_done_is_one_line(table, options, words):
    result = run(table, *options)
    assert result.exit_code == 1
    assert words in result.stderr and result.stdout == ""
    assert "Traceback" not in result.stderr


def test_a_number_too_large_is_told_by_its_column(frame, tmp_path):
    frame = frame.copy()
    frame.loc[3, "dose"] = 1e300
    frame.to_csv(tmp_path / "large.csv", index=False)
    result = run(tmp_path / "large.csv", "--target", "cost", "--drop", "state")
    assert result.exit_code == 1 and "row" not in result.stderr
    assert "Column(s) ['dose'] hold numbers beyond 3.4e+38" in result.stderr


def test_without_the_extra_there_is_a_remedy(table, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name == "stochtree" else find(name, *more),
    )
    result = run(table, "--target", "state", "--reference", "bart")
    assert result.exit_code == 1
    assert 'pip install "clearwood[bart]"' in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--size", "0"], "--size must be"),
        (["--size", "3", "--alpha", "1"], "use one"),
        (["--alpha", "-1"], "--alpha must be"),
        (["--alpha", "free"], "--alpha must be"),
        (["--proxy", "linear", "--size", "3"], "--size is for --proxy tree or list"),
        (["--proxy", "linear", "--out", "x.json"], "no rules to write"),
        (["--reference", "random-forest", "--n-draws", "9"], "--n-draws is for"),
    ],
)
def test_what_is_written_wrongly_is_told(table, options, words):
    result = run(table, "--target", "cost", *options)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_nothing_is_overwritten_unasked(table, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")
    result = run(table, "--target", "state", "--report", page)
    assert result.exit_code == 1 and page.read_text() == "mine"
