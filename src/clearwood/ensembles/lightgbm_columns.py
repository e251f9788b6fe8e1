"""The columns of a LightGBM model: names, categories, and zeros that are missing.

What a column is follows from all of the model together: from the header its name, from
the trees how they ask about it, from the end of the text the labels of its categories.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import NoReturn

import numpy as np

from clearwood._features import FeatureSpace, Lookup, check_distinct
from clearwood.ensembles.documents import (
    MOST_UNNAMED_FEATURES,
    Place,
    check_categories,
    parse_json,
    plain_integer,
    shown,
)
from clearwood.ensembles.lightgbm_text import Section
from clearwood.ensembles.nodes import MOST_SET_ENTRIES, TreeNodes
from clearwood.ensembles.structure import REMEDY
from clearwood.exceptions import ClearwoodError, InputError, ModelFormatError

# A text in JSON: what is left without them has brackets only around arrays.
TEXT_IN_JSON = re.compile(r'"(?:[^"\\]|\\.)*+"')


class Columns:
    """What is known of the columns while tree after tree is read.

    Parameters
    ----------
    header : Section
    error : type
        What to raise where the model is sound but cannot be read exactly.
    """

    def __init__(self, header: Section, error: type[ClearwoodError]) -> None:
        self.header = header
        self.error = error
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
        """Remember the numeric nodes of a tree.

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
        """Remember which codes the categorical nodes of a tree mention."""
        for node, words in sets.items():
            d = int(feature[node])
            if not words.any():
                section.fail_entry("threshold", node, "an empty category set", "codes")
            known = self.bits.get(d)
            if known is None or known.size < words.size:
                wider = np.zeros(words.size, words.dtype)
                wider[: 0 if known is None else known.size] = (
                    0 if known is None else known
                )
                self.bits[d] = known = wider
            known[: words.size] |= words

    def finish(self, trees: list[TreeNodes], rest: Section) -> FeatureSpace:
        """The features, when all trees are read; their category sets are filled in."""
        self._check_uses()
        labels = self._labels(rest)
        categories: list[tuple[Hashable, ...] | None] = [None] * self.n_features
        lookup: list[Lookup] = ["exact"] * self.n_features
        n_mentioned = sum(int(np.bitwise_count(w).sum()) for w in self.bits.values())
        check_categories(n_mentioned, self.header.name)
        codes = {d: np.flatnonzero(_bits(words)) for d, words in self.bits.items()}
        for d, mentioned in codes.items():
            categories[d], lookup[d] = tuple(mentioned.tolist()), "integer"
        for d, known in labels.items():
            categories[d], lookup[d] = known, "exact"
            codes[d] = np.arange(len(known))
        _fill_sets(trees, codes, self.header.name)
        zero = [0.0 if tree >= 0 else None for tree in self.zero_is_missing.tolist()]
        names, named = self.names, True
        if names == tuple(f"Column_{i}" for i in range(self.n_features)):
            names, named = tuple(f"x{i}" for i in range(self.n_features)), False
        return FeatureSpace(names, tuple(categories), named, tuple(lookup), tuple(zero))

    def _check_uses(self) -> None:
        torn = np.flatnonzero((self.zero_is_missing >= 0) & (self.needs_zero >= 0))
        for d in torn[:1].tolist():
            raise self.error(
                f"{self._where(d)}: tree {self.zero_is_missing[d]} takes zero for "
                f"missing, tree {self.needs_zero[d]} tells them apart. Fit all trees "
                "with the same zero_as_missing."
            )
        for d in self.bits:
            if self.numeric[d] >= 0:
                found = f"a numeric split in tree {self.numeric[d]} too"
                self._fail(d, found, "categorical splits only")

    def _where(self, d: int) -> str:
        return f"{self.header.name}: feature {d} ({shown(self.names[d])})"

    def _fail(self, d: int, found: str, expected: str) -> NoReturn:
        raise ModelFormatError(
            f"{self._where(d)}: found {found}, expected {expected}. {REMEDY}"
        )

    # Labels of pandas categories

    def _labels(self, rest: Section) -> dict[int, tuple[Hashable, ...]]:
        """Per categorical column its labels; none where the model knows only codes."""
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
        columns_told = top.items()
        check_categories(sum(column.size() for column in columns_told), where)
        lists = [_labels(column) for column in columns_told]
        columns = self._categorical_columns(rest)
        if len(lists) != len(columns):
            raise self.error(
                f"{where}: found labels for {len(lists)} columns, but {len(columns)} "
                f"categorical features ({shown(', '.join(map(str, columns)))}), and "
                "the model does not say which labels belong to which. Fit it on a "
                "table whose categorical columns are all of the type category and "
                "not ordered, without categorical_feature; or hand in codes."
            )
        labels = dict(zip(columns, lists))
        for d, words in self.bits.items():
            known = len(labels.get(d, ()))
            largest = int(np.flatnonzero(_bits(words))[-1])
            if largest >= known:
                self._fail(d, f"the category code {largest}", f"one below {known}")
        for d in labels:
            if self.numeric[d] >= 0:
                found = f"labels and a numeric split in tree {self.numeric[d]}"
                self._fail(d, found, "categorical splits only")
        return labels

    def _categorical_columns(self, rest: Section) -> list[int]:
        """As the parameters list them or, in old files, as the header shows it."""
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
    # Count before the names are cut apart.
    if text.count(" ") + 1 < n:
        header.fail("feature_names", f"fewer than {n} names", f"{n} names")
    names = tuple(name for name in text.split(" ", 4 * n) if name)
    if len(names) != n:
        found = f"{len(names)} names"
        header.fail("feature_names", found, f"{n}, max_feature_idx being {n - 1}")
    try:
        check_distinct(names)
    except InputError as error:
        raise ModelFormatError(f"{header.name}: {error}") from None
    return names


def _labels(column: Place) -> tuple[Hashable, ...]:
    for place in column.each():
        label = place.value
        if isinstance(label, str):
            place.text()
        elif not isinstance(label, bool | int | float) or label != label:
            place.fail(shown(label), "a text or a number")
    if len(set(column.value)) < len(column.value):
        column.fail("a label twice", "labels that differ")
    return tuple(column.value)


def _bits(words: np.ndarray) -> np.ndarray:
    """Bits of 32-bit words, lowest first, as booleans."""
    return np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)


def _fill_sets(trees: list[TreeNodes], codes: dict[int, np.ndarray], name: str) -> None:
    """Turn the bits of all codes into answers for the codes of the feature.

    Equal sets become one array, so that memory is bounded before anything is joined.
    """
    arrays: dict[tuple[int, bytes], np.ndarray] = {}
    entries = 0
    for tree in trees:
        for node, words in tree.categories_left.items():
            d = int(tree.feature[node])
            key = (d, words.tobytes())
            if key not in arrays:
                entries += len(codes[d])
                if entries > MOST_SET_ENTRIES:
                    raise ModelFormatError(
                        f"{name}: its category sets have more than {MOST_SET_ENTRIES:,}"
                        " entries in all. Group rare categories before the model is "
                        "fitted."
                    )
                arrays[key] = _answers(words, codes[d])
            tree.categories_left[node] = arrays[key]


def _answers(words: np.ndarray, codes: np.ndarray) -> np.ndarray:
    bits = _bits(words)
    answers = np.zeros(len(codes), bool)
    within = codes < bits.size
    answers[within] = bits[codes[within]]
    return answers
