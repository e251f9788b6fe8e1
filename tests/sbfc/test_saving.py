"""Damaged files are refused, or read as something that predicts."""

import numpy as np
import pytest
from tests.wording import refuses

import clearwood as cw
from clearwood.codec.archive import read_archive, write_archive
from clearwood.datasets import make_corral
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.persistence import codec_of

KIND = "SelectiveBayesianForestClassifier"


@pytest.fixture(scope="module")
def kept():
    X, y = make_corral(n_noise=2, random_state=0)
    forest = cw.SelectiveBayesianForestClassifier(n_graphs=12, random_state=0).fit(X, y)
    return X, *codec_of(KIND).write(forest)


def written(path, document, arrays):
    write_archive(path, {"kind": KIND, **document}, arrays, overwrite=True)
    return path


def damages(arrays, rng):
    """Each array with one number changed, cut short, or gone."""
    for name, values in arrays.items():
        if values.size:
            for other in (-2, -1, 0, 1, 7, 10**6):
                changed = values.copy()
                changed.flat[rng.integers(values.size)] = other
                yield name, changed
            if values.dtype.kind == "f":
                yield name, np.full_like(values, np.nan)
        yield name, values[:-1]
        yield name, np.concatenate([values, values[:1]])


def test_arrays_that_do_not_fit_are_refused_or_harmless(kept, tmp_path):
    X, document, arrays = kept
    rng, refused, read = np.random.default_rng(0), set(), 0
    for name, changed in damages(arrays, rng):
        path = written(tmp_path / "a.cw", document, {**arrays, name: changed})
        try:
            found = cw.load(path).predict_proba(X)
        except ModelFormatError:
            refused.add(name)
        else:
            read += 1
            assert found.shape == (len(X), 2)
            np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert refused == set(arrays)
    assert read < 60


def test_missing_arrays_and_wrong_classes_are_refused(kept, tmp_path):
    _, document, arrays = kept
    for name in set(arrays) - {"level_counts"}:
        others = {k: v for k, v in arrays.items() if k != name}
        with pytest.raises(ModelFormatError, match=name):
            cw.load(written(tmp_path / "a.cw", document, others))
    for classes in (None, [1, 0], [0]):
        changed = {**document, "classes": classes}
        with pytest.raises(ModelFormatError):
            cw.load(written(tmp_path / "a.cw", changed, arrays))


def test_a_subclass_is_not_saved(kept):
    class Own(cw.SelectiveBayesianForestClassifier):
        pass

    with refuses(InputError):
        codec_of(KIND).write(Own())


def test_what_is_written_can_be_opened(kept, tmp_path):
    _, document, arrays = kept
    top, array = read_archive(written(tmp_path / "a.cw", document, arrays))
    assert top["kind"].text() == "SelectiveBayesianForestClassifier"
    assert array("signals", "b", -1, 8).shape == (13, 8)
