"""What an objective knows beside its values and slopes, in one record. Attributes are read here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..losses.protocol import Conjugate
from ..places.here import HERE
from ..places.numpy import Array
from ..places.protocol import Place
from .hulls import Hull
from .images import ARRAYS, Images


@dataclass(frozen=True, eq=False)
class ObjectiveFacts:
    """What is known of an objective beside what ``Objective`` asks for; None where it does not say.

    An attribute or a method of the objective with the same name says it. Those further down are read when they are
    asked for first, because some of them take work.
    """

    #: the objective itself
    objective: Any = field(repr=False)
    #: slope ↦ its ``Conjugate``, what certificates stand on
    conjugate: Callable[[Any], Conjugate] | None = None
    #: the arrays and words that the function depends on, for its fingerprint
    parts: Callable[[], tuple[Any, ...]] | None = None
    #: what fingerprints call it: the same word for the same function at another place; None for its class
    called: str | None = None
    #: domain ↦ a matrix where the function is finite; None where the domain's own start will do
    start: Callable[[Any], Any] | None = None
    #: refuses data that are not Hermitian; called by domains of Hermitian matrices
    require_hermitian: Callable[[], Any] | None = None
    #: refuses targets that the matrices of a domain cannot have: Hermitian and positive semidefinite, or any
    require_signs: Callable[[bool], Any] | None = None
    #: value, slope, Σ|sₖ| and number of terms of X ↦ how far rounding may have moved the value
    rounding: Callable[[float, Any, float, int], float] | None = None
    #: psd ↦ at least the nuclear norm of some matrix that fits all data
    fitted: Callable[[bool], float] | None = None
    #: the smoothness where it is a plain number; None where a property would have to work it out
    given_smoothness: float | None = None
    #: sorted numbers of some observations ↦ the same function of those alone, and their places in an image
    some: Callable[[Array], tuple[Any, Array]] | None = None
    #: scale, U, V, image or None ↦ the ``Hull`` of the rank-ones scale·uᵢvᵢᴴ and that image; only of a quadratic
    hull: Callable[[float, Any, Any, Any], Hull] | None = None
    #: how many observations there are to choose from
    units: int | None = None
    #: the gradient is an ordinary matrix
    dense: bool | None = None
    #: numbers in dense arrays that one product reads
    held: int = 0
    #: factors may come in single precision, because every sum is in double
    single: bool = False
    #: a value is itself a minimum, found to some accuracy
    inexact: bool = False
    #: how many numbers one measurement adds up
    summed: int = 0
    #: where everything tall lives
    place: Place = HERE
    #: what certificates do with images and slopes
    images: Images = ARRAYS
    #: the device of the tensors that the data came as; None for arrays
    device: str | None = None
    #: where the answer goes, as the data came; None where it stays where it was computed
    returned: Place | None = None

    @cached_property
    def smoothness(self) -> float | None:
        """β: the gradient is Lipschitz with this constant, in the Frobenius norm."""
        return _number(self.objective, "smoothness")

    @cached_property
    def strong_convexity(self) -> float | None:
        """The least curvature in the Frobenius norm."""
        return _number(self.objective, "strong_convexity")

    @cached_property
    def hermitian_smoothness(self) -> float | None:
        """β among Hermitian matrices, where it is a better one."""
        return _number(self.objective, "hermitian_smoothness")

    @cached_property
    def hermitian_strong_convexity(self) -> float | None:
        """The least curvature among Hermitian matrices."""
        return _number(self.objective, "hermitian_strong_convexity")

    @cached_property
    def condition(self) -> float | None:
        """Smoothness over strong convexity, where that takes little work."""
        return _number(self.objective, "condition")

    @cached_property
    def coverage(self) -> tuple[Array, Array] | None:
        """The largest curvature of the loss, summed over every row, and over every column."""
        sums: tuple[Array, Array] | None = _told(self.objective, "coverage")
        return sums

    @cached_property
    def reach(self) -> float | None:
        """An upper bound on ‖𝒜‖."""
        return _number(self.objective, "reach")

    @cached_property
    def bend(self) -> float | None:
        """The largest curvature of the loss, as a function of the image."""
        return _number(self.objective, "bend")

    @cached_property
    def steepest(self) -> float | None:
        """The largest norm of a slope."""
        return _number(self.objective, "steepest")

    @cached_property
    def lower(self) -> float | None:
        """A number that the function is nowhere below."""
        return _number(self.objective, "lower")

    def smoothness_among(self, hermitian: bool) -> float | None:
        """The smoothness among all matrices, or among Hermitian ones."""
        return (self.hermitian_smoothness or self.smoothness) if hermitian else self.smoothness

    def strong_convexity_among(self, hermitian: bool) -> float | None:
        """The strong convexity among all matrices, or among Hermitian ones."""
        own = self.hermitian_strong_convexity if hermitian else None
        return self.strong_convexity if own is None else own


def facts_of(objective: Any) -> ObjectiveFacts:
    """What an objective says of itself; it need not say anything. One that keeps the record is read once.

    One that hands on what it does not know to an objective inside gets a record of its own.
    """
    kept = _told(objective, "_own_facts") if hasattr(type(objective), "_own_facts") else None
    if isinstance(kept, ObjectiveFacts) and kept.objective is objective:
        return kept
    return facts_read(objective)


def facts_read(objective: Any) -> ObjectiveFacts:
    """Read them all."""
    dense = _told(objective, "dense")
    return ObjectiveFacts(
        objective=objective,
        conjugate=_function(objective, "conjugate"),
        parts=_function(objective, "parts"),
        called=_told(objective, "called"),
        start=_function(objective, "start"),
        require_hermitian=_function(objective, "require_hermitian"),
        require_signs=_function(objective, "require_signs"),
        rounding=_function(objective, "rounding"),
        fitted=_function(objective, "fitted"),
        some=_function(objective, "some"),
        hull=_function(objective, "hull"),
        units=_told(objective, "units"),
        given_smoothness=_given(objective),
        dense=None if dense is None else bool(dense),
        held=int(_told(objective, "held") or 0),
        single=bool(_told(objective, "single")),
        inexact=bool(_told(objective, "inexact")),
        summed=int(_told(objective, "summed") or 0),
        place=_verbs(objective, "place", ("from_host", "gram", "times"), HERE),
        device=_device(objective),
        returned=_verbs(objective, "returned", ("from_host", "gram", "times"), None),
        images=_verbs(objective, "images", ("plain", "blend", "pack"), ARRAYS),
    )


def _given(objective: Any) -> float | None:
    """The smoothness where that takes no work; one that hands on what another says of itself knows that by this name.

    To ask such a one for the smoothness itself would start the work.
    """
    if hasattr(objective, "given_smoothness"):
        known: float | None = objective.given_smoothness
        return known
    worked_out = isinstance(getattr(type(objective), "smoothness", None), cached_property | property)
    return None if worked_out else _number(objective, "smoothness")


def _verbs(objective: Any, name: str, verbs: tuple[str, ...], otherwise: Any) -> Any:
    """An attribute that has these verbs; one that has not is the objective's own, and means something else."""
    told = _told(objective, name)
    return told if all(hasattr(told, verb) for verb in verbs) else otherwise


def _device(objective: Any) -> str | None:
    told = _told(objective, "device")
    return told if isinstance(told, str) else None


def _function(objective: Any, name: str) -> Any:
    """A method of the objective, or None; anything else by that name is refused."""
    told = _told(objective, name)
    if told is not None and not callable(told):
        kind = type(objective).__name__
        raise TypeError(f"{kind}: {name} must be a function, got {told!r}; leave it out, or see docs/your-own.md.")
    return told


def _told(objective: Any, name: str) -> Any:
    return getattr(objective, name, None)


def _number(objective: Any, name: str) -> float | None:
    known: float | None = _told(objective, name)
    return known
