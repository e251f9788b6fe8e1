"""Results in files: nothing is written over unused_features, and only ours are read."""

import zipfile

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.codec.archive import read_archive, write_archive
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.rules.training import HASHES

X = np.arange(12.0).reshape(6, 2)


def binning(scale):
    return cw.BinaryBinner().fit(scale * X)


def rules(value):
    return cw.RuleList((), cw.Rule((), value), cw.FeatureSpace.numeric(2))


@pytest.mark.parametrize("make", [binning, rules])
def test_a_file_is_written_over_only_where_this_is_asked_for(make, tmp_path):
    path = tmp_path / "kept"
    cw.save(make(2), path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="overwrite"):
        cw.save(make(3), path)
    assert path.read_bytes() == before
    cw.save(make(3), path, overwrite=True)
    cw.save(make(3), tmp_path / "other")
    assert path.read_bytes() == (tmp_path / "other").read_bytes() != before


def test_what_cannot_be_saved_is_named(tmp_path):
    with refuses(InputError, match="circuit"):
        cw.save({}, tmp_path / "kept")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "document",
    [{"kind": "Other"}, {"kind": 3}, {}, {"kind": "BinaryBinner", "version": 2},
     {"kind": "BinaryBinner", "format": "other"}],
)  # fmt: skip
def test_archives_of_other_kinds_are_refused_by_their_name(document, tmp_path):
    write_archive(tmp_path / "kept", document, {})
    with pytest.raises(ModelFormatError, match="kept: "):
        cw.load(tmp_path / "kept")


def test_arrays_come_back_with_the_kind_and_shape_that_are_asked_for(tmp_path):
    arrays = {"a": np.arange(6).reshape(2, 3), "b": np.array([np.nan]), "c": X > 3}
    write_archive(tmp_path / "kept", {}, arrays)
    _, array = read_archive(tmp_path / "kept")
    assert array("a", "i", 2, 3).tolist() == array("a", "i", -1, 3).tolist()
    np.testing.assert_array_equal(array("b", "f", 1), arrays["b"])
    assert array("c", "b", -1, -1).tolist() == arrays["c"].tolist()
    for asked in (("a", "f", 2, 3), ("a", "i", 3, 2), ("a", "i", 6), ("d", "f", -1)):
        with refuses(ModelFormatError, match=f"^{asked[0]}: "):
            array(*asked)


@pytest.mark.parametrize("make", [binning, rules])
def test_files_of_our_own_are_checked_by_what_they_are(make, tmp_path):
    path = tmp_path / "kept"
    cw.save(make(2), path)
    found = cw.check(path)
    assert found.sound and found.facts["kind"] == type(make(2)).__name__
    path.write_bytes(path.read_bytes()[:-9])
    found = cw.check(path)
    assert not found.sound and "kept" in found.problem


@pytest.mark.parametrize("name", ["new.csv", "new.parquet"])
def test_a_table_in_place_of_a_model_is_called_a_table(name, tmp_path):
    content = {"csv": b"age,sex\n1,f\n", "parquet": b"PAR1\x15\x04"}
    path = tmp_path / name
    path.write_bytes(content[path.suffix[1:]])
    for read in (cw.load, cw.read_ensemble):
        with refuses(ModelFormatError):
            read(path)
    same_text(cw.check(path).problem)


def test_rules_in_place_of_a_model_are_called_rules(tmp_path):
    cw.save(rules(3.0), tmp_path / "rules.json")
    with refuses(ModelFormatError):
        cw.read_ensemble(tmp_path / "rules.json")


@pytest.mark.parametrize("kind", ["rules", "estimator"])
def test_a_file_says_when_and_to_what_it_was_fitted(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    X = np.arange(40.0).reshape(20, 2)
    y, path = X[:, 0] > 19, tmp_path / "file"

    def facts(X, y, model):
        fitted = cw.RuleListClassifier(model, random_state=0).fit(X, y)
        saved = fitted if kind == "estimator" else fitted.rules_
        cw.save(saved, path, overwrite=True)
        return cw.check(path).facts

    tree, stump = (
        DecisionTreeClassifier(random_state=0).fit(X, X[:, 0] > t) for t in (19, 9)
    )
    first = facts(X, y, tree)
    assert first["written"] == f"1970-01-02, by Clearwood {cw.__version__}"
    data, predictions = HASHES
    assert first[data].startswith("20 rows, 2 columns, SHA-256 ")
    assert len(first[predictions]) == len("SHA-256 ") + 64
    order = np.random.default_rng(0).permutation(20)
    assert facts(X[order], y[order], tree) == first
    assert facts(np.asfortranarray(X), y, tree) == first
    others = (
        facts(X + 1, y, tree),
        facts(X, y ^ (X[:, 0] == 8), tree),
        facts(X, y, stump),
    )
    changed = [[one[key] != first[key] for key in HASHES] for one in others]
    assert [row[0] for row in changed] == [True, True, False]
    assert changed[2][1]


@pytest.mark.parametrize("kind", ["rules", "estimator"])
def test_a_later_format_is_named(kind, tmp_path):
    path = tmp_path / "file"
    X = np.arange(40.0).reshape(20, 2)
    fitted = cw.RuleListClassifier(
        DecisionTreeClassifier().fit(X, X[:, 0] > 19), random_state=0
    ).fit(X)
    if kind == "rules":
        cw.save(fitted.rules_, path)
        path.write_text(path.read_text("utf-8").replace('"version": 1', '"version": 2'))
    else:
        cw.save(fitted, path)
        with zipfile.ZipFile(path) as file:
            parts = {name: file.read(name) for name in file.namelist()}
        parts["model.json"] = parts["model.json"].replace(
            b'"version": 1', b'"version": 2', 1
        )
        with zipfile.ZipFile(path, "w") as file:
            for name, part in parts.items():
                file.writestr(name, part)
    with pytest.raises(ModelFormatError, match="later than 1.*pip install --upgrade"):
        cw.load(path)
    assert "later than 1" in cw.check(path).problem
