"""FAB against EM over K = 1 ... 10 (table 2 and figure 4 of Hara and Hayashi 2018).

Usage: python -m benchmarks.fab.vs_em [--quick] [--fresh]

EM keeps all its components, so a user of it tries every K; FAB starts from ten and
drops those that do not pay. Both explain the same random forests.
"""

import time
import warnings
from functools import partial

import numpy as np

from benchmarks._data import SIZES_2018, is_classes, load, make_model
from benchmarks._study import Study, arguments, markdown_table, mean_and_sd

MOST = 10
N_RESTARTS = 20

TEXT = f"""\
Random forests of 100 trees; mean and standard deviation over splits. {N_RESTARTS}
restarts each; the one whose printed rules agree best with the forest on training rows
is kept. Seconds per restart include printing; those of EM are the total over K = 1 to
{MOST}. K of FAB: components left. Errors on test rows, of the printed rules and of the
soft posterior; for EM at the K that is best in hindsight: least mean test error of the
printed rules. At K = 1 EM starts from two components, as one would hold every row. Not
converged: share of the kept restarts that reached 1,000
iterations."""


def main():
    options = arguments(__doc__)
    study = Study("fab_vs_em", ["data", "split"], options)
    names = ["energy", "spambase", "synthetic1"] if options.quick else list(SIZES_2018)
    study.run(
        {
            (name, split): partial(both, name, split)
            for split in range(1 if options.quick else 3)
            for name in names
        }
    )
    frame = study.frame()
    names = [name for name in SIZES_2018 if name in set(frame["data"])]
    by_name = {name: frame[frame["data"] == name] for name in names}
    picture = study.csv.with_suffix(".png")
    draw(by_name, picture)
    runtimes = [runtime_row(name, rows) for name, rows in by_name.items()]
    errors = [line for name, rows in by_name.items() for line in error_rows(name, rows)]
    study.write_markdown(
        "FAB against EM",
        TEXT,
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


def both(name, split):
    """One row for FAB and one per K for EM."""
    X_train, y_train, X_test, y_test = load(name, split, SIZES_2018[name])
    model = make_model("forest", is_classes(name), split).fit(X_train, y_train)
    rows = []
    for method, k in [("fab", MOST), *(("em", k) for k in range(1, MOST + 1))]:
        fab, taken = explained(name, model, X_train, y_train, method, k, split)
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


def explained(name, model, X, y, method, k, seed):
    """A fit of at most k components and how long it took."""
    import clearwood as cw

    make = cw.FABRulesClassifier if is_classes(name) else cw.FABRulesRegressor
    fab = make(
        model, method=method, max_rules=k + 1, n_init=N_RESTARTS, random_state=seed
    )
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the column `converged` says it
        fab.fit(X, y)
    return fab, time.perf_counter() - begin


def error(name, y, predicted):
    """Mean squared error, or share of wrong classes."""
    return float(np.mean(y != predicted if is_classes(name) else (y - predicted) ** 2))


def runtime_row(name, rows):
    fab, em = rows[rows["method"] == "fab"], rows[rows["method"] == "em"]
    total = em.groupby("split")["seconds_per_restart"].sum()
    best = em.groupby("k_start")["error"].mean().idxmin()
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
