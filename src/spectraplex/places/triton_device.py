"""The kernels of triton.py for one pattern: its segments, the sizes of tiles, and how they are called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from .torch_pattern import TorchPattern

SEGMENT = 512  # entries of a program
BLOCK = 32_768  # rows of the gathered side that are used at a time: 32 MB at rank 256
NARROW = 8  # columns up to which 32 times as many rows are used at a time: a narrow block fits the cache as it is
SHORT, LANES = (24, 64), 128  # entries of a segment, mean and most, up to which that many are done by one program
PLACES = 1 << 20  # sums of segments that are kept at a time: 1 GB at rank 256, 2 GB in double
LARGEST = 2048  # columns that a fused pass holds


@dataclass(frozen=True, eq=False)
class Segments:
    """Rows cut into segments: of each its row, its entries, and where its sum goes if the row has several (else −1).

    ``long`` has the rows with several segments, and their first and last places; there are ``slots`` places. Where the
    gathered side is long, it is cut into blocks that fit the second-level cache, segments do not reach over two of
    them, and all segments of one block come before those of the next: a pass by columns takes half of the time then.
    """

    row: torch.Tensor
    low: torch.Tensor
    high: torch.Tensor
    slot: torch.Tensor
    long: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
    slots: int

    @classmethod
    def of(cls, pattern: TorchPattern, block: int, most: int, length: int = SEGMENT) -> tuple[Segments, ...]:
        """All rows, in as many parts as keep the places of each below about ``most``: the sums there take memory."""
        indptr, device = pattern.indptr.t, pattern.device
        if pattern.shape[1] > 4 * block:
            low, high, row, cut = _runs(pattern, block)
        else:
            low, high, row = indptr[:-1], indptr[1:], torch.arange(pattern.shape[0], device=device)
            cut = torch.zeros_like(row)
        many = (high - low + length - 1) // length
        run = torch.repeat_interleave(torch.arange(many.numel(), device=device), many)
        before = torch.cumsum(many, 0) - many
        low = low[run] + length * (torch.arange(run.numel(), device=device) - before[run])
        high, row, cut = torch.minimum(low + length, high[run]), row[run], cut[run]
        each = torch.bincount(row, minlength=pattern.shape[0])
        held = torch.where(each > 1, each, 0)
        ends = torch.cumsum(held, 0)
        several = each[row] > 1
        slot = torch.where(several, torch.cumsum(several.long(), 0) - 1, -1)
        parts = -(-int(held.sum().item()) // most) or 1
        part = (ends - held).clamp_(max=parts * most - 1) // most
        whole = cls(row, low, high, slot, (torch.nonzero(each > 1)[:, 0], ends - held, ends), 0)
        each = (whole._part(part == k if parts > 1 else None, cut) for k in range(parts))
        return tuple(some for some in each if some.row.numel())  # one row may fill several parts

    def _part(self, rows: torch.Tensor | None, cut: torch.Tensor) -> Segments:
        """The segments of some rows, block by block, with places of their own."""
        there = slice(None) if rows is None else rows[self.row]
        order = torch.sort(cut[there], stable=True)[1]
        row, low, high, slot = (each[there][order] for each in (self.row, self.low, self.high, self.slot))
        several, starts, ends = self.long
        several = several if rows is None else several[rows[several]]
        first, last = starts[several], ends[several]
        zero = int(first[0].item()) if several.numel() else 0
        slots = int(last[-1].item()) - zero if several.numel() else 0
        slot = torch.where(slot < 0, slot, slot - zero)
        return Segments(row.int(), low, high, slot.int(), (several.int(), first - zero, last - zero), slots)


def _runs(pattern: TorchPattern, block: int) -> tuple[torch.Tensor, ...]:
    """Where the entries of one row and one block begin and end, the row, and the block."""
    rows, part = pattern.rows.t, pattern.indices.t // block
    fresh = torch.ones(pattern.size, dtype=torch.bool, device=pattern.device)
    fresh[1:] = (rows[1:] != rows[:-1]) | (part[1:] != part[:-1])
    low = torch.nonzero(fresh)[:, 0]
    high = torch.cat([low[1:], pattern.indptr.t[-1:]])
    return low, high, rows[low].long(), part[low].long()


def kernels_for(pattern: TorchPattern) -> Any:
    """The kernels of a pattern on a GPU; None where Triton is not installed."""
    try:
        import triton  # noqa: F401
    except ImportError:
        return None
    return Kernels(pattern)


def padded(A: torch.Tensor, width: int) -> torch.Tensor:
    """With columns of zeros up to a width; the same tensor where it has it."""
    if A.shape[1] == width and A.is_contiguous():
        return A
    out = torch.zeros((A.shape[0], width), dtype=A.dtype, device=A.device)
    out[:, : A.shape[1]] = A
    return out


class Kernels:
    """Products, samples and fused passes along one pattern on a GPU."""

    def __init__(self, pattern: TorchPattern) -> None:
        self.pattern, self.indices = pattern, pattern.indices.t
        self._cuts: dict[int, tuple[Segments, ...]] = {}

    @cached_property
    def segments(self) -> tuple[Segments, ...]:
        return self.cut(256)

    def cut(self, width: int) -> tuple[Segments, ...]:
        """The segments for blocks of a width: what is gathered at a time should fit the second-level cache."""
        most = NARROW if width <= NARROW else -(-width // 256) * 256
        if most not in self._cuts:
            self._cuts[most] = Segments.of(self.pattern, BLOCK * 256 // most, PLACES * 256 // max(most, 16))
        return self._cuts[most]

    @cached_property
    def short(self) -> bool:
        """Whether segments have few entries: a program for each would wait longer than it works."""
        cuts = self.cut(1)
        mean = self.pattern.size / max(1, sum(cut.row.numel() for cut in cuts))
        return mean <= SHORT[0] and max((int((cut.high - cut.low).max()) for cut in cuts), default=0) <= SHORT[1]

    def multiply(self, data: torch.Tensor, block: torch.Tensor) -> torch.Tensor:
        """The sparse matrix with these entries times a block; sums in double where the block is in double."""
        from . import triton as kernels

        width = block.shape[1]
        wide, lanes = block.dtype == torch.float64, width <= NARROW and self.short
        K = min(128 if not wide else 64, max(1, 1 << (width - 1).bit_length()))
        tile = max(4, min(64, (1024 if not wide else 512) // K))
        out = torch.zeros((self.pattern.shape[0], width), dtype=torch.float64, device=block.device)
        for cut in self.cut(min(width, 256)):
            part = torch.empty((max(1, cut.slots), width), dtype=torch.float64, device=block.device)
            count = cut.row.numel()
            given = (cut.row, cut.low, cut.high, cut.slot, self.indices, data, block, out, part, width)
            if lanes:
                kernels.narrow[(-(-count // LANES), width)](*given, count, ROWS=LANES, WIDE=wide)
            else:
                kernels.multiply[(count, -(-width // K))](*given, TILE=tile, K=K, WIDE=wide, num_warps=1)
            self._fold(cut, part, out, width)
        return out

    def _fold(self, cut: Segments, part: torch.Tensor, out: torch.Tensor, width: int) -> None:
        from . import triton as kernels

        rows, first, last = cut.long
        if rows.numel():
            K = min(128, max(16, 1 << (width - 1).bit_length()))
            kernels.fold[(rows.numel(), -(-width // K))](rows, first, last, part, out, width, K=K, num_warps=1)

    def sample(self, U: torch.Tensor, V: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        """The entries of U diag(s) Vᵀ at the positions, summed in double."""
        from . import triton as kernels

        width = U.shape[1]
        if U.dtype != V.dtype:
            U, V = U.double(), V.double()
        K = min(256 if U.dtype == torch.float32 and width > 128 else 128, max(1, 1 << (width - 1).bit_length()))
        tile = max(4, min(64, 1024 // K))
        out = torch.empty(self.pattern.size, dtype=torch.float64, device=U.device)
        for cut in self.segments:
            kernels.sample[(cut.row.numel(),)](
                cut.row, cut.low, cut.high, self.indices, U, V, s.double(), out, width, TILE=tile, K=K, num_warps=1
            )
        return out

    def fused(
        self, P: torch.Tensor, Q: torch.Tensor, scale: float, loss: Fused, value: bool, more: int = 0, into: Any = None
    ) -> Any:
        """Σ slope·q of every row, in single precision; with ``value`` also the loss and ⟨slope, z⟩.

        It has ``more`` rows of zeros below, or is written into a block of zeros, if that is as wide as rows are here.
        """
        from . import triton as kernels

        width = P.shape[1]
        whole = -(-width // 16) * 16  # rows begin at multiples of 64 bytes
        K = 1 << (whole - 1).bit_length()
        P, Q = padded(P, whole), padded(Q, whole)
        tile, warps = _shape(whole)
        out = into if into is not None and into.shape[1] == whole else None
        if out is None:
            out = torch.zeros((self.pattern.shape[0] + more, whole), dtype=torch.float32, device=P.device)
        total = torch.zeros(2, dtype=torch.float64, device=P.device)
        weighted = loss.weights is not None
        for cut in self.cut(width):
            count = cut.row.numel()
            part = torch.empty((max(1, cut.slots), whole), dtype=torch.float32, device=P.device)
            sums = torch.zeros((2, count if value else 1), dtype=torch.float64, device=P.device)
            kernels.fused[(count,)](
                cut.row, cut.low, cut.high, cut.slot, self.indices, loss.targets,
                loss.weights if weighted else loss.targets, loss.delta, scale, P, Q, out, part, sums[0], sums[1], whole,
                LOSS=loss.kind, WEIGHTED=weighted, VALUE=value, TILE=tile, K=K, EVEN=whole == K, num_warps=warps,
            )  # fmt: skip
            self._fold(cut, part, out, whole)
            total += sums.sum(1)
            del part
        product = out if whole == width else out[:, :width]
        return (product, *total.tolist()) if value else product


@dataclass(frozen=True, eq=False)
class Fused:
    """A loss that fused passes know (0 squared, 1 Huber, 2 logistic), its targets and weights in single precision."""

    kind: int
    delta: float
    targets: torch.Tensor
    weights: torch.Tensor | None


def _shape(width: int) -> tuple[int, int]:
    """Entries of a tile, and warps: the quickest of those tried on an H200."""
    for most, tile, warps in ((32, 32, 1), (128, 8, 1), (512, 4, 1)):
        if width <= most:
            return tile, warps
    return 2, 2 if width <= 1024 else 4
