"""Words that user-facing text no longer uses: the glossary gives the field's terms."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

RETIRED = re.compile(
    r"\b(says?|said|saying|asks?|asked|asking|tells?|told|telling|teach\w*|taught"
    r"|gaps?|heaps?|truth values?|caught|foretells?|foretold|doubts?|telephones?"
    r"|cautio\w+|judged?|judges|judging|hand(s|ed)? in|hand(s|ed)? over)\b",
    re.I,
)
MARKUP = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<[^>]*>", re.S)


def tracked(*folders):
    """Paths of the repository's files in some folders."""
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip
    return [ROOT / line for line in listed.stdout.splitlines()]


def sentences(source):
    """String constants with a space that are no docstrings: messages and labels."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return " | ".join(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
        and " " in node.value.strip()
    )


def shown(path):
    """Text of a file that users see; empty where there is none."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".rst", ".md"):
        return "" if path.name == "glossary.rst" else text
    if path.suffix in (".html", ".txt"):
        return MARKUP.sub(" ", text)
    return text if "examples" in path.parts else sentences(text)


FOLDERS = ("src", "docs", "examples", "benchmarks", "README.md")
KINDS = ".rst", ".md", ".html", ".txt", ".py"
FILES = [
    path
    for path in tracked(*FOLDERS)
    if "results" not in path.parts and path.suffix in KINDS
]


@pytest.mark.skipif(not FILES, reason="no checkout of git")
@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_user_facing_text_uses_the_terms_of_the_glossary(path):
    assert not [match[0] for match in RETIRED.finditer(shown(path))]


def test_a_retired_word_is_found():
    source = 'def f():\n    "It asks."\n    raise ValueError("The model says no.")\n'
    assert RETIRED.search(sentences(source))[0] == "says"
    assert not RETIRED.search(MARKUP.sub(" ", "<b>{{ told }}</b>"))
