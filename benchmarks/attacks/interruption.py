"""Interruption: the state after Ctrl-C, a kill or a full disk at any time.

An estimator keeps its old fit or has the new one; draws are kept; a file is the old or
the new one; and the terminal shows one line.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial as bind
from pathlib import Path

import numpy as np
import pandas as pd
from tests.estimators import LEARNERS, says

import clearwood as cw
from benchmarks.attacks.checks import Attack, Failed, held, of_all, study
from clearwood.metatree import BernoulliBeta, TreeSampler
from clearwood.sampling import run_chains

DRAWS = 4000


def main():
    # Ctrl-C may be ignored in a background process.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Alarms are accurate to a hundredth of a second; keys are not.
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    study("interruption", __doc__, attacks)


def attacks(count):
    """All attacks; ``count`` determines the number of interruptions."""
    stops, few = max(4, count // 8), max(2, count // 50)
    whole = "the complete old or new fit"
    return [
        Attack("Ctrl-C in a second fit", whole, bind(of_all, second_fit, stops)),
        *(
            Attack(
                f"Ctrl-C in {way}",
                "all rows learned, or none",
                bind(of_all, learning, way, stops, cases=LEARNERS),
            )
            for way in ("partial_fit", "unlearn", "merge")
        ),
        Attack(
            "Ctrl-C in the first fit of a process",
            "the next fit works",
            bind(first_fit, few),
        ),
        Attack(
            "Ctrl-C in compare", "partial results or none; no process left", comparison
        ),
        Attack(
            "Ctrl-C on the command line", "exit 130, no file", bind(command_line, few)
        ),
        Attack("a run killed and resumed", "the same draws", bind(killed_chains, few)),
        Attack("a full disk at a checkpoint", "a warning; the draws", full_disk),
    ]


def second_data(case):
    """Rows, and rows with other names and another number of columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    if not case.classifies:
        return (X, X[:, 0]), (X[:, :3], -X[:, 1])
    labels = np.array(["c", "d", "e"])[rng.integers(0, 3, 200)]
    return (X, np.where(X[:, 0] > 0, "a", "b")), (X[:, :3], labels)


def stopped(function, after):
    """Whether Ctrl-C interrupted a call, ``after`` seconds from its start."""
    try:
        signal.setitimer(signal.ITIMER_REAL, max(after, 1e-5))
        function()
    except KeyboardInterrupt:
        return True
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            pass
    return False


def state(found):
    return pickle.dumps(vars(found))


def second_fit(case, stops):
    rng = np.random.default_rng(1)
    old, new = second_data(case)
    fresh = case.made(case.unfitted())
    fresh.fit(*new)
    begin = time.perf_counter()
    expected = says(fresh.fit(*new), new[0])
    seconds = time.perf_counter() - begin
    for _ in range(stops):
        found = case.made(case.unfitted()).fit(*old)
        before = state(found)
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always")
            came = stopped(bind(found.fit, *new), rng.random() * seconds)
        if state(found) == before:
            continue
        held(vars(found).keys() == vars(fresh).keys(), "a partial fit")
        if not any("nterrupted" in str(one.message) for one in caught_warnings):
            held(np.array_equal(says(found, new[0]), expected), "a partial fit")
        held(not came or found.n_features_in_ == 3, "a partial fit")
    return "whole"


def learning(case, way, stops):
    rng = np.random.default_rng(2)
    (X, y), _ = second_data(case)
    kept = pickle.dumps(case.made(case.unfitted()).fit(X, y))

    def learn(found):
        given = (pickle.loads(kept),) if way == "merge" else (X[:50], y[:50])
        getattr(found, way)(*given)

    def learned(found):
        statistics = getattr(found, "meta_tree_", None) or found._forest
        return says(found, X).tobytes() + statistics.own.tobytes()

    before, new = learned(pickle.loads(kept)), pickle.loads(kept)
    begin = time.perf_counter()
    learn(new)
    seconds, after = time.perf_counter() - begin, learned(new)
    came = 0
    for _ in range(5 * stops):
        found = pickle.loads(kept)
        came += stopped(bind(learn, found), rng.random() * seconds)
        held(learned(found) in (before, after), "some of the rows")
    return f"{came} interruptions"


FIRST = """
import signal, sys, warnings
warnings.simplefilter("ignore")
signal.signal(signal.SIGALRM, signal.default_int_handler)
import numpy as np
import clearwood as cw
X = np.random.default_rng(0).normal(size=(200, 3))
y = X[:, 0] > 0
found = cw.RuleListClassifier(max_rules=3, random_state=0)
try:
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
    found.fit(X, y)
except KeyboardInterrupt:
    pass
signal.setitimer(signal.ITIMER_REAL, 0)
print(found.fit(X, y).score(X, y) > 0.9)
"""


def first_fit(n):
    """Interrupt the first fit, which loads libraries."""
    for after in np.linspace(0.05, 3.0, 2 * n):
        command = [sys.executable, "-c", FIRST, str(after)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        last = done.stderr.strip().splitlines()[-1:]
        held(done.stdout == "True\n", f"after {after:.2f} s: {last}")
    return f"{2 * n} interruptions"


def comparison():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(20, random_state=0).fit(X, X[:, 0] > 0)
    children = set(children_of_this())
    outcomes = []
    for after in (0.5, 4.0):
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always")
            came = stopped(lambda: cw.compare(forest, X, X[:, 0] > 0, n_jobs=2), after)
        warned = any("nterrupted" in str(one.message) for one in caught_warnings)
        outcomes.append("interrupted" if came else "partial" if warned else "done")
        left = set(children_of_this()) - children
        held(not left, f"{len(left)} processes are left")
    return ", ".join(outcomes)


def children_of_this():
    """Child processes, except for resource trackers of Python and joblib."""
    lines = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return [line for line in lines if "tracker" not in line and " ps " not in line]


def command_line(n):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(20_000, 10))).add_prefix("c")
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "data.csv", Path(folder) / "rules.json"
        X.assign(y=X["c0"] > 0).to_csv(table, index=False)
        arguments = ["simplify", table, "--target", "y", "--out", out]
        arguments += ["--train", "gradient-boosting"]
        for after in np.linspace(0.0, 2.0, n):
            running = subprocess.Popen(
                [sys.executable, "-m", "clearwood", *map(str, arguments)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
            running.stderr.readline()
            time.sleep(after)
            running.send_signal(signal.SIGINT)
            _, rest = running.communicate(timeout=120)
            outcomes.append(running.returncode)
            held(running.returncode == 130, f"exit {running.returncode}: {rest[-200:]}")
            held("Traceback" not in rest, rest[-200:])
            held(os.listdir(folder) == ["data.csv"], f"left: {os.listdir(folder)}")
    return f"exit codes {outcomes}"


# Chains


def chains(checkpoint=None, n_draws=DRAWS, **settings):
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(150, 14))
    y = codes[:, 3] ^ codes[:, 5]
    sampler = TreeSampler(codes, y, BernoulliBeta(), max_depth=5)
    return run_chains(
        sampler,
        n_draws=n_draws,
        n_chains=2,
        random_state=1,
        checkpoint=checkpoint,
        **settings,
    )


def fingerprint(found):
    return {name: draws.tobytes().hex()[:4000] for name, draws in found.draws.items()}


RUN = """
import json, signal, sys, warnings
warnings.simplefilter("ignore")
import clearwood.sampling.chains as running
running.CHECKPOINT_SECONDS = 0.0
from benchmarks.attacks.interruption import chains, fingerprint
print(json.dumps(fingerprint(chains(sys.argv[1]))))
"""


def killed_chains(n):
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", RUN]
        whole = subprocess.check_output([*command, f"{folder}/whole"], text=True)
        for signals in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[: n + 1]:
            path = Path(folder) / f"run {signals}"
            for after in (2.5, 4.0):
                running = subprocess.Popen(
                    [*command, path],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    preexec_fn=lambda: signal.signal(
                        signal.SIGINT, signal.default_int_handler
                    ),
                )
                time.sleep(after)
                running.send_signal(signals)
                running.wait()
            resumed = subprocess.check_output([*command, path], text=True)
            held(
                json.loads(resumed) == json.loads(whole),
                f"other draws after {signals!r}",
            )
    return "the same after kill, interrupt and end"


FULL = """
import resource, signal, sys, warnings
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True  # it would be cut off, and kept
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
from benchmarks.attacks.interruption import DRAWS, chains
with warnings.catch_warnings(record=True) as caught_warnings:
    warnings.simplefilter("always")
    found = chains(sys.argv[1])
kinds = {one.category.__name__ for one in caught_warnings} - {"PoorMixingWarning"}
print(found.n_draws == DRAWS, sorted(kinds))
"""


def full_disk():
    """A limit of 100 kB per file, which acts as a full disk."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "ignore", "-c", FULL, f"{folder}/c.json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Failed(done.stderr.strip().splitlines()[-1])
    output = done.stdout.strip()
    return held(output.startswith("True ['"), output)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
