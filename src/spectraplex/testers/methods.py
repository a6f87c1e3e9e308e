"""The tester of methods: a few steps on small problems whose optimum is known."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..domains.sets import NuclearBall, Spectrahedron, TraceBall
from ..methods import facts_of as method_facts
from ..objectives.distance import Distance
from ..objectives.tester import Report, Tester
from ..places.numpy import inner
from ..problem import Point, Problem, Step

_STEPS = 12


def check_method(method: Any, trials: int, seed: int) -> Report:
    if not hasattr(method, "Memory"):
        return Report(("protocol",), ("protocol: it lacks Memory, the dataclass that init and step return.",))
    return MethodTester(method, np.random.default_rng(seed)).run(trials)


class MethodTester(Tester):
    """½‖X − A‖² over three sets in turn; the optimum is the projection of A."""

    def __init__(self, method: Any, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.method, self.count, self.refused = method, 0, ""
        self.because = "the method refuses the problem"

    def finish(self, trials: int) -> None:
        if self.skipped == trials:
            self.fail(
                "require", f"it refuses every problem it was tried on, so that nothing was tested: {self.refused}"
            )

    def trial(self) -> None:
        kinds = (Spectrahedron(8), NuclearBall((6, 5), 2.0), TraceBall(7, 1.5))
        domain = kinds[self.count % len(kinds)]
        dtype = "complex128" if self.count % 2 else "float64"
        self.count += 1
        A = self.normal(tuple(domain.shape), dtype)
        A = 0.5 * (A + A.conj().T) if domain.hermitian else A
        problem = Problem(Distance(A), domain)
        require = method_facts(self.method).require
        if require is not None:
            try:
                require(problem)
            except ValueError as refused:
                self.skipped, self.refused = self.skipped + 1, str(refused)
                return
        off = domain.project(A).dense() - A
        self.walk(problem, 0.5 * inner(off, off))

    def walk(self, problem: Problem, optimum: float) -> None:
        start = problem.point(problem.domain.start(problem.dtype, np.random.default_rng(1)), fresh=True)
        rng = np.random.default_rng(2)
        point, memory, _ = self.three("init", self.method.init(problem, start, rng))
        first, best, moved = start.value, point.value, False
        for _ in range(_STEPS):
            before = rng.bit_generator.state
            new, later, step = self.three("step", self.method.step(problem, point, memory, rng))
            self.feasible(problem, new, optimum)
            self.expect("step", np.isfinite(step.size) and step.products >= 0, "its size or products are no numbers.")
            point, held, memory = new, (before, point, memory), later
            best, moved = min(best, new.value), moved or step.size > 0
        self.expect("progress", best < first or first <= optimum * (1 + 1e-9), f"f stays at {first:.6g}.")
        text = f"{_STEPS} steps have size zero, but f = {best:.6g} is above the optimum {optimum:.6g}."
        self.expect("progress", moved or best <= optimum * (1 + 1e-6) + 1e-9, text)
        self.again(problem, held, point)

    def three(self, name: str, given: Any) -> tuple[Point, Any, Step]:
        """What ``init`` or ``step`` returned, if it is a point, a memory and a step."""
        parts = given if isinstance(given, tuple) else (given,)
        holds = len(parts) == 3 and isinstance(parts[0], Point) and isinstance(parts[2], Step)
        got = ", ".join(type(each).__name__ for each in parts)
        self.need(name, holds, f"it must return (Point, Memory, Step), got ({got}).")
        return parts[0], parts[1], parts[2]

    def feasible(self, problem: Problem, point: Point, optimum: float) -> None:
        atoms, place = point.atoms, point.atoms.place
        lengths, weights = place.norms(atoms.vectors), atoms.weights
        unit = bool(np.abs(lengths - 1.0).max() <= 1e-9 and weights.min() >= 0 and abs(weights.sum() - 1.0) <= 1e-9)
        self.expect("feasible", unit, "atoms are not unit, or their weights are negative or do not sum to one.")
        there = problem.point(atoms)
        fresh, pairing = there.value, problem.lifted.pair(point.slope, there.image)
        close = abs(pairing - problem.lifted.pair(there.slope, there.image)) <= 1e-6 * max(abs(pairing), 1.0)
        self.expect("slope", close, "the slope of the point is not that at its atoms: was it moved with them?")
        text = f"the point says f = {point.value:.10g}, its atoms have {fresh:.10g}: the image was not moved with them."
        self.expect("image", abs(fresh - point.value) <= 1e-7 * max(abs(fresh), 1.0), text)
        text = f"f = {fresh:.10g} lies below the optimum {optimum:.10g}."
        self.expect("optimum", fresh >= optimum - 1e-9 * max(1.0, abs(optimum)), text)

    def again(self, problem: Problem, held: tuple[Any, Point, Any], point: Point) -> None:
        """Its memory, taken apart as when it is saved and put together again, leads to the same step."""
        state, before, memory = held
        if not is_dataclass(memory):
            self.fail("memory", f"it is {type(memory).__name__}, but must be a flat dataclass.")
            return
        parts = {each.name: getattr(memory, each.name) for each in fields(memory)}
        flat = int | float | str | np.generic | np.ndarray
        odd = [name for name, part in parts.items() if not isinstance(part, flat) or np.asarray(part).dtype == object]
        self.expect("memory", not odd, f"{', '.join(odd)} are neither arrays, numbers nor strings: it cannot be saved.")
        rng = np.random.default_rng()
        rng.bit_generator.state = state
        new, _, _ = self.method.step(problem, before, self.method.Memory(**parts), rng)
        same = abs(new.value - point.value) <= 1e-12 * max(1.0, abs(point.value))
        self.expect(
            "resumes", same, f"the same step from the same memory gave {new.value:.10g}, not {point.value:.10g}."
        )
