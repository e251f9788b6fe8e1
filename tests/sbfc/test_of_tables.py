"""Numbers are cut on a sample of a large table, and all of its rows are counted."""

import numpy as np
import pandas as pd
import pytest
from tests._tables.storing import FAR, N, in_parts, of_dask, stored, two_classes
from tests.wording import refuses

import clearwood as cw
from clearwood._tables import open_rows
from clearwood.exceptions import InputError

pytest.importorskip("dask")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.usefixtures("small_samples")


@pytest.fixture(scope="module")
def frame():
    return two_classes()


@pytest.fixture(scope="module")
def wards():
    """Few values, so that nothing is cut; a category and a class are rare."""
    rng = np.random.default_rng(1)
    ward = rng.choice(["north", "south"], N).astype(object)
    stay = rng.integers(0, 4, N)
    grade = np.where((ward == "north") ^ (rng.random(N) < 0.2), "mild", "grave")
    sampled = open_rows(np.zeros((N, 1)), np.arange(N)).sample(2000).y
    rare = np.setdiff1d(np.arange(N), sampled)[[5, -5]]
    ward[rare], grade[rare] = ["east", None], "none"
    return pd.DataFrame({"ward": ward, "stay": stay, "grade": grade})


def forest(**settings):
    return cw.SelectiveBayesianForestClassifier(random_state=0, n_graphs=20, **settings)


@pytest.fixture(scope="module")
def of_frames(frame, small_samples):
    """What all others have to say, too."""
    X, rest = stored("frames", frame, None)
    return forest().fit(X, **rest)


@pytest.mark.parametrize("kind", FAR)
def test_every_form_teaches_the_same_to_the_last_bit(kind, frame, of_frames, tmp_path):
    X, rest = stored(kind, frame, tmp_path)
    found = forest().fit(X, **rest)
    assert found.log_evidence_ == of_frames.log_evidence_
    expected = of_frames.predict_proba(frame[["a", "b"]])
    np.testing.assert_array_equal(np.asarray(found.predict_proba(X)), expected)
    said = np.asarray(found.predict(X))
    np.testing.assert_array_equal(said, of_frames.predict(frame[["a", "b"]]))


def test_cuts_are_of_a_sample_and_counts_of_all(frame, of_frames):
    sample = open_rows(lambda: [frame], "y", "w").sample(2000)
    few = forest().fit(*sample)
    for own, other in zip(of_frames.levels_.cuts, few.levels_.cuts):
        np.testing.assert_array_equal(own, other)
    assert of_frames.log_evidence_ < 4 * few.log_evidence_ < 0.0


@pytest.mark.parametrize("declared", [False, True])
def test_what_is_not_cut_is_as_in_memory(declared, wards):
    """Categories differ between parts where they are declared, too."""
    parts = in_parts(wards)
    if declared:
        parts = [part.assign(ward=part["ward"].astype("category")) for part in parts]
    # Calibration is learned from the sample.
    found = forest(calibration=None).fit(lambda: parts, "grade")
    X, y = wards[["ward", "stay"]], wards["grade"]
    whole = forest(calibration=None).fit(X, y)
    assert found.levels_.features == whole.levels_.features
    assert found.classes_.tolist() == ["grave", "mild", "none"]
    assert found.log_evidence_ == whole.log_evidence_
    np.testing.assert_array_equal(found.predict_proba(X), whole.predict_proba(X))
    shares = found.predict_proba(of_dask(in_parts(wards)))
    assert not isinstance(shares, pd.DataFrame)
    np.testing.assert_array_equal(shares.compute(), whole.predict_proba(X))
    assert (found.predict(lambda: in_parts(wards)) == whole.predict(X)).all()


def test_a_table_that_fits_is_learned_as_in_memory(frame):
    few = frame[:1500]
    found = forest().fit(lambda: [few[:99], few[99:]], "y", "w")
    whole = forest().fit(few[["a", "b"]], few["y"], few["w"])
    assert found.log_evidence_ == whole.log_evidence_


def test_what_is_wrong_is_named_with_its_place(wards):
    last = wards[-9:].assign(stay="long")
    with refuses(InputError, match="'stay'"):
        forest().fit(lambda: [wards, last], "grade")
    missing = wards.assign(grade=wards["grade"].where(wards["grade"] != "none"))
    with refuses(InputError):
        forest().fit(lambda: in_parts(missing), "grade")
    heavy = wards.assign(w=1e9)
    with refuses(InputError):
        forest().fit(lambda: in_parts(heavy), "grade", "w")
    with refuses(InputError, match="'stay'"):
        forest().fit(wards[["ward", "stay"]][:99], wards["grade"][:99]).predict(
            lambda: [wards[["ward"]]]
        )
