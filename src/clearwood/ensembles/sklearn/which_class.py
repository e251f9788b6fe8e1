"""Which of scikit-learn's classes an object is, without importing any of them."""

from __future__ import annotations

from collections.abc import Container
from typing import Any


def kind_of(model: Any, names: Container[str]) -> str | None:
    """The first of scikit-learn's own classes along the inheritance that is named.

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
    """The public name of its class: without private modules.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> public_name(DecisionTreeRegressor())
    'sklearn.tree.DecisionTreeRegressor'
    """
    module = type(model).__module__.partition("._")[0]
    return f"{module}.{type(model).__qualname__}"
