"""Do the tests of a room see bugs of one token, planted one at a time?

    python -m benchmarks.mutations --rooms search,rules --share 0.05

From every file of a room some mutants are drawn: a comparison at its edge, a sum for a
difference, `and` for `or`, a number one off, a statement left out. Each is planted in a
copy of the repository, where the tests of its folder and those at the top of its room
run until the first fails. What
survives is judged by hand in ``results/mutations_judged.csv``: a mutant that nobody
could notice, since nothing that is promised changes, is no gap of the tests.
"""

import ast
import csv
import importlib
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks._study import RESULTS, ROOT, Study, arguments, markdown_table

ROOMS = ("search", "rules", "metatree")
SHARE = 0.03
"""Of the mutants that there are, the part that is planted."""

MOST_SECONDS = 400
"""Of the processor, for the tests of one mutant; a bug that runs on counts as seen."""

TO_COPY = (
    "src", "tests", "docs", "examples", "conftest.py", "pyproject.toml", "README.md",
)  # fmt: skip
LOADED = ("numba", "sklearn.ensemble", "pandas", "scipy.stats", "matplotlib.pyplot")
"""What all tests need, and does not change with a mutant."""

JUDGED = RESULTS / "mutations_judged.csv"

OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def changed(node):
    """What may stand in place of an expression or a statement: texts."""
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
    """Line, first and last character, and what may stand there, in code that runs."""
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


def drawn(path, share):
    """Some mutants of a file, always the same, by line and change: the whole text."""
    text = path.read_text(encoding="utf-8")
    all_of_it = mutants(text)
    some = random.Random(path.name).sample(
        all_of_it, min(max(round(share * len(all_of_it)), 1), len(all_of_it))
    )
    whole, cases = text.encode(), {}
    for line, first, last, new in some:
        old = " ".join(whole[first:last].decode().split())
        change = f"{old} -> {new.removeprefix('(').removesuffix(')')}"
        mutant = (whole[:first] + new.encode() + whole[last:]).decode()
        cases[line, change] = mutant
    return len(all_of_it), cases


def copy_of_repository():
    """A copy with its compiled kernels."""
    folder = Path(tempfile.mkdtemp(prefix="mutations-"))
    for name in TO_COPY:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, folder / name)
    return folder


def tests_of(file):
    """Tests of a file's folder and those at the top of its room; its own come first."""
    room, *_ = *folders, stem = Path(file).with_suffix("").parts
    near = [Path("tests", *folders), Path("tests", room)]
    paths = [path for folder in near for path in sorted(folder.glob("test_*.py"))]
    own = {f"test_{stem}", f"test_{folders[-1]}"}
    paths.sort(key=lambda path: path.stem not in own)
    return list(dict.fromkeys(map(str, paths)))


def run_tests(folder, file):
    """In a process of its own: the tests of a file, until one fails."""
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.chdir(folder)
    # No file of bytecode: it knows its source by second and size only.
    sys.dont_write_bytecode = True
    os.environ |= {"PYTHONPATH": f"{folder}/src", "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path[:0] = [f"{folder}/src"]
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    code = pytest.main([*options, *tests_of(file)])
    sys.stdout.flush()
    os._exit(int(code))


def outcome_of(folder, file, text):
    """Plant one mutant, and what became of it."""
    path = folder / "src" / "clearwood" / file
    original, stat = path.read_text(encoding="utf-8"), path.stat()
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.cpython*.pyc"):
        compiled.unlink()
    begin = time.perf_counter()
    path.write_text(text, encoding="utf-8")
    try:
        process = multiprocessing.get_context("fork").Process(
            target=run_tests, args=(folder, file)
        )
        process.start()
        process.join()
    finally:
        path.write_text(original, encoding="utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    outcome = "survived" if process.exitcode == 0 else "seen"
    return {"outcome": outcome, "seconds": time.perf_counter() - begin}


def begin(folder, rooms):
    """Load what all tests need; without a bug, they have to pass."""
    for name in LOADED:
        importlib.import_module(name)
    for room in rooms:
        path = folder / "src" / "clearwood" / room / "__init__.py"
        found = outcome_of(folder, f"{room}/__init__.py", path.read_text())
        print(f"{room} without a bug: {found['seconds']:.0f} s")
        if found["outcome"] == "seen":
            sys.exit(f"The tests of {room} fail without a bug.")


def place_of(row):
    """What names a mutant."""
    return row["file"], row["line"], row["change"]


def judged():
    """Survivors that a person has looked at: place -> verdict and why."""
    if not JUDGED.exists():
        return {}
    with JUDGED.open(newline="") as file:
        return {
            place_of(row): (row["verdict"], row["why"]) for row in csv.DictReader(file)
        }


def write_page(study, possible, without):
    """One line per room, and every survivor."""
    verdicts, table, survivors = judged(), [], []
    rows = study.rows()
    for room in sorted({row["file"].split("/")[0] for row in rows}):
        of_room = [row for row in rows if row["file"].split("/")[0] == room]
        counts = Counter()
        for row in of_room:
            verdict, why = verdicts.get(place_of(row), ("open", ""))
            if row["outcome"] == "seen":
                verdict = "seen"
            if row["outcome"] == "survived" or why:
                change = row["change"].replace("|", "\\|")
                survivors.append([row["file"], f"`{change}`", verdict, why])
            counts[verdict] += 1
        files = {row["file"] for row in of_room}
        n_real = len(of_room) - counts["equivalent"]
        all_of_it = sum(n for file, n in possible.items() if file.startswith(room))
        table.append(
            [room, len(files), all_of_it, len(of_room), counts["seen"],
             counts["equivalent"], n_real - counts["seen"],
             f"{counts['seen'] / max(n_real, 1):.1%}"]
        )  # fmt: skip
    header = [
        "room", "files", "mutants there are", "planted", "seen", "equivalent",
        "not seen", "seen of those that matter",
    ]  # fmt: skip
    study.write_markdown(
        "Bugs of one token, planted one at a time",
        f"A sample: {len(rows)} mutants of {sum(possible.values()):,}, drawn by lot "
        f"over all files{' but ' * bool(without)}{without}. "
        "The tests are those of the file's own folder and those at the top of its "
        "room: what only other tests see, such as those of estimators that use a "
        "search, counts as not seen.",
        markdown_table(header, table),
        "Survivors, judged by hand. Equivalent: nothing that is promised changes (the "
        "same result, or another as good, such as a cap on work or a tie). Seen: since "
        "then, by a test that was written for it.",
        markdown_table(["file", "change", "verdict", "why"], survivors),
    )


def main():
    """Plant what was not planted yet, and write the page."""
    options = arguments(
        __doc__.splitlines()[0],
        {
            "rooms": f"of the house, by commas; {','.join(ROOMS)} if not said",
            "share": f"of the mutants of every file; {SHARE} if not said",
            "without": "files to leave out, by commas",
        },
        again="plant the survivors again, as after a new test",
    )
    study = Study("mutations", ("file", "line", "change"), options)
    if options.again:
        study.drop(outcome="survived")
    cases, possible = {}, {}
    folder = copy_of_repository()
    source = ROOT / "src" / "clearwood"
    share = 0.0 if options.quick else float(options.share or SHARE)
    rooms = options.rooms.split(",") if options.rooms else ROOMS
    for room in rooms:
        for path in sorted((source / room).rglob("*.py")):
            file = path.relative_to(source).as_posix()
            if file in options.without.split(","):
                continue
            possible[file], texts = drawn(path, share)
            for (line, change), text in texts.items():
                cases[file, line, change] = lambda file=file, text=text: [
                    outcome_of(folder, file, text)
                ]
    # In an order of its own, so that a run that is stopped has seen a part of all.
    cases = dict(random.Random(0).sample(list(cases.items()), len(cases)))
    try:
        study.run(cases, warm=lambda: begin(folder, rooms))
    finally:
        shutil.rmtree(folder)
    write_page(study, possible, ", ".join(filter(None, options.without.split(","))))


if __name__ == "__main__":
    main()
