"""Chains in a file from which they go on to the same bits."""

from __future__ import annotations

import base64
import binascii
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._files import write_text
from clearwood.exceptions import InputError, ModelFormatError

SCHEMA = "clearwood.chains/1"


def write_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Write JSON values and arrays; a reader sees the old file or this one."""
    text = json.dumps({"schema": SCHEMA, **content}, default=_pack)
    write_text(path, text, overwrite=True)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read what :func:`write_checkpoint` wrote.

    Raises
    ------
    ModelFormatError
        The file is no checkpoint, or damaged.
    """
    try:
        content = json.loads(path.read_bytes(), object_hook=_unpack)
    except OSError as error:
        raise InputError(f"Cannot read {str(path)!r}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(
            f"{str(path)!r} is no checkpoint of chains ({error}); delete it to start "
            "again, or choose another path."
        ) from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise ModelFormatError(
            f"{str(path)!r} is no checkpoint of the kind {SCHEMA!r}; delete it to "
            "start again, or choose another path."
        )
    return content


def _pack(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"cannot keep {type(value).__name__} in a checkpoint")
    data = base64.b64encode(array.tobytes()).decode("ascii")
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def _unpack(value: dict[str, Any]) -> Any:
    """An array where the dict holds one; sizes must agree before it is made."""
    if value.keys() != {"dtype", "shape", "data"}:
        return value
    try:
        # numpy reads far more than names of types, and fails in many ways.
        if not re.fullmatch("[<>|][biuf][0-9]{1,2}", value["dtype"]):
            raise ValueError(f"dtype {value['dtype']!r}")
        dtype = np.dtype(value["dtype"])
        data = base64.b64decode(value["data"], validate=True)
        shape = tuple(value["shape"])
    except (TypeError, ValueError, binascii.Error) as error:
        raise ValueError(f"an array cannot be read: {error}") from None
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"an array is of the shape {shape}")
    size = dtype.itemsize
    for n in shape:
        size *= n
    # Without the second, empty arrays could claim any number of rows.
    if size != len(data) or max(shape, default=0) > len(data):
        raise ValueError(f"an array should have {size} bytes, found {len(data)}")
    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()
