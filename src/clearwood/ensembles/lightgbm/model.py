"""Reader of LightGBM's boosters, scikit-learn estimators and text files.

A model in memory is converted to text (``model_to_string``), which is read like a file.
LightGBM's scoring of a row:

- Every number of at most ``ZERO`` in absolute value is set to 0 before all trees.
- A numeric node tests ``x <= threshold`` in float64. Each node defines its missing
  values: nothing (NaN is 0), zero and NaN, or NaN.
- A categorical node tests whether the integer part of the number is in its set; NaN,
  negative and unknown codes go right, whatever the node's side for missing values.
- Raw scores start at 0; trees are added in their order; a random forest takes the mean.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood.codec.documents import plain_number, shown
from clearwood.ensembles.lightgbm.columns import Columns
from clearwood.ensembles.lightgbm.objectives import (
    NO_NAMES,
    meaning_of,
)
from clearwood.ensembles.lightgbm.text import Section, check_tree_sizes, sections
from clearwood.ensembles.lightgbm.trees import read_tree
from clearwood.ensembles.nodes import MOST_CLASSES, TreeNodes, join_trees
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ModelError

NO_OBJECTIVE = "The model names no objective: what it predicts are its raw scores."


# Models in memory


def read(model: Any) -> TreeEnsemble:
    """Read a fitted LightGBM booster, classifier, regressor or ranker.

    Where early stopping found a best iteration, later trees are left out, as they are
    when the model itself predicts.

    Parameters
    ----------
    model : lightgbm.Booster, LGBMClassifier, LGBMRegressor or LGBMRanker
        Or an instance of a subclass.

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    ModelError
        The model is not fitted, or of a kind that cannot be read.
    """
    bases = [b for b in type(model).__mro__ if b.__module__.startswith("lightgbm")]
    for base in bases:
        if base.__name__ in READERS:
            return READERS[base.__name__](model, f"lightgbm.{base.__name__}")
    raise ModelError(
        f"Cannot read lightgbm.{bases[0].__name__}; from LightGBM these can be read: "
        f"{', '.join(READERS)}. Of an lgb.cv pass one of its boosters."
    )


def _read_booster(booster: Any, name: str) -> TreeEnsemble:
    return _read_memory(booster, name)


def _read_regressor(model: Any, name: str) -> TreeEnsemble:
    ensemble = _read_memory(_booster_of(model, name), name)
    if ensemble.classes is not None:
        raise ModelError(
            f"This {name} was fitted with the objective "
            f"{ensemble.details['objective']!r}, which is for classification. Fit an "
            "LGBMClassifier, or pass the model's booster_."
        )
    return ensemble


def _read_classifier(model: Any, name: str) -> TreeEnsemble:
    booster = _booster_of(model, name)
    classes = np.asarray(model.classes_)
    if len(classes) < 2:
        raise ModelError(
            f"This {name} has a single class, {classes.tolist()}. Fit it on two "
            "classes or more."
        )
    return _read_memory(booster, name, classes)


READERS = {
    "Booster": _read_booster,
    "LGBMClassifier": _read_classifier,
    "LGBMRegressor": _read_regressor,
    "LGBMRanker": _read_regressor,
}


def _booster_of(model: Any, name: str) -> Any:
    # An unfitted model raises an AttributeError of LightGBM's own.
    booster = getattr(model, "booster_", None)
    if booster is None:
        raise ModelError(f"This {name} is not fitted; call fit(X, y) on it first.")
    return booster


def _read_memory(
    booster: Any, name: str, classes: np.ndarray | None = None
) -> TreeEnsemble:
    try:
        # Without the trees after the best iteration, as booster.predict.
        text = booster.model_to_string()
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"LightGBM cannot write this model ({error}), most likely because of "
            "categories other than texts and numbers. Turn such columns into text "
            "and refit."
        ) from None
    ensemble = read_text(text.encode(), name, classes)
    best, last = booster.best_iteration, booster.current_iteration()
    notes = ensemble.notes
    if 0 < best < last:
        left_out = (
            f"rounds {best + 1} to {last}" if best + 1 < last else f"round {last}"
        )
        notes += (f"Early stopping: the trees of {left_out} are left out.",)
    return replace(ensemble, source=name, notes=notes)


# The text


def read_text(
    data: bytes, name: str, classes: np.ndarray | None = None
) -> TreeEnsemble:
    """Read a text written by ``save_model`` or ``model_to_string``.

    Parameters
    ----------
    data : bytes
        Content of the file.
    name : str
        The file's name, for messages.
    classes : ndarray, optional
        Labels of a classifier, which its text does not store.

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    ModelFormatError
        The file is damaged, or holds a model of a kind that cannot be read.
    """
    parts = sections(data, name)
    header = next(parts)
    version = header.text("version")
    if version not in ("v3", "v4"):
        header.fail("version", shown(version), "v3 or v4 (LightGBM 2.3 to 4)")
    n_outputs = header.integer("num_tree_per_iteration", 1, MOST_CLASSES)
    if header.integer("num_class", 1, MOST_CLASSES) != n_outputs:
        found = header.text("num_class")
        header.fail("num_class", found, f"{n_outputs}, as num_tree_per_iteration")
    objective = header.text("objective") if "objective" in header else "none"
    meaning = meaning_of(header, objective, n_outputs, classes)
    columns = Columns(header)
    trees: list[TreeNodes] = []
    for part in parts:
        if part.title.startswith("tree"):
            output = len(trees) % n_outputs
            trees.append(read_tree(part, output, columns))
        else:
            rest = part
    check_tree_sizes(header, data, len(trees))
    if not trees or len(trees) % n_outputs:
        found = f"{len(trees)} trees after it"
        expected = "as many, or a multiple" if trees else "at least one tree"
        header.fail("num_tree_per_iteration", found, expected)
    features = columns.finish(trees, rest)
    return TreeEnsemble(
        features=features,
        **meaning,
        **join_trees(trees),
        base_score=np.zeros(n_outputs),
        divisor=len(trees) / n_outputs if "average_output" in header else 1.0,
        allows_missing=True,
        allows_infinite=True,
        input_dtype="float64",
        source=f"LightGBM {version} ({printable(objective)})",
        details=_details(version, printable(objective), rest),
        notes=(NO_OBJECTIVE,) if objective in NO_NAMES else (),
    )


def _details(version: str, objective: str, rest: Section) -> dict[str, str]:
    level = plain_number(rest.text("alpha")) if "alpha" in rest else None
    if objective == "quantile" and level is not None:
        objective += f", alpha={level:g}"
    details = {"library": "LightGBM", "format": version, "objective": objective}
    boosting = rest.text("boosting") if "boosting" in rest else ""
    if boosting in ("gbdt", "dart", "rf", "goss"):
        details["boosting"] = boosting
    return details
