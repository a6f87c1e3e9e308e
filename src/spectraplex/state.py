"""The state of a run: flat (arrays, numbers, strings), so that it can be saved; and a run that goes on from one.

What comes from a folder is not believed: atoms are checked, an image that is not that of its atoms is measured afresh,
and the certifier proves its bound again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .certificates.dual import Candidate
from .domains.charged import Charged
from .fingerprint import data_fingerprint
from .losses.curves import NotFinite
from .matrices.atoms import Atoms, Buffer
from .objectives.distance import Factored
from .places.numpy import EPS
from .problem import Point
from .result import Result
from .trace import Trace

if TYPE_CHECKING:
    from .run import Run


def pack(run: Run, point: Point) -> dict[str, Any]:
    """Everything that it takes to go on from a point."""
    state: dict[str, Any] = {
        "problem": data_fingerprint(run.problem),
        "about": repr(run.problem),
        "method": run.facts.identity,
        "size": run.problem.domain.size,
        "step": run.step_number,
        "products": run.products,
        "seconds": run.seconds_before + run.clock,
        "scale": run.scale,
        "begun": run.begun,
        "idle": run.stall.idle,
        "rng": json.dumps(run.rng.bit_generator.state),
        **run.certifier.state(),
    }
    state |= flatten_atoms(point.atoms) | flatten("image", point.image)
    if run.memory is not None:
        state |= flatten("memory", run.memory)
    best = run.best.point
    if best is not point:
        state |= flatten_atoms(best.atoms, "best.") | {"best.value": best.value}
    return state


def resume(run: Run, earlier: Result) -> bool:
    """Go on exactly where the same method was; the limits of ``stop`` count from here. False for another method."""
    state, problem = earlier.state, run.problem
    if state.get("problem") != data_fingerprint(problem):
        raise ValueError(
            f"solve: start is a result for {state.get('about', 'another problem')} with other data than "
            f"{problem!r}; pass its factors (start=result.X) if they fit."
        )
    run.step_number, run.products = int(state["step"]), float(state["products"])
    run.seconds_before, run.products_before = float(state["seconds"]), run.products
    run.trace, run.scale = Trace(earlier.trace), abs(float(state["scale"]))
    run.begun = float(state.get("begun", run.scale))
    run.stop = run.stop.begun(run.begun)
    run.rng.bit_generator.state = json.loads(state["rng"])
    if state["method"] != run.facts.identity or state.get("size") != problem.domain.size:
        return False  # with another bound on the norm of a solution the same atoms are another matrix
    dimension = problem.domain.dimension
    atoms = restore_atoms(state, dimension)
    run.point = run.best.found = problem.point(atoms, _image(run, atoms, restore_image(state)))
    if "best.columns" in state:  # its value as it was seen, not as it is measured afresh
        best = problem.point(restore_atoms(state, dimension, "best."))
        if abs(best.value - float(state["best.value"])) <= 1e-6 * max(abs(best.value), float(state["scale"])):
            best = replace(best, value=float(state["best.value"]))
        run.best.found = best
    if problem.lifted.penalty:
        run.best.goes_on()
    run.certifier.restore(state, Candidate.of(run.point))
    run.memory = restore("memory", state, run.method.Memory)
    run.stall.idle = int(state["idle"])
    return True


def _image(run: Run, atoms: Atoms, image: Any) -> Any:
    """The image as it was carried along, if it is that of the atoms; a fresh one if it is not."""
    fresh = run.problem.point(atoms)
    try:
        kept = run.problem.point(atoms, image)
    except (NotFinite, ValueError, TypeError, IndexError, AttributeError):
        return fresh.image
    if not _alike(image, fresh.image):
        return fresh.image
    close = abs(kept.value - fresh.value) <= 1e-6 * max(abs(fresh.value), run.scale) + run.certifier.rounding(fresh)
    return image if close else fresh.image


def _alike(image: Any, fresh: Any) -> bool:
    """Whether an array has the shape and type that it should; one that has not may still give some value."""
    image, fresh = (each.inside if isinstance(each, Charged) else each for each in (image, fresh))
    if not isinstance(fresh, np.ndarray):
        return True
    return isinstance(image, np.ndarray) and (image.shape, image.dtype) == (fresh.shape, fresh.dtype)


@contextmanager
def undamaged(start: Any) -> Iterator[None]:
    """What goes wrong with the state of a result that was damaged is told in a sentence."""
    try:
        yield
    except (NotFinite, KeyboardInterrupt):
        raise
    except Exception as error:
        if not isinstance(start, Result) or str(error).startswith("solve: "):
            raise
        lacks = f"its state lacks {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"solve: start is a damaged result ({lacks}); pass its factors, start=result.X.") from None


# ---------------------------------------------------------------------------------------------------------- flat parts


def flatten_atoms(atoms: Atoms, prefix: str = "") -> dict[str, Any]:
    """Columns as they lie in the buffer: products then round the same way when the run goes on."""
    buffer = atoms.buffer
    columns = np.ascontiguousarray(buffer.array[:, : buffer.used])
    return {f"{prefix}columns": columns, f"{prefix}index": atoms.index, f"{prefix}weights": atoms.weights}


def restore_atoms(state: dict[str, Any], dimension: int, prefix: str = "") -> Atoms:
    """Atoms as they were; what cannot be atoms of this dimension is refused."""
    columns, index, weights = (np.asarray(state[f"{prefix}{name}"]) for name in ("columns", "index", "weights"))
    fits = columns.ndim == 2 and columns.shape[0] == dimension and columns.dtype.kind in "fc"
    fits = fits and index.ndim == 1 and index.dtype.kind in "iu" and weights.shape == index.shape and index.size > 0
    fits = fits and weights.dtype.kind == "f" and bool(np.isfinite(columns).all() and (weights >= 0).all())
    if not fits or index.min() < 0 or index.max() >= columns.shape[1] or not 0.5 < weights.sum() < 2.0:
        raise ValueError("solve: start is a damaged result, its atoms are none; pass its factors (start=result.X).")
    sizes, close = np.linalg.norm(columns[:, index], axis=0), EPS * (dimension + index.size + 16)
    if np.abs(sizes - 1.0).max() > 1e-6 or abs(weights.sum() - 1.0) > 1e-6:
        raise ValueError("solve: start is a damaged result, its atoms are not unit; pass its factors (start=result.X).")
    if np.abs(sizes - 1.0).max() > close or abs(weights.sum() - 1.0) > close:  # damaged, but hardly: made unit again
        return Atoms.of(columns[:, index], weights)
    return Atoms(Buffer(columns), index, weights)


def flatten(prefix: str, value: Any) -> dict[str, Any]:
    """An array, number or string as it is; a dataclass of those (or of such dataclasses) field by field."""
    if not hasattr(value, "__dataclass_fields__"):
        return {prefix: value}
    parts = (flatten(f"{prefix}.{each.name}", getattr(value, each.name)) for each in fields(value))
    return {name: part for flat in parts for name, part in flat.items()}


def restore(prefix: str, state: dict[str, Any], kind: type | None) -> Any:
    if kind is None:
        return state[prefix]
    return kind(**{each.name: state[f"{prefix}.{each.name}"] for each in fields(kind)})


def restore_image(state: dict[str, Any], prefix: str = "image") -> Any:
    """An array, or one of the images that are more than that: factored, charged, or both."""
    if prefix in state:
        return state[prefix]
    if f"{prefix}.slack" in state:
        return Charged(restore_image(state, f"{prefix}.inside"), float(state[f"{prefix}.slack"]))
    return restore(prefix, state, Factored)
