"""Which files does one fit enter? The fewer, the sooner a reader knows the method.

    python benchmarks/files_entered.py            # a table
    python benchmarks/files_entered.py list       # the files of one of them

A file is entered if a function of it runs during the fit, not if it is only imported.
Kernels are run as plain Python here, so that their files count, too; what happens at
the first call only (putting kernels together) does not.
"""

import os
import sys
from collections import Counter
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw

HOME = Path(cw.__file__).parent
FITS = {
    "list": cw.RuleListClassifier,
    "additive": cw.AdditiveRulesClassifier,
    "tree": cw.DistilledTreeClassifier,
    "born-again": cw.BornAgainTreeClassifier,
    "fab": cw.FABRulesClassifier,
    "in-trees": cw.InTreesClassifier,
    "node-harvest": cw.NodeHarvestClassifier,
    "meta-tree": cw.MetaTreeClassifier,
}
SETTINGS = {"max_rules": 3, "n_synthetic": 100, "n_init": 2, "random_state": 0}


def entered(call):
    """Functions of clearwood that run in a call, as (file, name)."""
    found = set()

    def note(frame, event, _):
        code = frame.f_code
        is_ours = event == "call" and code.co_filename.startswith(str(HOME))
        # The body of a module or of a class runs where it is imported, not called.
        if is_ours and code.co_flags & 0x2:
            found.add((code.co_filename.removeprefix(f"{HOME}/"), code.co_qualname))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def entered_by(name):
    """What one fit of an estimator to a small forest enters."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    make = FITS[name]
    known = make._get_param_names()
    settings = {key: value for key, value in SETTINGS.items() if key in known}
    forest = RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0)
    if name != "meta-tree":
        settings["estimator"] = forest.fit(X, y)
    estimator = make(**settings)
    estimator.fit(X, y)
    return entered(lambda: estimator.fit(X, y))


def main():
    """Print a table, or the files of the methods that are named."""
    for name in sys.argv[1:]:
        functions = entered_by(name)
        for file in sorted({file for file, _ in functions}):
            here = sorted(function for other, function in functions if other == file)
            print(f"{file:45} {len(here):3}  {', '.join(here)[:120]}")
    if sys.argv[1:]:
        return
    print("| fit | files | functions | files by room |\n|---|---|---|---|")
    for name, make in FITS.items():
        functions = entered_by(name)
        files = {file for file, _ in functions}
        rooms = Counter(file.rpartition("/")[0].partition("/")[0] for file in files)
        shown = ", ".join(f"{n} {room or 'top'}" for room, n in rooms.most_common())
        sizes = f"{len(files)} | {len(functions)}"
        print(f"| `{make.__name__}` | {sizes} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
