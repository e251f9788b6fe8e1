"""Results in files that anybody can open safely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clearwood.exceptions import InputError
from clearwood.rules import RuleSet


def save(result: Any, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a result to a file.

    Parameters
    ----------
    result : RuleSet
        What is written, as JSON. Of a fitted estimator, save its ``rules_``.
    path : str or Path
        File to write.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Examples
    --------
    >>> import clearwood as cw, tempfile, pathlib
    >>> from clearwood import FeatureSpace
    >>> rules = cw.RuleSet((), cw.Rule((), 3.5), FeatureSpace.numeric(2))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.json"
    >>> cw.save(rules, path)
    >>> print(cw.load(path))
    1. otherwise 3.5
    """
    if not isinstance(result, RuleSet):
        raise InputError(
            f"Cannot save a {type(result).__name__}; save a RuleSet, for example the "
            "rules_ of a fitted estimator."
        )
    result.save(path, overwrite=overwrite)


def load(path: str | Path) -> RuleSet:
    """Read what :func:`save` wrote.

    Raises
    ------
    ModelFormatError
        The file is not a rule set; the message names the place.
    """
    return RuleSet.load(path)
