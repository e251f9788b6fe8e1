"""Fidelity of lists of eight rules to models without trees.

python -m benchmarks.black_boxes.models [--quick] [--fresh]

Ten kinds of models are approximated by a list, and by a CART of eight leaves fitted to
the model's predictions for the same rows. Both are evaluated on held-out rows.
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd
from catboost import CatBoostClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import clearwood as cw
from benchmarks._data import SHARED, prepared
from benchmarks._study import Study, arguments, markdown_table

SETS = ("crx", "pima", "heart")
N_RULES, SEEDS = 8, 3


def model_of(name, X, seed):
    texts = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed)
    boosting = GradientBoostingClassifier(random_state=seed)
    if name == "CatBoost, text":
        return CatBoostClassifier(
            100,
            cat_features=tuple(texts),
            verbose=0,
            random_seed=seed,
            thread_count=1,
            allow_writing_files=False,
        )
    if name == "PCA, then logistic":
        return make_pipeline(prepared(), PCA(4), LogisticRegression())
    if name == "meta-tree":
        return make_pipeline(prepared(), cw.MetaTreeClassifier(random_state=seed))
    last = {
        "network": MLPClassifier((32,), max_iter=500, random_state=seed),
        "SVM": SVC(),
        "calibrated forest": CalibratedClassifierCV(forest, cv=3),
        "stacking": StackingClassifier([("forest", forest), ("boosting", boosting)]),
        "Gaussian process": GaussianProcessClassifier(random_state=seed),
        "nearest neighbours": KNeighborsClassifier(15),
        "logistic": LogisticRegression(),
    }[name]
    return make_pipeline(prepared(), last)


MODELS = (
    "network", "SVM", "calibrated forest", "stacking", "Gaussian process",
    "nearest neighbours", "CatBoost, text", "logistic", "PCA, then logistic",
    "meta-tree",
)  # fmt: skip


def split(name, seed):
    frame = pd.read_csv(SHARED / "uci" / f"{name}.csv.gz")
    for column in frame.columns[:-1]:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].fillna("none").astype(object)
    y = frame.pop(frame.columns[-1]).astype(str).to_numpy()
    rows = np.random.default_rng(seed).permutation(len(y))[:1500]
    train, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    return frame.iloc[train], y[train], frame.iloc[test], y[test]


def evaluate(set_name, name, seed):
    X, y, X_new, y_new = split(set_name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model_of(name, X, seed).fit(X, y)
        predicted, predicted_new = (
            np.ravel(model.predict(rows)) for rows in (X, X_new)
        )
        rules = cw.RuleListClassifier(model, n_rules=N_RULES, random_state=seed).fit(
            X, y
        )
        columns = prepared().fit(X)
        cart = DecisionTreeClassifier(max_leaf_nodes=N_RULES, random_state=seed)
        cart.fit(columns.transform(X), predicted)
        by_cart = cart.predict(columns.transform(X_new))
    return [
        {
            "list": float((rules.predict(X_new) == predicted_new).mean()),
            "cart": float((by_cart == predicted_new).mean()),
            "model_error": float((predicted_new != y_new).mean()),
            "list_error": float((rules.predict(X_new) != y_new).mean()),
            "cart_error": float((by_cart != y_new).mean()),
            "lines": rules.rules_.n_rules,
            "cuts": rules.rules_.about.get("cuts", "the ensemble's").split(":")[0],
        }
    ]


def main():
    options = arguments(__doc__)
    study = Study("black_boxes_models", ("set", "model", "seed"), options)
    sets, seeds = (SETS[:1], 1) if options.quick else (SETS, SEEDS)
    study.run(
        {
            (set_name, name, seed): partial(evaluate, set_name, name, seed)
            for seed in range(seeds)
            for set_name in sets
            for name in MODELS
        }
    )
    frame = study.frame()
    rows = []
    for name in MODELS:
        here = frame[frame.model == name]
        won, lost = (here.list > here.cart).sum(), (here.list < here.cart).sum()
        numbers = [here[c].mean() for c in ("list", "cart")]
        errors = [here[c].mean() for c in ("model_error", "list_error", "cart_error")]
        cuts = "; ".join(sorted(here.cuts.unique()))
        rows.append([name, cuts, *numbers, f"{won} : {lost}", *errors])
    header = [
        "model", "cuts", "fidelity of list", "fidelity of CART", "better : worse",
        "error of model", "error of list", "error of CART",
    ]  # fmt: skip
    study.write_markdown(
        "Lists as surrogates of any model",
        f"Lists of {N_RULES} rules, and CART of {N_RULES} leaves fitted to the "
        "model's predictions for the training rows. Fidelity: share of held-out rows "
        f"(half of each set) with the model's class; better : worse, number of cases "
        "in which the fidelity of the list is higher or lower than that of CART. Means "
        f"over {', '.join(sets)}, {seeds} splits each. CART is fitted to the columns "
        "after imputation, scaling and one-hot encoding; the list to the table itself.",
        markdown_table(header, rows),
    )


if __name__ == "__main__":
    main()
