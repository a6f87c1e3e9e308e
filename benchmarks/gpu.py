"""On a GPU: kernels, certified solves at Netflix's size and beyond, small tables, dense problems, and Torch baselines.

``python -m benchmarks gpu`` runs all sections, ``gpu 1 4`` some: 1 kernels, 2 a table of 86 million, 3 one of 500
million, 4 small tables, 5 dense problems, 6 what a Torch user would write, 7 dense problems twice as large. Figures go
to the file that ``SPECTRAPLEX_GPU_JSON`` names, by default benchmarks/gpu.json; docs/gpu.md is made from it by
``gpu 0``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import spectraplex as sx
from spectraplex.places.threads import set_threads

from . import dense as tasks

NETFLIX = (480_189, 17_770, 86_000_000)
RANK, TASTE = 40, 0.35
SMALL = os.environ.get("SPECTRAPLEX_GPU_SMALL")  # a trial of this file on a processor
DEVICE = "cpu" if SMALL else "cuda"
FIGURES: dict[str, Any] = {}


def run(*sections: float) -> Iterator[str]:
    path = Path(os.environ.get("SPECTRAPLEX_GPU_JSON", Path(__file__).with_name("gpu.json")))
    FIGURES.update(json.loads(path.read_text()) if path.exists() else {})
    if tuple(sections) == (0,):
        from .gpus.page import write

        yield write(FIGURES)
        return
    import torch

    if not SMALL and not torch.cuda.is_available():
        yield "no GPU here; this benchmark needs one"
        return
    every: dict[int, Callable[[], Iterator[str]]] = {
        1: kernels,
        2: netflix,
        3: half_a_billion,
        4: small_tables,
        5: dense,
        6: baselines,
        7: dense_large,
    }
    for section in sections or every:
        for line in every[int(section)]():
            path.write_text(json.dumps(FIGURES, indent=1, sort_keys=True) + "\n")
            yield line
        path.write_text(json.dumps(FIGURES, indent=1, sort_keys=True) + "\n")
    if not SMALL:
        FIGURES["machine"] = f"{torch.cuda.get_device_name()}, Torch {torch.__version__}, {os.cpu_count()} CPU cores"
        path.write_text(json.dumps(FIGURES, indent=1, sort_keys=True) + "\n")


def _milliseconds(work: Callable[[], Any], times: int = 5) -> float:
    """By events on the device, after a warm-up; by the clock on a processor."""
    import torch

    work()
    if DEVICE == "cpu":
        began = time.perf_counter()
        work()
        return 1e3 * (time.perf_counter() - began)
    torch.cuda.synchronize()
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    first.record()
    for _ in range(times):
        work()
    last.record()
    torch.cuda.synchronize()
    return float(first.elapsed_time(last)) / times


def _netflix_table() -> tuple[Any, Any, Any, tuple[int, int]]:
    from .gpus.tables import table

    m, n, count = (4000, 500, 60_000) if SMALL else NETFLIX
    return (*table(m, n, count, RANK if not SMALL else 5, TASTE, DEVICE), (m, n))


_HELD: dict[str, Any] = {}


def _objective() -> Any:
    """The table of 86 million, on the device: made once, used by all sections."""
    if "objective" not in _HELD:
        rows, cols, values, shape = _netflix_table()
        began = time.perf_counter()
        _HELD["objective"] = sx.Problem(sx.Completion(rows, cols, values, shape), sx.NuclearBall(shape, 1.0)).objective
        FIGURES["prepare"] = time.perf_counter() - began
    return _HELD["objective"]


# ------------------------------------------------------------------------------------------------------------- kernels


def kernels() -> Iterator[str]:
    import torch

    from spectraplex.places.torch_array import TorchArray
    from spectraplex.places.torch_pattern import TorchPattern

    rows, cols, values, (m, n) = _netflix_table()
    pattern = TorchPattern.from_sorted(rows, cols, (m, n))
    turned, order = pattern.transposed
    largest = int(torch.bincount(cols).max())
    data, back = values.float(), values.float()[order.t.long()]
    copy = _copied()
    del rows, cols, values
    found: dict[str, Any] = {"copy_TBps": copy, "largest_column": largest}
    yield f"{pattern.size:,} entries, {m:,} × {n:,}, largest column {largest:,}; a copy moves {copy:.2f} TB/s"
    for rank in (16, 64, 256):
        U, V = torch.randn((m, rank), device=DEVICE) / rank**0.5, torch.randn((n, rank), device=DEVICE)
        P, Q = TorchArray(U), TorchArray(V)
        line = {
            "product": _milliseconds(lambda P=P, Q=Q: pattern.multiply(TorchArray(data), Q)),
            "product_back": _milliseconds(lambda P=P, Q=Q: turned.multiply(TorchArray(back), P)),
        }
        if pattern.kernels is not None:
            line |= _fused(pattern, turned, (data, back), U, V)
        if rank == 64:
            line |= _cusparse(pattern, turned, (data, back), U, V)
        found[str(rank)] = line
        yield f"rank {rank}, ms: " + ", ".join(f"{name} {time_:.2f}" for name, time_ in line.items())
        del U, V, P, Q
    FIGURES["kernels"] = found


def _fused(pattern: Any, turned: Any, data: Any, U: Any, V: Any) -> dict[str, float]:
    from spectraplex.places.triton_device import Fused

    one, two = (Fused(0, 0.0, each, None) for each in data)
    return {
        "fused_rows": _milliseconds(lambda: pattern.kernels.fused(U, V, 1.0, one, True)),
        "fused_cols": _milliseconds(lambda: turned.kernels.fused(V, U, 1.0, two, False)),
        "gather_rows": _milliseconds(lambda: _gathered(pattern, V)),
        "gather_cols": _milliseconds(lambda: _gathered(turned, U)),
    }


def _cusparse(pattern: Any, turned: Any, data: Any, U: Any, V: Any) -> dict[str, float]:
    import torch

    one, two = (
        torch.sparse_csr_tensor(each.indptr.t, each.indices.t.long(), held, each.shape)
        for each, held in zip((pattern, turned), data, strict=True)
    )
    return {"cusparse": _milliseconds(lambda: one @ V), "cusparse_back": _milliseconds(lambda: two @ U)}


def _copied() -> float:
    """TB/s that a copy reads and writes."""
    import torch

    x = torch.empty(1 << (20 if SMALL else 29), device=DEVICE)
    y = torch.empty_like(x)
    return 8 * x.numel() / _milliseconds(lambda: y.copy_(x)) / 1e9


def _gathered(pattern: Any, V: Any) -> Any:
    """What a product reads, and nothing else: the rows of V at all entries, added up by segment."""
    return pattern.kernels.multiply(pattern._ones.t, V)


# -------------------------------------------------------------------------------------------------------------- solves


def netflix() -> Iterator[str]:
    objective, tasks = _objective(), ((60_000.0, 1e-2), (60_000.0, 1e-3), (120_000.0, 1e-2))
    yield f"prepared in {FIGURES['prepare']:.1f} s"
    FIGURES["netflix"] = {}
    for radius, gap in tasks:
        radius = 300.0 if SMALL else radius
        limit = 60.0 if gap > 2e-3 else 90.0
        problem = sx.Problem(objective, sx.NuclearBall(objective.shape, radius))
        if (radius, gap) == tasks[0]:
            first = _solved(problem, gap, limit, _of_data=objective)
            yield f"radius {radius:g}, {gap:g}, first time: {first['seconds']:.1f} s, with kernels compiled on the way"
            FIGURES["netflix"][f"{radius:g} {gap:g} first"] = first
        found = _solved(problem, gap, limit, _of_data=objective)
        FIGURES["netflix"][f"{radius:g} {gap:g}"] = found
        yield (
            f"radius {radius:g}: certified {found['gap']:.2e} in {found['seconds']:.1f} s (wall {found['wall']:.1f}), "
            f"rank {found['rank']}, {found['steps']} steps, {found['products']:.0f} products, {found['GB']:.1f} GB"
        )


def _solved(problem: sx.Problem, gap: float, limit: float, _of_data: Any = None) -> dict[str, Any]:
    import torch

    _HELD.pop("last", None)  # its state is on the device
    if DEVICE == "cuda":
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    result = sx.solve(problem, stop=sx.Stop(relative_gap=gap, max_seconds=limit))
    wall = time.perf_counter() - began
    _HELD["last"] = result
    return {
        "gap": result.gap / abs(result.value),
        "seconds": result.seconds,
        "wall": wall,
        "rank": result.trace[-1].atoms,
        "steps": len(result.trace),
        "products": result.products,
        "value": result.value,
        "bound": result.lower_bound,
        "GB": torch.cuda.max_memory_allocated() / 1e9 if DEVICE == "cuda" else 0.0,
        "trace": [(r.seconds, r.value, r.gap, r.atoms) for r in result.trace],
    }


def half_a_billion() -> Iterator[str]:
    from .gpus.tables import table

    _HELD.clear()
    m, n, count = (2000, 300, 40_000) if SMALL else (2_000_000, 100_000, 500_000_000)
    taste = 1.0
    rows, cols, values = table(m, n, count, 10, taste, DEVICE, skewed=False)
    began = time.perf_counter()
    objective = sx.Problem(sx.Completion(rows, cols, values, (m, n)), sx.NuclearBall((m, n), 1.0)).objective
    prepare = time.perf_counter() - began
    del rows, cols, values
    # The planted part has a nuclear norm of about √(10·m·n). At a share s of it that part pulls as hard as the largest
    # singular value of the noise, p·√(mn/10)·(1 − s) = (√row + √column)·√(0.85² + (1 − s)²) with ``row`` numbers a row:
    # beyond it some of the n directions of noise join, 20 to 60 of 100,000 a little above it (huge.py).
    pull, push = count / np.sqrt(10.0 * m * n), np.sqrt(count / m) + np.sqrt(count / n)
    share = 1.0 - 0.85 * push / np.sqrt(max(pull**2 - push**2, 1e-9))
    radius = (share + 0.006) * taste * float(np.sqrt(10.0 * m * n)) if not SMALL else 1000.0
    problem = sx.Problem(objective, sx.NuclearBall((m, n), radius))
    first = _solved(problem, 5e-2, 100.0)
    found = _solved(problem, 5e-2, 100.0)
    FIGURES["half a billion"] = {"prepare": prepare, "radius": radius, "first": first, "warm": found}
    yield (
        f"{count:,} entries, {m:,} × {n:,}, radius {radius:.0f}, prepared in {prepare:.0f} s: certified "
        f"{found['gap']:.2e} in {found['seconds']:.1f} s (first time {first['seconds']:.1f}), rank {found['rank']}, "
        f"{found['GB']:.1f} GB"
    )


def small_tables() -> Iterator[str]:
    from spectraplex.datasets import ratings_like

    FIGURES["small"] = {}
    for name, (m, n, count, radius) in {
        "1M": (6040, 3706, 1_000_209, 18_000.0),
        "100k": (943, 1682, 100_000, 4000.0),
    }.items():
        if SMALL:
            m, n, count, radius = 300, 200, 5000, 100.0
        table = ratings_like(m, n, count)
        objective = sx.Completion(table.rows, table.cols, table.values - table.values.mean(), table.shape)
        here = sx.Problem(objective, sx.NuclearBall(table.shape, radius))
        there = here.to(DEVICE)
        stop, threads = sx.Stop(relative_gap=1e-2, max_seconds=120), {}
        for label, count_ in (("two cores", 2), ("all cores", os.cpu_count() or 2)):
            set_threads(count_)
            times = [sx.solve(here, stop=stop).seconds for _ in range(2)]
            threads[label] = min(times)
        times = [sx.solve(there, stop=stop).seconds for _ in range(3)]
        FIGURES["small"][name] = threads | {"GPU": min(times), "first": times[0]}
        yield (
            f"{name} (radius {radius:g}): GPU {min(times):.3f} s (first {times[0]:.1f}), two cores "
            f"{threads['two cores']:.3f} s ({threads['two cores'] / min(times):.1f}×), all cores "
            f"{threads['all cores']:.3f} s ({threads['all cores'] / min(times):.1f}×)"
        )


# --------------------------------------------------------------------------------------------------------------- dense


def dense() -> Iterator[str]:
    return _dense(100 if SMALL else 4096, tuple(DENSE))


def dense_large() -> Iterator[str]:
    """Without the dense stack: 54 GB, and as much again while it is checked."""
    return _dense(120 if SMALL else 8192, tuple(DENSE)[:3])


def _dense(d: int, names: tuple[str, ...]) -> Iterator[str]:
    FIGURES.setdefault("dense", {})
    for name in names:
        make, gap = DENSE[name]
        here = make(d)
        there = here.to(DEVICE)
        # where nearly all can be fitted, f* is 0
        stop = sx.Stop(relative_gap=gap, start_gap=gap, max_seconds=25)
        fast, quick = _quickest(there, stop)
        # at least as long as 20 times the GPU's; a step is ended even so
        slow, steady = _quickest(here, replace(stop, max_seconds=max(25.0, 21 * fast)), enough=10.0)
        reached = steady.status is sx.Status.GAP
        FIGURES["dense"][f"{name} {d}"] = {"GPU": fast, "CPU": slow, "reached": reached}
        more = "" if reached else "> "
        yield (
            f"{name}, d = {d}: GPU {fast:.3f} s (gap {quick.gap / abs(quick.value):.1e}), CPU {more}{slow:.2f} s: "
            f"{more}{slow / fast:.1f}×"
        )
        del here, there, quick, steady


def _quickest(problem: sx.Problem, stop: sx.Stop, enough: float = np.inf) -> tuple[float, sx.Result]:
    """Seconds by the clock of the quickest of up to six solves; the first one compiles. One of ``enough`` will do."""
    found: list[tuple[float, sx.Result]] = []
    while len(found) < 6 and sum(seconds for seconds, _ in found[1:]) < 3.0:
        began = time.perf_counter()
        result = sx.solve(problem, stop=stop)
        found.append((time.perf_counter() - began, result))
        if found[0][0] > enough or result.status is sx.Status.TIME_LIMIT:
            break
    return min(found, key=lambda one: one[0])


def _stack(d: int) -> sx.Problem:
    """Generated in threads: at 4,096 these are 13 GB."""
    A = np.empty((100, d, d))

    def draw(i: int) -> None:
        G = np.random.default_rng([d, i]).standard_normal((d, d), dtype=np.float32)
        np.add(G, G.T, out=A[i])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(draw, range(len(A))))
    rng = np.random.default_rng(d)
    x = np.linalg.qr(rng.standard_normal((d, 3)))[0]
    targets = np.array([float(np.sum((each @ x) * x)) / 3 for each in A]) + 0.1 * rng.standard_normal(100)
    return sx.Problem(sx.Fit(sx.Matrices(A), targets), sx.Spectrahedron(d))


def _sparses(d: int) -> sx.Problem:
    from scipy.sparse import coo_matrix

    rng = np.random.default_rng(d)
    x = np.linalg.qr(rng.standard_normal((d, 3)))[0] / np.sqrt(3)
    found, targets = [], []
    for _ in range(10 * d):
        i, j = rng.integers(0, d, 4), rng.integers(0, d, 4)
        v = rng.standard_normal(4)
        found.append(coo_matrix((d * np.r_[v, v], (np.r_[i, j], np.r_[j, i])), shape=(d, d)))
        targets.append(2.0 * d * float(v @ np.sum(x[i] * x[j], axis=1)))
    return sx.Problem(sx.Fit(sx.Matrices(found), np.array(targets)), sx.Spectrahedron(d))


DENSE: dict[str, tuple[Callable[[int], sx.Problem], float]] = {
    "Distance, rank 20": (lambda d: tasks.distance(d, 20), 1e-6),
    "RankOnes, 10 d": (lambda d: tasks.sensing(d, 5, 10 * d), 1e-3),
    "Matrices, 10 d sparse": (_sparses, 1e-3),
    "Matrices, 100 dense": (_stack, 1e-3),
}


# ----------------------------------------------------------------------------------------------------------- baselines


def baselines() -> Iterator[str]:
    import torch

    from spectraplex.places.torch_array import TorchArray

    from .gpus import baselines as others

    objective = _objective()
    radius = 300.0 if SMALL else 60_000.0
    problem = sx.Problem(objective, sx.NuclearBall(objective.shape, radius))
    alone = "last" not in _HELD  # the kernels are compiled on the way
    ours = _solved(problem, 2e-3, 90.0)
    result, bound = _HELD["last"], ours["bound"]
    place = problem.place
    X = result.X.at(place)
    image = objective.measure(*X.triple())
    lam = -objective.pair(objective.evaluate(image)[1], image) / radius
    del image, X
    fit = objective.inside
    pattern = fit.measurements.pattern
    entries = others.Entries(pattern.rows.t.long(), pattern.indices.t.long(), fit.targets.t.float(), objective.shape)
    FIGURES["baselines"] = {"ours": ours["trace"], "bound": bound, "lam": lam, "alone": alone}
    yield f"radius {radius:g}: f* ≥ {bound:.8g}; λ = {lam:.1f}; ours: " + _reached(
        [(seconds, value) for seconds, value, _, _ in ours["trace"]], bound
    )
    limit = 2.0 if SMALL else 14.0

    def tried(name: str, work: Callable[[others.Seen], None]) -> str:
        points: list[tuple[float, float]] = []

        def seen(seconds: float, U: torch.Tensor, V: torch.Tensor) -> None:
            points.append((seconds, _in_ball(U, V)))

        try:
            work(seen)
        except RuntimeError as error:
            return f"{name}: {str(error).splitlines()[0][:90]}"
        FIGURES["baselines"][name] = points
        return f"{name}: {len(points)} sweeps; " + _reached(points, bound)

    def _in_ball(U: torch.Tensor, V: torch.Tensor) -> float:
        """The loss at what they found, scaled into the ball: the best multiple of it there."""
        grams = [
            torch.linalg.cholesky(A.double().mT @ A.double() + 1e-12 * torch.eye(A.shape[1], device=A.device))
            for A in (U, V)
        ]
        total = float(torch.linalg.svdvals(grams[0].mT @ grams[1]).sum())
        z = pattern.sample(TorchArray(U), TorchArray(V)).t
        b = fit.targets.t
        best = float((z @ b) / (z @ z))
        c = min(best, radius / total)
        return 0.5 * float(((c * z - b) ** 2).sum())

    ranks = (8,) if SMALL else (128, 256)
    for rank in ranks[:1]:
        yield tried(f"ALS, rank {rank}", lambda seen, rank=rank: others.als(entries, rank, lam, limit, seen))
    for rank in ranks[:1] if SMALL else (256, 512):
        yield tried(
            f"softImpute-ALS, rank {rank}", lambda seen, rank=rank: others.soft_impute(entries, rank, lam, limit, seen)
        )
    for rate in (0.01,) if SMALL else (0.003, 0.01, 0.03):
        yield tried(
            f"Adam, rank {ranks[-1]}, rate {rate:g}",
            lambda seen, rate=rate: others.adam(entries, ranks[-1], lam, rate, limit, seen),
        )


def _reached(points: list[tuple[float, float]], bound: float) -> str:
    """When the value came within shares of the proven bound, and how near it came."""
    words = []
    for share in (1e-1, 3e-2, 1e-2, 5e-3, 2e-3):
        when = next((seconds for seconds, value in points if value - bound <= share * abs(value)), None)
        words.append(f"{share:g} {'never' if when is None else f'{when:.1f} s'}")
    best = min((value for _, value in points), default=float("nan"))
    return ", ".join(words) + f"; best {(best - bound) / abs(best):.2e} above the bound"
