"""Rows in a stream: a meta-tree compared with river's Hoeffding trees.

Usage: python -m benchmarks.metatree.stream [--quick] [--fresh]

Every row is predicted, then learned. The meta-tree's splits are those of a CART of
the first rows, which are not scored; from there on it learns each row exactly and its
splits are fixed. ``regrown`` keeps all rows and grows a new CART whenever their
number has doubled. river must be installed; its trees grow from the first row on.
"""

import time
from functools import partial
from importlib.metadata import version

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks._data import table_of
from benchmarks._study import Study, arguments, markdown_table
from clearwood.metatree import (
    CategoricalDirichlet,
    MetaTree,
    from_sklearn_tree,
    search_corrected_prior,
)
from clearwood.metatree.posterior.prior import effective_questions

SETS = ("higgs", "shuttle", "letter", "spambase")
N_FIRST = 1_000
MOST_ROWS = 12_000
EVERYWHERE = 0.01
"""Share of the uniform distribution in the scored probabilities of all methods: a
Hoeffding tree may give a class zero probability."""


def main():
    options = arguments(__doc__)
    study = Study("metatree_stream", ["data", "method"], options)
    sets = SETS[2:] if options.quick else SETS
    most = 2_500 if options.quick else MOST_ROWS
    study.run(
        {
            (name, method): partial(rows_of, name, method, most)
            for name in sets
            for method in METHODS
        },
        warm=lambda: [
            METHODS[m](*rows(sets[0], 1_300)) for m in METHODS if m.startswith("meta")
        ],
    )
    write_tables(study)


def rows(name, most):
    """Rows in random order, and the number of classes."""
    X, y = table_of(name, 0)
    keep = np.random.default_rng(0).permutation(len(y))[:most]
    X, y = X[keep], np.unique(y[keep], return_inverse=True)[1]
    return X, y, int(y.max()) + 1


def rows_of(name, method, most):
    X, y, n_classes = rows(name, most)
    p, seconds = METHODS[method](X, y, n_classes)
    truth = y[N_FIRST:]
    if p.ndim == 2:
        error = float((p.argmax(axis=1) != truth).mean())
        p = p[np.arange(len(p)), truth]
    else:
        error = np.nan
    mixed = (1 - EVERYWHERE) * p + EVERYWHERE / n_classes
    return [
        {
            "rows": len(truth),
            "loss": float(-np.log(mixed).mean()),
            "raw_loss": float(-np.log(np.maximum(p, 1e-6)).mean()),
            "error": error,
            "micros": 1e6 * seconds / len(truth),
        }
    ]


def grow(X, y, n_classes):
    """A meta-tree on the questions of a CART, before learning."""
    cart = DecisionTreeClassifier(random_state=0).fit(X, y)
    structure = from_sklearn_tree(cart)
    leaf = CategoricalDirichlet.symmetric(n_classes, 1.0 / n_classes)
    ends = structure.route(structure.encode(X))
    g = search_corrected_prior(structure, 0.5, effective_questions(structure, X, ends))
    return MetaTree(structure, leaf, g)


def learned(X, y, n_classes):
    tree = grow(X, y, n_classes)
    return tree.update(tree.structure.encode(X), y)


def meta_stream(X, y, n_classes):
    """All rows after the first in one call of the kernel."""
    begin = time.process_time()
    tree = learned(X[:N_FIRST], y[:N_FIRST], n_classes)
    log_p = tree.update_stream(tree.structure.encode(X[N_FIRST:]), y[N_FIRST:])
    return np.exp(log_p), time.process_time() - begin


def meta_rows(X, y, n_classes):
    """A call of encode, predictive and update_stream for every row."""
    begin = time.process_time()
    tree = learned(X[:N_FIRST], y[:N_FIRST], n_classes)
    predicted = np.empty((len(y) - N_FIRST, n_classes))
    for i in range(N_FIRST, len(y)):
        codes = tree.structure.encode(X[i : i + 1])
        predicted[i - N_FIRST] = tree.predictive(codes).probabilities()[0]
        tree.update_stream(codes, y[i : i + 1])
    return predicted, time.process_time() - begin


def meta_frozen(X, y, n_classes):
    """Learns nothing after the first rows."""
    begin = time.process_time()
    tree = learned(X[:N_FIRST], y[:N_FIRST], n_classes)
    predicted = tree.predictive(tree.structure.encode(X[N_FIRST:])).probabilities()
    return predicted, time.process_time() - begin


def meta_regrown(X, y, n_classes):
    """A new CART of all rows so far, whenever their number has doubled."""
    begin = time.process_time()
    log_p, start = [], N_FIRST
    while start < len(y):
        stop = min(2 * start, len(y))
        tree = learned(X[:start], y[:start], n_classes)
        codes = tree.structure.encode(X[start:stop])
        log_p.append(tree.update_stream(codes, y[start:stop]))
        start = stop
    return np.exp(np.concatenate(log_p)), time.process_time() - begin


def hoeffding(X, y, n_classes, adaptive=False, **settings):
    """river's trees; converting the rows to dicts is not timed."""
    from river import tree

    kind = "HoeffdingAdaptiveTreeClassifier" if adaptive else "HoeffdingTreeClassifier"
    model = getattr(tree, kind)(**settings)
    table = [dict(enumerate(row)) for row in X.tolist()]
    predicted = np.zeros((len(y), n_classes))
    begin = time.process_time()
    for i, (row, label) in enumerate(zip(table, y.tolist())):
        if i >= N_FIRST:
            for k, p in model.predict_proba_one(row).items():
                predicted[i, k] = p
        model.learn_one(row, label)
    return predicted[N_FIRST:], time.process_time() - begin


METHODS = {
    "meta_stream": meta_stream,
    "meta_rows": meta_rows,
    "meta_regrown": meta_regrown,
    "meta_frozen": meta_frozen,
    "hoeffding": hoeffding,
    "hoeffding_counts": partial(hoeffding, leaf_prediction="mc"),
    "hoeffding_adaptive": partial(hoeffding, adaptive=True, seed=0),
}
WORDS = {
    "meta_stream": "meta-tree, one kernel for all rows",
    "meta_rows": "the same, row by row from Python",
    "meta_regrown": "meta-tree, regrown at every doubling",
    "meta_frozen": "meta-tree of the first rows only",
    "hoeffding": "Hoeffding tree, naive Bayes adaptive leaves (default)",
    "hoeffding_counts": "Hoeffding tree, leaves with class counts",
    "hoeffding_adaptive": "Hoeffding adaptive tree",
}


def write_tables(study):
    frame = study.frame()
    micros = frame.pivot(index="data", columns="method", values="micros")
    in_kernel = micros["hoeffding"] / micros["meta_stream"]
    by_row = micros["meta_rows"] / micros["hoeffding"]
    parts = [
        f"river {version('river')}. The first {N_FIRST:,} rows are not scored; "
        "the meta-tree has them as one batch, in which its splits are found, and "
        "the Hoeffding trees one by one: the tasks differ, and on a stream "
        "with drift the meta-tree's splits would become outdated. Rows are in "
        "random order, so there is no drift here. Its time includes growing and "
        "learning the first batch; so does theirs. Log loss is of probabilities mixed "
        "with 1 % of the uniform distribution; raw without, but at least 1e-6.",
        "Summary: on these sets the meta-tree has the lower log loss and fewer errors "
        "than the Hoeffding trees. The default Hoeffding tree takes "
        f"{in_kernel.min():.0f} to {in_kernel.max():.0f} times as long per row as the "
        "meta-tree in one kernel; called row by row from Python the meta-tree takes "
        f"{by_row.min():.2g} to {by_row.max():.2g} times as long as the Hoeffding "
        "tree. Learning after the first rows improves predictions, and new splits "
        "improve them more; but regrowing keeps all rows, which a Hoeffding tree does "
        "not need.",
    ]
    for name, here in frame.groupby("data", sort=False):
        parts += [
            f"## {name}: {here['rows'].iloc[0]:,} rows scored",
            markdown_table(
                ["", "log loss", "raw log loss", "error", "µs per row"],
                [
                    [WORDS[r.method], f"{r.loss:.4f}", f"{r.raw_loss:.4f}",
                     "" if np.isnan(r.error) else f"{r.error:.4f}", float(r.micros)]
                    for r in here.itertuples()
                ],
            ),
        ]  # fmt: skip
    study.write_markdown("Streams: meta-trees and Hoeffding trees", *parts)


if __name__ == "__main__":
    main()
