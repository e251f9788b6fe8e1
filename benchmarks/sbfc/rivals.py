"""The methods that the thesis compares Bayesian forests with (its Figure 3).

Each takes a fold and its levels (training codes, test codes, numbers of levels) and
returns class probabilities of the test rows.
"""

import numpy as np
from scipy.special import softmax

MOST_FOR_TAN = 2000
"""Maximum number of features, for the memory of tables of all pairs of levels."""

MOST_CLASSES = {"BART": 2, "lasso": 3}
"""Probit BART is for two classes; with more than three, the lasso takes too long."""


def naive_bayes(fold, levels):
    from sklearn.naive_bayes import CategoricalNB

    train, test, n_levels = levels
    return CategoricalNB(min_categories=n_levels).fit(train, fold.y).predict_proba(test)


def random_forest(fold, levels):
    from sklearn.ensemble import RandomForestClassifier

    train, test, _ = levels
    model = RandomForestClassifier(500, random_state=0).fit(train, fold.y)
    return model.predict_proba(test)


def cart(fold, levels):
    """Cost-complexity pruning chosen by cross-validation."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    train, test, _ = levels
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    costs = tree.cost_complexity_pruning_path(train, fold.y).ccp_alphas
    some = np.unique(np.quantile(costs[:-1], np.linspace(0, 1, 10)).clip(0))
    search = GridSearchCV(tree, {"ccp_alpha": some if len(some) else [0.0]}, cv=5)
    return search.fit(train, fold.y).predict_proba(test)


def one_hot(levels, **settings):
    """Both parts with one-hot levels; one column for binary features."""
    from sklearn.preprocessing import OneHotEncoder

    train, test, _ = levels
    encoder = OneHotEncoder(drop="if_binary", handle_unknown="ignore", **settings)
    return encoder.fit_transform(train), encoder.transform(test)


def logistic(fold, levels):
    from sklearn.linear_model import LogisticRegression

    train, test = one_hot(levels)
    return LogisticRegression(max_iter=1000).fit(train, fold.y).predict_proba(test)


def lasso(fold, levels):
    """L1-penalized logistic regression, with the penalty chosen by cross-validation."""
    from sklearn.linear_model import LogisticRegressionCV

    train, test = one_hot(levels)
    solver = "saga" if fold.y.max() > 1 else "liblinear"
    model = LogisticRegressionCV(
        Cs=np.logspace(-2, 2, 9), l1_ratios=(1.0,), solver=solver, cv=5,
        scoring="neg_log_loss", use_legacy_attributes=False, random_state=0,
    )  # fmt: skip
    return model.fit(train, fold.y).predict_proba(test)


def svm(fold, levels):
    """Radial kernel with the settings of e1071; classes without probabilities."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    train, test = one_hot(levels, sparse_output=False)
    model = make_pipeline(StandardScaler(), SVC(gamma="auto")).fit(train, fold.y)
    return np.eye(int(fold.y.max()) + 1)[model.predict(test)]


def bart(fold, levels):
    """200 trees as in BayesTree, for two classes, on one-hot levels."""
    train, test = one_hot(levels, sparse_output=False)
    model = sampled_bart(train, fold.y)
    p = model.predict(test, terms="y_hat", scale="probability").mean(axis=1)
    return np.column_stack([1 - p, p])


def sampled_bart(rows, y):
    from stochtree import BARTModel, OutcomeModel

    model = BARTModel()
    model.sample(
        rows, y, num_gfr=10, num_burnin=100, num_mcmc=500,
        general_params={
            "random_seed": 0, "sample_sigma2_global": False,
            "outcome_model": OutcomeModel("binary", "probit"),
        },
        mean_forest_params={"num_trees": 200},
    )  # fmt: skip
    return model


def tan(fold, levels, added=1.0):
    """Friedman, Geiger and Goldszmidt (1997); with ``added`` pseudo-rows per cell."""
    from scipy.sparse.csgraph import breadth_first_order

    train, test, n_levels = levels
    n_classes = int(fold.y.max()) + 1
    tree = tan_tree(train, fold.y, n_levels)
    order, parent = breadth_first_order(tree, 0, directed=False)
    prior = np.bincount(fold.y, minlength=n_classes) + added
    log = np.tile(np.log(prior / prior.sum()), (len(test), 1))
    for j in order:
        is_root = parent[j] < 0
        above, there = (
            np.zeros(len(part), dtype=int) if is_root else part[:, parent[j]]
            for part in (train, test)
        )
        shape = n_classes, 1 if is_root else n_levels[parent[j]], n_levels[j]
        counts = np.full(shape, added)
        np.add.at(counts, (fold.y, above, train[:, j]), 1.0)
        share = np.log(counts / counts.sum(axis=2, keepdims=True))
        log += share[:, there, test[:, j]].T
    return softmax(log, axis=1)


def tan_tree(codes, y, n_levels):
    """The tree with the maximum sum of conditional mutual information."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    information = mutual_information(codes, y, n_levels)
    inside = ~np.eye(len(information), dtype=bool)
    # Zero information must not be read as a missing edge.
    return minimum_spanning_tree(-np.where(inside, information.clip(0) + 1e-9, 0.0))


def mutual_information(codes, y, n_levels):
    """Mutual information of all pairs of features, given the class."""
    begin, rows = np.cumsum(n_levels) - n_levels, np.arange(len(codes))[:, None]
    flags = np.zeros((len(codes), int(n_levels.sum())))
    flags[rows, begin + codes] = 1.0
    total = np.zeros(flags.shape[1:] * 2)
    for label in np.unique(y):
        inside = flags[y == label]
        both, alone = inside.T @ inside, inside.sum(axis=0)
        apart = np.outer(alone, alone)
        ratio = both * len(inside) / np.maximum(apart, 1.0)
        total += both * np.log(np.where(both > 0, ratio, 1.0)) / len(codes)
    return np.add.reduceat(np.add.reduceat(total, begin, axis=0), begin, axis=1)


RIVALS = {
    "BART": bart,
    "CART": cart,
    "lasso": lasso,
    "SVM": svm,
    "naive Bayes": naive_bayes,
    "TAN": tan,
    "random forest": random_forest,
    "logistic": logistic,
}


def can_run(method, n_features, n_classes):
    """Whether a method supports these numbers of features and classes."""
    if method == "TAN" and n_features > MOST_FOR_TAN:
        return False
    return n_classes <= MOST_CLASSES.get(method, n_classes)
