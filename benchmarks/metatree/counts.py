"""How the search-corrected prior counts the questions among which the search selected.

Usage: python -m benchmarks.metatree.counts [--quick] [--fresh]

The prior probability of a further split is reduced by the count n (weight g / n).
Counts are compared on real sets, in one cross-validation, and on simulated ones: pure
noise, and noise together with one true question. They are chosen on half of the real
sets and confirmed on the others.
"""

import itertools
from functools import partial

import numpy as np
import pandas as pd

from benchmarks._study import Study, arguments, markdown_table
from benchmarks.metatree.cases import (
    CHOSEN,
    CLASSES,
    VALUES,
    folds,
    learned,
    make_leaf,
    make_model,
    score,
)
from clearwood import MetaTreeClassifier, MetaTreeRegressor
from clearwood._kernels.metatree_posterior import distinct_values
from clearwood.metatree import (
    compute_posterior,
    from_sklearn_tree,
    predict_at,
    search_corrected_prior,
)

GS = (0.5, 0.8)
WORDS = {
    "features": "features that vary in the table",
    "local": "features that vary at the node",
    "rows": "these, x root of rows minus one",
    "log": "local, sum of 1 + log2 of questions",
    "root": "local, sum of roots of questions",
    "all": "local, sum of questions",
    "own log": "local x (1 + log2 of questions of its own feature)",
    "own order": "local x root of places of its own feature",
    "own root": "local x root of questions of its own feature",
    "own sets": "local x root of cuts, or number of sets, of its own feature",
    "own all": "local x questions of its own feature",
}
BASE = ("features", 0.5)
LABELLED = ("heart", "crx", "chess", "letter", "autorisk", "autompg")
"""Real sets whose columns of few integers are also treated as categories."""
MOST_LABELS = 30
MADE = (
    "1 number", "10 numbers", "10 categories", "50 categories", "200 categories",
    "true number", "true categories",
)  # fmt: skip
N_SEEDS = 20
N_ROWS, N_TEST = 300, 1000

IN_WORDS = """\
- **Features alone are too few.** With them a tree is certain of its first question
  where labels are random and there is one number, or 50 categories.
- **Selected: features that vary at the node, times the root of the number of questions
  about the split feature.** Relative to features alone the loss is lower on 7 of the 8
  sets where it was chosen and on 8 of the 11 others (equal on one); where it is higher
  (breast, letter, autompg) it is by at most 0.016. On noise the root splits with a
  probability of about 0.1, and a true question is found among noise.
- **All questions** exclude noise entirely, but prune too much on more than half of the
  real sets. **Logarithms** equal the root on numbers, and fail with 50 categories.
- **Sets count, not places.** The search tries k - 1 sets of k categories, but in an
  order given by the target: with the root of k - 1 a tree is certain of noise. With the
  root of the number of sets it is not, unless hardly two rows share a category (200
  categories of 300 rows). The number of sets itself excludes these, too, but is worse
  on five of six real sets where integers were treated as categories.
- **A sum over features** in place of the split feature is about as good here; but the
  many sets of one column of categories would count against questions about all others.
- **Errors** of classes are fewer in the mean of the others, and more by 1 % of the rows
  or more on heart, waveform21 and letter."""

NOTES = f"""\
*Questions* of a feature at a node are cuts between the distinct values there, or the
two-part sets of its k categories there, 2^(k-1) - 1; *places* are k - 1 of these as
well, since a search in the order of the target tries no more. Leaves and g are the
defaults otherwise. Losses (values: minus log density) and errors (values: RMSE) are
differences from those of the first row, on the same set: below 0 is better. Chosen on
{", ".join(CHOSEN)}.

Simulated sets have {N_ROWS} rows, {N_SEEDS} of each kind. Labels or values are random
on the first five, so that the root should not be split, and no loss can be below 0.693
(values: 1.419). On the last two, one question among three numbers and 50 categories is
true; the loss cannot be below 0.423 (values: 1.419).

## Summary

{IN_WORDS}"""


def main():
    options = arguments(__doc__)
    study = Study("metatree_counts", ["data", "task"], options)
    sets = ("heart", "crx", "bodyfat", "autompg") if options.quick else CLASSES + VALUES
    cases = {(name, "real"): partial(rows_of, name) for name in sets}
    if not options.quick:
        cases |= {(n, "categories"): partial(rows_of_labelled, n) for n in LABELLED}
    for name, task in itertools.product(MADE, ("classes", "values")):
        cases[name, task] = partial(rows_of_made, name, task)
    study.run(cases, warm=lambda: rows_of("hepatitis"))
    write_tables(study)


def counts(structure, X, n_rows):
    """Name -> count of every node; see ``WORDS``."""
    encoded = structure.coder.features.encode(X)
    ends = structure.route(structure.encode(X))
    labels = [found is not None for found in structure.coder.features.categories]
    places = np.empty((encoded.shape[1], structure.n_nodes))
    for d, column in enumerate(encoded.T):
        rank = np.unique(column, return_inverse=True)[1]
        order = np.argsort(rank, kind="stable")
        n_values = distinct_values(rank[order], ends[order], structure.parent)
        places[d] = np.maximum(n_values - 1, 0)
    questions = places.copy()
    questions[labels] = 2.0 ** places[labels] - 1
    by_kind = np.sqrt(places)
    by_kind[labels] = questions[labels]
    bits = np.where(questions > 0, 1 + np.log2(np.maximum(questions, 1)), 0)
    local = np.maximum((places > 0).sum(axis=0), 1)
    features = np.full(structure.n_nodes, max((places[:, 0] > 0).sum(), 1))

    def own(values):
        split = np.maximum(structure.feature, 0)
        return np.maximum(values[split, np.arange(structure.n_nodes)], 1)

    def in_all(values):
        return np.maximum(values.sum(axis=0), 1)

    return {
        "features": features,
        "local": local,
        "rows": features * np.sqrt(np.maximum(n_rows - 1, 1)),
        "log": in_all(bits),
        "root": in_all(np.sqrt(questions)),
        "all": in_all(questions),
        "own log": local * own(bits),
        "own order": local * np.sqrt(own(places)),
        "own root": local * np.sqrt(own(questions)),
        "own sets": local * own(by_kind),
        "own all": local * own(questions),
    }


def posteriors(structure, leaf, own, X):
    """Count and g -> posterior."""
    nothing = np.zeros(structure.n_nodes)
    total = compute_posterior(structure, leaf, nothing, own).total
    n_rows = total.sum(axis=1) if hasattr(leaf, "probabilities") else total[:, 0]
    return {
        (name, g): compute_posterior(
            structure, leaf, search_corrected_prior(structure, g, n), own
        )
        for name, n in counts(structure, X, n_rows).items()
        for g in GS
    }


def means(found):
    return [
        {"count": name, "g": g} | pd.DataFrame(rows).mean().to_dict()
        for (name, g), rows in found.items()
    ]


def rows_of(name):
    """Means over the folds of a real set, one row per count and g."""
    found = {}
    for fold in folds(name, 0):
        structure = from_sklearn_tree(make_model(fold).fit(fold.X, fold.y))
        leaf = make_leaf(fold, fold.y)
        own = learned(structure, leaf, fold.X, fold.y)
        at = structure.route(structure.encode(fold.X_test))
        for key, posterior in posteriors(structure, leaf, own, fold.X).items():
            scores = score(fold, predict_at(posterior, at))
            found.setdefault(key, []).append(
                {c: scores[c] for c in ("loss", "error", "coverage")}
                | {"root": posterior.g[0]}
            )
    return means(found)


def rows_of_labelled(name):
    """The same with categories in place of few integers."""
    found = {}
    for fold in folds(name, 0):
        X, X_test = (labelled(rows, fold.X) for rows in (fold.X, fold.X_test))
        estimator = MetaTreeClassifier if fold.n_classes else MetaTreeRegressor
        model = estimator(random_state=0).fit(X, fold.y)
        structure = model.structure_
        at = structure.route(structure.encode(X_test))
        own = model.meta_tree_.own
        for key, posterior in posteriors(structure, model.leaf_model_, own, X).items():
            scores = score(fold, predict_at(posterior, at))
            found.setdefault(key, []).append(
                {c: scores[c] for c in ("loss", "error", "coverage")}
                | {"root": posterior.g[0]}
            )
    return means(found)


def labelled(X, X_train):
    """A frame; columns of at most ``MOST_LABELS`` integers are categories."""
    frame = pd.DataFrame(X).add_prefix("x")
    for name, column in zip(frame.columns, X_train.T):
        distinct = np.unique(column[~np.isnan(column)])
        if 2 < len(distinct) <= MOST_LABELS and (distinct == np.floor(distinct)).all():
            text = frame[name].map("{:g}".format).astype(object)
            frame[name] = text.where(frame[name].notna(), None)
    return frame


def rows_of_made(name, task):
    """Means over simulated sets of one kind."""
    found = {}
    estimator = MetaTreeClassifier if task == "classes" else MetaTreeRegressor
    for seed in range(N_SEEDS):
        X, y = made(name, task, seed)
        train, test = slice(N_ROWS), slice(N_ROWS, None)
        model = estimator(random_state=0).fit(X[train], y[train])
        structure, leaf, own = model.structure_, model.leaf_model_, model.meta_tree_.own
        at = structure.route(structure.encode(X[test]))
        for key, posterior in posteriors(structure, leaf, own, X[train]).items():
            predicted = predict_at(posterior, at)
            if task == "classes":
                p = predicted.probabilities()[np.arange(len(at)), y[test]]
                loss = -np.log(p).mean()
            else:
                loss = -predicted.log_density(y[test]).mean()
            row = {"loss": loss, "error": np.nan, "coverage": np.nan}
            row["root"] = posterior.g[0]
            found.setdefault(key, []).append(row)
    return means(found)


def made(name, task, seed):
    """A table and labels or values."""
    rng, n = np.random.default_rng(seed), N_ROWS + N_TEST
    kind, what = name.split()
    numbers = rng.normal(size=(n, 3 if kind == "true" else 10))
    k = int(kind) if what == "categories" and kind != "true" else 50
    code = rng.integers(k, size=n)
    category = pd.Categorical.from_codes(code, [f"k{i:02}" for i in range(k)])
    sign = np.zeros(n)
    if kind == "true":
        X = pd.DataFrame(numbers, columns=list("abc")).assign(category=category)
        sign = np.sign(numbers[:, 0]) if what == "number" else 2 * (code % 2) - 1
    elif what == "categories":
        X = pd.DataFrame({"category": category})
    else:
        X = pd.DataFrame(numbers[:, : int(kind)]).add_prefix("x")
    if task == "classes":
        return X, (rng.random(n) < 0.5 + 0.35 * sign).astype(int)
    return X, sign + rng.normal(size=n)


def write_tables(study):
    frame = study.frame()
    real = frame[frame.task == "real"]
    parts = [NOTES]
    for task, sets in (("classes", CLASSES), ("values", VALUES)):
        parts += [f"## Real sets, {task}", table_of_real(real[real.data.isin(sets)])]
    for task in ("classes", "values"):
        parts += [
            f"## Simulated sets, {task}: loss, and probability that the root is split",
            table_of_made(frame[(frame.task == task) & (frame.g == BASE[1])]),
        ]
    labelled_sets = frame[(frame.task == "categories") & (frame.g == BASE[1])]
    if len(labelled_sets):
        title = "## Integers as categories, by set, g = 0.5: loss"
        parts += [title, table_of_sets(labelled_sets)]
    parts += ["## By set, g = 0.5: loss", table_of_sets(real[real.g == BASE[1]])]
    study.write_markdown("Counts in the search-corrected prior", *parts)


def table_of_real(frame):
    wide = {
        score: frame.pivot_table(index=["count", "g"], columns="data", values=score)
        for score in ("loss", "error")
    }
    chosen = [name for name in wide["loss"].columns if name in CHOSEN]
    others = [name for name in wide["loss"].columns if name not in CHOSEN]
    rows = []
    for g, name in itertools.product(GS, WORDS):
        cells = [WORDS[name], g]
        for sets in (chosen, others):
            loss, error = (wide[s][sets] - wide[s].loc[BASE, sets] for s in wide)
            rank = wide["loss"][sets].rank().mean(axis=1)
            cells += [
                f"{rank[name, g]:.1f}",
                f"{loss.loc[(name, g)].mean():+.4f}",
                f"{(loss.loc[(name, g)] < 0).sum()} of {len(sets)}",
                f"{error.loc[(name, g)].mean():+.4f}",
            ]
        rows.append(cells)
    words = ("rank", "loss", "better on", "error")
    head = ["count", "g", *(f"{word}, {half}" for half in ("chosen", "others")
                            for word in words)]  # fmt: skip
    return markdown_table(head, rows)


def table_of_made(frame):
    by = frame.set_index(["count", "data"])
    rows = [
        [
            WORDS[name],
            *(f"{by.loss[name, data]:.3f}, {by.root[name, data]:.2f}" for data in MADE),
        ]
        for name in WORDS
    ]
    return markdown_table(["count", *MADE], rows)


def table_of_sets(frame):
    wide = frame.pivot_table(index="data", columns="count", values="loss")[list(WORDS)]
    rows = [
        [name, *(f"{v:.4f}" for v in wide.loc[name])]
        for name in CLASSES + VALUES
        if name in wide.index
    ]
    return markdown_table(["", *wide.columns], rows)


if __name__ == "__main__":
    main()
