"""Explanations of single rows."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.projection.local.neighbours import Neighbourhood, nearest_rows
from clearwood.references import Reference


class Plane(Reference):
    """Straight planes, which differ in one slope; a category adds to them."""

    task, n_draws, description = "regression", 20, "planes"

    def draws(self, X):
        slopes = np.linspace(1.0, 3.0, 20)[:, None]
        plain = 2.0 * X["a"].to_numpy() - X["whole"].to_numpy()
        return plain + slopes * (X["hue"] == "blue").to_numpy()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.normal(size=200),
            "whole": rng.integers(0, 10, 200),
            "hue": pd.Categorical(rng.choice(["red", "blue"], 200)),
            "none": rng.normal(size=200),
        }
    )


def test_a_plane_is_explained_by_itself(rows):
    found = cw.explain_local(Plane(), rows.iloc[3], rows, proxy="linear", max_size=3)
    assert found.fidelity == pytest.approx(1, abs=1e-9)
    assert found.proxy_predicted == pytest.approx(found.predicted, abs=1e-9)
    assert found.monte_carlo_error < 1e-9
    assert {name for name, _, _ in found.effects} == {"a", "whole", "hue=blue"} or {
        name for name, _, _ in found.effects
    } == {"a", "whole", "hue=red"}
    assert found.inclusion_frequency == {"a": 1.0, "whole": 1.0, "hue": 1.0}
    reference = Plane().draws(rows.iloc[[3]])[:, 0]
    assert found.predicted == pytest.approx(reference.mean())
    assert found.std == pytest.approx(reference.std())


@pytest.mark.parametrize("proxy", ["tree", "linear"])
def test_the_same_question_has_the_same_answer(rows, proxy):
    first = cw.explain_local(Plane(), rows.iloc[3], rows, proxy=proxy)
    again = cw.explain_local(Plane(), rows.iloc[[3]], rows, proxy=proxy)
    assert str(first) == str(again)
    np.testing.assert_array_equal(first.neighbours, again.neighbours)
    other = cw.explain_local(Plane(), rows.iloc[3], rows, proxy=proxy, random_state=1)
    assert (first.neighbours != other.neighbours).any()
    # The Monte-Carlo error says how far apart they are.
    apart = abs(first.proxy_predicted - other.proxy_predicted)
    if str(first.rules) == str(other.rules):
        error = np.hypot(first.monte_carlo_error, other.monte_carlo_error)
        # A linear proxy of a plane has no error but rounding.
        assert apart < 6 * error + 1e-12


def test_neighbours_are_rows_that_there_could_be(rows):
    features = FeatureSpace(tuple(rows.columns), (None, None, ("blue", "red"), None))
    encoded = features.encode(rows)
    around = Neighbourhood.from_table(encoded[0], encoded, features, width=0.5)
    near = around.sample(4096, seed=0)
    assert set(near[:, 1]) <= set(range(10))
    assert set(near[:, 2]) == {0.0, 1.0}
    assert (near >= encoded.min(axis=0)).all() and (near <= encoded.max(axis=0)).all()
    # A row in the middle, so that the range of the data cuts nothing off.
    middle = np.array([0.0, 5.0, 1.0, 0.0])
    near = Neighbourhood.from_table(middle, encoded, features, width=0.3).sample(
        8192, seed=1
    )
    spread = encoded.std(axis=0)
    for d in (0, 3):
        assert near[:, d].mean() == pytest.approx(0, abs=0.01 * spread[d])
        assert near[:, d].std() == pytest.approx(0.3 * spread[d], rel=0.02)
    drawn_anew = 0.3 * (encoded[:, 2] == 0).mean()
    assert (near[:, 2] == 0).mean() == pytest.approx(drawn_anew, abs=0.01)


def test_a_step_is_found_where_it_is(rows):
    class Step(Plane):
        def draws(self, X):
            return np.where(X["a"] > 0.25, 5.0, 1.0)[None].repeat(20, axis=0)

    found = cw.explain_local(Step(), rows.iloc[0], rows, max_size=2)
    condition = found.rules.rules[0].conditions[0]
    bound = condition.high if np.isfinite(condition.high) else condition.low
    assert condition.feature == 0 and abs(bound - 0.25) < 0.02
    assert found.fidelity > 0.97


def test_probabilities_of_one_class(rows):
    class Yes(Plane):
        task = "classification"
        classes = np.array(["no", "yes"])

        def draws(self, X):
            yes = 1 / (1 + np.exp(-super().draws(X)))
            return np.stack([1 - yes, yes], axis=2)

    likely = cw.explain_local(Yes(), rows.iloc[0], rows)
    assert likely.predicted >= 0.5
    yes = cw.explain_local(Yes(), rows.iloc[0], rows, label="yes")
    no = cw.explain_local(Yes(), rows.iloc[0], rows, label="no")
    assert yes.predicted + no.predicted == pytest.approx(1)
    with refuses(InputError):
        cw.explain_local(Yes(), rows.iloc[0], rows, label="perhaps")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"proxy": "forest"}, "proxy"),
        ({"n_neighbours": 100}, ""),
        ({"max_size": 0}, "max_size"),
        ({"max_depth": 0}, "max_depth"),
        ({"width": 0.0}, "width"),
    ],
)
def test_settings_are_checked(rows, settings, message):
    with refuses(InputError, match=message):
        cw.explain_local(Plane(), rows.iloc[0], rows, **settings)


def test_survival_is_not_one_number(rows):
    draws = np.full((2, 200, 1), 0.5)
    with refuses(InputError):
        cw.explain_local(cw.reference(draws, rows, horizons=[1]), rows.iloc[0])


def test_rows_and_values_are_needed(rows):
    with refuses(InputError):
        cw.explain_local(Plane(), rows.iloc[0])
    with refuses(InputError):
        cw.explain_local(Plane(), rows.iloc[:2], rows)


def test_rows_come_in_any_form_and_with_gaps(rows):
    whole = cw.explain_local(Plane(), rows.iloc[3], rows)
    named = cw.explain_local(Plane(), rows.iloc[3].to_dict(), rows)
    assert str(named) == str(whole)
    with refuses(InputError):
        cw.explain_local(Plane(), [1.0, 2], rows)
    with refuses(InputError):
        cw.explain_local(lambda X: X, rows.iloc[3], rows)
    strange = rows.iloc[3].copy()
    strange["hue"] = "violet"
    with refuses(InputError, match="'hue'"):
        cw.explain_local(Plane(), strange, rows)

    class WithGaps(Plane):
        def draws(self, X):
            return super().draws(X.fillna({"a": 7.0}))

    gap = rows.iloc[3].copy()
    gap["a"] = np.nan
    found = cw.explain_local(WithGaps(), gap, rows, proxy="linear", max_size=2)
    assert np.isnan(found.neighbours[:, 0]).all()
    assert "a" not in found.inclusion_frequency and found.fidelity > 0.99


def test_a_missing_category_stays_missing(rows):
    class Unknown(Plane):
        def draws(self, X):
            assert X["hue"].isna().all()
            return super().draws(X)

    row = rows.iloc[3].copy()
    row["hue"] = None
    found = cw.explain_local(Unknown(), row, rows, max_size=2, n_neighbours=64)
    assert np.isnan(found.neighbours[:, 2]).all()


def test_neighbours_have_the_types_of_the_rows(rows):
    """Dates, and Booleans, too."""
    seen = []

    class Typed(Plane):
        def draws(self, X):
            seen.append(X.dtypes)
            return super().draws(X)

    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rows["whole"], "D")
    rows = rows.assign(day=days, flag=rows["a"] > 0, price=rows["a"].astype("float32"))
    cw.explain_local(Typed(), rows.iloc[3], rows, n_neighbours=64)
    assert seen[-1].equals(rows.dtypes)


def test_an_explanation_does_not_count_neighbours_as_rows(rows):
    text = str(cw.explain_local(Plane(), rows.iloc[3], rows, n_neighbours=512))
    assert " rows" not in text and "1. if " in text


def test_cuts_of_whole_numbers_are_whole(rows):
    text = str(cw.explain_local(Plane(), rows.iloc[3], rows[["whole", "a", "hue"]]))
    same_lines(text)
    assert not re.search(r"whole (<=?|>=?|is) \d+\.", text), text


# Other neighbourhoods


def test_neighbours_may_be_normal_with_a_covariance():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 2))
    covariance = np.array([[4.0, 1.0], [1.0, 0.5]])
    either = cw.reference(lambda X, draw: X[:, 0] + X[:, 1] ** 2, table, n_draws=1)
    found = cw.explain_local(
        either, table[0], width=covariance, n_neighbours=4000, proxy="linear"
    )
    assert found.n_neighbours == 4000
    # Standard errors are 1 / sqrt(4000) of the standard deviations and less.
    np.testing.assert_allclose(found.neighbours.mean(axis=0), table[0], atol=0.16)
    np.testing.assert_allclose(np.cov(found.neighbours.T), covariance, atol=0.5)
    again = cw.explain_local(
        either, table[0], width=covariance, n_neighbours=4000, proxy="linear"
    )
    assert str(again) == str(found)
    with refuses(InputError):
        cw.explain_local(either, table[0], width=np.eye(3))
    with refuses(InputError, match="30"):
        cw.explain_local(either, table[0], width=np.eye(2), n_neighbours=15)


def test_a_covariance_is_for_numbers(rows):
    with refuses(InputError, match="'hue'"):
        cw.explain_local(Plane(), rows.iloc[0], rows, width=np.eye(4))


def test_neighbours_may_be_given_or_drawn_by_a_function(rows):
    rng = np.random.default_rng(0)
    given = rows.iloc[rng.integers(0, 200, 100)].assign(a=np.linspace(-1, 1, 100))
    found = cw.explain_local(Plane(), rows.iloc[3], rows, neighbours=given)
    assert found.n_neighbours == 50
    assert set(found.neighbours[:, 0]) <= set(given["a"])
    asked = []

    def draw(n_rows, generator):
        asked.append(n_rows)
        return given.iloc[generator.integers(0, 100, n_rows)]

    drawn = cw.explain_local(
        Plane(), rows.iloc[3], rows, neighbours=draw, n_neighbours=70, proxy="linear"
    )
    assert asked == [140] and drawn.n_neighbours == 70
    assert drawn.fidelity == pytest.approx(1, abs=1e-9)
    strange = given.assign(hue=["violet"] + ["red"] * 99)
    with refuses(InputError, match="'hue'"):
        cw.explain_local(Plane(), rows.iloc[3], rows, neighbours=strange)
    with refuses(InputError, match="31"):
        cw.explain_local(Plane(), rows.iloc[3], rows, neighbours=given[:31])


def test_given_draws_are_explained_by_the_nearest_of_their_rows(rows):
    """Cells that a table of numbers could not hold stay what they are."""
    table = rows.assign(day=pd.date_range("2020-01-01", periods=200))
    bent = np.where(rows["a"] > 0, rows["a"], 0.0)
    draws = np.outer(np.linspace(1, 3, 20), bent)
    reference = cw.reference(draws, table)
    x = rows["a"].argmax()
    found = cw.explain_local(reference, table.iloc[x], width=0.4, proxy="linear")
    assert found.predicted == pytest.approx(2 * rows["a"].max()) and found.std > 0
    assert found.n_neighbours == 40
    whole = cw.explain_local(reference, table.iloc[x], width=1.0)
    assert whole.n_neighbours == 100
    spread = [abs(f.neighbours[:, 0] - f.row[0]).mean() for f in (found, whole)]
    assert spread[0] < spread[1] / 1.5
    assert list(found.inclusion_frequency)[0] == "a"
    with refuses(InputError):
        cw.explain_local(reference, {**table.iloc[x].to_dict(), "a": 7.0})
    with refuses(InputError, match="0.1"):
        cw.explain_local(reference, table.iloc[x], width=0.1)
    with refuses(InputError, match="2"):
        cw.explain_local(reference, table.iloc[x], width=2)


def test_the_nearest_rows_are_at_the_least_distance():
    rng = np.random.default_rng(0)
    features = FeatureSpace(("a", "hue"), (None, ("blue", "red", "none")))
    table = np.column_stack([rng.normal(size=80) * 3, rng.integers(0, 3, 80)])
    table[71:, 0] = table[9:14, 1] = np.nan
    for i in (75, 10, 40):
        order = nearest_rows(table[i], table, features, 0.5, 0)
        expected = []
        for cells in table:
            both = np.isnan(cells) & np.isnan(table[i])
            one = np.isnan(cells) | np.isnan(table[i])
            far = [abs(cells[0] - table[i, 0]) / np.nanstd(table[:, 0])]
            far = np.array([*far, float(cells[1] != table[i, 1])])
            expected.append((np.where(both, 0, np.where(one, 1, far)) ** 2).sum())
        assert expected[order[0]] == 0 and len(set(order.tolist())) == 41
        found = np.sort(np.array(expected)[order])
        np.testing.assert_allclose(found, np.sort(expected)[:41])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_trees_have_at_most_the_depth(rows, depth):
    class Wave(Plane):
        def draws(self, X):
            share = np.linspace(0, 1, 20)[:, None] * X["whole"].to_numpy()
            return np.sin(9 * X["a"].to_numpy()) + 0.01 * share

    found = cw.explain_local(
        Wave(), rows.iloc[0], rows, max_size=8, max_depth=depth, n_neighbours=512
    )
    assert found.rules.n_rules == 2**depth
    # That of each draw has one split at depth 1.
    assert depth > 1 or sum(found.inclusion_frequency.values()) == pytest.approx(1)
    free = cw.explain_local(Wave(), rows.iloc[0], rows, max_size=8, n_neighbours=512)
    assert free.fidelity >= found.fidelity
