"""Links and tasks of LightGBM's objectives."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from clearwood.codec.documents import plain_number, shown
from clearwood.ensembles.lightgbm.text import Section
from clearwood.exceptions import UnsupportedModelError

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
    "lambdarank": "identity",
    "rank_xendcg": "identity",
}
CLASS_LINKS = {
    "binary": "logistic",
    "multiclass": "softmax",
    "multiclassova": "one_vs_rest",
}
NO_NAMES = ("none", "custom")


def meaning_of(
    header: Section,
    objective: str,
    n_outputs: int,
    classes: np.ndarray | None,
) -> dict[str, Any]:
    """Task, classes, link and related keyword arguments of ``TreeEnsemble``.

    Parameters
    ----------
    header : Section
    objective : str
        The objective's name and settings, ``"binary sigmoid:1"``.
    n_outputs : int
        Raw scores per row.
    classes : ndarray or None
        Labels of a classifier.

    Returns
    -------
    dict of str to object
    """

    def refuse(reason: str) -> NoReturn:
        raise UnsupportedModelError(f"{header.name}: {reason}")

    kind, *words = objective.split() or [""]
    settings = dict(word.partition(":")[::2] for word in words)
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
            "probabilities. Fit it with 'binary' or 'multiclass', or pass its "
            "booster_, which is read as a regression."
        )
    if n_outputs != 1:
        refuse(
            f"the model has {n_outputs} outputs, but its objective {kind!r} does not "
            "define them. Fit it with an objective of LightGBM for classes."
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
