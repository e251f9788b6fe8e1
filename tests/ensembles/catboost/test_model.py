"""Our predictions against CatBoost's own, and files of CatBoost that somebody broke.

Raw sums are compared bit for bit: both sides add the same float64 numbers in the same
order. After a link the tolerance is 1e-12 relative: CatBoost has an exponential of its
own.
"""

import copy
import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.wording import refuses, same_lines, same_text

catboost = pytest.importorskip("catboost")
from tests.ensembles.catboost import models as catboost_models  # noqa: E402

from clearwood.columns.feature_space import UNSEEN  # noqa: E402
from clearwood.ensembles import TreeEnsemble, nodes, read_ensemble  # noqa: E402
from clearwood.ensembles.catboost.model import LINKS, REFUSED_LOSSES  # noqa: E402
from clearwood.exceptions import (  # noqa: E402
    InputError,
    ModelError,
    ModelFormatError,
    UnsupportedModelError,
)
from clearwood.simplifiers import RuleListClassifier  # noqa: E402

FILES = Path(__file__).parents[1] / "files"
QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
SMALL = {"iterations": 3, "depth": 3, **QUIET}


def read_file(document, tmp_path, name="model.json"):
    path = tmp_path / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return read_ensemble(path)


def saved(model, tmp_path, **how):
    path = tmp_path / "saved.json"
    model.save_model(str(path), format="json", **how)
    return json.loads(path.read_text())


def assert_same_ensemble(ours, other):
    for field in fields(TreeEnsemble):
        if field.name != "source":
            a, b = getattr(ours, field.name), getattr(other, field.name)
            assert type(a) is type(b)
            assert_array_equal(a, b, err_msg=field.name)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", catboost_models.KINDS)
def test_predicts_as_catboost_from_memory_and_file(kind, seed, tmp_path):
    case = catboost_models.make(kind, seed)
    ensemble = read_ensemble(case.model)
    assert_array_equal(ensemble.raw_scores(case.X), case.raw)
    predicted = ensemble.predict(case.X)
    if case.probabilities is None:
        assert_allclose(predicted, case.predicted, rtol=1e-12, atol=0)
    else:
        assert_array_equal(predicted, case.predicted)
        assert type(predicted[0]) is type(case.predicted[0])
        ours = ensemble.predict_proba(case.X)
        assert_allclose(ours, case.probabilities, rtol=1e-12, atol=0)
    kind_of_model = type(case.model).__name__.replace("Subclass", "CatBoostClassifier")
    assert ensemble.source == f"catboost.{kind_of_model}"
    from_file = read_file(saved(case.model, tmp_path), tmp_path)
    assert_same_ensemble(from_file, ensemble)
    assert from_file.source.startswith("CatBoost ")


@pytest.mark.parametrize("which", ["symmetric", "lossguide"])
def test_files_of_catboost_1_2(which):
    answers = json.loads((FILES / "catboost-1.2-answers.json").read_text())
    ensemble = read_ensemble(FILES / f"catboost-1.2-{which}.json")
    columns = [0, 1, 2] if which == "symmetric" else [0, 2]
    rows = [[row[c] for c in columns] for row in answers["rows"]]
    raw = np.reshape(answers[which]["raw"], (len(rows), -1))
    assert_array_equal(ensemble.raw_scores(rows), raw)
    if which == "symmetric":
        assert ensemble.predict(rows).tolist() == answers[which]["predicted"]
        assert ensemble.features.categories[1] is not None
        assert set(ensemble.features.categories[1]) <= {"red", "green", "blue", "tan"}
    else:
        assert_allclose(ensemble.predict(rows), answers[which]["predicted"], 1e-12)


# Numbers, names, categories


def numeric_model(**settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = catboost.CatBoostRegressor(**{**SMALL, **settings})
    return model.fit(X, X[:, 0] + X[:, 1] ** 2), X


def categorical_model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=60),
            "hue": rng.choice(["red", "blue", "tan"], 60),
            "code": rng.integers(4, size=60),
        }
    )
    y = X["size"] + (X["hue"] == "red") - (X["code"] == 2) - 2.0 * (X["code"] == 1)
    model = catboost.CatBoostRegressor(
        **SMALL | {"iterations": 30}, one_hot_max_size=9, cat_features=["hue", "code"]
    )
    return model.fit(X, y), X


def test_missing_and_infinite_numbers_are_taken_as_catboost_takes_them():
    # Also where training saw no missing value.
    model, X = numeric_model()
    X = X.copy()
    X[:5, 0] = np.nan, np.inf, -np.inf, 1e300, -1e300
    X[5:9, 1] = np.nan
    ours = read_ensemble(model).raw_scores(X)[:, 0]
    assert_array_equal(ours, model.predict(X))


def test_names_of_columns():
    model, X = numeric_model()
    assert read_ensemble(model).features.names == ("x0", "x1", "x2")
    assert not read_ensemble(model).features.named
    frame = pd.DataFrame(X)
    numbered = catboost.CatBoostRegressor(**SMALL).fit(frame, X[:, 0])
    assert not read_ensemble(numbered).features.named
    frame.columns = ["a", "unused", "c"]
    frame["unused"] = 1.0
    frame["ignored"] = X[:, 1]
    named = catboost.CatBoostRegressor(**SMALL, ignored_features=["ignored"])
    ensemble = read_ensemble(named.fit(frame, X[:, 0]))
    assert ensemble.features.names == ("a", "unused", "c", "ignored")
    shuffled = frame[["c", "ignored", "unused", "a"]]
    assert_array_equal(ensemble.predict(shuffled), named.predict(frame))


def test_without_its_data_a_model_knows_categories_by_hash(tmp_path):
    model, X = categorical_model()
    ensemble = read_ensemble(model)
    labels = ensemble.features.categories[1]
    assert labels
    assert all(type(label) is int for label in labels)
    data = catboost.Pool(X, cat_features=["hue", "code"])
    told = read_file(saved(model, tmp_path, pool=data), tmp_path)
    assert told.notes == ()
    (note,) = ensemble.notes
    same_text(note)
    texts = told.features.categories
    assert set(texts[1]) <= {"red", "blue", "tan"}
    assert set(texts[2]) <= {"0", "1", "2", "3"}
    assert ensemble.as_in(X).features == told.features
    # The table holds all texts, so there is nothing left to learn from data.
    assert told.as_in(X.iloc[:0]).features == told.features
    assert numeric_ensemble().as_in([[0.0] * 3]) is not None
    for known in (ensemble, told):
        assert_array_equal(known.predict(X), model.predict(X))


def numeric_ensemble():
    return read_ensemble(numeric_model()[0])


@pytest.mark.parametrize(
    "cells", [["red", 2, "yew"], ["2", True, ""], [np.int64(2), "blue", np.str_("red")]]
)
def test_cells_become_text_as_in_catboost(cells):
    model, _ = categorical_model()
    hue = pd.Series(cells, dtype=object)
    X = pd.DataFrame({"size": [0.0, 0.1, -0.2], "hue": hue, "code": [2, 7, 10**18 + 1]})
    assert_array_equal(read_ensemble(model).predict(X), model.predict(X))


def test_unseen_categories_and_codes_of_any_size():
    ensemble = read_ensemble(categorical_model()[0])
    rows = [[0.0, "yew", 10**30], [0.0, "red", True]]
    codes = ensemble.encode(rows)
    assert codes[0, 1:].tolist() == [UNSEEN, UNSEEN]
    labels = ensemble.as_in(rows).features.categories
    assert labels[2][int(codes[1, 2])] == "1"


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_categories_are_refused_as_catboost_does(missing):
    model, X = categorical_model()
    X = X.astype({"hue": object}).iloc[:3].copy()
    X.loc[1, "hue"] = missing
    with pytest.raises(Exception, match="NaN values|real number"):
        model.predict(X)
    with refuses(InputError, match="'hue'.*NaN"):
        read_ensemble(model).predict(X)
    X.loc[1, "hue"] = "red"
    X.loc[1, "size"] = np.nan
    assert_array_equal(read_ensemble(model).predict(X), model.predict(X))


def test_what_a_model_says_of_itself(tmp_path):
    model, _ = numeric_model(loss_function="Quantile:alpha=0.7")
    ensemble = read_file(saved(model, tmp_path), tmp_path)
    version = catboost.__version__
    assert ensemble.source == f"CatBoost {version} (Quantile:alpha=0.7)"
    assert ensemble.details == {
        "library": "CatBoost",
        "version": version,
        "objective": "Quantile:alpha=0.7",
    }
    assert ensemble.notes == ()
    document = saved(model, tmp_path)
    document["model_info"]["catboost_version_info"] = 3
    document["model_info"]["params"]["loss_function"]["params"] = None
    assert read_file(document, tmp_path).source == "CatBoost (Quantile)"


# Files that differ, and are sound


def shuffled(value, rng):
    """The same document, the members of its objects in another order."""
    if isinstance(value, list):
        return [shuffled(entry, rng) for entry in value]
    if not isinstance(value, dict):
        return value
    keys = rng.permutation(list(value)).tolist()
    return {key: shuffled(value[key], rng) for key in keys}


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise"])
def test_order_of_keys_and_white_space_do_not_matter(policy, tmp_path):
    model, _ = numeric_model(grow_policy=policy)
    document = shuffled(saved(model, tmp_path), np.random.default_rng(0))
    for indent in (None, 7):
        text = "\n\t " + json.dumps(document, indent=indent) + "\r\n"
        assert_same_ensemble(read_file(text, tmp_path), read_ensemble(model))


def change_border(document):
    document["features_info"]["float_features"][0]["borders"][0] += 0.3


def change_border_out_of_order(document):
    document["features_info"]["float_features"][0]["borders"][0] = 9.0


def change_leaf(document):
    document["oblivious_trees"][1]["leaf_values"][3] = -2.5


def change_leaf_to_whole_number(document):
    document["oblivious_trees"][1]["leaf_values"][3] = 4


def change_scale(document):
    document["scale_and_bias"] = [3, [0.25]]


def change_border_in_split(document):
    document["oblivious_trees"][0]["splits"][0]["border"] += 1.0


def claim_missing_is_large(document):
    # Where training saw no missing value, CatBoost does not look at this.
    for column in document["features_info"]["float_features"]:
        column["nan_value_treatment"] = "AsTrue"


def say_there_were_missing_values(document):
    claim_missing_is_large(document)
    document["features_info"]["float_features"][0]["has_nans"] = True


def drop_what_is_for_people(document):
    document["features_info"]["float_features"][0].pop("feature_id")
    for tree in document["oblivious_trees"]:
        tree.pop("leaf_weights")
    for name in ("training", "output_options", "train_finish_time", "model_guid"):
        document["model_info"].pop(name)


SOUND_CHANGES = [
    change_border,
    change_border_out_of_order,
    change_leaf,
    change_leaf_to_whole_number,
    change_scale,
    change_border_in_split,
    claim_missing_is_large,
    say_there_were_missing_values,
    drop_what_is_for_people,
]


@pytest.mark.parametrize("change", SOUND_CHANGES, ids=lambda change: change.__name__)
def test_a_changed_file_is_read_as_catboost_reads_it(change, tmp_path):
    model, X = numeric_model()
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    document = saved(model, tmp_path)
    change(document)
    ensemble = read_file(document, tmp_path)
    native = catboost.CatBoost()
    native.load_model(str(tmp_path / "model.json"), format="json")
    # CatBoost's own parser is not exact in the last digit.
    assert_allclose(ensemble.predict(X), native.predict(X), rtol=1e-14)
    # The borders in the splits are for people, those in the list count.
    moved = change.__name__.startswith("change_border")
    assert len(ensemble.notes) == moved
    if moved:
        same_lines(ensemble.notes[0])


def test_parts_that_older_versions_write_otherwise(tmp_path):
    model, _ = numeric_model(loss_function="LogCosh")
    document = saved(model, tmp_path)
    info = document["model_info"]
    info["params"] = json.dumps(info["params"])
    document["scale_and_bias"] = [1, 0.5]
    assert read_file(document, tmp_path).offset.tolist() == [0.5]
    del document["scale_and_bias"]
    assert_same_ensemble(read_file(document, tmp_path), read_ensemble(model))


# What cannot be read


def fitted_classifier(**settings):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    return catboost.CatBoostClassifier(**SMALL, **settings).fit(X, y)


def test_models_that_are_not_fitted():
    with refuses(ModelError, match="CatBoostRegressor"):
        read_ensemble(catboost.CatBoostRegressor())


def target_statistics_model(**settings):
    """With categories at CatBoost's defaults, but for ``settings``."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "hue": rng.choice(["red", "tan", "sea", "sky", "ash"], 200),
            "size": rng.normal(size=200),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], 200),
        }
    )
    y = X["hue"].isin(["red", "sea"]) ^ (X["town"] == "Ulm")
    settings = {**QUIET, "iterations": 20, **settings}
    model = catboost.CatBoostClassifier(cat_features=["hue", "town"], **settings)
    return model.fit(X, y), X


def test_statistics_of_one_column_are_sets_of_its_categories(tmp_path):
    model, X = target_statistics_model(max_ctr_complexity=1)
    pool = catboost.Pool(X, cat_features=["hue", "town"])
    ensemble = read_file(saved(model, tmp_path, pool=pool), tmp_path)
    assert set(ensemble.features.categories[0]) == set(X["hue"])
    assert ensemble.category_offsets.size > 3
    rows = X.assign(hue=["new", "red"] * 100, town=["Bonn", "Rom", "Ulm", "Kiel"] * 50)
    raw = model.predict(rows, prediction_type="RawFormulaVal")
    assert_array_equal(ensemble.raw_scores(rows)[:, 0], raw)
    rules = RuleListClassifier(ensemble, max_rules=4).fit(X, model.predict(X)).rules_
    same_lines(rules.to_text())


def test_statistics_of_several_columns_are_refused_by_name(tmp_path):
    model, _ = target_statistics_model(max_ctr_complexity=4)
    with refuses(ModelError, match=r"\['hue', 'town'\].*max_ctr_complexity=1"):
        read_ensemble(model)
    with pytest.raises(ModelFormatError, match=r"model.json: features_info: .*'hue'"):
        read_file(saved(model, tmp_path), tmp_path)


def test_texts_and_embeddings_are_refused_by_name():
    y = np.arange(60) % 2
    texts = pd.DataFrame({"note": ["good bad", "nice"] * 30, "size": np.arange(60.0)})
    model = catboost.CatBoostClassifier(**SMALL, text_features=["note"]).fit(texts, y)
    with refuses(ModelError, match="'note'"):
        read_ensemble(model)
    rows = pd.DataFrame({"vector": list(np.random.default_rng(0).normal(size=(60, 3)))})
    model = catboost.CatBoostClassifier(**SMALL, embedding_features=["vector"])
    with refuses(ModelError, match="'vector'"):
        read_ensemble(model.fit(rows, y))


class SquaredError:
    def calc_ders_range(self, approxes, targets, weights):
        return [(t - a, -1) for a, t in zip(approxes, targets)]


@pytest.mark.filterwarnings("ignore:Failed to import numba:UserWarning")
def test_losses_in_memory():
    loss = {"loss_function": SquaredError(), "eval_metric": "RMSE"}
    with refuses(ModelError, match="PythonUserDefined"):
        numeric_ensemble_of(loss)
    with refuses(ModelError, match="'RMSEWithUncertainty'"):
        numeric_ensemble_of({"loss_function": "RMSEWithUncertainty"})
    with refuses(ModelError, match="'Cox'"):
        numeric_ensemble_of({"loss_function": "Cox"})


def numeric_ensemble_of(settings):
    return read_ensemble(numeric_model(**settings)[0])


@pytest.mark.parametrize("loss", [*REFUSED_LOSSES, "Unheard"])
def test_losses_in_files(loss, tmp_path):
    document = saved(numeric_model()[0], tmp_path)
    document["model_info"]["params"]["loss_function"] = {"type": loss, "params": {}}
    with refuses(ModelFormatError, match=f"'{loss}'"):
        read_file(document, tmp_path)
    assert loss not in LINKS


def test_thresholds_and_classes_that_never_occurred(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = catboost.CatBoostClassifier(**SMALL).fit(X, X[:, 0] > 0)
    model.set_probability_threshold(0.5)
    read_ensemble(model)
    model.set_probability_threshold(0.75)
    with refuses(ModelError, match="0.75.*set_probability_threshold.*0.5"):
        read_ensemble(model)
    unseen = fitted_classifier(loss_function="MultiClass", class_names=[0, 1, 2, 7])
    with refuses(ModelError):
        read_ensemble(unseen)
    unseen = fitted_classifier(loss_function="MultiClass", classes_count=4)
    with refuses(ModelError):
        read_ensemble(unseen)


# Damage


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """One sound document per shape."""
    folder = tmp_path_factory.mktemp("catboost")
    model, X = categorical_model()
    pool = catboost.Pool(X, cat_features=["hue", "code"])
    return {
        "symmetric": saved(numeric_model()[0], folder),
        "nested": saved(numeric_model(grow_policy="Depthwise")[0], folder),
        "classes": saved(fitted_classifier(), folder),
        "nested classes": saved(fitted_classifier(grow_policy="Depthwise"), folder),
        "categories": saved(model, folder, pool=pool),
        "statistics": saved(target_statistics_model(max_ctr_complexity=1)[0], folder),
    }


REMOVED = object()
TREES = "oblivious_trees"
COLUMNS = ("features_info", "float_features")
CATEGORIES = ("features_info", "categorical_features")
CLASSES = ("model_info", "class_params")
SPLIT = (TREES, 0, "splits", 0)
CTR = [{"elements": [{"cat_feature_index": []}]}]
STATISTIC = ("features_info", "ctrs", 0)
HUE = '[{"cat_feature_index":0,"combination_element":"cat_feature_value"}]'
TABLE = ("ctr_data", f'{{"identifier":{HUE},"type":"Borders"}}')
DAMAGE = [
    ("symmetric", ("trees",), []),
    ("symmetric", (TREES,), REMOVED),
    ("symmetric", (TREES,), []),
    ("symmetric", (TREES,), {}),
    ("symmetric", (TREES, 0), 3),
    ("symmetric", (TREES, 0, "leaf_values"), REMOVED),
    ("symmetric", (TREES, 0, "leaf_values"), [1.0] * 7),
    ("symmetric", (TREES, 0, "leaf_values"), [1.0] * 16),
    ("symmetric", (TREES, 0, "leaf_values", 3), float("nan")),
    ("symmetric", (TREES, 0, "leaf_values", 3), 1e999),
    ("symmetric", (TREES, 0, "leaf_values", 3), "1"),
    ("symmetric", (TREES, 0, "leaf_values", 3), None),
    ("symmetric", (TREES, 0, "leaf_values", 3), True),
    ("symmetric", (TREES, 0, "leaf_values", 3), 10**400),
    ("symmetric", (TREES, 0, "splits"), None),
    ("symmetric", (TREES, 0, "splits"), [{}] * 17),
    ("symmetric", SPLIT, []),
    ("symmetric", (*SPLIT, "split_index"), 10**6),
    ("symmetric", (*SPLIT, "split_index"), -1),
    ("symmetric", (*SPLIT, "split_index"), 1.0),
    ("symmetric", (*SPLIT, "split_index"), REMOVED),
    ("symmetric", (*SPLIT, "split_type"), "OneHotFeature"),
    ("symmetric", (*SPLIT, "split_type"), "OnlineCtr"),
    ("symmetric", (*SPLIT, "split_type"), REMOVED),
    ("symmetric", (*SPLIT, "float_feature_index"), 9),
    ("symmetric", (*SPLIT, "float_feature_index"), False),
    ("symmetric", ("features_info",), REMOVED),
    ("symmetric", COLUMNS, []),
    ("symmetric", COLUMNS, None),
    ("symmetric", (*COLUMNS, 0, "flat_feature_index"), 1),
    ("symmetric", (*COLUMNS, 0, "flat_feature_index"), 10**9),
    ("symmetric", (*COLUMNS, 0, "flat_feature_index"), -1),
    ("symmetric", (*COLUMNS, 0, "flat_feature_index"), REMOVED),
    ("symmetric", (*COLUMNS, 0, "feature_index"), 7),
    ("symmetric", (*COLUMNS, 0, "feature_index"), "0"),
    ("symmetric", (*COLUMNS, 0, "feature_id"), 5),
    ("symmetric", (*COLUMNS, 0, "borders", 0), float("nan")),
    ("symmetric", (*COLUMNS, 0, "borders", 0), 1e39),
    ("symmetric", (*COLUMNS, 0, "borders"), "0.5"),
    ("symmetric", (*COLUMNS, 0, "nan_value_treatment"), "Left"),
    ("symmetric", ("scale_and_bias",), [1]),
    ("symmetric", ("scale_and_bias",), [1, [0, 0]]),
    ("symmetric", ("scale_and_bias",), [None, [0]]),
    ("symmetric", ("scale_and_bias",), [float("inf"), [0]]),
    ("symmetric", ("scale_and_bias",), [1, [float("nan")]]),
    ("symmetric", ("scale_and_bias",), {"scale": 1}),
    ("symmetric", ("model_info",), REMOVED),
    ("symmetric", ("model_info", "params"), REMOVED),
    ("symmetric", ("model_info", "params"), "{"),
    ("symmetric", ("model_info", "params"), []),
    ("symmetric", ("model_info", "params", "loss_function", "type"), 1),
    ("nested", ("trees", 0), 3),
    ("nested", ("trees", 0, "left"), REMOVED),
    ("nested", ("trees", 0, "right"), []),
    ("nested", ("trees", 0, "split"), REMOVED),
    ("nested", ("trees", 0, "left"), {"value": [1.0]}),
    ("nested", ("trees", 0, "left"), {"value": 1e999}),
    ("nested", ("trees", 0, "left"), {"weight": 3}),
    ("nested", ("trees", 0, "split", "split_index"), 999),
    ("nested classes", ("trees", 0, "left"), {"value": [1, 2]}),
    ("nested classes", ("trees", 0, "left"), {"value": 1}),
    ("classes", CLASSES, REMOVED),
    ("classes", CLASSES, "{}"),
    ("classes", (*CLASSES, "class_label_type"), "Colour"),
    ("classes", (*CLASSES, "class_label_type"), "String"),
    ("classes", (*CLASSES, "class_names"), [0, 1, 1]),
    ("classes", (*CLASSES, "class_names"), [0, 1]),
    ("classes", (*CLASSES, "class_names", 0), 2**63),
    ("classes", (*CLASSES, "class_names", 0), 1.5),
    ("classes", (*CLASSES, "class_to_label"), [0, 2, 1]),
    ("classes", (*CLASSES, "class_to_label"), {}),
    ("classes", (*CLASSES, "classes_count"), 10**9),
    ("classes", ("scale_and_bias",), [1, 0.5]),
    ("classes", (TREES, 0, "leaf_values"), [1.0] * 8),
    ("classes", ("model_info", "params", "loss_function", "type"), "Logloss"),
    ("classes", ("model_info", "binclass_probability_threshold"), "much"),
    ("categories", (*CATEGORIES, 0, "values", 0), 2**31),
    ("categories", (*CATEGORIES, 0, "values", 0), 1.5),
    ("categories", (*CATEGORIES, 0, "values", 0), 5),
    ("categories", (*CATEGORIES, 0, "values"), [5, 5]),
    ("categories", (*CATEGORIES, 0, "values"), REMOVED),
    ("categories", (*CATEGORIES, 0, "feature_name"), "size"),
    ("categories", ("features_info", "cat_features_hash", 0, "hash"), 1),
    ("categories", ("features_info", "cat_features_hash", 0, "hash"), -1),
    ("categories", ("features_info", "cat_features_hash", 0, "value"), 1),
    ("categories", ("features_info", "text_features"), [{}]),
    ("categories", ("features_info", "ctrs"), CTR),
    ("statistics", ("ctr_data",), REMOVED),
    ("statistics", TABLE, REMOVED),
    ("statistics", (*TABLE, "hash_stride"), 7),
    ("statistics", (*TABLE, "hash_stride"), 0),
    ("statistics", (*TABLE, "hash_map", 3), 5),
    ("statistics", (*TABLE, "hash_map", 3), "5"),
    ("statistics", (*TABLE, "hash_map", 3), "9" * 99),
    ("statistics", (*TABLE, "hash_map", 4), "5"),
    ("statistics", (*STATISTIC, "ctr_type"), "Counter"),
    ("statistics", (*STATISTIC, "target_border_idx"), 2),
    ("statistics", (*STATISTIC, "scale"), None),
    ("statistics", (*STATISTIC, "borders", 0), "1"),
]


@pytest.mark.parametrize(("which", "path", "value"), DAMAGE)
def test_damage_is_refused_where_it_is(which, path, value, documents, tmp_path):
    document = copy.deepcopy(documents[which])
    *above, last = path
    place = document
    for step in above:
        place = place[step]
    if value is REMOVED:
        del place[last]
    else:
        place[last] = value
    with refuses(ModelFormatError) as caught:
        read_file(document, tmp_path)
    assert "model.json: " in str(caught.value)


def test_trees_nested_to_the_limit(documents, tmp_path):
    document = copy.deepcopy(documents["nested"])
    split = document["trees"][0]["split"]
    tree = {"value": 0.0}
    for _ in range(300):
        tree = {"split": split, "left": {"value": 1.0}, "right": tree}
    document["trees"] = [tree]
    ensemble = read_file(document, tmp_path)
    assert ensemble.max_depth == 300
    deep = '{"left":' * 100_000
    text = json.dumps(document).replace('"trees": [', f'"trees": [{deep}', 1)
    with refuses(ModelFormatError):
        read_file(text, tmp_path)


def test_category_sets_without_end_are_refused(documents, tmp_path, monkeypatch):
    monkeypatch.setattr(nodes, "MOST_SET_ENTRIES", 3)
    with refuses(ModelFormatError):
        read_file(documents["categories"], tmp_path)


def test_every_number_of_a_file_may_be_anything(documents, tmp_path):
    """Whatever one value of the document becomes, the file is read or refused."""
    rng = np.random.default_rng(0)
    strange = [None, True, -1, 0, 3, 2**31, 10**30, 0.5, -1e300, "", "x", [], {}, [[]]]
    outcomes = {"read": 0, "refused": 0}
    for which in ("categories", "statistics", "nested classes"):
        document = documents[which]
        places = list(
            places_of({k: document[k] for k in document if k != "model_info"})
        )
        places += places_of({"model_info": document["model_info"]})[:40]
        for i in rng.permutation(len(places))[:120]:
            changed = copy.deepcopy(document)
            *above, last = places[i]
            place = changed
            for step in above:
                place = place[step]
            place[last] = strange[rng.integers(len(strange))]
            try:
                read_file(changed, tmp_path)
                outcomes["read"] += 1
            except ModelFormatError:
                outcomes["refused"] += 1
    assert min(outcomes.values()) > 50


def places_of(value, path=()):
    """Paths of all values in a document."""
    below = value.items() if isinstance(value, dict) else ()
    below = enumerate(value) if isinstance(value, list) else below
    found = [path] if path else []
    for key, inner in below:
        found += places_of(inner, (*path, key))
    return found


@pytest.mark.parametrize("counts", [(1, 3), (3, 1)])
def test_tables_that_its_json_lacks_are_no_damage(counts, tmp_path):
    """CatBoost writes one table for statistics of one kind; of others it is lost."""
    _, X = target_statistics_model(max_ctr_complexity=1)
    y = X["size"] + X["hue"].map({"red": 1, "tan": 2, "sea": 3, "sky": 4, "ash": 5})

    def fitted(*counts):
        ctrs = [f"Borders:TargetBorderCount={count}" for count in counts]
        settings = QUIET | {"iterations": 20, "max_ctr_complexity": 1}
        model = catboost.CatBoostRegressor(
            cat_features=["hue", "town"], simple_ctr=ctrs, **settings
        )
        return model.fit(X, y)

    pool = catboost.Pool(X, cat_features=["hue", "town"])
    ensemble = read_file(saved(fitted(3), tmp_path, pool=pool), tmp_path)
    assert_array_equal(ensemble.predict(X), fitted(3).predict(X))
    with refuses(UnsupportedModelError, match="TargetBorderCount"):
        read_file(saved(fitted(*counts), tmp_path, pool=pool), tmp_path)
