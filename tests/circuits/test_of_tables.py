"""Structures come from a sample of a large table, parameters from all of its rows."""

from copy import copy

import numpy as np
import pandas as pd
import pytest
from tests._tables.storing import FAR, N, in_parts, of_dask, stored
from tests.wording import refuses

import clearwood as cw
from clearwood._tables import open_rows
from clearwood.circuits.expectation import refine
from clearwood.circuits.learning import fitting
from clearwood.circuits.nodes import walk
from clearwood.exceptions import InputError

pytest.importorskip("dask")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.usefixtures("small_samples")


def made_up(n, seed=0):
    """Two kinds of rows, of which a sample has nearly the right shares."""
    rng = np.random.default_rng(seed)
    kind = rng.random(n) < 0.3
    a = np.where(kind, 4.0, 0.0) + rng.normal(size=n)
    b = np.where(kind, 1.0, -2.0) + rng.normal(size=n)
    b[rng.random(n) < 0.1] = np.nan
    y = np.where(rng.random(n) < 0.1, ~kind, kind).astype(int)
    return pd.DataFrame({"a": a, "b": b, "y": y, "w": 1.0})


@pytest.fixture(scope="module")
def frame():
    return made_up(N)


def classifier(**given):
    return cw.SPNClassifier(random_state=0, **given)


@pytest.fixture(scope="module")
def of_frames(frame, small_samples):
    """What all others have to say, too."""
    table = frame.drop(columns="w")
    return classifier().fit(lambda: in_parts(table), "y")


@pytest.mark.parametrize("kind", FAR)
def test_every_form_teaches_the_same_to_the_last_bit(kind, frame, of_frames, tmp_path):
    named = kind != "dask array"
    # Where weights are a column of the table, they would be a feature of the density.
    table = frame.drop(columns="w") if named and kind != "dask frame" else frame
    X, rest = stored(kind, table, tmp_path)
    X = X[["a", "b", "y"]] if kind == "dask frame" else X
    spn = classifier().fit(X, rest["y"])
    values = frame[["a", "b"]]
    known = values if named else values.to_numpy()
    expected = of_frames.predict_proba(values)
    assert spn.predict_proba(known).tobytes() == expected.tobytes()
    np.testing.assert_array_equal(np.asarray(spn.predict_proba(X)), expected)
    np.testing.assert_array_equal(np.asarray(spn.predict(X)), spn.predict(known))


def test_densities_say_of_tables_what_they_say_of_rows(frame):
    table = frame[["a", "b"]]
    network = cw.MiniSPN(random_state=0).fit(lambda: in_parts(table))
    expected = network.score_samples(table)
    np.testing.assert_array_equal(
        network.score_samples(lambda: in_parts(frame)), expected
    )
    later = network.score_samples(of_dask(in_parts(frame)))
    assert not isinstance(later, pd.Series)
    np.testing.assert_array_equal(later.compute(), expected)
    assert network.score(lambda: in_parts(frame)) == expected.mean()
    assert network.score(of_dask(in_parts(frame))) == pytest.approx(expected.mean())


@pytest.mark.parametrize("given", [{}, {"validation_fraction": 0.0}])
def test_parameters_are_those_of_all_rows(frame, given):
    """The same structure as of the sample, and as likely as EM on all rows makes it."""
    table = frame[["a", "b"]]
    network = cw.MiniSPN(random_state=0, **given)
    sample = open_rows(lambda: [table]).sample(2000).X
    few = network.fit(sample).circuit_
    found = network.fit(lambda: in_parts(table)).circuit_
    assert [type(node) for node in walk(found.root)] == [
        type(node) for node in walk(few.root)
    ]
    assert few.table == found.table
    values = few.table.to_variables(table.to_numpy())
    least, own = (c.compiled.log_likelihood(values).mean() for c in (few, found))
    best = refine(few, values, tolerance=1e-7).compiled.log_likelihood(values).mean()
    assert own > least
    assert best - own < 1e-2  # EM stops where validation rows gain less than 1e-3


def test_all_rows_are_learned_also_where_that_brings_little(frame, monkeypatch):
    """As with a large sample, whose parameters are nearly those of all rows."""
    monkeypatch.setattr(fitting, "LEAST_GAIN", 9.0)
    table = frame[["a", "b"]]
    network = cw.MiniSPN(random_state=0)
    few = network.fit(open_rows(lambda: [table]).sample(2000).X).circuit_
    found = network.fit(lambda: in_parts(table)).circuit_
    values = few.table.to_variables(table.to_numpy())
    once = refine(few, values, sweeps=1, tolerance=0.0)
    scores = [c.compiled.log_likelihood(values).mean() for c in (few, found, once)]
    assert scores[0] < scores[1]
    assert scores[1] == pytest.approx(scores[2], abs=1e-4)


def test_the_thesis_and_what_fits_are_learned_as_in_memory(frame):
    few = frame[["a", "b"]][:1900]
    for network in (cw.MiniSPN(random_state=0), cw.ParetoSPN(20, random_state=0)):
        blocks = network.fit(lambda: [few[:99], few[99:]]).score_samples(few)
        np.testing.assert_array_equal(blocks, network.fit(few).score_samples(few))
    table = frame[["a", "b"]]
    sample = open_rows(lambda: [table]).sample(2000).X
    thesis = cw.MiniSPN(preset="paper", random_state=0)
    blocks = thesis.fit(lambda: in_parts(table)).score_samples(few)
    np.testing.assert_array_equal(blocks, thesis.fit(sample).score_samples(few))


@pytest.mark.parametrize("make", [cw.LearnSPN, cw.ParetoSPN, cw.HybridSPN])
def test_its_relatives_learn_from_all_rows_too(make, frame):
    table = frame[["a", "b"]]
    network = make(random_state=0, **({} if make is cw.LearnSPN else QUICK))
    sample = open_rows(lambda: [table]).sample(2000).X
    few = network.fit(sample).score(table)
    assert network.fit(lambda: in_parts(table)).score(table) > few


QUICK = {"n_iter": 20}


def test_classes_that_no_sample_knows(frame):
    table = frame.drop(columns="w").assign(y=frame["y"].map({0: "no", 1: "yes"}))
    sampled = open_rows(np.zeros((N, 1)), np.arange(N)).sample(2000).y
    rare = np.setdiff1d(np.arange(N), sampled)[:400]
    table.loc[rare, ["a", "y"]] = 40.0, "rare"
    spn = classifier().fit(lambda: in_parts(table), "y")
    assert spn.classes_.tolist() == ["no", "rare", "yes"]
    shares = spn.predict_proba(table[["a", "b"]]).mean(axis=0)
    np.testing.assert_allclose(shares[1], 400 / N, rtol=0.3)
    with refuses(InputError, match="'rare'"):
        classifier(per_class=True).fit(lambda: in_parts(table), "y")


def test_levels_are_the_same_whichever_of_them_a_part_declares(frame):
    hue = np.random.default_rng(0).choice(["blue", "green", "red"], N)
    table = frame[["a", "b"]].assign(hue=hue)
    parts = in_parts(table)
    declared = [part.assign(hue=part["hue"].astype("category")) for part in parts]
    assert len({str(part["hue"].dtype.categories) for part in declared}) > 1
    found = [
        cw.MiniSPN(random_state=0).fit(lambda own=own: own).score_samples(table)
        for own in (parts, declared)
    ]
    np.testing.assert_array_equal(*found)


def test_networks_per_class_learn_from_the_rows_of_their_class(frame):
    table = frame.drop(columns="w")
    spn = classifier(per_class=True).fit(lambda: in_parts(table), "y")
    share = (frame["y"] == 1).mean()
    assert spn.circuit_.root.weights[1] == pytest.approx(share, abs=1e-5)


def test_what_is_wrong_is_named_with_its_place(frame):
    table = frame[["a", "b"]]
    far = table.assign(a=np.where(np.arange(N) == N - 1, 1e150, frame["a"]))
    with refuses(InputError, match="'a'.*150"):
        cw.MiniSPN(random_state=0).fit(lambda: in_parts(far))
    odd = in_parts(table)
    odd[-1] = odd[-1].assign(a="long")
    with refuses(InputError, match="'a'"):
        cw.MiniSPN(random_state=0).fit(lambda: odd)
    network = cw.MiniSPN(random_state=0).fit(table[:200])
    with refuses(InputError, match="'b'"):
        network.score_samples(lambda: [table[["a"]]])
    with refuses(InputError, match="'z'"):
        classifier().fit(lambda: [table], "z")


@pytest.fixture(scope="module")
def filled(frame, small_samples):
    """An imputer, and the table with its cells filled; only to be read."""
    values = frame[["a", "b"]]
    imputer = cw.SPNImputer(random_state=0).fit(lambda: in_parts(values))
    return imputer, imputer.transform(values).to_numpy()


@pytest.mark.parametrize("kind", FAR)
def test_cells_are_filled_wherever_they_are_stored(kind, frame, filled, tmp_path):
    table = frame if kind == "dask array" else frame[["a", "b"]].assign(y=0, w=0)
    X, _ = stored(kind, table, tmp_path)
    imputer, expected = copy(filled[0]), filled[1]
    assert not np.isnan(expected).any()
    if kind == "dask array":
        del imputer.feature_names_in_
    found = imputer.transform(X)
    assert hasattr(found, "compute") == kind.startswith("dask")
    np.testing.assert_array_equal(np.asarray(found), expected)


def test_draws_are_for_tables_in_memory(frame):
    values = frame[["a", "b"]][:300]
    imputer = cw.SPNImputer(random_state=0, n_draws=1).fit(values)
    with refuses(InputError, match="n_draws"):
        imputer.transform(lambda: [values])
