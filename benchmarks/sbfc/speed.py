"""CPU time of Bayesian forests in comparison with plain formulas, and its growth.

Usage: python -m benchmarks.sbfc.speed [--quick] [--fresh]
"""

import time
import warnings
from functools import partial

import numpy as np

from benchmarks._study import (
    Study,
    arguments,
    in_fresh_process,
    markdown_table,
    memory,
    reset_peak,
)
from benchmarks.sbfc.cases import problem_of
from benchmarks.sbfc.mixing import data_of
from benchmarks.sbfc.simulations import MAKERS

PRIORS = ("paper", "balanced")
STEPS = 10_000
R_PACKAGE = "2-7 s"
"""Time of the R package for as many steps on this kind of data, on one core."""
COLUMNS = ("seconds", "scores", "rest", "plain", "memory")

IN_WORDS = """\
- **10,000 of the thesis' moves** take 0.13 to 0.23 s with 1,000 features, and with \
the scores of all pairs 0.48 to 0.60 s (the R package 2 to 7 s).
- **A fit with default settings** takes about 2 s with 1,000 features, and 18 to 32 s \
and 0.6 GB with 10,000, most of it for the scores of pairs. arcene, binned by MDLP, \
takes 186 to 287 s and up to 0.76 GB: its chains are continued until the effective \
sample sizes are large enough. With numeric features split at the median, some 17 \
million edges have non-negligible weight, and a fit had not ended after 25 minutes.
- **Relative to plain formulas**, scores of pairs are 8 to 33 times and sweeps 730 to \
8,100 times as fast, with larger factors for more features.
- **Growth**: the time of scores of pairs is quadratic in the number of features and, \
from some thousands on, linear in the rows; that of sweeps grows with the number of \
dependent features, and not with the rows.
"""

NOTES = """\
CPU seconds on one thread. Memory is the peak of a fresh process in MB, including \
Python and all libraries."""


def main():
    options = arguments(__doc__)
    study = Study("sbfc_speed", ["part", "data", "setting", "n", "d"], options)
    cases = {}
    d_all = (100, 300, 1000) if options.quick else (100, 300, 1000, 3000, 10000)
    n_all = (500, 2000) if options.quick else (500, 2000, 10_000, 50_000)
    for data in MAKERS:
        cases["moves", data, "paper", 500, 1000] = moves
    for d in (50, 100, 200):
        cases["plain scores", "cluster", "paper", 500, d] = scores
        cases["plain sweep", "cluster", "paper", 500, d] = sweeps
    for d in d_all:
        cases["growth", "cluster", "balanced", 500, d] = growth
    for n in n_all:
        cases["growth", "cluster", "balanced", n, 100] = growth
    for prior in PRIORS:
        for data in MAKERS:
            cases["fit", data, prior, 500, 1000] = fit
            if not options.quick:
                cases["fit", data, prior, 500, 10_000] = fit
    if not options.quick:
        for prior in PRIORS:
            cases["fit", "arcene, MDLP", prior, 200, 10_000] = fit
    cases = {key: partial(f, *key[1:]) for key, f in cases.items()}
    study.run(cases, warm=lambda: [moves("cluster", "paper", 100, 20),
                                   growth("cluster", "balanced", 100, 20)])  # fmt: skip
    write_tables(study)


def row(**values):
    return [dict.fromkeys(COLUMNS, np.nan) | {"sampler": ""} | values]


def table_of(data, n, d):
    if data in MAKERS:
        return MAKERS[data](n, d, random_state=0)
    return data_of(data)


def best_of(function, times=3):
    """Minimum CPU seconds of some calls, and the result of the last one."""
    taken = []
    for _ in range(times):
        begin = time.process_time()
        result = function()
        taken.append(time.process_time() - begin)
    return min(taken), result


def moves(data, prior, n, d):
    """One chain of 10,000 iterations of the thesis' moves."""
    from clearwood.sampling import run_chains
    from clearwood.sbfc.original import OriginalSampler

    X, y = table_of(data, n, d)
    pairs, given = best_of(lambda: problem_of(X, y, prior))
    sampler = OriginalSampler(given.scores, given.penalty, edges=given.edges)
    chain, _ = best_of(
        lambda: run_chains(
            sampler, STEPS // sampler.thin, n_warmup=0, n_chains=1, random_state=0
        )
    )
    return row(seconds=pairs + chain, scores=pairs, rest=chain, sampler="original")


def fit(data, prior, n, d):
    """The estimator with default settings, in a fresh process."""
    return row(**in_fresh_process(measured_fit, data, prior, n, d))


def measured_fit(data, prior, n, d):
    from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier as Make

    X, y = table_of(data, n, d)
    small = MAKERS["cluster"](200, 30, random_state=0)
    for sampler in ("collapsed", "original"):
        Make(sampler, n_draws=5, n_graphs=5, random_state=0).fit(*small)
    reset_peak()
    model = Make(prior=prior, random_state=0)
    begin = time.process_time()
    model.fit(X, y)
    taken = time.process_time() - begin
    by = model.sampler_
    return {"seconds": taken, "memory": memory("VmHWM"), "sampler": by}


def scores(data, prior, n, d):
    """Scores of all pairs, and the same by counting each pair separately."""
    X, y = table_of(data, n, d)
    ours, given = best_of(lambda: all_gains(X, y, prior))
    plain, table = best_of(lambda: counted_pairs(X, y), times=1)
    difference = max(
        np.abs(a - b)[np.tri(d, k=-1) == 0].max() for a, b in zip(given, table)
    )
    assert difference < 1e-8, difference
    return row(seconds=ours, plain=plain)


def all_gains(X, y, prior):
    """Gain of the score by an edge for every pair, in noise and in signal."""
    given = problem_of(X, y, prior)
    return [upper(given.scores.gains(group)) for group in (0, 1)]


def upper(table):
    return np.triu(table, 1)


def counted_pairs(X, y, alpha=5.0):
    """The same pair by pair, by the formula (2.3.1)."""
    from scipy.special import gammaln

    d, levels = X.shape[1], int(X.max()) + 1

    def score_of(child, parent, n_parents, n_levels):
        cells = np.bincount(parent * levels + child, minlength=0)
        prior = alpha / (n_parents * n_levels)
        cells = cells[cells > 0]
        totals = np.bincount(parent)
        totals = totals[totals > 0]
        return (gammaln(prior + cells) - gammaln(prior)).sum() - (
            gammaln(alpha / n_parents + totals) - gammaln(alpha / n_parents)
        ).sum()

    nothing = np.zeros(len(y), dtype=np.int64)
    k, v = 2, len(np.unique(X))
    label = np.unique(y, return_inverse=True)[1]
    noise, signal = np.zeros((d, d)), np.zeros((d, d))
    for j in range(d):
        alone = score_of(X[:, j], nothing, 1, v), score_of(X[:, j], label, k, v)
        for i in range(j):
            both = X[:, i] * k + label
            noise[i, j] = score_of(X[:, j], X[:, i], v, v) - alone[0]
            signal[i, j] = score_of(X[:, j], both, v * k, v) - alone[1]
    return noise, signal


def sweeps(data, prior, n, d):
    """A sweep over all features, and the same with two dense determinants for each."""
    from clearwood.sbfc.collapsed import SignalSampler

    X, y = table_of(data, n, d)
    given = problem_of(X, y, prior)
    sampler = SignalSampler(given.scores, given.penalty, edges=given.edges)
    rng = np.random.default_rng(0)
    state = sampler.init(rng)

    def twenty():
        nonlocal state
        for _ in range(20):
            state, _ = sampler.step(rng, state)

    ours, _ = best_of(twenty)
    weight = [
        np.exp(np.minimum(upper(given.scores.gains(g)) - given.penalty.edge[g], 30))
        for g in (0, 1)
    ]
    weight = [np.triu(w, 1) + np.triu(w, 1).T for w in weight]
    plain, _ = best_of(lambda: dense_sweep(weight, state.signal.copy()), times=1)
    return row(seconds=ours / 20, plain=plain)


def dense_sweep(weight, signal):
    """A sweep of single features with two determinants each, for its time only: its
    weights are truncated."""
    total = 0.0
    for j in range(len(signal)):
        for value in (True, False):
            signal[j] = value
            for w, inside in zip(weight, (~signal, signal)):
                own = w[np.ix_(inside, inside)]
                laplacian = np.diag(own.sum(axis=1)) - own
                total += np.linalg.slogdet(np.eye(len(own)) + laplacian)[1]
    return total


def growth(data, prior, n, d):
    """Scores, and 100 sweeps of one chain."""
    from clearwood.sampling import run_chains
    from clearwood.sbfc.collapsed import SignalSampler

    X, y = table_of(data, n, d)
    pairs, given = best_of(lambda: problem_of(X, y, prior), times=1 if d > 1000 else 3)
    made, sampler = best_of(
        lambda: SignalSampler(given.scores, given.penalty, edges=given.edges), times=1
    )
    chain, _ = best_of(
        lambda: run_chains(sampler, 100, n_warmup=0, n_chains=1, random_state=0),
        times=1,
    )
    return row(
        seconds=pairs + made + chain, scores=pairs, rest=made + chain,
        sampler="collapsed",
    )  # fmt: skip


def write_tables(study):
    frame = study.frame()
    frame[["n", "d"]] = frame[["n", "d"]].astype(int)

    def part(name):
        return frame[frame.part == name]

    parts = [
        NOTES,
        "## Summary",
        IN_WORDS,
        "## The thesis' moves: one chain of 10,000 steps",
        f"The R package took {R_PACKAGE} for as many steps, with its scores.",
        markdown_table(
            ["data", "n", "d", "scores of pairs", "steps", "both"],
            [[r.data, r.n, r.d, r.scores, r.rest, r.seconds]
             for r in part("moves").itertuples()],
        ),
        "## Fit with default settings",
        "`SelectiveBayesianForestClassifier(prior=...).fit` on binned data: four "
        "chains, continued until they have converged. The thesis has 3,600 s for "
        "arcene.",
        markdown_table(
            ["data", "prior", "n", "d", "sampler", "seconds", "memory, MB"],
            [[r.data, r.setting, r.n, r.d, r.sampler, r.seconds, r.memory]
             for r in part("fit").itertuples()],
        ),
        "## Comparison with plain formulas",
        "Scores: NumPy's `bincount` and `gammaln` for each pair, both groups. Sweep: "
        "for each feature `slogdet` of both groups with it and without; ours also "
        "moves clusters and branches. These data have few strong edges, on which the "
        "time of ours depends.",
        markdown_table(
            ["computation", "n", "d", "ours, s", "plain, s", "ratio"],
            [[r.part.split()[1], r.n, r.d, r.seconds, r.plain, r.plain / r.seconds]
             for name in ("plain scores", "plain sweep")
             for r in part(name).itertuples()],
        ),
        "## Growth",
        "Scores of all pairs; and one chain of 100 sweeps, with its initialization.",
        markdown_table(
            ["n", "d", "scores of pairs", "100 sweeps"],
            [[r.n, r.d, r.scores, r.rest] for r in part("growth").itertuples()],
        ),
    ]  # fmt: skip
    study.write_markdown("Bayesian forests: speed and memory", *parts)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
