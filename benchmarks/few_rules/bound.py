"""Bounds on the fidelity of any list of K rules and any tree of K leaves.

Usage: python -m benchmarks.few_rules.bound [--quick] [--fresh] [--tables]

Needs ``numba``.

A forest of 100 trees is trained on half of ten small sets. Its predictions for the
training rows are approximated by K rules over six cuts per feature, where exact search
finds the best tree and, for very few rules, the best list. The same search is then
applied to the statements of a DistilledTree: does the best tree of them have higher
fidelity on new rows?
"""

import time
from functools import partial

import numpy as np

from benchmarks._study import Study, arguments, markdown_table, simplifier
from benchmarks.few_rules.cases import make_case
from benchmarks.few_rules.optimal_trees import (
    all_cuts,
    least_of_all,
    optimal_trees,
    statements_of,
)
from clearwood.search import (
    ClassSumLoss,
    Penalties,
    SquaredSumLoss,
    candidate_boxes,
    grow_lists,
    grow_sums,
    make_problem,
    make_sum_problem,
)
from clearwood.search.lists.optimal import optimal_lists, orderings
from clearwood.search.trees.grow import grow_trees, improve, merged
from clearwood.search.trees.nodes import (
    TREE_PENALTY,
    as_list,
    make_tree_problem,
    objective,
    root_of,
)
from clearwood.search.trees.splits import grow, next_split
from clearwood.simplifiers._common.scoring import at_stake
from clearwood.simplifiers.additive import RIDGE
from clearwood.simplifiers.distilled_tree import SOFTNESS

NAMES = (
    "hepatitis", "heart", "vote", "crx", "breast", "pima", "chess", "energy",
    "autompg", "bodyfat",
)  # fmt: skip
QUICK = ("heart", "energy")
N_SPLITS = 3

MOST_BINS = 8
"""Per numeric feature, including that of missing values: six cuts."""

SIZES = (2, 3, 4, 5, 8)
DEPTH = 4
"""No tree of five leaves is deeper."""

LIST_STATEMENTS = {2: 2, 3: 2, 4: 1}
"""Maximum number of statements per rule of the best lists, by their number of rules."""

MOST_STATEMENTS, MOST_DEPTH = 24, 5
"""Statements of the fitted trees over which the best tree is sought."""

PATH_SIZES = (4, 6, 8, 10)


class _Seen(Exception):
    """The rows that a fit has prepared."""


def main():
    options = arguments(__doc__, tables="only write the tables")
    if not options.tables:
        import numba  # noqa: F401  # Without it a search takes 100 times as long.
    names = QUICK if options.quick else NAMES
    splits = range(1 if options.quick else N_SPLITS)
    bounds = Study("few_rules_bound", ["data"], options)
    trees = Study("few_rules_bound_trees", ["data", "split"], options)
    if not options.tables:
        bounds.run({(name,): partial(certified, name) for name in names})
        trees.run(
            {(name, s): partial(held_out, name, s) for s in splits for name in names}
        )
    write_tables(bounds, trees)


def rows_of(case):
    """The training rows as an estimator prepares them, without synthetic ones."""

    def seen(self, training, generator):
        raise _Seen(training)

    estimator = simplifier(
        "DistilledTree", case.is_class, case.model, n_rules=3, n_synthetic=0, _fit=seen
    )
    try:
        estimator.fit(case.X)
    except _Seen as found:
        return found.args[0]
    raise AssertionError("the fit did not search for rules")


def certified(name):
    """Loss of K rules of each kind, and the lower bounds."""
    training = rows_of(make_case(name, "forest", 0))
    grid, loss = training.grid.coarse(MOST_BINS), training.soft_loss(0.0)
    counts = np.ones(grid.n_rows)
    problem, cuts = make_tree_problem(grid, loss, counts), all_cuts(grid)
    begin = time.process_time()
    best = {t.n_leaves: objective(t) for t in optimal_trees(problem, cuts, 8, DEPTH)}
    tree_seconds, begin = time.process_time() - begin, time.process_time()
    orders = orderings(grid, [cut for cut in cuts if grid.is_category[cut[0]]])
    lists = {
        size: optimal_lists(
            grid, training.loss, orders, size - 1, max_literals=most
        ).best.loss
        for size, most in LIST_STATEMENTS.items()
    }
    list_seconds = time.process_time() - begin
    pool = candidate_boxes(
        grid, training.standardised, training.weight, np.random.default_rng(0)
    )
    most = max(SIZES)
    in_order = make_problem(grid, loss, Penalties(0.0, 0.0), counts)
    paths = {
        "list": {
            len(lst.boxes) + 1: (lst.objective, bounds_of(lst.boxes, problem))
            for lst in grow_lists(in_order, pool, most - 1)
        },
        "tree": {
            tree.n_leaves: (objective(tree), bounds_of(as_list(tree).boxes, problem))
            for tree in grow_trees(problem, most)
        },
        "sum": {size: (lost, 0) for size, lost in sums(training, grid, pool, most)},
    }
    one_line = objective(root_of(problem))
    rows = []
    for size in SIZES:
        row = {"K": size, "rows": grid.n_rows, "cuts": len(cuts), "one line": one_line}
        row["by itself"] = least_of_all(problem, cuts)
        for kind, path in paths.items():
            row[kind] = min(lost for k, (lost, _) in path.items() if k <= size)
        sizes = [k for k in paths["list"] if k <= size]
        row["statements"] = paths["list"][max(sizes)][1]
        row["best tree"] = min(lost for k, lost in best.items() if k <= size)
        row["best list"] = lists.get(size, np.nan)
        row["tree seconds"], row["list seconds"] = tree_seconds, list_seconds
        rows.append(row)
    return rows


def bounds_of(boxes, problem):
    """Most bounds in any box."""
    from clearwood.search import n_literals

    return max((n_literals(problem.grid, b, problem.seen) for b in boxes), default=0)


def sums(training, grid, pool, most):
    """Number of rules and loss, under the same objective, of sums."""
    kind = ClassSumLoss if training.classes else SquaredSumLoss
    loss = kind.of(training.standardised, training.weight)
    problem = make_sum_problem(
        grid, loss, 0.0, RIDGE[training.outcome.is_share], np.ones(grid.n_rows)
    )
    goal = training.soft_loss(0.0)
    for found in grow_sums(problem, pool, most - 1, np.random.default_rng(0)):
        predicted = found.predict(grid)
        if training.classes:
            right = goal.scores[np.arange(len(predicted)), predicted]
            lost = (goal.scores.max(axis=1) - right).sum()
        else:
            lost = goal.share @ (goal.target[:, 0] - predicted) ** 2
        yield len(found.boxes) + 1, float(lost)


def with_best_trees(problem, max_leaves):
    """The trees of a DistilledTree, or the best trees of their statements, improved."""
    trees = grow_trees(problem, max_leaves)
    larger = grow(trees[0], 2 * max_leaves, next_split)
    statements = statements_of([*trees, larger])[:MOST_STATEMENTS]
    found = {tree.n_leaves: tree for tree in trees}
    for tree in optimal_trees(problem, statements, max_leaves, MOST_DEPTH):
        tree = merged(improve(tree))
        if tree.cost < found.get(tree.n_leaves, trees[0]).cost:
            found[tree.n_leaves] = tree
    return [found[size] for size in sorted(found)]


def fit_trees(self, training, generator, *, grown, costs):
    """A DistilledTree's step, with another search."""
    loss = training.soft_loss(SOFTNESS)
    problem = make_tree_problem(
        training.grid,
        loss,
        training.counts,
        at_stake(loss) * TREE_PENALTY,
        min_samples_leaf=self.min_samples_leaf,
    )
    trees = grown(problem, self.max_rules)
    costs.extend((tree.n_leaves, objective(tree)) for tree in trees)
    return trees


def held_out(name, split):
    """Objective and fidelity on new rows, by default and with the best trees."""
    case = make_case(name, "forest", split)
    rows = []
    for way, grown in (("as it is", grow_trees), ("best", with_best_trees)):
        costs, begin = [], time.process_time()

        def step(self, *args, grown=grown, costs=costs):
            return fit_trees(self, *args, grown=grown, costs=costs)

        tree = simplifier(
            "DistilledTree", case.is_class, case.model, n_rules=10, random_state=split,
            _fit=step,
        )  # fmt: skip
        tree.fit(case.X)
        seconds = time.process_time() - begin
        for size in PATH_SIZES:
            rules = [r for r in tree.path_ if r.n_rules <= size][-1]
            evaluation = rules.evaluate(case.X_test, case.y_test, model=case.model)
            lost = min(lost for k, lost in costs if k <= size)
            rows.append(
                {
                    "way": way, "K": size, "objective": lost,
                    "fidelity": evaluation.fidelity, "seconds": seconds,
                }
            )  # fmt: skip
    return rows


def write_tables(bounds, trees):
    """The page."""
    frame = bounds.frame()
    frame["by itself"] = frame["by itself"].clip(lower=0).round(5)
    first = frame.drop_duplicates("data")
    named = {
        "data": "data", "rows": "rows", "cuts": "cuts", "one line": "one rule",
        "by itself": "one rule per cell", "tree seconds": "s, trees",
        "list seconds": "s, lists",
    }  # fmt: skip
    sizes = markdown_table([*named.values()], first[[*named]].values.tolist())
    columns = ["list", "tree", "sum", "best tree", "best list"]
    by_set = markdown_table(
        ["data", "K", *columns, "statements per rule of the list"],
        frame[["data", "K", *columns, "statements"]].values.tolist(),
    )
    gaps = []
    share = frame[columns].div(frame["one line"], axis=0)
    for size in sorted(frame["K"].unique()):
        part = share[frame["K"] == size]
        gaps.append([int(size), *(float(part[name].mean()) for name in columns)])
    gap_table = markdown_table(["K", *columns], gaps)
    pairs = trees.frame().pivot_table(
        index=["data", "split", "K"], columns="way",
        values=["objective", "fidelity", "seconds"],
    )  # fmt: skip
    compared = []
    for size in PATH_SIZES:
        part = pairs.xs(size, level="K")
        won = part["fidelity"]["best"] - part["fidelity"]["as it is"]
        less = 1 - part["objective"]["best"] / part["objective"]["as it is"]
        compared.append(
            [
                size, float(less.mean()), float(part["fidelity"]["as it is"].mean()),
                float(part["fidelity"]["best"].mean()),
                f"{won.mean():+.4f} ± {won.std(ddof=1) / len(won) ** 0.5:.4f}",
                int((won > 1e-9).sum()), int((won < -1e-9).sum()),
                float(part["seconds"]["as it is"].mean()),
                float(part["seconds"]["best"].mean()),
            ]
        )  # fmt: skip
    trees_table = markdown_table(
        ["K", "objective lower by", "fidelity", "fidelity, best trees", "difference",
         "better", "worse", "s", "s, best trees"],
        compared,
    )  # fmt: skip
    bounds.write_markdown(
        "Bounds on the fidelity of few rules",
        WHAT, sizes, MEANS, gap_table, EACH, by_set, BEST, trees_table,
    )  # fmt: skip


WHAT = f"""A forest of 100 trees is approximated on its training rows (half of each
set); no synthetic rows, at least five rows per rule. The loss is the regret (the
forest's probability of its own class minus that of the predicted class) or the squared
error in units of the variance; literals and overlap are not penalized. All columns
below use the same cuts: {MOST_BINS - 2} per feature, evenly spaced among those of the
forest.

**One rule** predicts the same for all rows. **One rule per cell**: rows that no cut
separates have the same prediction. No list, tree or sum over these cuts has a smaller
loss, whatever its size: a lower bound for every K, but so far below the loss of K rules
that it is not informative. Seconds are processor time of the exact searches for all
K."""

MEANS = """Means over the sets of the loss, relative to that of one rule.
**Best tree**: dynamic programming over all trees; exact up to 5 leaves, and at 8 over
those of depth at most four. **Best list**: exact over all lists whose rules have at
most two statements (K = 2, 3), or one (K = 4), and any support; the search of
`clearwood.alternatives`. The search for lists and sums is not restricted to so few
statements and can have a smaller loss; where the loss of a list is larger, the search
has missed a better one. Up to K = 5 no tree has a smaller loss than the best tree. For
lists of more rules no bound is known but that of the cells: a later rule may gain on
any rows that the earlier ones leave, so that the sum of the best gains of single rules
is no bound. A tree of K leaves is a list of K rules, so that the loss of the best list
of rules of any length is at most that of the best tree."""

EACH = """The same per set, in units of the loss, with the largest number of statements
in a rule of the list: where it is more than two (K = 2, 3) or one (K = 4), the loss of
the list may be below that of the "best list"."""

BEST = f"""Does an exact search for the best tree increase fidelity? DistilledTree with
its own objective (regret, a tenth of the squared error, literals), synthetic rows and
all cuts: by default, and with the best trees, at most {MOST_DEPTH} splits deep, over
the first {MOST_STATEMENTS} statements of its trees of all sizes, then improved by the
same local search. Fidelity on the other half of the rows, {N_SPLITS} splits of each
set; ± is a standard error; seconds are processor time per fit."""


if __name__ == "__main__":
    main()
