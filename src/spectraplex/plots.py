"""Pictures for people: how runs converge, and what a filled-in picture looks like.

Figures are made with matplotlib's object interface: no global state, no display needed, safe in threads.
matplotlib is imported on first use; nothing numerical imports this file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .paths.solutions import Path as SolutionPath
from .places.numpy import Array
from .trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["before_after", "convergence", "plot_path", "save"]

# Okabe and Ito's colours stay apart for colour-blind eyes; each line has its own dashes, too, for grey print.
COLOURS = ("#0072B2", "#E69F00", "#999999", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
_DASHES = ("--", "-.", ":", "-", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 1)), (0, (1, 1)))
_AXES = {
    "step": "steps (one leading eigenvector each)",
    "products": "products (gradient × one vector)",
    "atoms": "atoms kept",
    "seconds": "seconds",
}
INK, _PALE = "#222222", "#DDDDDD"
_WIDTH_INCHES, _DOTS_PER_INCH = 10.0, 140


def __dir__() -> list[str]:
    """The public names, and what every module has."""
    return [*__all__, "__all__", "__doc__", "__file__", "__name__"]


def convergence(
    traces: Mapping[str, Trace],
    *,
    bound: float | None = None,
    best: float | None = None,
    against: Sequence[str] = ("step", "products"),
    title: str = "",
) -> Figure:
    """How far each run is above what the optimum can be, one panel for each kind of cost.

    Parameters
    ----------
    traces : label → trace, such as ``{"CG": result.trace}``; drawn and listed in this order.
    bound : a lower bound on the optimum, subtracted from every value. By default the best certified bound
        that any trace holds; when there is none, the values themselves are drawn.
    best : the smallest value known from anywhere; by default that of the traces. The optimum lies between
        ``bound`` and ``best``: a band on the picture says so, and how far a curve can be trusted.
    against : the panels, from "step", "products", "atoms" and "seconds".
    title : a line above the panels.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``save``, or show it in a notebook by naming it.
    """
    unknown = [name for name in against if name not in _AXES]
    if unknown or not against:
        named = ", ".join(map(repr, unknown)) or "nothing"
        raise ValueError(f"convergence: against names {named}; known: {', '.join(_AXES)}.")
    empty = [label for label, trace in traces.items() if len(trace) == 0]
    if empty or not traces:
        raise ValueError(f"convergence: no records to draw{' for ' + ', '.join(empty) if empty else ''}.")
    columns = {label: trace.as_dict() for label, trace in traces.items()}
    if bound is None:
        bound = max(float(column["lower_bound"].max()) for column in columns.values())
    base = bound if np.isfinite(bound) else 0.0
    lowest = min(float(column["value"].min()) for column in columns.values())
    lowest = lowest if best is None else min(lowest, best)

    figure = blank(_WIDTH_INCHES, 4.6)
    panels = figure.subplots(1, len(against), sharey=True, squeeze=False)[0]
    heights = [column["value"] - base for column in columns.values()]
    positive = np.concatenate([height[height > 0] for height in heights])
    # A logarithmic axis has no place for zero: points at the bound leave it, negative values forbid it.
    logarithmic = positive.size > 0 and (np.isfinite(bound) or lowest > 0)
    for panel, name in zip(panels, against, strict=True):
        for place, (label, column) in enumerate(columns.items()):
            colour, dashes = COLOURS[place % len(COLOURS)], _DASHES[place % len(_DASHES)]
            height = np.where(heights[place] > 0, heights[place], np.nan) if logarithmic else heights[place]
            panel.plot(column[name], height, label=label, color=colour, linestyle=dashes, linewidth=2.2)
            panel.plot(column[name][-1:], height[-1:], "o", color=colour, markersize=5)
        if logarithmic:
            panel.set_yscale("log")
        panel.set_xlabel(_AXES[name])
        panel.set_xlim(left=0)
        panel.xaxis.set_major_formatter("{x:,g}")
        quiet(panel)
    if np.isfinite(bound):
        _band(panels, lowest - base, positive)
    panels[0].set_ylabel("value above the certified bound" if np.isfinite(bound) else "value")
    handles, labels = panels[0].get_legend_handles_labels()
    ncols, where = min(4, len(labels)), "outside lower center"
    figure.legend(handles, labels, loc=where, ncols=ncols, frameon=False, handlelength=3.2)
    if title:
        figure.suptitle(title, color=INK, fontsize=13, x=0.01, ha="left")
    return figure


def plot_path(path: SolutionPath, *, title: str = "") -> Figure:
    """A path along the radius (or λ): its values, the certified gap at and between its points, and the rank."""
    if not len(path):
        raise ValueError("plot_path: the path has no point.")
    columns, name = path.as_dict(), "lam" if path.family.penalized else "radius"
    along = columns[name]
    wide = along.max() > 8 * along.min()
    fine = (np.geomspace if wide else np.linspace)(along.min(), along.max(), 201)
    fine = np.clip(np.unique(np.concatenate([fine, along])), along.min(), along.max())
    values, lower = path.curve(fine)
    figure = blank(_WIDTH_INCHES, 3.6)
    panels = figure.subplots(1, 3)
    panels[0].plot(fine, values, color=COLOURS[0], linewidth=2.0)
    panels[0].plot(along, columns["value"], "o", color=COLOURS[0], markersize=5)
    panels[0].set_ylabel("value")
    share = 100 / np.maximum(np.abs(values), path.promise.floor if path.promise else 0.0)
    panels[1].plot(fine, np.maximum(values - lower, 0.0) * share, color=COLOURS[4], linewidth=2.0)
    if path.promise:
        panels[1].axhline(100 * path.promise.relative, color="#888888", linestyle="--", linewidth=1.2)
        panels[1].annotate("promised", (along.min(), 100 * path.promise.relative), va="bottom", color="#555555")
    panels[1].set_ylabel("certified gap, % of the value")
    panels[2].step(along, columns["rank"], "o-", where="mid", color=COLOURS[3], markersize=5, linewidth=2.0)
    panels[2].set_ylabel("rank")
    for panel in panels:
        panel.set_xlabel("λ" if name == "lam" else "radius")
        if wide:
            panel.set_xscale("log")
            marks = np.geomspace(along.min(), along.max(), 4)
            panel.set_xticks(marks, [f"{mark:.2g}" if mark < 100 else f"{mark:.0f}" for mark in marks])
            panel.minorticks_off()
        if name == "lam" and along.size > 1:
            panel.invert_xaxis()  # solved from large λ to small: both forms loosen to the right
        quiet(panel)
    for panel, lowest in zip(panels, (values.min(), 0.0, 0.0), strict=True):
        panel.set_ylim(bottom=min(float(lowest), 0.0))
    if title:
        figure.suptitle(title, color=INK, fontsize=13, x=0.01, ha="left")
    return figure


def before_after(
    images: Sequence[Any],
    titles: Sequence[str],
    *,
    detail: tuple[int, int, int, int] | None = None,
    title: str = "",
) -> Figure:
    """Pictures side by side, and under them the same detail of each, enlarged.

    Parameters
    ----------
    images : arrays of one shape, (height, width) grey or (height, width, 3) colour, from 0 to 255.
    titles : one for each.
    detail : (top, left, height, width) in pixels of a part to enlarge in a second row.
    title : a line above everything.
    """
    pictures = [np.clip(np.rint(np.asarray(image, dtype=float)), 0, 255).astype(np.uint8) for image in images]
    if not pictures or len(pictures) != len(titles) or len({picture.shape for picture in pictures}) != 1:
        shapes = ", ".join(str(picture.shape) for picture in pictures) or "none"
        raise ValueError(
            f"before_after: image shapes {shapes} and {len(titles)} titles; give one shape, one title each."
        )
    rows = [pictures]
    if detail is not None:
        top, left, high, wide = detail
        rows.append([picture[top : top + high, left : left + wide] for picture in pictures])
    aspects = [row[0].shape[0] / row[0].shape[1] for row in rows]
    cell = _WIDTH_INCHES / len(pictures)
    figure = blank(_WIDTH_INCHES, cell * sum(aspects) + 0.3 + (0.4 if title else 0.0))
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03, wspace=0.0, hspace=0.0)
    grid = figure.subplots(len(rows), len(pictures), squeeze=False, gridspec_kw={"height_ratios": aspects})
    for place, (panels, row) in enumerate(zip(grid, rows, strict=True)):
        for panel, picture, name in zip(panels, row, titles, strict=True):
            # Whole pictures shrink on the page and need smoothing; enlarged pixels must stay pixels.
            smoothing = "nearest" if place else "antialiased"
            panel.imshow(picture, cmap="gray", vmin=0, vmax=255, interpolation=smoothing)
            panel.set_xticks([])
            panel.set_yticks([])
            for spine in panel.spines.values():
                spine.set_visible(False)
            if place == 0:
                panel.set_title(name, color=INK, fontsize=12)
    if detail is not None:
        _frame(grid[0], detail)
    if title:
        figure.suptitle(title, color=INK, fontsize=13)
    return figure


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure to a file; the same figure gives the same bytes in a PNG."""
    place = Path(path)
    # matplotlib would write its own version into the file.
    metadata = {"Software": None} if place.suffix == ".png" else None
    figure.savefig(place, dpi=_DOTS_PER_INCH, metadata=metadata)
    return place


def ready() -> None:
    """Raise ImportError, with the remedy, when pictures cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install matplotlib.") from error


def blank(width: float, height: float) -> Any:
    ready()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def quiet(panel: Any) -> None:
    """Ink where the data is: no box, a pale grid, quiet ticks."""
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color("#888888")
    panel.grid(True, which="major", color=_PALE, linewidth=0.7)
    panel.set_axisbelow(True)
    panel.tick_params(which="both", colors=INK, labelsize=10)
    panel.xaxis.label.set_size(11)
    panel.yaxis.label.set_size(11)


def _band(panels: Any, height: float, positive: Array) -> None:
    """Grey where the optimum may be: no curve can be told from it there."""
    if not positive.size or height <= 0:
        return
    low, high = min(float(positive.min()), height) / 2.5, float(positive.max()) * 1.5
    for panel in panels:
        panel.axhspan(low, height, color="#EFEFEF", zorder=0, linewidth=0)
        panel.set_ylim(low, high)
    panels[0].annotate(
        "the optimum is somewhere in this band",
        (0.02, np.sqrt(low * height)),
        xycoords=panels[0].get_yaxis_transform(),
        va="center",
        fontsize=10,
        color="#555555",
    )


def _frame(panels: Any, detail: tuple[int, int, int, int]) -> None:
    """Show on the whole pictures which part is enlarged below."""
    from matplotlib.patches import Rectangle

    top, left, high, wide = detail
    for panel in panels:
        for colour, width in (("white", 2.4), ("black", 1.0)):  # seen on light ground and on dark
            corner = (left - 0.5, top - 0.5)
            panel.add_patch(Rectangle(corner, wide, high, fill=False, edgecolor=colour, linewidth=width))
