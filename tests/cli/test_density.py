import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.circuits.reading.cases import clinic, stand_in, table
from tests.wording import same_lines, same_text

from clearwood import load
from clearwood.circuits.queries.draws import sample
from clearwood.cli import main


def run(*arguments):
    return CliRunner().invoke(main, ["density", *[str(a) for a in arguments]])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Two kinds of rows, with text, numbers and gaps."""
    rng = np.random.default_rng(0)
    old = rng.random(240) < 0.5
    table = pd.DataFrame({
        "age": np.where(old, 60.0, 30.0) + rng.normal(0, 4, 240).round(1),
        "smoker": np.where(rng.random(240) < np.where(old, 0.9, 0.1), "yes", "no"),
        "code": rng.choice([1, 2], 240),
        "id": np.arange(240),
    })  # fmt: skip
    table.loc[::10, "age"] = None
    path = tmp_path_factory.mktemp("data") / "rows.csv"
    table.to_csv(path, index=False)
    return path


def test_kinds_scores_and_files_come_out(path, tmp_path):
    out, page = tmp_path / "network.json", tmp_path / "network.html"
    saved = tmp_path / "network.zip"
    result = run(
        path, "--drop", "id", "--given", "smoker=yes", "--out", out, "--report", page,
        "--save", saved,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    same_lines(result.stdout)
    found = json.loads(out.read_text())
    assert found["rows"] == {"training": 180, "held_out": 60}
    assert found["log_density"] > found["log_density_of_independent_columns"] + 0.2
    assert found["depend"][0]["columns"] == ["age", "smoker"]
    assert found["given"]["known"] == {"smoker": "yes"}
    assert found["network"]["features"]
    again = load(saved)
    assert found["degrees_of_freedom"] == again.degrees_of_freedom_
    table = pd.read_csv(path)
    for line in found["surprising"]:
        # Rows as an editor counts them: from 1.
        row = table.iloc[int(line["row"]) - 1]
        for one in line["because"]:
            assert str(row[one["column"]]).removesuffix(".0") == one["found"]
    assert found["surprising"]
    same_lines(page.read_text(encoding="utf-8"))


def test_json_is_the_same_for_a_seed(path):
    given = "--given", "age=61", "--given", "code=2"
    asked = path, "--drop", "id", "--json", "--quiet", "--random-state", 3, *given
    first, second = run(*asked), run(*asked)
    assert first.exit_code == 0, first.stderr
    assert first.stderr == ""
    assert first.stdout == second.stdout
    same_lines(json.loads(first.stdout)["given"]["changed"][0])


def test_numbers_that_are_given_may_be_written_otherwise(path):
    result = run(path, "--drop", "id", "--quiet", "--given", "code=2.0", "--given",
                 "age=60.0")  # fmt: skip
    same_lines(result.stdout)
    result = run(path, "--given", "age=60", "--given", "age=61")
    assert result.exit_code == 2
    same_lines(result.stderr)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("smoker", 2),
        ("age=old", 2),
        ("age=nan", 2),
        ("age=inf", 2),
        ("code=3.0", 1),
        ("smoker=often", 1),
        ("pulse=3", 2),
    ],
)
def test_what_is_given_must_be_in_the_table(path, given, code):
    result = run(path, "--drop", "id", "--given", given)
    assert result.exit_code == code
    same_lines(result.stderr)


def test_unknown_levels_are_refused_before_the_fit(path, monkeypatch):
    monkeypatch.setattr("clearwood.circuits.estimators.MiniSPN", None)
    result = run(path, "--drop", "id", "--given", "smoker=often", "--debug")
    assert result.exit_code == 1
    same_text(str(result.exception))


def test_rows_are_named(path, tmp_path):
    out, page = tmp_path / "found.json", tmp_path / "found.html"
    table = pd.read_csv(path)
    table["id"] = [f"c{i}" for i in range(len(table))]
    named = tmp_path / "named.csv"
    table.to_csv(named, index=False)
    asked = ("--id", "id", "--out", out, "--report", page)
    result = run(named, *asked, "--show-rows")
    assert result.exit_code == 0, result.stderr
    assert "warning" not in result.stderr
    found = json.loads(out.read_text())
    first = found["surprising"][0]
    assert list(first)[0] == "id" and first["id"] == f"c{int(first['row']) - 1}"
    text = f"row {first['row']}, id {first['id']}"
    assert f"  {text}: " in result.stdout
    assert text.removeprefix("row ") in page.read_text(encoding="utf-8")
    # The column itself is not learned from.
    without = run(path, "--drop", "id", "--json", "--quiet")
    told = json.loads(without.stdout)
    assert told["log_density"] == found["log_density"]
    assert "id" not in told["surprising"][0]
    result = run(named, "--id", "who")
    assert result.exit_code == 1 and "'who'" in result.stderr


def test_names_of_columns_may_hold_an_equals_sign(path, tmp_path):
    table = pd.read_csv(path).drop(columns="id")
    odd = tmp_path / "odd.csv"
    table.rename(columns={"smoker": "age=60", "code": ""}).to_csv(odd, index=False)
    result = run(odd, "--quiet", "--json", "--given", "age=60=yes")
    assert json.loads(result.stdout)["given"]["known"] == {"age=60": "yes"}
    result = run(odd, "--quiet", "--json", "--given", "age=61")
    assert json.loads(result.stdout)["given"]["known"] == {"age": 61}


def test_infinity_is_named_by_its_row_in_the_file(path, tmp_path):
    table, odd = pd.read_csv(path), tmp_path / "odd.csv"
    table.loc[[7, 9], "age"] = np.inf
    table.to_csv(odd, index=False)
    result = run(odd, "--drop", "id")
    assert result.exit_code == 1
    same_text(result.stderr)


def test_files_are_not_overwritten(path, tmp_path):
    page = tmp_path / "network.html"
    page.write_text("mine")
    result = run(path, "--report", page)
    assert result.exit_code == 1 and "--overwrite" in result.stderr
    assert page.read_text() == "mine"


def test_a_network_that_helps_nothing_is_said_to(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    values = sample(clinic(), 200, rng)
    path = tmp_path / "rows.csv"
    learnt = SimpleNamespace(fit=lambda X: stand_in(clinic()))
    monkeypatch.setattr(
        "clearwood.circuits.estimators.MiniSPN", lambda **settings: learnt
    )
    said = []
    for rows in (values, rng.permuted(values, axis=0)):
        table(rows).to_csv(path)
        done = run(path, "--drop", "Unnamed: 0", "--quiet")
        assert done.exit_code == 0, done.stderr
        said.append(done.stdout)
    same_lines(said[1], without=said[0])
