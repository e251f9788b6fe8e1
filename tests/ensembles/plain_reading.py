"""What a model file says, read and added up in the plainest way, row by row.

The second opinion on every damaged file that a reader accepts: nothing here is
taken from ``clearwood``. A file that is not sound may raise any exception here.

``read_plainly`` gives ``(cells, scores)``: per feature the values worth trying, and
the function from a row of cells to its raw scores.
"""

import ctypes
import ctypes.util
import json
import math
import re

import numpy as np
from tests.ensembles.xgboost.ubjson import decode

float32 = np.float32
NAN = float("nan")
ZERO = float(float32(1e-35))
"""LightGBM takes what is not farther from zero for zero."""


def read_plainly(format, data):
    with np.errstate(all="ignore"):
        if format == "xgboost json":
            return xgboost(json.loads(data.decode("utf-8-sig")))
        if format == "xgboost ubjson":
            return xgboost(decode(data)[0])
        if format == "lightgbm text":
            return lightgbm(data.decode("utf-8-sig"))
        return catboost(json.loads(data.decode("utf-8-sig")))


def rows_of(cells, rng, n_rows=40):
    """Rows of random cells."""
    return [
        [column[rng.integers(len(column))] for column in cells] for _ in range(n_rows)
    ]


def around(cuts, single):
    """The cuts, their neighbours as float32 or float64, and some other numbers."""
    cells = [0.0, -0.0, 1.0, -3.5, 1e30, -1e30, NAN]
    for cut in sorted(set(cuts))[:30]:
        kind = float32 if single else np.float64
        cells += [cut, np.nextafter(kind(cut), kind(-np.inf))]
        cells += [np.nextafter(kind(cut), kind(np.inf))]
    return [float(cell) for cell in cells if not math.isinf(cell)]


# XGBoost


def xgboost(document):
    learner = document["learner"]
    parameters = learner["learner_model_param"]
    attributes = learner.get("attributes") or {}
    estimator = "scikit_learn" in attributes
    n_features = int(parameters["num_feature"])
    booster, weights = learner["gradient_booster"], None
    if booster["name"] == "dart":
        weights, booster = booster["weight_drop"], booster["gbtree"]
    model = booster["model"]
    trees = sorted(model["trees"], key=lambda tree: tree["id"])
    groups = model["tree_info"]
    base = xgboost_base_scores(learner, max(1, int(parameters["num_class"])))
    n_used = len(trees)
    if estimator and "best_iteration" in attributes:
        best = int(attributes["best_iteration"])
        n_used = xgboost_rounds(model, len(base))[best + 1]
    sets = [xgboost_sets(tree) for tree in trees]
    by_category = xgboost_categorical(learner, trees, sets)
    labels = [
        xgboost_labels(model, d) if d in by_category else [] for d in range(n_features)
    ]
    cells = xgboost_cells(trees, sets, labels, by_category)

    def scores(row):
        raw = list(base)
        for t in range(n_used):
            leaf = xgboost_leaf(trees[t], sets[t], row, labels)
            value, k = float32(trees[t]["split_conditions"][leaf]), groups[t]
            if weights is not None and estimator:
                value = (base[k] + value) - base[k]
            if weights is not None:
                value *= float32(weights[t])
            raw[k] += value
        return raw

    return cells, scores


def xgboost_rounds(model, n_outputs):
    """Per round, how many trees there are before it."""
    if "iteration_indptr" in model:
        return model["iteration_indptr"]
    parallel = int(model["gbtree_model_param"].get("num_parallel_tree", 1))
    return range(0, len(model["trees"]) + 1, n_outputs * max(1, parallel))


def xgboost_categorical(learner, trees, sets):
    """By their types, else by how they are split."""
    types = learner.get("feature_types")
    if types is not None and len(types):
        return {d for d, kind in enumerate(types) if kind == "c"}
    return {t["split_indices"][node] for t, own in zip(trees, sets) for node in own}


def xgboost_cells(trees, sets, labels, by_category):
    n_features = len(labels)
    cuts, codes = ([[] for _ in range(n_features)] for _ in range(2))
    for tree, own in zip(trees, sets):
        for node, child in enumerate(tree["left_children"]):
            if child != -1 and node in own:
                assert tree["split_indices"][node] in by_category
                codes[tree["split_indices"][node]] += own[node]
            elif child != -1:
                cut = float(float32(tree["split_conditions"][node]))
                cuts[tree["split_indices"][node]].append(cut)
    cells = []
    for d in range(n_features):
        if d not in by_category:
            cells.append(around(cuts[d], single=True))
        elif labels[d]:
            cells.append([*labels[d], "never seen", NAN])
        else:
            some = sorted(set(codes[d]))[:20]
            more = [0, 1, -1, -0.5, 0.9, 1e30, max(some, default=0) + 1, NAN]
            cells.append([float(code) for code in [*some, *more]])
    return cells


def xgboost_leaf(tree, sets, row, labels):
    left, right = tree["left_children"], tree["right_children"]
    node = 0
    while left[node] != -1:
        d = tree["split_indices"][node]
        cell = row[d]
        if cell != cell:
            goes_left = bool(tree["default_left"][node])
        elif node not in sets:
            goes_left = float32(cell) < float32(tree["split_conditions"][node])
        elif labels[d]:
            known = cell in labels[d]
            goes_left = not known or labels[d].index(cell) not in sets[node]
        else:
            goes_left = cell < 0 or int(float32(cell)) not in sets[node]
        node = left[node] if goes_left else right[node]
    return node


def xgboost_sets(tree):
    """Per categorical node the categories that go right."""
    sets, kinds = {}, tree.get("split_type") or []
    inner = [child != -1 for child in tree["left_children"]]
    if not any(kind == 1 and is_inner for kind, is_inner in zip(kinds, inner)):
        return sets
    for i, node in enumerate(tree["categories_nodes"]):
        start = tree["categories_segments"][i]
        own = tree["categories"][start : start + tree["categories_sizes"][i]]
        if kinds[node] == 1:
            sets[node] = list(own)
    return sets


def xgboost_labels(model, d):
    """Labels of a feature's categories in the order of the codes, if they are told."""
    told = (model.get("cats") or {}).get("enc")
    if not told:
        return []
    values, ends = told[d]["values"], told[d].get("offsets")
    if ends is None:
        return list(values)
    if any(not 0 <= v < 128 for v in values):
        return []
    return [bytes(values[a:b]).decode() for a, b in zip(ends[:-1], ends[1:])]


def xgboost_base_scores(learner, n_outputs):
    text = learner["learner_model_param"]["base_score"]
    stored = json.loads(text) if text.startswith("[") else [float(text)]
    name, one = learner["objective"]["name"], float32(1)
    scores = []
    for number in map(float32, stored):
        if name in ("binary:logistic", "reg:logistic"):
            share = min(max(number, float32(1e-6)), one - float32(1e-6))
            number = -logarithm(one / share - one)
        elif name in ("count:poisson", "reg:gamma", "reg:tweedie"):
            number = logarithm(number)
        scores.append(number)
    return scores * (n_outputs if len(scores) == 1 else 1)


def logarithm(number):
    """Of the C library, in float32; NumPy's own differs in the last bit."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    library.logf.restype = ctypes.c_float
    return float32(library.logf(ctypes.c_float(number)))


# LightGBM


def lightgbm(text):
    lines = [line.strip() for line in text.replace("\r\n", "\n").split("\n")]
    end = lines.index("end of trees")
    starts = [i for i in range(end) if lines[i].startswith("Tree=")]
    header = key_values(lines[: starts[0] if starts else end])
    trees = [
        lightgbm_tree(key_values(lines[a:b]))
        for a, b in zip(starts, [*starts[1:], end])
    ]
    n_features = int(header["max_feature_idx"]) + 1
    n_outputs = int(header["num_tree_per_iteration"])
    average = any(line == "average_output" for line in lines[: (starts or [end])[0]])
    labels = lightgbm_labels(lines, header, trees)
    cells = []
    for d in range(n_features):
        asked = [
            (t, i) for t in trees for i, f in enumerate(t["split_feature"]) if f == d
        ]
        sets = [t["sets"][i] for t, i in asked if i in t["sets"]]
        if d in labels:
            cells.append([*labels[d], "never seen", NAN])
        elif sets:
            some = sorted(set().union(*sets))[:20]
            cells.append(
                [*map(float, some), some[-1] + 0.9, 1e30, -1.0, -0.5, 0.0, NAN]
            )
            cells[-1] += [float(k + 1) for k in some[:9]]
        else:
            cuts = [t["threshold"][i] for t, i in asked]
            cells.append([*around(cuts, single=False), ZERO, -ZERO, 1.1e-35, 1e-36])

    def scores(row):
        row = [lightgbm_number(cell, labels.get(d)) for d, cell in enumerate(row)]
        raw = [0.0] * n_outputs
        for t, tree in enumerate(trees):
            raw[t % n_outputs] += lightgbm_value(tree, row)
        return [r / (len(trees) // n_outputs) for r in raw] if average else raw

    return cells, scores


def lightgbm_number(cell, labels):
    """A cell as the trees see it: labels as codes, all around zero as zero."""
    if cell != cell:
        return NAN
    if labels is not None:
        return labels.index(cell) if cell in labels else NAN
    return 0.0 if abs(cell) <= ZERO else cell


def key_values(lines):
    pairs = (line.partition("=") for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs}


def lightgbm_tree(values):
    def numbers(key, kind):
        return [kind(x) for x in values.get(key, "").split()]

    tree = {"leaf_value": numbers("leaf_value", float)}
    tree["stump"] = int(values["num_leaves"]) <= 1
    keys = ("split_feature", "decision_type", "left_child", "right_child")
    for key in keys:
        tree[key] = [] if tree["stump"] else numbers(key, int)
    tree["threshold"] = [] if tree["stump"] else numbers("threshold", float)
    bounds = numbers("cat_boundaries", int)
    words = numbers("cat_threshold", int)
    tree["sets"] = {}
    for node, kind in enumerate(tree["decision_type"]):
        if kind & 1:
            which = int(tree["threshold"][node])
            own = words[bounds[which] : bounds[which + 1]]
            tree["sets"][node] = {
                32 * i + bit
                for i, w in enumerate(own)
                for bit in range(32)
                if w >> bit & 1
            }
    return tree


def lightgbm_value(tree, row):
    if tree["stump"]:
        return tree["leaf_value"][0]
    node = 0
    while node >= 0:
        x = row[tree["split_feature"][node]]
        kind = tree["decision_type"][node]
        missing = kind >> 2 & 3
        if kind & 1:
            goes_left = x == x and x > -1 and int(x) in tree["sets"][node]
        else:
            if x != x and missing != 2:
                x = 0.0
            if (missing == 1 and abs(x) <= ZERO) or x != x:
                goes_left = bool(kind & 2)
            else:
                goes_left = x <= tree["threshold"][node]
        node = tree["left_child" if goes_left else "right_child"][node]
    return tree["leaf_value"][~node]


def lightgbm_labels(lines, header, trees):
    """Labels of the categorical features that pandas knew, by feature."""
    told = [x for x in lines if x.startswith("pandas_categorical:")]
    lists = json.loads(told[0].partition(":")[2]) if told else None
    if not lists:
        return {}
    told = [x for x in lines if x.startswith("[categorical_feature:")]
    listed = told[0][:-1].partition(":")[2].strip() if told else ""
    n_features = int(header["max_feature_idx"]) + 1
    numbers = re.fullmatch("[0-9]+(,[0-9]+)*", listed) and listed.split(",")
    if numbers and all(int(d) < n_features for d in numbers):
        categorical = set(map(int, numbers))
    else:
        infos = header.get("feature_infos", "").split()
        categorical = {d for d, info in enumerate(infos) if re.match("-?[0-9]", info)}
    for tree in trees:
        categorical |= {tree["split_feature"][node] for node in tree["sets"]}
    return dict(zip(sorted(categorical), lists, strict=True))


# CatBoost


def catboost(document):
    info = document["features_info"]
    floats = info.get("float_features") or []
    categorical = info.get("categorical_features") or []
    n_features = 1 + max(f["flat_feature_index"] for f in [*floats, *categorical])
    known = {h["value"]: h["hash"] for h in info.get("cat_features_hash") or []}
    cells = [[0.0] for _ in range(n_features)]
    # A split's split_index counts all borders of all numbers, then all categories.
    questions = []
    for feature in floats:
        borders = sorted(float(float32(b)) for b in feature.get("borders") or [])
        cells[feature["flat_feature_index"]] = around(borders, single=True)
        questions += [(feature, border) for border in borders]
    for feature in categorical:
        cells[feature["flat_feature_index"]] = [*known, "never seen"]
        questions += [(feature, code) for code in feature.get("values") or []]

    def goes_right(split, row):
        feature, asked = questions[split["split_index"]]
        x = row[feature["flat_feature_index"]]
        if isinstance(x, str):
            return x in known and (known[x] - asked) % 2**32 == 0
        if x != x:
            large = feature.get("nan_value_treatment") == "AsTrue"
            return large and bool(feature["has_nans"])
        return bool(float32(x) > asked)

    width = catboost_width(document)
    scale, bias = document.get("scale_and_bias", [1.0, 0.0])
    bias = bias if isinstance(bias, list) else [bias] * width

    def scores(row):
        raw = [0.0] * len(bias)
        for tree in document.get("oblivious_trees") or []:
            leaf = sum(
                goes_right(s, row) << i for i, s in enumerate(tree.get("splits") or [])
            )
            for k in range(len(bias)):
                raw[k] += tree["leaf_values"][leaf * len(bias) + k]
        for node in document.get("trees") or []:
            while "split" in node:
                node = node["right" if goes_right(node["split"], row) else "left"]
            value = node["value"]
            value = value if isinstance(value, list) else [value]
            for k in range(len(bias)):
                raw[k] += value[k]
        return [scale * r + b for r, b in zip(raw, bias)]

    return cells, scores


def catboost_width(document):
    """Values per leaf, of the first leaf of the first tree."""
    if document.get("oblivious_trees"):
        tree = document["oblivious_trees"][0]
        return len(tree["leaf_values"]) >> len(tree.get("splits") or [])
    node = document["trees"][0]
    while "split" in node:
        node = node["left"]
    return len(node["value"]) if isinstance(node["value"], list) else 1
