"""Posterior over all prunings beside BayesML's, on the same trees and data.

    python benchmarks/metatree_bayesml.py

The tree is given, perfect and binary; building it is not counted. Both get integer
codes and are asked for the posterior of one batch; they take turns, and the table
shows medians. The last column is the largest difference in the posterior g.
"""

import time

import numpy as np
from common import RESULTS  # one thread everywhere

from clearwood.metatree import BernoulliBeta, MetaTree, given

SIZES = (50, 100, 200, 1_000, 10_000, 100_000, 1_000_000)
SHAPES = ((5, 5), (10, 20))
"""Depth and number of features."""


def random_features(depth, n_features, rng):
    """Features of the inner nodes in heap order, none twice on one way."""
    feature = np.zeros(2**depth - 1, dtype=int)
    for node in range(feature.size):
        above, at = [], node
        while at > 0:
            at = (at - 1) // 2
            above.append(feature[at])
        feature[node] = rng.choice(np.setdiff1d(np.arange(n_features), above))
    return feature


def ours(structure, X, y):
    tree = MetaTree(structure, BernoulliBeta(), 0.5)
    start = time.perf_counter()
    posterior = tree.update(X, y).posterior()
    g = posterior.g
    return time.perf_counter() - start, g


def theirs(feature, depth, X, y):
    from bayesml import metatree
    from bayesml.metatree._metatree import _Node

    model = metatree.LearnModel(
        c_dim_continuous=0, c_dim_categorical=X.shape[1], c_num_children_vec=2,
        c_max_depth=depth, h0_g=0.5,
    )  # fmt: skip
    n_nodes = 2 * len(feature) + 1
    nodes = []
    for s in range(n_nodes):
        leaf = s >= len(feature)
        leaf_model = model.SubModel.LearnModel(
            **model.sub_constants, **model.sub_h0_params
        )
        nodes.append(
            _Node(
                int(np.log2(s + 1)),
                list(range(X.shape[1])),
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
    start = time.perf_counter()
    with np.errstate(divide="ignore"):
        model.update_posterior(x_categorical=X, y=y, alg_type="given_MT")
    elapsed = time.perf_counter() - start
    return elapsed, np.array([node.h_g for node in nodes])


def main():
    lines = ["depth,features,rows,ours_ms,bayesml_ms,times_faster,difference_of_g"]
    for depth, n_features in SHAPES:
        rng = np.random.default_rng(0)
        feature = random_features(depth, n_features, rng)
        structure = given(feature, n_values=2, n_features=n_features)
        for n in SIZES:
            X = rng.integers(0, 2, (n, n_features))
            y = rng.integers(0, 2, n)
            ours(structure, X, y)  # compile
            pairs = [
                (ours(structure, X, y), theirs(feature, depth, X, y))
                for _ in range(31 if n <= 1_000 else 15 if n <= 10_000 else 7)
            ]
            mine = 1e3 * np.median([a[0] for a, _ in pairs])
            peer = 1e3 * np.median([b[0] for _, b in pairs])
            gap = np.abs(pairs[0][0][1] - pairs[0][1][1]).max()
            lines.append(
                f"{depth},{n_features},{n},{mine:.3f},{peer:.3f},{peer / mine:.1f},"
                f"{gap:.1e}"
            )
            print(lines[-1], flush=True)
    (RESULTS / "metatree_bayesml.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
