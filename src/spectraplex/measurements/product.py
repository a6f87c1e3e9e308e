"""Product: every part of a system measured on its own, by any POVM: chances tr((E ⊗ F ⊗ …)ρ), nothing stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from ..matrices.operators import Dense, Operator
from ..places.numpy import EPS, Array
from ..places.products import Amplitudes, Tensors
from .pauli import Kept, Rotated
from .povms import hermitian_basis, povm_or_say, rank_ones
from .protocol import EXACT

_WHOLE = 600  # dimension up to which states are matrices; beyond, factors are multiplied part by part


class Product:
    """Chances of the outcomes of local measurements, one on each part of a system.

    Parameters
    ----------
    povms : one a part. Each is an array (outcomes, d, d) of positive matrices that sum to one, or a dictionary that
        names several such, among which ``settings`` choose. ``spectraplex.measurements.povms`` has ``sic()``,
        ``mub(d)``, ``basis(U)``, ``pauli(confusion)`` and ``confused(povm, confusion)``.
    settings : words, one letter a part, or tuples of names, one name a part; left out where no part has a choice.
    outcomes : one a setting, a number or a tuple with one number a part: only the chances of those.

    The numbers measured are, setting after setting, the chances of all outcomes, that of the last part running fastest.

    Examples
    --------
    >>> import spectraplex as sx
    >>> from spectraplex.measurements import povms
    >>> sx.Product([povms.sic(), povms.mub(3)])
    Product(1 setting of parts 2 × 3, 48 outcomes)
    """

    real = True
    positive = True

    def __init__(self, povms: Any, settings: Any = None, outcomes: Any = None) -> None:
        self.parts_given = [_named(i, given) for i, given in enumerate(_parts(povms))]
        self.local = tuple(next(iter(each.values())).shape[1] for each in self.parts_given)
        self.settings = _settings(settings, self.parts_given)
        dimension = int(np.prod(self.local))
        self.shape = (dimension, dimension)
        names = [list(each) for each in self.parts_given]
        digits = np.array([[names[j].index(one) for j, one in enumerate(word)] for word in self.settings])
        stacks = [_padded(list(each.values())) for each in self.parts_given]
        kind = np.result_type(*stacks).kind
        self.dtype = "complex128" if kind == "c" and any(np.abs(E.imag).max() > 0 for E in stacks) else "float64"
        self.summed, self.dense = dimension, dimension <= _WHOLE
        if self.dense:
            bases = [hermitian_basis(d) for d in self.local]
            maps = [np.einsum("soij,bji->sob", E, B).real for E, B in zip(stacks, bases, strict=True)]
            self._engine: Any = Tensors(digits, maps, bases, self.dtype)
        else:
            self._engine = Amplitudes(digits, [[rank_ones(E) for E in stack] for stack in stacks], self.dtype)
        pick, self.outcomes_of = _picked(digits, self.parts_given, outcomes)
        self._pick, self.size = Kept(pick), pick.size
        if self.size > EXACT:  # fewer have theirs worked out
            self.extremes = self._extremes
        self._most = max(float(np.prod([_heaviest(E) for E in stacks])), 1e-300)

    @property
    def reach(self) -> float:
        """‖𝒜‖: Σₒ tr(EₒX)² ≤ Σₒ tr Eₒ·tr(EₒX²) ≤ max tr Eₒ·‖X‖² for each setting (Cauchy and Schwarz)."""
        repeated = 1 if self.outcomes_of is None else len(self.settings)
        return float(np.sqrt(max(len(self.settings), repeated) * self._most)) * (1 + 1e-9)

    def _extremes(self, weights: Array | None, hermitian: bool) -> tuple[float, float]:
        """Bounds on the largest and least eigenvalue of 𝒜*diag(w)𝒜."""
        return self.reach**2 * (1.0 if weights is None else float(weights.max())), 0.0

    def require_hermitian(self) -> None:
        """POVMs always are."""

    def measure(self, U: Any, s: Array, V: Any) -> Array:
        if not isinstance(U, np.ndarray):  # on a device: these come here, and their chances go there
            from ..places.pauli_torch import from_here

            block = U.here()
            return cast(Array, from_here(self.measure(block, s, block if V is U else V.here()), U))
        if V is not U:  # 4 Re uv̄ = |u + v|² − |u − v|²
            U, s = np.concatenate([U + V, U - V], axis=1), np.concatenate([s, -s]) / 4.0
        return np.asarray(self._engine.measure(U, s).reshape(-1)[self._pick.held])

    def adjoint(self, slope: Any) -> Operator:
        there, slope = slope, slope if isinstance(slope, np.ndarray) else slope.here()
        given = np.zeros(self._engine.count * self._engine.width)
        np.add.at(given, self._pick.held, slope)
        given = given.reshape(self._engine.count, -1)
        # a sum over at most d² or all outcomes a part, of matrices no larger than one
        blur = EPS * (64.0 + 8.0 * sum(max(d * d, 8) for d in self.local)) * self.shape[0] * float(np.abs(slope).sum())
        if self.dense:
            matrix = self._engine.matrix(given)
            if there is not slope:
                from ..places.pauli_torch import from_here

                matrix = from_here(matrix, there)
            return Dense(matrix, True, lambda: blur)
        return Rotated(self._engine, given, self.shape, self.dtype, blur)

    def parts(self) -> tuple[Any, ...]:
        held: list[Any] = [repr(self.settings)]
        for each in self.parts_given:
            for name, E in each.items():
                held += [name, E]
        return (*held, self._pick.held)

    def __repr__(self) -> str:
        count, parts = len(self.settings), " × ".join(str(d) for d in self.local)
        return f"Product({count} setting{'s' * (count != 1)} of parts {parts}, {self.size} outcomes)"


def _parts(povms: Any) -> list[Any]:
    if isinstance(povms, Mapping) or not hasattr(povms, "__iter__"):
        raise TypeError("Product: povms must be a list with one measurement a part, such as [povms.sic()] * 3.")
    given = list(povms)
    if not given:
        raise ValueError("Product: there are no parts; give one POVM each.")
    return given


def _named(i: int, given: Any) -> dict[str, Array]:
    """The measurements that a part has the choice of, checked."""
    several = given if isinstance(given, Mapping) else {"": given}
    if not several:
        raise ValueError(f"Product: povms[{i}] names no measurement.")
    found = {str(name): povm_or_say("Product", f"povms[{i}]{[name] if name else ''}", E) for name, E in several.items()}
    sizes = {E.shape[1] for E in found.values()}
    if len(sizes) > 1:
        raise ValueError(
            f"Product: povms[{i}] has measurements of dimensions {sorted(sizes)}; a part has one dimension."
        )
    return found


def _settings(settings: Any, parts: list[dict[str, Array]]) -> list[tuple[str, ...]]:
    if settings is None:
        if any(len(each) > 1 for each in parts):
            raise ValueError("Product: some parts have a choice of measurements; give settings, such as ['XZ', 'YY'].")
        return [tuple(next(iter(each)) for each in parts)]
    found = [tuple(str(one) for one in word) for word in settings]
    if isinstance(settings, str) or not found:
        raise ValueError("Product: settings must be a list of words or tuples of names, at least one.")
    for i, word in enumerate(found):
        if len(word) != len(parts):
            raise ValueError(f"Product: settings[{i}] has {len(word)} names for {len(parts)} parts; give one a part.")
        for j, one in enumerate(word):
            if one not in parts[j]:
                raise ValueError(
                    f"Product: settings[{i}] asks part {j} for {one!r}; it has {', '.join(map(repr, parts[j]))}."
                )
    return found


def _padded(several: list[Array]) -> Array:
    """One array (choices, outcomes, d, d), with zeros where a measurement has fewer outcomes than another."""
    most, d = max(E.shape[0] for E in several), several[0].shape[1]
    out = np.zeros((len(several), most, d, d), np.result_type(*several))
    for s, E in enumerate(several):
        out[s, : E.shape[0]] = E
    return out


def _heaviest(stack: Array) -> float:
    return float(np.einsum("soii->so", stack).real.max())


def _picked(digits: Array, parts: list[dict[str, Array]], outcomes: Any) -> tuple[Array, Any]:
    """Which of all numbers of the distinct settings the user sees, in the user's order."""
    from ..places.pauli import tree

    where, counts = tree(digits)[2], [[E.shape[0] for E in each.values()] for each in parts]
    padded = [max(each) for each in counts]
    width = int(np.prod(padded))
    own = [[counts[j][digit] for j, digit in enumerate(row)] for row in digits]
    if outcomes is None:
        grids = [np.ravel_multi_index(np.indices(sizes).reshape(len(sizes), -1), padded) for sizes in own]
        return np.concatenate([width * w + grid for w, grid in zip(where, grids, strict=True)]), None
    asked = list(outcomes)
    if len(asked) != len(own):
        raise ValueError(f"Product: {len(own)} settings but {len(asked)} outcomes; give one each, or none at all.")
    flat = []
    for i, (outcome, sizes) in enumerate(zip(asked, own, strict=True)):
        try:
            one = outcome if np.ndim(outcome) else np.unravel_index(int(outcome), sizes)
            flat.append(int(np.ravel_multi_index(tuple(int(each) for each in one), padded)))
            if any(not 0 <= each < size for each, size in zip(one, sizes, strict=True)):
                raise ValueError
        except (TypeError, ValueError):
            raise ValueError(f"Product: outcomes[{i}] is {outcome!r}; this setting has {sizes} outcomes.") from None
    return width * where + np.array(flat), tuple(flat)
