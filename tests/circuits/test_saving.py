"""Circuits in files: all of them come back, damaged ones are refused or harmless."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.exceptions import NotFittedError
from tests.circuits import made
from tests.circuits.reading.cases import spiked
from tests.wording import refuses

import clearwood as cw
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.nodes import Sum
from clearwood.codec.archive import read_archive, write_archive
from clearwood.distributions import Bernoulli
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.persistence import codec_of


def written(found):
    """What is kept of it: a document and arrays."""
    return codec_of(type(found).__name__).write(found)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("circuits") / "circuit.cw"


@pytest.fixture(scope="module")
def there_and_back(path):
    """Arrays as they come out of a file."""

    def through(document, arrays):
        write_archive(path, document, arrays, overwrite=True)
        return codec_of("Circuit").read(*read_archive(path))

    return through


@given(made.circuits(zeros=True))
def test_circuits_come_back(path, circuit):
    cw.save(circuit, path, overwrite=True)
    found = cw.load(path)
    assert found.features == circuit.features
    values = made.random_rows(np.random.default_rng(0), circuit, 5)
    expected = compile_circuit(circuit).log_likelihood(values)
    assert (compile_circuit(found).log_likelihood(values) == expected).all()
    again = written(found)[1]
    assert all((again[k] == v).all() for k, v in written(circuit)[1].items())


def test_columns_without_any_value_come_back(tmp_path):
    table = pd.DataFrame({"hue": ["red", "blue"] * 20, "none": [None] * 40})
    for found in (cw.MiniSPN(random_state=0).fit(table),
                  cw.SPNImputer(random_state=0).fit(table)):  # fmt: skip
        cw.save(found, tmp_path / "kept.cw", overwrite=True)
        again = cw.load(tmp_path / "kept.cw")
        assert again.circuit_.features == found.circuit_.features
        assert str(again.circuit_) == str(found.circuit_)
    assert again.transform(table).equals(table)


def test_models_of_numeric_columns_come_back(tmp_path):
    path, circuit = tmp_path / "spiked.cw", spiked()
    cw.save(circuit, path)
    for again in (cw.load(path), pickle.loads(pickle.dumps(circuit))):
        assert again.table == circuit.table and again.features == circuit.features
        assert str(again) == str(circuit)
    document, arrays = written(circuit)
    document = {"kind": "Circuit", **document}
    (_, own) = document["numeric_columns"]
    for wrong in (
        [None], [own, own], [None, None, None], "x", None,
        [None, own | {"point_masses": [0, 0]}], [None, own | {"point_masses": [1, 0]}],
        [None, own | {"range": [1]}], [None, own | {"scale": "x"}],
        [None, own | {"places": 99}],
    ):  # fmt: skip
        changed = {**document, "numeric_columns": wrong}
        write_archive(path, changed, arrays, overwrite=True)
        with pytest.raises(ModelFormatError, match="numeric_columns|numbers"):
            cw.load(path)


def test_deep_circuits_come_back(there_and_back):
    node = Bernoulli(0, 0.25)
    for _ in range(2_000):
        node = Sum(np.array([1.0]), (node,))
    circuit = Circuit(node, made.space([2]))
    found = there_and_back(*written(circuit))
    assert found.n_nodes == 2_001


def test_damaged_arrays_are_refused_or_harmless(there_and_back):
    rng = np.random.default_rng(4)
    circuit = made.random_circuit(rng, [2, 3, 2, None, None, None], depth=3)
    document, arrays = written(circuit)
    values = made.random_rows(rng, circuit, 10)
    refused, read = set(), 0
    for name, own in arrays.items():
        others = [own[:-1], np.append(own, own[:1]), own[:0], np.zeros_like(own) - 1]
        for other in (-2, 0, 1, 2, 7, 10**6, 2**62):
            for i in range(0, len(own), 5):
                changed = own.copy()
                changed[i] = other
                others.append(changed)
        if own.dtype.kind == "f":
            others += [np.full_like(own, x) for x in (np.nan, np.inf, 1e308)]
        for changed in others:
            try:
                found = there_and_back(document, {**arrays, name: changed})
            except ModelFormatError:
                refused.add(name)
            else:
                read += 1
                density = compile_circuit(found).log_likelihood(values)
                assert not np.isnan(density).any()
    assert refused == set(arrays)
    assert read


def test_missing_arrays_are_refused(there_and_back):
    circuit = made.random_circuit(np.random.default_rng(0), [2, None])
    document, arrays = written(circuit)
    for name in arrays:
        with pytest.raises(ModelFormatError, match=name):
            left = {k: v for k, v in arrays.items() if k != name}
            there_and_back(document, left)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    kind = rng.random(80) < 0.4
    table = pd.DataFrame({
        "smokes": np.where(rng.random(80) < 0.9, kind, ~kind),
        "age": np.where(rng.random(80) < 0.2, np.nan, 40 + 20 * kind),
        "town": np.where(kind, "York", "Bath"),
    })  # fmt: skip
    return table, cw.MiniSPN(random_state=0).fit(table)


def test_fitted_densities_come_back(fitted, tmp_path):
    table, network = fitted
    cw.save(network, tmp_path / "kept.cw")
    found = cw.load(tmp_path / "kept.cw")
    assert type(found) is cw.MiniSPN
    assert found.feature_names_in_.tolist() == list(table)
    assert (found.score_samples(table) == network.score_samples(table)).all()
    drawn = found.sample(5, given={"town": "York"}, random_state=0)
    pd.testing.assert_frame_equal(
        drawn, network.sample(5, given={"town": "York"}, random_state=0)
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: cw.ParetoSPN(10, random_state=0),
        lambda: cw.HybridSPN(5, random_state=0),
        lambda: cw.SPNImputer(joint=True, random_state=0),
        lambda: cw.SPNClassifier(per_class=True, random_state=0),
    ],
    ids=["Pareto", "Hybrid", "imputer", "classifier"],
)
def test_other_doors_come_back(make, fitted, tmp_path):
    table, _ = fitted
    y = np.where(table["smokes"], "yes", "no")
    found = make().fit(table, y)
    cw.save(found, tmp_path / "kept.cw")
    again = cw.load(tmp_path / "kept.cw")
    assert type(again) is type(found)
    assert again.n_features_in_ == 3 and list(again.feature_names_in_) == list(table)
    for name, ask in (
        ("score_samples", table),
        ("transform", table),
        ("predict_proba", table),
    ):
        if hasattr(found, name):
            mine, other = (np.asarray(getattr(f, name)(ask)) for f in (found, again))
            assert mine.tolist() == other.tolist()
    assert getattr(again, "joint", True) and getattr(again, "per_class", True)
    if hasattr(found, "at_most"):
        with refuses(NotFittedError, match="circuit_"):
            again.at_most(100)


def test_classes_in_files_are_those_of_the_last_column(fitted, tmp_path):
    table, network = fitted
    classifier = cw.SPNClassifier(random_state=0).fit(
        table, table["smokes"].rename("smoker")
    )
    for estimator, classes in (
        (classifier, None),
        (classifier, [True, False]),
        (classifier, ["a", "b"]),
        (network, ["Bath", "York"]),
    ):
        document, arrays = written(estimator)
        changed = {"kind": type(estimator).__name__, **document, "classes": classes}
        write_archive(tmp_path / "changed.cw", changed, arrays, overwrite=True)
        with pytest.raises(ModelFormatError, match="classes"):
            cw.load(tmp_path / "changed.cw")


def test_only_known_densities_are_saved(fitted, tmp_path):
    class Own(cw.MiniSPN):
        pass

    with refuses(InputError):
        codec_of("MiniSPN").write(Own())
    document, arrays = written(fitted[1])
    for name, value in (
        ("settings", {"random_state": 0}),
        ("settings", {"n_networks": 0}),
        ("column_names", ["a"]),
        ("features", document["features"][:2]),
    ):
        path = tmp_path / "changed.cw"
        changed = {"kind": "MiniSPN", **document, name: value}
        write_archive(path, changed, arrays, overwrite=True)
        with pytest.raises(ModelFormatError):
            cw.load(path)
