"""Do chains converge where the posterior cannot be summed exactly?

Usage: python -m benchmarks.sbfc.mixing [--quick] [--fresh]
"""

import time
import warnings
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks._data import SHARED
from benchmarks._study import Study, arguments, markdown_table
from benchmarks.sbfc.cases import problem_of

PARTS = ("corral-100", "madelon", "arcene, MDLP", "arcene, halves")
WARMUP, CHAINS, MIN_ESS = 100, 4, 400
TRUE = (
    29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456,
    473, 476, 494,
)  # fmt: skip
"""The relevant features of madelon; the first column is number 1."""
BEST = -588_872.71
"""Target log posterior of madelon; the R package ended at -589,027 and
-588,906."""
LONG = 20_000
LIKELIEST = 100
"""Number of sets of a chain among which the best graph is searched."""

IN_WORDS = """\
- **corral-100**: 500 draws of each of four chains estimate signal probabilities to \
about 1e-6 or better; as many draws of the thesis' moves, which take longer, to 4e-3. \
The target was 1e-3.
- **madelon**: every run, none of which starts from the spanning forest, finds the \
graph of -588,872.70 in every chain and all 20 features with probability 1; R-hat is \
below 1.01. The R package's two seeds ended at -589,027 and -588,906. Chains of moves \
find the same features, and one of them the same graph, but their log posteriors do \
not agree.
- **arcene**, binned by MDLP, has too many dependent features for sums over forests. \
The thesis' moves do not mix: after 30,000 of them for each chain, R-hat of the log \
posterior is 1.83, and chains end in graphs whose log posteriors differ by hundreds. \
Exchanges of edges, the default of `fit` for such data, mix: R-hat is at most 1.004 \
for log posterior and size, 1.015 for features and 1.017 for edges, after 3 to 10 \
minutes, and the best graph is better by more than 1,600 nats. With **halves** some 17 \
million edges have non-negligible weight: exchanges had not converged after 25 \
minutes, moves end in graphs that differ by thousands, and `fit` issues a warning.
"""

NOTES = """\
Four chains, 100 steps of warm-up. A draw of *collapsed* is a sweep over all features \
and clusters with forests summed out; here all its chains start from random sets of \
features, none from the spanning forest. A draw of *original* is 50 iterations of the \
thesis' moves. *exchange* is the default of `fit` for arcene: exchanges of edges, in \
chains that are continued until their effective sample size is 400. R-hat is split and \
rank-normalized, over all four chains; for features, and for the 100 least certain \
edges, it is the maximum. *Difference of probabilities* is the largest difference of a \
signal probability between two chains. Seconds are CPU time, including scores of \
pairs. Log posteriors omit the constants of the prior and of the classes."""


def main():
    options = arguments(__doc__)
    study = Study("sbfc_mixing", ["part", "prior", "sampler", "draws", "seed"], options)
    cases = {}
    for prior in ("paper", "balanced"):
        for seed in range(2 if options.quick else 5):
            for draws in (500, 2000):
                cases["corral-100", prior, "collapsed", draws, seed] = corral
            cases["corral-100", prior, "original", 500, seed] = corral
    for prior in ("paper", "balanced"):
        for seed in range(1 if options.quick else 3):
            cases["madelon", prior, "collapsed", 500, seed] = chains_of
        cases["madelon", prior, "original", 500, 0] = chains_of
    if not options.quick:
        for prior in ("paper", "balanced"):
            for part in PARTS[2:]:
                cases[part, prior, "original", 500, 0] = chains_of
            # Halves are omitted: with 17 million edges not finished after 25 minutes.
            cases["arcene, MDLP", prior, "exchange", 500, 0] = chains_of
    study.run(
        {key: partial(function, *key) for key, function in cases.items()},
        warm=lambda: [
            corral("corral-100", "balanced", sampler, 20, 0)
            for sampler in ("original", "collapsed")
        ],
    )
    write_tables(study)


@lru_cache(maxsize=1)
def problem(part, prior):
    """The data of a part, and the CPU seconds of scores of pairs."""
    X, y = data_of(part)
    begin = time.process_time()
    found = problem_of(X, y, prior)
    return found, time.process_time() - begin


def data_of(part):
    from clearwood.discretize import BinaryBinner, MDLPDiscretizer

    file = {"corral-100": "corral_augmented_1000", "madelon": "madelon_sbfc"}
    frame = pd.read_csv(SHARED / "uci" / f"{file.get(part, 'arcene')}.csv.gz")
    y = frame.pop("target").to_numpy()
    X = frame.to_numpy()
    if part == "corral-100":
        return X[:, :100], y
    if part == "madelon":
        split = pd.read_csv(SHARED / "uci" / "splits.csv.gz")
        rows = split.row[(split.dataset == part) & (split.part == "train")]
        return X[rows], y[rows]
    binner = MDLPDiscretizer() if part.endswith("MDLP") else BinaryBinner()
    return binner.fit_transform(X, y), y


class Drawn(NamedTuple):
    """Chains, signal probabilities, draws of edges, and CPU seconds."""

    chains: Any
    signal: np.ndarray
    edges: dict
    seconds: float


def drawn(part, prior, sampler, draws, seed):
    """Chains of a case."""
    from clearwood.sampling import run_chains
    from clearwood.sbfc.collapsed import SignalSampler
    from clearwood.sbfc.original import OriginalSampler
    from clearwood.sbfc.samplers import _sampled_by_moves

    given, taken = problem(part, prior)
    begin = time.process_time()
    options = {"random_state": seed, "n_warmup": WARMUP, "n_chains": CHAINS}
    if sampler == "collapsed":
        made = SignalSampler(
            given.scores, given.penalty, edges=given.edges, forest_starts=False
        )
        chains = run_chains(made, draws, **options)
        found = made.average(chains.draws["signal"])
    else:
        exchange = sampler == "exchange"
        made = OriginalSampler(
            given.scores, given.penalty, edges=given.edges, exchange=exchange
        )
        min_ess = MIN_ESS if exchange else None
        chains = run_chains(made, draws, min_ess=min_ess, **options)
        found = _sampled_by_moves(given, 1, chains)
    taken += time.process_time() - begin
    return Drawn(chains, found.signal_probability, found.edge_draws, taken)


@lru_cache(maxsize=2)
def long_run(prior):
    """Signal probabilities of corral-100, from four long chains with another seed."""
    return drawn("corral-100", prior, "collapsed", LONG, 12345).signal


def corral(part, prior, sampler, draws, seed):
    """As for other parts, with the distance to the long run."""
    (row,) = chains_of(part, prior, sampler, draws, seed)
    exact = long_run(prior)
    found = drawn(part, prior, sampler, draws, seed).signal
    return [row | {"rmse": float(np.sqrt(((found - exact) ** 2).mean()))}]


def chains_of(part, prior, sampler, draws, seed):
    """Agreement of chains, and their best graph."""
    from clearwood.sampling.diagnostics import diagnose

    found = drawn(part, prior, sampler, draws, seed)
    log = found.chains.draws.get("log_joint", found.chains.draws.get("log_posterior"))
    sets = found.chains.draws["signal"]
    varied = np.flatnonzero(sets.any(axis=(0, 1)) & ~sets.all(axis=(0, 1)))
    share = sets.mean(axis=1)
    rhat = [diagnose(sets[..., j]).rhat for j in varied]
    edge = [diagnose(drawn).rhat for drawn in found.edges.values()]
    best = best_of_chains(part, prior, sampler, found.chains)
    return [
        {
            "rhat_log": diagnose(log).rhat,
            "rhat_n_signal": diagnose(found.chains.draws["n_signal"]).rhat,
            "rhat_feature": float(np.nanmax(rhat, initial=1.0)),
            "rhat_edge": float(np.max(edge, initial=1.0)),
            "ess_log": diagnose(log).ess,
            "apart": float((share.max(axis=0) - share.min(axis=0)).max()),
            # More digits than other numbers in the file.
            "best_worst_chain": f"{min(best):.2f}",
            "best": f"{max(best):.2f}",
            "n_signal": float(found.signal.sum()),
            "true_least": least_of_true(part, found.signal),
            "seconds": found.seconds,
            "rmse": np.nan,
        }
    ]


def least_of_true(part, signal):
    """Smallest signal probability of madelon's true features."""
    if part != "madelon":
        return np.nan
    X, _ = data_of(part)
    varies = np.flatnonzero(X.min(axis=0) != X.max(axis=0))
    return float(signal[np.isin(varies + 1, TRUE)].min())


def best_of_chains(part, prior, sampler, chains):
    """Log posterior of the best graph of each chain: the best forests of its most
    probable sets, or its best draw."""
    from clearwood.sbfc.graphs import best_graph, log_posterior

    if sampler != "collapsed":
        return chains.draws["log_posterior"].max(axis=1).tolist()
    given, _ = problem(part, prior)
    found = []
    for sets, log in zip(chains.draws["signal"], chains.draws["log_joint"]):
        distinct, first = np.unique(sets, axis=0, return_index=True)
        likeliest = distinct[np.argsort(-log[first])[:LIKELIEST]]
        graphs = [best_graph(signal, given.edges) for signal in likeliest]
        found.append(max(log_posterior(g, given.scores, given.penalty) for g in graphs))
    return found


def write_tables(study):
    frame = study.frame()
    frame["draws"] = frame["draws"].astype(int)
    parts = [NOTES, "## Summary", IN_WORDS]
    for part in [name for name in PARTS if name in set(frame.part)]:
        own = frame[frame.part == part]
        parts += [f"## {part}", table_of(own, part)]
    study.write_markdown("Convergence of chains of Bayesian forests", *parts)


def table_of(frame, part):
    """One row per prior, sampler and length; the worst of all seeds."""
    rows = []
    for key, own in frame.groupby(["prior", "sampler", "draws"], sort=False):
        rows.append(
            [
                *key,
                len(own),
                *(f"{own[c].max():.4f}" for c in ("rhat_log", "rhat_n_signal")),
                *(
                    f"{own[c].max():.3f}" if own[c].max() < 100 else "> 100"
                    for c in ("rhat_feature", "rhat_edge")
                ),
                f"{own.ess_log.min():,.0f}",
                f"{own.apart.max():.3f}",
                f"{own.best_worst_chain.min():,.2f}",
                f"{own.best.max():,.2f}",
                f"{own.n_signal.mean():.1f}",
                f"{own.seconds.mean():.2f}",
            ]
        )
        if part == "madelon":
            rows[-1].append(f"{own.true_least.min():.6f}")
        if part == "corral-100":
            rows[-1].append(f"{own.rmse.mean():.1e} ({own.rmse.max():.1e})")
    head = ["prior", "sampler", "draws", "runs", "R-hat, log", "R-hat, size",
            "R-hat, features", "R-hat, edges", "ESS, log", "difference of "
            "probabilities",
            "best graph, worst chain", "best graph", "signal features",
            "seconds"]  # fmt: skip
    if part == "madelon":
        head.append("smallest probability of the 20")
    if part == "corral-100":
        head.append("RMSE: mean (maximum)")
    return markdown_table(head, rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
