"""What people call columns, on the pages of results of every family."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.reporting.frontiers import frontier, point, values_rules
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.exceptions import InputError

INFO = {"chol": {"name": "cholesterol", "unit": "mg/dl", "description": "in the blood"}}
rng = np.random.default_rng(0)
X = pd.DataFrame(
    {"chol": rng.normal(200, 30, 80).round(), "age": rng.normal(50, 9, 80)}
)
y = np.where(X["chol"] > 205, "ill", "well")
X.attrs["column_info"] = INFO

FITS = {
    "meta-tree": lambda: cw.MetaTreeClassifier(max_depth=2, random_state=0).fit(X, y),
    "graph": lambda: cw.SelectiveBayesianForestClassifier(random_state=0).fit(X, y),
    "circuit": lambda: cw.LearnSPN(random_state=0).fit(X),
    "states": lambda: cw.HiddenMarkovModel(
        2, emission="gaussian", algorithm="em", random_state=0
    ).fit(X),
}


@pytest.mark.parametrize("kind", FITS)
def test_a_table_says_it_to_what_is_fitted_and_saved(kind, tmp_path):
    found = FITS[kind]()
    cw.save(found, tmp_path / "kept")
    pages = []
    for number, result in enumerate((found, cw.load(tmp_path / "kept"))):
        page = tmp_path / f"page{number}.html"
        cw.report(result, page, X=X)
        pages.append(page.read_text("utf-8"))
        assert "cholesterol" in pages[-1] and ">chol<" not in pages[-1]
        # The glossary below rules says what the data call it.
        if kind != "meta-tree":
            assert not re.search(r"\bchol\b", pages[-1])
        with refuses(InputError):
            cw.report(result, page, column_info=INFO, overwrite=True)


def test_a_comparison_takes_it_on_its_page(tmp_path):
    rules = values_rules(3, names=("chol", "age"))
    told = rules.with_columns(INFO)
    found = frontier([
        point("list", 3, 0.2, rules=rules), point("imodels:FIGS", 2, 0.3, rules=None),
    ])  # fmt: skip
    assert found.with_columns(INFO).points[0].text == str(told)
    assert found.with_columns(INFO).points[1] == found.points[1]
    cw.report(found, tmp_path / "page.html", column_info=INFO)
    same_lines((tmp_path / "page.html").read_text("utf-8"))
    cw.report(found, tmp_path / "bare.html")
    assert "cholesterol" not in (tmp_path / "bare.html").read_text("utf-8")
