"""Files that promise much or unpack to much are refused before memory is taken."""

import json
import random
import tracemalloc

import pytest
from tests.wording import refuses, same_lines

from clearwood import _memory as memory
from clearwood._memory import memory_bound
from clearwood.codec.documents import parse_json
from clearwood.ensembles.read import read_document
from clearwood.exceptions import ModelFormatError


def random_value(rng, depth=0):
    choice = rng.random()
    if depth > 4 or choice < 0.3:
        return rng.choice([1, 0, -25, 300, 1.5, 1e-7, True, None])
    if choice < 0.5:
        return random_text(rng)
    if choice < 0.75:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {
        random_text(rng): random_value(rng, depth + 1) for _ in range(rng.randrange(4))
    }


def random_text(rng):
    return "".join(rng.choice('a"\\{[,:1\n\u20ac') for _ in range(rng.randrange(6)))


def counted(value):
    """Objects, arrays, texts and numbers of three characters or more."""
    if isinstance(value, dict | list):
        inside = list(value.values()) if isinstance(value, dict) else value
        sums = [sum(column) for column in zip(*map(counted, inside))] or [0] * 4
        own = [1, 0, len(value), 0] if isinstance(value, dict) else [0, 1, 0, 0]
        return [a + b for a, b in zip(sums, own)]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_long = is_number and len(json.dumps(value)) >= 3
    return [0, 0, int(isinstance(value, str)), int(is_long)]


@pytest.mark.parametrize("seed", range(200))
def test_values_are_counted_outside_of_texts(seed, monkeypatch):
    rng = random.Random(seed)
    value = [random_value(rng) for _ in range(5)]
    data = json.dumps(value, ensure_ascii=rng.random() < 0.5).encode()
    whole, long_numbers = memory._count_outside_texts(data)
    found = [whole[ord(mark)] for mark in '{["']
    assert [*found, long_numbers] == counted(value)
    # In pieces a number may be cut in two, nothing else may change.
    monkeypatch.setattr(memory, "PIECE", 7)
    assert memory._count_outside_texts(data)[0] == whole


@pytest.mark.parametrize(
    "value", ["{}", '{"a":0}', "[]", "[0]", '"ab"', '"\U0001f600"', '{"a":{"b":[]}}']
)
def test_small_values_by_the_thousand_are_refused(value, monkeypatch):
    monkeypatch.setattr(memory, "SMALL_BYTES", 1000)
    monkeypatch.setattr(memory, "SPARE", 0)
    data = f'{{"learner":[{",".join([value] * 10_000)}]}}'.encode()
    with refuses(ModelFormatError, match="model.json"):
        parse_json(data, "model.json")


def test_one_object_of_very_many_members_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "SMALL_BYTES", 1000)
    monkeypatch.setattr(memory, "SPARE", 0)
    data = json.dumps({f"name {i}": 0 for i in range(10_000)}).encode()
    with refuses(ModelFormatError):
        parse_json(data, "model.json")


def test_long_files_of_numbers_are_read(monkeypatch):
    monkeypatch.setattr(memory, "SPARE", 0)
    row = ",".join(["-3.7413667E-8", "0", "2147483647", "-1", '"a \\" {[,"'] * 1000)
    data = f"[{','.join([f'[{row}]'] * 150)}]".encode()
    assert len(data) > memory.SMALL_BYTES
    assert len(parse_json(data, "model.json")) == 150


@pytest.mark.parametrize(("key", "most"), [("borders", 65_535), ("values", 2**19)])
def test_more_borders_or_categories_than_catboost_takes(key, most):
    feature = {"feature_index": 0, "flat_feature_index": 0, key: list(range(most + 1))}
    kind = "float_features" if key == "borders" else "categorical_features"
    document = {
        "model_info": {"params": {"loss_function": {"type": "RMSE"}}},
        "features_info": {kind: [feature]},
        "oblivious_trees": [],
    }
    with refuses(ModelFormatError, match=f"{key}.*{most + 1:,}"):
        read_document(json.dumps(document).encode(), "model.json")


@pytest.mark.parametrize(
    "leaf", ["0,", pytest.param("0.25,", marks=pytest.mark.dear), "\n             0,"]
)
@pytest.mark.parametrize(("depth", "n_trees"), [(16, 3), (16, 14), (8, 1000)])
def test_symmetric_trees_stay_within_ten_times_their_file(depth, n_trees, leaf):
    column = {"feature_index": 0, "flat_feature_index": 0, "borders": [0.5]}
    split = {"split_index": 0, "split_type": "FloatFeature", "float_feature_index": 0}
    leaves = f"[{(leaf * 2**depth)[:-1]}]"
    # CatBoost writes a weight beside each value.
    weights = f', "leaf_weights": {leaves}' if leaf.startswith("\n") else ""
    splits = json.dumps([split] * depth)
    tree = f'{{"splits": {splits}, "leaf_values": {leaves}{weights}}}'
    document = {
        "model_info": {"params": {"loss_function": {"type": "RMSE"}}},
        "features_info": {"float_features": [column]},
        "oblivious_trees": ["TREES"],
    }
    data = json.dumps(document).replace('"TREES"', ",".join([tree] * n_trees)).encode()
    tracemalloc.start()
    try:
        assert read_document(data, "model.json").n_trees == n_trees
    except ModelFormatError as error:
        # What CatBoost itself writes is always read.
        assert not weights
        same_lines(str(error))
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < memory_bound(len(data))
