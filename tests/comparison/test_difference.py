"""Differences between two models whose predictions are known."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import xgboost
from scipy.stats import binomtest
from sklearn.tree import DecisionTreeClassifier
from tests.cli.test_cli import failed, run
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.outcomes.intervals import mean_of, rate_of
from clearwood.rules import CategorySet, FeatureSpace, Interval, Rule, RuleList

SPACE = FeatureSpace(("dose", "ward"), (None, ("west", "north")))


def list_of(threshold, *more):
    first = Rule((Interval(0, low=threshold),), "ill", (0.1, 0.9))
    otherwise = Rule((), "well", (0.8, 0.2))
    return RuleList((first, *more), otherwise, SPACE, ("well", "ill"), "state")


OLD = list_of(0.5)
NEW = list_of(0.7, Rule((CategorySet(1, (0,)),), "ill", (0.2, 0.8)))
"""Differs where dose is from 0.5 to 0.7 and ward north, or below 0.5 and ward west."""


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({
        "dose": rng.uniform(size=400),
        "ward": rng.choice(["west", "north"], 400),
        "site": rng.choice(["A", "B"], 400),
    })  # fmt: skip


def test_classes(frame):
    before, now = OLD.predict(frame), NEW.predict(frame)
    y = np.where(np.arange(400) % 3 == 0, before, now)
    found = cw.difference(OLD, NEW, frame, y, by="site", random_state=0)
    apart = before != now
    assert found.changed == rate_of(apart, np.ones(400))
    for a in ("ill", "well"):
        for b in ("ill", "well"):
            assert found.table.loc[a, b] == ((before == a) & (now == b)).sum()
    assert found.errors["old"].value == pytest.approx((before != y).mean())
    assert found.errors["new"].value == pytest.approx((now != y).mean())
    closer = int((now == y)[apart].sum())
    assert found.p == pytest.approx(binomtest(closer, apart.sum()).pvalue)
    for site, rate in found.groups.items():
        own = (frame["site"] == site).to_numpy()
        assert rate == rate_of(apart[own], np.ones(own.sum()))
    # The rules find the two regions.
    said = found.rules.predict(frame)
    assert (said == np.where(apart, "different", "equal")).mean() > 0.97
    assert found.rules.used_features == {0, 1}


def test_values(frame):
    X = frame[["dose"]]
    y = X["dose"].to_numpy() + 0.2
    old, new = (lambda X: np.asarray(X)[:, 0], lambda X: np.asarray(X)[:, 0].clip(0.6))
    found = cw.difference(old, new, X, y, by=frame["site"], random_state=0)
    gap = new(X) - old(X)
    assert found.shift == mean_of(gap, np.ones(400))
    assert found.changed == mean_of(np.abs(gap), np.ones(400))
    assert found.table is None
    assert found.errors["new"].value == pytest.approx(np.abs(new(X) - y).mean())
    assert found.groups["A"].value == pytest.approx(gap[frame["site"] == "A"].mean())
    assert found.rules.target == "new minus old"
    assert np.corrcoef(found.rules.predict(X), gap)[0, 1] > 0.95
    assert set(found.to_frame()["what"]) == {
        "difference", "new minus old", "error, old", "error, new",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["text", "bool", "numbers and a model of classes"])
def test_functions_may_return_labels(frame, kind):
    high = frame["dose"] > 0.5
    if kind == "text":
        old, new = OLD.predict, lambda X: np.repeat("well", len(X))
    elif kind == "bool":
        old, new = (lambda X: X["dose"] > 0.5), (lambda X: X["dose"] > 0.6)
    else:
        old = DecisionTreeClassifier().fit(frame[["dose"]], high.astype(int))
        frame, new = frame[["dose"]], lambda X: np.zeros(len(X))
    found = cw.difference(old, new, frame, random_state=0)
    assert found.shift is None
    before, now = (np.asarray(getattr(m, "predict", m)(frame)) for m in (old, new))
    assert found.changed == rate_of(before != now, np.ones(400))


def test_equal_models_have_no_rules(frame):
    found = cw.difference(OLD, OLD, frame, OLD.predict(frame))
    assert found.rules is None
    assert found.changed.value == 0
    assert found.p == 1
    same_text(str(found))


def test_in_words(frame):
    y = NEW.predict(frame)
    given = {"by": "site", "max_rules": 3, "random_state": 0}
    same_text(str(cw.difference(OLD, NEW, frame, y, **given)))


def test_values_in_words(frame):
    old, new = (lambda X: np.asarray(X)[:, 0], lambda X: np.asarray(X)[:, 0].clip(0.6))
    X, y = frame[["dose"]], frame["dose"]
    given = {"by": frame["site"], "max_rules": 3, "random_state": 0}
    same_text(str(cw.difference(old, new, X, y, **given)))


def len_of(X):
    return np.full(len(X), float(len(X)))


WRONG = {
    "tasks": (OLD, RuleList((), Rule((), 1.0), SPACE), {}),
    "no class in common": (
        OLD, RuleList((), Rule((), 1, (0.0, 1.0)), SPACE, (0, 1)), {}
    ),
    "y": (OLD, NEW, {"y": ["ill"]}),
    "missing labels": (OLD, NEW, {"y": ["ill", None] * 200}),
    "labels of others": (OLD, NEW, {"y": [0, 1] * 200}),
    "texts as values": (len_of, len_of, {"y": ["ill", "well"] * 200}),
    "missing values": (len_of, len_of, {"y": [0.0, np.nan] * 200}),
    "no model": (None, NEW, {}),
    "shapes": (OLD, lambda X: np.zeros((len(X), 2)), {}),
    "by": (OLD, NEW, {"by": "hospital"}),
    "size": (OLD, NEW, {"max_rules": 0}),
    "old fails": (lambda X: X["weight"], NEW, {}),
    "new fails": (OLD, lambda X: np.linalg.inv(np.zeros((2, 2))), {}),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_models_that_cannot_be_compared_are_refused(frame, wrong):
    old, new, given = WRONG[wrong]
    with refuses(cw.exceptions.InputError):
        cw.difference(old, new, frame, **given)


def test_unknown_labels_are_named(frame):
    y = np.where(np.arange(400) < 2, "sick", "ill")
    with pytest.warns(cw.exceptions.UnknownCategoriesWarning, match="'sick' in 2 rows"):
        cw.difference(OLD, NEW, frame, y, random_state=0)


def test_an_empty_table_is_refused(frame):
    with refuses(cw.exceptions.InputError, "X is empty"):
        cw.difference(OLD, NEW, frame[:0])


def test_the_command(frame, tmp_path):
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(np.arange(400) % 90, "D")
    frame = frame.assign(day=days)
    labelled = frame.assign(state=NEW.predict(frame))
    identified = labelled.assign(id=[f"P{i}" for i in range(400)])
    identified.to_csv(tmp_path / "data.csv", index=False)
    OLD.save(tmp_path / "old.json")
    NEW.save(tmp_path / "new.json")
    files = [tmp_path / name for name in ("old.json", "new.json", "data.csv")]
    asked = ["--target", "state", "--by", "site", "--random-state", "3", "--json"]
    # As a column of text for training.
    assert failed(run("difference", *files, *asked), "--drop id")
    told = json.loads(run("difference", *files, *asked, "--drop", "id").stdout)
    y = labelled["state"]
    own = cw.difference(OLD, NEW, frame, y, by="site", random_state=3)
    pd.testing.assert_frame_equal(
        pd.DataFrame(told["differences"]), own.to_frame(), rtol=1e-6, check_dtype=False
    )
    rules = cw.RuleSet.from_json(json.dumps(told["rules"]))
    assert rules == own.rules
    kinds = dict(zip(rules.features.names, (i.kind for i in rules.features.info)))
    assert kinds["day"] == "date"
    assert failed(run("difference", *files, "--target", "x", "--drop", "id"), "'x'")
    classes = ["--drop", "id", "--classes", "well,ill"]
    assert run("difference", *files, *classes).exit_code == 2


def test_the_command_names_classes(frame, tmp_path):
    X = frame[["dose"]]
    ill = frame["dose"] > 0.5
    for name, n_trees in (("old.ubj", 1), ("new.ubj", 3)):
        model = xgboost.XGBClassifier(n_estimators=n_trees, n_jobs=1)
        model.fit(X, ill ^ (np.arange(400) % 7 == n_trees)).save_model(tmp_path / name)
    table = X.assign(state=np.where(ill, "yes", "no"))
    table.to_csv(tmp_path / "data.csv", index=False)
    files = [tmp_path / name for name in ("old.ubj", "new.ubj", "data.csv")]
    command = ["difference", *files, "--target", "state", "--json"]
    assert failed(run(*command), "No label of y")
    found = json.loads(run(*command, "--classes", "no,yes").stdout)
    errors = {r["what"]: r["value"] for r in found["differences"]}
    own = xgboost.XGBClassifier()
    own.load_model(files[0])
    assert errors["error, old"] == pytest.approx((own.predict(X) != ill).mean())
    OLD.save(tmp_path / "rules.json")
    table = frame.assign(state=OLD.predict(frame))
    table.to_csv(tmp_path / "data.csv", index=False)
    command[1] = tmp_path / "rules.json"
    assert failed(run(*command), "[0, 1]")
    mixed = json.loads(run(*command, "--classes", "well,ill").stdout)
    errors = {r["what"]: r["value"] for r in mixed["differences"]}
    assert errors["error, old"] == 0 and errors["error, new"] < 0.3


def test_the_page_shows_what_is_printed(frame, tmp_path):
    found = cw.difference(OLD, NEW, frame, OLD.predict(frame), by="site")
    cw.report(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f"{found.changed} of rows" in page
    for old, new in zip(found.table.index, found.table.to_numpy()):
        counts = "".join(f".*>{n}</td>" for n in new)
        assert re.search(f'<th role="rowheader" scope="row">{old}</th>{counts}', page)
    assert all(f">{rate}</td>" in page for rate in found.groups.values())
    cw.report(cw.difference(OLD, OLD, frame), tmp_path / "none.html")
    assert "No rules" in (tmp_path / "none.html").read_text("utf-8")
    refuses(lambda: cw.report(found, tmp_path / "other.html", X=frame))
