"""Feature rankings by signal probability, random forest, lasso and BART.

    python -m benchmarks.sbfc.rankings [--quick] [--fresh] [--tables]

Figures 4e, 4f, 5c, 6c, 7 and 8 of the thesis.
"""

import time
import warnings
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from benchmarks._study import RESULTS, Study, arguments, markdown_table
from benchmarks.sbfc.cases import UCI, Fold, binned, ours
from benchmarks.sbfc.mixing import TRUE
from benchmarks.sbfc.rivals import one_hot, sampled_bart

CORRAL = (0, 1, 2, 3, 5)
SETS = {
    "corral": ("corral", None, CORRAL),
    "corral, 100 features": ("corral_augmented_1000", 100, CORRAL),
    "corral, 1,000 features": ("corral_augmented_1000", 1000, CORRAL),
    "heart": ("heart", None, ()),
    "heart, levels of the thesis": ("heart_mdlp", None, ()),
    "madelon, levels of the thesis": ("madelon_sbfc", None, tuple(j - 1 for j in TRUE)),
}
"""File, number of columns, and the relevant features, if known."""
QUICK = ("corral", "heart")
MOST_NAMED = 10

NOTES = """\
All rows of each set, on the same levels (see `sbfc_accuracy.md`). *SBFC* is \
`SelectiveBayesianForestClassifier`: signal probabilities with its default prior \
(*balanced*) and that of the thesis. *Random forest* is the impurity importance of 500 \
trees; *lasso* the largest penalty at which a level of the feature has a nonzero \
coefficient, relative to that of the first feature; *BART* the share of splits, with \
200 trees and 500 draws, summed over levels. *Found* is the number of relevant \
features among as many that rank first, ties in the order of columns; *average \
precision* is that of the ranking. *Above* is the number of other features with a \
signal probability of at least 1/2. Times are CPU seconds."""


IN_WORDS = """\
- **corral**: signal probabilities with either prior, random forest and lasso rank the \
five relevant features first, with 6, 100 and 1,000 features. With 100 the next are \
noise21, noise16, noise79 and noise53, as in Figure 4f of the thesis: they are \
associated with the class by chance. One of them has a signal probability above 1/2, \
and two with 1,000 features.
- **BART** spreads its splits over the features of 200 trees: with 100 features \
noise9 and the irrelevant one precede two relevant ones, and with 1,000 only two \
of the five are among the first ten. On heart it agrees least with the others.
- **heart**: the first nine are the same for signal probabilities, forest and lasso, \
and those of Figure 5c; their order differs.
- Signal probabilities of all nine are above 0.95: they rank features by evidence, \
which grows with the number of rows, and not by effect size; `level_odds` \
gives the latter.
"""


@lru_cache(maxsize=1)
def table_of(name):
    file, n_columns, _ = SETS[name]
    frame = pd.read_csv(UCI / f"{file}.csv.gz").dropna(ignore_index=True)
    y = np.unique(frame.pop("target"), return_inverse=True)[1]
    X = frame.iloc[:, :n_columns]
    return Fold(X, y, X, y)


def signal(fold, prior):
    model, _ = ours(fold, prior)
    return model.inclusion_probability_


def of_levels(fold, score, together):
    """Importances of features from those of one-hot columns."""
    codes, _, n_levels = binned(fold, keep_all=True)
    flags, _ = one_hot((codes, codes, n_levels), sparse_output=False)
    first = np.cumsum(np.append(0, np.where(n_levels > 2, n_levels, 1)))[:-1]
    return together.reduceat(score(flags, fold.y), first)


def forest(fold):
    from sklearn.ensemble import RandomForestClassifier

    codes, _, _ = binned(fold, keep_all=True)
    model = RandomForestClassifier(500, random_state=0).fit(codes, fold.y)
    return model.feature_importances_


def lasso(flags, y):
    """The largest penalty with a nonzero coefficient of each column, at most 1."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import l1_min_c

    rows = StandardScaler().fit_transform(flags)
    smallest, found = l1_min_c(rows, y, loss="log"), np.zeros(rows.shape[1])
    for c in np.logspace(2, 0.01, 40):
        model = LogisticRegression(
            C=c * smallest, l1_ratio=1.0, solver="liblinear", random_state=0
        )
        found[model.fit(rows, y).coef_[0] != 0] = 1 / c
    return found


def bart(flags, y):
    """Shares of splits, over all trees and draws."""
    forests = sampled_bart(flags, y).forest_container_mean
    counts = forests.get_overall_split_counts(flags.shape[1])
    return counts / counts.sum()


METHODS = {
    "SBFC": partial(signal, prior="balanced"),
    "SBFC, prior of the thesis": partial(signal, prior="thesis"),
    "random forest": forest,
    "lasso": partial(of_levels, score=lasso, together=np.maximum),
    "BART": partial(of_levels, score=bart, together=np.add),
}


def rows_of(name, method):
    """One row per feature."""
    fold = table_of(name)
    begin = time.process_time()
    score = METHODS[method](fold)
    taken = time.process_time() - begin
    rank = np.argsort(np.argsort(-score, kind="stable"))
    return [
        {
            "place": j,
            "feature": feature,
            "score": float(score[j]),
            "rank": int(rank[j]),
            "seconds": taken,
        }  # fmt: skip
        for j, feature in enumerate(fold.X.columns)
    ]


def main():
    options = arguments(__doc__, tables="only write the page and the figure")
    study = Study("sbfc_rankings", ["data", "method"], options)
    sets = QUICK if options.quick else SETS
    wanted = {
        (name, method): partial(rows_of, name, method)
        for name in sets
        for method in METHODS
    }
    if not options.tables:
        study.run(wanted, warm=lambda: None)
    frame = study.frame()
    done = frame.groupby(["data", "method"], sort=False)
    picture = f"{study.csv.stem}.png"
    draw(frame, RESULTS / picture)
    study.write_markdown(
        "Rankings of features",
        NOTES,
        f"{len(done)} of {len(wanted)} cases; the command runs the others.",
        "## Summary",
        IN_WORDS,
        "## Relevant features",
        found_table(frame),
        "## The first ten",
        first_table(frame),
        "## Agreement on heart",
        "Rank correlations.",
        agreement(frame[frame["data"] == "heart"]),
        f"![Scores of all features, relevant ones in blue]({picture})",
    )


def found_table(frame):
    rows = []
    for (name, method), own in frame.groupby(["data", "method"], sort=False):
        true = list(SETS[name][2])
        if not true:
            continue
        own = own.sort_values("place")
        score = own["score"].to_numpy()
        is_true = np.isin(np.arange(len(own)), true)
        first = own["rank"].to_numpy() < len(true)
        precision = average_precision_score(is_true, -own["rank"])
        above = ""
        if method.startswith("SBFC"):
            above = int((score[~is_true] >= 0.5).sum())
        rows.append([name, method, f"{is_true[first].sum()} of {len(true)}",
                     f"{precision:.3f}", above, own["seconds"].iloc[0]])  # fmt: skip
    head = ["data", "method", "found", "average precision", "above", "seconds"]
    return markdown_table(head, rows)


def first_table(frame):
    rows = []
    for (name, method), own in frame.groupby(["data", "method"], sort=False):
        first = own.sort_values("rank")
        first = first[first["score"] > 0][:MOST_NAMED]
        true = set(SETS[name][2])
        named = [
            f"**{one.feature}**" if one.place in true else one.feature
            for one in first.itertuples()
        ]
        rows.append([name, method, ", ".join(named)])
    return markdown_table(["data", "method", "first (relevant ones bold)"], rows)


def agreement(frame):
    wide = frame.pivot(index="place", columns="method", values="rank")[[*METHODS]]
    ranks = wide.corr(method="spearman")
    return markdown_table(
        ["", *METHODS],
        [[name, *(f"{v:.2f}" for v in row)] for name, row in ranks.iterrows()],
    )


def draw(frame, path):
    """Sorted scores, a panel for each set and method, as in Figures 7 and 8."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sets = [name for name in SETS if name in set(frame["data"])]
    figure, axes = plt.subplots(
        len(METHODS), len(sets), figsize=(3 * len(sets), 1.7 * len(METHODS)),
        squeeze=False, layout="constrained",
    )  # fmt: skip
    for column, name in enumerate(sets):
        for ax, method in zip(axes[:, column], METHODS):
            own = frame[(frame["data"] == name) & (frame["method"] == method)]
            own = own.sort_values("rank")[:30]
            true = own["place"].isin(SETS[name][2]) | (not SETS[name][2])
            colours = np.where(true, "tab:blue", "tab:red")
            ax.bar(range(len(own)), own["score"], color=colours)
            ax.set_xticks([])
            ax.set_title(f"{name}: {method}", fontsize=7)
            ax.tick_params(labelsize=7)
    figure.savefig(path, dpi=75)
    plt.close(figure)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
