"""Pages of results say at which commit they were made, and are true of today."""

import subprocess

import pytest
from tests.wording import same_text

from benchmarks import _study, make_results, stale
from benchmarks.papers import cells
from benchmarks.papers import page as papers


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


@pytest.mark.parametrize(
    ("file", "text", "same"),
    [
        ("one.py", '"""Other words."""\nx = 1  # and a comment\n', True),
        ("one.py", '"""Words."""\nx = 2\n', False),
        ("one.py", '"""Words."""\nx = "Words."\n', False),
        ("new.py", "", False),
        ("one.hpp", "int x = 1;  // a comment", False),
    ],
)
def test_sources_differ_by_their_code(tmp_path, monkeypatch, file, text, same):
    def git(*words):
        me = ["-c", "user.name=x", "-c", "user.email=x"]
        command = ["git", "-C", str(tmp_path), *me, *words]
        return subprocess.check_output(command, text=True, timeout=60)

    def commit():
        git("add", ".")
        git("commit", "--quiet", "--allow-empty", "-m", "x")
        return git("rev-parse", "HEAD:src").strip()

    monkeypatch.setattr(_study, "ROOT", tmp_path)
    git("init", "--quiet")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "one.py").write_text('"""Words."""\nx = 1\n')
    (tmp_path / "src" / "one.hpp").write_text("int x = 1;")
    before = commit()
    (tmp_path / "src" / file).write_text(text)
    monkeypatch.setattr(_study, "source_tree", commit)
    assert _study.is_of_today(before) == same
    assert not _study.is_of_today(f"{before} with changes")


def test_numbers_beside_those_of_the_papers_are_from_the_results_of_today():
    written = papers.PAGE.read_text(encoding="utf-8")
    assert written == papers.text(), "run python -m benchmarks.papers.page"


def test_every_paper_has_25_cells_or_all_of_its_own():
    found = {paper: items() for paper, items in papers.PAPERS.items()}
    assert {p: n for p, i in found.items() if (n := cells.counts(i)[0]) < 25} == {
        "Nakahara and Matsushima 2023": 10
    }
    for item in (item for items in found.values() for item in items):
        assert (cells.RESULTS / f"{item.page}.md").exists() or not item.page
        assert item.cells or item.protocol


@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [
        ("2.0 ± 0.5", 2.5, cells.REPRODUCED),
        ("2.0 ± 0.5", 1.4, cells.BETTER),
        ("2.0 ± 0.5", 2.6, cells.DIFFERS),
        (2.0, [2.0, 3.0], cells.REPRODUCED),  # the scatter of ours is 0.7
        (2.0, 2.11, cells.DIFFERS),
        (2.0, 2.09, cells.REPRODUCED),
    ],
)
def test_cells_are_reproduced_within_a_deviation_or_the_margin(printed, ours, verdict):
    found = cells.cell("", "", printed, ours, margin=0.1, better="lower")
    assert found.verdict == verdict


def test_deviation_of_a_ratio():
    # Of 8 ± 0.8 to 2 ± 0.1: relative deviations of 0.1 and 0.05.
    assert cells.ratio("8 ± 0.8", "2 ± 0.1") == "4.00 ± 0.45"
