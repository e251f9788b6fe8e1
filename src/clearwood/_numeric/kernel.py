"""The one way in which this library compiles a function."""

from __future__ import annotations

import functools
import hashlib
import importlib
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

CONSTANTS = (bool, int, float, complex, str, tuple)
"""What Numba compiles into a function that names it."""


def kernel(function: Function) -> Function:
    """Compile a pure function on arrays with Numba when it is first called.

    Numba is imported at that call and not before, so that importing the library
    stays cheap. The compiled code releases the GIL and divides like NumPy (no
    ``ZeroDivisionError``). It never runs threads of its own: sums would change
    with their number.

    A kernel may call others, of its own module or of a room below, under the names
    by which they were imported (``from room._kernels import part``; not
    ``_kernels.part``). Compiled code is kept between runs for as long as nothing
    that it was made of changes, the kernels and constants of other modules included.

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
        try:
            return compile_once()(*args)
        except SystemError as error:
            if interrupted(error):
                raise KeyboardInterrupt from None
            raise

    call.compile_once = compile_once  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def interrupted(error: BaseException | None) -> bool:
    """Whether an error is what code in C has made of Ctrl-C.

    Where such code calls a line of Python and Ctrl-C comes there, it raises an error of
    its own, which only says "caused by KeyboardInterrupt".

    Examples
    --------
    >>> error = ValueError("not a valid buffer")
    >>> interrupted(error)
    False
    >>> error.__cause__ = KeyboardInterrupt()
    >>> interrupted(error)
    True
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def _linked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the compiled form of every kernel that it calls.

    Numba knows its code again by the file it stands in and by its name, so the name
    tells what else it is made of.
    """
    named = dict(_named(function))
    if not named:
        return function
    kernels = {k: v.compile_once() for k, v in named.items() if _is_kernel(v)}
    linked = types.FunctionType(
        function.__code__,
        {**function.__globals__, **kernels},
        argdefs=function.__defaults__,
        closure=function.__closure__,
    )
    made_of = "\n".join(_made_of(function))
    digest = hashlib.sha256(made_of.encode()).hexdigest()[:12]
    linked.__qualname__ = f"{function.__qualname__}-{digest}"
    return linked


def _named(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The kernels and constants of its module that a function names."""
    scope, names = function.__globals__, function.__code__.co_names
    for name in names:
        value = scope.get(name)
        if _is_kernel(value) or isinstance(value, CONSTANTS):
            yield name, value
        elif isinstance(value, types.ModuleType):
            for part in names:
                if _is_kernel(getattr(value, part, None)):
                    raise TypeError(
                        f"The kernel {function.__qualname__} calls {name}.{part}; "
                        f"import {part} itself, as Numba finds kernels by plain names."
                    )


def _is_kernel(value: Any) -> bool:
    return hasattr(value, "compile_once")


def _made_of(function: Callable[..., Any]) -> Iterator[str]:
    """All that a kernel calls, and the values of the constants in it.

    By its byte code and not its source, which may have changed since it was read; and
    with its module, which Numba imports again when it reads the code from its cache.
    """
    for name, value in _named(function):
        if _is_kernel(value):
            called = value.__wrapped__
            text = _text(called.__code__)
            yield f"{called.__module__}.{name} = {text} {called.__defaults__!r}"
            yield from _made_of(called)
        else:
            yield f"{name} = {value!r}"


def _text(code: types.CodeType) -> str:
    inner = [
        _text(part) if isinstance(part, types.CodeType) else repr(part)
        for part in code.co_consts
    ]
    return repr((code.co_code, code.co_names, code.co_varnames, inner))


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    # In a thread, where no Ctrl-C comes: Numba half loaded does not load again.
    with ThreadPoolExecutor(1) as thread:
        numba = thread.submit(importlib.import_module, "numba").result()
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # Numba found no folder that it may write its cache to (a read-only
        # installation, a function typed at the prompt): compile for this process.
        return numba.njit(**options)(function)
