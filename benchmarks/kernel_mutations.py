"""Do the tests of a package detect one-token bugs in its compiled kernels?

    python -m benchmarks.kernel_mutations --rooms search,rules --most 4 --lot 1

As `benchmarks.mutations`, for C++: a random sample of places in every package is
changed one at a time in a copy of the repository. Mutants that do not compile are
replaced. Then the tests of the package run until one fails; a crash, or a much longer
CPU time than without the bug, counts as detection. Needs CMake, nanobind and a C++
compiler. Survivors are reviewed by hand in ``results/kernel_mutations_judged.csv``.
"""

import importlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks import mutations
from benchmarks._planting import MOST_SECONDS, OPTIONS, Server, forked, limit
from benchmarks._study import RESULTS, ROOT, Study, arguments, markdown_table

ROOMS = (
    "search", "rules", "metatree", "circuits", "sbfc", "sequences", "distributions",
    "ensembles", "simplifiers/fab", "simplifiers/in_trees", "discretize",
)  # fmt: skip
TESTS = {
    "rules": ("rules/test_bins.py", "rules/building/test_shorten.py"),
    "metatree": ("metatree/exact", "metatree/posterior"),
    "circuits": ("circuits/learning", "circuits/test_ci*.py", "circuits/test_co*.py"),
    "sequences": (
        "sequences/networks", "sequences/recurrent", "sequences/test_baum_welch.py",
        "distributions/test_emission.py", "sequences/test_gibbs.py",
        "sequences/test_states_over_time.py",
    ),
}  # fmt: skip
"""Tests of kernels, for packages that also have other tests."""

MOST = 4
"""Mutants per package."""

LOT = "2"
"""The random sample; tests were written for the survivors of those before."""

JUDGED = RESULTS / "kernel_mutations_judged.csv"

SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=",
    "&&": "||", "||": "&&", "std::min": "std::max", "std::max": "std::min",
    "break": "continue", "continue": "break",
}  # fmt: skip
PLACES = re.compile(
    r"(?<=\s)(?:[<>=!+-]=|[<>+*/-]|&&|\|\|)(?=\s)"
    r"|std::m(?:in|ax)\b|\b(?:break|continue)\b"
    r"|(?<![\w.])\d(?:\.0)?(?![\w.])"
    r"|(?<=[\s)])[\w.]+(?:[\[(][^;{}=]*[\])])? [+-]= [^;{}]*(?=;)"
)
NO_CODE = (
    r"//[^\n]*", r'"(?:\\.|[^"\\\n])*"', r"'(?:\\.|[^'\\\n])+'", r"(?m)^ *#[^\n]*",
    r"(?<=\w)<[^<>;{}]*>", r"(?<=\w)<[^<>;{}]*>", r"\btemplate <[^<>]*>",
    r"(?ms)^(?:template [^\n]*\n)?void add_\w+\([^)]*nb::module_&.*?^}",
)  # fmt: skip
"""Comments, texts, directives, types in angle brackets (twice: they nest) and Python
bindings of the kernels."""


def places(text):
    """First and last character of a place in the code, and its replacement."""
    for pattern in NO_CODE:
        text = re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    at = 0
    while found := PLACES.search(text, at):
        old, at = found[0], found.start() + 1
        new = SWAPS.get(old, "")
        yield *found.span(), str(int(old[0]) + 1) + old[1:] if old[0].isdigit() else new


def drawn(room, lot):
    """All mutants of a package in random order: description, and new text of the
    file."""
    found = []
    for path in sorted((mutations.SOURCE / room).rglob("*.[ch]pp")):
        text = path.read_text(encoding="utf-8")
        for first, last, new in places(text):
            line = text.count("\n", 0, first) + 1
            place = {
                "file": path.relative_to(mutations.SOURCE).as_posix(),
                "line": str(line),
                "column": str(first - text.rfind("\n", 0, first)),
                "change": f"{' '.join(text[first:last].split())} -> {new or 'nothing'}",
                "code": text.splitlines()[line - 1].strip(),
            }
            found.append((place, text[:first] + new + text[last:]))
    random.Random(f"{lot} {room}").shuffle(found)
    return found


def compiles(folder):
    """Whether a copy compiles, incrementally."""
    command = ["cmake", "--build", folder / "build"]
    return subprocess.run(command, capture_output=True).returncode == 0


def prepare(folder):
    """Make a copy of the repository with its own build, and load modules."""
    if not (folder / "native").is_dir():
        shutil.move(mutations.copy_of_repository(), folder)
        (folder / "native").mkdir()
        shutil.copy2(ROOT / "native" / "CMakeLists.txt", folder / "native")
        python = f"-DPython_EXECUTABLE={sys.executable}"
        command = ["cmake", "-S", folder / "native", "-B", folder / "build", python]
        subprocess.run(command, check=True, capture_output=True)
    for name in mutations.LOADED:
        importlib.import_module(name)
    if not compiles(folder):
        raise SystemExit("the kernels do not compile without a bug")
    found = subprocess.check_output(
        [sys.executable, "-c", "import clearwood; print(clearwood.__file__)"],
        env=os.environ | {"PYTHONPATH": f"{folder}/src"},
        text=True,
    )
    if not Path(found).is_relative_to(folder):
        raise SystemExit(f"tests would load {found}")


class NoShrinking:
    """Plugin of pytest that disables shrinking of examples, which takes long."""

    pytest_configure = Server.pytest_configure


def run_tests(folder, room, seconds):
    """Run a package's tests until one fails, and exit."""
    import pytest

    limit(seconds)
    os.chdir(folder)
    sys.path[:0] = [f"{folder}/src", str(folder)]
    os.environ["PYTHONPATH"] = f"{folder}/src"
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    # CPU time is limited, not wall time.
    options = [*OPTIONS, "-o", "timeout=0", "-o", "faulthandler_timeout=0"]
    tests = [p for one in TESTS.get(room, (room,)) for p in Path("tests").glob(one)]
    os._exit(pytest.main([*map(str, tests), *options], [NoShrinking()]))


def test(folder, room, seconds):
    """Exit code of a package's tests, and their CPU seconds."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    code = forked(run_tests, folder, room, seconds)
    return code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin


class Room:
    """The tests of a package, and the mutants of its kernels."""

    def __init__(self, folder, name, lot, done):
        self.folder, self.name = folder, name
        self.left = iter([m for m in drawn(name, lot) if place_of(m[0]) not in done])
        self.seconds = 0.0

    def plant(self):
        """Plant the next mutant that compiles, and return its outcome."""
        if not self.seconds:
            compiles(self.folder)  # without the mutant that was planted before
            code, self.seconds = test(self.folder, self.name, MOST_SECONDS)
            if code:
                raise SystemExit(f"tests of {self.name} fail without a bug")
            print(f"{self.name} without a bug: {self.seconds:.0f} s", flush=True)
        for place, text in self.left:
            path = self.folder / "src" / "clearwood" / place["file"]
            before = path.read_text(encoding="utf-8")
            path.write_text(text, encoding="utf-8")
            try:
                if compiles(self.folder):
                    code, seconds = test(self.folder, self.name, 3 * self.seconds)
                    outcome = "detected" if code else "survived"
                    return [place | {"outcome": outcome, "seconds": seconds}]
            finally:
                path.write_text(before, encoding="utf-8")
        return []


def place_of(row):
    """The key of a mutant."""
    return tuple(row[key] for key in ("file", "line", "column", "change"))


def write_page(study):
    """One row per sample and package, and every survivor."""
    verdicts = mutations.reviewed(JUDGED, place_of)
    counts, survivors = {}, []
    for row in study.rows():
        verdict, why = row["outcome"], ""
        if verdict == "survived":
            verdict, why = verdicts.get(place_of(row), ("open", ""))
            code = f"`{row['code']}`".replace("|", "\\|")
            change = f"`{row['change']}`".replace("|", "\\|")
            where = f"{row['file']}:{row['line']}"
            survivors.append([row["lot"], where, code, change, verdict, why])
        for room in (row["room"], "all"):
            counts.setdefault((row["lot"], room), Counter())[verdict] += 1
    table = []
    for (lot, room), count in sorted(counts.items()):
        n_real = count.total() - count["equivalent"]
        table.append(
            [lot, room, count.total(), count["equivalent"], n_real, count["detected"],
             mutations.rate(count["detected"], n_real), count["detected later"],
             count["open"]]
        )  # fmt: skip
    header = [
        "sample", "package", "planted", "equivalent", "valid", "detected",
        "share [95 % interval]", "detected later", "undetected",
    ]  # fmt: skip
    without = [room for room in ROOMS if all(r["room"] != room for r in study.rows())]
    study.write_markdown(
        "Mutation tests of compiled kernels",
        "A random sample of the one-token mutants of the C++ code, equally many of "
        "every package, so that the share of all weights packages equally, not "
        "mutants. The tests are those of the package, and for a large one those of "
        "its kernels. Survivors were reviewed by hand, and tested again with tests "
        "written for them, or with bounds checks of arrays: *detected later*. "
        "Equivalent: no documented behaviour changes. The interval is Wilson's."
        + (f" Not run: {', '.join(without)}." if without else ""),
        markdown_table(header, table),
        markdown_table(
            ["sample", "place", "code", "change", "verdict", "reason"], survivors
        ),
    )


def main():
    """Plant missing mutants, and write the page."""
    options = arguments(
        __doc__.splitlines()[0],
        {
            "rooms": f"packages, separated by commas; default: {','.join(ROOMS)}",
            "most": f"mutants per package; default: {MOST}",
            "lot": f"number of the random sample; default: {LOT}",
            "copy": "folder that keeps the copy; default: a temporary one",
        },
        tables="only write the page",
    )
    study = Study("kernel_mutations", ("lot", "room", "number"), options)
    lot, cases, loaded = options.lot or LOT, {}, {}
    rooms = options.rooms.split(",") if options.rooms else ROOMS
    most = 1 if options.quick else int(options.most or MOST)
    done = {place_of(row) for row in study.rows()}
    with tempfile.TemporaryDirectory(prefix="kernel-mutations-") as temporary:
        folder = Path(options.copy or f"{temporary}/copy").absolute()
        for number in range(1, most + 1):
            for name in rooms:
                room = loaded.setdefault(name, Room(folder, name, lot, done))
                cases[lot, name, str(number)] = room.plant
        if not options.tables:
            study.run(cases, warm=lambda: prepare(folder))
    write_page(study)


if __name__ == "__main__":
    main()
