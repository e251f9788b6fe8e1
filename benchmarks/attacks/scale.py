"""Scale: does time or memory grow faster than the input?

Two small sizes each, the larger mostly eight times the smaller: linear growth takes
eight times as long. ``--count`` has no effect.
"""

import json
import tempfile
import tracemalloc
import warnings
from functools import partial as bind
from pathlib import Path

import numpy as np
import pandas as pd

import clearwood as cw
from benchmarks.attacks.checks import Attack, growth, held, study
from clearwood.rules import CategorySet, Interval, Rule, RuleList

MOST_GROWTH = 4.0
"""Maximum growth of time relative to size between sizes that differ by a factor of
eight: quadratic growth gives 8, data beyond the caches 2 or 3.
"""


def main():
    study("scale", __doc__, attacks)


def attacks(count):
    """All attacks; ``count`` has no effect."""
    linear = f"growth below {MOST_GROWTH:g}"
    return [
        Attack("load rules of many categories", linear, bind(grows, load_categories)),
        Attack("load rules of many conditions", linear, bind(grows, load_conditions)),
        Attack("predict by many categories", linear, bind(grows, predict_categories)),
        Attack(
            "explain one row of many categories",
            linear,
            bind(grows, explain_categories),
        ),
        Attack(
            "simplify with many categories", linear, bind(grows, simplify_categories)
        ),
        Attack("simplify with many columns", linear, bind(grows, simplify_columns)),
        Attack("simplify with many classes", linear, bind(grows, simplify_classes)),
        Attack("simplify with many rows", linear, bind(grows, simplify_rows)),
        Attack("a meta-tree of many rows", linear, bind(grows, metatree_rows)),
        Attack(
            "a meta-tree of many categories", linear, bind(grows, metatree_categories)
        ),
        Attack(
            "memory of rules of many categories",
            "below 64 MB + 10 times the file",
            memory_of_rules,
        ),
    ]


def grows(prepare):
    """Growth of time with size; preparation is not timed."""
    sizes, make, act = prepare()
    made = {n: make(n) for n in sizes}
    act(made[sizes[0]])  # loads
    ratio, texts = growth(lambda n: act(made[n]), sizes)
    return held(ratio < MOST_GROWTH, f"growth {ratio:.2g} ({texts})")


def category_rules(n):
    labels = tuple(f"c{i}" for i in range(n))
    line = Rule((CategorySet(0, tuple(range(0, n, 2))),), 1.0)
    return RuleList((line,), Rule((), 0.0), cw.FeatureSpace(("a",), (labels,)))


def load_categories():
    return (5_000, 40_000), lambda n: category_rules(n).to_json(), cw.RuleSet.from_json


def load_conditions():
    def make(n):
        space = cw.FeatureSpace.numeric(n)
        line = Rule(tuple(Interval(d, high=0.5) for d in range(n)), 1.0)
        return RuleList((line,), Rule((), 0.0), space).to_json()

    return (2_000, 16_000), make, cw.RuleSet.from_json


def predict_categories():
    def make(n):
        cells = [f"c{i % n}" for i in range(n)]
        return category_rules(n), pd.DataFrame({"a": cells})

    return (10_000, 80_000), make, lambda made: made[0].predict(made[1])


def explain_categories():
    return (1_000, 8_000), category_rules, lambda rules: rules.explain(["c0"])


def model_of(X, y):
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=10, random_state=0)
    return cw.read_ensemble(model.fit(X, y)), X, y


def simplify(made):
    model, X, y = made
    cw.simplify(model, X, y, max_rules=4, n_synthetic=200, random_state=0)


def simplify_categories():
    """A tree with a set of half of the categories; libraries allow some 255."""

    def make(n):
        rng = np.random.default_rng(0)
        code = rng.integers(0, n, 10_000)
        labels = [f"c{i}" for i in range(n)]
        X = pd.DataFrame({"a": pd.Categorical.from_codes(code, labels)})
        ensemble = ensemble_on_sets(tuple(labels), rng)
        return ensemble, X, ensemble.predict(X)

    return (100, 400), make, simplify


def ensemble_on_sets(labels, rng, n_trees=10):
    """Trees with one split each: membership in a set of half of the categories."""
    n, ones = len(labels), np.ones(3 * n_trees, dtype=bool)
    at_root = np.arange(3 * n_trees) % 3 == 0
    first = np.where(at_root, np.arange(3 * n_trees), -1)
    leaf_value = rng.normal(size=3 * n_trees) * ~at_root
    return cw.TreeEnsemble(
        features=cw.FeatureSpace(("a",), (labels,)),
        task="regression",
        feature=np.where(at_root, 0, -1),
        cut=np.full(3 * n_trees, np.nan),
        left=np.where(at_root, first + 1, -1),
        right=np.where(at_root, first + 2, -1),
        missing_left=ones,
        unseen_left=ones,
        category_set=np.where(at_root, np.arange(3 * n_trees) // 3, -1),
        category_offsets=np.arange(n_trees + 1) * n,
        categories_left=rng.random(n_trees * n) < 0.5,
        value=leaf_value[:, None],
        roots=np.arange(n_trees) * 3,
        output=np.zeros(n_trees, dtype=int),
        base_score=np.zeros(1),
        allows_missing=True,
        allows_infinite=True,
        input_dtype="float64",
        link="identity",
        source="made by hand",
    )


def simplify_columns():
    def make(n):
        X = np.random.default_rng(0).normal(size=(1_000, n))
        return model_of(X, X[:, 0] > 0)

    return (50, 400), make, simplify


def simplify_classes():
    def make(n):
        X = np.random.default_rng(0).normal(size=(2_000, 3))
        return model_of(X, pd.qcut(X[:, 0] + X[:, 1], n, labels=False))

    return (4, 32), make, simplify


def simplify_rows():
    def make(n):
        X = np.random.default_rng(0).normal(size=(n, 5))
        return model_of(X, X[:, 0] + X[:, 1] > 0)

    return (5_000, 40_000), make, simplify


def fit_metatree(made):
    cw.MetaTreeRegressor(random_state=0).fit(*made)


def metatree_rows():
    def make(n):
        X = np.random.default_rng(0).normal(size=(n, 5))
        return X, X[:, 0] + np.random.default_rng(1).normal(size=n)

    return (5_000, 40_000), make, fit_metatree


def metatree_categories():
    def make(n):
        rng = np.random.default_rng(0)
        code = rng.integers(0, n, 10_000)
        column = pd.Categorical.from_codes(code, [f"c{i}" for i in range(n)])
        return pd.DataFrame({"a": column}), rng.normal(size=n)[code]

    return (100, 800), make, fit_metatree


def memory_of_rules():
    """Memory for many small objects in an unexpected place."""
    document = json.loads(category_rules(10).to_json())
    document["extra"] = [{}] * 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        size = path.stat().st_size
        tracemalloc.start()
        try:
            cw.load(path)
        except cw.exceptions.ClearwoodError:
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    limit = 64e6 + 10 * size
    return held(peak < limit, f"{peak / 1e6:.0f} MB for {size / 1e6:.1f} MB")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
