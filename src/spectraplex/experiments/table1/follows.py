"""What follows from table1, in sentences that are made from the numbers."""

from __future__ import annotations

import math
from textwrap import fill
from typing import Any

from ..document import Document
from .read import (
    DECADES,
    LABELS,
    TITLES,
    Fit,
    chart,
    common,
    dimensions,
    fit_conditioning,
    fit_rank,
    fit_smallest,
    in_epsilon,
    line,
    middle,
    middle_d,
    middle_in_epsilon,
    per_decade,
)
from .run import METHODS, PROJECTED

WIDTH = 118  # of a line of text


def follows(document: Document) -> str:
    """A list of conclusions; nothing in the miniature is worth one."""
    if document.quick:
        return "Nothing: this is the miniature."
    said = [_steps(document), _plateau(document), _algorithm(document), _constants(document), _map(document), _SECONDS]
    return "\n".join(fill(sentence, WIDTH, initial_indent="- ", subsequent_indent="  ") for sentence in said)


def _steps(document: Document) -> str:
    plain, fast = (fit_conditioning(document, method) for method in PROJECTED)
    digits = [number(per_decade(_entries(document, method)), 1) for method in PROJECTED]
    return (
        "Rows 1 and 2. With α = β one projected step lands on the optimum, so on `Distance` one decomposition is the "
        "whole job, which the table's (β/α)·log(1/ε) does not show. On weighted entries the fitted powers of β/α are "
        f"{fitted(plain)} and {fitted(fast)}; at β/α = 10 a digit costs projected gradient {digits[0]} steps (theory: "
        f"at most 9.2·β/α, from 4(β/α)·ln 10) and accelerated gradient {digits[1]}."
    )


def _plateau(document: Document) -> str:
    run = max(document.find(method="cg", **common(document)), key=lambda run: run.outcome["steps"])
    local = [in_epsilon(run, low, 10 * low) for low in (10, 100, 1000)]
    d = middle_d(document)
    ranked = [number(middle_in_epsilon(document.find(method="cg", d=d, family="entries", rank=r))) for r in (1, 3, 10)]
    settling = local[0] > local[1] > local[2] > 0.8
    why = (
        "the first few steps get it far below β/t, and the theory's power of 1 shows only when it has stood there long"
    )
    return (
        f"Row 3. In {run.outcome['steps']:,.0f} steps of CG with line search at d = {run.settings['d']} the local "
        f"power of 1/ε is {' / '.join(map(number, local))} in steps 10–100 / 100–1,000 / 1,000–10,000"
        f"{': ' + why if settling else ''}. Fits over the last decade of fewer steps (at ranks 1, 3 and 10, d = {d}: "
        f"{', '.join(ranked)}) are about such a plateau, not about the rate."
    )


def _algorithm(document: Document) -> str:
    d, cells = middle_d(document), []
    for family in ("distance", "entries"):
        steps = [
            f"{name} {' / '.join(count(middle(_at(document, family, d, m), 'step', e)) for e in DECADES[2:])}"
            for m, name in (("cg", "CG"), ("ror", "as printed"), ("ror-adaptive", "adaptive"))
        ]
        cells.append(f"{TITLES[family]}: {', '.join(steps)}")
    accuracies = " / ".join(f"{epsilon:.0e}" for epsilon in DECADES[2:])
    small = dimensions(document)[0]
    exact, theirs = (middle(_at(document, "entries", small, m), "step", DECADES[3]) for m in ("ror", "cg"))
    allowed = max(run.settings["steps"] for run in _at(document, "entries", small, "cg"))
    limited = count(theirs) if math.isfinite(theirs) else f"is not there after {allowed:,}"
    waits = exact < 0.5 * middle(_at(document, "entries", d, "ror"), "step", DECADES[3])
    why = "the accuracy ξ_t, more than the step, is what it waits for" if waits else "exact ones do not change that"
    return (
        f"Row 4. Eigenvectors to ε = {accuracies} at d = {d}: {'; '.join(cells)}. Algorithm 2 as printed replaces the "
        "whole mass in each of its first ten steps, and its step and accuracy follow a schedule made for the worst "
        f"case. With exact eigenvectors (d = {small}, weighted entries) it takes {count(exact)} steps to "
        f"{DECADES[3]:.0e}, and CG {limited}: {why}."
    )


def _constants(document: Document) -> str:
    told = []
    for method in ("ror", "ror-adaptive"):
        families = ("distance", "entries")
        smallest = " and ".join(fitted(fit_smallest(document, family, method)) for family in families)
        ranks = " and ".join(fitted(fit_rank(document, family, method)) for family in families)
        told.append(f"{LABELS[method]}: {smallest} of 1/λ_min, {ranks} of the rank")
    hardest = max(found.exponent for found in _fits(document) if found is not None)
    harder = "A smaller λ_min at the same rank makes none of these problems harder." if hardest <= 0.1 else ""
    return (
        "The constants of row 4. Fitted powers on `Distance` and on weighted entries, where the bounds allow up to 1 "
        "of 1/λ_min and ½ of the rank (1 where, as here, λ_min = 1/(2·rank)): "
        f"{'; '.join(told)}. {harder}"
    ).strip()


def _fits(document: Document) -> list[Fit | None]:
    return [fit_smallest(document, family, m) for family in ("distance", "entries") for m in ("ror", "ror-adaptive")]


def _map(document: Document) -> str:
    told = []
    for family, title in TITLES.items():
        won = [found.method for found in chart(document, family, "seconds").values() if found is not None]
        told.append(f"{title}: " + ", ".join(f"{LABELS[m]} {won.count(m)}" for m in METHODS if m in won))
    cells = len(dimensions(document)) * len(DECADES)
    return (
        f"The map. Of {cells} pairs (d, ε) the cheapest in seconds is, on {'; on '.join(told)}. What decides is how "
        "many eigenvectors one decomposition is worth; that number grows with d and with the sparsity of the gradient."
    )


_SECONDS = (
    "Seconds are processor seconds of this library on one thread. The runs along d had this program's workers to "
    "themselves; all others are counted, and their seconds mean little. With a dense A a step passes over d² numbers "
    "some ten times besides the products, which the flops leave out; with a sparse A the directions of CG hold X "
    "itself, whose factors then double until they are compressed: its seconds, not its flops, are those of this "
    "implementation."
)


def _at(document: Document, family: str, d: int, method: str) -> list[Any]:
    return document.find(method=method, d=d, **line(document, family))


def _entries(document: Document, method: str) -> list[Any]:
    return _at(document, "entries", middle_d(document), method)


# --------------------------------------------------------------------------------------------------------------- words


def count(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else "–"


def number(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "–"


def fitted(found: Fit | None) -> str:
    return "–" if found is None else number(found.exponent)
