"""Code of the guides that needs what not every machine has."""

import doctest
import re
import textwrap
from pathlib import Path


def blocks_of(page):
    """The blocks of Python code in a page of ``docs/guides``."""
    text = _text(page)
    found = re.findall(r"code-block:: python\n\n((?:   .*\n|\n)+)", text)
    return [textwrap.dedent(block) for block in found]


def names_of(page):
    """What the examples of a page define; that they print what it shows is tested."""
    names = {}
    for example in doctest.DocTestParser().get_examples(_text(page)):
        exec(example.source, names)
    return names


def _text(page):
    return Path(f"docs/guides/{page}.rst").read_text(encoding="utf-8")
