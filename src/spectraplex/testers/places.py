"""The tester of places: every verb against plain NumPy, real and complex, single and double."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..objectives.tester import Report, Tester
from ..places.marks import rows_mark
from ..places.numpy import Array, dagger
from ..places.protocol import Block, Place

_KINDS = ("float64", "complex128", "float32", "complex64")


def check_place(place: Place, trials: int, seed: int) -> Report:
    names = [name for name in dir(Place) if not name.startswith("_")]
    missing = [name for name in names if not hasattr(place, name)]
    if missing:
        return Report(("protocol",), (f"protocol: it lacks {', '.join(missing)}; see the Place protocol.",))
    return PlaceTester(place, np.random.default_rng(seed)).run(trials)


class PlaceTester(Tester):
    """Blocks go there and come back; what a verb makes of them is compared within rounding."""

    def __init__(self, place: Place, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.place, self.count = place, 0

    def same(self, verb: str, got: Any, want: Any, rounding: float) -> None:
        """Within the rounding of sums as long as a column, at the size of what is compared."""
        got, want = np.asarray(got), np.asarray(want)
        if got.shape != want.shape:
            self.fail(verb, f"the shape is {got.shape}, not {want.shape}.")
            return
        off = float(np.max(np.abs(got - want), initial=0.0))
        top = float(np.max(np.abs(want), initial=0.0))
        self.expect(verb, off <= rounding * max(top, 1.0), f"off by {off:.3g} where numbers are up to {top:.3g}.")

    def block(self, verb: str, got: Block, want: Array, rounding: float) -> None:
        self.same(verb, self.place.to_host(got), want, rounding)

    def trial(self) -> None:
        place, kind = self.place, np.dtype(_KINDS[self.count % len(_KINDS)])
        self.count += 1
        d, k = int(self.rng.integers(6, 40)), int(self.rng.integers(2, 6))
        host = [self.normal((d, k), kind.name).astype(kind) for _ in range(2)]
        A, B = (place.from_host(each) for each in host)
        eps = 64.0 * float(np.finfo(kind).eps)
        small = self.normal((k, 3), kind.name).astype(kind)
        weights, index = self.rng.uniform(0.5, 2.0, k), self.rng.permutation(k)[: k - 1]

        self.same("facts", (place.length(A), place.width(A)), (d, k), 0.0)
        self.expect("kind", place.kind(A) == kind, f"kind is {place.kind(A)}, not {kind}.")
        self.expect("holds", place.holds(A) and not place.holds("x"), "it does not know its own blocks.")
        self.block("to_host", A, host[0], 0.0)
        self.block("columns", place.columns(A, index), host[0][:, index], 0.0)
        self.block("columns", place.columns(A, weights > 1.0), host[0][:, weights > 1.0], 0.0)
        self.block("columns", place.columns(A, slice(1, k)), host[0][:, 1:], 0.0)
        self.block("join", place.join(A, B), np.concatenate(host, axis=1), 0.0)
        self.block("rows", place.rows(A, slice(2, d)), host[0][2:], 0.0)
        self.block("stack", place.stack(A, B), np.concatenate(host, axis=0), 0.0)
        self.block("padded", place.padded(A, 2), np.concatenate([host[0], np.zeros((2, k))]), 0.0)
        self.block("times", place.times(A, small), host[0] @ small, eps)
        self.block("turned", place.turned(A, small), host[0] @ small, eps)
        light = place.cast(A, "complex64" if kind.kind == "c" else "float32")
        self.expect("turned", place.kind(place.turned(light, small)) == place.kind(light), "not in the precision of A.")
        self.block("scale", place.scale(A, weights), host[0] * weights, eps)
        self.block("scale", place.scale(A, 0.5), 0.5 * host[0], eps)
        self.block("divide", place.divide(A, weights), host[0] / weights, eps)
        self.block("blend", place.blend(2.0, A, -3.0, B), 2.0 * host[0] - 3.0 * host[1], eps)
        self.block("unit", place.unit(A), host[0] / np.linalg.norm(host[0], axis=0), eps)
        self.block("axis", place.axis(slice(0, d), 3, kind.name), np.eye(d)[:, 3:4], 0.0)
        wide = "complex128" if kind.kind == "c" else "float64"
        self.block("cast", place.cast(A, wide), host[0].astype(wide), 0.0)
        narrow = np.dtype("complex64" if kind.kind == "c" else "float32")
        for verb, made, want in (
            ("cast", place.cast(A, wide), np.dtype(wide)),
            ("cast", place.cast(A, narrow), narrow),
            ("copy", place.copy(A, wide), np.dtype(wide)),
            ("axis", place.axis(slice(0, d), 3, kind.name), kind),
            ("unit", place.unit(A), kind),
        ):
            self.expect(verb, place.kind(made) == want, f"its numbers are {place.kind(made)}, not {want}.")
        self.block("copy", place.copy(A, kind), host[0], 0.0)

        double = np.finfo(np.float64).eps * 64.0 * d
        exact = [each.astype(wide) for each in host]
        # Gram matrices and norms are summed in double, whatever it is
        self.same("gram", place.gram(A, B), dagger(exact[0]) @ exact[1], double)
        dots, each = np.sum(exact[0].conj() * exact[1], axis=0).real, self.rng.uniform(0.5, 2.0, d)
        self.same("dots", place.dots(A, B), dots, max(eps, double) * d)
        weighed = each @ (exact[0].conj() * exact[1]).real
        self.same("dots", place.dots(A, B, each), weighed, max(eps, double) * d)
        self.same("norms", place.norms(A), np.linalg.norm(exact[0], axis=0), double)
        self.same("largest", place.largest(A), np.abs(host[0]).max(), eps)
        self.same("row", place.row(A, 2), host[0][2], 0.0)
        self.expect(
            "mark", np.array_equal(place.mark(A), rows_mark(host[0])), "it is not that of the same numbers here."
        )
        for odd in (np.nan, np.inf):
            broken = host[0].copy()
            broken[1, 1] = odd
            told = place.finite(A) and not place.finite(place.from_host(broken))
            self.expect("finite", told, f"it does not tell numbers from {odd}.")
        self.bases(A, exact, wide)
        self.kept(A, host[0], eps)
        self.scalings(d, k)
        self.passes(d, k, kind)

    def bases(self, A: Block, exact: list[Array], wide: str) -> None:
        """Orthonormal bases and random blocks, in double precision."""
        place, (d, k) = self.place, exact[0].shape
        tight = np.finfo(np.float64).eps * 64.0 * d
        tall = place.from_host(exact[0])
        Q, R = place.qr(tall)
        self.same("qr", place.to_host(Q) @ R, exact[0], tight)
        self.same("qr", place.gram(Q, Q), np.eye(k), tight)
        twice = place.orthonormal(place.join(tall, tall))
        self.expect("orthonormal", place.width(twice) == k, "dependent columns were not left out.")
        self.same("orthonormal", place.gram(twice, twice), np.eye(place.width(twice)), tight)
        self.block("orthonormal", place.times(twice, place.gram(twice, tall)), exact[0], tight * d)  # the same span
        beside = place.orthonormal(place.from_host(exact[1]), twice)
        self.same("orthonormal", place.gram(twice, beside), np.zeros((k, place.width(beside))), tight)
        drawn = place.random(slice(0, d), 3, wide, np.random.default_rng(5))
        again = place.random(slice(0, d), 3, wide, np.random.default_rng(5))
        self.same("random", place.norms(drawn), np.ones(3), tight)
        self.block("random", again, place.to_host(drawn), 0.0)
        overlap = np.abs(place.gram(drawn, drawn) - np.eye(3)).max()
        self.expect("random", overlap < 1.0 - 1e-6, "its columns are the same.")
        real = np.abs(place.to_host(drawn).imag).max() == 0.0
        self.expect("random", real == (wide == "float64"), f"asked for {wide}, it draws {'real' if real else 'other'}.")

    def kept(self, A: Block, host: Array, eps: float) -> None:
        """Rooms and buffers: what was written is there, and growing keeps it."""
        place, (d, k) = self.place, host.shape
        room, buffer, added = place.room(slice(0, d), host.dtype), place.buffer(A), 40  # more than any room to spare
        for i in range(added):
            room.write(i * k, A)
            at = buffer.append(place.columns(A, slice(i % k, i % k + 1)))
            self.expect("buffer", at == k + i, f"append says that column {k + i} is at {at}.")
            if i in (3, added - 1):  # single precision is brought up to date, not made once
                whole = np.concatenate([host, host[:, np.arange(i + 1) % k]], axis=1)
                single = place.columns(buffer.single, slice(0, buffer.used))
                self.block("buffer", single, whole, max(eps, 1e-6))
        self.block("room", room.first(added * k), np.tile(host, (1, added)), 0.0)
        self.expect("buffer", buffer.used == k + added, f"{buffer.used} columns are used, not {k + added}.")
        self.block("buffer", place.columns(buffer.block, slice(0, buffer.used)), whole, 0.0)
        few = buffer.kept(np.array([1, 0]))
        few.append(place.columns(A, slice(0, 1)))
        self.block("buffer", place.columns(few.block, slice(0, few.used)), host[:, [1, 0, 0]], 0.0)

    def scalings(self, d: int, k: int) -> None:
        rows, columns = self.rng.uniform(0.0, 2.0, d - 2), self.rng.uniform(0.0, 2.0, k)
        outer = self.place.outer(slice(0, d), [(slice(0, d - 2), rows, columns), (slice(1, 4), rows[:3], columns)])
        want = np.zeros((d, k))
        want[: d - 2] += np.outer(rows, columns)
        want[1:4] += np.outer(rows[:3], columns)
        self.block("outer", outer, want, 1e-12)
        self.block("reciprocal", self.place.reciprocal(outer, 0.5, 0.25), 0.5 / (want + 0.25), 1e-12)

    def passes(self, d: int, k: int, kind: np.dtype[Any]) -> None:
        """The passes of a deck, four steps long, against the formulas; pairs are kept in single precision."""
        place, like = self.place, np.result_type(kind, np.float64)
        Y, g = (self.normal((d, k), kind.name).astype(like) for _ in range(2))
        scaling, given = self.rng.uniform(0.1, 1.0, (d, k)), place.from_host(Y.copy())
        first = Y
        deck = place.deck(place.copy(given, like), place.from_host(g.copy()), place.from_host(scaling), 2, True)
        pairs: dict[int, tuple[Array, Array]] = {}  # by slot, oldest first
        for trial in range(4):
            free = next((slot for slot in range(deck.slots) if slot not in pairs), next(iter(pairs), 0))
            slots, a, c = list(pairs), self.normal((len(pairs),)), self.normal((len(pairs),))
            if trial == 2:
                scaling = self.rng.uniform(0.1, 1.0, (d, k))
                deck.rescale(place.from_host(scaling))
            rest, step = g, np.zeros_like(g)
            for i, (s, t) in enumerate(pairs.values()):
                rest, step = rest - a[i] * t, step - c[i] * s
            rest = scaling * rest
            step = step - 0.5 * rest
            self.same("deck.back", deck.back(slots, a), [_inner(t, rest) for _, t in pairs.values()], 1e-4 * d)
            want = (_inner(step, g), _inner(step, step), _inner(Y + step, Y + step))
            self.same("deck.forth", deck.forth(slots, c, 0.5, free), want, 1e-4)
            self.block("deck.forth", deck.ahead, Y + step, 1e-4)
            step = 0.5 * step
            self.same("deck.shorten", deck.shorten(free, 0.5), _inner(Y + step, Y + step), 1e-4)
            product = self.normal((d, k), kind.name).astype(like)
            Y = Y + step
            new = 2.0 * (product - 0.3 * Y)
            change = new - g
            own = [_inner(step, new), _inner(step, change), _inner(change, scaling * change), _inner(change, change)]
            pairs.pop(free, None)
            dots = deck.turn(list(pairs), free, place.from_host(product), 0.3, 2.0)
            self.same("deck.turn", dots, [*(_inner(s, new) for s, _ in pairs.values()), *own], 1e-4)
            self.block("deck.turn", deck.here, Y, 1e-4)
            g, pairs[free] = new, (step, change)
        self.block("copy", given, first, 0.0)  # what a deck writes into is not what it was copied from


def _inner(A: Array, B: Array) -> float:
    return float(np.vdot(A, B).real)
