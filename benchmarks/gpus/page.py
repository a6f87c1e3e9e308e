"""docs/gpu.md from the figures of ``python -m benchmarks gpu``: words here, numbers from the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "gpu.md"

_WORDS = """# On a GPU

Made by `python -m benchmarks gpu 0` from benchmarks/gpu.json, the figures of `python -m benchmarks gpu` on {machine}.

`pip install '.[torch]'` in a checkout. Then the same problem, the same methods and the same certificate run on a GPU:

```text
result = sx.solve(problem.to("cuda"))                          # NumPy in, NumPy out
result = sx.solve(sx.Problem(sx.Completion(rows, cols, values, shape), domain))   # tensors in, tensors out
model  = MatrixCompletion(device="cuda").fit(pairs, values)
spectraplex complete ratings.csv -o model --device cuda
```

`device="auto"` takes a GPU where Torch sees one and the table is large enough to gain from it. `problem.to("cpu")` runs
the same code on Torch's tensors of this processor, which is how it is tested without a GPU.

## What is computed how

- Factors, images and slopes stay on the device during a solve; matrices of the size of a basis come to this machine,
  but for eigenvalues of hundreds of rows, which the GPU finds more quickly.
- Losses and measurements are the ones written for NumPy: tensors take part in NumPy's own dispatch. A loss or a
  measurement of your own runs there, too, if it uses common NumPy functions; an error names one that is not known.
- A table's entries have fused Triton kernels for the squared, Huber and logistic loss: value, slope and the product
  with one side in one pass. Without Triton, and for other losses, Torch's own operations are used. Sums of a row are
  folded in a fixed order: the same bits on every run.
- Descents keep factors in single precision, and their pairs with three digits where they are long. Everything that a
  certificate rests on is summed in double. A certificate written on the GPU is verified on this machine
  (`spectraplex.verify`), from the factors as they were returned.
- Too little memory is said before the work, with the numbers; where it runs out on the way, the best point so far is
  returned with `Status.MEMORY`.

"""


def write(figures: dict[str, Any]) -> str:
    """Write the page; a sentence that says where."""
    parts = [_WORDS.format(machine=figures.get("machine", "one machine"))]
    parts += [make(figures) for make in (_kernels, _solves, _small, _dense, _others)]
    PAGE.write_text("".join(parts).rstrip() + "\n")
    return f"wrote {PAGE.name}"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n\n"


def _kernels(figures: dict[str, Any]) -> str:
    found = figures["kernels"]
    rows = []
    for rank in ("16", "64", "256"):
        times = found[rank]
        rows.append(
            (
                rank,
                f"{times['product']:.2f} / {times['product_back']:.2f}",
                f"{times['fused_rows']:.2f} / {times['fused_cols']:.2f}",
                f"{times['gather_rows']:.2f} / {times['gather_cols']:.2f}",
                f"{times['cusparse']:.2f} / {times['cusparse_back']:.2f}" if "cusparse" in times else "",
            )
        )
    bytes_ = 86e6 * (4 * 64 + 8) / 1e9
    speed = bytes_ / found["64"]["product"]
    return (
        "## Kernels\n\n86 million entries of a 480,189 × 17,770 table, largest column "
        f"{found['largest_column']:,} entries, single precision, milliseconds (rows / columns), by CUDA events:\n\n"
        + _table(("rank", "product", "value, slope and product", "the bare gather", "cuSPARSE product"), rows)
        + f"A product at rank 64 gathers {bytes_:.0f} GB, {speed:.0f} TB/s: more than the memory gives "
        f"({found['copy_TBps']:.1f} TB/s for a copy). What binds is the second-level cache; the bare gather shows its "
        "limit. A pass by columns goes over the long side in blocks that fit this cache.\n\n"
    )


def _solves(figures: dict[str, Any]) -> str:
    rows = []
    for name, found in figures["netflix"].items():
        if name.endswith("first"):
            continue
        radius, gap = name.split()
        within = next(
            (s for s, value, _, _ in found["trace"] if value - found["bound"] <= 2 * float(gap) * value), None
        )
        rows.append(
            (
                "86 million",
                f"{float(radius):,.0f}",
                gap,
                f"{found['seconds']:.1f}",
                f"{found['wall']:.1f}",
                f"{found['gap']:.1e}",
                str(found["rank"]),
                f"{found['GB']:.1f}",
                "" if within is None else f"{within:.1f}",
            )
        )
    big = figures["half a billion"]
    warm = big["warm"]
    row = ("500 million", f"{big['radius']:,.0f}", "0.05", f"{warm['seconds']:.1f}", f"{warm['wall']:.1f}")
    row = (*row, f"{warm['gap']:.1e}")
    rows.append((*row, str(warm["rank"]), f"{warm['GB']:.1f}", ""))
    first = figures["netflix"]["60000 0.01 first"]["seconds"]
    head = (
        "entries",
        "radius",
        "gap asked",
        "seconds",
        "wall",
        "certified",
        "rank",
        "GB",
        "s until f is within 2 gaps",
    )
    return (
        "## Solves\n\nPlanted rank 40 (10 for 500 million, 2,000,000 × 100,000), noise 0.85; seconds of steps after a "
        f"first run, which compiles kernels (that took {first:.0f} s), and by the clock from the call to its result, "
        "with the marks of the data and of the answer. Memory is the peak of what Torch allocated. "
        "The sections of this page come from runs on different days.\n\n" + _table(head, rows)
    )


def _small(figures: dict[str, Any]) -> str:
    rows = [
        (
            name,
            f"{each['GPU']:.2f}",
            f"{each['two cores']:.1f}",
            f"{each['two cores'] / each['GPU']:.1f}×",
            f"{each['all cores']:.1f}",
            f"{each['all cores'] / each['GPU']:.1f}×",
        )
        for name, each in figures["small"].items()
    ]
    return "## Smaller tables\n\nCertified 1e-2, generated tables of MovieLens' shapes, seconds.\n\n" + _table(
        ("table", "GPU", "two cores", "ratio", "all cores", "ratio"), rows
    )


def _dense(figures: dict[str, Any]) -> str:
    rows = []
    for name, each in sorted(figures["dense"].items()):
        more = "" if each["reached"] else "> "
        ratio = f"{more}{each['CPU'] / each['GPU']:.0f}×"
        rows.append((name, f"{each['GPU']:.3f}", f"{more}{each['CPU']:.1f}", ratio))
    return (
        '## Dense problems\n\nSeconds by the clock, the quickest of several solves here and there; ">" where the '
        "processor's cores did not reach the gap in that time.\n\n"
        + _table(("problem, d", "GPU", "CPU", "ratio"), rows)
    )


def _others(figures: dict[str, Any]) -> str:
    found, bound = figures["baselines"], figures["baselines"]["bound"]
    rows = [("this library", *_times([(s, v) for s, v, _, _ in found["ours"]], bound))]
    rows += [
        (name, *_times(points, bound))
        for name, points in sorted(found.items())
        if name not in ("ours", "bound", "lam", "alone")
    ]
    return (
        "## Beside what a Torch user would write\n\nThe table of 86 million at radius 60,000. The others minimise the "
        "loss with a ridge on both factors, which is the same problem at the right ridge; they are told it. Seconds "
        "until the loss, scaled into the ball, is within a share of a proven bound (14 s each; ranks and rates as "
        "named)"
        + ("; this library's kernels were compiled on the way" if found.get("alone") else "")
        + ":\n\n"
        + _table(("", *(f"{share:g}" for share in _SHARES), "nearest"), rows)
    )


_SHARES = (1e-1, 3e-2, 1e-2, 5e-3, 2e-3)


def _times(points: list[Any], bound: float) -> list[str]:
    words = []
    for share in _SHARES:
        when = next((seconds for seconds, value in points if value - bound <= share * abs(value)), None)
        words.append("" if when is None else f"{when:.1f}")
    best = min(value for _, value in points)
    return [*words, f"{(best - bound) / best:.1e}"]
