"""CPU seconds of one case per study, to compare two checkouts.

    python -m benchmarks.cpu_times out.json

Best of three calls after a first one, on one thread.
"""

import inspect
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import clearwood as cw
from benchmarks._data import SHARED


def table(name, target, drop=()):
    """All rows of one data set as arrays."""
    frame = pd.read_csv(SHARED / "uci" / f"{name}.csv.gz")
    X = frame.drop(columns=[target, *drop]).to_numpy(np.float64)
    return X, frame[target].to_numpy()


def made(name, **settings):
    """An estimator, without unsupported settings."""
    make = getattr(cw, name)
    known = inspect.signature(make).parameters
    return make(**{key: value for key, value in settings.items() if key in known})


def cases():
    """Calls by name."""
    X, y = (part[::4] for part in table("spambase", "target"))
    X_energy, y_energy = table("energy", "heating_load", ["cooling_load"])
    X_higgs, y_higgs = (part[:20_000] for part in table("higgs", "target"))
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    regressor = RandomForestRegressor(100, random_state=0).fit(X_energy, y_energy)
    path = str(Path(tempfile.mkdtemp()) / "model.json")
    xgboost.XGBClassifier(n_estimators=300, max_depth=7).fit(X, y).save_model(path)
    on_forest = {"estimator": forest, "random_state": 0}
    on_energy = {"estimator": regressor, "random_state": 0}
    ten = {"n_rules": 10, "max_rules": 10}
    capped = {"max_rules": 10, "n_init": 10}
    fits = {
        "list spambase": ("RuleListClassifier", on_forest | ten),
        "list energy tuned": ("RuleListRegressor", on_energy),
        "sum energy": ("AdditiveRulesRegressor", on_energy | ten),
        "tree spambase": ("DistilledTreeClassifier", on_forest | ten),
        "born-again energy": ("BornAgainTreeRegressor", on_energy | ten),
        "FAB spambase": ("FABRulesClassifier", on_forest | capped),
        "inTrees spambase": ("InTreesClassifier", on_forest | capped),
        "Node Harvest energy": ("NodeHarvestRegressor", on_energy | capped),
        "meta-forest spambase": ("MetaForestClassifier", on_forest),
    }
    meta_tree = cw.MetaTreeClassifier().fit(X_higgs, y_higgs)
    rules = made("RuleListClassifier", **on_forest, **ten).fit(X, y)
    calls = {
        "meta-tree higgs": lambda: cw.MetaTreeClassifier().fit(X_higgs, y_higgs),
        "meta-tree predict": lambda: meta_tree.predict_proba(X_higgs),
        "read xgboost file": lambda: cw.read_ensemble(path),
        "rules predict": lambda: [rules.predict(X) for _ in range(20)],
    }
    for name, (estimator, settings) in fits.items():
        rows = (X_energy, y_energy) if estimator.endswith("Regressor") else (X, y)
        calls[name] = lambda e=estimator, s=settings, r=rows: made(e, **s).fit(*r)
    return calls


def main(out):
    """Time all cases."""
    warnings.simplefilter("ignore")
    found = {}
    for name, call in cases().items():
        call()
        seconds = []
        for _ in range(3):
            begin = time.process_time()
            call()
            seconds.append(time.process_time() - begin)
        found[name] = round(min(seconds), 4)
        print(f"{name:24s} {found[name]:8.4f}", flush=True)
    Path(out).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
