"""Do the intervals of competing risks hold on new rows?

python -m benchmarks.new_rows.incidence [--quick] [--fresh]
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd
from sksurv.ensemble import RandomSurvivalForest

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table

HORIZONS, N_TRAIN, N_TRUE, SEEDS = (0.25, 0.5, 1.0), 600, 20_000, 30
CENSORED = {"20 %": 0.2, "50 %": 0.8, "80 %": 3.2}
"""Rates of censoring by the share of rows that they censor, about."""

NOTES = f"""\
Simulated: {N_TRAIN} rows with four uniform features; the hazards of two causes of
events are constant in time, that of the first depends on one feature, that of the
second on two; censoring is exponential, of about the given share of the rows.
`DistilledTreeSurvival` with 4 rules, of a random survival forest of 10 trees that is
fitted to the same rows. The truth is the mean incidence of a cause in those of
{N_TRUE:,} new rows that the rule predicts; *covered*: 95 % intervals (Aalen-Johansen)
that hold it, at horizons up to which a rule's rows are followed. *Mean error*: the
estimate less the truth. Rules of one fit are not independent: standard errors are those
of means over {SEEDS} samples."""


def main():
    options = arguments(__doc__)
    warnings.simplefilter("ignore")
    study = Study("new_rows_incidence", ["censored", "seed"], options)
    study.run(
        {
            (censored, seed): partial(covered, rate, seed)
            for censored, rate in CENSORED.items()
            for seed in range(3 if options.quick else SEEDS)
        }
    )
    study.write_markdown(
        "Intervals of competing risks on new rows",
        NOTES,
        coverage(study.frame()),
    )


def hazards(X):
    """Hazard of each cause, one row each."""
    first = np.where(X[:, 0] > 0.5, 0.8, 0.2)
    return np.array([first, np.where(X[:, 1] > 0.6, 0.5, 0.2) + 0.1 * (X[:, 0] > 0.5)])


def covered(rate, seed):
    rng = np.random.default_rng(seed)
    X, X_new = rng.uniform(size=(N_TRAIN, 4)), rng.uniform(size=(N_TRUE, 4))
    times = rng.exponential(1 / hazards(X))
    left = rng.exponential(1 / rate, N_TRAIN)
    event = np.select([times.min(axis=0) > left, times[0] < times[1]], [0, 1], 2)
    time = np.minimum(times.min(axis=0), left)
    rules = cw.DistilledTreeSurvival(
        RandomSurvivalForest(10, min_samples_leaf=10, random_state=seed),
        horizons=HORIZONS, n_rules=4, random_state=seed,
    ).fit(X, pd.DataFrame({"cause": event, "time": time})).rules_  # fmt: skip
    decides, found = rules.apply(X_new), []
    for k, rule in enumerate(rules):
        rates = hazards(X_new[decides == k])
        for curve in rule.curve.causes if len(rates[0]) else ():
            for horizon in (h for h in HORIZONS if h <= curve.until):
                estimate, low, high = curve.shown(horizon)
                true = truth(rates, curve.cause, horizon)
                found.append(
                    {
                        "cause": curve.cause,
                        "horizon": horizon,
                        "covered": float(low <= true <= high),
                        "width": high - low,
                        "off": estimate - true,
                    }
                )
    return found


def truth(rates, cause, horizon):
    """Mean incidence of a cause."""
    total = rates.sum(axis=0)
    return (rates[cause - 1] / total * (1 - np.exp(-total * horizon))).mean()


def coverage(frame):
    rows = []
    keys = ["censored", "cause", "horizon"]
    pooled = frame.assign(censored="all", cause="all", horizon="all")
    for key, here in [
        *frame.groupby(keys, sort=False),
        *pooled.assign(censored=frame["censored"]).groupby(keys, sort=False),
        *pooled.groupby(keys),
    ]:
        of_fit = frame["censored"] + " " + frame["seed"]
        more = (here.covered - here.covered.mean()).groupby(of_fit).sum()
        error = np.sqrt((more**2).sum()) / len(here)
        share = f"{100 * here.covered.mean():.1f} ± {100 * error:.1f} %"
        off = f"{here.off.mean():.4f}"
        rows.append([*key, len(here), share, f"{here.width.mean():.3f}", off])
    header = ["censored", "cause", "horizon", "intervals", "covered", "width"]
    return markdown_table([*header, "mean error"], rows)


if __name__ == "__main__":
    main()
