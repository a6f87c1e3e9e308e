"""Is this the objective, the measurement or the loss that it says it is? See ``testers.check``."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..checks import number
from ..losses.curves import NotFinite
from ..matrices.given import no_operator
from ..places.numpy import Array, dagger, inner
from .check_losses import check_loss
from .check_measurements import check_measurements, operator, other_shape
from .facts import facts_of
from .tester import Report, Tester

Factors3 = tuple[Array, Array, Array]

_WIDE = 2_000  # a matrix with more rows and columns is not blended with the identity
_NEEDED = ("shape", "dtype", "measure", "combine", "evaluate", "along", "pair", "gradient")
_NOTHING = (
    "no objective (measure, evaluate, gradient), measurement (measure, adjoint), loss (evaluate), domain (lift, lower, "
    "raised) or method (init, step); see docs/your-own.md"
)
_OWN = ("shape", "measure", "gradient")  # what an objective has and a loss has not


def check_objective(thing: Any, hermitian: bool | None, size: float, trials: int, seed: int, targets: Any) -> Report:
    """Test an objective, a measurement or a loss; see ``testers.check``."""
    size = number("check", "size", size, positive=True)
    if isinstance(thing, str) or (hasattr(thing, "evaluate") and not any(hasattr(thing, name) for name in _OWN)):
        return check_loss(thing, targets, size, trials, seed)
    if hasattr(thing, "adjoint") and not hasattr(thing, "evaluate"):
        return check_measurements(thing, hermitian, size, trials, seed)
    objective = thing
    missing = [name for name in _NEEDED if not hasattr(objective, name)]
    if len(missing) >= len(_NEEDED) - 2:
        return Report(("protocol",), (f"protocol: {type(thing).__name__} is {_NOTHING}.",))
    if missing:
        return Report(("protocol",), (f"protocol: it lacks {', '.join(missing)}; see the Objective protocol.",))
    m, n = objective.shape
    if hermitian and m != n:
        raise ValueError(f"check: this objective is {m}×{n}; hermitian=True needs a square one.")
    if hermitian is None:
        hermitian = m == n and (
            facts_of(objective).require_hermitian is not None or type(objective).__name__ == "Smooth"
        )
    return _Checker(objective, hermitian, size, np.random.default_rng(seed)).run(trials)


def _blend(a: float, X: Factors3, b: float, Y: Factors3) -> Factors3:
    """The factors of a·X + b·Y."""
    U, s, V = np.concatenate([X[0], Y[0]], 1), np.concatenate([a * X[1], b * Y[1]]), np.concatenate([X[2], Y[2]], 1)
    return U, s, V


class _Checker(Tester):
    def __init__(self, objective: Any, hermitian: bool, size: float, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.f, self.hermitian, self.size = objective, hermitian, size

    def finish(self, trials: int) -> None:
        if self.skipped == trials:
            self.fail(
                "finite",
                f"it is not finite anywhere it was looked at: random matrices of nuclear norm {self.size:g}, zero, "
                "multiples of the identity and of the matrix of ones; pass size= like the domain's.",
            )

    def factors(self, rank: int = 2, signed: bool = False) -> tuple[Array, Array, Array]:
        m, n = self.f.shape
        U, V = self.normal((m, rank), self.f.dtype), self.normal((n, rank), self.f.dtype)
        U, V = U / np.linalg.norm(U, axis=0), V / np.linalg.norm(V, axis=0)
        s = self.rng.dirichlet(np.ones(rank)) * self.size
        if signed:
            s = s * self.rng.choice([-1.0, 1.0], rank)
        return (U, s, U) if self.hermitian else (U, s, V)

    # ------------------------------------------------------------------------------- where the function is finite

    def finite(self, image: Any) -> bool:
        try:
            value, slope = self.f.evaluate(image)
        except NotFinite:
            return False
        return bool(np.isfinite(value)) and (not isinstance(slope, np.ndarray) or bool(np.isfinite(slope).all()))

    def inside(self, X: Factors3) -> Factors3 | None:
        """X, or the first blend of it with ``home`` where the function is finite."""
        if self.finite(self.f.measure(*X)):
            return X
        if self.home is None:
            return None
        blends = (_blend(1.0 - 2.0**-k, self.home, 2.0**-k, X) for k in range(1, 12))
        return next((blend for blend in blends if self.finite(self.f.measure(*blend))), None)

    @cached_property
    def home(self) -> Factors3 | None:
        """A matrix where the function is finite: the first of some plain ones and of many random ones."""
        m, n = self.f.shape
        row, column = np.full((m, 1), m**-0.5, self.f.dtype), np.full((n, 1), n**-0.5, self.f.dtype)
        plain = [(row, np.ones(1), column)]
        if min(m, n) <= _WIDE:
            k = min(m, n)
            one = (np.eye(m, k, dtype=self.f.dtype), np.full(k, 1.0 / k), np.eye(n, k, dtype=self.f.dtype))
            plain = [one, _blend(0.5, one, 0.5, plain[0]), *plain]
        sizes = [share * self.size for share in (1.0, 0.1, 0.01, 1e-4, 0.0, 10.0, 100.0, 1e4)]
        tried = [(U, sign * size * s, V) for U, s, V in plain for size in sizes for sign in (1.0, -1.0)]
        tried += [self.factors(min(m, n, k)) for k in (1, 2, 4, 8, 16) for _ in range(4)]
        return next((X for X in tried if self.finite(self.f.measure(*X))), None)

    def trial(self) -> None:
        f = self.f
        drawn = self.factors(), self.factors(), self.factors(signed=True)
        X, Y = self.inside(drawn[0]), self.inside(drawn[1])
        found = None if X is None or Y is None else self.direction(f.measure(*X), drawn[2])
        if X is None or Y is None or found is None:
            self.skipped += 1
            return
        z, y, (D, dz) = f.measure(*X), f.measure(*Y), found
        value, slope = f.evaluate(z)
        # measure is linear: 𝒜(2X − 3Y) both ways; a mean where that leaves the set where the function is finite
        a, b = (2.0, -3.0) if self.finite(f.combine(2.0, z, -3.0, y)) else (0.3, 0.7)
        self.moved += X is not drawn[0] or Y is not drawn[1] or D is not drawn[2] or a != 2.0
        scale = abs(value) + abs(self.value(y))
        self.close(
            "linear image",
            self.value(f.combine(a, z, b, y)),
            self.value(f.measure(*_blend(a, X, b, Y))),
            scale,
            f"ℓ({a:g}·𝒜(X) + {b:g}·𝒜(Y)) differs from ℓ(𝒜({a:g}X + {b:g}Y)); measure must be linear and combine must "
            "follow it",
        )
        G = self._operator(slope)
        self._line(z, (D, dz), (value, slope), G, scale)
        self._curvature(X, Y, z, y, value, slope, scale)
        self._conjugate(z, y, value, slope)

    def value(self, image: Any) -> float:
        return float(self.f.evaluate(image)[0])

    def direction(self, z: Any, D: Factors3) -> tuple[Factors3, Any] | None:
        """D and its image, shortened until the function stays finite along it for some way; None if it never does."""
        f = self.f
        for _ in range(40):
            dz = f.measure(*D)
            if self.finite(f.combine(1.0, z, 1.0, dz)) and self.finite(f.combine(1.0, z, -1.0, dz)):
                return D, dz
            D = (D[0], 0.5 * D[1], D[2])
        return None

    def _operator(self, slope: Any) -> Any:
        """The gradient, which multiplies like one matrix on both sides."""
        f, G = self.f, self.f.gradient(slope)
        self.need("gradient", hasattr(G, "matmat"), no_operator("gradient", G))
        self.need("operator", tuple(G.shape) == tuple(f.shape), other_shape(G, f.shape))
        P, Q = self.normal((f.shape[0], 2), f.dtype), self.normal((f.shape[1], 2), f.dtype)
        GQ, GP = G.matmat(Q), G.rmatmat(P)
        reference = float(np.linalg.norm(GQ) * np.linalg.norm(P)) + 1e-300
        self.close(
            "adjoint products",
            inner(P, GQ),
            inner(GP, Q),
            reference,
            "⟨P, G·Q⟩ differs from ⟨Gᴴ·P, Q⟩: matmat and rmatmat",
        )
        operator(self, G, f.shape, P, Q)
        return G

    def _line(self, z: Any, ahead: tuple[Factors3, Any], here: tuple[float, Any], G: Any, scale: float) -> None:
        """Slope, gradient and curve agree along a direction, and with finite differences."""
        f, ((U, s, V), dz), (value, slope) = self.f, ahead, here
        exact = inner(U * s, G.matmat(V)) if s.size else 0.0
        size = max(abs(exact), float(np.linalg.norm(U * s) * np.linalg.norm(G.matmat(V))), 1e-300)
        self.close(
            "pairing",
            f.pair(slope, dz),
            exact,
            size,
            "⟨slope, 𝒜(D)⟩ differs from ⟨𝒜*(slope), D⟩: measure and gradient",
        )
        curve = f.along(z, dz)
        self.close(
            "curve value",
            curve.value(0.7),
            self.value(f.combine(1.0, z, 0.7, dz)),
            scale,
            "along(z, dz) has another value at 0.7",
        )
        self.close("curve derivative", curve.derivative(0.0), exact, size, "along(z, dz) has another derivative at 0")
        h = 1e-5
        after, before = self.value(f.combine(1.0, z, h, dz)), self.value(f.combine(1.0, z, -h, dz))
        slack = size + abs(value) * 1e-16 / h / 1e-5
        text = "the slope differs from finite differences of the value"
        self.close("finite differences", exact, (after - before) / (2 * h), slack, text, 1e-4)

    def _conjugate(self, z: Any, y: Any, value: float, slope: Any) -> None:
        """ℓ(z) + ℓ*(slope) = ⟨slope, z⟩, and ≥ at another image and other multiples: all certificates stand on it."""
        f, facts = self.f, facts_of(self.f)
        other = float(f.evaluate(y)[0])
        if facts.lower is not None:
            text = f"a value of {min(value, other):.6g} was met, less than the lower={facts.lower:.6g} it claims."
            self.expect("lower", min(value, other) >= facts.lower - 1e-9 * (abs(value) + abs(other)), text)
        if facts.conjugate is None or facts.inexact:  # a value found to some accuracy proves nothing
            return
        conjugate = facts.conjugate(slope)
        for c in (0.5, 1.0, 1.5):
            if c > conjugate.limit * (1 + 1e-9):
                continue
            star = conjugate.at(min(c, conjugate.limit))
            for image, there in ((z, value), (y, other)):
                pairing = c * f.pair(slope, image)
                size = abs(there) + abs(pairing) + abs(star) + conjugate.size
                less = pairing - there - star
                text = f"ℓ(z) + ℓ*(c·slope) lies {less:.3g} below c·⟨slope, z⟩ at c = {c:g}."
                self.expect("conjugate", less <= 1e-7 * size, text)
                if image is z and c == 1.0:
                    text = "ℓ(z) + ℓ*(slope) differs from ⟨slope, z⟩ at the slope of z"
                    self.close("conjugate", there + star, pairing, size, text)

    def _curvature(self, X: Any, Y: Any, z: Any, y: Any, value: float, slope: Any, scale: float) -> None:
        f, facts = self.f, facts_of(self.f)
        step = f.combine(1.0, y, -1.0, z)
        D = (X[0] * X[1]) @ dagger(X[2]) - (Y[0] * Y[1]) @ dagger(Y[2])
        square = inner(D, D) + 1e-300  # of 1 × 1 matrices with one trace there is no other
        rise = float(f.evaluate(y)[0]) - value - f.pair(slope, step)
        slack = 1e-9 * scale
        self.expect("convexity", rise >= -slack, f"f(Y) lies {-rise:.3g} below its tangent at X: it is not convex.")
        name = "hermitian_smoothness" if self.hermitian and facts.hermitian_smoothness else "smoothness"
        smoothness = facts.smoothness_among(self.hermitian)
        if smoothness is not None:
            top = rise / (0.5 * square)
            self.expect(
                "claimed smoothness",
                rise <= 0.5 * smoothness * square * (1 + 1e-9) + slack,
                f"a curvature of {top:.6g} was met, more than the {name} {smoothness:.6g} it claims.",
            )
        better = self.hermitian and facts.hermitian_strong_convexity is not None
        name = "hermitian_strong_convexity" if better else "strong_convexity"
        strong = facts.strong_convexity_among(self.hermitian)
        if strong:
            self.expect(
                "claimed strong convexity",
                rise >= 0.5 * strong * square * (1 - 1e-9) - slack,
                f"a curvature of {rise / (0.5 * square):.6g} was met, less than the {name} {strong:.6g} it claims.",
            )
