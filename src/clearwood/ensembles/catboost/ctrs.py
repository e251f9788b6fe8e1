"""Target statistics by which CatBoost replaces categories (CTRs).

A statistic of one column is a number per category, from a table in the model, so a
border on it splits the categories into two sets. A statistic of several columns
together does not split any one of them, and is not supported.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood.codec.documents import Place, refuse_repeated, shown
from clearwood.ensembles.nodes import MOST_CLASSES

MULTIPLIER = 0x4906BA494954CB65
"""Factor by which CatBoost multiplies the hashes of categories, twice."""
INVERSE = pow(MULTIPLIER, -2, 2**64)
EMPTY = 2**64 - 1
"""Marks a free place of a table."""
MOST_CATEGORIES = 2**19
"""Most categories of one table, far above those of real models."""
COUNTS = ("Borders", "Buckets")
FREQUENCIES = ("Counter", "FeatureFreq")
MEANS = ("BinarizedTargetMeanValue", "FloatTargetMeanValue")


class Statistic(NamedTuple):
    """Target statistic per category of one column, in float32 as in CatBoost.

    Parameters
    ----------
    feature : int
        Number of the column among the categorical ones.
    hashes : ndarray of int64
        Categories in the table, as signed 32-bit numbers.
    values : ndarray of float32
        Their statistics.
    otherwise : float
        The statistic of all other categories.
    target : int
        Index of the target's border, which splits repeat.
    """

    feature: int
    hashes: np.ndarray
    values: np.ndarray
    otherwise: np.float32
    target: int

    def of(self, hashes: np.ndarray) -> np.ndarray:
        """Statistics of some categories."""
        order = np.argsort(self.hashes)
        at = np.searchsorted(self.hashes, hashes, sorter=order)
        place = np.append(order, -1)[at]
        known = np.append(self.hashes, 0)[place] == hashes
        found = np.append(self.values, self.otherwise)[place]
        return np.where(known & (place >= 0), found, self.otherwise)


def columns_of(ctr: Place) -> tuple[list[int], bool]:
    """Categorical columns of a statistic, and whether it uses one of them alone."""
    elements = ctr["elements"].items()
    columns = [
        element["cat_feature_index"].integer(0)
        for element in elements
        if "cat_feature_index" in element
    ]
    kinds = [element["combination_element"].text() for element in elements]
    return columns, kinds == ["cat_feature_value"] and len(columns) == 1


def refuse_shared_tables(params: Place, ctrs: list[Place]) -> None:
    """Refuse statistics of one kind, of one column, over different target classes.

    CatBoost's JSON has a table per kind and column, so that all but one are lost.

    Parameters
    ----------
    params : Place
        Training parameters in the file.
    ctrs : list of Place
        Statistics that the model uses.
    """
    chosen = params.get("cat_feature_params")
    if chosen is None:
        return
    by_column = chosen.get("per_feature_ctrs")
    lists = [chosen[key] for key in ("simple_ctrs",) if key in chosen]
    lists += [] if by_column is None else [by_column[key] for key in by_column.keys()]
    for listed in lists:
        classes: dict[str, Any] = {}
        for one in listed.entries():
            kind = one["ctr_type"].text()
            how = one.get("target_binarization")
            if how is None or classes.setdefault(kind, how.value) == how.value:
                continue
            if any(ctr["ctr_type"].value == kind for ctr in ctrs):
                listed.refuse(
                    f"statistics of the kind {shown(kind)} with different "
                    "TargetBorderCount, as CatBoost's JSON keeps the table of one",
                    "Fit it with one TargetBorderCount for each kind",
                )


def read_statistic(ctr: Place, tables: Place) -> Statistic:
    """Read a statistic of one column.

    Parameters
    ----------
    ctr : Place
        Its entry in ``features_info``.
    tables : Place
        ``ctr_data`` of the file.

    Returns
    -------
    Statistic
    """
    kind, target = ctr["ctr_type"].text(), ctr["target_border_idx"].integer(0)
    name = ctr["identifier"].text()
    base = {"identifier": ctr["elements"].value, "type": kind}
    if ctr["identifier"].parsed().value != base:
        ctr["identifier"].fail(shown(name), "the elements and type of the same entry")
    table = tables[name]
    hashes, counts = _table(table)
    good, total, rest = _shares(ctr, kind, target, counts, table)
    prior, prior_total, shift, scale = (
        np.float32(ctr[key].number())
        for key in ("prior_numerator", "prior_denomerator", "shift", "scale")
    )
    # One operation after the other in float32, as CatBoost does them.
    with np.errstate(all="ignore"):
        share = np.append(good, 0.0).astype(np.float32) + prior
        share /= np.append(total, rest).astype(np.float32) + prior_total
        values = (share + shift) * scale
    (column,), _ = columns_of(ctr)
    return Statistic(column, hashes, values[:-1], values[-1], target)


def _shares(
    ctr: Place, kind: str, target: int, counts: np.ndarray, table: Place
) -> tuple[np.ndarray, np.ndarray, float]:
    """Counts and totals per category, and the total of unknown categories."""
    n = counts.shape[1]
    if kind in FREQUENCIES and n == 1:
        denominator = float(table["counter_denominator"].integer(0, 2**31 - 1))
        return counts[:, 0], np.full(len(counts), denominator), denominator
    if kind in MEANS and n == 2:
        return counts[:, 0], counts[:, 1], 0.0
    if kind not in COUNTS + FREQUENCIES + MEANS:
        known = ", ".join(COUNTS + FREQUENCIES + MEANS)
        ctr["ctr_type"].fail(shown(kind), f"one of {known}")
    if kind not in COUNTS or n < 2 or target >= n:
        table["hash_stride"].fail(f"{n} numbers per category", f"other with {kind}")
    first = target if kind == "Buckets" else target + 1
    last = first + 1 if kind == "Buckets" else n
    return counts[:, first:last].sum(axis=1), counts.sum(axis=1), 0.0


def _table(table: Place) -> tuple[np.ndarray, np.ndarray]:
    """Categories of a table, and the numbers of each."""
    stride = table["hash_stride"].integer(2, MOST_CLASSES + 1)
    entries = table["hash_map"]
    size, most = entries.size(), MOST_CATEGORIES * stride
    if size % stride or size > most:
        entries.fail(f"{size:,} entries", f"{stride} per category, {most:,} at most")
    names = entries.value[::stride]
    parts = [
        Place(entries.value[k::stride], f"{entries.where}, part {k}").numbers()
        for k in range(1, stride)
    ]
    taken = [i for i, name in enumerate(names) if name != str(EMPTY)]
    hashes = [_hash(Place(names[i], f"{entries.where}[{i * stride}]")) for i in taken]
    refuse_repeated(hashes, entries, "the category")
    return np.array(hashes, dtype=np.int64), np.transpose(parts)[taken]


def _hash(name: Place) -> int:
    """Hash of a category from its name in a table, which is a multiple of it."""
    text = name.text()
    if len(text) <= 20 and text.isascii() and text.isdigit():
        number = (int(text) * INVERSE + 2**63) % 2**64 - 2**63
        if -(2**31) <= number < 2**31:
            return number
    name.fail(shown(name.value), "what stands for a category")
