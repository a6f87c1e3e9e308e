"""The tester of domains: what is upstairs is what the user sees, both ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificates.judge import certify
from ..domains.protocol import Domain, Projecting, Upstairs
from ..matrices.atoms import Atoms
from ..matrices.factors import Rectangular, Symmetric
from ..methods.conditional_gradient import ConditionalGradient
from ..objectives.distance import Distance
from ..objectives.tester import Report, Tester
from ..places.numpy import Array, dagger, inner
from ..problem import Problem

_STEPS = 40  # towards a point at which a bound is tight
_NEEDED = ("shape", "hermitian", "jumps", "dimension", "size", "lam", "known", "lift", "start", "lower", "raised")


def check_domain(domain: Any, trials: int, seed: int) -> Report:
    missing = [name for name in _NEEDED if not hasattr(domain, name)]
    if missing:
        return Report(("protocol",), (f"protocol: it lacks {', '.join(missing)}; see the Domain protocol.",))
    return DomainTester(domain, np.random.default_rng(seed)).run(trials)


class DomainTester(Tester):
    """½‖X − A‖² on random atoms: value, gradient, start, and the way up and down."""

    def __init__(self, domain: Domain, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.domain, self.count = domain, 0

    def trial(self) -> None:
        domain, dtype = self.domain, "complex128" if self.count % 2 else "float64"
        self.count += 1
        A = domain.size * self.normal(tuple(domain.shape), dtype)
        objective = Distance(A + dagger(A) if domain.hermitian else A)
        problem = Problem(objective, domain)
        lifted = problem.lifted
        self.expect("known", bool(problem.fingerprint), "it has no fingerprint.")
        text = f"lam is {domain.lam}, but what it lifts to says penalty={lifted.penalty}."
        self.expect("lam", bool(domain.lam) == lifted.penalty, text)
        atoms = Atoms.of(self.normal((domain.dimension, 3), dtype), self.rng.dirichlet(np.ones(3)))
        self.first(domain.start(dtype, self.rng), dtype)
        X, image = domain.lower(atoms), lifted.measure(atoms.vectors, atoms.weights, atoms.vectors)
        kind = Symmetric if domain.hermitian else Rectangular
        text = f"lower gives {type(X).__name__}, but a domain with hermitian={domain.hermitian} gives {kind.__name__}."
        self.expect("lower", isinstance(X, kind), text)
        if not isinstance(X, kind):
            return
        dense, (value, slope) = X.dense(), lifted.evaluate(image)
        self.expect("lower", dense.shape == tuple(domain.shape), f"the matrix it gives is {dense.shape}.")
        bottom = objective.evaluate(objective.measure(*X.triple()))[0] + lifted.price(X)
        # what is charged for atoms is an upper bound on what is charged for X
        off = value - bottom if lifted.penalty else abs(value - bottom)
        text = f"f upstairs is {value:.10g}, at the matrix that lower gives {bottom:.10g}."
        self.expect("value", -1e-9 * abs(value) <= off and (lifted.penalty or off <= 1e-9 * abs(value)), text)
        self.way_up(X, dense)
        self.gradient(lifted, atoms, value, slope)
        self.claims(lifted, atoms)
        if isinstance(domain, Projecting):
            self.projection(domain, dtype)
        if self.count <= 2:
            self.bound(problem)

    def first(self, atoms: Atoms, dtype: str) -> None:
        d = self.domain.dimension
        self.expect("start", atoms.dimension == d, f"it has dimension {atoms.dimension}, not {d}.")
        total, off = float(atoms.weights.sum()), float(np.abs(atoms.place.norms(atoms.vectors) - 1.0).max())
        unit = abs(total - 1.0) <= 1e-9 and off <= 1e-9
        self.expect("start", unit, f"its weights sum to {total:.6g}, and its columns are off unit length by {off:.3g}.")
        kind = atoms.place.kind(atoms.buffer.block)
        self.expect("start", kind == np.dtype(dtype), f"it was asked for {dtype} and gave {kind}.")

    def way_up(self, X: Symmetric | Rectangular, dense: Array) -> None:
        again = self.domain.lower(self.domain.raised(X)).dense()
        off, size = float(np.linalg.norm(again - dense)), float(np.linalg.norm(dense))
        text = f"lower(raised(X)) differs from X by {off:.3g}, and ‖X‖ is {size:.3g}."
        self.expect("raised", off <= 1e-7 * max(size, 1e-300), text)

    def gradient(self, lifted: Upstairs, atoms: Atoms, value: float, slope: Any) -> None:
        """f(X + s(vvᴴ − X)) has the derivative ⟨∇f, vvᴴ − X⟩ at s = 0; f is quadratic, so a difference is exact."""
        v = Atoms.of(self.normal((self.domain.dimension, 1), lifted.dtype)).vectors
        image = lifted.measure(atoms.vectors, atoms.weights, atoms.vectors)
        dz = lifted.combine(1.0, lifted.measure(v, np.ones(1), v), -1.0, image)
        operator = lifted.gradient(slope)
        ahead, behind = (lifted.evaluate(lifted.combine(1.0, image, s, dz))[0] for s in (0.25, -0.25))
        numbers = inner(v, operator.matmat(v)) - float(atoms.weights @ operator.scores(atoms.vectors, len(atoms)))
        scale = abs(ahead) + abs(behind) + abs(numbers)
        text = "the derivative of f upstairs and the gradient differ"
        self.close("gradient", numbers, 2.0 * (ahead - behind), scale, text, 1e-8)
        self.close("pairing", lifted.pair(slope, dz), numbers, scale, "⟨slope, image⟩ and gradient", 1e-8)
        self.close("line search", lifted.along(image, dz).derivative(0.0), numbers, scale, "along and gradient", 1e-8)

    def claims(self, lifted: Any, atoms: Atoms) -> None:
        """Curvature upstairs, along a line to another point, is between what is claimed."""
        other = Atoms.of(self.normal((self.domain.dimension, 3), lifted.dtype), self.rng.dirichlet(np.ones(3)))
        images = [lifted.measure(each.vectors, each.weights, each.vectors) for each in (atoms, other)]
        values = [lifted.evaluate(image) for image in images]
        D = (each.factor() @ dagger(each.factor()) for each in (atoms, other))
        square = float(np.linalg.norm(np.subtract(*D)) ** 2) + 1e-300
        step = lifted.combine(1.0, images[1], -1.0, images[0])
        rise = values[1][0] - values[0][0] - lifted.pair(values[0][1], step)
        slack = 1e-9 * (abs(values[0][0]) + abs(values[1][0]))
        low, high = lifted.strong_convexity, lifted.smoothness
        text = f"a curvature of {2 * rise / square:.6g} was met upstairs, claimed are {low} to {high}."
        fine = 0.5 * low * square - slack <= rise and (high is None or rise <= 0.5 * high * square + slack)
        self.expect("claimed curvature", fine, text)

    def bound(self, problem: Problem) -> None:
        """What a certificate shows at a point that was nearly solved for is not above the values of others."""
        method, rng = ConditionalGradient(), np.random.default_rng(1)
        found, memory, _ = method.init(problem, problem.point(self.domain.start(problem.dtype, rng), fresh=True), rng)
        for _ in range(_STEPS):
            found, memory, _ = method.step(problem, found, memory, rng)
        try:
            low = certify(problem, self.domain.lower(found.atoms)).lower_bound
        except ValueError as refused:
            self.fail("lower bound", f"support or pull of the lift: {refused}")
            return
        text = f"the lower bound {low:.10g} lies above the value {found.value:.10g} that a matrix has."
        self.expect("lower bound", low <= found.value + 1e-9 * abs(found.value), text)

    def projection(self, domain: Projecting, dtype: str) -> None:
        """The nearest matrix: ⟨A − P(A), Z − P(A)⟩ ≤ 0 for every Z of the set, and P(A) is in it.

        Its spectrum is that of A shrunk, which is all that is tested of a penalty.
        """
        A = 3.0 * domain.size * self.normal(tuple(domain.shape), dtype)
        A = A + dagger(A) if domain.hermitian else A
        P = domain.prox(A, 0.5).dense()
        shrunk, kept = (np.sort(_spectrum(domain, each))[::-1] for each in (A, P))
        shrunk = np.sort(domain.shrink(shrunk, 0.5))[::-1]
        off, top = float(np.abs(shrunk - kept).max()), float(np.abs(A).max())
        self.expect("shrink", off <= 1e-9 * top, f"the spectrum of prox(A) differs from that of A shrunk by {off:.3g}.")
        if domain.lam:
            return
        total = float(np.linalg.svd(P, compute_uv=False).sum())
        text = f"it is not in the set: its nuclear norm is {total:.10g}, the size of the set {domain.size:.10g}."
        self.expect("projection", total <= domain.size * (1 + 1e-9), text)
        Z = domain.lower(Atoms.of(self.normal((domain.dimension, 3), dtype), self.rng.dirichlet(np.ones(3)))).dense()
        angle, scale = inner(A - P, Z - P), float(np.linalg.norm(A)) * domain.size
        self.expect(
            "projection", angle <= 1e-9 * scale, f"a matrix of the set is nearer: ⟨A − P, Z − P⟩ = {angle:.3g}."
        )


def _spectrum(domain: Domain, A: Array) -> Array:
    return np.linalg.eigvalsh(A) if domain.hermitian else np.linalg.svd(A, compute_uv=False)
