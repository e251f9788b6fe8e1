"""Archives of results: a zip of one JSON document and plain arrays.

Such a file contains no code. Arrays are stored uncompressed, so that reading takes no
more memory than the size of the file. Callers validate the values.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from clearwood.codec.documents import Place, parse_json
from clearwood.codec.files import check_version, file_date, read_bytes, write_bytes
from clearwood.exceptions import ModelFormatError

FORMAT = "clearwood.archive"
OLDER = "clearwood.meta_tree"
"""Format name from when meta-trees were the only archives."""

VERSION = 1

MOST_MEMBERS = 100

TYPES = {"i": np.int64, "b": np.bool_, "f": np.float64}
"""Dtypes of arrays: integers, booleans and floats."""


class Arrays:
    """Arrays of an archive, by name.

    Parameters
    ----------
    parts : dict of str to bytes
        Members of the archive.

    Attributes
    ----------
    sizes : dict of str to int
        Named lengths of dimensions, given or from the first array with them.
    """

    def __init__(self, parts: dict[str, bytes]) -> None:
        self._parts = parts
        self.sizes: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._parts

    def __call__(self, name: str, kind: str, *shape: int | str) -> np.ndarray:
        """Read an array of a kind (a key of ``TYPES``) and a shape; it may hold NaN.

        In the shape, -1 and ``*`` stand for any length, and any other name for the same
        length wherever it occurs.
        """
        if name not in self:
            raise ModelFormatError(f"{name}: missing.")
        values = _read_array(self._parts[f"{name}.npy"], name)
        sizes = dict(self.sizes)
        fits = len(values.shape) == len(shape) and all(
            own in (-1, "*", size)
            or (isinstance(own, str) and sizes.setdefault(own, size) == size)
            for own, size in zip(shape, values.shape)
        )
        if values.dtype != TYPES[kind] or not fits:
            wanted = ", ".join(str(self.sizes.get(str(own), own)) for own in shape)
            raise ModelFormatError(
                f"{name}: found {values.dtype} of the shape {values.shape}, expected "
                f"{np.dtype(TYPES[kind])} of the shape ({wanted})."
            )
        self.sizes = sizes
        return np.ascontiguousarray(values)


def write_archive(
    path: str | Path,
    document: dict[str, Any],
    arrays: dict[str, np.ndarray],
    **how: Any,
) -> None:
    """Write a document and arrays; on a day equal content gives equal bytes."""
    from clearwood import __version__

    head = {"format": FORMAT, "version": VERSION, "clearwood": __version__}
    head |= {"date": file_date()}
    text = json.dumps({**head, **document}, ensure_ascii=False, allow_nan=False)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as file:
        file.writestr(zipfile.ZipInfo("model.json"), text)
        for name, array in arrays.items():
            member = io.BytesIO()
            dtype: Any = TYPES[array.dtype.kind]
            values = np.ascontiguousarray(array, dtype)
            np.lib.format.write_array(member, values, allow_pickle=False)
            file.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getvalue())
    write_bytes(path, content.getvalue(), **how)


def read_archive(path: str | Path) -> tuple[Place, Arrays]:
    """Read the document and the arrays of a file."""
    content = read_bytes(path)
    try:
        file = zipfile.ZipFile(io.BytesIO(content))
        members = {info.filename: info for info in file.infolist()}
        small = all(i.compress_type == zipfile.ZIP_STORED for i in members.values())
        if not small or len(members) > MOST_MEMBERS:
            raise ModelFormatError("expected few members, none compressed.")
        # Overlapping members would take more memory than the size of the file.
        if sum(info.file_size for info in members.values()) > len(content):
            raise ModelFormatError("members overlap.")
        parts = {name: _member(file, members[name]) for name in members}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError,
            EOFError) as error:  # fmt: skip
        if isinstance(error, ModelFormatError):
            raise
        raise ModelFormatError(
            f"Not an archive as save writes them: {error}."
        ) from None
    document = parse_json(parts.pop("model.json", b""), "model.json")
    top = Place(document, "model.json")
    if top["format"].text() not in (FORMAT, OLDER):
        raise ModelFormatError(
            f"format: expected {FORMAT!r}; read the file with the version of Clearwood "
            "that wrote it."
        )
    check_version(top["version"].integer(), VERSION, "model.json")
    return top, Arrays(parts)


def _member(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.file_size != info.compress_size:
        raise ModelFormatError(f"{info.filename}: damaged.")
    return file.read(info)


def _read_array(part: bytes, name: str) -> np.ndarray:
    stream = io.BytesIO(part)
    try:
        values = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception as error:  # a header is a Python literal: anything may be wrong
        raise ModelFormatError(f"{name}: not an array ({error}).") from None
    if stream.tell() != len(part):
        raise ModelFormatError(f"{name}: unexpected data after the array.")
    return values
