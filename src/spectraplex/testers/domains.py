"""The tester of domains: what is upstairs is what the user sees, both ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..domains.protocol import Domain, Projecting, Upstairs
from ..matrices.atoms import Atoms
from ..matrices.factors import Rectangular, Symmetric
from ..objectives.distance import Distance
from ..objectives.tester import Report, Tester
from ..places.numpy import Array, dagger, inner
from ..problem import Problem

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
        lifted = Problem(objective, domain).lifted
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
        if isinstance(domain, Projecting):
            self.projection(domain)

    def first(self, atoms: Atoms, dtype: str) -> None:
        d = self.domain.dimension
        self.expect("start", atoms.dimension == d, f"it has dimension {atoms.dimension}, not {d}.")
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
        self.close("line search", lifted.along(image, dz).derivative(0.0), numbers, scale, "along and gradient", 1e-8)

    def projection(self, domain: Projecting) -> None:
        """The nearest matrix: ⟨A − P(A), Z − P(A)⟩ ≤ 0 for every Z of the set; of a penalty only that it runs."""
        A = 3.0 * domain.size * self.normal(tuple(domain.shape))
        A = A + A.T if domain.hermitian else A
        P = domain.prox(A, 1.0).dense()
        if domain.lam:
            return
        dtype = A.dtype.name
        Z = domain.lower(Atoms.of(self.normal((domain.dimension, 3), dtype), self.rng.dirichlet(np.ones(3)))).dense()
        angle, scale = inner(A - P, Z - P), float(np.linalg.norm(A - P)) * float(np.linalg.norm(Z - P))
        self.expect(
            "projection", angle <= 1e-9 * scale, f"a matrix of the set is nearer: ⟨A − P, Z − P⟩ = {angle:.3g}."
        )
