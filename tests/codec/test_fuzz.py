"""Damaged files of everything that can be saved: refused, or harmless."""

import copy
import io
import json
import random
import zipfile

import numpy as np
import pytest
from tests.codec.saved import CASES, FILES, answers

import clearwood as cw
from clearwood.exceptions import ClearwoodError, ModelFormatError

N_MUTANTS = 24

VALUES = (
    None, 7, -1, 0, 0.5, "x", "", "a\nb", "\ud800", [], {}, [1, 2, 3], [None],
    ["a", "a"], {"a": 1}, 1e308, float("nan"), 2**70, True, False,
)  # fmt: skip
NUMBERS = {
    "i": (-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 2**31, 2**63 - 1),
    "f": (np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 1.0, 1e308, -1e308, 5e-324),
    "b": (True, False),
}


def ways(node, way=()):
    """Ways to all parts of a document."""
    if way:
        yield way
    keys = range(len(node)) if isinstance(node, list) else node
    for key in keys if isinstance(node, dict | list) else ():
        yield from ways(node[key], (*way, key))


def changed_document(document, rng):
    document = copy.deepcopy(document)
    *way, last = rng.choice(list(ways(document)))
    place = document
    for key in way:
        place = place[key]
    what = rng.random()
    if what < 0.2:
        del place[last]
    elif what < 0.3 and isinstance(place, list):
        place.append(copy.deepcopy(place[last]))
    elif what < 0.35 and isinstance(place, dict):
        place["other"] = 1
    else:
        place[last] = rng.choice(VALUES)
    return document


def changed_arrays(arrays, rng):
    name = rng.choice(sorted(arrays))
    values, what = arrays[name].copy(), rng.random()
    if what < 0.1:
        return {key: own for key, own in arrays.items() if key != name}
    if what < 0.2:
        values = values[:-1]
    elif what < 0.3:
        values = np.concatenate([values, values[:1]])
    elif what < 0.4:
        values = values[None] if what < 0.35 else values.astype("f4")
    elif values.size:
        values.flat[rng.randrange(values.size)] = rng.choice(NUMBERS[values.dtype.kind])
    return {**arrays, name: values}


def write(path, document, arrays):
    text = json.dumps(document)
    if arrays is None:
        path.write_text(text)
        return
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("model.json", text)
        for name, values in arrays.items():
            content = io.BytesIO()
            np.save(content, values)
            file.writestr(name, content.getvalue())


def parts_of(path):
    """The document of a file, and its arrays; None where it has no such."""
    if not zipfile.is_zipfile(path):
        return json.loads(path.read_text("utf-8")), None
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    document = json.loads(parts.pop("model.json"))
    return document, {name: np.load(io.BytesIO(part)) for name, part in parts.items()}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_are_refused_or_harmless(name, tmp_path):
    if name.startswith("HMMLSTM"):
        pytest.importorskip("torch")
    document, arrays = parts_of(FILES / name)
    rng, n_refused = random.Random(name), 0
    for _ in range(N_MUTANTS):
        if arrays and rng.random() < 0.5:
            write(tmp_path / "kept", document, changed_arrays(arrays, rng))
        else:
            write(tmp_path / "kept", changed_document(document, rng), arrays)
        try:
            found = cw.load(tmp_path / "kept")
        except ModelFormatError:
            n_refused += 1
            continue
        # What was read answers, refuses rows of other columns, and is saved again.
        try:
            with np.errstate(all="ignore"):
                answers(found, CASES[name][1])
        except ValueError as error:
            is_ours = isinstance(error, ClearwoodError)
            assert is_ours or "feature" in str(error)
        cw.save(found, tmp_path / "again", overwrite=True)
    assert n_refused > N_MUTANTS / 4
