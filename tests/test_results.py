"""Pages of results say at which commit they were made, and are true of today."""

import pytest
from tests.wording import same_text

from benchmarks import _study, make_results, stale


def test_pages_were_made_with_the_defaults_of_today_or_say_that_they_are_older():
    found = stale.stale_pages()
    assert not found, "make them again, or see python -m benchmarks.stale --help"


def test_every_page_names_its_commit():
    record = stale.recorded()
    for page, text in stale.pages():
        assert f"at commit `{record[page]['commit']}`" in text


def test_another_default_is_seen():
    today = stale.defaults_of(["RuleListClassifier"])
    assert not stale.changed_defaults({"defaults": today})
    today["RuleListClassifier"]["max_rules"] = "3"
    del today["RuleListClassifier"]["min_samples_leaf"]
    # What is new and off changes nothing.
    del today["RuleListClassifier"]["random_state"]
    same_text(stale.changed_defaults({"defaults": today}))


def test_studies_name_what_they_use():
    named = stale.estimators_named_in("few_rules.run")
    assert {"RuleListClassifier", "FABRulesRegressor"} <= set(named)
    assert "MetaTreeClassifier" not in named
    assert "FABRulesRegressor" in stale.estimators_named_in("readers.rules")


def test_rows_are_continued_with_the_sources_they_were_begun_with(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(_study, "BEGUN", tmp_path / "begun.json")
    assert not _study.is_begun("some.csv")
    _study.mark_begun("some.csv")
    assert _study.is_begun("some.csv") and not _study.is_begun("other.csv")
    monkeypatch.setattr(_study, "source_tree", lambda: "of another day")
    assert not _study.is_begun("some.csv")
    _study.mark_begun("other.csv")
    assert _study.is_begun("other.csv") and not _study.is_begun("some.csv")


@pytest.mark.skipif(_study.source_tree() == "unknown", reason="not a Git checkout")
def test_pages_of_unknown_commits_are_older(monkeypatch):
    page = next(iter(make_results.commands()))
    for commit, older in (("not one", True), ("HEAD", False)):
        record = {page: {"commit": commit}}
        monkeypatch.setattr(stale, "recorded", lambda record=record: record)
        monkeypatch.setattr(stale, "with_changes", lambda: "")
        assert make_results.is_older(page) == older
