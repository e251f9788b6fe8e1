"""What ``check`` says of sound, unusual and damaged models."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.ensembles.test_tree_ensemble import stump
from tests.wording import refuses, same_lines, same_text

import clearwood as cw
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError, ModelError


def test_facts_of_a_sound_model():
    model = replace(
        stump(features=FeatureSpace(("age", "dose"), (None, None))),
        details={"library": "none", "version": 3},
        notes=("Found in a drawer.",),
    )
    found = cw.check(model)
    assert found.sound and found.ensemble is model
    same_text(str(found).splitlines())
    record = json.loads(json.dumps(found.as_dict()))
    assert record["sound"] is True and record["problem"] is None
    assert record["classes"] == ["no", "yes"]
    assert record["features"] == [
        {"name": "age", "categories": None, "splits": 1},
        {"name": "dose", "categories": None, "splits": 0},
    ]


def test_names_and_labels_do_not_command_the_terminal():
    model = replace(
        stump(features=FeatureSpace(("age", "a\x1b[2J\nsound"), (None, None))),
        details={"objective": "RMSE\n  trees  9"},
    ).with_classes(["no", "\x1b[31myes"])
    lines = str(cw.check(model)).splitlines()
    same_text(lines[1:3])
    assert lines[-1].endswith(r": 'a\x1b[2J\nsound'.")


def test_nothing_unusual():
    found = cw.check(stump(features=FeatureSpace(("age",), (None,))))
    same_lines(str(found))


def unusual(**changes):
    return " ".join(cw.check(replace(stump(), **changes)).notes)


def test_what_is_unusual():
    same_text(unusual())
    same_text(unusual(cut=[1e31, np.nan, np.nan]))
    nodes = {
        "feature": [0, -1, 0, -1, -1],
        "cut": [0, np.nan, 1, np.nan, np.nan],
        "left": [1, -1, 3, -1, -1],
        "right": [2, -1, 4, -1, -1],
        "missing_left": [0] * 5,
        "unseen_left": [0] * 5,
        "category_set": [-1] * 5,
        "value": [[0], [1.0], [0], [-2.0], [1e5]],
    }
    outlier = unusual(**nodes)
    same_lines(outlier)
    constant = {
        "feature": [-1, -1],
        "cut": [np.nan] * 2,
        "left": [-1, -1],
        "right": [-1, -1],
        "missing_left": [0, 0],
        "unseen_left": [0, 0],
        "category_set": [-1, -1],
        "value": [[1.0], [2.0]],
        "roots": [0, 1],
        "output": [0, 0],
    }
    same_text(unusual(**constant))


def test_trees_of_one_leaf_are_counted():
    stumps = {
        "feature": [0, -1, -1, -1],
        "cut": [0.0, np.nan, np.nan, np.nan],
        "left": [1, -1, -1, -1],
        "right": [2, -1, -1, -1],
        "missing_left": [0] * 4,
        "unseen_left": [0] * 4,
        "category_set": [-1] * 4,
        "value": [[0.0], [1.0], [2.0], [1.0]],
        "roots": [0, 3],
        "output": [0, 0],
    }
    same_text(unusual(**stumps))


def test_missing_values():
    space = FeatureSpace(("a", "b"), (None, None), missing_at=(0.0, None))
    facts = cw.check(stump(features=space, allows_missing=[True, False])).facts
    same_text(facts["missing"])
    assert cw.check(stump(allows_missing=False)).facts["missing"] == "refused"


def test_damaged_files(tmp_path):
    path = tmp_path / "model.json"
    path.write_text('{"learner": 3}')
    found = cw.check(path)
    assert not found.sound
    same_text(found.problem)
    assert str(found).startswith(f"{path}: NOT SOUND")
    assert found.as_dict()["problem"] == found.problem
    with refuses(InputError):
        cw.check(tmp_path / "gone.json")
    with refuses(ModelError):
        cw.check(3)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n",
        b"\x80\x04K\x01.",
        b"CBM1....",
        b"binf....",
        b"binf\0,\t;",
        b"\x1f\x8b\x08..",
        b"PK\x03\x04",
        b"<?xml version='1.0'?>",
        b"hello",
        b'{"a": 1, "b": 2}',
        b'{"tree_info": []}',
        b"{",
        b"{i\x03abc",
        b"tree",
    ],
)
def test_other_files(tmp_path, data):
    path = tmp_path / "model.bin"
    path.write_bytes(data)
    with refuses(cw.exceptions.ModelFormatError) as caught:
        cw.read_ensemble(path)
    assert str(path) in str(caught.value)
    assert not cw.check(str(path)).sound


@pytest.mark.parametrize(
    "content", [b"\x80\x04x", b"CBM1xx", b'{"tree_info": []}', b"\x1f\x8b"]
)
def test_what_is_of_another_kind_is_not_called_unsound(content, tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    found = cw.check(path)
    assert not found.sound and not found.supported
    assert str(found).startswith(f"{path}: not supported\n")
    assert found.as_dict()["supported"] is False
