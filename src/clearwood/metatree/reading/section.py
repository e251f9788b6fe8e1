"""Report section of the posterior over all prunings, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._words.numbers import probability_text, short_text
from clearwood.columns.info import shown_names
from clearwood.metatree.reading.annotated_tree import (
    leaves_text,
    small_text,
    summarize_tree,
)
from clearwood.metatree.reading.compare_scores import compare_scores

MOST_TREES, MOST_FEATURES, LEAST_USED = 5, 20, 0.01

NAMES = {
    "n_leaves": ("Leaves (average: expected number)", "number"),
    "error": ("Error rate", "percent"),
    "log_loss": ("Log loss", "number"),
    "rmse": ("Root mean squared error", "number"),
    "coverage": ("Coverage of the 90 % intervals", "percent"),
    "width": ("Mean width of the 90 % intervals", "number"),
}


def model_of(result: Any, X: Any = None) -> Any:
    """Model behind the rules: the average over all prunings."""
    return result


def section(result: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Most probable tree, the next ones, features, and scores of the average.

    ``X`` and ``y`` are the rows on which to compare the average with single trees.
    """
    posterior = result.meta_tree_.posterior()
    s = posterior.structure
    best = result.map_tree_
    trees = posterior.top_trees(MOST_TREES)
    scores = None
    if X is not None and y is not None:
        scores = score_lines(compare_scores(result, X, y))
    return {
        "tree": summarize_tree(best),
        "facts": [
            ("Unpruned tree", leaves_text(int(s.is_leaf.sum()))),
            ("Expected number of leaves", f"{posterior.leaf.sum():.3g}"),
            ("Most probable tree", leaves_text(best.n_leaves)),
            ("Log evidence", short_text(posterior.log_evidence, 6)),
        ],
        "trees": [
            {
                "probability": small_text(t.log_probability),
                "leaves": leaves_text(len(t.leaves)),
            }
            for t in trees
        ],
        **features_in_use(shown_names(s.coder.features), posterior.feature_used),
        "scores": scores,
    }


def features_in_use(names: Sequence[str], used: np.ndarray) -> dict[str, Any]:
    """Features by posterior probability of use, in descending order."""
    order = [d for d in np.argsort(-used, kind="stable") if used[d] >= LEAST_USED]
    shown = order[:MOST_FEATURES]
    return {
        "used": [
            {
                "name": names[d],
                "text": probability_text(float(used[d])),
                "share": float(used[d]),
            }
            for d in shown
        ],
        "n_hidden": len(names) - len(shown),
    }


def score_lines(scores: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    """Rows of a table of (part of) the result of :func:`compare_scores`."""
    return [
        {
            "name": NAMES[key][0],
            "unit": NAMES[key][1],
            "values": [of_one[key] for of_one in scores.values()],
        }
        for key in scores["average"]
    ]
