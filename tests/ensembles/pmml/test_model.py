"""Files of JPMML (see ../files/make_pmml_files.py) and as R's pmml writes them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.ensembles.files import r_cases
from tests.wording import refuses

import clearwood as cw
from clearwood.ensembles import read_ensemble
from clearwood.ensembles.read import read_document
from clearwood.exceptions import InputError, ModelFormatError

FILES = Path(__file__).parents[1] / "files"
ANSWERS = json.loads((FILES / "pmml-answers.json").read_text())
MISSING = ("hist", "xgboost", "lightgbm")


def rows(with_missing=False):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        np.round(rng.normal(size=(120, 3)) * 16) / 16, columns=["age", "dose x", "w"]
    )
    return X.mask(rng.random(X.shape) < 0.15) if with_missing else X


@pytest.mark.parametrize("case", ANSWERS)
def test_predictions_are_those_of_the_model(case):
    """To rounding: PMML adds the initial score at the end, and counts leaves."""
    ensemble = read_ensemble(FILES / f"pmml-{case}.pmml")
    X, expected = rows(case.startswith(MISSING)), np.array(ANSWERS[case])
    is_class = ensemble.classes is not None
    found = ensemble.predict_proba(X) if is_class else ensemble.predict(X)
    # XGBoost in float32: some steps where the sum is rounded in another order.
    tolerance = 3e-7 if case.startswith("xgboost") else 4e-16
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    if is_class:
        assert ensemble.classes.tolist() == sorted(ensemble.classes)


def test_scores_of_a_regression_table():
    """Its intercept and coefficient act on the rescaled sum."""
    data = (FILES / "pmml-xgboost_poisson.pmml").read_text()
    before = read_document(data.encode(), "x").raw_scores(rows())
    table = 'intercept="0.0"', 'coefficient="1.0"'
    assert all(text in data for text in table)
    data = data.replace(table[0], 'intercept="0.5"')
    data = data.replace(table[1], 'coefficient="2.0"')
    after = read_document(data.encode(), "x").raw_scores(rows())
    np.testing.assert_allclose(after, 2 * before + 0.5, rtol=1e-6)


def test_weights_of_trees():
    data = (FILES / "pmml-forest_regressor.pmml").read_text()
    of_one = [
        read_document(data.replace('"average"', '"weightedSum"')
                      .replace(f'<Segment id="{k}"', f'<Segment weight="-1" id="{k}"')
                      .encode(), "x").raw_scores(rows())
        for k in (1, 2, 3)
    ]  # fmt: skip
    total = np.sum(of_one, axis=0)
    trees = [(total - one) / 2 for one in of_one]
    data = data.replace('"average"', '"weightedAverage"')
    data = data.replace('<Segment id="1"', '<Segment weight="5" id="1"')
    found = read_document(data.encode(), "x").raw_scores(rows())
    expected = (5 * trees[0] + trees[1] + trees[2]) / 7
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("case", ["forest_regressor", "boosting_classifier"])
def test_missing_values_without_a_prediction_are_refused(case):
    with refuses(InputError):
        read_ensemble(FILES / f"pmml-{case}.pmml").predict(rows(True))


def test_rules_are_fitted_to_a_file():
    X = rows()
    labels = np.array(["ash", "beech", "cedar"])[
        np.argmax(ANSWERS["forest_classifier"], axis=1)
    ]
    rules = cw.simplify(FILES / "pmml-forest_classifier.pmml", X, labels, n_rules=4)
    assert (rules.predict(X) == labels).mean() > 0.7


# Files as R's package pmml writes them for randomForest


def of_random_forest(case):
    """A forest's table as PMML: binary splits, sets of levels, votes."""
    table, levels = r_cases.table(FILES, case), r_cases.LEVELS["ward"]
    is_class = case == "classes"
    kind = "classification" if is_class else "regression"
    of_field = {"ward": levels, "y": ("ill", "unclear", "well") if is_class else None}
    fields = "".join(
        field_of(name, of_field.get(name)) for name in ("y", *r_cases.LEVELS)
    )
    schema = '<MiningSchema><MiningField name="y" usageType="predicted"/>' + "".join(
        f'<MiningField name="{name}" usageType="active"/>' for name in r_cases.LEVELS
    )
    schema += "</MiningSchema>"
    segments, start, n_open = [], 0, 1
    for i, left in enumerate(table["left daughter"]):
        n_open += 1 if left else -1
        if not n_open:
            root = node_of(table[start : i + 1], 1, "<True/>", levels)
            model = (
                f'<TreeModel functionName="{kind}" splitCharacteristic="binarySplit">'
            )
            segments.append(
                f"<Segment><True/>{model}{schema}{root}</TreeModel></Segment>"
            )
            start, n_open = i + 1, 1
    method = "majorityVote" if is_class else "average"
    return (
        '<?xml version="1.0"?>\n<PMML version="4.4" '
        f'xmlns="http://www.dmg.org/PMML-4_4"><DataDictionary>{fields}'
        f'</DataDictionary><MiningModel functionName="{kind}">{schema}'
        f'<Segmentation multipleModelMethod="{method}">{"".join(segments)}'
        "</Segmentation></MiningModel></PMML>"
    )


def field_of(name, labels):
    if labels is None:
        return f'<DataField name="{name}" optype="continuous" dataType="double"/>'
    values = "".join(f'<Value value="{label}"/>' for label in labels)
    start = f'<DataField name="{name}" optype="categorical" dataType="string">'
    return f"{start}{values}</DataField>"


def node_of(tree, number, predicate, levels):
    row = tree.iloc[number - 1]
    if not row["left daughter"]:
        return f'<Node id="{number}" score="{row["prediction"]}">{predicate}</Node>'
    name, point = row["split var"], row["split point"]
    if name == "ward":
        left = [level for k, level in enumerate(levels) if int(point) >> k & 1]
        sets = left, [level for level in levels if level not in left]
        predicates = [
            f'<SimpleSetPredicate field="ward" booleanOperator="isIn"><Array n="2" '
            f'type="string">{" ".join(f"&quot;{x}&quot;" for x in one)}</Array>'
            "</SimpleSetPredicate>"
            for one in sets
        ]
    else:
        predicates = [
            f'<SimplePredicate field="{name}" operator="{operator}" value="{point!r}"/>'
            for operator in ("lessOrEqual", "greaterThan")
        ]
    children = [
        node_of(tree, int(row[side]), one, levels)
        for side, one in zip(("left daughter", "right daughter"), predicates)
    ]
    return f'<Node id="{number}">{predicate}{"".join(children)}</Node>'


@pytest.mark.parametrize("case", ["regression", "classes"])
def test_files_as_r_writes_them(case):
    ensemble = read_document(of_random_forest(case).encode(), "forest.pmml")
    table = read_ensemble(FILES / f"r-{case}.csv", levels=r_cases.LEVELS)
    X = r_cases.rows(FILES)
    np.testing.assert_array_equal(ensemble.raw_scores(X), table.raw_scores(X))
    assert ensemble.features.categories == table.features.categories
    assert not ensemble.allows_missing.any() or case == "classes"


# The meaning of a tree


def tree(nodes, attributes=""):
    return f"""<PMML version="4.4"><DataDictionary>
    <DataField name="y" optype="continuous" dataType="double"/>
    <DataField name="a" optype="continuous" dataType="double">
      <Value value="-999" property="missing"/></DataField>
    <DataField name="b" optype="categorical" dataType="integer">
      <Value value="1"/><Value value="2"/><Value value="3"/></DataField>
    </DataDictionary><TreeModel functionName="regression" {attributes}>
    <MiningSchema><MiningField name="y" usageType="target"/><MiningField name="a"/>
    <MiningField name="b"/></MiningSchema>
    <LocalTransformations><DerivedField name="float(a)" dataType="float">
    <FieldRef field="a"/></DerivedField></LocalTransformations>
    <Node id="0" score="0"><True/>{nodes}</Node></TreeModel></PMML>""".encode()


def node(score, predicate, inside="", **attributes):
    more = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<Node id="{score}" score="{score}"{more}>{predicate}{inside}</Node>'


def simple(operator, value=None, field="a"):
    value = "" if value is None else f' value="{value}"'
    return f'<SimplePredicate field="{field}" operator="{operator}"{value}/>'


LAST = 'noTrueChildStrategy="returnLastPrediction"'
TABLE = [[-2.0, 1], [0.0, 2], [1.0, 3], [np.nan, 1], [-999.0, 3]]
TREES = {
    # Three children, of which the first that holds counts; the rest keeps the score.
    "in order": (
        node(1, simple("lessThan", 0)) + node(2, simple("lessOrEqual", 0)),
        LAST,
        [1, 2, 0, 0, 0],
    ),
    "default child": (
        node(1, simple("lessThan", 0))
        + node(2, simple("lessThan", 1))
        + node(3, simple("greaterOrEqual", 1)),
        'missingValueStrategy="defaultChild"',
        [1, 2, 3, None, None],
    ),
    "last prediction": (
        node(1, simple("lessOrEqual", 0)) + node(2, simple("greaterThan", 0)),
        'missingValueStrategy="lastPrediction"',
        [1, 1, 2, 0, 0],
    ),
    "null": (
        node(1, simple("lessOrEqual", 0)) + node(2, simple("greaterThan", 0)),
        'missingValueStrategy="nullPrediction"',
        [1, 1, 2, None, None],
    ),
    "is missing": (
        node(1, simple("isMissing"))
        + node(2, simple("greaterThan", 0))
        + node(3, "<True/>"),
        "",
        [3, 3, 2, 1, 1],
    ),
    "sets": (
        node(1, simple("equal", 2, "b"))
        + node(
            2,
            '<SimpleSetPredicate field="b" booleanOperator="isNotIn"><Array '
            'type="int">1 2</Array></SimpleSetPredicate>',
        ),
        LAST,
        [0, 1, 2, 0, 2],
    ),
    "surrogates": (
        node(
            1,
            '<CompoundPredicate booleanOperator="surrogate">'
            f"{simple('lessOrEqual', 0)}{simple('equal', 1, 'b')}</CompoundPredicate>",
        )
        + node(2, "<True/>"),
        "",
        [1, 1, 2, None, None],
    ),
}


@pytest.mark.parametrize("case", TREES)
def test_trees_follow_the_standard(case):
    nodes, attributes, expected = TREES[case]
    ensemble = read_document(tree(nodes, attributes), "tree.pmml")
    for row, value in zip(TABLE, expected):
        if value is None:
            with pytest.raises(InputError):
                ensemble.predict([row])
        else:
            assert ensemble.predict([row]) == value


def test_a_default_child_that_is_neither_side():
    nodes = node(
        5,
        "<True/>",
        node(1, simple("lessThan", 0))
        + node(2, simple("lessThan", 1))
        + node(3, simple("greaterOrEqual", 1)),
        defaultChild="3",
    )
    ensemble = read_document(tree(nodes, 'missingValueStrategy="defaultChild"'), "x")
    assert ensemble.predict(TABLE).tolist() == [1, 2, 3, 3, 3]


def test_casts_to_float32():
    nodes = node(1, simple("lessOrEqual", 0.1, "float(a)")) + node(2, "<True/>")
    ensemble = read_document(tree(nodes), "tree.pmml")
    up = float(np.float32(0.1))
    X = [[up, 1], [np.nextafter(up, 1), 1], [float(np.nextafter(np.float32(up), 1)), 1]]
    assert ensemble.predict(X).tolist() == [1, 1, 2]


REFUSED = {
    "entities": b'<!DOCTYPE PMML [<!ENTITY a "aaaa">]><PMML>&a;</PMML>',
    "external": b'<!DOCTYPE PMML SYSTEM "file:///etc/passwd"><PMML/>',
    "a page": b"<html><body>model</body></html>",
    "cut off": (FILES / "pmml-tree_classifier.pmml").read_bytes()[:2000],
    "network": b'<PMML><DataDictionary/><NeuralNetwork functionName="x"/></PMML>',
    "combined": tree(
        node(1, '<CompoundPredicate booleanOperator="xor"></CompoundPredicate>')
    ),
    "no child": tree(node(1, simple("lessOrEqual", 0))),
    "strategy": tree("", 'missingValueStrategy="weightedConfidence"'),
    "unknown field": tree(node(1, simple("lessOrEqual", 0, "log(a)"))),
    "unknown category": tree(node(1, simple("equal", 9, "b"))),
    "order of categories": tree(node(1, simple("lessThan", 2, "b"))),
    "no number": tree(node(1, simple("lessThan", "x"))),
    "score": tree(node("high", "<True/>")),
    "method": of_random_forest("regression").replace("average", "median").encode(),
    "condition": of_random_forest("regression")
    .replace("<Segment><True/>", "<Segment><False/>")
    .encode(),
    "depth": b"<PMML>" * 3000,
    "replaced": tree("").replace(
        b'Field name="a"/>', b'Field name="a" missingValueReplacement="0"/>'
    ),
    "normalization": (FILES / "pmml-xgboost_classifier.pmml")
    .read_bytes()
    .replace(b'"logit"', b'"probit"'),
    "two inputs of one name": (FILES / "pmml-forest_regressor.pmml")
    .read_bytes()
    .replace(b'"dose x"', b'"age"'),
    "type": tree("").replace(b'dataType="double">', b'dataType="date">'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    with refuses(ModelFormatError):
        read_document(REFUSED[case], "model.pmml")


def test_many_elements_are_refused_before_they_take_memory(monkeypatch):
    from clearwood import _memory

    monkeypatch.setattr(_memory, "SPARE", 0)
    with refuses(ModelFormatError):
        read_document(b"<PMML>" + b"<a/>" * 5000 + b"</PMML>", "model.pmml")
