"""Estimates of lists for new rows against known truth, by cell.

python -m benchmarks.new_rows.cells [--quick] [--fresh] [--tables]

Cells are numbers of rows, scorings, sizes of rules and kinds of truth.
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd

from benchmarks._data import make_model
from benchmarks._study import Study, arguments, markdown_table
from benchmarks.new_rows.lines import MADE, made_up
from clearwood import RuleListClassifier, RuleListRegressor

SEEDS, N_TRUE = {150: 8, 500: 4, 2000: 4}, 50_000
FIRST_SEED = 20
"""Other scenarios were used to choose the priors of the shrinkage."""
SCORINGS = ("auto", "agreement", "log_loss", "balanced")
MODELS = ("forest", "boosting")
DATA = ["set", "n_rows", "task", "model", "seed"]
SIZES = {0: "up to 20 rows", 20: "21 to 50", 50: "51 to 200", 200: "more"}


def loans(n_rows, generator):
    """Rows, defaults, and the probability of one: few, missing scores, a ratio."""
    income = np.exp(generator.normal(10.3, 0.5, n_rows)).round()
    amount = np.exp(generator.normal(9, 0.7, n_rows)).round(-2)
    score = generator.normal(640, 70, n_rows).round()
    defaults = generator.poisson(0.25, n_rows)
    age = generator.integers(18, 80, n_rows)
    height = 1.1 * defaults + 1.3 * (amount / income > 0.45) + 0.9 * (score < 600)
    true = 1 / (1 + np.exp(3.1 - height))
    score[generator.random(n_rows) < 0.25] = np.nan
    X = np.column_stack([income, amount, score, defaults, age]).astype(float)
    return X, (generator.random(n_rows) < true).astype(int), true


def drawn(name, n_rows, is_class, generator):
    if name == "loans":
        return loans(n_rows, generator)
    X, y, true = made_up(name, n_rows, is_class, generator)
    return X, y, true


def lines_of(name, n_rows, task, scoring, kind, seed):
    is_class, generator = (
        task == "classes",
        np.random.default_rng([seed, n_rows, len(name)]),
    )
    X, y, _ = drawn(name, n_rows, is_class, generator)
    filled = np.nan_to_num(X)
    model = make_model(kind, is_class, seed).fit(filled, y)
    make = RuleListClassifier if is_class else RuleListRegressor
    rules = make(model, scoring=scoring, random_state=seed).fit(filled, y).rules_
    own = rules.described_on(filled, y)
    X_new, _, true = drawn(name, N_TRUE, is_class, generator)
    decides = rules.apply(np.nan_to_num(X_new))
    for k, (rule, at_home) in enumerate(zip(rules, own)):
        here = decides == k
        if here.sum() < 50 or not rule.rows_assigned:
            continue
        truth, home = true[here].mean(), (at_home.low + at_home.high) / 2
        if is_class:
            truth = truth if rule.prediction == 1 else 1 - truth
            home = at_home.precision_assigned
        yield {
            "rows": rule.rows_assigned, "truth": truth, "own": home,
            "expected": rule.expected, "low": rule.low, "high": rule.high,
        }  # fmt: skip


def cases(options):
    found, seeds = {}, {150: 1, 500: 1} if options.quick else SEEDS
    for n_rows, n_seeds in seeds.items():
        for seed in range(FIRST_SEED, FIRST_SEED + n_seeds):
            for at, name in enumerate((*MADE, "loans")):
                kind = MODELS[(seed + at) % 2]
                for scoring in SCORINGS:
                    key = name, n_rows, "classes", scoring, kind, seed
                    found[key] = partial(of_case, *key)
                if name != "loans":
                    key = name, n_rows, "values", "auto", kind, seed
                    found[key] = partial(of_case, *key)
    return found


def of_case(*key):
    return list(lines_of(*key))


def table(frame, *by):
    rows = []
    for name, here in frame.groupby(list(by), sort=False, observed=True):
        holds = (here.low <= here.truth) & (here.truth <= here.high)
        off = [
            np.sqrt(((here[of] - here.truth) ** 2).mean()) for of in ("own", "expected")
        ]
        more = (holds - holds.mean()).groupby([here[key] for key in DATA]).sum()
        error = np.sqrt((more**2).sum()) / len(here)
        covered = f"{100 * holds.mean():.0f} ± {100 * error:.0f} %"
        width = (here.high - here.low).mean()
        rows.append([*map(str, name), len(here), len(more), covered, *off, width])
    names = "rules", "samples", "covered", "rms error: own rows", "printed", "width"
    header = [*by, *names]
    return markdown_table(header, rows)


NOTES = (
    "Lists of default size from forests and boosting. *Printed*: the estimate for new "
    "rows, with its 95 % interval; *covered*: rules whose interval contains the truth, "
    f"from {N_TRUE:,} new rows; *own rows*: precision, or mean, on the rows of the "
    "search. Rules of one list are not independent, nor are lists of the same rows by "
    "several scorings: the standard error of *covered* is that of a mean over samples "
    "of rows. *nothing* is noise alone, *loans* has one default in ten."
)


def main():
    options = arguments(__doc__, tables="only the page")
    warnings.simplefilter("ignore")
    keys = ["set", "n_rows", "task", "scoring", "model", "seed"]
    study = Study("new_rows_cells", keys, options)
    requested = cases(options)
    if not options.tables:
        study.run(requested)
    frame = study.frame()
    n_done = len(frame.groupby(keys))
    frame["size"] = pd.cut(frame.rows, [*SIZES, np.inf], labels=list(SIZES.values()))
    frame = frame.sort_values(["task", "n_rows"], key=lambda column: (
        column.astype(int) if column.name == "n_rows" else column
    ), kind="stable")  # fmt: skip
    study.write_markdown(
        "Estimates for new rows, by cells",
        NOTES,
        f"{n_done} of {len(requested)} cases; the command runs the others.",
        table(frame, "task"),
        table(frame, "task", "n_rows", "scoring"),
        table(frame.sort_values(["task", "size"]), "task", "size"),
        table(frame, "task", "set", "n_rows"),
        table(frame, "task", "model", "n_rows"),
    )


if __name__ == "__main__":
    main()
