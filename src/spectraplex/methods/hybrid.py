"""Hybrid: local descent on a factor, escapes along blocks of leading eigenvectors, compression.

    Write X = YYᴴ with ‖Y‖_F = 1. Repeat:
    shed      columns of Y that are dying, if that costs nothing                                       (columns.py)
    escape    V ← leading eigenvectors of −∇f(X) that beat ⟨−∇f, X⟩;  X ← X + η (Σ wⱼ vⱼvⱼᴴ − X), exact line search
    descend   scaled limited-memory quasi-Newton on f(YYᴴ/‖Y‖²)                                        (descent.py)
    compress  to the eigendecomposition of X; Frank-Wolfe steps inside the span of Y                    (columns.py)

The escape is a Frank-Wolfe step with line search towards a point that promises at least half of what Frank-Wolfe's own
step does, and everything else only lowers f: the O(1/t) rate of Frank-Wolfe with an approximate oracle holds whatever
the local solver does (escape.py).
When a projection costs less than the descents it replaces, the method goes over to accelerated projected gradient with
partial decompositions by itself: at once where the loss is well conditioned, else when X needs a large rank
(``_projects``); those steps have the guarantee of accelerated gradient, and are monotone like all others.
A rank-deficient second-order point of the local problem is globally optimal; otherwise the eigenvectors, the very ones
CG would use, are the way out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..checks import share, whole
from ..domains.protocol import Projecting
from ..losses.curves import NotFinite
from ..matrices.atoms import Atoms
from ..places.numpy import EPS, Array
from ..places.protocol import Block, on_device
from ..problem import Point, Problem, Step
from .columns import compress, shed
from .descent import Descent, descend
from .escape import Way, escape, first_block
from .oracle import base, begin
from .projected import PGMemory, ProjectedGradient, TooLarge

_GROWING, _POLISHING = (8, 0.1), (30, 0.03)  # most steps of a descent, and the share of its mean gain that ends it
_BRIEF, _FIFTH = 3, 5  # most steps where they are kept in single precision, and more than a fifth of them are new
_LONG = 50_000  # rows and columns together, from which the first step is not to the border of a ball
_TALL = 10_000_000  # numbers in all atoms from which those are kept in single precision, at a place that is wide
_LONGEST = 120  # most steps of a descent after many that were cut short
_WORTH = 1e-3  # weights are balanced where the excess is above this share of the gap before the step
_SINGLE = 1e-5  # single precision while the gap is above this share of the largest eigenvalue
_BLUR = 0.01  # and while it changes the value by less than this share of what a step gains
_WELL = 3.0  # largest condition number of a loss that projections solve in a few steps
_LARGE = 6  # a dense matrix whose rank is above its size over this is left to projections
_TRIAL = 5  # projections before their progress is compared with that of the last descent
_PROJECTED = ProjectedGradient(accelerated=True, partial=True)


@dataclass(frozen=True, eq=False)
class HybridMemory:
    """What an escape needs, how many steps a descent may take; then the mode ("factor", "project", or "settled": no
    projections any more), what the last descent and the last projections gained, how many there were, from which value,
    and what they remember."""

    block: int
    guess: Block
    curvature: float
    patience: int
    mode: str
    gain: float
    projected: float
    tried: int
    since: float
    momentum: float
    beta: float
    U: Block
    s: Array
    V: Block


@dataclass(frozen=True)
class Hybrid:
    """Fast on all domains and losses, real and complex; one step is an escape and a local descent.

    Parameters
    ----------
    block : eigenvectors asked for at the first escape, later as many as were worth taking, and some more. None asks for
        4, and on a GPU for 16.
    share : how exact those of an escape are, as a share of what the leading one promises to gain. Any below one keeps
        the guarantee; a larger one saves products where a rough answer will do.
    balance : whether the weights of the columns are balanced after every descent; False saves some line searches where
        a rough answer will do.
    polish : most steps of a descent where no columns are missing; fewer where a rough answer will do.
    growing : most steps of a descent while columns are missing; more where few escapes will do.
    fading : such a descent ends where its last steps bring less than this share of the mean of all.
    """

    block: int | None = None
    share: float = 0.03
    balance: bool = True
    polish: int = _POLISHING[0]
    growing: int = _GROWING[0]
    fading: float = _GROWING[1]
    Memory: ClassVar[type] = HybridMemory
    zigzags: ClassVar[bool] = False  # an average of its few, steadily better points is no better dual point

    def __post_init__(self) -> None:
        if self.block is not None:
            whole("Hybrid", "block", self.block)
        share("Hybrid", "share", self.share)
        whole("Hybrid", "polish", self.polish)
        whole("Hybrid", "growing", self.growing)
        share("Hybrid", "fading", self.fading)

    def require(self, problem: Problem) -> None:
        """Refuse a domain whose X is not a block of the matrix upstairs: descents scale its rows and columns."""
        block, (m, n) = problem.lifted.corner, problem.objective.shape
        sizes = [len(range(*side.indices(problem.domain.dimension))) for side in (block.left, block.right)]
        if sizes != [m, n]:
            raise ValueError(
                "Hybrid needs a domain whose X is a block of the matrix upstairs, and that of "
                f"{type(problem.domain).__name__} is not; use 'cg', 'pairwise' or 'ror-adaptive'."
            )

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, HybridMemory, Step]:
        condition = problem.facts.condition
        mode = "project" if condition is not None and condition <= _WELL else "factor"
        if mode == "factor":
            point, guess, step = begin(problem, point, rng)
            point = _shortened(problem, point, guess) if step.kind == "toward" else point
        else:  # a projection needs no first eigenvector
            guess, step = point.atoms.vector(0), Step("start", 0.0, 0.0, np.inf)
        nobody = problem.place.from_host(np.empty((0, 0)))
        none = (nobody, np.empty(0), nobody)
        memory = HybridMemory(
            first_block(problem, self.block), guess, 0.0, self.growing, mode, 0.0, np.inf, 0, point.value, 1.0, 1.0,
            *none,
        )  # fmt: skip
        return point, memory, step

    def step(
        self, problem: Problem, point: Point, memory: HybridMemory, rng: np.random.Generator
    ) -> tuple[Point, HybridMemory, Step]:
        lost = 0.0
        if memory.mode == "project":
            try:
                return self._project(problem, point, memory, rng)
            except TooLarge as much:
                lost = much.products
            except NotFinite:  # where f has an edge, descents come back from it
                pass
            memory = replace(memory, mode="settled")
        before, start = point, point.value
        way = Way(memory.block, memory.guess, memory.curvature)
        kept = shed(problem, point, memory.gain)
        point, way, step = escape(problem, kept, way, self.share, rng)
        fresh = len(point.atoms) - len(kept.atoms)
        del kept
        memory = replace(memory, block=way.block, guess=way.guess, curvature=way.curvature)
        more = len(point.atoms) > 1.07 * len(before.atoms) or memory.block > 0.08 * len(point.atoms)
        single = _single(problem, point, step.estimated_gap)
        many = single and _many(problem, point.atoms)
        growing = _BRIEF if many and _FIFTH * fresh > len(point.atoms) else self.growing
        # little polishing while the right columns are still missing
        most, fading = (growing, self.fading) if more else (self.polish, _POLISHING[1])
        most, reached = max(most, memory.patience), point.value
        near = (reached, _BLUR * max(memory.gain, start - reached))
        held = [point.image, point.atoms.factor()]
        atoms = None if many else point.atoms  # as large as a descent's own factor
        # its image and slope are as long as the data, and only a descent's beginning needs them and the factor
        del point
        found = descend(  # every argument by its name: a tuple of them would hold the factor as long as this takes
            problem, held.pop(), held.pop(), memory.curvature, most=most, fading=fading, single=single, slim=many,
            near=near,
        )  # fmt: skip
        ended = found if self.balance else replace(found, pull=None)
        new = _compressed(problem, ended, start, _WORTH * step.estimated_gap, before, many)
        if not new.value <= min(reached, start):  # rounding level: keep what is best, and no more than it needs
            new = min((*_plainer(problem, found, atoms, start, before), before), key=lambda each: each.value)
        if len(new.atoms) > 1.07 * len(before.atoms):
            memory = replace(memory, patience=growing)
        elif found.steps == most:  # cut short though no columns were missing: what it had learned is lost each time
            memory = replace(memory, patience=min(2 * most, _LONGEST))
        gain, mode = start - new.value, memory.mode
        large = len(new.atoms) > min(problem.domain.shape) / _LARGE and _projects(problem)
        if mode == "factor" and large and gain < memory.projected:
            mode = "project"
        memory = replace(memory, mode=mode, gain=gain, tried=0, since=new.value, momentum=1.0)
        size = step.size if gain > 4 * EPS * abs(new.value) else 0.0
        return new, memory, Step("hybrid", size, lost + step.products + found.products, step.estimated_gap)

    def _project(
        self, problem: Problem, point: Point, memory: HybridMemory, rng: np.random.Generator
    ) -> tuple[Point, HybridMemory, Step]:
        """One accelerated projection; when ``_TRIAL`` of them gained less than the last descent, one is due again."""
        if memory.tried == 0:
            point, held, _ = _PROJECTED.init(problem, point, rng)
        else:
            held = PGMemory(memory.momentum, memory.beta, memory.U, memory.s, memory.V)
        new, held, step = _PROJECTED.step(problem, point, held, rng)
        if not new.value <= point.value:
            new, step = point, replace(step, size=0.0)
        memory = replace(memory, tried=memory.tried + 1, **vars(held))
        if step.size == 0.0 or memory.tried % _TRIAL == 0:
            gain = memory.since - new.value
            mode = "factor" if step.size == 0.0 or gain < memory.gain else "project"
            memory = replace(memory, mode=mode, projected=gain, since=new.value)
        return new, memory, step


def _compressed(
    problem: Problem, found: Descent, start: float, worth: float, point: Point, single: bool = False
) -> Point:
    """Where a descent came to, with few columns; ``point`` where f is infinite: an edge nearer than rounding."""
    try:
        return compress(problem, found.Y, start, found.pull, worth, single)
    except NotFinite as beyond:
        if math.isnan(beyond.value):
            raise
        return point


def _plainer(problem: Problem, found: Descent, atoms: Atoms | None, start: float, before: Point) -> Iterator[Point]:
    """What may be better than the outcome of a descent at the level of rounding: the atoms it began with.

    Where those were not kept, the factor that it came to without balancing, in double precision.
    """
    if atoms is None:
        yield _compressed(problem, replace(found, pull=None), start, 0.0, before)
        return
    yield _compressed(problem, replace(found, Y=atoms.factor(), pull=None), start, 0.0, before)
    yield _measured(problem, atoms, before)


def _shortened(problem: Problem, point: Point, v: Block) -> Point:
    """As much of X₁ = θuwᴴ, with v = (u; w), as is best: (1 − t)vvᴴ + t·v'v'ᴴ with v' = (u; −w) stands for (1 − 2t)X₁.

    In a large ball X₁ itself is farther from the data than zero is. What it leaves is then mostly its own sampled
    remainder, and in a long table so many of its singular values crowd together that the next search finds little else.
    It costs no product. A domain of Hermitian matrices has no such v', and short tables gain nothing.
    """
    place, lifted = problem.place, problem.lifted
    if problem.domain.hermitian or lifted.penalty or problem.domain.dimension < _LONG:
        return point
    left, right = place.rows(v, lifted.corner.left), place.rows(v, lifted.corner.right)
    mirror = place.stack(left, place.scale(right, -1.0))
    try:
        dz = lifted.combine(1.0, problem.image_of(mirror), -1.0, point.image)
        size = problem.curve(point, dz).minimize(1.0)
        if size == 0.0:
            return point
        shorter = problem.ahead(point, Atoms.of(place.join(v, mirror), np.array([1.0 - size, size]), place), dz, size)
    except NotFinite:
        return point
    return shorter if shorter.value < point.value else point


def _measured(problem: Problem, atoms: Atoms, otherwise: Point) -> Point:
    """The point of these atoms; another one where f is infinite."""
    try:
        return problem.point(atoms)
    except NotFinite:
        return otherwise


def _single(problem: Problem, point: Point, gap: float) -> bool:
    """Whether factors may be kept in single precision: where every sum is in double, and far from the optimum."""
    rough = gap > _SINGLE * (abs(base(problem, point)) + gap)
    return problem.facts.single and rough


def _many(problem: Problem, atoms: Atoms) -> bool:
    """Whether atoms are kept in single precision: so many, on a device, that they are most of what is read."""
    return on_device(problem.place) and len(atoms) * problem.domain.dimension > _TALL


def _projects(problem: Problem) -> bool:
    """Whether projections may take over from descents: a dense problem, whose β needs no work to be known.

    Without β a projection has to try for a step size; a descent needs none.
    """
    facts = problem.facts
    if not facts.dense or not isinstance(problem.domain, Projecting):
        return False
    return facts.given_smoothness is not None or facts.condition is not None
