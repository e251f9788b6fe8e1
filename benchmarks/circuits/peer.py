"""What deeprob-kit learns, where it is installed (``pip install deeprob-kit``)."""

import contextlib
import importlib.util
import io

import numpy as np

INSTALLED = importlib.util.find_spec("deeprob") is not None
ABSENT = "deeprob-kit is not installed (`pip install deeprob-kit`): no rows of it here."


def least_rows(n_rows):
    """Of a part of an XPC, two settings between which validation rows choose.

    Of all settings the one that changes most. Two columns at a time and no structure
    are likelier here than three columns, or one structure for all. Of few rows, parts
    of 128 are too large to be split.
    """
    return (32, 64) if n_rows < 1000 else (128, 256)


def learn_spn(train, rows, least_rows):
    """Its LearnSPN with a G-test, all other settings as they are by default.

    ``rows``: how they are clustered, ``kmeans`` (its default) or ``gmm`` (of its own
    experiments).
    """
    from deeprob.spn.learning.wrappers import learn_estimator
    from deeprob.spn.structure.leaf import Bernoulli

    d = train.shape[1]
    return learn_estimator(
        train.astype(np.float32),
        [Bernoulli] * d,
        [[0, 1]] * d,
        split_rows=rows,
        split_cols="gvs",
        min_rows_slice=least_rows,
        random_state=0,
        verbose=False,
    )


def ensemble(train, seed, least_rows):
    """A mixture of 20 extremely randomized circuits."""
    from deeprob.spn.learning.xpc import learn_expc

    np.random.seed(seed)  # noqa: NPY002 - it shuffles by the global one
    with contextlib.redirect_stdout(io.StringIO()):
        root, _ = learn_expc(
            train.astype(np.float32),
            ensemble_dim=20,
            det=False,
            sd_level=0,
            min_part_inst=least_rows,
            conj_len=2,
            arity=4,
            random_seed=seed,
        )
    return root


def log_likelihood(root, rows):
    """Of every row."""
    from deeprob.spn.algorithms.inference import log_likelihood

    return log_likelihood(root, rows.astype(np.float32)).ravel()


def n_parameters(root):
    """As ours are counted: those that can be chosen freely."""
    from deeprob.spn.structure.cltree import BinaryCLT
    from deeprob.spn.structure.leaf import Leaf
    from deeprob.spn.structure.node import Sum, bfs

    found = 0
    for node in bfs(root):
        if isinstance(node, Sum):
            found += len(node.children) - 1
        elif isinstance(node, BinaryCLT):
            found += 2 * len(node.scope) - 1
        elif isinstance(node, Leaf):
            found += 1
    return found


def translated(root):
    """One of its circuits over columns of 0 and 1 as one of ours."""
    from deeprob.spn.structure.node import Product as TheirProduct
    from deeprob.spn.structure.node import Sum as TheirSum
    from deeprob.spn.structure.node import topological_order

    import clearwood as cw
    from clearwood.circuits.circuit import Circuit
    from clearwood.circuits.nodes import Product, Sum
    from clearwood.distributions import Bernoulli

    made = {}
    for node in reversed(topological_order(root)):
        children = tuple(made[id(child)] for child in node.children)
        if isinstance(node, TheirSum):
            made[id(node)] = Sum(np.asarray(node.weights, dtype=float), children)
        elif isinstance(node, TheirProduct):
            made[id(node)] = Product(children)
        else:
            made[id(node)] = Bernoulli(node.scope[0], float(node.p))
    names = tuple(f"x{j}" for j in range(len(root.scope)))
    return Circuit(made[id(root)], cw.FeatureSpace(names, ((0, 1),) * len(names)))
