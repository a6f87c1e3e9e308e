"""StateTomography: from counts to a state with error bars and a certificate."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ...checks import is_word, whole
from ...places.numpy import Array
from ...problem import Problem
from ..completion.either_way import EitherWay
from . import exchange
from . import state as states
from .bootstrap import Estimate, Replicas, estimated, jobs_or_say, replicas
from .counts import Counted, asked_settings, of_parts, read_counts
from .fitting import Scheme, Task, as_state, impossible, scheme_or_say, task_or_say
from .frequencies import counts_or_say
from .goodness import Goodness, PerSetting, goodness, per_setting
from .hedging import chosen
from .notices import notices
from .outcomes import OWNER


class StateTomography(BaseEstimator):
    """The state ρ ⪰ 0, tr ρ = 1, that makes counts of measurements most likely, with a certified likelihood gap.

    Up to ten qubits a fit works on matrices, beyond on factors of ρ: nothing is stored for a setting, and 14 qubits
    take a minute or so.

    Parameters
    ----------
    likelihood : "multinomial" minimises −Σ n ln p; "least-squares" ½Σ shots·(p − frequency)²; "weighted" the same
        with every term divided by the variance p(1 − p) that the counts show.
    bit_order : "same": the first bit of an outcome belongs to the first letter of its setting (also qiskit's Pauli
        labels with qiskit's counts). "reversed": the last bit does (qiskit's counts, settings that begin with qubit 0).
    outcomes : the characters that stand for the outcomes 0 and 1, such as "DS" or "10". None knows bits, kets, + and −,
        arrows, ±1, u and d, D and S (dark is 0 and bright is 1), D and B, g and e, H and V; ``notices_`` says so.
    bases : where settings are digits, which basis each is: "XYZ" (0 is X), "ZXY", or "IXYZ" (1 is X).
    readout : a confusion matrix a qubit, in the order of the letters: column t has the chances of what is read where t
        was the outcome.
    povms : local measurements of your own, as for ``spectraplex.Product``: SIC, MUB, qutrits, mixed dimensions.
    hedging : this many shots are added to every setting, spread evenly over its outcomes: no outcome is then said to be
        impossible. "auto" holds a quarter of the shots out and takes the hedging that predicts them best; 0 is none.
    tolerance : "auto" ends at a certified gap of 0.01·dimension nats (0.01 a shot where there are fewer), far below
        what chance is worth (10⁻⁴ of the gain over the fully mixed state with least squares); a number is a share of
        that gain.
    max_iter : most steps of the solver.
    n_jobs : processes of ``bootstrap``, as in scikit-learn.
    device : "cuda" solves on a GPU (the extra ``torch``): for more than ten qubits; None here.
    random_state : a whole number: seeds the solver, certificates and ``bootstrap``.

    Attributes
    ----------
    state_ : ρ in factors: ``state_.vectors`` (columns) and ``state_.weights``.
    settings_, shots_ : settings with at least one shot, each once, and their shots.
    hedging_ : the hedging fitted with, in shots a setting.
    local_ : the dimensions of the parts; all 2 for qubits.
    value_, gap_ : the objective (nats where the likelihood is multinomial) and how far it can be from the best.
    certificate_, result_, n_iter_, status_ : of the solve.
    notices_ : what is worth knowing about the data, as sentences.
    replicas_ : after ``bootstrap``: the refitted states.

    Examples
    --------
    >>> from spectraplex.estimators import StateTomography
    >>> counts = {"XX": {"00": 51, "11": 49}, "YY": {"01": 48, "10": 52}, "ZZ": {"00": 50, "11": 50}}
    >>> model = StateTomography().fit(counts)
    >>> round(model.fidelity("GHZ"), 2)
    1.0
    """

    def __init__(
        self,
        likelihood: str = "multinomial",
        *,
        bit_order: str = "same",
        outcomes: Any = None,
        bases: Any = None,
        readout: Any = None,
        povms: Any = None,
        hedging: Any = 0.0,
        tolerance: Any = "auto",
        max_iter: int = 500,
        n_jobs: int | None = None,
        device: Any = None,
        random_state: int = 0,
    ) -> None:
        self.likelihood = likelihood
        self.bit_order = bit_order
        self.outcomes = outcomes
        self.bases = bases
        self.readout = readout
        self.povms = povms
        self.hedging = hedging
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state

    # ------------------------------------------------------------------------------------------------------ fitting

    def fit(self, settings: Any, counts: Any = None, shots: Any = None) -> StateTomography:
        """Fit counts.

        Parameters
        ----------
        settings : words such as "XZY", one letter a qubit (with ``povms``, tuples of names); or, without ``counts``, a
            dictionary setting → counts, or a frame with columns setting, outcome, count (without count every row is
            one shot), or setting and one column for each outcome.
        counts : one a setting: a dictionary of bit strings (or numbers) and counts, such as qiskit's ``Counts``; or an
            array with the counts of all outcomes 00…0, 00…1, …. A setting may come several times.
        shots : where ``counts`` are relative frequencies (refused without it): a number, one a setting, a dictionary.
        """
        return self.fit_counted(read_counts(settings, counts, self._scheme().reader, shots))

    def fit_counted(self, data: Counted) -> StateTomography:
        """The same for counts that are read already."""
        counts_or_say(data.counts, data.shots)
        task = self._task(data)
        impossible(task)
        if is_word(task.hedging, "auto"):
            task = replace(task, hedging=chosen(task, self.random_state))
        self._take(task, task.solve(task.problem(), seed=self.random_state))
        return self

    @EitherWay
    def from_qiskit(self, data: Any) -> StateTomography:
        """Fit the ``ExperimentData`` of qiskit-experiments' ``StateTomography``; on the class, default settings."""
        if self.bit_order != "same":
            raise ValueError(f"{OWNER}: from_qiskit knows the order of the bits; leave bit_order at 'same'.")
        return self.fit(*exchange.from_qiskit(data))

    def _scheme(self) -> Scheme:
        return scheme_or_say(self.readout, self.povms, self.bit_order, self.outcomes, self.bases)

    def _task(self, data: Counted) -> Task:
        whole(OWNER, "random_state", self.random_state, least=0)
        asked = self.likelihood, self.hedging, self.tolerance, self.max_iter, self.device
        return task_or_say(data, self._scheme(), *asked)

    def _take(self, task: Task, result: Any) -> None:
        measurements, data = task.measurements, task.data
        self._fitted, self.result_, self.state_ = task, result, as_state(result.X)
        self.certificate_, self.status_, self.n_iter_ = result.certificate, result.status, result.trace[-1].step
        self.value_, self.gap_ = result.value, result.gap
        self.settings_, self.shots_ = tuple(data.words), data.shots
        self.local_ = (2,) * measurements.qubits if self.povms is None else measurements.local
        self.hedging_ = task.hedging
        self.mixed_value_ = task.mixed_value(task.problem())
        self.replicas_: Replicas | None = None
        self._goodness: tuple[Replicas | None, Goodness] | None = None
        self.notices_ = notices(task, result)

    # ------------------------------------------------------------------------------------------------- error bars

    def bootstrap(self, n: int = 200, kind: str = "parametric") -> StateTomography:
        """Draw counts again and refit them, n times, beginning at the fitted state: what intervals are made of.

        Parameters
        ----------
        n : how many; 200 are enough for intervals at 95 %.
        kind : "parametric" draws from the fitted state, "resampled" from the observed frequencies.
        """
        check_is_fitted(self, "state_")
        count = whole(OWNER, "n", n, least=2)
        jobs = jobs_or_say(self.n_jobs)
        self.replicas_ = replicas(self._fitted, self.state_, count, kind, self.random_state, jobs)
        return self

    def _estimated(self, function: Any, interval: Any, bounds: tuple[float, float]) -> Any:
        check_is_fitted(self, "state_")
        return estimated(function, self.state_, self.replicas_, interval, bounds)

    # --------------------------------------------------------------------------------------------------- answering

    def density_matrix(self) -> Array:
        """ρ as an ordinary matrix; the first letter of a setting is the slowest index."""
        check_is_fitted(self, "state_")
        return states.density_matrix(self.state_)

    def fidelity(self, target: Any, interval: float | None = None) -> float | Estimate:
        """(tr √(√ρ σ √ρ))² with a target: a vector, a density matrix, ``state_`` of another fit, "W" or "GHZ".

        With ``interval=0.95`` an ``Estimate`` with ``value``, ``low`` and ``high``; ``bootstrap`` comes first. The kind
        of all intervals is "bias-spanning normal".
        """
        check_is_fitted(self, "state_")
        A = states.target_root(target, self.state_.vectors.shape[0])
        return self._estimated(lambda state: states.fidelity(state, A), interval, (0.0, 1.0))

    def purity(self, interval: float | None = None) -> float | Estimate:
        """tr ρ²."""
        check_is_fitted(self, "state_")
        return self._estimated(states.purity, interval, (1.0 / self.state_.vectors.shape[0], 1.0))

    def entropy(self, interval: float | None = None, base: float = 2.0) -> float | Estimate:
        """−tr ρ log ρ, in bits unless another base is given."""
        check_is_fitted(self, "state_")
        states.base_or_say(base)
        top = math.log(self.state_.vectors.shape[0]) / math.log(base)
        return self._estimated(lambda state: states.entropy(state, base), interval, (0.0, top))

    def negativity(self, partition: Any, interval: float | None = None) -> float | Estimate:
        """Minus the sum of the negative eigenvalues of the partial transpose; ``partition`` lists places of letters."""
        check_is_fitted(self, "state_")
        some = states.partition_or_say(partition, len(self.local_))
        inside = math.prod(self.local_[part] for part in some)
        most = 0.5 * (min(inside, math.prod(self.local_) // inside) - 1)  # of a maximally entangled state
        return self._estimated(lambda state: states.negativity(state, some, self.local_), interval, (0.0, most))

    def expectation(self, observable: Any, interval: float | None = None) -> float | Estimate:
        """tr(Oρ): a Hermitian matrix, a string such as "XIZ", or a dictionary of strings and coefficients."""
        check_is_fitted(self, "state_")
        observable = states.observable_or_say(observable, self.state_.vectors.shape[0])
        ends = (-math.inf, math.inf) if interval is None else states.extremes(observable)
        return self._estimated(lambda state: states.expectation(state, observable), interval, ends)

    def eigenvalues(self, interval: float | None = None, count: int | None = None) -> Any:
        """The eigenvalues of ρ, largest first; with an interval a list of ``Estimate``."""
        check_is_fitted(self, "state_")
        found = states.eigenvalues(self.state_, states.count_or_say(count, self.state_.vectors.shape[0]))
        if interval is None:
            return found

        def nth(k: int) -> Any:
            return self._estimated(lambda state: float(states.eigenvalues(state, found.size)[k]), interval, (0.0, 1.0))

        return [nth(k) for k in range(found.size)]

    def predict_counts(self, settings: Any, shots: Any = 1.0) -> Any:
        """Expected counts of settings, one row each, from as many shots of all or of each; of one shot, chances."""
        check_is_fitted(self, "state_")
        given = asked_settings(settings, len(self.local_))
        each = states.shots_or_say(shots, len(given))
        readers = [self._scheme().reader(setting) for setting in given]
        chances = self._fitted.chances(self.state_, self._scheme().measurements(tuple(r.setting for r in readers)))
        totals = [reader.total for reader in readers]
        rows = np.split(np.repeat(each, totals) * chances, np.cumsum(totals)[:-1])
        ordered = [row[np.argsort(reader.order())] for row, reader in zip(rows, readers, strict=True)]
        return np.array(ordered) if len({row.size for row in ordered}) == 1 else ordered

    def score(self, settings: Any, counts: Any = None) -> float:
        """The mean logarithm of the chance of each shot, in nats: larger is better."""
        check_is_fitted(self, "state_")
        data = read_counts(settings, counts, self._scheme().reader)
        of_parts(data.settings, len(self.local_))
        chances, seen = self._fitted.chances(self.state_, self._scheme().measurements(data.settings)), data.counts > 0
        with np.errstate(divide="ignore"):
            return float(data.counts[seen] @ np.log(chances[seen]) / data.counts.sum())

    def goodness_of_fit(self) -> Goodness:
        """Whether any state fits these counts: the deviance beside what chance alone gives, and a p-value."""
        check_is_fitted(self, "state_")
        if self._goodness is None or self._goodness[0] is not self.replicas_:
            found = goodness(self._fitted, self.state_, self.gap_, self.replicas_, self.random_state)
            self._goodness = self.replicas_, found
        return self._goodness[1]

    def fit_per_setting(self) -> PerSetting:
        """How well each setting is fitted, in standard deviations above what chance gives."""
        check_is_fitted(self, "state_")
        return per_setting(self._fitted, self.state_, self.random_state)

    def problem(self) -> Problem:
        """The convex problem that was solved: ``spectraplex.verify(certificate_, problem(), state_)`` checks it."""
        check_is_fitted(self, "state_")
        return replace(self._fitted, device=None).problem()

    # ---------------------------------------------------------------------------------------------------- exchange

    def to_qiskit(self, reverse: bool = False) -> Any:
        """qiskit's ``DensityMatrix``; ``reverse`` where settings begin with qubit 0 (qiskit's labels end with it)."""
        return exchange.to_qiskit(*self._exchanged(reverse))

    def to_qutip(self, reverse: bool = False) -> Any:
        """qutip's ``Qobj`` with the parts' dimensions, in the order of the letters."""
        return exchange.to_qutip(*self._exchanged(reverse))

    def _exchanged(self, reverse: bool) -> tuple[Array, tuple[int, ...]]:
        rho, local = self.density_matrix(), tuple(self.local_)
        return exchange.turned(rho, local) if reverse else (rho, local)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.no_validation = True
        return tags
