"""Convergence of chains of the thesis' moves: the log posterior.

Usage: python -m benchmarks.sbfc.traces [--quick] [--fresh] [--tables]

Figures 9 and 15 of Krakovna (2016): four chains where the thesis shows one.
"""

import time
import warnings
from functools import partial

import numpy as np

from benchmarks._study import Study, arguments, markdown_table
from benchmarks.papers.figures import save
from benchmarks.sbfc.cases import binned, folds, problem_of
from benchmarks.sbfc.mixing import data_of
from benchmarks.sbfc.simulations import MAKERS, N_TRAIN

SETS = {
    "australian": "crx", "chess": "chess", "corral": "corral", "heart": "heart",
    "mofn": "mofn_3_7_10",
}  # fmt: skip
"""Files of the data sets of figure 9. The rows of crx are those of australian, except
for missing cells."""
FIGURES = {
    9: ("australian", "chess", "corral", "corral-100", "corral-1000", "heart",
        "madelon", "mofn"),
    15: ("cluster-100", "logistic-100", "cluster-1000", "logistic-1000",
         "cluster-10000", "logistic-10000"),
}  # fmt: skip
ITERATIONS, LONG = 10_000, 100_000
LONGER = ("chess", "corral-100", "corral-1000", "madelon", "cluster-1000")
"""Data sets that are also run with more iterations than in the thesis."""

CHAINS, SHOWN = 4, 200
"""Chains, and the number of states of each in a figure, evenly spaced."""
PER_STEP = 50
"""Iterations of the sampler's step."""
LEFT_OUT, BURNED = 0.1, 0.2
"""Shares of a chain that are not plotted, and that are burn-in."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")

ABOUT = """\
The log posterior of the graph, up to a constant, in chains of the thesis' moves with
its prior. Each chain starts without edges, with a random share of the features in the
signal, and makes 10,000 iterations, with 10,000 features 100,000, as in the thesis. The
first fifth is burn-in (left of the dashed line); the first tenth is not plotted, since
its range would dominate. R-hat (split, rank-normalized) and effective sample size (ESS)
are those of the log posterior of four chains after the burn-in, *apart* is the
difference between the largest and the smallest mean of a chain, in nats, and *within*
the mean standard deviation of a chain. Rows are those of the first fold or of the
thesis' own split, those of simulations are 500 new ones. Seconds are CPU time of all
chains."""

IN_WORDS = """\
- **Small sets mix**: on australian, corral, heart, mofn and the simulations with 100 \
features chains are stationary from the first plotted states on, and R-hat is 1.00. So \
are logistic-1000 and, after the burn-in, logistic-10000.
- **On chess and madelon every chain stays at its own level**, 85 to 101 nats apart, \
with a standard deviation within chains of 2 to 16 nats: each alone looks like a \
converged chain, and the thesis shows one. Ten times as many iterations do not make \
them agree (R-hat above 2).
- **corral-1000 is not stationary** after 10,000 iterations, and its four chains \
disagree after 100,000. corral-100 nearly converges by then (R-hat 1.16).
- **cluster-1000 and cluster-10000** increase in jumps, one chain of four after the \
burn-in; with 100,000 iterations the chains of cluster-1000 agree.
- The default of the library sums out forests and converges on madelon and corral-100 \
(`sbfc_mixing.md`); the moves of the thesis are used by `preset="paper"` only."""


def data_named(name):
    """Levels and classes of a panel."""
    if name in SETS:
        fold = folds(SETS[name])[0]
        return binned(fold)[0], fold.y
    if name == "madelon":
        return data_of(name)
    kind, n_features = name.split("-")
    if kind == "corral":
        X, y = data_of("corral-1000")
        return X[:, : int(n_features)], y
    return MAKERS[kind](N_TRAIN, int(n_features), random_state=0)


def iterations_of(name):
    """Number of iterations, as in the thesis."""
    return LONG if name.endswith("-10000") else ITERATIONS


def chains(name, iterations):
    """The log posterior of every chain, and their diagnostics."""
    from clearwood.sampling import run_chains
    from clearwood.sampling.diagnostics import diagnose
    from clearwood.sbfc.original import OriginalSampler

    problem = problem_of(*data_named(name), "paper")
    sampler = OriginalSampler(problem.scores, problem.penalty, edges=problem.edges)
    thin = iterations // PER_STEP // SHOWN
    begin = time.process_time()
    found = run_chains(
        sampler, SHOWN, n_warmup=0, n_chains=CHAINS, thin=thin, random_state=0
    ).draws["log_posterior"]
    seconds = time.process_time() - begin
    counted = found[:, round(BURNED * SHOWN) :]
    mixed = diagnose(counted)
    for chain, trace in enumerate(found):
        yield {
            "chain": chain,
            "rhat": mixed.rhat,
            "ess": mixed.ess,
            "mean": f"{counted[chain].mean():.2f}",
            "sd": float(counted[chain].std(ddof=1)),
            "seconds": seconds,
            "trace": " ".join(f"{value:.1f}" for value in trace),
        }


def rows_of(frame, name, iterations):
    """The chains of a panel."""
    own = frame["data"] == name
    return frame[own & (frame["iterations"] == str(iterations))]


def table_of(frame, panels):
    """A row for each panel."""
    rows = []
    for name in panels:
        for iterations in sorted({iterations_of(name), LONG}):
            own = rows_of(frame, name, iterations)
            if not len(own):
                continue
            first, mean = own.iloc[0], own["mean"]
            rows.append(
            [name, iterations, f"{first['rhat']:.3f}",
             f"{first['ess']:.0f}", f"{mean.mean():,.1f}",
             f"{mean.max() - mean.min():.2f}", f"{own['sd'].mean():.2f}",
             first["seconds"]]
        )  # fmt: skip
    header = ["data", "iterations", "R-hat", "ESS", "log posterior", "apart"]
    return markdown_table([*header, "within", "seconds"], rows)


def picture(frame, panels, path):
    """A panel for each data set, a line for each chain."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(panels) // 2, 2, figsize=(9, 1.9 * len(panels) / 2), layout="constrained"
    )
    for ax, name in zip(axes.flat, panels):
        n_iterations = iterations_of(name)
        own = rows_of(frame, name, n_iterations)
        ax.set_title(name, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
        ax.ticklabel_format(useOffset=False, style="plain")
        at = np.arange(1, SHOWN + 1) * n_iterations / SHOWN
        first = round(LEFT_OUT * SHOWN)
        for trace, colour in zip(own["trace"], COLOURS):
            values = np.array(trace.split(), dtype=float)
            ax.plot(at[first:], values[first:], color=colour, linewidth=0.8)
        ax.axvline(BURNED * n_iterations, color="grey", linestyle="--", linewidth=0.8)
    figure.supxlabel("iteration", fontsize=9)
    figure.supylabel("log posterior", fontsize=9)
    save(figure, path)


def main():
    options = arguments(__doc__, tables="only write the page and the figures")
    study = Study("sbfc_traces", ["data", "iterations"], options)
    if not options.tables:
        wanted = [(n, iterations_of(n)) for panels in FIGURES.values() for n in panels]
        wanted += [(name, LONG) for name in LONGER]
        if options.quick:
            wanted = [(name, ITERATIONS) for name in ("corral", "cluster-100")]
        study.run({key: partial(chains, *key) for key in wanted}, warm=lambda: None)
    frame = study.frame()
    parts = []
    for number, panels in FIGURES.items():
        path = study.csv.with_name(f"{study.csv.stem}_figure{number}.png")
        picture(frame, panels, path)
        parts += [f"## Figure {number}", f"![figure {number}]({path.name})"]
        parts.append(table_of(frame, panels))
    study.write_markdown(
        "Chains of the thesis' moves", ABOUT, "## Summary", IN_WORDS, *parts
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
