"""Pages show no single rows, and no statistics of few rows, unless asked for."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.reporting.results import classes_rules, numbers_rules

import clearwood as cw
from clearwood.reporting.disclosure import MIN_ROWS, SINGLE_ROWS, disclosed

COLUMNS = ["temperature", "colour"]


def page_of(folder, result, **options):
    path = folder / "page.html"
    cw.report(result, path, overwrite=True, **options)
    return path.read_text("utf-8")


def patients(n, **columns):
    return pd.DataFrame(columns, index=[f"patient {i:03}" for i in range(n)])


def density():
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    X = patients(200, a=a, b=a + rng.normal(size=200) / 9)
    X.iloc[7] = [3.0, -3.0]
    return cw.MiniSPN(random_state=0).fit(X), {"X": X}


def classes():
    X = patients(40, temperature=[38.0, 36.5] * 20, colour=["r", "g"] * 20)
    return classes_rules(), {"X": X, "model": ["ill"] * 40, "y": ["ill"] * 40}


def numbers():
    X = patients(40, x0=np.arange(40.0) % 2, x1=0.0)
    return numbers_rules(), {"X": X, "model": np.arange(40.0), "y": np.arange(40.0)}


@pytest.mark.parametrize("made", [density, classes, numbers])
def test_rows_are_listed_on_demand_only(made, tmp_path):
    result, rows = made()
    assert "patient" not in page_of(tmp_path, result, **rows)
    assert "patient 0" in page_of(tmp_path, result, **rows, show_rows=True)


def test_an_exploration_lists_no_anomalies(tmp_path):
    found = cw.explore(density()[1]["X"], seconds=9, random_state=0)
    assert found.anomalies
    assert 'class="cw-row"' not in page_of(tmp_path, found)
    page = page_of(tmp_path, found, show_rows=True)
    assert page.count('class="cw-row"') == len(found.anomalies)


@pytest.mark.parametrize("n", range(MIN_ROWS + 2))
def test_statistics_of_few_rows_are_withheld(n, tmp_path):
    X = patients(n + 40, temperature=[38.0] * n + [36.5] * 40, colour="r")
    y = ["ill"] * n + ["well"] * 40
    rows = {"X": X, "y": y, "model": y}
    first, *_ = cells_of(page_of(tmp_path, classes_rules(), **rows))
    whole, *_ = cells_of(page_of(tmp_path, classes_rules(), **rows, show_rows=True))
    if 0 < n < MIN_ROWS:
        assert first == [f"< {MIN_ROWS}", "–", "–"]
        assert whole[0].startswith(str(n)) and whole[1:] != first[1:]
    else:
        assert first == whole


def test_a_rule_that_covers_few_rows_and_predicts_none(tmp_path):
    rules, _ = classes()
    hidden = replace(rules, rules=(rules.rules[0], rules.rules[0]))
    X = patients(43, temperature=[38.0] * 3 + [36.5] * 40, colour="r")
    page = page_of(tmp_path, hidden, X=X, y=["ill"] * 43, model=["ill"] * 43)
    assert cells_of(page)[1][:2] == [f"< {MIN_ROWS}", "–"]


def test_the_summary_gives_no_count_below_the_minimum(tmp_path):
    X = patients(42, temperature=[38.0] * 2 + [36.5] * 40, colour="r")
    rows = {"X": X, "y": ["ill"] * 2 + ["well"] * 40, "model": ["ill"] * 42}
    page = " ".join(page_of(tmp_path, classes_rules(), **rows).split())
    assert "than 5" in page
    whole = page_of(tmp_path, classes_rules(), **rows, show_rows=True)
    assert "most 2" in " ".join(whole.split())


def cells_of(page):
    """Number of rows, agreement and precision of each rule."""
    table = page[page.index('class="clearwood-rules"') :]
    table = table[: table.index("</table>")]
    texts = [
        re.sub(r"<[^>]+>|\s+", " ", one).replace("&lt;", "<").replace("&ndash;", "–")
        for one in re.findall(
            r'data-label="(?:Rows|Agreement|Precision)">(.*?)</td>', table, re.S
        )
    ]
    texts = [" ".join(text.split()) for text in texts]
    return [texts[i : i + 3] for i in range(0, len(texts), 3)]


@pytest.mark.parametrize("made", [classes, numbers])
def test_a_rule_of_few_rows_is_in_no_chart(made, tmp_path):
    result, rows = made()
    few = {name: one[1:42:2][:21] for name, one in rows.items()}
    few["X"] = pd.concat([rows["X"].iloc[:2:2], few["X"]])
    few["y"] = np.append(rows["y"][:1], few["y"])
    few["model"] = np.append(rows["model"][:1], few["model"])
    page = page_of(tmp_path, result, **few)
    whole = page_of(tmp_path, result, **few, show_rows=True)
    charts = [re.findall(r"<svg.*?</svg>", one, re.S) for one in (page, whole)]
    assert sum(map(len, charts[0])) < sum(map(len, charts[1]))


@pytest.mark.parametrize("few", [False, True])
def test_a_group_of_few_rows_has_no_errors(few, tmp_path):
    X, y = classes()[1]["X"], ["ill"] * 40
    by = ["a"] * (36 + 2 * few) + ["b"] * (4 - 2 * few)
    by = by if few else ["a"] * 20 + ["b"] * 20
    found = cw.monitor(classes_rules(), X, y, by=by)
    page = page_of(tmp_path, found)
    groups = page[page.index('id="groups"') : page.index('id="rules"')]
    assert ("&lt; 5" in groups and "–" in groups) is few
    assert "&lt; 5" not in page_of(tmp_path, found, show_rows=True)


def test_a_leaf_of_a_projection_with_few_rows_has_no_mean(tmp_path):
    X = patients(60, a=np.arange(60.0))
    tree = cw.ProjectedTreeRegressor(n_leaf_nodes=2, random_state=0)
    tree.fit(X, 1000.0 * (X["a"] > 30))
    few = X.iloc[28:60]
    page = page_of(tmp_path, tree, X=few, y=few["a"])
    leaves = page[page.index("Prediction of each leaf") :]
    assert "&lt; 5" in leaves[: leaves.index("</section>")]
    assert "&lt; 5" not in page_of(tmp_path, tree, X=X, y=X["a"])


def test_content_keeps_all_else():
    content = {
        "n_rows": 2,
        "title": "a",
        "lines": [{"rows": 3, "ratio": "2", "level": "x"}, {"rows": 9, "ratio": "2"}],
        **dict.fromkeys(SINGLE_ROWS, [{"row": "1"}]),
    }
    kept = disclosed(content)
    assert kept["lines"] == [
        {"rows": "< 5", "ratio": "–", "level": "x"},
        {"rows": 9, "ratio": "2"},
    ]
    assert kept["n_rows"] == 2 and kept["title"] == "a"
    assert all(kept[key] == [] for key in SINGLE_ROWS)
