"""The exact sum over all questions and prunings, compared with BayesML's MCMC.

    python -m benchmarks.metatree.exact [--quick]

The data are golden case H (12 rows, 3 binary features, depth 3; a path may split by the
same feature twice), where the true predictions are known from rational arithmetic.
BayesML's chains have the same model. Times are of posterior and predictions together. A
second table shows how the cost of the exact sum grows. Needs ``bayesml`` for the first.
"""

import contextlib
import io
import itertools
import json
import time

import numpy as np

from benchmarks._study import ROOT, Study, arguments, markdown_table, seconds
from clearwood.metatree import BernoulliBeta
from clearwood.metatree.exact.sampler import TreeSampler
from clearwood.metatree.exact.sum import exact_sum
from clearwood.sampling import run_chains

LENGTHS = (500, 2_000, 8_000)
"""Meta-trees that BayesML draws; 500 is its default."""

SHAPES = ((10, 3), (20, 3), (20, 4), (40, 3), (10, 5), (20, 5), (100, 3), (40, 4))
"""Number of features and depth."""

POINTS = np.array(list(itertools.product(range(2), repeat=3)))


def golden():
    """Rows, target, and the true probabilities at all points."""
    data = json.loads((ROOT / "tests/golden/metatree.json").read_text())
    rows = data["A_bernoulli"]
    truth = np.array(data["H_all_feature_assignments"]["predictive_p1"])
    return np.array(rows["X"]), np.array(rows["y"]), truth


def row(took, found, truth):
    return {
        "seconds": took,
        "largest_error": float(np.abs(found - truth).max()),
        "rms_error": float(np.sqrt(np.mean((found - truth) ** 2))),
    }


def ours(X, y, truth):
    def fit():
        result = exact_sum(X, y, BernoulliBeta(), max_depth=3, g=0.4, repeats=True)
        return result.predict(POINTS)

    return [row(seconds(fit), fit(), truth)]


def our_chain(X, y, n_draws, seed):
    """Our MCMC, compared with the exact sum of its own model: no question twice."""
    truth = exact_sum(X, y, BernoulliBeta(), max_depth=3, g=0.4).predict(POINTS)
    start = time.perf_counter()
    sampler = TreeSampler(X, y, BernoulliBeta(), max_depth=3, g=0.4)
    chains = run_chains(sampler, n_draws, n_warmup=100, n_chains=1, random_state=seed)
    found = sampler.predict(chains.draws["questions"], POINTS)
    return [row(time.perf_counter() - start, found, truth)]


def theirs(X, y, truth, method, n_draws, seed):
    from bayesml import metatree

    model = metatree.LearnModel(
        c_dim_continuous=0, c_dim_categorical=3, c_max_depth=3, h0_g=0.4
    )
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        model.update_posterior(
            x_categorical=X, y=y, alg_type=method, num_metatrees=n_draws, seed=seed
        )
        found = model.predict_proba(x_categorical=POINTS)[:, 1]
    return [row(time.perf_counter() - start, found, truth)]


def growth(n_rows, n_features, depth):
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(n_rows, n_features))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(n_rows) < 0.1)

    def fit():
        return exact_sum(
            X, y.astype(float), BernoulliBeta(), max_depth=depth, max_states=10**8
        )

    result = fit()
    return [
        {
            "states": result.n_states,
            "fit_seconds": seconds(fit),
            "predict_256_seconds": seconds(lambda: result.predict(X[:256])),
        }
    ]


def compare(options):
    study = Study("metatree_exact", ("method", "draws", "seed"), options)
    X, y, truth = golden()
    cases = {("exact sum", 1, 0): lambda: ours(X, y, truth)}
    seeds = range(2 if options.quick else 3)
    for n_draws, seed in itertools.product(LENGTHS[: 2 if options.quick else 3], seeds):
        key = ("our chain (no repeats)", n_draws, seed)
        cases[key] = lambda n=n_draws, s=seed: our_chain(X, y, n, s)
        # Eight chains in one, and as slow: not for the longest runs.
        for method in ("MTMCMC", "REMTMCMC")[: 1 if n_draws == LENGTHS[-1] else 2]:
            key = (f"BayesML {method}", n_draws, seed)
            cases[key] = lambda m=method, n=n_draws, s=seed: theirs(
                X, y, truth, m, n, s
            )
    study.run(cases)
    return study


def main():
    options = arguments(__doc__.splitlines()[0])
    study = compare(options)
    found = (
        study.frame().groupby(["method", "draws"], sort=False).median(numeric_only=True)
    )
    fastest = found.loc[("exact sum", "1"), "seconds"]
    lines = [
        [*key, f"{1000 * r.seconds:.3g}", f"{r.seconds / fastest:,.0f}",
         f"{r.largest_error:.1e}", f"{r.rms_error:.1e}"]
        for key, r in found.iterrows()
    ]  # fmt: skip
    grows = Study("metatree_exact_growth", ("rows", "features", "depth"), options)
    sizes = (1_000,) if options.quick else (100, 1_000, 10_000)
    shapes = SHAPES[:3] if options.quick else SHAPES
    grows.run({
        (n, *shape): lambda n=n, shape=shape: growth(n, *shape)
        for n, shape in itertools.product(sizes, shapes)
    })  # fmt: skip
    rows = [
        [int(r.rows), int(r.features), int(r.depth), int(r.states),
         f"{1000 * r.fit_seconds:.3g}", f"{1000 * r.predict_256_seconds:.3g}"]
        for r in grows.frame().itertuples()
    ]  # fmt: skip
    study.write_markdown(
        "The exact sum over all questions compared with MCMC",
        "Golden case H: 12 rows, 3 binary features, depth 3. Medians over seeds; "
        "errors of the predicted probability at the 8 points.",
        markdown_table(
            [
                "method",
                "trees drawn",
                "ms",
                "time / exact sum",
                "largest error",
                "RMS error",
            ],
            lines,
        ),
        "Growth of the cost of the exact sum (no question twice on a path, all rows "
        "distinct where possible):",
        markdown_table(
            ["rows", "features", "depth", "states", "fit, ms", "predict 256 rows, ms"],
            rows,
        ),
    )


if __name__ == "__main__":
    main()
