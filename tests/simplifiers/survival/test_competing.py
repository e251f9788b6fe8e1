"""Rules for survival with competing risks: printed incidences, scores, pages, files."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from sksurv import metrics
from sksurv.ensemble import RandomSurvivalForest
from sksurv.nonparametric import cumulative_incidence_competing_risks
from sksurv.tree import SurvivalTree
from sksurv.util import Surv
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.outcomes.kaplan_meier import kaplan_meier
from clearwood.rules.evaluation.survival_scores import observed_curves

HORIZONS = (1.0, 3.0)
SETTINGS = {"horizons": HORIZONS, "max_rules": 3, "n_synthetic": 200, "random_state": 0}
KINDS = [cw.RuleListSurvival, cw.DistilledTreeSurvival]


def patients(n, seed):
    """Relapse above the age of 60; others die of something else, which prevents it."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(30, 90, n), "dose": rng.random(n).round(2)})
    relapse = rng.exponential(np.where(X["age"] > 60, 1.5, 10.0))
    death, left = rng.exponential(4.0, n), rng.exponential(6.0, n)
    time = np.minimum(np.minimum(relapse, death), left)
    cause = np.select([time == relapse, time == death], [1, 2], 0)
    return X, pd.DataFrame({"cause": cause, "years": time})


def true_incidence(X, horizon):
    """Of constant hazards: the share of each in their sum, up to the horizon."""
    first = np.where(X["age"] > 60, 1 / 1.5, 1 / 10.0)
    any_event = first + 1 / 4.0
    return first / any_event * (1 - np.exp(-any_event * horizon))


@pytest.fixture(scope="module")
def forest():
    X, y = patients(500, 0)
    y = Surv.from_arrays(y["cause"] == 1, y["years"])
    return RandomSurvivalForest(10, min_samples_leaf=15, random_state=0).fit(X, y)


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def found(request, forest):
    return request.param(forest, **SETTINGS).fit(*patients(500, 0))


def test_rules_state_the_incidence_of_each_cause(found):
    same_text(str(found.rules_))
    X, _ = patients(20_000, 1)
    place = found.rules_.apply(X)
    for j, rule in enumerate(found.rules_):
        share, *_ = rule.curve.causes[0].shown(3.0)
        true = true_incidence(X, 3.0)[place == j].mean()
        # Three standard errors. One minus Kaplan-Meier is .86 above the age of 60.
        assert share == pytest.approx(true, abs=0.2)


def test_intervals_cover_the_incidence_of_new_rows():
    """95 %, give or take five standard errors of 27 intervals: 74 to 100 %."""
    new, _ = patients(4000, 99)
    covered, horizon = [], 2.0
    for seed in range(9):
        X, y = patients(300, seed)
        model = SurvivalTree(min_samples_leaf=10, random_state=seed)
        tree = cw.DistilledTreeSurvival(model, **SETTINGS | {"horizons": horizon})
        place = tree.fit(X, y).rules_.apply(new)
        for j, rule in enumerate(tree.rules_):
            _, low, high = rule.curve.causes[0].shown(horizon)
            covered.append(
                low <= true_incidence(new, horizon)[place == j].mean() <= high
            )
    assert np.mean(covered) >= 0.74


def test_predictions_are_the_printed_incidences(found):
    X, _ = patients(50, 1)
    incidence = found.predict_cumulative_incidence(X, HORIZONS)
    assert incidence.shape == (50, 2, 2)
    np.testing.assert_allclose(
        found.predict(X), 1 - incidence[:, 0].mean(axis=1), atol=1e-4
    )
    free = found.predict_survival_function(X, HORIZONS)
    np.testing.assert_allclose(free, 1 - incidence.sum(axis=1), atol=1e-12)
    query = found.rules_.to_sql("duckdb", table="X", probabilities=True)
    columns = duckdb.sql(query).df()
    shown = columns[
        [f"incidence of cause {k} at {h:g}" for k in (1, 2) for h in (1, 3)]
    ]
    np.testing.assert_allclose(shown, incidence.reshape(50, 4), atol=1e-12)
    frame = found.rules_.to_frame()
    assert (frame[f"{shown.columns[-1]} low"] > 0).all()


def test_explanations_state_the_incidences(found, tmp_path):
    X, y = patients(50, 1)
    explained = cw.explain(found, X.iloc[[0]])
    rule = found.rules_[explained.rule - 1]
    assert explained.words == rule.curve.text(HORIZONS)
    assert explained.words in " ".join(str(explained).split())
    assert explained.as_dict()["words"].count("incidence of cause") == 2
    page = tmp_path / "page.html"
    cw.report(found, page, X=X, y=y, row=X.iloc[[0]])
    text = page.read_text(encoding="utf-8")
    assert f"<p>{explained.words}</p>" in text
    assert f'data-label="then">{explained.words}' in text
    assert f"mean {found.rules_.target} at 1 and 3: " in text
    assert "then survival" not in text
    assert "Observed incidences" in text and "Observed survival" not in text


def test_rows_of_each_rule_have_their_own_estimate(found):
    X, y = patients(400, 2)
    coded = found.rules_.outcome.check(y, len(X))
    assert np.isfinite(coded).all()
    own = np.array([*zip(y["cause"] == 1, y["years"], y["cause"])],
                   [("event", bool), ("time", float), ("cause", int)])  # fmt: skip
    for j, one in enumerate(observed_curves(found.rules_, X, own)):
        rows = found.rules_.apply(X) == j
        times, incidence = cumulative_incidence_competing_risks(
            y["cause"][rows], y["years"][rows]
        )
        last = np.searchsorted(times, 3.0, side="right") - 1
        shown = [curve.shown(3.0)[0] for curve in one.curve.causes]
        assert shown == pytest.approx(incidence[1:, last], abs=1e-5)
        causes = one.as_dict(HORIZONS)["horizons"][1]["causes"]
        assert [one["incidence"] for one in causes] == shown


def test_scores_count_rows_with_another_event(found):
    X, y = patients(400, 3)
    scores = found.evaluate(X, y)
    cause, time = y["cause"].to_numpy(), y["years"].to_numpy()
    free = 1 - found.predict_cumulative_incidence(X, HORIZONS)[:, 0]
    censored = kaplan_meier(time, cause == 0, np.ones(400))

    def followed(at):
        place = np.searchsorted(censored.times, at, side="right")
        return np.append(1.0, censored.survival)[place]

    for k, horizon in enumerate(HORIZONS):
        weight = np.where(
            time <= horizon, (cause > 0) / followed(time), 1 / followed(horizon)
        )
        event = (cause == 1) & (time <= horizon)
        expected = np.mean(weight * (free[:, k] - ~event) ** 2)
        assert scores.brier[k] == pytest.approx(expected)
    # Rows with another event are followed to the end without one of the first.
    until = np.where(cause == 2, time.max(), time)
    c = metrics.concordance_index_censored(cause == 1, until, -free.mean(axis=1))[0]
    assert scores.harrell == found.score(X, y) == pytest.approx(c)
    assert 0.6 < scores.uno < 0.9


def test_files_pages_and_monitoring(found, tmp_path):
    rules, (X, y) = found.rules_, patients(300, 4)
    assert cw.RuleSet.from_json(rules.to_json()) == rules
    text = rules.to_json().replace('"n_causes": 2', '"n_causes": 3')
    with refuses(ModelFormatError):
        cw.RuleSet.from_json(text)
    path = tmp_path / "page.html"
    cw.report(found, path, X=X, y=y)
    page = path.read_text(encoding="utf-8")
    assert page.count('aria-labelledby="survival-') == 2 * rules.n_rules
    assert "Aalen-Johansen" in page and "Kaplan-Meier" not in page
    assert 'data-label="Cause">2</td>' in page
    assert not cw.monitor(rules, X, y).signals
    assert rules.target.endswith("cause 1")


def test_rows_of_other_causes_are_refused(found, forest):
    X, y = patients(300, 4)
    with refuses(InputError):
        found.evaluate(X, y.assign(cause=y["cause"].replace(2, 3)))
    single = cw.RuleListSurvival(forest, **SETTINGS).fit(
        X, y.assign(cause=y["cause"] > 0)
    )
    with refuses(InputError):
        single.evaluate(X, y)
    assert single.rules_.outcome.n_causes == 1


def test_rules_of_the_data_alone():
    X, y = patients(500, 0)
    tree = cw.DistilledTreeSurvival(
        lambda X: np.zeros(len(X)), learn_from="labels", n_rules=2, horizons=3.0
    ).fit(X, y)
    incidence = true_incidence(X, 3.0)
    assert np.corrcoef(1 - tree.predict(X), incidence)[0, 1] > 0.9
