"""check: is this objective what it says it is? Linear image, true adjoint, right slope, claimed constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array, dagger, inner
from .objectives.validate import number

_NEEDED = ("shape", "dtype", "measure", "combine", "evaluate", "along", "pair", "gradient")


@dataclass(frozen=True)
class Report:
    """What was tested and what was wrong; true when nothing was."""

    tested: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.wrong

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"All {len(self.tested)} properties hold: {', '.join(self.tested)}."
        return "\n".join([f"{len(self.wrong)} of {len(self.tested)} properties fail:", *self.wrong])


def check(
    objective: Any, *, hermitian: bool | None = None, size: float = 1.0, trials: int = 8, seed: int = 0
) -> Report:
    """Test an objective on random low-rank matrices and say what is wrong with it.

    Parameters
    ----------
    hermitian : test on Hermitian matrices only; by default when the objective has ``require_hermitian`` and a square
        shape, or is a function of its own (``Smooth``) of a square one.
    size : nuclear norm of the matrices tested; choose it like the domain's.

    Returns
    -------
    Report
        True when all is well; printing it gives one sentence per fault.
    """
    missing = [name for name in _NEEDED if not hasattr(objective, name)]
    if missing:
        return Report(("protocol",), (f"protocol: it lacks {', '.join(missing)}; see the Objective protocol.",))
    m, n = objective.shape
    if hermitian and m != n:
        raise ValueError(f"check: this objective is {m}×{n}; hermitian=True needs a square one.")
    if isinstance(trials, bool) or not isinstance(trials, int | np.integer) or trials < 1:
        raise ValueError(f"check: trials must be a positive whole number, got {trials!r}.")
    size = number("check", "size", size, positive=True)
    if hermitian is None:
        hermitian = m == n and (hasattr(objective, "require_hermitian") or type(objective).__name__ == "Smooth")
    return _Checker(objective, hermitian, size, np.random.default_rng(seed)).run(trials)


class _Checker:
    def __init__(self, objective: Any, hermitian: bool, size: float, rng: np.random.Generator) -> None:
        self.f, self.hermitian, self.size, self.rng = objective, hermitian, size, rng
        self.wrong: dict[str, str] = {}
        self.tested: dict[str, None] = {}

    def run(self, trials: int) -> Report:
        try:
            for _ in range(trials):
                self.trial()
        except Exception as error:
            self.fail("evaluation", f"it raised {type(error).__name__}: {error}")
        return Report(tuple(self.tested), tuple(f"{name}: {text}" for name, text in self.wrong.items()))

    def fail(self, name: str, text: str) -> None:
        self.tested[name] = None
        self.wrong.setdefault(name, text)

    def expect(self, name: str, holds: bool, text: str) -> None:
        self.tested[name] = None
        if not holds:
            self.wrong.setdefault(name, text)

    def close(self, name: str, got: float, want: float, scale: float, text: str, tolerance: float = 1e-7) -> None:
        error = abs(got - want)
        self.expect(
            name,
            bool(error <= tolerance * max(scale, abs(want), 1e-300)),
            f"{text}: {got:.10g}, not {want:.10g}.",
        )

    def factors(self, rank: int = 2, signed: bool = False) -> tuple[Array, Array, Array]:
        m, n = self.f.shape
        U, V = self.normal((m, rank)), self.normal((n, rank))
        U, V = U / np.linalg.norm(U, axis=0), V / np.linalg.norm(V, axis=0)
        s = self.rng.dirichlet(np.ones(rank)) * self.size
        if signed:
            s = s * self.rng.choice([-1.0, 1.0], rank)
        return (U, s, U) if self.hermitian else (U, s, V)

    def normal(self, shape: tuple[int, ...]) -> Array:
        out = self.rng.standard_normal(shape)
        if np.dtype(self.f.dtype).kind == "c":
            out = out + 1j * self.rng.standard_normal(shape)
        return out

    def trial(self) -> None:
        f = self.f
        X, Y, D = self.factors(), self.factors(), self.factors(signed=True)
        z, y, dz = f.measure(*X), f.measure(*Y), f.measure(*D)
        value, slope = f.evaluate(z)
        if not np.isfinite(value):
            self.fail("finite", f"the value is {value} at a random matrix of nuclear norm {self.size:g}.")
            return
        G = f.gradient(slope)

        def values(image: Any) -> float:
            return float(f.evaluate(image)[0])

        # measure is linear: 𝒜(2X − 3Y) both ways
        both = (
            np.concatenate([X[0], Y[0]], 1),
            np.concatenate([2 * X[1], -3 * Y[1]]),
            np.concatenate([X[2], Y[2]], 1),
        )
        scale = abs(value) + abs(values(y))
        self.close(
            "linear image",
            values(f.combine(2.0, z, -3.0, y)),
            values(f.measure(*both)),
            scale,
            "ℓ(2·𝒜(X) − 3·𝒜(Y)) differs from ℓ(𝒜(2X − 3Y)); measure must be linear and combine must follow it",
        )
        # the operator multiplies like one matrix on both sides
        P, Q = self.normal((f.shape[0], 2)), self.normal((f.shape[1], 2))
        GQ, GP = G.matmat(Q), G.rmatmat(P)
        reference = float(np.linalg.norm(GQ) * np.linalg.norm(P)) + 1e-300
        self.close(
            "adjoint products",
            inner(P, GQ),
            inner(GP, Q),
            reference,
            "⟨P, G·Q⟩ differs from ⟨Gᴴ·P, Q⟩: matmat and rmatmat",
        )
        # slope, gradient and curve agree, and with finite differences
        U, s, V = D
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
            values(f.combine(1.0, z, 0.7, dz)),
            scale,
            "along(z, dz) has another value at 0.7",
        )
        self.close("curve derivative", curve.derivative(0.0), exact, size, "along(z, dz) has another derivative at 0")
        h = 1e-5
        ahead, behind = values(f.combine(1.0, z, h, dz)), values(f.combine(1.0, z, -h, dz))
        numeric = (ahead - behind) / (2 * h)
        slack = size + abs(value) * 1e-16 / h / 1e-5
        self.close(
            "finite differences",
            exact,
            numeric,
            slack,
            "the slope differs from finite differences of the value",
            1e-4,
        )
        self._curvature(X, Y, z, y, value, slope, scale)

    def _curvature(self, X: Any, Y: Any, z: Any, y: Any, value: float, slope: Any, scale: float) -> None:
        f = self.f
        step = f.combine(1.0, y, -1.0, z)
        D = (X[0] * X[1]) @ dagger(X[2]) - (Y[0] * Y[1]) @ dagger(Y[2])
        square = inner(D, D)
        rise = float(f.evaluate(y)[0]) - value - f.pair(slope, step)
        slack = 1e-9 * scale
        self.expect("convexity", rise >= -slack, f"f(Y) lies {-rise:.3g} below its tangent at X: it is not convex.")
        name = "hermitian_smoothness" if self.hermitian and getattr(f, "hermitian_smoothness", None) else "smoothness"
        smoothness = getattr(f, name, None)
        if smoothness is not None:
            top = rise / (0.5 * square)
            self.expect(
                "claimed smoothness",
                rise <= 0.5 * smoothness * square * (1 + 1e-9) + slack,
                f"a curvature of {top:.6g} was met, more than the {name} {smoothness:.6g} it claims.",
            )
        name = (
            "hermitian_strong_convexity"
            if self.hermitian and hasattr(f, "hermitian_strong_convexity")
            else "strong_convexity"
        )
        strong = getattr(f, name, None)
        if strong:
            self.expect(
                "claimed strong convexity",
                rise >= 0.5 * strong * square * (1 - 1e-9) - slack,
                f"a curvature of {rise / (0.5 * square):.6g} was met, less than the {name} {strong:.6g} it claims.",
            )
