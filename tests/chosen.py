"""Which tests run: all with ``--all``, few with ``--quick``, by default those below.

What is left out by default repeats, on another estimator or another pair of
parameters, what runs; ``--all`` runs it too.
"""

import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path
from zlib import crc32

from tests.wording import path_of

ROOT = Path(__file__).resolve().parents[1]

LARGE_PRODUCT = 30
"""Of more cases of a test than this, made of random seeds or estimators and of
something else, some repeat others."""

SKLEARN = "test_sklearn_checks.py"
PROMISES = ("contract.py", "test_contract.py", SKLEARN)
"""Files that hold every estimator to the same."""

OF_A_FAMILY = 2
"""Estimators of one family, which share most of what is checked, that run each of
scikit-learn's checks."""

FACTS = "golden"
"""What files and tests of values from elsewhere have in their names."""


def by_default(items):
    """All that does not repeat another.

    Left out are tests marked ``dear``; of the classifier and the regressor of one
    method, one in each promise, now this and now that; of scikit-learn's checks all but
    a few estimators of each family; and of large products of seeds or estimators with
    other parameters all but some in which each value of each occurs.
    """
    products, families = defaultdict(list), defaultdict(list)
    kept = []
    for item in items:
        if item.get_closest_marker("dear") or not _is_turn_of(item):
            continue
        repeats = item.path.name in PROMISES or "seed" in _values(item)
        if repeats and len(_values(item)) > 1:
            products[item.path, item.originalname].append(item)
        if item.path.name == SKLEARN and "estimator" in _values(item):
            families[_promise_of(item), _family_of(item)].append(item)
        kept.append(item)
    left_out = {
        item for family in families.values() for item in _by_lot(family)[OF_A_FAMILY:]
    }
    for group in products.values():
        if len(group) > LARGE_PRODUCT:
            left_out |= {*group} - {*_covering(group)}
    return [item for item in kept if item not in left_out]


def is_quick(path, changed):
    """Whether a file holds tests of a quick run: others are not even loaded."""
    is_test = path.suffix == ".py" and ROOT / "tests" in path.parents
    return (
        path.is_dir()
        or path == ROOT / "tests" / "contract.py"
        or _stands_for(path, changed)
        or (is_test and FACTS in path.read_text("utf-8"))
    )


def quick(items, changed):
    """One promise of every estimator, values from elsewhere, and what was changed.

    ``changed`` are paths from the root. A source file stands for its own examples and
    for the tests of its folder (``rules/exports/sql.py``: ``tests/rules/exports``), or
    of the nearest one above that has tests; a file of tests, or its texts, for itself.
    """
    promise = "test_arrays_and_frames_say_the_same[array-"
    return [
        item
        for item in by_default(items)
        if item.name.startswith(promise)
        or FACTS in item.nodeid
        or _stands_for(item.path, changed)
    ]


@cache
def _stands_for(path, changed):
    """Whether a file of tests was changed, or belongs to a source file that was."""
    own = {path, path_of(path)}
    own |= {part for part in path.parents if ROOT / "tests" in part.parents}
    wanted = {ROOT / name for name in changed}
    wanted |= {_tests_of(name) for name in changed if name.startswith("src/clearwood/")}
    return bool(own & wanted)


@cache
def changed_files():
    """What differs from the main branch at its origin, or is not committed."""
    found = set()
    for command in (
        "diff --name-only --merge-base origin/main",
        "diff --name-only HEAD",
        "ls-files --others --exclude-standard",
    ):
        done = subprocess.run(
            ["git", *command.split()],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
        )
        found |= {*done.stdout.splitlines()}
    return frozenset(found)


def _tests_of(path):
    """The tests of a source file: one file of its name, or a folder."""
    folder = ROOT / "tests" / Path(path).relative_to("src/clearwood").parent
    own = folder / f"test_{Path(path).stem.lstrip('_')}.py"
    while not folder.is_dir():
        folder = folder.parent
    return folder if folder != ROOT / "tests" else own


def _values(item):
    """What each parameter of a test is: values by their names."""
    if not hasattr(item, "callspec"):
        return {}
    return {name: id(value) for name, value in item.callspec.params.items()}


def _is_turn_of(item):
    """Whether a promise is tested on this one of the two tasks of a method."""
    if item.path.name not in PROMISES:
        return True
    values = getattr(getattr(item, "callspec", None), "params", {})
    case = values.get("case", values.get("estimator"))
    name = getattr(case, "make", type(case)).__name__
    method = name.removesuffix("Classifier").removesuffix("Regressor")
    if method == name or method in ("SPN", "SelectiveBayesianForest"):
        return True
    turn = crc32(f"{_promise_of(item)} {method}".encode()) % 2
    return name.endswith(("Classifier", "Regressor")[turn])


def _promise_of(item):
    """The name of a promise, or of a check of scikit-learn's."""
    values = getattr(getattr(item, "callspec", None), "params", {})
    promise = values.get("check", item.originalname)
    promise = getattr(promise, "func", promise)
    return getattr(promise, "__name__", promise)


def _family_of(item):
    """The package of the estimator that is checked."""
    return type(item.callspec.params["estimator"]).__module__.split(".")[1]


def _by_lot(items):
    return sorted(items, key=lambda item: crc32(item.nodeid.encode()))


def _covering(group):
    """Few tests in which each value of each parameter occurs."""
    seen, found = set(), []
    for item in _by_lot(group):
        values = {*_values(item).items()}
        if values - seen:
            seen |= values
            found.append(item)
    return found
