"""Reader of forests from R: tables of randomForest's getTree and ranger's treeInfo.

A table has one row per node, and its trees one after the other. It lists neither the
predictors in no split nor the levels of factors: a split on a factor is a set of level
numbers, in randomForest as the bits of one number.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._memory import check_memory
from clearwood.codec.documents import (
    first_repeated,
    plain_integer,
    plain_number,
    refuse_damaged,
    shown,
)
from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles.nodes import MOST_TREES, TreeNodes, join_trees
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import InputError, ModelFormatError, UnsupportedModelError

RANDOM_FOREST = (
    *("left daughter", "right daughter", "split var", "split point"),
    *("status", "prediction"),
)
RANGER = ("leftChild", "rightChild", "splitvarName", "splitval", "nodeID")
PACKAGES = ("randomForest", "ranger")
PROBABILITY = "pred."
OF_CLASSIFIER = 1
"""Status of the inner nodes of randomForest's classifiers; of its regressions -3."""
MOST_LEVELS = 53
"""Most levels of a factor, whose sets are the bits of a double."""
MOST_PREDICTORS = 10**5
MEMORY_PER_ROW = 200
"""Bytes of a row while a table is read."""
NO_LEVELS = (
    "The table does not state which predictors are factors, so all are read as "
    "numbers; if there are factors, pass levels to read_ensemble."
)

ORDER_OF_CLASSES = (
    "Before version 0.15, ranger's treeInfo exchanges classes that first occur in the "
    "training data in another order than their levels; use a later version, or a "
    "forest with probability=TRUE."
)

Levels = Mapping[str, Any]


def is_forest(columns: Any) -> bool:
    """Whether a table has the columns of one of the two functions.

    Examples
    --------
    >>> is_forest(["nodeID", "leftChild", "rightChild", "splitvarName", "splitval"])
    True
    """
    if callable(columns):  # of an object that answers to every name
        return False
    # R's data.frame replaces blanks in names by dots.
    names = {str(name).replace(".", " ") for name in columns}
    return names >= set(RANDOM_FOREST) or names >= set(RANGER)


def begins_forest(data: bytes) -> bool:
    """Whether the first line of a file has these columns."""
    line = data[:4096].removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    names = line.decode("utf-8", "replace").replace(";", ",").split(",")
    return is_forest(name.strip('" \r') for name in names)


def read_csv(data: bytes, name: str, levels: Levels | None = None) -> TreeEnsemble:
    """Read a table in CSV, as R's ``write.csv`` writes it.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name, for messages.
    levels : dict, optional
        See :func:`clearwood.read_ensemble`.

    Returns
    -------
    TreeEnsemble
    """
    import pandas as pd

    check_memory(MEMORY_PER_ROW * data.count(b"\n"), len(data), name)
    semicolons = b";" in data.partition(b"\n")[0]
    try:
        with warnings.catch_warnings():
            # Rows with more cells than column names would lose the last ones.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                io.BytesIO(data),
                sep=";" if semicolons else ",",
                dtype="category",
                keep_default_na=False,
                na_values=["", "NA"],
                index_col=False,
            )
    except (ValueError, OverflowError, pd.errors.ParserWarning) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ModelFormatError(f"{name}: cannot read this as CSV: {reason}.") from None
    parts = {
        column: (cells.cat.codes.to_numpy(), cells.cat.categories.tolist())
        for column, cells in frame.items()
    }
    return _ensemble(parts, len(frame), name, levels)


def read_frame(frame: Any, levels: Levels | None = None) -> TreeEnsemble:
    """Read a pandas or polars frame that holds such a table.

    Parameters
    ----------
    frame : frame
    levels : dict, optional
        See :func:`clearwood.read_ensemble`.

    Returns
    -------
    TreeEnsemble
    """
    import pandas as pd

    parts = {}
    for column in frame.columns:
        codes, cells = pd.factorize(np.asarray(frame[column], dtype=object))
        parts[str(column)] = codes, cells.tolist()
    return _ensemble(parts, len(frame), "the table", levels)


class _Column:
    """Cells of a column, each distinct one stored once.

    Parameters
    ----------
    where : str
        File and column, for messages.
    codes : ndarray of int64 of shape (n_rows,)
        Position of each row's cell; -1 where it is missing.
    cells : list
        Distinct cells: texts or numbers.
    """

    def __init__(self, where: str, codes: np.ndarray, cells: list[Any]) -> None:
        self.where, self.codes, self.cells = where, codes, cells
        parsed = [plain_number(x) if isinstance(x, str) else x for x in cells]
        # A whole number may be too large for float64.
        good = [
            isinstance(x, float)
            or (isinstance(x, int) and abs(x) <= sys.float_info.max)
            for x in parsed
        ]
        self._is_number = np.array([*good, False])
        self._number = np.array([x if ok else 0.0 for x, ok in zip(parsed, good)] + [0])

    def is_numeric(self, rows: np.ndarray) -> bool:
        """Whether the cells of some rows are numbers, or missing."""
        codes = self.codes[rows]
        return bool(self._is_number[codes[codes >= 0]].all())

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """Cells of some rows as float64."""
        codes = self.codes[rows]
        self._require(self._is_number[codes], rows, "a number")
        return self._number[codes].astype(np.float64)

    def whole(self, rows: np.ndarray, most: int) -> np.ndarray:
        """Cells of some rows as integers from 0 to ``most``."""
        numbers = self.numbers(rows)
        good = (numbers >= 0) & (numbers <= most) & (numbers == np.floor(numbers))
        self._require(good, rows, f"a whole number from 0 to {most:,}")
        return numbers.astype(np.int64)

    def texts(self, rows: np.ndarray) -> list[str]:
        """Cells of some rows as texts."""
        codes = self.codes[rows]
        self._require(codes >= 0, rows, "a text or a number")
        texts = [
            str(int(x)) if isinstance(x, float) and x.is_integer() else str(x)
            for x in self.cells
        ]
        return [texts[i] for i in codes.tolist()]

    def _require(self, good: np.ndarray, rows: np.ndarray, expected: str) -> None:
        if not good.all():
            row = int(np.flatnonzero(rows)[good.argmin()])
            code = int(self.codes[row])
            found = shown(self.cells[code]) if code >= 0 else "no value"
            refuse_damaged(f"{self.where}, row {row + 1}", found, expected)


def _ensemble(
    parts: dict[str, Any], n_rows: int, name: str, levels: Levels | None
) -> TreeEnsemble:
    """The mean over the trees, or the shares of their votes."""
    if not is_forest(parts):
        refuse_damaged(name, f"the columns {list(parts)}", "those of a forest")
    columns = {}
    for key, part in parts.items():
        blank = key.replace(".", " ")
        column = _Column(f"{name}: column {key!r}", *part)
        columns[blank if blank in RANDOM_FOREST else key] = column
    if not n_rows:
        refuse_damaged(name, "no rows", "one for each node")
    is_ranger = columns.keys() >= set(RANGER)
    children, inner, starts = _structure(columns, is_ranger, name)
    split, point = (
        columns[key] for key in (RANGER if is_ranger else RANDOM_FOREST)[2:4]
    )
    value, meaning = _predictions(columns, inner, name)
    features, feature = _features(split, inner, levels)
    cut, sets = _points(point, feature, features, is_ranger)
    tree = TreeNodes(
        feature=feature,
        cut=cut,
        left=children[0],
        right=children[1],
        missing_left=np.zeros(n_rows, bool),
        value=value,
        categories_left=sets,
    )
    nodes = join_trees([tree])
    nodes |= {"roots": starts, "output": np.zeros(starts.size)}
    by_vote = "classes" in meaning and "prediction" in columns
    return TreeEnsemble(
        features=features,
        **meaning,
        **nodes,
        base_score=np.zeros(value.shape[1]),
        divisor=starts.size,
        allows_missing=False,
        allows_infinite=True,
        input_dtype="float64",
        source=f"R's {PACKAGES[is_ranger]}",
        details={"library": PACKAGES[is_ranger]},
        notes=(
            *([] if levels else [NO_LEVELS]),
            *([ORDER_OF_CLASSES] if is_ranger and by_vote else []),
        ),
    )


# Structure


def _structure(
    columns: dict[str, _Column], is_ranger: bool, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Children of each row, which rows are inner nodes, and the roots of the trees."""
    left, right = (columns[key] for key in (RANGER if is_ranger else RANDOM_FOREST)[:2])
    every = np.ones(left.codes.size, bool)
    # randomForest counts nodes from 1, and the children of a leaf are 0.
    inner = left.codes >= 0 if is_ranger else left.whole(every, every.size) > 0
    starts = _starts(inner, name)
    root = np.repeat(starts, np.diff([*starts, every.size]))
    if is_ranger:
        _check_numbers(columns["nodeID"].whole(every, every.size), root, name)
    children = np.zeros((2, every.size), np.int64)
    for side, column in zip(children, (left, right)):
        side[inner] = column.whole(inner, every.size) - (not is_ranger) + root[inner]
    return children, inner, starts


def _starts(inner: np.ndarray, name: str) -> np.ndarray:
    """First row of every tree: a tree ends where all its branches have ended."""
    open_branches = np.cumsum(np.where(inner, 1, -1))
    lowest = np.minimum.accumulate(np.append(0, open_branches))
    ends = np.flatnonzero(np.diff(lowest)) + 1
    if not ends.size or ends[-1] != inner.size:
        found = f"the end of the table within tree {ends.size + 1}"
        refuse_damaged(name, found, "all nodes of each tree, tree after tree")
    if ends.size > MOST_TREES:
        refuse_damaged(name, f"{ends.size:,} trees", f"at most {MOST_TREES:,}")
    return np.append(0, ends[:-1])


def _check_numbers(node: np.ndarray, root: np.ndarray, name: str) -> None:
    wrong = node != np.arange(node.size) - root
    if wrong.any():
        row = int(wrong.argmax())
        where = f"{name}: column 'nodeID', row {row + 1}"
        refuse_damaged(where, str(node[row]), "nodes numbered from 0 in each tree")


# Predictions


def _predictions(
    columns: dict[str, _Column], inner: np.ndarray, name: str
) -> tuple[np.ndarray, dict[str, Any]]:
    """Value of each leaf; and task, classes and link."""
    classes = [key for key in columns if key.startswith(PROBABILITY)]
    if classes:
        value = np.zeros((inner.size, len(classes)))
        for k, key in enumerate(classes):
            value[~inner, k] = columns[key].numbers(~inner)
        return value, _classification([k.removeprefix(PROBABILITY) for k in classes])
    if "prediction" not in columns:
        raise UnsupportedModelError(
            f"{name}: a table of ranger without predictions, as of a survival forest, "
            "cannot be read. Grow a forest for classes, probabilities or means."
        )
    prediction, status = columns["prediction"], columns.get("status")
    votes = status is not None and (status.numbers(inner) == OF_CLASSIFIER).any()
    if votes or not prediction.is_numeric(~inner):
        labels = prediction.texts(~inner)
        voted = sorted(set(labels))
        if all(plain_integer(label) is not None for label in voted):
            voted = sorted(voted, key=int)
        value = np.zeros((inner.size, len(voted)))
        place = {label: k for k, label in enumerate(voted)}
        value[np.flatnonzero(~inner), [place[label] for label in labels]] = 1.0
        return value, _classification(voted)
    value = np.zeros((inner.size, 1))
    value[~inner, 0] = prediction.numbers(~inner)
    return value, {"task": "regression", "link": "identity"}


def _classification(labels: list[str]) -> dict[str, Any]:
    whole = [plain_integer(label) for label in labels]
    classes = labels if None in whole else whole
    return {
        "task": "classification",
        "classes": np.array(classes),
        "link": "probability",
    }


# Splits


def _features(
    split: _Column, inner: np.ndarray, levels: Levels | None
) -> tuple[FeatureSpace, np.ndarray]:
    """Predictors, and that of each row; -1 at leaves."""
    feature = np.full(inner.size, -1)
    names = [str(key) for key in levels or ()]
    if split.is_numeric(inner) and inner.any():
        # Without labelVar, predictors have numbers from 1.
        number = split.whole(inner, len(names) or MOST_PREDICTORS)
        feature[inner] = number - 1
        space = FeatureSpace.numeric(len(names) or int(number.max()), names or None)
    else:
        used = split.texts(inner)
        names = names or list(dict.fromkeys(used)) or ["x0"]
        place = {name: d for d, name in enumerate(names)}
        for name in used:
            if name not in place:
                raise InputError(
                    f"levels does not list the predictor {name!r}. List all "
                    "predictors, those that are numbers with None."
                )
        feature[inner] = [place[name] for name in used]
        space = FeatureSpace.numeric(len(names), names)
    labels = [_labels(name, found) for name, found in (levels or {}).items()]
    return replace(space, categories=tuple(labels) or space.categories), feature


def _labels(name: Any, found: Any) -> tuple[Any, ...] | None:
    """Levels of a factor; None for a number, for which R's ``xlevels`` has 0."""
    labels = [] if found is None else np.ravel(found).tolist()
    if labels in ([], [0]):
        return None
    if first_repeated(labels) is not None or len(labels) > MOST_LEVELS:
        raise InputError(
            f"levels[{name!r}] has {len(labels)} levels; expected at most "
            f"{MOST_LEVELS}, each once."
        )
    return tuple(labels)


def _points(
    point: _Column, feature: np.ndarray, features: FeatureSpace, is_ranger: bool
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Thresholds; and per row that splits on a factor, which levels go left."""
    n_levels = np.array([len(labels or ()) for labels in features.categories] + [0])
    by_level = n_levels[feature] > 0
    sets = {}
    for row, text in zip(np.flatnonzero(by_level).tolist(), point.texts(by_level)):
        n = int(n_levels[feature[row]])
        left = (_not_listed if is_ranger else _bits)(text, n)
        if left is None:
            where = f"{point.where}, row {row + 1}"
            refuse_damaged(where, shown(text), f"a set of the {n} levels")
        sets[row] = left
    numeric = (feature >= 0) & ~by_level
    if not point.is_numeric(numeric):
        raise UnsupportedModelError(
            f"{point.where}: found sets of levels, of factors whose levels the table "
            "does not list. Pass them: read_ensemble(table, levels={'ward': ['east', "
            "'west'], 'age': None})."
        )
    cut = np.zeros(feature.size)
    cut[numeric] = point.numbers(numeric)
    return cut, sets


def _not_listed(text: str, n: int) -> np.ndarray | None:
    """Levels that ranger does not list as going right; None if it lists others."""
    numbers = [plain_number(part) for part in text.split(",")]
    on_right = np.isin(np.arange(1, n + 1), [x for x in numbers if x is not None])
    return ~on_right if on_right.sum() == len(numbers) else None


def _bits(text: str, n: int) -> np.ndarray | None:
    """Levels whose bits are set in randomForest's number; None if it has others."""
    number = plain_number(text)
    if number is None or not 0 <= number < 2**n or number % 1:
        return None
    return np.array([int(number) >> k & 1 for k in range(n)], bool)
