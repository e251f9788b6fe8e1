"""Do the tests of a package detect one-token bugs, planted one at a time?

    python -m benchmarks.mutations --rooms search,rules --most 20 --lot 1

Mutants are sampled from every package (a "room"): a comparison at its bound, a
difference for a sum, `and` for `or`, a number that is off by one, an omitted statement.
Each is planted in a copy of the repository, where those tests of its package that run
its function are run, the cheapest first, until one fails. Survivors are reviewed by
hand in ``results/mutations_judged.csv``: a mutant that changes no documented behaviour
is equivalent. Tests written for survivors are no evidence for mutants outside the
sample, for which another sample (``--lot``) is needed.
"""

import ast
import csv
import importlib
import json
import random
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

from scipy.stats import binomtest

from benchmarks._planting import SINGLE, Room, enclosing
from benchmarks._study import RESULTS, ROOT, Study, arguments, markdown_table

SOURCE = ROOT / "src" / "clearwood"
ROOMS = (*sorted(path.parent.name for path in SOURCE.glob("*/__init__.py")), SINGLE)
MOST = 6
"""Mutants per package."""

SECONDS = 300
"""Processor seconds of the tests of a package, some of every file."""

LOT = "8"
"""The random sample; tests were written for the survivors of those before."""

BUDGET = 30.0
"""Seconds of tests for one mutant; survivors that are planted again get all tests."""

TO_COPY = (
    "src", "tests", "docs", "examples", "conftest.py", "pyproject.toml", "README.md",
)  # fmt: skip
LOADED = (
    "sklearn.ensemble", "sklearn.datasets", "pandas", "scipy.stats",
    "matplotlib.pyplot", "pytest", "jinja2",
)  # fmt: skip
"""Modules that all tests need, and mutants do not change."""

JUDGED = RESULTS / "mutations_judged.csv"

OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def changed(node):
    """Yield replacements of an expression or a statement."""
    match node:
        case ast.Compare(left, [op, *ops], comparators) if type(op) in OTHER:
            yield ast.Compare(left, [OTHER[type(op)](), *ops], comparators)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(OTHER[type(op)](), values)
        case ast.BinOp(left, op, right) if type(op) in OTHER:
            yield ast.BinOp(left, OTHER[type(op)](), right)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(float(value)):
            yield ast.Constant(2 * value if value else 1.0)
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield ast.Pass()


def mutants(text):
    """Line, first and last character, and replacement, in executable code."""
    lines = text.encode().splitlines(keepends=True)
    before = [0]
    for line in lines:
        before.append(before[-1] + len(line))
    found = []

    def visit(node):
        for child in ast.iter_child_nodes(node):
            is_note = isinstance(node, ast.AnnAssign | ast.arg) and (
                child is node.annotation
            )
            is_note |= isinstance(node, ast.FunctionDef) and child is node.returns
            if is_note or isinstance(child, ast.JoinedStr):
                continue
            if hasattr(child, "lineno"):
                span = (
                    before[child.lineno - 1] + child.col_offset,
                    before[child.end_lineno - 1] + child.end_col_offset,
                )
                for other in changed(child):
                    new = ast.unparse(ast.fix_missing_locations(other))
                    if isinstance(child, ast.expr):
                        new = f"({new})"
                    found.append((child.lineno, *span, new))
            visit(child)

    visit(ast.parse(text))
    return found


def files_in(room):
    """Source files of a package, or those outside of packages."""
    files = SOURCE.glob("*.py") if room == SINGLE else (SOURCE / room).rglob("*.py")
    return sorted(files)


def room_of(file):
    """The package of a file."""
    return file.split("/")[0] if "/" in file else SINGLE


def drawn(room, most, lot):
    """A random sample of mutants of a package: file, line, change and the new text."""
    found = []
    for path in files_in(room):
        text = path.read_text(encoding="utf-8")
        found += [(path, text, *mutant) for mutant in mutants(text)]
    some = random.Random(f"{lot} {room}").sample(found, min(most, len(found)))
    for path, text, line, first, last, new in some:
        whole = text.encode()
        old = " ".join(whole[first:last].decode().split())
        change = f"{old} -> {new.removeprefix('(').removesuffix(')')}"
        mutant = (whole[:first] + new.encode() + whole[last:]).decode()
        yield path.relative_to(SOURCE).as_posix(), line, change, mutant


def copy_of_repository():
    """A copy that tests may change."""
    folder = Path(tempfile.mkdtemp(prefix="mutations-"))
    for name in TO_COPY:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, folder / name)
    return folder


def tests_for(room, file, text, line, budget):
    """The tests that run a line, the cheapest first, up to some seconds in all.

    Code outside of functions concerns all tests of the package, as does code that no
    test was recorded to run (such as in threads): tests that run part of the file come
    first. Tests without a record may run any code.
    """
    place, chosen = [file, enclosing(text, line)], []
    if not any(place in room.record[n][1] for n in room.names if n in room.record):
        place = [file, 0]
    for name in room.names:
        seconds, places = room.record.get(name, (0.0, [place]))
        if place in places:
            chosen.append((0, seconds, name))
        elif not place[1]:
            chosen.append((all(where != file for where, _ in places), seconds, name))
    total, names = 0.0, []
    for _, seconds, name in sorted(chosen):
        total += seconds
        if names and total > budget:
            break
        names.append(name)
    return names


def load(folder, names, rooms, kept):
    """Load the modules for all tests, and the packages: name -> room."""
    for name in LOADED:
        importlib.import_module(name)
    known = json.loads(kept.read_text()) if kept.is_file() else {}
    for name in names:
        begin = time.perf_counter()
        rooms[name] = Room(folder, name, known.get(name), SECONDS)
        print(f"{name} without a bug: {time.perf_counter() - begin:.0f} s", flush=True)
        known[name] = rooms[name].record
        if kept.name:
            kept.write_text(json.dumps(known))


def outcome_of(room, file, line, text, budget):
    """Plant one mutant, and return its outcome."""
    begin = time.perf_counter()
    before = (room.source / file).read_text(encoding="utf-8")
    names = tests_for(room, file, before, line, budget)
    seen = bool(names) and room.sees(file, line, text, names)
    seconds = time.perf_counter() - begin
    return {"outcome": "detected" if seen else "survived", "seconds": seconds}


def place_of(row):
    """The key of a mutant."""
    return row["file"], row["line"], row["change"]


def reviewed(path=JUDGED, place_of=place_of):
    """Reviewed survivors: place -> verdict and reason."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {
            place_of(row): (row["verdict"], row["why"]) for row in csv.DictReader(file)
        }


def rate(seen, n_real):
    """Share, and its 95 % interval."""
    if not n_real:
        return ""
    low, high = binomtest(seen, n_real).proportion_ci(method="wilson")
    return f"{seen / n_real:.1%} [{low:.1%}, {high:.1%}]"


def write_page(study):
    """One row per sample and package, and every survivor."""
    verdicts, table, survivors = reviewed(), [], []
    rooms = sorted({room_of(row["file"]) for row in study.rows()})
    n_places = sum(
        len(mutants(path.read_text(encoding="utf-8")))
        for room in rooms
        for path in files_in(room)
    )
    by_group, files, total = {}, {}, Counter()
    for row in study.rows():
        verdict, why = row["outcome"], ""
        if verdict == "survived":
            verdict, why = verdicts.get(place_of(row), ("open", ""))
        if row["outcome"] != "detected":
            change = "`{}`".format(row["change"].replace("|", "\\|"))
            survivors.append([row["lot"], row["file"], change, verdict, why])
        total[verdict] += 1
        for room in (room_of(row["file"]), "all"):
            by_group.setdefault((row["lot"], room), Counter())[verdict] += 1
            files.setdefault((row["lot"], room), set()).add(row["file"])
    for (lot, room), kinds in sorted(by_group.items()):
        n_real = kinds.total() - kinds["equivalent"]
        table.append(
            [lot, room, len(files[lot, room]), kinds.total(), kinds["equivalent"],
             n_real, kinds["detected"], rate(kinds["detected"], n_real),
             kinds["detected later"], kinds["removed"], kinds["open"]]
        )  # fmt: skip
    n_real = total.total() - total["equivalent"]
    header = [
        "sample", "package", "files", "planted", "equivalent", "valid", "detected",
        "share [95 % interval]", "detected later", "code removed", "undetected",
    ]  # fmt: skip
    without = [room for room in ROOMS if room not in rooms]
    study.write_markdown(
        "Mutation tests of Python code",
        f"A random sample of the {n_places:,} one-token mutants of the library: "
        f"{MOST} of every package (the same change of one line counts once), so that "
        "the share of all weights packages equally, not mutants. Each mutant is tested "
        "with the tests of its package, and its examples in docstrings, that run the "
        f"mutant's function. Of large packages only tests of {SECONDS} seconds are "
        f"used, some of every file; for each mutant, the first {BUDGET:.0f} seconds of "
        "tests. Mutants that only tests of other packages detect, such as those of "
        "estimators that use a search, are not in the share, which is therefore an "
        "underestimate. The interval is Wilson's."
        + (f" Not run: {', '.join(without)}." if without else ""),
        "Survivors were reviewed by hand. Equivalent: no documented behaviour changes "
        "(the same result, or an equally good one, such as a limit of work, a tie, or "
        "another style of a figure). Detected later: by other tests, or by a test that "
        "was written for the mutant, which is no evidence for other mutants. "
        f"{total['open']} of the {n_real} valid mutants remain undetected.",
        markdown_table(header, table),
        "Mutants that were not detected at once. Removed: the code was not needed.",
        markdown_table(["sample", "file", "change", "verdict", "reason"], survivors),
    )


def main():
    """Plant missing mutants, and write the page."""
    options = arguments(
        __doc__.splitlines()[0],
        {
            "rooms": "packages, separated by commas; default: all",
            "most": f"mutants per package; default: {MOST}",
            "lot": f"number of the random sample; default: {LOT}",
            "record": "file that stores which test runs which code",
        },
        again="plant the valid survivors of a sample again, with all tests",
        tables="only write the page",
    )
    study = Study("mutations", ("lot", "file", "line", "change"), options)
    lot, budget = options.lot or LOT, BUDGET
    if options.again:
        verdicts = reviewed()
        for row in study.rows():
            is_open = verdicts.get(place_of(row), ("open",))[0] != "equivalent"
            if (row["lot"], row["outcome"]) == (lot, "survived") and is_open:
                study.drop(**{key: row[key] for key in study.keys})
        budget = float("inf")
    cases, loaded = {}, {}
    folder = copy_of_repository()
    most = 1 if options.quick else int(options.most or MOST)
    rooms = options.rooms.split(",") if options.rooms else ROOMS
    for room in rooms:
        for file, line, change, text in drawn(room, most, lot):

            def plant(room=room, file=file, line=line, text=text):
                found = outcome_of(loaded[room], file, line, text, budget)
                if options.again and found["outcome"] == "detected":
                    found["outcome"] = "detected later"
                return [found]

            cases[lot, file, line, change] = plant
    # In random order, so that a stopped run is a sample of all.
    cases = dict(random.Random(0).sample(list(cases.items()), len(cases)))
    try:
        if not options.tables:
            record = Path(options.record)
            study.run(cases, warm=lambda: load(folder, rooms, loaded, record))
    finally:
        for room in loaded.values():
            room.close()
        shutil.rmtree(folder)
    write_page(study)


if __name__ == "__main__":
    main()
