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
from typing import NamedTuple

import numpy as np
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table, mean_and_sd
from benchmarks.sequences import networks
from clearwood.sequences.recurrent.state_trees import MOST_ROWS, last_symbols

WINDOW, LEAST_ROWS = 10, 7
MOST_LEAVES, MOST_DEPTH = 256, 40
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
        min_samples_leaf=LEAST_ROWS, test_size=share,
    )  # fmt: skip
    seconds = (time.process_time() - begin) / len(found.trees)
    learned, judged, flags = one_by_one(quick)
    for unit, (tree, column) in enumerate(zip(found.trees, values.T)):
        given = flags[0], column[learned], flags[1], column[judged]
        begin = time.process_time()
        best_first = growth(DecisionTreeRegressor(max_leaf_nodes=MOST_LEAVES), *given)
        spent = time.process_time() - begin
        evenly = growth(DecisionTreeRegressor(max_depth=MOST_DEPTH), *given)
        fewest = _first(best_first.r2 >= tree.r2)
        least = _first(evenly.r2[evenly.is_whole] >= tree.r2)
        same = min(tree.tree.n_leaves - 1, len(best_first.r2) - 1)
        yield {
            "unit": unit,
            "r2": tree.r2,
            "depth": tree.depth,
            "leaves": tree.tree.n_leaves,
            "seconds": seconds,
            "r2 one by one": float(best_first.r2[same]),
            "leaves one by one": np.nan if fewest is None else fewest + 1,
            "depth one by one": np.nan if least is None else least,
            "seconds one by one": spent,
        }


def _first(reached):
    """Where something is reached first; None if it never is."""
    return int(reached.argmax()) if reached.any() else None


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


class Growth(NamedTuple):
    """A tree after 0, 1, 2, ... questions.

    Attributes
    ----------
    r2 : ndarray
        On rows that it was not grown on.
    is_whole : ndarray of bool
        Whether no question of the same depth is left.
    """

    r2: np.ndarray
    is_whole: np.ndarray


def growth(learner, X, y, X_judged, y_judged):
    """What a tree says of other rows while it grows: best question first, or, if only
    its depth is limited, level by level."""
    learner.set_params(min_samples_leaf=LEAST_ROWS, random_state=0).fit(X, y)
    tree = learner.tree_
    said, there = tree.value[:, 0, 0], learner.decision_path(X_judged)
    powers = np.column_stack([np.ones_like(y_judged), y_judged, y_judged**2])
    count, total, squares = (there.T @ powers).T
    error = squares - 2 * said * total + said**2 * count
    inner = np.flatnonzero(tree.children_left >= 0)
    left, right = tree.children_left[inner], tree.children_right[inner]
    depth = np.zeros(tree.node_count, dtype=int)
    for node, *children in zip(inner, left, right):
        depth[children] = depth[node] + 1
    # With a limit of leaves, nodes have numbers as they come.
    by_level = learner.max_leaf_nodes is None
    order = np.argsort(depth[inner] if by_level else left, kind="stable")
    gained = (error[inner] - error[left] - error[right])[order]
    over = error[0] - np.append(0, np.cumsum(gained))
    level = np.append(0, depth[left][order])
    return Growth(
        1 - over / (len(y_judged) * y_judged.var()),
        np.append(np.diff(level) > 0, True),
    )


# The page

ABOUT = """\
Networks of Tiny Shakespeare (those of `sequences.explain`) read the last 400,000
characters of the text. For each unit of an LSTM, and for the probability of each state
of a hidden Markov model (HMM), filtered, a tree is grown on 19,231 characters and the
nine before each, with the rules of `rpart`'s defaults (a complexity of .01, at least
seven rows in a leaf), and judged on 18,590 from the last tenth, of which neither
networks nor trees have learned. *R2* is the share of the unit's variance there. Mean ±
standard deviation over units (and seeds)."""

IN_WORDS = """\
- **Table 17 comes out.** Depths of 4.1, 4.9, 4.4 and 4.3 (LSTM 10, hybrid 10+10,
  LSTM 20, hybrid 20+10) stand beside the thesis' 4.5, 4.1, 4.7 and 4.75, and questions
  and leaves together, 16, 19, 18 and 18, beside 19, 18, 20 and 21. As there, units of
  hybrids are no simpler than those of an LSTM alone.
- **The last ten characters tell four fifths of a unit** (R2 .79 to .84), in eight to
  ten leaves. The thesis does not say how much its trees explain.
- **States of the hidden Markov model are simpler** (it is the same in both hybrids):
  six leaves tell .96 of the variance of a state's probability.
- **Asking for one character at a time takes five times the depth** to tell as much of a
  unit of an LSTM (20 to 22 levels), and five times the leaves; with as many leaves it
  tells .5. Of a state of the hidden Markov model it takes three times the depth, and in
  three of ten never comes so far.
- Not run: Penn Treebank and Linux, the other rows of table 17."""

ONE_BY_ONE = """\
scikit-learn's trees on the same rows, with a column of 0 and 1 for each character at
each of the ten places (650 columns): *as many leaves* is the R2 of a tree of as many
leaves as that with sets, grown best question first; *same R2* are the depth of the
smallest tree grown level by level to any number of leaves (at most 40 levels), and the
leaves of the smallest grown best question first (at most 256), that reach it."""


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
        deep, many = own["depth one by one"], own["leaves one by one"]
        rows.append(
            [name, what,
             mean_and_sd(own["r2"], 2), mean_and_sd(own["r2 one by one"], 2),
             mean_and_sd(own["depth"], 1), _known(deep), _known(deep / own["depth"]),
             mean_and_sd(own["leaves"], 1), _known(many), own["seconds"].mean(),
             own["seconds one by one"].mean()]
        )  # fmt: skip
    header = ["network", "of", "R2", "one by one, as many leaves", "depth"]
    header += ["one by one, same R2", "times", "leaves", "one by one, same R2"]
    return markdown_table([*header, "seconds a tree", "one by one"], rows)


def _known(values):
    """Mean and standard deviation of those that are there, and how many are not."""
    known = values.dropna()
    if not len(known):
        return "never"
    rest = len(values) - len(known)
    return mean_and_sd(known, 1) + (f" ({rest} never)" if rest else "")


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
        ABOUT,
        "## In words" + " (of the full study)" * quick,
        IN_WORDS,
        "## Beside table 17",
        depths(frame),
        "## One character at a time",
        ONE_BY_ONE,
        beside_one_by_one(frame),
    )


if __name__ == "__main__":
    main()
