"""LightGBM's text format as sections of ``key=value`` lines.

A file is a header, one section per tree, the line ``end of trees``, and a final part
that is not needed for prediction, except for the list of categorical features and the
labels of pandas categories. Sections are read one at a time, so that a file is never
twice in memory; only the keys that matter are kept. Every error names file and line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from clearwood.codec.documents import REMEDY, refuse_damaged, shown
from clearwood.ensembles.nodes import MOST_TREES
from clearwood.exceptions import ModelFormatError

HEADER_KEYS = (
    "version",
    "num_class",
    "num_tree_per_iteration",
    "max_feature_idx",
    "objective",
    "feature_names",
    "feature_infos",
    "tree_sizes",
)
FLAGS = ("tree", "average_output")
TREE_KEYS = (
    "num_leaves",
    "num_cat",
    "split_feature",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "leaf_value",
    "cat_boundaries",
    "cat_threshold",
    "is_linear",
)
PARAMETERS = ("alpha", "boosting", "categorical_feature")

PIECE = 2**16
"""Characters of a line that are converted at a time, to bound memory."""
LONGEST_NUMBER = 1100
"""More digits than any float64 has."""
NUMBER_CHARACTERS = re.compile(r"(?:[0-9eE+\-. ]++|inf)*+", re.ASCII)


class Section:
    """Lines of the header, of one tree, or of the part after the trees.

    Parameters
    ----------
    name : str
        The file's name, for messages.
    title : str
        Title of the section, for messages.
    keys : tuple of str
        Keys to keep; others are left out.
    """

    def __init__(self, name: str, title: str, keys: tuple[str, ...]) -> None:
        self.name = name
        self.title = title
        self.keys = frozenset(keys)
        self.lines: dict[str, tuple[int, str]] = {}

    def add(self, number: int, key: str, value: str) -> None:
        """Store a line if its key is kept."""
        if key in self.keys:
            if key in self.lines:
                self.fail(key, f"it a second time in line {number}", "it once")
            self.lines[key] = (number, value)

    def __contains__(self, key: str) -> bool:
        return key in self.lines

    def fail(self, key: str, found: str, expected: str) -> NoReturn:
        """Refuse the file because of the line of a key."""
        where = f"line {self.lines[key][0]}, " if key in self.lines else ""
        refuse_damaged(f"{self.name}: {where}{key} of {self.title}", found, expected)

    def fail_entry(self, key: str, i: int, found: Any, expected: str) -> NoReturn:
        """Refuse the file because of one entry of a line."""
        self.fail(key, f"{found} as entry {i}", expected)

    def text(self, key: str) -> str:
        """Value of a required key."""
        if key not in self.lines:
            self.fail(key, "no such line", "one")
        return self.lines[key][1]

    def integer(self, key: str, low: int, high: int) -> int:
        """Integer from ``low`` to ``high``."""
        (value,) = self.integers(key, 1, low, high).tolist()
        return value

    def integers(self, key: str, length: int, low: int, high: int) -> np.ndarray:
        """Line of integers from ``low`` to ``high``, as int64."""
        array = self._array(key, length, int, "whole numbers")
        wrong = np.flatnonzero((array < low) | (array > high))
        if wrong.size:
            i = int(wrong[0])
            self.fail_entry(key, i, array[i], f"whole numbers from {low:,} to {high:,}")
        return array

    def numbers(
        self, key: str, length: int, *, or_infinity: bool = False
    ) -> np.ndarray:
        """Line of finite numbers, or of ``inf`` where allowed, as float64."""
        array = self._array(key, length, float, "numbers")
        wrong = np.flatnonzero(~np.isfinite(array))
        if or_infinity:
            wrong = wrong[array[wrong] < 0]
        if wrong.size:
            i = int(wrong[0])
            self.fail_entry(key, i, array[i], "finite numbers")
        return array

    def _array(
        self, key: str, length: int, kind: Callable[[str], Any], what: str
    ) -> np.ndarray:
        text = self.text(key).replace("\t", " ")
        # Python's float and int accept more than libraries write: underscores, "nan",
        # digits of all scripts. None of these pass this pattern.
        if not NUMBER_CHARACTERS.fullmatch(text):
            self.fail(key, shown(text), what)
        parts = [np.zeros(0, np.int64 if kind is int else np.float64)]
        for piece in _pieces(text):
            parts.append(self._piece(key, piece, kind, what))
        array = np.concatenate(parts)
        if array.size != length:
            self.fail(key, f"{array.size:,} entries", f"{length:,}")
        return array

    def _piece(
        self, key: str, piece: str, kind: Callable[[str], Any], what: str
    ) -> np.ndarray:
        tokens = piece.split()
        if max(map(len, tokens), default=0) > LONGEST_NUMBER:
            self.fail(key, "a number of many digits", what)
        try:
            dtype = np.int64 if kind is int else np.float64
            return np.array(list(map(kind, tokens)), dtype=dtype)
        except (ValueError, OverflowError):
            self.fail(key, shown(piece), what)


def _pieces(text: str) -> Iterator[str]:
    """Split a long line into pieces that end between two numbers."""
    start = 0
    while start < len(text):
        end = text.find(" ", start + PIECE)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end


def sections(data: bytes, name: str) -> Iterator[Section]:
    r"""Split a file into the header, one section per tree, and the part after them.

    Parameters
    ----------
    data : bytes
        Content of the file.
    name : str
        The file's name, for messages.

    Yields
    ------
    Section

    Raises
    ------
    ModelFormatError
        The file does not begin like a LightGBM model, has an invalid line, a key
        twice, trees that are not numbered from 0, or ends too early.

    Examples
    --------
    >>> data = b"tree\nversion=v4\n\nTree=0\nnum_leaves=1\n\nend of trees\n"
    >>> header, tree, rest = sections(data, "model.txt")
    >>> header.text("version"), tree.title, tree.integer("num_leaves", 1, 31)
    ('v4', 'tree 0', 1)
    """
    lines = _lines(data, name)
    first = next(lines, (1, ""))
    if first[1] != "tree":
        raise ModelFormatError(
            f"{name}: line {first[0]}: found {shown(first[1])}, expected 'tree', with "
            "which LightGBM's text files begin. Save the model with save_model."
        )
    section, n_trees = Section(name, "the header", (*HEADER_KEYS, *FLAGS)), 0
    for number, line in lines:
        if line.startswith("Tree="):
            yield section
            section = Section(name, f"tree {n_trees}", TREE_KEYS)
            _check_count(name, number, line, n_trees)
            n_trees += 1
        elif line == "end of trees":
            yield section
            yield _rest(lines, name)
            return
        else:
            _add_line(section, number, line)
    raise ModelFormatError(
        f"{name}: ends in {section.title}, before the line 'end of trees': it was cut "
        f"off. {REMEDY}"
    )


def check_tree_sizes(header: Section, data: bytes, n_trees: int) -> None:
    """Refuse a file in which LightGBM would read other trees than are written there.

    It reads as many trees as the header lists sizes, and locates each by the sizes of
    those before it. Where it would find no tree, as in a file with converted line ends,
    it reads none of the file, so that its predictions cannot differ.

    Parameters
    ----------
    header : Section
    data : bytes
        Content of the file.
    n_trees : int
        Number of trees in the file.
    """
    if "tree_sizes" not in header:
        return
    sizes = header.integers("tree_sizes", n_trees, 0, len(data))
    first = re.search(rb"^Tree=", data, re.MULTILINE)
    starts = np.cumsum(sizes) - sizes + (first.start() if first else 0)
    for i, start in enumerate(starts.tolist()):
        # Including the line end before it.
        found = data[start - 1 : start + 20]
        if found[1:].startswith(b"Tree=") and not re.match(rb"\nTree=%d\s" % i, found):
            other = f"sizes that lead from tree {i} to another line 'Tree='"
            header.fail("tree_sizes", other, "the bytes of every tree")


def _lines(data: bytes, name: str) -> Iterator[tuple[int, str]]:
    """Stripped lines that are not blank, with their numbers."""
    start, number = 0, 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        line = data[start:end].strip(b" \t\r")
        start = end + 1
        if line:
            try:
                yield number, line.decode()
            except UnicodeDecodeError:
                raise ModelFormatError(
                    f"{name}: line {number} is not text in UTF-8. {REMEDY}"
                ) from None


def _add_line(section: Section, number: int, line: str) -> None:
    key, equals, value = line.partition("=")
    if not equals and key not in FLAGS:
        where = f"{section.name}: line {number}, in {section.title}"
        refuse_damaged(where, shown(line), "key=value")
    section.add(number, key.rstrip(" \t"), value.strip(" \t"))


def _check_count(name: str, number: int, line: str, n_trees: int) -> None:
    if line[5:].strip() != str(n_trees):
        refuse_damaged(f"{name}: line {number}", shown(line), f"'Tree={n_trees}'")
    if n_trees >= MOST_TREES:
        raise ModelFormatError(
            f"{name}: line {number}: more than {MOST_TREES:,} trees; fit fewer."
        )


def _rest(lines: Iterator[tuple[int, str]], name: str) -> Section:
    """Part after the trees: importances, parameters, pandas' categories."""
    keys = (*PARAMETERS, "pandas_categorical")
    section = Section(name, "what follows the trees", keys)
    for number, line in lines:
        if line == "parameters:":
            _add_parameters(section, lines)
        elif line.startswith("pandas_categorical:"):
            section.add(number, *line.split(":", 1))
        elif "=" not in line and line.replace("_", " ") != "feature importances:":
            refuse_damaged(
                f"{name}: line {number}, after the trees",
                shown(line),
                "importances, parameters or pandas_categorical",
            )
    return section


def _add_parameters(section: Section, lines: Iterator[tuple[int, str]]) -> None:
    for number, line in lines:
        if line == "end of parameters":
            return
        key, _, value = line.strip("[]").partition(":")
        section.add(number, key, value.strip())
    raise ModelFormatError(
        f"{section.name}: ends before the line 'end of parameters': it was cut off. "
        f"{REMEDY}"
    )
