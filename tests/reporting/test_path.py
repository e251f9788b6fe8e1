import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests._html.hostile import HOSTILE, tags_of
from tests.charts.drawn import dots
from tests.reporting.results import Result, Teacher
from tests.rules.displays.samples import scores_sum, values_sum
from tests.wording import same_lines

from clearwood.columns.feature_space import FeatureSpace
from clearwood.reporting import report, summarize
from clearwood.rules import Interval, Rule, RuleList, RuleStatistics
from clearwood.simplifiers import RuleListClassifier, RuleListRegressor


def page_of(folder, result, **options):
    path = folder / "report.html"
    report(result, path, overwrite=True, **{"show_rows": True} | options)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=["classification", "regression"])
def fitted(request):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(240, 3))
    if request.param == "classification":
        y = np.array(["low", "middle", "high"])[(X[:, :2] > 0.5).sum(axis=1)]
        forest, make = RandomForestClassifier, RuleListClassifier
    else:
        y = 2 * X[:, 0] + (X[:, 1] > 0.5)
        forest, make = RandomForestRegressor, RuleListRegressor
    model = forest(8, max_depth=4, random_state=0).fit(X, y)
    rules = make(model, max_rules=4, n_synthetic=0, random_state=0)
    return rules.fit(X, y), X[:100], y[:100]


def test_scores_of_the_path_are_those_of_its_rules(fitted):
    rules, X, y = fitted
    path = summarize(rules, X=X, y=y)["path"]
    assert len(path["lines"]) == len(rules.path_)
    for line, found in zip(path["lines"], rules.path_):
        scores = found.evaluate(X, y, model=rules.ensemble_)
        assert line["n_rules"] == found.n_rules
        assert line["n_literals"] == found.n_literals
        assert line["fidelity"] == pytest.approx(scores.fidelity, abs=5e-5)
        assert line["error"] == scores.error
        assert line["is_chosen"] == (found.n_rules == rules.rules_.n_rules)
    assert sum(line["is_chosen"] for line in path["lines"]) == 1


def test_higher_dots_stand_for_higher_fidelity(fitted):
    rules, X, _ = fitted
    path = summarize(rules, X=X)["path"]
    # The last is the large one of the size that was chosen.
    *all_sizes, chosen = dots(path["chart"])
    x, y = np.array(all_sizes).T
    fidelity = [line["fidelity"] for line in path["lines"]]
    assert (np.diff(x) > 0).all()
    assert np.array_equal(np.argsort(-y, kind="stable"), np.argsort(fidelity))
    assert chosen[0] == x[rules.rules_.n_rules - 1]


def test_without_rows_the_held_out_fidelity_is_shown(fitted, tmp_path):
    rules, _, _ = fitted
    path = summarize(rules)["path"]
    assert (
        not path["has_rows"] and path["has_held_out"] and not len(dots(path["chart"]))
    )
    assert "On the rows" not in path["words"]
    same_lines(path["words"])
    same_lines(page_of(tmp_path, rules))


def test_without_rows_and_held_out_ones_there_is_no_chart(fitted, tmp_path):
    rules, X, y = fitted
    alone = Result(rules.rules_)
    alone.path_ = rules.path_
    assert summarize(alone)["path"] is None
    assert summarize(rules.rules_, X=X, y=y)["path"] is None
    assert "Number of rules" not in page_of(tmp_path, alone)


def test_a_path_of_one_line_is_drawn(tmp_path):
    one = RuleList((), Rule((), 1.0), FeatureSpace.numeric(1))
    result = Result(one)
    result.path_ = (one,)
    page = page_of(tmp_path, result, X=[[0.0], [1.0]], model=Teacher([1.0, 2.0]))
    same_lines(page)
    assert page.split('id="path"')[1].count("<circle") == 2


def test_the_page_of_a_list_says_nothing_of_fab(fitted, tmp_path):
    rules, X, y = fitted
    page = page_of(tmp_path, rules, X=X, y=y)
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.S).lower()
    for word in ("component", "bound on", "iteration", "fab", "how they were found"):
        assert word not in text
    assert page == page_of(tmp_path, rules, X=X, y=y)


def test_the_chart_is_read_out_and_every_label_points_at_something(fitted, tmp_path):
    rules, X, y = fitted
    page = page_of(tmp_path, rules, X=X, y=y)
    drawn = re.findall(r"<svg.*?</svg>", page, re.S)
    (text,) = [svg for svg in drawn if 'id="path-title"' in svg]
    svg = ElementTree.fromstring(text)
    assert svg.get("role") == "img"
    assert [child.tag for child in svg][:2] == ["title", "desc"]
    assert svg[1].text == summarize(rules, X=X, y=y)["path"]["words"]
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    wanted = re.findall(r'href="#([^"]+)"', page)
    for labels in re.findall(r'aria-labelledby="([^"]+)"', page):
        wanted += labels.split()
    assert "path" in wanted and set(wanted) <= set(identifiers)


@pytest.mark.parametrize("rules", [values_sum(), scores_sum(2), scores_sum(4)])
def test_a_sum_is_told_as_a_sum(rules, fitted, tmp_path):
    X = np.random.default_rng(0).uniform(size=(20, 2))
    page = page_of(tmp_path, rules, X=X, model=Teacher(rules.predict(X)))
    same_lines(page)
    assert "otherwise" not in page
    same_lines(page_of(tmp_path, fitted[0]), without=page)


@pytest.mark.parametrize("name", HOSTILE[::20])
def test_no_tag_of_a_hostile_name_survives_in_bars_and_chart(name, tmp_path):
    def page(hostile):
        list_of_two = RuleList(
            (
                Rule(
                    (Interval(0, low=0.5),),
                    3.0,
                    statistics=RuleStatistics(5.0, 5.0, 0.8, std=0.25),
                ),
            ),
            Rule((), 1.0, statistics=RuleStatistics(5.0, 5.0, 0.1, std=0.5)),
            FeatureSpace.numeric(1, [hostile]),
            target=hostile,
        )
        result = Result(list_of_two, estimator=hostile)
        result.path_ = (list_of_two,)
        said = Teacher([3.0, 1.0])
        return page_of(tmp_path, result, X=[[1.0], [0.0]], model=said, title=hostile)

    assert tags_of(page(name)) == tags_of(page("harmless"))
