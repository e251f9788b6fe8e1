import io
import json
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.waiting import SECONDS, running
from tests.wording import refuses, same_lines, same_text

import clearwood
from clearwood.cli import main
from clearwood.cli.options import MODELS
from clearwood.exceptions import ClearwoodError, InterruptedFitWarning
from clearwood.rules import FeatureSpace, Interval, Rule, RuleSet, RuleSum
from clearwood.simplifiers._common.flaws import SingleSplit


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def simplify(data, *arguments, target="state", train="decision-tree"):
    return run("simplify", data, "--target", target, "--train", train, *arguments)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(120, 2)), columns=["dose", "age"])
    X["state"] = np.where(X["dose"] > 0.5, "ill", "well")
    return X


@pytest.fixture
def table(frame, tmp_path):
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return path


def failed(result, *facts):
    """Exit 1 with one line on stderr: the one on file, with these facts in it."""
    assert result.exit_code == 1, result.output
    lines = [x for x in result.stderr.splitlines() if x.startswith("clearwood: error")]
    assert len(lines) == 1
    assert "Traceback" not in result.stderr
    for fact in facts:
        assert fact in lines[0]
    assert result.stdout == ""
    same_text(lines)
    return True


def test_rare_classes_are_named_if_asked(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(400, 2)), columns=["dose", "age"])
    ill = (X["dose"] > 0.9) & (rng.random(400) < 0.3)
    X["state"] = np.where(ill, "ill", "well")
    path = tmp_path / "rare.csv"
    X.to_csv(path, index=False)
    small = ("--json", "--quiet", "--random-state", "0", "--n-rules", "2")
    rules = json.loads(simplify(path, *small, "--scoring", "balanced").stdout)["rules"]
    said = {line["prediction"] for line in [*rules["rules"], rules["otherwise"]]}
    assert said == {"ill", "well"} and rules["about"]["scoring"] == "balanced"
    wrong = simplify(path, "--method", "fab", "--scoring", "balanced")
    assert wrong.exit_code == 2
    same_lines(wrong.stderr)
    number = simplify(
        path, "--scoring", "log_loss", "--drop", "state", "--task", "regression",
        target="age",
    )  # fmt: skip
    assert failed(number, "--scoring")
    # Without any option no constant, and what is printed of an unlikely class.
    told = simplify(path, "--random-state", "0", "--class-weight", "balanced").stdout
    assert "2. otherwise" in told
    same_lines(told)
    plain = json.loads(
        simplify(path, "--json", "--quiet", "--random-state", "0").stdout
    )
    assert plain["rules"]["rules"]


def test_classes_have_weights_if_asked(tmp_path):
    def weights(text, *arguments):
        found = simplify(path, "--class-weight", text, *arguments, "--json")
        assert found.exit_code == 0, found.stderr
        return json.loads(found.stdout)["rules"]["about"]["class_weight"]

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"dose": rng.uniform(size=80)})
    frame["state"] = (frame["dose"] > 0.8).astype(int)
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    # So that all rows together count as before.
    assert weights("1=8,0=2") == "0 0.5556, 1 2.222"
    assert weights("balanced", "--method", "tree").startswith("0 0.6")
    failed(simplify(path, "--class-weight", "1=many"))
    failed(simplify(path, "--class-weight", "9=2"), "9")
    numbers = simplify(path, "--class-weight", "balanced", "--task", "regression")
    failed(numbers, "--class-weight")


def test_the_best_kind_is_taken_if_asked(table):
    found = simplify(table, "--method", "auto", "--max-rules", 3)
    assert found.exit_code == 0, found.stderr
    same_lines(found.stdout)
    assert simplify(table, "--method", "auto", "--n-rules", 3).exit_code == 2
    assert simplify(table, "--method", "fab", "--class-weight", "a=1").exit_code == 2


def test_the_models_are_those_that_can_be_trained():
    from clearwood.cli import train

    assert tuple(train.MODELS) == MODELS


def test_rules_scores_and_files_come_out(table, frame, tmp_path):
    from clearwood.cli.train import hold_out

    X, y = frame[["dose", "age"]], frame["state"].to_numpy()
    split = hold_out(X, y, "classification", 0.25, 0)
    held_out = split.X_test, split.y_test
    rules, page = tmp_path / "rules.json", tmp_path / "report.html"
    result = simplify(table, "--out", rules, "--report", page)
    assert result.exit_code == 0, result.stderr
    assert "dose" in result.stdout
    same_lines(result.stdout)
    same_text(result.stderr)
    kept = RuleSet.load(rules)
    assert kept.target == "state"
    assert kept.classes == ("ill", "well")
    # The file has the numbers of the rows that it was made from, the text others.
    described = kept.described_on(*held_out, model=split.y_test)
    assert str(described) in result.stdout
    assert str(kept) not in result.stdout
    shown = page.read_text(encoding="utf-8")
    same_lines(shown)


def test_the_estimator_is_saved(table, tmp_path):
    rules, saved = tmp_path / "rules.json", tmp_path / "rules.zip"
    assert simplify(table, "--out", rules, "--save", saved).exit_code == 0
    fitted = clearwood.load(saved)
    assert fitted.rules_.to_json() == RuleSet.load(rules).to_json()
    assert run("predict", saved, table).stdout == run("predict", rules, table).stdout


@pytest.mark.parametrize("verb", sorted(main.list_commands(None)))
def test_every_command_has_the_options_of_all(verb):
    text = run(verb, "--help").stdout
    assert all(f"--{name}" in text for name in ("quiet", "debug", "max-memory"))


def test_decisions_about_a_class_are_told(table):
    quick = ("--max-rules", 2, "--method", "in-trees")
    asked = simplify(table, *quick, "--pos-label", "ill", "--threshold", "0.05")
    assert asked.exit_code == 0, asked.stderr
    same_lines(asked.stdout)
    told = json.loads(simplify(table, *quick, "--json").stdout)
    rates = {(d["of"], d["rate"]): d for d in told["decisions"]}
    assert rates["rules", "sensitivity"]["class"] == "well"
    assert rates["model", "error"]["value"] == told["scores"]["ensemble"]["error"]
    assert rates["rules", "base_rate"]["rows"] == 30
    caught = [rule["assigned"] for rule in told["rules_held_out"]["rules"]]
    caught.append(told["rules_held_out"]["otherwise"]["assigned"])
    assert sum(caught) == told["rows"]["held_out"] == 30


def test_a_class_that_is_not_there_is_refused_before_the_fit(table, monkeypatch):
    def never(*_):
        raise AssertionError("fitted")

    monkeypatch.setattr("clearwood.cli.verbs.simplify.fit_rules", never)
    assert failed(simplify(table, "--pos-label", "sick"), "'sick'")
    kind = ("--train", "hist-gradient-boosting")
    numbers = run("simplify", table, "--target", "age", *kind, "--threshold", "0.2")
    assert failed(numbers)
    assert simplify(table, "--threshold", "1").exit_code == 2


def test_json_holds_rules_and_scores(table, frame):
    result = simplify(table, "--json", "--quiet", "--max-rules", 3)
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert found["task"] == "classification"
    assert found["rows"] == {"training": 90, "held_out": 30}
    assert found["scores"]["rules"]["n_rules"] <= 3
    assert 0 <= found["scores"]["ensemble"]["error"] <= 1
    rules = RuleSet.from_json(json.dumps(found["rules"]))
    assert set(rules.predict(frame)) <= {"ill", "well"}


def test_the_same_seed_gives_the_same_answer(table):
    quick = ("--random-state", 3, "--method", "tree")
    one, two = (simplify(table, *quick, train="random-forest") for _ in range(2))
    assert one.stdout == two.stdout


@pytest.mark.parametrize("model", MODELS)
def test_every_ensemble_is_explained_for_numbers(model, frame, tmp_path):
    path = tmp_path / "numbers.csv"
    frame.assign(state=10 * frame["dose"]).to_csv(path, index=False)
    result = simplify(path, "--json", "--max-rules", 4, train=model)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["task"] == "regression"
    assert found["scores"]["rules"]["fidelity"] > 0.3


def test_in_trees(table):
    result = simplify(table, "--method", "in-trees", "--max-rules", 3, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["method"] == "in-trees"
    assert told["scores"]["rules"]["n_rules"] <= 3


def test_em_takes_all_rules_it_may(table):
    result = simplify(table, "--method", "em", "--max-rules", 3)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("train", ["random-forest", "hist-gradient-boosting"])
def test_text_columns_are_read_by_every_ensemble(frame, tmp_path, train):
    path, rules = tmp_path / "data.csv", tmp_path / "rules.json"
    frame["group"] = np.where(frame["state"] == "ill", "1", "b")
    frame.to_csv(path, index=False)
    result = simplify(path, "--out", rules, train=train)
    assert result.exit_code == 0, result.stderr
    # A file in which every group looks like a number holds the same category.
    new = tmp_path / "new.csv"
    frame[frame["group"] == "1"].to_csv(new, index=False)
    said = pd.read_csv(pd.io.common.StringIO(run("predict", rules, new).stdout))
    assert (said["prediction"] == "ill").mean() > 0.9


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([True, False], "classification"),
        ([1, 2], "classification"),
        (list(range(40)), "regression"),
        ([1.5, 2.5], "regression"),
        (["a", "b"], "classification"),
    ],
)
def test_the_task_follows_from_the_target(values, task, frame, tmp_path):
    path = tmp_path / "data.csv"
    frame.assign(state=np.resize(values, len(frame))).to_csv(path, index=False)
    result = simplify(path, "--json", "--method", "tree", "--n-rules", 2)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["task"] == task
    assert f"clearwood: {task}, because" in result.stderr


def test_parquet_is_read(frame, tmp_path):
    path = tmp_path / "data.parquet"
    frame.to_parquet(path)
    assert simplify(path).exit_code == 0


def test_predictions_say_which_rule_decided(table, frame, tmp_path):
    rules, out = tmp_path / "rules.json", tmp_path / "said.csv"
    simplify(table, "--out", rules)
    result = run("predict", rules, table, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    said, kept = pd.read_csv(out), RuleSet.load(rules)
    assert list(said) == [
        "row",
        "prediction",
        "probability ill",
        "probability well",
        "rule",
    ]
    assert said["row"].tolist() == list(range(1, 121))
    assert said["prediction"].tolist() == kept.predict(frame).tolist()
    assert (said["rule"] - 1).tolist() == kept.apply(frame).tolist()
    np.testing.assert_array_equal(said.iloc[:, 2:4], kept.predict_proba(frame))
    listed = json.loads(run("predict", rules, table, "--json").stdout)
    assert [x["prediction"] for x in listed] == said["prediction"].tolist()
    assert failed(run("predict", rules, table, "--out", out))
    assert run("predict", rules, table, "--out", out, "--overwrite").exit_code == 0


def test_explain_says_why_and_what_would_change_it(table, tmp_path):
    rules = tmp_path / "rules.json"
    simplify(table, "--out", rules)
    kept = RuleSet.load(rules)
    frame = pd.read_csv(table)
    result = run("explain", rules, table, "--row", 7)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"row 7\n{kept.explain(frame.iloc[6:7])}\n"
    every = run("explain", rules, table).stdout.split("\n\n")
    assert len(every) == 120
    assert every[6] + "\n" == result.stdout
    (record,) = json.loads(run("explain", rules, table, "--row", 7, "--json").stdout)
    assert record["row"] == 7
    assert record["prediction"] == kept.predict(frame)[6]
    changed = frame.iloc[6:7].copy()
    change = record["changes"][0]
    changed[change["features"]] = change["values"]
    assert kept.predict(changed)[0] == change["prediction"] != record["prediction"]
    held = run("explain", rules, table, "--row", 7, "--json", "--fixed", "age, dose")
    assert json.loads(held.stdout)[0]["changes"] == []
    assert failed(run("explain", rules, table, "--row", 121), "120")
    assert failed(run("explain", rules, table, "--fixed", "height"), "['height']")
    assert failed(run("explain", table, table), "data.csv")


def test_predict_needs_the_columns_and_a_file_of_rules(table, frame, tmp_path):
    rules, new = tmp_path / "rules.json", tmp_path / "new.csv"
    simplify(table, "--out", rules)
    frame[["age"]].to_csv(new, index=False)
    assert failed(run("predict", rules, new), "['dose']")
    assert failed(run("predict", table, table), "data.csv")


def test_files_are_checked_before_the_work(table, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("the table was read")

    monkeypatch.setattr("clearwood.cli.tables.reading.read_table", fail)
    there = tmp_path / "there.json"
    there.write_text("mine")
    assert failed(simplify(table, "--out", there), "--overwrite")
    assert failed(simplify(table, "--report", "nowhere/x.html"), "'nowhere'")
    assert failed(simplify(table, "--out", tmp_path))
    assert failed(simplify(table, "--out", table, "--overwrite"))
    same = tmp_path / "same"
    assert failed(simplify(table, "--out", same, "--report", same))
    assert there.read_text() == "mine"


def test_force_overwrites(table, tmp_path):
    there = tmp_path / "there.json"
    there.write_text("mine")
    assert simplify(table, "--out", there, "--overwrite").exit_code == 0
    assert RuleSet.load(there).target == "state"


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", []),
        ("dose,state\n", ["0 "]),
        ("state\nill\nwell\n", ["0 "]),
        ("dose,other\n1,2\n", ["'state'", "['dose', 'other']"]),
        ("dose,state\n1,ill\n2,\n3,well\n", ["1 of 3", "2"]),
        ("dose,state\n1,ill\n2,ill\n", ["'ill'"]),
        ("dose,dose,state\n1,2,ill\n", ["['dose']"]),
        ("dose,state\n1,ill\n2,well\n", []),
        ("dose,state\n1,ill\n2,3,4,5\n", []),
        ("dose,state\n,ill\n,well\n", ["['dose']"]),
        ("dose,state\ninf,ill\n1,well\n", ["'dose'", "row 1 "]),
    ],
)
def test_bad_tables_are_refused(text, facts, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert failed(simplify(path), *facts)


@pytest.mark.parametrize("kept", ["data", "rules"])
def test_predict_does_not_write_over_what_it_reads(table, tmp_path, kept):
    rules = tmp_path / "rules.json"
    assert simplify(table, "--out", str(rules)).exit_code == 0
    before = table.read_bytes(), rules.read_bytes()
    out = str(table if kept == "data" else rules)
    done = run("predict", rules, table, "--out", out, "--overwrite")
    assert failed(done)
    assert (table.read_bytes(), rules.read_bytes()) == before


@pytest.mark.parametrize("method", ["fab", "list", "node-harvest"])
def test_poor_rules_are_called_poor(table, tmp_path, monkeypatch, method):
    where = "clearwood.simplifiers._common.base.best_single_split"
    monkeypatch.setattr(where, lambda *_: SingleSplit(2.0, apart=2.0))
    page = tmp_path / "page.html"
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = simplify(table, "--method", method, "--report", page, "--max-rules", 3)
    for said in (done.stderr, page.read_text(encoding="utf-8")):
        same_lines(said)
        remedy = {"fab": "--statement-counts all", "list": "(compare)"}
        assert remedy.get(method, "--max-rules") in said


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(b"dose,state\n\xff\xfe\x00,ill\n")
    assert failed(simplify(path))
    parquet = tmp_path / "bad.parquet"
    parquet.write_bytes(b"PAR1 not really")
    assert failed(simplify(parquet))


def test_identifiers_are_no_classes(frame, tmp_path):
    path = tmp_path / "data.csv"
    frame.assign(state=[f"case {i}" for i in range(120)]).to_csv(path, index=False)
    assert failed(simplify(path))


def test_text_is_no_number(table):
    assert failed(simplify(table, "--task", "regression"), "--task")


def test_gaps_need_an_ensemble_that_reads_them(frame, tmp_path):
    path = tmp_path / "data.csv"
    frame.loc[3, "dose"] = np.nan
    frame.to_csv(path, index=False)
    assert failed(simplify(path, train="gradient-boosting"), "'dose'")
    assert simplify(path, train="hist-gradient-boosting").exit_code == 0


def test_too_many_categories_are_refused(frame, tmp_path):
    path = tmp_path / "data.csv"
    longer = pd.concat([frame] * 3).assign(name=[f"n{i}" for i in range(360)])
    longer.to_csv(path, index=False)
    assert failed(simplify(path, train="hist-gradient-boosting"), "255")
    # Whatever reads the table: `metatree` never heard of hist-gradient-boosting.
    result = run("metatree", path, "--target", "state")
    assert failed(result, "--drop")
    assert "boosting" not in result.stderr


def test_a_rare_class_is_no_obstacle(frame, tmp_path):
    path = tmp_path / "data.csv"
    frame.loc[0, "state"] = "rare"
    frame.to_csv(path, index=False)
    assert simplify(path).exit_code == 0


def test_what_comes_in_by_the_standard_input(table, tmp_path):
    rules, text = tmp_path / "rules.json", table.read_text().replace(",", ";")
    command = ["simplify", "-", "--target", "state", "--out", str(rules), "--json"]
    done = CliRunner().invoke(main, command, input=text)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["model"].endswith("HistGradientBoostingClassifier")
    # The rules ask for the dose alone; the state is carried to the result.
    table.write_text("state;dose\nfine;0.1\npoor;0.9\n")
    said = run("predict", rules, table, "--id", "state").stdout.splitlines()
    assert [line.split(",")[:3] for line in said] == [
        ["row", "state", "prediction"],
        ["1", "fine", "well"],
        ["2", "poor", "ill"],
    ]
    assert failed(run("predict", rules, table, "--id", "name"), "--id", "'name'")
    table.write_text("age\n3\n")
    assert failed(run("predict", rules, table), "['dose']")


def test_wrong_usage_is_exit_2(table, tmp_path):
    assert run("simplify", table).exit_code == 2
    assert simplify(tmp_path / "absent.csv").exit_code == 2
    assert simplify(table, "--max-rules", 0).exit_code == 2
    assert simplify(table, "--test-size", 1).exit_code == 2
    assert run("complicate").exit_code == 2


def test_limits_of_a_rule_list(table):
    quick = ("--method", "list", "--max-rules", "2", "--json")
    result = simplify(
        table, *quick, "--exclude-features", "age", "--increasing", "dose"
    )
    rules = json.loads(result.stdout)["rules"]
    assert rules["about"]["exclude_features"] == "age"
    assert rules["about"]["increasing"] == "dose"
    assert "age" not in json.dumps(rules["rules"])
    falling = (
        "--method",
        "list",
        "--decreasing",
        "dose",
        "--exclude-features",
        " age ",
        "--json",
    )
    found = json.loads(simplify(table, *falling).stdout)["rules"]
    # The second class, "well", is the rarer the larger the dose.
    assert found["about"]["decreasing"] == "dose"
    assert len(found["rules"]) > len(rules["rules"]) == 0
    failed(simplify(table, *quick, "--exclude-features", "size"), "'dose', 'age'")


def test_columns_are_called_what_people_call_them(table, tmp_path):
    quick = ("--max-rules", "2", "--json", "--column-info")
    as_csv, as_json = tmp_path / "info.csv", tmp_path / "info.json"
    as_csv.write_text("column,name,unit\ndose,amount,mg\nheight,,cm\n")
    as_json.write_text('{"dose": {"name": "amount", "unit": "mg"}}')
    rules = json.loads(simplify(table, *quick, as_csv).stdout)["rules"]
    assert rules["features"][0]["shown"] == "amount"
    text = simplify(table, *quick[:2], *quick[3:], as_json).stdout
    same_lines(text)
    as_csv.write_text("name,unit\ndose,mg\n")
    failed(simplify(table, *quick, as_csv), "'column'")
    as_json.write_text('["dose"]')
    failed(simplify(table, *quick, as_json), "column_info")
    os.truncate(as_json, 2**24 + 1)
    failed(simplify(table, *quick, as_json), "16,777,217 bytes are more")


@pytest.mark.parametrize("method", ["in-trees", "node-harvest"])
def test_rules_of_the_ensemble_without_some_columns(table, method):
    free, held = (
        json.loads(simplify(table, "--method", method, "--json", *more).stdout)["rules"]
        for more in ((), ("--exclude-features", "dose"))
    )
    assert held["about"]["exclude_features"] == "dose"
    assert "dose" in json.dumps(free["rules"])
    assert "dose" not in json.dumps(held["rules"])


def test_core_parameters_of_every_method_are_options(table):
    def rules_of(*options):
        done = simplify(table, "--json", *options)
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)["rules"]

    free = rules_of("--n-rules", "3")
    assert 1 <= len(free["rules"]) <= 2
    held = rules_of(
        "--n-rules", "3", "--min-samples-leaf", "30", "--learn-from", "labels"
    )
    assert all(rule["assigned"] >= 30 for rule in held["rules"])
    assert "labels" in held["about"].values() or held["rules"] != free["rules"]
    exact = rules_of("--n-rules", "3", "--exact-thresholds")
    assert exact["rules"] != free["rules"]
    assert simplify(table, "--n-rules", "few").exit_code == 2
    refused = simplify(table, "--n-rules", "12")
    assert refused.exit_code == 2 and "--max-rules 10" in refused.stderr


def test_only_sums_may_be_stable(table):
    few = "--n-rules", "3"
    for method in ((), ("--method", "additive")):
        stable = simplify(table, *few, *method, "--stability", "1")
        assert stable.exit_code == 0 and "of the trees" in stable.stdout
    assert "of the trees" not in simplify(table, *few, *method).stdout
    for other in (("--method", "list"), ("--increasing", "a")):
        refused = simplify(table, *other, "--stability", "1")
        assert refused.exit_code == 2 and "--method additive" in refused.stderr


def test_limits_are_for_lists_and_do_not_contradict_each_other(table):
    for option in ("--increasing", "--decreasing"):
        assert simplify(table, option, "age", "--method", "em").exit_code == 2
    limits = ("--increasing", "dose,age", "--decreasing", "age")
    result = simplify(table, "--method", "list", *limits)
    assert result.exit_code == 2
    same_lines(result.stderr)


def test_debug_shows_the_traceback(table):
    result = simplify(table, "--debug", target="absent")
    assert isinstance(result.exception, clearwood.exceptions.InputError)


def test_what_nobody_foresaw_is_one_line_too(table, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("clearwood.cli.tables.reading.read_table", fail)
    assert failed(simplify(table), "ZeroDivisionError", "--debug")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits are those of Unix")
def test_a_full_disk_names_the_file(table, tmp_path):
    """As a limit on the size of files, which fails in the same place."""
    rules, out = tmp_path / "rules.json", tmp_path / "said.csv"
    RuleSum(
        (Rule((Interval(0, low=1.0),), 2.0),),
        Rule((), 10.0),
        FeatureSpace.numeric(1, ["dose"]),
    ).save(rules)
    done = command("predict", rules, table, "--out", out, most_bytes=1000)
    assert done.returncode == 1
    assert repr(str(out)) in done.stderr
    same_text(done.stderr)
    assert not out.exists()


def test_names_of_files_are_printed_safely(table, tmp_path):
    name = "a\x1b[2Jb.json"
    path = tmp_path / name
    path.write_text("{}")
    for done in (run("check", path), run("predict", path, table)):
        assert done.exit_code == 1
        assert "a\\x1b[2Jb.json" in done.output
        assert "\x1b" not in done.output
    wrote = simplify(table, "--out", tmp_path / f"x{name}", "--max-rules", 2)
    assert wrote.exit_code == 0
    assert "\x1b" not in wrote.stderr
    # Nothing here strips what a terminal would obey, as click does.
    found = str(clearwood.check(path))
    assert "\x1b" not in found and found.count(r"a\x1b[2Jb.json") == 2
    with refuses(ClearwoodError):
        RuleSet.load(path)


def test_an_interrupt_is_exit_130(table, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("clearwood.cli.tables.reading.read_table", interrupt)
    result = simplify(table)
    assert result.exit_code == 130
    same_text(result.stderr)


def test_a_fit_cut_short_ends_the_command(table, tmp_path, monkeypatch):
    def cut_short(self, X, y, groups):
        warnings.warn("Interrupted after 1 of 20", InterruptedFitWarning, stacklevel=2)

    monkeypatch.setattr("clearwood.simplifiers.FABRulesClassifier.fit", cut_short)
    out = tmp_path / "rules.json"
    done = simplify(table, "--method", "fab", "--out", out)
    assert done.exit_code == 130
    assert not out.exists()


def test_the_version_is_that_of_the_library():
    assert run("--version").stdout.split()[-1] == clearwood.__version__


def test_hostile_names_pass_through_as_text(frame, tmp_path):
    path, rules = tmp_path / "data.csv", tmp_path / "rules.json"
    page = tmp_path / "report.html"
    bad = "</script><img src=x onerror=alert(1)>"
    frame = frame.rename(columns={"dose": bad, "state": f"target {bad}"})
    frame[f"target {bad}"] = frame[f"target {bad}"] + bad
    frame.to_csv(path, index=False)
    files = ("--out", rules, "--report", page)
    result = simplify(path, *files, target=f"target {bad}")
    assert result.exit_code == 0, result.stderr
    assert bad in result.stdout
    assert "<img" not in page.read_text(encoding="utf-8")
    assert bad in run("predict", rules, path).stdout


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_control_characters_in_names_from_files_are_refused(frame, tmp_path, kind):
    """Of a table, of what is said of its columns, of rules and of a page."""
    bad = "dose\nimport os"
    good, rules = tmp_path / "good.csv", tmp_path / "rules.json"
    said, table = tmp_path / "said.json", tmp_path / f"bad.{kind}"
    frame.to_csv(good, index=False)
    odd = frame.rename(columns={"dose": bad})
    odd.to_csv(table, index=False) if kind == "csv" else odd.to_parquet(table)
    failed(simplify(table))
    said.write_text(json.dumps({"dose": {"unit": "mg\x1b[2J"}}))
    failed(simplify(good, "--column-info", said), "column_info")
    assert simplify(good, "--out", rules, "--quiet").exit_code == 0
    page = ("--out", tmp_path / "page.html")
    failed(run("report", rules, *page, "--title", bad), "--title")
    failed(run("export", rules, "--to", "sql", "--table", bad), "--table")
    assert run("predict", rules, good, "--json", "--id", "state").exit_code == 0
    text = rules.read_text()
    for name, other in {"dose": "do\\nse", "state": "st\\u202eate"}.items():
        rules.write_text(text.replace(f'"{name}"', f'"{other}"'))
        failed(run("export", rules, "--to", "python"))


def test_cells_that_a_spreadsheet_would_run_are_quoted_where_that_is_asked(
    frame, tmp_path
):
    path, rules = tmp_path / "data.csv", tmp_path / "rules.json"
    starts = ["=", "+", "-", "@", "\t", "\uff1d"]
    frame["@id"] = [f"{starts[i % 6]}cmd|' /C calc'!A{i}" for i in range(len(frame))]
    frame["state"] = np.where(frame["dose"] > 0.5, "=ill", "-1 well")
    frame.to_csv(path, index=False)
    assert simplify(path, "--drop", "@id", "--out", rules).exit_code == 0
    plain, safe = (
        pd.read_csv(
            io.StringIO(run("predict", rules, path, "--id", "@id", *more).stdout)
        )
        for more in ((), ("--for-spreadsheets",))
    )
    assert plain["@id"].tolist() == frame["@id"].tolist()
    assert safe["'@id"].tolist() == [f"'{cell}" for cell in frame["@id"]]
    assert safe["prediction"].tolist() == [f"'{cell}" for cell in plain["prediction"]]
    numbers = ["row", "rule", "probability =ill"]
    pd.testing.assert_frame_equal(safe[numbers], plain[numbers])
    done = run("predict", rules, path, "--json", "--for-spreadsheets")
    assert done.exit_code == 2


# Before the work, in it, and where what was found is written
@pytest.mark.parametrize("place", ["check_outputs", "evaluate_rules", "write_rules"])
@pytest.mark.parametrize("becomes", [None, ImportError("no such module")])
def test_ctrl_c_that_other_code_drops_ends_all_the_same(
    table, tmp_path, monkeypatch, python_listens, place, becomes
):
    from clearwood.cli import command as command_of_all
    from clearwood.cli.verbs import simplify as verb

    where, name = {
        "check_outputs": (command_of_all, "check_outputs"),
        "evaluate_rules": (verb, "evaluate_rules"),
        "write_rules": (command_of_all, "_write"),
    }[place]
    whole = getattr(where, name)

    def deaf(*args, **options):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if becomes:
                raise becomes from None
        return whole(*args, **options)

    monkeypatch.setattr(where, name, deaf)
    result = simplify(table, "--out", tmp_path / "rules.json", "--n-rules", 2)
    assert result.exit_code == 130
    same_text(result.stderr.splitlines()[-1])
    assert result.stdout == ""
    too_late = place == "write_rules" and not becomes
    assert (tmp_path / "rules.json").exists() == too_late


def test_a_real_ctrl_c_ends_in_one_line(frame, tmp_path, python_listens):
    path, out = tmp_path / "data.csv", tmp_path / "rules.json"
    # Long work, as a busy machine may be late with the signal.
    pd.concat([frame] * 400).to_csv(path, index=False)
    arguments = f"simplify {path} --target state --train gradient-boosting --out {out}"
    with running(
        [sys.executable, "-m", "clearwood", *arguments.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as command:
        # The first line comes when the table is read and the long work begins.
        first = command.stderr.readline()
        command.send_signal(signal.SIGINT)
        _, rest = command.communicate(timeout=SECONDS)
    same_text(first)
    assert command.returncode == 130, rest
    same_text(rest)
    assert not out.exists()


def command(*arguments, most_bytes=None):
    def limited():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    return subprocess.run(
        [sys.executable, "-m", "clearwood", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        preexec_fn=limited if most_bytes else None,
        # Python would keep bytecode that is cut off.
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} if most_bytes else None,
    )


def test_a_real_run_ends_with_rules_and_no_progress_bar(table):
    arguments = ["--target", "state", "--train", "decision-tree", "--max-rules", 3]
    done = command("simplify", table, *arguments)
    assert done.returncode == 0, done.stderr
    assert "then" in done.stdout
    # No terminal, no progress bar.
    assert "%|" not in done.stderr


def test_help_loads_nothing_heavy():
    """What is imported, as how long it takes depends on the machine."""
    heavy = "numpy sklearn pandas scipy jinja2 matplotlib".split()
    code = (
        "import sys, clearwood.cli\n"
        "clearwood.cli.main(['--help'], standalone_mode=False)\n"
        f"print([m for m in {heavy} if m in sys.modules], len(sys.modules) < 300)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[] True"


def test_predictions_of_a_sum_say_which_rules_were_added(tmp_path):
    path, data = tmp_path / "sum.json", tmp_path / "new.csv"
    RuleSum(
        (Rule((Interval(0, low=1.0),), 2.0), Rule((Interval(0, low=2.0),), 0.5)),
        Rule((), 10.0),
        FeatureSpace.numeric(1, ["dose"]),
    ).save(path)
    pd.DataFrame({"dose": [0.0, 1.5, 3.0]}).to_csv(data, index=False)
    said = pd.read_csv(pd.io.common.StringIO(run("predict", path, data).stdout))
    assert said["prediction"].tolist() == [10.0, 12.0, 12.5]
    assert said["rules"].fillna("").astype(str).tolist() == ["", "1", "1 2"]
    listed = json.loads(run("predict", path, data, "--json").stdout)
    assert [x["rules"] for x in listed] == [[], [1], [1, 2]]


def test_columns_may_be_dropped(frame, tmp_path):
    path = tmp_path / "data.csv"
    frame.assign(name=[f"n{i}" for i in range(len(frame))]).to_csv(path, index=False)
    assert "(--drop name)" in simplify(path, train="random-forest").stderr
    done = simplify(path, "--drop", "name", "--max-rules", 3, train="random-forest")
    assert done.exit_code == 0, done.output
    assert failed(simplify(path, "--drop", "nam"), "--drop", "'nam'")
    wrong = run("simplify", path, path, "--target", "state", "--drop", "name")
    assert wrong.exit_code == 2
    both = simplify(path, "--drop", "name", "--drop", "dose", "--max-rules", 3)
    assert "age" in both.stdout
    assert "dose" not in both.stdout
    repeated = simplify(path, "--max-rules", 3, "--max-rules", 4)
    assert repeated.exit_code == 2
    same_lines(repeated.stderr)
    same_lines(wrong.stderr)


def test_of_large_files_all_rows_are_counted(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    xgboost = pytest.importorskip("xgboost")
    from clearwood import _tables

    monkeypatch.setattr(_tables, "SAMPLE_ROWS", 400)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(3000, 2)), columns=["dose", "age"])
    y = (X["dose"] > 0.5) ^ (rng.random(3000) < 0.1)
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2).fit(X[:400], y[:400])
    model.save_model(tmp_path / "model.ubj")
    X.assign(y=y.astype(int)).to_parquet(tmp_path / "rows.parquet")
    command = ["simplify", tmp_path / "model.ubj", tmp_path / "rows.parquet"]
    command += ["--target", "y", "--max-rules", "3"]
    done = run(
        *command, "--out", tmp_path / "rules.json", "--report", tmp_path / "p.html"
    )
    assert done.exit_code == 0, done.output
    same_lines(done.stdout)
    rules = clearwood.load(tmp_path / "rules.json")
    assert rules.n_rows == 3000
    found = json.loads(run(*command, "--json").stdout)
    scores = rules.evaluate(X, y.astype(int), model=tmp_path / "model.ubj").as_dict()
    assert found["all_rows"] == {"rows": 3000, "rules": scores}


def test_groups_are_held_out_together(frame, tmp_path):
    from clearwood.cli.train import hold_out

    ward = np.arange(len(frame)) // 6
    X, y = frame[["dose", "age"]].assign(ward=ward), frame["state"].to_numpy()
    split = hold_out(X, y, "classification", 0.25, 0, ward)
    assert not set(split.X.ward) & set(split.X_test.ward)
    assert (split.groups == split.X.ward).all()
    file = tmp_path / "wards.csv"
    frame.assign(ward=ward).to_csv(file, index=False)
    result = simplify(file, "--groups", "ward", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["rows"] == split.counts
    assert "ward" not in {column["name"] for column in told["rules"]["features"]}
    assert simplify(file, "--groups", "word").exit_code == 1
