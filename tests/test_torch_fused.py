"""Fused passes of a table with the kernels replaced by plain Torch: what lies around them is the same code."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import spectraplex as sx  # noqa: E402
from spectraplex.methods import hybrid  # noqa: E402
from spectraplex.objectives.fused import FusedTable  # noqa: E402
from spectraplex.places.torch_array import TorchArray  # noqa: E402


class Plain:
    """What ``Kernels`` does, for the squared loss, one entry after the other."""

    def __init__(self, pattern):
        self.pattern, self.into = pattern, 0

    def _slope(self, P, Q, scale, loss):
        rows, cols = self.pattern.rows.t.long(), self.pattern.indices.t.long()
        z = scale * (P[rows].double() * Q[cols].double()).sum(1)
        return rows, cols, z, z - loss.targets.double()

    def fused(self, P, Q, scale, loss, value, more=0, into=None):
        rows, cols, z, slope = self._slope(P, Q, scale, loss)
        out = torch.zeros((self.pattern.shape[0] + more, P.shape[1])) if into is None else into
        self.into += into is not None
        top = out[: self.pattern.shape[0]]
        top.zero_().index_add_(0, rows, (slope[:, None] * Q[cols].double()).float())
        return (out, float(0.5 * slope @ slope), float(slope @ z)) if value else out

    def sample(self, U, V, s):
        return (U[self.pattern.rows.t.long()].double() * s * V[self.pattern.indices.t.long()].double()).sum(1)

    def multiply(self, values, block):
        rows, cols = self.pattern.rows.t.long(), self.pattern.indices.t.long()
        out = torch.zeros((self.pattern.shape[0], block.shape[1]), dtype=torch.float64)
        return out.index_add_(0, rows, values.double()[:, None] * block[cols].double())


def fused_problem(radius=30.0):
    rng = np.random.default_rng(3)
    rows, cols = np.nonzero(rng.random((70, 45)) < 0.5)
    truth = rng.standard_normal((70, 4)) @ rng.standard_normal((4, 45))
    home = sx.Completion(rows, cols, truth[rows, cols], (70, 45))
    domain = sx.NuclearBall((70, 45), radius)
    there = sx.Problem(home, domain).to("cpu")
    pattern = there.objective.inside.measurements.pattern
    turned = pattern.transposed[0]
    pattern.__dict__["kernels"], turned.__dict__["kernels"] = Plain(pattern), Plain(turned)
    there.objective.__dict__["fused"] = FusedTable(there.objective.inside)
    return sx.Problem(home, domain), there, turned.__dict__["kernels"]


def test_both_products_of_a_descent_lie_in_one_block():
    """Upstairs, with the very factors; with other ones they are made as everywhere. Single precision: 1e-5."""
    here, there, back = fused_problem()
    place, rng = there.place, np.random.default_rng(0)
    Y = rng.standard_normal((115, 3)).astype(np.float32)
    given = place.from_host(Y)
    image = there.lifted.measure(given, np.ones(3) / 100.0, given)
    _, slope = there.lifted.evaluate(image)
    product, scale = there.lifted.gradient(slope).unscaled(given)
    assert back.into == 1 and product.t.data_ptr() == slope.room.data_ptr()
    wide = Y.astype(float)
    other = here.lifted.gradient(here.lifted.evaluate(here.lifted.measure(wide, np.ones(3) / 100.0, wide))[1])
    want = other.matmat(wide)
    np.testing.assert_allclose(scale * product.here(), want, atol=1e-5 * np.abs(want).max())
    copied = TorchArray(given.t.clone())
    apart, scale = there.lifted.gradient(slope).unscaled(copied)
    assert back.into == 1
    np.testing.assert_allclose(scale * apart.here(), want, atol=1e-5 * np.abs(want).max())


def test_a_solve_with_many_atoms_in_single_precision(monkeypatch):
    """Slim descents: factors stay in single precision; the bracket holds the optimum that was found here."""
    here, there, back = fused_problem()
    monkeypatch.setattr(hybrid, "_TALL", 0)
    monkeypatch.setattr(there.place, "wide", True)
    slim = []
    descend = hybrid.descend

    def seen(problem, *given, **asked):
        found = descend(problem, *given, **asked)
        slim.append((asked["slim"], problem.place.kind(found.Y)))
        return found

    monkeypatch.setattr(hybrid, "descend", seen)
    result = sx.solve(there, stop=sx.Stop(relative_gap=1e-3))
    monkeypatch.undo()
    best = sx.solve(here, stop=sx.Stop(relative_gap=1e-9))
    assert (True, np.dtype("float32")) in slim and back.into > 0
    assert result.lower_bound <= best.value and result.value <= best.value + 1e-3 * abs(result.value)
    assert result.value >= best.lower_bound
    assert sx.verify(result.certificate, here, result.X)
