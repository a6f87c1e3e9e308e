"""python -m benchmarks [all | NAME …]: print figures; each benchmark is a module with run() -> lines.

Without a name the quick set runs: those that guard speed, shortened (``quick``) where a module has a short form.
``all`` runs every one in full but those that are too long for that, and NAME … these in full; numbers behind a name
are handed to it.
"""

from __future__ import annotations

import importlib
import sys
import time

QUICK = ("start", "kernels", "steps", "small", "duals", "hybrid", "dense")
REST = ("same", "pairs", "local", "shares", "busy", "scaling", "memory", "large", "ratings", "known", "imputation")
ASKED = (
    "ratings_1m",
    "ratings_speed",
    "pipeline",
    "cluster",
    "huge",
    "plan",
    "gpu",
    "tomography",
    "coverage",
    "learning",
    "online",
    "strengths",
    "against",
)  # only by name
PARTED = ("learning", "against")  # words behind these are handed to them, too


def main(words: list[str]) -> int:
    known = QUICK + REST + ASKED
    names: list[str] = []
    numbers: dict[str, list[float | str]] = {}
    for word in words:
        if names and names[-1] in PARTED and word not in known:
            numbers.setdefault(names[-1], []).append(word)
        elif names and word[:1].isdigit():
            numbers.setdefault(names[-1], []).append(float(word))
        else:
            names.append(word)
    unknown = [name for name in names if name not in (*known, "all")]
    if unknown:
        print(f"Unknown benchmark {unknown[0]!r}; known: all, {', '.join(known)}.", file=sys.stderr)
        return 2
    whole = time.perf_counter()
    for name in QUICK if not names else QUICK + REST if "all" in names else names:
        began = time.perf_counter()
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"\n== {name}: {(module.__doc__ or '').splitlines()[0]}")
        run = module.run if names else getattr(module, "quick", module.run)
        for line in run(*numbers.get(name, ())):
            print(line, flush=True)
        print(f"   ({time.perf_counter() - began:.0f} s)", flush=True)
    print(f"\n{time.perf_counter() - whole:.0f} s in all", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
