"""What is the cost of simplifying a model, relative to that of training it?

Usage: python -m benchmarks.scale.reading [--quick] [--fresh]

Every case runs in a fresh process on one thread: a model is trained on simulated rows,
and rules are fitted to it with default settings. First the ratio to a forest of 100
trees for growing numbers of rows, then tables and models that are large in other ways.
"""

import time
from functools import partial

import numpy as np
import pandas as pd

from benchmarks._data import gaussian_rows
from benchmarks._study import (
    Study,
    arguments,
    in_fresh_process,
    markdown_table,
    memory,
)

METHODS = ("list", "tree", "additive")

ROWS = (1000, 5000, 20_000, 200_000)
N_FEATURES = 30

HARD = {
    "1,000,000 rows of 28 columns": ("rows", 1_000_000, 28),
    "2,000 columns": ("columns", 2000, 2000),
    "394 rows of 15 classes": ("classes", 394, 15),
    "50 classes": ("classes", 5000, 50),
    "500 classes": ("classes", 10_000, 500),
    "a column of 5,000 categories": ("categories", 20_000, 5000),
    "a column of 50,000 categories": ("categories", 100_000, 50_000),
    "1,000 deep trees": ("trees", 10_000, 1000),
}
"""Case -> kind of table, and its two sizes."""

TEXT = f"""\
Times are CPU seconds on one thread. The model is trained and simplified in one fresh
process, after a small table that loads all modules.

**Ratios.** Rows of {N_FEATURES} Gaussian columns and two classes with a curved
boundary; a forest of 100 trees of scikit-learn, and rules with default settings:
settings and length chosen on held-out rows, estimates of each rule from cross-fitting.
Agreement is that with the forest on 5,000 new rows."""

HARD_TEXT = """\
**Large in other ways.** The model is histogram gradient boosting of scikit-learn with
default settings (20 rounds for many classes), and for deep trees a forest. Memory is
the peak of the process minus its memory before the search for rules. With 50 classes
and more, ten rules agree with the model in less than a third of the rows."""


def main():
    options = arguments(__doc__)
    study = Study("scale_reading", ["part", "case", "method"], options)
    sizes = ROWS[: 2 if options.quick else None]
    ratios = [("ratio", f"{n:,} rows", m) for n in sizes for m in METHODS]
    hard = [] if options.quick else [("hard", c, m) for c in HARD for m in METHODS]
    study.run({key: partial(case, *key) for key in ratios + hard}, warm=lambda: None)
    write_tables(study)


def case(part, name, method):
    """Time and memory of one method on one table."""
    kind, n_rows, size = (
        HARD[name]
        if part == "hard"
        else ("forest", int(name.split()[0].replace(",", "")), N_FEATURES)
    )
    return [in_fresh_process(measure, kind, n_rows, size, method)]


def measure(kind, n_rows, size, method):
    """In the fresh process: train and simplify, and return the time of both."""
    import clearwood as cw

    X, y, model = table_and_model("rows", 300, 5)
    cw.simplify(model.fit(X, y), X, y, method=method, random_state=0)
    X, y, model = table_and_model(kind, n_rows + 5000, size)
    new, X, y = X[:5000], X[5000:], y[5000:]
    begin = time.process_time()
    model.fit(X, y)
    trained, before = time.process_time() - begin, memory("VmHWM")
    begin = time.process_time()
    rules = cw.simplify(model, X, y, method=method, random_state=0)
    return {
        "training": trained,
        "reading": time.process_time() - begin,
        "mb": memory("VmHWM") - before,
        "lines": rules.n_rules,
        "agreement": float(np.mean(rules.predict(new) == model.predict(new))),
    }


def table_and_model(kind, n_rows, size):
    """Rows, their classes, and an untrained model."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    rng = np.random.default_rng(0)
    boosting = HistGradientBoostingClassifier(random_state=0)
    if kind in ("classes", "trees"):
        X, _ = gaussian_rows(n_rows, 10, 0)
        if kind == "trees":
            y = (X[:, 0] * X[:, 1] + rng.normal(size=n_rows) > 0).astype(int)
            return X, y, RandomForestClassifier(size, random_state=0)
        # Every class is a band of a curved surface, with noise.
        score = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n_rows)
        y = (score.argsort().argsort() * size) // n_rows
        return X, y, boosting.set_params(max_iter=20)
    if kind == "categories":
        codes = rng.integers(size, size=n_rows)
        X = pd.DataFrame(gaussian_rows(n_rows, 5, 0)[0], columns=list("abcde"))
        X["place"] = pd.Categorical([f"place {code}" for code in codes])
        effect = rng.normal(size=size)[codes]
        y = (effect + X["a"] + 0.5 * rng.normal(size=n_rows) > 0).astype(int)
        return X, y.to_numpy(), forest_of_categories()
    X, y = gaussian_rows(n_rows, max(size, 8), 0)
    forest = RandomForestClassifier(100, random_state=0)
    return X, y, forest if kind == "forest" else boosting


def forest_of_categories():
    """LightGBM, which supports any number of categories."""
    import lightgbm

    return lightgbm.LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)


def write_tables(study):
    frame = study.frame()
    blocks = []
    for part, first in (("ratio", "rows"), ("hard", "case")):
        rows = [
            [
                row["case"].removesuffix(" rows") if part == "ratio" else row["case"],
                row["method"],
                f"{row['training']:.2f}",
                f"{row['reading']:.2f}",
                f"{row['reading'] / row['training']:.1f}",
                f"{row['mb']:.0f}",
                int(row["lines"]),
                f"{row['agreement']:.3f}",
            ]
            for row in frame[frame["part"] == part].to_dict("records")
        ]
        header = [first, "method", "training, s", "simplifying, s", "ratio"]
        header += ["memory, MB", "rules", "agreement"]
        blocks.append(markdown_table(header, rows))
    study.write_markdown(
        "Cost of simplifying a model, relative to training it",
        TEXT,
        blocks[0],
        HARD_TEXT,
        blocks[1],
    )


if __name__ == "__main__":
    main()
