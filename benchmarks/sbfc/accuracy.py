"""How well do Bayesian forests classify, under either prior, beside their rivals?

Usage: python -m benchmarks.sbfc.accuracy [--quick] [--fresh]
"""

import time
import warnings
from functools import lru_cache, partial

import numpy as np

from benchmarks._study import Study, arguments, markdown_table
from benchmarks.sbfc.cases import (
    FIGURE_3,
    MOST_FOR_TAN,
    PEERS,
    SETTINGS,
    SPLIT,
    binned,
    folds,
    ours,
    score,
)

QUICK = ("corral", "heart", "iris", "mofn_3_7_10", "vote")
OURS = ("thesis", "balanced", "balanced, lambda_x = 2", "thesis, Dirichlet means")
METHODS = (*OURS, *PEERS)
PRINTED = ("naive Bayes", "TAN", "random forest", "logistic", "SBFC")

IN_WORDS = """\
- **Beside its kin** the forest does what the thesis says: under its prior it has the \
better accuracy than naive Bayes on 13 sets of 18 and than TAN on 10 of 16 (ties left \
out), and the better log loss than naive Bayes on 17 of 19, than TAN on 8 of 18.
- **Beside others it is level or behind.** It is on a par with the random forest (9 \
sets against 10 in accuracy). One-hot logistic regression is better in log loss on 17 \
of 19 sets and in accuracy on 13 of 18: the thesis prints it weaker, on other bins. \
Where many features say the same (arcene, satimage, letter, vote), our probabilities \
are too sure, as those of naive Bayes and TAN are.
- **Beside the thesis' figures** accuracies are the same within a few points; glass2 \
is clearly below (there bins saw the test rows), hepatitis, arcene and madelon above.
- **The priors**: `"balanced"` has the worse log loss on 14 sets of 16 where they \
differ, by 0.010 in the median, and as often the better accuracy as the worse; what it \
loses, it loses where features are few and hang together in the signal (corral, \
lymphography, hepatitis, waveform21), and on arcene. With edges at half of its price \
(lambda_x = 2) nearly all of that is won back, but not on hepatitis and lymphography; \
on arcene it has the best log loss of ours and by far the worst accuracy.
- **Dirichlet means** in place of the thesis' smoothing: better on nine sets, worse on \
ten; much worse where classes are many (letter, satimage).
- arcene's chains do not agree (see `sbfc_mixing.md`), so its lines are luck in part.
"""

NOTES = """\
*thesis* and *balanced* are `SelectiveBayesianForestClassifier` under its two priors, \
all else by default but for what is said (*Dirichlet means*: \
`smoothing="dirichlet"`). All methods see the same levels, found on the rows to learn \
alone: MDLP, or a level for each value where there are at most five (the thesis binned \
with the test rows in sight, and halved the columns of large sets). Rows with missing \
cells are left out, as there. Naive Bayes and logistic regression (one-hot) and the \
forest of 100 trees are scikit-learn's; TAN, tree-augmented naive Bayes, is written \
out in `cases.py`, for at most 1,000 features. Log loss takes probabilities of 1e-15 \
at least. Seconds are CPU time of binning, fit and prediction, per fold."""


def main():
    options = arguments(__doc__)
    study = Study("sbfc_accuracy", ["data", "fold", "method"], options)
    sets = QUICK if options.quick else FIGURE_3
    study.run(
        {
            (name, k, method): partial(rows_of, name, k, method)
            for name in sets
            for k in range(1 if name in SPLIT else 5)
            for method in METHODS
            if method != "TAN" or can_be_tan(name)
        },
        warm=lambda: [
            rows_of(name, 0, method)
            for name in ("heart", "waveform21")
            for method in METHODS
            if method != "TAN" or can_be_tan(name)
        ],
    )
    write_tables(study)


def can_be_tan(name):
    return folds(name)[0].X.shape[1] <= MOST_FOR_TAN


@lru_cache(maxsize=1)
def levels_of(name, k):
    """Levels of a fold, and the CPU seconds that they took."""
    begin = time.process_time()
    return binned(folds(name)[k]), time.process_time() - begin


def rows_of(name, k, method):
    """What one method says of one fold."""
    fold = folds(name)[k]
    levels, taken = (None, 0.0) if method in SETTINGS else levels_of(name, k)
    begin = time.process_time()
    if method in SETTINGS:
        _, said = ours(fold, method)
    else:
        said = PEERS[method](fold, levels)
    taken += time.process_time() - begin
    return [score(said, fold.y_test) | {"seconds": taken}]


def write_tables(study):
    frame = study.frame()
    means = frame.groupby(["data", "method"]).mean(numeric_only=True)
    sets = [name for name in FIGURE_3 if name in set(frame.data)]
    wide = {
        score: means[score].unstack().reindex(sets).reindex(columns=METHODS)
        for score in ("accuracy", "loss", "seconds")
    }
    wide["accuracy"] *= 100
    printed = [FIGURE_3[name] for name in sets]
    parts = [
        NOTES,
        "## In words",
        IN_WORDS,
        f"## Means over {len(sets)} sets",
        "TAN's means are over the sets that it has. Ranks are among the others.",
        summary(wide),
        "## Accuracy, %",
        "Beside it what the thesis prints in its Figure 3 (other folds, other bins).",
        markdown_table(
            ["", *METHODS, *(f"printed: {name}" for name in PRINTED)],
            [
                [name, *bold(line, max(line)), *(one(v) for v in says)]
                for name, line, says in zip(sets, by_line(wide["accuracy"]), printed)
            ],
        ),
        "## Log loss",
        markdown_table(
            ["", *METHODS],
            [
                [name, *bold(line, min(line), 4)]
                for name, line in zip(sets, by_line(wide["loss"]))
            ],
        ),
        "## CPU seconds per fold",
        markdown_table(
            ["", *METHODS],
            [[name, *line] for name, line in zip(sets, by_line(wide["seconds"]))],
        ),
        "## Who beats whom",
        duels(wide),
    ]
    study.write_markdown("Bayesian forests on real data", *parts)


def by_line(table):
    """Lines of a table, as lists."""
    return [[float(v) for v in line] for line in table.to_numpy()]


def one(value):
    return "" if np.isnan(value) else f"{value:.1f}"


def bold(line, best, digits=1):
    """Numbers as texts, the best in bold."""
    best = (max if best == max(line) else min)(v for v in line if not np.isnan(v))
    texts = ["" if np.isnan(v) else f"{v:.{digits}f}" for v in line]
    return [f"**{t}**" if v == best else t for v, t in zip(line, texts)]


def summary(wide):
    """One line per method."""
    rows = []
    always = [m for m in METHODS if wide["loss"][m].notna().all()]
    rank = {
        "accuracy": (-wide["accuracy"][always]).rank(axis=1).mean(),
        "loss": wide["loss"][always].rank(axis=1).mean(),
    }
    for method in METHODS:
        ranks = [f"{rank[s][method]:.1f}" if method in always else "" for s in rank]
        rows.append([
            method,
            one(wide["accuracy"][method].mean()), ranks[0],
            f"{wide['loss'][method].mean():.4f}", ranks[1],
            float(wide["seconds"][method].mean()),
        ])  # fmt: skip
    head = ["", "accuracy, %", "rank", "log loss", "rank", "seconds"]
    return markdown_table(head, rows)


def duels(wide):
    """On how many sets one is better than another, ties counted for none."""
    rows = []
    pairs = [(setting, "thesis") for setting in OURS[1:]]
    pairs += [(setting, rival) for setting in OURS for rival in PEERS]
    for better, other in pairs:
        cells = []
        for name, sign in (("accuracy", 1), ("loss", -1)):
            gap = sign * (wide[name][better] - wide[name][other]).dropna()
            cells.append(f"{(gap > 0).sum()} : {(gap < 0).sum()}")
            cells.append(f"{sign * gap.median():+.3f}")
        rows.append([better, other, *cells])
    head = ["", "against", "accuracy: better, worse", "median difference, %",
            "log loss: better, worse", "median difference"]  # fmt: skip
    return markdown_table(head, rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
