"""Time of meta-trees compared with BayesML, and with the forests that they read.

Usage: python -m benchmarks.metatree.speed [--quick] [--fresh]

BayesML 0.5.1 must be installed. Times are CPU seconds; the methods alternate, so that
changes of load affect all of them alike.
"""

import time
import warnings
from functools import lru_cache, partial
from importlib.metadata import version

import numpy as np

from benchmarks._data import gaussian_rows
from benchmarks._study import Study, arguments, markdown_table
from benchmarks.metatree.bayesml import (
    ours,
    ours_in_turn,
    ours_one_by_one,
    random_features,
    theirs,
)

SHAPES = ((5, 5), (10, 20))
"""Depth and number of features."""
SIZES = (50, 100, 200, 1_000, 10_000, 100_000, 1_000_000)
TABLE_1 = (50, 100, 200)
PAPER = {"previous": (1.67, 3.29, 6.72), "proposal": (1.78, 1.89, 1.90)}
"""The paper's table 1, in milliseconds."""
BATCHES = (1, 2, 5, 50)
FOREST_ROWS = {"classes": (1_000, 10_000, 50_000), "values": (1_000, 10_000)}
PREDICTED_ROWS = (1, 1_000, 100_000)
COLUMNS = ("what", "ms", "sd", "gap")


def main():
    options = arguments(__doc__)
    study = Study("metatree_speed", ["part", "a", "b"], options)
    n_train = 1_000 if options.quick else 10_000
    cases = {
        ("batch", f"{depth} {n_features}", n): partial(batch, depth, n_features, n)
        for depth, n_features in SHAPES
        for n in SIZES[: 5 if options.quick else None]
    }
    for n in TABLE_1:
        repeats = 1 if options.quick else 5
        cases["table 1", n, "-"] = partial(table_1, n, repeats)
    for n in BATCHES:
        cases["repeated", n, "-"] = partial(repeated, n)
    for task in ("classes", "values"):
        for n in FOREST_ROWS[task][: 1 if options.quick else None]:
            cases["forest", task, n] = partial(forest, task, n)
        for n in PREDICTED_ROWS[: 2 if options.quick else None]:
            cases["predict", task, n] = partial(predict, task, n, n_train)
    study.run(cases, warm=warm)
    write_tables(study)


def warm():
    """Load all modules."""
    batch(5, 5, 10)
    given_tree(5, 5, 10)
    ours_in_turn(*given_tree(5, 5, 10)[1:])
    for task in ("classes", "values"):
        forest(task, 300)
        predict(task, 10, n_train=300)


def in_turn(repeats, calls=1, **sides):
    """CPU milliseconds of some functions, and their results; a number of calls of one,
    then of the next, in turn, without the first call of each turn."""
    taken = {name: [] for name in sides}
    gave = {}
    for _ in range(repeats):
        for name, side in sides.items():
            for i in range(calls + 1):
                begin = time.process_time()
                gave[name] = side()
                now = time.process_time() - begin
                if isinstance(gave[name], tuple):  # timed inside
                    now, gave[name] = gave[name]
                if i:
                    taken[name].append(1e3 * now)
    return taken, gave


def rows_of(taken, gap=None, middle=np.median):
    return [
        {
            "what": name,
            "ms": float(middle(ms)),
            "sd": float(np.std(ms)),
            "gap": (gap or {}).get(name, np.nan),
        }
        for name, ms in taken.items()
    ]


def given_tree(depth, n_features, n):
    """Features, our structure of them, and rows."""
    from clearwood.metatree import given

    rng = np.random.default_rng(n + depth)
    feature = random_features(depth, n_features, rng)
    X = rng.integers(0, 2, (n, n_features))
    # Some questions matter, some do not.
    y = (rng.random(n) < 0.2 + 0.6 * X[:, feature[0]]).astype(int)
    return feature, given(feature, n_values=2, n_features=n_features), X, y


def batch(depth, n_features, n):
    """One batch, both programs; ``gap`` is the largest difference of g."""
    feature, structure, X, y = given_tree(depth, n_features, n)
    taken, g = in_turn(
        *((5, 20) if n <= 1_000 else (5, 4) if n <= 10_000 else (2, 2)),
        ours=lambda: ours(structure, [(X, y)]),
        bayesml=lambda: theirs(feature, depth, [(X, y)]),
    )
    gap = np.abs(g["ours"] - g["bayesml"]).max()
    return rows_of(taken, {"ours": gap, "bayesml": gap})


def single(X, y):
    return [(X[i : i + 1], y[i : i + 1]) for i in range(len(y))]


def table_1(n, repeats):
    """The paper's table: M = 2, K = 5, D = 5; ``gap`` to BayesML's single batch."""
    feature, structure, X, y = given_tree(5, 5, n)
    taken, g = in_turn(
        repeats,
        20,
        bayesml=lambda: theirs(feature, 5, [(X, y)]),
        ours=lambda: ours(structure, [(X, y)]),
        bayesml_rows=lambda: theirs(feature, 5, single(X, y)),
        ours_stream=lambda: ours_in_turn(structure, X, y),
        ours_rows=lambda: ours_one_by_one(structure, X, y),
    )
    gap = {name: np.abs(values - g["bayesml"]).max() for name, values in g.items()}
    return rows_of(taken, gap, middle=np.mean)


def repeated(n_batches):
    """g after 50 rows in batches, against g after one: its largest difference over
    100 samples."""
    gap = {"ours": 0.0, "bayesml": 0.0}
    for seed in range(100):
        feature, structure, X, y = given_tree(5, 5, 50 + seed)
        X, y = X[:50], y[:50]
        batches = list(zip(np.array_split(X, n_batches), np.array_split(y, n_batches)))
        whole = ours(structure, [(X, y)])[1]
        for name, g in (
            ("ours", ours(structure, batches)[1]),
            ("bayesml", theirs(feature, 5, batches)[1]),
        ):
            gap[name] = max(gap[name], float(np.abs(g - whole).max()))
    return [{"what": k, "ms": np.nan, "sd": np.nan, "gap": v} for k, v in gap.items()]


@lru_cache(maxsize=1)
def forest_of(task, n):
    """Rows, a forest of 100 trees, ours for the same task, and milliseconds to fit."""
    from sklearn import ensemble

    from clearwood.metatree import forest_estimators

    X, y = gaussian_rows(n, 20, seed=1)
    if task == "values":
        y = X[:, 0] * X[:, 1] + 0.5 * np.random.default_rng(2).normal(size=n)
    name = {"classes": "Classifier", "values": "Regressor"}[task]
    model = getattr(ensemble, f"RandomForest{name}")(100, random_state=0)
    begin = time.process_time()
    model.fit(X, y)
    grown = 1e3 * (time.process_time() - begin)
    return X, y, model, getattr(forest_estimators, f"MetaForest{name}"), grown


def forest(task, n):
    """The posterior of all trees compared with the forest's own fit."""
    X, y, model, Ours, grown = forest_of(task, n)
    taken, _ = in_turn(2 if n <= 10_000 else 1, ours=lambda: Ours(model).fit(X, y))
    return rows_of(taken | {"forest": [grown]})


def predict(task, n, n_train=10_000):
    """Predictions of the forest, of the baked one, and of scikit-learn's copy of it.

    ``gap`` is the largest difference to the baked one's.
    """
    X, y, model, Ours, _ = forest_of(task, n_train)
    baked = Ours(model).fit(X, y)
    copy = baked.to_sklearn()
    X = np.random.default_rng(3).normal(size=(n, 20))
    verb = "predict_proba" if task == "classes" else "predict"
    taken, results = in_turn(
        *((3, 20) if n <= 1_000 else (1, 2)),
        forest=lambda: getattr(model, verb)(X),
        ours=lambda: getattr(baked, verb)(X),
        copy=lambda: getattr(copy, verb)(X),
    )
    gap = {
        name: float(np.abs(p - results["ours"]).max()) for name, p in results.items()
    }
    gap["forest"] = np.nan
    return rows_of(taken, gap)


def write_tables(study):
    frame = study.frame()
    ms = frame.set_index(["part", "a", "b", "what"])["ms"]
    sd = frame.set_index(["part", "a", "b", "what"])["sd"]
    gap = frame.set_index(["part", "a", "b", "what"])["gap"]

    def keys(part):
        here = frame[frame.part == part]
        return list(dict.fromkeys(zip(here.part, here.a, here.b)))

    parts = [
        f"BayesML {version('bayesml')}. Times are CPU times. The "
        "methods alternate, up to 20 calls at a time after one that is not timed.",
        "## One batch on a given binary tree",
        "Building the trees is not timed. Difference: the largest difference "
        "of the posterior g between the two.",
        markdown_table(
            ["depth, features", "rows", "ours ms", "BayesML ms", "times faster",
             "difference"],
            [
                [k[1], f"{int(k[2]):,}", ms[*k, "ours"], ms[*k, "bayesml"],
                 ms[*k, "bayesml"] / ms[*k, "ours"], f"{gap[*k, 'ours']:.0e}"]
                for k in keys("batch")
            ],
        ),
        "## The paper's table 1",
        "M = 2, K = 5, D = 5, Bernoulli leaves; milliseconds, mean ± sd of 100 runs. "
        "The paper's times are from its authors' machine. BayesML row by row is its "
        "own batch call with one row at a time, which is not the posterior: the last "
        "rows show the difference of g from that of one batch (ours: below 1e-12).",
    ]  # fmt: skip
    table = keys("table 1")
    names = {
        "bayesml": "BayesML, one batch",
        "ours": "ours, one batch",
        "bayesml_rows": "BayesML, row by row",
        "ours_rows": "ours, row by row (Proposition 1)",
        "ours_stream": "ours, row by row in one kernel",
    }
    rows = [[f"paper, {name}", *times] for name, times in PAPER.items()]
    for name, words in names.items():
        rows.append([
            words,
            *(f"{ms[*k, name]:.3g} ± {sd[*k, name]:.2g}" for k in table),
        ])  # fmt: skip
    rows.append(
        ["difference, BayesML row by row"]
        + [gap[*k, "bayesml_rows"] for k in table]
    )  # fmt: skip
    own = ("ours", "ours_rows", "ours_stream")
    rows.append([
        "difference, ours (largest)",
        *(f"{max(gap[*k, name] for name in own):.0e}" for k in table),
    ])  # fmt: skip
    parts.append(markdown_table(["", *(f"n = {k[1]}" for k in table)], rows))
    parts += [
        "## The same rows in several batches",
        "50 rows, D = 5, K = 5: the largest difference of g from that of one batch, "
        "over 100 samples. BayesML starts every call from its posterior and counts "
        "the earlier rows again.",
        markdown_table(
            ["batches", "ours", "BayesML"],
            [
                [k[1], f"{gap[*k, 'ours']:.0e}", gap[*k, "bayesml"]]
                for k in keys("repeated")
            ],
        ),
        "## Forests of 100 trees",
        "20 features, trees as deep as they grow. Ours: reading the fitted forest and "
        "the posterior of all trees, all of `MetaForest*.fit`.",
        markdown_table(
            ["target", "rows", "forest's fit ms", "ours ms", "share"],
            [
                [k[1], f"{int(k[2]):,}", ms[*k, "forest"], ms[*k, "ours"],
                 f"{ms[*k, 'ours'] / ms[*k, 'forest']:.1%}"]
                for k in keys("forest")
            ],
        ),
        "## Predictions of a forest of 100 trees",
        "Baked: `MetaForest*.predict*`; the copy is `to_sklearn()`, whose predictions "
        "are the same (difference). Grown on 10,000 rows (1,000 in quick runs).",
        markdown_table(
            ["target", "rows", "forest ms", "baked ms", "copy ms",
             "forest / baked", "difference of copy"],
            [
                [k[1], f"{int(k[2]):,}",
                 *(ms[*k, w] for w in ("forest", "ours", "copy")),
                 ms[*k, "forest"] / ms[*k, "ours"], f"{gap[*k, 'copy']:.0e}"]
                for k in keys("predict")
            ],
        ),
    ]  # fmt: skip
    study.write_markdown("Meta-trees: speed", *parts)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
