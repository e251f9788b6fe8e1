"""What the README shows is what happens."""

import re
from functools import partial

import pytest
import sklearn.datasets
from tests.readme import README, demo_block, parts

import clearwood as cw


def test_the_first_block_is_what_the_demo_prints():
    _, block, _ = parts()
    assert block == demo_block(), "Run python -m tests.readme to write it anew"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_its_python_runs(tmp_path, monkeypatch):
    pytest.importorskip("xgboost")
    X, y = sklearn.datasets.load_breast_cancer(return_X_y=True, as_frame=True)
    few = X.iloc[::8, :2], y[::8]  # all would take a minute
    monkeypatch.setattr(sklearn.datasets, "load_breast_cancer", lambda **_: few)
    quick = partial(cw.compare, cv=2, n_refits=2, max_rules=5)
    monkeypatch.setattr(cw, "compare", quick)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(blocks) >= 2
    names = {}
    for block in blocks:
        exec(block, names)
    assert {path.name for path in tmp_path.iterdir()} == {
        "report.html", "compare.html", "model.ubj",
    }  # fmt: skip
