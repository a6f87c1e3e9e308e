"""Theorem 1 in words: every number and every verdict in this text comes from the results."""

from __future__ import annotations

import numpy as np

from ..document import Document
from .read import (
    LEAST_END,
    LEAST_ERROR,
    Exponent,
    Setting,
    below_for_good,
    curves,
    exponent,
    flattest,
    ratios,
    settings,
    steeper,
    together,
)

_THREE = ("ror", "cg", "cg-open-loop")
#: The oracles compared: exact, the theorem's error, ten times that, and one that stays.
WORST: tuple[tuple[str, dict[str, float]], ...] = (
    ("exact", {}),
    ("worst", {"factor": 1.0}),
    ("worst", {"factor": 10.0}),
    ("worst", {"fixed": 0.01}),
)

_HEAD = """## Theorem 1

**The paper claims** that Algorithm 2 (ROR-CG), with η_t = 18/(t + 8) and eigenvectors to an additive error ξ_t, has
E[f(X_t) − f*] below each of three bounds: 54β/(t + 8), (270·2^¼ β√r/(α^¼(t + 8)))^(4/3) and 52488 β²/(αλ²(t + 8)²),
where r is the rank of the optimum X* and λ its least non-zero eigenvalue (a rank-one X* has λ = 1 and no other).

**Measured:** {count} settings, d = {d}, {steps:,} steps, {seeds} seeds of ROR-CG and {rivals} of each CG{long}. Every
seed draws its own problem, with the r, λ, α and β of the setting: one bound is for all of them. f(X) = ½‖X − A‖² has
α = β = 1; X* is held on its face by a gradient ("face") or is A itself ("centre": the gradient vanishes there).
"weighted" is ½ Σ wᵢⱼ(Xᵢⱼ − Aᵢⱼ)² on a face, with weights from α to β = 1. f* is known by construction; the certified
gap of X* is at most {proof:.0e}. All three methods get exact eigenvectors here; what an error ξ does comes below.
"""
_BELOW_TABLE = """
Exponents: least squares on log(mean error) against log t over the last decade of t before the mean error is below
{least:.0e} (or the run ends), with the central 95 % of a bootstrap over seeds; – where the error is that small before
t = {end}. A curve that bends down has no exponent: one well above 2 says that the error falls faster than a power.
"""
_FOLLOWS = """**What follows.** The bounds {verdict} in all settings: the mean error is at most {largest:.2g} of one.
They are loose. The second is below the first only for t > 67,000 r²β/α and the third only for t > 972 β/(αλ²), which
within these steps is the case in {second} and in {third} of {count} settings; and the mean error of CG is below all
three, too, in {pass_cg} (line search) and {pass_open} (open loop) of {count}. So the bounds do not tell the methods
apart; the measured decay does.

For rank ≥ 3 ROR-CG's exponent is larger than that of CG with line search, which zigzags, in {over_cg} of {large}
settings. It is larger than that of CG with open-loop steps 2/(t + 2) in {over_open} of {large}. Those steps need
neither β nor a search, and their median exponent here is {typical:.2f}, where the best that the paper proves for ROR-CG
is 2 and nothing beyond 1 is proved for CG. ROR-CG starts late, with one atom up to t = 10 and no more than (t + 8)/9
after that; at the end its mean error is below open-loop CG's in {ahead} of {large} settings (last column).
"""
_WAITS = """
No atom of Algorithm 2 weighs less than 9/(t + 8), so an eigenvalue λ cannot have an atom of its own before t ≈ 9/λ;
until then an error of the order of λ² remains. Mean error of ROR-CG at the end, in units of λ²: {rest}. A run that ends
before 9/λ measures that wait, not the decay, so {left} left out of the count above: {waits}.{flat}
"""
_FLAT = """ What
exponent is measured for a small λ depends on where one looks: in its slowest decade ROR-CG has {flat}."""
_ACCURACY = """
### The accuracy of the eigenvectors

The theorem lets every eigenvector miss by ξ_t = β·min(9/(t + 8), 8748/(t + 8)²), a sixth of its smallest bound at safe
constants. Here each misses by all that is allowed: its Rayleigh quotient is λ_max − ξ exactly.

| setting | eigenvectors | largest mean error / bound, each of the three | exponent | mean error at the end | that / ξ |
|---|---|---|---|---|---|
"""
_ACCURACY_FOLLOWS = """
What is allowed is what one gets: the mean error ends at {low:.2g} to {high:.2g} times ξ, so the fast decay above is
that of exact eigenvectors, not of all that the theorem allows. With the theorem's own ξ_t the bounds {kept}; with ten
times that, which the theorem does not cover, the first one {broken}. A fixed ξ ends the descent near ξ, and 54β/(t + 8)
falls below any ξ (below 0.01 at t = 5,392).
"""
_ASKED = """
What the library's own search makes of it where it may stop early ({label}, d = {d}, {seeds} seeds, {steps} steps; up to
d = 200 Algorithm 2 gets eigenvectors that are exact but for rounding):

| asked for | error made / asked for, mean | largest | products a step | mean error at the end |
|---|---|---|---|---|
"""


_ASKED_FOLLOWS = """
Asked for rounding level in place of ξ_t, the search spends {more:.0f} products a step in place of {less:.0f}, and the
mean error at the end is {low} in place of {high}: ξ_t saves little and costs the decay.
"""


def text(document: Document) -> str:
    """The section of the page."""
    shown = settings(document, oracle="exact")
    own, rival = (curves(document, shown[0], method) for method in ("ror", "cg"))
    longer = [curves(document, setting, "ror") for setting in shown if setting.long]
    head = _HEAD.format(
        count=sum(not setting.long for setting in shown),
        long=f"; {len(longer)} of them also to t = {longer[0].steps[-1]:,}, {longer[0].seeds} seeds" if longer else "",
        d=shown[0].d,
        steps=int(own.steps[-1]),
        seeds=own.seeds,
        rivals=rival.seeds,
        proof=max(run.outcome["proof"] for run in document.runs),
    )
    return (
        "\n".join([head, _table(document, shown), _follows(document, shown)]) + _accuracy(document) + _asked(document)
    )


def oracle_words(oracle: str, factor: float = 1.0, fixed: float | None = None) -> str:
    """What an oracle is, in a table."""
    if oracle == "exact":
        return "exact"
    much = f"ξ = {fixed:g}" if fixed is not None else "ξ_t" if factor == 1.0 else f"{factor:g} ξ_t"
    return f"every error is {much}" if oracle == "worst" else much if factor else "rounding level"


# ------------------------------------------------------------------------------------------------------- the theorem


def _table(document: Document, shown: list[Setting]) -> str:
    names = "ROR-CG | CG, line search | CG, open loop"
    lines = [
        f"| setting | largest mean error / bound, each of the three | exponent: {names} | error at the end: {names}"
        " | ROR-CG below open loop from t = |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for setting in shown:
        found = [curves(document, setting, method) for method in _THREE]
        shares = ", ".join(f"{share:.2g}" for share, _ in ratios(document, setting, found[0]))
        fits = " | ".join(_fit(exponent(each)) for each in found)
        ends = " | ".join(_error(each.mean[-1]) for each in found)
        since = below_for_good(found[0], found[2])
        lines.append(f"| {setting.label} | {shares} | {fits} | {ends} | {since or 'not by the end'} |")
    return "\n".join(lines) + "\n" + _BELOW_TABLE.format(least=LEAST_ERROR, end=LEAST_END)


def _follows(document: Document, shown: list[Setting]) -> str:
    found = {(s, m): curves(document, s, m) for s in shown for m in _THREE}
    worst = {key: max(share for share, _ in ratios(document, key[0], each)) for key, each in found.items()}
    fits = {key: exponent(each) for key, each in found.items()}
    large = [s for s in shown if s.rank >= 3 and not s.waits]
    over = {m: sum(bool(steeper(fits[s, "ror"], fits[s, m])) for s in large) for m in _THREE}
    slopes = [fit.value for s in large if (fit := fits[s, "cg-open-loop"]) is not None]
    largest = max(worst[s, "ror"] for s in shown)
    follows = _FOLLOWS.format(
        verdict="hold" if largest <= 1 else "do NOT hold",
        largest=largest,
        second=sum(67_494 * s.rank**2 / s.alpha - 8 < s.steps for s in shown),
        third=sum(972 / (s.alpha * s.least**2) - 8 < s.steps for s in shown),
        count=len(shown),
        pass_cg=sum(worst[s, "cg"] <= 1 for s in shown),
        pass_open=sum(worst[s, "cg-open-loop"] <= 1 for s in shown),
        over_cg=over["cg"],
        over_open=over["cg-open-loop"],
        large=len(large),
        typical=np.median(slopes) if slopes else np.nan,
        ahead=sum(below_for_good(found[s, "ror"], found[s, "cg-open-loop"]) is not None for s in large),
    )
    rest = [f"{found[s, 'ror'].mean[-1] / s.least**2:.2g} ({s.label})" for s in shown if s.least <= 0.01]
    waits = [f"{s.label} ({_fit(fits[s, 'ror'])} against {_fit(fits[s, 'cg'])})" for s in shown if s.waits]
    left = "this setting is" if len(waits) == 1 else "these settings are"
    if not waits:
        return follows
    resting = {s: flattest(found[s, "ror"]) for s in shown if s.long}
    flat = [
        f"{fit.value:.2f} (t = {fit.first}–{fit.last}; CG with line search there "
        f"{_fit(exponent(found[s, 'cg'], fit.last))}; {s.label})"
        for s, fit in resting.items()
        if fit is not None
    ]
    words = _FLAT.format(flat=", ".join(flat)) if flat else ""
    return follows + _WAITS.format(rest="; ".join(rest), waits="; ".join(waits), left=left, flat=words)


# ------------------------------------------------------------------------------------------------------ the accuracy


def _accuracy(document: Document) -> str:
    lines, ends, worst = [], list[float](), dict[tuple[Setting, int], float]()
    for setting in settings(document, oracle="worst"):
        for place, (oracle, accuracy) in enumerate(WORST):
            found = curves(document, setting, "ror", oracle, **accuracy)
            shares = [share for share, _ in ratios(document, setting, found)]
            worst[setting, place] = max(shares)
            late = found.steps[-1] + 8.0
            allowed = accuracy.get("fixed", accuracy.get("factor", 0.0) * min(9.0 / late, 8748.0 / late**2))
            columns = [setting.label, oracle_words(oracle, **accuracy), ", ".join(f"{share:.2g}" for share in shares)]
            columns += [_fit(exponent(found)), _error(found.mean[-1])]
            ends += [float(found.mean[-1] / allowed)] if allowed else []
            lines.append(f"| {' | '.join([*columns, f'{ends[-1]:.2f}' if allowed else '–'])} |\n")
    kept = max(value for (_, place), value in worst.items() if place == 1)
    tenfold = [value for (_, place), value in worst.items() if place == 2]
    follows = _ACCURACY_FOLLOWS.format(
        low=min(ends),
        high=max(ends),
        kept=f"hold (at most {kept:.2g})" if kept <= 1 else f"do NOT hold ({kept:.2g})",
        broken=f"is exceeded in {sum(value > 1 for value in tenfold)} of {len(tenfold)} settings, by up to "
        f"{max(tenfold):.2g} times"
        if max(tenfold) > 1
        else f"holds still ({max(tenfold):.2g})",
    )
    return _ACCURACY + "".join(lines) + follows


def _asked(document: Document) -> str:
    (setting,) = settings(document, oracle="asked")
    lines, spent, ends = [], list[float](), list[float]()
    for accuracy in ({"factor": 0.0}, {"factor": 1.0}, {"factor": 10.0}, {"fixed": 0.01}):
        runs = document.find(oracle="asked", **accuracy)
        found = curves(document, setting, "ror", "asked", **accuracy)
        asked, made, products = (together(runs, name) for name in ("asked", "made", "products"))
        seen = np.isfinite(asked) & (asked > 0)
        share = made[seen] / asked[seen]
        shares = f"{share.mean():.2g} | {share.max():.2g}" if share.size else "– | –"
        spent.append(float(np.nanmean(products)))
        ends.append(float(found.mean[-1]))
        lines.append(f"| {oracle_words('asked', **accuracy)} | {shares} | {spent[-1]:.0f} | {_error(ends[-1])} |\n")
    head = _ASKED.format(label=setting.label, d=setting.d, seeds=found.seeds, steps=setting.steps)
    cheap = spent[0] < 2 * spent[1] and ends[0] < 0.1 * ends[1]
    words = {"more": spent[0], "less": spent[1], "low": _error(ends[0]), "high": _error(ends[1])}
    return head + "".join(lines) + (_ASKED_FOLLOWS.format(**words) if cheap else "")


def _fit(found: Exponent | None) -> str:
    return "–" if found is None else str(found)


def _error(value: float) -> str:
    return f"{value:.1e}" if value > LEAST_ERROR else f"< {LEAST_ERROR:.0e}"
