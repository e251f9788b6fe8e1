"""Stability of trees under resampling: table 3 of Afrabandpey et al. (2020).

Usage: python -m benchmarks.projection.stability [--quick] [--fresh] [--folder DIR]

The package stochtree must be installed. A tree projected from a BART, with the BART
refitted to each sample, compared with a CART tuned on it; both of the same maximum
size. With ``--folder`` the sets are the CSV files there with a numeric target in the
last column.
"""

from functools import lru_cache, partial
from importlib.metadata import version

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table
from benchmarks.projection.cases import sets_in, table
from clearwood import projection
from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import Interval, Question, Rule, Tree

SETS = ("bodyfat", "baseball", "autorisk", "autompg")
PRINTED = {
    "bodyfat": ("0.71 ± 0.11", "0.62 ± 0.19"),
    "baseball": ("0.84 ± 0.08", "0.83 ± 0.07"),
    "autorisk": ("0.79 ± 0.19", "0.81 ± 0.16"),
    "autompg": ("0.70 ± 0.14", "0.64 ± 0.14"),
}
"""The paper's table 3: prior, utility."""
SIZES = (5, 10)
N_SAMPLES = 10
N_DRAWS, N_TREES = 50, 50
MIN_ROWS = (1, 2, 5, 10, 20)
"""Fewest rows of a leaf of CART: chosen by five folds."""
MEASURES = (
    "paper_dissimilarity",
    "dissimilarity",
    "prediction_rms",
    "adjusted_rand",
    "shared_features",
)


def main():
    options = arguments(__doc__, {"folder": "of CSV files"})
    folder = options.folder
    name = "projection_stability" + "_folder" * bool(folder)
    study = Study(name, ["set", "leaves", "method"], options)
    sets = sets_in(folder, False, SETS[:1] if options.quick else SETS)
    cases = {
        (name, size, method): partial(measure, (name, folder), size, method)
        for name in sets
        for size in SIZES
        for method in METHODS
    }
    study.run(cases, warm=lambda: None)
    write_tables(study)


def measure(name, size, method):
    """All measures, their mean and standard deviation over pairs."""
    X, y, _ = table(*name)
    fit = partial(METHODS[method], name, size, X, y / y.std())
    found = projection.tree_stability(fit, X, n_refits=N_SAMPLES, random_state=0)
    row = {"size": float(np.mean(found.n_leaves))}
    for kind in MEASURES:
        values = getattr(found, kind)
        row |= {kind: float(np.mean(values)), f"{kind}_sd": float(np.std(values))}
    return [row]


@lru_cache(maxsize=N_SAMPLES)
def _bart(name, rows):
    X, y, _ = table(*name)
    rows = np.frombuffer(rows, dtype=np.int64)
    return cw.reference(
        "bart",
        X[rows],
        y[rows] / y.std(),
        task="regression",
        n_draws=N_DRAWS,
        n_trees=N_TREES,
        random_state=0,
    )


def projected_tree(refine, name, size, X, y, rows):
    reference = _bart(name, rows.astype(np.int64).tobytes())
    tree = cw.ProjectedTreeRegressor(
        reference, n_leaf_nodes=size, refine=refine, random_state=0
    )
    return tree.fit(X[rows]).tree_


def cart(name, size, X, y, rows):
    search = GridSearchCV(
        DecisionTreeRegressor(max_leaf_nodes=size, random_state=0),
        {"min_samples_leaf": MIN_ROWS},
        scoring="neg_mean_squared_error",
    )
    return tree_of(search.fit(X[rows], y[rows]).best_estimator_, X.shape[1])


def tree_of(model, n_features):
    """scikit-learn's tree as one of the library's."""
    tree = model.tree_

    def node(i, way):
        if tree.children_left[i] < 0:
            return Rule(way, float(tree.value[i, 0, 0]))
        d, cut = int(tree.feature[i]), float(tree.threshold[i])
        low, high = Interval(d, high=cut), Interval(d, low=cut)
        return Question(
            low,
            high,
            node(tree.children_left[i], (*way, low)),
            node(tree.children_right[i], (*way, high)),
        )

    return Tree(node(0, ()), FeatureSpace.numeric(n_features))


METHODS = {
    "tuned CART": cart,
    "projected": partial(projected_tree, False),
    "projected, refined": partial(projected_tree, True),
}


def _steadier(frame, kind):
    """In how many cases projected trees differ less than CART, as text."""
    values = frame.pivot(index=["set", "leaves"], columns="method", values=kind)
    ours = values.drop(columns="tuned CART")
    less = ours.lt(values["tuned CART"], axis=0)
    return f"{int(less.to_numpy().sum())} of {less.size}"


def write_tables(study):
    frame = study.frame()
    lines = [
        [row["set"], row["leaves"], row["method"], row["size"]]
        + [f"{row[kind]:.2f} ± {row[f'{kind}_sd']:.2f}" for kind in MEASURES]
        for _, row in frame.iterrows()
    ]
    steadier = [_steadier(frame, kind) for kind in ("dissimilarity", "prediction_rms")]
    shown = set(frame["set"])
    printed = [[name, *both] for name, both in PRINTED.items() if name in shown]
    study.write_markdown(
        "Stability of trees under resampling",
        f"Trees of {N_SAMPLES} bootstrap samples, all pairs compared: mean ± "
        f"standard deviation over {N_SAMPLES * (N_SAMPLES - 1) // 2} pairs, which "
        f"share samples. All methods are fitted to the same samples. BART has "
        f"{N_TREES} trees and {N_DRAWS} draws (stochtree {version('stochtree')}) and "
        "is refitted to each sample; CART's minimum leaf size is chosen on each sample "
        "by five folds that keep copies of a row together. Leaves: maximum; size: mean "
        "number of leaves.",
        "Equation 12 as printed is above 0 for equal trees (1 over their leaves); "
        "corrected it is 0. Lower is more stable for the first three measures, higher "
        "for the last two. Predictions are in standard deviations of the target. "
        "Projected trees have more stable splits than CART (corrected) in "
        f"{steadier[0]} rows, and more stable predictions in {steadier[1]}.",
        markdown_table(
            [
                "set",
                "leaves",
                "method",
                "size",
                "equation 12, printed",
                "equation 12, corrected",
                "RMS of predictions",
                "adjusted Rand",
                "shared features",
            ],
            lines,
        ),
        "The paper's table 3, of its own sizes and splits:\n\n"
        + markdown_table(["set", "prior (CART)", "utility (projected)"], printed),
    )


if __name__ == "__main__":
    main()
