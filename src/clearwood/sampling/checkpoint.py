"""Checkpoint files, from which chains continue bit for bit."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from clearwood._memory import check_memory, memory_of
from clearwood.codec.files import read_bytes, write_bytes
from clearwood.exceptions import ModelFormatError

SCHEMA = "clearwood.chains/2"
OLDER = b'{"schema": "clearwood.chains/1",'
"""Start of files of the older format, which has no checksum."""

WHOLE = re.compile(
    rb'\{"schema": "%s", "sha256": "([0-9a-f]{64})",\n"content": (.*)\}\n'
    % re.escape(SCHEMA.encode()),
    re.DOTALL,
)
"""A complete file: JSON in a fixed layout, as the checksum covers its bytes."""


def write_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Write JSON values and arrays; readers see either the old or the new file."""
    text = json.dumps(content, default=_pack)
    digest = hashlib.sha256(text.encode()).hexdigest()
    head = f'{{"schema": "{SCHEMA}", "sha256": "{digest}",\n"content": '
    write_bytes(path, f"{head}{text}}}\n".encode(), overwrite=True)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read a file written by :func:`write_checkpoint`.

    Raises
    ------
    ModelFormatError
        The file is no checkpoint, or any of its bytes has changed: chains continued
        from damaged draws would show no sign of it.
    """
    data = read_bytes(path)
    parts = WHOLE.fullmatch(data)
    if data.startswith(OLDER):
        _refuse(path, "is of an older version, without a checksum")
    if parts is None:
        _refuse(path, f"is not a complete checkpoint of schema {SCHEMA!r}")
    digest, body = parts.groups()
    if hashlib.sha256(body).hexdigest() != digest.decode():
        _refuse(path, "is damaged: its content does not match its checksum")
    try:
        text = body.decode()
        check_memory(memory_of(body, text), len(data), str(path))
        content = json.loads(text, object_hook=_unpack)
    except ModelFormatError:
        raise
    except (ValueError, RecursionError) as error:
        _refuse(path, f"holds no chains ({error})")
    if not isinstance(content, dict):
        _refuse(path, "holds no chains")
    return content


def _refuse(path: Path, why: str) -> NoReturn:
    raise ModelFormatError(
        f"The checkpoint {str(path)!r} {why}; delete it to start again, or choose "
        "another path."
    )


def _pack(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"cannot store {type(value).__name__} in a checkpoint")
    data = base64.b64encode(array.tobytes()).decode("ascii")
    return {"dtype": array.dtype.str, "shape": list(array.shape), "data": data}


def _unpack(value: dict[str, Any]) -> Any:
    """Decode a dict that holds an array; sizes are checked before it is created."""
    if value.keys() != {"dtype", "shape", "data"}:
        return value
    try:
        # numpy accepts far more than names of types, and fails in many ways.
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
    # Without the second condition, empty arrays could declare any number of rows.
    if size != len(data) or max(shape, default=0) > len(data):
        raise ValueError(f"an array should have {size} bytes, found {len(data)}")
    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()
