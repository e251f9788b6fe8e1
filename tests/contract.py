"""What every estimator promises: each promise once, for every row of the table.

A new estimator gets a row in ``estimators.py`` and is held to all of this. What a whole
family promises besides is tested once in its own folder, as for those that simplify in
``simplifiers/test_contract.py``; what one method promises, beside that method. One
estimator alone::

    pytest tests/contract.py tests/simplifiers/test_contract.py -k InTreesClassifier
"""

import copy
import pickle
import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.frozen import FrozenEstimator
from tests.estimators import (
    DENSITIES,
    ESTIMATORS,
    IDS,
    KINDS,
    LEARNERS,
    NETWORKS,
    SEQUENCE_MODELS,
    SIMPLIFIERS,
    TRANSFORMERS,
    asked,
    check_batches,
    counting_reads,
    each,
    fitted_exactly,
    fitted_to_gaps,
    people,
    same,
    same_rules,
    says,
)
from tests.interrupts import Broken, points, stopped_at
from tests.wording import refuses, same_lines, warns

import clearwood as cw
from clearwood._words.labels import CONTROL
from clearwood.columns import frames
from clearwood.exceptions import (
    ClearwoodError,
    InputError,
    InterruptedFitWarning,
    UnknownCategoriesWarning,
)

pytestmark = pytest.mark.usefixtures("few_folds")


def test_every_public_estimator_has_a_row():
    public = {getattr(cw, name) for name in cw.__all__}
    estimators = {kind for kind in public if hasattr(kind, "fit")}
    rows = [case.make for case in ESTIMATORS]
    rows += [*DENSITIES, *TRANSFORMERS, *SEQUENCE_MODELS]
    # Their target is a table of events and times; see tests/simplifiers/survival.
    rows += [cw.RuleListSurvival, cw.DistilledTreeSurvival]
    # Its target is draws; see tests/projection/test_survival.py.
    rows += [cw.ProjectedTreeSurvival]
    assert len(set(rows)) == len(rows)
    assert set(rows) == estimators


# Rows and their weights


@each([case for case in ESTIMATORS if case.weighs])
def test_rows_without_weight_do_not_count(case):
    X, y = case.data()
    counts = np.arange(len(y)) % 3 > 0
    weighted = case.made(case.forest()).fit(X, y, sample_weight=1.0 * counts)
    fewer = case.made(case.forest()).fit(X[counts], y[counts])
    same(weighted, fewer, X)


@each(ESTIMATORS, keeps="repeats")
def test_a_weight_is_so_many_rows(case):
    X, y = case.data()
    weight = np.arange(len(y)) % 4
    rows = np.repeat(np.arange(len(y)), weight)
    weighted, repeated = (
        case.made(case.forest(), **case.no_synthetic) for _ in range(2)
    )
    for estimator in (weighted, repeated):
        if "min_samples_leaf" in estimator.get_params(deep=False):
            estimator.set_params(min_samples_leaf=1)  # It counts rows, not weights.
    weighted.fit(X, y, sample_weight=weight)
    repeated.fit(X.iloc[rows], y.iloc[rows])
    if getattr(weighted, "shrinkage_", None) is None:
        same(weighted, repeated, X)
    else:  # What is expected of new rows is learnt from parts of the rows.
        same_rules(weighted, repeated)


@each(ESTIMATORS)
@pytest.mark.parametrize("form", [np.asarray, pl.from_pandas], ids=["array", "polars"])
def test_arrays_and_frames_say_the_same(case, form):
    X, y = case.data()
    pandas = case.fitted()
    other = case.made(case.forest()).fit(form(X), np.asarray(y))
    np.testing.assert_array_equal(says(other, form(X)), says(pandas, X))
    assert pandas.feature_names_in_.tolist() == list(X)
    assert hasattr(other, "feature_names_in_") == (form is not np.asarray)
    if hasattr(pandas, "rules_"):
        assert pandas.rules_.features.names == tuple(X)


# Units, order and spelling say nothing


def catch_the_same(one, X, other, Z):
    """The lines of two fits hold the same rows, each of its own table."""
    if hasattr(one, "rules_"):
        np.testing.assert_array_equal(one.rules_.matches(X), other.rules_.matches(Z))


@each(ESTIMATORS)
@pytest.mark.parametrize("rounds", [False, True], ids=["as they are", "rounded"])
def test_powers_of_two_are_exact(case, rounds):
    X, target = case.data()
    settings = {} if rounds else case.exactly
    x, y = (2.0**40, 2.0**-30) if rounds else (2.0**-30, 2.0**40)
    scaled_target, y = (target, 1.0) if case.classifies else (target * y, y)
    plain = case.fitted() if rounds else fitted_exactly(case)
    scaled = case.made(case.model(x=x, y=y), **settings).fit(X * x, scaled_target)
    catch_the_same(scaled, X * x, plain, X)
    # Short values are up to half a percent of the standard deviation away.
    near = 0.01 * np.std(target) if rounds and not case.classifies else 0.0
    error = np.abs(says(scaled, X * x) / y - says(plain, X)).max()
    assert error <= near + (case.solved_to if case.classifies else 0.0)


@each(ESTIMATORS)
def test_offsets_cost_no_more_than_the_digits_of_the_data(case):
    X, y = case.data()
    plain = fitted_exactly(case)
    plus = 0.0 if case.classifies else 1e9
    moved = case.made(case.model(plus_x=1e6, plus_y=plus), **case.exactly)
    moved.fit(X + 1e6, y if case.classifies else y + plus)
    # Equal trees may ask in another order, so that only what they say is the same.
    error = says(moved, X + 1e6) - plus - says(plain, X)
    least = case.solved_to if case.classifies else 1e-6 * np.std(y)
    assert np.abs(error).max() <= least


@each(ESTIMATORS, keeps="shares")
def test_weights_are_shares(case):
    X, y = (part[:150] for part in case.data())
    weight = 1.0 + np.arange(len(y)) % 3
    plain, *others = (
        case.made(case.model(), min_samples_leaf=1).fit(X, y, sample_weight=by * weight)
        for by in (1.0, 2.0**-60, 2.0**60)
    )
    for other in others:
        catch_the_same(other, X, plain, X)
        np.testing.assert_array_equal(says(other, X), says(plain, X))


@each(ESTIMATORS, keeps="order")
def test_the_order_of_rows_says_nothing(case):
    X, y = (part[:150] for part in case.data())
    mixed = np.random.default_rng(0).permutation(len(y))
    plain, other = (case.made(case.model(), **case.exactly) for _ in range(2))
    plain.fit(X, y)
    other.fit(X.iloc[mixed], y.iloc[mixed])
    # Of cuts that no row tells apart it may take others, so that rules may differ.
    np.testing.assert_allclose(says(other, X), says(plain, X), rtol=1e-9)


@each(ESTIMATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_tables_say_the_same(case, kind):
    X, y = case.gaps()
    found = fitted_to_gaps(case)
    np.testing.assert_array_equal(says(found, KINDS[kind](X)), says(found, X))
    again = case.made(case.gap_teacher()).fit(KINDS[kind](X), y)
    np.testing.assert_array_equal(says(again, X), says(found, X))


@each(ESTIMATORS)
@pytest.mark.parametrize("ids", IDS)
def test_categories_are_the_same_in_any_spelling(case, ids):
    X, y = case.gaps()
    found = fitted_to_gaps(case)
    labels = IDS[ids]
    table = X.assign(ward=X["ward"].cat.rename_categories(labels))
    again = case.made(case.gap_teacher(labels)).fit(table, y)
    np.testing.assert_array_equal(says(again, table), says(found, X))
    kind = type(labels[0])
    plain = table.assign(ward=table["ward"].astype(kind))
    for same_cells in (plain, plain.astype({"ward": object}), pl.from_pandas(plain)):
        np.testing.assert_array_equal(says(again, same_cells), says(found, X))


@each(ESTIMATORS)
def test_a_column_of_unknown_categories_is_told(case):
    X, y = case.gaps()
    table = X.assign(ward=X["ward"].cat.rename_categories(IDS["digits"]))
    found = case.made(case.gap_teacher(IDS["digits"])).fit(table, y)
    numbers = table.astype({"ward": str}).astype({"ward": int})
    with warns(UnknownCategoriesWarning):
        found.predict(numbers)
    if case in LEARNERS:
        with warns(UnknownCategoriesWarning):
            found.partial_fit(numbers, y)


# Missing values, categories, and nothing to be told apart


@each(ESTIMATORS)
def test_missing_values_and_categories_are_read(case):
    X, y = case.gaps()
    found = case.made(case.reader()).fit(X, y)
    assert found.score(X, y) > case.least_score
    text = X.astype({"ward": str})
    for table in (text, pl.from_pandas(X), pl.from_pandas(text)):
        np.testing.assert_array_equal(says(found, table), says(found, X))
    # A ward that nobody has seen, and none at all.
    strange = pd.DataFrame({"age": [np.nan, 30.0, 70.0], "ward": ["west", None, None]})
    answers = found.predict(strange)
    assert np.isin(answers, y).all() if case.classifies else np.isfinite(answers).all()
    if case in SIMPLIFIERS:
        text = str(found.rules_)
        assert "age <= 60" in text or "age > 60 or missing" in text
        assert "ward is 'north'" in text or "ward in {'east', 'south'}" in text
        again = cw.RuleSet.from_json(found.rules_.to_json())
        for table in (X, strange):
            np.testing.assert_array_equal(again.predict(table), found.predict(table))


@each(ESTIMATORS)
def test_names_of_a_frame_may_hold_control_characters(case, tmp_path):
    """They are fitted, and escaped wherever they are shown; no file takes them."""
    X, y = case.gaps()
    names = {"age": "a\n#\x1b[2J", "ward": "w\u2028$x$"}
    ensemble = case.gap_teacher()
    if ensemble is not None:
        features = replace(ensemble.features, names=tuple(names.values()))
        ensemble = replace(ensemble, features=features)
    odd = X.rename(columns=names)
    fitted = case.made(ensemble).fit(odd, pd.Series(y, name="t\r\u202e"))
    np.testing.assert_allclose(says(fitted, odd), says(fitted_to_gaps(case), X))
    rules = getattr(fitted, "rules_", None)
    for text in (str(fitted), str(rules), repr(rules)):
        assert not CONTROL.search(text.replace("\n", ""))
    with refuses(InputError):
        cw.save(fitted, tmp_path / "fitted.zip")


@each(ESTIMATORS)
def test_raw_tables_are_read(case):
    X, y = case.raw()
    found = case.made(case.unfitted()).fit(X, y)
    assert found.score(X, y) > 0.4
    dates = X.astype({"begun": object})
    dates["begun"] = [None if day is pd.NaT else day.date() for day in X["begun"]]
    for table in (pl.from_pandas(X), dates, X.astype({"city": "category"})):
        np.testing.assert_array_equal(says(found, table), says(found, X))


# Every column is read once


def once(X):
    """What :func:`counting_reads` counts where each column is read once."""
    return dict.fromkeys(X.columns, 1)


@each(ESTIMATORS)
def test_a_fit_reads_each_column_once(case):
    X, y = case.raw()
    table, reads = counting_reads(X)
    case.made(case.unfitted()).fit(table, y)
    assert reads == once(X)


WITHOUT_TARGET = {
    **DENSITIES,
    **dict.fromkeys(TRANSFORMERS, {}),
    cw.HiddenMarkovModel: {"n_states": 2, "emission": "mixed", "algorithm": "em"},
}
"""HMMLSTM is missing: it reads texts and symbols, and no columns."""


@pytest.mark.parametrize("make", WITHOUT_TARGET)
def test_a_fit_without_a_target_reads_each_column_once(make):
    X, y = people()
    table, reads = counting_reads(X)
    make(**WITHOUT_TARGET[make]).fit(table, *[y] * (make is cw.MDLPDiscretizer))
    assert reads == once(X)


@pytest.fixture
def encoded(monkeypatch):
    """How often each column is encoded, by its name."""
    times, encode = Counter(), cw.FeatureSpace.encode_column

    def counted(space, column, d):
        times[space.names[d]] += 1
        return encode(space, column, d)

    monkeypatch.setattr(cw.FeatureSpace, "encode_column", counted)
    return times


@each(SIMPLIFIERS)
def test_a_page_reads_each_column_once_and_encodes_it_once(case, tmp_path, encoded):
    """Its shuffled rows, too, are those that were encoded."""
    X, y = case.raw()
    found = case.made(case.unfitted()).fit(X, y)
    encoded.clear()
    table, reads = counting_reads(X)
    cw.report(found, tmp_path / "page.html", X=table, y=y)
    assert reads == encoded == once(X)


@each([case for case in ESTIMATORS if case not in SIMPLIFIERS])
def test_a_page_of_any_family_does_nothing_to_a_column_twice(case, tmp_path, encoded):
    X, y = case.raw()
    found = case.made().fit(X, y)
    encoded.clear()
    table, reads = counting_reads(X)
    cw.report(found, tmp_path / "page.html", X=table, y=y)
    assert set(reads.values()) == set(encoded.values()) == {1}


def test_a_page_of_states_encodes_each_column_once(tmp_path, encoded):
    X, _ = people()
    found = cw.HiddenMarkovModel(**WITHOUT_TARGET[cw.HiddenMarkovModel]).fit(X)
    encoded.clear()
    cw.report(found, tmp_path / "page.html", X=X)
    assert encoded == once(X)


def test_what_is_read_is_forgotten_when_the_call_ends(tmp_path):
    """The next one finds what the same frame holds then."""
    (case,) = (case for case in SIMPLIFIERS if case.make is cw.RuleListClassifier)
    X, y = case.raw()
    table = X.copy()
    for shift in (0, 1):
        table["city"] = np.roll(X["city"], shift)
        found = case.made(case.unfitted()).fit(table, y)
        again = case.made(case.unfitted()).fit(table.copy(), y)
        assert str(found.rules_) == str(again.rules_)
        assert frames._KEPT.get() is None
    with pytest.raises(InputError):
        case.made(case.unfitted()).fit(table, y[1:])
    assert frames._KEPT.get() is None


OTHER_FORMS = {
    "pandas": lambda X: X,
    "objects": lambda X: X.astype(object),
    "polars": pl.from_pandas,
}


@each(ESTIMATORS)
def test_times_with_and_without_a_zone_are_not_compared(case):
    X, _ = case.raw()
    zoned = X[["seen", "stay"]].ffill()
    late = zoned["seen"] >= pd.Timestamp("2018-10-01", tz="UTC")
    y = np.where(late, "yes", "no") if case.classifies else 1.0 * late
    naive = zoned.assign(seen=zoned["seen"].dt.tz_localize(None))
    for table, other in ((zoned, naive), (naive, zoned)):
        found = case.made(case.unfitted()).fit(table, y)
        for form in OTHER_FORMS.values():
            np.testing.assert_array_equal(says(found, form(table)), says(found, table))
            with refuses(InputError, match="'seen'"):
                found.predict(form(other))
        with refuses(InputError, match="'seen'.*17532.*to_datetime"):
            found.predict(table.assign(seen=17532))
        # Nothing is compared where nothing is known.
        found.predict(other.assign(seen=other["seen"].where(other["stay"].isna())))
    elsewhere = zoned.assign(seen=zoned["seen"].dt.tz_convert("Asia/Kathmandu"))
    again = case.made(case.unfitted()).fit(elsewhere, y)
    np.testing.assert_array_equal(says(again, zoned), says(again, elsewhere))


@each([case for case in ESTIMATORS if case not in NETWORKS])
def test_only_columns_in_use_are_read(case):
    X, y = case.raw()
    X = X[["begun", "stay"]].assign(idle=pd.Timestamp("2020-01-01"), code=1.5)
    found = case.made(case.unfitted()).fit(X, y)
    for form in OTHER_FORMS.values():
        bad = form(X.assign(idle="next week", code="none"))
        np.testing.assert_array_equal(says(found, bad), says(found, X))
    if hasattr(found, "rules_"):
        used = form(X[["stay", "begun"]])
        np.testing.assert_array_equal(
            found.rules_.predict(used), found.rules_.predict(X)
        )
        cw.explain(found, bad[:3])


@each(ESTIMATORS)
def test_booleans_with_missing_values_stay_booleans(case):
    X, _ = case.gaps()
    flag = np.where(X["age"].isna(), None, X["age"] > 60)
    late = flag == True  # noqa: E712
    y = np.where(late, "yes", "no") if case.classifies else 1.0 * late
    table = X[["ward"]].assign(flag=flag)
    found = case.made(case.unfitted()).fit(table, y)
    nullable = table.astype({"flag": "boolean"})
    for same_cells in (nullable, pl.from_pandas(nullable)):
        again = case.made(case.unfitted()).fit(same_cells, y)
        np.testing.assert_array_equal(says(again, same_cells), says(found, table))
        np.testing.assert_array_equal(says(found, same_cells), says(found, table))
        if hasattr(found, "rules_"):
            assert str(again.rules_) == str(found.rules_)
    if hasattr(found, "rules_"):
        for text in (str(found.rules_), found.rules_._repr_html_()):
            same_lines(text)


@each(ESTIMATORS)
def test_masked_cells_are_missing(case):
    X, y = (part[:150] for part in case.data())
    cells = X.to_numpy()
    mask = np.random.default_rng(0).random(cells.shape) < 0.1
    masked = np.ma.array(np.where(mask, 1e9, cells), mask=mask)
    plain = np.where(mask, np.nan, cells)
    one, other = (case.made(case.unfitted()).fit(table, y) for table in (plain, masked))
    np.testing.assert_array_equal(says(one, masked), says(one, plain))
    np.testing.assert_array_equal(says(other, masked), says(one, plain))
    hidden = np.arange(len(y)) == 3
    with refuses(InputError, match="NaN"):
        case.made(case.unfitted()).fit(cells, np.ma.array(y.to_numpy(), mask=hidden))
    if case.weighs:
        weight = np.ma.array(np.ones(len(y)), mask=hidden)
        with refuses(InputError):
            case.made(case.unfitted()).fit(cells, y, sample_weight=weight)


@each([case for case in ESTIMATORS if case not in SIMPLIFIERS])
@pytest.mark.parametrize("dtype", ["int64", "object", "Int64"])
def test_whole_numbers_that_float64_takes_for_one_are_refused(case, dtype):
    """A model of one's own would not tell persons apart by such numbers."""
    _, y = (part[:60] for part in case.data())
    ids = 1_500_000_000_000_000_000 + 7 * np.arange(len(y))
    X = pd.DataFrame({"id": pd.Series(ids).astype(dtype)})
    with refuses(InputError, match="'id'.*15.*0 .*15.*7"):
        case.made(case.unfitted()).fit(X, y)


@each(
    [case for case in ESTIMATORS if hasattr(case.make, "rules_") or case in SIMPLIFIERS]
)
def test_the_target_keeps_its_name(case, tmp_path):
    X, y = (part[:150] for part in case.data())
    y = y.rename("progress")
    forms = [(y, "progress"), (y.to_frame(), "progress"), (y.to_numpy(), "y")]
    for target, name in [*forms, (pl.Series("progress", y.to_list()), "progress")]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataConversionWarning)
            found = case.made(case.unfitted()).fit(X, target)
        assert found.rules_.target == name
        cw.save(found, tmp_path / "kept", overwrite=True)
        assert cw.load(tmp_path / "kept").rules_.target == name


@each(ESTIMATORS)
def test_constant_columns_are_not_asked(case):
    X, y = case.data()
    with_constant = X.assign(constant=1.0)
    found = case.made(case.unfitted()).fit(with_constant, y)
    if hasattr(found, "rules_"):
        assert "constant" not in asked(found.rules_)
    with warnings.catch_warnings():
        # To some a column of one value is one of a single level.
        warnings.simplefilter("ignore", UnknownCategoriesWarning)
        other = says(found, with_constant.assign(constant=2.0))
    np.testing.assert_array_equal(says(found, with_constant), other)


# The same again


def forms(values, folder):
    """An array, a memory map, and an array that may not be changed."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    mapped = np.memmap(folder / "rows", dtype=array.dtype, mode="w+", shape=array.shape)
    mapped[:] = array
    fixed = array.copy()
    fixed.setflags(write=False)
    return array, mapped, fixed


@each(ESTIMATORS)
def test_the_seed_decides_and_not_the_jobs_nor_the_container(
    case, tmp_path, monkeypatch
):
    # Tables that are read in blocks are sampled beyond this.
    monkeypatch.setattr("clearwood._tables.learning.SAMPLE_ROWS", 60)
    X, y = (np.asarray(part[:200]) for part in case.data())
    harder = {"n_rules": "auto", "max_rules": 3}
    settings = {k: v for k, v in harder.items() if k in case.parameters}
    found = []
    for n_jobs, table in zip((1, 2, 1), forms(X, tmp_path)):
        jobs = {"n_jobs": n_jobs} if "n_jobs" in case.parameters else {}
        found.append(case.made(case.forest(), **settings, **jobs).fit(table, y))
        # As it came; nothing of the estimator is a view of the file.
        np.testing.assert_array_equal(table, X)
        assert b"memmap" not in state(found[-1])
    first, *others = found
    for other in others:
        np.testing.assert_array_equal(says(other, table), says(first, X))
        if case in SIMPLIFIERS:
            assert other.rules_.to_json() == first.rules_.to_json()
        if "choice" in case.keeps:
            assert other.cv_results_ == first.cv_results_


@pytest.mark.parametrize("make", [*DENSITIES, *TRANSFORMERS])
def test_the_container_changes_no_density_and_no_transformer(
    make, tmp_path, monkeypatch
):
    monkeypatch.setattr("clearwood._tables.learning.SAMPLE_ROWS", 60)
    X = np.asarray(ESTIMATORS[0].data()[0][:150])
    settings = DENSITIES.get(make, {})
    if "random_state" in make().get_params():
        settings = {**settings, "random_state": 0}
    found = []
    for table in forms(X, tmp_path):
        one = make(**settings).fit(table, X[:, 0] > 50)
        found.append(getattr(one, "score_samples", getattr(one, "transform", None)))
    first, *others = (np.asarray(says_of(table)) for says_of in found)
    for other in others:
        np.testing.assert_array_equal(other, first)


@each(ESTIMATORS)
def test_what_is_said_of_a_row_is_the_same_in_any_batch(case):
    X, _ = case.data()
    check_batches(X, lambda rows: says(case.fitted(), rows))


@each(ESTIMATORS)
def test_pickles_and_clones(case):
    X, y = case.data()
    found = case.fitted()
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(says(again, X), says(found, X))
    fresh = clone(case.made(FrozenEstimator(case.forest())))
    same(fresh.fit(X, y), found, X)
    assert not [name for name in vars(clone(fresh)) if name.endswith("_")]


@each([case for case in ESTIMATORS if case.reads_ensembles])
def test_a_fitted_ensemble_is_used_and_another_is_cloned(case):
    X, y = case.data()
    forest, trees = case.forest(), case.forest().estimators_
    found = case.made(forest).fit(X[:300], y[:300])
    assert found.estimator_ is forest
    assert forest.estimators_ is trees
    fresh = case.unfitted()
    found = case.made(fresh).fit(X, y)
    assert not hasattr(fresh, "estimators_")
    assert found.ensemble_.n_trees == 3
    same(case.made(cw.read_ensemble(forest)).fit(X, y), case.fitted(), X)


# A fit that fails


def state(found):
    """All that an estimator holds, to the last bit."""
    return pickle.dumps(vars(found))


@each(ESTIMATORS)
def test_a_fit_that_fails_leaves_the_estimator_as_it_was(case):
    X, y = (part[:150] for part in case.data())
    inner = case.unfitted()
    given = pickle.dumps(inner)
    found, fresh = (case.made(inner) for _ in range(2))
    before = state(found.fit(X, y))
    # Another width, and other labels.
    other = X[["bmi", "age"]], (y + "er" if case.classifies else -y)
    # Modules are loaded, with calls of their own, by the first call that needs them.
    fresh.fit(*other)
    stops = points(lambda: fresh.fit(*other), 4)
    for at, error in zip(stops, [KeyboardInterrupt, Broken] * 2):
        with warnings.catch_warnings(record=True) as told, stopped_at(at, error):
            warnings.simplefilter("always")
            try:
                found.fit(*other)
            except error:
                assert state(found) == before
                continue
        # It kept what was whole when it was stopped, and said so.
        assert InterruptedFitWarning in [warning.category for warning in told]
        assert vars(found).keys() == vars(fresh).keys()
        assert found.score(*other) > 0
        before = state(found.fit(X, y))
    # One that goes through leaves nothing of the fit before it.
    assert vars(found.fit(*other)).keys() == vars(fresh).keys()
    same(found, fresh, other[0])
    never = case.made(inner)
    before = state(never)
    with pytest.raises(Broken), stopped_at(stops[-1], Broken):
        never.fit(*other)
    assert state(never) == before
    assert pickle.dumps(inner) == given


@each(LEARNERS)
@pytest.mark.parametrize("way", ["partial_fit", "unlearn", "merge"])
def test_learning_that_fails_leaves_the_estimator_as_it_was(case, way):
    X, y = (part[:150] for part in case.data())
    found = case.made(case.forest()).fit(X, y)
    other, third = (copy.deepcopy(found) for _ in range(2))
    given = (third,) if way == "merge" else (X[:40], y[:40])
    # Modules are loaded, with calls of their own, by the first call that needs them.
    getattr(copy.deepcopy(found), way)(*given)
    stops = points(lambda: getattr(other, way)(*given), 9)
    for at, error in zip(stops, [KeyboardInterrupt, Broken] * 5):
        # What a run before prepared would be calls that are not made.
        stopped = copy.deepcopy(found)
        before = state(stopped)
        with pytest.raises(error), stopped_at(at, error):
            getattr(stopped, way)(*given)
        assert state(stopped) == before
    getattr(found, way)(*given)
    np.testing.assert_array_equal(says(found, X), says(other, X))


# What is printed


@each(
    [case for case in ESTIMATORS if hasattr(case.make, "rules_") or case in SIMPLIFIERS]
)
def test_rules_are_explained(case):
    X, _ = case.data()
    found = case.fitted()
    told = cw.explain(found, X[:20])
    assert [one.prediction for one in told] == found.rules_.predict(X[:20]).tolist()
    assert all(str(one) and one._repr_html_() for one in told)


HOW_IT_WAS_FOUND = set(
    "cv_results_ history_ n_iter_ n_nodes_ n_rules_ n_start_components_ path_ "
    "restarts_ selected_ single_split_fidelity_ tree_ trees_".split()
)
"""Of methods that simplify an ensemble, what is plain data."""


def printed(value):
    """All of it in words, trees and rules too, and what holds it."""
    parts = [str(one) for one in value] if isinstance(value, tuple) else str(value)
    return type(value), parts


@each(ESTIMATORS)
def test_what_is_saved_is_loaded(case, tmp_path):
    X, _ = case.data()
    found = case.fitted()
    cw.save(found, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    checked = cw.check(tmp_path / "kept")
    assert checked.sound and checked.facts["kind"] == type(found).__name__
    assert type(again) is type(found)
    np.testing.assert_array_equal(says(again, X), says(found, X))
    if hasattr(found, "rules_"):
        assert str(again.rules_) == str(found.rules_)
        cw.save(found.rules_, tmp_path / "rules")
        assert str(cw.load(tmp_path / "rules")) == str(found.rules_)
    if case in SIMPLIFIERS:
        for name in HOW_IT_WAS_FOUND & set(vars(found)):
            assert printed(getattr(again, name)) == printed(getattr(found, name)), name
    # What was loaded can be saved again, with the same settings.
    cw.save(again, tmp_path / "again")
    kept = [
        {k: v for k, v in one.get_params(deep=False).items() if not hasattr(v, "fit")}
        for one in (again, cw.load(tmp_path / "again"))
    ]
    assert str(kept[0]) == str(kept[1])
    with refuses(ClearwoodError):
        cw.save(found, tmp_path / "kept")


# Bad input is named, and what to do about it


def gap(y):
    y = y.astype(object)
    y[3] = None
    return y


WRONG_FITS = {
    "no target": (lambda X, y: (X, None, None), "requires y"),
    "missing target": (lambda X, y: (X, gap(y), None), "NaN.*row 3;"),
    "short target": (lambda X, y: (X, y[:-1], None), "442.*441"),
    "no rows": (lambda X, y: (X[:0], y[:0], None), "0 sample"),
    "negative weights": (lambda X, y: (X, y, -np.ones(len(y))), "weight"),
    "no weights": (lambda X, y: (X, y, np.zeros(len(y))), "weight|zero"),
    "few weights": (lambda X, y: (X, y, [1.0, 2.0]), r"weight.*\(2,\).*\(442"),
    "names twice": (lambda X, y: (pd.concat([X, X], axis=1), y, None), "'age'"),
    "text": (
        lambda X, y: (np.full((len(y), 4), "a"), y, None),
        "'a'.*row 0",
    ),
    "lists": (lambda X, y: (X.assign(bp=[[1]] * len(y)), y, None), "'bp'.*row 0"),
}


@each(ESTIMATORS)
@pytest.mark.parametrize("wrong", WRONG_FITS)
def test_wrong_rows_are_refused(case, wrong):
    change, message = WRONG_FITS[wrong]
    X, y, weight = change(*case.data())
    weights = {} if weight is None else {"sample_weight": weight}
    if weights and not case.weighs:
        message = "sample_weight"
    with pytest.raises((ClearwoodError, ValueError, TypeError), match=message):
        case.made(case.unfitted()).fit(X, y, **weights)


READS_DENSE = [
    *(case.make for case in ESTIMATORS if not getattr(case.make, "_reads_sparse", 0)),
    *(*DENSITIES, *TRANSFORMERS, *SEQUENCE_MODELS),
]


@pytest.mark.parametrize("make", READS_DENSE)
def test_a_sparse_matrix_is_refused_where_none_is_read(make):
    with pytest.raises(InputError, match=r"sparse.*toarray\("):
        make().fit(csr_array(np.eye(9)), np.arange(9) % 2)


@each([case for case in ESTIMATORS if getattr(case.make, "_reads_sparse", 0)])
def test_a_sparse_matrix_says_what_the_dense_one_does(case):
    X, y = case.data()
    X, model = X.to_numpy(), case.forest()
    dense, sparse = (case.made(model).fit(Z, y) for Z in (X, csr_array(X)))
    assert str(sparse.rules_) == str(dense.rules_)
    assert sparse.cv_results_ == dense.cv_results_
    np.testing.assert_array_equal(says(sparse, csr_array(X)), says(dense, X))


@each([case for case in ESTIMATORS if getattr(case.make, "_reads_sparse", 0)])
def test_a_page_of_a_sparse_matrix_shows_what_the_dense_one_does(
    case, tmp_path, monkeypatch
):
    """But for what is lost without each column: it may have thousands of them."""
    monkeypatch.setattr("clearwood.reporting.summary.FEWEST_SHUFFLED", 10**9)
    X, y = case.data()
    X, y = X.to_numpy(), y.to_numpy()
    found = case.made(case.forest()).fit(X, y)
    for result in (found, found.rules_):
        pages = []
        for form in (np.asarray, csr_array):
            cw.report(
                result, tmp_path / "page.html", X=form(X), y=y, row=X[0],
                model=found.ensemble_, overwrite=True,
            )  # fmt: skip
            pages.append((tmp_path / "page.html").read_text())
        assert pages[0] == pages[1]


@each(ESTIMATORS)
def test_wrong_queries_are_refused(case):
    X, _ = case.data()
    with pytest.raises(ValueError, match="not fitted"):
        case.made(case.unfitted()).predict(X)
    found = case.fitted()
    for query, message in (
        (X.rename(columns={"bmi": "weight"}), "feature names.*weight"),
        (X.drop(columns="s5"), "feature names.*s5"),
        (X[:0], "0 sample"),
        (X.assign(bmi=[(1, 2)] * len(X)), "'bmi'.*row 0"),
    ):
        with pytest.raises(ValueError, match=f"(?s){message}"):
            found.predict(query)


@each([case for case in ESTIMATORS if case.classifies])
def test_labels_that_are_numbers_stay_numbers(case):
    X, y = case.data()
    numbers = np.where(y == "high", 7, 3)
    found = case.made(case.unfitted()).fit(X, numbers)
    assert found.classes_.tolist() == [3, 7]
    assert found.predict(X).dtype.kind == "i"
    said = found.predict(X)
    most = found.classes_[found.predict_proba(X).argmax(axis=1)]
    if isinstance(getattr(found, "rules_", None), cw.RuleList) and getattr(
        found, "shrinkage_", None
    ):
        # Rules say what the model says, and how likely that is on new rows.
        assert (said == most).mean() > 0.8
        most = found.rules_.predictions[found.rules_.apply(X)]
    np.testing.assert_array_equal(said, most)


@each([case for case in ESTIMATORS if not case.classifies])
def test_labels_are_no_values(case):
    X, y = case.data()
    words = np.where(y > 100, "high", "low")
    with refuses(InputError):
        case.made(case.unfitted()).fit(X, words)
