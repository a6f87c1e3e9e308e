"""Completion: fit a table on its observed entries, f(Z) = Σ wᵢ ℓ(Z[rowᵢ, colᵢ]; valueᵢ)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import device_of, number, numbers, positive_weights
from ..losses import Huber, Logistic, Squared
from ..losses.protocol import Prepared
from ..losses.separable import as_signs
from ..matrices.operators import Sparse
from ..measurements.entries import Entries
from ..places.numpy import Array
from ..rounding import norm
from .fit import Fit


class Completion(Fit):
    """The observed entries of an m × n table, and how a misfit is paid for: ``Fit`` of ``Entries`` by a short name.

    Parameters
    ----------
    rows, cols : integer arrays, counted from zero; every pair at most once.
    values : the observed numbers, real or complex (complex: squared and Huber loss only). For
        ``loss="logistic"`` labels, either 0/1 or −1/+1: the attribute ``labels`` says which was understood.
    shape : (m, n).
    loss : "squared" ½|z − b|², "huber" (quadratic up to ``delta``, linear beyond) or "logistic" log(1 + exp(−bz)).
    weights : positive, one per observation; all one by default.

    Examples
    --------
    >>> import spectraplex as sx
    >>> f = sx.Completion([0, 1, 2], [0, 1, 1], [5.0, 3.0, 1.0], (3, 2))
    >>> f
    Completion(3 of 6 entries of a 3×2 table, squared loss)
    """

    def __init__(
        self,
        rows: Any,
        cols: Any,
        values: Any,
        shape: tuple[int, int],
        loss: str = "squared",
        delta: float = 1.0,
        weights: Any = None,
    ) -> None:
        self.device = device_of(rows, cols, values, weights)
        values = numbers("Completion", "values", values, ndim=1)
        entries = Entries(rows, cols, shape, owner="Completion")
        if entries.size != values.size:
            raise ValueError(
                f"Completion: {entries.size} rows, {entries.size} columns and {values.size} values; give one of each."
            )
        weights = positive_weights("Completion", weights, entries.size)
        labels: str | None = None
        kind: Any
        if loss == "squared":
            kind = Squared()
        elif loss == "huber":
            kind = Huber(number("Completion", "delta", delta, positive=True))
        elif loss == "logistic":
            kind = Logistic()
            values, labels = as_signs("Completion", "logistic", "values", values)
        else:
            raise ValueError(f"Completion: unknown loss {loss!r}; known: 'squared', 'huber', 'logistic'.")
        order = entries.order
        self.order, self.pattern = order, entries.pattern  # entry e of an image is observation order[e] of the user
        self._set(entries, Prepared(kind, values[order], None if weights is None else weights[order], labels))
        self.values = self.targets

    @classmethod
    def from_dask(
        cls,
        frame: Any,
        *,
        row: str,
        column: str,
        value: str,
        loss: Any = "squared",
        weight: str | None = None,
        shards: int | None = None,
        client: Any = None,
    ) -> Any:
        """The same function of a table in a Dask frame, computed where the frame is; needs the extra ``cluster``.

        Parameters
        ----------
        frame : a ``dask.dataframe``, one observation a row, in any order and any number of partitions.
        row, column, value : names of its columns. Labels may be of any kind.
        loss : "squared", "huber", "logistic", or a loss such as ``sx.losses.Huber(2.0)``.
        weight : the name of a column of positive weights, if there is one.
        shards : parts that whole rows are brought together in; by default one a thread of the workers.
        client : of ``distributed``; by default the one that is connected.

        Returns
        -------
        An objective like any other. ``columns`` are the labels of its columns; ``row_labels()`` fetches those of its
        rows. ``place.rounds`` and ``place.bytes`` count what travelled.
        """
        from .frames import sharded_completion

        return sharded_completion(frame, row, column, value, loss, weight, shards, client)

    def gradient(self, slope: Array) -> Sparse:
        return Sparse(self.pattern, slope)

    def fitted(self, psd: bool) -> float:
        """At least the nuclear norm of a table that fits all observations: they alone, zeros elsewhere."""
        if psd or self.loss_name == "logistic":
            return float("inf")
        return float(np.sqrt(min(self.shape))) * norm(self.values)

    def __repr__(self) -> str:
        m, n = self.shape
        labels = f", labels {self.labels}" if self.labels else ""
        kind = ", complex" if self.dtype.startswith("complex") else ""
        seen = f"{self.pattern.size} of {m * n} entries of a {m}×{n} table"
        return f"Completion({seen}, {self.loss_name} loss{labels}{kind})"
