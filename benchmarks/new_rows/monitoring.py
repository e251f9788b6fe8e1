"""Detection of drift by monitoring, and false signals without drift.

Usage: python -m benchmarks.new_rows.monitoring [--quick] [--fresh]

Rules are fitted to a forest on rows of a known distribution; then new rows follow, of
the same distribution or with one of ten kinds of drift.
"""

from functools import partial

import numpy as np
import pandas as pd

from benchmarks._study import Study, arguments, markdown_table

N_FIT, N_REFERENCE, N_NEW = 500, 500, 500
FITS = 60
KINDS = ("classes", "values")
CALM = "none"
DRIFTS = {
    "age 5 years higher": lambda f: f.assign(age=f["age"] + 5),
    "age in months": lambda f: f.assign(age=f["age"] * 12),
    "999 for 3 % of ages": lambda f: f.assign(age=f["age"].where(hit(f, 0.03), 999)),
    "15 % more missing doses": lambda f: f.assign(dose=f["dose"].where(hit(f, 0.15))),
    "a new ward, 3 %": lambda f: f.assign(ward=f["ward"].where(hit(f, 0.03), "east")),
    "half of one ward moves": lambda f: f.assign(
        ward=f["ward"].where((f["ward"] != "west") | hit(f, 0.5), "north")
    ),
    "dose x 1.25": lambda f: f.assign(dose=f["dose"] * 1.25),
    "dose with twice the variance": lambda f: f.assign(
        dose=f["dose"].mean() + (f["dose"] - f["dose"].mean()) * 2**0.5
    ),
    "dose in another unit": lambda f: f.assign(dose=f["dose"] * 1000),
    "outcome": None,
}
"""The last changes the target alone: the risk of the rows of one ward rises, or their
values."""

NOTES = f"""\
A forest of 100 trees and its rule list are fitted to {N_FIT} rows of age (integers),
dose (5 % missing), ward (three levels) and three columns of noise; {N_NEW} new rows
with labels follow. *Held out* are {N_REFERENCE} further rows as reference; *statistics*
are those that the rules carry. Cells are shares of {FITS} fits in which some change was
signalled, with the default error rate of 5 %. Without reference rows a change is
detected only if it moves rows from one rule to another, or changes a rate: statistics
of the columns are not in the rules."""


def hit(frame, share):
    """Rows that stay as they are: all but a share, at random."""
    return np.random.default_rng(len(frame)).random(len(frame)) >= share


def table(n, rng):
    frame = pd.DataFrame({
        "age": rng.integers(18, 90, n).astype(float),
        "dose": rng.gamma(4, 0.25, n),
        "ward": rng.choice(["west", "north", "south"], n, p=[0.5, 0.3, 0.2]),
    })  # fmt: skip
    for k in range(3):
        frame[f"noise {k}"] = rng.normal(size=n)
    frame.loc[rng.random(n) < 0.05, "dose"] = np.nan
    return frame


def target(frame, kind, rng, risen=0.0):
    dose = frame["dose"].fillna(1.0)
    z = 1.5 * (frame["age"] > 60) + 2 * (dose > 1.2) - 1.5 * (frame["ward"] == "north")
    z += risen * (frame["ward"] == "west")
    if kind == "values":
        return pd.Series(z + rng.normal(size=len(frame)), name="y")
    ill = rng.random(len(frame)) < 1 / (1 + np.exp(1 - z))
    return pd.Series(np.where(ill, "ill", "well"), name="y")


def drifts_of(kind, seed):
    """Whether a change is signalled, for every drift, with and without reference."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    import clearwood as cw

    rng = np.random.default_rng(seed)
    is_class = kind == "classes"
    forest = RandomForestClassifier if is_class else RandomForestRegressor
    model = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["ward"]), remainder="passthrough"
        ),
        SimpleImputer(),
        forest(min_samples_leaf=5, random_state=seed),
    )
    X = table(N_FIT, rng)
    y = target(X, kind, rng)
    make = cw.RuleListClassifier if is_class else cw.RuleListRegressor
    rules = make(model.fit(X, y), random_state=seed).fit(X, y).rules_
    held_out = table(N_REFERENCE, rng)
    references = {
        "statistics": {},
        "held out": {"reference": held_out, "reference_y": target(held_out, kind, rng)},
    }
    plain = table(N_NEW, rng)
    for drift in (CALM, *DRIFTS):
        change = DRIFTS.get(drift)
        new = plain if change is None else change(plain)
        own = np.random.default_rng(seed + 10_000)
        labels = target(plain, kind, own, risen=1.0 * (drift == "outcome"))
        for name, reference in references.items():
            found = cw.monitor(rules, new, labels, **reference)
            yield {
                "reference": name,
                "drift": drift,
                "signal": int(bool(found.signals)),
                "quantities": len(found.quantities),
                "used": len(rules.used_features),
            }


def main():
    options = arguments(__doc__)
    study = Study("new_rows_monitoring", ["kind", "seed"], options)
    fits = 5 if options.quick else FITS
    cases = {
        (kind, seed): partial(drifts_of, kind, seed)
        for seed in range(fits)
        for kind in KINDS
    }
    study.run(cases, warm=lambda: None)
    frame = study.frame()
    columns = [(k, r) for k in KINDS for r in ("statistics", "held out")]
    share = frame.groupby(["drift", "kind", "reference"])["signal"].mean()
    rows = [
        [drift, *(f"{share[drift, kind, name]:.0%}" for kind, name in columns)]
        for drift in (CALM, *DRIFTS)
    ]
    study.write_markdown(
        "Monitoring: false signals and detected drift",
        NOTES,
        f"{frame.groupby(['kind', 'seed']).ngroups} fits.",
        markdown_table(["drift", *(f"{k}, {r}" for k, r in columns)], rows),
    )


if __name__ == "__main__":
    main()
