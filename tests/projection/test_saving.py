"""Projections in files: what was written is read, and nothing else."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from tests.projection.test_estimators import Drawn
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import ClearwoodError, InputError, ModelFormatError


def fitted(kind):
    X = np.random.default_rng(0).normal(size=(120, 3))
    if kind == "classes":
        shares = Drawn(task="classification")
        return cw.ProjectedTreeClassifier(shares, n_leaf_nodes=3).fit(X), X
    if kind == "survival":
        shares = Drawn(task="classification").draws(X)[..., 1]
        draws = np.stack([shares, shares**3], axis=2)
        reference = cw.reference(draws, X, horizons=[1, 3])
        return cw.ProjectedTreeSurvival(reference, n_leaf_nodes=3).fit(X), X
    if kind == "logistic":
        X, y = load_iris(return_X_y=True, as_frame=True)
        reference = cw.reference(None, X, y, n_draws=5, random_state=0)
        return cw.ProjectedLogisticRegression(reference).fit(X), X
    if kind == "list":
        made = cw.ProjectedRuleListRegressor(Drawn(), n_rules=3, random_state=0)
        return made.fit(X), X
    if kind == "linear":
        return cw.ProjectedLinearRegression(Drawn(n_draws=4)).fit(X), X
    reference = Drawn(task="counts" if kind == "counts" else "regression")
    return cw.ProjectedTreeRegressor(reference, n_leaf_nodes=3).fit(X), X


KINDS = ["values", "counts", "classes", "survival", "linear", "logistic"]


@pytest.mark.parametrize("kind", [*KINDS, "list"])
def test_all_that_is_said_is_kept(kind, tmp_path):
    found, X = fitted(kind)
    cw.save(found, tmp_path / "kept.zip")
    again = cw.load(tmp_path / "kept.zip")
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    kept = {"n_leaf_nodes", "n_rules", "alpha", "min_samples_leaf", "draws", "penalty"}
    settings = found.get_params()
    shared = {name: settings[name] for name in kept & set(settings)}
    assert shared.items() <= again.get_params().items()
    with refuses(InputError):
        again.fit(X)
    if kind in ("linear", "logistic"):
        assert again.summary() == found.summary()
        return
    np.testing.assert_array_equal(again.predict_draws(X), found.predict_draws(X))
    np.testing.assert_array_equal(again.predict_interval(X), found.predict_interval(X))
    assert str(again.rules_) == str(found.rules_)


def test_what_may_not_be_asked_is_kept(tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    few = cw.ProjectedTreeRegressor(
        Drawn(), n_leaf_nodes=2, exclude_features=["b"]
    ).fit(X)
    cw.save(few, tmp_path / "kept.zip")
    assert cw.load(tmp_path / "kept.zip").exclude_features == ["b"]
    few.set_params(exclude_features=(np.int64(1),))
    cw.save(few, tmp_path / "again.zip")
    assert cw.load(tmp_path / "again.zip").exclude_features == [1]
    with zipfile.ZipFile(tmp_path / "kept.zip") as file:
        parts = {member: file.read(member) for member in file.namelist()}
    parts["model.json"] = parts["model.json"].replace(b'["b"]', b'[["b"]]')
    with zipfile.ZipFile(tmp_path / "wrong.zip", "w") as file:
        for member, part in parts.items():
            file.writestr(member, part)
    with pytest.raises(ModelFormatError, match="exclude_features"):
        cw.load(tmp_path / "wrong.zip")


@pytest.mark.parametrize("seed", [3, np.int64(3), None, np.random.default_rng(3)])
def test_a_seed_is_kept_where_it_is_a_number(seed, tmp_path):
    found, _ = fitted("values")
    found.set_params(random_state=seed)
    cw.save(found, tmp_path / "kept.zip")
    kept = cw.load(tmp_path / "kept.zip").random_state
    assert kept == (3 if isinstance(seed, int | np.integer) else None)


def test_a_tree_for_every_draw_is_not_saved_as_if_it_were_one(tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 3))
    tree = cw.ProjectedTreeRegressor(Drawn(3), n_leaf_nodes=2, draws="each").fit(X)
    with refuses(InputError, match="'shared'"):
        cw.save(tree, tmp_path / "each.zip")


DAMAGE = {
    "values": ["means", "variances", "share"],
    "classes": ["means", "share"],
    "counts": ["means"],
    "linear": ["feature", "category", "unit", "coef", "mean_intercept"],
    "logistic": ["feature", "category", "centre", "mean_coef"],
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in DAMAGE.items() for name in names]
)
@pytest.mark.parametrize("wrong", [np.nan, -(2**62), 2**62, "shorter"])
def test_damaged_arrays_are_refused(kind, name, wrong, tmp_path):
    found, X = fitted(kind)
    path = tmp_path / "kept.zip"
    cw.save(found, path)
    with zipfile.ZipFile(path) as file:
        parts = {member: file.read(member) for member in file.namelist()}
    array = np.load(io.BytesIO(parts[f"{name}.npy"]))
    if wrong == "shorter":
        array = array[..., :-1]
    elif array.dtype.kind == "f":
        array.flat[-1] = np.inf if wrong == 2**62 else wrong
    elif not np.isnan(wrong):
        array.flat[-1] = wrong
    else:
        array = array.astype(float)
    content = io.BytesIO()
    np.save(content, array)
    parts[f"{name}.npy"] = content.getvalue()
    with zipfile.ZipFile(path, "w") as file:
        for member, part in parts.items():
            file.writestr(member, part)
    harmless = wrong == -(2**62) and name in (
        "centre", "coef", "mean_coef", "mean_intercept",
    )  # fmt: skip
    harmless |= kind == "values" and name == "means" and wrong == -(2**62)
    if harmless:
        assert np.isfinite(cw.load(path).predict(X[:1])).all()
        return
    with pytest.raises(ModelFormatError):
        cw.load(path)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("kind", KINDS)
def test_documents_of_another_kind_are_refused(kind, tmp_path):
    found, X = fitted(kind)
    path = tmp_path / "kept.zip"
    cw.save(found, path)
    with zipfile.ZipFile(path) as file:
        parts = {member: file.read(member) for member in file.namelist()}
    document = json.loads(parts["model.json"])
    for key in set(document) - {"clearwood"}:
        for value in (None, 7, "x", [], {}, [1, 2, 3]):
            changed = {**document, key: value}
            parts["model.json"] = json.dumps(changed).encode()
            with zipfile.ZipFile(path, "w") as file:
                for member, part in parts.items():
                    file.writestr(member, part)
            try:
                again = cw.load(path)
            except ClearwoodError:
                continue
            assert len(again.predict(X)) == len(X)
