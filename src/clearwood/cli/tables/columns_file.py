"""Descriptions of the columns of a table, from a file."""

from __future__ import annotations

import csv
import io
from typing import Any

from clearwood.codec.documents import parse_json
from clearwood.codec.files import read_bytes
from clearwood.exceptions import InputError

MOST_BYTES = 2**24


def read_columns_file(path: str) -> dict[str, Any]:
    """Read display name, unit and description per column, from CSV or JSON."""
    data = read_bytes(path, MOST_BYTES)
    if path.lower().endswith(".json"):
        # The content is validated where it is used.
        found: dict[str, Any] = parse_json(data, path)
        return found
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not valid UTF-8; save it as UTF-8.") from None
    rows = list(csv.DictReader(io.StringIO(text)))
    if not rows or "column" not in rows[0]:
        raise InputError(
            f"{path} must be a CSV with a column 'column', and some of 'name', 'unit' "
            "and 'description', with one row per column of the data; or a .json file."
        )
    return {
        row["column"]: {key: row[key] for key in row if key != "column" and row[key]}
        for row in rows
    }
