"""A document of raw results: one JSON file with everything that a figure, a table or a claim is made from.

Schema 1, ``NAME.json``::

    schema      1
    experiment  figure1, table1, theorem1 or projection
    quick       true for the miniature that the tests run
    versions    python, spectraplex, numpy, scipy, numba; "solver" is a fingerprint of the numerical source files
    machine     processor and number of cores (seconds mean nothing without them)
    runs        a list, in the order of the experiment's tasks; each has
        key       its name, unique within the document
        settings  everything the run depends on, its seed among them
        outcome   what came out: numbers, and lists of numbers of equal length for curves (documented in NAME.py)

Numbers are exact; infinities and NaN are the strings "inf", "-inf" and "nan". Two documents with the same settings and
versions differ in seconds only.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy

from .._version import __version__
from ..files import aside

SCHEMA = 1
_PACKAGE = Path(__file__).parent.parent
#: Folders and files whose content cannot change a number of a run.
_FACES = ("estimators", "experiments", "plots", "demo", "report", "cli", "__main__", "files")


@dataclass(frozen=True)
class Run:
    """One task that was carried out."""

    key: str
    settings: dict[str, Any]
    outcome: dict[str, Any]


@dataclass(frozen=True)
class Document:
    """All runs of one experiment, with what they were made with."""

    experiment: str
    quick: bool
    versions: dict[str, str]
    machine: dict[str, Any]
    runs: tuple[Run, ...]

    def find(self, **settings: Any) -> list[Run]:
        """The runs whose settings have all of these values."""
        return [run for run in self.runs if all(run.settings.get(name) == value for name, value in settings.items())]

    def distinct(self, name: str, **settings: Any) -> list[Any]:
        """The values that a setting takes, in order of appearance."""
        return list(dict.fromkeys(run.settings[name] for run in self.find(**settings) if name in run.settings))

    def as_json(self) -> str:
        runs = [{"key": run.key, "settings": run.settings, "outcome": run.outcome} for run in self.runs]
        head = {"schema": SCHEMA, "experiment": self.experiment, "quick": self.quick}
        return to_json(head | {"versions": self.versions, "machine": self.machine, "runs": runs})


def read(path: Path) -> Document:
    """A document from its file, or a sentence about what is wrong with it."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror}).") from None
    except ValueError as error:
        raise ValueError(f"{path}: is not JSON ({error}); run the experiment again.") from None
    if not isinstance(raw, dict) or "experiment" not in raw:
        raise ValueError(f"{path}: holds no results of an experiment.")
    if raw.get("schema") != SCHEMA:
        raise ValueError(f"{path}: has schema {raw.get('schema')!r}; this version reads {SCHEMA}.")
    try:
        runs = tuple(Run(each["key"], each["settings"], from_plain(each["outcome"])) for each in raw["runs"])
        return Document(raw["experiment"], bool(raw["quick"]), raw["versions"], raw["machine"], runs)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path}: is damaged (missing or unknown entry: {error}).") from None


# ------------------------------------------------------------------------------------------------------------ writing


def to_json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def plain(value: Any) -> Any:
    """What JSON holds exactly: NumPy numbers and arrays unpacked, infinities and NaN as words."""
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def from_plain(value: Any) -> Any:
    """Back from ``plain``: the three words are numbers again."""
    if isinstance(value, dict):
        return {name: from_plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [from_plain(each) for each in value]
    return float(value) if value in ("inf", "-inf", "nan") else value


def write_aside(path: Path, text: str) -> None:
    """Write aside, then rename: a killed process leaves the old file or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with aside(path) as part:
        part.write_text(text, encoding="utf-8")


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One table; the columns are those of all rows, in order of appearance."""
    rows = [dict(row) for row in rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    with aside(path) as part, part.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


# ----------------------------------------------------------------------------------------------------- made with what


def versions(experiment: str) -> dict[str, str]:
    """What a run's numbers depend on; kept runs are used again only where all of it agrees."""
    return {
        "spectraplex": __version__,
        "solver": solver_fingerprint(experiment),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
    }


def solver_fingerprint(experiment: str) -> str:
    """Of the source files that the numbers come from: the library without its faces, and the experiment's own files."""
    inside = [path for path in _PACKAGE.rglob("*.py") if not path.relative_to(_PACKAGE).parts[0].startswith(_FACES)]
    own = [_PACKAGE / "experiments" / name for name in ("data.py", f"{experiment}.py", f"{experiment}_problems.py")]
    digest = hashlib.sha256()
    for path in sorted(inside) + [path for path in own if path.exists()]:
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def machine() -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"processor": platform.machine(), "system": platform.system(), "cores": cores}
