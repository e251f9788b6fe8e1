"""Learners of deeprob-kit, if it is installed (``pip install deeprob-kit``)."""

import contextlib
import importlib.util
import io

import numpy as np

INSTALLED = importlib.util.find_spec("deeprob") is not None
ABSENT = (
    "deeprob-kit is not installed (`pip install deeprob-kit`): its rows are omitted."
)


def least_rows(n_rows):
    """Two minimum sizes of a part of an XPC, to choose from on validation rows.

    This setting has the largest effect. Two columns at a time without a structure have
    a higher likelihood here than three columns, or a common structure. With few rows,
    parts of 128 are too large to be split.
    """
    return (32, 64) if n_rows < 1000 else (128, 256)


def learn_spn(train, rows, least_rows):
    """Its LearnSPN with a G-test and otherwise default settings.

    ``rows``: clustering of rows, ``kmeans`` (its default) or ``gmm`` (as in its own
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

    np.random.seed(seed)  # noqa: NPY002 - it uses the global generator
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
    """Log-likelihood of every row."""
    from deeprob.spn.algorithms.inference import log_likelihood

    return log_likelihood(root, rows.astype(np.float32)).ravel()


def n_parameters(root):
    """Number of free parameters, counted as for ours."""
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
    """Translate one of its circuits over binary columns to one of ours."""
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
