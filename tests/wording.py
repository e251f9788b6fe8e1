"""Texts on file: the wording that tests expect, so that it changes in one place.

Those of ``tests/rules/test_tree.py`` stand in ``tests/rules/texts/tree.txt``, each
under the name of its test; a second text of one test has a 2 behind it. ``#`` stands
for a number that differs between machines or versions, ``[...]`` for words of another
library. ``pytest --update-texts`` writes down what the tests that run have found: look
at what it changed, and put these two where they belong.
"""

import os
import re
import sysconfig
import tempfile
from collections import Counter, defaultdict
from contextlib import contextmanager
from difflib import SequenceMatcher
from functools import lru_cache
from html import unescape
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

UPDATING = False
"""Set by ``--update-texts``."""

NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")

STABLE_WORDS = (
    (
        rf"{tempfile.gettempdir()}/pytest-of-\w+/pytest-\d+(/popen-\w+)?/[^/\s'\"]+",
        "<tmp>",
    ),
    (re.escape(str(ROOT)), "<root>"),
    (re.escape(sysconfig.get_path("stdlib")), "<stdlib>"),
    (r"\b0x[0-9a-f]{6,}", "<address>"),
    (r"\b127\.0\.0\.1:\d+", "<host>"),
    (r"\binproc://[\w./]+\w", "<address>"),
    (r"(\S)\1{50,}", r"\1...\1"),
)

INLINE = "a|abbr|b|code|em|i|kbd|mark|q|small|span|strong|sub|sup|tspan|var"

_asked = Counter()


@contextmanager
def refuses(kind, match=None):
    """Expect an error with the message on file; ``match`` is for facts in it."""
    with pytest.raises(kind, match=match or None) as caught:
        yield caught
    same_text(str(caught.value))


@contextmanager
def warns(kind, match=None):
    """Expect warnings in the words on file; ``match`` is for facts in them."""
    with pytest.warns(kind, match=match or None) as caught:
        yield caught
    said = [str(one.message) for one in caught if issubclass(one.category, kind)]
    same_text(dict.fromkeys(said))


def same_text(text):
    """Compare a text, or some, each from a new line, with what is on file."""
    found = _stable(text)
    _check(
        lambda filed: "" if _fits(filed, found) else f"found:\n{found}",
        lambda filed: _masked(found, filed),
    )


def same_lines(text, without=""):
    """Look in a long text or a page, and not in ``without``, for the lines on file.

    Sentences have lines of their own. An update replaces a line that is gone by the one
    most like it. Where nothing is on file yet it writes all: leave those that matter.
    """
    lines, others = _sentences(text), _sentences(without)

    def broken(filed):
        gone = [
            one for one in filed.split("\n") if not any(_fits(one, s) for s in lines)
        ]
        extra = [one for one in filed.split("\n") if any(_fits(one, s) for s in others)]
        found = ["not found:", *gone, "in:", *lines] if gone else []
        return "\n".join(found + (["found elsewhere:", *extra] if extra else []))

    def updated(filed):
        if not filed:
            return "\n".join(lines)
        return "\n".join(
            line if any(_fits(line, one) for one in lines) else _nearest(line, lines)
            for line in filed.split("\n")
        )

    _check(broken, updated)


def path_of(file):
    """Where the texts of a file of tests stand."""
    return file.parent / "texts" / f"{file.stem.removeprefix('test_')}.txt"


def read(path):
    """The texts of a file by the names of their tests, which stand above each."""
    return _read(path, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache
def _read(path, _):
    texts, names, lines = {}, [], []
    for line in path.read_text("utf-8").split("\n") if path.exists() else ():
        if line[:1].strip():
            if lines:
                names, lines = [], []
            names.append(line)
        else:
            lines.append(line[4:])
        texts |= dict.fromkeys(names, lines)
    return {name: "\n".join(lines).strip("\n") for name, lines in texts.items()}


def write(path, texts):
    """Write the texts of a file, one that several cases share once."""
    names = defaultdict(list)
    for name in sorted(texts, key=_order):
        names[_order(name)[:2], texts[name]].append(name)
    path.parent.mkdir(exist_ok=True)
    entries = (
        "\n".join(some)
        + "".join(f"\n    {line}".rstrip(" ") for line in text.split("\n"))
        for (_, text), some in names.items()
    )
    path.write_text("\n\n".join(entries) + "\n", encoding="utf-8")


def _check(broken, updated):
    """Compare, or update, the next text of the test that runs."""
    __tracebackhide__ = True
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    if test not in _asked:
        _asked.clear()
    _asked[test] += 1
    file, _, name = test.partition("::")
    name += f" {_asked[test]}" if _asked[test] > 1 else ""
    path = path_of(ROOT / file)
    with open(__file__) as lock:
        if UPDATING:  # Processes of pytest-xdist share the files.
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        texts = read(path)
        filed = texts.get(name)
        wrong = "" if filed is None else broken(filed)
        if UPDATING and (filed is None or wrong):
            write(path, texts | {name: updated(filed or "")})
            return
    command = f"if it is meant so: pytest '{test}' --update-texts"
    assert filed is not None, (
        f"no text of {name} in {path.relative_to(ROOT)}; {command}"
    )
    if wrong:
        pytest.fail(f"{path.relative_to(ROOT)}, {name}:\n{filed}\n{wrong}\n{command}")


def _order(name):
    """By test, then by which text of it, then by its parameters."""
    test, case, number = re.fullmatch(r"([^[ ]+)(\[.*\])?( \d+)?", name, re.S).groups()
    return test, int(number or 1), len(case or ""), case


def _stable(text):
    """Words in place of what differs between runs, nothing that does not print."""
    text = text if isinstance(text, str) else "\n".join(map(str, text))
    for pattern, word in STABLE_WORDS:
        text = re.sub(pattern, word, text)
    text = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _fits(filed, text):
    """Whether a text is the one on file: ``#`` is any number, ``[...]`` any words."""
    pattern = re.escape(filed).replace(r"\#", NUMBER.pattern)
    pattern = pattern.replace(r"\[\.\.\.\]", "[^\n]*")
    return filed == text or re.fullmatch(pattern, text) is not None


def _masked(text, filed):
    """The text with ``#`` for numbers that are new, where the one on file has ``#``."""
    known = {*NUMBER.findall(filed if "#" in filed else text)}
    return NUMBER.sub(lambda found: found[0] if found[0] in known else "#", text)


def _nearest(line, lines):
    """The line that is most like one that is gone."""
    most = max(
        lines, key=lambda one: SequenceMatcher(None, line, one).ratio(), default=""
    )
    return _masked(most, line)


def _sentences(text):
    """The lines of a text, or of what a page shows, sentence by sentence."""
    if isinstance(text, str) and "</" in text:
        text = re.sub(r"(?s)<(style|script)\b.*?</\1>", "\n", text).replace("\n", " ")
        labels = re.findall(r'\b(?:aria-label|title)="([^"]*)"', text)
        text = re.sub(rf"</?(?:{INLINE})\b[^>]*>", "", text)
        text = unescape("\n".join([re.sub("<[^>]*>", "\n", text), *labels]))
    lines = re.split(r"\n|(?<=[.!?]) (?=[A-Z])", _stable(text))
    return [*filter(None, (" ".join(line.split()) for line in lines))]
