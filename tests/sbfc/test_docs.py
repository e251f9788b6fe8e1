"""What the page shows is what comes out."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "sbfc.rst"


def test_what_the_page_shows_is_what_comes_out():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 8
    assert found.failed == 0
