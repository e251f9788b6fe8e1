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
from clearwood.rules import CategorySet, Interval, Rule, RuleAverage, RuleList, RuleSum

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
