"""Threads: a pool for the sparse kernels, and a lid on those of BLAS.

Written by hand because the loops of ``kernels`` must run on all cores without an OpenMP or numba thread pool: those
spin while they wait (a busy core then costs 20×) or may not be entered from two threads at once. Plain threads over
compiled loops that release the GIL have neither fault.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from operator import index
from typing import Any

_SERIAL_WORK = 400_000  # multiply-adds under which waking a thread costs more than it saves (about 0.2 ms)


def _available_cores() -> int:
    asked = os.environ.get("OMP_NUM_THREADS", "")
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return min(here, int(asked)) if asked.isdigit() and int(asked) > 0 else here


_here = threading.local()


@contextmanager
def serial() -> Iterator[None]:
    """Within this context, and in this thread alone, the sparse kernels stay on the calling thread.

    For code that runs one solve per thread and has no core to spare; results are the same, bit for bit.
    """
    before = getattr(_here, "serial", False)
    _here.serial = True
    try:
        yield
    finally:
        _here.serial = before


class _Workers:
    """Plain threads, started on first use and again after a fork (threads do not survive one)."""

    def __init__(self) -> None:
        self.count = _available_cores()
        self._pool: ThreadPoolExecutor | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        self._pool = None

    def share(self, job: Callable[[int], None], chunks: int) -> None:
        """Run job(0) … job(chunks − 1); the caller works too, so a thread that is not scheduled delays nobody."""
        pool = self._pool  # held here: another thread may change the number of threads meanwhile
        if pool is None:
            pool = self._pool = ThreadPoolExecutor(max(1, self.count - 1), thread_name_prefix="spectraplex")
        ticket = itertools.count()  # next() is atomic in CPython

        def work() -> None:
            while (chunk := next(ticket)) < chunks:
                job(chunk)

        helpers = [pool.submit(work) for _ in range(min(self.count, chunks) - 1)]
        work()
        for helper in helpers:
            if not helper.cancel():  # never started: the caller has done its share already
                helper.result()

    def worth(self, work: int, chunks: int) -> bool:
        """Whether so many multiply-adds in so many chunks should be shared at all."""
        return work >= _SERIAL_WORK and self.count > 1 and chunks > 1 and not getattr(_here, "serial", False)

    def run(self, job: Callable[[int], None], chunks: int, work: int) -> None:
        """All chunks, shared when the work is worth waking a thread for."""
        if not self.worth(work, chunks):
            for chunk in range(chunks):
                job(chunk)
        else:
            self.share(job, chunks)


workers = _Workers()


def set_threads(count: int) -> int:
    """Set how many threads the sparse kernels use; returns the previous number. Results do not depend on it."""
    try:
        wanted = index(count)
    except TypeError:
        raise TypeError(f"threads must be a whole number, got {count!r}.") from None
    if wanted < 1:
        raise ValueError(f"threads must be at least 1, got {count}.")
    before, workers.count = workers.count, wanted
    workers.forget()
    return before


class _OneBlasThread:
    """Keep BLAS to one thread while any rank-one solve runs, whichever thread it runs in.

    The products in an eigenvector computation are far too small for OpenBLAS's threads, which spin while they wait:
    with another process on a core a step takes six times as long. Counted, so that the last one out restores.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limits: Any = None
        self._known: Any = None  # the BLAS libraries of this process, as long as no further module was imported
        self._modules = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limits = self._libraries().limit(limits=1, user_api="blas")
            self._inside += 1  # last, so that an interrupted entry leaves nothing behind

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()
                self._limits = None

    def _libraries(self) -> Any:
        """Looking through all loaded libraries takes as long as a small solve: not done each time."""
        import scipy.linalg  # noqa: F401 (it brings a BLAS of its own, which must be seen)
        from threadpoolctl import ThreadpoolController

        if self._modules != len(sys.modules):
            self._known, self._modules = ThreadpoolController(), len(sys.modules)
        return self._known


one_blas_thread = _OneBlasThread()
