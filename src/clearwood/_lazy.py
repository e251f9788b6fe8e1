"""Names of a package that are imported on first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_in(modules: Mapping[str, str]) -> dict[str, str]:
    """Modules of clearwood by name, from names, separated by spaces, by module.

    Examples
    --------
    >>> names_in({"rules.drawn.display": "TreeDisplay"})
    {'TreeDisplay': 'clearwood.rules.drawn.display'}
    """
    return {
        name: f"clearwood.{module}"
        for module, names in modules.items()
        for name in names.split()
    }


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """``__getattr__`` of a package, from the modules that define its names.

    Examples
    --------
    >>> loader("clearwood", {"Interval": "clearwood.rules"})("Interval").__name__
    'Interval'
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
