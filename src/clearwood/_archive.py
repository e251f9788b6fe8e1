"""Estimators of meta-trees in files: a zip of one JSON text and plain arrays.

Nothing in such a file is code. Arrays are stored as they are, so that reading takes
no more memory than the file is large, and all that is read is checked again.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._documents import Place, parse_json, shown
from clearwood._features import FeatureSpace
from clearwood._files import write_bytes
from clearwood.conjugate import models as leaf_models
from clearwood.conjugate.linear import LinearRegressionNormalGamma
from clearwood.conjugate.models import LeafModel
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.metatree.posterior.coder import BinCoder, ValueCoder
from clearwood.metatree.posterior.structure import Structure, check_children
from clearwood.rules.bins import FeatureBins
from clearwood.rules.serialise import feature_to_dict, plain

FORMAT = "clearwood.meta_tree"
VERSION = 1
MOST_TEXT = 64 * 2**20
MOST_MEAN = 1e140
TYPES = {"i": np.int64, "b": np.bool_, "f": np.float64}
NODES = ("first_child", "n_children", "feature", "cut_code", "missing_child")
LEAVES: dict[str, Any] = {
    "BernoulliBeta": leaf_models.BernoulliBeta,
    "CategoricalDirichlet": leaf_models.CategoricalDirichlet,
    "PoissonGamma": leaf_models.PoissonGamma,
    "ExponentialGamma": leaf_models.ExponentialGamma,
    "NormalNormalGamma": leaf_models.NormalNormalGamma,
    "LinearRegressionNormalGamma": LinearRegressionNormalGamma,
}
TREES_OF = ("feature", "cut", "left", "right", "missing_left", "unseen_left",
            "category_set", "category_offsets", "categories_left", "roots")  # fmt: skip


# Writing


def write_archive(
    path: str | Path,
    document: dict[str, Any],
    arrays: dict[str, np.ndarray],
    **how: Any,
) -> None:
    """Write a document and arrays as one file."""
    from clearwood import __version__

    head = {"format": FORMAT, "version": VERSION, "clearwood": __version__}
    text = json.dumps({**head, **document}, ensure_ascii=False, allow_nan=False)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as file:
        file.writestr("model.json", text)
        for name, array in arrays.items():
            member = io.BytesIO()
            dtype: Any = TYPES[array.dtype.kind]
            values = np.ascontiguousarray(array, dtype)
            np.lib.format.write_array(member, values, allow_pickle=False)
            file.writestr(f"{name}.npy", member.getvalue())
    write_bytes(path, content.getvalue(), **how)


def features_to_dict(features: FeatureSpace) -> dict[str, Any]:
    """Names and categories, for the document."""
    return {
        "named": features.named,
        "float32": features.float32,
        "features": [feature_to_dict(features, d) for d in range(features.n_features)],
    }


def leaf_to_dict(leaf: LeafModel) -> dict[str, Any]:
    """A leaf model, for the document."""
    if LEAVES.get(type(leaf).__name__) is not type(leaf):
        raise InputError(f"Cannot save leaves of your own kind, {leaf!r}.")
    return {"kind": type(leaf).__name__, **asdict(leaf)}  # type: ignore[call-overload]


def labels_to_list(classes: np.ndarray | None) -> list[Any] | None:
    """Class labels, for the document."""
    return None if classes is None else [plain(label) for label in classes.tolist()]


def structure_to_arrays(structure: Structure) -> dict[str, np.ndarray]:
    """The arrays of a structure, those of its coder included."""
    arrays = {name: getattr(structure, name) for name in NODES}
    arrays |= {"table_start": structure.table_start, "goes_to": structure.goes_to}
    arrays["original"] = structure.original
    coder = structure.coder
    if isinstance(coder, ValueCoder):
        return {**arrays, "n_values": coder.n_values}
    groups = [g for g in coder.bins.groups if g is not None]
    return {
        **arrays,
        "n_cuts": np.array([len(c) for c in coder.bins.cuts], dtype=np.int64),
        "cuts": np.concatenate([np.zeros(0), *coder.bins.cuts]),
        "groups": np.concatenate([np.zeros(0, dtype=np.int64), *groups]),
    }


# Reading


def read_archive(path: str | Path) -> tuple[Place, Callable[..., np.ndarray]]:
    """The document of a file, and a function from names to arrays.

    The function takes the kind of the array (one of ``TYPES``) and its shape, where
    -1 stands for any length.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    try:
        file = zipfile.ZipFile(io.BytesIO(content))
        members = {info.filename: info for info in file.infolist()}
        small = all(i.compress_type == zipfile.ZIP_STORED for i in members.values())
        if not small or len(members) > 100:
            raise ModelFormatError("expected few members, none compressed.")
        # Members that share bytes would take more memory than the file is large.
        if sum(info.file_size for info in members.values()) > len(content):
            raise ModelFormatError("members overlap.")
        parts = {name: _member(file, members[name]) for name in members}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError,
            EOFError) as error:  # fmt: skip
        if isinstance(error, ModelFormatError):
            raise
        raise ModelFormatError(
            f"Not a file of a meta-tree, as save writes them: {error}."
        ) from None
    if len(parts.get("model.json", b"")) > MOST_TEXT:
        raise ModelFormatError("model.json is too large.")
    document = parse_json(parts.pop("model.json", b""), "model.json")
    top = Place(document, "model.json")
    if top["format"].text() != FORMAT or top["version"].integer() != VERSION:
        raise ModelFormatError(
            f"format: expected {FORMAT!r}, version {VERSION}; read the file with the "
            "version of Clearwood that wrote it."
        )

    def array(name: str, kind: str, *shape: int) -> np.ndarray:
        return _read_array(parts.get(f"{name}.npy"), name, kind, shape)

    return top, array


def _member(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.file_size != info.compress_size:
        raise ModelFormatError(f"{info.filename}: damaged.")
    return file.read(info)


def _read_array(
    part: bytes | None, name: str, kind: str, shape: tuple[int, ...]
) -> np.ndarray:
    if part is None:
        raise ModelFormatError(f"{name}: missing.")
    stream = io.BytesIO(part)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError("another version of arrays")
        found, by_column, dtype = np.lib.format.read_array_header_1_0(stream)
    except Exception as error:  # a header is a Python literal: anything may be wrong
        raise ModelFormatError(f"{name}: not an array ({error}).") from None
    rest = part[stream.tell() :]
    fits = len(found) == len(shape) and all(
        want in (-1, size) for want, size in zip(shape, found)
    )
    if by_column or dtype != TYPES[kind] or not fits:
        raise ModelFormatError(
            f"{name}: found {dtype} of the shape {found}, expected "
            f"{np.dtype(TYPES[kind])} of the shape {shape}."
        )
    if math.prod(found) * dtype.itemsize != len(rest):
        raise ModelFormatError(f"{name}: {len(rest)} bytes do not fill {found}.")
    values = np.frombuffer(rest, dtype).reshape(found).copy()
    if kind == "f" and np.isnan(values).any() and name != "cut":
        raise ModelFormatError(f"{name}: holds NaN.")
    return values


def read_leaf(place: Place) -> LeafModel:
    """A leaf model of the document."""
    kind = place["kind"].text()
    if kind not in LEAVES:
        place["kind"].fail(shown(kind), f"one of {list(LEAVES)}")
    names = {key: _tuples(place[key].value) for key in place.keys() if key != "kind"}
    try:
        return LEAVES[kind](**names)
    except (InputError, TypeError, ValueError, OverflowError) as error:
        raise ModelFormatError(f"{place.where}: {error}") from None


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def read_structure(features: FeatureSpace, array: Callable[..., Any]) -> Structure:
    """A structure, all checked."""
    nodes = {name: _small(array(name, "i", -1), name) for name in NODES}
    n, n_features = len(nodes["feature"]), features.n_features
    if any(len(values) != n for values in nodes.values()):
        raise ModelFormatError("nodes: arrays of different lengths.")
    start, goes_to = array("table_start", "i", n), array("goes_to", "i", -1)
    try:
        nodes["parent"] = check_children(nodes["first_child"], nodes["n_children"])
    except InputError as error:
        raise ModelFormatError(f"nodes: {error}") from None
    leaf = nodes["n_children"] == 0
    feature = nodes["feature"]
    in_range = np.where(leaf, feature == -1, (feature >= 0) & (feature < n_features))
    if not (in_range & (leaf == (nodes["first_child"] == -1))).all():
        raise ModelFormatError("nodes: features or children out of range.")
    structure = Structure(
        **nodes, table_start=start, goes_to=_small(goes_to, "goes_to"),
        coder=_read_coder(features, array),
        original=_small(array("original", "i", n), "original"),
    )  # fmt: skip
    _check_answers(structure)
    return structure


def _small(values: np.ndarray, name: str) -> np.ndarray:
    small = values.astype(np.int32)
    if not np.array_equal(small, values):
        raise ModelFormatError(f"{name}: numbers are too large.")
    return small


def _check_answers(s: Structure) -> None:
    """Every answer leads to a child or nowhere; tables are whole and stand apart."""
    inner = np.flatnonzero(~s.is_leaf)
    start, width = s.table_start[inner], s.coder.n_codes[s.feature[inner]]
    n_children = s.n_children[inner]
    numbers = np.array([c is None for c in s.coder.features.categories], dtype=bool)
    may_cut = numbers[s.feature[inner]] & isinstance(s.coder, BinCoder)
    by_cut = start == -1
    missing = s.missing_child[inner]
    good = np.where(
        by_cut,
        may_cut & (n_children >= 2) & (missing >= -1) & (missing < n_children),
        (start >= 0) & (width <= len(s.goes_to)) & (start <= len(s.goes_to) - width),
    )
    if not good.all():
        node = int(inner[int(np.argmin(good))])
        raise ModelFormatError(f"table_start of node {node}: answers out of range.")
    # Nodes may share a table; the children of the narrowest of them bound it.
    tables: dict[tuple[int, int], int] = {}
    for first, size, n in zip(start[~by_cut], width[~by_cut], n_children[~by_cut]):
        key = int(first), int(size)
        tables[key] = min(int(n), tables.get(key, int(n)))
    if sum(size for _, size in tables) > len(s.goes_to):
        raise ModelFormatError("table_start: tables overlap.")
    for (first, size), n in tables.items():
        child = s.goes_to[first : first + size]
        if (child < -1).any() or (child >= n).any():
            raise ModelFormatError(f"goes_to: the table at {first} leads to no child.")


def _read_coder(features: FeatureSpace, array: Callable[..., Any]) -> Any:
    n = features.n_features
    sizes = [None if c is None else len(c) for c in features.categories]
    try:
        values = array("n_values", "i", n)
    except ModelFormatError as error:
        if "missing" not in str(error):
            raise
    else:
        wrong = [
            not 1 <= int(v) < 2**31 or (size is not None and size > v)
            for v, size in zip(values, sizes)
        ]
        if any(wrong):
            raise ModelFormatError(f"n_values of feature {wrong.index(True)}: wrong.")
        return ValueCoder(features, values)
    n_cuts = array("n_cuts", "i", n)
    cuts, groups = array("cuts", "f", -1), array("groups", "i", -1)
    n_labels = [size or 0 for size in sizes]
    in_range = (n_cuts >= 0) & (n_cuts <= len(cuts))
    if not in_range.all() or int(n_cuts.sum()) != len(cuts):
        raise ModelFormatError("n_cuts: does not fit cuts.")
    if sum(n_labels) != len(groups):
        raise ModelFormatError("groups: one number per category is needed.")
    by_feature = np.split(cuts, np.cumsum(n_cuts)[:-1])
    group_of = np.split(groups, np.cumsum(n_labels)[:-1])
    for d, (mine, group) in enumerate(zip(by_feature, group_of)):
        numeric = sizes[d] is None
        if (mine[1:] <= mine[:-1]).any() or (not numeric and len(mine)):
            raise ModelFormatError(f"cuts of feature {d}: expected rising numbers.")
        known = np.unique(group)
        if not np.array_equal(known, np.arange(len(known))):
            raise ModelFormatError(f"groups of feature {d}: expected 0, 1, ...")
    empty = FeatureBins.from_splits(features, feature=[], cut=[])
    kept = tuple(
        None if size is None else group for size, group in zip(sizes, group_of)
    )
    return BinCoder(FeatureBins(features, tuple(by_feature), kept, empty.statements))


def read_statistics(model: LeafModel, own: np.ndarray) -> np.ndarray:
    """Statistics that some rows could have."""
    finite = np.isfinite(own).all()
    sums = own if model.n_columns is None else own[:, :1]
    if not finite or (sums < 0).any():
        raise ModelFormatError("own: expected finite statistics, no weight below 0.")
    if model.n_columns is not None:
        d, place = model.n_columns, model.n_columns
        if (np.abs(own[:, 1 : 1 + d]) > MOST_MEAN).any() or (own > MOST_MEAN**2).any():
            raise ModelFormatError("own: numbers whose squares are too large.")
        for j in range(d):
            place += j + 1
            if (own[:, place] < 0).any():
                raise ModelFormatError("own: a sum of squares is below 0.")
    return own
