"""Reader of scikit-learn's models in skops files, which are zip archives."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from clearwood._memory import check_memory, memory_of
from clearwood.codec.documents import parse_json
from clearwood.exceptions import ModelFormatError, UnsupportedModelError

TRUSTED = {
    "numpy.dtype",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
}
"""Types that skops leaves to its users to trust: arrays of nodes, and column types.

Invalid nodes could crash scikit-learn's own predictions. Clearwood predicts from the
arrays after the validation of every ensemble. The type of a column (which an imputer
stores) is that of an empty array.
"""

SCHEMA = "schema.json"


def load_skops(data: bytes, name: str) -> Any:
    """Load a scikit-learn model, if nothing in its file could run code."""
    try:
        import skops.io
    except ImportError:
        raise UnsupportedModelError(
            f"{name}: this is a zip archive. If it was written by skops.io, install "
            'skops to read it (pip install "clearwood[skops]"); else unpack it first.'
        ) from None
    try:
        _check_size(data, name)
        untrusted = set(skops.io.get_untrusted_types(data=data)) - TRUSTED
        if not untrusted:
            return skops.io.loads(data, trusted=sorted(TRUSTED))
    except ModelFormatError:
        raise
    # Whatever skops raises on a broken file.
    except Exception as error:
        raise ModelFormatError(
            f"{name}: no sound skops file, {type(error).__name__}: {error}. Save the "
            "model again with skops.io.dump."
        ) from None
    raise UnsupportedModelError(
        f"{name}: holds objects of types that skops does not trust, "
        f"{sorted(untrusted)[:5]}, and which could run any code. Save the model of "
        "scikit-learn alone, or load it where it comes from and hand it over."
    )


def _check_size(data: bytes, name: str) -> None:
    """Refuse a file that unpacks to far more than its size, before unpacking it.

    No more of a member is unpacked than the size that it declares.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        sizes = {info.filename: info.file_size for info in file.infolist()}
        check_memory(sum(info.file_size for info in file.infolist()), len(data), name)
        text = file.read(SCHEMA)
        values = memory_of(text, text.decode("utf-8-sig"))
        check_memory(values, len(data), name)
        # An array is loaded anew at every reference.
        named = _named(parse_json(text, f"{name}: {SCHEMA}"))
        unpacked = values + sum(sizes[member] for member in named)
        check_memory(unpacked, len(data), name)
        for member in set(named):
            with file.open(member) as content:
                if content.read(2) == b"PK":
                    raise UnsupportedModelError(
                        f"{name}: {member} is an archive inside the archive (a sparse "
                        "matrix?), which no model of trees holds."
                    )


def _named(value: Any) -> list[str]:
    """Members that a schema refers to, with repetitions."""
    named, left = [], [value]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            if isinstance(value.get("file"), str):
                named.append(value["file"])
            left += value.values()
        elif isinstance(value, list):
            left += value
    return named
