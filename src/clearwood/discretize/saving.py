"""Fitted binnings in files, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._archive import split_parts
from clearwood._documents import Place
from clearwood.columns.feature_space import FeatureSpace
from clearwood.discretize.binners import BinaryBinner, MDLPDiscretizer
from clearwood.discretize.cuts import Decision
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.rules.serialise import columns_to_dict, read_columns

KINDS = {"BinaryBinner": BinaryBinner, "MDLPDiscretizer": MDLPDiscretizer}


def to_archive(estimator: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """All of a fitted BinaryBinner or MDLPDiscretizer.

    Returns
    -------
    document : dict
    arrays : dict of str to ndarray
    """
    if type(estimator) not in KINDS.values():
        raise InputError(f"Cannot save a {type(estimator).__name__}.")
    check_is_fitted(estimator)
    cuts = [own for own in estimator.cuts_ if own is not None]
    document = columns_to_dict(estimator) | {
        "passes": [own is None for own in estimator.cuts_]
    }
    arrays = {
        "n_cuts": np.array([len(own) for own in cuts], dtype=np.int64),
        "cuts": np.concatenate([np.zeros(0), *cuts]),
    }
    if isinstance(estimator, MDLPDiscretizer):
        decisions = [own for own in estimator.decisions_ if own is not None]
        arrays["n_decisions"] = np.array([len(own) for own in decisions], np.int64)
        flat = np.array([one for own in decisions for one in own])
        arrays["decisions"] = flat.reshape(-1, len(Decision._fields))
    return document, arrays


def from_archive(top: Place, array: Callable[..., np.ndarray]) -> Any:
    """Read what :func:`to_archive` kept; anything else is a ModelFormatError."""
    estimator = KINDS[top["kind"].text()]()
    passes = [place.flag() for place in top["passes"].entries()]
    if not passes:
        top["passes"].fail("no column", "at least one")
    read_columns(estimator, top, len(passes))
    sizes = array("n_cuts", "i", passes.count(False))
    cuts = split_parts(array("cuts", "f", -1), sizes, "cuts")
    if any(np.isnan(own).any() or (own[1:] <= own[:-1]).any() for own in cuts):
        raise ModelFormatError("cuts: expected rising numbers.")
    names = getattr(estimator, "feature_names_in_", None)
    own_names = FeatureSpace.numeric(len(passes), names).names
    estimator._keep(list(own_names), _among(passes, cuts))
    if isinstance(estimator, MDLPDiscretizer):
        sizes = array("n_decisions", "i", passes.count(False))
        rows = array("decisions", "f", -1, len(Decision._fields))
        estimator.decisions_ = _among(
            passes,
            [
                [Decision(*row) for row in part.tolist()]
                for part in split_parts(rows, sizes, "decisions")
            ],
        )
    return estimator


def _among(passes: list[bool], parts: list[Any]) -> list[Any]:
    """The parts of columns that are cut, with None for those that pass."""
    left = iter(parts)
    return [None if skip else next(left) for skip in passes]
