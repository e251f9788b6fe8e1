import pickle
import re

import numpy as np
import pandas as pd
import pytest
from markupsafe import Markup, escape
from sklearn.ensemble import RandomForestClassifier
from tests._html.hostile import HOSTILE, tags_of
from tests.charts.drawn import lines
from tests.reporting.frontiers import small_frontier
from tests.reporting.results import (
    ROWS,
    Result,
    Step,
    Teacher,
    classes_rules,
    numbers_rules,
)
from tests.wording import refuses, same_lines, same_text

from clearwood._words.numbers import share_text
from clearwood.charts.scale import round_ticks
from clearwood.circuits import SPNClassifier
from clearwood.datasets import make_corral
from clearwood.exceptions import InputError
from clearwood.metatree import MetaTreeClassifier
from clearwood.reporting import report, summarize
from clearwood.reporting.summary import MOST_SHUFFLED
from clearwood.rules import FeatureSpace, Interval, Rule, RuleList, RuleSum
from clearwood.rules.decisions import decisions
from clearwood.rules.explain import explain
from clearwood.simplifiers import (
    FABRulesClassifier,
    FABRulesRegressor,
    RuleListClassifier,
    simplify,
)

PROBABILITIES = [[0.1, 0.9], [0.7, 0.3], [0.05, 0.95], [0.4, 0.6]]
SAID = ["ill", "well", "ill", "ill"]
HISTORY = (Step(-10.0, 5), Step(-6.0, 4), Step(-5.0, 4))


def page_of(folder, result, **options):
    path = folder / "report.html"
    report(result, path, overwrite=True, **{"show_rows": True} | options)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(200, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] > 0.5, "yes", "no")
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    fab = FABRulesClassifier(forest, max_rules=4, n_init=2, random_state=0)
    return fab.fit(X, y), X, y


def test_the_largest_disagreement_comes_first():
    page = summarize(classes_rules(), X=ROWS, model=Teacher(SAID, PROBABILITIES))
    failures = page["failures"]
    assert failures["n_different"] == 2
    # Row 2: surest teacher; rows 0 and 3 agree.
    assert [line["row"] for line in failures["disagreements"]] == ["2", "1"]
    same_text(failures["disagreements"][0]["values"])
    assert failures["disagreements"][1]["values"] == [
        "temperature = 38.5",
        "colour = b",
    ]
    assert failures["disagreements"][1]["rule"] == "1"


def test_missing_and_unseen_values_are_named():
    rows = [[38.0, None], [38.0, "violet"]]
    page = summarize(classes_rules(), X=rows, model=Teacher(["well", "ill"]))
    lines = page["failures"]["disagreements"]
    same_text(lines[0]["values"])
    assert not page["failures"]["by_certainty"]


def test_at_most_ten_rows_in_order_of_difference():
    X = np.zeros((30, 2))
    taught = 1.0 + np.arange(30.0)
    lines = summarize(numbers_rules(), X=X, model=taught)["failures"]["disagreements"]
    assert [line["row"] for line in lines] == [str(row) for row in range(29, 19, -1)]
    assert lines[0]["difference"] == 29.0


def test_frames_show_the_label_of_a_row():
    X = pd.DataFrame({"x0": [0.0], "x1": [0.0]}, index=["case 7"])
    page = summarize(numbers_rules(), X=X, model=[2.0])
    assert page["failures"]["disagreements"][0]["row"] == "case 7"


def test_scores_of_rules_stand_beside_those_of_the_model(fitted):
    fab, X, y = fitted
    page = summarize(fab, X=X, y=y)
    error = page["scores"]["lines"][0]
    assert error["rules"] == np.mean(fab.predict(X) != y)
    assert error["model"] == np.mean(fab.ensemble_.predict(X) != y)
    assert page["scores"]["n_rows"] == 200
    assert dict(page["facts"])["Model"].endswith("RandomForestClassifier")


def test_a_row_is_explained_and_its_way_is_dark(fitted, tmp_path):
    fab, X, y = fitted
    page = page_of(tmp_path, fab, X=X, y=y, row=dict(X.iloc[3]))
    told = explain(fab, X.iloc[3])
    assert 'href="#row"' in page and told.title in page
    assert 'class="link way"' in page
    same_lines(page)
    rule = fab.rules_[told.rule - 1]
    sure = share_text(rule.expected, rule.low, rule.high)
    assert f"interval: {escape(sure)}." in page
    with refuses(InputError):
        page_of(tmp_path, fab, row=X[:2])
    assert 'id="row"' not in page_of(tmp_path, fab, X=X, y=y)


def test_errors_of_values_are_told_without_statistics():
    X, y = np.zeros((4, 2)), np.array([1.0, 1.0, 3.0, 13.0])
    said = numbers_rules().predict(X)[0]
    lines = summarize(numbers_rules(), X=X, y=y + said, model=y)["scores"]["lines"]
    assert [line["rules"] for line in lines[:2]] == [np.sqrt(45.0), 2.0]
    assert lines[1]["model"] == abs(said)
    assert lines[3]["rules"] == 45.0
    same_text(lines[3]["name"])


def test_the_page_is_self_contained_and_the_same_each_time(fitted, tmp_path):
    fab, X, y = fitted
    page = page_of(tmp_path, fab, X=X, y=y)
    assert page == page_of(tmp_path, fab, X=X, y=y)
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"(?!#|data:)", page)
    assert "http://" not in page and "https://" not in page


def test_every_label_points_at_something(fitted, tmp_path):
    fab, X, y = fitted
    page = page_of(tmp_path, fab, X=X, y=y)
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    wanted = re.findall(r'href="#([^"]+)"', page)
    for labels in re.findall(r'aria-labelledby="([^"]+)"', page):
        wanted += labels.split()
    assert wanted and set(wanted) <= set(identifiers)


def test_a_page_without_rows_says_so(tmp_path):
    page = page_of(tmp_path, numbers_rules())
    same_lines(page)
    assert ">Fit</a>" not in page


def test_full_agreement_is_said(tmp_path):
    page = page_of(
        tmp_path, numbers_rules(), X=[[0.0, 0.0]], y=[1.0], model=Teacher([1.0])
    )
    same_lines(page)


def page_of_a_name(name, folder):
    """A page that shows it wherever one can stand."""
    rules = classes_rules(
        names=(name, "colour"),
        labels=("well", name),
        target=name,
        hues=("r", "g", name),
    )
    result = Result(rules, HISTORY, estimator=name)
    rows = pd.DataFrame(
        [[38.0, name], [36.5, "g"]],
        columns=[name, "colour"],
        index=[name, "second"],
    )
    said = Teacher(["well", name], [[0.9, 0.1], [0.1, 0.9]])
    return page_of(folder, result, X=rows, y=["well", name], model=said, title=name)


@pytest.fixture(scope="module")
def harmless(tmp_path_factory):
    return tags_of(page_of_a_name("harmless", tmp_path_factory.mktemp("harmless")))


# All of them meet the same escapes in _html/test_html.py.
@pytest.mark.parametrize("name", HOSTILE[::5])
def test_no_tag_of_a_hostile_name_survives(name, harmless, tmp_path):
    assert tags_of(page_of_a_name(name, tmp_path)) == harmless


def test_a_name_cannot_turn_the_page_around(tmp_path):
    turned = "\u202eevil"
    page = page_of(tmp_path, classes_rules(labels=("well", turned), target=turned))
    assert "\u202e" not in page and "\\u202eevil" in page


def test_settings_hold_no_address(tmp_path):
    result = Result(numbers_rules(), random_state=np.random.RandomState(0), max_rules=4)
    settings = dict(summarize(result)["settings"])
    assert settings == {"max_rules": "4", "random_state": "RandomState(MT19937)"}


def test_an_existing_file_is_left_alone(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("mine")
    with refuses(InputError):
        report(numbers_rules(), path)
    assert path.read_text() == "mine"
    report(numbers_rules(), path, overwrite=True)
    assert path.read_text() != "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_title_is_text_whatever_it_claims_to_be(tmp_path):
    title = Markup("<img src=x onerror=alert(1)>\x1b[2J")
    for result in (classes_rules(), small_frontier()):
        page = page_of(tmp_path, result, title=title)
        assert "<img" not in page and "&lt;img src=x" in page
        assert "\x1b" not in page


def test_what_speaks_against_the_rules_stands_above_them(tmp_path):
    rules = classes_rules()
    assert 'class="warning"' not in page_of(tmp_path, rules)
    doubted = rules.with_metadata(method="list", warning="No rule predicts <b>.")
    page = page_of(tmp_path, doubted)
    assert "No rule predicts &lt;b&gt;." in page
    assert page.index('class="warning"') < page.index('id="rules"')
    # Said once, not among the settings again.
    assert page.count("No rule predicts") == 1 and "list" in page


def test_numbers_are_of_the_rows_handed_in_and_the_others_are_kept(fitted, tmp_path):
    fab, X, y = fitted
    page = summarize(fab, X=X[:60], y=y[:60])
    here = fab.rules_.described_on(X[:60], y[:60], model=fab.ensemble_.predict(X[:60]))
    for line, rule, there in zip(page["rules"]["lines"], here, fab.rules_):
        assert line["rows_assigned"] == rule.rows_assigned
        assert rule.rows_assigned < there.rows_assigned or there.rows_assigned == 0
        assert line["precision_assigned"] == (
            rule.precision_assigned if rule.rows_assigned else None
        )
    kept = [line["rows_assigned"] for line in page["as_found"]["lines"]]
    assert kept == [rule.rows_assigned for rule in fab.rules_]
    shown = page_of(tmp_path, fab, X=X[:60], y=y[:60])
    alone = page_of(tmp_path, fab)
    same_lines(shown.partition("<details>")[0], without=alone)
    same_lines(shown, without=alone)


def test_who_has_seen_the_rows_is_said(fitted, tmp_path):
    fab, X, y = fitted
    tile = '<dd class="note">the model: '
    nobody = page_of(tmp_path, fab, X=X, y=y)
    same_lines(nobody)
    learnt = page_of(tmp_path, fab, X=X, y=y, held_out_from="rules")
    assert tile not in learnt
    same_lines(learnt)
    fresh = page_of(tmp_path, fab, X=X, y=y, held_out_from="model")
    assert tile in fresh and "if these rows" not in fresh
    same_lines(fresh)


def test_what_decisions_come_of_the_rules_is_shown(fitted, tmp_path):
    fab, X, y = fitted
    shown = page_of(tmp_path, fab, X=X, y=y, pos_label="no", threshold=0.4)
    found = decisions(fab, X, y, pos_label="no", threshold=0.4)
    told = found.rules.rates[0]
    for rate in (told.sensitivity, told.negative_value, told.base_rate):
        assert rate.as_share(1) in shown
    same_lines(shown)
    svgs = re.findall(r"<svg.*?</svg>", shown, re.S)
    (roc,) = [svg for svg in svgs if 'id="roc-title"' in svg]
    (dots,) = [svg for svg in svgs if 'id="calibration-title"' in svg]
    assert len(lines(roc, "first")) == len(lines(roc, "second")) == 1
    assert told.area.as_number() in roc
    assert dots.count("<circle") == len(found.calibration)
    for svg in (roc, dots):
        for x in re.findall(r'(?:cx|cy|x1|y1)="([-\d.]+)"', svg):
            assert 0 <= float(x) <= 380
    assert "decisions" not in page_of(tmp_path, fab, X=X)


def test_several_classes_have_shares_each(tmp_path):
    rules = RuleList(
        (Rule((Interval(0, low=2.0),), "c", (0.0, 0.0, 1.0)),),
        Rule((), "a", (0.7, 0.2, 0.1)),
        FeatureSpace.numeric(1),
        ("a", "b", "c"),
    )
    page = page_of(tmp_path, rules, X=[[1.0], [3.0], [1.0]], y=["a", "c", "b"])
    assert "roc-title" not in page
    same_lines(page)
    assert '33 % [6, 79] <strong class="few">3 ' in page


def test_errors_of_values_are_shown_by_rule(tmp_path):
    X, y = np.random.default_rng(0).uniform(size=(40, 2)), np.arange(40.0)
    page = page_of(tmp_path, numbers_rules(), X=X, y=y, model=y)
    (chart,) = [c for c in re.findall(r"<svg.*?</svg>", page, re.S) if "errors-" in c]
    same_text(re.findall(r'text-anchor="end">(.*?)<', chart))
    assert "Confusion matrix" not in page
    same_lines(page)
    assert page.count('<td role="cell" class="number" data-label="Rows">') >= 2


def test_a_model_is_spoken_of_in_words(fitted, tmp_path):
    fab, X, y = fitted
    page = page_of(tmp_path, fab, X=X, y=y)
    (lead,) = re.findall(r'<p class="lead">(.*?)</p>', page, re.S)
    assert "sklearn" not in lead
    same_text(lead)


def test_what_all_say_of_a_failure_stands_before_why(tmp_path):
    said = Teacher(SAID, PROBABILITIES)
    page = page_of(tmp_path, classes_rules(), X=ROWS, y=SAID, model=said)
    table = page[page.index('id="failures"') :]
    names = re.findall(r'data-label="(.*?)"', table[: table.index("</tbody>")])
    same_text(names[:4])
    assert names[-1] == "Rule and values"


def test_who_is_right_where_they_differ_is_counted(tmp_path):
    truth = ["ill", "well", "well", "ill"]
    page = page_of(tmp_path, classes_rules(), X=ROWS, y=truth, model=Teacher(SAID))
    same_lines(page)
    rows, model = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [2.0, 2.0, 1.0]
    page = page_of(
        tmp_path, numbers_rules(), X=rows, y=[2.0, 2.5, 1.0], model=Teacher(model)
    )
    same_lines(page)
    page = page_of(tmp_path, classes_rules(), X=ROWS, model=Teacher(SAID))
    assert "are right in" not in page and "closer" not in page


def test_how_sure_the_model_was_stands_beside_what_it_says(tmp_path):
    said = Teacher(SAID, PROBABILITIES)
    page = page_of(tmp_path, classes_rules(), X=ROWS, model=said)
    (told,) = re.findall(r'"Row">2<.*?data-label="Model">(.*?)</td>', page, re.S)
    assert "ill" in told and "probability 95 %" in told
    same_lines(page)
    assert 'nowrap">probability' not in page_of(
        tmp_path, classes_rules(), X=ROWS, model=Teacher(SAID)
    )


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with refuses(InputError, match=r"report\.html"):
        report(numbers_rules(), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("result", "options"),
    [
        (3, {}),
        (FABRulesRegressor(), {}),
        (numbers_rules(), {"y": [1.0]}),
        (numbers_rules(), {"X": np.zeros((0, 2))}),
        (numbers_rules(), {"X": np.zeros((2, 2)), "y": [1.0]}),
        (numbers_rules(), {"X": np.zeros((2, 2)), "model": [1]}),
        (numbers_rules(), {"X": np.zeros((2, 3))}),
        (numbers_rules(), {"held_out_from": "all"}),
        (classes_rules(), {"X": ROWS, "pos_label": "ill"}),
        (numbers_rules(), {"X": [[0.0, 0.0]], "y": [1.0], "threshold": 0.5}),
        (classes_rules(), {"X": ROWS, "y": SAID, "pos_label": "odd"}),
    ],
)
def test_bad_input_is_refused(result, options, tmp_path):
    with refuses(InputError):
        report(result, tmp_path / "report.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_decisions_and_rows_are_explained_wherever_there_are_rules(fitted):
    _, X, y = fitted
    X, y = X[:100], y[:100]
    tree = MetaTreeClassifier(max_depth=2).fit(X, y)
    page = summarize(tree, X=X, y=y, pos_label="no", row=X[:1])
    assert page["decisions"] is not None and page["row"] is not None


@pytest.mark.parametrize(
    "asked",
    [
        {"pos_label": 1},
        {"threshold": 0.5},
        {"row": [[0, 1]]},
    ],
)
def test_without_rules_nothing_is_decided_or_explained(asked):
    with refuses(InputError):
        summarize(SPNClassifier(), X=[[0, 1], [1, 0]], y=[0, 1], **asked)


def test_a_folder_that_is_absent_is_named():
    with refuses(InputError, match="'nowhere'"):
        report(numbers_rules(), "nowhere/report.html")


def test_ticks_lie_between_the_bounds_and_are_few():
    for low, high in [(0, 1), (-1e6, 3), (1, 2), (0.001, 0.0012), (0, 1e-300)]:
        ticks = round_ticks(low, high)
        assert 1 <= len(ticks) <= 4
        assert all(low <= tick <= high for tick in ticks)


def test_a_sum_tells_which_rules_were_added():
    rules = RuleSum(
        (Rule((Interval(0, low=37.5),), 2.0), Rule((Interval(0, low=38.2),), 3.0)),
        Rule((), 1.0),
        FeatureSpace.numeric(1, ["temperature"]),
    )
    page = summarize(rules, X=[[36.0], [38.0], [39.0]], model=np.array([9.0, 3, 5]))
    lines = page["failures"]["disagreements"]
    same_text([line["rule"] for line in lines])
    same_text(lines[0]["values"])
    assert lines[1]["values"] == ["temperature = 39"]
    assert lines[1]["difference"] == 1.0


def test_a_failure_names_the_rule_that_decided_and_no_other_that_holds():
    rules = RuleList(
        (
            Rule((Interval(0, low=0.5),), 3.0),
            Rule((Interval(0, low=0.0), Interval(1, low=0.0)), 1.0),
        ),
        Rule((), 0.0),
        FeatureSpace.numeric(2),
    )
    rows = [[1.0, 1.0], [0.2, 1.0], [-1.0, 1.0]]
    lines = summarize(rules, X=rows, model=[9.0, 5.0, 2.0])["failures"]["disagreements"]
    assert [line["rule"] for line in lines] == ["1", "2", "3"]
    assert lines[0]["values"] == ["x0 = 1"]
    same_text(lines[2]["values"])


def test_a_page_encodes_its_rows_once_for_the_rules_and_twice_for_the_model(
    tmp_path, monkeypatch
):
    rng = np.random.default_rng(0)
    # Of more rows than these, a sample is shuffled.
    n = MOST_SHUFFLED + 1
    X = pd.DataFrame({"a": rng.random(n), "b": rng.random(n)})
    y = np.where(X["a"] > 0.5, "yes", "no")
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    result = RuleListClassifier(forest, random_state=0).fit(X, y)
    encode, seen = FeatureSpace.encode, []

    def counted(space, table, *args, **how):
        seen.append(table is X)
        return encode(space, table, *args, **how)

    monkeypatch.setattr(FeatureSpace, "encode", counted)
    report(result, tmp_path / "page.html", X=X, y=y)
    # Once more for the sample.
    assert sum(seen) <= 1 + 2 + 1


def test_rules_keep_their_model_for_the_page(tmp_path):
    X, y = make_corral(n_noise=1, random_state=0)
    X = pd.DataFrame(X).add_prefix("f")
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    rules = simplify(forest, X, y, max_rules=2, random_state=0)
    given = summarize(rules, X=X, y=y, model=forest)
    assert given["failures"] is not None
    kept = summarize(rules, X=X, y=y)
    assert kept["scores"] == given["scores"]
    assert kept["failures"] == given["failures"]
    # Where the rows lack columns of the model, and in files, it is gone.
    few = X[[X.columns[d] for d in sorted(rules.used_features)]]
    assert summarize(rules, X=few, y=y)["failures"] is None
    assert summarize(pickle.loads(pickle.dumps(rules)), X=X)["failures"] is None
