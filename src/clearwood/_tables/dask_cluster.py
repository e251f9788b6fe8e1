"""Requests to a Dask cluster, with timeouts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from clearwood._numeric.progress import MOST_SECONDS, Patience
from clearwood.exceptions import InputError

LOOK_SECONDS = 5.0
"""Interval between checks for workers during a computation."""

WAIT_SETTING = "clearwood.wait-for-workers"
"""Dask option for the timeout of a cluster without workers."""


def n_threads() -> int:
    """Number of threads that compute in parallel."""
    from dask import config
    from dask.system import CPU_COUNT

    with named_client() as client:
        if client is None:
            return config.get("num_workers", None) or CPU_COUNT
        return sum(await_answer(client, client.nthreads).values())


def computed(*tasks: Any) -> tuple[Any, ...]:
    """``dask.compute`` with a timeout for a cluster without workers."""
    import dask

    with named_client() as client:
        if client is None:
            return dask.compute(*tasks)
        futures = client.compute(list(tasks))
        return tuple(await_answer(client, lambda: client.gather(futures), works=True))


def await_answer(
    client: Any, request: Callable[[], Awaitable[Any]], *, works: bool = False
) -> Any:
    """Await a request to a cluster, with a timeout while it has no workers.

    Parameters
    ----------
    client : distributed.Client
    request : callable
        Called in the client's event loop; returns an awaitable.
    works : bool
        Whether workers compute the result, so that there is no limit while there are
        some.
    """
    from dask import config
    from dask.utils import parse_timedelta

    address = client.scheduler.address
    patience = Patience(
        f"no Dask worker, or no response, at {address}",
        parse_timedelta(config.get(WAIT_SETTING, MOST_SECONDS)),
    )

    async def answer() -> Any:
        pending = asyncio.ensure_future(request())
        known: set[str] = set()
        try:
            while not (await asyncio.wait({pending}, timeout=LOOK_SECONDS))[0]:
                here: dict[str, int] = {}
                with suppress(TimeoutError):
                    here = await asyncio.wait_for(client.nthreads(), LOOK_SECONDS)
                if not patience.goes_on(works and bool(here)):
                    raise InputError(
                        f"No Dask worker, or no response, at {address} for "
                        f"{patience.most_seconds:.0f} s. Start workers there (dask "
                        f"worker {address}) and retry, or set a longer timeout: "
                        f"dask.config.set({{{WAIT_SETTING!r}: '2h'}})."
                    )
                if works and (new := here.keys() - known):
                    with suppress(TimeoutError):
                        versions = _versions(client, sorted(new))
                        _check_versions(await asyncio.wait_for(versions, LOOK_SECONDS))
                        known |= new
            return pending.result()
        finally:
            pending.cancel()

    return client.sync(answer)


def check_workers(client: Any) -> None:
    """Check that all workers have this library, in the same version.

    A worker that cannot unpickle a task drops it, and Dask waits for it forever.
    """
    _check_versions(await_answer(client, lambda: _versions(client)))


def _versions(client: Any, workers: list[str] | None = None) -> Awaitable[Any]:
    """Version on each worker; errors where there is none that can be imported."""
    from pydoc import locate  # imports by name, and is available on every worker

    name = "clearwood.__version__"
    return client.run(locate, name, workers=workers, on_error="return")


def _check_versions(versions: dict[str, Any]) -> None:
    from clearwood import __version__

    for worker, version in versions.items():
        # A worker that has just left will get no tasks.
        if version != __version__ and not isinstance(version, OSError):
            known = isinstance(version, str)
            has = f"has clearwood {version}" if known else "has no clearwood"
            raise InputError(
                f"The Dask worker at {worker} {has}. Install {__version__}, the "
                "version of this program, in its environment."
            )


@contextmanager
def named_client() -> Iterator[Any]:
    """Context with the current client of Dask, or None, that detects a lost scheduler.

    Without a scheduler, Dask itself reports cancelled tasks only.
    """
    from dask.base import get_scheduler

    owner = getattr(get_scheduler(), "__self__", None)
    client = owner if hasattr(owner, "nthreads") else None
    # A closed client no longer has this attribute.
    scheduler = getattr(client, "scheduler", None)
    where = f" at {scheduler.address}" if scheduler is not None else ""
    try:
        yield client
    except Exception as error:
        if client is None or client.status == "running":
            raise
        raise InputError(
            f"The Dask scheduler{where} is lost ({type(error).__name__}). Restart it, "
            "and create a new client (distributed.Client)."
        ) from error
