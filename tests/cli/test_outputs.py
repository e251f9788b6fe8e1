"""``clearwood simplify --target a,b``."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.wording import same_text

import clearwood as cw
from clearwood.cli import main


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    rng = np.random.default_rng(0)
    columns = {"height": rng.choice([3.5, 7.0], 300), "glazing": rng.uniform(size=300)}
    columns["heating"] = 4 * columns["height"] + rng.normal(size=300)
    columns["cooling"] = 50 * columns["height"] + 40 * (columns["glazing"] > 0.5)
    columns["town"], columns["kind"] = np.arange(300) // 5, ["new"] * 300
    path = tmp_path_factory.mktemp("outputs") / "houses.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_one_list_for_several_targets(houses, tmp_path):
    out, saved, page = (tmp_path / name for name in ("o.json", "s.json", "p.html"))
    command = ("simplify", houses, "--target", "heating,cooling", "--drop", "kind")
    done = run(
        *command, "--groups", "town", "--n-rules", 3, "--out", out, "--save", saved,
        "--report", page, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    found, rules = json.loads(done.stdout), cw.load(out)
    assert rules.targets == ("heating", "cooling") and cw.load(saved) == rules
    assert found["target"] == ["heating", "cooling"]
    # Heating depends on the height alone, whose variance is 49 of 50.
    assert found["scores"]["heating"]["fidelity"] > 0.9
    assert found["rows"] == {"training": 225, "held_out": 75}
    used = {c.feature for rule in rules.lists[0] for c in rule.conditions}
    assert {rules.features.names[d] for d in used} == {"height", "glazing"}
    assert "then cooling" in page.read_text(encoding="utf-8")
    told = run(*command, "--n-rules", 2, "--drop", "kind,town")
    assert "On 75 held-out rows:" in told.stdout and "heating 14" in told.stdout
    lines = run("predict", out, houses).stdout.splitlines()
    assert lines[0] == "row,prediction heating,prediction cooling,rule"
    assert len(lines) == 301
    row = pd.read_csv(houses).iloc[[0]]
    values = ",".join(map(str, rules.predict(row)[0]))
    assert lines[1] == f"1,{values},{rules.apply(row)[0] + 1}"
    refused = run("explain", out, houses)
    assert refused.exit_code == 1
    same_text(refused.stderr.replace(str(out), "o.json"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_whose_name_has_a_comma_is_one_target(houses, tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    frame = pd.read_csv(houses).rename(columns={"heating": "heat, MWh"})
    path = tmp_path / f"houses.{ending}"
    getattr(frame, {"csv": "to_csv"}.get(ending, "to_parquet"))(path, index=False)
    done = run(
        "simplify", path, "--target", "heat, MWh", "--n-rules", 2, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["target"] == "heat, MWh"


def test_tables_with_texts_and_dates(houses, tmp_path):
    frame = pd.read_csv(houses).drop(columns=["height", "town"])
    frame["kind"] = np.where(frame["heating"] > 20, "tall", "low")
    frame["built"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(
        np.arange(300), unit="D"
    )
    frame.to_csv(tmp_path / "houses.csv", index=False)
    command = ("simplify", tmp_path / "houses.csv", "--target", "heating,cooling")
    done = run(*command, "--n-rules", 3)
    assert done.exit_code == 0, done.stderr
    assert "if kind is " in done.stdout


WRONG = {
    "method": ("--method", "tree"),
    "model": ("--train", "gradient-boosting"),
    "option": ("--quantile", "0.5"),
}


@pytest.mark.parametrize("name", WRONG)
def test_options_for_one_target(houses, name):
    done = run("simplify", houses, "--target", "heating,cooling", *WRONG[name])
    assert done.exit_code == 2
    same_text(done.stderr.split("Error: ")[1])


@pytest.mark.parametrize("targets", ["heating,warmth", "heating,kind"])
def test_targets_are_columns_of_numbers(houses, targets):
    done = run("simplify", houses, "--target", targets)
    assert done.exit_code == 1
    same_text(done.stderr)
