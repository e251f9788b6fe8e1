"""What do the last ten characters tell of each unit of a network, and how large a tree
does it take?

python -m benchmarks.sequences.trees [--quick] [--fresh] [--tables]

Table 17 of the thesis, on Tiny Shakespeare (shared data), with trees that part the
characters in two sets at every question, beside scikit-learn's, which ask for one
character at a time. The networks are those of ``networks.py``; needs torch
(``pip install clearwood[torch]``).
"""

import time
from functools import lru_cache, partial

import numpy as np
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table, mean_and_sd
from benchmarks.sequences import networks
from clearwood.sequences.recurrent.state_trees import MOST_ROWS, last_symbols

WINDOW, LEAST_ROWS = 10, 7
MOST_LEAVES = 256
"""Of trees that ask for one character at a time."""

PRINTED = {
    "LSTM 10": ("4.5 ± 0.5", "19.2 ± 2.75"),
    "hybrid 10+10": ("4.1 ± 0.83", "17.8 ± 4.12"),
    "LSTM 20": ("4.7 ± 0.84", "19.7 ± 3.05"),
    "hybrid 20+10": ("4.75 ± 0.94", "21.1 ± 4.62"),
}
"""Table 17, Shakespeare: depth and size, over the units of the LSTM."""

LSTM, HMM = "LSTM", "HMM"
SEEDS = {"LSTM 10": 3}


@lru_cache(maxsize=1)
def units_of(name, what, seed, quick):
    """Values of all units over the text: of the LSTM, or P(state) of the HMM."""
    network = networks.hybrid(name, seed, quick)
    text, _ = networks.to_read(quick)
    return (network.hidden_states if what == LSTM else network.filter_proba)(text)


def trees(name, what, seed, quick):
    """A tree for each unit, beside one that asks for one character at a time."""
    text, share = networks.to_read(quick)
    values = units_of(name, what, seed, quick)
    begin = time.process_time()
    found = cw.state_trees(
        values, text, symbols=networks.symbols_of(quick), window=WINDOW,
        min_rows=LEAST_ROWS, held_out=share,
    )  # fmt: skip
    seconds = (time.process_time() - begin) / len(found.trees)
    learned, judged, flags = one_by_one(quick)
    for unit, (tree, column) in enumerate(zip(found.trees, values.T)):
        begin = time.process_time()
        path = growth(flags[0], column[learned], flags[1], column[judged])
        spent = time.process_time() - begin
        reached = path["r2"] >= tree.r2
        first = int(reached.argmax()) if reached.any() else len(reached) - 1
        same = min(tree.tree.n_leaves - 1, len(reached) - 1)
        yield {
            "unit": unit,
            "r2": tree.r2,
            "depth": tree.depth,
            "leaves": tree.tree.n_leaves,
            "seconds": seconds,
            "reached": int(reached.any()),
            "depth one by one": int(path["depth"][first]),
            "leaves one by one": first + 1,
            "r2 one by one": float(path["r2"][same]),
            "seconds one by one": spent,
        }


@lru_cache(maxsize=1)
def one_by_one(quick):
    """The steps that ``state_trees`` takes, and of each a flag per character and place.

    Returns
    -------
    learned, judged : ndarray of int
    flags : list of two ndarrays of 0 and 1
    """
    text, share = networks.to_read(quick)
    codes = networks.encoded(text, quick)
    first = len(codes) - round(share * len(codes))
    parts = np.arange(first), np.arange(first, len(codes))
    spread = [part[:: -(-len(part) // MOST_ROWS)] for part in parts]
    past = last_symbols([codes], WINDOW)
    kinds = np.arange(len(networks.symbols_of(quick)))
    flags = [
        (past[steps][:, :, None] == kinds).reshape(len(steps), -1).astype(np.float32)
        for steps in spread
    ]
    return *spread, flags


def growth(X, y, X_judged, y_judged):
    """R2 on other rows, and depth, of a tree while it grows, best question first.

    Nodes of scikit-learn's tree are numbered as they come, two for each question.
    """
    grown = DecisionTreeRegressor(
        max_leaf_nodes=MOST_LEAVES, min_samples_leaf=LEAST_ROWS, random_state=0
    ).fit(X, y)
    tree = grown.tree_
    parent = np.full(tree.node_count, -1)
    inner = np.flatnonzero(tree.children_left >= 0)
    for children in (tree.children_left, tree.children_right):
        parent[children[inner]] = inner
    depth = np.zeros(tree.node_count, dtype=int)
    for node in range(1, tree.node_count):
        depth[node] = depth[parent[node]] + 1
    said = tree.value[:, 0, 0]
    there = grown.decision_path(X_judged)  # rows by nodes
    powers = np.column_stack([np.ones_like(y_judged), y_judged, y_judged**2])
    count, total, squares = (there.T @ powers).T
    error = squares - 2 * said * total + said**2 * count
    pairs = error[1:].reshape(-1, 2).sum(axis=1) - error[parent[1::2]]
    left = np.concatenate([error[:1], error[0] + np.cumsum(pairs)])
    return {
        "r2": 1 - left / (len(y_judged) * y_judged.var()),
        "depth": np.maximum.accumulate(np.append(0, depth[1::2])),
    }


# The page


def depths(frame):
    """Depth, size and R2 over units, beside the thesis'."""
    rows = []
    for (name, what), own in frame.groupby(["network", "of"], sort=False):
        depth, size = PRINTED[name] if what == LSTM else ("", "")
        rows.append(
            [name, what, len(own), mean_and_sd(own["r2"], 2),
             mean_and_sd(own["depth"], 2), depth, mean_and_sd(own["leaves"], 1),
             mean_and_sd(2 * own["leaves"] - 1, 1), size, own["seconds"].mean()]
        )  # fmt: skip
    header = ["network", "of", "trees", "R2", "depth", "thesis", "leaves"]
    header += ["questions and leaves", "thesis' size", "seconds a tree"]
    return markdown_table(header, rows)


def beside_one_by_one(frame):
    """How much larger trees are that ask for one character at a time."""
    rows = []
    for (name, what), own in frame.groupby(["network", "of"], sort=False):
        rows.append(
            [name, what,
             mean_and_sd(own["r2"], 2), mean_and_sd(own["r2 one by one"], 2),
             mean_and_sd(own["depth"], 1), mean_and_sd(own["depth one by one"], 1),
             mean_and_sd(own["leaves"], 1), mean_and_sd(own["leaves one by one"], 1),
             f"{own['reached'].sum()} of {len(own)}", own["seconds one by one"].mean()]
        )  # fmt: skip
    header = ["network", "of", "R2", "one by one, as many leaves", "depth"]
    header += ["one by one, same R2", "leaves", "one by one", "reached"]
    return markdown_table([*header, "seconds a tree"], rows)


def main():
    options = arguments(__doc__, tables="only write the page")
    study = Study("sequences_trees", ["network", "of", "seed"], options)
    quick = options.quick
    if not options.tables:
        study.run(
            {
                (name, what, seed): partial(trees, name, what, seed, quick)
                for seed in range(1 if quick else max(SEEDS.values()))
                for name in list(PRINTED)[: 2 if quick else None]
                for what in (LSTM, HMM)
                if seed < SEEDS.get(name, 1)
                and (what == LSTM or networks.HYBRIDS[name].n_states)
            },
            warm=lambda: None,
        )
    frame = study.frame()
    study.write_markdown(
        "Units of networks as trees on the last ten characters",
        depths(frame),
        beside_one_by_one(frame),
    )


if __name__ == "__main__":
    main()
