import sqlite3
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.wording import same_lines, same_text

from clearwood.cli import main
from clearwood.cli.verbs.saved.export import DIALECTS
from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import CategorySet, Interval, Rule, RuleList
from clearwood.rules.exports import sql

MODULE = "clearwood.cli.verbs.saved.export"


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


RULES = RuleList(
    (Rule((Interval(0, low=60.0), CategorySet(1, (0,))), "sick", (0.25, 0.75)),),
    Rule((), "well", (0.5, 0.5)),
    FeatureSpace(("age", "ward"), (None, ("a", "b"))),
    ("well", "sick"),
)


@pytest.fixture
def rules(tmp_path):
    RULES.save(tmp_path / "rules.json")
    return tmp_path / "rules.json"


def test_the_dialects_are_those_that_can_be_written():
    assert set(DIALECTS) == set(sql.DIALECT_NAMES)


def test_sql(rules):
    result = run("export", rules, "--to", "sql", "--table", "t", "--probabilities")
    assert result.exit_code == 0, result.output
    frame = pd.DataFrame({"age": [70.0, 70.0, None], "ward": ["a", "b", "a"]})
    with sqlite3.connect(":memory:") as connection:
        frame.to_sql("t", connection, index=False)
        said = connection.execute(result.stdout).fetchall()
    connection.close()
    assert [row[2] for row in said] == RULES.predict(frame).tolist()
    assert [list(row[3:]) for row in said] == RULES.predict_proba(frame).tolist()
    expression = run("export", rules, "--to", "sql", "--dialect", "mysql")
    assert expression.stdout == RULES.to_sql("mysql")


def test_python_and_latex_to_files(rules, tmp_path):
    for kind, text, options in [
        ("python", RULES.to_python("triage"), ["--name", "triage"]),
        ("latex", RULES.to_latex(), []),
        ("pmml", RULES.to_pmml(), []),
        ("prompt", RULES.to_prompt(900), ["--max-tokens", "900"]),
    ]:
        out = tmp_path / kind
        arguments = ["export", rules, "--to", kind, "--out", out, *options]
        assert run(*arguments).exit_code == 0
        assert out.read_text(encoding="utf-8") == text
        again = run(*arguments)
        assert again.exit_code == 1
        same_text(again.stderr)
        assert run(*arguments, "--overwrite").exit_code == 0
    assert (
        run("export", rules, "--to", "sql", "--out", rules, "--overwrite").exit_code
        == 1
    )


def test_onnx_is_written_or_redirected_but_not_shown_on_a_terminal(
    rules, tmp_path, monkeypatch
):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    out, asked = tmp_path / "rules.onnx", ["export", rules, "--to", "onnx"]
    assert run(*asked, "--out", out).exit_code == 0
    assert run(*asked).stdout_bytes == out.read_bytes()
    age, ward = np.array([[70.0], [70.0]]), np.array([["a"], ["b"]], object)
    session = onnxruntime.InferenceSession(out.read_bytes())
    said, _ = session.run(None, {"age": age, "ward": ward})
    assert said.tolist() == ["sick", "well"]
    terminal = SimpleNamespace(stdout=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(import_module(MODULE), "sys", terminal)
    refused = run(*asked)
    assert refused.exit_code == 2
    same_text(refused.stderr)
    assert run(*asked, "--out", out, "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--to", "python", "--table", "t"], "--table"),
        (["--to", "latex", "--name", "f"], "--name"),
        (["--to", "latex", "--probabilities"], "--probabilities"),
        (["--to", "sql", "--max-tokens", "900"], "--max-tokens"),
        (["--to", "excel"], "excel"),
        ([], "--to"),
    ],
)
def test_usage(rules, arguments, named):
    result = run("export", rules, *arguments)
    assert result.exit_code == 2
    assert named in result.stderr
    if "--" in " ".join(arguments[2:]):
        same_lines(result.stderr)


def test_what_cannot_be_written_is_one_line(rules):
    result = run("export", rules, "--to", "python", "--name", "class")
    assert result.exit_code == 1
    same_text(result.stderr)
    assert len(result.stderr.splitlines()) == 1
