"""Pages show no single rows, and no statistics of few rows, unless asked for."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.reporting.results import classes_rules, numbers_rules
from tests.wording import same_text

import clearwood as cw
from clearwood._html import render
from clearwood._html.disclosure import MIN_ROWS, OfRows, disclosed
from clearwood.families import OWN, section_of


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
    page = page_of(tmp_path, result, **rows)
    assert "patient" not in page
    if made is numbers:
        same_text(re.search(r"([^.<]*) are not listed", page)[0].strip())
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


def rare(n_known):
    """A number and a date known in few rows, and a level of as many."""
    rng = np.random.default_rng(0)
    X = patients(120, x=rng.normal(size=120), job="b").assign(y=lambda t: 2 * t["x"])
    X.loc[X["x"] > 0, "job"] = "a"
    few = X.index[:n_known]
    X.loc[few, "job"] = "astronaut"
    X.loc[few, "salary"] = [123456.0] * 2 + [98765.0] * (n_known - 2)
    born = [pd.Timestamp("1961-02-03")] * 2 + [pd.Timestamp("1977-05-06")] * (
        n_known - 2
    )
    X["born"] = pd.Series(born, index=few)
    return X


@pytest.mark.parametrize("n_known", [4, 40])
@pytest.mark.parametrize("made", ["explored", "circuit"])
def test_columns_and_levels_of_few_rows_have_no_values(made, n_known, tmp_path):
    X = rare(n_known)
    if made == "explored":
        found, rows = cw.explore(X, seconds=1, random_state=0), {}
    else:
        found, rows = cw.MiniSPN(random_state=0).fit(X), {"X": X}
    page = page_of(tmp_path, found, **rows)
    values = ("123456", "98765", "1961", "1977", "astronaut")
    assert any(one in page for one in values) == (n_known >= MIN_ROWS)
    assert any(
        one in page_of(tmp_path, found, **rows, show_rows=True) for one in values
    )


def test_classes_are_shown_beside_rows_without_them(tmp_path):
    X = rare(40)[["x", "y"]]
    labels = np.where(X["x"] > 0, "ill", "healthy")
    found = cw.SPNClassifier(random_state=0).fit(X, labels)
    page = page_of(tmp_path, found, X=X)
    assert "healthy in" in page or "ill in" in page


def test_content_is_unreadable_until_it_is_opened():
    group = OfRows({"share": 0.5}, 2, instead={"share": "–"})
    page = {"title": "a", "groups": [group, OfRows("x", 5), OfRows("y", 0)]}
    with pytest.raises(TypeError, match="not iterable"):
        render("comparison/stability.html", facts=OfRows(["a"], 9))
    shown = {"title": "a", "groups": [{"share": 0.5}, "x", "y"]}
    assert disclosed(page, show_rows=True) == shown
    shown["groups"][0] = {"share": "–"}
    assert disclosed(page, show_rows=False) == shown


# A table of which the label, and the numbers of unusual rows, identify a person

N, FIRST = 60, 56


def persons():
    """Rows from ``FIRST`` are far from all others, and from means and thresholds."""
    rng = np.random.default_rng(0)
    place = rng.permutation(FIRST)
    columns = {
        name: np.append(
            start + 90.0 * (rng.permutation(FIRST) if far else place),
            [9023.0 + start % 7 + far + 211 * k for k in range(N - FIRST)],
        )
        for name, start, far in (
            ("alpha", 103, 0),
            ("beta", 131, 50),
            ("value", 161, 99),
        )
    }
    index = [f"person {i:02}" for i in range(N)]
    X = pd.DataFrame(columns, index=index)
    values = ((X["alpha"] + X.pop("value")) // 2).to_numpy()
    place = np.append(place, [99] * (N - FIRST))
    return X, values, np.where((place > 30) ^ (place % 7 == 0), "y", "n")


def shown_cells(page, X, values):
    """Labels of rows, and numbers of unusual rows, on a page."""
    unusual = np.column_stack([X, values])[FIRST:].ravel()
    numbers = re.findall(r"(?<![\d.])\d{4,5}(?![\d]|\.\d)", page.replace(",", ""))
    cells = {f"{cell:.0f}" for cell in unusual} & set(numbers)
    return cells | set(re.findall(r"person \d\d", page))


def forest(y):
    make = RandomForestRegressor if y.dtype == float else RandomForestClassifier
    return make(5, min_samples_leaf=5, random_state=0)


def fitted(make, **settings):
    """A fit, and what its page gets; regressors get values that are unique, too."""

    def made():
        X, values, labels = persons()
        if make is cw.MiniSPN:
            return make(random_state=0).fit(X), {"X": X}
        y = (
            labels
            if "Class" in make.__name__ or "Logistic" in make.__name__
            else values
        )
        takes = {"estimator", "reference"} & set(make._get_param_names())
        model = {name: forest(y).fit(X, y) for name in takes}
        return make(random_state=0, **model, **settings).fit(X, y), {"X": X, "y": y}

    return made


def monitored():
    X, values, _ = persons()
    rules = cw.RuleListRegressor(forest(values).fit(X, values), random_state=0)
    by = ["a"] * (N - 2) + ["b"] * 2
    return cw.monitor(rules.fit(X, values), X, values, by=by), {}


def compared():
    X, values, _ = persons()
    quick = {"cv": 2, "n_refits": 2, "max_rules": 4, "random_state": 0}
    model = forest(values).fit(X, values)
    return cw.compare(model, X, values, methods=["list", "tree"], **quick), {}


def different():
    X, values, _ = persons()
    old, new = (forest(values).fit(X[list(used)], values) for used in (["alpha"], X))
    return cw.difference(lambda X: old.predict(X[["alpha"]]), new, X, values), {}


def alternative():
    found, rows = fitted(cw.RuleListClassifier)()
    return cw.alternatives(found, rows["X"], n_cuts=1), {}


def explored():
    X, _, labels = persons()
    table = X.assign(name=[f"person {i:02}" for i in range(N)], y=labels)
    return cw.explore(table, "y", seconds=0.01, random_state=0), {}


def of_two_targets():
    X, values, _ = persons()
    both = np.column_stack([values, values[::-1]])
    model = RandomForestRegressor(5, min_samples_leaf=5, random_state=0).fit(X, both)
    return cw.simplify(model, X, both, max_rules=10, random_state=0), {}


def residuals():
    found, rows = fitted(cw.RuleListRegressor)()
    return cw.decisions(found, **rows), {}


PAGES = {
    "list": fitted(cw.RuleListRegressor, n_rules=10),
    "tree": fitted(cw.DistilledTreeClassifier, n_rules=10),
    "sum": fitted(cw.AdditiveRulesRegressor, n_rules=10),
    "average": fitted(cw.NodeHarvestClassifier),
    "trees": fitted(cw.MetaTreeRegressor),
    "forest": fitted(cw.MetaForestClassifier),
    "projection": fitted(cw.ProjectedTreeRegressor),
    "coefficients": fitted(cw.ProjectedLogisticRegression),
    "graph": fitted(cw.SelectiveBayesianForestClassifier, n_graphs=20),
    "circuit": fitted(cw.MiniSPN),
    "monitoring": monitored,
    "compared": compared,
    "difference": different,
    "alternatives": alternative,
    "explored": explored,
    "residuals": residuals,
    "of_two_targets": of_two_targets,
}
"""By kind of page; of families, by the names of their sections."""

SUBJECTS = {"local", "states", "hmm", "hybrid"}
"""Sections that are about the row, or the sequences, that they are asked for."""


def test_every_section_is_held_to_it():
    own = {section.name for family in OWN for section in family.sections.values()}
    assert own - SUBJECTS <= set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_no_page_shows_a_cell_of_a_single_row(name, tmp_path, in_this_process):
    result, rows = PAGES[name]()
    section = section_of(result)
    assert section is None or section.name == name
    X, values, _ = persons()
    assert not shown_cells(page_of(tmp_path, result, **rows), X, values)
    if name in {"list", "tree", "circuit", "explored"}:
        whole = page_of(tmp_path, result, **rows, show_rows=True)
        assert shown_cells(whole, X, values)


def test_nor_does_a_validation_document(tmp_path):
    (result, rows), (X, values, _) = PAGES["list"](), persons()
    path, by = tmp_path / "page.html", ["a"] * (N - 2) + ["b"] * 2
    cw.validation_document(result, path, **rows, by=by, purpose="Any.")
    assert not shown_cells(path.read_text("utf-8"), X, values)
