"""Meta-trees in files."""

import io
import json
import zipfile
from copy import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import ClearwoodError, ModelFormatError
from clearwood.metatree import given


def make_frame(n=120):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"hue": rng.choice(list("abcd"), n), "size": rng.normal(size=n)}
    )


def models():
    X, y = load_wine(return_X_y=True)
    frame = make_frame()
    values = (frame.hue == "a") + 0.1 * frame["size"]
    forest = RandomForestClassifier(n_estimators=3, random_state=0)
    few = np.random.default_rng(0).integers(0, 3, (60, 2))
    return {
        "labels": (cw.MetaTreeClassifier(missing="branch"), X, y.astype(str)),
        "frame": (cw.MetaTreeRegressor(random_state=0), frame, values),
        "given": (cw.MetaTreeRegressor(given([0, 1], [3, 3])), few, few.sum(axis=1)),
        "forest": (cw.MetaForestClassifier(forest), X, y),
        "values": (cw.MetaForestRegressor(ExtraTreesRegressor(3)), frame, values),
    }


def says(model, X):
    return getattr(model, "predict_proba", model.predict)(X)


@pytest.mark.parametrize("name", models())
def test_what_is_loaded_predicts_and_learns_the_same(name, tmp_path):
    model, X, y = models()[name]
    model.fit(X, y)
    cw.save(model, tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    assert type(again) is type(model)
    np.testing.assert_array_equal(says(again, X), says(model, X))
    np.testing.assert_array_equal(again.log_evidence_, model.log_evidence_)
    for one in (again, model):
        one.partial_fit(X[:9], y[:9])
    np.testing.assert_array_equal(says(again, X), says(model, X))
    with refuses(ClearwoodError):
        cw.save(model, tmp_path / "model.cw")


@pytest.mark.parametrize("name", ["labels", "frame", "forest"])
def test_damaged_files_are_refused_or_read(name, tmp_path):
    model, X, y = models()[name]
    cw.save(model.fit(X, y), tmp_path / "model.cw")
    with zipfile.ZipFile(tmp_path / "model.cw") as file:
        parts = {member: file.read(member) for member in file.namelist()}
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        member = rng.choice(sorted(parts))
        content = bytearray(parts[member])
        for place in rng.integers(0, len(content), rng.integers(1, 4)):
            content[place] = rng.integers(256)
        damaged = io.BytesIO()
        with zipfile.ZipFile(damaged, "w") as file:
            for other, part in parts.items():
                file.writestr(other, bytes(content) if other == member else part)
        (tmp_path / "damaged.cw").write_bytes(damaged.getvalue())
        try:
            found = cw.load(tmp_path / "damaged.cw")
            says(found, X[:3])
        except ClearwoodError:
            refused += 1
    assert refused > 20


EXTREMES = (-(2**63), -(2**31), -2, -1, 0, 1, 2**31 - 1, 2**31, 2**63 - 1)


@pytest.mark.parametrize("name", models())
def test_indices_that_cannot_be_are_refused(name, tmp_path):
    """Numbers at the ends of their types, whose sums and differences overflow."""
    model, X, y = models()[name]
    cw.save(model.fit(X, y), tmp_path / "model.cw")
    with zipfile.ZipFile(tmp_path / "model.cw") as file:
        parts = {member: file.read(member) for member in file.namelist()}
    rng = np.random.default_rng(0)
    for member in sorted(parts):
        values = np.load(io.BytesIO(parts[member])) if member[-3:] == "npy" else None
        if values is None or values.dtype.kind != "i" or not values.size:
            continue
        for extreme in EXTREMES:
            for place in {0, len(values) - 1, int(rng.integers(len(values)))}:
                damaged = values.copy()
                damaged[place] = extreme
                with zipfile.ZipFile(tmp_path / "damaged.cw", "w") as file:
                    for other, part in parts.items():
                        is_it = other == member
                        file.writestr(other, as_member(damaged) if is_it else part)
                try:
                    found = cw.load(tmp_path / "damaged.cw")
                    says(found, X[:3])
                    found.to_ensemble()
                    if hasattr(found, "rules_"):
                        assert str(found.map_tree_)
                except ClearwoodError:
                    continue
                # What was read all the same says nothing else of where rows go.
                assert np.isfinite(found.log_evidence_).all()


def as_member(values, **how):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(values), **how)
    return stream.getvalue()


HUGE = as_member([0.0]).replace(b"(1,), }" + b" " * 12, b"(1000000000000,), }")


@pytest.mark.parametrize(
    "change",
    [
        lambda part: as_member(np.full(np.load(io.BytesIO(part)).shape, np.nan)),
        lambda part: part + b"x",
        lambda part: part[:-1],
        lambda part: HUGE,
        lambda part: as_member([{}], allow_pickle=True),
        lambda part: as_member([[1.0]]),
        lambda part: as_member([1]),
        lambda part: b"PK" + part,
    ],
)  # fmt: skip
def test_arrays_are_what_they_claim(change, tmp_path):
    model, X, y = models()["labels"]
    cw.save(model.fit(X, y), tmp_path / "model.cw")
    with zipfile.ZipFile(tmp_path / "model.cw") as file:
        parts = {member: file.read(member) for member in file.namelist()}
    parts["cuts.npy"] = change(parts["cuts.npy"])
    with zipfile.ZipFile(tmp_path / "other.cw", "w") as file:
        for member, part in parts.items():
            file.writestr(member, part)
    with refuses(ModelFormatError):
        cw.load(tmp_path / "other.cw")


def rewritten(path, change):
    """A file with its document and arrays changed; both are changed in place."""
    with zipfile.ZipFile(path) as file:
        parts = {member: file.read(member) for member in file.namelist()}
    document = json.loads(parts.pop("model.json"))
    arrays = {m.removesuffix(".npy"): np.load(io.BytesIO(p)) for m, p in parts.items()}
    change(document, arrays)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("model.json", json.dumps(document))
        for name, array in arrays.items():
            file.writestr(f"{name}.npy", as_member(array))


def set_entry(name, place, value):
    return lambda document, arrays: arrays[name].put(place, value)


def set_leaf(key, value):
    return lambda document, arrays: document["leaf"].update({key: value})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("forest", set_entry("roots", -1, -(2**31))),
        ("frame", set_entry("n_children", 0, 2**31 - 1)),
        ("frame", set_entry("n_children", 0, -5)),
        ("frame", set_leaf("m", 1e308)),
        ("frame", set_leaf("beta", 5e-324)),
        ("values", set_leaf("alpha", 1e308)),
        ("given", set_entry("n_values", 0, 2**31)),
    ],
)
def test_numbers_that_would_overflow_are_refused(name, change, tmp_path):
    model, X, y = models()[name]
    cw.save(model.fit(X, y), tmp_path / "model.cw")
    rewritten(tmp_path / "model.cw", change)
    with refuses(ModelFormatError):
        cw.load(tmp_path / "model.cw")


@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_nodes_may_be_certain(certain, tmp_path):
    model, X, y = models()["labels"]
    cw.save(model.fit(X, y), tmp_path / "model.cw")
    rewritten(tmp_path / "model.cw", set_entry("g", 0, certain))
    assert np.isfinite(says(cw.load(tmp_path / "model.cw"), X[:3])).all()


def test_there_are_as_many_cuts_as_are_told(tmp_path):
    model, X, y = models()["labels"]
    cw.save(model.fit(X, y), tmp_path / "model.cw")
    n_cuts = len(model.meta_tree_.structure.coder.bins.cuts[0])
    rewritten(tmp_path / "model.cw", set_entry("n_cuts", 0, n_cuts + 1))
    with refuses(ModelFormatError):
        cw.load(tmp_path / "model.cw")


def test_cuts_rise(tmp_path):
    model, X, y = models()["labels"]
    cw.save(model.fit(X, y), tmp_path / "model.cw")

    def swap(document, arrays):
        first = np.cumsum([0, *arrays["n_cuts"]])[arrays["n_cuts"].argmax()]
        pair = slice(first + 1, first + 3)
        arrays["cuts"][pair] = arrays["cuts"][pair][::-1]
        assert arrays["n_cuts"].max() > 2

    rewritten(tmp_path / "model.cw", swap)
    with refuses(ModelFormatError):
        cw.load(tmp_path / "model.cw")


INTEGERS = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 2**31 - 1, 2**31, 2**63 - 1)
FLOATS = (np.nan, np.inf, -1.0, 0.0, 0.5, 1.0, 1e308, -1e308, 1e139, 5e-324)
CHOICES = {"i": INTEGERS, "f": FLOATS, "b": (True, False)}


@pytest.mark.parametrize("name", models())
def test_what_loads_can_be_used(name, tmp_path):
    """One or two entries of an array become others; then load, predict, save, show."""
    model, X, y = models()[name]
    cw.save(model.fit(X, y), tmp_path / "sound.cw")
    rng = np.random.default_rng(0)
    path, n_loaded = tmp_path / "model.cw", 0

    def change(document, arrays):
        full = [key for key, array in arrays.items() if array.size]
        for _ in range(rng.integers(1, 3)):
            array = arrays[rng.choice(full)]
            place = tuple(rng.integers(0, array.shape))
            array[place] = rng.choice(CHOICES[array.dtype.kind])

    for _ in range(60):
        path.write_bytes((tmp_path / "sound.cw").read_bytes())
        rewritten(path, change)
        try:
            found = cw.load(path)
        except ModelFormatError:
            continue
        n_loaded += 1
        assert np.isfinite(says(found, X[:3])).all()
        cw.save(found, path, overwrite=True)
        if hasattr(found, "meta_tree_"):
            cw.report(found, tmp_path / "page.html", overwrite=True)
    assert 0 < n_loaded < 60


def test_other_zips_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.json", "{}" + " " * 10_000)
    with refuses(ModelFormatError):
        cw.load(tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as file:
        file.writestr("model.json", "{}" + " " * 10_000)
        for name in "abc":  # three members that are one
            file.filelist.append(copy(file.filelist[0]))
            file.filelist[-1].filename = name
    with refuses(ModelFormatError):
        cw.load(tmp_path / "c.zip")
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04" + bytes(50))
    with refuses(ModelFormatError):
        cw.load(tmp_path / "b.zip")


def test_files_from_when_only_meta_trees_were_archives_load():
    X, y = load_iris(return_X_y=True)
    old = cw.load(Path(__file__).parent / "files" / "meta_tree-before.zip")
    assert old.leaf_model_.lent == 0.0
    new = cw.MetaTreeClassifier(leaf_model=old.leaf_model_).fit(X[::3], y[::3])
    np.testing.assert_array_equal(old.predict_proba(X), new.predict_proba(X))


def test_missing_values_go_to_a_child_that_is_there(tmp_path):
    model, X, y = models()["labels"]
    cw.save(model.fit(X, y), tmp_path / "model.cw")
    with zipfile.ZipFile(tmp_path / "model.cw") as file:
        parts = {member: file.read(member) for member in file.namelist()}
    child, n_children, start = (
        np.load(io.BytesIO(parts[f"{name}.npy"]))
        for name in ("missing_child", "n_children", "table_start")
    )
    by_cut = (n_children > 0) & (start == -1)
    assert by_cut.any()
    beyond = np.where(by_cut, n_children, child).astype(child.dtype)
    with zipfile.ZipFile(tmp_path / "damaged.cw", "w") as file:
        for member, part in parts.items():
            is_it = member == "missing_child.npy"
            file.writestr(member, as_member(beyond) if is_it else part)
    with refuses(ModelFormatError):
        cw.load(tmp_path / "damaged.cw")


@pytest.mark.parametrize(
    "change",
    [
        lambda leaf: leaf | {"rounding": 1e308},
        lambda leaf: leaf | {"m": json.loads("[" * 300 + "0" + "]" * 300)},
    ],
)
def test_leaves_beyond_floats_and_depth_are_refused(change, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    path = tmp_path / "model.cw"
    cw.save(cw.MetaTreeRegressor(random_state=0).fit(X, X[:, 0]), path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    document = json.loads(members["model.json"])
    document["leaf"] = change(document["leaf"])
    members["model.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    with pytest.raises(ModelFormatError):
        cw.load(path)
