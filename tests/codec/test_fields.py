"""What is declared is written and read, also under old names, and nothing else."""

import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from tests.wording import refuses

import clearwood as cw
from clearwood import codec, families
from clearwood.codec.archive import read_archive, write_archive
from clearwood.exceptions import InputError, ModelFormatError

# A class from elsewhere


@dataclass
class Scale:
    """A class of another package."""

    unit: str
    factors: np.ndarray
    steps: tuple = ()
    pieces: tuple = ()
    offset: float | None = None
    note: object = codec.UNSET
    matrix: object = codec.UNSET
    places: np.ndarray | None = None


STEP = codec.record(
    codec.Field("at", codec.integer(0)),
    codec.Field("label", codec.NAME, absent=codec.UNSET),
    codec.Field("open", codec.FLAG, absent=False),
)

SAVED = codec.by_name(
    codec.Saved(
        Scale,
        (
            codec.Field("unit", codec.choice("mg", "g"), old=("measure", "unit_of")),
            codec.Array("factors", "f", "n", check=codec.POSITIVE, old=("weights",)),
            codec.Field("steps", codec.tuple_of(STEP), size="steps"),
            codec.Array("places", "i", "n", below="steps"),
            codec.Pieces("pieces", "f", width=2, check=codec.within(0, 1)),
            codec.Field("offset", codec.NUMBER, null=True),
            codec.Together(
                codec.Field("note", codec.TEXT), codec.Array("matrix", "b", "n n")
            ),
        ),
        make=lambda kind, values: kind(**values),
    )
)
SAVED["Ruler"] = SAVED["Scale"]  # what it was called before


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "elsewhere", SimpleNamespace(SAVED=SAVED))
    elsewhere = families.Family("scales", saved=dict.fromkeys(SAVED, "elsewhere"))
    monkeypatch.setattr(families, "_registered", lambda: (elsewhere,))
    return tmp_path / "kept"


def scale(**changes):
    pieces = (np.array([[0.0, 1.0]]), np.zeros((0, 2)), np.full((2, 2), 0.5))
    steps = ({"at": 3, "label": "a", "open": True}, {"at": 0, "open": False})
    made = Scale("mg", np.array([2.0, 3.0]), steps, pieces, 0.5, "x", np.eye(2) > 0,
                 np.array([1, 0]))  # fmt: skip
    return replace(made, **changes)


def there_and_back(path, found):
    cw.save(found, path, overwrite=True)
    return cw.load(path)


@pytest.mark.parametrize(
    "changes",
    [{}, {"offset": codec.UNSET}, {"note": codec.UNSET, "matrix": codec.UNSET},
     {"steps": ({"at": 1, "open": True},), "places": np.array([0, 0])}],
)  # fmt: skip
def test_a_class_of_another_package_is_saved(changes, path):
    found = scale(**changes)
    again = there_and_back(path, found)
    assert type(again) is Scale
    assert (again.unit, again.steps, again.note) == (
        found.unit,
        found.steps,
        found.note,
    )
    assert again.offset == found.offset
    np.testing.assert_array_equal(again.factors, found.factors)
    for own, other in zip(again.pieces, found.pieces, strict=True):
        np.testing.assert_array_equal(own, other)
    if found.matrix is not codec.UNSET:
        np.testing.assert_array_equal(again.matrix, found.matrix)


def written(path):
    """The document and the arrays of a file."""
    top, arrays = read_archive(path)
    kinds = {"factors": "f*", "places": "i*", "pieces": "f**", "n_pieces": "i*",
             "matrix": "b**"}  # fmt: skip
    return top.value, {name: arrays(name, *kind) for name, kind in kinds.items()}


def test_old_names_are_read(path):
    cw.save(scale(), path)
    document, arrays = written(path)
    for old in ("measure", "unit_of"):
        older = {key: value for key, value in document.items() if key != "unit"}
        older_arrays = {"weights": arrays["factors"], **arrays}
        del older_arrays["factors"]
        write_archive(path, older | {old: "g"}, older_arrays, overwrite=True)
        again = cw.load(path)
        assert again.unit == "g" and again.factors.tolist() == [2.0, 3.0]
    older["measure"] = "kg"
    write_archive(path, older, older_arrays, overwrite=True)
    with refuses(ModelFormatError):
        cw.load(path)


def test_a_renamed_class_is_read_under_its_old_name(path):
    cw.save(scale(), path)
    document, arrays = written(path)
    write_archive(path, {**document, "kind": "Ruler"}, arrays, overwrite=True)
    assert type(cw.load(path)) is Scale


@pytest.mark.parametrize(
    ("changes", "arrays"),
    [
        ({"unit": "kg"}, {}),
        ({"unit": 3}, {}),
        ({"offset": "x"}, {}),
        ({"offset": 10**400}, {}),
        ({"steps": 3}, {}),
        ({"steps": [{}]}, {}),
        ({"steps": [{"at": -1}]}, {}),
        ({"steps": [{"at": 1, "by": 2}]}, {}),
        ({"steps": [{"at": 1, "label": "a\nb"}]}, {}),
        ({"steps": [{"at": 1, "open": 1}]}, {}),
        ({}, {"factors": np.array([1.0, 0.0])}),
        ({}, {"factors": np.array([1.0, np.nan])}),
        ({}, {"factors": np.array([1, 2])}),
        ({}, {"places": np.array([1, 2])}),
        ({}, {"places": np.array([-1, 0])}),
        ({}, {"places": np.zeros(3, int)}),
        ({}, {"matrix": np.ones((2, 3)) > 0}),
        ({}, {"matrix": None}),
        ({}, {"n_pieces": np.array([1, 0])}),
        ({}, {"n_pieces": np.array([4, -1, 0])}),
        ({}, {"n_pieces": None}),
        ({}, {"pieces": np.full((3, 2), 2.0)}),
        ({}, {"pieces": np.zeros((3, 1))}),
    ],
)
def test_what_is_not_declared_so_is_refused(changes, arrays, path):
    cw.save(scale(), path)
    document, kept = written(path)
    kept = {k: v for k, v in (kept | arrays).items() if v is not None}
    write_archive(path, document | changes, kept, overwrite=True)
    with refuses(ModelFormatError):
        cw.load(path)


def test_a_subclass_is_not_saved(path):
    with refuses(InputError):
        cw.save(type("Scale", (Scale,), {})("g", np.ones(1)), path)


# Settings


class Model(BaseEstimator):
    _parameter_constraints = {"size": [int], "side": [str], "seed": "no_validation"}

    def __init__(self, size=1, side="left", random_state=None):
        self.size, self.side, self.random_state = size, side, random_state


SETTINGS = codec.Settings("size", "side", "random_state", old={"width": "size"})


def read_settings(settings):
    values = {}
    top = codec.documents.Place({"settings": settings}, "model.json")
    SETTINGS.read(values, top, None)
    return codec.filled(Model(), values)


def test_settings_that_json_can_hold_come_back_also_by_an_old_name():
    document = {}
    found = Model(np.int64(3), side=("a", np.float64(2.0)), random_state=max)
    SETTINGS.write(lambda name: getattr(found, name), document, {})
    assert document == {"settings": {"size": 3, "side": ["a", 2.0]}}
    assert read_settings({"size": 7, "random_state": 3}).get_params() == {
        "size": 7, "side": "left", "random_state": 3,
    }  # fmt: skip
    assert read_settings({"width": 5}).size == 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (3, "settings: found 3, expected an object"),
        ({"depth": 3}, "settings.depth: not a field"),
        ({"size": [[1]]}, "settings.size: found an array, expected a text, a number"),
        ({"size": {}}, "settings.size: found an object"),
        ({"random_state": "x"}, "random_state: found 'x', expected a whole number"),
        ({"size": "x"}, "settings: The 'size' parameter"),
    ],
)
def test_other_settings_are_refused(settings, message):
    with pytest.raises(ModelFormatError, match=message):
        read_settings(settings)
