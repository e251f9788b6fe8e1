"""Coverage of intervals of survival and of competing risks on new rows.

python -m benchmarks.new_rows.incidence [--quick] [--fresh]
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd
from sksurv.ensemble import RandomSurvivalForest

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table

HORIZONS, N_TRAIN, N_TRUE, SEEDS = (0.25, 0.5, 1.0), 600, 20_000, 20
LEAST_AT_RISK = 10
CENSORED = {
    "survival": {"20 %": 0.09, "50 %": 0.4, "80 %": 1.9},
    "two causes": {"20 %": 0.2, "50 %": 0.8, "80 %": 3.2},
}
"""Rates of censoring by the share of rows that they censor, about."""

NOTES = f"""\
Simulated: {N_TRAIN} rows with four uniform features; the hazards of two causes of
events are constant in time, that of the first depends on one feature, that of the
second on two; censoring is exponential, of about the given share of the rows. With
*survival*, events are of the first cause alone. `DistilledTreeSurvival` with 4 rules,
of a random survival forest of 10 trees that is fitted to the same rows. The truth is
the mean survival, or incidence of a cause, in those of {N_TRUE:,} new rows that the
rule predicts; *covered*: 95 % intervals (Kaplan-Meier, Aalen-Johansen) that contain it,
at horizons at which at least {LEAST_AT_RISK} rows of the rule are at risk. *Mean
error*: the estimate minus the truth. Rules of one fit are not independent: standard
errors are those of means over {SEEDS} samples.

Rules are selected by survival, or by cause 1, and the same selection makes its
intervals wider. The incidence of cause 2 is nearly equal in all rules (standard
deviation 0.02 to 0.03), so that pooling brings its estimates nearer to the truth than
their intervals, which allow for a difference, assume."""


def main():
    options = arguments(__doc__)
    warnings.simplefilter("ignore")
    study = Study("new_rows_incidence", ["kind", "censored", "seed"], options)
    study.run(
        {
            (kind, censored, seed): partial(covered, kind, rate, seed)
            for kind, rates in CENSORED.items()
            for censored, rate in rates.items()
            for seed in range(3 if options.quick else SEEDS)
        }
    )
    frame = study.frame()
    parts = []
    for kind, here in frame.groupby("kind", sort=False):
        parts += [f"## {kind.capitalize()}", coverage(here)]
    study.write_markdown(
        "Intervals of survival and of competing risks on new rows", NOTES, *parts
    )


def hazards(X, kind):
    """Hazard of each cause, one row each."""
    first = np.where(X[:, 0] > 0.5, 0.8, 0.2)
    second = np.where(X[:, 1] > 0.6, 0.5, 0.2) + 0.1 * (X[:, 0] > 0.5)
    return np.array([first] if kind == "survival" else [first, second])


def covered(kind, rate, seed):
    rng = np.random.default_rng(seed)
    X, X_new = rng.uniform(size=(N_TRAIN, 4)), rng.uniform(size=(N_TRUE, 4))
    times = rng.exponential(1 / hazards(X, kind))
    left = rng.exponential(1 / rate, N_TRAIN)
    event = np.where(times.min(axis=0) > left, 0, times.argmin(axis=0) + 1)
    time = np.minimum(times.min(axis=0), left)
    name = "event" if kind == "survival" else "cause"
    rules = cw.DistilledTreeSurvival(
        RandomSurvivalForest(10, min_samples_leaf=10, random_state=seed),
        horizons=HORIZONS, n_rules=4, random_state=seed,
    ).fit(X, pd.DataFrame({name: event, "time": time})).rules_  # fmt: skip
    own, decides, found = rules.apply(X), rules.apply(X_new), []
    for k, rule in enumerate(rules):
        rates = hazards(X_new[decides == k], kind)
        at_risk = [(time[own == k] >= h).sum() >= LEAST_AT_RISK for h in HORIZONS]
        for curve in rule.curve.causes if rates.shape[1] else ():
            for horizon in np.array(HORIZONS)[at_risk].tolist():
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
    """Mean incidence of a cause, or survival."""
    total = rates.sum(axis=0)
    if not cause:
        return np.exp(-total * horizon).mean()
    return (rates[cause - 1] / total * (1 - np.exp(-total * horizon))).mean()


def coverage(frame):
    rows = []
    keys = ["censored", "cause", "horizon"]
    pooled = frame.assign(censored="all", horizon="all")
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
        key = [key[0], key[1] or "", key[2]]
        rows.append([*key, len(here), share, f"{here.width.mean():.3f}", off])
    header = ["censored", "cause", "horizon", "intervals", "covered", "width"]
    return markdown_table([*header, "mean error"], rows)


if __name__ == "__main__":
    main()
