"""Reading of fitted models and model files of all libraries as a ``TreeEnsemble``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from clearwood._memory import memory_allowed
from clearwood._words.labels import check_names, type_text
from clearwood._words.spelling import suggests_parameters
from clearwood.codec.documents import Place, parse_json, refuse_table
from clearwood.codec.files import read_bytes
from clearwood.columns.feature_space import is_frame
from clearwood.ensembles.own_predictions import DifferentPredictions, as_it_predicts
from clearwood.ensembles.r import node_tables
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import (
    InputError,
    ModelError,
    ModelFormatError,
    UnsupportedModelError,
)

LIBRARIES = ("sklearn", "xgboost", "lightgbm", "catboost")
"""Top-level modules of the supported libraries.

Each has a folder here, whose module ``model`` has a function ``read(model)`` and
``READERS``, the names of the classes it reads. It is imported only when needed.
"""

# First bytes of common files that are not read, and the remedy.
# Never a pickle: opening one may run any code.
REFUSED = {
    b"\x80": (
        "a pickle, which could run any code",
        "Load it where it comes from and pass the model itself, or save it in the "
        "library's own format (a model of scikit-learn: skops.io.dump)",
    ),
    b"CBM1": (
        "CatBoost's binary format",
        'Save it as JSON: CatBoost().load_model(path).save_model("model.json", '
        'format="json")',
    ),
    b"binf": ("XGBoost's old binary format", 'Save the model as "model.json"'),
    b"bs64": ("XGBoost's old binary format", 'Save the model as "model.json"'),
    b"\x1f\x8b": ("a gzip archive", "Unpack it first"),
    b"\x08": ("probably ONNX", "Save the model in its library's own format"),
}
KNOWN = (
    "XGBoost's JSON (.json) or UBJSON (.ubj), LightGBM's text (.txt), CatBoost's JSON "
    "(.json), of scikit-learn skops (.skops), PMML (.pmml) and, of R, tables of trees "
    "(.csv)"
)


@suggests_parameters
def read_ensemble(
    model: Any,
    *,
    levels: Mapping[str, Any] | None = None,
    max_memory: int | None = None,
) -> TreeEnsemble:
    """Read a fitted tree ensemble, without refitting or changing it.

    Files are read by Clearwood's own parsers, which validate all content; they need
    neither the library that wrote them nor a certain file name.

    Parameters
    ----------
    model : fitted estimator, path or TreeEnsemble
        From scikit-learn: decision and extra trees, random forests, extra trees,
        gradient boosting, histogram gradient boosting, bagging and AdaBoost over
        trees; also inside a ``FrozenEstimator``, a search or a ``Pipeline`` whose steps
        treat every column by itself, then in the input columns of the pipeline.
        From XGBoost, LightGBM and CatBoost:
        their estimators and boosters, and the path (str or Path) of a model file:
        XGBoost's JSON or UBJSON, LightGBM's text, CatBoost's JSON, scikit-learn's
        models saved by skops. From R: a frame, or a file in CSV, with the rows of
        ``randomForest::getTree`` or ``ranger::treeInfo``, one tree after the other.
        Of R, JPMML and others: the path of a PMML file with tree models.
        A ``TreeEnsemble`` is returned as is.
    levels : dict of str to (sequence or None), optional
        For a table from R, which does not contain them: all predictors, in order, with
        the levels of each factor (``rf$forest$xlevels``), and None for numbers.
    max_memory : int, optional
        Bytes that the content of a file may take; by default 64 MiB and ten times the
        size of the file. Allow more for a file that you trust.

    Returns
    -------
    TreeEnsemble
        With the same predictions as the model. A model in memory is compared with its
        own ``predict`` and ``predict_proba`` on 300 rows between its thresholds, to
        1e-5 of each number (and 1e-6 of their range).

    Raises
    ------
    ModelError
        The model is not fitted or of a kind that cannot be read; or its predictions
        differ from those of its trees (a subclass with its own decision threshold,
        LightGBM's ``pred_early_stop``).
    ModelFormatError
        The file is damaged, of another format, or holds a model of a kind that
        cannot be read.
    InputError
        The file cannot be opened.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=20, max_depth=2).fit(X, y)
    >>> read_ensemble(model)
    <TreeEnsemble: regression, trees: 20, splits: 60, features: 10, from \
sklearn.ensemble.GradientBoostingRegressor>
    """
    if levels is not None and not isinstance(levels, Mapping):
        raise InputError(
            f"levels is {type_text(levels)}; expected a dict of all predictors, in "
            "order, with the levels of each factor and None for numbers, such as "
            "{'ward': ['north', 'west'], 'age': None}."
        )
    with memory_allowed(max_memory):
        ensemble = read_trees(model, levels)
    if (
        levels is not None
        and ensemble.details.get("library") not in node_tables.PACKAGES
    ):
        raise InputError(
            f"levels is for tables of forests from R; {ensemble.source} contains its "
            "own. Omit levels."
        )
    if ensemble is model or isinstance(model, str | Path) or is_frame(model):
        return ensemble
    try:
        return as_it_predicts(ensemble, model)
    except DifferentPredictions as error:
        raise ModelError(
            f"{error} Pass the model itself to simplify or an estimator, which treat "
            "it as a black box."
        ) from None


def read_trees(model: Any, levels: Mapping[str, Any] | None = None) -> TreeEnsemble:
    """Read an ensemble without comparing it with the predictions of the model.

    Parameters
    ----------
    model : fitted estimator, path, frame or TreeEnsemble
    levels : dict, optional
        See :func:`read_ensemble`.

    Returns
    -------
    TreeEnsemble
    """
    if isinstance(model, TreeEnsemble):
        return model
    if isinstance(model, str | Path):
        return read_document(read_bytes(model), str(model), levels)
    if is_frame(model) and node_tables.is_forest(model.columns):
        return node_tables.read_frame(model, levels)
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        if library in LIBRARIES:
            try:
                return _reader_of(library).read(model)
            except ModelFormatError as error:
                # A model in memory is not damaged but of an unsupported kind.
                raise ModelError(str(error)) from None
        if base.__module__.startswith("pyspark.ml."):
            raise ModelError(
                f"Cannot read {type(model).__name__} of Spark ML. Write it as PMML "
                "(by pyspark2pmml) and pass the path of the file, or pass a function "
                "of pandas frames that predicts as the model does."
            )
    found = repr(model) if isinstance(model, type) else type(model).__qualname__
    raise ModelError(
        f"Cannot read {found}; expected a TreeEnsemble, the path of a model file or a "
        f"fitted model, one of {_readable_models()}."
    )


def _readable_models() -> str:
    names = [name for library in LIBRARIES for name in _reader_of(library).READERS]
    return ", ".join(names)


def _reader_of(library: str) -> Any:
    return import_module(f"clearwood.ensembles.{library}.model")


# Files


def read_document(
    data: bytes, name: str, levels: Mapping[str, Any] | None = None
) -> TreeEnsemble:
    """Read the content of a model file.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name, for messages.
    levels : dict, optional
        See :func:`read_ensemble`.

    Returns
    -------
    TreeEnsemble
    """
    if node_tables.begins_forest(data):
        ensemble = node_tables.read_csv(data, name, levels)
    else:
        ensemble = _read_content(data, name)
    try:
        check_names(ensemble.features.names, "The list of features")
    except InputError as error:
        raise ModelFormatError(f"{name}: {error}") from None
    return ensemble


def _read_content(data: bytes, name: str) -> TreeEnsemble:
    start = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        raise ModelFormatError(f"{name}: the file is empty; save the model again.")
    if start.startswith(b"tree"):
        return _reader_of("lightgbm").read_text(data, name)
    if start.startswith(b"{"):
        if _looks_like_json(start):
            return _read_json(data, name)
        return _reader_of("xgboost").read_ubjson(data, name)
    if start.startswith(b"<"):
        from clearwood.ensembles.pmml.model import read_pmml

        return read_pmml(data, name)
    if data.startswith(b"PK"):
        from clearwood.ensembles.sklearn import skops_file

        try:
            # No code of a file is run, so its own predict is not called.
            return read_trees(skops_file.load_skops(data, name))
        except ModelError as error:
            raise UnsupportedModelError(f"{name}: {error}") from None
    for beginning, (found, remedy) in REFUSED.items():
        if data.startswith(beginning):
            raise UnsupportedModelError(f"{name}: this is {found}. {remedy}.")
    refuse_table(data, name)
    raise ModelFormatError(
        f"{name}: found {data[:12]!r} at the start, expected a model file: {KNOWN}."
    )


def _looks_like_json(start: bytes) -> bool:
    """In JSON a quote follows the brace, in UBJSON the type of a length."""
    return start[1:].lstrip()[:1] in (b'"', b"}", b"")


def _read_json(data: bytes, name: str) -> TreeEnsemble:
    top = Place(parse_json(data, name), name)
    keys = top.keys()
    if "learner" in keys:
        return _reader_of("xgboost").read_document(top)
    if "oblivious_trees" in keys or "trees" in keys:
        return _reader_of("catboost").read_document(top, size=len(data))
    if "tree_info" in keys:
        raise UnsupportedModelError(
            f"{name}: this is LightGBM's JSON dump, which is made for display. Save "
            "the model with booster_.save_model(path)."
        )
    if "clearwood" in keys:
        raise UnsupportedModelError(
            f"{name}: this holds rules that Clearwood saved, not the model that they "
            "explain. Read them with clearwood.load, or name them where rules are "
            "expected."
        )
    listed = json.dumps(keys[:5])
    raise ModelFormatError(
        f"{name}: found JSON with the keys {listed}, expected a model file: {KNOWN}."
    )


# Other arguments in place of a model


def as_predictor(model: Any) -> Any:
    """Convert a model to one whose ``predict`` maps a table to classes or values.

    A path does not predict; XGBoost's Booster takes no table, LightGBM's returns
    probabilities, and a plain ``CatBoost`` raw scores.

    Parameters
    ----------
    model : model, path or array-like

    Returns
    -------
    TreeEnsemble, or the model as it is
    """
    if isinstance(model, str | Path):
        return read_ensemble(model)
    library = type(model).__module__.partition(".")[0]
    plain = type(model).__name__ in ("Booster", "CatBoost")
    return read_ensemble(model) if plain and library in LIBRARIES else model


def needs_fit(estimator: Any) -> bool:
    """Whether ``estimator`` is a scikit-learn estimator that is not yet fitted."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if estimator is None:
        return True
    if isinstance(estimator, TreeEnsemble) or not hasattr(estimator, "fit"):
        return False
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return True
    except (AttributeError, TypeError):  # not a scikit-learn estimator: as it is
        return False
    return False
