"""Fitted forest classifiers in files, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._archive import split_parts
from clearwood._documents import Place
from clearwood._estimators import set_read_settings
from clearwood.columns.feature_space import FeatureSpace
from clearwood.discretize import LevelCoder
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.rules.serialise import (
    columns_to_dict,
    features_to_dict,
    read_columns,
    read_features,
)
from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier
from clearwood.sbfc.graphs import FeatureForest
from clearwood.sbfc.prediction import GraphAverage, arrange

SETTINGS = (
    "sampler", "prior", "alpha", "lambda_x", "lambda_y", "target", "smoothing",
    "n_graphs", "n_draws",
)  # fmt: skip
"""Parameters that are kept."""


# Writing


def to_archive(
    estimator: SelectiveBayesianForestClassifier,
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is kept of a fitted classifier: all but the draws of its chains.

    Returns
    -------
    document : dict
    arrays : dict of str to ndarray
    """
    if type(estimator) is not SelectiveBayesianForestClassifier:
        raise InputError(f"Cannot save a {type(estimator).__name__}.")
    check_is_fitted(estimator)
    settings, average = estimator.get_params(), estimator._average
    coder, edges = estimator.levels_, estimator.edge_probability_.tocoo()
    cuts = [own for own in coder.cuts if own is not None]
    graphs = [estimator.best_graph_, *estimator.graphs_]
    document = {
        **columns_to_dict(estimator),
        **features_to_dict(coder.features),
        "settings": {name: np.asarray(settings[name]).item() for name in SETTINGS},
        "sampler": estimator.sampler_,
        "dropped": estimator.dropped_,
        "log_evidence": estimator.log_evidence_,
        "best_log_posterior": estimator.best_log_posterior_,
    }
    ends = [graph.edges for graph in graphs]
    arrays = {
        "n_cuts": np.array([len(own) for own in cuts], dtype=np.int64),
        "cuts": np.concatenate([np.zeros(0), *cuts]),
        "has_values": coder.has_values,
        "has_missing": coder.has_missing,
        "signal_probability": estimator.signal_probability_,
        "edge_ends": np.column_stack([edges.row, edges.col]),
        "edge_probability": edges.data,
        "signals": np.array([graph.signal for graph in graphs]),
        "graph_edges": np.concatenate(ends),
        "n_graph_edges": np.array([len(part) for part in ends]),
        "log_class": average.log_class,
        "known": average.known,
        "log_table": average.log_table,
    }
    return document, arrays


# Reading


def from_archive(top: Place, array: Callable[..., np.ndarray]) -> Any:
    """Read what :func:`to_archive` kept; anything else is a ModelFormatError."""
    features = read_features(top)
    d = features.n_features
    coder = _read_levels(features, array)
    estimator = SelectiveBayesianForestClassifier()
    set_read_settings(estimator, top["settings"].value, SETTINGS)
    estimator.sampler_ = top["sampler"].text()
    if estimator.sampler_ not in ("exact", "collapsed", "original"):
        raise ModelFormatError("sampler: expected exact, collapsed or original.")
    estimator.dropped_ = top["dropped"].number()
    if top["classes"].value is None:
        raise ModelFormatError("classes: missing.")
    read_columns(estimator, top, d)
    classes = estimator.classes_
    if not np.array_equal(np.unique(classes), classes):
        raise ModelFormatError("classes: expected labels of one type, in order.")
    estimator.levels_ = coder
    evidence = top["log_evidence"]
    estimator.log_evidence_ = None if evidence.value is None else evidence.number()
    estimator.best_log_posterior_ = top["best_log_posterior"].number()
    estimator.signal_probability_ = _probabilities(array, "signal_probability", d)
    estimator.edge_probability_ = _read_edges(d, array)
    estimator.best_graph_, *estimator.graphs_ = _read_graphs(d, array)
    estimator.chains_ = None
    parts = arrange(estimator.graphs_, coder.n_levels)
    n_cells, n_classes = int(parts["start"][-1]), len(classes)
    estimator._average = GraphAverage(
        log_class=_logs(array("log_class", "f", n_classes), "log_class"),
        known=array("known", "b", int(parts["levels"].sum())),
        log_table=_logs(array("log_table", "f", n_cells, n_classes), "log_table"),
        **parts,
    )
    return estimator


def _read_levels(features: FeatureSpace, array: Callable[..., Any]) -> LevelCoder:
    numeric = [labels is None for labels in features.categories]
    n_cuts, cuts = array("n_cuts", "i", sum(numeric)), array("cuts", "f", -1)
    each = iter(split_parts(cuts, n_cuts, "cuts"))
    own = tuple(next(each) if is_number else None for is_number in numeric)
    for d, mine in enumerate(own):
        if mine is not None and not (mine[1:] > mine[:-1]).all():
            raise ModelFormatError(f"cuts of feature {d}: expected rising numbers.")
    if np.isnan(cuts).any():
        raise ModelFormatError("cuts: hold NaN.")
    has = [array(name, "b", len(numeric)) for name in ("has_values", "has_missing")]
    if not (has[0] | has[1]).all():
        raise ModelFormatError("has_values, has_missing: columns without a level.")
    return LevelCoder(features, own, *has)


def _probabilities(array: Callable[..., Any], name: str, n: int) -> np.ndarray:
    values = array(name, "f", n)
    if not ((values >= 0) & (values <= 1 + 1e-9)).all():
        raise ModelFormatError(f"{name}: expected probabilities.")
    return values


def _logs(values: np.ndarray, name: str) -> np.ndarray:
    if not (values <= 1e-9).all():
        raise ModelFormatError(f"{name}: expected logs of probabilities.")
    return values


def _ends(array: Callable[..., Any], name: str, d: int) -> np.ndarray:
    """Pairs of features."""
    ends = array(name, "i", -1, 2)
    if not ((ends >= 0) & (ends < d)).all():
        raise ModelFormatError(f"{name}: expected features.")
    return ends


def _read_edges(d: int, array: Callable[..., Any]) -> Any:
    from scipy.sparse import coo_array

    ends = _ends(array, "edge_ends", d)
    values = _probabilities(array, "edge_probability", len(ends))
    return coo_array((values, tuple(ends.T)), shape=(d, d)).tocsr()


def _read_graphs(d: int, array: Callable[..., Any]) -> list[FeatureForest]:
    signals, ends = array("signals", "b", -1, d), _ends(array, "graph_edges", d)
    sizes = array("n_graph_edges", "i", len(signals))
    graphs = []
    for signal, edges in zip(signals, split_parts(ends, sizes, "graph_edges")):
        parent = np.full(d, -1)
        parent[edges[:, 0]] = edges[:, 1]
        try:
            graphs.append(FeatureForest(signal, parent))
        except InputError as error:
            raise ModelFormatError(f"graph_edges: {error}") from None
    if len(graphs) < 2:
        raise ModelFormatError("signals: expected two graphs or more.")
    return graphs
