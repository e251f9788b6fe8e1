import json

import numpy as np
import pandas as pd
import pytest
import xgboost
from click.testing import CliRunner
from tests.wording import same_lines, same_text

from clearwood.cli import main


def run(*arguments):
    return CliRunner().invoke(main, ["explore", *[str(a) for a in arguments]])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A file of another country: semicolons, decimal commas and per cents."""
    lines = ["dose;rate;ill"]
    lines += [
        f"{k % 7},5;{k % 11} %;{'yes' if k % 7 + k % 3 > 4 else 'no'}"
        for k in range(60)
    ]
    path = tmp_path_factory.mktemp("data") / "rows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_it_prints_the_table_the_models_and_how_to_repeat(path, tmp_path):
    page = tmp_path / "page.html"
    result = run(path, "--target", "ill", "--seconds", 0.01, "--report", page)
    assert result.exit_code == 0, result.stderr
    same_lines(result.stdout)
    assert "Recommended model" in page.read_text(encoding="utf-8")


def test_json_has_the_same_facts(path):
    result = run(path, "--target", "ill", "--seconds", 0.01, "--json", "--quiet")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["rows"] == 60 and found["task"] == "classification"
    assert [column["type"] for column in found["columns"]] == [
        "number", "number", "category",
    ]  # fmt: skip
    names = {model["model"] for model in found["models"]}
    assert {"gradient boosting", "linear model", "constant"} <= names
    assert sum(model["recommended"] for model in found["models"]) == 1


def test_without_a_target_there_is_an_overview(path):
    result = run(path)
    assert result.exit_code == 0, result.stderr
    assert "Models on" not in result.stdout and "dose" in result.stdout


def test_a_model_file_may_have_been_trained_on_the_rows(tmp_path):
    dose = np.random.default_rng(0).normal(size=80).round(2)
    ill = np.arange(80) % 2
    model = xgboost.XGBClassifier(n_estimators=50, n_jobs=1, min_child_weight=0)
    model.fit(pd.DataFrame({"dose": dose}), ill).save_model(tmp_path / "model.ubj")
    pd.DataFrame({"dose": dose, "ill": ill}).to_csv(tmp_path / "rows.csv", index=False)
    asked = [tmp_path / "rows.csv", "--target", "ill", "--seconds", 0.01]
    stated = "--held-out-from", "model"
    given = [*asked, "--model", tmp_path / "model.ubj"]
    by_default, held_out = run(*given).stdout, run(*given, *stated).stdout
    assert "perhaps on training" in by_default
    assert "Also better" not in by_default
    assert "(perhaps" not in held_out and "Also better" in held_out
    assert run(*asked, *stated).exit_code == 2


def test_an_unknown_target_is_refused(path):
    result = run(path, "--target", "il")
    assert result.exit_code == 1
    same_text(result.stderr)
