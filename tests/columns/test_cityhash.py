"""Our hash against CatBoost's own, for texts of all lengths."""

import json

import numpy as np
import pytest

from clearwood.columns.cityhash import category_hash


def test_known_hashes():
    assert category_hash("0") == 2856682258
    assert category_hash("") == 797982799
    # A half character is no text, and still no reason to stop.
    assert category_hash("\ud800") >= 0


def test_every_length(tmp_path):
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    alphabet = list("abcxyz 019äö漢😀")
    lengths = [*range(1, 200), 255, 256, 257, 999]
    texts = ["".join(rng.choice(alphabet, n)) for n in lengths]
    texts += ["a" * n for n in range(1, 130)]
    rows = [[text, float(i % 7)] for i, text in enumerate(texts)]
    data = catboost.Pool(rows, [row[1] for row in rows], cat_features=[0])
    quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoost({"iterations": 1, "one_hot_max_size": 1000, **quiet})
    path = tmp_path / "model.json"
    model.fit(data).save_model(str(path), format="json", pool=data)
    found = json.loads(path.read_text())["features_info"]["cat_features_hash"]
    hashes = {entry["value"]: entry["hash"] for entry in found}
    assert hashes == {text: category_hash(text) for text in texts}
