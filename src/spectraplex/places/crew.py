"""The workers of a cluster while a run goes on: who was lost, who joined, and what went wrong in words.

A state lies on two workers from time to time, and what is sent on all of them. Dask's active memory manager removes
such second copies within seconds, so it is stopped here; ``client.amm.start()`` starts it again. Memory of large
blocks goes back to the system as soon as they are gone (malloc.py).
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from .malloc import large_blocks_go_back

_PATIENCE, _TIMES = 30.0, 4  # seconds after which workers are counted, and how often there may be none
_REACHED = 2.0  # seconds that a worker which can be reached from here takes at most to hand over a number
_FULL = 0.5  # share of the memory of all workers up to which states are kept twice


class ClusterLost(RuntimeError):
    """The cluster cannot go on; the message says what happened, where, and what to do."""


class Crew:
    """The workers, and where every shard is at home."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.homes: list[str] | None = None
        self.known: set[str] = set(client.nthreads())
        self.direct: bool | None = client.direct_to_workers
        large_blocks_go_back()
        with contextlib.suppress(Exception):  # a scheduler without one needs nothing
            client.amm.stop()

    def lost(self, shards: Sequence[Any]) -> bool:
        """Whether a worker was lost since the last time. Where one joined, shards are shared out anew."""
        now = set(self.client.nthreads())
        lost, joined, self.known = self.known - now, now - self.known, now
        if joined and now:
            self._settle(shards)
        return bool(lost)

    def answers(self, futures: Sequence[Any], summed: Sequence[int] = ()) -> tuple[list[list[Any]], int]:
        """What all of them answered to each question, and its bytes; see ``_wait``.

        The answers at ``summed`` are long, and only their sum is wanted: they come one after the other, in order, so
        that two of them are here at a time, while later ones are still worked out.
        """
        done = [threading.Event() for _ in futures]
        for each, there in zip(futures, done, strict=True):
            each.add_done_callback(lambda _, there=there: there.set())
        if not summed:
            for there in done:
                self._wait(there)
            told = list(self.client.gather(list(futures), direct=self._direct()))
            return [list(answer) for answer in zip(*told, strict=True)], sum(map(_bytes, told))
        answers: list[list[Any]] = []
        size = 0
        for each, there in zip(futures, done, strict=True):
            self._wait(there)
            own = list(self.client.gather(each, direct=self._direct()))
            size += _bytes(own)
            answers = answers or [[] for _ in own]
            for i, answer in enumerate(own):
                if i not in summed or not answers[i]:
                    answers[i].append(answer)
                else:
                    into = answers[i][0] if answers[i][0].flags.writeable else None  # what came may not be written to
                    answers[i][0] = np.add(answers[i][0], answer, out=into)
            del own, answer
        return answers, size

    def _wait(self, there: threading.Event) -> None:
        """Until it is there; where no worker is left, and none comes for two minutes, say so.

        Nothing is raised while it waits: an error holds on to all who are waiting, and so to their states, which would
        stay on the workers until Python looks for cycles.
        """
        without = 0
        while not there.wait(timeout=_PATIENCE):
            without = 0 if self.client.nthreads() else without + 1
            if without == _TIMES:
                raise ClusterLost("no worker is left, and none has come; start some, and make the objective anew.")

    def _direct(self) -> bool:
        """Whether answers come from the workers themselves, past the scheduler: if they can be reached from here.

        Asked once, by a small answer: where it takes long they cannot, and it came by the scheduler in the end.
        """
        if self.direct is None:
            import dask

            small = self.client.submit(int, 0, pure=False)
            small.result()
            with dask.config.set({"distributed.comm.timeouts.connect": f"{_REACHED}s"}):
                began = time.perf_counter()
                self.client.gather(small, direct=True)
            self.direct = time.perf_counter() - began < _REACHED
        return self.direct

    def send(self, arrays: Any, copies: int | bool) -> Any:
        """Scatter; again where a worker died meanwhile."""
        direct = self._direct()
        for wait in (0.1, 0.5, 2.0, 8.0):
            try:
                return self.client.scatter(arrays, broadcast=copies, hash=False, direct=direct)
            except Exception:
                if self.client.status != "running":
                    raise
                time.sleep(wait)
        return self.client.scatter(arrays, broadcast=copies, hash=False, direct=direct)

    def keep(self, states: Sequence[Any]) -> bool:
        """Have all of them on two workers; False where a worker died meanwhile, and it has to be done again."""
        try:
            self.client.replicate(states, n=2)
        except Exception:
            return False
        return True

    def can_keep(self, needed: int) -> bool:
        """Whether there are two workers, and so many bytes more, shared out, leave half of their memory free."""
        if len(self.known) < 2:
            return False
        told = list(self.client.scheduler_info()["workers"].values())  # some of them, where there are many
        limit = min((each.get("memory_limit") or 0 for each in told), default=0)
        used = max((each.get("metrics", {}).get("memory", 0) for each in told), default=0)
        return limit == 0 or used + needed / max(1, len(self.known)) <= _FULL * limit

    def home(self, shard: int, shards: Sequence[Any]) -> dict[str, Any]:
        """Where a task of a shard should run: not elsewhere, unless that worker is gone."""
        if self.homes is None and self.known:
            self._settle(shards)
        return {} if self.homes is None else {"workers": [self.homes[shard]], "allow_other_workers": True}

    def _settle(self, shards: Sequence[Any]) -> None:
        import distributed

        waiting: Any = distributed.wait
        waiting(list(shards))  # a shard that is still to be made is nowhere yet
        held = self.client.who_has(list(shards))
        self.homes = _shared_out(held, [each.key for each in shards], sorted(self.known))


def _shared_out(holders: dict[Any, Sequence[str]], keys: Sequence[Any], workers: Sequence[str]) -> list[str]:
    """Every worker has as many shards as any other, give or take one; most stay where they are."""
    most = -(-len(keys) // len(workers))
    load, homes = dict.fromkeys(workers, 0), [""] * len(keys)
    for again in (False, True):
        for p, key in enumerate(keys):
            if homes[p]:
                continue
            here = workers if again else [each for each in holders.get(key, ()) if load.get(each, most) < most]
            if here:
                homes[p] = min(here, key=lambda each: load[each])
                load[homes[p]] += 1
    return homes


def _bytes(answers: Sequence[Any]) -> int:
    return sum(each.nbytes for each in answers if isinstance(each, np.ndarray))


def in_words(error: Exception, client: Any, shards: int, futures: Sequence[Any] = ()) -> Exception:
    """What a user should read of an error of the cluster; one that a shard itself raised stays what it is."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    if isinstance(error, KilledWorker):
        which = _which(str(error.task), shards)
        return ClusterLost(
            f"the workers that computed {which} died one after the other, most likely out of memory; {_REMEDY}"
        )
    if isinstance(error, MemoryError):
        failed = next((str(each.key) for each in futures if each.status == "error"), "")
        return ClusterLost(f"a worker ran out of memory with {_which(failed, shards)}; {_REMEDY}")
    if client.status != "running":
        return ClusterLost(
            "the connection to the scheduler is gone: the client was closed, or the scheduler ended; connect again, "
            "and make the objective anew."
        )
    if isinstance(error, CancelledError | CommClosedError):
        return ClusterLost(
            "what lay on the workers is gone, more than one of them at once; make the objective anew, with more "
            "workers if this comes again."
        )
    return error


_REMEDY = "take more shards (from_dask(…, shards=)), so that each is smaller, or workers with more memory."


def _which(key: str, shards: int) -> str:
    """The shard that a task was about: its key ends with the number."""
    number = key.rsplit("-", 1)[-1]
    total = f" of {shards}" if shards else ""
    return f"shard {number}{total} ({key.split('-', 1)[0]})" if number.isdigit() else f"{key or 'a shard'}"
