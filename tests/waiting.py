"""Other processes: every wait for them has a limit, and none of them stays."""

import multiprocessing
import subprocess
import time
from contextlib import contextmanager, suppress

SECONDS = 240
"""Less than pytest's own limit, so that what fails is the wait, by its name."""

CLOSING_SECONDS = 60
"""In which a cluster closes; what is left of it then is killed."""


@contextmanager
def running(command, **options):
    """A process that ends with the context at the latest."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def local_cluster(**settings):
    """A scheduler of Dask and its workers, which end with the context."""
    from distributed import LocalCluster

    before = set(multiprocessing.active_children())
    cluster = None
    try:
        cluster = LocalCluster(threads_per_worker=1, dashboard_address=":0", **settings)
        yield cluster
    finally:
        try:
            if cluster is not None:
                # Dask may hear of a killed worker when its record is gone.
                with suppress(KeyError):
                    cluster.close(timeout=CLOSING_SECONDS)
        finally:
            for process in set(multiprocessing.active_children()) - before:
                process.kill()
                process.join(CLOSING_SECONDS)


def await_workers(client, n_workers):
    """Until a cluster has so many workers."""
    end = time.monotonic() + SECONDS
    while True:
        # Starts those anew that ended while they started.
        client.cluster.scale(n_workers)
        try:
            return client.wait_for_workers(n_workers, timeout=10)
        except TimeoutError:
            if time.monotonic() > end:
                raise
