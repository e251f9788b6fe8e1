"""Reader of LightGBM's boosters, scikit-learn estimators and text files.

A model in memory is asked for its text (``model_to_string``), which is read like a
file: there is one way in. What LightGBM does with a row:

- Every number of at most ``ZERO`` in absolute value is 0 before any tree sees it.
- A numeric node asks ``x <= threshold`` in float64. What counts as missing is the
  node's own affair: nothing (NaN is 0), zero and NaN, or NaN.
- A categorical node asks whether the whole part of the number is in its set; NaN,
  negative and unknown codes go right, whatever the node says of missing values.
- Raw scores start at 0; trees are added in their order; a random forest takes the mean.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from clearwood._features import ZERO, printable
from clearwood.ensembles.documents import MOST_CLASSES, plain_number, shown
from clearwood.ensembles.lightgbm_columns import Columns
from clearwood.ensembles.lightgbm_text import Section, sections
from clearwood.ensembles.nodes import TreeNodes, join_trees
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ClearwoodError, ModelError, ModelFormatError

CATEGORICAL, DEFAULT_LEFT = 1, 2
NOTHING, ZERO_TOO, NAN = range(3)
"""What a node takes as missing: bits 2 and 3 of its ``decision_type``."""
MOST_LEAVES = 2**31 - 2
# What trees without splits share: a file can hold very many of them.
ONE_LEAF = np.array([-1], dtype=np.int32)
NO_SIDE = np.array([False])

VALUE_LINKS = {
    "regression": "identity",
    "regression_l1": "identity",
    "huber": "identity",
    "fair": "identity",
    "quantile": "identity",
    "mape": "identity",
    "poisson": "exp",
    "gamma": "exp",
    "tweedie": "exp",
    "cross_entropy": "sigmoid",
    "cross_entropy_lambda": "softplus",
}
CLASS_LINKS = {
    "binary": "logistic",
    "multiclass": "softmax",
    "multiclassova": "one_vs_rest",
}
RANKING = ("lambdarank", "rank_xendcg")
WHY_NOT_RANKING = (
    "its scores only order the rows of one query, and rules need a class or a value "
    "per row. Fit an LGBMRegressor or an LGBMClassifier on the relevance."
)
NO_NAMES = ("none", "custom")
NO_OBJECTIVE = "The model names no objective: what it predicts are its raw scores."


# Models in memory


def read(model: Any) -> TreeEnsemble:
    """Read a fitted LightGBM booster, classifier or regressor.

    Where early stopping found a best iteration, later trees are left out, as they are
    when the model itself predicts.

    Parameters
    ----------
    model : lightgbm.Booster, LGBMClassifier or LGBMRegressor
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
        if base.__name__ == "LGBMRanker":
            raise ModelError(f"Cannot read {type(model).__name__}: {WHY_NOT_RANKING}")
    raise ModelError(
        f"Cannot read lightgbm.{bases[0].__name__}; from LightGBM these can be read: "
        f"{', '.join(READERS)}. Of an lgb.cv hand in one of its boosters."
    )


def _read_booster(booster: Any, name: str) -> TreeEnsemble:
    return _read_memory(booster, name)


def _read_regressor(model: Any, name: str) -> TreeEnsemble:
    ensemble = _read_memory(_booster_of(model, name), name)
    if ensemble.classes is not None:
        raise ModelError(
            f"This {name} was fitted with the objective "
            f"{ensemble.details['objective']!r}, which is one for classes. Fit an "
            "LGBMClassifier, or hand in the model's booster_."
        )
    return ensemble


def _read_classifier(model: Any, name: str) -> TreeEnsemble:
    booster = _booster_of(model, name)
    classes = np.asarray(model.classes_)
    if len(classes) < 2:
        raise ModelError(
            f"This {name} knows one class only, {classes.tolist()}: there is nothing "
            "to tell apart. Fit it on two classes or more."
        )
    return _read_memory(booster, name, classes)


READERS = {
    "Booster": _read_booster,
    "LGBMClassifier": _read_classifier,
    "LGBMRegressor": _read_regressor,
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
    ensemble = _read(text.encode(), name, ModelError, classes)
    best, last = booster.best_iteration, booster.current_iteration()
    notes = ensemble.notes
    if 0 < best < last:
        left_out = (
            f"rounds {best + 1} to {last}" if best + 1 < last else f"round {last}"
        )
        notes += (f"Early stopping: the trees of {left_out} are left out.",)
    return replace(ensemble, source=name, notes=notes)


# The text


def read_text(data: bytes, name: str) -> TreeEnsemble:
    """Read a text file as ``save_model`` and ``model_to_string`` write it.

    Parameters
    ----------
    data : bytes
        Content of the file.
    name : str
        The file's name, for messages.

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    ModelFormatError
        The file is damaged, or holds a model of a kind that cannot be read.
    """
    return _read(data, name, ModelFormatError)


def _read(
    data: bytes,
    name: str,
    error: type[ClearwoodError],
    classes: np.ndarray | None = None,
) -> TreeEnsemble:
    """A model's text, with the kind of error for models that are sound but not read."""
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
    meaning = _meaning(header, objective, n_outputs, classes, error)
    columns = Columns(header, error)
    trees: list[TreeNodes] = []
    for part in parts:
        if part.title.startswith("tree"):
            output = len(trees) % n_outputs
            trees.append(_tree_nodes(part, output, columns, error))
        else:
            rest = part
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
    details = {"library": "LightGBM", "format": version, "objective": objective}
    boosting = rest.text("boosting") if "boosting" in rest else ""
    if boosting in ("gbdt", "dart", "rf", "goss"):
        details["boosting"] = boosting
    return details


# What the sums mean


def _meaning(
    header: Section,
    objective: str,
    n_outputs: int,
    classes: np.ndarray | None,
    error: type[ClearwoodError],
) -> dict[str, Any]:
    """Task, classes, link and what goes with it, from the objective."""

    def refuse(reason: str) -> NoReturn:
        raise error(f"{header.name}: {reason}")

    kind, *words = objective.split() or [""]
    settings = dict(word.partition(":")[::2] for word in words)
    if kind in RANKING:
        refuse(f"the objective {kind!r} is for ranking: {WHY_NOT_RANKING}")
    if kind not in (*VALUE_LINKS, *CLASS_LINKS, *NO_NAMES):
        known = ", ".join([*VALUE_LINKS, *CLASS_LINKS])
        refuse(
            f"the objective is {shown(objective)}, and these are read: {known}. Fit "
            "the model with one of them."
        )
    if kind in CLASS_LINKS:
        meaning = _class_meaning(header, kind, settings, n_outputs)
        if classes is not None and len(classes) != len(meaning["classes"]):
            refuse(
                f"the classifier knows {len(classes)} classes, its trees "
                f"{len(meaning['classes'])}. Fit it without the parameter num_class."
            )
        return meaning if classes is None else meaning | {"classes": classes}
    if classes is not None:
        if kind == "cross_entropy" and len(classes) == 2:
            return _two_classes(classes, 1.0)
        refuse(
            f"a classifier fitted with the objective {kind!r} predicts no class "
            "probabilities. Fit it with 'binary' or 'multiclass', or hand in its "
            "booster_, which is read as a regression."
        )
    if n_outputs != 1:
        refuse(
            f"the model has {n_outputs} outputs, but its objective {kind!r} does not "
            "say of what. Fit it with an objective of LightGBM for classes."
        )
    link = VALUE_LINKS.get(kind, "identity")
    if link == "identity" and "sqrt" in settings:
        link = "signed_square"
    return {"task": "regression", "link": link}


def _class_meaning(
    header: Section, kind: str, settings: dict[str, str], n_outputs: int
) -> dict[str, Any]:
    scale = plain_number(settings.get("sigmoid", "1"))
    if scale is None or scale <= 0:
        header.fail("objective", shown(header.text("objective")), "sigmoid above 0")
    if kind == "binary":
        if n_outputs != 1:
            header.fail("num_tree_per_iteration", str(n_outputs), "1 with 'binary'")
        return _two_classes(np.arange(2), scale)
    if n_outputs < 2 or settings.get("num_class", str(n_outputs)) != str(n_outputs):
        found = f"{n_outputs} with {shown(header.text('objective'))}"
        header.fail("num_class", found, "the same number of at least 2 classes")
    return {
        "task": "classification",
        "classes": np.arange(n_outputs),
        "link": CLASS_LINKS[kind],
        "link_scale": scale,
        "decision": "probability",
    }


def _two_classes(classes: np.ndarray, scale: float) -> dict[str, Any]:
    return {
        "task": "classification",
        "classes": classes,
        "link": "logistic",
        "link_scale": scale,
        "decision": "probability",
    }


# Trees


def _tree_nodes(
    section: Section, output: int, columns: Columns, error: type[ClearwoodError]
) -> TreeNodes:
    """One tree; ``categories_left`` still holds the bits of all codes."""
    if "is_linear" in section and section.integer("is_linear", 0, 1):
        raise error(
            f"{section.name}: {section.title} has linear models in its leaves, which "
            "rules cannot show. Fit with linear_tree=False."
        )
    n_leaves = section.integer("num_leaves", 1, MOST_LEAVES)
    n = n_leaves - 1
    value = section.numbers("leaf_value", n_leaves)
    left = section.integers("left_child", n, -n_leaves, n - 1)
    right = section.integers("right_child", n, -n_leaves, n - 1)
    feature = section.integers("split_feature", n, 0, columns.n_features - 1)
    # Infinity is the cut that parts missing values from all others.
    cut = section.numbers("threshold", n, or_infinity=True)
    kind = section.integers("decision_type", n, 0, 4 * NAN + DEFAULT_LEFT + CATEGORICAL)
    if n == 0:
        return TreeNodes(
            feature=ONE_LEAF,
            cut=ONE_LEAF,
            left=ONE_LEAF,
            right=ONE_LEAF,
            missing_left=NO_SIDE,
            value=value[:, None],
            output=output,
        )
    categorical = kind & CATEGORICAL > 0
    default_left = kind & DEFAULT_LEFT > 0
    missing = kind >> 2
    zero_left = 0 <= cut
    columns.note_numeric(
        section,
        feature,
        ~categorical,
        zero_is_missing=missing == ZERO_TOO,
        needs_zero=(missing == NAN) & (default_left != zero_left),
    )
    missing_left = np.where(missing == NOTHING, zero_left, default_left) & ~categorical
    sets = _sets(section, np.flatnonzero(categorical), cut)
    columns.note_categorical(section, feature, sets)
    order, place = _parents_first(section, left, right)
    leaf = np.zeros(n_leaves, bool)
    return TreeNodes(
        feature=np.append(feature[order], np.full(n_leaves, -1)).astype(np.int32),
        cut=np.append(_moved(cut[order]), leaf),
        left=np.append(place[left[order]], leaf).astype(np.int32),
        right=np.append(place[right[order]], leaf).astype(np.int32),
        missing_left=np.append(missing_left[order], leaf),
        value=np.append(np.zeros(n), value)[:, None],
        output=output,
        categories_left={int(place[node]): words for node, words in sets.items()},
    )


def _moved(cut: np.ndarray) -> np.ndarray:
    """Cuts that answer for numbers near 0 what LightGBM answers for 0."""
    below = np.nextafter(-ZERO, -np.inf)
    near = np.abs(cut) <= ZERO
    return np.where(near, np.where(cut < 0, below, ZERO), cut)


def _sets(
    section: Section, nodes: np.ndarray, cut: np.ndarray
) -> dict[int, np.ndarray]:
    """The bits of every categorical node, as words of 32; its cut says which."""
    if not nodes.size:
        return {}
    n_sets = section.integer("num_cat", 0, MOST_LEAVES)
    ends = section.integers("cat_boundaries", n_sets + 1, 0, 2**31 - 1)
    if ends[0] != 0 or (np.diff(ends) <= 0).any():
        section.fail("cat_boundaries", shown(ends.tolist()), "numbers rising from 0")
    words = section.integers("cat_threshold", int(ends[-1]), 0, 2**32 - 1)
    words = words.astype("<u4")
    which = cut[nodes]
    wrong = np.flatnonzero((which < 0) | (which >= n_sets) | (which != np.floor(which)))
    if wrong.size:
        i = int(nodes[wrong[0]])
        expected = f"the number of one of {n_sets} category sets"
        section.fail_entry("threshold", i, cut[i], expected)
    # Were they shared, a small file could hold endless sets.
    numbers, first = np.unique(which, return_index=True)
    if numbers.size < which.size:
        again = int(np.delete(nodes, first)[0])
        expected = "a category set of every node's own"
        section.fail_entry("threshold", again, f"{cut[again]:g} again", expected)
    return {
        int(node): words[ends[s] : ends[s + 1]]
        for node, s in zip(nodes, which.astype(int))
    }


def _parents_first(
    section: Section, left: np.ndarray, right: np.ndarray
) -> tuple[list[int], np.ndarray]:
    """Inner nodes in an order from the root down, and the new place of every node.

    Inner nodes count from 0, leaf ``k`` is written as ``-1 - k``: from the end, as
    Python does, so that ``place`` has the inner nodes first and the leaves backwards.
    """
    n = left.size
    order, seen = [0], [False] * (2 * n + 1)
    children = list(zip(left.tolist(), right.tolist()))
    for node in order:
        for child in children[node]:
            if seen[child] or child == 0:
                key = "left_child" if child == children[node][0] else "right_child"
                section.fail_entry(key, node, child, "a node that has no parent yet")
            seen[child] = True
            if child > 0:
                order.append(child)
    if len(order) < n:
        lost = next(i for i in range(1, n) if not seen[i])
        section.fail("left_child", f"no way to node {lost}", "every node to be reached")
    place = np.empty(2 * n + 1, dtype=np.int64)
    place[order] = np.arange(n)
    place[n:] = np.arange(2 * n, n - 1, -1)
    return order, place
