"""The one way in which this library compiles a function."""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a pure function on arrays with Numba when it is first called.

    Numba is imported at that call and not before, so that importing the library
    stays cheap. The compiled code releases the GIL and divides like NumPy (no
    ``ZeroDivisionError``). It never runs threads of its own: sums would change
    with their number. A kernel may call kernels of its own module (the cache of
    compiled code does not notice changes in other files).

    Examples
    --------
    >>> import numpy as np
    >>> @kernel
    ... def total(values):
    ...     result = 0.0
    ...     for value in values:
    ...         result += value
    ...     return result
    >>> total(np.array([1.0, 2.5]))
    3.5
    """
    compiled: list[Callable[..., Any]] = []
    lock = threading.Lock()

    def compile_once() -> Callable[..., Any]:
        if not compiled:
            with lock:  # restarts run in threads: one of them compiles, for all
                if not compiled:
                    compiled.append(_compile(_linked(function)))
        return compiled[0]

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return compile_once()(*args)

    call.compile_once = compile_once  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def _linked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the compiled form of every kernel that it calls."""
    scope = function.__globals__
    kernels = {
        name: scope[name].compile_once()
        for name in function.__code__.co_names
        if hasattr(scope.get(name), "compile_once")
    }
    if not kernels:
        return function
    linked = types.FunctionType(
        function.__code__, {**scope, **kernels}, argdefs=function.__defaults__
    )
    linked.__qualname__ = function.__qualname__
    return linked


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # Numba found no folder that it may write its cache to (a read-only
        # installation, a function typed at the prompt): compile for this process.
        return numba.njit(**options)(function)
