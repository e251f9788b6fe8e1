"""The kind of rules that follows a model best where it was not fitted."""

import warnings
from types import SimpleNamespace

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.exceptions import InputError, PoorFidelityWarning
from clearwood.simplifiers import api

QUICK = {"method": "auto", "max_rules": 4, "n_synthetic": 0, "random_state": 0}


def test_what_adds_up_is_said_by_a_sum():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (150, 4)).astype(float)
    forest = RandomForestRegressor(10, random_state=0).fit(X, X @ [4, 3, 2, 1])
    rules = cw.simplify(forest, X, **QUICK)
    assert rules.combine == "sum"
    assert rules.about["method"] == "additive"
    same_lines(rules.about["kinds"])


def test_of_what_is_as_good_the_list_is_taken(cancer, monkeypatch):
    X, _, forest = cancer
    X, quick = X[:60], {**QUICK, "max_rules": 2}
    figures = iter([(0.900, 0.01), (0.904, 0.01), (0.8, 0.01), (0.89, 0.01),
                    (0.904, 0.01), (0.8, 0.01)])  # fmt: skip
    monkeypatch.setattr(api, "_held_out", lambda found: next(figures))
    assert cw.simplify(forest, X, **quick).about["method"] == "list"
    assert cw.simplify(forest, X, **quick).about["method"] == "tree"


def test_figures_are_those_of_what_was_chosen():
    judged = {"fidelity": [0.7, 0.8], "standard_error": [0.3, 0.4]}
    found = SimpleNamespace(cv_results_=judged, n_rules_=2)
    assert api._held_out(found) == (0.8, 0.4)
    judged |= {"score": [3, 4], "score_error": [7, 8]}
    assert api._held_out(found) == (4, 8)


def test_only_what_is_taken_warns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    forest = RandomForestClassifier(5, random_state=0).fit(X, rng.integers(0, 2, 60))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rules = cw.simplify(forest, X, **{**QUICK, "max_rules": 1})
    # One line is what was asked for.
    assert rules.n_rules == 1 and not caught
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rules = cw.simplify(forest, X, **QUICK)
    poor = [w for w in caught if w.category is PoorFidelityWarning]
    assert len(poor) <= 2 and bool(poor) == ("warning" in rules.about)


def test_sizes_are_chosen(cancer):
    X, y, forest = cancer
    with refuses(InputError, match="max_rules.*n_rules"):
        cw.simplify(forest, X, y, method="auto", n_rules=3)
