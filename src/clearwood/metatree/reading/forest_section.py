"""Report section of a forest of meta-trees, as plain data."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from clearwood._words.numbers import short_text
from clearwood.columns.info import shown_names
from clearwood.columns.validation import check_target
from clearwood.metatree.reading.compare_scores import (
    COVERAGE,
    class_scores,
    value_scores,
)
from clearwood.metatree.reading.section import features_in_use, score_lines


def section(result: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Sizes before and after pruning, features in use, and scores."""
    check_is_fitted(result)
    posteriors = [tree.posterior() for tree in result.meta_trees_]
    full = sum(int(p.structure.is_leaf.sum()) for p in posteriors)
    expected = sum(float(p.leaf.sum()) for p in posteriors)
    in_effect = 1.0 / float((result.tree_weights_**2).sum())
    return {
        "facts": [
            ("Trees", f"{len(posteriors):,}"),
            ("Effective number of trees", short_text(in_effect)),
            ("Leaves of all trees, unpruned", f"{full:,}"),
            ("Expected number of leaves", f"{expected:,.0f}"),
            ("Mean log evidence", short_text(float(result.log_evidence_.mean()), 6)),
        ],
        **features_in_use(
            shown_names(result.ensemble_.features), result.inclusion_probability_
        ),
        "scores": None if X is None or y is None else _scores(result, X, y),
    }


def _scores(result: Any, X: Any, y: Any) -> list[dict[str, Any]]:
    if classes := list(getattr(result, "classes_", ())):
        p = result.predict_proba(X)
        scores = class_scores(p, check_target(y, len(p), numeric=False), classes)
    else:
        mean = result.predict(X)
        y = check_target(y, len(mean), numeric=True)
        interval = result.predict_interval(X, coverage=COVERAGE)
        scores = value_scores(mean, interval, result.log_density(X, y), y)
    return score_lines({"average": scores})
