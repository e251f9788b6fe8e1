import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "sequences.rst"


def test_what_the_page_shows_is_what_comes_out():
    flags = doctest.NORMALIZE_WHITESPACE
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags)
    assert found.attempted > 8
    assert found.failed == 0
