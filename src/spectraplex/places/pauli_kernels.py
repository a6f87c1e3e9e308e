"""The compiled loops of Pauli measurements of a matrix ρ: from it to the chances of outcomes, and back.

Two ways lead there. On a *matrix* Walsh-Hadamard transforms give tr(Pρ) of all 4ⁿ Pauli strings P, and a tree over
the settings turns those, one qubit after another, into the chances of all outcomes: (I, P) ↦ (I + P, I − P). Settings
with the same last letters share that part of the tree, so that all 3ⁿ settings cost about 3·6ⁿ additions, whatever the
rank. On a *factor* Y (ρ = YYᴴ) the rows of Y are rotated: pauli_rotations.py. Importing this file loads numba.

A Pauli string is i^|a∧b| XᵃZᵇ with bit masks a and b. Digits of a letter are I = 0, Z = 1, X = 2, Y = 3 = 2a + b.
"""

from __future__ import annotations

import numpy as np

from .kernels import compiled


@compiled
def _butterflies(h):  # type: ignore[no-untyped-def]
    """The Walsh-Hadamard transform h[b] ← Σ_j (−1)^{b·j} h[j], in place."""
    size, half = h.size, 1
    while half < size:
        for low in range(0, size, 2 * half):
            for j in range(low, low + half):
                a, b = h[j], h[j + half]
                h[j], h[j + half] = a + b, a - b
        half *= 2


@compiled
def coefficients(rho, spread, signs, out):  # type: ignore[no-untyped-def]
    """out[string] = tr(Pρ)/2ⁿ for all strings, ρ being Hermitian.

    With D[j] = ρ[j, j^a] the string with masks a, b has Re i^|a∧b| Σ_j (−1)^{b·j} D[j]. D[j^a] is D[j] conjugated, so
    that the sum is real where |a∧b| is even and imaginary where it is odd: one real transform of Re D + Im D has both.
    """
    size = rho.shape[0]
    h = np.empty(size)
    for a in range(size):
        for j in range(size):
            entry = rho[j, j ^ a]
            h[j] = entry.real + entry.imag
        _butterflies(h)
        for b in range(size):
            out[2 * spread[a] + spread[b]] = signs[a & b] * h[b] / size


@compiled
def from_coefficients(given, spread, signs, out):  # type: ignore[no-untyped-def]
    """out = Σ given[P]·P/2ⁿ, Hermitian exactly; the adjoint of ``coefficients``."""
    size = out.shape[0]
    h = np.empty(size)
    for a in range(size):
        for b in range(size):
            h[b] = signs[a & b] * given[2 * spread[a] + spread[b]] / size
        _butterflies(h)
        for j in range(size):  # what is even under j → j^a is the real part of out[j, j^a], what is odd the imaginary
            out[j, j ^ a] = complex(0.5 * (h[j] + h[j ^ a]), 0.5 * (h[j] - h[j ^ a]))


@compiled
def from_real_coefficients(given, spread, signs, out):  # type: ignore[no-untyped-def]
    """The same where no string has an odd number of Y: a real matrix."""
    size = out.shape[0]
    h = np.empty(size)
    for a in range(size):
        for b in range(size):
            h[b] = signs[a & b] * given[2 * spread[a] + spread[b]] / size
        _butterflies(h)
        for j in range(size):
            out[j, j ^ a] = 0.5 * (h[j] + h[j ^ a])


# ------------------------------------------------------------------------------------------- the tree over settings


@compiled
def _split(source, digit, rest, seen, out):  # type: ignore[no-untyped-def]
    """out[r, ±, o] = source[I, r, o] ± source[P, r, o]: one more qubit has its two outcomes."""
    run = rest * seen
    for r in range(rest):
        first, second, to = r * seen, digit * run + r * seen, 2 * r * seen
        for o in range(seen):
            a, b = source[first + o], source[second + o]
            out[to + o] = a + b
            out[to + seen + o] = a - b


@compiled
def _join(given, digit, rest, seen, total):  # type: ignore[no-untyped-def]
    """The adjoint of ``_split``, added to ``total``."""
    run = rest * seen
    for r in range(rest):
        first, second, at = r * seen, digit * run + r * seen, 2 * r * seen
        for o in range(seen):
            a, b = given[at + o], given[at + seen + o]
            total[first + o] += a + b
            total[second + o] += a - b


@compiled
def chances(given, digits, shared, out):  # type: ignore[no-untyped-def]
    """out[s] = the chances of all outcomes of setting s, from the coefficients of all strings.

    digits[s, l] is the letter of the l-th qubit from the right, shared[s] how many of those setting s has in common
    with the one before. Level l of the work space has l qubits split: 2ˡ·4ⁿ⁻ˡ numbers, what is left first, the outcomes
    so far last.
    """
    count, n = digits.shape
    starts = np.zeros(n + 1, np.int64)
    for level in range(1, n):
        starts[level + 1] = starts[level] + (1 << level) * (1 << 2 * (n - level))
    work = np.empty(max(1, starts[n]))
    for s in range(count):
        for level in range(shared[s], n):
            seen, rest = 1 << level, 1 << 2 * (n - level - 1)
            source = given if level == 0 else work[starts[level] : starts[level + 1]]
            if level == n - 1:
                _split(source, digits[s, level], rest, seen, out[s])
            else:
                _split(source, digits[s, level], rest, seen, work[starts[level + 1] : starts[level + 2]])


@compiled
def from_chances(slope, digits, shared, total):  # type: ignore[no-untyped-def]
    """The adjoint of ``chances``: total[string] = Σ ± slope over the settings and outcomes that a string is part of."""
    count, n = digits.shape
    starts = np.zeros(n + 1, np.int64)
    for level in range(1, n):
        starts[level + 1] = starts[level] + (1 << level) * (1 << 2 * (n - level))
    work = np.zeros(max(1, starts[n]))
    for s in range(count):
        last, ahead = n - 1, 0 if s == count - 1 else shared[s + 1]
        target = total if last == 0 else work[starts[last] : starts[n]]
        _join(slope[s], digits[s, last], 1, 1 << last, target)
        for level in range(n - 1, min(ahead, n - 1), -1):  # nobody comes back to these: hand them on, and clear them
            held = work[starts[level] : starts[level + 1]]
            target = total if level == 1 else work[starts[level - 1] : starts[level]]
            _join(held, digits[s, level - 1], 1 << 2 * (n - level), 1 << (level - 1), target)
            held[:] = 0.0
