"""Forgeries: every field of a certificate changed by itself, every file of a saved result tampered with."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import spectraplex as sx

# ------------------------------------------------------------------------------------------------- certificates


def forged(case: Any, certificate: sx.Certificate, rounding: float) -> Iterator[tuple[str, sx.Certificate, bool]]:
    """(field, a certificate with that field changed, whether it may be accepted because what it says is true)."""
    best, value, low = float(case.optimum), certificate.value, certificate.lower_bound
    size = float(getattr(case.problem.domain, "trace", 0.0) or getattr(case.problem.domain, "radius", 1.0))
    noise = 1e-9 * max(abs(best), abs(value)) + 1e3 * rounding + 2 * float(case.error) + 1e-290
    changed: dict[str, list[Any]] = {
        "kind": [{"proven": "probable", "probable": "proven"}.get(certificate.kind, "proven"), "none", "certain"],
        "failure": [1e-300 if certificate.kind == "probable" else 1e-9, -1.0, math.nan],
        "value": [value * (1 + 1e-6), value * (1 - 1e-6), math.nan] if abs(value) * 1e-6 > noise else [math.nan],
        "lower_bound": [low + 0.5 * (value - low), best + noise, value + noise, math.nan, math.inf],
        "feasibility": [0.01 * size + 1e-320, -0.01 * size - 1e-320, math.nan],
        "dual": ["not kept", "0" * 64] + (["slope"] if certificate.dual != "slope" else []),
        "data": ["", "0" * 64],
        "factors": ["", "0" * 64],
        "rounding": [1e6 * rounding + 0.01 * abs(value) + 1e-280, -1.0, math.nan],
        "seal": ["0" * 64],
    }
    for each in fields(certificate):
        for other in changed.get(each.name, [_altered(getattr(certificate, each.name))]):
            fake = replace(certificate, **{each.name: other})
            true = each.name == "lower_bound" and math.isfinite(other) and Fraction(other) <= case.optimum + case.error
            true |= each.name == "dual" and other == "slope"
            true |= each.name == "kind" and other == "proven"  # a stronger claim, and it may be provable
            true |= each.name == "evidence"  # whatever proves the bound will do
            if fake != certificate:
                yield each.name, fake, true
            if hasattr(certificate, "seal") and each.name not in ("seal", "version"):
                # a forger makes a new seal; then "none" claims less, and a failure that is proven anew is no lie
                true |= (each.name, other) in (("kind", "none"), ("failure", 1e-300))
                yield f"{each.name}, sealed anew", replace(fake, seal=""), true


def _altered(value: Any) -> Any:
    """For a field that this page does not know: something else of its kind."""
    return f"{value}x" if isinstance(value, str) else value + 1.0 if isinstance(value, float) else None


def forgeries(report: Any, case: Any, result: sx.Result) -> None:
    """None of them may pass."""
    certificate, problem = result.certificate, case.problem
    rounding = float(getattr(certificate, "rounding", 1e-12 * min(case.terms, 1e300)))
    fakes = list(forged(case, certificate, rounding))
    if problem.domain.dimension > 100:  # each takes a proof of its own
        fakes = [fakes[int(i)] for i in np.random.default_rng(report.seed).permutation(len(fakes))[:8]]
    for name, fake, true in fakes:
        refused(report, f"forged {name}", lambda fake=fake: sx.verify(fake, problem, result), true, fake)
    document = json.loads(certificate.to_json())
    for name in document:
        changed = {
            "spectraplex certificate": [document["spectraplex certificate"] + 1, "1", None],
            "version": ["999.0", None],
            "gap": [(2.0 * certificate.gap + 1.0 + abs(certificate.value)).hex(), None],
        }
        for other in changed.get(name, [None, [], "x"]):
            text = json.dumps(document | {name: other})
            refused(report, f"forged JSON {name}", lambda text=text: sx.verify(text, problem, result), False, other)
        text = json.dumps({key: value for key, value in document.items() if key != name})
        refused(report, f"JSON without {name}", lambda text=text: sx.verify(text, problem, result), False, "")


def refused(report: Any, word: str, claim: Callable[[], Any], true: bool, detail: Any) -> None:
    """False, or an error that is a sentence."""
    try:
        verdict = claim()
    except (ValueError, TypeError) as error:
        sentence(report, error, word)
        return
    except Exception as error:
        report.miss(f"{word}: {type(error).__name__}", error)
        return
    if verdict and not true:
        report.miss(f"{word} accepted", detail)


def sentence(report: Any, error: Exception, where: str) -> None:
    words = str(error)
    if type(error) not in (ValueError, TypeError) or not (words.endswith(".") and " " in words):
        report.miss("no sentence", f"{where}: {type(error).__name__}: {words}")


# -------------------------------------------------------------------------------------------------- saved results


def tampered(folder: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """(what is changed, the change itself) for every number in result.json and every array in result.npz."""
    document = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    for path, value in _leaves(document):
        for other in _others(value):
            yield f"json {'.'.join(map(str, path))} = {other!r}", lambda to, p=path, o=other: _write_json(to, p, o)
    with np.load(folder / "result.npz") as file:
        arrays = {name: file[name] for name in file.files}
    for name, array in arrays.items():
        for word, other in _bad_arrays(array):
            yield f"npz {name} {word}", lambda to, n=name, o=other: _write_npz(to, arrays | {n: o})
        yield f"npz without {name}", lambda to, n=name: _write_npz(to, {k: v for k, v in arrays.items() if k != n})
    size = (folder / "result.npz").stat().st_size
    for place in (0, 1, size // 3, size // 2, size - 40):
        yield f"npz cut at {place}", lambda to, p=place: _cut(to / "result.npz", p)
        yield f"npz byte {place}", lambda to, p=place: _flip(to / "result.npz", p)
    yield "json cut", lambda to: _cut(to / "result.json", 100)
    for name in ("result.json", "result.npz"):
        yield f"no {name}", lambda to, n=name: (to / n).unlink()


def tamper(report: Any, case: Any, method: str, folder: Path, most: int | None) -> None:
    """A changed folder is refused in a sentence, or what it then claims is true; ``most`` of the changes, by seed."""
    changes = list(tampered(folder))
    for place in np.random.default_rng([report.seed, 2]).permutation(len(changes))[:most]:
        what, change = changes[int(place)]
        with tempfile.TemporaryDirectory() as other:
            to = Path(shutil.copytree(folder, other, dirs_exist_ok=True))
            change(to)
            _claims(report, case, method, to, what)


def _claims(report: Any, case: Any, method: str, folder: Path, what: str) -> None:
    from .attack import bracket

    try:
        loaded = sx.load(folder)
        verdict = sx.verify(loaded.certificate, case.problem, loaded)
    except Exception as error:
        _refusal(report, error, "tampered", what)
        return
    if verdict:
        bracket(report, case, loaded.certificate, "tampered", what)
        if loaded.lower_bound != loaded.certificate.lower_bound or loaded.value != loaded.certificate.value:
            report.miss("tampered: result and certificate differ", what)
    try:
        again = sx.solve(case.problem, method, sx.Stop(max_steps=1), start=loaded)
        held = again.certificate.kind == "none" or sx.verify(again.certificate, case.problem, again)
    except Exception as error:
        _refusal(report, error, "resumed from tampered", what)
        return
    before = len(report.misses)
    bracket(report, case, again.certificate, "resumed from tampered", what)
    if len(report.misses) == before and not held:
        report.miss("resumed from tampered: refused", f"{what}: {held}")


def _refusal(report: Any, error: Exception, word: str, what: str) -> None:
    """An error for a damaged file is fine when it is a sentence, and of a kind that callers expect."""
    words = str(error)
    expected = type(error) in (ValueError, TypeError, FileNotFoundError)
    if not (expected and words.endswith(".") and " " in words):
        report.miss(f"{word}: {type(error).__name__}", f"{what}: {words}")


def _leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(document, dict):
        for name, value in document.items():
            yield from _leaves(value, (*path, name))
    elif isinstance(document, list):
        for place, value in enumerate(document[:1]):
            yield from _leaves(value, (*path, place))
    else:
        yield path, document


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool) or value is None:
        return ["x"]
    if isinstance(value, int | float):
        return [value + abs(value) * 1e-3 + 1e-3, -abs(value) - 1, 1e9, None, "x", "nan", []]
    return ["", "x", None, 7, {}]


def _bad_arrays(array: np.ndarray) -> Iterator[tuple[str, Any]]:
    if array.size:
        flat = array.copy().reshape(-1)
        raw = flat.view(np.uint8)
        raw[raw.size // 2] ^= 0x10
        yield "byte flipped", flat.reshape(array.shape)
        if array.dtype.kind in "fc":
            yield "NaN", np.full_like(array, np.nan)
            yield "doubled", 2 * array
        else:
            yield "large", array + 1000
            yield "negative", array - 1000
    yield "empty", array[:0] if array.ndim else np.zeros(0)
    yield "longer", np.concatenate([array, array]) if array.ndim else np.zeros(3)
    yield "as text", np.full(array.shape, "x")


def _write_json(folder: Path, path: tuple[Any, ...], value: Any) -> None:
    file = folder / "result.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    inside = document
    for part in path[:-1]:
        inside = inside[part]
    inside[path[-1]] = value
    file.write_text(json.dumps(document), encoding="utf-8")


def _write_npz(folder: Path, arrays: dict[str, Any]) -> None:
    with (folder / "result.npz").open("wb") as out:
        np.savez(out, **arrays)


def _cut(file: Path, place: int) -> None:
    file.write_bytes(file.read_bytes()[: max(place, 0)])


def _flip(file: Path, place: int) -> None:
    raw = bytearray(file.read_bytes())
    raw[max(place, 0)] ^= 0x10
    file.write_bytes(bytes(raw))
