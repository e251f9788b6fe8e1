import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.wording import same_lines, same_text

import clearwood as cw
from clearwood.cli import main
from clearwood.exceptions import InputError

TEXT = "now here now there " * 15


def run(*arguments):
    asked = ["states", *[str(a) for a in arguments]]
    return CliRunner().invoke(main, asked)


@pytest.fixture(scope="module")
def series():
    rng = np.random.default_rng(0)
    ill = np.repeat([0, 1] * 4, 15)
    return pd.DataFrame({
        "patient": np.repeat([7, 10, 2, 1], 30),
        "pulse": np.where(ill, 120, 70) + rng.normal(0, 5, 120).round(1),
        "ward": np.where(ill, "intensive", "normal"),
    })  # fmt: skip


@pytest.fixture(scope="module")
def path(series, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "series.csv"
    series.assign(pulse=series["pulse"].mask(series.index % 9 == 0)).to_csv(
        path, index=False
    )
    return path


def test_states_scores_and_files_come_out(path, series, tmp_path):
    out, page, kept = (tmp_path / name for name in ("a.json", "a.html", "a.zip"))
    result = run(
        path, "--id", "patient", "--n-states", 2, "--algorithm", "em", "--out", out,
        "--report", page, "--save", kept,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    same_lines(result.stdout)
    found = json.loads(out.read_text())
    assert found["steps"] == {"training": 90, "held_out": 30}
    assert found["emission"] == "mixed"
    scores = found["log_likelihood"]
    assert scores["states"] > scores["all steps alike"] + 0.5
    hmm = cw.load(kept)
    X, y = series.loc[90:, ["pulse", "ward"]].reset_index(drop=True), [30]
    X["pulse"] = X["pulse"].mask(np.arange(90, 120) % 9 == 0)
    assert scores["states"] == pytest.approx(hmm.step_log_likelihood(X, y).mean())
    text = page.read_text(encoding="utf-8")
    same_lines(text)


def test_rows_of_a_sequence_may_stand_apart(series, tmp_path):
    """Sequences come in the order in which they begin, rows in theirs."""
    order = np.argsort(np.tile(np.arange(30), 4), kind="stable")
    series.to_csv(tmp_path / "one.csv", index=False)
    series.iloc[order].to_csv(tmp_path / "two.csv", index=False)
    asked = ("--id", "patient", "--algorithm", "em", "--n-states", 2, "--json")
    one, two = (run(tmp_path / f"{n}.csv", *asked) for n in ("one", "two"))
    assert one.exit_code == 0, one.stderr
    assert one.stdout == two.stdout


@pytest.mark.parametrize("lines", [False, True])
def test_a_text_is_letters_and_seeds_count(tmp_path, lines):
    path = tmp_path / "words.txt"
    path.write_text(TEXT.replace("there ", "there\n"), encoding="utf-8")
    asked = (path, "--n-states", 3, "--n-draws", 3, "--json", "--random-state", 2)
    asked += ("--lines",) * lines
    first = run(*asked, "--quiet")
    assert first.exit_code == 0, first.stderr
    assert first.stderr == ""
    assert lines or first.stdout == run(*asked, "--quiet").stdout
    found = json.loads(first.stdout)
    assert found["sequences"] == (15 if lines else 1)
    assert sum(found["steps"].values()) == len(TEXT) - 15 * lines
    tables = found["log_likelihood"]
    same_text(list(tables)[1:])
    assert tables["last 3 symbols"] > tables["last symbol"] > tables["constant"]


@pytest.mark.parametrize(
    ("columns", "emission"),
    [
        ({"a": ["x", "y", None, "x"]}, "categorical"),
        ({"a": [0, 1, None, 1], "b": [1, 1, 0, 0]}, "bernoulli"),
        ({"a": [0, 2, 5, 1]}, "categorical"),
        ({"a": [0, 2, 5, 1, 4, 7]}, "gaussian"),
        ({"a": [0, 2, 5, 1, 4, 7, *[0] * 6]}, "mixed"),
        ({"a": [0, 2, 5, 1, 4, 7], "b": ["x", "y"] * 3}, "mixed"),
        ({"a": [0, 2, 5, 1, 4, 7], "b": [0, 1] * 3}, "mixed"),
        ({"a": [f"2020-01-0{i}" for i in range(1, 7)]}, "mixed"),
    ],
)
def test_what_is_emitted_follows_from_the_columns(
    tmp_path, monkeypatch, columns, emission
):
    seen, fit = [], cw.HiddenMarkovModel.fit

    def fit_what_no_other_test_does(model, *rows):
        seen.append(model.emission)
        if emission in ("categorical", "mixed"):
            raise InputError("enough")
        return fit(model, *rows)

    monkeypatch.setattr(cw.HiddenMarkovModel, "fit", fit_what_no_other_test_does)
    path = tmp_path / "table.csv"
    frame = pd.DataFrame(columns)
    pd.concat([frame] * 5).to_csv(path, index=False)
    result = run(path, "--n-states", 2, "--algorithm", "em", "--json")
    assert {*seen} == {emission}
    assert result.exit_code == (emission in ("categorical", "mixed")), result.stderr


def test_files_are_read_as_they_are_written(tmp_path):
    """Only one reading of each gives a label, or numbers, and nothing else."""
    quick = ("--n-states", 2, "--algorithm", "em", "--json")
    table, text = tmp_path / "a.csv", tmp_path / "a.txt"
    table.write_bytes("größe:x\n1,5:a\n?:b\n".encode("cp1252") * 1 + b"2:a\n3:b\n" * 5)
    how = ("--sep", ":", "--encoding", "cp1252", "--na", "?", "--na", "1,5")
    result = run(table, *quick, *how)
    assert result.exit_code == 0, result.stderr
    assert list(json.loads(result.stdout)["states"][0]["emits"]) == ["größe", "x"]
    assert json.loads(result.stdout)["emission"] == "mixed"
    text.write_bytes("äbäb".encode("cp1252") * 5)
    result = run(text, *quick, "--encoding", "cp1252")
    assert "ä" in result.stdout and result.exit_code == 0


@pytest.mark.parametrize(
    ("name", "content", "arguments", "code"),
    [
        ("a.txt", b"abc", ["--id", "x"], 2),
        ("a.txt", b"abc", ["--drop", "x"], 2),
        ("a.txt", b"abc", ["--sep", ";"], 2),
        ("a.txt", b"ab\xff", [], 1),
        ("a.txt", b"a", [], 1),
        ("a.csv", b"x\n1\n2\n", ["--lines"], 2),
        ("a.csv", b"x,y\n1,2\n2,\n", ["--id", "y"], 1),
        ("a.csv", b"x\n1\n2\n", ["--id", "y"], 1),
        ("a.csv", b"x\n1\n", ["--id", "x", "--drop", "x"], 2),
        ("a.csv", b"x\n1\n2\n", ["--id", "x"], 1),
    ],
)
def test_what_cannot_be_done_is_one_line(tmp_path, name, content, arguments, code):
    path = tmp_path / name
    path.write_bytes(content)
    result = run(path, *arguments)
    assert result.exit_code == code
    same_lines(result.stderr)


def test_files_are_not_overwritten(path, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")
    result = run(path, "--report", page)
    assert result.exit_code == 1 and "--overwrite" in result.stderr
    assert page.read_text() == "mine"
