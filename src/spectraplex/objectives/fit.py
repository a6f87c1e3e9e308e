"""Fit: f(X) = Σ wᵢ ℓ(𝒜(X)ᵢ; bᵢ), any measurement with any loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..checks import device_of, kind_or_say
from ..fingerprint import identity
from ..losses import named
from ..losses.curves import Curve
from ..losses.protocol import Conjugate, LossFacts, Prepared, Shape, prepare
from ..losses.separable import smoothly, steepest
from ..losses.squared import Squared
from ..matrices.factors import Factors
from ..matrices.operators import Operator
from ..measurements.entries import Entries
from ..measurements.protocol import Facts, Measurements, Spectrum, flat_image, measurement_or_say, parts_of
from ..places.marks import pattern_mark
from ..places.numpy import Array, blend, contiguous, inner
from ..places.pattern import Pattern
from ..rounding import VANISHING, norm, of_image, of_sum, plain
from .chosen import choosable, chosen
from .facts import ObjectiveFacts, facts_read
from .hulls import Hulls
from .starts import refuse_negative_means, somewhere
from .table_parts import TABLE, table_kind, table_parts


class Fit:
    """How well the measurements of X fit their targets, misfits paid for by a loss.

    Parameters
    ----------
    measurements : ``Entries``, ``Matrices``, ``RankOnes``, ``Identity``, ``Features``, ``Differences``, ``Pauli``,
        ``Product``, or your own (docs/your-own.md).
    targets : one number a measurement; one number for all of them; labels where the loss says so.
    loss : a name from ``spectraplex.losses.LOSSES``, or a loss with its settings such as
        ``sx.losses.Quantile(0.9, 0.1)``, or your own.
    weights : positive, one a measurement (one a group with softmax); all one by default.

    Examples
    --------
    >>> import numpy as np, spectraplex as sx
    >>> sx.Fit(sx.Features(np.ones((4, 3)), 2), np.zeros((4, 2)), loss="huber")
    Fit(Features(4 samples of 3 features, 2 outputs), huber loss)
    """

    def __init__(self, measurements: Any, targets: Any, loss: Any = "squared", weights: Any = None) -> None:
        self._begin(measurements, targets, loss, weights)

    def _begin(self, measurements: Any, targets: Any, loss: Any, weights: Any, part: bool = False) -> None:
        measurement_or_say("Fit", measurements)
        facts = Facts.of(measurements)
        self.device = facts.device or device_of(targets, weights)
        shape = Shape("Fit", int(measurements.size), facts.row, facts.order, part)
        self._set(measurements, prepare(named("Fit", loss), targets, weights, shape))

    device: str | None = None  # of the tensors that the data came as

    def _set(self, measurements: Measurements, prepared: Prepared) -> None:
        """Everything is checked: keep it."""
        self.measurements, self.loss = measurements, prepared.loss
        self.targets, self.weights, self.labels = prepared.targets, prepared.weights, prepared.labels
        self._told, self._facts = LossFacts.of(prepared.loss), Facts.of(measurements)
        self.loss_name = self._told.name
        self.shape = (int(measurements.shape[0]), int(measurements.shape[1]))
        self.dtype = kind_or_say(type(measurements).__name__, measurements.dtype)
        if self.targets.dtype.kind == "c":
            if self._facts.real:
                raise TypeError(
                    f"{type(self).__name__}: targets must be real: a measurement is the real number Re tr(AᵢᴴX)."
                )
            self.dtype = "complex128"
        if self.dtype == "complex128" and not self._facts.real and not self._told.complex:
            raise TypeError(
                f"{type(self).__name__}: these measurements are complex, and the {self.loss_name} loss is about real "
                "numbers; use 'squared' or 'huber', or measure real and imaginary parts."
            )
        self.dense, self.held, self.single = self._facts.dense, self._facts.held, self._facts.single

    @cached_property
    def _own_facts(self) -> ObjectiveFacts:
        """What ``facts_of`` reads, kept: a small problem asks for it several times."""
        return facts_read(self)

    def __getstate__(self) -> dict[str, Any]:
        """The record names a place, which is another object in another process: it is read there anew."""
        return {name: value for name, value in vars(self).items() if name != "_own_facts"}

    @property
    def require_hermitian(self) -> Any:
        """Called at the door by a domain of Hermitian matrices; None where the measurements have nothing to refuse."""
        return self._facts.require_hermitian

    def require_signs(self, semidefinite: bool) -> None:
        """Called at the door by every domain, with whether all its X ⪰ 0: refuses zero counts of negative means."""
        if self._told.never_negative:
            refuse_negative_means(self._facts, self._told, self.targets, semidefinite)

    # -------------------------------------------------------------------------------------------- f(X) = ℓ(𝒜(X))

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        # a strided view, such as real parts, is summed to other bits than its copy in a saved run
        return flat_image(self.measurements, contiguous(self.measurements.measure(U, s, V)))

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return blend(a, z, b, w)

    def evaluate(self, z: Array) -> tuple[float, Array]:
        value, slope = self.loss.evaluate(z, self.targets, self.weights)
        return float(value), slope

    def along(self, z: Array, dz: Array) -> Curve:
        if self._told.along is not None:
            return self._told.along(z, dz, self.targets, self.weights)
        return smoothly(self.loss, z, dz, self.targets, self.weights)

    @property
    def hull(self) -> Hulls | None:
        """For a quadratic on this machine."""
        if self._told.ways is None or not isinstance(self.targets, np.ndarray):
            return None
        table = self._table if type(self.loss) is Squared else None
        return Hulls(self.measure, self._told.ways, self.weights, table)

    def pair(self, slope: Array, z: Array) -> float:
        return inner(slope, z)

    def gradient(self, slope: Array) -> Operator:
        return self.measurements.adjoint(slope)

    @property
    def conjugate(self) -> Callable[[Array], Conjugate] | None:
        """slope ↦ ℓ* along it, for certificates; None where the loss has none."""
        return None if self._told.conjugate is None else self._conjugate

    def _conjugate(self, slope: Array) -> Conjugate:
        return self.loss.conjugate(slope, self.targets, self.weights)

    def start(self, domain: Any) -> Factors | None:
        """A matrix of the domain where the loss is finite; None where it is at zero, or where none was found."""
        return somewhere(self, domain) if self._told.positive else None

    @property
    def called(self) -> str | None:
        """A fit of a table's entries is known by the table, wherever its rows are; any other by its class."""
        return TABLE if self._table is not None and type(self).__qualname__ in ("Fit", "Completion") else None

    @property
    def _table(self) -> Pattern | None:
        return self.measurements.pattern if isinstance(self.measurements, Entries) else None

    def mark(self, first_row: int = 0) -> Array:
        """Of the entries of a table, whose rows lie behind others; see places/marks.py."""
        assert self._table is not None
        return self._own_mark if first_row == 0 else pattern_mark(self._table, self.targets, self.weights, first_row)

    @cached_property
    def _own_mark(self) -> Array:
        """Once for all problems: a second for a hundred million entries."""
        assert self._table is not None
        return pattern_mark(self._table, self.targets, self.weights, 0)

    def parts(self) -> tuple[Any, ...]:
        """Everything the function depends on, for its fingerprint."""
        if self._table is not None:
            kind = table_kind(self.loss, str(self.targets.dtype), self.weights is not None)
            return table_parts(self.shape, kind, self.targets.size, self.mark())
        weights = () if self.weights is None else (self.weights,)
        name = f"Fit {self.shape[0]}×{self.shape[1]} {self.labels}"
        return (name, identity(self.loss), *parts_of(self.measurements), self.targets, *weights)

    # ------------------------------------------------------------------------------------------- some observations

    @property
    def units(self) -> int | None:
        """Observations that can be chosen from: rows where the measurements have rows, else numbers."""
        return None if self.some is None else self.targets.size // (self._facts.row or 1)

    @property
    def some(self) -> Callable[[Array], tuple[Fit, Array]] | None:
        """index ↦ the same of some observations alone, and their places in an image; None where that is not known."""
        plain = type(self).__qualname__ in ("Fit", "Completion")
        return self._some if plain and self.device is None and choosable(self._facts, self.loss) else None

    def _some(self, index: Array) -> tuple[Fit, Array]:
        part = Fit.__new__(Fit)
        whole = Prepared(self.loss, self.targets, self.weights)
        measurements, prepared, at = chosen(self._facts, whole, index)
        part._set(measurements, prepared)
        return part, at

    # ------------------------------------------------------------------------------------------------- constants

    @cached_property
    def reach(self) -> float:
        """An upper bound on ‖𝒜‖."""
        if self._facts.reach is not None:
            return float(self._facts.reach)
        if self._facts.coverage is not None:  # √Σ‖Aᵢ‖²
            return (1 + 1e-9) * norm(np.sqrt(self._facts.coverage(None)[0]))
        return float(np.sqrt(Spectrum(self.measurements).largest)) * (1 + 1e-9)

    @property
    def summed(self) -> int:
        """How many numbers one measurement adds up."""
        return self._facts.summed

    @cached_property
    def steepest(self) -> float:
        """The largest norm of a slope."""
        return steepest(self._told.steepest, self.targets.size, self.weights)

    @property
    def lower(self) -> float | None:
        """A number that the loss is nowhere below."""
        if not math.isfinite(self._told.least):
            return None
        count = self.targets.size if self.weights is None else float(self.weights.sum())
        return self._told.least * count

    @property
    def bend(self) -> float | None:
        """The largest curvature of the loss of an image; None where there is none."""
        heaviest = 1.0 if self.weights is None else float(self.weights.max())
        return self._told.curvature * heaviest if math.isfinite(self._told.curvature) else None

    def rounding(self, value: float, slope: Array, size: float, terms: int) -> float:
        """A loss of terms that cancel is as exact as they are large; one of positive terms as it is itself."""
        if self._told.terms is None:
            return plain(self._own_facts, value, slope, size, terms)
        added = float(self._told.terms(slope, self.targets, self.weights))
        blur, seconds = of_image(self._own_facts, size, terms), 0.0
        if self._told.image is not None:
            z = self._told.image(slope, self.targets, self.weights)
            seconds = float(np.max(self.loss.second(z, self.targets, self.weights), initial=0.0))
        own = of_sum(slope.size) * (abs(value) + added) + slope.size * VANISHING
        return own + norm(slope) * blur + seconds * blur * blur

    def _extremes(self, hermitian: bool) -> tuple[float, float]:
        """A true upper bound on the largest eigenvalue of 𝒜*diag(w)𝒜, and a true lower bound on the least."""
        if self._facts.extremes is not None:
            high, low = self._facts.extremes(self.weights, hermitian)
            return float(high), float(low)
        m, n = self.shape
        pairs = m * (m + 1) // 2 if hermitian else m * n
        if self.dtype == "complex128":
            pairs = m * m if hermitian else 2 * m * n
        return self._spectrum.largest, self._spectrum.smallest(pairs) if self._told.strong else 0.0

    @cached_property
    def _spectrum(self) -> Spectrum:
        return Spectrum(self.measurements, self.weights)

    @cached_property
    def smoothness(self) -> float | None:
        """The loss's largest curvature times a true upper bound on ‖𝒜‖², weights included; None without curvature."""
        return self._told.curvature * self._extremes(False)[0] if math.isfinite(self._told.curvature) else None

    @cached_property
    def strong_convexity(self) -> float:
        """Positive only for a squared loss with enough measurements."""
        return self._told.strong * self._extremes(False)[1] if self._told.strong else 0.0

    @cached_property
    def hermitian_smoothness(self) -> float | None:
        if not math.isfinite(self._told.curvature) or self.shape[0] != self.shape[1]:
            return None
        if self._facts.extremes is None:
            return self.smoothness
        return self._told.curvature * self._extremes(True)[0]

    @cached_property
    def hermitian_strong_convexity(self) -> float:
        if not self._told.strong or self.shape[0] != self.shape[1]:
            return 0.0
        return self._told.strong * self._extremes(True)[1]

    @property
    def condition(self) -> float | None:
        """Smoothness over strong convexity: infinite unless both are known and positive, None where they take work."""
        if not self._facts.at_hand:
            return None
        high, low = self.smoothness, self.strong_convexity
        return high / low if high is not None and low > 0 else np.inf

    @cached_property
    def coverage(self) -> tuple[Array, Array] | None:
        """Curvature of the loss at its largest, summed over every row, and over every column; None if not known."""
        if self._facts.coverage is None or not math.isfinite(self._told.curvature):
            return None
        rows, cols = self._facts.coverage(self.weights)
        return self._told.curvature * rows, self._told.curvature * cols

    def __repr__(self) -> str:
        labels = f", labels {self.labels}" if self.labels else ""
        weighted = "" if self.weights is None else ", weighted"
        kind = ", complex" if self.dtype.startswith("complex") else ""
        return f"Fit({self.measurements!r}, {self.loss_name} loss{labels}{weighted}{kind})"
