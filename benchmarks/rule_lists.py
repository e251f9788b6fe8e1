"""Rule lists against the trees of their size that are fitted to the same ensemble.

Usage: python benchmarks/rule_lists.py [--quick] [--fresh]

Per data set, ensemble and split: the ensemble is trained, and a rule list (tune=None)
and two CARTs with as many leaves explain it; how far they follow it is measured on
test rows.
"""

import os
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from common import ROOT, Study, arguments, load_split, markdown_table, mean_and_sd

SIZES = (3, 5, 8, 10)

SETS = {
    "spambase": ("classification", "chosen"),
    "pima": ("classification", "chosen"),
    "waveform21": ("classification", "chosen"),
    "higgs": ("classification", "confirmed"),
    "heart": ("classification", "chosen"),
    "crx": ("classification", "confirmed"),
    "satimage": ("classification", "confirmed"),
    "breast": ("classification", "confirmed"),
    "energy": ("regression", "chosen"),
    "autompg": ("regression", "chosen"),
    "bodyfat": ("regression", "chosen"),
    "autorisk": ("regression", "confirmed"),
    "baseball": ("regression", "confirmed"),
}
"""Task, and whether settings were chosen on the set or only confirmed on it."""

MOST_ROWS = 2000
"""Rows to train on, and to test on, at most; half of a smaller set each."""

TEXT = """\
Held-out agreement with the ensemble (share of equal classes, or R2): of the rule list
(`tune=None`, at most K lines) less the better one, on the same test rows, of a CART
with K leaves fitted to the ensemble's labels and one fitted to its probabilities (in
regression there is one: fitted to its values). The list also learns from made rows that
the ensemble labels; these CARTs, as people grow them today, do not. Settings were
chosen on the sets called
"chosen". Error: of the printed rules and of that CART against the true labels or
values. Literals: of the list, and of the CART's leaves after dropping repeated bounds.
Overlap: mean number of rules per test row. Seconds: one fit of the whole path up to 10
lines, the ensemble being there."""


def main():
    options = arguments(__doc__)
    study = Study("rule_lists", ["data", "ensemble", "split"], options)
    study.run(
        {
            (name, kind, split): partial(scores, name, kind, split)
            for split in range(1 if options.quick else 3)
            for name in SETS
            for kind in ("forest", "xgboost")
        }
    )
    frame = study.frame()
    frame["role"] = [SETS[name][1] for name in frame["data"]]
    frame["task"] = [SETS[name][0] for name in frame["data"]]
    study.write_markdown(
        "Rule lists and trees of their size",
        TEXT,
        summary(frame, ["task", "role", "K"]),
        summary(frame, ["task", "data", "ensemble", "K"]),
    )


def summary(frame, keys):
    """Wins, losses and mean gains per group."""
    lines = []
    for key, rows in frame.groupby(keys, sort=False):
        gain = rows["list"] - rows["cart"]
        error = rows["list_error"] / rows["cart_error"] - 1
        lines.append(
            [
                *key,
                len(rows),
                f"{(gain > 0).sum()} / {(gain < 0).sum()}",
                f"{gain.mean():+.3f}",
                mean_and_sd(rows["list"], 3),
                mean_and_sd(rows["cart"], 3),
                f"{100 * error.mean():+.0f} %",
                f"{rows['literals'].mean():.1f} / {rows['cart_literals'].mean():.1f}",
                f"{rows['overlap'].mean():.2f}",
                f"{rows['seconds'].mean():.2f}",
            ]
        )
    header = ["cases", "wins / losses", "gain", "list", "CART", "error", "literals"]
    return markdown_table([*keys, *header, "overlap", "seconds"], lines)


def load(name, seed):
    """``X_train, y_train, X_test, y_test``; text becomes columns of 0 and 1."""
    if name in ("spambase", "energy"):
        return load_split(name, seed)
    shared = Path(os.environ.get("CLEARWOOD_SHARED", ROOT.parent / "shared")) / "data"
    path = shared / "uci" / f"{name}.csv.gz"
    if not path.exists():
        path = shared / "tabular" / f"{name}.csv"
    frame = pd.read_csv(path).drop(columns="name", errors="ignore")
    target = frame.columns[-1] if "target" not in frame else "target"
    y = frame.pop(target)
    if SETS[name][0] == "classification":
        y = pd.factorize(y, sort=True)[0]
    X = pd.get_dummies(frame).to_numpy(np.float64)
    # scikit-learn's forests take missing values, but the CARTs beside them are
    # easier to compare without.
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    rows = np.random.default_rng(seed).permutation(len(y))[: 2 * MOST_ROWS]
    train, test = np.array_split(rows, 2)
    y = np.asarray(y)
    return X[train], y[train], X[test], y[test]


def make_model(kind, task, seed):
    """A forest of 100 trees or XGBoost with its defaults, unfitted."""
    import xgboost
    from sklearn import ensemble

    name = "Classifier" if task == "classification" else "Regressor"
    if kind == "forest":
        make = getattr(ensemble, f"RandomForest{name}")
        return make(n_estimators=100, random_state=seed)
    return getattr(xgboost, f"XGB{name}")(n_jobs=1, random_state=seed)


def scores(name, kind, split):
    """One row per size."""
    import clearwood as cw

    task = SETS[name][0]
    X_train, y_train, X_test, y_test = load(name, split)
    model = make_model(kind, task, split).fit(X_train, y_train)
    said, judge = model.predict(X_test), judge_of(task)
    make = getattr(
        cw, f"RuleList{'Classifier' if task == 'classification' else 'Regressor'}"
    )
    rules = make(model, n_rules=max(SIZES), tune=None, random_state=split)
    begin = time.perf_counter()
    rules.fit(X_train, y_train)
    taken = time.perf_counter() - begin
    rows = []
    for size in SIZES:
        found = [r for r in rules.path_ if r.n_rules <= size][-1]
        trees = carts(model, X_train, task, size)
        told = [predict(X_test) for _, predict in trees]
        best = int(np.argmax([judge(said, t) for t in told]))
        evaluated = found.evaluate(X_test)
        rows.append(
            {
                "K": size,
                "lines": found.n_rules,
                "list": judge(said, found.predict(X_test)),
                "cart": judge(said, told[best]),
                "list_error": 1 - judge(y_test, found.predict(X_test)),
                "cart_error": 1 - judge(y_test, told[best]),
                "literals": found.n_literals,
                "cart_literals": tree_literals(trees[best][0]),
                "overlap": evaluated.overlap,
                "seconds": taken,
            }
        )
    return rows


def judge_of(task):
    """Share of equal classes, or R2."""
    from sklearn.metrics import accuracy_score, r2_score

    return accuracy_score if task == "classification" else r2_score


def carts(model, X, task, size):
    """Trees with ``size`` leaves, each with the function by which it predicts."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    options = {"max_leaf_nodes": size, "random_state": 0}
    if task == "regression":
        tree = DecisionTreeRegressor(**options).fit(X, model.predict(X))
        return [(tree.tree_, tree.predict)]
    labels = DecisionTreeClassifier(**options).fit(X, model.predict(X))
    soft = DecisionTreeRegressor(**options).fit(X, model.predict_proba(X))
    return [
        (labels.tree_, labels.predict),
        (soft.tree_, lambda rows: soft.predict(rows).argmax(axis=1)),
    ]


def tree_literals(tree, node=0, sides=frozenset()):
    """Bounds in the conditions of all leaves: one per feature and side."""
    if tree.feature[node] < 0:
        return len(sides)
    d = tree.feature[node]
    return sum(
        tree_literals(tree, child, sides | {(d, side)})
        for side, child in enumerate(
            (tree.children_left[node], tree.children_right[node])
        )
    )


if __name__ == "__main__":
    main()
