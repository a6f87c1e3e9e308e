"""The figures of a report on a state: its matrix, its eigenvalues, and how the settings fit."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from .. import svg as svg
from ..estimators.tomography.goodness import PerSetting
from ..places.numpy import Array
from .figures import Figure
from .words import shown

_CELLS = 32  # most rows of a matrix that are drawn one by one; of a larger one the heaviest are


def matrix(rho: Array, part: str) -> Figure:
    """The real or imaginary part as squares, larger for larger entries; of a large matrix the heaviest rows."""
    kept = np.sort(np.argsort(-np.abs(np.diag(rho)), kind="stable")[:_CELLS])
    values = np.real(rho) if part == "real" else np.imag(rho)
    values = values[np.ix_(kept, kept)]
    bits = max(1, int(rho.shape[0] - 1).bit_length())
    count, top, left = kept.size, 24.0, 30.0 + 7.0 * bits
    side = (svg.WIDTH - left - 6.0) / count
    largest = float(np.abs(rho).max()) or 1.0
    qubits = rho.shape[0] == 1 << bits
    names = [format(k, f"0{bits}b") if qubits else str(k) for k in kept]
    parts = []
    for i in range(count):
        if count <= 16:
            parts.append(svg.text(left - 6, top + (i + 0.5) * side + 4, names[i], "end"))
        for j in range(count):
            size = side * min(1.0, float(np.sqrt(abs(values[i, j]) / largest)))
            if size < 0.04 * side:
                continue
            x, y = left + (j + 0.5) * side - size / 2, top + (i + 0.5) * side - size / 2
            kind = "bar" if values[i, j] > 0 else "bar two"
            hint = escape(f"⟨{names[i]}|ρ|{names[j]}⟩: {shown(float(values[i, j]), 3)}")
            shape = f'x="{svg.px(x)}" y="{svg.px(y)}" width="{svg.px(size)}" height="{svg.px(size)}"'
            parts.append(f'<rect class="{kind}" {shape}><title>{hint}</title></rect>')
    height = top + count * side + 6
    frame = f'<path class="axis" d="M{svg.px(left)} {svg.px(top)}H{svg.px(left + count * side)}V{svg.px(height - 6)}'
    parts.append(frame + f'H{svg.px(left)}Z"/>')
    words = f"The {part} part of the density matrix; the largest entry is {shown(float(np.abs(values).max()), 3)}."
    drawing = f'<svg viewBox="0 0 {svg.px(svg.WIDTH)} {svg.px(height)}" role="img" aria-label="{words}">'
    caption = "" if count == rho.shape[0] else f"The {count} rows with the largest chances, of {rho.shape[0]}."
    keys = (("bar", "positive"), ("bar two", "negative"))
    return Figure(f"{part.capitalize()} part", f"{drawing}{''.join(parts)}</svg>", caption, keys)


def eigenvalues(found: list[Any]) -> Figure:
    """The largest eigenvalues, with intervals where there are any."""
    few = found[:16]
    values = np.array([float(each) for each in few])
    highs = [each.high if hasattr(each, "high") else float(each) for each in few]
    view = svg.frame((0.4, len(few) + 0.6), (0.0, 1.08 * max(highs)), ("eigenvalue, largest first", "size"))
    parts = []
    for k, each in enumerate(few, start=1):
        words = str(each) if hasattr(each, "low") else shown(float(each), 4)
        parts.append(svg.bars(view, np.array([k - 0.36, k + 0.36]), values[k - 1 : k], [words]))
        if hasattr(each, "low"):
            x = svg.px(view.x.at(k))
            low, high = svg.px(view.y.at(each.low)), svg.px(view.y.at(each.high))
            parts.append(f'<path class="line two" d="M{x} {low}V{high}"/>')
    label = f"Eigenvalues of the state; the largest is {shown(float(values[0]), 4)}."
    return Figure(
        "Eigenvalues", svg.drawing(view, parts, label), "Lines are confidence intervals." * hasattr(few[0], "low")
    )


def settings(each: PerSetting) -> Figure | None:
    """How far the misfit of every setting is from what chance gives, in standard deviations."""
    if len(each.settings) < 3:
        return None
    reach = max(4.0, float(np.abs(each.excess).max()) * 1.02)
    times, edges = np.histogram(each.excess, bins=np.linspace(-reach, reach, 34))
    names = ("misfit above what chance gives, in standard deviations", "settings")
    view = svg.frame((-reach, reach), (0.0, 1.05 * float(times.max())), names)
    hints = [f"{shown(a, 2)} to {shown(b, 2)}: {n}" for a, b, n in zip(edges[:-1], edges[1:], times, strict=True)]
    worst = int(np.argmax(each.excess))
    label = (
        f"Histogram over settings; the worst is {each.settings[worst]}, {shown(float(each.excess[worst]), 2)} above."
    )
    return Figure("Fit of every setting", svg.drawing(view, [svg.bars(view, edges, times, hints)], label), label)
