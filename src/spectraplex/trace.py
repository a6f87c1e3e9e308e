"""Record, and the observers: what happened at each step, collected or shown while it happens."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, TextIO, overload

import numpy as np

from .places.numpy import Array


@dataclass(frozen=True)
class Record:
    """One step: ``gap`` and ``lower_bound`` are certified (inf and −inf until then), ``estimated_gap`` steers.

    ``rounds`` and ``bytes`` count what a cluster was asked so far, and what travelled for it; zero on one machine.
    """

    step: int
    seconds: float
    value: float
    gap: float
    lower_bound: float
    estimated_gap: float
    atoms: int
    products: float
    kind: str
    size: float
    rounds: int = 0
    bytes: int = 0


class Trace(Sequence[Record]):
    """The records of a run, in order."""

    def __init__(self, records: Sequence[Record] = ()) -> None:
        self._records = list(records)

    @classmethod
    def of_columns(cls, columns: Mapping[str, Sequence[Any]]) -> Trace:
        """From what was saved of ``as_dict``; columns that have a default may be missing, as in older files."""
        count = len(columns["step"])
        rows = zip(
            *(
                columns[each.name] if each.default is MISSING or each.name in columns else [each.default] * count
                for each in fields(Record)
            ),
            strict=True,
        )
        return cls([Record(*row) for row in rows])

    def append(self, record: Record) -> None:
        self._records.append(record)

    def replace_last(self, record: Record) -> None:
        self._records[-1] = record

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Trace: ...
    def __getitem__(self, index: int | slice) -> Record | Trace:
        return Trace(self._records[index]) if isinstance(index, slice) else self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def as_dict(self) -> dict[str, Array]:
        """One array per column, ready for a data frame or a plot."""
        rows = [asdict(record) for record in self._records]
        return {field.name: np.array([row[field.name] for row in rows]) for field in fields(Record)}

    def __repr__(self) -> str:
        return f"Trace({len(self)} records)"


class Collect:
    """An observer that keeps records (and, if asked, points); ``solve`` already returns a trace."""

    def __init__(self, points: bool = False) -> None:
        self.trace = Trace()
        self.points: list[Any] = []
        self._keep = points

    def __call__(self, record: Record, point: Any) -> None:
        self.trace.append(record)
        if self._keep:
            self.points.append(point)


class Progress:
    """An observer that prints a table, one line every so many seconds, to standard error unless told otherwise.

    On a cluster it has two columns more: the rounds so far, and the megabytes that one of them sent and brought.
    """

    def __init__(self, every_seconds: float = 1.0, file: TextIO | None = None) -> None:
        self.every_seconds = every_seconds
        self._file = file
        self._last = -float("inf")
        self._headed = False

    def __call__(self, record: Record, point: Any) -> None:
        if record.seconds - self._last < self.every_seconds:
            return
        out = self._file if self._file is not None else sys.stderr
        if not self._headed:
            far = f" {'rounds':>7} {'MB/round':>8}" if record.rounds else ""
            out.write(f"{'step':>7} {'seconds':>8} {'value':>14} {'gap':>10} {'atoms':>6} {'products':>9}{far}  kind\n")
            self._headed = True
        gap = f"{record.gap:.3g}" if np.isfinite(record.gap) else f"~{record.estimated_gap:.3g}"
        far = f" {record.rounds:7d} {1e-6 * record.bytes / record.rounds:8.2f}" if record.rounds else ""
        out.write(
            f"{record.step:7d} {record.seconds:8.2f} {record.value:14.8g} {gap:>10} {record.atoms:6d} "
            f"{record.products:9.0f}{far}  {record.kind}\n"
        )
        out.flush()
        self._last = record.seconds
