"""Certificate: the document that says how far a value can be above the optimum, and how it is written and read.

It is sealed with a checksum of everything in it, so that a number changed by accident or by hand is noticed; and it
does not have to be believed: ``judge.verify`` proves every number in it again from the data and the factors.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..files import aside
from ..fingerprint import array_fingerprint, fingerprint
from ..notebook import card
from ..numerals import shown

FORMAT = 3  # fingerprints are of marks; those of format 2 were of the bytes in their order
_NUMBERS = ("failure", "value", "lower_bound", "feasibility", "rounding")


@dataclass(frozen=True, eq=False)
class Evidence:
    """A dual point that is not the slope of X: ``kind`` "slope" (a slope itself), or what it is the slope of: "image"
    (for losses with a conjugate) or "factors" of another feasible matrix.
    """

    kind: str
    arrays: dict[str, Any]  # arrays, or Tall ones (places/tall.py)

    @property
    def mark(self) -> str:
        named = (part for name in sorted(self.arrays) for part in (name, array_fingerprint(self.arrays[name])))
        return fingerprint(self.kind, *named)


@dataclass(frozen=True)
class Certificate:
    """lower_bound ≤ f* ≤ value + rounding, with probability at least 1 − failure (zero when proven).

    The claim in full: X, scaled into the domain if it lay ``feasibility`` (in Frobenius norm) outside, has
    f(X) = value up to ``rounding``; no feasible matrix has less than ``lower_bound``, which is lowered by its own
    rounding already. With kind "none" only the value is claimed.

    Attributes
    ----------
    kind : "proven" (Cholesky), "probable" (wrong with probability at most ``failure``) or "none".
    dual : where the bound's dual point is: "slope" (the slope of X itself, nothing else is needed), or the fingerprint
        of ``evidence``, an array kept beside X because it proves more.
    data, factors : fingerprints of the problem and of X.
    seal : a checksum of all this, made when the certificate is.
    """

    kind: str
    failure: float
    value: float
    lower_bound: float
    feasibility: float
    dual: str = "slope"
    data: str = ""
    factors: str = ""
    rounding: float = 0.0
    version: str = __version__
    seal: str = field(default="", repr=False)
    evidence: Evidence | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            value = vars(self)[name]
            try:
                object.__setattr__(self, name, float(value))
            except (TypeError, ValueError, OverflowError):
                raise TypeError(f"Certificate: {name} must be a number, got {value!r}.") from None
        if not self.seal:
            object.__setattr__(self, "seal", self._sum())

    def _sum(self) -> str:
        plain = (vars(self)[name] for name in _WRITTEN if name != "seal")
        return fingerprint(str(FORMAT), *(part.hex() if isinstance(part, float) else str(part) for part in plain))

    @property
    def sealed(self) -> bool:
        """Whether everything is as it was when the certificate was made."""
        return self.seal == self._sum()

    @property
    def gap(self) -> float:
        return max(self.value - self.lower_bound, 0.0)

    def __str__(self) -> str:
        moved = f" X lay {self.feasibility:.2g} outside the domain and was scaled in." if self.feasibility > 0 else ""
        if self.kind == "none":
            return (
                f"Nothing was certified: the value is {self.value:.8g}, the optimum may lie anywhere below it.{moved}"
            )
        truth = "proven" if self.kind == "proven" else f"probable, wrong with probability at most {self.failure:.1g}"
        known = f" The value is known to {self.rounding:.1g}." if self.rounding > 0.01 * self.gap else ""
        above = f"at most {self.gap:.3g}{self._share()} above the optimum ({truth})."
        return f"The value {self.value:.8g} is {above}{known}{moved}"

    def _share(self) -> str:
        """The gap in per cent of the value, where that says anything."""
        if self.value == 0.0 or self.gap == 0.0:
            return " (0 % of it)" if self.value else ""
        part = 100 * (self.gap / abs(self.value))
        if part > 1000.0:
            return ", more than ten times its size,"
        return f" ({part:.2g} % of it)" if part < 99.5 else f" ({part:.0f} % of it)"

    def rows(self) -> list[tuple[str, str]]:
        """What it claims, as names and words, for tables."""
        value = ("value", shown(self.value, 8))
        if self.kind == "none":
            return [value, ("lower bound", "none"), ("certified", "nothing")]
        sure = "proven" if self.kind == "proven" else f"wrong with probability at most {shown(self.failure, 1)}"
        gap = f"{shown(self.gap, 3)}{self._share().rstrip(',')}"
        return [value, ("lower bound", shown(self.lower_bound, 8)), ("gap", gap), ("certified", sure)]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        moved = [("moved", f"{shown(self.feasibility, 2)} into the domain")] if self.feasibility > 0 else []
        return card("Certificate", [*self.rows(), *moved])

    # ---------------------------------------------------------------------------------------------------- documents

    def to_json(self) -> str:
        """A small document; numbers as hexadecimal floats, so that they come back bit for bit.

        The evidence, if there is any, is not in it: ``save`` writes both.
        """
        known = {name: vars(self)[name] for name in _WRITTEN}
        plain = {name: value.hex() if isinstance(value, float) else value for name, value in known.items()}
        return json.dumps({"spectraplex certificate": FORMAT, "gap": self.gap.hex(), **plain}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read what ``to_json`` wrote; a document that contradicts itself is refused."""
        try:
            document = json.loads(text)
            written = document["spectraplex certificate"]
        except KeyError as missing:
            raise ValueError(f"from_json: this is no certificate (the entry {missing} is missing).") from None
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"from_json: this is no certificate ({error}).") from None
        if written != FORMAT:
            raise ValueError(
                f"from_json: the certificate has format {written!r}, and this version reads {FORMAT}; certify X anew."
            )
        try:
            known = {name: document[name] for name in _WRITTEN}
            numbers = {name: float.fromhex(known[name]) for name in _NUMBERS}
            words = {name: value for name, value in known.items() if name not in numbers}
            if not all(isinstance(value, str) for value in words.values()) or not words["seal"]:
                raise ValueError("its words are not text")
            certificate, gap = cls(**(words | numbers)), float.fromhex(document["gap"])
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise ValueError(f"from_json: this is no certificate ({error}).") from None
        if gap != certificate.gap or not certificate.sensible():
            raise ValueError(
                "from_json: the certificate contradicts itself (kind, failure, or gap against value and bound)."
            )
        return certificate

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the document, and beside it, as ``<name>.npz``, the evidence it needs, if any."""
        path = Path(path)
        if self.evidence is not None:
            with aside(path.with_suffix(".npz")) as part, part.open("wb") as out:
                kept: dict[str, Any] = {f"{self.evidence.kind}.{name}": a for name, a in self.evidence.arrays.items()}
                np.savez(out, **kept)
        with aside(path) as part:
            part.write_text(self.to_json(), encoding="utf-8")
        return path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read back what ``save`` wrote; evidence that is missing is missed by ``verify``, in a sentence."""
        path = Path(path)
        certificate = cls.from_json(path.read_text(encoding="utf-8"))
        beside = path.with_suffix(".npz")
        if certificate.dual == "slope" or not beside.is_file():
            return certificate
        return with_evidence(certificate, read_evidence(beside))

    def sensible(self) -> bool:
        """Finite numbers, a known kind, and a failure probability that goes with it."""
        if not (math.isfinite(self.value) and 0.0 <= self.rounding < math.inf and 0.0 <= self.feasibility < math.inf):
            return False
        if self.kind == "none":
            return self.lower_bound == -math.inf
        return math.isfinite(self.lower_bound) and (
            self.failure == 0.0 if self.kind == "proven" else self.kind == "probable" and 0 < self.failure < 1
        )


_WRITTEN = tuple(each.name for each in fields(Certificate) if each.name != "evidence")  # what a document has


def with_evidence(certificate: Certificate, evidence: Evidence | None) -> Certificate:
    """The same certificate with its evidence beside it."""
    return replace(certificate, evidence=evidence)


def read_evidence(path: Path) -> Evidence:
    """Arrays as ``Certificate.save`` named them."""
    from zipfile import BadZipFile

    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            held: dict[str, Any] = {name: file[name] for name in file.files}
        kinds = {name.split(".", 1)[0] for name in held}
        (kind,) = kinds
        return Evidence(kind, {name.split(".", 1)[1]: array for name, array in held.items()})
    except (ValueError, OSError, KeyError, EOFError, IndexError, BadZipFile) as error:
        raise ValueError(f"load: the evidence {path.name} beside the certificate is damaged ({error}).") from None
