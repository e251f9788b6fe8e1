"""Words that the page explains: those that it uses, each once."""

import re

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.reporting.results import ROWS, Result, Step, Teacher, classes_rules
from tests.reporting.results import numbers_rules as numbers
from tests.wording import same_text

import clearwood as cw
from clearwood.reporting import report, summarize
from clearwood.reporting.words import WORDS
from clearwood.rules import (
    FeatureSpace,
    Interval,
    Rule,
    RuleAverage,
    RuleList,
    RuleStatistics,
    RuleSum,
)
from clearwood.simplifiers import RuleListClassifier

SAID = ["ill", "well", "ill", "ill"]
ZEROS = np.zeros((30, 2))
HISTORY = (Step(-10.0, 5), Step(-6.0, 4))


def page_of(folder, result, **options):
    path = folder / "report.html"
    report(result, path, overwrite=True, **{"show_rows": True} | options)
    return path.read_text(encoding="utf-8")


def several():
    rules = (Rule((Interval(0, low=2.0),), "c", (0.0, 0.0, 1.0)),)
    last = Rule((), "a", (0.7, 0.2, 0.1))
    return RuleList(rules, last, FeatureSpace.numeric(1), ("a", "b", "c"))


def a_sum():
    rules = (Rule((Interval(0, low=37.5),), "ill", scores=(0.0, 2.0)),)
    last = Rule((), "well", scores=(1.0, 0.0))
    return RuleSum(rules, last, FeatureSpace.numeric(1), ("well", "ill"))


def an_average():
    rules = (
        Rule(
            (Interval(0, low=37.5),),
            2.0,
            statistics=RuleStatistics(support=3.0, assigned=3.0),
        ),
    )
    return RuleAverage(rules, Rule((), 1.0), FeatureSpace.numeric(1))


def projected_curves():
    X = np.arange(20.0).reshape(-1, 1)
    rate = np.where(X[:, 0] > 9, 1.0, 0.2) * np.array([[0.8], [1.0], [1.2]])
    reference = cw.reference(np.exp(-rate), X, horizons=[1])
    return cw.ProjectedTreeSurvival(reference, n_leaf_nodes=2).fit(X)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = np.where(X[:, 0] + 0.4 * X[:, 1] > 0.6, "yes", "no")
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    return RuleListClassifier(forest, random_state=0).fit(X, y), X, y


CASES = {
    "classes": (classes_rules(), {}),
    "with rows": (classes_rules(), {"X": ROWS, "y": SAID, "model": Teacher(SAID)}),
    "three": (several(), {"X": [[1.0], [3.0]], "y": ["a", "c"]}),
    "values": (numbers(), {"X": ZEROS, "y": np.arange(30.0), "model": ZEROS[:, 0]}),
    "a sum": (a_sum(), {"X": [[36.0], [38.0]]}),
    "an average": (an_average(), {}),
    "a mixture": (Result(classes_rules(), HISTORY), {}),
    "curves of draws": (projected_curves(), {"X": np.arange(20.0).reshape(-1, 1)}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_explained_is_used_and_what_is_used_explained(case, tmp_path):
    result, given = CASES[case]
    same = words_of_page(page_of(tmp_path, result, **given))
    assert same[0] == same[1]


def test_the_same_of_a_fit(fitted, tmp_path):
    fit, X, y = fitted
    for given in ({}, {"X": X, "y": y}, {"X": X}):
        explained, used = words_of_page(page_of(tmp_path, fit, **given))
        assert explained == used
        assert "interval" in used and "probability" in used
    assert "shuffled" in used and "sensitivity" not in used


def words_of_page(page):
    """Keys of the words that are explained, and of those that lead there."""
    body, _, glossary = page.partition('<dl class="words">')
    explained = re.findall(r'<dt id="word-([^"]+)">', glossary)
    assert len(set(explained)) == len(explained)
    return set(explained), set(re.findall(r'href="#word-([^"]+)"', body))


def test_held_out_rows_have_a_word(tmp_path):
    result = Result(numbers())
    result.path_ = (RuleList((), numbers().otherwise, numbers().features), numbers())
    result.cv_results_ = {"fidelity": [0.8, 0.9], "standard_error": [0.1, 0.1]}
    explained, used = words_of_page(page_of(tmp_path, result))
    assert explained == used and {"held-out", "r2"} <= used


def test_every_word_comes_up(fitted):
    fit, X, y = fitted
    pages = [summarize(result, **given) for result, given in CASES.values()]
    pages.append(summarize(fit, X=X, y=y))
    used = {word.key for page in pages for word in page["words"]}
    assert set(WORDS) - used <= {"held-out"}


def test_next_to_no_rows_are_marked(tmp_path):
    rows = [[36.5, "g"]] * 4 + [[38.0, "r"]]
    page = page_of(tmp_path, classes_rules(), X=rows, y=["well"] * 4 + ["ill"])
    (mark,) = re.findall(r'<td [^>]*cw-few[^>]*data-label="Rows">\s*(.*?)<', page)
    same_text(mark)
    # Sensitivity and PPV rest on the one that is ill; the others on four and more.
    told = dict(
        re.findall(r'#word-(\w+)">\w+</a><span.*?data-label="Rules">(.*?)</td>', page)
    )
    few = {name for name, text in told.items() if 'class="few"' in text}
    assert few == {"sensitivity", "positive_value"}
    page = page_of(tmp_path, numbers(), X=[[0.0, 0.0]] * 4 + [[1.0, 0.0]], y=range(5))
    assert 'data-label="Rows"><strong>1 ' in page
    rows = [[36.5, "g"]] * 4 + [[38.0, "r"]] * 4
    page = page_of(tmp_path, classes_rules(), X=rows, y=["well"] * 4 + ["ill"] * 4)
    assert "only</strong>" not in page and "cw-number cw-few" not in page
