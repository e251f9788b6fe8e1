"""The pages of the studies, written from existing rows."""

from importlib.metadata import version

import numpy as np

from benchmarks._study import markdown_table, mean_and_sd
from benchmarks.projection.comparison import (
    MAIN,
    RIVAL,
    compared,
    own_of,
    scores_of,
    tested,
)
from benchmarks.projection.printed import TABLE_2
from benchmarks.projection.words import CLASSES, EFFECT, PRIOR, SIZES_CHOSEN

SHOWN = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)

WORDS = {
    "reference": "BART itself",
    "forest": "random forest itself",
    "plain": "projected, plain",
    "refined": "projected, refined",
    "searched": "observations, refined",
    "cart": "CART, default",
    "cart_tuned": "CART, tuned",
    "cart_tuned_accuracy": "CART, tuned for accuracy",
    "cart_at_most": "CART, tuned, at most K leaves",
    "born_again": "born-again tree",
    "node_harvest": "Node Harvest, at most K nodes",
    "bart_tuned": "BART, tuned",
    "bart_3": "BART of 3 trees",
    "gp": "Gaussian process",
    "bootstrap_forest": "Bayesian bootstrap forest",
}
RIVALS = ("cart_tuned", "cart_at_most", "cart", "searched", "born_again")


def sets_of(frame):
    return list(dict.fromkeys(frame["data"]))


def digits_of(measure, value):
    """Number of digits in a table."""
    return 3 if measure != "rmse" or value < 3 else 2 if value < 100 else 0


def runs_of(frame):
    """Number of runs of each set."""
    n_runs = frame.groupby("data", sort=False)["run"].nunique()
    if n_runs.nunique() == 1:
        return f"{n_runs.iloc[0]} runs of every set."
    return "Runs: " + ", ".join(f"{name} {n}" for name, n in n_runs.items()) + "."


def notes(study, text):
    """Description of the methods; for the paper's sets also the summary."""
    return text.split("## Summary")[0] if "folder" in study.name else text


def software():
    return f"With: stochtree {version('stochtree')}."


# Scores by size


def by_size(frame, name, measure):
    """Methods in rows, sizes in columns; the best tree of a size in bold."""
    rows, means = [], {}
    for method in WORDS:
        mean = scores_of(frame, name, method, measure).mean()
        if mean.notna().any():
            means[method] = mean
    for method in ("reference", "forest"):
        own = own_of(frame, name, method, measure)["own"].mean()
        digits = digits_of(measure, own)
        rows.append([WORDS[method], *[f"{own:.{digits}f}"] * len(SHOWN)])
    trees = [mean for method, mean in means.items() if method != "node_harvest"]
    for method, mean in means.items():
        cells = []
        for k in SHOWN:
            text = "" if np.isnan(mean[k]) else f"{mean[k]:.{digits}f}"
            best = (max if measure == "accuracy" else min)(tree[k] for tree in trees)
            cells.append(f"**{text}**" if mean[k] == best else text)
        rows.append([WORDS[method], *cells])
    return markdown_table([f"{name}, {measure}", *map(str, SHOWN)], rows)


# Differences


def gains(frame, measure, one=MAIN, rivals=RIVALS):
    """The mean over all sizes, method against method."""
    rows = []
    for name in sets_of(frame):
        for rival in rivals:
            found = {
                test: compared(frame, name, one, rival, measure, test)
                for test in ("correlated", "paired")
            }
            rows.append([name, WORDS[rival], *_cells(found, measure)])
    return markdown_table(
        ["set", f"{WORDS[one]}, against", *_heads(measure)],
        rows,
    )


def gains_by_size(frame, measure, one=MAIN, rival=RIVAL):
    """The same at some sizes, against one method."""
    rows = []
    for name in sets_of(frame):
        for k in (2, 3, 5, 8, 10, 15, 20):
            found = {
                test: compared(frame, name, one, rival, measure, test, k)
                for test in ("correlated", "paired")
            }
            rows.append([name, k, *_cells(found, measure)])
    return markdown_table(["set", "leaves", *_heads(measure)], rows)


def _heads(measure):
    return (
        f"gain in {measure}",
        "95 % (correlated)",
        "better / same / worse",
        "95 % (paired)",
        "better / same / worse",
    )


def _cells(found, measure):
    """Gains are positive where the first is better."""
    sign = 1 if measure == "accuracy" else -1
    some = found["correlated"]
    digits = 3 if abs(some.hdi[0] - some.hdi[1]) < 3 else 1
    cells = [f"{sign * some.difference:+.{digits}f}"]
    for test in ("correlated", "paired"):
        low, high = sorted(sign * end for end in found[test].hdi)
        cells.append(f"{low:+.{digits}f} to {high:+.{digits}f}")
        cells.append(
            f"{found[test].p_a_better:.2f} / {found[test].p_rope:.2f} / "
            f"{found[test].p_b_better:.2f}"
        )
    return cells


# Table 2


def table_2(frame, measure):
    """Node Harvest and born-again trees of chosen size, compared with ours."""
    rows = []
    for name in sets_of(frame):
        scores = {
            method: own_of(frame, name, method, measure)
            for method in ("node_harvest", "born_again", "reference", "forest")
        }
        of = {
            "Node Harvest": scores["node_harvest"]["own"],
            "born-again tree": scores["born_again"]["own"],
        }
        for k in (10, 15):
            of[f"projected, {k} leaves"] = scores_of(frame, name, MAIN, measure)[k]
        best = (max if measure == "accuracy" else min)(of, key=lambda m: of[m].mean())
        digits = digits_of(measure, of[best].mean())
        cells = []
        for method, values in of.items():
            text = mean_and_sd(values, digits)
            mark = _mark(of[best], values, measure) if method != best else ""
            cells.append(f"**{text}**" if method == best else text + mark)
        cells += [
            mean_and_sd(scores[m]["own"], digits) for m in ("forest", "reference")
        ]
        cells += [
            mean_and_sd(scores[m]["lines"], 1) for m in ("node_harvest", "born_again")
        ]
        rows.append([name, *cells])
    head = [
        "", *of, "(random forest)", "(BART)", "nodes, Node Harvest",
        "leaves, born-again",
    ]  # fmt: skip
    return markdown_table(head, rows)


def _mark(best, other, measure):
    """A star where the interval of one test lies on one side of zero, two for both
    tests."""
    n_stars = 0
    for test in ("paired", "correlated"):
        low, high = tested(tuple(best), tuple(other), measure, test).hdi
        n_stars += low > 0 or high < 0
    return r"\*" * n_stars


def printed_table_2(frame):
    """The paper's numbers for these sets."""
    head = ["paper", "Node Harvest", "born-again tree", "projected, 10 leaves",
            "projected, 15 leaves", "(random forest)", "nodes, Node Harvest",
            "leaves, born-again"]  # fmt: skip
    rows = [[name, *TABLE_2[name]] for name in sets_of(frame) if name in TABLE_2]
    return markdown_table(head, rows)


# Section 4.1.2


def effect_by_size(frame, name):
    """References in rows."""
    rows = []
    for method in dict.fromkeys(frame["method"]):
        own = own_of(frame, name, method, "rmse")["own"].mean()
        digits = digits_of("rmse", own)
        mean = scores_of(frame, name, method, "rmse").mean()
        cells = [f"{mean[k]:.{digits}f}" for k in SHOWN]
        rows.append([WORDS[method], f"{own:.{digits}f}", *cells])
    return markdown_table([f"{name}, RMSE", "itself", *map(str, SHOWN)], rows)


def effect_gains(frame):
    """Trees of the tuned BART against trees of the others, mean over all sizes."""
    rows = []
    for name in sets_of(frame):
        for other in list(dict.fromkeys(frame["method"]))[1:]:
            found = {
                test: compared(frame, name, "bart_tuned", other, "rmse", test)
                for test in ("correlated", "paired")
            }
            rows.append([name, WORDS[other], *_cells(found, "rmse")])
    return markdown_table(["set", "BART, tuned, against", *_heads("rmse")], rows)


def chosen_numbers(frame):
    """Distribution of the number of trees of the tuned BART."""
    rows = frame[frame["method"] == "bart_tuned"]
    counts = rows.groupby("data", sort=False)["lines"].value_counts().unstack()
    counts = counts.fillna(0).astype(int).sort_index(axis=1)
    return markdown_table(
        ["trees of the tuned BART, runs", *map(str, counts.columns)],
        [[name, *line.tolist()] for name, line in counts.iterrows()],
    )


def write_effect(study, picture):
    frame = study.frame()
    study.write_markdown(
        "Effect of the reference on projected trees",
        software(),
        EFFECT,
        runs_of(frame),
        f"![RMSE by size for each reference]({picture.name})",
        *(effect_by_size(frame, name) for name in sets_of(frame)),
        "Mean over all sizes from 2 to 20; a gain is positive where trees of the tuned "
        "BART are better.",
        effect_gains(frame),
        chosen_numbers(frame),
    )


# Sections 4.1.3, and the same for classes


def write_prior(study, pictures):
    frame = study.frame()
    study.write_markdown(
        "Small trees fitted to a model or to the data",
        software(),
        notes(study, PRIOR),
        runs_of(frame),
        "## RMSE by size (figure 4)",
        *(f"![RMSE by size]({path.name})" for path in pictures[:1]),
        *(by_size(frame, name, "rmse") for name in sets_of(frame)),
        "## Gains of the projected tree (figure 5)",
        *(f"![Gains by size]({path.name})" for path in pictures[1:]),
        "Mean over all sizes from 2 to 20.",
        gains(frame, "rmse"),
        "The same for the projected tree that is grown as in the paper, not refined.",
        gains(frame, "rmse", "plain", ("cart_tuned", "cart", "refined")),
        "At some sizes, refined, against the tuned CART.",
        gains_by_size(frame, "rmse"),
        "## Methods for tree ensembles (table 2)",
        table_2(frame, "rmse"),
        "One star: the 95 % interval of the paired test lies on one side of zero; two: "
        "that of the correlated one, too. The paper's numbers:",
        printed_table_2(frame),
    )


def write_classes(study, pictures):
    frame = study.frame()
    parts = []
    rivals = {
        "log loss": RIVALS,
        "accuracy": ("cart_tuned_accuracy", "cart", "searched", "born_again"),
    }
    for measure, picture in zip(("log loss", "accuracy"), pictures):
        parts += [f"## {measure.capitalize()}", f"![{measure}]({picture.name})"]
        parts += [by_size(frame, name, measure) for name in sets_of(frame)]
        parts += [
            "Mean over all sizes from 2 to 20; gains are positive where the projected "
            "tree is better.",
            gains(frame, measure, MAIN, rivals[measure]),
            "Methods for tree ensembles, at the sizes that they choose:",
            table_2(frame, measure),
        ]
    study.write_markdown(
        "Small trees fitted to a classifier or to the data",
        software(),
        notes(study, CLASSES),
        runs_of(frame),
        *parts,
    )


# Sizes


def write_sizes(study):
    frame = study.frame()
    columns = [str(k) for k in range(1, 21)]
    rows, others, worse = [], [], []
    for name in sets_of(frame):
        part = frame[frame["data"] == name]
        what = {
            measure: rows_.set_index("run")[columns].to_numpy(float)
            for measure, rows_ in part.groupby("measure")
        }
        found = [what.pop(key) for key in HELD_OUT]
        ((measure, test),) = what.items()
        own = part[part["measure"] == measure]
        digits = digits_of(measure, test.mean())
        chosen = own["chosen"].to_numpy()
        runs = np.arange(len(test))
        at_best = int(test.mean(axis=0).argmin())
        rows.append(
            [
                f"{name}, {measure}",
                f"{np.mean(chosen):.1f} ({chosen.min()} to {chosen.max()})",
                f"{test[runs, chosen - 1].mean():.{digits}f}",
                at_best + 1,
                f"{test[:, at_best].mean():.{digits}f}",
                f"{test.min(axis=1).mean():.{digits}f}",
                f"{own['reference'].mean():.{digits}f}",
            ]
        )
        at_chosen = test[runs, chosen - 1].mean()
        worse.append(100 * (at_chosen / test[:, at_best].mean() - 1))
        cells = []
        for rule in RULES.values():
            sizes = np.array([rule(*of_run) for of_run in zip(*found)])
            score = test[runs, sizes - 1].mean()
            cells.append(f"{score:.{digits}f} ({sizes.mean():.1f})")
        others.append([f"{name}, {measure}", *cells])
    head = ["", "leaves chosen", "score there", "best size on average", "score there",
            "best of every run", "BART itself"]  # fmt: skip
    study.write_markdown(
        "Sizes that projected trees choose",
        software(),
        SIZES_CHOSEN,
        runs_of(frame),
        markdown_table(head, rows),
        "At the chosen sizes, the loss on test rows is higher than at the best single "
        f"size by {min(worse):.0f} to {max(worse):.0f} %.",
        "Other rules on the same held-out rows: score on test rows (mean leaves).",
        markdown_table(["", *RULES], others),
    )


HELD_OUT = ("held_out", "error_to_best")
"""Per size: the held-out loss, and the standard error of its difference from that of
the best size."""


def _within(tolerance):
    def rule(held, to_best):
        return int((held <= held.min() + tolerance).argmax()) + 1

    return rule


def _near_best(n_errors):
    def rule(held, to_best):
        best = held.argmin()
        return int((held <= held[best] + n_errors * to_best).argmax()) + 1

    return rule


RULES = {
    "default": _within(0.001),
    "tolerance 0.02": _within(0.02),
    "tolerance 0.05": _within(0.05),
    "within one error of the best": _near_best(1),
    "within half an error": _near_best(0.5),
    "the best": _within(0.0),
}
"""Rules that choose a size from held-out scores."""
