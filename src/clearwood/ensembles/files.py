"""Which library wrote a file? Found out from its content, never from its name."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from clearwood._documents import Place, parse_json, read_bytes
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ModelFormatError

# How files begin that people have and that are not read, and what to do instead.
# Never a pickle: opening one runs whatever code its author put there.
REFUSED = {
    b"\x80": (
        "a pickle, which could run any code",
        "Load it where it comes from and hand over the model itself, or have it "
        "saved in the library's own format",
    ),
    b"CBM1": (
        "CatBoost's binary format",
        'Save the model with save_model(path, format="json")',
    ),
    b"binf": ("XGBoost's old binary format", 'Save the model as "model.json"'),
    b"bs64": ("XGBoost's old binary format", 'Save the model as "model.json"'),
    b"\x1f\x8b": ("a gzip archive", "Unpack it first"),
    b"PK": ("a zip archive", "Unpack it first"),
    b"\x08": ("probably ONNX", "Save the model in its library's own format"),
    b"<": (
        "XML (PMML?) or a web page",
        "Save the model in its library's own format",
    ),
}
KNOWN = (
    "XGBoost's JSON (.json) or UBJSON (.ubj), LightGBM's text (.txt) and CatBoost's "
    "JSON (.json)"
)


def read_file(path: str | Path) -> TreeEnsemble:
    """Read a model file of XGBoost, LightGBM or CatBoost.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    InputError
        The file cannot be opened.
    ModelFormatError
        It is damaged or of a kind that cannot be read.
    """
    return read_document(read_bytes(path), str(path))


def read_document(data: bytes, name: str) -> TreeEnsemble:
    """Read the content of a model file.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name, for messages.

    Returns
    -------
    TreeEnsemble
    """
    start = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        raise ModelFormatError(f"{name}: the file is empty; save the model again.")
    if start.startswith(b"tree"):
        return _reader("lightgbm").read_text(data, name)
    if start.startswith(b"{"):
        if _looks_like_json(start):
            return _read_json(data, name)
        return _reader("xgboost").read_ubjson(data, name)
    for beginning, (found, remedy) in REFUSED.items():
        if data.startswith(beginning):
            raise ModelFormatError(f"{name}: this is {found}. {remedy}.")
    raise ModelFormatError(
        f"{name}: found {data[:12]!r} at the start, expected a model file: {KNOWN}."
    )


def _reader(library: str) -> Any:
    return import_module(f"clearwood.ensembles.{library}.model")


def _looks_like_json(start: bytes) -> bool:
    """In JSON a quote follows the brace, in UBJSON the type of a length."""
    return start[1:].lstrip()[:1] in (b'"', b"}", b"")


def _read_json(data: bytes, name: str) -> TreeEnsemble:
    top = Place(parse_json(data, name), name)
    keys = top.keys()
    if "learner" in keys:
        return _reader("xgboost").read_document(top)
    if "oblivious_trees" in keys or "trees" in keys:
        return _reader("catboost").read_document(top)
    if "tree_info" in keys:
        raise ModelFormatError(
            f"{name}: this is LightGBM's JSON dump, which is made for display. Save "
            "the model with booster_.save_model(path)."
        )
    listed = json.dumps(keys[:5])
    raise ModelFormatError(
        f"{name}: found JSON with the keys {listed}, expected a model file: {KNOWN}."
    )
