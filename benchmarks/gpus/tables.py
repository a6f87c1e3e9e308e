"""Generated tables on a device: skewed popularity, a planted low rank, noise; drawn and sorted there."""

from __future__ import annotations

from typing import Any

import torch


def _edges(count: int, power: float, head: float, generator: torch.Generator, device: Any) -> torch.Tensor:
    share = 1.0 / (torch.arange(count, device=device, dtype=torch.float64) + head * count + 1.0) ** power
    share = share[torch.randperm(count, generator=generator, device=device)]
    return torch.cumsum(share / share.sum(), 0)


def table(
    m: int, n: int, count: int, rank: int, taste: float, device: str = "cuda", noise: float = 0.85, skewed: bool = True
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows, columns and values of ``count`` distinct entries; ``taste`` is the size of the planted part's entries."""
    generator = torch.Generator(device).manual_seed(0)
    rows = _edges(m, 0.75 if skewed else 0.0, 0.02, generator, device)
    cols = _edges(n, 0.9 if skewed else 0.0, 0.0003, generator, device)
    keys = torch.empty(0, dtype=torch.int64, device=device)
    while keys.numel() < count:
        more = int(1.3 * (count - keys.numel())) + 16
        drawn = [
            torch.searchsorted(edges, torch.rand(more, generator=generator, device=device, dtype=torch.float64))
            for edges in (rows, cols)
        ]
        keys = torch.unique(torch.cat([keys, drawn[0].clamp_(max=m - 1) * n + drawn[1].clamp_(max=n - 1)]))
    if keys.numel() > count:
        keep = torch.ones(keys.numel(), dtype=torch.bool, device=device)
        keep[torch.randperm(keys.numel(), generator=generator, device=device)[: keys.numel() - count]] = False
        keys = keys[keep]
    P = torch.randn((m, rank), generator=generator, device=device)
    Q = torch.randn((n, rank), generator=generator, device=device) * (taste / rank**0.5)
    i, j = keys // n, keys % n
    values = torch.empty(count, dtype=torch.float64, device=device)
    for low in range(0, count, 1 << 22):
        part = slice(low, low + (1 << 22))
        values[part] = (P[i[part]] * Q[j[part]]).sum(1).double()
        values[part] += noise * torch.randn(i[part].numel(), generator=generator, device=device, dtype=torch.float64)
    return i, j, values
