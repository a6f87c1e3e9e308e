"""A cluster that the shell fits on: one that runs somewhere, or processes of this machine."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# what lies on a worker is in use all the time, so nothing is written to its disk
_MEMORY = {f"distributed.worker.memory.{name}": False for name in ("target", "spill", "pause")}


@contextmanager
def connected(cluster: str, tell: Callable[[str], None]) -> Iterator[Any]:
    """A client of a scheduler that runs somewhere, or of workers on this machine, one a core."""
    try:
        import dask
        import distributed
    except ImportError:
        raise ValueError(
            "--cluster needs the extra 'cluster' (dask, distributed, pyarrow): from a checkout, "
            "pip install '.[cluster]'."
        ) from None
    if cluster == "local":
        with dask.config.set(_MEMORY), _uninterrupted():
            own = distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0", silence_logs=50)
        with own as made, distributed.Client(made) as client:
            workers = len(client.nthreads())
            tell(f"A cluster of {workers} processes on this machine; its dashboard is {client.dashboard_link}.")
            yield client
        return
    if "://" not in cluster:
        raise ValueError(
            f"--cluster is 'local' or the address of a scheduler such as tcp://host:8786, got {cluster!r}."
        )
    try:
        client = distributed.Client(cluster, timeout="10s")
    except (OSError, TimeoutError, ValueError) as error:
        raise ValueError(
            f"--cluster {cluster}: no scheduler answers there ({str(error).splitlines()[0].rstrip('.')}); start one "
            "with `dask scheduler`, and workers with `dask worker`."
        ) from None
    with client:
        workers = len(client.nthreads())
        if not workers:
            raise ValueError(
                f"--cluster {cluster}: the scheduler has no workers; start some with `dask worker {cluster}`."
            )
        tell(f"A cluster of {workers} workers at {cluster}.")
        yield client


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C reaches every process of a terminal; those that start here leave it to this one."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
