"""Shared code of the attacks: expected outcomes, and processes with limits."""

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
    """One attack: what is expected, and a function that returns the outcome."""

    name: str
    expected: str
    run: Any


class Failed(Exception):
    """The outcome is not the expected one."""


def held(holds, outcome):
    """Return the outcome if it is as expected; otherwise raise ``Failed``."""
    if not holds:
        raise Failed(outcome)
    return outcome


def with_warnings(function, *given, **named):
    """The result of a function, and the categories of its warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = function(*given, **named)
    return result, {warning.category.__name__ for warning in found}


def refused(function, *given, **named):
    """The library's exception class that a function raises, or "accepted"."""
    from clearwood.exceptions import ClearwoodError

    try:
        function(*given, **named)
    except ClearwoodError as error:
        held(str(error).strip(), "an error without a message")
        return type(error).__name__
    return "accepted"


def of_all(function, *given, cases=ESTIMATORS):
    """Run an attack on every estimator; it holds if it holds for all of them."""
    failed = {}
    for case in cases:
        outcome = outcome_of(Attack("", "", partial(function, case, *given)))
        if outcome["verdict"] != "held":
            failed.setdefault(outcome["outcome"], []).append(case.make.__name__)
    if not failed:
        return f"holds for {len(cases)} estimators"
    raise Failed("; ".join(f"{', '.join(names)}: {o}" for o, names in failed.items()))


def study(name, description, attacks):
    """Run all attacks of a file anew; exit code 1 if one fails.

    Parameters
    ----------
    name : str
        Name of the file of outcomes.
    description : str
    attacks : callable
        Returns the list of attacks, given the number of mutants, draws or
        interruptions per attack.
    """
    count = f"mutants, draws or interruptions per attack (default: {COUNT})"
    options = arguments(description, {"count": count})
    # Outcomes of older code do not apply to this one.
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
    failed = [row["attack"] for row in rows if row["verdict"] != "held"]
    print(f"{len(rows) - len(failed)} of {len(rows)} held")
    sys.exit(1 if failed else 0)


def outcome_of(attack):
    """A row of the table; any exception is a failure."""
    begin = time.perf_counter()
    verdict = "FAILED"
    try:
        with warnings.catch_warnings(), threadpool_limits(limits=1):
            warnings.simplefilter("ignore")
            outcome, verdict = attack.run(), "held"
    except Failed as error:
        outcome = str(error)
    except BaseException as error:  # some attacks raise KeyboardInterrupt
        outcome = f"{type(error).__name__}: {error}"
    # The names of temporary folders vary.
    text = re.sub(rf"{re.escape(tempfile.gettempdir())}/tmp\w+/", "", str(outcome))
    return {
        "verdict": verdict,
        "outcome": " ".join(text.split())[:400],
        "expected": attack.expected,
        "seconds": time.perf_counter() - begin,
    }


def confined(module, call, seconds=60, megabytes=4000):
    """Output of ``module.call`` in a process with limited time and memory.

    A call that exceeds either limit has failed.
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
        raise Failed(f"not finished in {seconds} s") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"died: {done.returncode}"])[-1]
        raise Failed(last)
    return done.stdout.strip()


def command(*given, seconds=120, **options):
    """Run the command ``clearwood``."""
    return subprocess.run(
        [sys.executable, "-m", "clearwood", *map(str, given)],
        capture_output=True,
        text=True,
        timeout=seconds,
        **options,
    )


def fastest(function, times=3):
    """Minimum CPU time of several calls, in seconds."""
    taken = []
    for _ in range(times):
        begin = time.process_time()
        function()
        taken.append(time.process_time() - begin)
    return min(taken)


def growth(function, sizes):
    """Growth of time from the smallest to the largest size, relative to size.

    It is 1 if time is proportional to size. Also returns the times, as text.
    """
    seconds = [fastest(lambda n=n: function(n), 2) for n in sizes]
    ratio = (seconds[-1] / seconds[0]) / (sizes[-1] / sizes[0])
    texts = ", ".join(f"{n:,}: {s:.2g} s" for n, s in zip(sizes, seconds))
    return ratio, texts
