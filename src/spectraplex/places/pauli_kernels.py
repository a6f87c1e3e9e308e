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


# ------------------------------------------------------------------------------------------- rotations of a factor


@compiled
def _rotate(source, digit, run, out):  # type: ignore[no-untyped-def]
    """Runs of rows become those of the outcomes + and − of a letter, times √2 unless it is Z.

    ``source`` and ``out`` hold the real parts of all rows and then, unless no letter is Y, the imaginary ones.
    """
    planes, size = source.shape
    for low in range(0, size, 2 * run):
        if digit == 3:  # ⟨±i| = (1, ∓i)/√2, and −i(x + iy) = y − ix
            a, b = source[0, low : low + run], source[1, low : low + run]
            x, y = source[0, low + run : low + 2 * run], source[1, low + run : low + 2 * run]
            p, q = out[0, low : low + run], out[1, low : low + run]
            r, t = out[0, low + run : low + 2 * run], out[1, low + run : low + 2 * run]
            for e in range(run):
                p[e], q[e], r[e], t[e] = a[e] + y[e], b[e] - x[e], a[e] - y[e], b[e] + x[e]
            continue
        for plane in range(planes):
            a, x = source[plane, low : low + run], source[plane, low + run : low + 2 * run]
            p, r = out[plane, low : low + run], out[plane, low + run : low + 2 * run]
            if digit == 2:
                for e in range(run):
                    p[e], r[e] = a[e] + x[e], a[e] - x[e]
            else:
                for e in range(run):
                    p[e], r[e] = a[e], x[e]


@compiled
def _turn(block, digit, run):  # type: ignore[no-untyped-def]
    """``_rotate`` in place; a loop that may write where it reads would not be vectorised."""
    planes, size = block.shape
    if digit == 1:
        return
    for low in range(0, size, 2 * run):
        if digit == 3:
            a, b = block[0, low : low + run], block[1, low : low + run]
            x, y = block[0, low + run : low + 2 * run], block[1, low + run : low + 2 * run]
            for e in range(run):
                p, q, r, t = a[e], b[e], x[e], y[e]
                a[e], b[e], x[e], y[e] = p + t, q - r, p - t, q + r
        else:
            for plane in range(planes):
                a, x = block[plane, low : low + run], block[plane, low + run : low + 2 * run]
                for e in range(run):
                    p, r = a[e], x[e]
                    a[e], x[e] = p + r, p - r


@compiled
def _turn_back(block, digit, run):  # type: ignore[no-untyped-def]
    """The adjoint of ``_turn``: i((a + ib) − (x + iy)) = (y − b) + i(a − x)."""
    planes, size = block.shape
    if digit == 1:
        return
    for low in range(0, size, 2 * run):
        if digit == 3:
            a, b = block[0, low : low + run], block[1, low : low + run]
            x, y = block[0, low + run : low + 2 * run], block[1, low + run : low + 2 * run]
            for e in range(run):
                p, q, r, t = a[e], b[e], x[e], y[e]
                a[e], b[e], x[e], y[e] = p + r, q + t, t - q, p - r
        else:
            for plane in range(planes):
                a, x = block[plane, low : low + run], block[plane, low + run : low + 2 * run]
                for e in range(run):
                    p, r = a[e], x[e]
                    a[e], x[e] = p + r, p - r


@compiled
def _copy(source, out):  # type: ignore[no-untyped-def]
    planes, size = source.shape
    for plane in range(planes):
        a, b = source[plane], out[plane]
        for e in range(size):
            b[e] = a[e]


@compiled
def _add(source, out):  # type: ignore[no-untyped-def]
    planes, size = source.shape
    for plane in range(planes):
        a, b = source[plane], out[plane]
        for e in range(size):
            b[e] += a[e]


@compiled
def rotated_chances(F, width, weights, digits, shared, depth, scale, out):  # type: ignore[no-untyped-def]
    """out[s, o] = scale[s]·Σ_k weights[k]·|(R_s F)[o, k]|²; F has one or two planes, real and imaginary parts, flat.

    digits[s, l] is the letter of the l-th qubit from the left. Of those a setting has in common with the one before,
    the first shared[s] ≤ depth are not rotated again; what comes after ``depth`` is done on pieces that stay in the
    cache.
    """
    count, n = digits.shape
    planes, size = F.shape
    work = np.empty((depth, planes, size), F.dtype)
    part = size >> depth
    piece = np.empty((planes, part), F.dtype)
    for s in range(count):
        for level in range(shared[s], depth):
            _rotate(F if level == 0 else work[level - 1], digits[s, level], size >> (level + 1), work[level])
        whole, to = F if depth == 0 else work[depth - 1], out[s]
        for low in range(0, size, part):
            _copy(whole[:, low : low + part], piece)
            for level in range(depth, n):
                _turn(piece, digits[s, level], size >> (level + 1))
            for j in range(part // width):
                total = 0.0
                for plane in range(planes):
                    row = piece[plane, j * width : (j + 1) * width]
                    for k in range(width):
                        x = np.float64(row[k])
                        total += weights[k] * (x * x)
                to[low // width + j] = scale[s] * total


@compiled
def rotated_products(F, width, slope, digits, shared, depth, scale, total):  # type: ignore[no-untyped-def]
    """total += Σ_s scale[s]·R_sᴴ diag(slope[s]) R_s F."""
    count, n = digits.shape
    planes, size = F.shape
    work = np.empty((depth, planes, size), F.dtype)
    sums = np.zeros((depth, planes, size), F.dtype)
    part = size >> depth
    piece = np.empty((planes, part), F.dtype)
    for s in range(count):
        for level in range(shared[s], depth):
            _rotate(F if level == 0 else work[level - 1], digits[s, level], size >> (level + 1), work[level])
        whole, given = F if depth == 0 else work[depth - 1], slope[s]
        target = total if depth == 0 else sums[depth - 1]
        for low in range(0, size, part):
            _copy(whole[:, low : low + part], piece)
            for level in range(depth, n):
                _turn(piece, digits[s, level], size >> (level + 1))
            for j in range(part // width):
                y = F.dtype.type(given[low // width + j] * scale[s])
                for plane in range(planes):
                    row = piece[plane, j * width : (j + 1) * width]
                    for k in range(width):
                        row[k] *= y
            for level in range(depth, n):
                _turn_back(piece, digits[s, level], size >> (level + 1))
            _add(piece, target[:, low : low + part])
        ahead = 0 if s == count - 1 else shared[s + 1]
        for level in range(depth, ahead, -1):
            held = sums[level - 1]
            _turn_back(held, digits[s, level - 1], size >> level)
            _add(held, total if level == 1 else sums[level - 2])
            held[:] = 0


# ------------------------------------------------------------------------------------------- strings, one by one


@compiled
def string_values(F, width, weights, flips, phases, turns, out):  # type: ignore[no-untyped-def]
    """out[i] = Σ_k weights[k] fₖᴴ P fₖ with P = i^turns X^flips Z^phases and f = x + iy (no y where turns is even)."""
    planes, size = F.shape
    for i in range(flips.size):
        total, turn = 0.0, turns[i]
        for j in range(size // width):
            at, part = j ^ flips[i], 0.0  # P|j⟩ = i^turns (−1)^{phases·j} |j^flips⟩
            there, here = slice(at * width, (at + 1) * width), slice(j * width, (j + 1) * width)
            if turn % 2 == 0:
                for plane in range(planes):
                    a, b = F[plane, there], F[plane, here]
                    for k in range(width):
                        part += weights[k] * np.float64(a[k]) * b[k]
            else:  # Re i·(x − iy)(u + iv) = yu − xv
                x, y, u, v = F[0, there], F[1, there], F[0, here], F[1, here]
                for k in range(width):
                    part += weights[k] * (np.float64(y[k]) * u[k] - np.float64(x[k]) * v[k])
            total += -part if _odd(phases[i] & j) else part
        out[i] = -total if turn >= 2 else total


@compiled
def string_products(F, width, slope, flips, phases, turns, total):  # type: ignore[no-untyped-def]
    """total += Σ_i slope[i] Pᵢ F."""
    planes, size = F.shape
    for i in range(flips.size):
        turn = turns[i]
        for j in range(size // width):
            at = j ^ flips[i]
            there, here = slice(at * width, (at + 1) * width), slice(j * width, (j + 1) * width)
            y = F.dtype.type(-slope[i] if (turn >= 2) != _odd(phases[i] & j) else slope[i])
            if turn % 2 == 0:
                for plane in range(planes):
                    a, b = total[plane, there], F[plane, here]
                    for k in range(width):
                        a[k] += y * b[k]
            else:  # i(u + iv) = −v + iu
                a, b, u, v = total[0, there], total[1, there], F[0, here], F[1, here]
                for k in range(width):
                    a[k] -= y * v[k]
                    b[k] += y * u[k]


@compiled
def _odd(bits):  # type: ignore[no-untyped-def]
    """Whether the number of ones is odd."""
    bits ^= bits >> 16
    bits ^= bits >> 8
    bits ^= bits >> 4
    bits ^= bits >> 2
    bits ^= bits >> 1
    return bits & 1 == 1
