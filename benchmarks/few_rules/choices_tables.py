"""The page: estimates of fidelity, chosen sizes, and quality of probabilities."""

import numpy as np

from benchmarks._study import markdown_table

KEYS = ["data", "ensemble", "method", "goal"]
SHOWN_SIZES = (3, 5, 7, 10)
CLOSE_ENOUGH = 0.5

TEXT = """\
An ensemble (scikit-learn's forest, or gradient boosting, of 100 trees) is trained on
half of the rows of each set, at most 1,000, and approximated by lists, trees and sums
of up to ten rules (seed 0). All figures are measured on up to 3,000 held-out rows, used
to fit neither. Fidelity: share of equal classes, or R2. AUC (for more than two classes
the mean of one-versus-rest AUCs), log loss (with probabilities of at least 0.001)
and Brier score are those of the rules' probabilities for the true labels. Lines: number
of rules or leaves.

Goals: `before`: lists of classes minimize regret alone; sizes are evaluated by
agreement on held-out rows of the ensemble's own training data, and the fewest rules
within one standard error of the best are taken. `auto`, the default: lists also
minimize half of the squared error of probabilities, trees all of it; sizes are
evaluated by log loss (R2 for values) on mixtures of held-out rows, within half a
standard error. `agreement`: the same rules, sizes evaluated by agreement. `log_loss`:
lists minimize log loss in place of regret. `balanced`: `scoring="balanced"`. Cases that
were not run (the largest sets take longest) are in no table."""


def write_tables(study, looked_at, rare):
    """Write the page from the rows there are."""
    frame = study.frame()
    is_rare = frame["data"].isin(rare)
    common = frame[~is_rare]
    parts = [TEXT, *estimates(common), *sizes(common, looked_at), *kinds(common)]
    parts += probabilities(common[common["classes"] > 0], looked_at)
    if is_rare.any():
        parts += rare_classes(frame[is_rare])
    study.write_markdown("Criteria for choosing sizes and growing rules", *parts)


def estimates(frame):
    """The fit's estimate minus the fidelity on new rows."""
    lines = []
    at_most = frame[frame["K"] == frame["K"].max()]
    at_most = at_most.assign(bias=at_most["estimate"] - at_most["fidelity"])
    for (classes, kind, method), part in at_most.groupby(
        [np.where(at_most["classes"] > 0, "classes", "values"), "ensemble", "method"]
    ):
        by_goal = part.pivot(index="data", columns="goal", values="bias")
        by_goal = by_goal.reindex(columns=["before", "auto"])
        if by_goal["before"].notna().any():
            by_goal = by_goal.dropna()
        lines.append(
            [classes, kind, method, len(by_goal)]
            + [_signed(by_goal[goal].mean()) for goal in by_goal]
            + [_signed(by_goal[goal].abs().mean())[1:] for goal in by_goal]
        )
    header = ["target", "ensemble", "method", "sets", "before", "now"]
    header += ["before, absolute", "now, absolute"]
    return [
        "## Bias of the estimate\n\nThe fit's own estimate of the fidelity of ten "
        "rules (`cv_results_`) minus that on new rows, mean over the sets. Rules in "
        "folds are fitted to two thirds of the rows, so that a small negative bias is "
        "expected.",
        markdown_table(header, lines),
    ]


def sizes(frame, looked_at):
    """Size, fidelity and log loss at the size chosen by each goal, and of ten rules."""
    lines = []
    compared = frame[frame["goal"].isin(COMPARED)]
    for (classes, where, method), part in compared.groupby(
        [
            np.where(compared["classes"] > 0, "classes", "values"),
            np.where(compared["data"].isin(looked_at), "development", "others"),
            "method",
        ]
    ):
        goals = [goal for goal in COMPARED if goal in set(part["goal"])]
        cases = _complete(part, goals)
        for goal in goals:
            taken = [_taken(case) for case in cases[goal]]
            most = [case.iloc[-1] for case in cases[goal]]
            lines.append(
                [classes, where, method, goal, len(taken)]
                + [float(np.mean([case["lines"] for case in taken]))]
                + [_mean_of(taken, name) for name in ("fidelity", "log_loss")]
                + [_mean_of(most, name) for name in ("fidelity", "log_loss")]
            )
    header = ["target", "sets", "method", "goal", "cases", "lines", "fidelity"]
    header += ["log loss", "ten lines: fidelity", "log loss"]
    return [
        '## Sizes chosen by `n_rules="auto"`\n\nMean size, fidelity and log loss on '
        "new rows at the chosen size, and with ten rules. Development sets, used to "
        "choose how lists and trees of classes grow, are shown separately.",
        markdown_table(header, lines),
    ]


COMPARED = ("before", "agreement", "auto")


def kinds(frame):
    """Gain from choosing among list, tree and sum by the estimates over each."""
    now = frame[frame["goal"] == "auto"]
    lines = []
    for classes, part in now.groupby(np.where(now["classes"] > 0, "classes", "values")):
        cases = []
        for _, case in part.groupby(["data", "ensemble"]):
            if case["method"].nunique() == 3:
                cases.append({m: _taken(rows) for m, rows in case.groupby("method")})
        if not cases:
            continue
        chosen = [case[_kind_of(case)] for case in cases]
        line = [classes, len(cases)]
        for method in ("list", "tree", "sum"):
            line.append(_quality_and_size([case[method] for case in cases]))
        line.append(_quality_and_size(chosen))
        named = [_kind_of(case) for case in cases]
        line.append(", ".join(f"{m} {named.count(m)}" for m in ("list", "tree", "sum")))
        lines.append(line)
    header = ["target", "cases", "list", "tree", "sum", 'method="auto"', "taken"]
    return [
        "## Choice among kinds\n\nMean fidelity on new rows, log loss of classes, size "
        "and literals of each kind at its chosen size, and of the kind that "
        '`simplify(method="auto")` selects by its estimates.',
        markdown_table(header, lines),
    ]


def _kind_of(case):
    """The first within half a standard error of the best score."""
    best = max(case.values(), key=lambda taken: taken["score"])
    least = best["score"] - CLOSE_ENOUGH * best["score_error"]
    order = ("list", "tree", "sum")
    return next(kind for kind in order if case[kind]["score"] >= least)


def _quality_and_size(taken):
    means = [np.mean([one[name] for one in taken]) for name in ("lines", "literals")]
    loss = _mean_of(taken, "log_loss")
    quality = _mean_of(taken, "fidelity") + f", {loss}" * bool(loss)
    return f"{quality} ({means[0]:.1f} lines, {means[1]:.0f} literals)"


def probabilities(frame, looked_at):
    """Agreement, AUC, log loss and Brier score at equal sizes, by goal."""
    parts = []
    for where, part in frame.groupby(
        np.where(frame["data"].isin(looked_at), "development", "others")
    ):
        lines = []
        for method, of_method in part.groupby("method"):
            # Trees and sums of all goals differ in size alone.
            goals = [
                goal
                for goal in (GOALS if method == "list" else GOALS[1:2])
                if goal in set(of_method["goal"])
            ]
            of_method = of_method[of_method["goal"].isin(goals)]
            whole = of_method.groupby(["data", "ensemble"])["goal"].transform("nunique")
            of_method = of_method[whole == len(goals)]
            n_cases = len(of_method.groupby(["data", "ensemble"]))
            for size in SHOWN_SIZES:
                at_size = of_method[of_method["K"] == size]
                means = at_size.groupby("goal")[list(SCORES)].mean()
                for goal in goals:
                    lines.append(
                        [method, size, goal, n_cases]
                        + [_digits(means.loc[goal, name]) for name in SCORES[:4]]
                        + [float(means.loc[goal, "literals"])]
                    )
        model = part.drop_duplicates(["data", "ensemble"])
        names = ["model_auc", "model_log_loss", "model_brier"]
        lines.append(
            ["model", "", "", len(model), ""]
            + [_digits(model[name].mean()) for name in names]
            + [""]
        )
        header = ["method", "lines", "goal", "cases", "agreement", "AUC", "log loss"]
        header += ["Brier", "literals"]
        parts += [
            f"## Quality of probabilities: {_named(where)}\n\nMeans over "
            "cases, at most the given number of rules.",
            markdown_table(header, lines),
        ]
    return parts


GOALS = ("before", "auto", "log_loss")
SCORES = ("fidelity", "auc", "log_loss", "brier", "literals")


def _named(where):
    return "sets used for development" if where == "development" else "other sets"


def rare_classes(frame):
    """With 2 % positives: recall, precision and AUC at the chosen size."""
    lines = []
    for key, case in frame.groupby(KEYS, sort=False):
        row = _taken(case)
        names = ("lines", "recall", "precision", "auc", "log_loss", "model_auc")
        lines.append([*key, *(float(row[name]) for name in names)])
    header = [*KEYS, "lines", "recall", "precision", "AUC", "log loss", "model AUC"]
    return [
        "## Rare classes\n\n6,000 simulated rows, 2 % of them positive; half for "
        "training. At the chosen size. Under `balanced` the probabilities of a sum "
        "refer to a population with as many positives as negatives: hence its log "
        "loss.",
        markdown_table(header, lines),
    ]


def _complete(frame, goals):
    """Rows by size of all cases that have all goals, per goal in the same order."""
    found = {goal: [] for goal in goals}
    for _, case in frame.groupby(["data", "ensemble"]):
        by_goal = dict(iter(case.groupby("goal")))
        if set(goals) <= set(by_goal):
            for goal in goals:
                found[goal].append(by_goal[goal].sort_values("K"))
    return found if found[goals[0]] else None


def _taken(case):
    """The row of the chosen size: before, within one standard error of the best."""
    case = case.sort_values("K")
    if case["goal"].iloc[0] != "before":
        return case[case["K"] == case["chosen"].iloc[0]].iloc[0]
    best = case.loc[case["estimate"].idxmax()]
    least = best["estimate"] - best["standard_error"]
    return case[case["estimate"] >= least].iloc[0]


def _mean_of(rows, name):
    """Mean in the table; blank for log loss of values."""
    mean = np.mean([row[name] for row in rows])
    return "" if np.isnan(mean) else _digits(mean)


def _digits(value):
    return f"{value:.3f}"


def _signed(value):
    return "" if np.isnan(value) else f"{value:+.3f}"
