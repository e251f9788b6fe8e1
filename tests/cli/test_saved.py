"""Verbs of what is saved: rules judged on new rows, and pages about them."""

import json

import lightgbm
import numpy as np
import pandas as pd
import pytest
from tests.cli.test_cli import failed, run
from tests.wording import same_lines, same_text

import clearwood as cw
from clearwood.cli import main
from clearwood.rules import CategorySet, FeatureSpace, Interval, Rule, RuleList

RULES = RuleList(
    (
        Rule((Interval(0, low=0.75),), "ill", (0.1, 0.9)),
        Rule((CategorySet(1, (0,)),), "ill", (0.2, 0.8)),
    ),
    Rule((), "well", (0.8, 0.2)),
    FeatureSpace(("dose", "ward"), (None, ("west", "north"))),
    ("well", "ill"),
    "state",
)


@pytest.fixture(scope="module")
def frame():
    """Rows of which the rules are right but for a few."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "name": [f"p{i}" for i in range(80)],
        "dose": rng.uniform(size=80).round(2),
        "ward": rng.choice(["west", "north"], 80),
    })  # fmt: skip
    said = RULES.predict(frame)
    turned = np.where(said == "ill", "well", "ill")
    frame["state"] = np.where(np.arange(80) % 10 == 0, turned, said)
    return frame


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """Rules, a table of theirs, and a model that knows its classes as 0 and 1."""
    folder = tmp_path_factory.mktemp("saved")
    RULES.save(folder / "rules.json")
    frame.to_csv(folder / "new.csv", index=False)
    frame.drop(columns="state").to_csv(folder / "unlabelled.csv", index=False)
    X = frame[["dose", "ward"]].astype({"ward": "category"})
    model = lightgbm.LGBMClassifier(
        n_estimators=3, min_child_samples=5, n_jobs=1, verbose=-1
    ).fit(X, frame["state"] == "ill")
    model.booster_.save_model(folder / "model.txt")
    return folder


@pytest.fixture
def rules(folder):
    return folder / "rules.json"


def test_numbers_are_of_the_rows(folder, rules, frame):
    new = folder / "new.csv"
    told = json.loads(run("evaluate", rules, new, "--json").stdout)
    own = RULES.evaluate(frame, frame["state"])
    scores = {k: None if np.isnan(v) else v for k, v in own.as_dict().items()}
    assert told["scores"] == {"rules": scores} and scores["error"] == 0.1
    assert scores["fidelity"] is None and told["rows"] == 80
    described = RULES.described_on(frame, frame["state"])
    assert told["rules"] == json.loads(described.to_json())
    text = run("evaluate", rules, new, "--pos-label", "well").stdout
    head, _, rest = text.partition("\n\n")
    assert str(new) in head and rest.startswith(str(described))
    same_text(head)
    same_lines(text)
    assert str(cw.decisions(RULES, frame, frame["state"], pos_label="well")) in text


def test_a_model_is_followed_or_not(folder, rules, frame):
    asked = ("--model", folder / "model.txt")
    result = run("evaluate", rules, folder / "unlabelled.csv", *asked, "--json")
    told = json.loads(result.stdout)
    model = cw.read_ensemble(folder / "model.txt").with_classes(["well", "ill"])
    said = model.predict(frame[["dose", "ward"]])
    fidelity = RULES.evaluate(frame, model=said).fidelity
    assert 0.5 < told["scores"]["rules"]["fidelity"] == fidelity
    assert told["scores"]["ensemble"]["error"] is None and told["decisions"] is None
    same_text(result.stderr)
    turned = run("evaluate", rules, folder / "new.csv", *asked, "--classes", "ill,well")
    assert f" {1 - fidelity:.4g}" in turned.stdout
    alone = run("evaluate", rules, folder / "unlabelled.csv")
    assert alone.stdout.rstrip().endswith(str(RULES.described_on(frame)))
    assert run("evaluate", rules, folder / "new.csv", "--classes", "a").exit_code == 2


def test_labels_are_those_of_the_rules(tmp_path, folder, frame):
    """A table has numbers where the rules have texts, and the reverse."""
    path, data = tmp_path / "rules.json", tmp_path / "new.csv"
    for classes in ((0, 1), ("0", "1"), (False, True)):
        by_label = dict(zip(RULES.classes, classes))
        lines = [
            Rule(r.conditions, by_label[r.prediction], r.probabilities) for r in RULES
        ]
        cw.save(
            RuleList(tuple(lines[:-1]), lines[-1], RULES.features, classes, "state"),
            path, overwrite=True,
        )  # fmt: skip
        written = (False, True) if classes == (False, True) else (0, 1)
        cells = frame["state"].map(dict(zip(RULES.classes, written)))
        frame.assign(truth=cells).to_csv(data, index=False)
        result = run("evaluate", path, data, "--target", "truth", "--json")
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout)["scores"]["rules"]["error"] == 0.1
    rules = folder / "rules.json"
    assert failed(run("evaluate", rules, data, "--target", "truth"), "'well'", "'ill'")
    assert failed(run("evaluate", rules, data, "--target", "age"), "'age'")
    other = frame.assign(state=frame["state"].where(frame.index != 3, "dead"))
    other.to_csv(data, index=False)
    result = run("evaluate", rules, data, "--json")
    same_text(result.stderr)
    assert json.loads(result.stdout)["scores"]["rules"]["error"] == 9 / 80
    other.assign(state=other["state"].where(other.index != 3, None)).to_csv(data)
    assert failed(run("evaluate", rules, data), "80")


def test_numbers_are_judged_too(tmp_path):
    rules = RuleList(
        (Rule((Interval(0, low=0.5),), 4.0),), Rule((), 1.0),
        FeatureSpace.numeric(1, ["dose"]), target="days",
    )  # fmt: skip
    cw.save(rules, tmp_path / "rules.json")
    data = tmp_path / "new.csv"
    data.write_text("days;dose\n4;0.7\n2;0.1\n")
    told = run("evaluate", tmp_path / "rules.json", data, "--json", "--quiet").stdout
    assert json.loads(told)["scores"]["rules"]["error"] == 0.5
    data.write_text("days;dose\n4;0.7\nmany;0.1\n")
    assert failed(run("evaluate", tmp_path / "rules.json", data), "'many'")


def test_a_page_is_that_of_the_function(folder, rules, frame, tmp_path):
    page, same = tmp_path / "page.html", tmp_path / "same.html"
    columns = tmp_path / "columns.csv"
    columns.write_text("column,name,unit\ndose,amount,mg\n")
    result = run(
        "report", rules, folder / "new.csv", "--out", page, "--row", 2,
        "--model", folder / "model.txt", "--column-info", columns, "--title", "Wards",
        "--held-out-from", "model", "--pos-label", "ill", "--threshold", 0.3,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert f"wrote {page}" in result.stderr
    model = cw.read_ensemble(folder / "model.txt").with_classes(["well", "ill"])
    cw.report(
        RULES, same, X=frame, y=frame["state"], model=model, title="Wards",
        column_info={"dose": {"name": "amount", "unit": "mg"}}, held_out_from="model",
        row=frame.iloc[[1]], pos_label="ill", threshold=0.3,
    )  # fmt: skip
    assert page.read_text(encoding="utf-8") == same.read_text(encoding="utf-8")
    again = run("report", rules, "--out", page)
    assert failed(again, "--overwrite")
    assert run("report", rules, "--out", page, "--overwrite").exit_code == 0
    cw.report(RULES, same, overwrite=True)
    assert page.read_text(encoding="utf-8") == same.read_text(encoding="utf-8")


def test_what_cannot_be_reported_is_said(folder, rules, tmp_path):
    page = tmp_path / "page.html"
    asked = run("report", rules, "--out", page, "--row", 1)
    assert asked.exit_code == 2
    same_lines(asked.stderr)
    new = (folder / "new.csv", "--out", page)
    assert failed(run("report", rules, *new, "--row", 81), "80")
    assert failed(run("report", folder / "new.csv", "--out", page), "new.csv")
    assert failed(run("report", rules, "--out", rules, "--overwrite"))
    assert run("report", rules).exit_code == 2


def test_a_saved_estimator_is_its_rules(frame, folder, tmp_path):
    X, y = frame[["dose", "ward"]], frame["state"]
    fitted = cw.RuleListClassifier(n_rules=2, random_state=0).fit(X, y)
    saved = tmp_path / "fitted.zip"
    cw.save(fitted, saved)
    cw.save(fitted.rules_, tmp_path / "rules.json")
    for verb, *more in [("predict",), ("evaluate", "--target", "state"), ("explain",)]:
        one, two = (
            run(verb, file, folder / "new.csv", *more).stdout
            for file in (saved, tmp_path / "rules.json")
        )
        assert one == two != ""
    assert run("report", saved, "--out", tmp_path / "page.html").exit_code == 0
    assert run("export", saved, "--to", "sql").stdout == fitted.rules_.to_sql()
    cw.save(
        cw.HiddenMarkovModel(2, algorithm="em", random_state=0).fit("abab" * 5),
        saved,
        overwrite=1,
    )
    assert failed(run("predict", saved, folder / "new.csv"))


def test_rows_are_named(folder, rules):
    asked = ("explain", rules, folder / "new.csv", "--row", 2, "--id")
    same_lines(run(*asked, "name").stdout)
    told = json.loads(run(*asked, "name", "--json").stdout)
    assert [told[0]["row"], told[0]["name"]] == [2, "p1"]
    assert failed(run(*asked, "who"), "--id", "'who'")


def test_reasons_are_printed_for_each_row(folder, rules):
    asked = ("explain", rules, folder / "new.csv", "--row", 2)
    same_lines(run(*asked, "--reasons").stdout)
    changes = json.loads(run(*asked, "--json").stdout)[0]["changes"]
    assert changes[0]["reason"] in run(*asked, "--reasons").stdout
    same_lines(run(*asked, "--reasons", "--fixed", "dose,ward").stdout)


def test_stability_is_of_the_rules_that_simplify_finds(folder):
    data = ("--drop", "name", "--target", "state", "--n-rules", 3, "--method", "tree")
    found = run("simplify", folder / "new.csv", *data, "--json")
    again = run("stability", folder / "new.csv", *data, "--n-refits", 3, "--json")
    assert again.exit_code == 0, again.stderr
    told, rules = json.loads(again.stdout), json.loads(found.stdout)["rules"]
    assert told["n_refits"] == 3 and told["n_rules_here"] == len(rules["rules"]) + 1
    asked = cw.RuleSet.from_json(json.dumps(rules))
    texts = [rule.text(asked.features) for rule in asked.rules]
    assert [rule["asks"] for rule in told["rules"]] == texts
    assert not told["refit_ensemble"] and 0.5 < told["agreement"] <= 1


def test_alternatives_are_those_of_the_rules_that_simplify_finds(folder):
    data = ("--drop", "name", "--target", "state", "--n-rules", 3)
    found = run("simplify", folder / "new.csv", *data, "--json")
    page = ("--report", folder / "lists.html", "--tolerance", 0.05)
    other = run("alternatives", folder / "new.csv", *data, "--json", *page)
    assert other.exit_code == 0, other.stderr
    told, rows = json.loads(other.stdout), json.loads(found.stdout)["rows"]
    assert told["rows"] == rows["training"]
    assert told["best_fidelity"] <= told["bound"] + 1e-9
    assert told["sets"][0]["fidelity"] == pytest.approx(told["best_fidelity"])
    assert told["best_fidelity"] - told["sets"][-1]["fidelity"] <= 0.051
    assert cw.RuleSet.from_json(json.dumps(told["best"])).n_rules <= 3
    assert "Best list found" in (folder / "lists.html").read_text("utf-8")
    early = run("alternatives", folder / "new.csv", *data, "--time-limit", 0)
    assert "The search ended early" in early.stdout
    wrong = run("alternatives", folder / "new.csv", *data, "--time-limit", -1)
    assert wrong.exit_code == 2 and "--time-limit" in wrong.stderr


def test_stability_is_written_and_nothing_is_overwritten(folder, tmp_path):
    asked = ("--drop", "name", "--target", "state", "--n-rules", 2, "--n-refits", 2)
    out = tmp_path / "stability.json"
    plain = ("stability", folder / "new.csv", *asked, "--train", "decision-tree")
    found = run(*plain, "--json", "--out", out)
    assert found.exit_code == 0, found.stderr
    assert f"wrote {out}" in found.stderr
    assert json.loads(out.read_text()) == json.loads(found.stdout)
    assert failed(run(*plain, "--out", out), "stability.json")
    assert run(*plain, "--out", out, "--overwrite").exit_code == 0


@pytest.mark.parametrize("verb", ["simplify", "stability", "compare"])
def test_no_jobs_at_all_are_refused(folder, verb):
    done = run(verb, folder / "new.csv", "--target", "state", "--n-jobs", 0)
    assert done.exit_code == 2 and "--n-jobs" in done.stderr


def test_stability_may_train_again(folder):
    data = ("--target", "state", "--max-rules", 2, "--n-refits", 2)
    asked = (*data, "--drop", "name", "--train", "decision-tree", "--refit-ensemble")
    # Its reading of texts is fitted again, too.
    result = run("stability", folder / "new.csv", *asked)
    assert result.exit_code == 0, result.stderr
    same_lines(result.stdout)
    model = folder / "model.txt"
    read = run("stability", model, folder / "new.csv", *data, "--refit-ensemble")
    assert read.exit_code == 2
    same_lines(read.stderr)
    read = run("stability", model, folder / "new.csv", *data, "--classes", "well,ill")
    assert read.exit_code == 0
    same_lines(read.stdout)


VERBS = {
    "metatree": ("--target", "state", "--max-depth", 1),
    "sbfc": ("--target", "state"),
    "density": (),
    "states": ("--n-states", 2, "--algorithm", "em"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_learns_what_columns_are_called(verb, folder, tmp_path):
    columns = tmp_path / "columns.json"
    columns.write_text('{"dose": {"name": "amount"}, "ward": {"name": "house"}}')
    asked = (verb, folder / "new.csv", *VERBS[verb], "--drop", "name", "--column-info")
    page = tmp_path / "page.html"
    result = run(*asked, columns, "--report", page)
    assert result.exit_code == 0, result.stderr
    assert "amount" in page.read_text("utf-8") or "house" in page.read_text("utf-8")
    columns.write_text('{"size": {"name": "amount"}}')
    assert failed(run(*asked, columns))


def test_a_validation_document_states_a_purpose(folder, tmp_path):
    asked = ("--out", tmp_path / "document.html")
    result = run("validate", folder / "rules.json", folder / "new.csv", *asked)
    assert result.exit_code == 2 and "--purpose" in result.stderr


def test_monitoring_is_that_of_python(folder, rules, frame):
    new = frame.assign(dose=frame["dose"] + 0.4)
    new.to_csv(folder / "later.csv", index=False)
    asked = ["--reference", folder / "new.csv", "--by", "ward", "--json"]
    page = ["--report", folder / "page.html"]
    result = run("monitor", rules, folder / "later.csv", *asked, *page)
    own = cw.monitor(
        RULES,
        new,
        new["state"],
        reference=frame,
        reference_y=frame["state"],
        by="ward",
    )
    told = json.loads(result.stdout)
    assert result.exit_code == 1
    assert told["signals"] == len(own.signals) > 0
    checks = pd.DataFrame(told["checks"])
    wanted = own.to_frame()
    pd.testing.assert_frame_equal(checks, wanted, check_dtype=False, rtol=1e-6)
    assert "Errors by group" in (folder / "page.html").read_text("utf-8")
    groups = pd.DataFrame(told["groups"])
    pd.testing.assert_frame_equal(groups, own.groups_to_frame(), rtol=1e-6)
    options = {one.name: one for one in main.get_command(None, "monitor").params}
    same_text(options["reference"].help)
    calm = run("monitor", rules, folder / "unlabelled.csv")
    assert calm.exit_code == 0
    same_text(calm.stdout)
    assert run("monitor", rules, folder / "new.csv", "--by", "x").exit_code == 1
