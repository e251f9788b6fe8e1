"""Which learner is best when most cells are missing?

python -m benchmarks.circuits.knowledge [--quick] [--fresh] [--tables]

The thesis' tables from a knowledge graph are private. These are simulated to resemble
them: professions of people as binary columns and a few numbers; and dates of their
lives and marriages, most of which are missing.
"""

import time
from functools import partial

import numpy as np
import pandas as pd
from scipy.optimize import brentq

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table

N_PROFESSIONS, N_FIELDS = 83, 14

FRIENDS = 0.3
"""Probability of another profession, possibly in a neighbouring field."""

SPOUSES = (0.85, 0.35, 0.15)
"""Probability of a first spouse; given one, of a second; then of a third."""

OF_SPOUSE = ("wed", "parted", "born", "died")
INTEREST = np.array([6, 4] + 3 * [1.5, 1, 1, 0.7])
"""For a person's own dates, and for those of spouses."""

ERAS = np.array([[1955, 25, 0.6], [1860, 35, 0.3], [1620, 110, 0.1]])
"""Mean and standard deviation of births, and the share of people."""

NOW = 2015
UNKNOWN = 0.035
"""Share of missing cells of professions."""

KNOWN_DATES = {10_000: 0.03, 100_000: 0.06}
"""Share of dates that are observed, as in the thesis' two tables."""

EACH = {
    "independent": partial(cw.ParetoSPN, 0),
    "Pareto": cw.ParetoSPN,
    "Hybrid": cw.HybridSPN,
    "MiniSPN": cw.MiniSPN,
    "thesis": partial(cw.MiniSPN, preset="paper"),
    "five": partial(cw.MiniSPN, n_networks=5),
}
BY_COST = ("independent", "MiniSPN", "thesis", "five", "Hybrid", "Pareto")
"""The order of measurement."""

WORDS = {
    "independent": "independent columns",
    "thesis": "MiniSPN, as in the thesis",
    "five": "five MiniSPN",
}

THESIS = {
    ("professions", "10000"): [(-10.2, 5.3), (-6.2, 3.7), (-6.09, 0.4)],
    ("professions", "100000"): [(-6.61, 72), (-6.53, 131), (-6.44, 7.2)],
    ("dates", "10000"): [(-8.66, 1.7), (-8.53, 2.4), (-8.68, 0.26)],
    ("dates", "100000"): [(-17.1, 29), (-16.7, 566), (-16.5, 5.4)],
}
"""Log-likelihood and seconds of Pareto, Hybrid and MiniSPN (tables 9 and 10)."""

SHAPES = {
    ("professions", "10000"): (0.066, 0.016),
    ("professions", "100000"): (0.066, 0.015),
    ("dates", "10000"): (0.97, 1),
    ("dates", "100000"): (0.94, 1),
}
"""Shares of missing cells, and of ones in binary columns (table 8)."""


def professions(n, rng):
    """People and their professions: fields of work, a few large and most small, that
    share professions with their neighbours; years of birth, heights and fame.
    """
    field_of = np.sort(rng.permutation(np.resize(np.arange(N_FIELDS), N_PROFESSIONS)))
    weight = rng.permutation(1 / np.arange(1, N_PROFESSIONS + 1))
    size = rng.permutation(1 / np.arange(1, N_FIELDS + 1))
    field = rng.choice(N_FIELDS, n, p=size / size.sum())
    does = np.zeros((n, N_PROFESSIONS), dtype=bool)
    for turn, chance in enumerate((1.0, FRIENDS, FRIENDS / 4)):
        near = (field + turn * rng.integers(-1, 2, n)) % N_FIELDS
        likely = (weight * (field_of == near[:, None])).cumsum(axis=1)
        drawn = (likely < rng.random((n, 1)) * likely[:, -1:]).sum(axis=1)
        busy = np.flatnonzero(rng.random(n) < chance)
        does[busy, drawn[busy]] = True
    era, tall = rng.normal(1930, 40, N_FIELDS), rng.normal(174, 7, N_FIELDS)
    born = era[field] + rng.normal(0, 25, n)
    died = born + rng.normal(74, 13, n)
    numbers = {
        "born": (0.6, born),
        "died": (0.5, np.where(died < NOW, died, np.nan)),
        "height": (0.1, tall[field] + rng.normal(0, 7, n)),
        "followers": (0.05, rng.gamma(2, 0.8, n) + 0.02 * (born - 1900).clip(0)),
    }
    table = pd.DataFrame(does).add_prefix("profession ").astype(object)
    table = table.mask(rng.random(does.shape) < UNKNOWN)
    for name, (known, column) in numbers.items():
        table[name] = np.where(rng.random(n) < known, column, np.nan)
    return table


def dates(n, share, rng):
    """Years of birth, marriage and death of people and up to three spouses. Events that
    did not happen are missing; for unknown people all others are as well."""
    era = rng.choice(len(ERAS), n, p=ERAS[:, 2])
    born = rng.normal(ERAS[era, 0], ERAS[era, 1])
    died = born + rng.normal(72, 15, n).clip(20)
    columns, at, had = {"born": born, "died": died}, born, np.ones(n, dtype=bool)
    for k, chance in enumerate(SPOUSES):
        had &= rng.random(n) < chance
        wed = np.maximum(at, born + 18) + rng.gamma(4, 2.5, n)
        parted = np.minimum(wed + rng.exponential(20, n), died)
        own = born + rng.normal(2, 5 + 3 * k, n)
        end = np.maximum(own + rng.normal(74, 14, n), wed + 1)
        for name, values in zip(OF_SPOUSE, (wed, parted, own, end)):
            columns[f"spouse {k + 1} {name}"] = np.where(had, values, np.nan)
        at = parted
    table = pd.DataFrame(columns).where(lambda cells: cells < NOW)
    fame = rng.lognormal(0, 1.5, (n, 1)) * INTEREST
    worth = brentq(  # fame at which the share is observed
        lambda x: (-np.expm1(-x * fame) * table.notna()).to_numpy().mean() - share,
        0,
        100,
    )
    return table.where(rng.random(table.shape) < -np.expm1(-worth * fame))


def table_of(data, n, seed):
    """Training and test rows, half each."""
    rng = np.random.default_rng(seed)
    if data == "professions":
        table = professions(n, rng)
    else:
        table = dates(n, KNOWN_DATES[n], rng)
    return table.iloc[: n // 2], table.iloc[n // 2 :]


def learn(data, n, seed, learner):
    """A learner on one table."""
    train, test = table_of(data, n, seed)
    begin = time.process_time()
    network = EACH[learner](random_state=seed).fit(train)
    seconds = time.process_time() - begin
    cells = train.drop(columns=train.columns[N_PROFESSIONS:]).stack().astype(float)
    return [
        {
            "log_likelihood": network.score(test),
            "parameters": network.degrees_of_freedom_,
            "seconds": seconds,
            "missing": float(train.isna().to_numpy().mean()),
            "density": float(cells.mean()) if data == "professions" else 1.0,
        }
    ]


def main():
    options = arguments(__doc__, tables="only write the page")
    study = Study("circuits_knowledge", ["data", "rows", "seed", "learner"], options)
    if not options.tables:
        run(study, options)
    write_page(study)


def run(study, options):
    """Run the missing cases."""
    study.run(
        {
            (data, n, seed, learner): partial(learn, data, n, seed, learner)
            for learner in BY_COST
            for n, n_seeds in ((10_000, 3), (100_000, 1))
            for seed in range(n_seeds)
            for data in ("professions", "dates")
            if not options.quick or (n == 10_000 and not seed)
        },
        warm=lambda: learn("professions", 10_000, 0, "thesis"),
    )


def write_page(study):
    frame = study.frame()
    tables = frame.groupby(["rows", "data"])
    shapes = [
        [f"{data}, {n} rows", own.missing.mean(), own.density.mean(), *SHAPES[data, n]]
        for (n, data), own in tables
    ]
    parts = [
        NOTES,
        markdown_table(
            ["", "missing", "density", "missing, thesis", "density, thesis"], shapes
        ),
    ]
    for score, words in SCORES.items():
        rows = []
        for (n, data, seed), own in frame.groupby(["rows", "data", "seed"]):
            known = own.set_index("learner")[score]
            cells = [FORMATS[score].format(known[x]) if x in known else "not run"
                     for x in EACH]  # fmt: skip
            rows.append([f"{data}, {n} rows", seed, *cells])
        names = [WORDS.get(learner, learner) for learner in EACH]
        parts += [f"## {words}", markdown_table(["", "table", *names], rows)]
        if score != "parameters":
            which = int(score == "seconds")
            theirs = [
                [f"{data}, {n} rows", *(str(pair[which]) for pair in THESIS[data, n])]
                for (n, data) in tables.groups
            ]
            parts += [
                "Results of the thesis, on other data:",
                markdown_table(["", "Pareto", "Hybrid", "MiniSPN"], theirs),
            ]
    study.write_markdown("Tables about people with mostly missing cells", *parts)


SCORES = {
    "log_likelihood": "Log density per test row",
    "seconds": "CPU seconds",
    "parameters": "Parameters",
}
FORMATS = {"log_likelihood": "{:.2f}", "seconds": "{:.1f}", "parameters": "{:.0f}"}
NOTES = """The thesis' tables are not public. These are **other data**, simulated with \
the same shape, so that the thesis' results (tables 8 to 10) can be compared in the \
order of the learners but not in their values, which also depend on units (dates are \
in years here). Half of the rows are for training, of which a tenth is for validation; \
half are for testing. Pareto and Hybrid try 500 networks. Log densities are of the \
observed cells: 0.4 per row of dates. Tables differ in their seed.

## Summary

- **Dates, 97 % missing**: a row has 0.4 observed cells, so that there is little to \
learn beyond single columns; all learners find some of it. MiniSPN as in the thesis \
may be worse than independent columns: leaves of few cells are too narrow. This study \
found the same fault in our default (EM omitted the smoothing of such leaves), and \
that initial splits of rows without common cells had no effect, so that five networks \
were five times independent columns; both are corrected.
- **Professions**: on the tables to which all learners were fitted, Hybrid is slightly \
better than MiniSPN at one to two times its CPU time, and Pareto about equal at two to \
four times. Five networks are the best. The thesis' difference between Pareto and \
MiniSPN on its smaller table (-10.2 against -6.1) is not seen here; the reason may be \
the data or the search, which joins columns in trees here.
- **Seconds**: on dates MiniSPN is at least eight times as fast as the other two; in \
the thesis it is the fastest on all tables, here not on 100,000 rows of professions.
"""

if __name__ == "__main__":
    main()
