"""``clearwood compare``: table in, frontier and rules out."""

import json
import signal
import warnings
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.comparison.stand_in import Here
from tests.wording import same_lines, same_text

import clearwood as cw
from clearwood.cli import main, options
from clearwood.cli.train import hold_out
from clearwood.comparison import processes
from clearwood.comparison.peers import PEERS
from clearwood.exceptions import InterruptedFitWarning
from clearwood.rules import RuleSet

QUICK = ("--methods", "tree", "--cv", 2, "--n-refits", 0, "--max-rules", 3)


def run(*arguments):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["dose", "age"])
    X["state"] = np.where(X["dose"] > 0.5, "ill", "well")
    path = tmp_path_factory.mktemp("data") / "data.csv"
    X.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def frontier(table):
    """One comparison, for all that only shows it."""
    X = pd.read_csv(table)
    y = X.pop("state")
    model = RandomForestClassifier(5, random_state=0)
    quick = {"methods": "tree", "cv": 2, "n_refits": 0, "max_rules": 3}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "Worker", Here)
        return cw.compare(model, X, y, **quick, random_state=0)


def test_the_names_are_those_of_the_library():
    assert tuple(PEERS) == options.PEERS


def test_a_table_becomes_a_frontier_and_rules(table, tmp_path):
    rules = tmp_path / "rules.json"
    train = ("--target", "state", "--train", "decision-tree")
    done = run(table, *train, *QUICK, "--out", rules)
    assert done.exit_code == 0, done.stderr
    kept = RuleSet.load(rules)
    assert kept.target == "state" and kept.n_rules == 2
    assert kept.n_rows == 45
    # What is kept has what is expected of new rows; what is shown, what was there.
    same_lines(done.stdout)
    X = pd.read_csv(table)
    y = X.pop("state")
    X, y, X_test, y_test, *_ = hold_out(X, y, "classification", 0.25, 0)
    said = DecisionTreeClassifier(random_state=0).fit(X, y).predict(X_test)
    assert str(kept.described_on(X_test, y_test, model=said)) in done.stdout
    assert done.stderr.splitlines()[-1].endswith(f" {rules}")


def shown(monkeypatch, frontier, *arguments, warn=False):
    """The command with a comparison that is there already."""

    def found(*_, **settings):
        if warn:
            warnings.warn("Interrupted", InterruptedFitWarning, stacklevel=2)
        found.settings = settings
        return frontier

    monkeypatch.setattr("clearwood.comparison.compare", found)
    return run(*arguments), found


def test_json_and_options(table, frontier, monkeypatch, tmp_path):
    rules = tmp_path / "rules.json"
    train = (table, "--target", "state", "--train", "decision-tree", "--json")
    more = ("--methods", "tree, em", "--best", 1, "--out", rules, "--n-jobs", 2)
    done, found = shown(monkeypatch, frontier, *train, *more, "--time-limit", 7)
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["target"] == "state" and told["n_folds"] == 2
    sizes = [point.n_rules for point in frontier.points]
    assert [p["n_rules"] for p in told["points"]] == sizes and len(sizes) > 1
    assert RuleSet.load(rules).n_rules == 1
    assert found.settings["methods"] == ["tree", "em"]
    assert found.settings["time_limit"] == 7.0 and found.settings["n_jobs"] == 2


def test_a_report_is_written(table, frontier, monkeypatch, tmp_path):
    page = tmp_path / "page.html"
    written = []
    monkeypatch.setattr(
        "clearwood.reporting.report", lambda *found, **how: written.append((found, how))
    )
    train = (table, "--target", "state", "--train", "decision-tree")
    done, _ = shown(monkeypatch, frontier, *train, "--report", page, "--overwrite")
    assert done.exit_code == 0, done.stderr
    (((told, path), how),) = written
    assert (path, how) == (str(page), {"show_rows": False, "overwrite": True})
    assert told.n_described == 15 and told.points[0].rules.n_rows == 15
    assert told.points[0].error == frontier.points[0].error


def test_what_was_found_is_shown_even_where_no_rules_are_so_short(
    table, frontier, monkeypatch, tmp_path
):
    page = tmp_path / "page.html"
    longer = replace(frontier, points=frontier.points[1:])
    train = (table, "--target", "state", "--train", "decision-tree")
    done, _ = shown(monkeypatch, longer, *train, "--best", 1, "--report", page)
    assert done.exit_code == 1
    same_lines(done.stderr)
    assert str(longer) in done.stdout and page.exists()


def test_ctrl_c_shows_what_is_done_and_is_exit_130(table, frontier, monkeypatch):
    train = (table, "--target", "state", "--train", "decision-tree")
    done, _ = shown(monkeypatch, frontier, *train, warn=True)
    assert done.exit_code == 130
    assert str(frontier) in done.stdout
    same_text(done.stderr)


@pytest.mark.parametrize("place", ["comparison.compare", "cli.train.hold_out"])
def test_ctrl_c_that_other_code_drops_is_exit_130(
    table, frontier, monkeypatch, python_listens, tmp_path, place
):
    page, at_work = tmp_path / "page.html", place == "comparison.compare"

    def deaf(*args, **settings):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return frontier if at_work else hold_out(*args, **settings)

    monkeypatch.setattr(f"clearwood.{place}", deaf)
    train = (table, "--target", "state", "--train", "decision-tree")
    done = run(*train, "--report", page, *QUICK)
    assert done.exit_code == 130
    # Before the work there is nothing to show.
    assert (str(frontier) in done.stdout) == page.exists() == at_work
    if not at_work:
        same_text(done.stderr)


def test_wrong_usage_and_wrong_data(table, tmp_path):
    train = ("--target", "state", "--train", "decision-tree")
    assert run(table).exit_code == 2
    assert run(table, *train, "--cv", 1).exit_code == 2
    assert run(table, *train, "--n-jobs", 0).exit_code == 2
    assert run(table, table, *train).exit_code == 2
    done = run(table, *train, "--methods", "tree,forest")
    assert done.exit_code == 1 and "['forest']" in done.stderr
    done = run(table, *train, "--out", table)
    assert done.exit_code == 1 and done.stdout == ""
