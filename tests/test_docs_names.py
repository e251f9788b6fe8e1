"""Names that pages of text print are there: public names, files and what is in them."""

import re
from pathlib import Path
from pydoc import locate

import pytest

ROOT = Path(__file__).parents[1]
PUBLIC = re.compile(r"(?<![`:\w])`([A-Za-z][\w.]*)`(?!`)")
FILE = re.compile(r"``([\w/]+\.(?:py|cpp|md))``((?::|,) ``[\w.]+``(?:, ``[\w.]+``)*)?")


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["papers.rst", "glossary.rst", "faq.rst"])
def test_public_names_resolve(name):
    found = PUBLIC.findall(page(name))
    assert len(found) > 10
    unknown = [one for one in found if locate(f"clearwood.{one}") is None]
    assert not unknown


def is_in(text, name):
    """Whether a file defines a name, or a class and a part of it."""
    return all(
        re.search(
            rf"(?:def|class) {part}\b|^{part}\b.* = |\b{part}\(", text, re.MULTILINE
        )
        for part in name.split(".")
    )


def test_files_hold_the_functions_that_papers_lead_to():
    found = FILE.findall(page("papers.rst"))
    assert len(found) > 60
    for file, names in found:
        path = ROOT / ("" if file.startswith("benchmarks/") else "src/clearwood") / file
        assert path.is_file(), file
        text = path.read_text(encoding="utf-8")
        unknown = [
            one for one in re.findall(r"``([\w.]+)``", names) if not is_in(text, one)
        ]
        assert not unknown, file
