"""How much of each unit of a network is explained by a tree on the last ten characters,
and how large is the tree?

python -m benchmarks.sequences.trees [--quick] [--fresh] [--tables]

Table 17 of the thesis, on its texts (shared data), with trees whose splits are sets of
characters; on Tiny Shakespeare also with scikit-learn's, whose splits are single
characters. Its networks are those of ``networks.py``, the others are those of the study
``text``; needs torch (``pip install clearwood[torch]``).
"""

import time
from functools import lru_cache, partial
from textwrap import wrap
from typing import NamedTuple

import numpy as np
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table, mean_and_sd
from benchmarks.papers.figures import save
from benchmarks.sequences import networks
from benchmarks.sequences.cases import SEQUENTIAL, TEXTS
from benchmarks.sequences.text import EPOCHS, trained
from clearwood.rules import Rule
from clearwood.sequences.recurrent.state_trees import MOST_ROWS, last_symbols

WINDOW, LEAST_ROWS = 10, 7
MOST_LEAVES, MOST_DEPTH = 256, 40
"""Limits of trees with splits on single characters."""

PRINTED = {
    "shakespeare": {
        "LSTM 10": ("4.5 ± 0.5", "19.2 ± 2.75"),
        "hybrid 10+10": ("4.1 ± 0.83", "17.8 ± 4.12"),
        "LSTM 20": ("4.7 ± 0.84", "19.7 ± 3.05"),
        "hybrid 20+10": ("4.75 ± 0.94", "21.1 ± 4.62"),
    },
    "ptb": {
        "LSTM 10": ("5.1 ± 0.94", "20.6 ± 5.92"),
        "hybrid 10+10": ("4.6 ± 0.66", "20.8 ± 5.01"),
        "hybrid 10+20": ("4.3 ± 0.46", "20.4 ± 5.06"),
        "LSTM 20": ("4.85 ± 1.06", "20.3 ± 4.62"),
        "hybrid 20+10": ("5 ± 1", "21 ± 5.18"),
        "hybrid 20+20": ("5.05 ± 0.86", "21.1 ± 5.11"),
    },
    "linux": {
        "LSTM 10": ("4.3 ± 0.64", "17.2 ± 3.6"),
        "hybrid 10+10": ("4.8 ± 0.98", "18.8 ± 3.74"),
        "hybrid 10+20": ("4.7 ± 0.78", "19.4 ± 4.7"),
        "LSTM 20": ("4.85 ± 0.85", "19.2 ± 4.2"),
        "hybrid 20+10": ("4.8 ± 0.92", "19.7 ± 5.15"),
        "hybrid 20+20": ("4.75 ± 0.77", "21 ± 4.64"),
    },
}
"""Table 17: depth and size, over the units of the LSTM."""

LSTM, HMM = "LSTM", "HMM"
SEEDS = {("shakespeare", "LSTM 10"): 3}
DRAWN, HYBRID, MOST_DRAWN = ("ptb", "linux"), "hybrid 10+10", 8
"""Figure 24: texts, the network, and the maximum number of leaves."""


@lru_cache(maxsize=1)
def network_of(name, text, seed, quick):
    """A network of this name for a text."""
    if text == networks.SHAKESPEARE:
        return networks.hybrid(name, seed, quick)
    n_hidden, n_states = networks.HYBRIDS[name]
    method = SEQUENTIAL if n_states else LSTM
    n_epochs = EPOCHS[text]
    return trained(method, text, n_hidden, n_states, n_epochs, seed, quick)[0]


def found_trees(text, name, what, seed, quick):
    """Values of all units over a text (of the LSTM, or P(state) of the HMM), a tree for
    each, and the mean seconds of a fit."""
    network = network_of(name, text, seed, quick)
    read, share = networks.to_read(quick, text)
    values = (network.hidden_states if what == LSTM else network.filter_proba)(read)
    begin = time.process_time()
    found = cw.state_trees(
        values, read, symbols=networks.symbols_of(quick, text), window=WINDOW,
        min_samples_leaf=LEAST_ROWS, test_size=share,
    )  # fmt: skip
    seconds = (time.process_time() - begin) / len(found.trees)
    return values, found.trees, seconds


def trees(text, name, what, seed, quick):
    """A tree for each unit."""
    values, found, seconds = found_trees(text, name, what, seed, quick)
    for unit, (tree, column) in enumerate(zip(found, values.T)):
        row = {
            "unit": unit,
            "r2": tree.r2,
            "depth": tree.depth,
            "leaves": tree.tree.n_leaves,
            "seconds": seconds,
        }
        of_others = dict.fromkeys(ONE_BY_ONE_COLUMNS, np.nan)
        if text == networks.SHAKESPEARE:
            of_others = by_single_characters(tree, column, quick)
        yield row | of_others


ONE_BY_ONE_COLUMNS = (
    "r2 one by one", "leaves one by one", "depth one by one", "seconds one by one",
)  # fmt: skip


def by_single_characters(tree, column, quick):
    """Trees with splits on single characters for a unit."""
    learned, held_out, flags = one_by_one(quick)
    given = flags[0], column[learned], flags[1], column[held_out]
    begin = time.process_time()
    best_first = growth(DecisionTreeRegressor(max_leaf_nodes=MOST_LEAVES), *given)
    spent = time.process_time() - begin
    evenly = growth(DecisionTreeRegressor(max_depth=MOST_DEPTH), *given)
    fewest = _first(best_first.r2 >= tree.r2)
    least = _first(evenly.r2[evenly.is_whole] >= tree.r2)
    same = min(tree.tree.n_leaves - 1, len(best_first.r2) - 1)
    values = (
        float(best_first.r2[same]),
        np.nan if fewest is None else fewest + 1,
        np.nan if least is None else least,
        spent,
    )
    return dict(zip(ONE_BY_ONE_COLUMNS, values))


def _first(reached):
    """First index of True; None if there is none."""
    return int(reached.argmax()) if reached.any() else None


@lru_cache(maxsize=1)
def one_by_one(quick):
    """The steps of ``state_trees``, and for each a flag per character and position.

    Returns
    -------
    learned, held_out : ndarray of int
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
    """A tree after 0, 1, 2, ... splits.

    Attributes
    ----------
    r2 : ndarray
        On held-out rows.
    is_whole : ndarray of bool
        Whether all splits of the same depth are made.
    """

    r2: np.ndarray
    is_whole: np.ndarray


def growth(learner, X, y, X_held_out, y_held_out):
    """R2 of a tree on held-out rows while it grows: best first or, if only its depth is
    limited, level by level."""
    learner.set_params(min_samples_leaf=LEAST_ROWS, random_state=0).fit(X, y)
    tree = learner.tree_
    value, there = tree.value[:, 0, 0], learner.decision_path(X_held_out)
    powers = np.column_stack([np.ones_like(y_held_out), y_held_out, y_held_out**2])
    count, total, squares = (there.T @ powers).T
    error = squares - 2 * value * total + value**2 * count
    inner = np.flatnonzero(tree.children_left >= 0)
    left, right = tree.children_left[inner], tree.children_right[inner]
    depth = np.zeros(tree.node_count, dtype=int)
    for node, *children in zip(inner, left, right):
        depth[children] = depth[node] + 1
    # With a limit of leaves, nodes are numbered in the order of splits.
    by_level = learner.max_leaf_nodes is None
    order = np.argsort(depth[inner] if by_level else left, kind="stable")
    gained = (error[inner] - error[left] - error[right])[order]
    over = error[0] - np.append(0, np.cumsum(gained))
    level = np.append(0, depth[left][order])
    return Growth(
        1 - over / (len(y_held_out) * y_held_out.var()),
        np.append(np.diff(level) > 0, True),
    )


# The page

ABOUT = """\
Networks of Tiny Shakespeare are those of `sequences.explain` (up to 40 epochs), of
the other texts those of `sequences.text` (two epochs, seed 0). They read 400,000
characters, of which the last 111,540 are test text. For each unit of an LSTM, and
for the filtered probability of each state of a hidden Markov model (HMM), a tree is
grown on 19,231 characters and the nine before each, with the default rules of
`rpart` (a complexity of .01, at least seven rows per leaf), and tested on 18,590
that are held out from networks and trees. *R2* is the explained share of the unit's
variance on these. Mean ± standard deviation over units (and seeds). **The Linux text
is not the thesis'.**"""

IN_WORDS = """\
- **Table 17 is reproduced** for Tiny Shakespeare. Depths are 4.3, 4.3, 4.5 and 4.4
  (LSTM 10, hybrid 10+10, LSTM 20, hybrid 20+10), in the thesis 4.5, 4.1, 4.7 and 4.75;
  splits and leaves together are 17, 18, 18 and 18, in the thesis 19, 18, 20 and 21. As
  there, units of hybrids are no simpler than those of an LSTM alone.
- **The last ten characters explain four fifths of the variance of a unit** (R2 .79 to
  .83), with nine to ten leaves. The thesis does not give R2.
- **States of the hidden Markov model are simpler** (it is the same in both hybrids):
  six leaves explain .95 of the variance of a state's probability.
- **Splits on single characters need four to five times the depth** for the same R2 for
  a unit of an LSTM (19 to 21 levels), and five times the leaves; with as many leaves R2
  is .5. For a state of the hidden Markov model they need two to three times the depth,
  and for two of ten states never reach the same R2.
- **Penn Treebank and Linux, six networks each**: depths of units 4.4 to 5.2 and 4.0 to
  5.0 (thesis 4.3 to 5.1 and 4.3 to 4.9), sizes 17 to 19 and 15 to 20 (20 to 21 and 17
  to 21), R2 .78 to .85 and .72 to .81. States, too, are simpler than units.
- Networks that are not in a table were not run; the command runs them. Each needs
  minutes of training, and a hidden Markov model of the whole text."""

DRAWING = """\
For a hybrid of ten units and ten states, as in the thesis, the unit whose tree has the
highest R2 among those with at most eight leaves. `x[t]` is the last character; a row of
boxes has the splits of one depth, each with the characters of the left branch, or with
`not` and those of the right branch if these are fewer; leaves have the mean of the unit
and the share of the steps."""

ONE_BY_ONE = """\
scikit-learn's trees on the same rows, with a column of 0 and 1 for each character at
each of the ten positions (650 columns): *as many leaves* is the R2 of a tree with as
many leaves as that with sets, grown best first; *same R2* are the depth of the smallest
tree grown level by level without a limit of leaves (at most 40 levels), and the leaves
of the smallest tree grown best first (at most 256), that have this R2."""


def depths(frame, text):
    """Depth, size and R2 over units, with the thesis' values."""
    rows, frame = [], frame[frame["text"] == text]
    for name, printed in PRINTED[text].items():
        for what in (LSTM, HMM):
            own = frame[(frame["network"] == name) & (frame["of"] == what)]
            if not len(own):
                continue
            depth, size = printed if what == LSTM else ("", "")
            rows.append(
                [name, what, len(own), mean_and_sd(own["r2"], 2),
                 mean_and_sd(own["depth"], 2), depth, mean_and_sd(own["leaves"], 1),
                 mean_and_sd(2 * own["leaves"] - 1, 1), size, own["seconds"].mean()]
            )  # fmt: skip
    if not rows:
        return "Not run."
    header = ["network", "of", "trees", "R2", "depth", "thesis", "leaves"]
    header += ["splits and leaves", "thesis' size", "seconds per tree"]
    return markdown_table(header, rows)


def compared_with_one_by_one(frame):
    """Relative size of trees with splits on single characters."""
    rows, frame = [], frame[frame["text"] == networks.SHAKESPEARE]
    for (name, what), own in frame.groupby(["network", "of"], sort=False):
        deep, many = own["depth one by one"], own["leaves one by one"]
        rows.append(
            [name, what,
             mean_and_sd(own["r2"], 2), mean_and_sd(own["r2 one by one"], 2),
             mean_and_sd(own["depth"], 1), _known(deep), _known(deep / own["depth"]),
             mean_and_sd(own["leaves"], 1), _known(many), own["seconds"].mean(),
             own["seconds one by one"].mean()]
        )  # fmt: skip
    header = ["network", "of", "R2", "single characters, as many leaves", "depth"]
    header += ["single, same R2", "ratio", "leaves", "single, same R2"]
    return markdown_table([*header, "seconds per tree", "single"], rows)


def _known(values):
    """Mean and standard deviation of known values, and the number of others."""
    known = values.dropna()
    if not len(known):
        return "never"
    rest = len(values) - len(known)
    return mean_and_sd(known, 1) + (f" ({rest} never)" if rest else "")


def drawn(text, quick):
    """The tree of a unit, as in figure 24, and which unit it is."""
    _, found, _ = found_trees(text, HYBRID, LSTM, 0, quick)
    small = [tree for tree in found if tree.tree.n_leaves <= MOST_DRAWN]
    return max(small or found, key=lambda tree: tree.r2)


def picture(found, title, path):
    """A tree: splits in rows by depth, leaves below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    leaves = found.tree.leaves
    n_steps = sum(leaf.support for leaf in leaves)
    figure, ax = plt.subplots(
        figsize=(1.15 * len(leaves) + 1, 1.0 * found.depth + 1), layout="constrained"
    )
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "grey"}

    def draw(node, depth):
        if isinstance(node, Rule):
            at = leaves.index(node)
            text = f"{node.prediction:+.2f}\n{node.support / n_steps:.0%}"
        else:
            below = [draw(child, depth + 1) for child in (node.if_yes, node.if_no)]
            at = np.mean([x for x, _ in below])
            for x, y in below:
                ax.plot([at, x], [-depth, y], color="grey", linewidth=0.8, zorder=0)
            text = words_of(node, found.tree.features)
        ax.text(at, -depth, text, ha="center", va="center", fontsize=7, bbox=box)
        return at, -depth

    draw(found.tree.root, 0)
    ax.set_title(title, fontsize=9)
    ax.set_xlim(-0.7, len(leaves) - 0.3)
    ax.set_ylim(-found.depth - 0.5, 0.5)
    ax.axis("off")
    save(figure, path)


def words_of(question, features):
    """A split, by the smaller set of characters."""
    yes, no = question.yes, question.no
    fewer, word = (yes, "") if len(yes.codes) <= len(no.codes) else (no, "not ")
    symbols = [features.categories[fewer.feature][code] for code in fewer.codes]
    lines = wrap(" ".join(SPELLED.get(x, x) for x in symbols), 14)
    text = "\n".join(lines[:3]) + " ..." * (len(lines) > 3)
    return f"{features.names[fewer.feature]} {word}in\n{text}"


SPELLED = {" ": "space", "\n": "newline", "\t": "tab", "$": r"\$"}


def main():
    options = arguments(__doc__, tables="only write the page")
    study = Study("sequences_trees", ["text", "network", "of", "seed"], options)
    quick = options.quick
    if not options.tables:
        texts = (networks.SHAKESPEARE,) if quick else PRINTED
        study.run(
            {
                (text, name, what, seed): partial(trees, text, name, what, seed, quick)
                for name, (_, n_states) in networks.HYBRIDS.items()
                for text in texts
                if name in list(PRINTED[text])[: 2 if quick else None]
                for seed in range(1 if quick else SEEDS.get((text, name), 1))
                for what in ([LSTM, HMM] if n_states else [LSTM])
            },
            warm=lambda: None,
        )
    frame = study.frame()
    parts = []
    for text in PRINTED:
        parts += [
            f"## {TEXTS[text]}, compared with table 17",
            depths(frame, text),
        ]
    pictures = []
    for text in DRAWN:
        path = study.csv.with_name(f"{study.csv.stem}_{text}.png")
        own = frame[(frame["text"] == text) & (frame["network"] == HYBRID)]
        if len(own) and not (options.tables and path.exists()):
            found = drawn(text, quick)
            title = f"{TEXTS[text]}: {found.name} (R2 {found.r2:.2f})"
            picture(found, title, path)
        if path.exists():
            pictures.append(f"![{text}]({path.name})")
    study.write_markdown(
        "Units of networks, explained by trees on the last ten characters",
        ABOUT,
        "## Summary" + " (of the full study)" * quick,
        IN_WORDS,
        *parts,
        "## Trees of single units (figure 24)",
        DRAWING,
        *pictures,
        "## Splits on single characters",
        ONE_BY_ONE,
        compared_with_one_by_one(frame),
    )


if __name__ == "__main__":
    main()
