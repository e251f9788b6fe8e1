"""Time of the first and second call of each family in a fresh process.

    python -m benchmarks.first_calls [--quick] [--fresh]

CPU seconds on one thread; scikit-learn and the forest are loaded before. Loading is the
import of the family's modules.
"""

import os
import subprocess
import sys
from functools import partial

from benchmarks._study import Study, arguments, markdown_table

CALLS = {
    "list": "cw.RuleListClassifier(forest, random_state=0).fit(X, y)",
    "list of numbers": "cw.RuleListRegressor(regressor, random_state=0).fit(X, v)",
    "tree": "cw.DistilledTreeClassifier(forest, random_state=0).fit(X, y)",
    "additive": "cw.AdditiveRulesClassifier(forest, random_state=0).fit(X, y)",
    "FAB": "cw.FABRulesClassifier(forest, random_state=0).fit(X, y)",
    "inTrees": "cw.InTreesClassifier(forest, random_state=0).fit(X, y)",
    "born-again": "cw.BornAgainTreeClassifier(forest, random_state=0).fit(X, y)",
    "meta-tree": "cw.MetaTreeClassifier().fit(X, y).predict_proba(X)",
    "meta-forest": "cw.MetaForestClassifier(forest).fit(X, y).predict_proba(X)",
    "projected tree": "cw.ProjectedTreeClassifier(forest, random_state=0).fit(X, y)",
    "SBFC": "cw.SelectiveBayesianForestClassifier(random_state=0).fit(X, y)",
    "MiniSPN": "cw.MiniSPN(random_state=0).fit(X).score_samples(X)",
    "SPN classifier": "cw.SPNClassifier(random_state=0).fit(X, y).predict_proba(X)",
    "hidden Markov model": "cw.HiddenMarkovModel(5, random_state=0).fit(text)",
    "MDLP": "cw.MDLPDiscretizer().fit(X, y).transform(X)",
}

PROGRAM = """
import time, warnings
import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
import clearwood as cw

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 20))
v = X[:, 0] + X[:, 1] * X[:, 2]
y = (v > 0).astype(int)
text = "".join(rng.choice(list("abcdefgh"), 5000))
forest = RandomForestClassifier(100, random_state=0).fit(X, y)
regressor = RandomForestRegressor(100, random_state=0).fit(X, v)
begin = time.process_time()
{loads}
print(time.process_time() - begin)
for _ in range(2):
    begin = time.process_time()
    {call}
    print(time.process_time() - begin)
"""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def both(call):
    """Seconds of loading and of two calls in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(loads=call.split("(")[0], call=call)],
        env=os.environ | ONE_THREAD,
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    return [dict(zip(("loading", "first", "second"), done.stdout.split()))]


def write_page(study):
    frame = study.frame()
    frame["ratio"] = frame["first"] / frame["second"]
    header = ["family", "loading (s)", "first (s)", "second (s)", "first / second"]
    study.write_markdown(
        "First and second calls",
        "CPU seconds in a fresh process: 1,000 rows of 20 columns, a forest of "
        "100 trees. Loading is the import of the family's modules. Target: the first "
        "call takes at most 1.3 times as long as the second.",
        markdown_table(header, frame.values.tolist()),
    )


def main():
    study = Study("first_calls", ["family"], arguments(__doc__))
    cases = {(name,): partial(both, call) for name, call in CALLS.items()}
    study.run(cases, warm=lambda: None)
    write_page(study)


if __name__ == "__main__":
    main()
