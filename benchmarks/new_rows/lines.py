"""Accuracy of the rules' estimates for new rows.

python -m benchmarks.new_rows.lines [--quick] [--fresh] [--tables] [--folder DIR]

Every rule is evaluated on rows that were not used in its fit: real sets are halved; of
simulated ones the truth is known. With ``--folder`` the sets are the CSV files there,
with the target in the last column.
"""

import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._data import SETS, is_classes, load, make_model
from benchmarks._study import Study, arguments, markdown_table, simplifier

METHODS = {
    "list": ("RuleList", {}),
    "tree": ("DistilledTree", {}),
    "FAB": ("FABRules", {}),
    "inTrees": ("InTrees", {}),
    "Node Harvest": ("NodeHarvest", {}),
}
MADE = ("steps", "slopes", "nothing")
"""Simulated sets: of boxes, of slopes, and of noise alone."""

N_FEATURES, N_TRUE = 10, 100_000
FEWEST = 20
"""Fewest test rows of a rule that is evaluated on real sets."""

SLOW = ("chess", "spambase", "higgs", "waveform21", "shuttle", "satimage", "letter")
"""Real sets with 2,000 training rows: they come last, as do simulated ones."""

LEFT_OUT = ("synthetic1", "synthetic2", "xor", "autorisk")
"""Simulated, or too small: hardly a rule decides 20 rows of half of autorisk."""

SEEDS, MODELS, N_RULES = 2, ("forest", "boosting"), 8


def made_up(name, n_rows, is_class, generator):
    """Rows, target and its true expectation: a probability or a mean."""
    X = generator.normal(size=(n_rows, N_FEATURES))
    height = {
        "steps": np.where(
            (X[:, 0] > 0.3) & (X[:, 1] > -0.2), 2.0, np.where(X[:, 2] > 0.8, 1.0, -1.2)
        ),
        "slopes": 1.2 * X[:, 0] + X[:, 1] * (X[:, 2] > 0) - 0.8 * (X[:, 3] > 0.5),
        "nothing": np.full(n_rows, 0.4),
    }[name]
    if not is_class:
        return X, height + generator.normal(size=n_rows), height
    true = 1 / (1 + np.exp(-height))
    return X, (generator.random(n_rows) < true).astype(int), true


def rules_of(method, model, is_class, X, y, seed):
    make, settings = METHODS[method]
    settings = {"n_rules": N_RULES, "random_state": seed} | settings
    return simplifier(make, is_class, model, **settings).fit(X, y).rules_


def lines_of(rules, X, y):
    """Per rule its estimate for new rows, and its statistics on its own rows."""
    own = rules.described_on(X, y)
    for rule, at_home in zip(rules, own):
        value = at_home.precision_assigned if rules.classes else np.nan
        yield {
            "rows": rule.rows_assigned,
            "expected": rule.expected,
            "low": rule.low,
            "high": rule.high,
            "own": value if rules.classes else (at_home.low + at_home.high) / 2,
            "own_low": at_home.low,
            "own_high": at_home.high,
        }


def of_made_up(name, n_rows, task, kind, method, seed):
    is_class, generator = task == "classes", np.random.default_rng(seed)
    X, y, _ = made_up(name, n_rows, is_class, generator)
    model = make_model(kind, is_class, seed).fit(X, y)
    rules = rules_of(method, model, is_class, X, y, seed)
    X_new, _, true = made_up(name, N_TRUE, is_class, generator)
    decides = rules.contributing(rules.matches(X_new))
    for k, line in enumerate(lines_of(rules, X, y)):
        here = decides[:, k]
        if here.any() and line["rows"]:
            is_second = not is_class or rules.predictions[k] == 1
            mean = true[here].mean()
            truth = mean if is_second else 1 - mean
            yield line | {"truth": truth, "new_rows": int(here.sum()), "error": 0.0}


def of_table(X, y, X_new, y_new, is_class, kind, method, seed):
    model = make_model(kind, is_class, seed).fit(X, y)
    rules = rules_of(method, model, is_class, X, y, seed)
    decides = rules.contributing(rules.matches(X_new))
    for k, line in enumerate(lines_of(rules, X, y)):
        here = decides[:, k]
        if here.sum() >= FEWEST and line["rows"]:
            hit = y_new[here] == rules.predictions[k] if is_class else y_new[here]
            # Also a share of 0 or 1 has a standard error.
            n, share = here.sum(), hit.mean()
            spread = hit.std(ddof=1)
            if is_class:
                share_here = (hit.sum() + 1) / (n + 2)
                spread = np.sqrt(share_here * (1 - share_here))
            yield line | {
                "truth": share, "new_rows": int(n), "error": spread / np.sqrt(n),
            }  # fmt: skip


def of_set(name, kind, method, seed):
    X, y, X_new, y_new = load(name, seed)
    return list(of_table(X, y, X_new, y_new, is_classes(name), kind, method, seed))


def of_file(path, kind, method, seed):
    table = pd.read_csv(path)
    y = table.pop(table.columns[-1])
    is_class = not pd.api.types.is_numeric_dtype(y) or y.nunique() <= 10
    y = y.to_numpy() if not is_class else pd.factorize(y, sort=True)[0]
    X = np.column_stack([
        c if pd.api.types.is_numeric_dtype(c) else pd.factorize(c, sort=True)[0]
        for _, c in table.items()
    ]).astype(float)  # fmt: skip
    order = np.random.default_rng(seed).permutation(len(y))
    a, b = order[: len(y) // 2], order[len(y) // 2 :]
    return list(of_table(X[a], y[a], X[b], y[b], is_class, kind, method, seed))


def cases(options):
    methods = ("list",) if options.quick else METHODS
    seeds = range(1 if options.quick else SEEDS)
    if options.folder:
        paths = sorted(Path(options.folder).glob("*.csv*"))
        return {
            (path.stem, "", kind, method, seed): partial(
                of_file, path, kind, method, seed
            )
            for seed in seeds
            for path in paths
            for kind in MODELS
            for method in methods
        }
    made = {
        (f"{name} {n_rows}", task, kind, method, seed): partial(
            made_list, name, n_rows, task, kind, method, seed
        )
        for seed in (range(2) if options.quick else range(6))
        for n_rows in (500, 2000)
        for task in ("classes", "values")
        for name in MADE
        for kind in MODELS
        for method in methods
        if method == "list"
        and (n_rows == 500 or seed < 2)
        or (n_rows == 500 and seed < 3)
    }
    real = {
        (name, "classes" if is_classes(name) else "values", kind, method, seed):
        partial(of_set, name, kind, method, seed)
        for seed in seeds
        for name in SETS
        if name not in LEFT_OUT
        for kind in MODELS
        for method in methods
        if method == "list" or seed == 0 or not is_classes(name)
    }  # fmt: skip

    def cost(case):
        name, *_, seed = case[0]
        return name in SLOW or name.endswith(" 2000"), seed

    return dict(sorted((real | made).items(), key=cost))


def made_list(*key):
    return list(of_made_up(*key))


def table(frame, by):
    """Coverage, bias and width per group, next to those of figures on own rows."""
    rows = []
    for name, here in frame.groupby(by, sort=False):
        found = [name if isinstance(name, str) else ", ".join(name), len(here)]
        for own in ("own", ""):
            low = here["own_low" if own else "low"]
            high = here["own_high" if own else "high"]
            middle = here["own" if own else "expected"]
            # Widened by the standard error of the truth itself.
            reach = np.where(here.truth < middle, middle - low, high - middle)
            inside = np.hypot(reach, 1.96 * here.error)
            off = middle - here.truth
            found += [
                f"{100 * (abs(off) <= inside + 1e-12).mean():.0f} %",
                off.mean() if here.task.iloc[0] == "classes" else "",
                (off.abs() / here.scale).mean(),
            ]
        rows.append(found)
    header = [by if isinstance(by, str) else ", ".join(by), "lines"]
    for words in ("own rows", "printed"):
        header += [f"{words}: covered", "too high by", "off by"]
    return markdown_table(header, rows)


def main():
    options = arguments(
        __doc__, texts={"folder": "a folder of CSV files"}, tables="only the page"
    )
    warnings.simplefilter("ignore")
    name = "new_rows_folder" if options.folder else "new_rows"
    study = Study(name, ["set", "task", "model", "method", "seed"], options)
    begin = time.process_time()
    requested = cases(options)
    if not options.tables:
        study.run(requested)
        print(f"{time.process_time() - begin:.0f} s of processor")
    frame = study.frame().dropna(subset=["low"])
    frame["task"] = frame["task"].fillna("")
    spread = frame.groupby(["set", "task"])["truth"].transform("std")
    # With noise alone all truths are equal.
    frame["scale"] = np.where((frame.task == "values") & (spread > 1e-9), spread, 1.0)
    is_made = frame["set"].str.split().str[0].isin(MADE)
    n_done = len(frame.groupby(study.keys))
    parts = [NOTES, f"{n_done} of {len(requested)} cases; the command runs the others."]
    for words, here in (("Simulated, truth known", frame[is_made]),
                        ("Real sets, other half", frame[~is_made])):  # fmt: skip
        if len(here):
            parts += [f"## {words}", table(here, ["task", "method"]),
                      table(here, ["task", "set"])]  # fmt: skip
    study.write_markdown("Estimates of rules for new rows", *parts)


NOTES = (
    "Lists, trees and rules of 8 lines (rules or leaves) for a forest and for "
    "boosting. *Printed*: the estimate of a rule for new rows, with its 95 % interval "
    "(`expected`, `low`, `high`). *Own rows*: the precision (or mean) on the rows of "
    "the search and its interval. *Covered*: rules whose interval contains the truth; "
    "on real sets, where the truth is estimated from at least 20 other rows, an "
    "interval is widened by its standard error. *Too high by*: mean difference. *Off "
    "by*: mean absolute difference; for values in standard deviations of the rules' "
    "truths, or in their own unit where these are equal."
)

if __name__ == "__main__":
    main()
