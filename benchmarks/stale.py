"""List pages of results that were made with other defaults than the current ones.

    python -m benchmarks.stale                    # lists them; exit code 1 if any
    python -m benchmarks.stale --mark "reason"    # adds a notice at the top of each
    python -m benchmarks.stale --same parameter   # is new, and has no effect

A study records the defaults of the estimators that it names. A page made before one of
them changed must be made again, or have a notice that it is older.
"""

import argparse
import inspect
import json
import re
import subprocess
import sys

from benchmarks._sources import ROOT, estimators_named_in, with_changes
from benchmarks._study import RESULTS

RECORD = RESULTS / "defaults.json"
"""Page -> its commit, the defaults at that time and, if they changed, a notice."""

COMMAND = re.compile(r"^Command: `python -m benchmarks\.([\w.]+)", re.MULTILINE)
OFF = ("None", "False", "0", "0.0", "()")


def defaults_of(names):
    """Estimator -> parameter -> default, as text."""
    import clearwood

    return {
        name: {
            parameter.name: repr(parameter.default)
            for parameter in inspect.signature(
                getattr(clearwood, name)
            ).parameters.values()
            if parameter.default is not inspect.Parameter.empty
        }
        for name in names
    }


def recorded():
    """Commits and defaults of the pages."""
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}


def write(record):
    """Write a line for each page and estimator, for readable differences."""
    pages = []
    for page, entry in sorted(record.items()):
        lines = [
            f"   {json.dumps(name)}: {json.dumps(values, sort_keys=True)}"
            for name, values in sorted(entry["defaults"].items())
        ]
        first = {key: entry.get(key, "") for key in ("commit", "older")}
        first = ", ".join(f'"{k}": {json.dumps(v)}' for k, v in first.items())
        inside = ",\n".join(lines)
        pages.append(
            f" {json.dumps(page)}: {{\n  {first},\n"
            f'  "defaults": {{\n{inside}\n  }}\n }}'
        )
    RECORD.write_text("{\n" + ",\n".join(pages) + "\n}\n", encoding="utf-8")


def origin_of_page(page, study, is_new):
    """The commit of a page's results, and a notice if they are older.

    For new results it is the current commit, whose defaults are recorded.
    """
    record = recorded()
    if is_new or page not in record:
        defaults = defaults_of(estimators_named_in(study))
        record[page] = {"commit": current_commit(), "defaults": defaults}
        write(record)
    return record[page]["commit"], record[page].get("older")


def changed_defaults(entry):
    """Changed defaults, as text.

    Removed parameters, and new ones that are off by default, are no changes: they do
    not affect the results.
    """
    import clearwood

    found = []
    for name in sorted(set(entry["defaults"]) & set(clearwood.__all__)):
        then = entry["defaults"][name]
        for parameter, value in defaults_of([name])[name].items():
            before = then.get(parameter, value if value in OFF else "not there")
            if before != value:
                found.append(f"{name}({parameter}={value}), was {before}")
    return found


def pages():
    """Name and text of every page that was written by a study."""
    for path in sorted(RESULTS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if not path.stem.endswith("-quick") and COMMAND.search(text):
            yield path.stem, text


def stale_pages():
    """Page -> changes since it was made, for pages without a notice."""
    record, found = recorded(), {}
    for page, text in pages():
        if page not in record:
            found[page] = ["no defaults in defaults.json"]
            continue
        older = record[page].get("older")
        changes = changed_defaults(record[page])
        if changes and not (older and older in text):
            found[page] = changes
    return found


def current_commit():
    """The commit of this checkout, and whether its sources differ from it."""
    git = ["git", "-C", str(ROOT)]
    try:
        found = subprocess.check_output(
            [*git, "rev-parse", "--short", "HEAD"], text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.strip() + with_changes()


def mark(reason):
    """Add a notice with the reason to every stale page."""
    record = recorded()
    for page in stale_pages():
        path = RESULTS / f"{page}.md"
        title, rest = path.read_text(encoding="utf-8").split("\n\n", 1)
        record[page]["older"] = reason
        path.write_text(f"{title}\n\n**{reason}**\n\n{rest}", encoding="utf-8")
    write(record)


def accept(parameter):
    """Record a new parameter whose default does not change results."""
    record = recorded()
    for entry in record.values():
        for name, today in defaults_of(entry["defaults"]).items():
            if parameter in today:
                entry["defaults"][name].setdefault(parameter, today[parameter])
    write(record)


def main():
    """List the pages, or mark them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--mark", metavar="REASON", help="add a notice with it to each page"
    )
    parser.add_argument(
        "--same", metavar="PARAMETER", help="a new parameter without an effect"
    )
    options = parser.parse_args()
    if options.mark:
        mark(options.mark)
    if options.same:
        accept(options.same)
    found = stale_pages()
    for page, changes in found.items():
        print(page, *changes, sep="\n    ")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
