"""What must hold, recomputed from raw results: a claim is a sentence, two numbers and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A statement about results.

    Parameters
    ----------
    where : the setting it is about, e.g. "100k, radius 2500".
    statement : what is claimed, a sentence.
    measured : what the results say, with its numbers.
    holds : the verdict; None where these results cannot decide it (``measured`` then says why).
    ours : False for a statement of the paper that is reported, not required: it never counts as a miss.
    """

    where: str
    statement: str
    measured: str
    holds: bool | None
    ours: bool = True

    @property
    def verdict(self) -> str:
        if self.holds is None:
            return "not judged"
        if self.holds:
            return "holds"
        return "MISSED" if self.ours else "does not hold"


def missed(claims: Sequence[Claim]) -> list[Claim]:
    return [claim for claim in claims if claim.ours and claim.holds is False]


def as_lines(claims: Sequence[Claim]) -> list[str]:
    """For a terminal: verdict, place and statement, and below them what was measured."""
    lines = []
    for claim in claims:
        lines.append(f"{claim.verdict:<13} {claim.where}: {claim.statement}")
        lines.append(f"{'':<13} {claim.measured}")
    return lines


def as_markdown(claims: Sequence[Claim]) -> str:
    """For a page: one table."""
    lines = ["| where | claim | measured | verdict |", "|---|---|---|---|"]
    lines += [
        f"| {claim.where} | {claim.statement} | {claim.measured} | {claim.verdict} |".replace("\n", " ")
        for claim in claims
    ]
    return "\n".join(lines)


def in_short(claims: Sequence[Claim]) -> list[str]:
    """How many hold, and each statement that does not, once, with its places."""
    held = [claim for claim in claims if claim.holds]
    open_ = sum(claim.holds is None for claim in claims)
    lines = [f"{len(held)} of {len(claims)} claims hold" + (f", {open_} cannot be judged" if open_ else "")]
    fallen: dict[tuple[str, str], list[str]] = {}
    for claim in claims:
        if claim.holds is False:
            fallen.setdefault((claim.verdict, claim.statement.rstrip(".")), []).append(claim.where)
    for (verdict, statement), places in fallen.items():
        also = sorted({claim.where for claim in held if claim.statement.rstrip(".") == statement})
        lines.append(
            f"{verdict}: {statement}; at {', '.join(places)}" + (f" (it holds at {_others(len(also))})" if also else "")
        )
    return lines


def _others(count: int) -> str:
    return "one other" if count == 1 else f"{count} others"
