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
    elif hasattr(result, "unlearn"):
        from clearwood.metatree.saving import save_estimator

        save_estimator(result, path, overwrite=overwrite)
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
    if _is_zip(path):
        from clearwood.metatree.saving import load_estimator

        return load_estimator(path)
    return RuleSet.load(path)


def _is_zip(path: str | Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False  # for the reader to say
