"""The state of a run: flat (arrays, numbers, strings), so that it can be saved; and a run that goes on from one.

What comes from a folder is not believed: atoms are checked, an image that is not that of its atoms is measured afresh,
and the certifier proves its bound again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .certificates.dual import Candidate
from .certificates.evidence import same_kind
from .domains.charged import Charged
from .fingerprint import data_fingerprint
from .losses.curves import NotFinite
from .matrices.atoms import Atoms
from .objectives.distance import Factored
from .objectives.images import Images
from .places.crew import ClusterLost
from .places.here import HERE
from .places.numpy import EPS
from .places.protocol import Place
from .places.tall import all_finite, is_array
from .problem import Point
from .result import Result
from .trace import Trace

if TYPE_CHECKING:
    from .run import Run


def pack(run: Run, point: Point) -> dict[str, Any]:
    """Everything that it takes to go on from a point. Far away, where it is tall, the image is measured afresh then."""
    place = run.problem.place
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
        "place": place.name if place.distant else HERE.name,
        "rng": json.dumps(run.rng.bit_generator.state),
        **run.certifier.state(),
    }
    state |= flatten_atoms(point.atoms)
    if not place.distant:
        state |= flatten_image(run.problem.facts.images, point.image, place=place)
    if run.memory is not None:
        state |= flatten("memory", run.memory, place)
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
    if len(earlier.trace):
        (rounds, sent), last = run.asked_before, earlier.trace[-1]
        run.asked_before = rounds - last.rounds, sent - last.bytes
    run.trace, run.scale = Trace(earlier.trace), abs(float(state["scale"]))
    run.begun = float(state.get("begun", run.scale))
    run.stop = run.stop.begun(run.begun)
    run.rng.bit_generator.state = json.loads(state["rng"])
    where = problem.place.name if problem.place.distant else HERE.name
    if state["method"] != run.facts.identity or state.get("size") != problem.domain.size:
        return False  # with another bound on the norm of a solution the same atoms are another matrix
    if state.get("place", HERE.name) != where:
        return False  # what a method remembers on one machine is not what it remembers on a cluster
    dimension = problem.domain.dimension
    atoms = restore_atoms(state, dimension, place=problem.place)
    run.point = problem.point(atoms)
    if not problem.place.distant:
        image = _image(run, run.point, restore_image(state, problem.facts.images, place=problem.place))
        run.point = problem.point(atoms, image)
    run.best.found = run.point
    if "best.columns" in state:  # its value as it was seen, not as it is measured afresh
        best = problem.point(restore_atoms(state, dimension, "best.", problem.place))
        if abs(best.value - float(state["best.value"])) <= 1e-6 * max(abs(best.value), float(state["scale"])):
            best = replace(best, value=float(state["best.value"]))
        run.best.found = best
    if problem.lifted.penalty:
        run.best.goes_on()
    run.certifier.restore(state, Candidate.of(run.point))
    run.memory = restore("memory", state, run.method.Memory, problem.place)
    run.stall.idle = int(state["idle"])
    return True


def _image(run: Run, fresh: Point, image: Any) -> Any:
    """The image as it was carried along, if it is that of the atoms; a fresh one if it is not."""
    try:
        kept = run.problem.point(fresh.atoms, image)
    except (NotFinite, ValueError, TypeError, IndexError, AttributeError):
        return fresh.image
    if not _alike(run.problem.facts.images, image, fresh.image):
        return fresh.image
    close = abs(kept.value - fresh.value) <= 1e-6 * max(abs(fresh.value), run.scale) + run.certifier.rounding(fresh)
    return image if close else fresh.image


def _alike(images: Images, image: Any, fresh: Any) -> bool:
    """Whether an array has the shape and type that it should; one that has not may still give some value."""
    if isinstance(fresh, Charged):
        return isinstance(image, Charged) and _alike(images, image.inside, fresh.inside)
    if not images.plain(fresh):
        return True
    return images.plain(image) and same_kind(images.pack(image), images.pack(fresh))


@contextmanager
def undamaged(start: Any) -> Iterator[None]:
    """What goes wrong with the state of a result that was damaged is told in a sentence."""
    try:
        yield
    except (NotFinite, KeyboardInterrupt, ClusterLost):
        raise
    except Exception as error:
        if not isinstance(start, Result) or str(error).startswith("solve: "):
            raise
        lacks = f"its state lacks {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"solve: start is a damaged result ({lacks}); pass its factors, start=result.X.") from None


# ---------------------------------------------------------------------------------------------------------- flat parts


_SMALL = ("index", "weights")


def flatten_atoms(atoms: Atoms, prefix: str = "") -> dict[str, Any]:
    """Columns as they lie in the buffer: products then round the same way when the run goes on."""
    place, buffer = atoms.place, atoms.buffer
    columns = place.packed(place.columns(buffer.block, slice(0, buffer.used)))
    columns = np.ascontiguousarray(columns) if isinstance(columns, np.ndarray) else columns
    return {f"{prefix}columns": columns, f"{prefix}index": atoms.index, f"{prefix}weights": atoms.weights}


def restore_atoms(state: dict[str, Any], dimension: int, prefix: str = "", place: Place = HERE) -> Atoms:
    """Atoms as they were; what cannot be atoms of this dimension is refused."""
    columns, (index, weights) = state[f"{prefix}columns"], (np.asarray(state[prefix + each]) for each in _SMALL)
    columns = columns if is_array(columns) else np.asarray(columns)
    fits = len(columns.shape) == 2 and columns.shape[0] == dimension and columns.dtype.kind in "fc"
    fits = fits and index.ndim == 1 and index.dtype.kind in "iu" and weights.shape == index.shape and index.size > 0
    fits = fits and weights.dtype.kind == "f" and bool(all_finite(columns) and (weights >= 0).all())
    if not fits or index.min() < 0 or index.max() >= columns.shape[1] or not 0.5 < weights.sum() < 2.0:
        raise ValueError("solve: start is a damaged result, its atoms are none; pass its factors (start=result.X).")
    block = place.from_host(columns)
    sizes, close = place.norms(place.columns(block, index)), EPS * (dimension + index.size + 16)
    if np.abs(sizes - 1.0).max() > 1e-6 or abs(weights.sum() - 1.0) > 1e-6:
        raise ValueError("solve: start is a damaged result, its atoms are not unit; pass its factors (start=result.X).")
    if np.abs(sizes - 1.0).max() > close or abs(weights.sum() - 1.0) > close:  # damaged, but hardly: made unit again
        return Atoms.of(place.columns(block, index), weights, place)
    return Atoms(place.buffer(block), index, weights)


def flatten(prefix: str, value: Any, place: Place = HERE) -> dict[str, Any]:
    """An array, number or string as it is; a dataclass of those (or of such dataclasses) field by field.

    Blocks of another place come as arrays of this machine, and their names end in a star.
    """
    if place is not HERE and not isinstance(value, np.ndarray) and place.holds(value):
        return {f"{prefix}*": place.packed(value)}
    if not is_dataclass(value):
        return {prefix: value}
    parts = (flatten(f"{prefix}.{each.name}", getattr(value, each.name), place) for each in fields(value))
    return {name: part for flat in parts for name, part in flat.items()}


def restore(prefix: str, state: dict[str, Any], kind: type | None, place: Place = HERE) -> Any:
    if f"{prefix}*" in state:
        held = state[f"{prefix}*"]
        return place.from_host(held, slice(0, held.shape[0]))
    if kind is None:
        held = state[prefix]
        # a run that was saved on this machine: what has two dimensions in a method's memory is a block
        return place.from_host(held) if place is not HERE and is_array(held) and len(held.shape) == 2 else held
    names = [each.name for each in fields(kind)]
    return kind(**{name: restore(f"{prefix}.{name}", state, None, place) for name in names})


def flatten_image(images: Images, image: Any, prefix: str = "image", place: Place = HERE) -> dict[str, Any]:
    """Numbers in a row as an array; what a penalty charges, or what is factored, part by part."""
    if isinstance(image, Charged):
        return flatten_image(images, image.inside, f"{prefix}.inside", place) | {f"{prefix}.slack": image.slack}
    return {prefix: images.pack(image)} if images.plain(image) else flatten(prefix, image, place)


def restore_image(state: dict[str, Any], images: Images, prefix: str = "image", place: Place = HERE) -> Any:
    """Numbers in a row, or one of the images that are more than that: factored, charged, or both."""
    if prefix in state:
        held = state[prefix]
        return images.unpack(held) if is_array(held) else held
    if f"{prefix}.slack" in state:
        return Charged(restore_image(state, images, f"{prefix}.inside", place), float(state[f"{prefix}.slack"]))
    return restore(prefix, state, Factored, place)
