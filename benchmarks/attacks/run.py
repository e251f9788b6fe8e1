"""All attacks, one file after the other, and the page of their outcomes.

Exit code 1 if one fell. It is run whole before a release.
"""

import subprocess
import sys

import pandas as pd

from benchmarks._study import RESULTS, Study, arguments, markdown_table

NAMES = ("data", "units", "names", "files", "interruption", "scale")


def main():
    options = arguments(
        __doc__,
        {"count": "mutants, draws or stops of each kind"},
        tables="only write the page",
    )
    given = ["--quick"] * options.quick + ["--count", options.count] * bool(
        options.count
    )
    fallen = False
    for name in () if options.tables else NAMES:
        command = [sys.executable, "-m", f"benchmarks.attacks.{name}", *given]
        fallen |= subprocess.run(command).returncode != 0
    Study("attacks", ("attack",), options).write_markdown("Attacks", *page(options))
    sys.exit(fallen)


def page(options):
    yield (
        "What an adversary tries, and what comes of it: the outcome is as expected, or "
        "the attack has fallen. Mutants and stops are drawn with fixed seeds, but when "
        "Ctrl-C comes depends on the machine. Seconds are those of the whole attack."
    )
    for name in NAMES:
        stem = f"attacks_{name}-quick" if options.quick else f"attacks_{name}"
        frame = pd.read_csv(RESULTS / f"{stem}.csv", keep_default_na=False)
        yield f"## {name.capitalize()}"
        yield markdown_table(
            ["attack", "expected", "outcome", "verdict", "seconds"],
            [
                [
                    in_cell(row["attack"]),
                    row["expected"],
                    in_cell(row["outcome"]),
                    row["verdict"],
                    row["seconds"],
                ]
                for row in frame.to_dict("records")
            ],
        )


def in_cell(text):
    return str(text).replace("|", "/").replace("<", "&lt;").replace("`", "'")


if __name__ == "__main__":
    main()
