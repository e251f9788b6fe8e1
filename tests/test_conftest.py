"""Tests without the shared data are skipped at home, but fail where CI is true."""

import pytest


def test_shared_data_are_found_where_the_variable_points(
    shared_data, tmp_path, monkeypatch
):
    (tmp_path / "table.csv").touch()
    monkeypatch.setenv("CLEARWOOD_SHARED", str(tmp_path))
    assert shared_data("table.csv") == tmp_path / "table.csv"


@pytest.mark.parametrize(
    ("ci", "outcome"),
    [("", pytest.skip.Exception), ("true", pytest.fail.Exception)],
)
def test_absent_shared_data(shared_data, tmp_path, monkeypatch, ci, outcome):
    monkeypatch.setenv("CLEARWOOD_SHARED", str(tmp_path))
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="CLEARWOOD_SHARED"):
        shared_data("table.csv")


def test_golden_facts_are_there(golden_folder):
    assert (golden_folder / "fab.json").is_file()
