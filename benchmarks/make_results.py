"""Make all pages of results again that are older than the sources.

    python -m benchmarks.make_results           # or make results
    python -m benchmarks.make_results --list    # list the older pages
    python -m benchmarks.make_results fab_speed engines

At the end the comparison with the papers in the documentation is updated.

Pages are kept where the packages that their study uses have not changed since, apart
from docstrings and comments. After an interruption the same command continues with the
missing cases. Studies that fail, for example without their data or peers, are listed
at the end; the others are run.
"""

import argparse
import subprocess
import sys
import time

from benchmarks import stale
from benchmarks._sources import ROOT, is_of_today, source_tree
from benchmarks._study import is_begun, mark_begun
from benchmarks.papers.page import write


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="names of pages")
    parser.add_argument("--list", action="store_true", help="list them without running")
    options = parser.parse_args()
    failed = []
    for page, command in commands().items():
        if options.pages and page not in options.pages or not is_older(page, command):
            continue
        if options.list:
            print(f"{page}: python -m {' '.join(command)}")
        elif not made(page, command):
            failed.append(page)
    if not options.list:
        write()
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


def is_older(page, command):
    """Whether the sources that its study uses have changed since a page was made."""
    return not is_of_today(
        source_tree(stale.recorded()[page]["commit"]), study(command)
    )


def study(command):
    """The module of a command, inside ``benchmarks``."""
    return command[0].removeprefix("benchmarks.")


def commands():
    """Page -> module and options of its command."""
    found = {}
    for page, text in stale.pages():
        begin = text.index("Command: `python -m ") + len("Command: `python -m ")
        found[page] = text[begin : text.index("`", begin)].split()
    return found


def made(page, command):
    """Run a study, anew unless it was begun with the same sources."""
    name = f"{page}.md"
    if not is_begun(name, study(command)):
        mark_begun(name)
        command = [*command, "--fresh"]
    print(f"{page}: python -m {' '.join(command)}", flush=True)
    begin = time.perf_counter()
    run = subprocess.run([sys.executable, "-m", *command], cwd=ROOT)
    minutes = (time.perf_counter() - begin) / 60
    print(f"{page}: {minutes:.1f} min, exit code {run.returncode}", flush=True)
    return run.returncode == 0


if __name__ == "__main__":
    main()
