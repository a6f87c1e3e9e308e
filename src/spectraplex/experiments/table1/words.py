"""Table 1, told from raw results: the table as measured, the exponents beside the theory's, and who is cheapest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import fill
from typing import Any

from ..document import Document
from .claims import claims
from .figures import draw
from .follows import WIDTH, count, fitted, follows, number
from .read import (
    DECADES,
    LABELS,
    LINES,
    TITLES,
    chart,
    common,
    cost_exponent,
    dimensions,
    fit_conditioning,
    fit_dimension,
    fit_rank,
    fit_smallest,
    hit,
    line,
    middle,
    middle_d,
    middle_in_epsilon,
    per_decade,
    per_step,
)
from .run import METHODS, PROJECTED

__all__ = ["claims", "draw", "rows", "text"]

#: The paper's two columns, and the exponents in them: of 1/ε, β/α, 1/λ_min and rank. A minimum has several.
_THEORY = {
    "pgd": ("(β/α)·log(1/ε)", "d³", ("log", "1", "0", "0")),
    "apgd": ("√(β/α)·log(1/ε)", "d³", ("log", "½", "0", "0")),
    "cg": ("β/ε", "nnz(∇)·√‖∇‖·min{ε^−½, log(1/ε)/gap}", ("1", "0", "0", "0")),
    "ror": (
        "min{β/ε, β√rank/(α^¼ε^¾), β/(√α·λ_min·√ε)}",
        "(nnz(∇)+d)·√‖∇̃‖·min{ε^−½, log(1/ε)/√gap}",
        ("1, ¾, ½", "0, ¼, ½", "0, 0, 1", "0, ½, 0"),
    ),
}
_THEORY["ror-adaptive"] = ("(none; greedy, line search)", _THEORY["ror"][1], _THEORY["ror"][2])

_INTRODUCTION = """## Table 1: first-order methods over the spectrahedron

**The paper's claim.** To reach f − f* ≤ ε on an α-strongly convex, β-smooth function (Table 1 of the paper):

| method | iterations to ε | work per iteration |
|---|---|---|
{theory}
"""

_MEASURED = """\
**What was measured.** Quadratics with β = 1 and known optima of chosen rank and λ_min (the smallest non-zero
eigenvalue): `Distance` with a dense A and with a sparse one (ten numbers to a row); linear sensing of every entry
with weights from α to β ("weighted entries", a well-conditioned `Sensing` problem that fits in memory at d = 3,000);
and `Sensing` with random dense measurements at a small d. ε is in units of β. Numbers are medians over {seeds}; "–"
means not reached within the steps allowed. Projected and accelerated gradient take steps of 1/β and decompose the
whole matrix at every step (twice where momentum is dropped). Accelerated gradient is Beck and Teboulle's with
momentum dropped when f would rise: it knows β but not α. CG searches the line exactly, with eigenvectors to a tenth
of the gap they show. ROR-CG as printed takes the theorem's step and accuracy ξ_t; {exact}the adaptive form is greedy,
searches the line, and knows neither β nor ξ_t. All problems satisfy strict complementarity, which the paper does not
ask for and which can only help.
"""


def rows(document: Document) -> list[dict[str, Any]]:
    """One row for each run and each whole decade of ε."""
    names = ("family", "d", "ratio", "rank", "smallest", "method", "seed")
    columns = ("step", "decompositions", "products", "flops", "seconds", "atoms")
    return [
        {name: run.settings[name] for name in names}
        | {"strong_convexity": run.outcome["strong_convexity"], "epsilon": epsilon, "reached": reached}
        | {column: hit(run, column, epsilon) if reached else "" for column in columns}
        | {"last_error": run.outcome["last"], "steps_allowed": run.settings["steps"]}
        for run in document.runs
        for epsilon in DECADES
        for reached in [math.isfinite(hit(run, "step", epsilon))]
    ]


def text(document: Document) -> str:
    theory = "\n".join(f"| {LABELS[m]} | {_THEORY[m][0]} | {_THEORY[m][1]} |" for m in METHODS[:4])
    seeds = "three seeds (one at the largest d)" if len(document.distinct("seed")) == 3 else "one seed"
    exact = "" if document.quick else "up to d = 200 its eigenvectors are exact here, for certainty's sake; "
    parts = [
        _INTRODUCTION.format(theory=theory),
        fill(_MEASURED.format(seeds=seeds, exact=exact), WIDTH),
        _steps_tables(document),
        _exponents(document),
        _work(document),
        _totals(document),
        _maps(document),
        "### What follows\n\n" + follows(document),
    ]
    return "\n".join(part.strip() + "\n" for part in parts if part)


# -------------------------------------------------------------------------------------------------------------- tables


def _steps_tables(document: Document) -> str:
    """Eigenvectors or decompositions to each ε, at the middle dimension."""
    d = middle_d(document)
    places = {f"{TITLES[family]}, d = {d}": line(document, family) | {"d": d} for family in LINES}
    for run in document.find(family="gaussian", method="pgd", seed=0):
        measured = f"`Sensing`, random dense measurements (α/β = {run.outcome['strong_convexity']:.2g})"
        places[f"{measured}, d = {run.settings['d']}"] = {"family": "gaussian", **common(document)}
    lines = [f"### Steps to ε (rank {common(document)['rank']}, λ_min {common(document)['smallest']:.3g})\n"]
    lines.append("A step is one decomposition (the first two rows of each) or one eigenvector.\n")
    for title, place in places.items():
        lines += _table(
            [title, *(f"{epsilon:.0e}" for epsilon in DECADES)],
            [
                [LABELS[m], *(count(middle(document.find(method=m, **place), "step", e)) for e in DECADES)]
                for m in METHODS
            ],
        )
    return "\n".join(lines)


def _exponents(document: Document) -> str:
    """What was fitted beside what the theory has; powers of 1/ε from the last decade of steps of each run."""
    d = middle_d(document)
    lines = [
        f"### Fitted exponents (d = {d}; the theory's in brackets)\n",
        "Steps ∝ xᵖ at the smallest ε that all settings of x reached. The theory's are upper bounds. Those of CG are "
        "about the plateau that it stands on (below).\n",
    ]
    head = ["method", "1/ε, `Distance`", "1/ε, entries", "steps per digit, entries", "β/α, entries"]
    head += ["1/λ_min, `Distance`", "1/λ_min, entries", "rank, entries", "d, entries"]
    body = []
    for method in METHODS:
        epsilon, condition, smallest, rank = _THEORY[method][2]
        runs = {f: document.find(method=method, d=d, **line(document, f)) for f in ("distance", "entries")}
        tails = {f: middle_in_epsilon(found) for f, found in runs.items()}
        body.append(
            [
                LABELS[method],
                f"{number(tails['distance'])} ({epsilon})",
                f"{number(tails['entries'])} ({epsilon})",
                number(per_decade(runs["entries"]), 1) if method in PROJECTED else "",
                f"{fitted(fit_conditioning(document, method))} ({condition})",
                f"{fitted(fit_smallest(document, 'distance', method))} ({smallest})",
                f"{fitted(fit_smallest(document, 'entries', method))} ({smallest})",
                f"{fitted(fit_rank(document, 'entries', method))} ({rank})",
                f"{fitted(fit_dimension(document, 'entries', method))} (0)",
            ]
        )
    return "\n".join(lines + _table(head, body))


def _work(document: Document) -> str:
    """Products, flops and seconds of a step, and how they grow with d."""
    d = dimensions(document)[-2]
    head = ["method"]
    body = [[LABELS[method]] for method in METHODS]
    for family in ("distance", "sparse"):
        kind = "dense" if family == "distance" else "sparse"
        head += [f"{kind} A: products", "flops (model)", "ms", "seconds ∝ d^"]
        for row, method in zip(body, METHODS, strict=True):
            runs = document.find(method=method, d=d, **line(document, family))
            row += [
                count(per_step(runs, "products")) if method not in PROJECTED else "a decomposition",
                f"{per_step(runs, 'flops'):.1e}",
                f"{1e3 * per_step(runs, 'seconds'):.3g}",
                number(cost_exponent(document, family, method, "seconds")),
            ]
    title = f"### Work per step (`Distance`, d = {d:,}; one thread)\n"
    return "\n".join([title, *_table(head, body)])


def _totals(document: Document) -> str:
    """Seconds in all, for three accuracies."""
    sizes, shown = dimensions(document), DECADES[1::2]
    lines = ["### Total processor seconds to ε = " + " / ".join(f"{epsilon:.0e}" for epsilon in shown) + "\n"]
    for family, title in TITLES.items():
        body = []
        for method in METHODS:
            groups = [document.find(method=method, d=d, **line(document, family)) for d in sizes]
            cells = [" / ".join(_seconds(middle(runs, "seconds", e)) for e in shown) for runs in groups]
            body.append([LABELS[method], *cells])
        lines += _table([title, *(f"d = {d:,}" for d in sizes)], body)
    return "\n".join(lines)


def _maps(document: Document) -> str:
    lines = ["### Who is cheapest\n"]
    lines.append(
        'By measured seconds / by the flops of the model. "?": another was stopped before it had spent as much.\n'
    )
    sizes = dimensions(document)
    for family, title in TITLES.items():
        by = [chart(document, family, column) for column in ("seconds", "flops")]
        body = [
            [f"{epsilon:.0e}", *(" / ".join(_winner(each[d, epsilon]) for each in by) for d in sizes)]
            for epsilon in DECADES
        ]
        lines += _table([f"{title}: ε", *(f"d = {d:,}" for d in sizes)], body)
    return "\n".join(lines)


# --------------------------------------------------------------------------------------------------------------- words


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return [*lines, *(f"| {' | '.join(row)} |" for row in body), ""]


def _seconds(value: float) -> str:
    return f"{value:.2g}" if value < 100 else count(value)


def _winner(found: Any) -> str:
    return "–" if found is None else found.method + ("?" if found.unsure else "")
