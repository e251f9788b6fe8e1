"""What can be done with rules for every task: it works, or is refused by name.

The table stands in ``texts/tasks.txt``: per task a line for each use.
"""

import re

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.wording import same_text

import clearwood as cw
from clearwood.exceptions import ClearwoodError

N = 120
LIST = {"n_rules": 2, "n_synthetic": 0, "random_state": 0}
FOREIGN = re.compile(r"RMSE|mean squared? error(?! of (scores|pseudo))", re.I)
"""Errors of single values, which no other task has."""

DRAWN = np.random.default_rng(0).uniform(size=(N, 4))
X = pd.DataFrame(DRAWN[:, :2], columns=["a", "b"])
HIGH = X["a"] > 0.5
VALUE = (2.0 * HIGH + X["b"] + 0.2 * DRAWN[:, 2]).rename("value")
QUERY = np.arange(N) // 10


def risk(X):
    return np.where(X["a"] > 0.5, 0.3, 0.8)


def classes():
    y = HIGH.map({True: "yes", False: "no"})
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    return cw.RuleListClassifier(model, **LIST).fit(X, y), y, model


def values():
    model = DecisionTreeRegressor(random_state=0).fit(X, VALUE)
    return cw.RuleListRegressor(model, **LIST).fit(X, VALUE), VALUE, model


def ranking():
    grade = (VALUE > 1).astype(int)
    ranker = lightgbm.LGBMRanker(n_estimators=3, min_child_samples=5, verbose=-1)
    ranker.fit(X, grade, group=[10] * (N // 10))
    return cw.RuleListRegressor(ranker, **LIST).fit(X, grade), grade, ranker


def quantile():
    model = GradientBoostingRegressor(loss="quantile", alpha=0.8, n_estimators=5)
    model.fit(X, VALUE)
    return cw.simplify(model, X, VALUE, method="list", **LIST), VALUE, model


def effect():
    given = {"treatment": np.arange(N) % 2, "propensity": 0.5}
    own = {"task": "effect", "method": "list", **LIST, **given}
    rules = cw.simplify(risk, X, VALUE, **own)
    return rules, cw.effect_scores(X, VALUE, **given), risk


def survival(n_causes=1):
    time = 1 - np.where(HIGH, 1.0, 3.0) * np.log(DRAWN[:, 2])
    cause = (DRAWN[:, 3] * (n_causes + 1)).astype(int)
    y = pd.DataFrame({"cause": cause, "years": time})
    return cw.RuleListSurvival(risk, horizons=[2, 3], **LIST).fit(X, y), y, risk


def competing_risks():
    return survival(2)


def several_targets():
    Y = pd.DataFrame({"one": VALUE, "two": X["b"]})
    model = DecisionTreeRegressor(random_state=0).fit(X, Y)
    return cw.simplify(model, X, Y, **LIST), Y, model


TASKS = [classes, values, ranking, quantile, effect, survival, competing_risks,
         several_targets]  # fmt: skip


def uses(task, path):
    """Every use as a function that returns what it prints, or the page."""
    result, y, model = task()
    is_estimator = hasattr(result, "estimator_")
    rules = result.rules_ if is_estimator else result
    compared = {"methods": "list", "max_rules": 1, "cv": 2, "n_refits": 0}

    def page():
        cw.report(result, path / "page.html", X=X, y=y)
        return (path / "page.html").read_text(encoding="utf-8")

    def file():
        cw.save(rules, path / "rules.json")
        assert cw.load(path / "rules.json") == rules
        return ""

    return {
        "evaluate": lambda: rules.evaluate(X, y),
        "evaluate, groups": lambda: rules.evaluate(X, y, groups=QUERY),
        "decisions": lambda: cw.decisions(result, X, y),
        "decisions, model": lambda: cw.decisions(model, X, y),
        "monitor": lambda: cw.monitor(result, X, y),
        "monitor, by": lambda: cw.monitor(result, X, y, by=QUERY // 6),
        "compare": lambda: cw.compare(model, X, y, **compared),
        "stability": lambda: cw.stability(result, X, y, n_refits=2, random_state=0),
        "report": page,
        "validation": lambda: cw.validation_document(
            result, path / "doc.html", X=X, y=y, purpose="Example."
        ),
        "to_sql": rules.to_sql,
        "file": file,
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_every_use_works_or_is_refused_by_name(task, in_this_process, tmp_path):
    table = []
    for name, use in uses(task, tmp_path).items():
        try:
            found = str(use())
        except ClearwoodError as refusal:
            table.append(f"{name}: {refusal}")
            continue
        table.append(f"{name}: works")
        if task not in (classes, values):
            assert not FOREIGN.search(found), name
            assert task != ranking or not found.startswith("error"), name
    same_text(table)
