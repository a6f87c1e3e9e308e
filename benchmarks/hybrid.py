"""The default method: seconds to a relative error and to a certified gap, and how tight certificates get."""

from __future__ import annotations

from collections.abc import Iterator

import spectraplex as sx

from .data import problem, ratings

OPTIMA = {2500.0: 67945.055, 3500.0: 37867.016, 5000.0: 16570.033}  # MovieLens-100k, all ratings raw
ERRORS = (1e-2, 1e-3, 1e-4, 1e-6)


def run() -> Iterator[str]:
    table = ratings("100k")
    real = table.name.startswith("MovieLens")
    sx.solve(problem(table, 100.0), stop=sx.Stop(max_steps=3))
    for radius, optimum in OPTIMA.items():
        task = problem(table, radius)
        result = sx.solve(task, stop=sx.Stop(relative_gap=1e-3, max_seconds=120))
        yield (
            f"{table.name}, radius {radius:g}: certified relative gap {result.gap / result.value:.1e} in "
            f"{result.seconds:.2f} s, {result.trace[-1].atoms} atoms, {result.products:.0f} products"
        )
        if not real:
            continue
        goal = optimum * (1 + 1e-7)
        result = sx.solve(task, stop=sx.Stop(value=goal, max_seconds=120), certify=False)
        first = {}
        for record in result.trace:
            for error in ERRORS:
                if record.value <= optimum * (1 + error):
                    first.setdefault(error, record.seconds)
        times = ", ".join(f"{error:g}: {seconds:.2f} s" for error, seconds in first.items())
        found = sx.certify(task, result.X)
        yield f"  seconds to a relative error of {times}"
        yield (
            f"  at {result.value / optimum - 1:.1e} above the optimum the certified relative gap is "
            f"{found.gap / found.value:.1e} (limit 1e-3: {'met' if found.gap <= 1e-3 * found.value else 'MISSED'})"
        )
    table = ratings("1m")
    result = sx.solve(problem(table, 18000.0), stop=sx.Stop(relative_gap=1e-2, max_seconds=240))
    bracket = f"bracket [{result.lower_bound:.0f}, {result.value:.0f}], {result.trace[-1].atoms} atoms"
    share = f"certified relative gap {result.gap / result.value:.1e} in {result.seconds:.0f} s ({result.status.name})"
    yield f"{table.name}, radius 18000: {share}, {bracket}"
