"""The figures: errors against sizes, and pictures of found rules."""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.papers.cases import SETS_2018, make_case
from benchmarks.papers.methods import FAB_PAPER, timed_fit

N_SHOWN = 300
"""Test rows in a picture."""

TICKS = {
    "synthetic1": (0.1, 0.15, 0.2, 0.3, 0.5),
    "synthetic2": (0.12, 0.15, 0.2, 0.3),
    "spambase": (0.06, 0.08, 0.1, 0.15, 0.2),
    "higgs": (0.32, 0.36, 0.4, 0.44),
    "energy": (1, 2, 5, 10, 20),
}
"""Errors marked on the axes of figure 5."""

KINDS = {
    "FAB, as in the paper": ("#000000", "o", "all"),
    "inTrees, R's settings": ("#D55E00", "^", "all"),
    "Node Harvest, all nodes": ("#009E73", "s", "all"),
    "decision tree, depth 2": ("#7F7F7F", "*", "all"),
    "FAB, ours": ("#0072B2", "o", "all"),
    "born-again tree": ("#CC79A7", "P", "path"),
    "inTrees, ours": ("#D55E00", "^", "path"),
    "Node Harvest, ours": ("#009E73", "s", "path"),
    "decision tree": ("#7F7F7F", "*", "path"),
    "rule list": ("#0072B2", "D", "path"),
    "distilled tree": ("#56B4E9", "v", "path"),
    "additive rules": ("#E69F00", "X", "path"),
}
"""Colour, marker, and whether a method is one point or a line over sizes."""

FITS = {
    "FAB as in the paper": ("FABRules", FAB_PAPER),
    "FAB, ours": ("FABRules", {}),
    "Rule list": ("RuleList", {"n_rules": 10}),
    "inTrees, R's settings": ("InTrees", {"preset": "paper"}),
    "Born-again tree": ("BornAgainTree", {"n_rules": 128, "max_rules": 128}),
    "Distilled tree": ("DistilledTree", {"n_rules": 10}),
}
HARVESTS = {
    "All nodes, fitted to labels": {"max_rules": None, "learn_from": "labels"},
    "Ten lines, fitted to the forest": {"max_rules": 10},
}


def draw_all(frame, csv):
    """Draw what the rows allow; the paths of the pictures by number."""
    import matplotlib

    matplotlib.use("Agg")
    draw = {
        "1": figure_1,
        "5": partial(figure_5, frame[frame["paper"] == "2018"]),
        "6": partial(figure_6, "synthetic1"),
        "7": partial(figure_6, "synthetic2"),
        "8": partial(figure_8, "synthetic1"),
        "9": partial(figure_8, "synthetic2"),
    }
    paths = {number: csv.with_name(f"{csv.stem}_figure{number}.png") for number in draw}
    for number, path in paths.items():
        save(draw[number](), path)
    return paths


def save(figure, path):
    """A small PNG file: pictures of few colours need no more."""
    import matplotlib.pyplot as plt
    from PIL import Image

    figure.savefig(path, dpi=90)
    plt.close(figure)
    few = Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    print(f"{Path(path).name}: {Path(path).stat().st_size / 1000:.0f} kB")


def panels(n_rows, n_columns, size=3.0):
    """A figure with square panels."""
    import matplotlib.pyplot as plt

    return plt.subplots(
        n_rows, n_columns, figsize=(size * n_columns, (size + 0.3) * n_rows + 0.3),
        layout="constrained", squeeze=False,
    )  # fmt: skip


def finished(ax, title):
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    ax.set(xlabel="x1", ylabel="x2", aspect="equal")
    ax.set_title(title, fontsize=10)


def colour_legend(figure):
    """One legend for all panels."""
    from clearwood.charts.style import MARKERS, colour

    ax = figure.axes[0]
    dots = [
        ax.scatter([], [], color=colour(k), marker=MARKERS[k], label=f"class {k}")
        for k in (0, 1)
    ]
    figure.legend(handles=dots, loc="outside lower center", ncols=2, frameon=False)


def draw_data(ax, case, title):
    from clearwood.charts.style import MARKERS, colour

    for k in (0, 1):
        own = case.X[case.y == k]
        ax.scatter(*own.T, s=9, color=colour(k), marker=MARKERS[k], lw=0, alpha=0.7)
    finished(ax, title)


def background(predict, n=200):
    """Places along an axis, and the predictions on their grid."""
    at = (np.arange(n) + 0.5) / n
    grid = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
    return at, at, predict(grid).reshape(n, n)


def fill(ax, predicted):
    """The background in the classes' colours."""
    from matplotlib.colors import ListedColormap

    from clearwood.charts.style import colour

    colours = ListedColormap([colour(0), colour(1)])
    ax.imshow(
        predicted, origin="lower", extent=(0, 1, 0, 1), cmap=colours, alpha=0.25,
        vmin=0, vmax=1, interpolation="nearest",
    )  # fmt: skip


def draw_trees(ax, case, n_trees=5):
    """The regions into which the first trees divide the square, and their number."""
    trees = case.model.estimators_[:n_trees]

    def leaves(X):
        return np.stack([tree.apply(X) for tree in trees], axis=1)

    fill(ax, background(case.model.predict)[2])
    borders = []
    for d in (0, 1):
        cuts = [tree.tree_.threshold[tree.tree_.feature == d] for tree in trees]
        edges = np.unique(np.concatenate([[0, 1], *cuts]))
        borders.append((edges[1:] + edges[:-1]) / 2)
    cells = np.stack(np.meshgrid(*borders), axis=-1).reshape(-1, 2)
    n_regions = len(np.unique(leaves(cells), axis=0))
    n = 600
    at = (np.arange(n) + 0.5) / n
    grid = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
    where = np.unique(leaves(grid), axis=0, return_inverse=True)[1].reshape(n, n)
    line = np.zeros((n, n))
    line[:, 1:] = where[:, 1:] != where[:, :-1]
    line[1:] = np.maximum(line[1:], where[1:] != where[:-1])
    ax.imshow(line, origin="lower", extent=(0, 1, 0, 1), cmap="Greys", alpha=line * 0.6)
    finished(ax, f"(b) first {n_trees} trees: {n_regions:,} regions")


def draw_rules(ax, case, rules, title):
    """The boxes of rules, over the predictions of the rules."""
    import matplotlib.pyplot as plt

    from clearwood.rules.displays import RegionsDisplay

    show = slice(0, N_SHOWN)
    made = RegionsDisplay.from_estimator(rules, case.X_test[show], case.y_test[show])
    plt.close(made.figure_)
    made.background = background(rules.predict)
    made.plot(ax)
    for part in (*ax.texts, ax.get_legend()):  # too many for a small panel
        if part is not None:
            part.remove()
    wrong = np.mean(rules.predict(case.X_test) != case.y_test)
    finished(ax, f"{title}: {rules.n_rules} lines, error {wrong:.3f}")


def figure_1():
    """Data, the regions of five trees, and the rules of FAB."""
    figure, axes = panels(2, 3)
    for row, name in zip(axes, ("synthetic1", "synthetic2")):
        case = make_case("2018", name, 0)
        fab, _ = timed_fit(case, "FABRules", **FAB_PAPER)
        draw_data(row[0], case, f"(a) {name}")
        draw_trees(row[1], case)
        draw_rules(row[2], case, fab.rules_, "(c) FAB")
    colour_legend(figure)
    return figure


def figure_5(frame):
    """Test errors against sizes."""
    names = [name for name in SETS_2018 if name in set(frame["data"])]
    figure, axes = panels(2, 3, size=3.4)
    for ax, name in zip(axes.flat, names):
        rows = frame[frame["data"] == name]
        for method, (colour, marker, kind) in KINDS.items():
            own = rows[rows["method"] == method]
            draw_method(ax, own, method, colour, marker, kind)
        ax.axhline(rows["forest_error"].mean(), color="black", ls="--", lw=1)
        ax.annotate(
            "forest", (1, rows["forest_error"].mean()), (-2, 2), fontsize=8, ha="right",
            va="bottom", xycoords=("axes fraction", "data"), textcoords="offset points",
        )  # fmt: skip
        ax.set(xscale="log", yscale="log")
        for axis, some in ((ax.xaxis, (3, 5, 10, 20, 50)), (ax.yaxis, TICKS[name])):
            axis.set_ticks(some, [f"{value:g}" for value in some])
            axis.set_ticks([], minor=True)
        unit = "mean squared error" if name == "energy" else "share of errors"
        ax.set(title=name, xlabel="lines", ylabel=unit)
        ax.spines[["top", "right"]].set_visible(False)
    spare = list(axes.flat)[len(names) :]
    handles, labels = axes.flat[0].get_legend_handles_labels()
    for ax in spare:
        ax.axis("off")
    home = spare[0] if spare else axes.flat[0]
    home.legend(handles, labels, loc="center left", frameon=False, fontsize=9)
    return figure


def draw_method(ax, rows, method, colour, marker, kind):
    """One point, or a line over sizes."""
    if kind == "all":
        rows = rows[rows["size"] == "all"]
        ax.errorbar(
            rows["lines"].mean(), rows["error"].mean(), rows["error"].std(ddof=0),
            rows["lines"].std(ddof=0), color=colour, marker=marker, ms=9, ls="", lw=0.8,
            mfc="white", mew=2, label=method, zorder=4,
        )  # fmt: skip
        return
    sizes = rows[rows["size"] != "all"]
    means = sizes.assign(size=sizes["size"].astype(int)).groupby("size")
    means = means[["lines", "error"]].mean().drop_duplicates()
    means = means[means["lines"] > 2]
    ax.plot(
        means["lines"], means["error"], color=colour, marker=marker, ms=4, lw=1.2,
        label=method, alpha=0.9,
    )  # fmt: skip


def figure_6(name):
    """Data, forest, and the rules of the methods."""
    case = make_case("2018", name, 0)
    figure, axes = panels(2, 4, size=2.8)
    draw_data(axes[0, 0], case, f"{name}, 1,000 rows")
    fill(axes[0, 1], background(case.model.predict)[2])
    wrong = np.mean(case.model.predict(case.X_test) != case.y_test)
    finished(axes[0, 1], f"Forest of 100 trees: error {wrong:.3f}")
    for ax, (title, (method, settings)) in zip(list(axes.flat)[2:], FITS.items()):
        fit, _ = timed_fit(case, method, **settings)
        draw_rules(ax, case, fit.rules_, title)
        ax.title.set_fontsize(8.5)
    colour_legend(figure)
    return figure


def figure_8(name):
    """The nodes of Node Harvest."""
    case = make_case("2018", name, 0)
    figure, axes = panels(1, 2, size=3.6)
    for ax, (title, settings) in zip(axes.flat, HARVESTS.items()):
        fit, _ = timed_fit(case, "NodeHarvest", **settings)
        draw_rules(ax, case, fit.rules_, title)
        ax.title.set_fontsize(8.5)
    colour_legend(figure)
    return figure
