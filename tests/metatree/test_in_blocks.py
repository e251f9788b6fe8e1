"""Trees are grown on a sample of a large table, and learn from all of its rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests._tables.storing import FAR, N, in_parts, of_dask, stored
from tests.wording import refuses, warns

import clearwood as cw
from clearwood._tables import open_rows
from clearwood.exceptions import InputError, SampledRowsWarning

pytest.importorskip("dask")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.usefixtures("small_samples")

FEW = {"max_depth": 3, "random_state": 0}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, N))
    weight = rng.random(N) * (rng.random(N) < 0.9)
    b[rng.random(N) < 0.1] = np.nan
    y = 2 * a + np.nan_to_num(b, nan=3.0) + rng.normal(size=N)
    return pd.DataFrame({"a": a, "b": b, "y": y, "w": weight})


def same_in_memory(tree, X, y, weight=None):
    """All rows at once, learned by the same tree with the same prior."""
    return type(tree)(
        tree.structure_,
        leaf_model=tree.leaf_model_,
        prior="constant",
        split_prior=tree.meta_tree_.g,
    ).fit(X, y, weight)


@pytest.fixture(scope="module")
def of_frames(frame, small_samples):
    """What all others have to say, too."""
    X, rest = stored("frames", frame, None)
    return cw.MetaTreeRegressor(**FEW).fit(X, **rest)


@pytest.mark.parametrize("kind", FAR)
def test_every_form_teaches_the_same_to_the_last_bit(kind, frame, of_frames, tmp_path):
    X, rest = stored(kind, frame, tmp_path)
    tree = cw.MetaTreeRegressor(**FEW).fit(X, **rest)
    assert tree.meta_tree_.own.tobytes() == of_frames.meta_tree_.own.tobytes()
    assert (tree.meta_tree_.rows == of_frames.meta_tree_.rows).all()
    assert tree.log_evidence_ == of_frames.log_evidence_
    said = np.asarray(tree.predict(X))
    values = frame[["a", "b"]]
    known = values if hasattr(tree, "feature_names_in_") else values.to_numpy()
    np.testing.assert_array_equal(said, tree.predict(known))


def test_it_knows_all_rows_and_grew_on_some(frame, of_frames):
    X, y, weight = frame[["a", "b"]], frame["y"], frame["w"]
    whole = same_in_memory(of_frames, X, y, weight)
    np.testing.assert_allclose(
        of_frames.meta_tree_.own, whole.meta_tree_.own, rtol=1e-9, atol=1e-9
    )
    assert (of_frames.meta_tree_.rows == whole.meta_tree_.rows).all()
    assert of_frames.meta_tree_.rows.sum() == (weight > 0).sum()
    np.testing.assert_allclose(of_frames.predict(X), whole.predict(X), rtol=1e-9)
    sample = open_rows(lambda: [frame], "y", "w").sample(2000)
    grown = cw.MetaTreeRegressor(**FEW).fit(*sample)
    assert of_frames.structure_.same_as(grown.structure_)
    assert of_frames.leaf_model_ == grown.leaf_model_


def test_a_sample_is_announced_and_a_whole_table_is_not(frame):
    table = frame.drop(columns="w")
    tree = cw.MetaTreeRegressor(**FEW)
    with warns(SampledRowsWarning, match=f"{N:,}.*2,000"):
        tree.fit(lambda: [table], "y")
    with warnings.catch_warnings(action="error"):
        tree.fit(table[["a", "b"]], table["y"])
        tree.fit(lambda: [table[:2000]], "y")


@pytest.fixture(scope="module")
def graded():
    """Classes and a category of which no sample knows all; one column is whole."""
    rng = np.random.default_rng(1)
    ward = rng.choice(["north", "south"], N).astype(object)
    stay = rng.integers(0, 9, N)
    grade = np.where(ward == "north", "mild", "grave")
    grade = np.where(rng.random(N) < 0.2, "mild", grade)
    sampled = open_rows(np.zeros((N, 1)), np.arange(N)).sample(2000).y
    rare = np.setdiff1d(np.arange(N), sampled)[[5, -5]]
    ward[rare], grade[rare] = "east", "none"
    return pd.DataFrame(
        {"ward": ward, "stay": stay, "grade": grade, "id": rng.random(N)}
    )


def test_classes_and_categories_outside_of_the_sample(graded):
    known = graded.drop(columns="id")
    tree = cw.MetaTreeClassifier(**FEW).fit(lambda: in_parts(known), "grade")
    assert tree.classes_.tolist() == ["grave", "mild", "none"]
    X, y = known[["ward", "stay"]], known["grade"]
    whole = same_in_memory(tree, X, y)
    np.testing.assert_array_equal(tree.meta_tree_.own, whole.meta_tree_.own)
    assert tree.meta_tree_.own[:, 2].sum() == 2
    # In a table that holds more, columns are found by their names.
    frames = tree.predict_proba(lambda: in_parts(graded))
    np.testing.assert_array_equal(frames, tree.predict_proba(X))
    later = tree.predict(of_dask(in_parts(graded[["id", "stay", "ward", "grade"]])))
    assert not isinstance(later, pd.Series)
    assert (later.compute().to_numpy() == tree.predict(X)).all()
    shares = tree.predict_proba(of_dask(in_parts(graded))).compute()
    assert shares.columns.tolist() == tree.classes_.tolist()
    np.testing.assert_array_equal(shares, frames)


def test_kinds_of_numbers_are_those_of_all_rows(graded):
    """Whatever a block holds by chance: of a rare truth value most hold one side."""
    known = graded.drop(columns="id").assign(rare=0.0)
    known.loc[[5, 17, N // 2, N - 1], "rare"] = 1.0
    known.loc[open_rows(known).sample(2000).X.index[:9], "rare"] = 1.0
    tree = cw.MetaTreeClassifier(**FEW).fit(lambda: in_parts(known), "grade")
    assert kinds(tree) == ["number", "integer", "binary"]
    known = known.astype({"stay": float})
    known.loc[N - 1, ["stay", "rare"]] = 0.5, 2.0
    tree = cw.MetaTreeClassifier(**FEW).fit(lambda: in_parts(known), "grade")
    assert kinds(tree) == ["number", "number", "integer"]


def kinds(tree):
    return [info.kind for info in tree.structure_.coder.features.info]


def test_a_table_that_fits_is_learned_as_in_memory(frame):
    few = frame[:1500]
    blocks = cw.MetaTreeRegressor(**FEW).fit(lambda: [few[:99], few[99:]], "y", "w")
    whole = cw.MetaTreeRegressor(**FEW).fit(few[["a", "b"]], few["y"], few["w"])
    assert blocks.log_evidence_ == whole.log_evidence_


def test_more_rows_come_in_blocks_too(frame):
    first, more = frame[:1500], frame[1500:]
    tree = cw.MetaTreeRegressor(**FEW).fit(first[["a", "b"]], first["y"])
    seen = tree.meta_tree_
    own = seen.own.copy()
    tree.partial_fit(lambda: in_parts(more), "y")
    whole = same_in_memory(tree, frame[["a", "b"]], frame["y"])
    assert seen.rows.sum() == 1500 and tree.meta_tree_.rows.sum() == N
    np.testing.assert_array_equal(seen.own, own)
    np.testing.assert_allclose(tree.log_evidence_, whole.log_evidence_, rtol=1e-9)


def test_forests(graded):
    known = graded.drop(columns="id")
    numbers = known.assign(ward=(known["ward"] == "north").astype(float))
    forest = RandomForestClassifier(3, max_depth=3, random_state=0)
    tree = cw.MetaForestClassifier(forest).fit(lambda: in_parts(numbers), "grade")
    X, y = numbers[["ward", "stay"]], numbers["grade"]
    whole = cw.MetaForestClassifier(tree.estimator_, leaf_model=tree.leaf_model_).fit(
        X, y
    )
    np.testing.assert_array_equal(tree._forest.own, whole._forest.own)
    np.testing.assert_array_equal(
        tree.predict_proba(lambda: in_parts(graded.assign(ward=numbers["ward"]))),
        whole.predict_proba(X),
    )
    more = cw.MetaForestClassifier(tree.estimator_, leaf_model=tree.leaf_model_).fit(
        X[:99], y[:99]
    )
    more.partial_fit(lambda: [numbers[99:]], "grade")
    np.testing.assert_array_equal(more._forest.own, whole._forest.own)


def test_what_fails_leaves_what_was_there(graded, frame):
    known = graded.drop(columns="id")
    tree = cw.MetaTreeClassifier(**FEW).fit(
        known[["ward", "stay"]][:99], known["grade"][:99]
    )
    before = vars(tree).copy()
    last = known[-9:].assign(stay="long")
    with refuses(InputError, match="'stay'"):
        tree.fit(lambda: [known[: N // 2], known[N // 2 :], last], "grade")
    assert vars(tree) == before
    with refuses(InputError):
        tree.fit(lambda: [known], None)
    missing = frame.assign(y=frame["y"].where(frame["a"] < 3.5))
    with refuses(InputError):
        cw.MetaTreeRegressor(**FEW).fit(lambda: in_parts(missing), "y")
