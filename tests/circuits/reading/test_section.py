import re
from dataclasses import replace

import numpy as np
import pytest
from tests.circuits.reading.cases import (
    apart,
    clinic,
    spiked,
    stand_in,
    table,
    wide,
)
from tests.wording import refuses, same_lines

from clearwood import report
from clearwood._html.disclosure import disclosed
from clearwood.circuits import SPNClassifier
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.nodes import Product
from clearwood.circuits.queries.draws import sample
from clearwood.circuits.queries.shares import conditionals
from clearwood.circuits.reading.anomalies import NEW, anomaly_scores, top_entries
from clearwood.circuits.reading.section import section
from clearwood.columns.table_variables import (
    LogScale,
    NumericColumn,
    TableVariables,
)
from clearwood.distributions import Bernoulli, ChowLiuTree, Gaussian
from clearwood.exceptions import InputError
from clearwood.rules import FeatureSpace


@pytest.fixture(scope="module")
def rows():
    """Rows of the clinic, some cells missing, and one that is all wrong."""
    rng = np.random.default_rng(0)
    values = sample(clinic(), 60, rng)
    values[rng.random(values.shape) < 0.1] = np.nan
    values[7] = [0.0, 1.0, 2.0, 40.0, 250.0, 20.0, 0.5]
    return values


@pytest.fixture(scope="module")
def told(rows):
    return disclosed(section(stand_in(clinic()), table(rows)), show_rows=True)


def page(tmp_path, circuit, X=None, show_rows=True):
    path = tmp_path / "page.html"
    report(stand_in(circuit), path, X=X, show_rows=show_rows, overwrite=True)
    return path.read_text(encoding="utf-8")


def test_kinds_stand_beside_all_rows(told):
    (columns,) = told["tables"]
    assert [kind["share"] for kind in columns["clusters"]] == ["60 %", "40 %"]
    lines = {line["name"]: line for line in columns["lines"]}
    assert lines["smoker = yes"]["all"] == "38 %"
    (first, far, side), (second, _, other) = lines["smoker = yes"]["cells"]
    assert (first, side, second, other) == ("10 %", "below", "80 %", "above")
    assert far == pytest.approx(0.28 / np.sqrt(0.38 * 0.62) / 1.5)
    assert columns["clusters"][0]["groups"][1]["names"] == "bp, bmi"
    assert len(columns["clusters"][0]["groups"][1]["clusters"]) == 2
    assert told["pairs"]["lines"][0]["names"] == ["bp", "bmi"]


def test_rows_are_judged_beside_independent_columns(told, rows):
    log_likelihood = compile_circuit(clinic()).log_likelihood
    found = told["rows"]
    assert found["log_density"] == pytest.approx(log_likelihood(rows).mean())
    alone = 0
    for j in range(7):
        only = np.full(rows.shape, np.nan)
        only[:, j] = rows[:, j]
        alone += log_likelihood(only).mean()
    assert found["independent"] == pytest.approx(alone)
    assert found["missing"] == pytest.approx(np.isnan(rows).mean())
    gains = [line["gain"] for line in found["columns"]]
    assert gains == sorted(gains, reverse=True)
    assert found["columns"][-1]["name"] == clinic().features.names[6]
    assert gains[-1] == pytest.approx(0, abs=1e-9)


def test_an_entry_is_told_by_the_others_of_its_row(rows):
    found = anomaly_scores(clinic(), rows)
    for j in (0, 4):
        without = rows.copy()
        without[:, j] = np.nan
        present = np.flatnonzero(~np.isnan(rows[:, j]))
        rest = conditionals(clinic(), without)[j]
        own = rest.log_density(np.nan_to_num(rows[:, j]))[present]
        assert -found.surprisal[present, j] == pytest.approx(own)
    assert np.isnan(found.surprisal[np.isnan(rows)]).all()
    assert abs(np.nanmean(found.of_entries[:, 0])) < 0.3


def test_new_levels_are_improbable_and_minus_one_is_a_number():
    plain = clinic()
    circuit = replace(
        plain, table=replace(plain.table, unseen=(1e-4,) * 3 + (0.0,) * 4)
    )
    values = np.array([[*[-1.0] * 6, np.nan]])
    found = anomaly_scores(circuit, values)
    assert found.alone[0, :3] == pytest.approx(np.log(1e-4))
    assert found.surprisal[0, :3] == pytest.approx(-np.log(1e-4))
    assert np.isfinite(found.alone[0, 3:6]).all()
    (told,) = top_entries(circuit, values, found.of_entries, 7)
    assert [one["found"] for one in told].count(NEW) == 3


def test_the_wrong_row_comes_first_and_why(told):
    first = told["rows"]["surprising"][0]
    assert first["row"] == "7"
    assert first["because"][0]["column"] == "bp"
    assert first["because"][0]["found"] == "250"
    assert first["because"][0]["expected"].startswith("110.")
    others = [line["surprise"] for line in told["rows"]["surprising"]]
    assert others == sorted(others, reverse=True)


def test_a_network_that_helps_nothing_is_said_to(tmp_path, rows):
    shuffled = np.random.default_rng(0).permuted(rows, axis=0)
    assert section(stand_in(clinic()), table(shuffled))["rows"]["no_better"]
    same_lines(page(tmp_path, clinic(), table(shuffled)))
    assert "no better" not in page(tmp_path, clinic(), table(rows))
    # Not even one row that is so far out that no digit is left of all others.
    X = table(sample(clinic(), 9, np.random.default_rng(0)))
    X.loc[0, "bp"] = 1e12
    rows = section(stand_in(clinic()), X)["rows"]
    assert not rows["no_better"]
    assert all(line["gain"] > -100 for line in rows["columns"])
    assert re.search(r"\(\+\d.\d\de\+\d\d; expected: ", page(tmp_path, clinic(), X))
    # Rounding of large numbers is neither better nor worse.
    alone = Product((Gaussian(0, 50.3, 98.0), Gaussian(1, 0.1, 3.7)))
    space = FeatureSpace(("a", "b"), (None, None))
    far = [[10**12 / 3 + i, 0.3 * i] for i in range(9)]
    rows = section(
        stand_in(Circuit(alone, space)), table(np.array(far), Circuit(alone, space))
    )
    assert [line["gain"] for line in rows["rows"]["columns"]] == [0.0, 0.0]
    assert rows["rows"]["log_density"] < -1e20 and not rows["rows"]["no_better"]
    # A network that says so itself needs no remark.
    independent = wide(4, 1)
    drawn = sample(independent, 30, np.random.default_rng(0))
    said = section(stand_in(independent), table(drawn, independent))["rows"]
    assert said["log_density"] == pytest.approx(said["independent"])
    assert not said["no_better"]


def test_point_masses_are_apart_from_the_mean_of_the_others():
    (columns,) = section(stand_in(spiked()))["tables"]
    lines = {line["name"]: line for line in columns["lines"]}
    assert [cell[0] for cell in lines["dose = 0"]["cells"]] == ["97 %", "0 %"]
    assert [cell[0] for cell in lines["dose if not 0"]["cells"]] == ["40.0", "30"]


def test_a_cell_off_the_point_masses_is_improbable_as_a_whole():
    circuit = replace(spiked(), root=spiked().root.children[0])
    row = circuit.table.to_variables(np.array([[0.0, 50.0]]))
    (told,) = top_entries(circuit, row, anomaly_scores(circuit, row).of_entries, 1)
    assert (told[0]["column"], told[0]["expected"]) == ("dose", "0 in 97 %")
    assert told[0]["found"] == "50"
    scores = anomaly_scores(circuit, row)
    alone = -circuit.log_density(row) + np.log(0.9 * 0.999)
    assert scores.surprisal[0, 1] == pytest.approx(alone[0])
    assert np.isnan(scores.surprisal[0, 2])


def test_cells_off_a_point_mass_are_compared_with_each_other():
    """Their unit changes their log densities, but not what is improbable."""
    plain = spiked()
    values = sample(plain, 300, np.random.default_rng(1))
    found = []
    for unit in (1.0, 1e6):
        dose = NumericColumn((0.0,), LogScale(0.0, unit))
        table = replace(plain.table, numbers=(None, dose))
        found.append(anomaly_scores(replace(plain, table=table), values))
    one, other = found
    shift = np.where(np.isnan(values[:, 1]), 0.0, np.log(1e6))
    assert one.log_density - other.log_density == pytest.approx(shift)
    np.testing.assert_allclose(one.of_rows, other.of_rows)
    np.testing.assert_allclose(one.of_entries, other.of_entries, atol=1e-8)


def test_of_two_levels_the_likelier_is_expected():
    rows = np.tile([1.0, 0.0, 0.0, 40.0, 110.0, 20.0, 0.5], (2, 1))
    rows[1, [0, 3]] = 0.0, 60.0
    told = top_entries(clinic(), rows, anomaly_scores(clinic(), rows).of_entries, 7)
    smokes = [one for row in told for one in row if one["column"] == "smoker"]
    assert [(one["found"], one["expected"]) for one in smokes] == [
        ("yes", "no in 90 %"),
        ("no", "yes in 80 %"),
    ]


def test_rows_with_other_cells_missing_are_compared_fairly():
    values = sample(clinic(), 400, np.random.default_rng(1))
    values[::2, 1:6] = np.nan
    of_rows = anomaly_scores(clinic(), values).of_rows
    # By their log densities alone those that are complete would all come first.
    assert abs(np.median(of_rows[::2]) - np.median(of_rows[1::2])) < 3


def test_the_impossible_is_named_and_not_averaged(tmp_path):
    features = FeatureSpace(("a", "b"), (("k", "l"), ("m", "n")))
    circuit = Circuit(Product((Bernoulli(0, 0.0), Bernoulli(1, 0.5))), features)
    X = table(np.array([[0.0, 0.0], [1.0, 1.0]]), circuit)
    found = disclosed(section(stand_in(circuit), X), show_rows=True)["rows"]
    assert found["n_impossible"] == 1
    assert found["log_density"] == pytest.approx(np.log(0.5))
    assert found["surprising"][0]["because"][0]["column"] == "a"
    assert found["surprising"][0]["surprise"] is None
    text = page(tmp_path, circuit, X)
    assert "nan" not in text.lower()
    same_lines(text)


def test_everything_is_escaped(tmp_path, rows):
    X = table(rows)
    X.index = [f"<i>patient</i> {i}" for i in range(len(X))]
    text = page(tmp_path, clinic(), X)
    assert "<b>dose" not in text and "&lt;b&gt;dose&lt;/b&gt; in $" in text
    assert "<i>patient" not in text and "&lt;i&gt;patient&lt;/i&gt; 7" in text
    assert "<script" not in text and "http" not in text.replace("http-equiv", "")
    anchors = set(re.findall(r'href="#([\w-]+)"', text))
    assert anchors <= set(re.findall(r'id="([\w-]+)"', text))


def pair_and_one():
    """Two columns in one leaf, and one for itself: no kinds."""
    tables = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1], [0.1, 0.9]])
    pair = ChowLiuTree((0, 1), (-1, 0), tables)
    levels = (("no", "yes"),) * 3
    root = Product((pair, Bernoulli(2, 0.5)))
    return Circuit(root, FeatureSpace(("p", "q", "r"), levels))


@pytest.mark.parametrize(
    "circuit",
    [
        clinic,
        apart,
        pair_and_one,
        pytest.param(lambda: wide(60, 16), id="many"),
        pytest.param(lambda: wide(4, 1), id="independent"),
        pytest.param(lambda: wide(1, 1), id="one"),
    ],
)
def test_pages_without_rows_say_what_is_not_known(tmp_path, circuit):
    same_lines(page(tmp_path, circuit()))


def test_the_class_is_a_column_of_a_classifier(rows):
    found = SPNClassifier()
    columns = TableVariables.plain(clinic().features.taken(range(6)))
    found.circuit_ = replace(clinic(), table=columns)
    found.n_features_in_ = 6
    found.feature_names_in_ = np.array(clinic().features.names[:6], dtype=object)
    told = section(found, table(rows).iloc[:, :6], np.full(60, 1.5))["rows"]
    whole = np.column_stack([rows[:, :6], np.full(60, 1.5)])
    log_density = compile_circuit(clinic()).log_likelihood(whole)
    assert told["log_density"] == pytest.approx(log_density.mean())


def test_no_rows_at_all_are_refused():
    with refuses(InputError):
        section(stand_in(clinic()), table(np.empty((0, 7))))


def test_the_page_of_a_classifier_names_its_model(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
    for per_class, model in ((True, "one network per class"), (False, "one network")):
        found = SPNClassifier(per_class=per_class, random_state=0).fit(X, y)
        assert found.chosen_ == model
        path = tmp_path / f"{per_class}.html"
        report(found, path, X=X, y=y, overwrite=True)
        text = path.read_text(encoding="utf-8")
        assert f"<dd>{model}</dd>" in text
        assert "without labels" not in text


def test_of_independent_columns_no_combination_is_improbable(tmp_path):
    independent = wide(6, 1)
    values = sample(independent, 60, np.random.default_rng(0))
    text = page(tmp_path, independent, table(values, independent))
    assert "but their combination" not in text
    assert text.index('href="#anomalies"') < text.index('href="#clusters"')
    assert '0</dd><dd class="note">a single cluster' in text
