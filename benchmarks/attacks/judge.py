"""What all attacks share: cases that hold or fall, and processes that may not."""

import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from typing import Any, NamedTuple

from tests.estimators import ESTIMATORS
from threadpoolctl import threadpool_limits

from benchmarks._study import Study, arguments

COUNT, QUICK_COUNT = 200, 40


class Attack(NamedTuple):
    """One attack: what is expected, and a function that says what came out."""

    name: str
    expected: str
    run: Any


class Fell(Exception):
    """What came out is not what was promised."""


def held(holds, outcome):
    """The outcome, where it is as promised."""
    if not holds:
        raise Fell(outcome)
    return outcome


def told(function, *given, **named):
    """What a function returns, and the kinds of warnings it gave."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = function(*given, **named)
    return result, {warning.category.__name__ for warning in found}


def refused(function, *given, **named):
    """The kind of error of the library that a function raises, or "accepted"."""
    from clearwood.exceptions import ClearwoodError

    try:
        function(*given, **named)
    except ClearwoodError as error:
        held(str(error).strip(), "an error without a message")
        return type(error).__name__
    return "accepted"


def of_all(function, *given, cases=ESTIMATORS):
    """An attack on every estimator; it holds where it holds for all of them."""
    fallen = {}
    for case in cases:
        outcome = outcome_of(Attack("", "", partial(function, case, *given)))
        if outcome["verdict"] != "held":
            fallen.setdefault(outcome["outcome"], []).append(case.make.__name__)
    if not fallen:
        return f"so it is for {len(cases)} estimators"
    raise Fell("; ".join(f"{', '.join(names)}: {o}" for o, names in fallen.items()))


def study(name, description, attacks):
    """Run all attacks of a file anew; exit code 1 if one falls.

    Parameters
    ----------
    name : str
        Of the file with the outcomes.
    description : str
    attacks : callable
        Makes the list of attacks, given how many mutants, draws or stops each kind of
        attack shall try.
    """
    count = f"mutants, draws or stops of each kind (default: {COUNT})"
    options = arguments(description, {"count": count})
    # What came out of yesterday's code says nothing of today's.
    options.fresh = True
    default = QUICK_COUNT if options.quick else COUNT
    found = Study(f"attacks_{name}", ("attack",), options)
    found.run(
        {
            (attack.name,): lambda attack=attack: [outcome_of(attack)]
            for attack in attacks(int(options.count or default))
        },
        warm=lambda: None,
    )
    rows = found.rows()
    for row in rows:
        print(row["attack"], row["outcome"], row["expected"], sep=" | ")
    fallen = [row["attack"] for row in rows if row["verdict"] != "held"]
    print(f"{len(rows) - len(fallen)} of {len(rows)} held")
    sys.exit(1 if fallen else 0)


def outcome_of(attack):
    """A row of the table; whatever is raised is a fall."""
    begin = time.perf_counter()
    verdict = "FELL"
    try:
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")
            outcome, verdict = attack.run(), "held"
    except Fell as error:
        outcome = str(error)
    except BaseException as error:  # KeyboardInterrupt is what some attacks make
        outcome = f"{type(error).__name__}: {error}"
    # Temporary folders have another name every time.
    told = re.sub(rf"{re.escape(tempfile.gettempdir())}/tmp\w+/", "", str(outcome))
    return {
        "verdict": verdict,
        "outcome": " ".join(told.split())[:400],
        "expected": attack.expected,
        "seconds": time.perf_counter() - begin,
    }


def confined(module, call, seconds=60, megabytes=4000):
    """What ``module.call`` prints, in a process with little time and memory.

    A call that takes more of either has fallen.
    """
    limit = megabytes * 2**20
    program = f"from {module} import *; print({call})"
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            capture_output=True,
            text=True,
            timeout=seconds,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
    except subprocess.TimeoutExpired:
        raise Fell(f"not done in {seconds} s") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"died: {done.returncode}"])[-1]
        raise Fell(last)
    return done.stdout.strip()


def command(*given, seconds=120, **options):
    """The command ``clearwood``, run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "clearwood", *map(str, given)],
        capture_output=True,
        text=True,
        timeout=seconds,
        **options,
    )


def fastest(function, times=3):
    """The least of some times, in seconds of this process."""
    taken = []
    for _ in range(times):
        begin = time.process_time()
        function()
        taken.append(time.process_time() - begin)
    return min(taken)


def growth(function, sizes):
    """How many times longer the largest size takes than the smallest, by its size.

    1 where time is proportional to size; and the times.
    """
    seconds = [fastest(lambda n=n: function(n), 2) for n in sizes]
    ratio = (seconds[-1] / seconds[0]) / (sizes[-1] / sizes[0])
    texts = ", ".join(f"{n:,}: {s:.2g} s" for n, s in zip(sizes, seconds))
    return ratio, texts
