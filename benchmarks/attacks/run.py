"""Run all attacks, and write the page of their outcomes.

Exit code 1 if one failed. To be run in full before a release.
"""

import subprocess
import sys

import pandas as pd

from benchmarks._study import RESULTS, Study, arguments, markdown_table

NAMES = ("data", "units", "names", "files", "interruption", "scale")


def main():
    options = arguments(
        __doc__,
        {"count": "mutants, draws or interruptions per attack"},
        tables="only write the page",
    )
    given = ["--quick"] * options.quick + ["--count", options.count] * bool(
        options.count
    )
    failed = False
    for name in () if options.tables else NAMES:
        command = [sys.executable, "-m", f"benchmarks.attacks.{name}", *given]
        failed |= subprocess.run(command).returncode != 0
    Study("attacks", ("attack",), options).write_markdown("Attacks", *page(options))
    sys.exit(failed)


def page(options):
    yield (
        "Attacks on the library with their expected and actual outcomes: each check "
        "held or FAILED. Mutants and interruptions are drawn with fixed seeds, but "
        "the point at which Ctrl-C arrives depends on the machine. Wall time of each "
        "attack in seconds."
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
