"""Candidate splits of a CatBoost model: borders of columns, and categories.

Trees refer to one list of candidates by number: first all borders of all numeric
columns, then all categories of all categorical columns, then all borders of statistics
of such columns, as ``features_info`` stores them. The borders that the trees repeat are
informative only; CatBoost does not read them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood.codec.documents import Place, refuse_repeated, shown
from clearwood.columns.cityhash import category_hash
from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles.casts import FLOAT32_LIMIT, float64_cut_of_float32_test
from clearwood.ensembles.catboost.ctrs import (
    MOST_CATEGORIES,
    Statistic,
    columns_of,
    read_statistic,
)
from clearwood.ensembles.nodes import check_set_entries
from clearwood.exceptions import UnsupportedModelError

MOST_BORDERS = 65_535
"""Most borders of one column, which is CatBoost's own limit."""
CTR_REMEDY = (
    "Fit it with max_ctr_complexity=1, which keeps to statistics of one column, or "
    "pass its method predict_proba (for regression predict) instead of the model, as a "
    "black box"
)
REFUSED_COLUMNS = {
    "text_features": "texts",
    "embedding_features": "embeddings",
}


@dataclass(frozen=True)
class ColumnQuestions:
    """Candidate splits on one column, or on one statistic of it, in order.

    Attributes
    ----------
    column : int
        The column.
    repeats : dict of str to (str or int)
        Entries of each split on it besides the border or category.
    repeated : ndarray of float64
        The borders, or the hashes of the categories, that splits repeat.
    cuts : ndarray of float64 or None
        Larger values go right; None for splits on categories.
    missing_left : bool
        Whether missing values go left.
    goes_left : callable or None
        Maps the position of a split here to whether each category goes left.
    unseen_left : ndarray of bool or None
        Whether unknown categories go left.
    """

    column: int
    repeats: dict[str, Any]
    repeated: np.ndarray
    cuts: np.ndarray | None = None
    # CatBoost accepts no missing category; the side does not matter.
    missing_left: bool = True
    goes_left: Callable[[int], np.ndarray] | None = None
    unseen_left: np.ndarray | None = None


class Questions:
    """All candidate splits, by number, and a count of deviations in the trees.

    Every array has a last entry for leaves, which have no split.

    Parameters
    ----------
    parts : list of ColumnQuestions
        In the order in which splits are numbered.
    n_categories : dict of int to int
        Number of categories per categorical column.

    Attributes
    ----------
    column : ndarray of int32
        Column of the split, -1 at leaves.
    cut : ndarray of float64
        Larger values go right; NaN for splits on categories.
    missing_left, unseen_left : ndarray of bool
        Whether missing values, or unseen categories, go left.
    categorical : ndarray of bool
        Whether the split is on categories.
    other_borders : int
        Number of splits that repeat a border other than that of their number.
    """

    def __init__(
        self, parts: list[ColumnQuestions], n_categories: dict[int, int]
    ) -> None:
        sizes = [part.repeated.size for part in parts]
        self._parts, self._n_categories = parts, n_categories
        self._part = np.repeat(np.arange(len(parts)), sizes)
        self._start = np.cumsum([0, *sizes])
        self.column = self._spread([p.column for p in parts], -1).astype(np.int32)
        self.missing_left = self._spread([p.missing_left for p in parts], False)
        self.categorical = self._spread([p.cuts is None for p in parts], False)
        cuts = [np.full(n, np.nan) if p.cuts is None else p.cuts
                for p, n in zip(parts, sizes)]  # fmt: skip
        unseen = [np.zeros(n, dtype=bool) if p.unseen_left is None else p.unseen_left
                  for p, n in zip(parts, sizes)]  # fmt: skip
        self.cut = np.concatenate([*cuts, [np.nan]])
        self.unseen_left = np.concatenate([*unseen, [False]])
        self.other_borders = 0

    def _spread(self, values: list[Any], at_leaves: Any) -> np.ndarray:
        """Repeat the value of each part for all of its splits."""
        return np.append(np.array(values)[self._part], at_leaves)

    def number(self, split: Place) -> int:
        """Number of a split, validated against what the tree repeats of it."""
        n = self.column.size - 1
        if not n:
            split.fail("a split", "none, as no column has borders or categories")
        number = split["split_index"].integer(0, n - 1)
        part, place = self._at(number)
        repeated, expected = float(part.repeated[place]), dict(part.repeats)
        if part.repeats["split_type"] == "OneHotFeature":
            expected["value"] = int(repeated)
        elif not _is_same_float32(split.value.get("border", repeated), repeated):
            self.other_borders += 1
        for key, value in expected.items():
            found = split[key].value
            if type(found) is not type(value) or found != value:
                stands = f"{value!r}, which split_index {number} stands for"
                split[key].fail(shown(found), stands)
        return number

    def category_sets(self, numbers: list[int]) -> list[np.ndarray]:
        """Per categorical split, which categories of its column go left."""
        sizes = [self._n_categories[int(self.column[number])] for number in numbers]
        check_set_entries(sum(sizes), "the model")
        found = [self._at(number) for number in numbers]
        return [part.goes_left(place) for part, place in found if part.goes_left]

    def _at(self, number: int) -> tuple[ColumnQuestions, int]:
        k = int(self._part[number])
        return self._parts[k], number - int(self._start[k])


def _is_same_float32(found: Any, border: float) -> bool:
    if type(found) not in (int, float) or abs(found) > FLOAT32_LIMIT:
        return False
    return found == border or bool(np.float32(found) == border)


def read_features(
    info: Place, tables: Place | None = None
) -> tuple[FeatureSpace, Questions]:
    """Columns and candidate splits of a model.

    Parameters
    ----------
    info : Place
        ``features_info`` of the file.
    tables : Place, optional
        ``ctr_data`` of the file, if splits use statistics of the target.

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
    parts = [_border_questions(entry, c) for entry, c in zip(numeric, columns)]
    column_of = {
        entry["feature_index"].integer(0): column
        for entry, column in zip(categorical, columns[len(numeric) :])
    }
    if len(column_of) < len(categorical):
        info.fail("the same feature_index twice", "it once among categorical columns")
    used = dict(zip(column_of, map(_hashes, categorical)))
    ctrs = _entries(info, "ctrs")
    statistics = [_statistic(ctr, tables, column_of) for ctr in ctrs]
    hashes = dict(used)
    for one in statistics:
        known = hashes[one.feature]
        hashes[one.feature] = np.append(known, np.setdiff1d(one.hashes, known))
    for feature, column in column_of.items():
        n = hashes[feature].size
        parts.append(_category_questions(feature, column, used[feature], n))
    for ctr, one in zip(ctrs, statistics):
        values, borders = one.of(hashes[one.feature]), _borders(ctr)
        column = column_of[one.feature]
        parts.append(_statistic_questions(one, column, values, borders))
    texts = _texts_of_hashes(info)
    labels: list[tuple[Any, ...] | None] = [None] * len(columns)
    for feature, column in column_of.items():
        unsigned = (hashes[feature] % 2**32).tolist()
        labels[column] = tuple(texts.get(h, h) for h in unsigned)
    n_categories = {c: len(known) for c, known in enumerate(labels) if known}
    features = _feature_space(info, [names[c] for c in range(len(names))], labels)
    return features, Questions(parts, n_categories)


def _border_questions(entry: Place, column: int) -> ColumnQuestions:
    borders = _borders(entry)
    number = entry["feature_index"].integer(0)
    return ColumnQuestions(
        column,
        {"split_type": "FloatFeature", "float_feature_index": number},
        borders,
        float64_cut_of_float32_test(borders),
        not _missing_is_large(entry),
    )


def _category_questions(
    feature: int, column: int, hashes: np.ndarray, n: int
) -> ColumnQuestions:
    """Splits on the first of ``n`` categories, one each."""
    return ColumnQuestions(
        column,
        {"split_type": "OneHotFeature", "cat_feature_index": feature},
        hashes,
        goes_left=lambda place: np.arange(n) != place,
        # An unknown category is not that of any split.
        unseen_left=np.ones(hashes.size, dtype=bool),
    )


def _statistic_questions(
    one: Statistic, column: int, values: np.ndarray, borders: np.ndarray
) -> ColumnQuestions:
    """Splits on a statistic: categories above a border go right."""
    return ColumnQuestions(
        column,
        {"split_type": "OnlineCtr", "ctr_target_border_idx": one.target},
        borders,
        goes_left=lambda place: ~(values > borders[place]),
        unseen_left=~(one.otherwise > borders),
    )


def _statistic(
    ctr: Place, tables: Place | None, column_of: dict[int, int]
) -> Statistic:
    if tables is None:
        ctr.fail("a statistic of the target", "'ctr_data' with its table")
    one = read_statistic(ctr, tables)
    if one.feature not in column_of:
        ctr["elements"].fail(f"the column {one.feature}", f"one of {list(column_of)}")
    return one


def _entries(info: Place, key: str) -> list[Place]:
    """Entries of an array, none if it is absent or null."""
    place = info.get(key)
    return [] if place is None or place.value is None else place.items()


def _name(entry: Place) -> str:
    """Name of a column; empty if the model was fitted without names."""
    for key in ("feature_name", "feature_id"):
        if key in entry:
            return entry[key].text()
    return ""


def _feature_space(
    info: Place, names: list[str], labels: list[tuple[Any, ...] | None]
) -> FeatureSpace:
    # CatBoost names columns without names "0", "1", ... or not at all.
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
            raise UnsupportedModelError(
                f"{info.where}: the model reads columns of {what}, among them "
                f"{shown(_name(found[0]))}; only numbers and categories can be read. "
                "Fit it without these columns."
            )
    for ctr in _entries(info, "ctrs"):
        used, alone = columns_of(ctr)
        if not alone:
            names = [
                _name(e) or f"column {e['flat_feature_index'].integer(0)}"
                for e in categorical
                if e["feature_index"].integer(0) in used
            ]
            raise UnsupportedModelError(
                f"{info.where}: the model replaces categories of {names[:10]} by "
                "statistics of the target (CTR) over several columns together, which "
                f"are no questions about any one of them. {CTR_REMEDY}."
            )


def _borders(entry: Place) -> np.ndarray:
    """Float32 borders, ascending, as CatBoost counts those that a value exceeds."""
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
    # With none in training, CatBoost compares NaN itself: never above a border.
    return treatment == "AsTrue" and entry["has_nans"].flag(from_number=True)


def _hashes(entry: Place) -> np.ndarray:
    """Hashes of the categories in splits, as signed 32-bit numbers."""
    place = entry.get("values")
    if place is None or place.value is None:
        return np.zeros(0, dtype=np.int64)
    if place.size() > MOST_CATEGORIES:
        place.fail(f"{place.size():,} categories", f"{MOST_CATEGORIES:,} at most")
    hashes = place.integers(low=-(2**31), high=2**31 - 1)
    refuse_repeated(hashes.tolist(), place, "the category")
    return hashes


def _texts_of_hashes(info: Place) -> dict[int, str]:
    """Texts of the categories by hash, stored if the file was saved with its data."""
    texts: dict[int, str] = {}
    for entry in _entries(info, "cat_features_hash"):
        known = entry["hash"].integer(0, 2**32 - 1)
        text = entry["value"].text()
        if category_hash(text) != known:
            expected = f"{category_hash(text)}, the hash of {shown(text)}"
            entry["hash"].fail(str(known), expected)
        texts[known] = text
    return texts
