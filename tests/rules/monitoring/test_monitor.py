"""Monitoring of rules, where the truth is known."""

import dataclasses
import html
import math

import numpy as np
import pandas as pd
import pytest
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood._html.disclosure import disclosed
from clearwood.exceptions import UnknownCategoriesWarning
from clearwood.outcomes.intervals import rate_of
from clearwood.outcomes.quantile import Quantile
from clearwood.rules import (
    CategorySet,
    FeatureSpace,
    Interval,
    Rule,
    RuleList,
    RuleSum,
)
from clearwood.rules.monitoring.section import section

SPACE = FeatureSpace(("dose", "ward", "age"), (None, ("west", "north"), None))
LIST = RuleList(
    (
        Rule((Interval(0, low=0.7),), "ill", (0.3, 0.7)),
        Rule((CategorySet(1, (0,)), Interval(2, low=50.5)), "ill", (0.45, 0.55)),
    ),
    Rule((), "well", (0.8, 0.2)),
    SPACE,
    ("well", "ill"),
    "state",
)
SUM = RuleSum(
    (Rule((Interval(0, low=0.7),), 2.0), Rule((Interval(2, low=50.5),), -1.0)),
    Rule((), 1.0),
    SPACE,
    target="level",
)


def table(n, seed, dose=0.0, west=0.5, missing=0.05):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "dose": rng.beta(2, 2, n) + dose,
        "ward": np.where(rng.random(n) < west, "west", "north"),
        "age": rng.integers(20, 90, n).astype(float),
        "site": rng.choice(["A", "B"], n),
    })  # fmt: skip
    frame.loc[rng.random(n) < missing, "dose"] = np.nan
    return frame


def labels(frame, seed, rules=LIST):
    """Drawn from the probabilities of the rules."""
    ill = rules.predict_proba(frame)[:, 1]
    hit = np.random.default_rng(seed).random(len(frame)) < ill
    return np.where(hit, "ill", "well")


def values(frame, seed):
    noise = np.random.default_rng(seed).normal(size=len(frame))
    return SUM.predict(frame) + noise


def expected(rules):
    """Rules whose precision counts as the estimate for new rows."""

    def known(rule):
        found = dataclasses.replace(
            rule.statistics, expected=rule.statistics.precision_assigned
        )
        return dataclasses.replace(rule, statistics=found)

    own = tuple(known(rule) for rule in rules.rules)
    return dataclasses.replace(rules, rules=own, otherwise=known(rules.otherwise))


@pytest.fixture(scope="module")
def old():
    frame = table(600, 0)
    return frame, labels(frame, 0)


def subjects(found):
    return {(check.subject, check.name) for check in found.signals}


def test_numbers_are_of_the_rows(old):
    frame, y = old
    new = table(300, 1)
    truth = labels(new, 1)
    found = cw.monitor(LIST, new, truth, reference=frame, reference_y=y)
    before, now = LIST.apply(frame), LIST.apply(new)
    by = {(c.subject, c.name): c for c in found.quantities}
    for k in range(3):
        share = by[f"rule {k + 1}", "share of rows"]
        assert share.expected == pytest.approx((before == k).mean())
        assert share.observed == rate_of(now == k, np.ones(300))
        label = "ill" if k < 2 else "well"
        rate = by[f"rule {k + 1}", f"rate of {label}"]
        assert rate.expected == pytest.approx((y[before == k] == label).mean())
        assert rate.observed.value == pytest.approx((truth[now == k] == label).mean())
    missing = by["column dose", "missing values"]
    assert missing.expected == pytest.approx(frame["dose"].isna().mean())
    assert missing.observed.value == pytest.approx(new["dose"].isna().mean())
    outside = by["column dose", "outside of range"].observed
    low, high = frame["dose"].min(), frame["dose"].max()
    seen = new["dose"].dropna()
    assert outside.value == pytest.approx(((seen < low) | (seen > high)).mean())
    assert len(found.to_frame()) == len(found.quantities)
    assert found.to_frame()["signal"].sum() == len(found.signals)


DRIFTS = {
    "more of one rule": lambda f, y: (f.assign(dose=f["dose"] ** 0.5), y),
    "a rate": lambda f, y: (f, np.where(np.arange(len(y)) % 3 == 0, "ill", y)),
    "missing cells": lambda f, y: (f.assign(dose=f["dose"].where(f.index % 5 > 0)), y),
    "an unknown level": lambda f, y: (
        f.assign(ward=f["ward"].where(f.index % 20 > 0, "east")), y
    ),
    "another unit": lambda f, y: (f.assign(age=f["age"] * 12), y),
    "a sentinel": lambda f, y: (f.assign(age=f["age"].where(f.index % 25 > 0, 999)), y),
    "fractions": lambda f, y: (f.assign(age=f["age"] + 0.5 * (f.index == 7)), y),
    "a level's share": lambda f, y: (
        f.assign(ward=f["ward"].where(f.index % 3 > 0, "west")), y
    ),
    "less variance": lambda f, y: (f.assign(dose=0.5 + 0.4 * (f["dose"] - 0.5)), y),
    "a constant column": lambda f, y: (f.assign(age=44.0), y),
}  # fmt: skip
SEEN_IN = {
    "more of one rule": ("rule 1", "share of rows"),
    "a rate": ("rule 3", "rate of well"),
    "missing cells": ("column dose", "missing values"),
    "an unknown level": ("column ward", "unknown levels"),
    "another unit": ("column age", "outside of range"),
    "a sentinel": ("column age", "outside of range"),
    "fractions": ("column age", "not integer"),
    "a level's share": ("column ward", "distribution of levels"),
    "less variance": ("column dose", "distribution"),
    "a constant column": ("column age", "distribution"),
}


@pytest.mark.parametrize("drift", DRIFTS)
def test_drift_is_signalled_where_it_is(old, drift):
    frame, y = old
    rules = dataclasses.replace(
        LIST, features=SPACE.with_kinds(SPACE.encode(frame), frame)
    )
    new = table(600, 2)
    calm = cw.monitor(rules, new, labels(new, 2), reference=frame, reference_y=y)
    assert not calm.signals
    new, truth = DRIFTS[drift](new, labels(new, 2))
    found = cw.monitor(rules, new, truth, reference=frame, reference_y=y)
    assert SEEN_IN[drift] in subjects(found)


@pytest.mark.parametrize("is_reference", [True, False])
def test_false_signals_are_as_rare_as_stated(is_reference):
    """In repeated samples without drift, at most as often as the error rate."""
    n_false, n = 0, 50
    for seed in range(n):
        frame, new = table(150, 3 * seed), table(120, 3 * seed + 1)
        y, truth = labels(frame, seed), labels(new, seed + 1000)
        rules = expected(LIST.described_on(frame, y))
        given = {"reference": frame, "reference_y": y} if is_reference else {}
        found = cw.monitor(rules, new, truth, error_rate=0.1, **given)
        n_false += bool(found.signals)
    # Four standard errors above.
    assert n_false / n <= 0.1 + 4 * math.sqrt(0.09 / n)


def test_without_a_reference_the_rules_statistics_count(old):
    frame, y = old
    rules = expected(LIST.described_on(frame, y))
    new = table(400, 5)
    assert not cw.monitor(rules, new, labels(new, 5)).signals
    high = table(400, 5, dose=0.3)
    assert ("rule 1", "share of rows") in subjects(cw.monitor(rules, high))
    turned = np.where(labels(new, 5) == "ill", "well", "ill")
    assert ("rule 3", "rate of well") in subjects(cw.monitor(rules, new, turned))
    strange = new.assign(ward=new["ward"].where(new.index % 20 > 0, "east"))
    assert subjects(cw.monitor(rules, strange)) == {("column ward", "unknown levels")}
    # Rules without statistics: nothing is expected, and nothing is signalled.
    assert not cw.monitor(LIST, high, labels(high, 5)).signals


def test_sums_are_judged_as_a_whole(old):
    frame, _ = old
    new = table(400, 6)
    given = {"reference": frame, "reference_y": values(frame, 0)}
    calm = cw.monitor(SUM, new, values(new, 6), **given)
    assert not calm.signals
    assert math.isnan(calm.stability_index)
    found = cw.monitor(SUM, new, values(new, 6) + 0.5, **given)
    assert subjects(found) == {("all rows", "truth minus prediction")}
    (check,) = found.signals
    wanted = values(new, 6) + 0.5 - SUM.predict(new)
    assert check.observed.value == pytest.approx(wanted.mean())


def test_errors_by_group_are_those_of_its_rows(old):
    new = table(300, 7)
    truth = labels(new, 7)
    found = cw.monitor(LIST, new, truth, by="site")
    predicted = LIST.predict(new)
    assert [group.group for group in found.groups] == ["A", "B"]
    for group in found.groups:
        own = (new["site"] == group.group).to_numpy()
        said, true = predicted[own] == "ill", truth[own] == "ill"
        assert group.rows == own.sum()
        assert group.errors["error"].value == pytest.approx((said != true).mean())
        wanted = said[~true].mean()
        assert group.errors["false positives"].value == pytest.approx(wanted)
        wanted = (~said[true]).mean()
        assert group.errors["false negatives"].value == pytest.approx(wanted)
        rate = group.errors["false negatives"]
        assert rate.low < rate.value < rate.high
    turned = cw.monitor(LIST, new, truth, by=new["site"], pos_label="well")
    first = turned.groups[0].errors, found.groups[0].errors
    assert first[0]["false positives"] == first[1]["false negatives"]
    frame = found.groups_to_frame()
    assert list(frame["site"].unique()) == ["A", "B"]


def test_errors_of_values_by_group():
    new = table(300, 8)
    y = values(new, 8)
    by = np.where(new["site"] == "A", "A", None)
    found = cw.monitor(SUM, new, y, by=by)
    own = (new["site"] == "A").to_numpy()
    gaps = y[own] - SUM.predict(new)[own]
    assert [group.group for group in found.groups] == ["A", "missing"]
    errors = found.groups[0].errors
    assert errors["RMSE"].value == pytest.approx(math.sqrt((gaps**2).mean()))
    assert errors["bias"].value == pytest.approx(gaps.mean())


def test_in_words(old):
    frame, y = old
    new = table(200, 9, dose=0.2)
    new.loc[new.index % 20 == 0, "ward"] = "east"
    truth = labels(new.assign(ward="north"), 9)
    found = cw.monitor(LIST, new, truth, reference=frame, reference_y=y, by="site")
    same_text(str(found))


def test_a_reference_without_labels_is_named(old):
    frame, y = old
    found = cw.monitor(LIST, frame, y, reference=frame)
    assert found.is_estimate
    same_text(str(found).splitlines()[0])
    assert not cw.monitor(LIST, frame, y, reference=frame, reference_y=y).is_estimate
    assert not cw.monitor(LIST, frame, reference=frame).is_estimate


def test_unknown_labels_are_counted_and_named(old):
    frame, y = old
    y = np.where(np.arange(len(y)) < 3, "sick", y).astype(object)
    with pytest.warns(UnknownCategoriesWarning, match=r"'sick' in 3 rows.* 'well'"):
        cw.monitor(LIST, frame, y)


def test_a_sum_in_words():
    new = table(200, 9, dose=0.2)
    same_text(str(cw.monitor(SUM, new, values(new, 9), by="site")))


def test_one_rule_in_words():
    constant = RuleList((), Rule((), "well", (0.8, 0.2)), SPACE, ("well", "ill"))
    same_text(str(cw.monitor(constant, table(200, 9))))


WRONG = {
    "groups without labels": {"by": "site"},
    "labels of no reference": {"reference_y": ["ill"]},
    "error rate": {"error_rate": 1.5},
    "error rate of text": {"error_rate": "0.1"},
    "unknown class without groups": {"pos_label": "il"},
    "no label is known": {"y": ["sick"] * 20},
    "no column": {"y": ["ill"] * 20, "by": "hospital"},
    "too few groups": {"y": ["ill"] * 20, "by": ["A"]},
    "empty": {"reference": pd.DataFrame({"dose": [], "ward": [], "age": []})},
    "blocks": {"X": lambda: iter([])},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_arguments_are_refused(wrong):
    with refuses(cw.exceptions.InputError):
        cw.monitor(LIST, **{"X": table(20, 10)} | WRONG[wrong])


def test_true_values_are_not_compared_with_quantiles():
    rules = RuleList(
        (Rule((Interval(0, low=0.7),), 3.0),), Rule((), 2.0), SPACE,
        outcome=Quantile(level=0.9),
    )  # fmt: skip
    with refuses(cw.exceptions.InputError, "leave y out"):
        cw.monitor(rules, table(20, 10), np.ones(20))
    assert cw.monitor(rules, table(20, 10)).n_rows == 20


def test_the_page_has_every_check_group_and_rule(old, tmp_path):
    new = table(500, 1, dose=0.3)
    found = cw.monitor(LIST, new, labels(new, 2), reference=old[0], by="site")
    shown = disclosed(section(found), show_rows=True)
    assert [line[0] for line in shown["checks"]] == [
        one.subject for one in found.quantities
    ]
    assert [found.quantities[i] for i in shown["marked"]] == list(found.signals)
    assert [label for label, *_ in shown["groups"]] == ["A", "B"]
    cw.report(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    cells = [cell for line in shown["checks"] for cell in line if cell]
    assert all(html.escape(cell) in page for cell in cells)
    assert page.count('<tr role="row" class="chosen">') == len(found.signals) > 0
    assert "dose &gt; 0.7" in page
    refuses(lambda: cw.report(found, tmp_path / "other.html", X=new))
