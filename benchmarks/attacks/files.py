"""Files: outcomes of damaged and hostile files, and side effects of writing.

Mutants of all file formats that the library reads (rules, meta-trees, checkpoints and
models of other libraries) are refused, or read as they are. Pipes, devices and
decompression bombs are refused in little time and memory; writing a file keeps its
permissions and links.
"""

import io
import json
import os
import stat
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from functools import partial as bind
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from tests.ensembles import mutants
from tests.ensembles.judge import judged
from tests.ensembles.seeds import seeds

import clearwood as cw
from benchmarks._study import memory
from benchmarks.attacks.checks import Attack, Failed, confined, held, refused, study
from benchmarks.attacks.interruption import chains
from clearwood.exceptions import ClearwoodError
from clearwood.rules import CategorySet, Interval, Rule, RuleList, RuleStatistics

ODD = (
    *(None, True, False, 0, -1, 1, 0.5, -0.0, 1e308, 10**400, 2**63, "", "a", "\0"),
    *("\ud800", [], {}, [None], [[]], {"a": None}, float("nan"), float("inf")),
)
SECONDS, MEGABYTES = 100, 3_000
"""Limits for refusing a file, with the start of Python."""
MODULE = "benchmarks.attacks.files"


def main():
    study("files", __doc__, attacks)


def attacks(count):
    """All attacks; ``count`` is the number of mutants of each kind of file."""
    bounded = "64 MB + 10 times the file at most"
    soundly = "refused, or read and displayed"
    small = f"refused in {SECONDS} s and {MEGABYTES / 1000:g} GB"
    return [
        Attack("mutants of rules.json", soundly, bind(rules_mutants, 10 * count)),
        Attack("mutants of meta-trees", soundly, bind(archive_mutants, 5 * count)),
        Attack("indices of meta-trees", soundly, bind(index_mutants, count)),
        Attack(
            "mutants of checkpoints",
            "refused, or the same draws",
            bind(checkpoint_mutants, count),
        ),
        *(
            Attack(
                f"mutants of {format}",
                "refused, or read exactly",
                bind(model_mutants, format, 5 * count),
            )
            for format in mutants.FORMATS
        ),
        Attack("a device", small, bind(endless, "device")),
        Attack("a pipe", small, bind(endless, "pipe")),
        Attack("a link to a device", small, bind(endless, "link")),
        Attack("60 MB of empty objects", bounded, many_objects),
        Attack(
            "deep trees of CatBoost",
            "64 MB + 10 times the file, or refused",
            deep_trees,
        ),
        Attack("LightGBM's tree_sizes", "as read by LightGBM, or refused", tree_sizes),
        Attack(
            "XGBoost's sorted_idx", "as read by XGBoost, or refused", sorted_categories
        ),
        Attack("permissions and links", "kept", permissions),
        Attack("a full disk", "an error that names the file; the old file", full_disk),
    ]


# Mutants


def a_rule_list():
    space = cw.FeatureSpace(("age", "ward"), (None, ("north", "south", "east")))
    lines = (
        Rule((Interval(0, 30.0, 60.5), CategorySet(1, (0, 2), missing=True)), "ill",
             (0.1, 0.9), statistics=RuleStatistics(40.0, 40.0, 0.95, 0.9)),
        Rule((Interval(0, high=20.0),), "ill", (0.4, 0.6),
             statistics=RuleStatistics(8.0, 3.0)),
    )  # fmt: skip
    otherwise = Rule(
        (), "well", (0.8, 0.2), statistics=RuleStatistics(60.0, 60.0, 0.9, 0.85)
    )
    return RuleList(lines, otherwise, space, ("well", "ill"), "state")


def places(document, path=()):
    """All places in a document, as paths of keys."""
    yield path
    items = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))


def with_odd(document, rng):
    """The document with one or two values replaced or removed."""
    document = json.loads(json.dumps(document))
    for _ in range(rng.integers(1, 3)):
        every = [path for path in places(document) if path]
        *way, key = every[rng.integers(len(every))]
        parent = document
        for step in way:
            parent = parent[step]
        if rng.random() < 0.2:
            del parent[key]
        else:
            parent[key] = ODD[rng.integers(len(ODD))]
    return document


def outcomes_of(function, made):
    """Numbers of mutants that were refused and accepted; anything else is a failure."""
    counts, wrong = Counter(), {}
    for what in made:
        try:
            counts[refused(function, what) != "accepted"] += 1
        except Failed as error:
            wrong.setdefault(str(error), what)
        except Exception as error:
            wrong.setdefault(f"{type(error).__name__}: {error}"[:100], what)
    text = f"{counts[True]} refused, {counts[False]} read"
    return held(not wrong, f"{text}; wrong: {'; '.join(wrong)}" if wrong else text)


def rules_mutants(count):
    rng = np.random.default_rng(0)
    document = json.loads(a_rule_list().to_json())
    rows = [[40.0, "north"], [None, None], [10.0, "west"]]

    def read(mutant):
        rules = cw.RuleSet.from_json(json.dumps(mutant))
        rules.predict(rows), str(rules), rules._repr_html_(), rules.to_json()
        rules.explain(rows[0])._repr_html_()
        with tempfile.TemporaryDirectory() as folder:
            cw.report(rules, f"{folder}/page.html")

    return outcomes_of(read, (with_odd(document, rng) for _ in range(count)))


def a_meta_forest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    forest = RandomForestClassifier(4, max_depth=3, random_state=0)
    return cw.MetaForestClassifier(forest).fit(X, X[:, 0] > 0), X


def saved_parts(found):
    with tempfile.TemporaryDirectory() as folder:
        cw.save(found, f"{folder}/model")
        with zipfile.ZipFile(f"{folder}/model") as file:
            return {name: file.read(name) for name in file.namelist()}


def read_archive(parts, X):
    """Load and predict."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(f"{folder}/model", "w") as file:
            for name, content in parts.items():
                file.writestr(name, content)
        found = cw.load(f"{folder}/model")
    found.predict(X[:5])
    found.partial_fit(X[:5], found.predict(X[:5]))


def archive_mutants(count):
    rng = np.random.default_rng(0)
    found, X = a_meta_forest()
    parts = saved_parts(found)

    def made():
        for _ in range(count):
            name = rng.choice(sorted(parts))
            yield parts | {name: mutants.flipped(parts[name], rng)}

    return outcomes_of(lambda mutant: read_archive(mutant, X), made())


def index_mutants(count):
    """Indices in the arrays that are out of range or negative."""
    rng = np.random.default_rng(0)
    found, X = a_meta_forest()
    parts = saved_parts(found)
    arrays = {
        name: np.load(io.BytesIO(part))
        for name, part in parts.items()
        if name.endswith(".npy")
    }
    whole = [
        name
        for name, array in arrays.items()
        if array.dtype.kind in "iu" and array.size
    ]

    def made():
        for _ in range(count):
            name = whole[rng.integers(len(whole))]
            array = arrays[name].copy()
            ends = np.iinfo(array.dtype)
            array.flat[rng.integers(array.size)] = rng.choice(
                [ends.min, ends.max, max(-1, ends.min), array.max() + 1, 0]
            )
            stream = io.BytesIO()
            np.save(stream, array)
            yield parts | {name: stream.getvalue()}

    return outcomes_of(lambda mutant: read_archive(mutant, X), made())


def checkpoint_mutants(count):
    """Resuming from a damaged checkpoint must be refused, or give the same draws."""
    rng, other = np.random.default_rng(0), 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        whole = chains(path, n_draws=50, n_warmup=5).draws
        sound = path.read_bytes()

        def read(mutant):
            nonlocal other
            path.write_bytes(mutant)
            draws = chains(path, n_draws=50, n_warmup=5).draws
            other += any((draws[name] != whole[name]).any() for name in whole)

        text = outcomes_of(read, (mutants.flipped(sound, rng) for _ in range(count)))
    return held(other == 0, f"{text}; other draws: {other}")


def model_mutants(format, count):
    rng, files = np.random.default_rng(0), list(seeds(format).values())
    each = -(-count // len(files))

    def made():
        for data in files:
            yield from islice(mutants.mutants(format, data, rng), each)

    def read(pair):
        if judged(format, pair[1]) == "refused":
            raise ClearwoodError("refused")

    return outcomes_of(read, made())


# Endless files, and bombs


def endless(kind):
    """All ways to read a file, in a separate process."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/file"
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "link":
            os.symlink("/dev/zero", path)
        else:
            path = "/dev/zero"
        outcomes = confined(MODULE, f"read_in_all_ways({path!r})", SECONDS, MEGABYTES)
    return held("accepted" not in outcomes, outcomes)


def read_in_all_ways(path):
    return [
        refused(read, path)
        for read in (cw.load, cw.check, cw.read_ensemble, cw.RuleSet.load)
    ]


def many_objects():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.json"
        path.write_text("[" + "{}," * 20_000_000 + "{}]")
        return in_little_memory("load", path)


def catboost_text(depth):
    """A symmetric tree that repeats one split ``depth`` times."""
    split = {"split_index": 0, "split_type": "FloatFeature", "float_feature_index": 0}
    feature = {"flat_feature_index": 0, "feature_index": 0, "borders": [0.5]}
    tree = {"leaf_values": [1] * 2**depth, "splits": [split | {"border": 0.5}] * depth}
    return json.dumps(
        {
            "model_info": {"params": {"loss_function": {"type": "RMSE"}}},
            "features_info": {"float_features": [feature]},
            "oblivious_trees": [tree],
        }
    )


def deep_trees():
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for depth in (16, 18, 20, 22):
            path = Path(folder) / "model.json"
            path.write_text(catboost_text(depth))
            outcomes.append(f"depth {depth}: {in_little_memory('read_ensemble', path)}")
    return "; ".join(outcomes)


def in_little_memory(reader, path):
    """Read in a separate process, for the memory of this file alone."""
    size = path.stat().st_size
    text = confined(MODULE, f"*memory_of(cw.{reader}, {str(path)!r})", SECONDS)
    outcome, taken = text.split()
    text = f"{outcome}, {int(taken) / 1e6:.0f} MB for {size / 1e6:.1f} MB"
    return held(int(taken) < 64e6 + 10 * size, text)


def memory_of(read, path):
    """Outcome of reading a file, and the growth of the process in bytes."""
    before = memory("VmHWM")
    outcome = refused(read, path)
    return outcome, round(1e6 * (memory("VmHWM") - before))


# Files that the libraries read differently


def tree_sizes():
    import lightgbm

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = lightgbm.LGBMRegressor(n_estimators=4, verbose=-1, n_jobs=1).fit(X, X[:, 0])
    text = model.booster_.model_to_string()
    line = next(line for line in text.split("\n") if line.startswith("tree_sizes="))
    return same_as_native(
        text.replace(line, line.rsplit(" ", 1)[0]),
        lambda path: lightgbm.Booster(model_file=path).predict(X),
        X,
    )


def sorted_categories():
    """The order in which XGBoost looks up categories, permuted."""
    import xgboost

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"ward": pd.Categorical(rng.choice(["a", "b", "c"], 200))})
    settings = {"n_estimators": 3, "enable_categorical": True, "n_jobs": 1}
    model = xgboost.XGBRegressor(**settings).fit(X, (X["ward"] == "b") * 1.0)
    text = bytes(model.get_booster().save_raw("json")).decode()
    document = json.loads(text)
    cats = document["learner"]["gradient_booster"]["model"].get("cats", {})
    if not cats.get("sorted_idx"):
        return "not written by this version of XGBoost"
    cats["sorted_idx"] = cats["sorted_idx"][::-1]

    def native(path):
        booster = xgboost.Booster(model_file=path)
        return booster.predict(xgboost.DMatrix(X, enable_categorical=True))

    return same_as_native(json.dumps(document), native, X)


def same_as_native(text, native, X):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.json"
        Path(path).write_text(text)
        try:
            ours = cw.read_ensemble(path).predict(X)
        except ClearwoodError as error:
            return f"refused: {error}"
        error = float(np.abs(native(path) - ours).max())
    return held(error < 1e-5, f"largest difference {error:.3g}")


# Written files


def permissions():
    rules, lost = RuleList((), Rule((), 1.0), cw.FeatureSpace.numeric(1)), []
    with tempfile.TemporaryDirectory() as folder:
        path, link = Path(folder) / "a.json", Path(folder) / "link"
        rules.save(path)
        path.chmod(0o600)
        rules.save(path, overwrite=True)
        if stat.S_IMODE(path.stat().st_mode) != 0o600:
            lost.append("permissions")
        link.symlink_to(path)
        rules.save(link, overwrite=True)
        if not link.is_symlink():
            lost.append("a link")
        dangling = Path(folder) / "dangling"
        dangling.symlink_to(Path(folder) / "nothing")
        refused(rules.save, dangling)
        if not dangling.is_symlink():
            lost.append("a dangling link")
        left = [name for name in os.listdir(folder) if name.startswith(".")]
    return held(
        not lost and not left, f"lost: {', '.join(lost) or 'none'}; left: {left}"
    )


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True  # it would be cut off, and kept
from clearwood.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
main(sys.argv[1:])
"""


def full_disk():
    """A limit of 100 bytes per file, which acts as a full disk."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "data.csv", Path(folder) / "rules.json"
        rows = "\n".join(f"{i},{int(i > 30)}" for i in range(60))
        table.write_text(f"a,y\n{rows}\n")
        out.write_text("old")
        given = (
            f"simplify {table} --target y --train decision-tree --overwrite --out {out}"
        )
        command = [sys.executable, "-c", FULL, *given.split()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        held(out.read_text() == "old", "the old file is lost")
        held(len(os.listdir(folder)) == 2, f"left: {os.listdir(folder)}")
    last = (done.stderr.strip().splitlines() or [""])[-1]
    return held(done.returncode == 1 and "rules.json" in last, last[-200:])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
