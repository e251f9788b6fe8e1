"""Identification of scikit-learn's classes without importing them."""

from __future__ import annotations

from collections.abc import Container
from typing import Any


def kind_of(model: Any, names: Container[str]) -> str | None:
    """First of the named scikit-learn classes in the inheritance of a model.

    Examples
    --------
    >>> from sklearn.tree import ExtraTreeRegressor
    >>> kind_of(ExtraTreeRegressor(), ("DecisionTreeRegressor",))
    'DecisionTreeRegressor'
    """
    for base in type(model).__mro__:
        if base.__module__.startswith("sklearn.") and base.__name__ in names:
            return base.__name__
    return None


def is_a(model: Any, *names: str) -> bool:
    """Whether an object is of one of these classes."""
    return kind_of(model, names) is not None


def public_name(model: Any) -> str:
    """Public name of the class of a model, without private modules.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> public_name(DecisionTreeRegressor())
    'sklearn.tree.DecisionTreeRegressor'
    """
    module = type(model).__module__.partition("._")[0]
    return f"{module}.{type(model).__qualname__}"
