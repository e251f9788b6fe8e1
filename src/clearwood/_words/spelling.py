"""Suggestions for misspelt names of parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def suggestion(name: str, known: Iterable[str]) -> str:
    """End of an error of an unknown name: the known name that is like it, if any.

    Examples
    --------
    >>> suggestion("max_rule", ["max_rules", "n_rules"]), suggestion("x", ["n_rules"])
    (" Did you mean 'max_rules'?", '')
    """
    found = get_close_matches(name, known, n=1)
    return f" Did you mean {found[0]!r}?" if found else ""


def suggests_parameters(function: Callable[P, T]) -> Callable[P, T]:
    """Add a suggestion to the ``TypeError`` of an unknown parameter.

    Decorator of public functions and constructors, for Python before 3.13, which
    suggests names itself.

    Examples
    --------
    >>> @suggests_parameters
    ... def shortened(rules, max_rules=10):
    ...     return rules[:max_rules]
    >>> shortened("abc", max_rule=2)
    Traceback (most recent call last):
    TypeError: ...unexpected keyword argument 'max_rule'. Did you mean 'max_rules'?
    """

    @wraps(function)
    def suggesting(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            found = re.search(r"unexpected keyword argument '(\w+)'$", str(error))
            # Of this call, and of no call within the function.
            if found is None or error.__traceback__.tb_next is not None:  # type: ignore[union-attr]
                raise
            known = inspect.signature(function).parameters
            text = suggestion(found[1], known)
            raise TypeError(f"{error}.{text}" if text else str(error)) from None

    return suggesting
