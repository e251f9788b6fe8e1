"""Do all estimators still say what they said? For changes that must change nothing.

    python benchmarks/same_answers.py before.json     # in the old checkout
    python benchmarks/same_answers.py after.json      # in the new one
    python benchmarks/same_answers.py before.json after.json

Every estimator is fitted to three data sets; what is kept is a digest of all that it
predicts on held-out rows, bit for bit, and of the rules or the tree as text.
"""

import hashlib
import inspect
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import clearwood as cw

SHARED = Path(os.environ.get("CLEARWOOD_SHARED", "../shared"))
N_TRAIN, N_TEST = 500, 300
LINES = 6

CLASSES = {"spambase": "target", "crx": "target", "waveform21": "target"}
VALUES = {"energy": "heating_load", "autompg": "mpg", "bodyfat": "bodyfat"}
SETTINGS = {
    "FABRulesClassifier": {"n_restarts": 3},
    "FABRulesRegressor": {"n_restarts": 3},
    "MetaForestClassifier": {},
    "MetaForestRegressor": {},
}


def table(name, target):
    """Rows in an order that is always the same."""
    for folder, ending in (("uci", "csv.gz"), ("tabular", "csv")):
        path = SHARED / "data" / folder / f"{name}.{ending}"
        if path.exists():
            break
    frame = pd.read_csv(path)
    target = target if target in frame else frame.columns[-1]
    frame = frame.drop(columns=[c for c in ("cooling_load",) if c in frame])
    frame = frame.dropna(subset=[target])
    order = np.random.default_rng(0).permutation(len(frame))[: N_TRAIN + N_TEST]
    frame = frame.iloc[order].reset_index(drop=True)
    X = frame.drop(columns=target)
    texts = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    X[texts] = X[texts].astype("category")
    return X, frame[target].to_numpy()


def digest(*parts):
    """Sixteen digits that differ when one bit does."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype.kind in "fiub":
            found.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, np.ndarray):
            found.update(repr(part.tolist()).encode())
        else:
            found.update(str(part).encode())
    return found.hexdigest()[:16]


def as_data(rules):
    """The rules as JSON, without the notes on how they were made: parameters may have
    other names."""
    document = json.loads(rules.to_json())
    document.pop("about")
    return json.dumps(document)


def model_of(X, y, is_class):
    """A forest where it can read the table, else gradient boosting."""
    from sklearn import ensemble

    kind = "Classifier" if is_class else "Regressor"
    if X.isna().any(axis=None) or (X.dtypes == "category").any():
        make = getattr(ensemble, f"HistGradientBoosting{kind}")
        return make(categorical_features="from_dtype", max_iter=30, random_state=0)
    return getattr(ensemble, f"RandomForest{kind}")(n_estimators=30, random_state=0)


def answers(name, X, y, is_class):
    """Digests of what an estimator says of rows that it has not seen."""
    make = getattr(cw, name)
    known = inspect.signature(make).parameters
    settings = dict(SETTINGS.get(name, {}))
    if "max_rules" in known:
        settings["max_rules"] = LINES
    if "random_state" in known:
        settings["random_state"] = 0
    n = len(X) * N_TRAIN // (N_TRAIN + N_TEST)
    train, test, seen = X[:n], X[n:], y[:n]
    if "estimator" in known and not name.startswith("Meta"):
        settings["estimator"] = model_of(X, y, is_class).fit(train, seen)
    fitted = make(**settings).fit(train, seen)
    said = [fitted.predict(test)]
    if hasattr(fitted, "predict_proba"):
        said.append(fitted.predict_proba(test))
    if hasattr(fitted, "predict_interval"):
        said.append(np.asarray(fitted.predict_interval(test)))
    rules = getattr(fitted, "rules_", None)
    texts = [] if rules is None else [rules, as_data(rules)]
    path = [str(one) for one in getattr(fitted, "path_", ())]
    return {"predictions": digest(*said), "rules": digest(*texts, *path)}


def measure():
    """All estimators on all their data sets."""
    warnings.simplefilter("ignore")
    found = {}
    for sets, kind in ((CLASSES, "Classifier"), (VALUES, "Regressor")):
        names = [n for n in cw.__all__ if n.endswith(kind)]
        for data, target in sets.items():
            X, y = table(data, target)
            for name in names:
                try:
                    found[f"{name} {data}"] = answers(name, X, y, kind == "Classifier")
                except cw.exceptions.ClearwoodError as error:
                    found[f"{name} {data}"] = {"error": digest(str(error))}
                print(f"{name} {data}", found[f"{name} {data}"], flush=True)
    return found


def compare(before, after):
    """A table of what is the same; 1 where something is not."""
    before, after = (json.loads(Path(p).read_text()) for p in (before, after))
    print("| estimator and data | predictions | rules and path |\n|---|---|---|")
    differ = before.keys() ^ after.keys()
    for case in [case for case in before if case in after]:
        same = {
            part: before[case].get(part) == after[case].get(part)
            for part in before[case].keys() | after[case].keys()
        }
        parts = ("predictions", "rules")
        told = ["equal" if same.get(part, False) else "DIFFER" for part in parts]
        if "error" in same:
            told = ["refused in both" if same["error"] else "differ"] * 2
        print(f"| {case} | {' | '.join(told)} |")
        differ |= {case} if not all(same.values()) else set()
    print(f"\n{len(differ)} of {len(before)} differ: {sorted(differ)}")
    return int(bool(differ))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.exit(compare(*sys.argv[1:]))
    Path(sys.argv[1]).write_text(json.dumps(measure(), indent=1))
