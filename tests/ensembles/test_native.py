"""Fields that the libraries' own loaders obey: what they and we read is the same.

The libraries run in a process of their own, forked for every file: they may crash.
"""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.waiting import SECONDS

from clearwood.ensembles import read_ensemble
from clearwood.exceptions import ModelFormatError

RNG = np.random.default_rng(0)
N_MUTANTS = 30
SERVE = """
import os, sys
import numpy as np, pandas as pd
{load}
table = pd.read_pickle(sys.argv[1])
for path in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            np.save(path + ".npy", scores(path, table))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
"""
LIGHTGBM = """
import lightgbm
def scores(path, table):
    booster = lightgbm.Booster(model_file=path, params={"num_threads": 1})
    assert booster.num_trees()
    return booster.predict(table, num_threads=1)
"""
XGBOOST = """
import xgboost
def scores(path, table):
    model = xgboost.XGBRegressor(n_jobs=1)
    model.load_model(path)
    return model.predict(table)
"""


def both_read(texts, load, table, folder):
    """How many files both take; those must predict the same."""
    pd.to_pickle(table, folder / "table")
    paths = [folder / f"{i}.json" for i in range(len(texts))]
    for path, text in zip(paths, texts):
        path.write_bytes(text.encode())
    command = [sys.executable, "-c", SERVE.replace("{load}", load), folder / "table"]
    subprocess.run([*command, *paths], check=True, timeout=SECONDS)
    compared = 0
    for path, text in zip(paths, texts):
        try:
            ours = read_ensemble(path).predict(table)
        except ModelFormatError:
            continue
        native = path.with_suffix(".json.npy")
        if native.exists():
            np.testing.assert_allclose(ours, np.load(native), rtol=1e-6, err_msg=text)
            compared += 1
    return compared


@pytest.mark.dear
def test_lightgbm_finds_the_trees_that_we_find(tmp_path):
    lgb = pytest.importorskip("lightgbm")
    X = pd.DataFrame(RNG.normal(size=(60, 2)), columns=["a", "b"])
    settings = {"verbose": -1, "num_leaves": 4, "min_data_in_leaf": 5}
    booster = lgb.train(settings, lgb.Dataset(X, X["a"] * X["b"]), 5)
    text = booster.model_to_string()
    sizes = list(map(int, re.search("tree_sizes=(.*)", text)[1].split()))

    def with_sizes(sizes):
        line = "tree_sizes=" + " ".join(map(str, sizes))
        return re.sub("tree_sizes=.*", line, text)

    texts = [text, text.replace(f"tree_sizes={' '.join(map(str, sizes))}\n", "")]
    texts += [with_sizes(sizes[:n]) for n in range(5)]
    texts += [with_sizes([0] * 5), with_sizes([*sizes, 0]), with_sizes([0, *sizes])]
    texts += [with_sizes([*sizes[:-1], 9]), with_sizes([sum(sizes[:2]), *sizes[2:]])]
    texts += [with_sizes([sizes[0] + sizes[1], *sizes[2:], 0])]
    for _ in range(N_MUTANTS):
        changed = list(RNG.permutation(sizes))
        changed[RNG.integers(5)] += RNG.choice([0, 0, 1, -1, sizes[0], -sizes[0]])
        texts.append(with_sizes(changed))
    # The sound one, that without sizes, and that in which only the last is another.
    assert both_read(texts, LIGHTGBM, X, tmp_path) >= 3


@pytest.mark.dear
def test_xgboost_finds_the_labels_that_we_find(tmp_path):
    xgb = pytest.importorskip("xgboost")
    labels = {"text": ["pear", "fig", "Zoo", "apple"], "number": [30, 10, 20, 5]}
    X = pd.DataFrame(
        {
            name: pd.Categorical.from_codes(RNG.integers(4, size=80), known)
            for name, known in labels.items()
        }
    )
    y = X["text"].cat.codes ** 2 + np.sin(X["number"].cat.codes * 5.0)
    settings = {"n_estimators": 3, "n_jobs": 1, "max_cat_to_onehot": 1}
    xgb.XGBRegressor(enable_categorical=True, **settings).fit(X, y).save_model(
        tmp_path / "sound.json"
    )
    sound = (tmp_path / "sound.json").read_text()
    texts = [sound]
    for _ in range(N_MUTANTS):
        document = json.loads(sound)
        cats = document["learner"]["gradient_booster"]["model"]["cats"]
        # The table's labels stay known: XGBoost takes some unknown ones for others.
        values = cats["enc"][1]["values"] if RNG.random() < 0.3 else cats["sorted_idx"]
        i, j = RNG.integers(len(values), size=2)
        if RNG.random() < 0.7 or values is not cats["sorted_idx"]:
            values[i], values[j] = values[j], values[i]
        else:
            values[i] += int(RNG.choice([-1, 1]))
        texts.append(json.dumps(document))
    # The sound one, and those that were not changed after all.
    assert both_read(texts, XGBOOST, X, tmp_path) >= 1
