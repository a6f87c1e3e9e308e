"""Result, and its folder: arrays in one npz, everything else in one JSON, never a pickle."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ._version import __version__
from .certificates.certificate import Certificate, Evidence, with_evidence
from .files import aside, number, plain, words_and_arrays
from .matrices.factors import Factors, Rectangular, Symmetric
from .notebook import card, curves
from .numerals import counted, shown
from .places.tall import is_array
from .stop import Status
from .tall_files import newest, read_tall, remove_tall, write_tall
from .trace import Record, Trace

_FORMAT = 3


@dataclass(frozen=True, eq=False)
class Result:
    """What ``solve`` found.

    ``X`` is the best point, factored. ``gap`` and ``lower_bound`` are certified, or infinite when nothing was.
    ``state`` is flat (arrays, numbers, strings) and lets ``solve(problem, method, start=result)`` go on.
    """

    X: Factors
    value: float
    gap: float
    lower_bound: float
    certificate: Certificate
    status: Status
    trace: Trace
    seconds: float
    products: float
    state: dict[str, Any] = field(repr=False)

    @property
    def rounds(self) -> int:
        """Rounds on a cluster; zero on one machine."""
        return self.trace[-1].rounds if len(self.trace) else 0

    @property
    def bytes(self) -> int:
        """Bytes that went to the workers and came back, all rounds together; zero on one machine."""
        return self.trace[-1].bytes if len(self.trace) else 0

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``result.npz`` and ``result.json`` into a folder (made if missing), each aside first, then renamed.

        What lies on a cluster goes to ``tall-*.npy`` beside them, some megabytes at a time.
        """
        path = Path(folder)
        if path.is_file():
            raise FileExistsError(f"save: {path} is a file; name a folder, there or to be made.")
        path.mkdir(parents=True, exist_ok=True)
        parts = ("vectors", "weights") if isinstance(self.X, Symmetric) else ("U", "s", "V")
        X, place = self.X, self.X.place
        sides: dict[str, Any] = {name: getattr(X, name) for name in parts}
        arrays = {f"X.{name}": side if name in ("s", "weights") else place.packed(side) for name, side in sides.items()}
        if self.certificate.evidence is not None:
            kept = self.certificate.evidence
            arrays |= {f"evidence.{kept.kind}.{name}": array for name, array in kept.arrays.items()}
        trace = self.trace.as_dict()
        arrays |= {f"trace.{name}": column for name, column in trace.items() if name != "kind"}
        scalars: dict[str, Any] = {}
        for name, value in self.state.items():
            (arrays if is_array(value) else scalars)[f"state.{name}"] = value
        tall = write_tall(path, arrays)
        document = {
            "format": _FORMAT,
            "version": __version__,
            "status": self.status.name,
            "numbers": {name: plain(getattr(self, name)) for name in ("value", "lower_bound", "seconds", "products")},
            "certificate": {
                each.name: plain(getattr(self.certificate, each.name))
                for each in fields(self.certificate)
                if each.name != "evidence"
            },
            "kinds": [str(kind) for kind in trace["kind"]],
            "tall": tall,
            "state": {name.removeprefix("state."): plain(value) for name, value in scalars.items()},
        }
        with aside(path / "result.npz") as part, part.open("wb") as out:
            np.savez(out, **arrays)
        with aside(path / "result.json") as part:
            part.write_text(json.dumps(document, indent=1), encoding="utf-8")
        remove_tall(path, tall)
        return path

    def __repr__(self) -> str:
        return f"Result(value={self.value:.8g}, gap={self.gap:.3g}, {self.X!r}, {self.status.name})"

    def __str__(self) -> str:
        far = f"{counted(self.rounds, 'round')}, " if self.rounds else ""
        cost = f"{len(self.trace)} records, {self.products:.0f} products, {far}{self.seconds:.2f} s."
        return f"{self.certificate} {self.status.value} {cost}"

    def _repr_html_(self) -> str:
        """What a notebook shows: the certificate, the cost, and the value and its lower bound at every step."""
        steps = self.trace[-1].step if len(self.trace) else 0
        far = (counted(self.rounds, "round"),) if self.rounds else ()
        spent = (counted(steps, "step"), f"{shown(round(self.products))} products", *far, f"{self.seconds:.2f} s")
        rows = [*self.certificate.rows(), ("X", repr(self.X)), ("cost", ", ".join(spent)), ("ended", self.status.value)]
        seen = self.trace.as_dict()
        drawn = curves(("step", "objective"), seen["step"].astype(float), seen["value"], seen["lower_bound"])
        return card("Result", rows, drawn)


def load(folder: str | os.PathLike[str]) -> Result:
    """Read back what ``Result.save`` or a ``Checkpoint`` wrote."""
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"load: name the folder that was saved, a path; got {type(folder).__name__}.")
    path = newest(Path(folder))
    document, arrays = words_and_arrays("load", path, "result", "result")
    if document.get("format") != _FORMAT:
        raise ValueError(
            f"load: {path} has format {document.get('format')!r}; this version reads {_FORMAT}. Solve anew, starting "
            "from the factors X.* in its result.npz."
        )
    arrays |= read_tall(path, document.get("tall", {}))
    try:
        X: Factors
        if "X.U" in arrays:
            X = Rectangular(arrays["X.U"], arrays["X.s"], arrays["X.V"])
        else:
            X = Symmetric(arrays["X.vectors"], arrays["X.weights"])
        names = [each.name for each in fields(Record)]
        saved = {name: arrays[f"trace.{name}"].tolist() for name in names if f"trace.{name}" in arrays}
        trace = Trace.of_columns(saved | {"kind": document["kinds"]})
        numbers = {name: number(value) for name, value in document["numbers"].items()}
        certificate = Certificate(**{name: number(value) for name, value in document["certificate"].items()})
        certificate = with_evidence(certificate, _evidence(arrays))
        state = {name: number(value) for name, value in document["state"].items()}
        state |= {name.removeprefix("state."): value for name, value in arrays.items() if name.startswith("state.")}
        gap = max(numbers["value"] - numbers["lower_bound"], 0.0)
        if (numbers["value"], numbers["lower_bound"]) != (certificate.value, certificate.lower_bound):
            raise ValueError("value and bound are not those of its certificate")
        if not all(part.dtype.kind in "fc" for part in X.triple()):
            raise ValueError("the factors are not numbers")
        return Result(
            X=X,
            gap=gap,
            certificate=certificate,
            status=Status[document["status"]],
            trace=trace,
            state=state,
            **numbers,
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ValueError(f"load: {path} is damaged (missing or unknown entry: {error}).") from error


def _evidence(arrays: dict[str, Any]) -> Evidence | None:
    """What a certificate needs beside X, if it was kept."""
    held = {tuple(name.split(".", 2)[1:]): array for name, array in arrays.items() if name.startswith("evidence.")}
    if not held:
        return None
    ((kind, _), *_) = held
    return Evidence(kind, {name: array for (_, name), array in held.items()})
