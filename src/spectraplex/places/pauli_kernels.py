"""The compiled loops of Pauli measurements: from states to the chances of outcomes, and back.

Two ways lead there. On a *matrix* ρ, Walsh-Hadamard transforms give tr(Pρ) of all 4ⁿ Pauli strings P, and a tree over
the settings turns those, one qubit after another, into the chances of all outcomes: (I, P) ↦ (I + P, I − P). Settings
with the same last letters share that part of the tree, so that all 3ⁿ settings cost about 3·6ⁿ additions, whatever the
rank. On a *factor* Y (ρ = YYᴴ) the rows of Y are rotated, one qubit after another, settings with the same first letters
sharing those rotations; nothing as large as ρ is ever made. Rotations are left unnormalised (no multiplications), and
powers of two mend that at the end, exactly. Importing this file loads numba.

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
def chances(given, digits, shared, row, out):  # type: ignore[no-untyped-def]
    """out[row[s]] = the chances of all outcomes of setting s, from the coefficients of all strings.

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
        if shared[s] == n:
            out[row[s]] = out[row[s - 1]]
            continue
        for level in range(shared[s], n):
            seen, rest = 1 << level, 1 << 2 * (n - level - 1)
            source = given if level == 0 else work[starts[level] : starts[level + 1]]
            if level == n - 1:
                _split(source, digits[s, level], rest, seen, out[row[s]])
            else:
                _split(source, digits[s, level], rest, seen, work[starts[level + 1] : starts[level + 2]])


@compiled
def from_chances(slope, digits, shared, row, total):  # type: ignore[no-untyped-def]
    """The adjoint of ``chances``: total[string] = Σ ± slope over the settings and outcomes that a string is part of."""
    count, n = digits.shape
    starts = np.zeros(n + 1, np.int64)
    for level in range(1, n):
        starts[level + 1] = starts[level] + (1 << level) * (1 << 2 * (n - level))
    work = np.zeros(max(1, starts[n]))
    for s in range(count):
        last, ahead = n - 1, 0 if s == count - 1 else shared[s + 1]
        target = total if last == 0 else work[starts[last] : starts[n]]
        _join(slope[row[s]], digits[s, last], 1, 1 << last, target)
        for level in range(n - 1, min(ahead, n - 1), -1):  # nobody comes back to these: hand them on, and clear them
            held = work[starts[level] : starts[level + 1]]
            target = total if level == 1 else work[starts[level - 1] : starts[level]]
            _join(held, digits[s, level - 1], 1 << 2 * (n - level), 1 << (level - 1), target)
            held[:] = 0.0


# ------------------------------------------------------------------------------------------- rotations of a factor


@compiled
def _rotate(source, digit, stride, out):  # type: ignore[no-untyped-def]
    """Rows j and j + stride become those of the outcomes + and − of a letter, times √2 unless it is Z; ``out`` may be
    ``source``. The real parts of all columns come first, then the imaginary ones; without Y there need not be any."""
    rows, width = source.shape
    half = width // 2
    if digit == 1:
        for j in range(rows):
            for k in range(width):
                out[j, k] = source[j, k]
        return
    for low in range(0, rows, 2 * stride):
        for j in range(low, low + stride):
            if digit == 2:
                for k in range(width):
                    a, b = source[j, k], source[j + stride, k]
                    out[j, k], out[j + stride, k] = a + b, a - b
            else:  # ⟨±i| = (1, ∓i)/√2, and −i(x + iy) = y − ix
                for k in range(half):
                    a, b = source[j, k], source[j, half + k]
                    x, y = source[j + stride, k], source[j + stride, half + k]
                    out[j, k], out[j, half + k] = a + y, b - x
                    out[j + stride, k], out[j + stride, half + k] = a - y, b + x


@compiled
def _back(source, digit, stride, out):  # type: ignore[no-untyped-def]
    """The adjoint of ``_rotate``, added to ``out``."""
    rows, width = source.shape
    half = width // 2
    if digit == 1:
        for j in range(rows):
            for k in range(width):
                out[j, k] += source[j, k]
        return
    for low in range(0, rows, 2 * stride):
        for j in range(low, low + stride):
            if digit == 2:
                for k in range(width):
                    a, b = source[j, k], source[j + stride, k]
                    out[j, k] += a + b
                    out[j + stride, k] += a - b
            else:  # i((a + ib) − (x + iy)) = (y − b) + i(a − x)
                for k in range(half):
                    a, b = source[j, k], source[j, half + k]
                    x, y = source[j + stride, k], source[j + stride, half + k]
                    out[j, k] += a + x
                    out[j, half + k] += b + y
                    out[j + stride, k] += y - b
                    out[j + stride, half + k] += a - x


@compiled
def _unrotate(block, digit, stride):  # type: ignore[no-untyped-def]
    """The adjoint of ``_rotate``, in place."""
    rows, width = block.shape
    half = width // 2
    if digit == 1:
        return
    for low in range(0, rows, 2 * stride):
        for j in range(low, low + stride):
            if digit == 2:
                for k in range(width):
                    a, b = block[j, k], block[j + stride, k]
                    block[j, k], block[j + stride, k] = a + b, a - b
            else:
                for k in range(half):
                    a, b = block[j, k], block[j, half + k]
                    x, y = block[j + stride, k], block[j + stride, half + k]
                    block[j, k], block[j, half + k] = a + x, b + y
                    block[j + stride, k], block[j + stride, half + k] = y - b, a - x


@compiled
def rotated_chances(F, weights, digits, shared, depth, row, scale, out):  # type: ignore[no-untyped-def]
    """out[row[s], o] = scale[s]·Σ_k weights[k]·|(R_s F)[o, k]|², F real parts beside imaginary ones.

    digits[s, l] is the letter of the l-th qubit from the left. Settings share at most ``depth`` letters with the one
    before; what comes after those is done on pieces that stay in the cache.
    """
    count, n = digits.shape
    rows, width = F.shape
    work = np.empty((depth, rows, width), F.dtype)
    size = rows >> depth
    piece = np.empty((size, width), F.dtype)
    for s in range(count):
        for level in range(shared[s], depth):
            source = F if level == 0 else work[level - 1]
            _rotate(source, digits[s, level], rows >> (level + 1), work[level])
        whole, to = F if depth == 0 else work[depth - 1], out[row[s]]
        for low in range(0, rows, size):
            source = whole[low : low + size]
            if depth < n:
                _rotate(source, digits[s, depth], size >> 1, piece)
                for level in range(depth + 1, n):
                    if digits[s, level] != 1:
                        _rotate(piece, digits[s, level], rows >> (level + 1), piece)
                source = piece
            for j in range(size):
                total = 0.0
                for k in range(width):
                    x = np.float64(source[j, k])
                    total += weights[k] * (x * x)
                to[low + j] = scale[s] * total


@compiled
def rotated_products(F, slope, digits, shared, depth, row, scale, total):  # type: ignore[no-untyped-def]
    """total += Σ_s scale[s]·R_sᴴ diag(slope[row[s]]) R_s F."""
    count, n = digits.shape
    rows, width = F.shape
    work = np.empty((depth, rows, width), F.dtype)
    sums = np.zeros((depth, rows, width), total.dtype)
    size = rows >> depth
    piece = np.empty((size, width), F.dtype)
    for s in range(count):
        for level in range(shared[s], depth):
            source = F if level == 0 else work[level - 1]
            _rotate(source, digits[s, level], rows >> (level + 1), work[level])
        whole, given = F if depth == 0 else work[depth - 1], slope[row[s]]
        target = total if depth == 0 else sums[depth - 1]
        for low in range(0, rows, size):
            piece[:] = whole[low : low + size]
            for level in range(depth, n):
                if digits[s, level] != 1:
                    _rotate(piece, digits[s, level], rows >> (level + 1), piece)
            for j in range(size):
                y = F.dtype.type(given[low + j] * scale[s])
                for k in range(width):
                    piece[j, k] *= y
            for level in range(depth, n):
                _unrotate(piece, digits[s, level], rows >> (level + 1))
            target[low : low + size] += piece
        ahead = 0 if s == count - 1 else shared[s + 1]
        for level in range(depth, ahead, -1):
            held = sums[level - 1]
            up = total if level == 1 else sums[level - 2]
            _back(held, digits[s, level - 1], rows >> level, up)
            held[:] = 0.0


# ------------------------------------------------------------------------------------------- strings, one by one


@compiled
def string_values(F, weights, flips, phases, turns, out):  # type: ignore[no-untyped-def]
    """out[i] = Σ_k weights[k] fₖᴴ P fₖ with P = i^turns X^flips Z^phases and f = x + iy (no y where turns is even)."""
    rows, width = F.shape
    half = width // 2
    for i in range(flips.size):
        total, turn = 0.0, turns[i]
        for j in range(rows):
            at, part = j ^ flips[i], 0.0  # P|j⟩ = i^turns (−1)^{phases·j} |j^flips⟩
            if turn % 2 == 0:
                for k in range(width):
                    part += weights[k] * F[at, k] * F[j, k]
            else:  # Re i·(x − iy)(u + iv) = yu − xv
                for k in range(half):
                    part += weights[k] * (F[at, half + k] * F[j, k] - F[at, k] * F[j, half + k])
            total += -part if _odd(phases[i] & j) else part
        out[i] = -total if turn >= 2 else total


@compiled
def string_products(F, slope, flips, phases, turns, total):  # type: ignore[no-untyped-def]
    """total += Σ_i slope[i] Pᵢ F."""
    rows, width = F.shape
    half = width // 2
    for i in range(flips.size):
        turn = turns[i]
        for j in range(rows):
            at = j ^ flips[i]
            y = -slope[i] if (turn >= 2) != _odd(phases[i] & j) else slope[i]
            if turn % 2 == 0:
                for k in range(width):
                    total[at, k] += y * F[j, k]
            else:  # i(u + iv) = −v + iu
                for k in range(half):
                    total[at, k] -= y * F[j, half + k]
                    total[at, half + k] += y * F[j, k]


@compiled
def _odd(bits):  # type: ignore[no-untyped-def]
    """Whether the number of ones is odd."""
    bits ^= bits >> 16
    bits ^= bits >> 8
    bits ^= bits >> 4
    bits ^= bits >> 2
    bits ^= bits >> 1
    return bits & 1 == 1
