"""The paper's figures 3 to 5: errors by size, and their differences."""

import numpy as np

from benchmarks.papers.figures import save
from benchmarks.projection.cases import SIZES
from benchmarks.projection.comparison import MAIN, RIVAL, compared, scores_of

UNITS = {"rmse": "RMSE", "log loss": "log loss", "accuracy": "accuracy"}

LINES = {
    "refined": ("projected, refined", "#0072B2", "-", "o"),
    "plain": ("projected, plain", "#56B4E9", "-", "v"),
    "cart_tuned": ("CART, tuned", "#D55E00", "-", "s"),
    "cart": ("CART, default", "#E69F00", "--", ""),
    "searched": ("observations, refined", "#7F7F7F", "--", ""),
    "born_again": ("born-again tree", "#CC79A7", ":", "P"),
    "node_harvest": ("Node Harvest", "#009E73", ":", "X"),
}
"""Name, colour, line and marker of methods with sizes."""

LEVELS = {"reference": ("BART", "#0072B2"), "forest": ("random forest", "#CC79A7")}
"""Of methods without sizes."""

REFERENCES = {
    "bart_tuned": ("BART, tuned", "#0072B2", "o"),
    "bart_3": ("BART, 3 trees", "#D55E00", "s"),
    "gp": ("Gaussian process", "#009E73", "^"),
    "bootstrap_forest": ("bootstrap forest", "#7F7F7F", "v"),
}


def panels(frame):
    """A figure with a panel per set of a study."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(frame["data"]))
    columns = 2 if len(names) in (2, 4) else 3
    lines = -(-len(names) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(4.1 * columns, 3.1 * lines + 0.9),
        layout="constrained", squeeze=False,
    )  # fmt: skip
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    for ax, name in zip(axes.flat, names):
        ax.set_title(name, fontsize=10)
        ax.set_xticks(range(2, 21, 3))
        ax.set_xlabel("leaves (nodes)")
        ax.spines[["top", "right"]].set_visible(False)
    return figure, dict(zip(names, axes.flat))


def finish(figure, path, n_columns=5):
    ax = figure.axes[0]
    figure.legend(
        *ax.get_legend_handles_labels(), loc="outside lower center", ncols=n_columns,
        frameon=False, fontsize=9,
    )  # fmt: skip
    save(figure, path)
    return path


def figure_4(study, measure):
    """Scores by size, means over runs."""
    frame = study.frame()
    frame = frame[frame["measure"] == measure]
    figure, axes = panels(frame)
    for name, ax in axes.items():
        part = frame[frame["data"] == name]
        shown = []
        for method, (label, colour, line, marker) in LINES.items():
            if method == RIVAL and measure == "accuracy":
                method = "cart_tuned_accuracy"
            mean = scores_of(part, name, method, measure).mean()
            shown.append(mean.to_numpy())
            ax.plot(
                SIZES, mean, line, color=colour, marker=marker, markersize=4,
                linewidth=1.3, label=label,
            )  # fmt: skip
        for method, (label, colour) in LEVELS.items():
            level = part.loc[part["method"] == method, "own"].mean()
            shown.append(np.array([level]))
            ax.axhline(level, color=colour, linewidth=1, linestyle=(0, (1, 1)),
                       label=label)  # fmt: skip
        ax.set_ylabel(UNITS[measure])
        _cut_off(ax, shown, measure)
    stem = f"{study.csv.stem}_{measure.replace(' ', '_')}"
    return finish(figure, study.csv.with_name(f"{stem}.png"))


def _cut_off(ax, shown, measure):
    """Clip the worst scores of trees with two or three leaves."""
    values = np.concatenate(shown)
    later = np.concatenate([v if len(v) == 1 else v[2:] for v in shown])
    low, high = np.nanmin(values), np.nanmax(later)
    if measure == "accuracy":
        low, high = np.nanmin(later), np.nanmax(values)
    edge = 0.05 * (high - low)
    ax.set_ylim(low - edge, high + edge)


def figure_5(study):
    """Tuned CART's RMSE minus that of the projected tree, with both intervals."""
    frame = study.frame()
    figure, axes = panels(frame)
    kinds = {"correlated": ("#0072B2", -0.17), "paired": ("#D55E00", 0.17)}
    for name, ax in axes.items():
        for test, (colour, shift) in kinds.items():
            found = [compared(frame, name, MAIN, RIVAL, "rmse", test, k) for k in SIZES]
            mean = np.array([-f.difference for f in found])
            ends = np.array([(-f.hdi[1], -f.hdi[0]) for f in found]).T
            ax.errorbar(
                np.array(SIZES) + shift, mean, np.abs(ends - mean), fmt="o",
                color=colour, markersize=3.5, linewidth=1.2, label=f"{test} t-test",
            )  # fmt: skip
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_ylabel("gain in RMSE")
    stem = f"{study.csv.stem}_gain"
    return finish(figure, study.csv.with_name(f"{stem}.png"))


def figure_3(study):
    """Projected trees of several references, and the references' own errors."""
    frame = study.frame()
    figure, axes = panels(frame)
    for name, ax in axes.items():
        for method, (label, colour, marker) in REFERENCES.items():
            part = scores_of(frame, name, method, "rmse")
            ax.plot(
                SIZES, part.mean(), "-", color=colour, marker=marker, markersize=4,
                linewidth=1.3, label=f"tree of: {label}",
            )  # fmt: skip
            rows = frame[(frame["data"] == name) & (frame["method"] == method)]
            ax.axhline(rows["own"].mean(), color=colour, linewidth=1,
                       linestyle=(0, (1, 1)))  # fmt: skip
        ax.set_ylabel("RMSE")
    return finish(figure, study.csv.with_name(f"{study.csv.stem}.png"), 4)
