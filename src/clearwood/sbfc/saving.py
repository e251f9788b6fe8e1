"""File format of a fitted forest classifier, without the draws of its chains."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array

from clearwood import codec
from clearwood.columns.info import shown_names
from clearwood.discretize import LevelCoder
from clearwood.sbfc.calibration import Calibration
from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier
from clearwood.sbfc.graphs import FeatureForest
from clearwood.sbfc.prediction import GraphAverage, arrange
from clearwood.sbfc.samplers import SAMPLERS

PROBABILITIES = codec.within(0, 1 + 1e-9)
LOGS = codec.within(-np.inf, 1e-9, "logs of probabilities")

PARTS = (
    *codec.COLUMNS,
    codec.FEATURES,
    codec.Settings(
        "sampler", "preset", "prior", "alpha", "lambda_x", "lambda_y",
        "smoothing", "calibration", "binning", "n_graphs", "n_draws", "min_ess",
    ),
    codec.Field("sampler", codec.choice(*SAMPLERS), "sampler_"),
    codec.Field("dropped", codec.NUMBER, "dropped_"),
    codec.Field("log_evidence", codec.optional(codec.NUMBER), "log_evidence_"),
    codec.Field("best_log_posterior", codec.NUMBER, "best_log_posterior_"),
    codec.Pieces("cuts", "f", size="columns of numbers", check=codec.RISING),
    codec.Array("has_values", "b", "features"),
    codec.Array("has_missing", "b", "features"),
    codec.Array(
        "signal_probability", "f", "features", "inclusion_probability_", PROBABILITIES
    ),
    codec.Array("edge_ends", "i", "edges 2", below="features"),
    codec.Array("edge_probability", "f", "edges", check=PROBABILITIES),
    codec.Array("signals", "b", "graphs features"),
    codec.Pieces("graph_edges", "i", size="graphs", width=2, below="features"),
    codec.Array("log_class", "f", "classes", check=LOGS),
    codec.Array("known", "b", "levels"),
    codec.Array("log_table", "f", "cells classes", check=LOGS),
    codec.Together(
        codec.Field("temperature", codec.NUMBER),
        codec.Pieces("part_cuts", "f", size="columns of numbers", check=codec.RISING),
        codec.Array("effect", "f", "parts classes", check=codec.FINITE),
    ),
    codec.Together(
        codec.Array(
            "level_counts", "f", "all_levels classes", check=codec.NOT_NEGATIVE
        ),
    ),
)  # fmt: skip


def _take(found: SelectiveBayesianForestClassifier) -> dict[str, Any]:
    coder, edges = found.levels_, found.edge_probability_.tocoo()
    graphs = [found.best_graph_, *found.graphs_]
    calibration: dict[str, Any] = {"temperature": codec.UNSET}
    if found.calibration_ is not None:
        calibration = found.calibration_._asdict()
        calibration["part_cuts"] = _numeric(found.calibration_.parts)
    return {
        **calibration,
        **vars(coder),
        **vars(found._average),
        "level_counts": codec.UNSET if found._counts is None else found._counts,
        "cuts": _numeric(coder),
        "edge_ends": np.column_stack([edges.row, edges.col]),
        "edge_probability": edges.data,
        "signals": [graph.signal for graph in graphs],
        "graph_edges": [graph.edges for graph in graphs],
    }


def _numeric(coder: LevelCoder) -> list[np.ndarray]:
    return [own for own in coder.cuts if own is not None]


def _make(kind: Any, values: dict[str, Any]) -> SelectiveBayesianForestClassifier:
    coder = _levels(values, values["cuts"])
    d = coder.features.n_features
    found = codec.filled(kind(), values, d)
    in_order = np.array_equal(np.unique(found.classes_), found.classes_)
    codec.require(in_order, "classes", "labels of one type, in order")
    found.levels_, found.chains_, found._edge_draws = coder, None, {}
    edges = values["edge_probability"], tuple(values["edge_ends"].T)
    found.edge_probability_ = coo_array(edges, shape=(d, d)).tocsr()
    found.best_graph_, *found.graphs_ = _graphs(values)
    arranged = arrange(found.graphs_, coder.n_levels)
    own = {name: values[name] for name in ("log_class", "known", "log_table")}
    sizes = arranged["levels"].sum(), arranged["start"][-1]
    fits = (len(own["known"]), len(own["log_table"])) == sizes
    codec.require(fits, "known, log_table", "the levels and cells of the graphs")
    found._average = GraphAverage(**own, **arranged)
    counts = values["level_counts"]
    found._counts = None if counts is codec.UNSET else counts
    fits = found._counts is None or len(counts) == coder.n_levels.sum()
    codec.require(fits, "level_counts", "one row per level of the features")
    found.calibration = values["settings"].get("calibration")
    found.calibration_ = _calibration(values)
    return found


def _calibration(values: dict[str, Any]) -> Calibration | None:
    if values["temperature"] is codec.UNSET:
        return None
    parts, effect = _levels(values, values["part_cuts"]), values["effect"]
    fits = len(effect) in (0, parts.n_levels.sum())
    codec.require(fits, "effect", "one row per part of the features, or none")
    return Calibration(values["temperature"], parts, effect)


def _levels(values: dict[str, Any], cuts: list[np.ndarray]) -> LevelCoder:
    names = "features", "has_values", "has_missing"
    features, *has = (values[name] for name in names)
    numeric = [labels is None for labels in features.categories]
    codec.require(len(cuts) == sum(numeric), "n_cuts", "one per column of numbers")
    codec.require(has[0] | has[1], "has_values, has_missing", "a level of each column")
    each = iter(cuts)
    own = tuple(next(each) if is_number else None for is_number in numeric)
    return LevelCoder(features, own, *has)


def _graphs(values: dict[str, Any]) -> list[FeatureForest]:
    graphs, names = [], shown_names(values["features"])
    for signal, edges in zip(values["signals"], values["graph_edges"]):
        parent = np.full(len(signal), -1)
        parent[edges[:, 0]] = edges[:, 1]
        with codec.refusing("graph_edges"):
            graphs.append(FeatureForest(signal, parent, names))
    codec.require(len(graphs) >= 2, "signals", "two graphs or more")
    return graphs


SAVED = codec.by_name(
    codec.Saved(SelectiveBayesianForestClassifier, PARTS, _make, _take)
)
