"""The figures of the report; each is a ``Figure``, or None where there is nothing to see."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import svg as svg
from ..places.numpy import Array
from .facts import Fit, Glance, Side
from .scores import Judged, lowest
from .words import counted, percent, shown

_BARS = 32  # of a histogram
MOST = 160  # points of a curve


@dataclass(frozen=True)
class Figure:
    """A drawing with the title above it and the words below it; ``keys`` explain its colours."""

    title: str
    drawing: str
    caption: str = ""
    keys: tuple[tuple[str, str], ...] = ()


# ------------------------------------------------------------------------------------------------------------ data


def values(data: Glance) -> Figure:
    """How often every value was observed."""
    distinct, times = np.unique(data.values, return_counts=True)
    if distinct.size <= 24:
        gap = float(np.diff(distinct).min()) if distinct.size > 1 else 1.0
        span = (float(distinct[0]) - 0.6 * gap, float(distinct[-1]) + 0.6 * gap)
        few = distinct[:: math.ceil(distinct.size / 9)]
        ticks = tuple((float(v), f"{v:.6g}".replace("-", "−")) for v in few)
        view = svg.frame(span, (0, float(times.max()) * 1.05), ("value", "observations"), ticks=ticks)
        each = [f"{v:.6g}: {counted(int(n), 'observation')}" for v, n in zip(distinct, times, strict=True)]
        parts = [
            svg.bars(view, np.array([v - 0.4 * gap, v + 0.4 * gap]), np.array([n]), [hint])
            for v, n, hint in zip(distinct, times, each, strict=True)
        ]
        most = distinct[int(times.argmax())]
        label = f"Bar chart of {distinct.size} distinct values; the most frequent is {most:g}."
        return Figure("Observed values", svg.drawing(view, parts, label))
    times, edges = np.histogram(data.values, bins=_BARS)
    return Figure("Observed values", _histogram(edges, times, ("value", "observations")))


def per(side: Side) -> Figure | None:
    """How many rows (or columns) have so many observations."""
    counts = side.counts
    low, high = int(counts.min()), int(counts.max())
    if low == high:
        return None
    wide = high > 12 * low
    raw = np.geomspace(low, high + 1, 21) if wide else np.linspace(low, high + 1, min(_BARS, high - low + 1) + 1)
    edges = np.unique(raw.round())
    times, edges = np.histogram(counts, bins=edges)
    names = (f"observations in one {side.name}" + (" (logarithmic)" if wide else ""), f"{side.name}s")
    return Figure(f"Observations per {side.name}", _histogram(edges, times, names, log=wide, whole=True))


def unevenness(data: Glance) -> Figure | None:
    """The share of the observations that the busiest rows, and the busiest columns, have."""
    view = svg.frame((0, 100), (0, 100), ("% of rows or columns, busiest first", "% of the observations"))
    parts, keys, words = [svg.line(view, np.array([0, 100]), np.array([0, 100]), "rule")], [], []
    for side, kind in ((data.rows, "line"), (data.columns, "line two")):
        counts = np.sort(side.counts)[::-1]
        if counts.size < 3 or counts[0] == counts[-1]:
            continue
        held = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
        kept = np.unique(np.linspace(0, counts.size, 60).round().astype(int))
        parts.append(svg.line(view, 100.0 * kept / counts.size, 100.0 * held[kept], kind))
        keys.append((kind, f"{side.name}s"))
        half = int(np.argmax(held >= 0.5))
        words.append(f"{percent(half / counts.size)} of the {side.name}s")
    if not keys:
        return None
    caption = f"Half of all observations are in {' and in '.join(words)}."
    return Figure("How uneven it is", svg.drawing(view, parts, caption), caption, tuple(keys))


def _histogram(edges: Array, times: Array, names: tuple[str, str], log: bool = False, whole: bool = False) -> str:
    view = svg.frame((float(edges[0]), float(edges[-1])), (0, 1.05 * float(times.max())), names, log=(log, False))
    hints = []
    for a, b, n in zip(edges[:-1], edges[1:], times, strict=True):
        ends = f"{shown(int(a))}" if whole and b - a <= 1 else f"{shown(a)} to {shown(b - 1 if whole else b)}"
        hints.append(
            f"{ends if not whole or b - a <= 1 else f'{int(a):,} to {int(b) - 1:,}'}: {shown(int(n))} {names[1]}"
        )
    top = int(times.argmax())
    label = f"Histogram of {names[0]}, from {shown(edges[0])} to {shown(edges[-1])}; most {names[1]} at {hints[top]}."
    return svg.drawing(view, [svg.bars(view, edges, times, hints)], label)


# ------------------------------------------------------------------------------------------------ fit and mistakes


def residuals(model: Any, fit: Fit, judge: Judged) -> Figure | None:
    """Observed less predicted: what was fitted, and over it what was held out; probabilities for the logistic loss."""
    seen = model.observations_
    if model.loss == "logistic":
        return _probabilities(model, fit)
    parts = [fit.residuals]
    if judge.observed is not None and judge.predicted is not None:
        parts.append(judge.observed - judge.predicted)
    reach = max(float(np.quantile(np.abs(part), 0.999)) for part in parts)
    if not reach > 1e-12 * (abs(model.range_[0]) + abs(model.range_[1])):
        return None
    edges = np.linspace(-reach, reach, _BARS + 2)  # an odd number of bars: zero is in the middle of one
    shares = [np.histogram(np.clip(part, -reach, reach), bins=edges)[0] / part.size for part in parts]
    view = svg.frame(
        (-reach, reach),
        (0, 105.0 * max(float(share.max()) for share in shares)),
        ("observed − predicted", "% of observations"),
    )
    hints = [
        f"{shown(a, 3)} to {shown(b, 3)}: {percent(s)}"
        for a, b, s in zip(edges[:-1], edges[1:], shares[0], strict=True)
    ]
    drawn = [svg.bars(view, edges, 100.0 * shares[0], hints)]
    keys: tuple[tuple[str, str], ...] = ()
    if len(parts) > 1:
        drawn.append(svg.outline(view, edges, 100.0 * shares[1]))
        keys = (("bar", "fitted observations"), ("line two", "held-out observations"))
    within = float(np.quantile(np.abs(parts[-1]), 0.9))
    whose = "held-out" if len(parts) > 1 else "fitted"
    label = (
        f"Histogram of residuals of {len(seen)} fitted observations, between {shown(-reach, 3)} and {shown(reach, 3)}."
    )
    words = f"Nine in ten {whose} observations lie within ±{shown(within, 3)} of their prediction."
    return Figure("Residuals", svg.drawing(view, drawn, label), words, keys)


def _probabilities(model: Any, fit: Fit) -> Figure:
    low = lowest(model)
    chance = (fit.predicted - low) / (1.0 - low)
    high = model.observations_.values > low
    edges = np.linspace(0, 1, 21)
    ones, zeros = (np.histogram(chance[which], bins=edges)[0] / max(chance.size, 1) for which in (high, ~high))
    top = 105.0 * max(float(ones.max()), float(zeros.max()))
    view = svg.frame((0, 1), (0, top), ("predicted probability of 1", "% of observations"))
    hints = [f"{a:.2f} to {b:.2f}: {percent(s)}" for a, b, s in zip(edges[:-1], edges[1:], ones, strict=True)]
    drawn = [svg.bars(view, edges, 100.0 * ones, hints), svg.outline(view, edges, 100.0 * zeros)]
    keys = (("bar", "observed 1"), ("line two", f"observed {low:g}".replace("-", "−")))
    label = "Histogram of predicted probabilities, for observed ones and for the others."
    return Figure("Predicted probabilities", svg.drawing(view, drawn, label), keys=keys)


def calibration(model: Any, fit: Fit, judge: Judged) -> Figure | None:
    """The mean of what was observed where so much was predicted."""
    seen = model.observations_
    groups = [("dot", "fitted", fit.predicted, seen.values)]
    if judge.observed is not None and judge.predicted is not None:
        groups.append(("dot two", "held-out", judge.predicted, judge.observed))
    means = [(kind, name, *_binned(predicted, observed)) for kind, name, predicted, observed in groups]
    means = [each for each in means if each[2].size >= 2]
    if not means:
        return None
    low = min(float(min(x.min(), y.min())) for _, _, x, y, _ in means)
    high = max(float(max(x.max(), y.max())) for _, _, x, y, _ in means)
    room = 0.06 * (high - low) or 1.0
    low, high = low - room, high + room
    view = svg.frame((low, high), (low, high), ("predicted", "observed, mean"))
    parts = [svg.line(view, np.array([low, high]), np.array([low, high]), "rule")]
    for kind, name, x, y, n in means:
        hints = [
            f"{name}: predicted {shown(a, 3)}, observed {shown(b, 3)} ({int(c):,})"
            for a, b, c in zip(x, y, n, strict=True)
        ]
        parts.append(svg.dots(view, x, y, hints, kind))
    keys = tuple((kind, f"{name} observations") for kind, name, *_ in means) if len(means) > 1 else ()
    label = "Mean observed value against predicted value, in groups of equal size, beside the diagonal."
    words = (
        "Each point is a group of observations, equally many in each, by predicted value. On the dashed line "
        "predictions are right on average; steeper than the line, they are held back towards the mean."
    )
    return Figure("Predicted and observed", svg.drawing(view, parts, label), words, keys)


def _binned(predicted: Array, observed: Array) -> tuple[Array, Array, Array]:
    order = np.argsort(predicted, kind="stable")
    pieces = [piece for piece in np.array_split(order, 20) if piece.size]
    x = np.array([predicted[piece].mean() for piece in pieces])
    y = np.array([observed[piece].mean() for piece in pieces])
    return x, y, np.array([piece.size for piece in pieces])


def parts_of(model: Any, fit: Fit) -> Figure | None:
    """How much every part of a prediction moves it."""
    if not any(size > 0 for _, size in fit.parts):
        return None
    unit = " (log-odds)" if model.loss == "logistic" else ""
    kinds = {"low-rank part": "bar", "what is left: residuals": "bar two"}
    rows = [
        svg.Bar(name[0].upper() + name[1:], size, shown(size, 3), kinds.get(name, "bar pale"))
        for name, size in fit.parts
    ]
    label = "Typical size of the parts of a prediction: " + ", ".join(
        f"{name} {shown(size, 3)}" for name, size in fit.parts
    )
    words = f"Root mean square over the fitted observations{unit}, beside the offset {shown(model.offset_)}."
    return Figure("What moves a prediction", svg.lying(rows, label + "."), words if model.intercepts else "")


def baselines(judge: Judged) -> Figure | None:
    if len(judge.lines) < 2:
        return None
    rows = [
        svg.Bar(each.name, each.errors[0], shown(each.errors[0]), "bar" if each.ours else "bar pale")
        for each in judge.lines
    ]
    label = f"{judge.measures[0]}: " + ", ".join(f"{each.name} {shown(each.errors[0])}" for each in judge.lines) + "."
    return Figure(f"{judge.measures[0]}, less is better", svg.lying(rows, label))
