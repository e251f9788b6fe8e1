"""Columns of a LightGBM model: names, categories, and zeros as missing values.

They follow from the whole model: names from the header, types from the splits of the
trees, labels of categories from the end of the text.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import NoReturn

import numpy as np

from clearwood.codec.documents import (
    Place,
    first_repeated,
    parse_json,
    plain_integer,
    refuse_damaged,
    refuse_repeated,
    shown,
)
from clearwood.columns.feature_space import FeatureSpace, Lookup
from clearwood.ensembles.lightgbm.text import Section
from clearwood.ensembles.nodes import (
    MOST_UNNAMED_FEATURES,
    TreeNodes,
    fill_category_sets,
)
from clearwood.exceptions import UnsupportedModelError

MOST_CATEGORIES = 2**19
"""Most categories in splits; they take about 50 MB."""
# Strings in JSON: the rest has brackets only around arrays.
TEXT_IN_JSON = re.compile(r'"(?:[^"\\]|\\.)*+"')


class Columns:
    """Properties of the columns, collected while trees are read.

    Parameters
    ----------
    header : Section
    """

    def __init__(self, header: Section) -> None:
        self.header = header
        self.names = _names(header)
        self.n_features = n = len(self.names)
        # Per feature the first tree with a node of a kind, -1 where there is none.
        self.numeric = np.full(n, -1)
        self.zero_is_missing = np.full(n, -1)
        self.needs_zero = np.full(n, -1)
        self.bits: dict[int, np.ndarray] = {}

    def note_numeric(
        self,
        section: Section,
        feature: np.ndarray,
        numeric: np.ndarray,
        zero_is_missing: np.ndarray,
        needs_zero: np.ndarray,
    ) -> None:
        """Record the numeric nodes of a tree.

        ``needs_zero``: nodes that send 0 and missing values to different sides.
        """
        tree = int(section.title.split()[1])
        for seen, nodes in (
            (self.numeric, numeric),
            (self.zero_is_missing, numeric & zero_is_missing),
            (self.needs_zero, numeric & needs_zero),
        ):
            columns = feature[nodes]
            seen[columns] = np.where(seen[columns] < 0, tree, seen[columns])

    def note_categorical(
        self, section: Section, feature: np.ndarray, sets: dict[int, np.ndarray]
    ) -> None:
        """Record the codes in the categorical nodes of a tree."""
        for node, words in sets.items():
            d = int(feature[node])
            if not words.any():
                section.fail_entry("threshold", node, "an empty category set", "codes")
            known = self.bits.get(d, words[:0])
            if known.size < words.size:
                known = np.pad(known, (0, words.size - known.size))
            known[: words.size] |= words
            self.bits[d] = known

    def finish(self, trees: list[TreeNodes], rest: Section) -> FeatureSpace:
        """Feature space after all trees are read; fills in their category sets."""
        self._check_uses()
        categories: list[tuple[Hashable, ...] | None] = [None] * self.n_features
        lookup: list[Lookup] = ["exact"] * self.n_features
        codes = self._codes()
        labels = self._labels(rest, codes)
        for d, mentioned in codes.items():
            categories[d], lookup[d] = tuple(mentioned.tolist()), "integer"
        for d, known in labels.items():
            categories[d], lookup[d] = known, "exact"
            codes[d] = np.arange(len(known))
        sets = ((tree, tree.categories_left) for tree in trees)
        fill_category_sets(sets, codes, _answers, self.header.name)
        zero = [0.0 if tree >= 0 else None for tree in self.zero_is_missing.tolist()]
        names, named = self.names, True
        if names == tuple(f"Column_{i}" for i in range(self.n_features)):
            names, named = tuple(f"x{i}" for i in range(self.n_features)), False
        return FeatureSpace(names, tuple(categories), named, tuple(lookup), tuple(zero))

    def _check_uses(self) -> None:
        torn = np.flatnonzero((self.zero_is_missing >= 0) & (self.needs_zero >= 0))
        for d in torn[:1].tolist():
            raise UnsupportedModelError(
                f"{self._where(d)}: tree {self.zero_is_missing[d]} takes zero for "
                f"missing, tree {self.needs_zero[d]} distinguishes them. Fit all trees "
                "with the same zero_as_missing."
            )
        for d in self.bits:
            if self.numeric[d] >= 0:
                found = f"a numeric split in tree {self.numeric[d]} too"
                self._fail(d, found, "categorical splits only")

    def _where(self, d: int) -> str:
        return f"{self.header.name}: feature {d} ({shown(self.names[d])})"

    def _fail(self, d: int, found: str, expected: str) -> NoReturn:
        refuse_damaged(self._where(d), found, expected)

    def _codes(self) -> dict[int, np.ndarray]:
        """Per categorical column the codes that occur in its sets, ascending."""
        # Counted before they are listed, as every bit of the file becomes a number.
        n = sum(
            int.from_bytes(w.tobytes(), "big").bit_count() for w in self.bits.values()
        )
        if n > MOST_CATEGORIES:
            raise UnsupportedModelError(
                f"{self.header.name}: its splits name {n:,} categories, more than the "
                f"{MOST_CATEGORIES:,} that can be read. Group rare categories before "
                "the model is fitted."
            )
        return {d: _codes_of(words) for d, words in self.bits.items()}

    # Labels of pandas categories

    def _labels(
        self, rest: Section, codes: dict[int, np.ndarray]
    ) -> dict[int, tuple[Hashable, ...]]:
        """Labels per categorical column; none where the model stores only codes."""
        if "pandas_categorical" not in rest:
            return {}
        line, text = rest.lines["pandas_categorical"]
        where = f"{rest.name}: line {line}, pandas_categorical"
        brackets = TEXT_IN_JSON.sub("", text).count("[")
        if brackets > self.n_features + 1:
            rest.fail(
                "pandas_categorical",
                f"{brackets} arrays",
                f"at most one per feature inside one, {self.n_features + 1}",
            )
        top = Place(parse_json(text.encode(), where), where)
        if top.value is None or top.value == []:
            return {}
        lists = [_labels(column) for column in top.items()]
        columns = self._categorical_columns(rest)
        if len(lists) != len(columns):
            raise UnsupportedModelError(
                f"{where}: found labels for {len(lists)} columns, but {len(columns)} "
                f"categorical features ({shown(', '.join(map(str, columns)))}), and "
                "the model does not record which labels belong to which. Fit it on a "
                "table whose categorical columns are all of the type category and not "
                "ordered, without categorical_feature; or pass codes."
            )
        labels = dict(zip(columns, lists))
        for d, mentioned in codes.items():
            known, largest = len(labels.get(d, ())), int(mentioned[-1])
            if largest >= known:
                self._fail(d, f"the category code {largest}", f"one below {known}")
        for d in labels:
            if self.numeric[d] >= 0:
                found = f"labels and a numeric split in tree {self.numeric[d]}"
                self._fail(d, found, "categorical splits only")
        return labels

    def _categorical_columns(self, rest: Section) -> list[int]:
        """Categorical columns, from the parameters or, in old files, the header."""
        listed = (
            rest.text("categorical_feature") if "categorical_feature" in rest else ""
        )
        numbers = [plain_integer(word.strip()) for word in listed.split(",") if word]
        columns = {d for d in numbers if d is not None and 0 <= d < self.n_features}
        if not columns or len(columns) < len(numbers):
            columns = set(self._shown_as_categorical())
        return sorted(columns | self.bits.keys())

    def _shown_as_categorical(self) -> list[int]:
        if "feature_infos" not in self.header:
            return []
        infos = self.header.text("feature_infos").split()
        if len(infos) != self.n_features:
            found = f"{len(infos)} entries"
            self.header.fail("feature_infos", found, f"{self.n_features}")
        return [d for d, info in enumerate(infos) if re.match(r"-?[0-9]", info)]


def _names(header: Section) -> tuple[str, ...]:
    text = header.text("feature_names")
    n = header.integer("max_feature_idx", 0, MOST_UNNAMED_FEATURES - 1) + 1
    # Counted before the names are split.
    if text.count(" ") + 1 < n:
        header.fail("feature_names", f"fewer than {n} names", f"{n} names")
    names = tuple(name for name in text.split(" ", 4 * n) if name)
    if len(names) != n:
        found = f"{len(names)} names"
        header.fail("feature_names", found, f"{n}, max_feature_idx being {n - 1}")
    twice = first_repeated(names)
    if twice is not None:
        header.fail("feature_names", f"the name {shown(twice)} twice", "it once")
    return names


def _labels(column: Place) -> tuple[Hashable, ...]:
    for label in column.entries():
        if isinstance(label.value, str):
            label.text()
        elif (
            not isinstance(label.value, bool | int | float)
            or label.value != label.value
        ):
            label.fail(shown(label.value), "a text or a number")
    refuse_repeated(column.value, column, "the label")
    return tuple(column.value)


def _codes_of(words: np.ndarray) -> np.ndarray:
    """Positions of the bits that are 1 in 32-bit words, lowest first."""
    # Most words of a large set are 0.
    used = np.flatnonzero(words)
    bits = np.unpackbits(words[used].view(np.uint8), bitorder="little")
    word, bit = np.divmod(np.flatnonzero(bits), 32)
    return 32 * used[word] + bit


def _answers(words: np.ndarray, codes: np.ndarray) -> np.ndarray:
    answers = np.zeros(codes.size, bool)
    within = codes[codes < 32 * words.size]
    answers[: within.size] = words[within // 32] >> (within % 32).astype("<u4") & 1
    return answers
