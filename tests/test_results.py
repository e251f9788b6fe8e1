"""Pages of results say at which commit they were made, and are true of today."""

import subprocess
import sys

import pytest
from tests.wording import same_text

from benchmarks import _sources, _study, make_results, stale
from benchmarks.papers import cells
from benchmarks.papers import page as papers

STUDY = "circuits.missing"


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
    named = _sources.estimators_named_in("few_rules.run")
    assert {"RuleListClassifier", "FABRulesRegressor"} <= set(named)
    assert "MetaTreeClassifier" not in named
    assert "FABRulesRegressor" in _sources.estimators_named_in("readers.rules")


def test_rows_are_continued_with_the_sources_they_were_begun_with(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(_study, "BEGUN", tmp_path / "begun.json")
    assert not _study.is_begun("some.csv", STUDY)
    _study.mark_begun("some.csv")
    assert _study.is_begun("some.csv", STUDY) and not _study.is_begun(
        "other.csv", STUDY
    )
    for module in (_sources, _study):
        monkeypatch.setattr(module, "source_tree", lambda: "of another day")
    assert not _study.is_begun("some.csv", STUDY)
    _study.mark_begun("other.csv")
    assert _study.is_begun("other.csv", STUDY) and not _study.is_begun(
        "some.csv", STUDY
    )


@pytest.mark.skipif(_sources.source_tree() == "unknown", reason="not a Git checkout")
def test_pages_of_unknown_commits_are_older(monkeypatch):
    page, command = next(iter(make_results.commands().items()))
    for commit, older in (("not one", True), ("HEAD", False)):
        record = {page: {"commit": commit}}
        monkeypatch.setattr(stale, "recorded", lambda record=record: record)
        monkeypatch.setattr(_sources, "with_changes", lambda: "")
        assert make_results.is_older(page, command) == older


@pytest.mark.parametrize(
    ("file", "text", "same"),
    [
        ("rules/one.py", '"""Other words."""\nx = 1  # and a comment\n', True),
        ("rules/one.py", '"""Words."""\nx = 2\n', False),
        ("rules/one.py", '"""Words."""\nx = "Words."\n', False),
        ("rules/new.py", "", False),
        ("rules/one.hpp", "int x = 1;  // a comment", False),
        ("cli/one.py", "x = 2\n", True),
        ("cli.py", "x = 2\n", True),
        ("rules.py", "x = 2\n", False),
    ],
)
def test_sources_differ_by_the_code_that_a_study_uses(
    tmp_path, monkeypatch, file, text, same
):
    def git(*words):
        me = ["-c", "user.name=x", "-c", "user.email=x"]
        command = ["git", "-C", str(tmp_path), *me, *words]
        return subprocess.check_output(command, text=True, timeout=60)

    def commit():
        git("add", ".")
        git("commit", "--quiet", "--allow-empty", "-m", "x")
        return git("rev-parse", "HEAD:src").strip()

    monkeypatch.setattr(_sources, "ROOT", tmp_path)
    monkeypatch.setattr(_sources, "packages_of", lambda study: {"rules"})
    git("init", "--quiet")
    for package in ("rules", "cli"):
        folder = tmp_path / "src" / "clearwood" / package
        folder.mkdir(parents=True)
        (folder / "one.py").write_text('"""Words."""\nx = 1\n')
        (folder / "one.hpp").write_text("int x = 1;")
    before = commit()
    (tmp_path / "src" / "clearwood" / file).write_text(text)
    monkeypatch.setattr(_sources, "source_tree", commit)
    assert _sources.is_of_today(before, STUDY) == same
    assert not _sources.is_of_today(f"{before} with changes", STUDY)
    if file == "rules/one.py":
        trees = before, git("rev-parse", "HEAD:src").strip()
        then, now = (git("rev-parse", f"{t}:clearwood/{file}").strip() for t in trees)
        monkeypatch.setattr(_sources, "LATER", {then: now})
        assert _sources.is_of_today(before, STUDY)


def test_packages_of_a_study_are_those_it_names_and_what_they_import():
    assert {"search", "comparison"} <= _sources.packages_of("few_rules.run")
    assert {"comparison", "datasets"} <= _sources.packages_of("compare.run")
    assert "cli" not in _sources.packages_of("few_rules.run")
    # It reads the sources, starts processes, or takes its cases from tests.
    for study in ("mutations", "first_calls", "engines"):
        assert _sources.packages_of(study) is None


def test_what_a_study_loads_are_packages_that_it_may_use():
    code = f"""
import sys
import numpy as np
import benchmarks.{STUDY}
import clearwood as cw

X = np.random.default_rng(0).integers(0, 2, size=(40, 3))
spn = cw.MiniSPN(random_state=0).fit(X)
spn.score(X), cw.SPNImputer(spn).fit_transform(X)
print(*{{name.split(".")[1] for name in sys.modules if name[:10] == "clearwood."}})
"""
    run = [sys.executable, "-c", code]
    loaded = subprocess.check_output(run, cwd=_sources.ROOT, text=True, timeout=120)
    loaded = set(loaded.split()) - {"_kernels"}
    assert "circuits" in loaded and loaded <= _sources.packages_of(STUDY)


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
