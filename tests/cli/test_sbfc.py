import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.wording import same_lines, same_text

from clearwood.cli import main


def run(*arguments):
    return CliRunner().invoke(main, ["sbfc", *[str(a) for a in arguments]])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (160, 3)), columns=["left", "right", "idle"])
    X["hue"] = rng.choice(["red", "blue"], 160)
    X["state"] = np.where((X["left"] ^ X["right"]) == 1, "ill", "well")
    X["cost"] = rng.normal(size=160).round(3)
    X.loc[::40, "hue"] = None
    X["always"] = 1
    path = tmp_path_factory.mktemp("data") / "data.csv"
    X.to_csv(path, index=False)
    return path


def test_probabilities_scores_and_files_come_out(table, tmp_path):
    out, page = tmp_path / "graph.json", tmp_path / "graph.html"
    result = run(
        table, "--target", "state", "--drop", "cost", "--out", out, "--report", page
    )
    assert result.exit_code == 0, result.stderr
    assert ", right" in result.stdout or "right, left" in result.stdout
    same_lines(result.stdout)
    assert result.stdout.count("always") == 1
    found = json.loads(out.read_text())
    assert found["signal_probability"]["left"] > 0.99 > 0.5
    assert found["signal_probability"]["idle"] < 0.5
    assert found["single_level"] == ["always"]
    assert sorted(found["edges"][0]["features"]) == ["left", "right"]
    assert sorted(found["best_graph"]["edges"][0]) == ["left", "right"]
    assert found["rows"] == {"training": 120, "held_out": 40}
    assert found["scores"]["error"] == 0 < found["scores"]["error_without"]
    same_lines(page.read_text(encoding="utf-8"))


def test_json_is_the_same_for_a_seed_and_options_reach_the_estimator(table):
    asked = (
        table, "--target", "state", "--drop", "cost,hue", "--json", "--quiet",
        "--sampler", "collapsed", "--n-draws", 20, "--random-state", 4,
    )  # fmt: skip
    first, second = run(*asked), run(*asked)
    assert first.exit_code == 0, first.stderr
    assert first.stderr == ""
    assert first.stdout == second.stdout
    found = json.loads(first.stdout)
    same_lines(found["sampling"])
    assert found["log_evidence"] is None
    other = json.loads(run(*asked, "--prior", "paper").stdout)
    assert (
        other["best_graph"]["log_posterior"] != (found["best_graph"]["log_posterior"])
    )
    # The prior of the paper, among others.
    paper = json.loads(run(*asked, "--preset", "paper").stdout)
    assert paper["best_graph"]["log_posterior"] == other["best_graph"]["log_posterior"]


def test_a_warning_is_one_line_also_of_the_page(table, tmp_path):
    """Names of rows, none of which the rows held out share with the others."""
    X = pd.read_csv(table)[["left", "state"]].assign(name=[f"n{i}" for i in range(160)])
    X.to_csv(tmp_path / "named.csv", index=False)
    asked = tmp_path / "named.csv", "--target", "state", "--overwrite"
    with warnings.catch_warnings(record=True) as raw:
        warnings.simplefilter("always")
        loud = run(*asked, "--report", tmp_path / "page.html")
        quiet = run(*asked, "--report", tmp_path / "page.html", "--quiet")
    assert raw == []
    same_text(loud.stderr)
    assert quiet.stderr == ""


def test_what_cannot_be_done_is_one_line(table, tmp_path):
    result = run(table, "--target", "cost", "--drop", "state")
    assert result.exit_code == 1
    same_text(result.stderr)
    page = tmp_path / "page.html"
    page.write_text("mine")
    result = run(table, "--target", "state", "--report", page)
    assert result.exit_code == 1
    assert page.read_text() == "mine"
    assert run(table).exit_code == 2
