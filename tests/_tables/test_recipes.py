"""Other engines predict on large data as the page shows."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.waiting import SECONDS

import clearwood as cw
from clearwood.rules import Interval, Rule, RuleList

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "large_data.rst"
BLOCK = re.compile(r"\.\. code-block:: python\n\n((?:    .*\n|\n)+)")


@pytest.fixture
def table(tmp_path):
    """A folder with rules, the rows, and the code for Ray."""
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=999), "b": rng.normal(size=999)})
    rows["target"] = np.where(rows["a"] + rows["b"] > 0, "high", "low")
    space = cw.FeatureSpace(("a", "b"), (None, None))
    line = Rule((Interval(0, low=0.5),), "high", probabilities=(0.9, 0.1))
    otherwise = Rule((), "low", probabilities=(0.3, 0.7))
    rules = RuleList((line,), otherwise, space, classes=("high", "low"))
    cw.save(rules, tmp_path / "rules.json")
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    text = PAGE.read_text(encoding="utf-8").split("Other engines\n")[1]
    blocks, on_ray = map(textwrap.dedent, BLOCK.findall(text))
    (tmp_path / "blocks.py").write_text(blocks, encoding="utf-8")
    return tmp_path, rows, rules, on_ray


def test_counts_of_blocks_add_up(table, monkeypatch):
    folder, rows, rules, _ = table
    monkeypatch.chdir(folder)
    names = {}
    exec((folder / "blocks.py").read_text(encoding="utf-8"), names)
    parts = pd.concat([names["count"](rows[:400]), names["count"](rows[400:])])
    counts = parts.groupby(["target", "predicted"])["size"].sum().to_dict()
    pairs = list(zip(rows["target"], rules.predict(rows)))
    assert counts == {pair: pairs.count(pair) for pair in set(pairs)}


def test_ray_predicts_as_the_rules_do(table):
    pytest.importorskip("ray")
    folder, rows, rules, code = table
    command = [sys.executable, "-c", code]
    subprocess.run(command, cwd=folder, check=True, timeout=SECONDS)
    (written,) = folder.glob("predicted_by_*")
    found = pd.concat(map(pd.read_parquet, sorted(written.glob("*.parquet"))))
    assert len(found) == len(rows)
    assert found["predicted"].tolist() == rules.predict(found[["a", "b"]]).tolist()
