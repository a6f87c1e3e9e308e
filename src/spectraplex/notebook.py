"""What a notebook shows of a result: a small table and a drawing, as HTML without scripts.

Every colour is the notebook's own text colour, or one that can be read on white and on black; they stand in the
elements themselves, as some notebooks remove style sheets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

import numpy as np

from . import svg
from .numerals import shown
from .places.numpy import Array

MOST = 300  # points of a curve that are drawn
_ROWS = 12  # lines of a table that are shown; of a longer one the first and last half of that many

_BLUE, _ORANGE = "#3d85c6", "#d9822b"
_ROLES = {
    "grid": 'fill="none" stroke="currentColor" stroke-opacity="0.15"',
    "axis": 'fill="none" stroke="currentColor" stroke-opacity="0.6"',
    "line": f'fill="none" stroke="{_BLUE}" stroke-width="2" stroke-linejoin="round"',
    "line two": f'fill="none" stroke="{_ORANGE}" stroke-width="2" stroke-linejoin="round"',
    "dot": f'fill="{_BLUE}"',
    "dot two": f'fill="{_ORANGE}"',
    "name": 'font-weight="600"',
}
_LEFT = "text-align:left;padding:2px 12px 2px 0"
_RIGHT = "text-align:right;padding:2px 12px 2px 0"


def card(title: str, rows: Sequence[tuple[str, str]], figure: str = "") -> str:
    """A title, names with what they are, and a drawing."""
    lines = (f'<tr><th style="{_LEFT}">{escape(a)}</th><td style="{_LEFT}">{escape(b)}</td></tr>' for a, b in rows)
    return _whole(title, f"<tbody>{''.join(lines)}</tbody>", figure)


def columns(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]], figure: str = "") -> str:
    """A title, a table with a heading, and a drawing; the middle of a long table is left out."""
    if len(lines) > _ROWS:
        half = _ROWS // 2
        lines = [*lines[:half], ["…"] * len(heads), *lines[-half:]]
    top = "".join(f'<th style="{_RIGHT}">{escape(head)}</th>' for head in heads)
    body = ("".join(f'<td style="{_RIGHT}">{escape(cell)}</td>' for cell in line) for line in lines)
    rows = "".join(f"<tr>{line}</tr>" for line in body)
    return _whole(title, f"<thead><tr>{top}</tr></thead><tbody>{rows}</tbody>", figure)


def _whole(title: str, table: str, figure: str) -> str:
    named = f'<caption style="{_LEFT};font-weight:600">{escape(title)}</caption>'
    return f'<div class="spectraplex"><table style="color:inherit">{named}{table}</table>{figure}</div>'


def curves(names: tuple[str, str], xs: Array, value: Array, bound: Array) -> str:
    """A value and a lower bound, where they are finite; nothing where there is no curve to draw.

    Early lower bounds may lie far below everything else: they are left out, and the drawing ends a little below the
    best of them. A single bound is a dot.
    """
    kept = np.isfinite(xs) & np.isfinite(value)
    xs, value, bound = xs[kept], value[kept], bound[kept]
    if xs.size > MOST:
        few = np.unique(np.linspace(0, xs.size - 1, MOST).round().astype(int))
        xs, value, bound = xs[few], value[few], bound[few]
    if xs.size < 2:
        return ""
    sure = np.isfinite(bound)
    top = float(value.max())
    bottom = min(float(value.min()), float(bound[sure].max()) if sure.any() else top)
    room = 0.08 * (top - bottom)
    view = svg.frame((float(xs.min()), float(xs.max())), (bottom - room, top + room), names)
    near = np.flatnonzero(sure & (bound >= bottom - room))
    parts = [svg.line(view, xs[near], bound[near], "line two"), svg.line(view, xs, value)]
    if near.size == 1:
        parts.append(
            svg.dots(view, xs[near], bound[near], [f"lower bound {shown(float(bound[near[0]]), 6)}"], "dot two")
        )
    if xs.size <= 40:
        hints = [f"{names[0]} {shown(float(x))}: {shown(float(y), 6)}" for x, y in zip(xs, value, strict=True)]
        parts.append(svg.dots(view, xs, value, hints))
    parts.append(_key(bool(sure.any())))
    label = f"{names[1]} from {shown(float(value[0]))} to {shown(float(value[-1]))} against {names[0]}"
    return _coloured(svg.drawing(view, parts, label))


def _key(bound: bool) -> str:
    """Which line is which, in the upper right corner."""
    at = svg.WIDTH - 14.0
    words = f'<text x="{svg.px(at)}" y="12" text-anchor="end"><tspan fill="{_BLUE}">value</tspan>'
    return words + (f' <tspan fill="{_ORANGE}">lower bound</tspan></text>' if bound else "</text>")


def _coloured(drawing: str) -> str:
    """Roles become colours, and the drawing gets a size of its own."""
    painted = re.sub(r'class="([\w ]+)"', lambda found: _ROLES[found[1]], drawing)
    look = f'width="{svg.px(svg.WIDTH)}" fill="currentColor" font-family="sans-serif" font-size="12"'
    return painted.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" {look} ', 1)
