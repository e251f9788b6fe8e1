"""What the README shows is what happens."""

import re
from functools import partial

import pytest
import sklearn.datasets
import sklearn.ensemble
from tests.readme import README, first_example, later_blocks, run

import clearwood as cw


def test_the_first_example_prints_what_it_shows():
    code, output = first_example()
    assert run(code)[0] == output, "Run python -m tests.readme to write it anew"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_its_python_runs(tmp_path, monkeypatch):
    pytest.importorskip("xgboost")
    X, y = sklearn.datasets.load_breast_cancer(return_X_y=True, as_frame=True)
    few = X.iloc[::6, :2], y[::6]  # all would take a minute
    monkeypatch.setattr(sklearn.datasets, "load_breast_cancer", lambda **_: few)
    quick = partial(cw.compare, cv=2, n_refits=2, max_rules=5)
    monkeypatch.setattr(cw, "compare", quick)
    monkeypatch.chdir(tmp_path)
    _, names = run(first_example()[0])
    for block in later_blocks():
        exec(block, names)
    assert {path.name for path in tmp_path.iterdir()} == {
        "report.html", "compare.html", "model.ubj",
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_each_line_of_the_families_runs():
    X, y = sklearn.datasets.load_iris(return_X_y=True, as_frame=True)
    forest = sklearn.ensemble.RandomForestClassifier(5, random_state=0).fit(X, y)
    names = {
        "cw": cw, "X": X, "y": y, "model": forest, "symbols": list("abcab" * 20),
        "reference": cw.reference(forest, X, y),
    }  # fmt: skip
    table = README.read_text("utf-8").partition("## Six families")[2]
    lines = re.findall(r"`(cw\.\w+\(.*?)`[,|\s]", table.partition("Each result")[0])
    assert len(lines) == 7
    for line in lines:
        if "explain_rnn" not in line:
            exec(line, names)
