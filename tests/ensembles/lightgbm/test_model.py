"""LightGBM: every kind of model bit for bit, in memory and as text; damaged texts."""

import json
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from tests.wording import refuses, same_lines, same_text

from clearwood.columns.feature_space import ZERO
from clearwood.ensembles import read_ensemble
from clearwood.ensembles.lightgbm.model import read_text
from clearwood.exceptions import ClearwoodError, InputError, ModelError
from clearwood.exceptions import ModelFormatError as FormatError

lgb = pytest.importorskip("lightgbm")

from tests.ensembles.lightgbm.models import KINDS, make, rows_on_cuts  # noqa: E402

FILES = Path(__file__).parents[1] / "files"
TEXT = (FILES / "lightgbm-3.3.5-binary.txt").read_text()
QUIET = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 2, "num_leaves": 4}


def read(text):
    return read_text(text.encode(), "model.txt")


def assert_equal_arrays(found, expected, but=("source", "notes")):
    for field in fields(expected):
        if field.name not in but:
            a, b = getattr(found, field.name), getattr(expected, field.name)
            assert np.array_equal(a, b, equal_nan=field.name == "cut"), field.name


# Predictions


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_predicts_as_the_model(kind, seed):
    case = make(kind, seed)
    ensemble = read_ensemble(case.model)
    # -0.0 and 0.0 are the same score.
    assert_array_equal(ensemble.raw_scores(case.X), case.raw)
    if case.probabilities is None:
        assert_near(ensemble.predict(case.X), case.predicted)
    else:
        assert_array_equal(ensemble.predict(case.X), case.predicted)
        assert_near(ensemble.predict_proba(case.X), case.probabilities)
    text = getattr(case.model, "booster_", case.model).model_to_string()
    from_file = read(text)
    but = ["source", "notes", "classes"]
    if kind == "classifier_cross_entropy":
        # That it is a classifier, only the model in memory knows.
        but += ["task", "link", "decision"]
    assert_equal_arrays(from_file, ensemble, but)
    assert_array_equal(from_file.raw_scores(case.X), case.raw)
    if from_file.classes is not None:
        assert_array_equal(from_file.classes, np.arange(len(ensemble.classes)))


def assert_near(found, expected):
    # LightGBM takes exp and log1p from the C library, NumPy has its own: they differ in
    # the last bit, after a softmax in the last two. All other links agree in every bit.
    np.testing.assert_array_max_ulp(found, expected, maxulp=2)


def test_the_kinds_show_what_they_are_for():
    splits = {
        kind: [read_ensemble(make(kind, seed).model).splits() for seed in range(3)]
        for kind in KINDS
    }
    for kind in KINDS:
        categorical = any(s.categorical for s in splits[kind])
        assert categorical == kind.startswith(("codes", "pandas")), kind
        numeric = sum(s.numeric.node.size for s in splits[kind])
        assert (numeric == 0) == kind.startswith("one_leaf"), kind
        sides = {bool(x) for s in splits[kind] for x in s.numeric.missing_left}
        assert kind.startswith("one_leaf") or len(sides) == 2, kind
    cuts = np.concatenate([s.numeric.cut for kind in KINDS for s in splits[kind]])
    assert np.isin([ZERO, np.nextafter(-ZERO, -1)], cuts).all()
    ensembles = {kind: read_ensemble(make(kind, 1).model) for kind in KINDS}
    zero = ensembles["zero_as_missing"].features.missing_at
    assert 0.0 in zero and None in ensembles["regression"].features.missing_at
    assert ensembles["early_stopping"].n_trees < 30
    (note,) = ensembles["early_stopping"].notes
    same_lines(note)
    assert read_ensemble(make("early_stopping", 0).model).notes == ()
    same_text(ensembles["custom"].notes)


@pytest.mark.parametrize("path", sorted(FILES.glob("lightgbm-*.txt")), ids=str)
def test_files_of_older_versions(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    rows = expected["rows"]
    if isinstance(rows, dict):
        # LightGBM writes blanks in names as underscores.
        rows = pd.DataFrame(rows).rename(columns={"size of": "size_of"})
        rows["tree"] = rows["tree"].astype("category")
    else:
        rows = np.array(rows, dtype=float)
    ensemble = read_ensemble(path)
    raw = ensemble.raw_scores(rows).reshape(np.shape(expected["raw"]))
    divisor = ensemble.divisor  # raw scores of a forest are sums to LightGBM
    assert_array_equal(raw, np.array(expected["raw"]) / divisor)
    if ensemble.classes is None:
        assert_near(ensemble.predict(rows), np.array(expected["predicted"]))
    else:
        found = ensemble.predict_proba(rows)
        found = found[:, 1] if found.shape[1] == 2 else found
        assert_near(found, np.array(expected["predicted"]))


def test_what_is_said_of_a_file():
    ensemble = read(TEXT)
    assert ensemble.source == "LightGBM v3 (binary sigmoid:1.5)"
    assert ensemble.details == {
        "library": "LightGBM",
        "format": "v3",
        "objective": "binary sigmoid:1.5",
        "boosting": "gbdt",
    }
    assert read_ensemble(lgb.Booster(model_str=TEXT)).source == "lightgbm.Booster"


def changed(text, pattern, replacement, count=1):
    """The text with a pattern replaced, which must be in it."""
    found, n = re.subn(pattern, replacement, text, count=count, flags=re.MULTILINE)
    assert n, pattern
    return found


def stump(kind, threshold, words=None):
    """A text with one split, as nobody fitted it."""
    text = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\n"
    text += "label_index=0\nmax_feature_idx=0\nobjective=regression\n"
    text += f"feature_names=a\nfeature_infos={'0:1' if words else '[0:1]'}\n\n"
    text += f"Tree=0\nnum_leaves=2\nnum_cat={int(bool(words))}\nsplit_feature=0\n"
    text += f"split_gain=1\nthreshold={threshold}\ndecision_type={kind}\n"
    text += "left_child=-1\nright_child=-2\nleaf_value=1 2\nleaf_weight=1 1\n"
    text += "leaf_count=1 1\ninternal_value=0\ninternal_weight=0\ninternal_count=2\n"
    if words:
        text += f"cat_boundaries=0 {len(words)}\n"
        text += f"cat_threshold={' '.join(map(str, words))}\n"
    return text + "is_linear=0\nshrinkage=1\n\n\nend of trees\n"


@pytest.mark.parametrize("kind", [0, 2, 4, 6, 8, 10])
def test_every_kind_of_numeric_node_near_zero(kind):
    near = [0.0, 1e-40, 1e-35, 1.0000000180025093e-35, ZERO, np.nextafter(ZERO, 1), 1.0]
    for threshold in [*near, 1e300, np.inf, *(-x for x in near)]:
        text = stump(kind, threshold)
        X = np.array([*near, *(-x for x in near), np.nan, np.inf, -np.inf, 1e305])
        expected = lgb.Booster(model_str=text).predict(X[:, None])
        assert_array_equal(read(text).predict(X[:, None]), expected, str(threshold))


@pytest.mark.parametrize("kind", [1, 3, 5, 7, 9, 11])
def test_every_kind_of_categorical_node(kind):
    codes = [-1, 0, 0.5, 1, 2, 2.99, 3, 31, 32, 33, 34, 64, 1e6, 2**31, 2**32 + 2]
    X = np.array([*codes, np.nan, np.inf, -np.inf, 1e-36, -0.0])[:, None]
    for words in ([7, 1], [6], [2**31], [0, 2]):
        text = stump(kind, 0, words)
        expected = lgb.Booster(model_str=text).predict(X)
        assert_array_equal(read(text).predict(X), expected, str(words))


def test_only_the_codes_that_are_mentioned_are_categories():
    space = read(stump(1, 0, [5, 0, 1])).features
    assert space.categories == ((0, 2, 64),)
    assert space.lookup == ("integer",)
    with refuses(InputError):
        space.encode(pd.DataFrame({"a": ["oak"]}))


def test_sets_that_small_files_could_make_endless_are_refused():
    text = (FILES / "lightgbm-3.3.5-pandas.txt").read_text()
    shared = changed(text, r"^threshold=0 \S+", "threshold=0 0")
    shared = changed(shared, "^decision_type=1 8", "decision_type=1 1")
    with refuses(FormatError):
        read(shared)
    # All bits of 200 kB: six million categories in so many bytes.
    with refuses(FormatError, match="6,400,000"):
        read(stump(1, 0, [2**32 - 1] * 200_000))


def test_labels_of_pandas_are_the_categories():
    case = make("pandas_text", 0)
    space = read_ensemble(case.model).features
    assert space.names == ("a", "tree", "b", "c", "d", "const", "size")
    labels = ("oak", "yew", "ash", "elm é")
    empty = (None,) * 3
    assert space.categories == (None, labels, *empty, ("same",), (7, 3, 5))


@pytest.mark.parametrize("line", ["", "[categorical_feature: name:tree,size_of]\n"])
def test_old_files_do_not_list_the_categorical_features(line):
    text = (FILES / "lightgbm-3.3.5-pandas.txt").read_text()
    other = changed(text, r"^.categorical_feature: 1,2.\n", line)
    assert_equal_arrays(read(other), read(text))
    short = changed(other, "^feature_infos=", "feature_infos=none ")
    with refuses(FormatError, match="feature_infos"):
        read(short)


def test_names():
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    data = lgb.Dataset(X, y, feature_name=["my age", "b=c"])
    ensemble = read_ensemble(lgb.train(QUIET, data, 1))
    assert ensemble.features.names == ("my_age", "b=c") and ensemble.features.named
    made_up = read_ensemble(lgb.train(QUIET, lgb.Dataset(X, y), 1))
    assert made_up.features.names == ("x0", "x1") and not made_up.features.named


# Estimators


def test_subclasses_and_labels():
    class Mine(lgb.LGBMClassifier):
        pass

    X = np.random.default_rng(0).normal(size=(50, 2))
    model = Mine(n_estimators=3, **QUIET).fit(X, np.where(X[:, 0] > 0, "yes", "no"))
    ensemble = read_ensemble(model)
    assert ensemble.source == "lightgbm.LGBMClassifier"
    assert ensemble.classes.tolist() == ["no", "yes"]


def test_a_tie_goes_to_the_first_class():
    X = np.tile([[0.0], [1.0]], (20, 1))
    model = lgb.LGBMClassifier(n_estimators=1, min_child_samples=30, verbose=-1)
    model.fit(X, X[:, 0])
    assert (model.predict_proba(X) == 0.5).all()
    assert_array_equal(read_ensemble(model).predict(X), model.predict(X))


def fitted(kind="LGBMRegressor", y=None, **settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.abs(X[:, 0]) if y is None else y(X)
    return getattr(lgb, kind)(n_estimators=2, **QUIET, **settings).fit(X, y)


def own_objective(y, predicted):
    return predicted - y, np.ones(len(y))


REFUSED_MODELS = [
    lambda: lgb.LGBMRegressor(),
    lambda: lgb.LGBMClassifier(),
    lambda: lgb.CVBooster(),
    lambda: lgb.Dataset([[1.0]]),
    lambda: fitted(linear_tree=True),
    lambda: fitted("LGBMClassifier", lambda X: np.zeros(60)),
    lambda: fitted(objective="binary", y=lambda X: X[:, 0] > 0),
    lambda: fitted("LGBMClassifier", lambda X: X[:, 0] > 0, objective="l2"),
    lambda: fitted("LGBMClassifier", lambda X: X[:, 0] > 0, objective=own_objective),
    lambda: fitted(
        "LGBMClassifier",
        lambda X: (X[:, 0] > 0) + 0,
        objective="multiclass",
        num_class=3,
    ),
]


@pytest.mark.parametrize("model", REFUSED_MODELS)
def test_models_that_are_refused(model):
    with refuses(ModelError):
        read_ensemble(model())


def test_categories_that_are_no_json_are_refused():
    days = pd.to_datetime(["2020-01-01", "2020-01-02"]).to_numpy()
    table = pd.DataFrame({"a": pd.Categorical(days[np.arange(40) % 2])})
    model = lgb.Booster(QUIET, lgb.Dataset(table, np.arange(40) % 2))
    model.update()
    with refuses(ModelError):
        read_ensemble(model)


@pytest.mark.parametrize(
    "columns, settings",
    [
        ({"a": pd.Categorical(["x", "y"] * 20, ordered=True)}, {}),
        (
            {"a": pd.Categorical(["x", "y"] * 20), "b": [0, 1, 2, 3] * 10},
            {"categorical_feature": ["a", "b"]},
        ),
    ],
)
def test_labels_that_cannot_be_matched_to_columns_are_refused(columns, settings):
    table = pd.DataFrame(columns)
    data = lgb.Dataset(table, np.arange(40) % 2, **settings)
    with refuses(ModelError):
        read_ensemble(lgb.train(QUIET, data, 1))


# Texts that differ only in what does not matter

NO_TREE_SIZES = re.sub(r"^tree_sizes=.*\n", "", TEXT, flags=re.MULTILINE)
HARMLESS = {
    "CRLF": TEXT.replace("\n", "\r\n"),
    "blanks at the ends": TEXT.replace("\n", " \t\n  "),
    "no blank lines": re.sub(r"\n+", "\n", TEXT),
    "many blank lines": TEXT.replace("\n", "\n\n\n"),
    "wide gaps": re.sub("(?<=[0-9]) (?=[-0-9])", "   ", TEXT),
    "tabs": re.sub("(?<=[0-9]) (?=[-0-9])", "\t", TEXT),
    "blanks around =": re.sub("^([a-z_]+)=", r"\1 = ", TEXT, flags=re.MULTILINE),
    "no end of the last line": TEXT.rstrip("\n"),
    "no statistics": re.sub(r"\n(split_gain|leaf_[cw]|internal_).*(?=\n)", "", TEXT),
    "no tree sizes": NO_TREE_SIZES,
    "no parameters": re.sub(r"parameters:.*of parameters\n", "", TEXT, flags=re.S),
    "odd statistics": TEXT.replace("leaf_count=", "leaf_count=one nan "),
    "unknown keys": TEXT.replace("Tree=1", "Tree=1\nnew=1\nnew=2"),
    "other spelling": re.sub("(?<==)0(?=[. ])", "+0", TEXT),
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_does_not_matter(text):
    assert text != TEXT
    assert_equal_arrays(read(text), read(TEXT), but=["details"])


def test_order_of_lines():
    head, *trees = re.split(r"\n\n+(?=Tree=)", TEXT.split("\nend of trees")[0])
    rest = TEXT.split("\nend of trees")[1]
    first, *lines = head.split("\n")
    parts = ["\n".join([first, *reversed(lines)])]
    for tree in trees:
        first, *lines = tree.strip().split("\n")
        parts.append("\n".join([first, *reversed(lines)]))
    text = "\n\n".join(parts) + "\n\nend of trees" + rest
    assert_equal_arrays(read(text), read(TEXT))


def test_nodes_in_any_order():
    # Inner nodes counted from the other end, the root aside: children before parents.
    def recounted(match):
        key, values = match[1], match[2].split()
        n = len(values)
        if key.endswith("child"):
            values = [c if int(c) < 1 else str(n - int(c)) for c in values]
        return f"{key}={' '.join([values[0], *values[:0:-1]])}"

    keys = "left_child|right_child|split_feature|threshold|decision_type"
    text = re.sub(f"^({keys})=(.*)$", recounted, TEXT, flags=re.MULTILINE)
    assert "left_child=3 -3 -2 -1" in text
    X = np.random.default_rng(0).integers(-2, 6, size=(200, 3)) / 2
    expected = lgb.Booster(model_str=TEXT).predict(X, raw_score=True)
    for same in (TEXT, text):
        assert_array_equal(read(same).raw_scores(X)[:, 0], expected)
    assert len(set(expected)) == 8


def test_one_leaf_value_or_cut_by_hand():
    text = changed(TEXT, r"^leaf_value=\S+", "leaf_value=7.25")
    assert 7.25 in read(text).value
    text = changed(TEXT, r"^(threshold=\S+) \S+", r"\1 0.015625")
    assert 0.015625 in read(text).cut


# Damage

ABSURD = "9" * 30
DAMAGED_HEADERS = [
    (r"\Atree$", "forest"),
    (r"\Atree\n", ""),
    ("^version=v3", "version=v9"),
    ("^version=v3\n", ""),
    ("^num_class=1", "num_class=1\nnum_class=1"),
    ("^num_class=1", "num_class=2"),
    ("^num_class=1", f"num_class={ABSURD}"),
    ("iteration=1", "iteration=2"),
    ("=1\nnum_tree_per_iteration=1", "=2\nnum_tree_per_iteration=2"),
    ("iteration=1", "iteration=0"),
    ("iteration=1", "iteration=100000"),
    ("iteration=1", "iteration=one"),
    ("iteration=1", "iteration=1_0"),
    ("iteration=1", "iteration=1 1"),
    ("iteration=1", "iteration="),
    ("idx=2", "idx=1"),
    ("idx=2", "idx=999999"),
    ("idx=2", "idx=99999"),
    ("idx=2", "idx=3000000000"),
    ("idx=2", "idx=-1"),
    ("_names=.*", "_names=a b a"),
    ("^feature_names=.*\n", ""),
    ("objective=binary", "objective=cubic"),
    ("objective=binary.*", "objective="),
    ("sigmoid:1.5", "sigmoid:0"),
    ("sigmoid:1.5", "sigmoid:nan"),
    ("objective=binary", "objective=multiclass"),
    ("objective=binary.*", "objective=multiclass num_class:3"),
    ("^label_index=0", "label_index"),
    ("^Tree=1", "Tree=2"),
    ("^Tree=1\n", ""),
    ("^end of trees\n", ""),
    ("^end of parameters\n", ""),
    ("^pandas_categorical:.*", "pandas_categorical:[["),
    ("^pandas_categorical:.*", "pandas_categorical:7"),
    ("^pandas_categorical:.*", "pandas_categorical:[7]"),
    ("^pandas_categorical:.*", "pandas_categorical:[[null]]"),
    ("^pandas_categorical:.*", "pandas_categorical:[[NaN]]"),
    ("^pandas_categorical:.*", "pandas_categorical:[[[1]]]"),
    ("^pandas_categorical:.*", "pandas_categorical:[[],[],[],[]]"),
    ("^pandas_categorical:.*", 'pandas_categorical:[["a","a"]]'),
    ("^pandas_categorical:.*", 'pandas_categorical:[["a"]]'),
    ("^pandas_categorical:.*", 'pandas_categorical:[["a"],["b"]]'),
    ("^pandas_categorical:.*", "pandas_categorical"),
    ("^pandas_categorical:", "pandas_categorical:null\n\\g<0>"),
]
DAMAGED_TREES = [
    ("num_leaves=5", "num_leaves=4"),
    ("num_leaves=5", "num_leaves=0"),
    ("num_leaves=5", f"num_leaves={ABSURD}"),
    ("num_leaves=5", "num_leaves=2000000000"),
    ("num_leaves=5", "num_leaves=5.0"),
    ("^num_leaves=5\n", ""),
    ("^leaf_value=.*\n", ""),
    ("^threshold=.*\n", ""),
    ("^decision_type=.*\n", ""),
    ("^split_feature=.*\n", ""),
    ("^left_child=.*\n", ""),
    ("^right_child=.*\n", ""),
    ("^cat_boundaries=.*\n", ""),
    ("^cat_threshold=.*\n", ""),
    ("^num_cat=1", "num_cat=0"),
    ("^num_cat=1", "num_cat=2"),
    ("^num_cat=1", "num_cat=2000000000"),
    ("^cat_boundaries=0 1", "cat_boundaries=1 1"),
    ("^cat_boundaries=0 1", "cat_boundaries=0 0"),
    ("^cat_boundaries=0 1", "cat_boundaries=0 2"),
    ("^cat_boundaries=0 1", "cat_boundaries=0 -1"),
    ("^cat_threshold=.*", "cat_threshold=4294967296"),
    ("^cat_threshold=.*", "cat_threshold=-1"),
    ("^cat_threshold=.*", "cat_threshold=0"),
    (r"^threshold=\S+", "threshold=1"),
    (r"^threshold=\S+", "threshold=-1"),
    (r"^threshold=\S+", "threshold=0.5"),
    (r"^threshold=\S+", "threshold=inf"),
    (r"^(threshold=\S+) \S+", r"\1 nan"),
    (r"^(threshold=\S+) \S+", r"\1 -inf"),
    (r"^(threshold=\S+) \S+", r"\1 infinity"),
    (r"^(threshold=\S+) \S+", r"\1 1_0"),
    (r"^(threshold=\S+) \S+", r"\1 ١"),
    (r"^(threshold=\S+) \S+", r"\1 1e"),
    (r"^(threshold=\S+) \S+", r"\1 1-2"),
    (r"^(threshold=\S+) \S+", r"\1 0x1p3"),
    (r"^(threshold=\S+) \S+", r"\1"),
    (r"^(threshold=\S+) \S+", r"\1 " + "1" * 5000),
    (r"^leaf_value=\S+", "leaf_value=inf"),
    (r"^leaf_value=\S+", "leaf_value=1e999"),
    (r"^leaf_value=\S+", "leaf_value=nan"),
    ("^decision_type=1", "decision_type=12"),
    ("^decision_type=1", "decision_type=-1"),
    ("^decision_type=1 8", "decision_type=1 9"),
    ("^decision_type=1 10", "decision_type=1 9"),
    (r"^split_feature=\S+", "split_feature=3"),
    (r"^split_feature=\S+", "split_feature=-1"),
    (r"^split_feature=\S+", "split_feature=0.5"),
    (r"^split_feature=\S+", f"split_feature={ABSURD}"),
    (r"^split_feature=2", "split_feature=0"),
    (r"^left_child=\S+", "left_child=0"),
    (r"^left_child=\S+", "left_child=4"),
    (r"^left_child=\S+", "left_child=-6"),
    (r"^is_linear=0", "is_linear=1"),
    (r"^is_linear=0", "is_linear=2"),
    (r"^shrinkage=1", "shrinkage"),
]


@pytest.mark.parametrize(("pattern", "replacement"), DAMAGED_HEADERS)
def test_damaged_headers(pattern, replacement):
    text = changed(TEXT, pattern, replacement)
    with refuses(FormatError, match="^model.txt: "):
        read(text)


@pytest.mark.parametrize(("pattern", "replacement"), DAMAGED_TREES)
def test_damaged_trees(pattern, replacement):
    assert not re.search(pattern, TEXT.split("Tree=0")[0], re.MULTILINE)
    text = changed(TEXT, pattern, replacement)
    with refuses(FormatError, match="^model.txt: "):
        read(text)


@pytest.mark.parametrize(
    "left, right, message",
    [
        ("1 2 3 1", "-1 -2 -3 -4", "left_child"),
        ("1 2 3 -1", "-1 -2 -3 -4", "left_child"),
        ("1 2 3 -4", "-1 -2 -3 -4", "left_child"),
        ("1 2 3 -5", "-1 -2 -4 -4", "right_child"),
        ("1 -2 3 -4", "-1 -3 2 -5", "left_child"),
        ("-1 2 3 1", "-2 -3 -4 -5", "left_child"),
        ("1 1 3 -4", "-1 -2 -3 -5", "left_child"),
    ],
)
def test_damaged_shapes(left, right, message):
    text = changed(TEXT, "^left_child=.*", f"left_child={left}")
    text = changed(text, "^right_child=.*", f"right_child={right}")
    with refuses(FormatError, match=message):
        read(text)


def test_lines_are_named():
    line = TEXT.split("\n").index("is_linear=0") + 1
    with refuses(FormatError, match=rf"\b{line}\b.*is_linear"):
        read(TEXT.replace("is_linear=0", "is_linear=7"))


def test_cut_off_at_every_line():
    lines = TEXT.split("\n")
    end, parameters = lines.index("end of trees"), lines.index("parameters:")
    for n in range(len(lines)):
        text = "\n".join(lines[:n])
        # Behind the trees there is nothing that this model needs.
        whole = end < n <= parameters or "end of parameters" in lines[:n]
        if whole:
            assert_array_equal(read(text).cut, read(TEXT).cut)
        else:
            with pytest.raises(FormatError):
                read(text)


def test_no_trees_and_part_of_a_round():
    empty = lgb.Booster(QUIET, lgb.Dataset(np.ones((9, 1)), np.ones(9)))
    with refuses(ModelError):
        read_ensemble(empty)
    text = (FILES / "lightgbm-3.3.5-pandas.txt").read_text()
    text = changed(text, r"^Tree=5\n(.+\n)+", "")
    text = changed(text, r"^tree_sizes=.*\n", "")
    with refuses(FormatError):
        read(text)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xff\xfe", b"tree", b"tree\n\x80=1"])
def test_no_text_of_lightgbm(data):
    with pytest.raises(FormatError, match="^m.txt: "):
        read_text(data, "m.txt")


def test_random_damage_never_ends_in_another_error():
    rng = np.random.default_rng(0)
    texts = [p.read_bytes() for p in sorted(FILES.glob("lightgbm-*.txt"))]
    alphabet = b'0123456789-+.eE =\n\t:,[]"inftreNa_\x80\xff'
    for i in range(400):
        text = texts[i % len(texts)]
        data = bytearray(text[: text.find(b"[boosting")])
        data += b"]\nend of parameters\n" + text[text.rfind(b"pandas_cat") :]
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(len(data)))
            size = int(rng.integers(3))
            data[at : at + size] = rng.choice(list(alphabet), rng.integers(3)).tolist()
        try:
            read_text(bytes(data), "m.txt")
        except ClearwoodError:
            pass


# What counts as missing


def two_trees(first, second):
    """Two stumps of kinds (decision_type, threshold) over one feature."""
    text = stump(*first)
    tree = text[text.index("Tree=0") : text.index("end of trees")]
    tree = tree.replace("Tree=0", "Tree=1")
    tree = changed(tree, "^decision_type=.*", f"decision_type={second[0]}")
    tree = changed(tree, "^threshold=.*", f"threshold={second[1]}")
    return text.replace("end of trees", tree + "end of trees")


@pytest.mark.parametrize("second", [(0, 1), (0, -1), (4, 2), (6, -2), (10, 1), (8, -1)])
def test_kinds_of_missing_values_that_agree(second):
    for first in [(4, 0.5), (6, -0.5)]:
        text = two_trees(first, second)
        X = np.array([0, 1e-36, np.nan, 0.2, -0.2, 0.7, -0.7, 3, -3])[:, None]
        expected = lgb.Booster(model_str=text).predict(X)
        assert_array_equal(read(text).predict(X), expected)


@pytest.mark.parametrize("second", [(8, 1), (10, -1)])
def test_kinds_of_missing_values_that_do_not_agree(second):
    for text in (two_trees((6, 0), second), two_trees(second, (4, 0))):
        with refuses(FormatError, match="zero_as_missing"):
            read(text)


def test_rows_stand_on_cuts():
    # Guards the helper: cells equal to a threshold, to both sides and special ones.
    case = make("regression", 3)
    cuts = read_ensemble(case.model).splits().numeric.cut
    rows = rows_on_cuts(case.model, case.X, np.random.default_rng(0))
    for cells in (cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)):
        assert np.isin(cells, rows).any()
