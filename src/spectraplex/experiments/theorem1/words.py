"""What theorem1's results say: a table of curves, claims recomputed from raw numbers, and a text made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from ..claims import Claim
from ..document import Document
from .figures import draw
from .read import LEAST_END, Exponent, Setting, bounds, curves, exponent, flattest, ratios, settings, steeper
from .sentences import oracle_words, text

__all__ = ["claims", "draw", "rows", "text"]

_SEEDS = 50  # an average over fewer is no estimate of an expectation
_FEW_SEEDS, _STEPS = 10, 1000  # what an exponent, or a remark beside the theorem, needs
_ROUNDING = 1e-12


def rows(document: Document) -> Iterator[dict[str, Any]]:
    """One row for every setting, method, oracle and step of the grid."""
    names = ("method", "oracle", "factor", "fixed")
    for setting in settings(document):
        for how in _distinct(document, setting, names):
            found = curves(document, setting, **how)
            head = asdict(setting) | {name: how.get(name, "") for name in names} | {"seeds": found.seeds}
            spread = found.errors.std(axis=0, ddof=1) / np.sqrt(found.seeds) if found.seeds > 1 else 0 * found.mean
            low, middle, high = np.quantile(found.errors, [0.05, 0.5, 0.95], axis=0)
            columns = {"t": found.steps, "mean": found.mean, "standard_error": spread}
            columns |= {"quantile_05": low, "median": middle, "quantile_95": high}
            columns |= {f"bound_{k}": bound for k, bound in enumerate(bounds(found.steps, setting), 1)}
            for k in range(found.steps.size):
                yield head | {name: column[k] for name, column in columns.items()}


def _distinct(document: Document, setting: Setting, names: tuple[str, ...]) -> list[dict[str, Any]]:
    found = [{n: run.settings[n] for n in names if n in run.settings} for run in document.find(**asdict(setting))]
    return [how for k, how in enumerate(found) if how not in found[:k]]


def claims(document: Document) -> list[Claim]:
    """What must hold, then what is reported as it is."""
    shown, worst = settings(document, oracle="exact"), settings(document, oracle="worst")
    large = [setting for setting in shown if setting.rank >= 3]
    made = [_optimum(document), _invariants(document)]
    made += [_below(document, setting, "exact") for setting in shown if not setting.long]
    made += [_below(document, setting, "worst", factor=1.0) for setting in worst]
    made += [_steeper(document, setting, "cg") for setting in large]
    made += [_steeper(document, setting, "cg-open-loop") for setting in large]
    made += [_always_steeper(document, setting) for setting in large if setting.long]
    for accuracy in ({"factor": 10.0}, {"fixed": 0.01}):
        made += [_below(document, setting, "worst", **accuracy) for setting in worst]
    return made


def _optimum(document: Document) -> Claim:
    proof = max(run.outcome["proof"] for run in document.runs)
    statement = "every f* is known: the gap of the X* it was built from is nothing but rounding."
    return Claim("theorem1, all problems", statement, f"largest gap {proof:.1e}", proof <= _ROUNDING)


def _invariants(document: Document) -> Claim:
    runs = document.find(method="ror")
    weight, atoms, rise = (max(run.outcome[name] for run in runs) for name in ("weight", "atoms", "rise"))
    return Claim(
        "theorem1, every step of ROR-CG",
        "weights are at least η_t/2, atoms at most (t + 8)/9, and f rises by no more than η̃ξ.",
        f"largest excess: weights {weight:.1e}, atoms {atoms:.1g}, rise {rise:.1e}",
        max(weight, atoms, rise) <= _ROUNDING,
    )


def _below(document: Document, setting: Setting, oracle: str, **accuracy: float) -> Claim:
    found = curves(document, setting, "ror", oracle, **accuracy)
    shares = ratios(document, setting, found)
    seen = ", ".join(f"{share:.2g} at t = {t}" for share, t in shares)
    measured = f"largest mean error / bound: {seen} ({found.seeds} seeds)"
    inside = oracle == "exact" or accuracy == {"factor": 1.0}
    holds: bool | None = max(share for share, _ in shares) <= 1.0
    if found.seeds < (least := _SEEDS if inside else _FEW_SEEDS):
        holds, measured = None, f"{measured}: an expectation needs at least {least}"
    words = oracle_words(oracle, **accuracy)
    statement = f"the mean error is below each of the three bounds at every recorded step (eigenvectors: {words})."
    return Claim(f"theorem1, {setting.label}", statement, measured, holds, ours=inside)


def _steeper(document: Document, setting: Setting, rival: str) -> Claim:
    own, other = curves(document, setting, "ror"), curves(document, setting, rival)
    mine, theirs = exponent(own), exponent(other)
    name = "CG with line search" if rival == "cg" else "CG with open-loop steps"
    measured, holds = f"{_fitted(mine)} against {_fitted(theirs)}", steeper(mine, theirs)
    if own.steps[-1] < _STEPS or min(own.seeds, other.seeds) < _FEW_SEEDS:
        measured, holds = f"{measured}: an exponent needs {_STEPS} steps and {_FEW_SEEDS} seeds", None
    if setting.waits:  # reported, but not the decay: the longer runs of the same setting are judged
        measured += f"; no atom may weigh λ before t = {9 / setting.least:,.0f}"
    statement = f"ROR-CG's decay exponent is larger than that of {name}."
    return Claim(f"theorem1, {setting.label}", statement, measured, holds, ours=rival == "cg" and not setting.waits)


def _always_steeper(document: Document, setting: Setting) -> Claim:
    """Of the longer runs: whether the exponent depends on where one looks."""
    mine = flattest(curves(document, setting, "ror"))
    theirs = None if mine is None else exponent(curves(document, setting, "cg"), mine.last)
    statement = "in no decade of t does ROR-CG decay slower than CG with line search."
    measured = f"slowest {_fitted(mine)}, there CG {_fitted(theirs)}"
    return Claim(f"theorem1, {setting.label}", statement, measured, steeper(mine, theirs), ours=False)


def _fitted(found: Exponent | None) -> str:
    if found is None:
        return f"none (at rounding before t = {LEAST_END})"
    return f"{found} on t = {found.first}–{found.last}"
