"""Small drawings as SVG text: axes, bars, lines, dots, for the report and for notebooks.

Drawings are about as wide as a phone, so that their text keeps its size there; classes name roles (``bar``, ``line``,
``dot``, ``band``, ``rule``), and the style sheet of the page says what a role looks like.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from .numerals import tick
from .places.numpy import Array

WIDTH, HEIGHT = 440.0, 280.0
_RIGHT, _TOP, _BOTTOM = 14.0, 30.0, 46.0


@dataclass(frozen=True)
class Axis:
    """Numbers from ``low`` to ``high`` on pixels from ``start`` to ``end``, evenly or by their logarithms."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False
    label: str = ""
    ticks: tuple[tuple[float, str], ...] | None = None

    def at(self, value: float) -> float:
        low, high, here = self.low, self.high, value
        if self.logarithmic:
            low, high, here = math.log(low), math.log(high), math.log(max(value, self.low * 1e-9))
        share = (here - low) / (high - low) if high > low else 0.5
        return self.start + min(max(share, -0.5), 1.5) * (self.end - self.start)

    def marks(self) -> tuple[tuple[float, str], ...]:
        """Where ticks are, and what stands beside them."""
        if self.ticks is not None:
            return self.ticks
        places = _log_ticks(self.low, self.high) if self.logarithmic else even_ticks(self.low, self.high)
        step = min(np.diff(places)) if len(places) > 1 else abs(self.high - self.low)
        return tuple((place, tick(place, float(step))) for place in places)


@dataclass(frozen=True)
class Frame:
    """Two axes, and the size of the drawing that they are in."""

    x: Axis
    y: Axis
    height: float = HEIGHT


def frame(
    across: tuple[float, float],
    up: tuple[float, float],
    labels: tuple[str, str],
    *,
    log: tuple[bool, bool] = (False, False),
    ticks: tuple[tuple[float, str], ...] | None = None,
) -> Frame:
    """Axes over these ranges; a range without length is given one."""
    (a, b), (c, d) = _wide(across, log[0]), _wide(up, log[1])
    y = Axis(c, d, HEIGHT - _BOTTOM, _TOP, log[1], labels[1])
    left = 14.0 + 8.2 * max((len(words) for _, words in y.marks()), default=0)  # what stands beside the axis fits
    return Frame(Axis(a, b, left, WIDTH - _RIGHT, log[0], labels[0], ticks), y)


def _wide(span: tuple[float, float], logarithmic: bool) -> tuple[float, float]:
    low, high = span
    if logarithmic:
        low = max(low, 1e-300)
        return (low, high) if high > low * 1.001 else (low / 1.5, low * 1.5)
    if high - low > 1e-9 * (abs(low) + abs(high)):
        return low, high
    half = 0.5 * (abs(low) or 1.0)
    return low - half, low + half


def even_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About so many round numbers between two."""
    raw = (high - low) / count
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if size * factor >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * k for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for parts in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        places = [part * 10.0**k for k in decades for part in parts]
        places = [place for place in places if low * 0.9999 <= place <= high * 1.0001]
        if len(places) >= 3:
            return places[:: math.ceil(len(places) / 7)]
    return even_ticks(low, high, 4)


def drawing(view: Frame, parts: Iterable[str], label: str) -> str:
    """The whole picture with its axes; ``label`` is read out to those who do not see it."""
    return _whole([*_axes(view), *parts], view.height, label)


def _whole(parts: Iterable[str], height: float, label: str) -> str:
    body = "".join(parts)
    box = f"0 0 {px(WIDTH)} {px(height)}"
    return f'<svg viewBox="{box}" role="img" aria-label="{escape(label)}">{body}</svg>'


def _axes(view: Frame) -> list[str]:
    x, y, out = view.x, view.y, []
    for place, words in y.marks():
        h = px(y.at(place))
        out.append(f'<path class="grid" d="M{px(x.start)} {h}H{px(x.end)}"/>')
        out.append(text(x.start - 7, y.at(place) + 4, words, "end"))
    for place, words in x.marks():
        out.append(f'<path class="axis" d="M{px(x.at(place))} {px(y.start)}v4"/>')
        out.append(text(x.at(place), y.start + 17, words, "middle"))
    out.append(f'<path class="axis" d="M{px(x.start)} {px(y.start)}H{px(x.end)}"/>')
    out.append(text(0.5 * (x.start + x.end), y.start + 37, x.label, "middle", "name"))
    out.append(text(0, 12, y.label, kind="name"))  # lying above the axis it is read sooner than standing beside it
    return out


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{px(x)}" y="{px(y)}" text-anchor="{anchor}">{escape(words)}</text>'


def px(value: float) -> str:
    """A length, short: tenths of a pixel are fine enough."""
    words = f"{value:.1f}".removesuffix(".0")
    return "0" if words == "-0" else words


def bars(view: Frame, edges: Array, heights: Array, hints: Sequence[str]) -> str:
    """Bars from the bottom of the frame; each has words for whoever points at it."""
    out, base = [], view.y.start
    for left, right, height, hint in zip(edges[:-1], edges[1:], heights, hints, strict=True):
        if not height > 0:
            continue
        a, b, top = view.x.at(float(left)), view.x.at(float(right)), view.y.at(float(height))
        inset = 0.6 if b - a > 3 else 0.0
        top = min(top, base - 0.8)  # something is not nothing
        shape = f'x="{px(a + inset)}" y="{px(top)}" width="{px(b - a - 2 * inset)}" height="{px(base - top)}"'
        out.append(f'<rect class="bar" {shape}><title>{escape(hint)}</title></rect>')
    return "".join(out)


def outline(view: Frame, edges: Array, heights: Array) -> str:
    """The same as bars, only their outline: for a second histogram over a first."""
    base = px(view.y.start)
    path = [f"M{px(view.x.at(float(edges[0])))} {base}"]
    for right, height in zip(edges[1:], heights, strict=True):
        path.append(f"V{px(view.y.at(float(height)))}H{px(view.x.at(float(right)))}")
    return f'<path class="line two" d="{"".join(path)}V{base}"/>'


def line(view: Frame, xs: Array, ys: Array, kind: str = "line") -> str:
    points = "L".join(f"{px(view.x.at(float(x)))} {px(view.y.at(float(y)))}" for x, y in zip(xs, ys, strict=True))
    return f'<path class="{kind}" d="M{points}"/>' if len(xs) > 1 else ""


def band(view: Frame, xs: Array, low: Array, high: Array) -> str:
    """The area between two curves."""
    points = [(float(x), float(y)) for x, y in zip(xs, high, strict=True)]
    points += [(float(x), float(y)) for x, y in zip(xs[::-1], low[::-1], strict=True)]
    path = "L".join(f"{px(view.x.at(x))} {px(view.y.at(y))}" for x, y in points)
    return f'<path class="band" d="M{path}Z"/>'


def dots(
    view: Frame, xs: Array, ys: Array, hints: Sequence[str], kind: str = "dot", sizes: Sequence[float] | None = None
) -> str:
    out = []
    radii = [3.6] * len(xs) if sizes is None else sizes
    for x, y, hint, size in zip(xs, ys, hints, radii, strict=True):
        place = f'cx="{px(view.x.at(float(x)))}" cy="{px(view.y.at(float(y)))}" r="{px(size)}"'
        out.append(f'<circle class="{kind}" {place}><title>{escape(hint)}</title></circle>')
    return "".join(out)


def rule(view: Frame, *, x: float | None = None, y: float | None = None, words: str = "", low: bool = False) -> str:
    """A dashed line across the frame, with words at its end."""
    if y is not None:
        h = view.y.at(y)
        beside = text(view.x.end, h + (14 if low else -5), words, "end", "note")
        return f'<path class="rule" d="M{px(view.x.start)} {px(h)}H{px(view.x.end)}"/>{beside}'
    assert x is not None
    w = view.x.at(x)
    right = w > 0.62 * (view.x.start + view.x.end)
    beside = text(w + (-5 if right else 5), view.y.end + 10, words, "end" if right else "start", "note")
    return f'<path class="rule" d="M{px(w)} {px(view.y.start)}V{px(view.y.end)}"/>{beside}'


@dataclass(frozen=True)
class Bar:
    """One line of a drawing of lying bars: a name, a length, the words behind it, and a role."""

    name: str
    length: float
    words: str
    kind: str = "bar"


def lying(rows: Sequence[Bar], label: str) -> str:
    """Bars that lie, longest allowed by the width, each below its name."""
    longest = max((row.length for row in rows), default=0.0) or 1.0
    out, room = [], WIDTH - 110.0
    for k, row in enumerate(rows):
        top, long = 46.0 * k, max(room * row.length / longest, 1.0)
        out.append(text(0, top + 13, row.name, kind="name"))
        out.append(f'<rect class="{row.kind}" x="0" y="{px(top + 19)}" width="{px(long)}" height="16" rx="2"/>')
        out.append(text(long + 8, top + 31.5, row.words, kind="value"))
    return _whole(out, 46.0 * len(rows) - 6.0, label)
