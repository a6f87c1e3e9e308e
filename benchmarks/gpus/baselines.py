"""What a Torch user would write for a half-empty table: ALS, Adam on minibatches, softImpute-ALS; plain Torch only.

All three minimise ½Σ(UVᵀ − b)² + λ/2(‖U‖² + ‖V‖²), whose least value over U and V of full rank is that of the loss plus
λ‖Z‖_*: with λ the multiplier of the ball they look for the same matrix as the solver.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

Factors = tuple[torch.Tensor, torch.Tensor]
Seen = Callable[[float, torch.Tensor, torch.Tensor], None]


@dataclass
class Entries:
    """A table's entries by rows and by columns, in single precision."""

    rows: torch.Tensor
    cols: torch.Tensor
    values: torch.Tensor
    shape: tuple[int, int]

    def turned(self) -> Entries:
        cols, order = torch.sort(self.cols, stable=True)
        return Entries(cols, self.rows[order], self.values[order], (self.shape[1], self.shape[0]))

    def starts(self) -> torch.Tensor:
        counts = torch.bincount(self.rows, minlength=self.shape[0])
        return torch.cat([torch.zeros(1, dtype=torch.int64, device=counts.device), torch.cumsum(counts, 0)])


def _first(entries: Entries, rank: int) -> Factors:
    generator = torch.Generator(entries.rows.device).manual_seed(1)
    return tuple(  # type: ignore[return-value]
        0.1 * torch.randn((size, rank), generator=generator, device=entries.rows.device) for size in entries.shape
    )


def als(entries: Entries, rank: int, lam: float, seconds: float, seen: Seen) -> None:
    """Alternating least squares: the normal equations of many rows at a time, rows of like length together."""
    U, V = _first(entries, rank)
    sides = (entries, entries.turned())
    plans = [list(_batches(side, rank)) for side in sides]
    began, shown = time.perf_counter(), 0.0
    while time.perf_counter() - began - shown < seconds:
        for side, plan, k in ((sides[0], plans[0], 0), (sides[1], plans[1], 1)):
            new = _solved(side, plan, V if k == 0 else U, lam)
            U, V = (new, V) if k == 0 else (U, new)
        shown += _show(seen, began, shown, U, V)


def _batches(side: Entries, rank: int) -> Iterator[tuple[torch.Tensor, int]]:
    """Rows sorted by length, cut so that a padded batch stays below some gigabytes."""
    counts = torch.bincount(side.rows, minlength=side.shape[0])
    order = torch.argsort(counts)
    lengths = counts[order].cpu()
    at = int((lengths == 0).sum())
    while at < order.numel():
        end = min(at + max(1, (1 << 29) // (rank * rank)), order.numel())
        while end > at + 1 and (end - at) * int(lengths[end - 1]) * rank > 1 << 29:
            end = at + max(1, (end - at) // 2)
        yield order[at:end], int(lengths[end - 1])
        at = end


def _solved(side: Entries, plan: list[tuple[torch.Tensor, int]], V: torch.Tensor, lam: float) -> torch.Tensor:
    starts, device = side.starts(), V.device
    out = torch.zeros((side.shape[0], V.shape[1]), device=device)
    ridge = lam * torch.eye(V.shape[1], device=device)
    for rows, length in plan:
        first = starts[rows]
        step = torch.arange(length, device=device)
        at = first[:, None] + step[None, :]
        there = step[None, :] < (starts[rows + 1] - first)[:, None]
        at = torch.where(there, at, first[:, None])
        A = V[side.cols[at]] * there[:, :, None]
        b = side.values[at] * there
        gram = torch.baddbmm(ridge, A.mT, A)
        right = torch.bmm(A.mT, b[:, :, None])
        out[rows] = torch.cholesky_solve(right, torch.linalg.cholesky(gram))[:, :, 0]
    return out


def adam(entries: Entries, rank: int, lam: float, rate: float, seconds: float, seen: Seen) -> None:
    """Adam on both factors, minibatches of a million entries, the ridge shared out over an epoch."""
    U, V = (torch.nn.Parameter(each) for each in _first(entries, rank))
    optimiser = torch.optim.Adam([U, V], lr=rate, fused=U.device.type == "cuda")
    size, count = min(1 << 20, entries.values.numel()), entries.values.numel()
    generator = torch.Generator(U.device).manual_seed(2)
    began, shown, step = time.perf_counter(), 0.0, 0
    each = max(1, count // size)
    while time.perf_counter() - began - shown < seconds:
        some = torch.randint(count, (size,), generator=generator, device=U.device)
        i, j = entries.rows[some], entries.cols[some]
        miss = (U[i] * V[j]).sum(1) - entries.values[some]
        loss = 0.5 * (count / size) * (miss * miss).sum() + 0.5 * lam * ((U * U).sum() + (V * V).sum())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        step += 1
        if step % each == 0:
            shown += _show(seen, began, shown, U.detach(), V.detach())


def soft_impute(entries: Entries, rank: int, lam: float, seconds: float, seen: Seen) -> None:
    """softImpute-ALS (Hastie and others 2015): the table filled in by the fit so far, one side at a time."""
    turned = entries.turned()
    U, V = _first(entries, rank)
    U, V = torch.linalg.qr(U)[0], torch.zeros_like(V)
    d = torch.ones(rank, device=U.device)
    began, shown = time.perf_counter(), 0.0
    while time.perf_counter() - began - shown < seconds:
        for side, k in ((turned, 0), (entries, 1)):
            # Z = A·d²·Bᵀ with orthonormal A and B: B·d² ← (RᵀA + B·d²)·d²/(d² + λ), then an SVD
            A, B = (U, V) if k == 0 else (V, U)
            square = d * d
            G = _residual(side, B * square, A)
            Q, s, W = torch.linalg.svd((G @ A + B * square) * (square / (square + lam)), full_matrices=False)
            A, B, d = A @ W.mT, Q, torch.sqrt(s)
            U, V = (A, B) if k == 0 else (B, A)
        shown += _show(seen, began, shown, U * d, V * d)


def _residual(side: Entries, P: torch.Tensor, Q: torch.Tensor) -> torch.Tensor:
    """b − (PQᵀ) at the entries, as a sparse matrix."""
    left = side.values.clone()
    for low in range(0, left.numel(), 1 << 22):
        part = slice(low, low + (1 << 22))
        left[part] -= (P[side.rows[part]] * Q[side.cols[part]]).sum(1)
    return torch.sparse_csr_tensor(side.starts(), side.cols, left, side.shape, check_invariants=False)


def _show(seen: Seen, began: float, shown: float, U: torch.Tensor, V: torch.Tensor) -> float:
    """Tell a point with its time; how long the telling took."""
    if U.device.type == "cuda":
        torch.cuda.synchronize()
    now = time.perf_counter()
    seen(now - began - shown, U, V)
    if U.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - now
