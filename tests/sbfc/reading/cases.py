"""Fitted classifiers made by hand: what is read of them, without a fit."""

import numpy as np
from scipy.sparse import coo_array

from clearwood import SelectiveBayesianForestClassifier
from clearwood.discretize import LevelCoder
from clearwood.rules import FeatureSpace
from clearwood.sampling import Chains
from clearwood.sbfc import FeatureForest
from clearwood.sbfc.prediction import average_graphs, level_counts
from clearwood.sbfc.scores import CodedTable


def stand_in(names, signal, edges, classes=("ill", "well"), chains=None):
    """Names, probabilities of being signal, and {(first, second): probability}."""
    d = len(names)
    found = SelectiveBayesianForestClassifier()
    found.n_features_in_ = d
    found.levels_ = LevelCoder(
        FeatureSpace.numeric(d, list(names)),
        tuple(np.array([0.5]) for _ in names),
        np.ones(d, dtype=bool),
        np.zeros(d, dtype=bool),
    )
    found.classes_ = np.array(classes)
    found.inclusion_probability_ = np.asarray(signal, dtype=float)
    ends = np.array(list(edges), dtype=int).reshape(-1, 2)
    both = np.concatenate([ends, ends[:, ::-1]]).T
    found.edge_probability_ = coo_array(
        (list(edges.values()) * 2, both), shape=(d, d)
    ).tocsr()
    found.log_evidence_ = -9.0 if chains is None else None
    found.graphs_ = [
        FeatureForest(found.inclusion_probability_ > p, np.full(d, -1))
        for p in (0.5, 0.9)
    ]
    found.best_graph_ = found.graphs_[0]
    found.chains_, found._edge_draws, found.calibration_ = chains, {}, None
    codes = np.random.default_rng(0).integers(2, size=(20, d))
    label = np.arange(20) % len(classes)
    table = CodedTable(codes, np.full(d, 2), label, len(classes), None, d)
    found._average = average_graphs(found.graphs_, table)
    found._counts = level_counts(table)
    return found


def chains_of(signal, log_joint):
    """Draws of shape (n_chains, n_draws, n_features) and (n_chains, n_draws)."""
    signal = np.asarray(signal)
    n_signal = signal.sum(axis=2).astype(float)
    # Heights as real chains have them: no whole numbers.
    heights = np.asarray(log_joint, dtype=float)
    draws = {"log_joint": heights, "n_signal": n_signal, "signal": signal}
    return Chains(draws, {}, [None] * len(log_joint))


def many(d=100, seed=0):
    """Five features that matter, two clusters of noise, and others."""
    signal = np.r_[np.full(5, 0.99), np.linspace(0.2, 0.0, d - 5)]
    edges = {(0, 1): 0.9, (1, 2): 0.4, (3, 4): 0.05}
    edges |= {(d - 10 + i, d - 9 + i): 0.8 for i in range(5)}
    return stand_in([f"feature number {j}" for j in range(d)], signal, edges)
