"""onnxruntime computes from the exported graph what the rules predict."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.exports import samples
from tests.wording import refuses

from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import ColumnInfo
from clearwood.exceptions import InputError
from clearwood.rules import Interval, Rule, RuleAverage, RuleList, RuleSum

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def session_of(rules):
    model = rules.to_onnx()
    onnx.checker.check_model(model, full_check=True)
    return onnxruntime.InferenceSession(model.SerializeToString())


def columns_for(session, rules, rows):
    """Cells as ONNX has them: NaN and the empty text are missing."""
    columns = list(zip(*rows))
    feed = {}
    for one in session.get_inputs():
        cells = columns[rules.features.names.index(one.name)]
        if one.type == "tensor(string)":
            column = np.array(["" if x is None else str(x) for x in cells], object)
        else:
            column = np.array([math.nan if x is None else float(x) for x in cells])
        feed[one.name] = column[:, None]
    return feed


def agree(rules, rows):
    session = session_of(rules)
    said, *shares = session.run(None, columns_for(session, rules, rows))
    wanted = rules.predict(rows)
    assert said.tolist() == wanted.tolist()
    assert bool(shares) == bool(rules.classes)
    for found in shares:
        np.testing.assert_allclose(found, rules.predict_proba(rows), rtol=1e-12)


def without_empty_texts(rows):
    return [[None if cell == "" else cell for cell in row] for row in rows]


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
@settings(max_examples=60)
@given(st.data())
def test_it_predicts_as_the_rules_do(data):
    rules = data.draw(samples.rule_sets().filter(lambda rules: rules.used_features))
    agree(rules, without_empty_texts(data.draw(samples.tables(rules))))


@pytest.mark.parametrize(
    "rules",
    [
        RuleList((), Rule((), 1.0), FeatureSpace.numeric(1)),
        samples.example(labels=("", "b")),
        samples.example(labels=(1, "1")),
        samples.example(classes=(1, "1")),
        samples.example(classes=(0, 2**70)),
        samples.example(name=""),
    ],
)
def test_what_it_cannot_hold(rules):
    with refuses(InputError):
        rules.to_onnx()


def test_dates_are_refused():
    space = FeatureSpace(("day",), (None,), info=(ColumnInfo(kind="date"),))
    rules = RuleList((Rule((Interval(0, 1.0),), 1.0),), Rule((), 0.0), space)
    for export in (rules.to_onnx, rules.to_pmml):
        with refuses(InputError):
            export()


def test_columns_may_have_the_names_of_outputs_and_nodes():
    space = FeatureSpace(("prediction", "n0", "c0"), (None,) * 3)
    rule = Rule(tuple(Interval(d, 1.0) for d in range(3)), 5.0)
    for kind in (RuleList, RuleSum, RuleAverage):
        rules = kind((rule,), Rule((), 0.0), space)
        assert session_of(rules).get_outputs()[0].name == "prediction_"
        agree(rules, [[2.0, 2.0, 2.0], [2.0, 1.0, 2.0]])
