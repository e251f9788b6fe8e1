"""Results in files that anybody can open safely."""

from __future__ import annotations

import re
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

from clearwood.exceptions import InputError
from clearwood.rules import RuleSet

HOMES = {
    "MetaForestClassifier": "clearwood.metatree.saving",
    "MetaForestRegressor": "clearwood.metatree.saving",
    "MetaTreeClassifier": "clearwood.metatree.saving",
    "MetaTreeRegressor": "clearwood.metatree.saving",
}
"""Per class that can be saved as an archive, the module that knows its parts.

It has ``save_estimator(result, path, overwrite=...)`` and ``load_estimator(path)``,
which trusts nothing. A family that can be saved adds its classes.
"""
KIND = re.compile(rb'"kind": ?"(\w+)"')


def save(result: Any, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a result to a file.

    Parameters
    ----------
    result : RuleSet, MetaTreeClassifier, MetaTreeRegressor or MetaForest...
        Rules are written as JSON, fitted meta-trees as a zip of JSON and arrays. Of
        other fitted estimators, save the ``rules_``.
    path : str or Path
        File to write.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Examples
    --------
    >>> import clearwood as cw, tempfile, pathlib
    >>> from clearwood import FeatureSpace
    >>> rules = cw.RuleList((), cw.Rule((), 3.5), FeatureSpace.numeric(2))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.json"
    >>> cw.save(rules, path)
    >>> print(cw.load(path))
    1. otherwise 3.5
    """
    if isinstance(result, RuleSet):
        result.save(path, overwrite=overwrite)
    elif (kind := type(result).__name__) in HOMES:
        import_module(HOMES[kind]).save_estimator(result, path, overwrite=overwrite)
    else:
        raise InputError(
            f"Cannot save a {type(result).__name__}; save a RuleSet, for example the "
            "rules_ of a fitted estimator."
        )


def load(path: str | Path) -> Any:
    """Read what :func:`save` wrote.

    Raises
    ------
    ModelFormatError
        The file is neither a rule set nor a meta-tree; the message names the place.
    """
    if not _is_zip(path):
        return RuleSet.load(path)
    # Where no class is named, any reader of archives says what is wrong.
    home = HOMES.get(_kind_in(path), HOMES["MetaTreeClassifier"])
    return import_module(home).load_estimator(path)


def _is_zip(path: str | Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False  # for the reader to say


def _kind_in(path: str | Path) -> str:
    """The class that an archive names near its start, to know who reads it."""
    try:
        with zipfile.ZipFile(path) as file, file.open("model.json") as member:
            found = KIND.search(member.read(1000))
    except (zipfile.BadZipFile, KeyError, OSError, EOFError, ValueError,
            NotImplementedError, RuntimeError):  # fmt: skip
        return ""
    return "" if found is None else found[1].decode()
