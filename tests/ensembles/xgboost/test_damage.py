"""XGBoost models that are not read say why; damaged files are refused by place."""

import copy
import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from tests.wording import refuses

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
    ("settings", "y"),
    [
        ({"booster": "gblinear"}, Y),
        ({"objective": "survival:cox"}, Z + 1),
        ({"objective": "binary:hinge"}, Z > 0),
        ({}, np.column_stack([Y, Y])),
        ({"objective": "reg:quantileerror", "quantile_alpha": [0.2, 0.8]}, Y),
        (
            {"multi_strategy": "multi_output_tree", "tree_method": "hist"},
            np.column_stack([Y, Y]),
        ),
    ],
)
def test_refuses_boosters(settings, y):
    if settings.get("booster") == "gblinear":
        settings = {**settings, "max_depth": None}
        settings = {k: v for k, v in settings.items() if v is not None}
        model = xgb.train({"nthread": 1, **settings}, xgb.DMatrix(X, y), 1)
    else:
        model = train(settings, y)
    with refuses(ModelError):
        read_ensemble(model)
    document = bytes(model.save_raw("json"))
    with refuses(ModelFormatError):
        read_document(document, "file")


def squared_error(y, predicted):
    return predicted - y, np.ones_like(y)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (xgb.XGBRegressor(objective=squared_error), Y),
        (xgb.XGBClassifier(objective=squared_error), Z > 0),
        (xgb.XGBClassifier(objective="binary:logitraw"), Z > 0),
        (xgb.XGBClassifier(objective="count:poisson"), Z > 0),
        (xgb.XGBClassifier(objective="binary:hinge"), Z > 0),
        (xgb.XGBRegressor(objective="multi:softprob", num_class=3), Z),
        (xgb.XGBRegressor(n_estimators=0), Y),
    ],
)
def test_refuses_estimators(model, y):
    model.set_params(n_jobs=1)
    model.fit(X, y)
    with refuses(ModelError):
        read_ensemble(model)


def test_refuses_what_is_not_fitted():
    with refuses(ModelError):
        read_ensemble(xgb.XGBClassifier())
    with refuses(ModelError):
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
    ("path", "value"),
    [
        ("learner", GONE),
        ("learner", []),
        ("version", "3.2.0"),
        ("version", [3, "x", 0]),
        ("learner.objective.name", "my:own"),
        ("learner.objective.name", 3),
        ("learner.objective.name", "reg:gamma"),
        ("learner.attributes", []),
        ("learner.attributes", {"scikit_learn": "{"}),
        ("learner.attributes", {"scikit_learn": "{}"}),
        ("learner.attributes", {"scikit_learn": '{"_estimator_type": "clusterer"}'}),
        ("learner.attributes", {"scikit_learn": '{"type": "XGBClusterer"}'}),
        (
            "learner.attributes",
            {
                "scikit_learn": '{"_estimator_type": "classifier"}',
                "best_iteration": "2",
            },
        ),
        ("learner.feature_names", ["a", "b"]),
        ("learner.feature_names", ["a", "b", "a"]),
        ("learner.feature_names", ["a", "b", 3]),
        ("learner.feature_types", ["q"]),
        ("learner.feature_types", ["c"] * 3),
        (f"{PARAM}.num_class", "2000000000"),
        (f"{PARAM}.num_class", "-1"),
        (f"{PARAM}.num_class", "3.0"),
        (f"{PARAM}.num_class", "5"),
        (f"{PARAM}.num_feature", "2000000000"),
        (f"{PARAM}.num_feature", "0"),
        (f"{PARAM}.num_feature", "1"),
        (f"{PARAM}.base_score", "[1E0,2E0]"),
        (f"{PARAM}.base_score", "[1E99,0,0]"),
        (f"{PARAM}.base_score", "[1E0"),
        (f"{PARAM}.base_score", "1_0"),
        (f"{PARAM}.base_score", "nan"),
        (f"{PARAM}.base_score", "[NaN,0,0]"),
        ("learner.gradient_booster.name", "forest"),
        (f"{MODEL}.trees", []),
        (f"{MODEL}.trees", {}),
        (f"{MODEL}.trees.5", GONE),
        (f"{MODEL}.gbtree_model_param.num_trees", "7"),
        (f"{MODEL}.iteration_indptr", [0, 3]),
        (f"{MODEL}.iteration_indptr", [0, 3, 3, 6]),
        (f"{MODEL}.iteration_indptr", [1, 3, 6]),
        (f"{MODEL}.iteration_indptr", []),
        (f"{MODEL}.iteration_indptr", [0, -3, 6]),
        (f"{MODEL}.tree_info", at(2, 3)),
        (f"{MODEL}.tree_info", at(2, -1)),
        (f"{MODEL}.tree_info", [0]),
        (f"{TREE}.id", 1),
        (f"{TREE}.id", 6),
        (f"{TREE}.tree_param.num_nodes", "3"),
        (f"{TREE}.tree_param.num_nodes", "2147483647"),
        (f"{TREE}.tree_param.size_leaf_vector", "3"),
        (f"{TREE}.left_children", at(0, 0)),
        (f"{TREE}.left_children", at(0, N)),
        (f"{TREE}.left_children", at(0, -2)),
        (f"{TREE}.left_children", at(0, 2)),
        (f"{TREE}.left_children", at(0, -1)),
        (f"{TREE}.left_children", at(0, 1.0)),
        (f"{TREE}.left_children", at(0, True)),
        (f"{TREE}.left_children", at(0, 2**70)),
        (f"{TREE}.left_children", [[1], [2]]),
        (f"{TREE}.left_children", GONE),
        (f"{TREE}.right_children", lambda a: a[:-1]),
        (f"{TREE}.split_indices", at(0, 3)),
        (f"{TREE}.split_indices", at(0, -1)),
        (f"{TREE}.split_indices", at(0, 2**31 - 1)),
        (f"{TREE}.split_conditions", at(0, np.nan)),
        (f"{TREE}.split_conditions", at(0, 1e39)),
        (f"{TREE}.split_conditions", at(N - 1, -np.inf)),
        (f"{TREE}.split_conditions", at(0, "1")),
        (f"{TREE}.split_conditions", GONE),
        (f"{TREE}.default_left", at(0, 2)),
        (f"{TREE}.default_left", GONE),
        (f"{TREE}.split_type", at(0, 2)),
        (f"{TREE}.split_type", at(0, 1)),
        (f"{TREE}.sum_hessian", [1.0]),
    ],
)
def test_refuses_damage(path, value):
    with refuses(ModelFormatError, match="^file: "):
        read_edited(PLAIN, path, value)


DART_MODEL = "learner.gradient_booster"


@pytest.mark.parametrize(
    "value",
    [
        [1.0, 1.0],
        [1.0, np.inf, 1.0],
        [1.0, 1e39, 1.0],
        {},
        GONE,
    ],
)
def test_refuses_damaged_weights(value):
    with refuses(ModelFormatError):
        read_edited(DART, f"{DART_MODEL}.weight_drop", value)


def test_refuses_a_weighted_leaf_that_is_too_large():
    leaves = f"{DART_MODEL}.gbtree.model.trees.0.split_conditions"
    large = edited(DART, leaves, lambda values: [1e38] * len(values))
    assert read_edited(large, "version", GONE).n_trees == 3
    with refuses(ModelFormatError):
        read_edited(large, f"{DART_MODEL}.weight_drop", at(0, 10.0))


@pytest.mark.parametrize("base_score", ["-1E0", "0E0", "[0E0]"])
def test_refuses_a_start_without_logarithm(base_score):
    original = document(train({"objective": "count:poisson"}, Z))
    with refuses(ModelFormatError):
        read_edited(original, f"{PARAM}.base_score", base_score)


ENC, ORDER = f"{MODEL}.cats.enc", f"{MODEL}.cats.sorted_idx"


# In the one or the other tree all three categories go right somewhere.
AS_CATEGORIES = edited(CATEGORIES, f"{TREE}.categories", at(0, 2))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{TREE}.categories", at(0, -1)),
        (f"{TREE}.categories", at(0, 2**24)),
        (f"{TREE}.categories", at(0, 3)),
        (f"{TREE}.categories", lambda a: [*a, 0]),
        (f"{TREE}.categories_sizes", at(0, 99)),
        (f"{TREE}.categories_sizes", at(0, 0)),
        (f"{TREE}.categories_sizes", []),
        (f"{TREE}.categories_segments", at(0, 1)),
        (f"{TREE}.categories_segments", at(0, 2**62)),
        (f"{TREE}.categories_nodes", at(0, 99)),
        (f"{TREE}.categories_nodes", at(0, -1)),
        (f"{TREE}.categories_nodes", GONE),
        (f"{TREE}.split_indices", at(0, 1)),
        (ENC, [{}]),
        (ENC, GONE),
        (f"{ENC}.0", {}),
        (f"{ENC}.0.offsets", [0, 2, 1, 3]),
        (f"{ENC}.0.offsets", [1, 2, 3]),
        (f"{ENC}.0.offsets", [0, 1, 2, 2**40]),
        (f"{ENC}.0.offsets", [0, 1, 2]),
        (f"{ENC}.0.values", [97, 97, 99]),
        (f"{ENC}.0.values", [97, 98, 1000]),
        (f"{ENC}.0.values", "abc"),
        (f"{ENC}.0.values", [98, 97, 99]),
        (ORDER, [0, 2, 1]),
        (ORDER, [0, 1, 99]),
        (ORDER, [0, 1]),
        (ORDER, GONE),
        ("learner.feature_types", ["q", "q"]),
    ],
)
def test_refuses_damaged_categories(path, value):
    with refuses(ModelFormatError):
        read_edited(AS_CATEGORIES, path, value)


@pytest.mark.parametrize("path", [ENC, "learner.feature_types"])
def test_categories_need_no_names(path):
    read_edited(AS_CATEGORIES, path, [])


@pytest.mark.parametrize("nodes", [[1, 0], [0, 0]])
def test_nodes_of_categories_stand_in_order(nodes):
    tree = copy.deepcopy(CATEGORIES["learner"]["gradient_booster"]["model"]["trees"][0])
    tree |= {
        "categories_nodes": nodes,
        "categories_segments": [0, 1],
        "categories_sizes": [1, 1],
        "categories": [0, 1],
    }
    with refuses(ModelFormatError):
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
    "children",
    [
        [(1, 2), LEAF, LEAF, (4, 5), LEAF, LEAF],
        [(1, 2), LEAF, LEAF, LEAF],
        [(1, 2), LEAF, LEAF, (4, 6), (3, 5), LEAF, LEAF],
        [(1, 2), (3, 3), LEAF, LEAF],
        [(1, 2), (0, 3), LEAF, LEAF],
    ],
)
def test_refuses_what_is_no_tree(children):
    with refuses(ModelFormatError):
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
    with refuses(ModelFormatError):
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
