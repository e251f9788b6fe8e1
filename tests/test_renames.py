"""The table of renamed names: every new one exists, and scripts are adapted by it."""

import ast
import csv
import inspect
from functools import reduce
from pathlib import Path

import click
from tests.conftest import find_shared_data

import clearwood as cw
from clearwood.cli import main

ROOT = Path(__file__).parents[1]

with (ROOT / "docs" / "renames.csv").open() as table:
    ROWS = list(csv.DictReader(table))


def of_kind(kind):
    return {row["old"]: row["new"] for row in ROWS if row["kind"] == kind}


RENAMED = of_kind("name")


def everything():
    """Classes and functions of the package itself, and of its modules."""
    modules = [cw, *(getattr(cw, name) for name in cw._SUBMODULES)]
    found = [getattr(m, name) for m in modules for name in getattr(m, "__all__", ())]
    return [one for one in found if callable(one)]


def parameters(call):
    try:
        return set(inspect.signature(call).parameters)
    except (TypeError, ValueError):  # pragma: no cover
        return set()


def test_present_names_exist_and_former_ones_do_not():
    for old, new in RENAMED.items():
        assert not hasattr(cw, old)
        assert callable(reduce(getattr, new.split("."), cw))


def test_present_names_of_parameters_attributes_and_options_exist():
    public = everything()
    methods = [m for c in public for _, m in inspect.getmembers(c, callable)]
    assert {*of_kind("parameter").values()} <= set().union(
        *map(parameters, [*public, *methods])
    )
    documented = " ".join(inspect.getdoc(one) or "" for one in public)
    attributes = {name for one in public for name in dir(one)}
    attributes |= set(documented.replace(":", " ").replace(",", " ").split())
    assert {*of_kind("attribute").values()} <= attributes
    context = click.Context(main)
    commands = [main.get_command(context, verb) for verb in main.list_commands(context)]
    options = {name for c in commands for option in c.params for name in option.opts}
    assert {*of_kind("option").values()} <= options
    assert not {*of_kind("option")} & options


class Adapted(ast.NodeTransformer):
    """A script with present names: of clearwood, of its parameters and attributes."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        is_ours = isinstance(node.value, ast.Name) and node.value.id in (
            "cw", "clearwood"
        )  # fmt: skip
        if is_ours and node.attr in RENAMED:
            return ast.parse(f"{node.value.id}.{RENAMED[node.attr]}").body[0].value
        if node.attr in of_kind("attribute"):
            node.attr = of_kind("attribute")[node.attr]
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        call = named_by(node.func)
        if call is not None:
            known = parameters(call)
            gone = of_kind("removed").keys() - known
            node.keywords = [word for word in node.keywords if word.arg not in gone]
            for word in node.keywords:
                if word.arg and word.arg not in known:
                    word.arg = of_kind("parameter").get(word.arg, word.arg)
        return node

    def visit_Constant(self, node):
        if isinstance(node.value, str) and node.value in of_kind("option"):
            node.value = of_kind("option")[node.value]
        return node


def named_by(node):
    """What ``cw.name`` stands for, or None."""
    names = ast.unparse(node).split(".")
    if names[0] not in ("cw", "clearwood") or not all(n.isidentifier() for n in names):
        return None
    return reduce(getattr, names[1:], cw)


def test_scripts_are_adapted_by_the_table():
    calls = 0
    for path in sorted(find_shared_data("attacks").rglob("*.py")):
        if "RulesDisplay" in path.read_text():  # removed, not renamed
            continue
        tree = Adapted().visit(ast.parse(path.read_text()))
        compile(ast.fix_missing_locations(tree), path.name, "exec")
        for node in ast.walk(tree):
            call = named_by(node.func) if isinstance(node, ast.Call) else None
            if call is not None:
                calls += 1
                known = parameters(call)
                for word in node.keywords:
                    assert (
                        word.arg in {None, *known} or {"settings", "kwargs"} & known
                    ), path
    assert calls > 60
