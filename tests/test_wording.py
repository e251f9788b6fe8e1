"""Wording on file: what differs is seen, what is meant is written down."""

import warnings

import pytest
from tests import wording
from tests.wording import read, refuses, same_lines, same_text, warns, write

PAGE = "<h2>Rules</h2><style>b {}</style><p>All <b>3 rows</b>\nagree. None is left."


@pytest.fixture
def on_file(tmp_path, monkeypatch):
    """Runs checks as those of a test whose texts are in a file of its own."""
    monkeypatch.setattr(wording, "ROOT", tmp_path)
    (tmp_path / "tests").mkdir()
    path = tmp_path / "tests" / "texts" / "some.txt"

    def run(check, name="test_it", update=False):
        monkeypatch.setattr(wording, "UPDATING", update)
        monkeypatch.setenv("PYTEST_CURRENT_TEST", f"tests/test_some.py::{name} (call)")
        wording._asked.clear()
        check()
        return read(path)

    run.path = path
    return run


def refusing(message):
    def check():
        with refuses(ValueError):
            raise ValueError(message)

    return check


def test_a_text_is_compared_as_a_whole(on_file):
    with pytest.raises(AssertionError, match="test_it.*--update-texts"):
        on_file(refusing("No 'age' here."))
    assert not on_file.path.exists()
    filed = on_file(refusing("No 'age' here."), update=True)
    assert filed == {"test_it": "No 'age' here."} == on_file(refusing(*filed.values()))
    for other in ("No 'ward' here.", "No 'age' here", "So: No 'age' here."):
        with pytest.raises(pytest.fail.Exception, match="(?s)'age'.*--update-texts"):
            on_file(refusing(other))
    assert on_file(refusing("None."), update=True) == {"test_it": "None."}


def test_each_case_and_each_text_has_its_place(on_file):
    def check(*found):
        return lambda: [*map(same_text, found)]

    for name in ("test_it[b]", "test_it[a]", "test_it[x 2]"):
        on_file(check("one\n\n  two", "", ["a", "b"]), name, update=True)
    on_file(check("three"), "test_it[c]", update=True)
    assert on_file.path.read_text() == (
        "test_it[a]\ntest_it[b]\ntest_it[x 2]\n    one\n\n      two\n\n"
        "test_it[c]\n    three\n\n"
        "test_it[a] 2\ntest_it[b] 2\ntest_it[x 2] 2\n\n\n"
        "test_it[a] 3\ntest_it[b] 3\ntest_it[x 2] 3\n    a\n    b\n"
    )
    found = read(on_file.path)
    assert found["test_it[a] 2"] == "" and found["test_it[b]"] == "one\n\n  two"
    write(on_file.path, found)
    assert read(on_file.path) == found == on_file(check("three"), "test_it[c]")


def test_numbers_and_words_of_others_are_left_open(on_file):
    on_file(lambda: same_text("1 of # (R# #)[...]"), update=True)
    for good in ("1 of 5 (R2 0.75)", "1 of -1,000 (R2 1e-05), says X: b"):
        assert on_file(lambda text=good: same_text(text))
    for bad in ("2 of 5 (R2 0.7)", "1 of x (R2 0.7)"):
        with pytest.raises(pytest.fail.Exception):
            on_file(lambda text=bad: same_text(text))
    filed = on_file(lambda: same_text("Of 7 are 1 (0.7)"), update=True)
    assert filed == {"test_it": "Of # are 1 (#)"}


def test_what_differs_between_runs_is_left_out(on_file, tmp_path):
    def check():
        same_text(f"{tmp_path}/a: \x1b at {object()} of http://127.0.0.1:80")

    assert on_file(check, update=True) == {
        "test_it": "<tmp>/a: \\x1b at <object object at <address>> of http://<host>"
    }
    on_file(check)


def test_warnings_of_a_kind_are_compared(on_file):
    def check():
        with warns(UserWarning):
            for text in ("one", "two", "one"):
                warnings.warn(text, stacklevel=1)

    assert on_file(check, update=True) == {"test_it": "one\ntwo"}
    on_file(check)


def test_lines_are_looked_for_in_long_texts(on_file):
    filed = on_file(lambda: same_lines(PAGE), update=True)
    assert filed == {"test_it": "Rules\nAll 3 rows agree.\nNone is left."}
    write(on_file.path, {"test_it": "All # rows agree."})
    on_file(lambda: same_lines(PAGE, without="All rows agree."))
    with pytest.raises(pytest.fail.Exception, match="elsewhere"):
        on_file(lambda: same_lines(PAGE, without=PAGE.replace("3", "4")))
    reworded = PAGE.replace("agree", "agree with it")
    with pytest.raises(pytest.fail.Exception, match="not found"):
        on_file(lambda: same_lines(reworded))
    filed = on_file(lambda: same_lines(reworded), update=True)
    assert filed == {"test_it": "All # rows agree with it."}
