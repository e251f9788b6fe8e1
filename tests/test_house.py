"""The house keeps its own rules: floors, circles, sizes, names, and complete lists.

Every rule is a function of a folder that returns what breaks it, so that the same
function judges the library and the small made-up houses below, which break it.
"""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from tests import wording
from tests.estimators import DENSITIES, ESTIMATORS

import clearwood

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "clearwood"

FLOORS = (
    # and all private rooms: see floor_of
    "charts codec columns distributions exceptions families outcomes results",
    "datasets discretize ensembles references rules sampling search",
    "circuits metatree projection sbfc sequences simplifiers",
    "comparison exploration persistence",
    "reporting cli mlflow __main__",
)
"""Rooms from the ground up: each may import from the floors below its own."""

BESIDE = {
    "discretize": {"rules"},
    "references": {"ensembles"},
    "rules": {"ensembles", "search"},
}
"""What a room may import on its own floor; on the ground and on top, anything."""

COMMENTS = {".py": "#", ".cpp": "//", ".hpp": "//"}
"""How a line of comments begins in a file of code."""

MOST_FILES, MOST_LINES = 14, 300
"""Files in a folder; lines of code in a file, without docstrings and comments."""

MORE_LINES = 50
"""In a file of C++, which names the type of everything."""

LONG_FILES = {
    "cli/verbs/project.py": "one command with the options of every reference",
    "families.py": "the records of all families",
    "rules/exports/sql.py": "one writer for all dialects",
    "simplifiers/_common/size_path.py": "rules of all sizes: fitted, judged, chosen",
}
"""Files with more lines of code than that, and what each holds."""

BARS_IN_TABLES = {"projection/reading/section.html", "reporting/importances.html"}
"""Templates with a small bar in every line of a table."""

ENGLISH, MOST_WORDS = re.compile(r"(?<!\S)[a-z]{2,}[,;:.]?(?!\S)"), 4
"""A word of a sentence; a text with as many words is wording."""

TEST_NAME = r"\w+(?=\[| |$)"
"""The function in the name of a text on file."""

OWN_WORDS = {
    "_native.test_kernels": "programs that it runs",
    "test_house": "what its own rules say",
    "test_wording": "texts that it makes up",
}
"""Tests that expect sentences, and whose."""

OPEN_THEMSELVES = {
    "_tables.kept": "a file that it has written itself",
    "cli.tables": "what plain_file has looked at before",
    "ensembles.catboost.model": "a file that it has written itself",
    "ensembles.sklearn.skops_file": "members of an archive in memory",
}
"""Modules that open files, and which."""

STANDARD_FILES = set(
    # in every family
    "__init__ _kernels base doubts estimators display section saving "
    # the same on two floors
    "lists models monotone nodes scores statistics trees".split()
)
"""Names of files that several rooms have, because they hold the same thing there."""


# Reading


@cache
def parsed(house: Path) -> dict[str, ast.Module]:
    """Syntax trees by the modules' names, ``room.file`` and ``room`` for a folder."""
    trees = {}
    for path in sorted(house.rglob("*.py")):
        parts = path.relative_to(house).with_suffix("").parts
        trees[".".join(parts).removesuffix("__init__").strip(".")] = ast.parse(
            path.read_text(encoding="utf-8")
        )
    return trees


@cache
def walked(house: Path) -> dict[str, list[ast.AST]]:
    """All nodes by the modules' names."""
    return {module: list(ast.walk(tree)) for module, tree in parsed(house).items()}


def imported(nodes: Iterable[ast.AST], package: str) -> Iterator[str]:
    """What is imported of the house, with the names that are taken from it."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (n.partition(".")[2] for n in names if n.startswith(f"{package}."))


def that_run(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes but for what is there for type checkers only."""
    yield node
    for child in ast.iter_child_nodes(node):
        is_if = isinstance(child, ast.If)
        if not (is_if and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield from that_run(child)


# The rules of the house


def floor_of(room: str) -> int | None:
    """The floor of a room, from 0 up; private rooms are on the ground."""
    floors = [i for i, rooms in enumerate(FLOORS) if room in rooms.split()]
    return next(iter(floors), 0 if room.startswith("_") else None)


def imports_upward(house: Path) -> list[str]:
    """Imports, lazy ones too, of rooms that are not on a floor below."""
    modules = walked(house)
    rooms = {module.partition(".")[0] for module in modules} - {""}
    floor = {room: floor_of(room) for room in rooms}
    shared = {0, len(FLOORS) - 1}
    broken = [
        f"{room} has no floor: add it to FLOORS"
        for room in sorted(rooms)
        if floor[room] is None
    ]
    for module, nodes in modules.items():
        room = module.partition(".")[0]
        if floor.get(room) is None:
            continue
        for name in imported(nodes, house.name):
            other = name.partition(".")[0]
            # Names that are no rooms are those of the front door itself.
            if other == room or floor.get(other) is None:
                continue
            beside = floor[other] == floor[room] and (
                floor[room] in shared or other in BESIDE.get(room, ())
            )
            if floor[other] >= floor[room] and not beside:
                broken.append(f"{module} imports {name}")
    return broken


def circles(house: Path) -> list[str]:
    """Modules that need each other, be it in a function alone."""
    trees = parsed(house)
    needs: dict[str, set[str]] = {}
    for module, tree in trees.items():
        needs[module] = set()
        for name in imported(that_run(tree), house.name):
            target = name if name in trees else name.rpartition(".")[0]
            folders = target.split(".")
            chain = {".".join(folders[: i + 1]) for i in range(len(folders))}
            # A package is there, half made, before anything inside it is imported.
            inside = {n for n in chain if module.startswith(f"{n}.") and n != target}
            needs[module] |= (chain & set(trees)) - inside - {module}
    found, done = set(), set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        if module in way:
            circle = way[way.index(module) :]
            first = circle.index(min(circle))
            found.add(" -> ".join(circle[first:] + circle[:first]))
        elif module not in done:
            for other in sorted(needs[module]):
                visit(other, (*way, module))
            done.add(module)

    for module in needs:
        visit(module, ())
    return sorted(found)


def lines_of_code(text: str, comment: str = "#") -> int:
    """Lines that are not blank, a bracket, a comment, or part of a docstring."""
    if comment == "//":
        lines = (line.strip(" {}();") for line in text.splitlines())
        return sum(line != "" and not line.startswith(comment) for line in lines)
    documented = set()
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            documented |= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    return sum(
        number not in documented and not line.lstrip().startswith("#")
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip()
    )


def crowded(house: Path) -> list[str]:
    """Folders of too many files, and files of too many lines of code."""
    files = defaultdict(int)
    broken = []
    for path in house.rglob("*"):
        if path.suffix not in COMMENTS:
            continue
        files[path.parent] += path.suffix == ".py"
        text, name = (
            path.read_text(encoding="utf-8"),
            path.relative_to(house).as_posix(),
        )
        if name in LONG_FILES or text.count("\n") <= MOST_LINES:
            continue
        most = MOST_LINES + MORE_LINES * (path.suffix != ".py")
        if (n_lines := lines_of_code(text, COMMENTS[path.suffix])) > most:
            broken.append(f"{name} has {n_lines} lines of code")
    return broken + [
        f"{folder.relative_to(house)}/ has {n} files"
        for folder, n in files.items()
        if n > MOST_FILES
    ]


def names_alike(house: Path) -> list[str]:
    """Public classes of one name, and files of one name in several rooms."""
    classes, rooms = defaultdict(list), defaultdict(set)
    for module, tree in parsed(house).items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(module)
    top = set(FLOORS[-1].split())  # The verbs there are named after the functions.
    for path in house.glob("*/**/*.py"):
        room = path.relative_to(house).parts[0]
        if path.stem not in STANDARD_FILES and room not in top:
            rooms[path.stem].add(room)
    return [
        f"{name} is in {', '.join(sorted(places))}"
        for places_of in (classes, rooms)
        for name, places in places_of.items()
        if len(places) > 1
    ]


def asks_what_it_is(house: Path) -> list[str]:
    """Where a result is asked what it is, instead of being told what to do."""
    broken = []
    for module, nodes in walked(house).items():
        asking = module.partition(".")[0] in {"cli", "reporting", "persistence"}
        for node in nodes:
            match node:
                case ast.Call(func=ast.Name(id="hasattr"), args=[ast.Name(id=name), _]):
                    if asking and name == "result":
                        broken.append(f"{module}:{node.lineno} {ast.unparse(node)}")
                case ast.Attribute(attr="is_sum" | "is_list" | "is_average" as name):
                    broken.append(f"{module}:{node.lineno} .{name}")
    return broken


def made_docstrings(house: Path) -> list[str]:
    """Docstrings that are put together: editors show nothing of them."""
    return [
        f"{module}:{node.lineno}"
        for module, nodes in walked(house).items()
        for node in nodes
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
        and "__doc__" in ast.unparse(node).partition("=")[0]
    ]


def opens_files(house: Path) -> list[str]:
    """Files opened past ``codec.files``, which knows what has no end."""
    opening = {"open", "read_bytes", "write_bytes", "write_text"}
    broken = []
    for module, nodes in walked(house).items():
        for node in nodes:
            match node:
                case ast.Call(func=ast.Name(id="open")):
                    name = "open"
                case ast.Call(func=ast.Attribute(attr=name)) if name in opening:
                    pass
                case _:
                    continue
            if module != "codec.files" and module not in OPEN_THEMSELVES:
                broken.append(f"{module}:{node.lineno} {name}")
    return broken


def waits_for_ever(house: Path) -> list[str]:
    """Waits for a thread, a process or a cluster that have no limit."""
    broken = []
    for module, nodes in walked(house).items():
        for node in nodes:
            match node:
                case ast.Call(func=ast.Attribute(value=where, attr=name)):
                    pass
                case _:
                    continue
            limited = any(keyword.arg == "timeout" for keyword in node.keywords)
            of_process = name in {"run", "call", "check_call", "check_output"}
            of_process &= ast.unparse(where) == "subprocess"
            if (
                ((of_process or name == "wait_for_workers") and not limited)
                or (name in {"wait", "join"} and not (limited or node.args))
                or (name == "communicate" and not limited)
            ):
                broken.append(f"{module}:{node.lineno} {name}")
    return broken


def expected_sentences(tests: Path) -> list[str]:
    """Sentences that tests expect, beside those on file: see ``tests/wording.py``."""
    broken = []
    for module, tree in parsed(tests).items():
        for node in ast.walk(tree):
            match node:
                case ast.Assert(test=expected):
                    pass
                case ast.keyword(arg="match", value=expected):
                    pass
                case _:
                    continue
            broken += [
                f"{module}:{text.lineno} {text.value!r}"
                for text in ast.walk(expected)
                if isinstance(text, ast.Constant)
                and len(ENGLISH.findall(str(text.value))) >= MOST_WORDS
                and module not in OWN_WORDS
            ]
    return broken


def texts_of_no_test(tests: Path) -> list[str]:
    """Texts on file of tests that are gone."""
    broken = []
    for path in tests.rglob("texts/*.txt"):
        files = (path.parents[1] / f"{name}{path.stem}.py" for name in ("test_", ""))
        source = "".join(file.read_text() for file in files if file.exists())
        broken += [
            f"{path.relative_to(tests)}: {name}"
            for name in wording.read(path)
            if f"def {re.search(TEST_NAME, name)[0]}(" not in source
        ]
    return broken


def draws_twice(house: Path) -> list[str]:
    """Pictures of pages that are not written by the writer of charts."""
    files = [path for path in house.rglob("*") if path.suffix in (".py", ".html")]
    return [
        f"{name} writes SVG; state marks, and let charts.svg write them"
        for path in sorted(files)
        if (name := path.relative_to(house).as_posix()) not in BARS_IN_TABLES
        and not name.startswith("charts/")
        and "<svg" in path.read_text(encoding="utf-8")
    ]


RULES = (
    imports_upward, circles, crowded, names_alike, asks_what_it_is, made_docstrings,
    opens_files, waits_for_ever, draws_twice,
)  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps(rule):
    broken = rule(HOUSE)
    assert not broken, "\n".join(broken)


def test_no_test_waits_for_ever():
    assert waits_for_ever(ROOT / "tests") == []


@pytest.mark.parametrize("rule", [expected_sentences, texts_of_no_test])
def test_wording_that_tests_expect_is_on_file(rule):
    broken = rule(ROOT / "tests")
    assert not broken, "\n".join(broken)


# Each rule sees what breaks it


def build(folder: Path, files: dict[str, str]) -> Path:
    """A house of a few files."""
    house = folder / "cw"
    for name, text in files.items():
        path = house / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for inner in [house, *house.rglob("*")]:
        if inner.is_dir() and not (inner / "__init__.py").exists():
            (inner / "__init__.py").write_text("")
    return house


@pytest.mark.parametrize(
    ("room", "line", "broken"),
    [
        ("rules", "from cw.metatree.base import given", True),
        ("search", "import cw.rules.tree", True),
        ("search", "from cw import rules", True),
        ("metatree", "def f():\n    from cw.simplifiers import fab", True),
        ("rules", "if TYPE_CHECKING:\n    from cw.comparison import Frontier", True),
        ("ensembles", "from cw.rules import Rule", True),
        ("attic", "import os", True),
        ("rules", "from cw.ensembles import TreeEnsemble", False),
        ("reporting", "from cw.cli import main", False),
        ("metatree", "from cw import __version__", False),
        ("metatree", "from cw.metatree.base import given", False),
        ("simplifiers", "from cw.rules import Rule", False),
    ],
)
def test_imports_go_down(tmp_path, room, line, broken):
    others = "rules metatree simplifiers comparison ensembles cli".split()
    house = build(tmp_path, {f"{name}/__init__": "" for name in others})
    (house / room).mkdir(exist_ok=True)
    (house / room / "file.py").write_text(line)
    assert bool(imports_upward(house)) == broken


@pytest.mark.parametrize(
    ("one", "two", "found"),
    [
        ("import cw.a.two", "def f():\n    from cw.a import one", ["a.one -> a.two"]),
        ("from cw.a import two", "if TYPE_CHECKING:\n    from cw.a import one", []),
        ("from cw.a.two import x", "import cw.a.one", ["a.one -> a.two"]),
        # Through the package: it imports the module that takes a name from it.
        ("x = 1", "from cw.a import y", ["a -> a.two"]),
        ("x = 1", "from cw.b import f", ["a -> a.two -> b.f"]),
        ("x = 1", "from cw.a import one", []),
    ],
)
def test_circles_are_seen(tmp_path, one, two, found):
    package = "from cw.a.two import y" if one == "x = 1" else ""
    files = {"a/__init__": package, "a/one": one, "a/two": two, "b/f": "import cw.a"}
    assert circles(build(tmp_path, files)) == found


def test_crowds_are_seen(tmp_path):
    files = {f"a/f{i}": "" for i in range(MOST_FILES - 1)}
    files["b/long"] = '"""Text.\n\nMore.\n"""\n# Why.\n\n' + "x = 1\n" * MOST_LINES
    house = build(tmp_path, files)
    (house / "search").mkdir()
    (house / "search" / "_kernels.cpp").write_text("// Why.\n\nint x;\n" * 350)
    assert crowded(house) == []
    (house / "search" / "_kernels.hpp").write_text("int x;\n" * 351)
    files |= {"a/last": "", "b/long": files["b/long"] + "x = 1\n"}
    assert sorted(crowded(build(tmp_path, files))) == [
        "a/ has 15 files",
        "b/long.py has 301 lines of code",
        "search/_kernels.hpp has 351 lines of code",
    ]


def test_names_alike_are_seen(tmp_path):
    files = {
        "rules/job": "class Job: ...",
        "search/job": "class _Job: ...",
        "search/lists/grow": "class Job: ...",
        "search/sums/grow": "",
        "rules/lists": "",
        "rules/nodes": "",
        "search/nodes": "",
        "cli/job": "",
    }
    assert names_alike(build(tmp_path, files)) == [
        "Job is in rules.job, search.lists.grow",
        "job is in rules, search",
    ]


def test_waits_without_a_limit_are_seen(tmp_path):
    endless = (
        "subprocess.run(command)", "process.wait()", "process.communicate(text)",
        "thread.join()", "client.wait_for_workers(2)",
    )  # fmt: skip
    limited = (
        "subprocess.run(command, timeout=9)", "process.wait(9)", "model.run(rows)",
        "process.communicate(timeout=9)", "thread.join(9)", "', '.join(names)",
    )  # fmt: skip
    house = build(tmp_path, {"a/x": "\n".join(limited), "a/y": "\n".join(endless)})
    lines = [int(one.split(":")[1].split()[0]) for one in waits_for_ever(house)]
    assert lines == [1, 2, 3, 4, 5]


def test_questions_to_results_are_seen(tmp_path):
    ask = "def f(result):\n    return hasattr(result, 'path_') or result.path_\n"
    files = {"cli/x": ask, "rules/x": ask, "rules/y": "if rules.is_sum: ..."}
    assert asks_what_it_is(build(tmp_path, files)) == [
        "cli.x:2 hasattr(result, 'path_')",
        "rules.y:1 .is_sum",
    ]


def test_pictures_of_their_own_are_seen(tmp_path):
    house = build(tmp_path, {"charts/chart": "'<svg>'", "sbfc/a": "'<svg>'"})
    assert [line.split()[0] for line in draws_twice(house)] == ["sbfc/a.py"]


def test_made_docstrings_are_seen(tmp_path):
    made = 'class A:\n    __doc__ = f"{1}"\n'
    files = {"rules/x": made, "rules/y": 'class B:\n    """Written."""\n'}
    assert made_docstrings(build(tmp_path, files)) == ["rules.x:2"]


def test_wording_beside_that_on_file_is_seen(tmp_path):
    files = {
        "a/x": "assert 'no such column here' in said and f'{x} of all rows' != a",
        "test_y": "with raises(E, match='must be one of'): run('it must be one of')",
        "test_z": "def test_a(): same_text('it must be one of')",
    }
    tests = build(tmp_path, files)
    assert expected_sentences(tests) == [
        "a.x:1 'no such column here'",
        "test_y:1 'must be one of'",
    ]
    (tests / "texts").mkdir()
    filed = {"test_a": "b", "test_a[c] 2": "d", "test_b 2": "e"}
    wording.write(tests / "texts" / "z.txt", filed)
    assert texts_of_no_test(tests) == ["texts/z.txt: test_b 2"]


def test_files_opened_elsewhere_are_seen(tmp_path):
    files = {
        "codec/files": "open('x')",
        "cli/tables": "open('x')",
        "rules/x": "def f(path):\n    return open(path), path.read_bytes()",
        "rules/y": "from cw.codec.files import read_bytes\nread_bytes('x')",
    }
    assert opens_files(build(tmp_path, files)) == [
        "rules.x:2 open",
        "rules.x:2 read_bytes",
    ]


# Lists that must be complete


def needed_by() -> dict[str, set[str]]:
    """All packages that pyproject.toml names, and what names them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = settings["project"]
    lists = {
        "core": project["dependencies"],
        "build": settings["build-system"]["requires"],
        **project["optional-dependencies"],
        **settings["dependency-groups"],
    }
    packages = defaultdict(set)
    for label, requirements in lists.items():
        for requirement in requirements:
            if isinstance(requirement, str):  # not another group
                packages[re.match(r"[\w-]+", requirement)[0]].add(label)
    return dict(packages)


def test_every_dependency_has_one_row():
    text = (ROOT / "docs" / "dependencies.md").read_text()
    rows = re.findall(r"^\| ([\w-]+) \| ([\w, ]+) \| .+ \|$", text, re.MULTILINE)
    listed = [package for package, _ in rows if package != "package"]
    assert sorted(set(listed)) == sorted(listed), "twice in docs/dependencies.md"
    labels = {p: set(label.split(", ")) for p, label in rows if p != "package"}
    assert labels.pop("te2rules") == {"none"}  # Its row says why.
    assert labels.pop("ziglang") == {"build"}  # native/build_backend.py asks for it.
    assert labels == needed_by()


def test_every_parameter_is_explained():
    text = (ROOT / "docs" / "choosing.rst").read_text()
    named = {name for case in ESTIMATORS for name in case.parameters}
    named |= {name for make in DENSITIES for name in make._get_param_names()}
    assert not {name for name in named if f"``{name}``" not in text}


def test_every_public_name_has_one_place_in_the_reference():
    text = (ROOT / "docs" / "api.rst").read_text()
    listed = re.findall(r"^   ([\w.]+)$", text, re.MULTILINE)
    assert sorted(set(listed)) == sorted(listed), "twice in docs/api.rst"
    assert set(clearwood.__all__) - {"__version__"} <= set(listed)
    for name in listed:
        value = clearwood
        for part in name.split("."):
            value = getattr(value, part)
