"""python -m benchmarks [NAME …]: print figures; each benchmark is a module with run() -> list of lines."""

from __future__ import annotations

import importlib
import sys
import time

NAMES = (
    "start",
    "steps",
    "duals",
    "local",
    "hybrid",
    "dense",
    "pairs",
    "kernels",
    "shares",
    "busy",
    "scaling",
    "memory",
    "large",
    "ratings",
    "imputation",
)
ASKED = ("ratings_1m", "pipeline")  # too long for everybody: only by name


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in NAMES + ASKED]
    if unknown:
        print(f"Unknown benchmark {unknown[0]!r}; known: {', '.join(NAMES + ASKED)}.", file=sys.stderr)
        return 2
    for name in names or NAMES:
        began = time.perf_counter()
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n== {name}: {(module.__doc__ or '').splitlines()[0]}")
        for line in module.run():
            print(line, flush=True)
        print(f"   ({time.perf_counter() - began:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
