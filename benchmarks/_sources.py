"""The sources of the library that a study uses, and whether they are those of today."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HASH = re.compile("[0-9a-f]{40,64}")
KINDS = ("Classifier", "Regressor")
NAMES = re.compile(r"\b(?:cw|clearwood)(?:\.| import )(\w+)")
OUTSIDE = re.compile(r'subprocess|"clearwood"|from tests')
"""Of studies that may use everything: in processes, as files, or in tests."""
ALWAYS = ("__init__", "_native", "datasets")
"""Used by every study: kernels are one module, and ``_data`` draws simulated sets."""

LATER = {
    # Constants of sums of three or more classes, of a model in single precision: the
    # only page with such models, few_rules, was made with the later version.
    "2f53edf7441fdcf37a56cb954beb6d51487495f2": (
        "acde6eada0788d81bad59bfd576079957b775812"
    ),
}
"""Git's hash of a file -> that of a later version, with the same results in all pages.

For corrections that concern few cases, which were run again.
"""


def source_tree(commit="HEAD"):
    """Git's hash of the library's sources; of today's also whether they changed."""
    git = ["git", "-C", str(ROOT), "rev-parse", f"{commit}:src"]
    try:
        tree = subprocess.check_output(git, text=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return tree.strip() + with_changes() * (commit == "HEAD")


def with_changes():
    """A text if the sources differ from those of the last commit."""
    git = ["git", "-C", str(ROOT), "status", "--porcelain", "src"]
    return ", with changes" * bool(subprocess.check_output(git))


def is_of_today(tree, study):
    """Whether the code that a study uses is that of today.

    Docstrings and comments may differ, packages that the study does not use, and
    versions of files with the same results (:data:`LATER`).
    """
    today, git = source_tree(), ["git", "-C", str(ROOT)]
    if tree == today or not (HASH.fullmatch(tree) and HASH.fullmatch(today)):
        return tree == today

    def output(*command):
        return subprocess.check_output([*git, *command], stderr=subprocess.DEVNULL)

    def code(tree, path):
        version = output("rev-parse", f"{tree}:{path}").decode().strip()
        return _code(output("show", LATER.get(version, version)))

    listed = [*git, "diff", "--name-only", "--no-renames", "-z", tree, today]
    try:
        changed = subprocess.check_output(listed, text=True).split("\0")[:-1]
        used = packages_of(study) if changed else None
        changed = [path for path in changed if used is None or _package(path) in used]
        return all(path.endswith(".py") for path in changed) and all(
            code(tree, path) == code(today, path) for path in changed
        )
    except subprocess.CalledProcessError:  # a file that only one of them has
        return False


def _code(text):
    """What Python compiles of a file, without docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [s for s in body if not _is_text(s)]
    return ast.dump(tree)


def _is_text(statement):
    return isinstance(statement, ast.Expr) and isinstance(
        getattr(statement.value, "value", None), str
    )


def packages_of(study):
    """Packages of the library that a study may load; None for all of them.

    They are those that it names, and what these import.
    """
    from clearwood import _HOME

    text, imported = text_of(study), _imported()
    if OUTSIDE.search(text):
        return None
    names = [*NAMES.findall(text), *estimators_named_in(study)]
    homes = [_HOME.get(name, name).removeprefix("clearwood.") for name in names]
    waiting = [*ALWAYS, *(home.split(".")[0] for home in homes)]
    for package in waiting:
        waiting += imported.get(package, set()) - set(waiting)
    return set(waiting)


def stem(name):
    """An estimator's name without its kind."""
    for kind in KINDS:
        name = name.removesuffix(kind)
    return name


def estimators_named_in(study):
    """Public estimators that a study names, in full, without kind or by method."""
    import clearwood
    from clearwood.simplifiers import METHODS

    text = text_of(study)
    words = {stem(word) for word in re.findall(r"\w+", text)}
    words |= {METHODS[w] for w in re.findall(r'method="(\w+)"', text) if w in METHODS}
    if re.search(r"\bcw\.compare\(", text):
        words |= set(METHODS.values())
    return [
        name
        for name in clearwood.__all__
        if hasattr(getattr(clearwood, name), "get_params") and stem(name) in words
    ]


def text_of(study):
    """Source of a study and of the modules from which it imports.

    Names with a leading underscore are common to all studies.
    """
    texts, waiting = {}, [study]
    for name in waiting:
        path = ROOT / "benchmarks" / f"{name.replace('.', '/')}.py"
        if name in texts or name[:1] == "_" or not path.is_file():
            continue
        texts[name] = path.read_text(encoding="utf-8")
        for module, names in _imports(texts[name], "benchmarks"):
            waiting += [module, *(f"{module}.{name}".strip(".") for name in names)]
    return "\n".join(texts.values())


@cache
def _imported():
    """Package of the library -> packages that any of its modules imports."""
    found = {}
    for path in (ROOT / "src" / "clearwood").rglob("*.py"):
        names = found.setdefault(_package(path.relative_to(ROOT)), set())
        for module, inside in _imports(path.read_text("utf-8"), "clearwood"):
            names.update([module.split(".")[0]] if module else inside)
    return found


def _imports(text, package):
    """Modules of a package that a file imports, without the package, and the names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            found = [(node.module or "", [alias.name for alias in node.names])]
        elif isinstance(node, ast.Import):
            found = [(alias.name, []) for alias in node.names]
        else:
            continue
        for module, names in found:
            if module.split(".")[0] == package:
                yield module.removeprefix(package).strip("."), names


def _package(path):
    """The package of the library to which a file belongs, below the root or ``src``."""
    parts = Path(path).parts
    return parts[parts.index("clearwood") + 1].removesuffix(".py")
