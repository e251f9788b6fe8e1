"""Small files of everything that can be saved, and what is asked of each.

``python -m tests.codec.saved`` writes to ``files/`` those that are not there yet: what
an earlier version wrote is never written again, so that today's version must read it.
"""

import json
import re
import warnings
import zipfile
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import BayesianRidge

import clearwood as cw
from clearwood.metatree import given

FILES = Path(__file__).parent / "files"
EXPECTED = FILES / "expected.json"


@cache
def table():
    """Sixty rows of whatever a column may hold."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({
        "age": rng.integers(20, 80, 60).astype(float),
        "ward": rng.choice(["north", "süd", "east"], 60),
        "member": rng.random(60) < 0.5,
        "begun": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.permutation(60), "D"),
        "dose": np.round(rng.normal(size=60), 3),
    })  # fmt: skip
    X.loc[::9, "age"] = np.nan
    return X


@cache
def target(classify):
    X = table()
    score = (X["age"].fillna(70) > 45) + (X["ward"] == "süd") + 0.3 * X["dose"]
    return np.where(score > 0.9, "yes", "no") if classify else np.round(score, 3)


def graphs(calibration):
    found = cw.SelectiveBayesianForestClassifier(
        calibration=calibration, n_graphs=4, random_state=0
    )
    return found.fit(table()[["age", "ward", "member"]], classes(3))


NUMBERS = ["age", "dose", "member"]


@cache
def numbers():
    return table()[NUMBERS].astype(float).fillna(50.0)


@cache
def classes(n):
    return np.digitize(numbers()["age"] + 20 * numbers()["dose"], [40, 60][: n - 1])


@cache
def model(classify):
    """What rules are made of."""
    make = RandomForestClassifier if classify else GradientBoostingRegressor
    return make(n_estimators=4, max_depth=2, random_state=0).fit(
        numbers(), target(classify)
    )


def simplified(name, classify, **settings):
    make = getattr(cw, name + ("Classifier" if classify else "Regressor"))
    settings = {"n_rules": 3, "max_rules": 3, "random_state": 0, **settings}
    return make(model(classify), **settings).fit(numbers(), target(classify))


def survived(make):
    """Rules of a function that returns the probability to survive each horizon."""
    rows, horizons = numbers(), (1.0, 2.0)
    time = np.exp(target(False) / np.abs(target(False)).max())
    y = pd.DataFrame({"event": np.arange(len(rows)) % 4 > 0, "time": time})

    def curves(X):
        rate = 0.2 + 0.01 * np.asarray(X)[:, [0]]
        return np.exp(-rate * np.array(horizons))

    settings = {"horizons": horizons, "n_rules": 3, "max_rules": 3, "random_state": 0}
    return make(curves, **settings).fit(rows, y)


def learnt(classify, **settings):
    """Rules with columns of all kinds, made without a model."""
    make = cw.RuleListClassifier if classify else cw.RuleListRegressor
    found = make(n_rules=4, max_rules=4, random_state=0, **settings)
    said = {"unit": "years", "name": "Age", "description": "at the first visit"}
    found.fit(table(), target(classify))
    features = found.rules_.features.with_info({"age": said})
    return cw.RuleList(
        found.rules_.rules, found.rules_.otherwise, features, found.rules_.classes,
        "back", found.rules_.about,
    )  # fmt: skip


def by_hand():
    """Rules whose cells are looked up in every way, with bounds at both ends."""
    space = cw.FeatureSpace(
        ("dose", "ward", "drug", "gap"),
        (None, (2, 7), ("a", "3", 77), None),
        lookup=("exact", "integer", "hash", "exact"),
        missing_at=(0.0, None, None, None),
        float32=True,
    )
    rules = (
        cw.Rule((cw.Interval(0, high=-np.inf, missing=True),), 1, (0.5, 0.5)),
        cw.Rule(
            (cw.Interval(3, low=np.inf, missing=True),),
            2, (0.2, 0.8), statistics=cw.rules.RuleStatistics(
                support=5.0, assigned=5.0, disagreement=1.0, instead=1,
            ),
        ),
        cw.Rule(
            (cw.rules.CategorySet(1, (1,), missing=True, unseen=True),
             cw.rules.CategorySet(2, (0, 2))),
            2, (0.25, 0.75), statistics=cw.rules.RuleStatistics(
                support=3.5, assigned=2.0, rows=3.0, rows_assigned=2.0, expected=0.7,
            ),
        ),
    )  # fmt: skip
    return cw.RuleList(rules, cw.Rule((), 1, (0.9, 0.1)), space, (1, 2))


def text():
    return "to be or not to be, " * 3


def series():
    return np.random.default_rng(0).normal(size=(40, 2))


def steps(emission):
    rng = np.random.default_rng(0)
    if emission == "bernoulli":
        return rng.integers(2, size=(40, 3))
    if emission == "mixed":
        return pd.DataFrame(
            {"hue": rng.choice(["red", "blue"], 40), "size": rng.normal(size=40)}
        )
    return series() if emission == "gaussian" else text()


def states(emission, **settings):
    settings = {"algorithm": "em", "n_init": 3, "n_draws": 4, **settings}
    found = cw.HiddenMarkovModel(2, emission=emission, random_state=0, **settings)
    return found.fit(steps(emission))


def network(emission, **settings):
    hmm = cw.HiddenMarkovModel(2, emission=emission, algorithm="em", random_state=0)
    quick = {"n_hidden": 2, "n_states": 2, "n_epochs": 1, "random_state": 0}
    found = cw.HMMLSTM(**quick, hmm=hmm, **settings)
    if emission == "bernoulli":
        X = steps("bernoulli")
        return found.fit(X, [3, 5] * 20)
    return found.fit(text())


def projected(make, classify, **settings):
    if classify:
        reference = cw.MetaTreeClassifier(random_state=0)
    else:
        reference = cw.MetaTreeRegressor(random_state=0)
    reference.fit(numbers(), target(classify))
    return make(reference, **settings).fit(numbers(), target(classify))


def curves():
    """A tree of survival at two horizons, from draws of an exponential model."""
    rate = 0.2 + 0.3 * (numbers()["age"].to_numpy() > 50)
    scale = np.array([0.8, 1.0, 1.3])[:, None]
    draws = np.exp(-(rate * scale)[..., None] * [1.0, 3.0])
    reference = cw.reference(draws, numbers(), horizons=[1, 3], time_unit="years")
    return cw.ProjectedTreeSurvival(reference, **TREE).fit(numbers())


def linear(**settings):
    reference = cw.reference(
        BayesianRidge(), numbers(), target(False), n_draws=3, random_state=0
    )
    return cw.ProjectedLinearRegression(reference, **settings).fit(numbers())


def density(make, **settings):
    columns = table()[["age", "ward", "dose"]]
    return make(random_state=0, **settings).fit(columns)


ROWS = table().iloc[:12]
FEW = ROWS[NUMBERS].astype(float).fillna(50.0)
HAND = pd.DataFrame(
    {"dose": [1.0, 0.0, -2.0], "ward": [7, 2, 5], "drug": ["a", "3", "x"],
     "gap": [1.0, 2.0, np.nan]}
)  # fmt: skip
COLUMNS = ROWS[["age", "ward", "dose"]]
TREE = {"alpha": 0.001, "max_leaf_nodes": 3}
GIVEN = np.random.default_rng(0).integers(0, 3, (40, 2))

CASES = {
    # Rules
    "list-classes": (lambda: learnt(True), ROWS),
    "list-values": (lambda: learnt(False), ROWS),
    "list-by-hand": (by_hand, HAND),
    "list-constant": (
        lambda: cw.RuleList((), cw.Rule((), 3.5), cw.FeatureSpace.numeric(2)),
        FEW.to_numpy()[:, :2],
    ),
    "list-of-tree": (lambda: simplified("DistilledTree", True).rules_, FEW),
    "sum-classes": (lambda: simplified("AdditiveRules", True).rules_, FEW),
    "sum-values": (lambda: simplified("AdditiveRules", False).rules_, FEW),
    "average-classes": (lambda: simplified("NodeHarvest", True).rules_, FEW),
    "average-values": (lambda: simplified("NodeHarvest", False).rules_, FEW),
    # Simplifiers
    **{
        f"{name}{kind}": (
            lambda name=name, kind=kind, own=own: simplified(
                name, kind == "Classifier", **own
            ),
            FEW,
        )
        for name, own in {
            "RuleList": {"exclude_features": ("member",)},
            "DistilledTree": {"n_synthetic": 50},
            "BornAgainTree": {"n_node_samples": 20},
            "AdditiveRules": {"n_synthetic": 50},
            "InTrees": {},
            "NodeHarvest": {"min_samples_leaf": 10},
            "FABRules": {"n_init": 2},
        }.items()
        for kind in ("Classifier", "Regressor")
    },
    "FABRulesClassifier-mixture": (
        lambda: simplified("FABRules", True, n_init=2, n_rules=4, max_rules=4), FEW
    ),
    "RuleListClassifier-auto": (
        lambda: simplified("RuleList", True, n_rules="auto", n_synthetic=50),
        FEW,
    ),
    "RuleListRegressor-without-model": (
        lambda: cw.RuleListRegressor(n_rules=3, max_rules=3, random_state=0).fit(
            table(), target(False)
        ),
        ROWS,
    ),
    "RuleListSurvival": (lambda: survived(cw.RuleListSurvival), FEW),
    "DistilledTreeSurvival": (lambda: survived(cw.DistilledTreeSurvival), FEW),
    # Meta-trees
    "MetaTreeClassifier": (
        lambda: cw.MetaTreeClassifier(missing="branch", random_state=0).fit(
            table().drop(columns="begun"), target(True)
        ),
        ROWS.drop(columns="begun"),
    ),
    "MetaTreeRegressor": (
        lambda: cw.MetaTreeRegressor(random_state=0).fit(
            numbers(), target(False), sample_weight=np.arange(60) % 3 + 0.5
        ),
        FEW,
    ),
    "MetaTreeRegressor-given": (
        lambda: cw.MetaTreeRegressor(given([0, 1], [3, 3])).fit(
            GIVEN, GIVEN.sum(axis=1)
        ),
        GIVEN[:9],
    ),
    "MetaForestClassifier": (
        lambda: cw.MetaForestClassifier(model(True)).fit(numbers(), target(True)),
        FEW,
    ),
    "MetaForestRegressor": (
        lambda: cw.MetaForestRegressor(model(False), weights="uniform").fit(
            numbers(), target(False)
        ),
        FEW,
    ),
    # Projections
    "ProjectedTreeClassifier": (
        lambda: projected(cw.ProjectedTreeClassifier, True, **TREE), FEW
    ),
    "ProjectedTreeRegressor": (
        lambda: projected(
            cw.ProjectedTreeRegressor, False, **TREE, exclude_features=["member", 1]
        ),
        FEW,
    ),
    "ProjectedTreeSurvival": (curves, FEW),
    "ProjectedRuleListClassifier": (
        lambda: projected(
            cw.ProjectedRuleListClassifier, True, alpha=0.001, max_rules=3
        ),
        FEW,
    ),
    "ProjectedRuleListRegressor": (
        lambda: projected(cw.ProjectedRuleListRegressor, False, n_rules=2,
                          random_state=np.int64(3)),
        FEW,
    ),
    "ProjectedLogisticRegression": (
        lambda: cw.ProjectedLogisticRegression(
            cw.reference(None, numbers(), classes(3), n_draws=3, random_state=0)
        ).fit(numbers()),
        FEW,
    ),
    "ProjectedLinearRegression": (linear, FEW),
    # Feature graphs
    "SelectiveBayesianForestClassifier": (
        lambda: graphs(None), ROWS[["age", "ward", "member"]]
    ),
    **{
        f"SelectiveBayesianForestClassifier-{kind}": (
            partial(graphs, kind), ROWS[["age", "ward", "member"]]
        )
        for kind in ("additive", "temperature")
    },
    # Densities
    "Circuit": (lambda: density(cw.MiniSPN).circuit_, COLUMNS),
    "MiniSPN": (lambda: density(cw.MiniSPN), COLUMNS),
    "LearnSPN": (
        lambda: density(cw.LearnSPN, penalty=0.4, significance_level=0.0015), COLUMNS
    ),
    "LatentTreeSPN": (lambda: density(cw.LatentTreeSPN, n_states=2), COLUMNS),
    "ParetoSPN": (
        lambda: cw.ParetoSPN(n_iter=20, random_state=0).fit(series()),
        series()[:9],
    ),
    "HybridSPN": (
        lambda: cw.HybridSPN(n_iter=20, random_state=0).fit(series()),
        series()[:9],
    ),
    "SPNClassifier": (
        lambda: cw.SPNClassifier(random_state=0).fit(table()[["age", "ward", "dose"]],
                                                     target(True)),
        COLUMNS,
    ),
    "SPNImputer": (lambda: density(cw.SPNImputer), COLUMNS),
    # Binnings
    "BinaryBinner": (
        lambda: cw.BinaryBinner().fit(table()[["age", "ward", "dose"]]), COLUMNS
    ),
    "MDLPDiscretizer": (
        lambda: cw.MDLPDiscretizer().fit(numbers().to_numpy(), classes(2)),
        FEW.to_numpy(),
    ),
    # Sequences
    "HiddenMarkovModel-text": (lambda: states("categorical"), text()),
    "HiddenMarkovModel-draws": (
        lambda: states("categorical", algorithm="gibbs", n_init=8, n_draws=8), text()
    ),
    "HiddenMarkovModel-switches": (lambda: states("bernoulli"), steps("bernoulli")),
    "HiddenMarkovModel-series": (
        lambda: states("gaussian", covariance_type="diag"), series()
    ),
    "HiddenMarkovModel-frame": (lambda: states("mixed"), steps("mixed")),
    "HMMLSTM-joint": (lambda: network("categorical", hybrid="joint"), text()),
    "HMMLSTM-sequential": (
        lambda: network("bernoulli", hybrid="sequential"), steps("bernoulli")
    ),
    "HMMLSTM-alone": (
        lambda: network("categorical", hybrid=None, preset="paper"), text()
    ),
}  # fmt: skip
"""Per file what makes its content, and rows to ask it about."""

ASKED = (
    "predict_proba", "step_log_likelihood", "predict_next", "log_likelihood",
    "score_samples", "predict", "transform",
)  # fmt: skip


def answers(found, rows):
    """What it says of rows, by the first of ``ASKED`` that it has, as JSON has it."""
    if getattr(found, "classes", None) == ():  # rules that predict numbers
        said = found.predict(rows)
    elif type(found).__name__ == "Circuit":
        said = [str(found)]
    elif getattr(found, "_mixture", None):
        said = found.predict_mixture(rows)
    else:
        ask = next(name for name in ASKED if hasattr(found, name))
        said = getattr(found, ask)(rows)
    if isinstance(said, pd.DataFrame):
        said = said.astype(str)
    said = np.asarray(said)
    return [x if isinstance(x, float) else str(x) for x in said.ravel().tolist()]


def members(path):
    """The parts of a file, without its date, the version that wrote it, and what
    earlier versions did not write."""
    if not zipfile.is_zipfile(path):
        parts = {"model.json": path.read_bytes()}
    else:
        with zipfile.ZipFile(path) as file:
            parts = {name: file.read(name) for name in file.namelist()}
    parts["model.json"] = re.sub(
        rb'"clearwood": "[^"]*"(,\s*"date": "[^"]*")?',
        b'"clearwood": ""',
        parts["model.json"].replace(b', "estimated_from": 0.0', b""),
    )
    return parts


def write():
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    for name, (make, rows) in CASES.items():
        path = FILES / name
        if path.exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cw.save(make(), path)
            expected[name] = answers(cw.load(path), rows)
        print(name, path.stat().st_size)
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in expected.items()]
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    write()
