"""XGBoost models that are not read say why; damaged files are refused by place."""

import copy
import json
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from clearwood.ensembles import read_ensemble
from clearwood.ensembles.read import read_document
from clearwood.ensembles.xgboost.model import read_ubjson
from clearwood.exceptions import ModelError, ModelFormatError

xgb = pytest.importorskip("xgboost")

QUIET = {"nthread": 1, "max_depth": 2}
RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(60, 3)), 1)
Y = X[:, 0] + np.sin(4 * X[:, 1])
Z = np.digitize(Y, [0, 1])
GONE = object()
"""In place of a value: the key is taken out."""


def train(settings, y, rounds=2, **data):
    return xgb.train({**QUIET, **settings}, xgb.DMatrix(X, y, **data), rounds)


# Kinds of models that are not read


@pytest.mark.parametrize(
    "settings, y, message",
    [
        ({"booster": "gblinear"}, Y, "the booster 'gblinear', which is not made of"),
        ({"objective": "rank:pairwise"}, Z, "'rank:pairwise', as its scores only put"),
        ({"objective": "rank:ndcg"}, Z, "'rank:ndcg', as its scores only put rows in"),
        ({"objective": "survival:cox"}, Z + 1, "'survival:cox', as it predicts times"),
        ({"objective": "binary:hinge"}, Z > 0, "'binary:hinge', as it says yes or no"),
        ({}, np.column_stack([Y, Y]), "a model of '2' targets or quantiles. Fit one"),
        (
            {"objective": "reg:quantileerror", "quantile_alpha": [0.2, 0.8]},
            Y,
            "a model of '2' targets or quantiles",
        ),
        (
            {"multi_strategy": "multi_output_tree", "tree_method": "hist"},
            np.column_stack([Y, Y]),
            "a model of '2' targets or quantiles",
        ),
    ],
)
def test_refuses_boosters(settings, y, message):
    if settings.get("booster") == "gblinear":
        settings = {**settings, "max_depth": None}
        settings = {k: v for k, v in settings.items() if v is not None}
        model = xgb.train({"nthread": 1, **settings}, xgb.DMatrix(X, y), 1)
    else:
        model = train(settings, y)
    with pytest.raises(ModelError, match=f"^xgboost.Booster: .*{re.escape(message)}"):
        read_ensemble(model)
    document = bytes(model.save_raw("json"))
    with pytest.raises(ModelFormatError, match=f"^file: .*{re.escape(message)}"):
        read_document(document, "file")


def squared_error(y, predicted):
    return predicted - y, np.ones_like(y)


@pytest.mark.parametrize(
    "model, y, message",
    [
        (xgb.XGBRanker(n_estimators=2), None, "Cannot read xgboost.XGBRanker; of XGB"),
        (xgb.XGBRegressor(objective=squared_error), Y, "an objective of its own"),
        (xgb.XGBClassifier(objective=squared_error), Z > 0, "an objective of its own"),
        (xgb.XGBClassifier(objective="binary:logitraw"), Z > 0, "'binary:logitraw' of"),
        (xgb.XGBClassifier(objective="count:poisson"), Z > 0, "takes what it predicts"),
        (xgb.XGBClassifier(objective="binary:hinge"), Z > 0, "'binary:hinge', as it"),
        (
            xgb.XGBRegressor(objective="multi:softprob", num_class=3),
            Z,
            "one column per class",
        ),
        (xgb.XGBRegressor(n_estimators=0), Y, "found 0 trees, expected 1 to 1,000,000"),
    ],
)
def test_refuses_estimators(model, y, message):
    model.set_params(n_jobs=1)
    if y is None:
        model.fit(X, Z, group=[len(X)])
    else:
        model.fit(X, y)
    with pytest.raises(ModelError, match=re.escape(message)):
        read_ensemble(model)


def test_refuses_what_is_not_fitted():
    with pytest.raises(ModelError, match="XGBClassifier is not fitted; call fit"):
        read_ensemble(xgb.XGBClassifier())
    with pytest.raises(ModelError, match="Booster cannot be saved, is it trained?"):
        read_ensemble(xgb.Booster({}))


def test_a_booster_in_place_of_an_objective_of_ones_own():
    model = xgb.XGBRegressor(objective=squared_error, n_estimators=2, n_jobs=1)
    booster = model.fit(X, Y).get_booster()
    native = booster.predict(xgb.DMatrix(X))
    assert_array_equal(read_ensemble(booster).predict(X), native)


# Damaged documents


def document(booster):
    return json.loads(booster.save_raw("json"))


PLAIN = document(train({"objective": "multi:softprob", "num_class": 3}, Z))
DART = document(train({"booster": "dart", "rate_drop": 0.5}, Y, 3))
FRAME = pd.DataFrame(
    {"kind": pd.Categorical.from_codes(Z, ["a", "b", "c"]), "x": X[:, 0]}
)
CATEGORIES = document(
    xgb.train(
        {**QUIET, "max_cat_to_onehot": 1},
        xgb.DMatrix(FRAME, Z % 2 + Y / 9, enable_categorical=True),
        2,
    )
)
MODEL = "learner.gradient_booster.model"
TREE = f"{MODEL}.trees.0"
PARAM = "learner.learner_model_param"
N = len(PLAIN["learner"]["gradient_booster"]["model"]["trees"][0]["parents"])


def edited(original, path, value):
    """A copy with another value at a path such as ``a.0.b``."""
    changed = copy.deepcopy(original)
    place = changed
    *above, last = (int(key) if key.isdigit() else key for key in path.split("."))
    for key in above:
        place = place[key]
    if value is GONE:
        del place[last]
    else:
        place[last] = value(place[last]) if callable(value) else value
    return changed


def read_edited(original, path, value):
    text = json.dumps(edited(original, path, value))
    return read_document(text.encode(), "file")


def at(node, value):
    """Another value in one entry of an array."""
    return lambda array: [value if i == node else x for i, x in enumerate(array)]


@pytest.mark.parametrize(
    "path, value, message",
    [
        ("learner", GONE, 'found JSON with the keys ["version"]'),
        ("learner", [], "file: learner: found an array, expected an object"),
        ("version", "3.2.0", "file: version: found '3.2.0', expected an array"),
        ("version", [3, "x", 0], "version[1]: found 'x'"),
        ("learner.objective.name", "my:own", "cannot read the objective 'my:own'"),
        ("learner.objective.name", 3, "objective.name: found 3, expected a text"),
        ("learner.objective.name", "reg:gamma", "'reg:gamma' with 3 outputs"),
        ("learner.attributes", [], "learner.attributes: found an array"),
        ("learner.attributes", {"scikit_learn": "{"}, "scikit_learn: no sound JSON"),
        ("learner.attributes", {"scikit_learn": "{}"}, "found no '_estimator_type'"),
        (
            "learner.attributes",
            {"scikit_learn": '{"_estimator_type": "ranker"}'},
            "cannot read an estimator of the type 'ranker'",
        ),
        (
            "learner.attributes",
            {"scikit_learn": '{"type": "XGBRanker"}'},
            "cannot read an estimator of the type 'XGBRanker'",
        ),
        (
            "learner.attributes",
            {
                "scikit_learn": '{"_estimator_type": "classifier"}',
                "best_iteration": "2",
            },
            "best_iteration: found '2', expected a whole number from 0 to 1",
        ),
        ("learner.feature_names", ["a", "b"], "feature_names: found 2 names, expected"),
        ("learner.feature_names", ["a", "b", "a"], "found the name 'a' twice"),
        ("learner.feature_names", ["a", "b", 3], "feature_names[2]: found 3"),
        ("learner.feature_types", ["q"], "feature_types: found 1 types, expected 3"),
        ("learner.feature_types", ["c"] * 3, "splits of the other kind on feature 0"),
        (f"{PARAM}.num_class", "2000000000", "a whole number from 0 to 10,000"),
        (f"{PARAM}.num_class", "-1", "num_class: found '-1'"),
        (f"{PARAM}.num_class", "3.0", "num_class: found '3.0'"),
        (f"{PARAM}.num_class", "5", "base_score: found 3 numbers, expected 1 or 5"),
        (f"{PARAM}.num_feature", "2000000000", "without names, expected at most"),
        (f"{PARAM}.num_feature", "0", "num_feature: found '0'"),
        (f"{PARAM}.num_feature", "1", "node 1: found the feature 1 in split_indices"),
        (f"{PARAM}.base_score", "[1E0,2E0]", "found 2 numbers, expected 1 or 3"),
        (f"{PARAM}.base_score", "[1E99,0,0]", "base_score[0]: found inf"),
        (f"{PARAM}.base_score", "[1E0", "base_score: no sound JSON"),
        (f"{PARAM}.base_score", "1_0", "base_score: found '1_0'"),
        (f"{PARAM}.base_score", "nan", "base_score: found 'nan'"),
        (f"{PARAM}.base_score", "[NaN,0,0]", "base_score[0]: found nan"),
        ("learner.gradient_booster.name", "forest", "cannot read the booster 'forest'"),
        (f"{MODEL}.trees", [], "trees: found 0 trees, expected 1 to 1,000,000"),
        (f"{MODEL}.trees", {}, "trees: found an object, expected an array"),
        (f"{MODEL}.trees.5", GONE, "num_trees: found '6', expected 5"),
        (f"{MODEL}.gbtree_model_param.num_trees", "7", "num_trees: found '7'"),
        (f"{MODEL}.iteration_indptr", [0, 3], "expected rising numbers from 0 to 6"),
        (f"{MODEL}.iteration_indptr", [0, 3, 3, 6], "rising numbers from 0 to 6"),
        (f"{MODEL}.iteration_indptr", [1, 3, 6], "rising numbers from 0 to 6"),
        (f"{MODEL}.iteration_indptr", [], "rising numbers from 0 to 6"),
        (f"{MODEL}.iteration_indptr", [0, -3, 6], "iteration_indptr[1]: found -3"),
        (f"{MODEL}.tree_info", at(2, 3), "tree_info[2]: found 3"),
        (f"{MODEL}.tree_info", at(2, -1), "tree_info[2]: found -1"),
        (f"{MODEL}.tree_info", [0], "tree_info: found 1 entries, expected 6"),
        (f"{TREE}.id", 1, "trees[1].id: found 1 again, expected every number once"),
        (f"{TREE}.id", 6, "trees[0].id: found 6, expected a whole number from 0 to 5"),
        (f"{TREE}.tree_param.num_nodes", "3", f"found {N} entries, expected 3"),
        (f"{TREE}.tree_param.num_nodes", "2147483647", "num_nodes: found '2147483647'"),
        (f"{TREE}.tree_param.size_leaf_vector", "3", "trees with '3' values per leaf"),
        (f"{TREE}.left_children", at(0, 0), "node 0: found the root as a child"),
        (f"{TREE}.left_children", at(0, N), f"left_children[0]: found {N}"),
        (f"{TREE}.left_children", at(0, -2), "left_children[0]: found -2"),
        (f"{TREE}.left_children", at(0, 2), "node 2: found 2 parents, expected 1"),
        (f"{TREE}.left_children", at(0, -1), "node 0: found a child on one side"),
        (f"{TREE}.left_children", at(0, 1.0), "left_children[0]: found 1.0"),
        (f"{TREE}.left_children", at(0, True), "left_children[0]: found True"),
        (f"{TREE}.left_children", at(0, 2**70), "expected whole numbers of at most 64"),
        (f"{TREE}.left_children", [[1], [2]], "left_children[0]: found an array"),
        (f"{TREE}.left_children", GONE, "trees[0]: found no 'left_children'"),
        (f"{TREE}.right_children", lambda a: a[:-1], f"found {N - 1} entries, expec"),
        (f"{TREE}.split_indices", at(0, 3), "node 0: found the feature 3 in split_in"),
        (f"{TREE}.split_indices", at(0, -1), "node 0: found the feature -1 in split"),
        (f"{TREE}.split_indices", at(0, 2**31 - 1), "the feature 2147483647 in split"),
        (f"{TREE}.split_conditions", at(0, np.nan), "node 0: found nan in split_cond"),
        (f"{TREE}.split_conditions", at(0, 1e39), "node 0: found inf in split_cond"),
        (f"{TREE}.split_conditions", at(N - 1, -np.inf), "found -inf in split_condit"),
        (f"{TREE}.split_conditions", at(0, "1"), "split_conditions[0]: found '1'"),
        (f"{TREE}.split_conditions", GONE, "found no 'split_conditions'"),
        (f"{TREE}.default_left", at(0, 2), "default_left[0]: found 2"),
        (f"{TREE}.default_left", GONE, "found no 'default_left'"),
        (f"{TREE}.split_type", at(0, 2), "split_type[0]: found 2"),
        (f"{TREE}.split_type", at(0, 1), "found a categorical split without categor"),
        (f"{TREE}.sum_hessian", [1.0], f"sum_hessian: found 1 entries, expected {N}"),
    ],
)
def test_refuses_damage(path, value, message):
    with pytest.raises(ModelFormatError) as caught:
        read_edited(PLAIN, path, value)
    assert str(caught.value).startswith("file: ") and message in str(caught.value)


DART_MODEL = "learner.gradient_booster"


@pytest.mark.parametrize(
    "value, message",
    [
        ([1.0, 1.0], "weight_drop: found 2 entries, expected 3"),
        ([1.0, np.inf, 1.0], "weight_drop[1]: found inf, expected a finite number"),
        ([1.0, 1e39, 1.0], "weight_drop[1]: found inf, expected a finite number"),
        ({}, "weight_drop: found an object"),
        (GONE, "found no 'weight_drop'"),
    ],
)
def test_refuses_damaged_weights(value, message):
    with pytest.raises(ModelFormatError, match=re.escape(message)):
        read_edited(DART, f"{DART_MODEL}.weight_drop", value)


def test_refuses_a_weighted_leaf_that_is_too_large():
    leaves = f"{DART_MODEL}.gbtree.model.trees.0.split_conditions"
    large = edited(DART, leaves, lambda values: [1e38] * len(values))
    assert read_edited(large, "version", GONE).n_trees == 3
    with pytest.raises(ModelFormatError, match="value of node . in tree 0: found "):
        read_edited(large, f"{DART_MODEL}.weight_drop", at(0, 10.0))


@pytest.mark.parametrize("base_score", ["-1E0", "0E0", "[0E0]"])
def test_refuses_a_start_without_logarithm(base_score):
    original = document(train({"objective": "count:poisson"}, Z))
    with pytest.raises(ModelFormatError, match="a score that the objective can start"):
        read_edited(original, f"{PARAM}.base_score", base_score)


ENC, ORDER = f"{MODEL}.cats.enc", f"{MODEL}.cats.sorted_idx"


@pytest.mark.parametrize(
    "path, value, message",
    [
        (f"{TREE}.categories", at(0, -1), "categories[0]: found -1"),
        (f"{TREE}.categories", at(0, 2**24), "categories[0]: found 16777216"),
        (f"{TREE}.categories", at(0, 3), "a split of feature 0 by category 3"),
        (f"{TREE}.categories", lambda a: [*a, 0], "segments that do not follow each"),
        (f"{TREE}.categories_sizes", at(0, 99), "categories_sizes[0]: found 99"),
        (f"{TREE}.categories_sizes", at(0, 0), "segments that do not follow each oth"),
        (f"{TREE}.categories_sizes", [], "categories_sizes: found 0 entries"),
        (f"{TREE}.categories_segments", at(0, 1), "segments that do not follow each"),
        (f"{TREE}.categories_segments", at(0, 2**62), "categories_segments[0]: found"),
        (f"{TREE}.categories_nodes", at(0, 99), "categories_nodes[0]: found 99"),
        (f"{TREE}.categories_nodes", at(0, -1), "categories_nodes[0]: found -1"),
        (f"{TREE}.categories_nodes", GONE, "found no 'categories_nodes'"),
        (f"{TREE}.split_indices", at(0, 1), "splits of the other kind on feature"),
        (ENC, [], None),
        (ENC, [{}], "cats.enc: found 1 entries, expected 2, one per feature"),
        (ENC, GONE, "found no 'enc'"),
        (f"{ENC}.0", {}, "enc[0]: found no 'values'"),
        (f"{ENC}.0.offsets", [0, 2, 1, 3], "offsets out of order"),
        (f"{ENC}.0.offsets", [1, 2, 3], "offsets out of order"),
        (f"{ENC}.0.offsets", [0, 1, 2, 2**40], "offsets[3]: found"),
        (f"{ENC}.0.offsets", [0, 1, 2], "sorted_idx: found 3 entries, expected 2"),
        (f"{ENC}.0.values", [97, 97, 99], "found the label 'a' twice"),
        (f"{ENC}.0.values", [97, 98, 1000], "values[2]: found 1000"),
        (f"{ENC}.0.values", "abc", "values: found 'abc'"),
        (f"{ENC}.0.values", [98, 97, 99], "the labels of feature 0, expected the ord"),
        (ORDER, [0, 2, 1], "sorted_idx: found another order than that of the labels"),
        (ORDER, [0, 1, 99], "sorted_idx: found another order than that of the labels"),
        (ORDER, [0, 1], "sorted_idx: found 2 entries, expected 3"),
        (ORDER, GONE, "found no 'sorted_idx'"),
        ("learner.feature_types", ["q", "q"], "splits of the other kind on feature 0"),
        ("learner.feature_types", [], None),
    ],
)
def test_refuses_damaged_categories(path, value, message):
    # In the one or the other tree all three categories go right somewhere.
    original = edited(CATEGORIES, f"{TREE}.categories", at(0, 2))
    if message is None:
        read_edited(original, path, value)
        return
    with pytest.raises(ModelFormatError) as caught:
        read_edited(original, path, value)
    assert message in str(caught.value)


@pytest.mark.parametrize("nodes", [[1, 0], [0, 0]])
def test_nodes_of_categories_stand_in_order(nodes):
    tree = copy.deepcopy(CATEGORIES["learner"]["gradient_booster"]["model"]["trees"][0])
    tree |= {
        "categories_nodes": nodes,
        "categories_segments": [0, 1],
        "categories_sizes": [1, 1],
        "categories": [0, 1],
    }
    with pytest.raises(ModelFormatError, match="found nodes out of order"):
        read_edited(CATEGORIES, TREE, tree)


def tree_of(children, **more):
    """A tree document from (left, right) pairs; pairs of -1 are leaves."""
    n = len(children)
    return {
        "id": 0,
        "tree_param": {"num_nodes": str(n), "size_leaf_vector": "1"},
        "left_children": [left for left, _ in children],
        "right_children": [right for _, right in children],
        "split_indices": [0] * n,
        "split_conditions": [i + 0.5 for i in range(n)],
        "default_left": [0] * n,
    } | more


LEAF = (-1, -1)


@pytest.mark.parametrize(
    "children, message",
    [
        ([(1, 2), LEAF, LEAF, (4, 5), LEAF, LEAF], "node 3: found no parent"),
        ([(1, 2), LEAF, LEAF, LEAF], "node 3: found no parent, expected 1 parent, or"),
        ([(1, 2), LEAF, LEAF, (4, 6), (3, 5), LEAF, LEAF], "node 3: found a cycle"),
        ([(1, 2), (3, 3), LEAF, LEAF], "node 3: found 2 parents"),
        ([(1, 2), (0, 3), LEAF, LEAF], "node 0: found the root as a child"),
    ],
)
def test_refuses_what_is_no_tree(children, message):
    with pytest.raises(ModelFormatError, match=f"trees\\[0\\], {message}"):
        read_edited(PLAIN, TREE, tree_of(children))


def test_nodes_are_renumbered_and_deleted_ones_left_out():
    # Children before their parents, and two nodes that pruning took out.
    children = [(5, 3), LEAF, LEAF, LEAF, LEAF, (4, 1), LEAF]
    indices = [1, 0, 2**31 - 1, 0, 0, 2, 2**31 - 1]
    conditions = [0.5, 10.0, np.nan, 20.0, 30.0, -0.5, np.inf]
    tree = tree_of(children, split_indices=indices, split_conditions=conditions)
    ensemble = read_edited(PLAIN, TREE, tree)
    assert ensemble.roots[1] == 5
    rows = [[0, 0.4, -1], [0, 0.4, 0], [0, 0.5, 0], [0, np.nan, 0]]
    reached = ensemble.leaves(np.array(rows, float))[:, 0]
    assert_array_equal(ensemble.value[reached, 0], [30, 10, 20, 20])


# Sound documents in another dress


def assert_reads_as(text, other):
    expected = read_document(json.dumps(other).encode(), "file")
    found = read_document(text.encode(), "file")
    assert_array_equal(found.raw_scores(X), expected.raw_scores(X))


def reordered(value):
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(v) for v in value] if isinstance(value, list) else value


def test_white_space_and_the_order_of_keys_do_not_matter():
    assert_reads_as("\n \t" + json.dumps(PLAIN, indent=3) + " \n", PLAIN)
    assert_reads_as(json.dumps(reordered(PLAIN)), PLAIN)


def test_trees_stand_where_their_id_says():
    def shuffled(trees):
        return [trees[i] for i in (4, 0, 5, 3, 1, 2)]

    assert_reads_as(json.dumps(edited(PLAIN, f"{MODEL}.trees", shuffled)), PLAIN)


@pytest.mark.parametrize(
    "path, value",
    [
        ("version", GONE),
        ("learner.attributes", GONE),
        ("learner.attributes", {"best_iteration": "no number"}),
        ("learner.feature_names", GONE),
        ("learner.feature_types", GONE),
        (f"{PARAM}.num_target", GONE),
        (f"{MODEL}.cats", GONE),
        (f"{MODEL}.iteration_indptr", GONE),
        (f"{TREE}.split_type", GONE),
        (f"{TREE}.default_left", lambda flags: [bool(flag) for flag in flags]),
        (f"{TREE}.parents", GONE),
        (f"{TREE}.sum_hessian", lambda a: [np.nan] * len(a)),
        (f"{TREE}.base_weights", lambda a: ["?"] * len(a)),
        (f"{TREE}.loss_changes", lambda a: [-1e300] * len(a)),
    ],
)
def test_what_does_not_matter_for_prediction_may_be_otherwise(path, value):
    assert_reads_as(json.dumps(edited(PLAIN, path, value)), PLAIN)


def test_another_cut_or_leaf_predicts_by_its_own_arithmetic():
    changed = edited(PLAIN, f"{TREE}.split_conditions", at(0, 0.25))
    changed = edited(changed, f"{TREE}.split_conditions", at(N - 1, 7.5))
    native = xgb.Booster()
    native.load_model(bytearray(json.dumps(changed).encode()))
    ensemble = read_document(json.dumps(changed).encode(), "file")
    expected = native.predict(xgb.DMatrix(X), output_margin=True)
    assert_array_equal(ensemble.raw_scores(X), expected)
    assert not np.array_equal(
        expected, read_document(json.dumps(PLAIN).encode(), "").raw_scores(X)
    )


@pytest.mark.parametrize("original", [PLAIN, DART, CATEGORIES])
def test_any_value_out_of_place_is_read_or_refused(original):
    rng = np.random.default_rng(0)
    odd = [None, True, -1, 2**63, 1e300, np.nan, "", "x", "1", [], [1], {}, {"a": 1}]
    for path in list(paths(original)):
        for value in rng.choice(len(odd), size=2, replace=False):
            try:
                read_edited(original, path, odd[value])
            except ModelFormatError as error:
                assert str(error).startswith(("file: ", "value of node")), path


def paths(value, above=""):
    """Paths of all values but those inside arrays of numbers."""
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], f"{above}{key}.")
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for i in range(min(2, len(value))):
            yield from paths(value[i], f"{above}{i}.")
    if above:
        yield above[:-1]


@pytest.mark.parametrize("original", [PLAIN, DART, CATEGORIES])
def test_a_ubjson_file_with_a_damaged_byte_is_read_or_refused(original):
    booster = xgb.Booster()
    booster.load_model(bytearray(json.dumps(original).encode()))
    data = bytes(booster.save_raw("ubj"))
    rng = np.random.default_rng(1)
    for _ in range(300):
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] = rng.integers(256)
        try:
            read_ubjson(bytes(damaged), "file")
        except ModelFormatError:
            pass


def test_categories_that_would_fill_the_memory_are_refused():
    # Each node asks about a category of its own: 400 million entries in all.
    n = 20_000
    children = [(2 * i + 1, 2 * i + 2) for i in range(n)] + [LEAF] * (n + 1)
    tree = tree_of(
        children,
        split_type=[1] * n + [0] * (n + 1),
        categories=list(range(n)),
        categories_nodes=list(range(n)),
        categories_segments=list(range(n)),
        categories_sizes=[1] * n,
    )
    small = edited(PLAIN, "learner.feature_types", [])
    small = edited(small, f"{MODEL}.trees", [tree])
    small = edited(small, f"{MODEL}.tree_info", [0])
    small = edited(small, f"{MODEL}.iteration_indptr", [0, 1])
    small = edited(small, f"{MODEL}.gbtree_model_param.num_trees", "1")
    data = json.dumps(small).encode()
    tracemalloc.start()
    with pytest.raises(ModelFormatError, match="Group rare categories"):
        read_document(data, "file")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20 + 10 * len(data)


def test_estimators_of_xgboost_1_1_name_their_class():
    def saved_by(**told):
        given = {"scikit_learn": json.dumps(told), "best_iteration": "0"}
        return edited(PLAIN, "learner.attributes", given)

    old = saved_by(type="XGBClassifier", n_estimators=2, missing=None)
    assert_reads_as(json.dumps(old), saved_by(_estimator_type="classifier"))
    assert read_document(json.dumps(old).encode(), "file").details["rounds"] == 1
