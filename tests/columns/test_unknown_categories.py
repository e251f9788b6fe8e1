"""A column in another spelling than in the fit is said, once per call; a new ward not.

Whatever predicts reads rows by ``FeatureSpace.encode``, so the rule stands there; the
methods are gone through because some of them read a table more than once.
"""

import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.ensemble import HistGradientBoostingClassifier
from tests.wording import same_lines, same_text

import clearwood as cw
from clearwood._warned_once import warned_once
from clearwood.cli import main
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import UnknownCategoriesWarning


def told(call, *args, **kwargs):
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **kwargs)
    return [w for w in caught if w.category is UnknownCategoriesWarning]


# The rule


def column(n_known, n_unknown, n_missing=3):
    cells = ["a"] * n_known + ["z"] * n_unknown + [None] * n_missing
    return np.array(cells, dtype=object)[:, None]


@pytest.mark.parametrize(
    ("n_known", "n_unknown", "warns"),
    [
        (0, 0, False),
        (0, 1, False),  # One row of a new category is ordinary,
        (0, 2, True),
        (1, 3, False),  # and so are some, among few
        (2, 3, True),
        (3, 3, False),  # or among many.
        (400, 400, False),
        (400, 401, True),
    ],
)
def test_no_cell_or_most_cells_unknown(n_known, n_unknown, warns):
    space = FeatureSpace(("ward",), (("a", "b"),))
    assert bool(told(space.encode, column(n_known, n_unknown))) == warns


@pytest.mark.parametrize(
    ("n_known", "n_unknown", "warns"), [(0, 99, False), (0, 100, True), (1, 500, False)]
)
@pytest.mark.parametrize("lookup", ["integer", "hash"])
def test_models_that_name_only_what_they_ask(lookup, n_known, n_unknown, warns):
    labels, cells = ((1,), [1, 7]) if lookup == "integer" else (("a",), ["a", "z"])
    space = FeatureSpace(("ward",), (labels,), lookup=(lookup,))
    rows = [[cells[0]]] * n_known + [[cells[1]]] * n_unknown
    assert bool(told(space.encode, rows)) == warns


def test_only_what_is_asked_is_said():
    space = FeatureSpace(("ward", "hue"), (("a",), ("red",)))
    rows = [["z", "tan"]] * 3
    same_text([str(w.message) for w in told(space.encode, rows, {1})])
    assert not told(space.encode, rows, ())
    rules = cw.RuleList(
        (cw.Rule((cw.rules.CategorySet(0, (0,)),), 1.0),),
        cw.Rule((), 0.0),
        space,
    )
    assert len(told(rules.predict, rows)) == 1
    assert not told(rules.predict, [["a", "tan"]] * 3)


def test_what_it_says():
    space = FeatureSpace(("ward",), (tuple("abcdefg"),))
    (warning,) = told(space.encode, [["1"], [2], ["1"], ["a"], [None], [3]])
    same_text(str(warning.message))


def test_once_within_a_call_and_again_in_the_next():
    space = FeatureSpace(("ward",), (("a",),))

    @warned_once()
    def twice():
        space.encode([["z"]] * 2)
        with warned_once():
            space.encode([["z"]] * 3)

    assert [len(told(twice)) for _ in range(2)] == [1, 1]


# Everything that reads rows


def wards(n=200):
    rng = np.random.default_rng(0)
    ward = rng.choice(["1", "2", "3"], n)
    X = pd.DataFrame({"age": rng.normal(size=n), "ward": pd.Categorical(ward)})
    return X, np.where(ward == "2", "ill", "well"), X.assign(ward=ward.astype(int))


X, Y, AS_NUMBERS = wards()


@pytest.fixture(scope="module")
def rules():
    model = HistGradientBoostingClassifier(max_iter=3, random_state=0).fit(X, Y)
    return cw.DistilledTreeClassifier(model, max_rules=3, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def tree():
    return cw.MetaTreeClassifier(random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def forest():
    return cw.MetaForestClassifier(random_state=0).fit(X, Y)


CALLS = {
    "predict": lambda e, rows: e.predict(rows),
    "predict_proba": lambda e, rows: e.predict_proba(rows),
    "score": lambda e, rows: e.score(rows, Y),
}
OF_RULES = {
    "rules": lambda e, rows: e.rules_.predict(rows),
    "matches": lambda e, rows: e.rules_.matches(rows),
    "evaluate": lambda e, rows: e.rules_.evaluate(rows, Y, model=e.ensemble_),
    "described_on": lambda e, rows: e.rules_.described_on(rows, Y, model=e.ensemble_),
    "explain": lambda e, rows: cw.explain(e, rows[:4]),
    "ensemble": lambda e, rows: e.ensemble_.predict(rows),
    "fit": lambda e, rows: cw.InTreesClassifier(e.ensemble_).fit(rows, Y),
}
OF_LEARNERS = {
    "partial_fit": lambda e, rows: e.partial_fit(rows, Y),
    "unlearn": lambda e, rows: e.unlearn(rows, Y),
}


@pytest.mark.parametrize("call", [*CALLS, *OF_RULES])
def test_rules_say_it_once_and_point_at_the_user(rules, call):
    do = (CALLS | OF_RULES)[call]
    for strange in (AS_NUMBERS, pl.from_pandas(AS_NUMBERS)):
        (warning,) = told(do, rules, strange)
        same_lines(str(warning.message))
        assert Path(warning.filename) == Path(__file__)
    assert not told(do, rules, X.assign(ward=X["ward"].astype(str)))


@pytest.mark.parametrize("kind", ["tree", "forest"])
@pytest.mark.parametrize("call", [*CALLS, *OF_LEARNERS])
def test_learners_say_it_once_and_point_at_the_user(request, kind, call):
    learner, do = deepcopy(request.getfixturevalue(kind)), (CALLS | OF_LEARNERS)[call]
    if call == "unlearn":
        told(OF_LEARNERS["partial_fit"], learner, AS_NUMBERS)
    (warning,) = told(do, learner, AS_NUMBERS)
    same_lines(str(warning.message))
    assert Path(warning.filename) == Path(__file__)
    assert not told(do, learner, X)


def test_a_page_says_it_once(rules, tmp_path):
    page = tmp_path / "page.html"
    (warning,) = told(cw.report, rules, page, X=AS_NUMBERS, y=Y)
    assert Path(warning.filename) == Path(__file__)


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_a_command_says_it_in_one_line(rules, tmp_path, command):
    rules.rules_.save(tmp_path / "rules.json")
    table = tmp_path / "table.csv"
    AS_NUMBERS.assign(ward="west")[:5].to_csv(table, index=False)
    ran = CliRunner().invoke(main, [command, str(tmp_path / "rules.json"), str(table)])
    assert ran.exit_code == 0
    assert ran.stderr.count("\n") == 1
    same_lines(ran.stderr)
    # Read as text where the rules know texts: nothing to warn of.
    X[:5].to_csv(table, index=False)
    ran = CliRunner().invoke(main, [command, str(tmp_path / "rules.json"), str(table)])
    assert ran.exit_code == 0 and not ran.stderr
