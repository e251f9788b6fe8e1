"""Criteria for choosing sizes and growing rules of classes: estimates, probabilities.

Usage: python -m benchmarks.few_rules.choices [--quick] [--fresh] [--tables]
       [--folder PATH]

An ensemble is trained on at most 1,000 rows and approximated by up to ten rules of
several kinds. For each size, three quantities are measured on new rows: the fidelity of
the rules, the quality of their probabilities, and the error of the fit's own estimate.
``--folder``: on all CSV files of a folder, with the target in the last column.
"""

import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._data import SETS, SHARED, is_classes, make_model, numbers, table_of
from benchmarks._study import Study, arguments, simplifier
from benchmarks.few_rules.choices_tables import write_tables

MOST_TRAINING, MOST_TEST, MAX_RULES = 1000, 3000, 10

LOOKED_AT = (
    "heart", "pima", "waveform21", "spambase", "chess", "crx", "higgs", "breast",
    "vote", "flare", "glass2",
)  # fmt: skip
"""Sets of classes used to choose how rules grow; the others only confirm the choice."""

MORE = ("flare", "glass2", "lymphography", "mofn_3_7_10", "iris")
"""In addition to the sets that all studies share."""

LEFT_OUT = ("letter",)
"""Its 26 classes need more than ten rules."""

FEWEST = 10
"""Classes of fewer rows are dropped, since they could be missing in training."""

RARE = ("rare_box", "rare_sum")
"""Simulated rows, 2 % of them positive."""

TURNS = (("forest", ("list", "tree", "sum")), ("boosting", ("list",)))
"""Ensembles, and the kinds of rules fitted to each, in the order of the runs."""

QUICK = ("heart", "glass2", "energy", "rare_box")


def learnt_rows(self, training, held, seed):
    """Earlier criterion: held-out rows that the ensemble was trained on."""
    return training.take(held)


BEFORE = {"_evaluation_rows": learnt_rows, "scoring": "agreement"}
WAYS = {
    ("list", "before"): {**BEFORE, "_softness": 0.0},
    ("list", "agreement"): {"scoring": "agreement"},
    ("list", "auto"): {},
    ("list", "log_loss"): {"scoring": "log_loss"},
    ("list", "balanced"): {"scoring": "balanced"},
    ("tree", "before"): BEFORE,
    ("tree", "agreement"): {"scoring": "agreement"},
    ("tree", "auto"): {},
    ("tree", "balanced"): {"scoring": "balanced"},
    ("sum", "agreement"): {"scoring": "agreement"},
    ("sum", "auto"): {},
    ("sum", "balanced"): {"scoring": "balanced"},
}
"""Method and goal, and settings: "before" stands for the earlier criterion."""

NAMES = {"list": "RuleList", "tree": "DistilledTree", "sum": "AdditiveRules"}


def main():
    options = arguments(
        __doc__, {"folder": "a folder of CSV files"}, tables="only write the tables"
    )
    study = Study("few_rules_choices", ["data", "ensemble", "method", "goal"], options)
    if not options.tables:
        study.run(cases_of(options))
    write_tables(study, LOOKED_AT, RARE)


def cases_of(options):
    """Key -> function giving rows."""
    if options.folder:
        found = sorted(Path(options.folder).glob("*.csv*"))
        loaders = {path.name.split(".")[0]: partial(of_file, path) for path in found}
    else:
        loaders = {name: partial(of_set, name) for name in SETS if name not in LEFT_OUT}
        uci = SHARED / "uci"
        loaders |= {name: partial(of_file, uci / f"{name}.csv.gz") for name in MORE}
        loaders |= {name: partial(rare_rows, name) for name in RARE}
    if options.quick:
        loaders = {name: loaders[name] for name in QUICK if name in loaders}
    return {
        (name, kind, *way): partial(measured, loader, kind, *way)
        for kind, methods in TURNS
        for name, loader in loaders.items()
        for way in WAYS
        if way[0] in methods and way[1] in goals_of(name)
    }


def goals_of(name):
    """Only classes have rare positives; regression has one scoring, R2."""
    if name in RARE:
        return ("before", "agreement", "auto", "log_loss", "balanced")
    if name in SETS and not is_classes(name):
        return ("before", "auto")
    return ("before", "agreement", "auto", "log_loss")


def of_set(name):
    """Features, target, and whether these are classes, of a shared set."""
    return *table_of(name, 0), is_classes(name)


def of_file(path):
    """The same for a CSV file: text, or at most ten distinct integers, are classes."""
    frame = pd.read_csv(path)
    y = frame.pop(frame.columns[-1])
    has_target = y.notna()
    frame, y = frame[has_target], y[has_target]
    is_class = not pd.api.types.is_numeric_dtype(y)
    if not is_class:
        is_class = y.nunique() <= 10 and (y == y.round()).all()
    if not is_class:
        return numbers(frame), y.to_numpy(np.float64), False
    frequent = y.map(y.value_counts()) >= FEWEST
    return numbers(frame[frequent]), pd.factorize(y[frequent], sort=True)[0], True


def rare_rows(name):
    """6,000 rows of eight Gaussian features, of which 2 % are positive."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 8))
    if name == "rare_box":
        odds = np.where((X[:, 0] > 0.8) & (X[:, 1] > 0.3), -1.9, -4.9)
    else:
        odds = 1.2 * X[:, 0] + X[:, 1] - 0.8 * X[:, 2] - 5.2
    return X, (rng.random(6000) < 1 / (1 + np.exp(-odds))).astype(int), True


def measured(loader, kind, method, goal):
    """One row per size."""
    X, y, is_class = loader()
    if goal in ("agreement", "log_loss") and not is_class:
        return []
    rows = np.random.default_rng(0).permutation(len(y))
    # Even 3,000 rows contain few of the rare positives.
    most = 3000 if loader.func is rare_rows else MOST_TRAINING
    n_train = min(len(y) // 2, most)
    train, test = rows[:n_train], rows[n_train : n_train + MOST_TEST]
    model = make_model(kind, is_class, 0).fit(X[train], y[train])
    found = simplifier(
        NAMES[method], is_class, model, max_rules=MAX_RULES, random_state=0,
        **WAYS[method, goal],
    )  # fmt: skip
    begin = time.perf_counter()
    found.fit(X[train])
    taken = time.perf_counter() - begin
    of_model = model.predict(X[test])
    results = found.cv_results_
    # By agreement, the fidelity itself is the score.
    score = results.get("score", results["fidelity"])
    score_error = results.get("score_error", results["standard_error"])
    by_size = []
    for size in range(1, MAX_RULES + 1):
        rules = [rules for rules in found.path_ if rules.n_rules <= size][-1]
        by_size.append(
            {
                "K": size,
                "rows": n_train,
                "classes": len(model.classes_) if is_class else 0,
                "lines": rules.n_rules,
                "literals": rules.evaluate(X[test]).n_literals,
                **worth(rules, X[test], y[test], of_model, is_class),
                **worth_of_model(model, X[test], y[test], is_class),
                "estimate": results["fidelity"][size - 1],
                "standard_error": results["standard_error"][size - 1],
                "score": score[size - 1],
                "score_error": score_error[size - 1],
                "chosen": found.n_rules_,
                "seconds": taken,
            }
        )
    return by_size


def worth(rules, X, y, of_model, is_class):
    """Fidelity of the rules, and quality of their probabilities."""
    predicted = rules.predict(X)
    if not is_class:
        lost, spread = ((of_model - predicted) ** 2).mean(), of_model.var()
        return {"fidelity": 1 - lost / spread} | dict.fromkeys(SCORES, np.nan)
    return {
        "fidelity": float((predicted == of_model).mean()),
        **scores_of(rules.predict_proba(X), y),
        "recall": float((predicted[y == 1] == 1).mean()),
        "precision": float((y[predicted == 1] == 1).sum() / (predicted == 1).sum())
        if (predicted == 1).any()
        else 0.0,
    }


SCORES = ("auc", "log_loss", "brier", "recall", "precision")


def worth_of_model(model, X, y, is_class):
    """The same scores of the model's probabilities."""
    names = SCORES[:3]
    if not is_class:
        return {f"model_{name}": np.nan for name in names}
    found = scores_of(model.predict_proba(X), y)
    return {f"model_{name}": found[name] for name in names}


def scores_of(p, y):
    """AUC (of more classes each against the others, where all occur), log loss with
    probabilities from a thousandth, and Brier score."""
    from sklearn.metrics import roc_auc_score

    n_classes = p.shape[1]
    truth = np.eye(n_classes)[y]
    present = truth.any(axis=0) & ~truth.all(axis=0)
    aucs = [roc_auc_score(truth[:, k], p[:, k]) for k in np.flatnonzero(present)]
    sure = np.clip(p, 1e-3, 1)
    sure /= sure.sum(axis=1, keepdims=True)
    return {
        "auc": float(np.mean(aucs)),
        "log_loss": float(-np.log(sure[np.arange(len(y)), y]).mean()),
        "brier": float(((p - truth) ** 2).sum(axis=1).mean()),
    }


if __name__ == "__main__":
    main()
