"""Programs for the shards of a cluster: what is written down, what is asked, and what lives on the workers.

Operations that make something on the shards are only written down. A question sends all that was written down to the
workers as one program for each shard (shards.py), and its answers come back: that is one *round*. A state is a pure
function of the one before, so the scheduler computes it again where a worker was lost.
"""

from __future__ import annotations

import functools
import itertools
import operator
import time
import uuid
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from .crew import Crew, in_words
from .numpy import Array
from .shards import Call, Own, Sent, Slot, adopted, advance, bytes_of, operation, qualified, rows_of, small_of
from .tall import rows_between

LARGE = 65_536  # bytes from which an argument is sent to the workers by itself, once for all shards
_SAID = {  # what operations are called on the dashboard of Dask; others by their own names, "" not at all
    "itself": "evaluate",
    "paired": "",
    "product": "multiply_left",
    "product_back": "multiply_right",
    "product_once": "multiply_right",
    "raw_products": "quasi_newton",
    "products_of": "quasi_newton",
    "line": "line_search",
    "line_at": "line_search",
    "dots_own": "dots",
    "mark_of": "fingerprint",
    "length_of": "norm",
    "whole": "gradient",
}
_ADDED = {"product_back", "product_once"}  # questions whose answers are blocks of the right side, to be added up,
_LONG = 2_000_000  # and the bytes from which that is done as they come
_KEPT = 15  # rounds whose arguments stay on the workers; all states are copied after twice as many or more,
_SELDOM = 20.0  # when the rounds since took so many times as long as the copying: it costs a twentieth at most


class Held:
    """Something in the state of every shard, by its slot; gone from there when nobody holds it any more."""

    __slots__ = ("__weakref__", "at", "extra", "pairs")

    def __init__(self, at: int) -> None:
        self.at = at
        #: inner products with others, which are not held for that
        self.pairs: weakref.WeakKeyDictionary[Held, float] = weakref.WeakKeyDictionary()
        self.extra: dict[Any, Any] = {}  # small things that came in the same round


class Left(Held):
    """A left block: its rows are shared out. ``like`` has no rows, and the width and kind of the block."""

    __slots__ = ("like",)

    def __init__(self, at: int, like: Array) -> None:
        super().__init__(at)
        self.like = like


@dataclass(frozen=True, eq=False)
class SharedOut:
    """An argument of which every shard was sent its own part."""

    parts: list[Any]


@dataclass(frozen=True, eq=False)
class Pair:
    """A block upstairs: the left side on the workers, the right side here."""

    left: Left
    right: Array
    extra: dict[Any, Any] = field(default_factory=dict, repr=False)  # small things that are known of it


@dataclass(frozen=True)
class Rides:
    """What is asked of a gradient's product with a block, in the round that evaluates there; kept in its ``extra``.

    In the ``extra`` of a left block it says that a gradient will be multiplied by that block.
    """

    name: str
    question: Callable[[Left], tuple[Any, ...]]


JUST_PRODUCTS = Rides("largest", lambda product: ("largest", product))


class Rounds:
    """A client, the shards of a table of m × n, and the programs that run on them."""

    def __init__(self, client: Any, shards: Sequence[Any], rows: int, columns: int) -> None:
        self.client, self.shards = client, list(shards)
        self.m, self.n = int(rows), int(columns)
        self.rounds, self.bytes = 0, 0
        self._name = uuid.uuid4().hex[:8]
        self._spans: list[Any] | None = None
        self._crew = Crew(client)
        self._states: list[Any] = [({}, []) for _ in shards]
        self._numbers = itertools.count()
        self._live: weakref.WeakValueDictionary[int, Held] = weakref.WeakValueDictionary()
        self._calls: list[Call] = []
        self._sent: list[Any] = []
        self._own: list[SharedOut] = []
        self._spent = self._copying = 0.0  # seconds of rounds since all states were copied, and of that copying
        self._lineage: list[Any] = []  # what was sent in the last rounds: they may have to be computed again

    # ---------------------------------------------------------------------------------------------- programs and rounds

    def make(self, name: str, *arguments: Any, kind: Callable[[int], Held] = Held) -> Any:
        """Write down an operation that makes something on every shard."""
        at = next(self._numbers)
        self._calls.append(Call(qualified(name), tuple(map(self._argument, arguments)), at))
        handle = self._live[at] = kind(at)
        return handle

    def ask(self, *questions: tuple[Any, ...]) -> list[list[Any]]:
        """One round: everything written down, then the questions; the answers of all shards to each of them."""
        asked = [Call(qualified(name), tuple(map(self._argument, arguments))) for name, *arguments in questions]
        calls, sent, own = [*self._calls, *asked], self._sent, self._own
        before = (self._calls, self._states)
        word = _words(name for name, *_ in questions) if questions else "write"
        at, new, began = f"{self._name}-{next(self._numbers)}", [], time.perf_counter()
        try:
            there = self._crew.send([sent], True)[0] if sent else []
            kept = frozenset(self._live.keys())
            for p, (shard, state) in enumerate(zip(self.shards, self._states, strict=True)):
                given = (shard, state, calls, kept, there, [each.parts[p] for each in own])
                home = self._crew.home(p, self.shards)
                new.append(self.client.submit(advance, *given, key=f"{word}-{at}-{p}", pure=False, **home))
            numbers = [
                self.client.submit(small_of, each, key=f"answers-{at}-{p}", pure=False) for p, each in enumerate(new)
            ]
            self._states, self._calls, self._sent, self._own = new, [], [], []
            answers, came = self._crew.answers(numbers, self._summed(questions))
            self._lineage.append((there, own))
            self._spent += time.perf_counter() - began
            many = len(self._lineage) >= 2 * _KEPT and self._spent >= _SELDOM * self._copying
            if self._crew.lost(self.shards) or many:
                self._keep_twice()
        except BaseException as error:  # Ctrl-C, too: what was written down is asked again, from the state before
            (self._calls, self._states), self._sent, self._own = before, sent, own
            if isinstance(error, Exception):
                raise in_words(error, self.client, len(self.shards), new) from None
            raise
        self.rounds += 1
        self.bytes += sum(each.nbytes for each in sent) + came
        return answers

    def _summed(self, questions: Sequence[tuple[Any, ...]]) -> list[int]:
        """The questions whose answers are as long as the right side is, if they are long at all."""
        blocks = [each[-1] if each[0] in _ADDED else None for each in questions]
        widths = [each.like.shape[1] if isinstance(each, Left) else 0 for each in blocks]
        return [i for i, width in enumerate(widths) if 8 * self.n * width > _LONG]

    def _keep_twice(self) -> None:
        """All states on two workers: a lost one costs no more than the rounds since the last time.

        Where they do not fit twice, or there is one worker, what was sent earlier is let go all the same: a lost worker
        then ends the run.
        """
        began = time.perf_counter()
        asked = [self.client.submit(bytes_of, state, pure=False) for state in self._states]
        if not self._crew.can_keep(sum(self.client.gather(asked))) or self._crew.keep(self._states):
            self._lineage = self._lineage[-_KEPT:]
        self._copying, self._spent = time.perf_counter() - began, 0.0

    def total(self, *question: Any) -> Any:
        """The sum of all shards' answers to one question."""
        return functools.reduce(operator.add, self.ask(question)[0])

    @property
    def states(self) -> list[Any]:
        """A future of the state of each shard, with what was made up to the last round."""
        return list(self._states)

    def adopt(self, other: Rounds, block: Left) -> Left:
        """A left block of another table with the same rows in the same shards; it never leaves the workers."""
        other.ask()  # what is written down there is done
        at = next(self._numbers)
        self._states = [
            self.client.submit(adopted, mine, theirs, block.at, at, key=f"adopt-{self._name}-{at}-{p}", pure=False)
            for p, (mine, theirs) in enumerate(zip(self._states, other._states, strict=True))
        ]
        handle = self._live[at] = Left(at, block.like)
        return handle

    def _argument(self, given: Any) -> Any:
        if isinstance(given, Held):
            return Slot(given.at)
        if isinstance(given, SharedOut):
            self._own.append(given)
            return Own(len(self._own) - 1)
        if isinstance(given, np.ndarray) and given.nbytes > LARGE:
            at = next((i for i, each in enumerate(self._sent) if each is given), len(self._sent))
            if at == len(self._sent):
                self._sent.append(given)
            return Sent(at)
        return given

    # ---------------------------------------------------------------------------------------------- rows in and out

    def spans(self, along: str) -> list[tuple[int, int]]:
        """Where the rows of every shard lie among all, or its entries: along is "rows" or "entries"."""
        if self._spans is None:
            self._spans = self.ask(("spans_of",))[0]
        return [each[along] for each in self._spans]

    def piece(self, held: Held, shard: int, low: int, high: int) -> Array:
        """Some rows that one shard holds, fetched."""
        if self._calls:
            self.ask()
        key = f"rows-{self._name}-{next(self._numbers)}-{shard}"
        try:
            future = self.client.submit(rows_of, self._states[shard], held.at, low, high, key=key, pure=False)
            found = cast(Array, future.result())
        except Exception as error:
            raise in_words(error, self.client, len(self.shards)) from None
        self.bytes += found.nbytes
        return found

    def share_out(self, array: Any, along: str) -> SharedOut:
        """Send every shard its own part, to two workers each; one part at a time is here."""
        parts = []
        for low, high in self.spans(along):
            own = rows_between(array, low, high)
            self.bytes += own.nbytes
            try:
                parts.append(self._crew.send(own, 2))
            except Exception as error:
                raise in_words(error, self.client, len(self.shards)) from None
        return SharedOut(parts)

    def verb(self, name: str, *arguments: Any) -> Any:
        """A block-valued verb that works on every row alone: on the shards, here, or both."""
        if any(isinstance(each, Pair) for each in arguments):
            left = self.verb(name, *(each.left if isinstance(each, Pair) else each for each in arguments))
            right = self.verb(name, *(each.right if isinstance(each, Pair) else each for each in arguments))
            return Pair(left, right)
        verb = functools.partial(operation(name), None)
        if any(isinstance(each, Left) for each in arguments):
            like = verb(*(each.like if isinstance(each, Left) else each for each in arguments))
            return self.make(name, *arguments, kind=lambda at: Left(at, like))
        return verb(*arguments)

    def left(self, name: str, *arguments: Any, width: int, dtype: Any) -> Left:
        """A left block that an operation of the shards makes."""
        like = np.empty((0, width), dtype)
        return cast(Left, self.make(name, *arguments, kind=lambda at: Left(at, like)))


def _words(names: Iterable[str]) -> str:
    """What a round does, for people."""
    said = dict.fromkeys(_SAID.get(name, name) for name in names)
    return "+".join(word for word in said if word) or "pair"
