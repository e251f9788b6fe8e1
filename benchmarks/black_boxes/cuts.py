"""Candidate cuts of rules for models without trees.

python -m benchmarks.black_boxes.cuts [--quick] [--fresh]

Lists of eight rules choose among cuts of one kind: those of small trees fitted to the
model's predictions (the library's), quantiles of each column, MDLP's of each column by
the predicted classes, or those of a CART per column fitted to the predictions. All are
evaluated on held-out rows.
"""

import time
import warnings
from functools import partial
from unittest import mock

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

from benchmarks._data import is_classes, load
from benchmarks._study import Study, arguments, markdown_table, simplifier
from clearwood.discretize import MDLPDiscretizer
from clearwood.simplifiers._common import own_cuts

SETS = ("heart", "crx", "pima", "waveform21", "energy", "autompg")
MODELS = ("network", "SVM")
N_RULES, SEEDS, QUANTILES = 8, 2, (8, 16, 32, 64)
BY_TREES = own_cuts._cuts


def between(ends, at):
    """Midpoint between neighbouring values: the last left of a cut, the first right."""
    return (ends[at - 1] + ends[at]) / 2


def by_quantiles(encoded, rows, answers, by_label, generator, *, n_bins):
    """Cuts of each column with about equal numbers of rows in the bins."""
    found = []
    for column in encoded.T:
        ends = np.unique(column)
        levels = np.arange(1, n_bins) / n_bins
        inner = np.quantile(column, levels, method="inverted_cdf")
        at = np.unique(np.searchsorted(ends, inner, side="right"))
        found.append(between(ends, at[at < len(ends)]))
    return together(found)


def by_mdlp(encoded, rows, answers, by_label, generator):
    """MDLP's cuts of each column, by the predicted classes."""
    return together(MDLPDiscretizer().fit(rows, answers.argmax(axis=1)).cuts_)


def by_columns(encoded, rows, answers, by_label, generator):
    """Cuts of each column that most reduce the variance of the predictions."""
    found = []
    for column in rows.T:
        cart = DecisionTreeRegressor(
            max_leaf_nodes=own_cuts.MOST_CUTS + 1, min_samples_leaf=5, random_state=0
        ).fit(column[:, None], answers)
        found.append(np.sort(cart.tree_.threshold[cart.tree_.children_left >= 0]))
    return together(found)


def by_both(*parts):
    """Those of small trees, and those of each column."""
    found = [np.column_stack(cuts(*parts)) for cuts in (BY_TREES, by_columns)]
    feature, cut = np.unique(np.concatenate(found), axis=0).T
    return feature.astype(int), cut


def together(cuts):
    """Columns and cuts of all columns."""
    columns = np.repeat(np.arange(len(cuts)), [len(own) for own in cuts])
    return columns, np.concatenate(cuts)


KINDS = {
    "small trees (the library's)": BY_TREES,
    **{f"{n} quantiles": partial(by_quantiles, n_bins=n) for n in QUANTILES},
    "CART of each column": by_columns,
    "small trees, and CART of each column": by_both,
    "MDLP of each column": by_mdlp,
}


def model_of(name, is_class, seed):
    if name == "network":
        make = MLPClassifier if is_class else MLPRegressor
        last = make(
            hidden_layer_sizes=(32,), max_iter=500, solver="lbfgs", random_state=seed
        )
    else:
        last = SVC() if is_class else SVR(C=100)
    return make_pipeline(StandardScaler(), last)


def evaluate(set_name, name, seed):
    X, y, X_new, _ = load(set_name, seed)
    is_class = is_classes(set_name)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model_of(name, is_class, seed).fit(X, y)
        predicted = model.predict(X_new)
        for kind, cuts in KINDS.items():
            if kind.startswith("MDLP") and not is_class:
                continue
            make = partial(simplifier, "RuleList", is_class, model, n_rules=N_RULES)
            begin = time.process_time()
            with mock.patch.object(own_cuts, "_cuts", cuts):
                fitted = make(random_state=seed).fit(X, y)
            spent = time.process_time() - begin
            fidelity = fitted.rules_.evaluate(
                X_new, predicted, model=predicted
            ).fidelity
            n_cuts = len(fitted.ensemble_.splits().numeric.cut)
            found.append(
                {"cuts": kind, "n_cuts": n_cuts, "fidelity": fidelity, "seconds": spent}
            )
    return found


def main():
    options = arguments(__doc__)
    study = Study("black_boxes_cuts", ("set", "model", "seed"), options)
    sets, seeds = (SETS[:2], 1) if options.quick else (SETS, SEEDS)
    study.run(
        {
            (set_name, name, seed): partial(evaluate, set_name, name, seed)
            for seed in range(seeds)
            for set_name in sets
            for name in MODELS
        }
    )
    frame = study.frame()
    whole = frame.groupby(["set", "model", "seed", "cuts"]).mean().unstack("cuts")
    default = whole["fidelity"][next(iter(KINDS))]
    rows, surely = [], []
    for kind in KINDS:
        own = whole["fidelity"][kind]
        change = (own - default).dropna()
        error = change.std(ddof=1) / np.sqrt(len(change))
        if abs(change.mean()) > 2 * error > 0:
            surely.append(kind)
        per_set = [own[set_name].mean() for set_name in sets]
        here = frame[frame.cuts == kind]
        rows.append(
            [
                kind,
                *per_set,
                f"{change.mean():+.3f} ± {error:.3f}",
                f"{(change > 0).sum()} : {(change < 0).sum()}",
                round(here.n_cuts.mean()),
                here.seconds.mean(),
            ]
        )
    header = [
        "cuts", *sets, "minus the library's", "better : worse", "candidate cuts",
        "CPU s per fit",
    ]  # fmt: skip
    study.write_markdown(
        "Cuts for models without trees",
        f"Lists of {N_RULES} rules of a network and of an SVM, {seeds} split(s) of "
        "each set: fidelity on held-out rows, the share of equal classes "
        "(R² for values: energy, autompg), means over models and splits. Minus the "
        "library's: mean difference for the same model and split, with its standard "
        "error, and in how many cases fidelity was higher or lower. "
        "MDLP needs classes. The time is that of the whole fit, including the choice "
        "of the cuts. Runs are single-threaded on the machine named above.",
        markdown_table(header, rows),
        "Different from the library's by more than twice the standard error: "
        f"{', '.join(surely) or 'none'}.",
    )


if __name__ == "__main__":
    main()
