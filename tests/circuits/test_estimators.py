"""What estimators of densities promise, and what the repairs of MiniSPN are worth."""

import datetime
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from tests.circuits.learning.test_golden import table as rows_of
from tests.circuits.made import GOLDEN
from tests.estimators import DENSITIES, check_batches
from tests.wording import refuses, same_lines, warns

import clearwood as cw
from clearwood.circuits.base import held_out
from clearwood.circuits.nodes import Sum, walk
from clearwood.columns.table_variables import NumericColumn
from clearwood.exceptions import (
    ExtrapolationWarning,
    IndependentColumnsWarning,
    InputError,
    LostDigitsWarning,
    UnknownCategoriesWarning,
)

APART = (cw.LatentTreeSPN,)
"""Of which numbers are independent of all other columns."""

each = pytest.mark.parametrize("make", DENSITIES, ids=lambda make: make.__name__)


def people(n=300, seed=0, missing=0.1):
    """Two kinds of people, by text, truth value, grade and numbers, with holes."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    age = rng.normal(40 + 25 * ill, 8)
    table = pd.DataFrame(
        {
            "ward": np.where(
                rng.random(n) < 0.1, "north", np.where(ill, "west", "east")
            ),
            "ill": ill,
            "age": age,
            "grade": rng.integers(1, 4, n),
            "pulse": 70 + 0.3 * age + rng.normal(0, 4, n),
        }
    )
    table.loc[rng.random(n) < 0.1, "ward"] = "north"
    return table.mask(rng.random(table.shape) < missing) if missing else table


def made(make, **settings):
    return make(**{"random_state": 0, **DENSITIES[make], **settings})


@pytest.fixture(scope="module")
def fitted():
    """Of all learners one, only to be read."""
    return {make: made(make).fit(people()) for make in DENSITIES}


@each
def test_a_density_is_the_same_in_any_batch(make, fitted):
    check_batches(people(1100, seed=1), fitted[make].score_samples)


@each
def test_a_density_of_all_that_there_is(make, fitted):
    found = fitted[make]
    new = people(400, seed=1, missing=0)
    alone = sum(
        stats.norm(new[name].mean(), new[name].std()).logpdf(new[name]).mean()
        for name in ("age", "pulse")
    )
    shares = (
        new[name].value_counts(normalize=True) for name in ("ward", "ill", "grade")
    )
    alone += sum((share * np.log(share)).sum() for share in shares)
    assert found.score(new) > alone + 0.7
    # Levels sum to one: the density of what is left is that without the column.
    rows = new[:5]
    total = sum(
        np.exp(found.score_samples(rows.assign(ward=ward)))
        for ward in ("north", "east", "west")
    )
    with pytest.warns(UnknownCategoriesWarning):
        total += np.exp(found.score_samples(rows.assign(ward="new")))
    np.testing.assert_allclose(
        np.log(total), found.score_samples(rows.assign(ward=None)), rtol=1e-9
    )
    nothing = pd.DataFrame([[None] * 5], columns=rows.columns)
    np.testing.assert_allclose(found.score_samples(nothing), 0, atol=1e-12)


@each
def test_kinds_of_tables_and_orders_of_columns_say_the_same(make, fitted):
    X = people()
    for form in (
        lambda X: X.astype(object),
        lambda X: X.convert_dtypes(),
        pl.from_pandas,
        lambda X: X.assign(ward=X["ward"].astype("category")),
    ):
        np.testing.assert_array_equal(
            made(make).fit(form(X)).score_samples(form(X)),
            fitted[make].score_samples(X),
        )
    with pytest.raises(ValueError, match="feature names"):
        fitted[make].score_samples(X.rename(columns={"age": "years"}))


@each
def test_units_move_the_density_alone(make, fitted):
    X = people()
    moved = X.assign(age=X["age"] * 2.0**20, pulse=X["pulse"] - 1e5)
    found = made(make).fit(moved)
    shift = 20 * np.log(2) * X["age"].notna()
    np.testing.assert_allclose(
        found.score_samples(moved), fitted[make].score_samples(X) - shift, atol=1e-6
    )


@each
def test_the_seed_decides_and_not_the_jobs(make):
    X = people(150)
    several = "n_networks" in make._get_param_names()
    one, two, other = (
        made(
            make,
            random_state=seed,
            **({"n_networks": 2, "n_jobs": jobs} if several else {}),
        )
        .fit(X)
        .score_samples(X)
        for jobs, seed in ((1, 0), (2, 0), (1, 1))
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


@each
def test_pickles(make, fitted):
    X = people()
    again = pickle.loads(pickle.dumps(fitted[make]))
    np.testing.assert_array_equal(again.score_samples(X), fitted[make].score_samples(X))
    assert again.degrees_of_freedom_ == fitted[make].degrees_of_freedom_ > 10


@each
def test_levels_that_are_new_are_improbable(make, fitted):
    rows = people(6)
    of = {
        ward: fitted[make].score_samples(rows.assign(ward=ward))
        for ward in ("north", "east", "west", None)
    }
    rows["ward"] = ["south", *rows["ward"][1:]]
    with warns(UnknownCategoriesWarning, match="1 of 6 rows of 'ward'"):
        found = fitted[make].score_samples(rows)
    assert found[0] < max(own[0] for own in of.values()) - 3
    # 300 wards, none of which occurs once.
    assert found[0] - of[None][0] == pytest.approx(np.log(0.5 / 301), abs=0.2)
    missing = fitted[make].conditional(rows.assign(age=None))["age"].mean
    without = rows.assign(ward=[None, *rows["ward"][1:]], age=None)
    same = fitted[make].conditional(without)["age"].mean
    np.testing.assert_array_equal(missing, same)


@each
def test_columns_that_say_nothing_change_nothing(make):
    X = people(120)
    wider = X.assign(one=7.0, none=np.nan, same="x")
    plain, found = made(make).fit(X), made(make).fit(wider)
    always = 2 * np.log1p(-0.5 / 121)
    if "n_iter" not in make._get_param_names():  # draws go other ways
        np.testing.assert_allclose(
            found.score_samples(wider), plain.score_samples(X) + always
        )
    other = wider.assign(one=8.0, none=3.0, same="y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownCategoriesWarning)
        np.testing.assert_allclose(
            found.score_samples(other),
            found.score_samples(wider) - always + 2 * np.log(0.5 / 121),
        )


@each
def test_few_rows(make):
    X = people(3, missing=0)
    with pytest.raises(ValueError, match="0 sample"):
        made(make).fit(X[:0])
    for n in (1, 2, 3):
        found = made(make).fit(X[:n])
        assert np.isfinite(found.score_samples(X[:n])).all()
        assert len(found.sample(2, random_state=0)) == 2


@each
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": np.inf}, "'age'"),
        ({"ward": [f"name {i}" for i in range(300)]}, "'ward'"),
        ({"age": datetime.time(7)}, "'age'"),
        ({"age": [(1, 2)] * 300}, "'age'"),
        ({"age": np.linspace(0, 1e200, 300)}, "'age'"),
    ],
    ids=["infinite", "free text", "times", "pairs", "huge"],
)
def test_bad_columns_are_named(make, change, message, fitted):
    X = people().assign(**change)
    with refuses(InputError, match=message):
        made(make).fit(X)
    if "age" in change and change["age"] is np.inf:
        with refuses(InputError, match=message):
            fitted[make].score_samples(X)


@pytest.mark.parametrize(
    "form",
    [
        lambda X: X,
        lambda X: X.astype("Int64"),
        lambda X: pd.concat([X.astype(object), pd.DataFrame({"id": [None]})]),
        lambda X: X.to_numpy(),
        pl.from_pandas,
    ],
)
def test_large_whole_numbers_are_exact_or_refused(form):
    ids = 2**60 + np.repeat([0, 1, 7], 20)
    X = pd.DataFrame({"id": ids, "code": np.tile([1, 2], 30)})
    with refuses(InputError, match=f"{2**60}.*{2**60 + 1}"):
        cw.MiniSPN().fit(form(X))
    with refuses(InputError):
        cw.SPNClassifier().fit(form(X), np.arange(len(form(X))) % 2)
    X["id"] = 2**60 + 1024 * np.repeat([0, 1, 7], 20)
    found = cw.MiniSPN(random_state=0).fit(form(X)).circuit_.features.categories
    assert found[0] == tuple(2**60 + 1024 * x for x in (0, 1, 7))


@each
def test_cells_so_far_out_that_all_others_are_one_are_named(make):
    X = people(120)
    X["age"] -= 50.0  # so that there are no logarithms
    X.loc[17, "age"] = 1e12
    with warns(LostDigitsWarning, match="'age'.*17"):
        made(make).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LostDigitsWarning)
        X.loc[17, "age"] = 5000.0
        made(make).fit(X)


def test_columns_outside_of_a_latent_tree_are_named():
    X = people(60).assign(weight=np.arange(60.0), height=np.arange(60.0) ** 2)
    with warns(IndependentColumnsWarning, match="'age'.*1 more"):
        cw.LatentTreeSPN(2, n_networks=2, random_state=0).fit(X)
    rest = X[["ward", "ill", "grade"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error", IndependentColumnsWarning)
        cw.LatentTreeSPN(2, random_state=0).fit(rest)
        cw.LatentTreeSPN(2, random_state=0).fit(X[["age"]])
        cw.LatentTreeSPN(2, discrete=["grade"], random_state=0).fit(rest)
        cw.MiniSPN(random_state=0).fit(X)


@each
def test_conditionals(make, fitted):
    found, rows = fitted[make], people(5, seed=3, missing=0)
    rows.loc[0, "age"] = np.nan
    answer = found.conditional(rows)
    assert list(answer) == ["age"] and answer["age"].rows.tolist() == [0]
    known = found.conditional(rows, given=["age", 4])
    assert set(known) == {"ward", "ill", "grade", "age"}
    old, young = (
        found.conditional(pd.DataFrame({**rows.iloc[0], "age": [age]}), given=["age"])
        for age in (75.0, 30.0)
    )
    if make not in APART:
        p, q = (own["ill"].probabilities[0, 1] for own in (young, old))
        assert p < 0.3 < 0.8 < q
    for one in ("age", 2):
        alone = found.conditional(rows, given=one)
        assert set(alone) == {"ward", "ill", "grade", "pulse", "age"}
    with refuses(InputError, match="'years'"):
        found.conditional(rows, given="years")
    with refuses(InputError, match="'years'"):
        found.conditional(rows, given=["years"])
    # The known cells of one row, by name.
    by_name = found.conditional({"age": 75.0})
    frame = pd.DataFrame({"age": [75.0]}).reindex(columns=list(rows))
    of_frame = found.conditional(frame.astype({"age": float}))
    assert str(by_name) == str(of_frame) and list(by_name) == list(of_frame)
    table = by_name.to_frame()
    shares = table[table["column"] == "ill"]["probability"]
    assert shares.tolist() == by_name["ill"].probabilities[0].tolist()
    with refuses(InputError, match="'years'"):
        found.conditional({"years": 75})


def test_anomalies_are_a_frame_with_reasons():
    found, rows = cw.MiniSPN(random_state=0).fit(people()), people(20, seed=3)
    rows.index = [f"row {i}" for i in range(20)]
    rows.loc["row 7", "age"] = 1e4
    table = found.anomalies(rows, n_rows=3)
    assert table.index[0] == "row 7" and len(table) <= 3
    assert table["because"].iloc[0].startswith("age is 10,000, expected ")
    assert table["surprise"].is_monotonic_decreasing
    density = found.score_samples(rows.loc[table.index])
    np.testing.assert_allclose(table["log_density"], density)
    assert found.anomalies(rows, n_rows=0).empty


def test_cells_too_far_out_are_impossible_without_a_word(recwarn):
    found = cw.MiniSPN(random_state=0).fit(people())
    rows = people(2, missing=0).assign(age=[1e300, 50.0], ward=None)
    assert np.isneginf(found.score_samples(rows)).tolist() == [True, False]
    cw.circuits.AnomalyDisplay.from_estimator(found, rows[:1])
    assert not [str(w.message) for w in recwarn]
    with refuses(InputError), pytest.warns(ExtrapolationWarning):
        found.most_probable(rows)


def test_nothing_that_is_asked_changes_a_table():
    X = people(60)[["age", "pulse"]].to_numpy()
    before = X.copy()
    found = cw.MiniSPN(random_state=0).fit(X)
    found.conditional(X, given=[0])
    found.most_probable(X[:2])
    found.score(X)
    np.testing.assert_array_equal(X, before)


@each
def test_draws_under_evidence(make, fitted):
    found = fitted[make]
    drawn = found.sample(2000, given={"ill": True}, random_state=0)
    assert drawn["ill"].all() and list(drawn) == list(people())
    assert drawn["ill"].dtype == bool and drawn["grade"].dtype.kind == "i"
    assert make in APART or abs(drawn["age"].mean() - 65) < 3
    again = found.sample(2000, given={1: True}, random_state=0)
    pd.testing.assert_frame_equal(again, drawn)
    with refuses(InputError, match="'ward'.*'south'.*'east'"):
        found.sample(given={"ward": "south"})
    for n in (-1, 2.0, "3", None):
        with refuses(InputError, match=f"n_samples.*{n!r}"):
            found.sample(n)
    for given in ("ward=west", [("ward", "west")], 3):
        with refuses(InputError):
            found.sample(given=given)
    with refuses(InputError, match="'ward'.*'east'.*'west'"):
        found.sample(given={"ward": ["east", "west"]})


@each
def test_the_most_probable_completion(make, fitted):
    rows = people(4, seed=5, missing=0)
    holes = rows.assign(ward=None, ill=None)
    found = fitted[make].most_probable(holes)
    assert found.proved.all()
    wanted = np.where(rows["age"] > 52, "west", "east")
    assert (found.values["ward"] == wanted).sum() >= 3
    np.testing.assert_allclose(
        found.log_density, fitted[make].score_samples(found.values)
    )


@each
def test_point_masses_are_found(make):
    rng = np.random.default_rng(0)
    smokes = rng.random(200) < 0.4
    X = pd.DataFrame({
        "ill": rng.random(200) < np.where(smokes, 0.8, 0.2),
        "packs": np.where(smokes, rng.normal(20, 5, 200).round(2), 0.0),
    })  # fmt: skip
    X.loc[:20, "packs"] = np.nan
    found = made(make).fit(X)
    table = found.circuit_.table
    assert table.numbers[0] is None and table.numbers[1].point_masses == (0.0,)
    same_lines(str(found.circuit_))
    drawn = found.sample(400, random_state=0)
    assert abs((drawn["packs"] == 0).mean() - (X["packs"].dropna() == 0).mean()) < 0.1
    np.testing.assert_array_equal(drawn["packs"], drawn["packs"].round(2))
    assert (found.conditional(X)["packs"].at[:, 0] > 0.05).all()
    if hasattr(found, "front_"):
        smaller = found.at_most(found.degrees_of_freedom_)
        assert smaller.circuit_.table is table


@each
def test_frames_of_polars_come_out_where_they_came_in(make, fitted):
    X = people(5, seed=5)
    holes, of_pandas = pl.from_pandas(X), fitted[make]
    found = of_pandas.most_probable(holes).values
    expected = of_pandas.most_probable(X).values
    assert isinstance(found, pl.DataFrame) and isinstance(expected, pd.DataFrame)
    pd.testing.assert_frame_equal(found.to_pandas(), expected)
    of_polars = made(make).fit(pl.from_pandas(people()))
    drawn = of_polars.sample(5, random_state=0)
    assert isinstance(drawn, pl.DataFrame)
    again = of_pandas.sample(5, random_state=0)
    pd.testing.assert_frame_equal(drawn.to_pandas(), again)
    assert isinstance(of_polars.most_probable(X).values, pd.DataFrame)


def test_what_no_row_had_is_missing_in_frames_of_polars_too():
    X = pl.DataFrame({"hue": ["red", "blue"] * 20, "none": [None] * 40})
    drawn = cw.MiniSPN(random_state=0).fit(X).sample(3, random_state=0)
    assert drawn["none"].null_count() == 3 and drawn["hue"].dtype == pl.String


def test_rows_to_choose_by_are_held_out_or_given():
    values = np.arange(20.0)[:, None]
    train, valid = held_out(values, 0.25, np.random.default_rng(0))
    assert len(valid) == 5
    np.testing.assert_array_equal(np.union1d(train, valid), values[:, 0])
    assert (np.diff(valid[:, 0]) > 0).all() and np.ptp(valid) > 4
    X, X_val = people(200), people(100, seed=9)
    given, none = (
        cw.MiniSPN(validation_fraction=f, random_state=0).fit(X, X_val=X_val)
        for f in (0.1, 0.9)
    )
    np.testing.assert_array_equal(given.score_samples(X), none.score_samples(X))
    # Without any nothing can speak for kinds of rows.
    plain = cw.MiniSPN(validation_fraction=0.0, random_state=0).fit(X)
    assert not any(isinstance(node, Sum) for node in walk(plain.circuit_.root))


def test_ten_starts_mend_a_table_that_one_start_takes_for_noise():
    facts = GOLDEN["mini_spn"]["cases"]["collapse"]
    train, valid, test = (rows_of(facts[part]) for part in ("train", "valid", "test"))
    *thesis, repaired = (
        cw.MiniSPN(preset=how, random_state=seed).fit(train, X_val=valid).score(test)
        for how, seed in [*(("paper", k) for k in range(5)), (None, 0)]
    )
    truth = facts["log_likelihood"]["test"]["generator_mean"]
    # Clusters of the thesis start from two random rows.
    assert len({round(score, 6) for score in thesis}) > 1
    assert np.mean(thesis) < repaired and repaired > truth - 0.2


def test_several_networks_differ_and_are_likelier():
    X, new = people(400), people(400, seed=1)
    one, five = (
        cw.MiniSPN(n_networks=n, random_state=0).fit(X, X_val=X[:100]) for n in (1, 5)
    )
    members = five.circuit_.root.children
    assert five.circuit_.root.weights.tolist() == [0.2] * 5
    parts = [replace(five.circuit_, root=node) for node in members]
    assert len({part.degrees_of_freedom for part in parts}) > 1
    assert five.score(new) > one.score(new) - 0.02


def test_rows_to_choose_by_must_be_some():
    X = people(50)
    for none in (X[:0], X[["age"]].to_numpy()[:0]):
        with refuses(InputError, match="X_val"):
            cw.MiniSPN(random_state=0).fit(X, X_val=none)


def test_many_columns_of_one_level_with_missing_cells():
    """A missing cell is one more entry of a table: 2**40 would be too many."""
    rng = np.random.default_rng(0)
    flags = np.where(rng.random((60, 40)) < 0.5, "yes", None)
    table = pd.DataFrame(flags, columns=[f"flag{i}" for i in range(40)])
    table["side"] = np.where(rng.random(60) < 0.5, "left", "right")
    density = cw.MiniSPN(random_state=0).fit(table)
    together = density.score_samples(table)
    alone = [density.score_samples(table.iloc[[i]])[0] for i in range(60)]
    np.testing.assert_array_equal(together, alone)
    known = density.score_samples(table.assign(flag0="yes"))
    n = table["flag0"].count()
    more = np.where(table["flag0"].isna(), np.log1p(-0.5 / (n + 1)), 0.0)
    np.testing.assert_allclose(known, together + more, rtol=1e-12)


@each
def test_conditions_far_outside_of_the_data_are_named(make, fitted):
    rows = people(5, missing=0).assign(pulse=None)
    rows.loc[2, "age"] = 500.0
    with warns(ExtrapolationWarning, match="1 of 5 rows of 'age'"):
        fitted[make].conditional(rows)


def skewed(n=2000):
    rng = np.random.default_rng(0)
    income = np.where(rng.random(n) < 0.6, 0.0, np.exp(rng.normal(3, 1, n)))
    return pd.DataFrame({"income": income, "age": rng.integers(18, 90, n)})


@each
def test_drawn_rows_are_rows_that_the_table_could_contain(make):
    X = skewed()
    found = made(make).fit(X)
    drawn = found.sample(2000, random_state=0)
    assert (drawn["income"] >= 0).all()
    assert abs((drawn["income"] == 0).mean() - 0.6) < 0.05
    assert (drawn["age"] == drawn["age"].round()).all()
    assert drawn["age"].between(18, 89).all()
    high = X["income"][X["income"] > 0].quantile([0.1, 0.5, 0.9])
    own = drawn["income"][drawn["income"] > 0].quantile([0.1, 0.5, 0.9])
    np.testing.assert_allclose(own, high, rtol=0.25)
    best = found.most_probable(X[:5].assign(income=None)).values
    assert (best["income"] >= 0).all()


@each
@pytest.mark.parametrize(("unit", "zero"), [(1000.0, 0.0), (1e-3, 0.0), (1.0, 1e6)])
def test_units_and_offsets_change_only_the_unit(make, unit, zero):
    X = skewed(400)
    moved = X.assign(income=X["income"] * unit + zero)
    plain, found = made(make).fit(X), made(make).fit(moved)
    shift = np.where(X["income"] == 0, 0.0, np.log(unit))
    np.testing.assert_allclose(
        found.score_samples(moved), plain.score_samples(X) - shift, atol=1e-4
    )
    mean = plain.conditional(X.assign(income=None))["income"].mean
    own = found.conditional(moved.assign(income=None))["income"].mean
    np.testing.assert_allclose((own - zero) / unit, mean, rtol=1e-4)


def dated(n=300):
    rng = np.random.default_rng(0)
    zoned = pd.to_datetime(rng.integers(1_500_000, 1_600_000, n), unit="s", utc=True)
    days = pd.to_timedelta(rng.integers(0, 90, n), "D")
    return pd.DataFrame({
        "day": pd.Timestamp("2020-01-01") + days,
        "seen": zoned,
        "stay": pd.to_timedelta(rng.integers(1, 900, n), "h"),
    })  # fmt: skip


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas])
def test_dates_come_out_as_dates(library):
    X = library(dated())
    found = cw.MiniSPN(random_state=0).fit(X)
    drawn = found.sample(20, random_state=0)
    assert np.isfinite(found.score(drawn))
    days = pd.Series(drawn["day"].to_numpy())
    assert (days == days.dt.normalize()).all()
    assert np.isfinite(found.score(found.most_probable(X[:3]).values))


def test_draws_do_not_pile_up_at_the_ends_of_the_range():
    X = np.random.default_rng(0).integers(18, 80, size=(1000, 1))
    drawn = cw.MiniSPN(random_state=0).fit(X).sample(5000, random_state=0)
    shares = np.array([(drawn == end).mean() for end in (18, 79)])
    assert drawn.min() >= 18 and drawn.max() <= 79 and (shares < 0.03).all()


@pytest.mark.parametrize(
    ("cells", "masses"),
    [
        (np.repeat([0.0, *range(1000, 14_000, 1000)], [500, *[23] * 13]), (0.0,)),
        (np.random.default_rng(0).integers(0, 60, 1000), ()),
        (np.random.default_rng(0).poisson(3, 2000), ()),
        (np.full(50, 3.0), ()),
        (np.append(np.full(30, 40.0), np.arange(70)), (40.0,)),
        (np.append(np.full(8, 40.0), np.arange(70)), ()),
    ],
)
def test_point_masses_are_values_far_more_frequent_than_those_near(cells, masses):
    found = NumericColumn.from_cells(cells.astype(float))
    assert found.point_masses == masses


def test_densities_of_cells_add_up_to_one():
    """A point mass, and a density whose integral is the rest."""
    found = cw.MiniSPN(random_state=0).fit(skewed()[["income"]])
    grid = np.linspace(-5, 3000, 400_001)
    grid = grid[grid != 0]
    density = np.exp(found.score_samples(pd.DataFrame({"income": grid})))
    mass = np.exp(found.score_samples(pd.DataFrame({"income": [0.0]})))[0]
    assert np.trapezoid(density, grid) + mass == pytest.approx(1.0, abs=2e-3)
    (own,) = found.conditional(pd.DataFrame({"income": [None]})).values()
    assert own.cdf(np.array([0.0]))[0] == pytest.approx(mass, abs=0.02)
    assert own.quantile(0.3)[0] == 0.0
    q = own.quantile(0.8)
    assert own.cdf(q)[0] == pytest.approx(0.8)
    drawn = found.sample(20_000, random_state=0)["income"]
    assert own.mean[0] == pytest.approx(drawn.mean(), rel=0.1)
    assert own.sd[0] == pytest.approx(drawn.std(), rel=0.25)


def test_dates_are_given_as_text():
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.permutation(300), "D")
    rows = pd.DataFrame({"day": days, "late": days > pd.Timestamp("2020-06-01")})
    network = cw.MiniSPN(random_state=0).fit(rows)
    drawn = network.sample(50, given={"day": "2020-09-01"}, random_state=0)
    assert (drawn["day"] == pd.Timestamp("2020-09-01")).all()
    assert drawn["late"].mean() > 0.8
    with refuses(InputError, match="'1/9/2020'"):
        network.sample(given={"day": "1/9/2020"})


def test_a_date_that_all_rows_share_changes_nothing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 1)) + rng.normal(0, 0.3, (200, 2)))
    X.columns = ["a", "b"]
    dated = X.assign(day=pd.Timestamp("2024-01-05 10:20:30.123"))
    plain, found = (cw.MiniSPN(random_state=0).fit(table[:150]) for table in (X, dated))
    gain = found.score_samples(dated[150:]) - plain.score_samples(X[150:])
    assert np.isfinite(gain).all() and np.abs(gain - gain.mean()).max() < 3
    one = cw.MiniSPN(random_state=0).fit(dated[:1])
    assert np.isfinite(one.score(dated[:1]))


def test_warnings_name_dates_as_such():
    days = pd.date_range("2024-01-01", periods=60)
    X = pd.DataFrame({"day": days, "flag": np.arange(60) % 2})
    found = cw.MiniSPN(random_state=0).fit(X)
    far = pd.DataFrame({"day": [pd.Timestamp("2040-01-01")], "flag": [None]})
    with warns(ExtrapolationWarning, match="2024-01-01 to 2024-02-29"):
        found.conditional(far)
