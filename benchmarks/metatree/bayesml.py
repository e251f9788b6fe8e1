"""The same perfect binary tree as ours and as BayesML's, for ``speed.py``.

Building the trees is not timed: both get integer codes, and only the call that
learns them and gives the posterior is timed, in CPU seconds.
"""

import time

import numpy as np

from clearwood.metatree import BernoulliBeta, MetaTree


def random_features(depth, n_features, rng):
    """Features of the inner nodes in breadth-first order, none twice on a path."""
    feature = np.zeros(2**depth - 1, dtype=int)
    for node in range(feature.size):
        above, at = [], node
        while at > 0:
            at = (at - 1) // 2
            above.append(feature[at])
        feature[node] = rng.choice(np.setdiff1d(np.arange(n_features), above))
    return feature


def ours(structure, batches):
    """CPU seconds for learning some batches and the posterior, and its g."""
    tree = MetaTree(structure, BernoulliBeta(), 0.5)
    begin = time.process_time()
    for X, y in batches:
        tree.update(X, y)
    g = tree.posterior().g
    return time.process_time() - begin, g


def ours_in_turn(structure, X, y):
    """As ``ours``, one row after the other by Proposition 1, in one kernel."""
    tree = MetaTree(structure, BernoulliBeta(), 0.5)
    begin = time.process_time()
    tree.update_stream(X, y)
    g = tree.posterior().g
    return time.process_time() - begin, g


def ours_one_by_one(structure, X, y):
    """As ``ours_in_turn``, with a call from Python for every row."""
    tree = MetaTree(structure, BernoulliBeta(), 0.5)
    begin = time.process_time()
    for i in range(len(y)):
        tree.update_stream(X[i : i + 1], y[i : i + 1])
    g = tree.posterior().g
    return time.process_time() - begin, g


def theirs(feature, depth, batches):
    """BayesML's learning of some batches, one call each."""
    model, nodes = _bayesml_tree(feature, depth, batches[0][0].shape[1])
    begin = time.process_time()
    with np.errstate(divide="ignore"):
        for X, y in batches:
            model.update_posterior(x_categorical=X, y=y, alg_type="given_MT")
    elapsed = time.process_time() - begin
    return elapsed, np.array([node.h_g for node in nodes])


def _bayesml_tree(feature, depth, n_features):
    """A model that holds the given tree alone, and its nodes in breadth-first order."""
    from bayesml import metatree
    from bayesml.metatree._metatree import _Node

    model = metatree.LearnModel(
        c_dim_continuous=0, c_dim_categorical=n_features, c_num_children_vec=2,
        c_max_depth=depth, h0_g=0.5,
    )  # fmt: skip
    nodes = []
    for s in range(2 * len(feature) + 1):
        leaf = s >= len(feature)
        leaf_model = model.SubModel.LearnModel(
            **model.sub_constants, **model.sub_h0_params
        )
        nodes.append(
            _Node(
                int(np.log2(s + 1)),
                list(range(n_features)),
                h_g=0.0 if leaf else 0.5,
                k=None if leaf else int(feature[s]),
                sub_model=leaf_model,
                leaf=leaf,
                log_children_marginal_likelihood=np.zeros(2),
            )  # fmt: skip
        )
    for s in range(len(feature)):
        nodes[s].children = nodes[2 * s + 1 : 2 * s + 3]
    model.hn_metatree_list, model.hn_metatree_prob_vec = [nodes[0]], np.ones(1)
    return model, nodes
