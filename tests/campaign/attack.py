"""One attack: solve a case by some method, and hold every claim of the answer against the exact optimum."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import spectraplex as sx

from .cases import Case, pick
from .classes import Undecided, make
from .clock import TooSlow, limited
from .elsewhere import keep
from .forge import forgeries, sentence, tamper
from .places import moved
from .recount import exact_value
from .walks import certified, walked

LIMIT = 30.0  # seconds of processor time that one problem may take, attacks on its files included
SLOW = 5.0  # seconds of processor time that one solve of a few steps may take
LONGER = 8.0  # times as long on tensors: an operation on a few numbers takes ten times as long as NumPy's
DIRTY = (sx.Status.INCONSISTENT, sx.Status.NOT_FINITE)


@dataclass
class Report:
    """What came of one case. ``misses`` are (word, detail): the word is what the counts are kept by."""

    name: str
    seed: int
    words: str = ""
    misses: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0
    slowest: float = 0.0  # of its solves
    place: str = "here"  # where it was solved
    loose: bool = False  # honest, but the gap that was asked for was not reached

    def miss(self, word: str, detail: Any = "") -> None:
        self.misses.append((word, str(detail)))


@dataclass(frozen=True)
class Share:
    """Whether this case gets everything, and where results for other processes are kept."""

    thorough: bool = False
    spool: Path | None = None


# --------------------------------------------------------------------------------------------------- single claims


def rounding(certificate: sx.Certificate, case: Case) -> Fraction:
    """The error that a certificate states for its value.

    One that states none is allowed 10⁻¹² of the terms, and what entries of X that are off by 10⁻¹⁵ of its size cost.
    """
    stated = getattr(certificate, "rounding", None)
    if stated is not None:
        return Fraction(stated)
    off = min(1e-15 * case.problem.domain.size, 1e150)
    return Fraction(min(1e-12 * case.terms, 1e308)) + case.heaviest * Fraction(off) ** 2 + Fraction(1e-300)


def bracket(report: Report, case: Case, certificate: sx.Certificate, where: str = "", detail: str = "") -> None:
    """lower_bound ≤ f* ≤ value + rounding, in exact arithmetic."""
    best, where = case.optimum, f"{where}: " if where else ""
    low, high = certificate.lower_bound, certificate.value
    if not (np.isfinite(high) and (np.isfinite(low) or low == -np.inf)):
        report.miss(f"{where}not finite", f"{detail} {low!r} ≤ f* ≤ {high!r}")
        return
    if low > -np.inf and Fraction(low) > best + case.error:
        over = f"{low!r} above f* = {_number(best)} by {_number(Fraction(low) - best)}"
        report.miss(f"{where}false bound", f"{detail} {over}")
    if best - case.error > Fraction(high) + rounding(certificate, case):
        under = f"{high!r} below f* = {_number(best)} by {_number(best - Fraction(high))}"
        report.miss(f"{where}false value", f"{detail} {under}")
    stated = getattr(certificate, "rounding", 0.0)
    if not stated >= 0.0:
        report.miss(f"{where}not finite", f"{detail} rounding {stated!r}")


def _number(value: Fraction) -> str:
    try:
        small = float(value)
    except OverflowError:
        return "beyond floats"
    return repr(small) if small or not value else f"±2^{value.numerator.bit_length() - value.denominator.bit_length()}"


def holds(report: Report, word: str, claim: Callable[[], Any]) -> None:
    """A verification that must come out true."""
    verdict = claim()
    if not verdict:
        report.miss(word, verdict)


# ------------------------------------------------------------------------------------------------------ one attack


def methods_for(problem: sx.Problem) -> list[str]:
    """Those that do not refuse it, as their own documentation says."""
    names = list(sx.METHODS)
    if isinstance(problem, sx.Penalized):
        names.remove("in-face")
    if isinstance(problem, sx.Penalized) or problem.facts.some is None:
        names.remove("stochastic")
    if getattr(problem.objective, "smoothness", None) is None or problem.domain.dimension > 100:  # or too slow
        names = [name for name in names if name not in ("ror", "ror-full")]
    return names


def attack(name: str, seed: int, thorough: bool = False, spool: Path | None = None, place: str = "here") -> Report:
    """Solve the case and check everything; ``thorough`` does for this one what only a share of them gets.

    Some results are left in the folder ``spool``, to be looked at by other processes. ``place`` is where it is solved.
    """
    _warm()
    report = Report(name, seed, place=place)
    began, slower = time.process_time(), 1.0 if place == "here" else LONGER
    rng = np.random.default_rng([*name.encode(), seed, 1])
    try:
        with limited(slower * LIMIT), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("default", module=r"cvxpy")
            case = make(name, seed)
            case = replace(case, away=moved(case.problem, place))
            report.words = case.words
            {"path": walked, "certify": certified}.get(name, answered)(report, rng, case, Share(thorough, spool))
    except Undecided as why:
        report.words = f"not decided: {why}"
    except TooSlow as slow:
        report.miss("too slow", f"more than {slower * LIMIT:g} seconds ({_place(slow)})")
    except Exception as error:
        report.miss(f"{type(error).__name__} for an honest problem", f"{error} ({_place(error)})")
    report.seconds = time.process_time() - began
    if report.slowest > slower * SLOW:
        report.miss("slow solve", f"{report.slowest:.1f} seconds")
    return report


@cache
def _warm() -> None:
    """Have the kernels compiled before a clock runs."""
    for values in ([1.0, 2.0], [1.0, 2j]):
        sx.solve(sx.Problem(sx.Completion([0, 1], [0, 1], values, (2, 2)), sx.NuclearBall((2, 2), 1.0)))


def _place(error: BaseException) -> str:
    """The last line of the library that an error came from."""
    place, trace = "", error.__traceback__
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename)
        if "spectraplex" in file.parts:
            place = f"{file.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place or "the campaign"


def answered(report: Report, rng: np.random.Generator, case: Case, share: Share) -> None:
    """Solve it, and look at everything that comes back."""
    method = pick(rng, *methods_for(case.where))
    result = solved(report, rng, case, method)
    if result is None:
        return
    certificate = result.certificate
    holds(report, "refused with X", lambda: sx.verify(certificate, case.problem, result.X))
    holds(report, "refused with the result", lambda: sx.verify(certificate, case.problem, result))
    holds(report, "refused as JSON", lambda: sx.verify(certificate.to_json(), case.problem, result))
    if sx.Certificate.from_json(certificate.to_json()) != certificate:
        report.miss("JSON changes it")
    clean, drawn = not report.misses, rng.random()
    if share.thorough or drawn < 0.08:
        judged(report, rng, case, result)
        recounted(report, case, result)
    if share.thorough or 0.2 <= drawn < 0.22:
        with tempfile.TemporaryDirectory() as folder:
            saved(report, case, result, method, Path(folder))
            if clean:
                few = not share.thorough or case.problem.domain.dimension > 100  # each takes a proof of its own
                tamper(report, case, method, Path(folder), 15 if few else None)
    if not clean:  # forging what is refused anyhow would prove nothing
        return
    if share.thorough or 0.1 <= drawn < 0.13:
        forgeries(report, case, result)
    if share.spool is not None and case.portable and (share.thorough or 0.3 <= drawn < 0.31):
        keep(share.spool, report.name, report.seed, method, result)


def solved(report: Report, rng: np.random.Generator, case: Case, method: str) -> Any:
    """Solve, look at status and brackets; None when there is no certificate to look at."""
    steps = int(rng.integers(1, 9)) if rng.random() < 0.85 else int(rng.integers(9, 50))
    steps = steps if case.problem.domain.dimension <= 100 else min(steps, 4)
    stop = sx.Stop(relative_gap=pick(rng, None, 1e-1, 1e-3, 1e-6, 1e-9), max_steps=steps)
    began = time.process_time()
    result = sx.solve(case.where, method, stop, seed=int(rng.integers(1000)))
    report.slowest = max(report.slowest, time.process_time() - began)
    report.words += f", {method}, {steps} steps"
    report.loose = stop.relative_gap is not None and result.status not in (sx.Status.GAP, sx.Status.FLOOR)
    if result.status in DIRTY:
        report.miss(f"status {result.status.name}")
        return None
    bracket(report, case, result.certificate)
    known, off = getattr(result.certificate, "rounding", 0.0), min(1e-10 * case.problem.domain.size, 1e150)
    if getattr(case.problem.objective, "sparse", None) is not None:  # ½‖X‖² − ⟨A, X⟩ + ½‖A‖² for X of any size
        off = min(1e-6 * case.problem.domain.size, 1e150)
    if known > 1e-7 * (case.terms + abs(result.value)) + float(min(case.heaviest, 10**6)) * off**2 + 1e-290:
        report.miss("useless rounding", f"{known!r} for a value {result.value!r} of terms {case.terms!r}")
    if result.certificate.kind == "none":
        if case.certifiable:
            report.miss("nothing certified")
        return None
    if (result.value, result.lower_bound) != (result.certificate.value, result.certificate.lower_bound):
        report.miss("result and certificate differ", f"{result.lower_bound!r}, {result.certificate.lower_bound!r}")
    return result


def saved(report: Report, case: Case, result: sx.Result, method: str, folder: Path) -> None:
    """What was saved verifies, and goes on."""
    result.save(folder)
    loaded = sx.load(folder)
    holds(report, "refused after load", lambda: sx.verify(loaded.certificate, case.problem, loaded))
    holds(report, "refused by folder", lambda: sx.verify(result.certificate, case.problem, folder))
    for problem in dict.fromkeys((case.problem, case.where)):
        again = sx.solve(problem, method, sx.Stop(max_steps=2), start=loaded)
        bracket(report, case, again.certificate, "resumed")
        if again.value > result.value + float(rounding(result.certificate, case)):
            report.miss("resuming loses ground", f"{again.value!r} after {result.value!r}")


def judged(report: Report, rng: np.random.Generator, case: Case, result: sx.Result) -> None:
    """certify of a matrix from elsewhere, and the same problem's other form."""
    problem = case.problem
    X: Any = pick(rng, result.X, result, result.X.dense(), result.X.triple()[: 2 if problem.domain.hermitian else 3])
    certificate = sx.certify(case.where, X)
    bracket(report, case, certificate, "certify")
    holds(report, "refused after certify", lambda: sx.verify(certificate, problem, X))
    if case.exact is None or isinstance(problem.domain, sx.Spectrahedron) or isinstance(problem.objective, sx.Smooth):
        return
    try:
        other = sx.counterpart(problem, result)
    except ValueError as words:  # X is zero, or the ball does not bind: said in a sentence
        sentence(report, words, "counterpart")
        return
    bracket(report, case.of(other), sx.certify(other, result.X), "counterpart")


def recounted(report: Report, case: Case, result: sx.Result) -> None:
    """The value is that of X, up to the rounding that the certificate states."""
    if case.problem.domain.shape[0] > 10 or (exact := exact_value(case.problem, result.X)) is None:
        return
    allowed = rounding(result.certificate, case)
    if not hasattr(result.certificate, "rounding"):
        allowed += abs(exact) / 10**9
    if abs(exact - Fraction(result.value)) > allowed:
        report.miss("value of another X", f"{result.value!r}, but f(X) = {_number(exact)}")
