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

Goals: `before`: lists of classes minimize regret alone; sizes are evaluated on held-out
rows of the ensemble's own training data, and the fewest rules within one standard
error of the best are taken. `agreement` (the default): lists also minimize half of the
squared error of probabilities; sizes are evaluated on mixtures of
held-out rows, within half a standard error. Trees use a tenth of the squared error in
both. `log_loss`: `scoring="log_loss"`; `balanced`: `scoring="balanced"`. Cases that
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
        by_goal = by_goal.reindex(columns=["before", "agreement"])
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
    """Size and fidelity chosen by `n_rules="auto"`, compared with ten rules."""
    lines = []
    two = frame[frame["goal"].isin(["before", "agreement"])]
    for (classes, where, method), part in two.groupby(
        [
            np.where(two["classes"] > 0, "classes", "values"),
            np.where(two["data"].isin(looked_at), "development", "others"),
            "method",
        ]
    ):
        cases = _complete(part, ["before", "agreement"])
        if cases is None:
            continue
        line = [classes, where, method, len(cases["before"])]
        for goal, error in (("before", 1.0), ("agreement", CLOSE_ENOUGH)):
            taken = [_taken(case, error) for case in cases[goal]]
            line += [
                float(np.mean([case["lines"] for case in taken])),
                _digits(np.mean([case["fidelity"] for case in taken])),
            ]
        line.append(_digits(np.mean([c["fidelity"].iloc[-1] for c in cases["before"]])))
        line.append(
            _digits(np.mean([c["fidelity"].iloc[-1] for c in cases["agreement"]]))
        )
        lines.append(line)
    header = ["target", "sets", "method", "cases", "lines before", "fidelity before"]
    header += ["lines now", "fidelity now", "ten lines before", "ten lines now"]
    return [
        '## Sizes chosen by `n_rules="auto"`\n\nMean size and fidelity on new rows '
        "at the chosen size, and with ten rules. Development sets, used to choose how "
        "lists and trees of classes grow, are shown separately.",
        markdown_table(header, lines),
    ]


def kinds(frame):
    """Gain from choosing among list, tree and sum by the estimates over each."""
    now = frame[frame["goal"] == "agreement"]
    lines = []
    for classes, part in now.groupby(np.where(now["classes"] > 0, "classes", "values")):
        cases = []
        for _, case in part.groupby(["data", "ensemble"]):
            if case["method"].nunique() == 3:
                cases.append(
                    {
                        m: _taken(rows, CLOSE_ENOUGH)
                        for m, rows in case.groupby("method")
                    }
                )
        if not cases:
            continue
        chosen = [case[_kind_of(case)] for case in cases]
        line = [classes, len(cases)]
        for method in ("list", "tree", "sum"):
            taken = [case[method] for case in cases]
            line.append(_fidelity_and_size(taken))
        line.append(_fidelity_and_size(chosen))
        named = [_kind_of(case) for case in cases]
        line.append(", ".join(f"{m} {named.count(m)}" for m in ("list", "tree", "sum")))
        lines.append(line)
    header = ["target", "cases", "list", "tree", "sum", 'method="auto"', "taken"]
    return [
        "## Choice among kinds\n\nMean fidelity on new rows, size and literals of each "
        'kind at its chosen size, and of the kind that `simplify(method="auto")` '
        "selects by its estimates.",
        markdown_table(header, lines),
    ]


def _kind_of(case):
    """The first within half a standard error of the best estimate."""
    best = max(case.values(), key=lambda taken: taken["estimate"])
    least = best["estimate"] - CLOSE_ENOUGH * best["standard_error"]
    order = ("list", "tree", "sum")
    return next(kind for kind in order if case[kind]["estimate"] >= least)


def _fidelity_and_size(taken):
    means = [np.mean([one[name] for one in taken]) for name in ("lines", "literals")]
    fidelity = np.mean([one["fidelity"] for one in taken])
    return f"{fidelity:.3f} ({means[0]:.1f} lines, {means[1]:.0f} literals)"


def probabilities(frame, looked_at):
    """Agreement, AUC, log loss and Brier score at equal sizes, by goal."""
    parts = []
    for where, part in frame.groupby(
        np.where(frame["data"].isin(looked_at), "development", "others")
    ):
        lines = []
        for method, of_method in part.groupby("method"):
            goals = [g for g in GOALS if g in set(of_method["goal"])]
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


GOALS = ("before", "agreement", "log_loss")
SCORES = ("fidelity", "auc", "log_loss", "brier", "literals")


def _named(where):
    return "sets used for development" if where == "development" else "other sets"


def rare_classes(frame):
    """With 2 % positives: recall, precision and AUC at the chosen size."""
    lines = []
    for key, case in frame.groupby(KEYS, sort=False):
        row = case[case["K"] == case["chosen"].iloc[0]].iloc[0]
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


def _taken(case, errors):
    """The row of the fewest rules within so many standard errors of the best."""
    case = case.sort_values("K")
    best = case.loc[case["estimate"].idxmax()]
    least = best["estimate"] - errors * best["standard_error"]
    return case[case["estimate"] >= least].iloc[0]


def _digits(value):
    return f"{value:.3f}"


def _signed(value):
    return "" if np.isnan(value) else f"{value:+.3f}"
