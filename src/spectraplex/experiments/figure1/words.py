"""figure1 for people: its table, its pictures, its sentences and its claims, from raw results alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import data
from ..claims import Claim
from ..document import Document
from .names import label, title
from .read import HYBRID, Setting, best_ror, crossing, curves, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: f after 300 eigenvectors in THEORY's table lies this much closer to f* than CG's, on 100k at 2500.
ADAPTIVE_OVER_CG = 25.0


def rows(document: Document) -> Iterator[dict[str, Any]]:
    """One line per setting, method and number of eigenvectors: mean and extremes over the seeds."""
    for setting in settings(document):
        reference = setting.reference(document)
        for method in setting.methods(document):
            found = curves(document, setting, method)
            for place, t in enumerate(found.eigenvectors):
                if t > 30 and t % 5 and t != found.eigenvectors[-1]:
                    continue
                last = t == found.eigenvectors[-1]
                yield {
                    **setting.__dict__,
                    "method": method,
                    "eigenvectors": int(t),
                    "value_mean": found.mean[place],
                    "value_min": found.values[:, place].min(),
                    "value_max": found.values[:, place].max(),
                    "products_mean": found.products[:, place].mean(),
                    "seconds_mean": found.seconds[:, place].mean(),
                    "atoms_mean": found.atoms[:, place].mean(),
                    "certified_gap_mean": found.gaps.mean() if last else "",
                    "lower_bound": reference["lower_bound"],
                }


# --------------------------------------------------------------------------------------------------------- pictures


def draw(document: Document) -> dict[str, Figure]:
    from .figures import panels

    return {
        "figure1": panels(document, "eigenvectors", centred=False),
        "figure1-centred": panels(document, "eigenvectors", centred=True),
        "figure1-seconds": panels(document, "seconds", centred=False),
        "figure1-atoms": panels(document, "atoms", centred=False),
    }


# ------------------------------------------------------------------------------------------------------------ words


def text(document: Document) -> str:
    """What was seen, setting by setting."""
    parts = [
        "## Figure 1",
        "The paper's figure shows ROR-CG below CG and Away-CG on matrix completion, at equal numbers of leading "
        "eigenvectors. Its ratings, its θ (10000 and 30000) and 5 runs are used here. θ is read both ways, as the "
        "radius of the nuclear-norm ball and as the trace upstairs (radius θ/2), and a radius at which the constraint "
        "is clearly active joins them; all with the ratings as they are (figure1) and less their mean "
        "(figure1-centred). The lower bound that curves are drawn above is certified. Values are means over "
        f"{_seeds(document)} seeds, ± half of their range; the certified gap is what a run proves of its last point by "
        "itself. The hybrid method is given the products that CG spent.",
    ]
    if any(setting.source == data.GENERATED for setting in settings(document)):
        parts.append("**These are generated tables, not MovieLens: nothing here is about the paper's data.**")
    for setting in settings(document):
        mean = "less their mean" if setting.centred else "as they are"
        parts.append(f"### {title(setting)} (θ read as {_reading(setting)}), ratings {mean}")
        parts += [_table(document, setting), _sentences(document, setting)]
    return "\n\n".join(parts) + "\n"


def _seeds(document: Document) -> int:
    return len(document.distinct("seed", kind="curve"))


def _reading(setting: Setting) -> str:
    words = {"radius": "the radius", "trace": "a trace", "active": "neither: clearly active"}
    return words[setting.reading]


def _table(document: Document, setting: Setting) -> str:
    bound = setting.reference(document)["lower_bound"]
    head = ["method", "f", "f − lower bound", "certified gap", "atoms", "products", "seconds"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for method in setting.methods(document):
        found = curves(document, setting, method)
        cells = [
            label(method),
            f"{found.last:.1f} ± {found.spread:.1f}",
            f"{found.last - bound:.4g}",
            f"{found.gaps.mean():.4g}",
            f"{found.atoms[:, -1].mean():.0f}",
            f"{found.products[:, -1].mean():,.0f}",
            f"{found.seconds[:, -1].mean():.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _sentences(document: Document, setting: Setting) -> str:
    """Who wins, by how much, at which step it crosses."""
    reference = setting.reference(document)
    bound = reference["lower_bound"]
    found = {method: curves(document, setting, method) for method in setting.methods(document)}
    racing = [method for method in found if method != HYBRID]
    first, second = sorted(racing, key=lambda method: found[method].last)[:2]
    steps = found[first].mean.size
    times = (found[second].last - bound) / max(found[first].last - bound, 1e-300)
    words = [
        f"f* lies between {bound:.6g} and {reference['value']:.6g}. After {steps} eigenvectors {label(first)} is "
        f"lowest, {times:.3g} times closer to the bound than the next, {label(second)}."
    ]
    best = best_ror(document, setting)
    against = (found[best].last - bound) / max(found["cg"].last - bound, 1e-300)
    since = crossing(found[best], found["cg"])
    if since is None:
        words.append(f"No form of ROR-CG ends below CG: the best, {label(best)}, ends {against:.3g} times as far away.")
    else:
        crossed = "from the first eigenvector on" if since == 1 else f"from eigenvector {since} on"
        words.append(
            f"The best form of ROR-CG, {label(best)}, is below CG {crossed} and ends {1 / against:.3g} times closer."
        )
    hybrid = (found["cg"].last - bound) / max(found[HYBRID].last - bound, 1e-300)
    ends = f"{hybrid:.3g} times closer than" if hybrid >= 1.0 else f"{1 / hybrid:.3g} times as far away as"
    words.append(f"With CG's products the hybrid method ends {ends} CG.")
    return " ".join(words)


# ----------------------------------------------------------------------------------------------------------- claims


def claims(document: Document) -> list[Claim]:
    """What must hold, and what the paper says."""
    found: list[Claim] = []
    for setting in settings(document):
        if setting.centred:
            continue
        if setting.reading == "active":
            found.append(_ordering(document, setting))
            if setting.data == "100k":  # on a random half of 1M the order is all that was ever claimed
                found.append(_factor(document, setting))
        if setting.reading == "trace":
            found.append(_best_form(document, setting, required=True))
        if setting.reading == "radius":
            found.append(_best_form(document, setting, required=False))
    return found


def _undecided(setting: Setting) -> str | None:
    return "these results are of a generated table" if setting.source == data.GENERATED else None


def _ordering(document: Document, setting: Setting) -> Claim:
    last = {method: curves(document, setting, method).last for method in ("ror-adaptive", "cg", "away")}
    statement = "after all eigenvectors adaptive ROR-CG < CG < Away-CG"
    measured = " < ".join(
        f"{label(name)} {value:.1f}" for name, value in sorted(last.items(), key=lambda each: each[1])
    )
    why = _undecided(setting)
    if why:
        return Claim(title(setting), statement, why, None)
    return Claim(title(setting), statement, measured, last["ror-adaptive"] < last["cg"] < last["away"])


def _factor(document: Document, setting: Setting) -> Claim:
    best = setting.reference(document)
    statement = f"f − f* of adaptive ROR-CG is at least {ADAPTIVE_OVER_CG:g} times below CG's"
    ours, theirs = (curves(document, setting, method).last for method in ("ror-adaptive", "cg"))
    # of all that f* can be, the lower bound is the safe end: it makes both distances too large, ours relatively more
    times = (theirs - best["lower_bound"]) / (ours - best["lower_bound"])
    measured = f"{times:.3g} times ({ours - best['lower_bound']:.3g} against {theirs - best['lower_bound']:.3g})"
    why = _undecided(setting)
    return Claim(title(setting), statement, why or measured, None if why else times >= ADAPTIVE_OVER_CG)


def _best_form(document: Document, setting: Setting, required: bool) -> Claim:
    best = best_ror(document, setting)
    last = {method: curves(document, setting, method).last for method in (best, "cg", "away")}
    reading = "the trace upstairs" if required else "the radius"
    statement = f"ROR-CG in its best stated form ends below CG and Away-CG, θ read as {reading}"
    measured = ", ".join(f"{label(name)} {value:.1f}" for name, value in last.items())
    why = _undecided(setting)
    holds = None if why else last[best] < min(last["cg"], last["away"])
    return Claim(title(setting), statement, why or measured, holds, ours=required)
