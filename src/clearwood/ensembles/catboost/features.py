"""What the splits of a CatBoost model can ask: borders of columns, and categories.

Splits refer to one list of questions by number: first all borders of all numeric
columns, then all categories of all categorical columns, as ``features_info`` holds
them. The borders that the splits repeat are for people; CatBoost does not read them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._cityhash import category_hash
from clearwood._documents import Place, refuse_repeated, shown
from clearwood._features import FeatureSpace
from clearwood.ensembles.casts import FLOAT32_LIMIT, float64_cut_of_float32_test
from clearwood.ensembles.nodes import check_set_entries
from clearwood.exceptions import ModelFormatError

MOST_BORDERS = 65_535
"""Of one column: the most that CatBoost itself takes."""
MOST_CATEGORIES = 2**19
"""Of one column: far more than anybody asks about one by one."""
CTR_REMEDY = (
    "Fit it with one_hot_max_size at least the number of categories of every "
    "categorical column, or with the categories written as numbers"
)
REFUSED_COLUMNS = {
    "text_features": "texts",
    "embedding_features": "embeddings",
}


class Questions:
    """All questions, by number, and what came up while the splits were read.

    Every array has a last entry that stands for no question: number -1, a leaf.

    Parameters
    ----------
    column : ndarray of int32
        Column that the question is about.
    cut : ndarray of float64
        Values above it answer yes; NaN for questions on a category.
    missing_left : ndarray of bool
        Whether a missing value answers no.
    category : ndarray of int64
        The category that answers yes, -1 for borders.
    feature : list of int
        Number of the column among those of its kind, as splits repeat it.
    repeated : ndarray of float64
        The border, or the hash of the category, that splits repeat.
    n_categories : dict of int to int
        Number of categories per categorical column.
    """

    def __init__(
        self,
        column: np.ndarray,
        cut: np.ndarray,
        missing_left: np.ndarray,
        category: np.ndarray,
        feature: list[int],
        repeated: np.ndarray,
        n_categories: dict[int, int],
    ) -> None:
        self.column = column
        self.cut = cut
        self.missing_left = missing_left
        self.category = category
        self.feature = feature
        self.repeated = repeated
        self.n_categories = n_categories
        self.other_borders = 0

    def number(self, split: Place) -> int:
        """The question that a split asks."""
        n = self.column.size - 1
        if not n:
            split.fail("a split", "none, as no column has borders or categories")
        number = split["split_index"].integer(0, n - 1)
        feature, repeated = self.feature[number], float(self.repeated[number])
        expected: dict[str, Any]
        if self.category[number] < 0:
            expected = {"split_type": "FloatFeature", "float_feature_index": feature}
            if not _is_same_float32(split.value.get("border", repeated), repeated):
                self.other_borders += 1
        else:
            expected = {"split_type": "OneHotFeature", "cat_feature_index": feature}
            expected["value"] = int(repeated)
        for key, value in expected.items():
            found = split[key].value
            if type(found) is not type(value) or found != value:
                stands = f"{value!r}, which split_index {number} stands for"
                split[key].fail(shown(found), stands)
        return number

    def category_sets(self, numbers: list[int]) -> list[np.ndarray]:
        """Per question, which categories of its column answer no: all but one."""
        sizes = [self.n_categories[int(self.column[number])] for number in numbers]
        check_set_entries(sum(sizes), "the model")
        sets = [np.ones(size, dtype=bool) for size in sizes]
        for goes_left, number in zip(sets, numbers):
            goes_left[self.category[number]] = False
        return sets


def _is_same_float32(found: Any, border: float) -> bool:
    if type(found) not in (int, float) or abs(found) > FLOAT32_LIMIT:
        return False
    return found == border or bool(np.float32(found) == border)


def read_features(info: Place) -> tuple[FeatureSpace, Questions]:
    """Columns and questions of a model.

    Parameters
    ----------
    info : Place
        ``features_info`` of the file.

    Returns
    -------
    FeatureSpace
    Questions
    """
    numeric = _entries(info, "float_features")
    categorical = _entries(info, "categorical_features")
    entries = numeric + categorical
    columns = [entry["flat_feature_index"].integer(0) for entry in entries]
    names = dict(zip(columns, map(_name, entries)))
    _refuse_other_columns(info, categorical)
    if not names or sorted(columns) != list(range(len(columns))):
        found = f"flat_feature_index {str(sorted(columns))[:60]}"
        info.fail(found, "one column or more, each from 0 on exactly once")
    texts = _texts_of_hashes(info)
    labels: list[tuple[Any, ...] | None] = [None] * len(columns)
    parts = [_border_questions(entry) for entry in numeric]
    for entry, column in zip(categorical, columns[len(numeric) :]):
        hashes = _hashes(entry)
        labels[column] = tuple(texts.get(h, h) for h in (hashes % 2**32).tolist())
        parts.append(_category_questions(hashes))
    features = [entry["feature_index"].integer(0) for entry in entries]
    cuts, missing_left, categories, repeated = zip(*parts)
    sizes = [part.size for part in repeated]
    questions = Questions(
        column=np.append(np.repeat(columns, sizes), -1).astype(np.int32),
        cut=np.concatenate([*cuts, [np.nan]]),
        missing_left=np.concatenate([*missing_left, [False]]),
        category=np.concatenate([*categories, [-1]]).astype(np.int64),
        feature=[f for f, size in zip(features, sizes) for _ in range(size)],
        repeated=np.concatenate([*repeated, [np.nan]]),
        n_categories={c: len(known) for c, known in enumerate(labels) if known},
    )
    return _feature_space(
        info, [names[c] for c in range(len(names))], labels
    ), questions


Part = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Cuts, sides of missing values, categories, and what splits repeat, of one column."""


def _border_questions(entry: Place) -> Part:
    borders = _borders(entry)
    return (
        float64_cut_of_float32_test(borders),
        np.full(borders.size, not _missing_is_large(entry)),
        np.full(borders.size, -1),
        borders,
    )


def _category_questions(hashes: np.ndarray) -> Part:
    no_cut = np.full(hashes.size, np.nan)
    # CatBoost takes no missing category; the side does not matter.
    return no_cut, np.ones(hashes.size, dtype=bool), np.arange(hashes.size), hashes


def _entries(info: Place, key: str) -> list[Place]:
    """An array that is left out, or null, where it has no entries."""
    place = info.get(key)
    return [] if place is None or place.value is None else place.items()


def _name(entry: Place) -> str:
    """Empty where the model was fitted on columns without names."""
    for key in ("feature_name", "feature_id"):
        if key in entry:
            return entry[key].text()
    return ""


def _feature_space(
    info: Place, names: list[str], labels: list[tuple[Any, ...] | None]
) -> FeatureSpace:
    # CatBoost calls columns without names "0", "1", ... or not at all.
    named = not all(name in ("", str(c)) for c, name in enumerate(names))
    known = [name or str(c) for c, name in enumerate(names)]
    if not named:
        known = [f"x{c}" for c in range(len(names))]
    refuse_repeated(known, info, "the name")
    lookup: Any = tuple("exact" if known is None else "hash" for known in labels)
    return FeatureSpace(tuple(known), tuple(labels), named, lookup, float32=True)


def _refuse_other_columns(info: Place, categorical: list[Place]) -> None:
    for key, what in REFUSED_COLUMNS.items():
        found = _entries(info, key)
        if found:
            raise ModelFormatError(
                f"{info.where}: the model reads columns of {what}, among them "
                f"{shown(_name(found[0]))}; only numbers and categories can be read. "
                "Fit it without these columns."
            )
    ctrs = _entries(info, "ctrs")
    if not ctrs:
        return
    used = {
        element["cat_feature_index"].integer(0)
        for ctr in ctrs
        for element in ctr["elements"].items()
        if "cat_feature_index" in element
    }
    names = [
        _name(e) or f"column {e['flat_feature_index'].integer(0)}"
        for e in categorical
        if e["feature_index"].integer(0) in used
    ]
    raise ModelFormatError(
        f"{info.where}: the model replaces categories of {names[:10]} by statistics of "
        f"the target (CTR), which are no questions about the data. {CTR_REMEDY}."
    )


def _borders(entry: Place) -> np.ndarray:
    """Float32 borders, ascending: CatBoost counts how many a value exceeds."""
    place = entry.get("borders")
    if place is None or place.value is None:
        return np.zeros(0)
    if place.size() > MOST_BORDERS:
        place.fail(f"{place.size():,} borders", f"{MOST_BORDERS:,} at most")
    borders = place.numbers()
    too_large = np.flatnonzero(np.abs(borders) > FLOAT32_LIMIT)
    if too_large.size:
        i = too_large[0]
        Place(None, f"{place.where}[{i}]").fail(f"{borders[i]}", "a float32 number")
    return np.sort(borders.astype(np.float32).astype(np.float64))


def _missing_is_large(entry: Place) -> bool:
    """Whether missing values count as larger than all others, else as smaller."""
    if "nan_value_treatment" not in entry:
        return False
    treatment = entry["nan_value_treatment"].text()
    if treatment not in ("AsIs", "AsFalse", "AsTrue"):
        expected = "AsIs, AsFalse or AsTrue"
        entry["nan_value_treatment"].fail(shown(treatment), expected)
    # Where training saw none, CatBoost compares NaN itself: never above a border.
    return treatment == "AsTrue" and entry["has_nans"].flag(from_number=True)


def _hashes(entry: Place) -> np.ndarray:
    """Hashes of the categories that splits ask about, as signed 32-bit numbers."""
    place = entry.get("values")
    if place is None or place.value is None:
        return np.zeros(0, dtype=np.int64)
    if place.size() > MOST_CATEGORIES:
        place.fail(f"{place.size():,} categories", f"{MOST_CATEGORIES:,} at most")
    hashes = place.integers(low=-(2**31), high=2**31 - 1)
    refuse_repeated(hashes.tolist(), place, "the category")
    return hashes


def _texts_of_hashes(info: Place) -> dict[int, str]:
    """The categories' texts, which a file holds that was saved with its data."""
    texts: dict[int, str] = {}
    for entry in _entries(info, "cat_features_hash"):
        known = entry["hash"].integer(0, 2**32 - 1)
        text = entry["value"].text()
        if category_hash(text) != known:
            expected = f"{category_hash(text)}, the hash of {shown(text)}"
            entry["hash"].fail(str(known), expected)
        texts[known] = text
    return texts
