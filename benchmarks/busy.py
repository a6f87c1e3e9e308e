"""No collapse: the same run alone, beside a process that keeps a core busy, and from two threads at once."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Iterator

import spectraplex as sx

from .data import problem, ratings


def _spin() -> None:
    while True:
        pass


def run() -> Iterator[str]:
    task = problem(ratings("1m"), 8000.0)
    stop = sx.Stop(max_steps=40)

    def once() -> float:
        return sx.solve(task, "ror-adaptive", stop, certify=False).seconds

    once()
    alone = min(once() for _ in range(2))
    spinner = multiprocessing.get_context("spawn").Process(target=_spin, daemon=True)
    spinner.start()
    time.sleep(1.0)
    try:
        beside = min(once() for _ in range(2))
    finally:
        spinner.terminate()
        spinner.join()
    yield f"1M observations, 40 greedy steps: {alone:.2f} s alone, {beside / alone:.2f}× that beside a busy process"
    threads = [threading.Thread(target=once) for _ in range(2)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = time.perf_counter() - began
    yield f"two solves in two threads: {together / (2 * alone):.2f}× the time of doing them one after the other"
