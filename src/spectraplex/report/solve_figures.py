"""The figures of the solve: how it went, what is certified of it, which radii were tried, and what was found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import svg as svg
from .figures import MOST, Figure
from .scores import Judged
from .words import counted, percent, shown


def convergence(model: Any) -> Figure | None:
    """The value at every step, and from where on something was certified, the band that holds the optimum."""
    history = model.history_.as_dict()
    steps, value, lower = history["step"].astype(float), history["value"], history["lower_bound"]
    sure = np.isfinite(lower)
    if value.size < 2 or not value.max() > 0:
        return None
    if steps.size > MOST:
        kept = np.unique(np.linspace(0, steps.size - 1, MOST).round().astype(int))
        steps, value, lower, sure = steps[kept], value[kept], lower[kept], sure[kept]
    bottom = float(min(value.min(), lower[sure].max())) if sure.any() else float(value.min())
    top = float(value.max())
    room = 0.08 * (top - bottom)
    whole = tuple((float(s), shown(int(s))) for s in svg.even_ticks(steps[0], steps[-1]) if s == int(s))
    names = ("steps of the solver", "value of the objective")
    view = svg.frame((float(steps[0]), float(steps[-1])), (bottom - room, top + room), names, ticks=whole)
    parts = []
    if sure.any():
        bound = float(lower[sure].max())
        first = int(np.argmax(sure))
        low = np.maximum(lower[first:], bottom - room)
        if value.size - first > 1:
            parts.append(svg.band(view, steps[first:], low, value[first:]))
        else:
            parts.append(svg.band(view, steps[[0, -1]], np.full(2, bound), np.full(2, float(value[-1]))))
        parts.append(svg.rule(view, y=bound, words="no fit lies below this line", low=False))
    hints = [f"step {int(s)}: {shown(v, 6)}" for s, v in zip(steps, value, strict=True)]
    parts += [svg.line(view, steps, value)]
    if steps.size <= 40:
        parts.append(svg.dots(view, steps, value, hints))
    label = f"The objective falls from {shown(value[0])} to {shown(value[-1])} in {counted(int(steps[-1]), 'step')}."
    keys = (("line", "value of the fit"), ("band", "the optimum is in here"))
    return Figure(
        "The last solve, step by step", svg.drawing(view, parts, label), keys=keys if sure.any() else keys[:1]
    )


def gaps(model: Any) -> Figure | None:
    """The certified gap, where it was certified often enough to be a curve."""
    history = model.history_.as_dict()
    gap, steps = history["gap"], history["step"].astype(float)
    sure = np.isfinite(gap) & (gap > 0)
    if sure.sum() < 3:
        return None
    xs, ys = steps[sure], gap[sure] / max(abs(float(model.certificate_.value)), 1e-300) * 100.0
    if xs.size > MOST:
        kept = np.unique(np.linspace(0, xs.size - 1, MOST).round().astype(int))
        xs, ys = xs[kept], ys[kept]
    names = ("steps of the solver", "certified gap, % of the value")
    view = svg.frame((float(xs[0]), float(xs[-1])), (float(ys.min()), float(ys.max())), names, log=(False, True))
    hints = [f"step {int(x)}: {shown(y, 3)} %" for x, y in zip(xs, ys, strict=True)]
    parts = [svg.line(view, xs, ys, "line two"), svg.dots(view, xs, ys, hints, "dot two")]
    label = f"The certified gap falls from {shown(ys[0], 3)} % to {shown(ys[-1], 3)} % of the value."
    return Figure("Certified gap", svg.drawing(view, parts, label))


def certificate(model: Any, alone: float) -> Figure | None:
    """From the value of intercepts alone down to the value reached, and to the bound below it."""
    found = model.certificate_
    if not math.isfinite(found.lower_bound) or not alone > 0 or not found.value < alone:
        return None
    low = max(found.lower_bound, 0.0)
    what = "intercepts alone" if model.intercepts else "predicting zero everywhere"
    rows = (
        svg.Bar(what[0].upper() + what[1:], alone, shown(alone), "bar pale"),
        svg.Bar("This fit", found.value, shown(found.value)),
        svg.Bar("No fit with this radius can be below", low, shown(found.lower_bound), "bar two"),
    )
    label = f"Objective values: {what} {shown(alone)}, this fit {shown(found.value)}, bound {shown(found.lower_bound)}."
    return Figure("Where this fit stands", svg.lying(rows, label), "Values of the objective; less is better.")


def path(model: Any, judge: Judged, measure: str) -> Figure | None:
    radius, score = model.path_["radius"], model.path_["score"]
    if radius.size < 2:
        return None
    line = next((each.errors[0] for each in judge.others if each.name == "Biases"), None)
    low, high = float(score.min()), float(score.max())
    if judge.how != "validation" or line is None or line > high + 2.0 * (high - low):
        line = None  # another split, or so far off that the path would be flat beside it
    high = max(high, line or high)
    room = 0.12 * (high - low) or 0.05 * abs(high)
    names = ("radius (logarithmic)", f"validation {measure}")
    view = svg.frame((float(radius[0]), float(radius[-1])), (low - room, high + room), names, log=(True, False))
    best = int(np.argmin(score))
    hints = [
        f"radius {shown(r)}: {shown(s, 5)}, rank {int(k)}"
        for r, s, k in zip(radius, score, model.path_["rank"], strict=True)
    ]
    parts = [] if line is None else [svg.rule(view, y=line, words="biases alone", low=True)]
    parts += [svg.rule(view, x=float(radius[best]), words=f"chosen: {shown(radius[best])}")]
    parts += [svg.line(view, radius, score), svg.dots(view, radius, score, hints)]
    parts += [svg.dots(view, radius[[best]], score[[best]], [hints[best]], "ring", [8.0])]
    label = f"Validation {measure} against radius; least, {shown(score[best])}, at radius {shown(radius[best])}."
    return Figure("Choosing the radius", svg.drawing(view, parts, label))


def singular(model: Any) -> Figure | None:
    s = np.asarray(model.s_, float)
    if not s.size:
        return None
    shares, places = np.cumsum(s) / s.sum(), np.arange(1, s.size + 1)
    half = int(np.argmax(shares >= 0.5)) + 1
    ticks = tuple((float(t), shown(int(t))) for t in svg.even_ticks(1, max(s.size, 2)) if t == int(t) and t >= 1)
    ticks = ticks if s.size > 8 else tuple((float(k), str(k)) for k in places)
    view = svg.frame((0.4, max(s.size, 6) + 0.6), (0, float(s[0]) * 1.05), ("number", "singular value"), ticks=ticks)
    if s.size <= 80:
        edges = [np.array([k - 0.4, k + 0.4]) for k in places]
        hints = [
            f"number {k}: {shown(v)}, {percent(c)} with those before" for k, v, c in zip(places, s, shares, strict=True)
        ]
        parts = [svg.bars(view, e, np.array([v]), [h]) for e, v, h in zip(edges, s, hints, strict=True)]
    else:
        kept = np.unique(np.linspace(0, s.size - 1, MOST).round().astype(int))
        parts = [svg.line(view, places[kept], s[kept])]
    label = f"{s.size} singular values, from {shown(s[0])} down to {shown(s[-1])}."
    whose = "the first" if half == 1 else f"the first {half}"
    words = f"Half of their sum is in {whose}." if s.size > 1 else ""
    return Figure("Singular values", svg.drawing(view, parts, label), words)
