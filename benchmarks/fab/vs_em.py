"""FAB against EM over K = 1 ... 10 (table 2 and figure 4 of Hara and Hayashi 2018).

Usage: python -m benchmarks.fab.vs_em [--quick] [--fresh] [--paper]

EM keeps all its components, so a user has to try every K; FAB starts from ten and drops
those that do not increase the bound. Both approximate the same random forests.
``--paper``: by the protocol of the paper, on a page of its own.
"""

import time
import warnings
from functools import partial

import numpy as np

from benchmarks._data import SIZES_2018, is_classes, load, make_model
from benchmarks._study import (
    Study,
    arguments,
    markdown_table,
    mean_and_sd,
    simplifier,
)
from benchmarks.papers.cases import make_case

MOST = 10
N_RESTARTS = 20

TEXT = f"""\
Random forests of 100 trees; mean and standard deviation over splits. {N_RESTARTS}
restarts each; the one whose rules agree best with the forest on training rows
is kept. Seconds per restart include printing; those of EM are the total over K = 1 to
{MOST}. K of FAB: remaining components. Errors on test rows, of the rules ("printed")
and of the soft posterior; for EM at the K of least test error of the rules, which is
known only in hindsight. At K = 1 EM starts from two components, since one would cover
every row. Not converged: share of the kept restarts that reached 1,000 iterations."""


PAPER_TEXT = f"""\
The protocol of figure 4 of Hara and Hayashi (2018): forests chosen out of bag as in the
authors' programs, labels as target, regions as rules (`preset="paper"`), and of
{N_RESTARTS} restarts the one with the smallest training error of the soft prediction
(eq. 11). Mean and standard deviation over splits; the paper has ten (Higgs here: two).
Errors on test rows; for EM at the K of least mean test error of the soft prediction,
which is known only in hindsight. At K = 1 EM starts from two components.
Seconds to compare with table 2 are in `papers.md`."""


def main():
    options = arguments(__doc__, paper="by the protocol of the paper")
    name = "fab_vs_em_paper" if options.paper else "fab_vs_em"
    study = Study(name, ["data", "split"], options)
    study.command += " --paper" * options.paper
    names = ["energy", "spambase", "synthetic1"] if options.quick else list(SIZES_2018)
    study.run(
        {
            (name, split): partial(both, name, split, options.paper)
            for split in range(n_splits("", options))
            for name in names
            if split < n_splits(name, options)
        }
    )
    frame = study.frame()
    names = [name for name in SIZES_2018 if name in set(frame["data"])]
    by_name = {name: frame[frame["data"] == name] for name in names}
    picture = study.csv.with_suffix(".png")
    draw(by_name, picture)
    decides = "soft_error" if options.paper else "error"
    runtimes = [runtime_row(name, rows, decides) for name, rows in by_name.items()]
    errors = [line for name, rows in by_name.items() for line in error_rows(name, rows)]
    study.write_markdown(
        "FAB against EM, by the protocol of the paper"
        if options.paper
        else "FAB against EM",
        PAPER_TEXT if options.paper else TEXT,
        *(paired(name, rows) for name, rows in by_name.items() if options.paper),
        markdown_table(
            ["data", "FAB: s per restart", "EM: s per restart", "EM / FAB", "FAB: K",
             "FAB: lines", "FAB: printed", "FAB: soft", "EM: best K", "EM: printed",
             "EM: soft", "EM: not converged"],
            runtimes,
        ),
        "Test errors per K:",
        markdown_table(
            ["data", "error", *(f"EM {k}" for k in range(1, MOST + 1)), "FAB"], errors
        ),
        f"![Error against K]({picture.name})",
    )  # fmt: skip


def n_splits(name, options):
    """Splits of a set; of any set without a name."""
    if options.quick:
        return 1
    if not options.paper:
        return 3
    return 2 if name == "higgs" else 10


def both(name, split, as_in_the_paper):
    """One row for FAB and one per K for EM."""
    if as_in_the_paper:
        X_train, y_train, X_test, y_test, model, *_ = make_case("2018", name, split)
    else:
        X_train, y_train, X_test, y_test = load(name, split, SIZES_2018[name])
        model = make_model("forest", is_classes(name), split).fit(X_train, y_train)
    preset = "paper" if as_in_the_paper else None
    rows = []
    for method, k in [("fab", MOST), *(("em", k) for k in range(1, MOST + 1))]:
        settings = {
            "method": method, "n_init": N_RESTARTS, "random_state": split,
            "max_rules": MOST + 1, "n_rules": k + 1, "preset": preset,
        }  # fmt: skip
        fab = simplifier("FABRules", is_classes(name), model, **settings)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reported in the column `converged`
            fab.fit(X_train, y_train)
        taken = time.perf_counter() - begin
        found = fab.rules_.evaluate(X_test, y_test, model=model)
        kept = fab.restarts_[fab.selected_]
        soft, ensemble = fab.predict_soft(X_test), model.predict(X_test)
        row = {
            "method": method,
            "k_start": k,
            "k": kept["n_components"],
            "lines": found.n_rules,
            "error": found.error,
            "soft_error": error(name, y_test, soft),
            "ensemble_error": error(name, y_test, ensemble),
            "fidelity": found.fidelity,
            "literals": found.n_literals,
            "iterations": np.mean([r["n_iterations"] for r in fab.restarts_]),
            "converged": kept["converged"],
            "seconds_per_restart": taken / N_RESTARTS,
        }
        rows.append(row)
    return rows


def paired(name, rows):
    """FAB against EM at each K on the same splits, by the soft prediction."""
    fab, em = rows[rows["method"] == "fab"], rows[rows["method"] == "em"]
    best = em.groupby("k_start")["soft_error"].mean().idxmin()
    at_best = em[em["k_start"] == best].set_index("split")["soft_error"]
    gain = at_best - fab.set_index("split")["soft_error"]
    mean, se = gain.mean(), gain.std(ddof=1) / len(gain) ** 0.5
    verdict = "as good as" if abs(mean) <= 2 * se else "better" if mean > 0 else "worse"
    than = "" if verdict == "as good as" else " than"
    return (
        f"**{name}**: FAB keeps {mean_and_sd(fab['k'], 1)} components and is {verdict}"
        f"{than} EM at its best K, {best}: difference of errors {mean:.3g} (standard "
        f"error {se:.2g}, {len(gain)} splits)."
    )


def error(name, y, predicted):
    """Mean squared error, or share of wrong classes."""
    return float(np.mean(y != predicted if is_classes(name) else (y - predicted) ** 2))


def runtime_row(name, rows, decides):
    fab, em = rows[rows["method"] == "fab"], rows[rows["method"] == "em"]
    total = em.groupby("split")["seconds_per_restart"].sum()
    best = em.groupby("k_start")[decides].mean().idxmin()
    at_best = em[em["k_start"] == best]
    return [
        name,
        mean_and_sd(fab["seconds_per_restart"]),
        mean_and_sd(total),
        total.mean() / fab["seconds_per_restart"].mean(),
        mean_and_sd(fab["k"], 1),
        mean_and_sd(fab["lines"], 1),
        mean_and_sd(fab["error"]),
        mean_and_sd(fab["soft_error"]),
        best,
        mean_and_sd(at_best["error"]),
        mean_and_sd(at_best["soft_error"]),
        1 - em["converged"].mean(),
    ]


def error_rows(name, rows):
    fab, em = rows[rows["method"] == "fab"], rows[rows["method"] == "em"]
    for column, label in (("error", "printed"), ("soft_error", "soft")):
        per_k = em.groupby("k_start")[column].mean()
        yield [name, label, *per_k, fab[column].mean()]


def draw(by_name, path):
    """Error against K, one panel per data set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = min(len(by_name), 3)
    lines = -(-len(by_name) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(3.6 * columns, 3 * lines), squeeze=False
    )
    kinds = [("error", "printed rules", "#0072B2", "o", 12),
             ("soft_error", "soft", "#D55E00", "s", 7)]  # fmt: skip
    for ax, (name, rows) in zip(axes.flat, by_name.items()):
        fab, em = rows[rows["method"] == "fab"], rows[rows["method"] == "em"]
        for column, label, colour, marker, size in kinds:
            per_k = em.groupby("k_start")[column].mean()
            ax.plot(per_k, color=colour, marker=marker, ms=4, label=f"EM, {label}")
            ax.plot(
                fab["k"].mean(), fab[column].mean(), color=colour, marker=marker,
                ms=size, mfc="none", mew=2, ls="", zorder=3, label=f"FAB, {label}",
            )  # fmt: skip
        level = rows["ensemble_error"].mean()
        ax.axhline(level, color="grey", ls="--", lw=1, label="forest")
        unit = "share of errors" if is_classes(name) else "mean squared error"
        ax.set(title=name, xlabel="K", ylabel=unit, xticks=range(1, MOST + 1))
        ax.set_ylim(bottom=0)
    for ax in list(axes.flat)[len(by_name) :]:
        ax.remove()
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.tight_layout(rect=(0, 0.12 / lines, 1, 1))
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
