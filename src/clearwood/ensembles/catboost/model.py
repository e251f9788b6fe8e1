"""Reader of CatBoost's models, in memory and as JSON files.

CatBoost casts numbers to float32, tests whether they exceed a border or whether a
category has a certain hash, and adds the leaves in float64, tree after tree, to 0. The
sum is multiplied by a scale, and a bias is added.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood.codec.documents import (
    Place,
    parse_json,
    plain_number,
    refuse_repeated,
    shown,
)
from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles.catboost.ctrs import refuse_shared_tables
from clearwood.ensembles.catboost.features import Questions, read_features
from clearwood.ensembles.catboost.trees import Forest
from clearwood.ensembles.nodes import MOST_CLASSES, MOST_TREES
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ModelError, UnsupportedModelError

READERS = ("CatBoost", "CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker")

LINKS = {
    **dict.fromkeys(
        ("RMSE", "MAE", "MAPE", "Quantile", "LogLinQuantile", "Expectile"), "identity"
    ),
    **dict.fromkeys(("LogCosh", "Huber", "Lq", "RMSPE"), "identity"),
    **dict.fromkeys(("YetiRank", "YetiRankPairwise", "LambdaMart"), "identity"),
    **dict.fromkeys(("PairLogit", "PairLogitPairwise", "StochasticRank"), "identity"),
    **dict.fromkeys(("QueryRMSE", "QuerySoftMax"), "identity"),
    "Poisson": "exp",
    "Tweedie": "exp",
    "Logloss": "logistic",
    "CrossEntropy": "logistic",
    "Focal": "logistic",
    "MultiClass": "softmax",
    "MultiClassOneVsAll": "one_vs_rest",
}
RANKING = (
    "what is not known to be the sum of its trees",
    "Fit it with YetiRank, PairLogit or QueryRMSE",
)
SEVERAL = ("several numbers per row", "Fit one model per number, for example by RMSE")
SURVIVAL = (
    "a survival time that may be censored",
    "Fit a CatBoostClassifier on survival to a fixed time",
)
LABEL_SETS = ("any number of labels per row", "Fit one CatBoostClassifier per label")
CUSTOM = (
    "what only its own code knows",
    f"Fit it with a built-in loss: {', '.join(LINKS)}",
)
REFUSED_LOSSES = {
    **dict.fromkeys(("MultiRMSE", "MultiRMSEWithMissingValues"), SEVERAL),
    **dict.fromkeys(("MultiQuantile", "RMSEWithUncertainty"), SEVERAL),
    **dict.fromkeys(("MultiLogloss", "MultiCrossEntropy"), LABEL_SETS),
    **dict.fromkeys(("Cox", "SurvivalAft"), SURVIVAL),
    **dict.fromkeys(("QueryCrossEntropy", "QueryAUC", "StochasticFilter"), RANKING),
    **dict.fromkeys(("GroupQuantile", "QueryAverage"), RANKING),
    **dict.fromkeys(("UserPerObjMetric", "UserQuerywiseMetric"), CUSTOM),
    **dict.fromkeys(("PythonUserDefinedPerObject", "Combination"), CUSTOM),
    **dict.fromkeys(("PythonUserDefinedMultiTarget",), CUSTOM),
}
LABEL_TYPES: dict[str, tuple[Any, Callable[[Place], Any]]] = {
    "Integer": (np.int64, lambda label: label.integer(-(2**63), 2**63 - 1)),
    "Float": (np.float64, Place.number),
    "String": (object, Place.text),
    "Boolean": (np.bool_, Place.flag),
}
VERSION = re.compile(r"v(\d{1,4}(?:\.\d{1,4}){1,3})", re.ASCII)


def read(model: Any) -> TreeEnsemble:
    """Read a fitted CatBoost model.

    Parameters
    ----------
    model : CatBoost, CatBoostClassifier, CatBoostRegressor or CatBoostRanker
        Or an instance of a subclass. Its own JSON document is read.

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    ModelError
        The model is not fitted or of a kind that cannot be read.
    """
    kinds = [b.__name__ for b in type(model).__mro__ if b.__module__ == "catboost.core"]
    kind = next((name for name in kinds if not name.startswith("_")), "a class")
    if kind not in READERS:
        raise ModelError(
            f"Cannot read catboost.{kind}; from CatBoost these can be read: "
            f"{', '.join(READERS)}."
        )
    if not model.is_fitted():
        raise ModelError(f"This catboost.{kind} is not fitted; call fit(X, y) first.")
    _refuse_other_columns(model, kind)
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save_model(str(path), format="json")
        data = path.read_bytes()
    source = f"catboost.{kind}"
    return read_document(Place(parse_json(data, source), source), source)


def _refuse_other_columns(model: Any, kind: str) -> None:
    """Refuse columns with which a model cannot be saved as JSON."""
    columns = {
        "texts": model.get_text_feature_indices(),
        "embeddings": model.get_embedding_feature_indices(),
    }
    for what, found in columns.items():
        if len(found):
            names = [model.feature_names_[i] for i in found[:10]]
            raise ModelError(
                f"Cannot read this catboost.{kind}: it reads columns of {what}, "
                f"{names}; only numbers and categories can be read. Fit it without "
                "these columns."
            )


def read_document(
    top: Place, source: str | None = None, size: int | None = None
) -> TreeEnsemble:
    """Read a model file in CatBoost's JSON.

    Parameters
    ----------
    top : Place
        The whole document.
    source : str, optional
        Source of the model; by default a file, with CatBoost's version and the loss.
    size : int, optional
        Size of the file in bytes, which bounds the memory of its trees.

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    ModelFormatError
        The file is damaged or holds a model of a kind that cannot be read.

    Examples
    --------
    >>> column = {"flat_feature_index": 0, "feature_index": 0, "borders": [0.5]}
    >>> split = {"split_type": "FloatFeature", "float_feature_index": 0}
    >>> tree = {"splits": [split | {"split_index": 0}], "leaf_values": [3.0, 4.0]}
    >>> document = {
    ...     "model_info": {"params": {"loss_function": {"type": "RMSE"}}},
    ...     "features_info": {"float_features": [column]},
    ...     "oblivious_trees": [tree, tree],
    ... }
    >>> read_document(Place(document, "model.json")).predict([[0.5], [0.6]])
    array([6., 8.])
    """
    info = top["model_info"]
    loss = _loss(info)
    link = _link(loss)
    _refuse_threshold(info)
    classes = None
    if link not in ("identity", "exp"):
        classes = _classes(info)
        if link == "logistic" and len(classes) != 2:
            info.fail(f"{len(classes)} classes", f"2 with the loss {_shown_type(loss)}")
    width = 1 if classes is None or link == "logistic" else len(classes)
    scale, bias = _scale_and_bias(top, width)
    if "params" in info:
        ctrs = top["features_info"].get("ctrs")
        found = [] if ctrs is None or ctrs.value is None else ctrs.items()
        refuse_shared_tables(_embedded(info["params"]), found)
    features, questions = read_features(top["features_info"], top.get("ctr_data"))
    nodes = _nodes(top, Forest(width, questions, size))
    details = {"library": "CatBoost", **_version(info), "objective": _written(loss)}
    return TreeEnsemble(
        features=features,
        task="regression" if classes is None else "classification",
        classes=classes,
        **nodes,
        base_score=np.zeros(width),
        scale=scale,
        offset=bias,
        link=link,
        # A missing category is an error to CatBoost, a missing number never is.
        allows_missing=np.array([known is None for known in features.categories]),
        allows_infinite=True,
        input_dtype="float32",
        source=source or _file_source(details),
        details=details,
        notes=_notes(features, questions),
    )


def _nodes(top: Place, forest: Forest) -> dict[str, Any]:
    readers = {"oblivious_trees": forest.add_symmetric, "trees": forest.add_nested}
    found = [key for key in readers if key in top]
    if len(found) != 1:
        top.fail(" and ".join(found) or "no trees", "either oblivious_trees or trees")
    n_trees = top[found[0]].size()
    if not 1 <= n_trees <= MOST_TREES:
        top[found[0]].fail(f"{n_trees:,} trees", f"1 to {MOST_TREES:,}")
    for tree in top[found[0]].entries():
        readers[found[0]](tree)
    return forest.fields()


def _notes(features: FeatureSpace, questions: Questions) -> tuple[str, ...]:
    notes = []
    if questions.other_borders:
        notes.append(
            f"{questions.other_borders} splits name another border than features_info "
            "holds under their split_index; the latter counts, as in CatBoost."
        )
    hashed = [
        name
        for name, labels in zip(features.names, features.categories)
        if any(isinstance(label, int) for label in labels or ())
    ]
    if hashed:
        notes.append(
            f"The model knows categories of {len(hashed)} column(s), first of "
            f"{shown(hashed[0])}, only by hash. Their texts are taken from "
            "the table that rules are fitted on; save_model(..., pool=training_data) "
            "writes them into the file."
        )
    return tuple(notes)


def _scale_and_bias(top: Place, width: int) -> tuple[float, np.ndarray]:
    place = top.get("scale_and_bias")
    if place is None:
        return 1.0, np.zeros(width)
    parts = place.items()
    if len(parts) != 2:
        place.fail(f"{len(parts)} entries", "2, scale and bias")
    scale, bias = parts
    if isinstance(bias.value, list):
        return scale.number(), bias.numbers(length=width)
    # Older versions write one number.
    if width > 1 and bias.number() != 0:
        bias.fail(shown(bias.value), f"an array of {width} numbers")
    return scale.number(), np.full(width, bias.number())


# Loss and link


def _loss(info: Place) -> Place:
    if "params" in info:
        return _embedded(info["params"])["loss_function"]
    # A weighted sum of models stores only their loss.
    return _embedded(info["loss_function"])


def _embedded(place: Place) -> Place:
    """Nested document, which some versions write as text."""
    return place.parsed() if isinstance(place.value, str) else place


def _shown_type(loss: Place) -> str:
    return shown(loss["type"].text())


def _link(loss: Place) -> Any:
    kind = loss["type"].text()
    if kind in LINKS:
        return LINKS[kind]
    means, remedy = REFUSED_LOSSES.get(
        kind, ("what Clearwood does not know", CUSTOM[1])
    )
    raise UnsupportedModelError(
        f"{loss.where}: a model with the loss {shown(kind)} cannot be read, it "
        f"predicts {means}. {remedy}."
    )


def _written(loss: Place) -> str:
    """The loss as CatBoost's own parameter is written: "Quantile:alpha=0.7"."""
    parameters = loss.get("params")
    if parameters is None or not isinstance(parameters.value, dict):
        return loss["type"].text()
    pairs = [
        f"{key}={parameters[key].text()}"
        for key in sorted(parameters.keys())
        if not key.startswith("__") and isinstance(parameters[key].value, str)
    ]
    return printable(":".join([loss["type"].text(), *filter(None, [";".join(pairs)])]))


def _refuse_threshold(info: Place) -> None:
    place = info.get("binclass_probability_threshold")
    if place is None:
        return
    threshold = plain_number(place.text())
    if threshold is None or not 0 < threshold < 1:
        place.fail(shown(place.value), "a probability, as text")
    if threshold != 0.5:
        raise UnsupportedModelError(
            f"{place.where}: the model predicts its second class from a probability of "
            f"{threshold} on; only 0.5 can be read. Take predict_proba and compare it "
            "yourself, after model.set_probability_threshold(0.5)."
        )


# Classes


def _classes(info: Place) -> np.ndarray:
    """Class labels in the order of the outputs, with the type of the predictions."""
    if "class_params" not in info:
        info.fail("no 'class_params'", "one in a classifier saved by CatBoost 1.0 on")
    params = _embedded(info["class_params"])
    kind = params["class_label_type"].text()
    if kind not in LABEL_TYPES:
        expected = f"one of {', '.join(LABEL_TYPES)}"
        params["class_label_type"].fail(shown(kind), expected)
    dtype, label_of = LABEL_TYPES[kind]
    outputs = params["class_to_label"].items()
    names = params["class_names"].items() or outputs
    n_classes = max(len(names), params["classes_count"].integer(0, MOST_CLASSES))
    if not 2 <= n_classes <= MOST_CLASSES:
        params.fail(f"{n_classes} classes", f"2 to {MOST_CLASSES:,}")
    if len(outputs) < n_classes:
        raise UnsupportedModelError(
            f"{params.where}: the model was declared with {n_classes} classes and "
            f"fitted to {len(outputs)}; the others have no score. Fit it without "
            "class_names and classes_count, on the classes that occur."
        )
    if [output.value for output in outputs] != list(range(n_classes)):
        found = ", ".join(shown(output.value) for output in outputs[:5])
        params["class_to_label"].fail(found, f"0 to {n_classes - 1} in order")
    labels = [label_of(name) for name in names]
    refuse_repeated(labels, params["class_names"], "the label")
    return np.array(labels, dtype=dtype)


# Source


def _version(info: Place) -> dict[str, str]:
    text = (
        info["catboost_version_info"].value if "catboost_version_info" in info else ""
    )
    found = VERSION.search(text) if isinstance(text, str) else None
    return {"version": found[1]} if found else {}


def _file_source(details: dict[str, str]) -> str:
    library = " ".join(details[k] for k in ("library", "version") if k in details)
    return f"{library} ({details['objective']})"
