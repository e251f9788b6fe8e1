"""A first look at tables, tidy and hostile."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.wording import refuses, same_lines, same_text

import clearwood as cw
from clearwood.exceptions import InputError, InterruptedFitWarning
from clearwood.exploration import contest
from clearwood.exploration.explore import _lines
from clearwood.exploration.section import section

SHORT = {"seconds": 0.01, "random_state": 0}
"""The gradient boosting and one readable model only."""


def loans(n=160, seed=0):
    """An identifier, texts, gaps, a code, and a target that depends on two columns."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    rate = rng.normal(8, 2, n).round(1)
    score = (age < 40) * 1.5 + (rate > 8) * 1.5 - 1.5
    table = pd.DataFrame({
        "loan": [f"L{i}" for i in range(n)],
        "age": np.where(rng.random(n) < 0.03, 999, age),
        "rate": [f"{x}%" for x in rate],
        "city": rng.choice(["Rome", "Oslo", None], n, p=[0.5, 0.4, 0.1]),
        "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(age, "D"),
        "default": np.where(rng.random(n) < 1 / (1 + np.exp(-2 * score)), "yes", "no"),
    })  # fmt: skip
    return pd.concat([table, table[:1]], ignore_index=True)


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contest, "N_FOLDS", 3)
        return cw.explore(loans(), "default", seconds=1000, random_state=0)


def test_it_prints_overview_models_caveats_and_anomalies(found):
    same_lines(str(found))
    frame = found.to_frame()
    assert frame["model"].tolist().count("gradient boosting") == 1
    assert frame["recommended"].sum() == 1
    assert frame["log_loss"].is_monotonic_increasing
    best = frame[frame["recommended"]].iloc[0]
    assert 1 <= best["size"] <= 30 and best["auc"] > 0.7
    assert found.choice[1].scores.loss >= best["log_loss"] - 1e-12


def test_a_boosting_that_is_clearly_worse_is_named_so(found):
    def caveat(difference):
        entries = [
            e._replace(losses=found.choice[1].losses + difference)
            if e.contender.name == contest.BOOSTING
            else e
            for e in found.entries
        ]
        return " ".join(replace(found, entries=entries).caveats())

    noise = 0.1 * np.cos(np.arange(len(found.choice[1].losses)))
    assert "predicts worse" in caveat(0.5 + noise)
    assert "predicts better" in caveat(noise - 0.5)
    assert "beyond chance" in caveat(noise)


def test_its_best_model_predicts_new_rows_as_they_come(found):
    new = loans(50, seed=1).drop(columns=["default", "loan"])
    new.loc[0, "age"] = 999
    read = found.read(new)
    assert read["age"].isna().tolist()[0] and read["rate"].dtype == float
    assert np.mean(found.best.predict(read) == loans(50, seed=1)["default"]) > 0.6


def test_rules_of_all_sizes_name_the_target(found):
    rules = [e.fitted.rules_ for e in found.entries if e.contender.parts == "literals"]
    assert rules
    assert {one.target for one in rules} == {"default"}


def test_its_page_shows_coefficients_of_dates_per_day(found):
    linear = [e for e in found.entries if e.contender.parts in ("", "terms")]
    best = replace(found, entries=linear)
    (output,) = section(best)["coefficients"]["outputs"]
    line = next(line for line in output["lines"] if line["name"] == "since")
    terms = best.best.terms_
    term = terms.names.index("since")
    change = best.best.coef_[0, term] / terms.unit[term]
    assert line["unit"] == "per day" and line["step"].endswith(" days")
    assert float(line["odds"][2:]) - 1 == pytest.approx(np.expm1(change), rel=0.1)
    others = [one for one in output["lines"] if one["name"] == "rate"]
    assert [one["unit"] for one in others] == ["per unit"]


def test_its_page_has_all_parts(found, tmp_path):
    path = tmp_path / "page.html"
    cw.report(found, path)
    same_lines(path.read_text(encoding="utf-8"))
    with refuses(InputError):
        cw.report(found, tmp_path / "other.html", X=loans())


def test_the_same_seed_gives_the_same_result():
    one, two = (cw.explore(loans(), "default", **SHORT) for _ in range(2))
    assert str(one).splitlines()[:20] == str(two).splitlines()[:20]
    losses = [[entry.losses for entry in found.entries] for found in (one, two)]
    np.testing.assert_array_equal(*losses)


@pytest.mark.parametrize("kind", ["unfitted", "fitted", "held out"])
def test_a_model_of_ones_own_is_a_row_of_the_table(kind):
    table = loans()
    X, y = table[["age", "city"]].fillna("none"), table["default"]
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(encoder, RandomForestClassifier(5, random_state=0))
    table = X.assign(default=y)
    if kind != "unfitted":
        model.fit(X, y)
    given = SHORT | {"held_out_from": "model" if kind == "held out" else None}
    found = cw.explore(table, "default", model, **given)
    mine = next(e for e in found.entries if "your model" in e.contender.name)
    if kind == "unfitted":
        assert mine.scores.accuracy < 0.95
    else:
        np.testing.assert_allclose(mine.predicted, model.predict_proba(X))
    # Only the user knows whether a fitted model was trained on the rows.
    is_unknown = kind == "fitted"
    assert ("training rows" in mine.contender.name) == is_unknown
    caveats = " ".join(found.caveats())
    assert ("optimistic" in caveats) == is_unknown
    assert ("Also better" in caveats) == (kind == "held out")
    assert ("held_out_from" in found.lines[1]) == (kind == "held out")


def test_values_and_their_rmse():
    table = loans().assign(default=lambda t: t["age"] * 1.0 + (t["city"] == "Rome"))
    found = cw.explore(table, "default", **SHORT)
    assert found.task == "regression"
    frame = found.to_frame()
    assert "rmse" in frame and "auc" not in frame and "RMSE" in str(found)
    squared = next(e for e in found.entries if e.contender.name == "linear model")
    error = np.sqrt(np.mean((squared.predicted - found.data.y) ** 2))
    assert squared.scores.loss == pytest.approx(error)


HOSTILE = {
    "one column": pd.DataFrame({"y": ["a", "b"] * 20}),
    "all missing": pd.DataFrame({"x": [None] * 30, "y": [None] * 30}),
    "one class": pd.DataFrame({"x": np.arange(30.0) ** 2, "y": ["a"] * 30}),
    "ids only": pd.DataFrame({"id": range(30), "y": ["a", "b"] * 15}),
    "two rows": pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}),
    "no rows": pd.DataFrame({"x": [], "y": []}),
    "rare class": pd.DataFrame(
        {"x": np.arange(40.0) % 7, "y": ["a", "b"] * 19 + ["c"] * 2}
    ),
    "target of dates": pd.DataFrame(
        {"x": np.arange(40) % 3, "y": pd.date_range("2020-01-01", periods=40)}
    ),
    "markup": pd.DataFrame(
        {"<script>": ["<b>", "\x1b[2J"] * 20, "y": ["&", "\n"] * 20}
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("target", ["y", None])
def test_hostile_tables_get_an_overview_and_the_reason_why_not_more(
    name, target, tmp_path
):
    found = cw.explore(HOSTILE[name], target, **SHORT)
    if target:
        same_text(found.notes)
    printed = str(found)
    assert "\x1b" not in printed and "not known of" not in printed
    assert "nan" not in printed and "1 columns" not in printed
    cw.report(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>" not in page and "\x1b" not in page


def test_a_column_known_in_two_rows_is_set_aside():
    x = np.random.default_rng(0).normal(size=80)
    table = pd.DataFrame({"x": x, "y": 2 * x + np.sin(9 * x)})
    table["pay"] = [123.0, 987.0, *[np.nan] * 78]
    found = cw.explore(table, "y", **SHORT)
    assert found.best is not None
    assert "pay" not in found.table
    same_text(found.notes[0])


def test_what_is_asked_wrongly_is_refused():
    with refuses(InputError):
        cw.explore(loans(), "age_")
    for given in ({"held_out_from": "rules", "model": len}, {"held_out_from": "model"}):
        with refuses(InputError):
            cw.explore(loans(), "default", **given)
    for seconds in (0, "9"):
        with refuses(InputError):
            cw.explore(loans(), "default", seconds=seconds)


def test_new_rows_need_the_columns_of_the_table(found):
    with refuses(InputError, "'age'"):
        found.read(loans().drop(columns="age"))


def test_ctrl_c_keeps_what_is_done(monkeypatch):
    fits = []

    def stop(*arguments):
        if len(fits) == 2:
            raise KeyboardInterrupt
        fits.append(original(*arguments))
        return fits[-1]

    original = contest._fit
    monkeypatch.setattr(contest, "_fit", stop)
    with pytest.warns(InterruptedFitWarning):
        found = cw.explore(loans(), "default", seconds=1000, random_state=0)
    names = [entry.contender.name for entry in found.entries]
    assert names == ["constant", "gradient boosting", "linear model"]
    assert found.best is not None


def test_lines_that_repeat_an_exploration_have_what_is_not_the_default():
    python, command = _lines("a b.csv", "y", None, 30, None, 1)[1:]
    assert python == "found = cw.explore('a b.csv', target='y', random_state=1)"
    assert command == "clearwood explore 'a b.csv' --target y --random-state 1"
    command = _lines("a.csv", None, None, 31, None, 1)[2]
    assert command == "clearwood explore a.csv --seconds 31 --random-state 1"
    _, python = _lines("a.csv", "y", object(), 31, "model", 1)  # no command has one
    assert "model=model, seconds=31, held_out_from='model'" in python
