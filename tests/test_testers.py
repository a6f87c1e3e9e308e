"""The testers of domains, methods and places: ours pass, and each kind of mistake is found and named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import spectraplex as sx
from problems import WHOLE
from spectraplex.losses import Squared
from spectraplex.matrices.atoms import Atoms
from spectraplex.methods import resolve
from spectraplex.places.here import NumPyPlace

SETS = [sx.Spectrahedron(6, 2.0), sx.TraceBall(5, 3.0), sx.NuclearBall((6, 4), 2.0)]
PRICES = [
    sx.Penalized(sx.Distance(np.ones((5, 4))), 1.0).domain,
    sx.Penalized(sx.Distance(np.eye(5)), 0.5, psd=True).domain,
]


@pytest.mark.parametrize("domain", [*SETS, *PRICES], ids=lambda domain: type(domain).__name__)
def test_our_domains_pass(domain):
    assert sx.check(domain), sx.check(domain)


@pytest.mark.parametrize("name", WHOLE)
def test_our_methods_pass(name):
    assert sx.check(resolve(name)), sx.check(resolve(name))


# ------------------------------------------------------------------------------------------------- broken domains


class Wrong:
    """A spectrahedron with one thing changed."""

    def __init__(self, **changed: Any) -> None:
        self.inside = sx.Spectrahedron(6, 2.0)
        self.changed = changed

    def __getattr__(self, name: str) -> Any:
        return self.changed[name] if name in self.changed else getattr(self.inside, name)


def _smaller(objective: Any) -> Any:
    return replace(sx.Spectrahedron(6, 2.0).lift(objective), scale=1.9)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"lift": _smaller}, "value"),
        ({"lower": lambda atoms: sx.Symmetric(atoms.vectors, atoms.weights)}, "value"),
        ({"raised": lambda X: Atoms.of(X.vectors[:, ::-1], X.weights)}, "raised"),
        ({"start": lambda dtype, rng: Atoms.of(np.ones(5).astype(dtype))}, "start"),
        ({"start": lambda dtype, rng: Atoms.of(np.ones(6))}, "start"),
        ({"prox": lambda A, step: sx.Symmetric(np.eye(6), np.full(6, 2.0 / 6))}, "projection"),
    ],
)
def test_a_broken_domain_is_named(changed, named):
    report = sx.check(Wrong(**changed))
    assert not report and any(line.startswith(named) for line in report.wrong), report


# ------------------------------------------------------------------------------------------------- broken methods


@dataclass(frozen=True)
class Spoiled:
    """Conditional gradient with its point spoiled after every step."""

    how: str
    Memory = sx.ConditionalGradient.Memory

    def init(self, problem, point, rng):
        return sx.ConditionalGradient().init(problem, point, rng)

    def step(self, problem, point, memory, rng):
        new, memory, step = sx.ConditionalGradient().step(problem, point, memory, rng)
        if self.how == "weights":
            new = replace(new, atoms=Atoms(new.atoms.buffer, new.atoms.index, 1.1 * new.atoms.weights))
        if self.how == "image":
            new = replace(new, value=0.9 * new.value)
        return new, memory, step


@pytest.mark.parametrize(("how", "named"), [("weights", "feasible"), ("image", "image")])
def test_a_broken_method_is_named(how, named):
    report = sx.check(Spoiled(how))
    assert not report and any(line.startswith(named) for line in report.wrong), report


def test_a_memory_that_cannot_be_saved_is_named():
    @dataclass(frozen=True, eq=False)
    class Memory:
        guess: Any
        seen: Any

    class Listing(sx.ConditionalGradient):
        def init(self, problem, point, rng):
            point, memory, step = super().init(problem, point, rng)
            return point, Memory(memory.guess, [1]), step

        def step(self, problem, point, memory, rng):
            held = sx.ConditionalGradient.Memory(len(memory.seen), memory.guess)
            point, held, step = super().step(problem, point, held, rng)
            return point, Memory(held.guess, [*memory.seen, 1]), step

    Listing.Memory = Memory
    report = sx.check(Listing())
    assert not report and "seen" in str(report)


# -------------------------------------------------------------------------------------------------- broken places


class LosingBuffer:
    """Forgets its columns when it grows."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inside, name)

    def append(self, column: Any) -> int:
        at = self.inside.append(column)
        self.inside.block[:, :1] = 0.0
        return at


BROKEN = {
    "gram": lambda A, B: A.T @ B,
    "dots": lambda A, B, weights=None: np.sum(A.conj() * B, axis=0).real,
    "times": lambda A, small: A @ small.conj(),
    "turned": lambda A, small: (A @ small.conj()).astype(A.dtype),
    "padded": lambda A, more: np.concatenate([np.zeros((more, A.shape[1])), A]),
    "norms": lambda A: np.abs(A).sum(axis=0),
    "orthonormal": lambda A, basis=None: np.linalg.qr(A)[0],
    "random": lambda part, count, dtype, rng: np.random.default_rng().standard_normal((part.stop, count)),
    "buffer": lambda columns: LosingBuffer(NumPyPlace().buffer(columns)),
    "reciprocal": lambda A, a, b: a / (A - b),
    "finite": lambda A: True,
}


@pytest.mark.parametrize("verb", BROKEN)
def test_a_broken_place_is_named(verb):
    place = NumPyPlace()
    setattr(place, verb, BROKEN[verb])
    report = sx.check(place)
    assert not report and any(line.startswith(verb) for line in report.wrong), report


def test_a_deck_that_turns_the_wrong_way_is_named():
    place = NumPyPlace()

    def deck(*arguments: Any) -> Any:
        made = NumPyPlace().deck(*arguments)
        turn = made.turn
        made.turn = lambda slots, free, product, lean, factor: turn(slots, free, product, -lean, factor)
        return made

    place.deck = deck
    report = sx.check(place)
    assert not report and any(line.startswith("deck") for line in report.wrong), report


def test_what_is_missing_is_said():
    class Half:
        from_host = to_host = gram = times = None

    assert "lacks" in str(sx.check(Half())) and "Place" in str(sx.check(Half()))


class OneWay(Squared):
    """Several ways at once, as if they were orthogonal."""

    def ways(self, slope, v, others, weights):
        slopes, bends = super().ways(slope, v, others, weights)
        return slopes, np.diag(np.diag(bends))


def test_a_loss_that_is_wrong_about_several_ways_at_once():
    assert sx.check(Squared()).ok
    report = sx.check(OneWay())
    assert not report.ok and "several ways" in str(report)
