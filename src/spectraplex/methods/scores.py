"""Scores xᵢᴴ(−∇f)xᵢ of atoms, of which few are made fresh in a step: comparing all costs as much as an eigenvector."""

from __future__ import annotations

import numpy as np

from ..matrices.atoms import GONE, Atoms
from ..matrices.lifted import Lifted
from ..places.numpy import Array

_FRESH = 16  # so many scores are made fresh in a step, as one block, if not more:
_PART = 16  # a sixteenth of them all; half of these are the oldest, so that none is older than 32 steps


def refreshed(descent: Lifted, atoms: Atoms, scores: Array, seen: Array, t: int) -> tuple[Array, Array]:
    """Scores of all atoms and the step at which each was seen; those that matter most and the oldest are fresh.

    Half are those of most weight times deficit by their last score, half those that were not seen for longest. The
    worst of the fresh ones is thus exact among them, and no other
    atom's score is older than 32 steps.
    """
    count = len(atoms)
    if scores.size != count:  # a start, or a recompression: nothing is known
        return _scored(descent, atoms, np.arange(count), 0.0), np.full(count, float(t))
    most = max(_FRESH, count // _PART)
    which = np.arange(count)
    if count > most:
        promised = atoms.weights * (scores.max() - scores)
        which = np.argpartition(-promised, most // 2)[: most // 2]
        age = seen.copy()
        age[which] = np.inf
        which = np.sort(np.concatenate([which, np.argpartition(age, most - most // 2)[: most - most // 2]]))
    scores, seen = scores.copy(), seen.copy()
    scores[which] = _scored(descent, atoms, which, float(np.ptp(scores)))
    seen[which] = t
    return scores, seen


def _scored(descent: Lifted, atoms: Atoms, which: Array, spread: float) -> Array:
    """In single precision where that pays and scores differ by far more than it can blur."""
    buffer, place = atoms.buffer, atoms.place
    single = descent.heavy(which.size)
    whole = which.size == buffer.used  # then nothing need be copied
    for block in (buffer.single, buffer.block) if single else (buffer.block,):
        part = block if whole else place.columns(block, atoms.index[which])
        found = np.asarray(descent.scores(part, which.size))
        found = found[atoms.index[which]] if whole else found
        if max(spread, float(np.ptp(found))) > 1e-4 * float(np.abs(found).max()):
            break
    return found


def aligned(scores: Array, seen: Array, weights: Array, sizes: Array, after: Atoms) -> tuple[Array, Array]:
    """The scores of the atoms that a step left, and of its new ones, not seen yet; none after a recompression."""
    kept, new = weights > GONE, int(np.count_nonzero(sizes > GONE))
    scores, seen = scores[kept], seen[kept]
    scores = np.concatenate([scores, np.full(new, scores.max(initial=0.0))])
    seen = np.concatenate([seen, np.full(new, -1.0)])
    return (scores, seen) if scores.size == len(after) else (np.empty(0), np.empty(0))
