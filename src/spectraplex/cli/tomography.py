"""tomography: a file of counts in, a folder with a state, its certificate and a report out."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators import StateTomography
from ..estimators.tomography.counts import collect
from ..estimators.tomography.state import density_matrix
from ..tables.given import name_of
from ..tables.tomogram import Asked, read_tomogram
from .out import put_json, put_words
from .talk import say
from .words import shown

_SMALL = 256  # dimension up to which the density matrix is written, too
_REFITS = 100
_QUICK = 5  # qubits up to which error bars are made unless something else was asked for
_FILES = {"state.json", "state.npz", "report.html"}


@dataclass(frozen=True)
class Job:
    """What was asked for."""

    file: Path
    out: Path
    settings: dict[str, Any]  # of the estimator
    target: str | None
    bootstrap: int | None
    encoding: str | None
    rows: Path | None  # a file with the settings of the rows
    shots: float | None
    report: bool
    force: bool
    quiet: bool
    command: tuple[str, ...]


def tomography(job: Job) -> dict[str, Any]:
    """Read, fit, refit, write; returns what is in state.json."""
    _refuse(job.out, job.force)
    if job.report:
        from ..report import ready

        ready()
    began = time.perf_counter()
    model = StateTomography(**job.settings)
    reader = model._scheme().reader
    given = read_tomogram(job.file, asked=Asked(job.encoding, model.outcomes, model.bases, job.rows, job.shots))
    if not job.quiet:
        say(f"{given.told}.")
    shots = given.shots if job.shots is None else job.shots
    data = collect(given.settings, given.outcomes, given.counts, reader, given.where, shots)
    model.fit_counted(data)
    refits = job.bootstrap
    if refits is None:
        refits = _REFITS if len(model.local_) <= _QUICK else 0
    if refits:
        if not job.quiet:
            say(f"Fitted; refitting {refits} times for error bars.")
        model.bootstrap(refits)
    facts = _facts(model, job, time.perf_counter() - began)
    _write(model, job, facts)
    return facts


def summarised(facts: dict[str, Any], out: Path, quiet: bool, as_json: bool) -> None:
    """What came out, in words or as JSON."""
    if as_json:
        put_json(facts | {"out": str(out)})
        return
    if not quiet:
        for notice in facts["notices"]:
            say(notice)
    lines = [("state", str(out))]
    for name, each in facts["numbers"].items():
        ends = "" if each["low"] is None else f" ({each['low']:.4g} to {each['high']:.4g} at 95 %)"
        lines.append((name, f"{each['value']:.4g}{ends}"))
    lines += [("fit", facts["fit"]), ("certificate", facts["certificate_words"])]
    width = max(len(name) for name, _ in lines)
    put_words("".join(f"{name:<{width}}  {words}\n" for name, words in lines))


def _facts(model: StateTomography, job: Job, seconds: float) -> dict[str, Any]:
    from ..report.state import certificate_words

    level = None if model.replicas_ is None else 0.95
    numbers: dict[str, Any] = {"purity": model.purity(level), "entropy": model.entropy(level)}
    if job.target is not None:
        numbers = {f"fidelity with {job.target}": model.fidelity(job.target, level)} | numbers
    plain = {
        name: {"value": float(each)} | ({"low": None, "high": None} if level is None else vars(each))
        for name, each in numbers.items()
    }
    return {
        "format": "spectraplex-state",
        "version": 1,
        "file": shown(name_of(job.file)),
        "settings": list(model.settings_),
        "shots": float(model.shots_.sum()),
        "local": list(model.local_),
        "likelihood": model.likelihood,
        "value": float(model.value_),
        "gap": float(model.gap_),
        "certificate": json.loads(model.certificate_.to_json()),
        "certificate_words": certificate_words(model),
        "status": model.status_.name,
        "numbers": plain,
        "eigenvalues": [float(each) for each in model.eigenvalues(count=min(64, model.state_.vectors.shape[0]))],
        "fit": str(model.goodness_of_fit()),
        "notices": model.notices_,
        "refits": 0 if model.replicas_ is None else len(model.replicas_.states),
        "seconds": seconds,
    }


def _write(model: StateTomography, job: Job, facts: dict[str, Any]) -> None:
    """All of it into a folder aside, which then takes its place."""
    part = job.out.with_name(f".{job.out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        arrays = {"vectors": model.state_.vectors, "weights": model.state_.weights}
        if model.state_.vectors.shape[0] <= _SMALL:
            arrays["density_matrix"] = density_matrix(model.state_)
        np.savez(part / "state.npz", **arrays)
        text = json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False)
        (part / "state.json").write_text(text + "\n", encoding="utf-8")
        if job.report:
            from ..report import state as report

            target, source = job.target, shown(name_of(job.file))
            report.write(model, part / "report.html", target=target, source=source, command=job.command)
        if job.out.exists():
            shutil.rmtree(job.out)
        part.rename(job.out)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _refuse(out: Path, force: bool) -> None:
    """Before any work: what is there already is replaced only if it is a state and that was asked for."""
    if not out.parent.is_dir():
        raise ValueError(f"{out}: there is no folder {out.parent}; make it first.")
    if not out.exists():
        return
    held = {each.name for each in out.iterdir()} if out.is_dir() else None
    if held is None or (held and not ("state.json" in held and held <= _FILES)):
        raise ValueError(f"{out} is there already and is not a state; name another place.")
    if held and not force:
        raise ValueError(f"{out} is there already; give --force to replace the state, or name another place.")
